/* Order and nesting: moving, `ahead`, loops around and away, duplicates, taking away. */
#include "edit/derive.h"

#include <string.h>

typedef struct {
    const WsNode *node, *owner;
    WsFieldId list;
    guint index;
} Seat;

static gboolean sit(const WsDraft *d, guint64 identity, Seat *s)
{
    s->node = ws_draft_node(d, identity);
    s->owner = s->node != NULL ? ws_design_owner(d->design, s->node, &s->list, &s->index) : NULL;
    return s->owner != NULL;
}

static gboolean is_gone(WsDraft *d)
{
    return ws_draft_refuse(d, "it is no longer part of the design");
}

/* --- order of the document ----------------------------------------------------------------------
 */

static void number(const WsNode *node, GHashTable *order, guint *next)
{
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    g_hash_table_insert(order, GSIZE_TO_POINTER(node->identity), GUINT_TO_POINTER(++*next));
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            number(ws_node_child(node, rows[i].field, c), order, next);
}

static gint by_order(gconstpointer a, gconstpointer b, gpointer order)
{
    const guint x =
        GPOINTER_TO_UINT(g_hash_table_lookup(order, GSIZE_TO_POINTER(*(const guint64 *)a)));
    const guint y =
        GPOINTER_TO_UINT(g_hash_table_lookup(order, GSIZE_TO_POINTER(*(const guint64 *)b)));
    return x < y ? -1 : x > y;
}

static gboolean inside(const WsDesign *design, const WsNode *node, GHashTable *set)
{
    while ((node = ws_design_owner(design, node, NULL, NULL)) != NULL)
        if (g_hash_table_contains(set, GSIZE_TO_POINTER(node->identity)))
            return TRUE;
    return FALSE;
}

/* The nodes as they follow each other in the document, without those that lie in another one and
 * without the document itself; none: refused. */
static GArray *in_order(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GHashTable) order = g_hash_table_new(NULL, NULL), set = g_hash_table_new(NULL, NULL);
    GArray *list = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint next = 0;
    number(ws_design_root(d->design), order, &next);
    for (guint i = 0; i < n; i++)
        g_hash_table_add(set, GSIZE_TO_POINTER(nodes[i]));
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, set);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const guint64 identity = GPOINTER_TO_SIZE(key);
        const WsNode *node = ws_draft_node(d, identity);
        if (node != NULL && node->kind != WS_NODE_DESIGN && node->kind != WS_NODE_TILES &&
            !inside(d->design, node, set))
            g_array_append_val(list, identity);
    }
    g_array_sort_with_data(list, by_order, order);
    if (list->len == 0)
        ws_draft_refuse(d, "nothing is selected that this could be done to");
    return list;
}

static guint64 at(const GArray *list, guint i)
{
    return g_array_index(list, guint64, i);
}

/* "Move %s" with the only node's label, or how many. */
static void name_of(WsDraft *d, const char *verb, const GArray *list)
{
    if (list->len == 1) {
        g_autofree char *label = ws_edit_label(ws_draft_node(d, at(list, 0)));
        ws_draft_name(d, verb, label);
    } else {
        g_autofree char *count = g_strdup_printf("%u", list->len);
        ws_draft_name(d, verb, count);
    }
}

static void touch_all(WsDraft *d, const GArray *list)
{
    for (guint i = 0; i < list->len; i++)
        ws_draft_touch(d, at(list, i));
}

/* --- ahead --------------------------------------------------------------------------------------
 */

static gboolean counted(const WsNode *owner)
{
    return owner->kind == WS_STEP_FOR && !ws_node_has(owner, WS_F_over);
}

static gboolean change_ahead(WsDraft *d, guint64 node, gint by)
{
    const WsNode *step = ws_draft_node(d, node);
    const gint64 ahead = ws_node_int(step, WS_F_ahead, ws_node_has(step, WS_F_ahead) ? -1 : 0);
    if (ahead < 0)
        return ws_draft_refuse(d, "its `ahead` is an expression; change it in the inspector");
    if (ahead + by < 0)
        return ws_draft_refuse(d, "it already runs in its own round; nothing runs late");
    return ws_draft_set(d, node, WS_F_ahead, ahead + by != 0 ? ws_json_int(ahead + by) : NULL);
}

