/* Quick-fixes of order: who begins, in which order barriers are met, how a cluster ends. */
#include "base/phrase.h"
#include "mend/fixer.h"

enum { MOST = 64, ONE_GROUP = 36, ORDER_LOST = 10, UNTOLD = 10, MISSED = 20 };

void ws_fix_prime_once(WsFixer *F)
{
    static const char *const when[] = { "replica == replicas - 1", "replica == 0", "replica > 0" };
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->node->kind != WS_STEP_ARRIVE || s->up >= 0 || !ws_node_has(s->group, WS_F_replicate))
            continue;
        for (guint k = 0; k < G_N_ELEMENTS(when); k++) {
            g_autofree char *name = ws_step_name(s->node);
            WsFix *fix = ws_fixer_add(F, "Do %s only when %s", name, when[k]);
            ws_fix_set(fix, s->node, WS_F_when, ws_json_expr(when[k]));
        }
    }
}

/* A step near one of the finding's is moved before one that is far from both. */
static guint distance(const WsFixer *F, gint i)
{
    const gint near[] = { F->at, F->other };
    guint cost = 2;
    for (guint k = 0; k < G_N_ELEMENTS(near); k++)
        if (near[k] >= 0 && ws_spot(F, i)->owner == ws_spot(F, near[k])->owner &&
            ABS((gint)ws_spot(F, i)->index - (gint)ws_spot(F, near[k])->index) <= 4)
            cost = 0;
    return cost;
}

/* Buffer that both touch. */
static gboolean share(const WsFixer *F, const WsNode *a, const WsNode *b)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_buffers); i++) {
        const char *name = ws_node_name(ws_node_child(root, WS_F_buffers, i));
        if ((ws_step_reads(a, name) || ws_step_writes(a, name)) &&
            (ws_step_reads(b, name) || ws_step_writes(b, name)))
            return TRUE;
    }
    return FALSE;
}

static const WsNode *child(const WsSpot *s, gint i)
{
    return ws_node_child(s->owner, s->field, (guint)i);
}

/* A sync that goes `by` places on takes away the order between what it passes and what stands on
 * its other side, and so does a step that passes a sync: where both touch the same bytes another
 * sync is better than this one elsewhere. */
static guint order_lost(const WsFixer *F, gint i, gint by)
{
    const WsSpot *s = ws_spot(F, i);
    const gint n = (gint)ws_node_n_children(s->owner, s->field), at = (gint)s->index;
    const gboolean sync = s->node->kind == WS_STEP_SYNC;
    for (gint p = MIN(at, at + by); p <= MAX(at, at + by); p++) {
        if (p == at || (!sync && child(s, p)->kind != WS_STEP_SYNC))
            continue;
        if (sync && by < 0 && ws_step_retires(child(s, p)->kind))
            return ORDER_LOST; /* it tells the other lanes what has been waited for */
        const gint bar = sync ? at : p;
        for (gint o = 0; o < n; o++)
            if (o != at && ((by > 0) == sync ? o < bar : o > bar) &&
                share(F, sync ? child(s, p) : s->node, child(s, o)))
                return ORDER_LOST;
    }
    return 0;
}

/* The finding is of bytes that are overwritten while a step of its group still reads them, and step
 * i is that one: later on it would read others. */
static gboolean reads_before(const WsFixer *F, gint i)
{
    const WsNode *at = F->at >= 0 ? ws_spot(F, F->at)->node : NULL;
    const char *into = at ? ws_step_ref(at, WS_F_into) : NULL,
               *to = at && at->kind == WS_STEP_WRITE ? ws_step_ref(at, WS_F_to) : NULL,
               *buffer = into ? into : to;
    return i == F->other && buffer && ws_step_reads(ws_spot(F, i)->node, buffer);
}

/* A synchronisation step changes places with its neighbour; those of the finding first. */
static void swap(WsFixer *F, gint i, gint by)
{
    const gint next = ws_spot_next(F, i, by);
    if (next < 0)
        return;
    g_autofree char *a = ws_step_name(ws_spot(F, i)->node),
                    *b = ws_step_name(ws_spot(F, next)->node);
    WsFix *fix =
        ws_fixer_add(F, "Do %s %s %s", a, by > 0 ? WS_WORD("after") : WS_WORD("before"), b);
    fix->cost += distance(F, i) + order_lost(F, i, by);
    /* a sync tells the other lanes what has been waited for, so it comes behind */
    if (by < 0 && ws_step_retires(ws_spot(F, i)->node->kind) && ws_step_is(F, next, WS_STEP_SYNC) &&
        !ws_step_is(F, ws_spot_next(F, i, 1), WS_STEP_SYNC))
        fix->cost -= UNTOLD;
    ws_fix_move(F, fix, i, next, by > 0 ? 1 : 0);
}

