/* Drawing an edge: from the end of a step to the step that has to wait for it. */
#include "ui/gesture/edge.h"
#include "ui/gesture/gesture_private.h"

#include <glib/gi18n.h>

static WsEdgeEnd end_of(const WsNode *node, const WsSceneItem *item)
{
    return (WsEdgeEnd){ node ? node->identity : 0, item ? item->agent : G_MAXUINT,
                        item ? item->tile : -1 };
}

void ws_gesture_edge_to(WsTimeline *t)
{
    WsGesture *g = t->gesture;
    const WsSceneItem *item = ws_gesture_item_at(t, g->x, g->y);
    const WsNode *to = item ? ws_gesture_node(g, item) : NULL;
    const WsEdgeEnd a = end_of(ws_gesture_node(g, g->item), g->item), b = end_of(to, item);
    g->over = item;
    if (!to || ws_edge_is_loop(g->latest, a, b)) {
        if (g_strcmp0(g->key, ""))
            ws_gesture_take(t, "", NULL, g_strdup(_("to the step that waits for it")));
        return;
    }
    /* All executions of an agent in a tile mean the same. */
    g_autofree char *key = g_strdup_printf("%" G_GUINT64_FORMAT " %u %d", b.node, b.agent, b.tile);
    if (!g_strcmp0(g->key, key))
        return;
    char *words;
    WsDraft *draft = ws_edge_draft(g->latest, a, b, &words);
    ws_gesture_take(t, key, draft, words);
}