gboolean ws_edit_ahead(WsDraft *d, const guint64 *nodes, guint n, gint by)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    if (list->len == 1)
        return ws_edit_ahead_along(d, at(list, 0), by);
    for (guint i = 0; i < list->len; i++) {
        Seat s;
        if (!sit(d, at(list, i), &s))
            return is_gone(d);
        if (!ws_node_kind_is_step(s.node->kind) || !counted(s.owner))
            return ws_draft_refuse(
                d, "only a step that is directly in a counted loop can run rounds ahead");
        if (!change_ahead(d, at(list, i), by))
            return FALSE;
    }
    name_of(d, by > 0 ? "Run %s a round earlier" : "Run %s a round later", list);
    touch_all(d, list);
    return list->len > 0;
}

/* --- moving -------------------------------------------------------------------------------------
 */

/* Steps keep `ahead` only where it means something. */
static gboolean settle_ahead(WsDraft *d, guint64 node)
{
    Seat s;
    return !sit(d, node, &s) || counted(s.owner) || !ws_node_has(s.node, WS_F_ahead) ||
           ws_draft_set(d, node, WS_F_ahead, NULL);
}

gboolean ws_edit_move(WsDraft *d, const guint64 *nodes, guint n, WsEditSpot spot, gint ahead)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    guint index = spot.index;
    for (guint i = 0; i < list->len; i++) {
        Seat s;
        const WsNode *owner = ws_draft_node(d, spot.owner);
        if (!sit(d, at(list, i), &s) || owner == NULL)
            return is_gone(d);
        if (s.owner->identity == spot.owner && s.list == spot.list && s.index < index)
            index--;
        const gboolean same =
            s.owner->identity == spot.owner && s.list == spot.list && s.index == index;
        if (!same && !ws_draft_move(d, at(list, i), spot.owner, spot.list, index))
            return FALSE;
        index++;
        if (!settle_ahead(d, at(list, i)) || (ahead != 0 && !change_ahead(d, at(list, i), ahead)))
            return FALSE;
    }
    name_of(d, "Move %s", list);
    touch_all(d, list);
    return list->len > 0;
}

/* The block's list and its first and last place in it; FALSE if it is not one block of one list. */
static gboolean block_of(WsDraft *d, const GArray *list, Seat *first, Seat *last)
{
    if (list->len == 0)
        return FALSE;
    if (!sit(d, at(list, 0), first) || !sit(d, at(list, list->len - 1), last))
        return is_gone(d);
    for (guint i = 0; i < list->len; i++) {
        Seat s;
        if (!sit(d, at(list, i), &s) || s.owner != first->owner || s.list != first->list)
            return ws_draft_refuse(d, "the selection lies in several lists; select within one");
    }
    return TRUE;
}

gboolean ws_edit_nudge(WsDraft *d, const guint64 *nodes, guint n, gint by)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    Seat first, last;
    if (!block_of(d, list, &first, &last))
        return FALSE;
    const guint length = ws_node_n_children(first.owner, first.list);
    const gboolean loop = ws_node_kind_is_step(first.node->kind) && counted(first.owner);
    WsEditSpot spot = { first.owner->identity, first.list, 0 };
    gint ahead = 0;
    if (by < 0 && first.index > 0) {
        spot.index = first.index - 1;
    } else if (by < 0 && loop) { /* across the head: the end of the round before */
        spot.index = length;
        ahead = 1;
    } else if (by > 0 && last.index + 1 < length) {
        spot.index = last.index + 2;
    } else if (by > 0 && loop && ws_node_int(first.node, WS_F_ahead, 0) > 0) {
        spot.index = 0;
        ahead = -1;
    } else {
        return ws_draft_refuse(d, by < 0 ? "it is the first one" : "it is the last one");
    }
    return ws_edit_move(d, nodes, n, spot, ahead);
}

