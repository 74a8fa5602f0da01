/* Edges of flags: from the notify with which a flag had grown enough to the await that it let go. A
 * notify of another CTA stands on the score of that one: here its edge begins at a dot beside the
 * await, on the side on which that score lies, at the time of the notify. */
#include "program/op.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "score/build.h"
#include "trace/op_kind.h"

#include <math.h>

#define REACH 30.0 /* units from the await to the dot */
#define LEAST 14.0

static const WsLetGo *let_go_of(const WsBuild *b, gboolean overlay)
{
    WsScoreCache *c = b->cache;
    if (!c->let_go_tried[overlay]) {
        c->let_go[overlay] = ws_let_go_new(b->p, overlay ? b->overlay : b->t);
        c->let_go_tried[overlay] = TRUE;
    }
    return c->let_go[overlay];
}

/* "device 1, CTA 0: notify done", and how well its time is known. */
static char *origin_text(const WsBuild *b, const WsTrace *t, const WsTraceRecord *wait,
                         const WsLetGoBy *x)
{
    const double ns = ws_trace_clock_error(t, wait->cta, x->by->cta);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, ws_build_words(b, "device %u, CTA %u: %s"),
                           ws_trace_device(t, x->by->cta), ws_trace_cta_id(t, x->by->cta),
                           ws_trace_op_label(t, x->by->op));
    if (t->origin == WS_TRACE_MEASURED)
        g_string_append_printf(s, " \xc2\xb1%.2f \xc2\xb5s", ns / 1e3);
    if (x->least)
        g_string_append(s, ws_build_words(b, ", or one that was not recorded"));
    return g_string_free(s, FALSE);
}

static void set_origin(const WsBuild *b, WsSceneEdge *e, const WsTrace *t,
                       const WsTraceRecord *wait, const WsLetGoBy *x, const WsSceneRow *row)
{
    const WsScene *s = b->s;
    const double above = row->y - s->top, below = s->bottom - row->y - row->h;
    gboolean up = x->by->cta < wait->cta;
    if ((up ? above : below) < LEAST && (up ? below : above) >= LEAST)
        up = !up;
    e->from_cta = x->by->cta;
    e->from_tile = x->by->tile;
    e->from_round = x->by->round;
    e->origin = origin_text(b, t, wait, x);
    e->y1 = up ? row->y : row->y + row->h;
    e->y0 = up ? row->y - CLAMP(above, 4, REACH) : row->y + row->h + CLAMP(below, 4, REACH);
}

/* The row of what was measured, of the staff of an agent. */
static const WsSceneRow *measured_row(const WsBuild *b, guint agent)
{
    const guint control = b->control_row[agent];
    const WsSceneStaff *staff = NULL;
    if (control != G_MAXUINT)
        staff = &g_array_index(b->s->staff, WsSceneStaff,
                               g_array_index(b->s->row, WsSceneRow, control).staff);
    for (guint i = staff ? staff->first_row + staff->n_rows : 0; staff && i > staff->first_row; i--)
        if (g_array_index(b->s->row, WsSceneRow, i - 1).kind == WS_ROW_MEASURED)
            return &g_array_index(b->s->row, WsSceneRow, i - 1);
    return NULL;
}

static guint measured_item(const WsBuild *b, const WsTraceRecord *r)
{
    for (guint i = 0; i < b->s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(b->s->item, WsSceneItem, i);
        if (item->measured && item->op == r->op && item->agent == r->agent &&
            item->round == r->round && item->tile == r->tile)
            return item->id;
    }
    return 0;
}

gboolean ws_edge_of_flag(const WsBuild *b, const WsTraceRecord *wait, gboolean overlay,
                         WsSceneEdge *e)
{
    const WsTrace *t = overlay ? b->overlay : b->t;
    const WsLetGoBy x = ws_let_go_of(let_go_of(b, overlay), wait);
    const WsSceneRow *row =
        overlay ? measured_row(b, wait->agent)
        : b->control_row[wait->agent] == G_MAXUINT
            ? NULL
            : &g_array_index(b->s->row, WsSceneRow, b->control_row[wait->agent]);
    if (!x.by || !row || (x.least && x.by->cta == wait->cta)) /* there is no dot to say so */
        return FALSE;
    const gint64 end = MAX(wait->issued, wait->start);
    const gint64 to = ws_build_time(b, overlay, end), from = to - (end - x.at);
    if (!ws_scene_shows(b->s, from) || !ws_scene_shows(b->s, to))
        return FALSE;
    *e = (WsSceneEdge){ .x0 = ws_scene_x(b->s, from),
                        .x1 = ws_scene_x(b->s, to),
                        .from_op = x.by->op,
                        .to_op = wait->op,
                        .from_agent = x.by->agent,
                        .to_agent = wait->agent,
                        .from_cta = G_MAXUINT,
                        .measured = overlay || t->origin == WS_TRACE_MEASURED,
                        .exposed = end - wait->start };
    e->binding = x.at > wait->start && e->exposed >= 24;
    e->to = overlay ? measured_item(b, wait) : ws_staff_item(b, wait->agent, wait->op, wait->round);
    if (!e->binding && e->x1 - e->x0 > 60)
        return FALSE;
    if (x.by->cta != wait->cta) {
        set_origin(b, e, t, wait, &x, row);
        return TRUE;
    }
    const guint other = b->control_row[x.by->agent];
    const WsSceneRow *source = overlay              ? measured_row(b, x.by->agent)
                               : other == G_MAXUINT ? NULL
                                                    : &g_array_index(b->s->row, WsSceneRow, other);
    if (!source || source == row)
        return FALSE;
    const gboolean up = source->y > row->y;
    e->from =
        overlay ? measured_item(b, x.by) : ws_staff_item(b, x.by->agent, x.by->op, x.by->round);
    e->y0 = up ? source->y : source->y + source->h;
    e->y1 = up ? row->y + row->h : row->y;
    return TRUE;
}
