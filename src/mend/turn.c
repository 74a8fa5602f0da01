/* Quick-fixes of turns and meetings: a turn that goes round the replicas and is not given on, or to
 * the wrong one, or never begins; a named barrier that one side alone knows. */
#include "mend/fixer.h"

enum { OTHERS_DO = 2 };

/* The first such step on the barrier, in a loop or outside; -1 none. */
static gint first_on(const WsFixer *F, WsNodeKind kind, const char *name, gboolean in_loop)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_is_on(F, i, kind, name) && (ws_spot(F, i)->up >= 0) == in_loop)
            return i;
    return -1;
}

/* The element of the replica that comes next. Caller frees. */
static char *next_of(const WsNode *barrier)
{
    return g_strdup(ws_node_int(barrier, WS_F_array, 0) == 2 ? "1 - replica"
                                                             : "(replica + 1) % replicas");
}

/* `by` of the arrivals on another array of the group; NULL if there are none. Caller frees. */
static char *by_of_others(const WsFixer *F, const WsNode *group, const char *name)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const char *barrier = s->node->kind == WS_STEP_ARRIVE ? ws_step_barrier(s->node) : NULL;
        const WsNode *b = ws_object_named(F->design, WS_F_barriers, barrier);
        if (s->group == group && b && strcmp(barrier, name) != 0 && ws_node_has(b, WS_F_array) &&
            !ws_is_named(b) && ws_node_has(s->node, WS_F_by))
            return ws_field_text(s->node, WS_F_by);
    }
    return NULL;
}

/* The last step behind step i that issues something, before all that waits for it: what a turn is
 * for. -1 none. */
static gint issued(const WsFixer *F, gint i)
{
    gint last = -1;
    for (gint k = ws_spot_next(F, i, 1); k >= 0; k = ws_spot_next(F, k, 1)) {
        const WsNodeKind kind = ws_spot(F, k)->node->kind;
        if (ws_step_retires(kind))
            break;
        if (ws_step_is_data(kind) || kind == WS_STEP_FOR)
            last = k;
    }
    return last;
}

/* Both halves of a turn: one waits for its own element and gives the next one on. */
static void round_of(WsFixer *F, const WsNode *b, gint i)
{
    const WsNode *step = ws_spot(F, i)->node;
    const char *name = ws_node_name(b);
    const gboolean named = ws_is_named(b), waits = step->kind != WS_STEP_ARRIVE;
    g_autofree char *use = ws_field_text(step, WS_F_use), *when = ws_field_text(step, WS_F_when),
                    *next = next_of(b),
                    *ref = g_strdup_printf("%s[%s]", name, waits ? next : "replica"),
                    *others = named ? NULL : by_of_others(F, ws_spot(F, i)->group, name);
    const WsNodeKind kind = waits ? WS_STEP_ARRIVE : named ? WS_STEP_SYNC : WS_STEP_WAIT;
    for (guint k = 0; k < ws_node_n_children(ws_spot(F, i)->owner, ws_spot(F, i)->field); k++) {
        const gint by_index = (gint)k - (gint)ws_spot(F, i)->index;
        const gint place = ws_spot_next(F, i, by_index);
        for (guint all = 0; all < (waits && !named ? 2 : 1); all++) {
            const WsHanding how = { .by = !all ? NULL : others ? others : "all", .when = when };
            g_autofree char *where = ws_step_name(ws_spot(F, place)->node);
            WsFix *fix = waits ? ws_fixer_add(F, "Give %s on after %s", name, where)
                               : ws_fixer_add(F, "Wait for the turn of %s before %s", name, where);
            fix->cost += (others ? (all ? 0 : OTHERS_DO) : all) +
                         (waits == (by_index > 0) ? 0 : 4) + (place == issued(F, i) ? 0 : 1);
            ws_fix_insert(F, fix, place, waits ? 1 : 0, ws_hand(kind, ref, use, how));
        }
    }
}

/* The turn is given to somebody else than the one that comes next. */
static void to_next(WsFixer *F, const WsNode *b)
{
    g_autofree char *next = next_of(b), *name = g_strdup(ws_node_name(b)),
                    *ref = g_strdup_printf("%s[%s]", name, next);
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *now =
            ws_is_on(F, i, WS_STEP_ARRIVE, name) ? ws_field_text(s->node, WS_F_keyword) : NULL;
        if (!now || s->up < 0 || strcmp(now, ref) == 0 || !ws_node_has(s->group, WS_F_replicate))
            continue;
        WsFix *fix = ws_fixer_add(F, "Give the turn to %s[%s], who comes next", name, next);
        fix->cost -= 14;
        ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(ref));
    }
}

