/* Drawing an edge: from the end of a step to the step that has to wait for it. */
#include "ui/gesture_private.h"

#include <glib/gi18n.h>

/* What would be made, before the button is let go. */
static char *words_of(const WsConnection *how)
{
    GString *s = g_string_new(NULL);
    if (!*how->barrier)
        return g_string_free(s, FALSE);
    g_string_append_printf(s, how->fresh ? _("new barrier %s") : _("barrier %s"), how->barrier);
    if (how->fresh)
        g_string_append_printf(
            s, how->release ? _(", %s slots, ready at first") : _(", %s slots, pending at first"),
            how->slots);
    g_string_append_c(s, '\n');
    g_string_append_printf(s, how->arrive ? _("arrive at use %s") : _("signalled at use %s"),
                           *how->use_from ? how->use_from : "0");
    g_string_append(s, "; ");
    g_string_append_printf(s, how->wait ? _("wait at use %s") : _("it waits already, at use %s"),
                           *how->use_to ? how->use_to : "0");
    return g_string_free(s, FALSE);
}

void ws_gesture_edge_to(WsTimeline *t)
{
    WsGesture *g = t->gesture;
    const WsSceneItem *item = ws_gesture_item_at(t, g->x, g->y);
    const WsNode *from = ws_gesture_node(g, g->item);
    const WsNode *to = item ? ws_gesture_node(g, item) : NULL;
    g->over = item;
    if (!to || to == from) {
        if (g_strcmp0(g->key, ""))
            ws_gesture_take(t, "", NULL, g_strdup(_("to the step that waits for it")));
        return;
    }
    g_autofree char *key = g_strdup_printf("%" G_GUINT64_FORMAT, to->identity);
    if (!g_strcmp0(g->key, key))
        return;
    WsConnection how;
    WsDraft *draft = ws_draft_new(g->latest);
    ws_edit_connect(draft, from->identity, to->identity, &how);
    ws_gesture_take(t, key, draft, words_of(&how));
}