void ws_fix_same_order(WsFixer *F)
{
    guint n = 0;
    for (guint round = 0; round < 2; round++)
        for (gint i = 0; i < (gint)F->spot->len && n < MOST; i++) {
            const gboolean near = i == F->at || i == F->other || i == ws_spot_next(F, F->at, 1) ||
                                  i == ws_spot_next(F, F->at, -1);
            if (!ws_step_moves(ws_spot(F, i)->node->kind) || near != (round == 0))
                continue;
            swap(F, i, 1);
            swap(F, i, -1);
            n++;
        }
}

/* Is all between two places of a list synchronisation? Then it does not matter which of them moves:
 * a step with data changes places with what orders it, and computes the same. */
static gboolean only_order_between(const WsFixer *F, gint i, gint by)
{
    for (gint k = by > 0 ? 1 : -1; k != by + (by > 0 ? 1 : -1); k += by > 0 ? 1 : -1)
        if (!ws_step_moves(ws_spot(F, ws_spot_next(F, i, k))->node->kind))
            return FALSE;
    return TRUE;
}

/* Both steps name the value, or the buffer. */
static gboolean both_name(const WsNode *a, const WsNode *b, const WsNode *owner, WsFieldId list)
{
    g_autofree char *x = ws_node_print(a, 0), *y = ws_node_print(b, 0);
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const char *name = ws_node_name(ws_node_child(owner, list, i));
        if (ws_has_word(x, name) && ws_has_word(y, name))
            return TRUE;
    }
    return FALSE;
}

/* What writes or stores comes behind all that has to do with its values and bytes: before an
 * assignment it would be another value that it moves. */
static gboolean passes(const WsFixer *F, gint i, gint by)
{
    const WsSpot *s = ws_spot(F, i);
    if (s->node->kind != WS_STEP_WRITE && s->node->kind != WS_STEP_STORE)
        return TRUE;
    for (gint k = -1; k >= by; k--) {
        const WsNode *other = ws_spot(F, ws_spot_next(F, i, k))->node;
        if (!ws_step_moves(other->kind) &&
            (both_name(s->node, other, s->group, WS_F_values) ||
             both_name(s->node, other, ws_design_root(F->design), WS_F_buffers)))
            return FALSE;
    }
    return TRUE;
}

/* A step that stands in the wrong place of its list: every other place, in short lists. Moving what
 * touches data past other data is not safe. */
void ws_fix_other_place(WsFixer *F)
{
    enum { LONG = 30 };
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const gint n = (gint)ws_node_n_children(s->owner, s->field), at = (gint)s->index;
        const gboolean sync = ws_step_moves(s->node->kind);
        if (n > LONG || s->node->kind == WS_STEP_FOR || s->node->kind == WS_STEP_IF ||
            (F->at >= 0 && F->other >= 0 && s->group != ws_spot(F, F->at)->group &&
             s->group != ws_spot(F, F->other)->group))
            continue;
        for (gint far = sync ? 4 : 2; far < 2 * n; far++) { /* the nearest first */
            const gint to = at + (far % 2 ? far / 2 : -far / 2);
            if (to < 0 || to >= n || (to > at && reads_before(F, i)))
                continue;
            if (!sync && !passes(F, i, to - at))
                continue;
            const gint place = ws_spot_next(F, i, to - at);
            g_autofree char *a = ws_step_name(s->node), *b = ws_step_name(ws_spot(F, place)->node);
            WsFix *fix = ws_fixer_add(F, "Move %s %s %s", a,
                                      to > at ? WS_WORD("after") : WS_WORD("before"), b);
            fix->safe = sync || only_order_between(F, i, to - at);
            fix->cost += (guint)MIN(ABS(to - at), 6) / 2 +
                         (sync        ? 0
                          : fix->safe ? 1
                                      : 6) +
                         distance(F, i) + order_lost(F, i, to - at);
            ws_fix_move(F, fix, i, place, to > at ? 1 : 0);
        }
    }
}

