#include "ui/gesture/edge.h"

#include <glib/gi18n.h>

static char *turn_words(const WsConnection *how)
{
    g_autoptr(GString) s = g_string_new(NULL);
    g_string_append_printf(s, _("replicas take turns: new barrier %s, one each, the first ready"),
                           how->barrier);
    g_string_append_c(s, '\n');
    g_string_append_printf(s, _("wait before %s, tell the next one after %s"), how->first,
                           how->last);
    if (*how->use_to) {
        g_string_append(s, ", ");
        g_string_append_printf(s, _("at use %s"), how->use_to);
    }
    return g_string_free(g_steal_pointer(&s), FALSE);
}

static char *barrier_words(const WsConnection *how)
{
    g_autoptr(GString) s = g_string_new(NULL);
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
    if (*how->with)
        g_string_append_printf(s, _("; with %s"), how->with);
    if (*how->tail)
        g_string_append_printf(s, _("; the last one after %s"), how->tail);
    return g_string_free(g_steal_pointer(&s), FALSE);
}

static gboolean is_turn(const WsDesign *design, WsEdgeEnd from, WsEdgeEnd to)
{
    const WsNode *a = ws_design_by_identity(design, from.node);
    const WsNode *b = ws_design_by_identity(design, to.node);
    return a && b && from.agent != G_MAXUINT && to.agent != G_MAXUINT && from.agent != to.agent &&
           ws_edit_group(design, a) && ws_edit_group(design, a) == ws_edit_group(design, b);
}

gboolean ws_edge_is_loop(const WsDesign *design, WsEdgeEnd from, WsEdgeEnd to)
{
    return from.node == to.node && !is_turn(design, from, to);
}

WsDraft *ws_edge_draft(const WsDesign *design, WsEdgeEnd from, WsEdgeEnd to, char **words)
{
    WsConnection how = { 0 };
    WsDraft *draft = ws_draft_new(design);
    if (is_turn(design, from, to))
        ws_edit_turn(draft, from.node, to.node, from.tile != to.tile, &how);
    else
        ws_edit_connect(draft, from.node, to.node, &how);
    *words = !*how.barrier ? NULL : how.turn ? turn_words(&how) : barrier_words(&how);
    return draft;
}
