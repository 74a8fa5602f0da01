/* Steps at the end of a counted loop that run ahead, written at its beginning one round less ahead:
 * the same steps in the same order, but none of them asks whether its round comes, and no product
 * is in flight where rounds meet. */
#include "edit/edit.h"

/* The rounds a step runs ahead; -1: an expression, or a muted step, of which nothing is said. */
static gint64 rounds_ahead(const WsNode *step)
{
    if (ws_node_bool(step, WS_F_muted, FALSE))
        return -1;
    return ws_node_int(step, WS_F_ahead, ws_node_has(step, WS_F_ahead) ? -1 : 0);
}

/* First of the steps at the end that all run ahead; n: there is none. */
static guint first_ahead(const WsNode *loop, guint n)
{
    guint first = n;
    while (first > 0 && rounds_ahead(ws_node_child(loop, WS_F_do, first - 1)) > 0)
        first--;
    return first;
}

/* Before the loop a round of what runs ahead stands behind the one before it: what stays must not
 * run further ahead than what becomes a step of the round. */
static gboolean keeps_order(WsDraft *d, const WsNode *loop, guint first, guint n)
{
    gint64 least = G_MAXINT64;
    for (guint i = first; i < n; i++)
        least = MIN(least, rounds_ahead(ws_node_child(loop, WS_F_do, i)));
    for (guint i = 0; i < n; i++) {
        const gint64 ahead = rounds_ahead(ws_node_child(loop, WS_F_do, i));
        g_autofree char *label = ws_edit_label(ws_node_child(loop, WS_F_do, i));
        if (ahead < 0)
            return ws_draft_refuse(d, "%s is muted, or its `ahead` is an expression", label);
        if (ahead > least)
            return ws_draft_refuse(d, "%s runs further ahead: it would change places", label);
    }
    return TRUE;
}

static gboolean fits(WsDraft *d, const WsNode *loop, guint first, guint n)
{
    if (first == n)
        return ws_draft_refuse(d, "no step at the end of the loop runs ahead");
    if (first == 0)
        return ws_draft_refuse(d, "every step of the loop runs ahead");
    if (ws_node_has(loop, WS_F_unroll))
        return ws_draft_refuse(d, "the loop is unrolled: its rounds do not meet");
    /* A value that a `let` gives is there from its place on, a stage ends where the next begins,
     * and a product that is open is of one group with the step behind it. */
    if (ws_node_bool(ws_node_child(loop, WS_F_do, first - 1), WS_F_open, FALSE))
        return ws_draft_refuse(d, "the first of them is of one group with the step before it");
    for (guint i = 0; i < n; i++) {
        const WsNode *step = ws_node_child(loop, WS_F_do, i);
        g_autofree char *label = ws_edit_label(step);
        if ((i >= first && step->kind == WS_STEP_LET) || step->kind == WS_STEP_STAGE)
            return ws_draft_refuse(d, "%s cannot change its place", label);
    }
    return keeps_order(d, loop, first, n);
}

gboolean ws_edit_roll(WsDraft *d, guint64 loop)
{
    const WsNode *node = ws_draft_node(d, loop);
    if (node == NULL || node->kind != WS_STEP_FOR || ws_node_has(node, WS_F_over))
        return ws_draft_refuse(d, "only a counted loop has steps that run ahead");
    const guint n = ws_node_n_children(node, WS_F_do), first = first_ahead(node, n);
    g_autofree char *label = ws_edit_label(node);
    if (!fits(d, node, first, n))
        return FALSE;
    for (guint i = first; i < n; i++) {
        const WsNode *step = ws_node_child(ws_draft_node(d, loop), WS_F_do, i);
        const guint64 identity = step->identity;
        const gint64 ahead = rounds_ahead(step) - 1;
        if (!ws_draft_set(d, identity, WS_F_ahead, ahead ? ws_json_int(ahead) : NULL) ||
            !ws_draft_move(d, identity, loop, WS_F_do, i - first))
            return FALSE;
    }
    ws_draft_name(d, "Begin the rounds of %s with what runs ahead at their end", label);
    ws_draft_touch(d, loop);
    return TRUE;
}