void ws_fix_give_on(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers); k++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, k);
        const char *name = ws_node_name(b);
        if (!ws_node_has(b, WS_F_array))
            continue;
        const gint waits = first_on(F, ws_is_named(b) ? WS_STEP_SYNC : WS_STEP_WAIT, name, TRUE),
                   gives = first_on(F, WS_STEP_ARRIVE, name, TRUE);
        if ((waits < 0) != (gives < 0) &&
            ws_node_has(ws_spot(F, MAX(waits, gives))->group, WS_F_replicate))
            round_of(F, b, MAX(waits, gives));
        if (waits >= 0 && gives >= 0)
            to_next(F, b);
    }
}

/* A sync on another element than where its group syncs otherwise. */
void ws_fix_own_turn(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        const char *name = s->node->kind == WS_STEP_SYNC ? ws_step_barrier(s->node) : NULL;
        const WsNode *b = ws_object_named(F->design, WS_F_barriers, name);
        g_autofree char *now =
            b && ws_node_has(b, WS_F_array) ? ws_field_text(s->node, WS_F_keyword) : NULL;
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (gint k = 0; now && k < (gint)F->spot->len; k++) {
            char *its = ws_spot(F, k)->group == s->group && ws_is_on(F, k, WS_STEP_SYNC, name)
                            ? ws_field_text(ws_spot(F, k)->node, WS_F_keyword)
                            : NULL;
            if (!its || strcmp(its, now) == 0 || g_hash_table_contains(seen, its)) {
                g_free(its);
                continue;
            }
            g_hash_table_add(seen, its);
            WsFix *fix = ws_fixer_add(F, "Sync on %s, as elsewhere in %s, not on %s", its,
                                      ws_node_name(s->group), now);
            ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(its));
        }
    }
}

/* --- who begins ------------------------------------------------------------------------------- */
/* An mbarrier array that goes round: its first element begins ready, and no other one. */
static void first_ready(WsFixer *F, const WsNode *b)
{
    const gint64 n = ws_node_int(b, WS_F_array, 0);
    const WsValue *init = ws_node_get(b, WS_F_init);
    if (n < 2 || n > 64 || init->kind == WS_VALUE_TEXT ||
        (init->kind == WS_VALUE_LIST && init->n && g_strcmp0(init->item[0].text, "ready") == 0))
        return;
    WsJson *turns = ws_json_list();
    for (gint64 i = 0; i < n; i++)
        ws_json_add(turns, ws_json_text(i ? "pending" : "ready"));
    WsFix *fix = ws_fixer_add(F, "Give the first turn to %s[0]", ws_node_name(b));
    ws_fix_set(fix, b, WS_F_init, turns);
}

/* An extra arrival before the loops, under the condition of the syncs. */
static void first_arrival(WsFixer *F, const WsNode *b, const WsNode *group)
{
    const char *name = ws_node_name(b);
    const gboolean array = ws_node_has(b, WS_F_array);
    gint sync = -1;
    gboolean names = FALSE;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        if (ws_spot(F, i)->group != group)
            continue;
        names |= g_strcmp0(ws_step_barrier(ws_spot(F, i)->node), name) == 0;
        sync = sync < 0 && ws_is_on(F, i, WS_STEP_SYNC, name) ? i : sync;
    }
    if (!names)
        return;
    const WsExpr *when =
        array && sync >= 0 ? ws_node_expr(ws_spot(F, sync)->node, WS_F_when) : NULL;
    g_autofree char *cond = when ? ws_expr_print(when) : NULL,
                    *ref = array ? g_strdup_printf("%s[0]", name) : g_strdup(name),
                    *last = g_strdup_printf("replica == replicas - 1%s%s", cond ? " && " : "",
                                            cond ? cond : "");
    const gboolean one = array && ws_node_has(group, WS_F_replicate);
    WsFix *fix = ws_fixer_add(F, "Give the first turn of %s before the loops of %s", name,
                              ws_node_name(group));
    fix->cost += b == F->object ? 0 : 1;
    WsJson *arrive = ws_hand(WS_STEP_ARRIVE, ref, NULL, (WsHanding){ .when = one ? last : NULL });
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, group->identity, WS_F_body, 0, arrive });
}

void ws_fix_prime(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    for (guint i = 0; i < ws_node_n_children(root, WS_F_barriers); i++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, i);
        const char *name = ws_node_name(b);
        const gboolean turns = ws_node_has(b, WS_F_array) || b == F->object;
        if (turns && !ws_is_named(b))
            first_ready(F, b);
        if (!turns || !ws_is_named(b) ||
            (b != F->object && first_on(F, WS_STEP_ARRIVE, name, FALSE) >= 0))
            continue;
        for (guint g = 0; g < ws_node_n_children(root, WS_F_groups); g++)
            first_arrival(F, b, ws_node_child(root, WS_F_groups, g));
    }
}

