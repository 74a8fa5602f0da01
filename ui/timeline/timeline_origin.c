/* Edges that begin on the score of another CTA, of this device or another one: what the dot says
 * under the pointer, and the way to the step that it stands for. */
#include "ui/document/document_machine.h"
#include "ui/parts/format.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>

const WsSceneEdge *ws_timeline_origin(WsTimeline *t, double x, double y)
{
    if (!t->scene || t->no_edges || x < WS_TIMELINE_GUTTER ||
        x > WS_TIMELINE_GUTTER + t->view.width || y < t->scene->top)
        return NULL;
    return ws_scene_hit_origin(t->scene, x - WS_TIMELINE_GUTTER - ws_timeline_offset(t),
                               y + t->view.at.y);
}

static WsTrace *trace_of(WsTimeline *t, const WsSceneEdge *e)
{
    return e->measured ? ws_document_measured(t->document) : ws_document_predicted(t->document);
}

char *ws_timeline_origin_tip(WsTimeline *t, const WsSceneEdge *e)
{
    g_autofree char *cycles = ws_format_cycles(e->exposed);
    return g_strdup_printf(e->measured ? _("%s\nmeasured: its await took %s; click to go there")
                                       : _("%s\npredicted: its await took %s; click to go there"),
                           e->origin, cycles);
}

gboolean ws_timeline_go_to_origin(WsTimeline *t, const WsSceneEdge *e)
{
    const WsTrace *trace = trace_of(t, e);
    const char *step =
        trace && e->from_op < trace->op_id->len ? trace->op_id->pdata[e->from_op] : NULL;
    if (!step || e->from_cta >= trace->cta->len)
        return FALSE;
    const guint32 id = g_array_index(trace->cta, WsTraceCta, e->from_cta).id;
    g_autofree char *name = g_strdup(step);
    const WsFocus focus = { name, e->from_agent, e->from_tile, e->from_round };
    for (guint i = 0; i < ws_timeline_n_ctas(t); i++)
        if (ws_timeline_cta_info(t, i)->id == id) {
            ws_timeline_set_cta(t, i); /* the scene that owns the edge goes */
            ws_document_select(t->document, &focus, WS_SELECT_REPLACE, TRUE);
            return TRUE;
        }
    return FALSE;
}