/* The one step of the group at the cluster's barrier, if it arrives and does not wait; -1. */
static gint lone_arrival(const WsFixer *F, const WsNode *group)
{
    gint found = -1;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->group != group || s->node->kind != WS_STEP_CLUSTER)
            continue;
        if (found >= 0 || g_strcmp0(ws_node_text(s->node, WS_F_keyword), "arrive") != 0)
            return -1;
        found = i;
    }
    return found;
}

/* The loop over tiles that the group's body holds; NULL. */
static const WsNode *tiles_of(const WsNode *group)
{
    for (guint i = 0; i < ws_node_n_children(group, WS_F_body); i++) {
        const WsNode *step = ws_node_child(group, WS_F_body, i);
        if (step->kind == WS_STEP_FOR && ws_node_has(step, WS_F_over))
            return step;
    }
    return NULL;
}

/* What a CTA sends to another one in a tile is over before the next one. */
void ws_fix_meet_in_tiles(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const guint n = ws_node_n_children(root, WS_F_groups);
    gboolean reaches = FALSE;
    for (guint i = 0; i < F->spot->len; i++) {
        reaches |= ws_node_has(ws_spot(F, (gint)i)->node, WS_F_cta);
        if (ws_step_is(F, (gint)i, WS_STEP_CLUSTER))
            return;
    }
    if (!reaches || ws_node_int(root, WS_F_cluster, 1) < 2)
        return;
    for (guint g = 0; g < n; g++)
        if (!tiles_of(ws_node_child(root, WS_F_groups, g)))
            return;
    WsFix *fix = ws_fixer_add(F, "Sync the cluster at the end of every tile");
    fix->cost += 1;
    for (guint g = 0; g < n; g++)
        ws_fix_append(fix, tiles_of(ws_node_child(root, WS_F_groups, g)), WS_F_do,
                      ws_plain(WS_STEP_CLUSTER, "sync"));
}

void ws_fix_meet_at_end(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    WsFix *fix = ws_fixer_add(F, "Sync the cluster at the end of all groups");
    for (guint g = 0; g < ws_node_n_children(root, WS_F_groups); g++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, g);
        const gint alone = lone_arrival(F, group);
        if (alone >= 0) { /* it has arrived too early, and never waited */
            const guint64 step = ws_spot(F, alone)->node->identity;
            const guint n = ws_node_n_children(group, WS_F_body);
            if (ws_node_child(group, WS_F_body, n - 1) != ws_spot(F, alone)->node)
                ws_fix_do(fix, (WsMendDeed){ WS_MEND_MOVE, step, group->identity, WS_F_body,
                                             n - (ws_spot(F, alone)->up < 0 ? 1 : 0), NULL });
            ws_fix_append(fix, group, WS_F_body, ws_plain(WS_STEP_CLUSTER, "wait"));
            continue;
        }
        const guint n = ws_node_n_children(group, WS_F_body);
        const WsNode *last = n ? ws_node_child(group, WS_F_body, n - 1) : NULL;
        if (!last || last->kind != WS_STEP_CLUSTER)
            ws_fix_append(fix, group, WS_F_body, ws_plain(WS_STEP_CLUSTER, "sync"));
    }
}

/* The take that other groups have, at the end of the loop that lacks one. */
void ws_fix_take_tile(WsFixer *F)
{
    if (F->at < 0 || ws_spot(F, F->at)->node->kind != WS_STEP_FOR)
        return;
    const WsNode *loop = ws_spot(F, F->at)->node;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsNode *step = ws_spot(F, i)->node;
        if (step->kind != WS_STEP_CLAIM && step->kind != WS_STEP_TAKE)
            continue;
        const WsFieldId slot = step->kind == WS_STEP_CLAIM ? WS_F_into : WS_F_from;
        const guint n = ws_node_n_children(loop, WS_F_do);
        for (guint k = 0; k <= n; k++) {
            WsFix *fix =
                ws_fixer_add(F, "Take the next tile in %s", ws_node_name(ws_spot(F, F->at)->group));
            WsJson *take = WS_MAKE(WS_STEP_TAKE, { WS_F_keyword, ws_json_text("tiles") },
                                   { WS_F_from, ws_json_of_field(step, slot) },
                                   { WS_F_use, ws_json_of_field(step, WS_F_use) });
            ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, loop->identity, WS_F_do, n - k, take });
        }
        return;
    }
}

/* A named barrier is declared, and nobody waits there: most likely it is missed here. */
static gboolean is_unheard(const WsFixer *F, const char *name)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_is_on(F, i, WS_STEP_SYNC, name))
            return FALSE;
    return TRUE;
}

