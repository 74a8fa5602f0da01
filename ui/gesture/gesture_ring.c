/* A ring's handle: below its name; a stage further down is a stage more. */
#include "ui/gesture/gesture_private.h"

#include <glib/gi18n.h>
#include <math.h>

#define HANDLE_W 44.0
#define HANDLE_H 5.0

gboolean ws_gesture_handle(const WsScene *scene, const WsSceneStaff *staff, double *x, double *y)
{
    if (staff->n_agents || staff->n_rows == 0 ||
        g_array_index(scene->row, WsSceneRow, staff->first_row).kind != WS_ROW_RING)
        return FALSE;
    *x = 40;
    *y = staff->y + staff->h - HANDLE_H;
    return TRUE;
}

const WsSceneStaff *ws_gesture_ring_at(WsTimeline *t, double x, double y)
{
    for (guint i = 0; t->scene && i < t->scene->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, i);
        double hx, hy;
        if (ws_gesture_handle(t->scene, staff, &hx, &hy) && fabs(x - hx) <= HANDLE_W / 2 &&
            y + t->view.at.y >= hy - 3 && y + t->view.at.y <= hy + HANDLE_H + 3)
            return staff;
    }
    return NULL;
}

void ws_gesture_ring_to(WsTimeline *t)
{
    WsGesture *g = t->gesture;
    const gint64 depth = MAX(g->depth0 + (gint64)floor((g->y - g->y0) / g->pitch + 0.5), 1);
    if (g->key && depth == g->depth)
        return;
    g->depth = depth;
    g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT, depth);
    WsDraft *draft = ws_draft_new(g->latest);
    if (depth != g->depth0)
        ws_edit_depth(draft, g->ring, depth);
    ws_gesture_take(
        t, key, draft,
        g_strdup_printf(g_dngettext(NULL, "%d stage", "%d stages", (gulong)depth), (int)depth));
}