gboolean ws_edit_other_group(WsDraft *d, const guint64 *nodes, guint n, gint by)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    Seat s, group;
    if (list->len == 0)
        return FALSE;
    if (!sit(d, at(list, 0), &s))
        return is_gone(d);
    if (!ws_node_kind_is_step(s.node->kind))
        return ws_edit_nudge(d, nodes, n, by);
    const WsNode *from = ws_edit_group(d->design, s.node);
    if (!sit(d, from->identity, &group) || (by < 0 && group.index == 0) ||
        group.index + 1 + (by > 0) > ws_node_n_children(group.owner, WS_F_groups))
        return ws_draft_refuse(d, "there is no group on that side");
    const WsNode *to = ws_node_child(group.owner, WS_F_groups, (guint)((gint)group.index + by));
    /* Into the loop that answers to the one it comes from. */
    const WsNode *loop = ws_edit_loop(d->design, s.node);
    WsEditSpot spot = { to->identity, WS_F_body, ws_node_n_children(to, WS_F_body) };
    const char *name = loop != NULL ? ws_node_text(loop, WS_F_keyword) : NULL;
    GQueue queue = G_QUEUE_INIT;
    g_queue_push_tail(&queue, (gpointer)to);
    for (const WsNode *at_node; name != NULL && (at_node = g_queue_pop_head(&queue)) != NULL;) {
        const WsFieldId field = ws_edit_list_field(at_node);
        if (at_node->kind == WS_STEP_FOR &&
            g_strcmp0(ws_node_text(at_node, WS_F_keyword), name) == 0) {
            spot = (WsEditSpot){ at_node->identity, field, ws_node_n_children(at_node, field) };
            break;
        }
        for (guint i = 0; field != WS_F_COUNT && i < ws_node_n_children(at_node, field); i++)
            g_queue_push_tail(&queue, (gpointer)ws_node_child(at_node, field, i));
    }
    g_queue_clear(&queue);
    return ws_edit_move(d, nodes, n, spot, 0);
}

gboolean ws_edit_indent(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    Seat first, last;
    if (!block_of(d, list, &first, &last))
        return FALSE;
    const WsNode *before =
        first.index > 0 ? ws_node_child(first.owner, first.list, first.index - 1) : NULL;
    const WsNode *after = last.index + 1 < ws_node_n_children(first.owner, first.list)
                              ? ws_node_child(first.owner, first.list, last.index + 1)
                              : NULL;
    const WsFieldId in_before = before != NULL ? ws_edit_list_field(before) : WS_F_COUNT;
    const WsFieldId in_after = after != NULL ? ws_edit_list_field(after) : WS_F_COUNT;
    if (in_before != WS_F_COUNT && ws_node_kind_is_step(before->kind))
        return ws_edit_move(
            d, nodes, n,
            (WsEditSpot){ before->identity, in_before, ws_node_n_children(before, in_before) }, 0);
    if (in_after != WS_F_COUNT && ws_node_kind_is_step(after->kind))
        return ws_edit_move(d, nodes, n, (WsEditSpot){ after->identity, in_after, 0 }, 0);
    return ws_draft_refuse(d, "there is no loop or branch beside it");
}

gboolean ws_edit_outdent(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    Seat first, last, around;
    if (!block_of(d, list, &first, &last))
        return FALSE;
    if (!ws_node_kind_is_step(first.owner->kind) || !sit(d, first.owner->identity, &around))
        return ws_draft_refuse(d, "it is in no loop or branch");
    const gboolean head = first.index == 0 && ws_node_n_children(first.owner, first.list) > 1;
    return ws_edit_move(
        d, nodes, n,
        (WsEditSpot){ around.owner->identity, around.list, around.index + (head ? 0 : 1) }, 0);
}

/* --- loops --------------------------------------------------------------------------------------
 */

gboolean ws_edit_wrap(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    Seat first, last;
    if (!block_of(d, list, &first, &last))
        return FALSE;
    if (!ws_node_kind_is_step(first.node->kind))
        return ws_draft_refuse(d, "only steps can be in loops");
    const guint index = first.index;
    const guint64 owner = first.owner->identity;
    /* Around a whole body the usual loop is the one over tiles. */
    const gboolean tiles = first.owner->kind == WS_NODE_GROUP &&
                           list->len == ws_node_n_children(first.owner, first.list);
    g_autofree char *name = ws_edit_fresh(d->design, tiles ? "tile" : "i");
    const guint64 loop = ws_draft_insert(
        d, owner, first.list, index,
        WS_MAKE(WS_STEP_FOR, { WS_F_keyword, ws_json_text(name) },
                { WS_F_over, tiles ? ws_json_text("tiles") : NULL },
                { WS_F_count, tiles ? NULL : ws_json_int(1) }, { WS_F_do, ws_json_list() }));
    if (loop == 0 || !ws_edit_move(d, nodes, n, (WsEditSpot){ loop, WS_F_do, 0 }, 0))
        return FALSE;
    g_array_set_size(d->touched, 0);
    ws_draft_touch(d, loop);
    ws_draft_name(d, "Wrap into loop %s", name);
    return TRUE;
}

