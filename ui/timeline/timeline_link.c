/* Views that are linked show the same stretch of time, whatever windows and designs they belong to
 * (I51). The one that a person moves leads; the others follow and do not answer. */
#include "ui/timeline/timeline_private.h"

#include <math.h>

static GPtrArray *group; /* WsTimeline, borrowed: they leave when they go */

gboolean ws_timeline_linked(WsTimeline *t)
{
    return t->linked;
}

static void follow(WsTimeline *t, WsTimeline *leader)
{
    double from, to;
    if (!ws_document_program(t->document) || !t->main_trace)
        return;
    gboolean same = t->document == leader->document && t->cta == leader->cta;
    if (leader->view.at.folded && same && !t->order) {
        if (t->view.at.folded)
            return;
        t->view.at.folded = TRUE;
        g_clear_pointer(&t->scene, ws_scene_free);
    } else {
        ws_timeline_get_view(leader, &from, &to);
        if (to <= from || t->view.width < 16)
            return;
        /* In its own units, which need the length of its own score. */
        if (!t->scene)
            ws_timeline_sync(t);
        ws_pane_show(&t->view, ws_timeline_unit_of(t, from), ws_timeline_unit_of(t, to));
    }
    t->following = TRUE;
    ws_timeline_refresh(t);
}

void ws_timeline_link_moved(WsTimeline *t)
{
    if (t->following) {
        t->following = FALSE;
        return;
    }
    for (guint i = 0; t->linked && i < group->len; i++)
        if (group->pdata[i] != t)
            follow(group->pdata[i], t);
}

/* Who joins goes to where the others are. */
void ws_timeline_set_linked(WsTimeline *t, gboolean linked)
{
    if (linked == t->linked)
        return;
    if (!group)
        group = g_ptr_array_new();
    t->linked = linked;
    if (!linked) {
        g_ptr_array_remove(group, t);
        return;
    }
    if (group->len)
        follow(t, group->pdata[0]);
    g_ptr_array_add(group, t);
}

void ws_timeline_unlink(WsTimeline *t)
{
    ws_timeline_set_linked(t, FALSE);
}