/* --- named barriers that one side alone knows --------------------------------------------------
 */
/* How many groups come to it, by other steps than `without`. */
static guint groups_on(const WsFixer *F, const char *name, gint without)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (i != without &&
            (ws_is_on(F, i, WS_STEP_SYNC, name) || ws_is_on(F, i, WS_STEP_ARRIVE, name)))
            g_hash_table_add(seen, (gpointer)ws_spot(F, i)->group);
    return g_hash_table_size(seen);
}

/* Everybody arrives and nobody waits: one of the arrivals waits, too. */
static void wait_there(WsFixer *F, const char *name)
{
    gboolean syncs = FALSE;
    for (gint i = 0; i < (gint)F->spot->len; i++)
        syncs |= ws_is_on(F, i, WS_STEP_SYNC, name);
    for (gint i = 0; !syncs && i < (gint)F->spot->len; i++) {
        if (!ws_is_on(F, i, WS_STEP_ARRIVE, name))
            continue;
        const WsSpot *s = ws_spot(F, i);
        g_autofree char *ref = ws_field_text(s->node, WS_F_keyword),
                        *when = ws_field_text(s->node, WS_F_when);
        WsFix *fix =
            ws_fixer_add(F, "Let %s wait at %s, not only arrive", ws_node_name(s->group), name);
        ws_fix_do(fix, (WsMendDeed){ WS_MEND_REPLACE, s->node->identity,
                                     .value = ws_hand(WS_STEP_SYNC, ref, NULL,
                                                      (WsHanding){ .when = when }) });
    }
}

/* Replicas race though each syncs itself: where they meet otherwise they may mean to meet here. */
static void not_alone(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const WsNode *group = F->at >= 0 ? ws_spot(F, F->at)->group : NULL;
    if (!group || F->other < 0 || ws_spot(F, F->other)->group != group ||
        !ws_node_has(group, WS_F_replicate))
        return;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        if (s->group != group || !ws_is_on(F, i, WS_STEP_SYNC, "group"))
            continue;
        for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers); k++) {
            const WsNode *b = ws_node_child(root, WS_F_barriers, k);
            const gint meets = first_on(F, WS_STEP_SYNC, ws_node_name(b), TRUE);
            if (!ws_is_named(b) || ws_node_has(b, WS_F_array) || meets < 0 ||
                ws_spot(F, meets)->group != group ||
                ws_node_has(ws_spot(F, meets)->node, WS_F_when))
                continue;
            WsFix *fix =
                ws_fixer_add(F, "Sync the replicas on %s, not only the group", ws_node_name(b));
            fix->cost += 6;
            ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(ws_node_name(b)));
        }
    }
}

/* One group comes to a named barrier and nobody else does, or nobody waits there: a step of another
 * group that names a different one means it. */
void ws_fix_same_barrier(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    not_alone(F);
    for (guint k = 0; k < ws_node_n_children(root, WS_F_barriers); k++) {
        const WsNode *b = ws_node_child(root, WS_F_barriers, k);
        const char *name = ws_node_name(b);
        if (ws_is_named(b))
            wait_there(F, name);
        if (!ws_is_named(b) || ws_node_has(b, WS_F_array) || groups_on(F, name, -1) > 1 ||
            (groups_on(F, name, -1) == 1 &&
             ws_node_has(ws_spot(F, MAX(0, first_on(F, WS_STEP_SYNC, name, TRUE)))->group,
                         WS_F_replicate)))
            continue;
        const gint own =
            MAX(first_on(F, WS_STEP_SYNC, name, TRUE), first_on(F, WS_STEP_ARRIVE, name, TRUE));
        for (gint i = 0; own >= 0 && i < (gint)F->spot->len; i++) {
            const WsSpot *s = ws_spot(F, i);
            const WsNode *other =
                ws_object_named(F->design, WS_F_barriers, ws_step_barrier(s->node));
            if (s->group == ws_spot(F, own)->group || !other || !ws_is_named(other) ||
                (s->node->kind != WS_STEP_SYNC && s->node->kind != WS_STEP_ARRIVE) ||
                groups_on(F, ws_node_name(other), i) < 2) /* it is missed there */
                continue;
            g_autofree char *step = ws_step_name(s->node);
            WsFix *fix =
                ws_fixer_add(F, "Let %s of %s join %s, where %s is alone", step,
                             ws_node_name(s->group), name, ws_node_name(ws_spot(F, own)->group));
            ws_fix_set(fix, s->node, WS_F_keyword, ws_json_text(name));
        }
    }
}