gboolean ws_edit_unwrap(WsDraft *d, guint64 loop)
{
    Seat s;
    if (!sit(d, loop, &s))
        return is_gone(d);
    if (s.node->kind != WS_STEP_FOR && s.node->kind != WS_STEP_IF)
        return ws_draft_refuse(d, "select a loop or a branch");
    const WsFieldId list = ws_edit_list_field(s.node);
    const guint n = ws_node_n_children(s.node, list);
    if (ws_node_n_children(s.node, WS_F_else) > 0)
        return ws_draft_refuse(d, "it has an else; empty that first");
    g_autofree char *label = ws_edit_label(s.node);
    g_autofree guint64 *steps = g_new(guint64, n + 1);
    for (guint i = 0; i < n; i++)
        steps[i] = ws_node_child(s.node, list, i)->identity;
    const WsEditSpot spot = { s.owner->identity, s.list, s.index + 1 };
    if (n > 0 && !ws_edit_move(d, steps, n, spot, 0))
        return FALSE;
    ws_draft_name(d, "Unwrap %s", label);
    return ws_draft_remove(d, loop);
}

gboolean ws_edit_peel(WsDraft *d, guint64 loop)
{
    const WsNode *node = ws_draft_node(d, loop);
    if (node == NULL)
        return is_gone(d);
    if (node->kind != WS_STEP_FOR || ws_node_has(node, WS_F_over))
        return ws_draft_refuse(d, "select a counted loop");
    g_autofree char *label = ws_edit_label(node);
    ws_draft_touch(d, loop);
    if (ws_node_has(node, WS_F_split)) {
        ws_draft_name(d, "Join the rounds of %s", label);
        return ws_draft_set(d, loop, WS_F_split, NULL);
    }
    const gint64 from = ws_node_int(node, WS_F_from, ws_node_has(node, WS_F_from) ? -1 : 0);
    const gint64 by = ws_node_int(node, WS_F_step, ws_node_has(node, WS_F_step) ? -1 : 1);
    if (from < 0 || by < 0)
        return ws_draft_refuse(d, "`from` or `step` is an expression; write `split` yourself");
    WsJson *split = ws_json_list();
    ws_json_add(split, ws_json_int(from + by));
    ws_draft_name(d, "Peel %s", label);
    return ws_draft_set(d, loop, WS_F_split, split);
}

gboolean ws_edit_replicate(WsDraft *d, guint64 group, gint by)
{
    const WsNode *node = ws_draft_node(d, group);
    node = node != NULL ? ws_edit_group(d->design, node) : NULL;
    if (node == NULL)
        return ws_draft_refuse(d, "select a group or a step of it");
    const gint64 n = ws_node_int(node, WS_F_replicate, ws_node_has(node, WS_F_replicate) ? -1 : 1);
    if (n < 0)
        return ws_draft_refuse(d, "`replicate` is an expression; change it in the inspector");
    if (n + by < 1)
        return ws_draft_refuse(d, "a group has at least one agent");
    ws_draft_name(d, "Replicate %s", ws_node_name(node));
    ws_draft_touch(d, group);
    return ws_draft_set(d, node->identity, WS_F_replicate,
                        n + by == 1 ? NULL : ws_json_int(n + by));
}

gboolean ws_edit_mute(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    gboolean all = TRUE;
    for (guint i = 0; i < list->len; i++) {
        const WsNode *node = ws_draft_node(d, at(list, i));
        if (!ws_node_kind_is_step(node->kind))
            return ws_draft_refuse(d, "only steps can be muted");
        all &= ws_node_bool(node, WS_F_muted, FALSE);
    }
    for (guint i = 0; i < list->len; i++)
        if (!ws_draft_set(d, at(list, i), WS_F_muted, all ? NULL : ws_json_bool(TRUE)))
            return FALSE;
    name_of(d, all ? "Unmute %s" : "Mute %s", list);
    touch_all(d, list);
    return list->len > 0;
}

/* --- taking away and doubling -------------------------------------------------------------------
 */

/* Steps that are nothing but a mention of the barrier or pipe. */
static gboolean is_mere_mention(const WsNode *node, const char *name)
{
    if (node->kind == WS_STEP_WAIT || node->kind == WS_STEP_ARRIVE ||
        node->kind == WS_STEP_EXPECT || node->kind == WS_STEP_SYNC ||
        node->kind == WS_STEP_ACQUIRE || node->kind == WS_STEP_COMMIT ||
        node->kind == WS_STEP_RELEASE || node->kind == WS_STEP_CLOSE ||
        node->kind == WS_STEP_ADVANCE) {
        const WsRef *ref = ws_node_refv(node, WS_F_keyword);
        const char *text = ref != NULL ? ref->name : ws_node_text(node, WS_F_keyword);
        return g_strcmp0(text, name) == 0;
    }
    return FALSE;
}