/* One group syncs there and none of another group comes: most likely that one is missed here. */
static gboolean is_alone(const WsFixer *F, const char *name, const WsNode *here)
{
    const WsNode *group = NULL;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (!ws_is_on(F, i, WS_STEP_SYNC, name) && !ws_is_on(F, i, WS_STEP_ARRIVE, name))
            continue;
        if (s->group == here || (group && group != s->group) ||
            ws_node_has(s->group, WS_F_replicate))
            return FALSE;
        group = s->group;
    }
    return group != NULL;
}

/* A named barrier that one side has left out: beside the steps of the finding, or at the end of
 * their lists. */
void ws_fix_join(WsFixer *F)
{
    static const WsNodeKind verb[] = { WS_STEP_SYNC, WS_STEP_ARRIVE };
    const WsNode *root = ws_design_root(F->design);
    const gint place[] = { F->other, F->at };
    for (guint k = 0; k < 2 * ws_node_n_children(root, WS_F_barriers); k++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, k / 2);
        const char *how = ws_node_kind_keyword(verb[k % 2]);
        if (!ws_is_named(b) || ws_node_has(b, WS_F_array))
            continue;
        const guint less =
            verb[k % 2] == WS_STEP_SYNC && is_unheard(F, ws_node_name(b)) ? MISSED : 0;
        for (guint p = 0; p < G_N_ELEMENTS(place); p++) {
            if (place[p] < 0)
                continue;
            const WsSpot *s = ws_spot(F, place[p]);
            g_autofree char *name = ws_step_name(s->node);
            const gboolean writes = s->node->kind == WS_STEP_WRITE;
            const guint alone =
                verb[k % 2] == WS_STEP_SYNC && is_alone(F, ws_node_name(b), s->group) ? MISSED : 0;
            for (gint by = 1; by >= 0; by--) {
                WsFix *fix = ws_fixer_add(F, "Add `%s %s` %s %s", how, ws_node_name(b),
                                          by ? WS_WORD("after") : WS_WORD("before"), name);
                fix->cost -= alone                      ? alone - (by == writes ? 0 : 2)
                             : place[p] == F->at && !by ? less
                                                        : 0;
                ws_fix_insert(F, fix, place[p], by, ws_plain(verb[k % 2], ws_node_name(b)));
            }
            WsFix *fix = ws_fixer_add(F, "Add `%s %s` at the end of the list of %s", how,
                                      ws_node_name(b), name);
            ws_fix_append(fix, s->owner, s->field, ws_plain(verb[k % 2], ws_node_name(b)));
        }
    }
}

#define MEET "meet"

static void new_meeting(WsFix *fix, const WsNode *root)
{
    ws_fix_append(fix, root, WS_F_barriers,
                  WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(MEET) },
                          { WS_F_kind, ws_json_text("named") }));
}

/* Nothing orders two groups: a new barrier that both meet. */
void ws_fix_meet(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    if (F->at < 0 || F->other < 0 || ws_object_named(F->design, WS_F_barriers, MEET))
        return;
    g_autofree char *a = ws_step_name(ws_spot(F, F->other)->node),
                    *b = ws_step_name(ws_spot(F, F->at)->node);
    WsFix *fix = ws_fixer_add(F, "Sync the groups between %s and %s", a, b);
    new_meeting(fix, root);
    const gboolean one = ws_spot(F, F->at)->group == ws_spot(F, F->other)->group;
    if (one) { /* replicas: before what one of them does when it is through with the rest */
        const gint top = ws_spot_outside(F, F->other, F->at);
        g_autofree char *where = ws_step_name(ws_spot(F, top)->node);
        WsFix *early = ws_fixer_add(F, "Sync the replicas before %s", where);
        early->cost = ONE_GROUP;
        new_meeting(early, root);
        ws_fix_insert(F, early, top, 0, ws_plain(WS_STEP_SYNC, MEET));
        ws_fix_insert(F, fix, F->at, 0, ws_plain(WS_STEP_SYNC, MEET));
        return;
    }
    const gint place[] = { MAX(F->at, F->other), MIN(F->at, F->other) };
    for (guint i = 0; i < G_N_ELEMENTS(place); i++) /* from the last: indices before it stand */
        ws_fix_insert(F, fix, place[i], place[i] == F->other, ws_plain(WS_STEP_SYNC, MEET));
}
