/* Moving steps with what goes along (along.c). */
#include "edit/edit.h"

static gint64 ahead_of(const WsNode *step)
{
    return ws_node_int(step, WS_F_ahead, 0);
}

/* Beside a step that has been moved, and in its round. */
static gboolean follow(WsDraft *d, guint64 node, guint64 beside, gboolean behind)
{
    WsFieldId list;
    guint index;
    const WsNode *step = ws_draft_node(d, beside);
    const WsNode *owner = step != NULL ? ws_design_owner(d->design, step, &list, &index) : NULL;
    if (owner == NULL)
        return ws_draft_refuse(d, "it is no longer part of the design");
    const WsEditSpot spot = { owner->identity, list, index + (behind ? 1 : 0) };
    if (!ws_edit_move(d, &node, 1, spot, 0))
        return FALSE;
    const gint64 wanted = ahead_of(ws_draft_node(d, beside));
    return ahead_of(ws_draft_node(d, node)) == wanted ||
           ws_draft_set(d, node, WS_F_ahead, wanted != 0 ? ws_json_int(wanted) : NULL);
}

/* The first and the last of some steps of one list, as they stand now. */
static void ends_of(const WsDraft *d, const guint64 *nodes, guint n, guint64 *first, guint64 *last)
{
    guint low = G_MAXUINT, high = 0, index;
    for (guint i = 0; i < n; i++) {
        const WsNode *step = ws_draft_node(d, nodes[i]);
        if (step == NULL || ws_design_owner(d->design, step, NULL, &index) == NULL)
            continue;
        if (index < low)
            *first = nodes[i];
        if (index >= high)
            *last = nodes[i];
        low = MIN(low, index);
        high = MAX(high, index);
    }
}

static guint64 at(const GArray *list, guint i)
{
    return g_array_index(list, guint64, i);
}

gboolean ws_edit_move_along(WsDraft *d, const guint64 *nodes, guint n, WsEditSpot spot, gint ahead,
                            const WsAlong *along)
{
    guint64 first = 0, last = 0;
    if (!ws_edit_move(d, nodes, n, spot, ahead))
        return FALSE;
    const char *verb = d->verb;
    g_autofree char *what = g_strdup(d->what);
    g_autoptr(GArray) touched = g_array_copy(d->touched);
    ends_of(d, nodes, n, &first, &last);
    for (guint i = 0; i < along->before->len; i++)
        if (!follow(d, at(along->before, i), first, FALSE))
            return FALSE;
    for (guint i = 0; i < along->behind->len; i++) {
        if (!follow(d, at(along->behind, i), last, TRUE))
            return FALSE;
        last = at(along->behind, i);
    }
    ws_draft_name(d, verb, what); /* what a hand has moved names the step and stays selected */
    g_array_set_size(d->touched, 0);
    for (guint i = 0; i < touched->len; i++)
        ws_draft_touch(d, at(touched, i));
    return TRUE;
}

/* --- one round ahead -----------------------------------------------------------------------------
 */

/* Position in the list behind the last step that names the accumulator of the product, or holds one
 * that does; where the product is itself if none does. */
static guint behind_readers(const WsDesign *design, const WsNode *product, const WsNode *holder,
                            WsFieldId in, guint index)
{
    const WsRef *accumulator = ws_node_refv(product, WS_F_keyword);
    g_autoptr(GArray) mentions =
        ws_edit_mentions(design, accumulator != NULL ? accumulator->name : "");
    guint spot = 0;
    for (guint i = 0; i < mentions->len; i++) {
        WsFieldId list;
        guint place;
        for (const WsNode *owner, *step = ws_design_by_identity(design, at(mentions, i));
             step != NULL && (owner = ws_design_owner(design, step, &list, &place)) != NULL &&
             step != product;
             step = owner)
            if (owner == holder && list == in)
                spot = MAX(spot, place + 1);
    }
    return spot > 0 ? spot : index;
}

gboolean ws_edit_ahead_along(WsDraft *d, guint64 node, gint by)
{
    WsFieldId list;
    guint index;
    const WsNode *step = ws_draft_node(d, node);
    const WsNode *owner = step != NULL ? ws_design_owner(d->design, step, &list, &index) : NULL;
    if (owner == NULL || owner->kind != WS_STEP_FOR || ws_node_has(owner, WS_F_over))
        return ws_draft_refuse(
            d, "only a step that is directly in a counted loop can run rounds ahead");
    const guint place = step->kind == WS_STEP_MMA && by > 0
                            ? behind_readers(d->design, step, owner, list, index)
                            : index;
    const WsEditSpot spot = { owner->identity, list, place };
    g_autofree char *label = ws_edit_label(step);
    g_autoptr(WsAlong) along = ws_edit_along(d->design, &node, 1, spot, by);
    if (!ws_edit_move_along(d, &node, 1, spot, by, along))
        return FALSE;
    if (by > 0)
        ws_draft_name(d, "Run %s a round earlier", label);
    else
        ws_draft_name(d, "Run %s a round later", label);
    return TRUE;
}