static gboolean forget(WsDraft *d, const char *name)
{
    g_autoptr(GArray) mentions = ws_edit_mentions(d->design, name);
    for (guint i = 0; i < mentions->len; i++) {
        const WsNode *node = ws_draft_node(d, at(mentions, i));
        if (node == NULL)
            continue;
        if (is_mere_mention(node, name)) {
            if (!ws_draft_remove(d, node->identity))
                return FALSE;
            continue;
        }
        const WsRef *signal = ws_node_refv(node, WS_F_signal);
        if (signal != NULL && strcmp(signal->name, name) == 0 && node->kind != WS_STEP_COPY &&
            !ws_draft_set(d, node->identity, WS_F_signal, NULL))
            return FALSE;
    }
    return TRUE;
}

gboolean ws_edit_remove(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    if (list->len == 0)
        return FALSE;
    name_of(d, "Delete %s", list);
    Seat next;
    if (sit(d, at(list, list->len - 1), &next)) { /* what comes behind is selected next */
        const guint count = ws_node_n_children(next.owner, next.list);
        if (next.index + 1 < count)
            ws_draft_touch(d, ws_node_child(next.owner, next.list, next.index + 1)->identity);
    }
    for (guint i = 0; i < list->len; i++) {
        const WsNode *node = ws_draft_node(d, at(list, i));
        if (node == NULL)
            continue; /* went with an object that was removed before it */
        const gboolean object = !ws_node_kind_is_step(node->kind) && node->kind != WS_NODE_GROUP;
        g_autofree char *name = object ? g_strdup(ws_node_name(node)) : NULL;
        if (!ws_draft_remove(d, at(list, i)) || (name != NULL && !forget(d, name)))
            return FALSE;
    }
    return ws_guess_settle(d, NULL);
}

/* Names that the node itself gives away, and ids below it, would clash in a copy. */
static gboolean make_distinct(WsDraft *d, guint64 node)
{
    const WsNode *n = ws_draft_node(d, node);
    if (ws_node_has(n, WS_F_id) && !ws_draft_set(d, node, WS_F_id, NULL))
        return FALSE;
    n = ws_draft_node(d, node);
    g_autoptr(GArray) below = g_array_new(FALSE, FALSE, sizeof(guint64));
    const WsFieldId field = ws_edit_list_field(n);
    for (guint i = 0; field != WS_F_COUNT && i < ws_node_n_children(n, field); i++)
        g_array_append_val(below, ws_node_child(n, field, i)->identity);
    for (guint i = 0; i < ws_node_n_children(n, WS_F_else); i++)
        g_array_append_val(below, ws_node_child(n, WS_F_else, i)->identity);
    for (guint i = 0; i < below->len; i++)
        if (!make_distinct(d, at(below, i)))
            return FALSE;
    return TRUE;
}

/* The node under another name, where its kind has one. */
static WsJson *copy_of(const WsDesign *design, const WsNode *node)
{
    if (ws_node_kind_is_step(node->kind) || ws_node_row(node->kind, WS_F_name) == NULL)
        return ws_json_of_node(node);
    g_autofree char *fresh = ws_edit_fresh(design, ws_node_name(node));
    return ws_json_with(ws_json_of_node(node), "name", ws_json_text(fresh));
}

gboolean ws_edit_duplicate(WsDraft *d, const guint64 *nodes, guint n)
{
    g_autoptr(GArray) list = in_order(d, nodes, n);
    name_of(d, "Duplicate %s", list);
    for (guint i = 0; i < list->len; i++) {
        Seat s, last;
        if (!sit(d, at(list, i), &s))
            return is_gone(d);
        /* Copies of a block stand behind the block. */
        guint index = s.index + 1;
        for (guint k = 0; k < list->len; k++)
            if (sit(d, at(list, k), &last) && last.owner == s.owner && last.list == s.list)
                index = MAX(index, last.index + 1 + i);
        sit(d, at(list, i), &s);
        /* An id is unique: it is taken away from the original for the moment of copying. */
        g_autoptr(WsDraft) bare = ws_draft_new(d->design);
        if (!make_distinct(bare, at(list, i)))
            return ws_draft_refuse(d, "%s", bare->why);
        const guint length = ws_node_n_children(s.owner, s.list);
        const guint64 copy =
            ws_draft_insert(d, s.owner->identity, s.list, MIN(index, length),
                            copy_of(bare->design, ws_draft_node(bare, at(list, i))));
        if (copy == 0 || !ws_guess_copy(d, at(list, i), copy))
            return FALSE;
        ws_draft_touch(d, copy);
    }
    return list->len > 0;
}
