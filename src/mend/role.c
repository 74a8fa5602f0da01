/* Quick-fixes of roles that disagree: one side does a thing only under a condition, the other side
 * counts on it; a barrier of everybody that some never meet; a counter that does not follow what it
 * counts; a copy that is not answered. */
#include "expr/expr.h"
#include "mend/fixer.h"

enum { MOST = 24 };

/* --- conditions of steps ---------------------------------------------------------------------- */
/* Another step of the list stands under just that condition. */
static gboolean is_asked_beside(const WsSpot *s, const char *when)
{
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        g_autofree char *its = ws_field_text(ws_node_child(s->owner, s->field, k), WS_F_when);
        if (g_strcmp0(its, when) == 0)
            return TRUE;
    }
    return FALSE;
}

/* All steps of a list that stand under the same `when` lose it together. */
static void drop_when(WsFixer *F, gint i)
{
    const WsSpot *s = ws_spot(F, i);
    g_autofree char *when = ws_field_text(s->node, WS_F_when), *name = ws_step_name(s->node);
    const WsExpr *e = ws_node_expr(s->node, WS_F_when);
    for (guint k = 0; e && e->op == WS_EXPR_AND && k < 2; k++) { /* one half of it is meant */
        g_autofree char *half = ws_expr_print(e->arg[k]);
        WsFix *fix = ws_fixer_add(F, "Do %s whenever %s", name, half);
        fix->safe = ws_step_hands(s->node->kind);
        fix->cost -= is_asked_beside(s, half) ? 5 : 0;
        ws_fix_set(fix, s->node, WS_F_when, ws_json_expr(half));
    }
    WsFix *fix = ws_fixer_add(F, "Do %s in every case, not only when %s", name, when);
    for (guint k = 0; k < ws_node_n_children(s->owner, s->field); k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, k);
        g_autofree char *other = ws_field_text(step, WS_F_when);
        if (g_strcmp0(when, other) != 0)
            continue;
        fix->safe &= ws_step_hands(step->kind);
        ws_fix_set(fix, step, WS_F_when, NULL);
    }
}

/* --- conditions of branches ------------------------------------------------------------------- */
/* The `if` that holds step i inside its innermost loop: -1 none. */
static gint branch_of(const WsFixer *F, gint i)
{
    const gint up = ws_spot(F, i)->up;
    return ws_step_is(F, up, WS_STEP_IF) && ws_spot(F, i)->field == WS_F_then ? up : -1;
}

/* The step that holds step i in the loop `name`, or step i; -1: it stands in none of that name. */
static gint in_loop(const WsFixer *F, gint i, const char *name)
{
    for (; i >= 0; i = ws_spot(F, i)->up) {
        const gint up = ws_spot(F, i)->up;
        if (up < 0 ? name == NULL : g_strcmp0(ws_node_name(ws_spot(F, up)->node), name) == 0)
            return i;
    }
    return -1;
}

static const WsNode *counter_of(const WsNode *group, const char *use)
{
    for (guint k = 0; use && k < ws_node_n_children(group, WS_F_counters); k++) {
        const WsNode *c = ws_node_child(group, WS_F_counters, k);
        if (g_strcmp0(ws_node_name(c), use) == 0)
            return c;
    }
    return NULL;
}

/* Steps from..to of a list move into an `if` of their own. What they count, they count by the
 * counter of the other side, if that has one. */
static void wrap(WsFixer *F, gint from, gint to, const char *cond, const WsNode *counter,
                 const WsNode *theirs)
{
    const WsSpot *s = ws_spot(F, from);
    const guint n = (guint)(ws_spot(F, to)->index - s->index) + 1;
    g_autofree char *name = ws_step_name(ws_spot(F, to)->node);
    WsFix *fix = ws_fixer_add(F, "Do %s only if %s, as %s does", name, cond, ws_node_name(theirs));
    fix->safe = FALSE;
    WsJson *branch =
        WS_MAKE(WS_STEP_IF, { WS_F_keyword, ws_json_expr(cond) }, { WS_F_then, ws_json_list() });
    ws_fix_insert(F, fix, from, 0, branch);
    for (guint k = 0; k < n; k++) {
        const WsNode *step = ws_node_child(s->owner, s->field, s->index + k);
        if (counter && ws_node_has(step, WS_F_use))
            ws_fix_set(fix, step, WS_F_use, ws_json_text(ws_node_name(counter)));
        ws_fix_do(fix, (WsMendDeed){ WS_MEND_MOVE, step->identity, 0, WS_F_then, k, NULL });
    }
    if (!counter)
        return;
    WsJson *on = WS_MAKE(WS_STEP_ADVANCE, { WS_F_keyword, ws_json_text(ws_node_name(counter)) });
    ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, 0, WS_F_then, G_MAXUINT, on });
    ws_fix_append(fix, s->group, WS_F_counters,
                  WS_MAKE(WS_NODE_COUNTER, { WS_F_name, ws_json_text(ws_node_name(counter)) },
                          { WS_F_start, ws_json_of_field(counter, WS_F_start) }));
}

/* Sides in two CTAs stand under conditions of their own. */
static gboolean crosses(const WsNode *step, const char *cond, const char *mine)
{
    return step->kind == WS_STEP_COPY || ws_node_has(step, WS_F_cta) ||
           (cond && strstr(cond, "cta")) || (mine && strstr(mine, "cta"));
}

/* Step w waits for what step a brings. */
static void pair(WsFixer *F, gint w, gint a)
{
    const guint aside = ws_step_is(F, F->at, WS_STEP_WAIT) && F->at != w ? 2 : 0;
    const WsSpot *x = ws_spot(F, w), *y = ws_spot(F, a);
    const gint own = branch_of(F, w), theirs = branch_of(F, a);
    g_autofree char *mine = own >= 0 ? ws_field_text(ws_spot(F, own)->node, WS_F_keyword) : NULL;
    gint branch = theirs;
    if (branch < 0) /* the branch may hold the loop that holds the step */
        for (gint up = y->up; up >= 0 && branch < 0; up = ws_spot(F, up)->up)
            branch = branch_of(F, up);
    g_autofree char *cond =
        branch >= 0 ? ws_field_text(ws_spot(F, branch)->node, WS_F_keyword) : NULL;
    if (!cond || g_strcmp0(mine, cond) == 0 || crosses(y->node, cond, mine))
        return;
    if (mine) { /* who waits asks what those ask who come; then the other way round */
        const gint of[] = { own, branch };
        for (guint k = 0; k < G_N_ELEMENTS(of); k++) {
            WsFix *fix =
                ws_fixer_add(F, "Let %s ask %s, as %s does", ws_node_name((k ? y : x)->group),
                             k ? mine : cond, ws_node_name((k ? x : y)->group));
            fix->cost += k + aside;
            fix->safe = FALSE;
            ws_fix_set(fix, ws_spot(F, of[k])->node, WS_F_keyword, ws_json_expr(k ? mine : cond));
        }
        return;
    }
    const gint loop = ws_spot(F, branch)->up;
    const gint held = in_loop(F, w, loop < 0 ? NULL : ws_node_name(ws_spot(F, loop)->node));
    if (held < 0)
        return;
    g_autofree char *use = ws_field_text(y->node, WS_F_use);
    const WsNode *counter = counter_of(y->group, use);
    if (counter && counter_of(x->group, use))
        return;
    gint to = held; /* with what the role does in the same turn */
    for (gint k = held; k >= 0 && ws_step_hands(ws_spot(F, k)->node->kind);
         k = ws_spot_next(F, k, 1))
        to = k;
    wrap(F, held, to, cond, counter, y->group);
}

void ws_fix_same_condition(WsFixer *F)
{
    guint n = 0;
    for (gint w = 0; w < (gint)F->spot->len; w++) {
        const char *barrier =
            ws_step_is(F, w, WS_STEP_WAIT) ? ws_step_barrier(ws_spot(F, w)->node) : NULL;
        for (gint a = 0; barrier && a < (gint)F->spot->len && n < MOST; a++) {
            const WsSpot *s = ws_spot(F, a);
            if (s->group == ws_spot(F, w)->group || s->node->kind == WS_STEP_WAIT ||
                g_strcmp0(ws_step_barrier(s->node), barrier) != 0)
                continue;
            if (ws_node_has(s->node, WS_F_when) && !ws_node_has(ws_spot(F, w)->node, WS_F_when))
                drop_when(F, a);
            pair(F, w, a);
            n++;
        }
    }
}

/* --- barriers of everybody -------------------------------------------------------------------- */
static gboolean meets(const WsFixer *F, const WsNode *group, const char *name)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_spot(F, i)->group == group && ws_is_on(F, i, WS_STEP_SYNC, name))
            return TRUE;
    return FALSE;
}

/* Who never comes to a barrier that everybody must meet: at the head of its body, or at the end. */
void ws_fix_meet_all(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    const char *name =
        ws_step_is(F, F->at, WS_STEP_SYNC) ? ws_step_barrier(ws_spot(F, F->at)->node) : NULL;
    if (g_strcmp0(name, "cta") != 0)
        return;
    for (guint end = 0; end < 2; end++) {
        WsFix *fix = ws_fixer_add(F, "Sync all groups on %s", name);
        fix->cost += end;
        for (guint g = 0; g < ws_node_n_children(root, WS_F_groups); g++) {
            const WsNode *group = ws_node_child(root, WS_F_groups, g);
            if (!meets(F, group, name))
                ws_fix_do(fix, (WsMendDeed){ WS_MEND_INSERT, 0, group->identity, WS_F_body,
                                             end ? ws_node_n_children(group, WS_F_body) : 0,
                                             ws_plain(WS_STEP_SYNC, "cta") });
        }
    }
}

gboolean ws_group_does(const WsFixer *F, const WsNode *group, WsNodeKind kind, const char *what)
{
    for (gint i = 0; i < (gint)F->spot->len; i++)
        if (ws_spot(F, i)->group == group && ws_step_is(F, i, kind) &&
            g_strcmp0(ws_node_text(ws_spot(F, i)->node, WS_F_keyword), what) == 0)
            return TRUE;
    return FALSE;
}

/* A second arrival at the cluster's barrier, without a wait between; or one without a wait behind
 * it. */
void ws_fix_cluster_wait(WsFixer *F)
{
    const WsNode *root = ws_design_root(F->design);
    if (ws_step_is(F, F->at, WS_STEP_CLUSTER)) {
        WsFix *fix = ws_fixer_add(F, "Wait for the cluster before it is arrived at again");
        ws_fix_insert(F, fix, F->at, 0, ws_plain(WS_STEP_CLUSTER, "wait"));
    }
    WsFix *each = ws_fixer_add(F, "Wait for the cluster after every arrival, in the same list");
    each->cost += 1;
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        const WsSpot *s = ws_spot(F, i);
        gboolean waits = g_strcmp0(ws_node_text(s->node, WS_F_keyword), "arrive") != 0;
        for (gint k = ws_spot_next(F, i, 1); k >= 0 && !waits; k = ws_spot_next(F, k, 1))
            waits = ws_step_is(F, k, WS_STEP_CLUSTER);
        if (s->node->kind == WS_STEP_CLUSTER && !waits)
            ws_fix_append(each, s->owner, s->field, ws_plain(WS_STEP_CLUSTER, "wait"));
    }
    WsFix *fix = ws_fixer_add(F, "Wait for the cluster at the end");
    for (guint g = 0; g < ws_node_n_children(root, WS_F_groups); g++) {
        const WsNode *group = ws_node_child(root, WS_F_groups, g);
        if (ws_group_does(F, group, WS_STEP_CLUSTER, "arrive") &&
            !ws_group_does(F, group, WS_STEP_CLUSTER, "wait"))
            ws_fix_append(fix, group, WS_F_body, ws_plain(WS_STEP_CLUSTER, "wait"));
    }
}

/* Where shared memory of other CTAs is reached all of them meet: before the step or after it, in
 * its own list or in that of a loop around it. */
void ws_fix_cluster_meets(WsFixer *F)
{
    if (!ws_node_has(ws_design_root(F->design), WS_F_cluster))
        return;
    guint out = 0; /* once around a loop before once in each of its rounds */
    for (gint at = F->at; at >= 0; at = ws_spot(F, at)->up, out++)
        for (guint after = 0; after < 2; after++) {
            g_autofree char *name = ws_step_name(ws_spot(F, at)->node);
            WsFix *fix = after ? ws_fixer_add(F, "Sync the cluster after %s", name)
                               : ws_fixer_add(F, "Sync the cluster before %s", name);
            fix->cost -= MIN(out, 3);
            ws_fix_insert(F, fix, at, after, ws_plain(WS_STEP_CLUSTER, "sync"));
        }
}

/* --- counters --------------------------------------------------------------------------------- */
/* A counter of uses moves by what has been used: by the rounds of the loop beside it. */
void ws_fix_advance_by_rounds(WsFixer *F)
{
    for (gint i = 0; i < (gint)F->spot->len; i++) {
        g_autofree char *by =
            ws_step_is(F, i, WS_STEP_ADVANCE) ? ws_field_text(ws_spot(F, i)->node, WS_F_by) : NULL;
        const WsSpot *s = ws_spot(F, i);
        for (guint k = 0; by && k < ws_node_n_children(s->owner, s->field); k++) {
            const WsNode *loop = ws_node_child(s->owner, s->field, k);
            g_autofree char *count =
                loop->kind == WS_STEP_FOR ? ws_field_text(loop, WS_F_count) : NULL;
            if (!count || strcmp(count, by) == 0)
                continue;
            WsFix *fix =
                ws_fixer_add(F, "Let %s move by %s, the rounds of loop %s",
                             ws_node_text(s->node, WS_F_keyword), count, ws_node_name(loop));
            ws_fix_set(fix, s->node, WS_F_by, ws_json_expr(count));
        }
    }
}

/* --- copies ----------------------------------------------------------------------------------- */
/* All receivers of a copy answer: the condition of the answer is that of the wait. */
void ws_fix_answer(WsFixer *F)
{
    for (gint a = 0; a < (gint)F->spot->len; a++) {
        const gint branch = ws_step_is(F, a, WS_STEP_ARRIVE) ? branch_of(F, a) : -1;
        if (branch < 0 || !ws_node_has(ws_spot(F, a)->node, WS_F_cta))
            continue;
        g_autofree char *now = ws_field_text(ws_spot(F, branch)->node, WS_F_keyword);
        for (gint w = 0; w < a; w++) {
            const gint other = ws_step_is(F, w, WS_STEP_WAIT) ? branch_of(F, w) : -1;
            if (other < 0 || ws_spot(F, w)->group != ws_spot(F, a)->group)
                continue;
            g_autofree char *cond = ws_field_text(ws_spot(F, other)->node, WS_F_keyword),
                            *name = ws_step_name(ws_spot(F, a)->node);
            if (!cond || g_strcmp0(cond, now) == 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Do %s wherever %s is waited for: if %s", name,
                                      ws_step_barrier(ws_spot(F, w)->node), cond);
            ws_fix_set(fix, ws_spot(F, branch)->node, WS_F_keyword, ws_json_expr(cond));
        }
    }
}

/* Who is written to by `to` of each CTA: whom it answers to. "(cta + 1) % 4" by "(cta + 3) % 4";
 * NULL: not told so. Caller frees. */
static char *back(const WsExpr *to)
{
    gint64 n, by;
    if (!to)
        return NULL;
    if (to->op == WS_EXPR_SUB && ws_expr_is_int(to->arg[0], &n) && n == 1 &&
        to->arg[1]->op == WS_EXPR_NAME && strcmp(to->arg[1]->name, "cta") == 0)
        return ws_expr_print(to);
    if (to->op != WS_EXPR_MOD || !ws_expr_is_int(to->arg[1], &n) || to->arg[0]->op != WS_EXPR_ADD ||
        !ws_expr_is_int(to->arg[0]->arg[1], &by) || n < 2 || n > 64 || by < 1 || by >= n ||
        to->arg[0]->arg[0]->op != WS_EXPR_NAME || strcmp(to->arg[0]->arg[0]->name, "cta") != 0)
        return NULL;
    return g_strdup_printf("(cta + %" G_GINT64_FORMAT ") %% %" G_GINT64_FORMAT, n - by, n);
}

/* A group waits for room and then writes to another CTA: those who make room say it to the CTA that
 * writes to them. */
void ws_fix_answer_sender(WsFixer *F)
{
    for (gint w = 0; w < (gint)F->spot->len; w++) {
        const gint next = ws_step_is(F, w, WS_STEP_WAIT) ? ws_spot_next(F, w, 1) : -1;
        g_autofree char *to =
            next >= 0 && (ws_step_is(F, next, WS_STEP_WRITE) || ws_step_is(F, next, WS_STEP_COPY))
                ? back(ws_node_expr(ws_spot(F, next)->node, WS_F_cta))
                : NULL;
        const char *barrier = ws_step_barrier(ws_spot(F, w)->node);
        for (gint a = 0; to && a < (gint)F->spot->len; a++) {
            const WsNode *step = ws_spot(F, a)->node;
            g_autofree char *now = ws_field_text(step, WS_F_cta);
            if (!ws_is_on(F, a, WS_STEP_ARRIVE, barrier) || g_strcmp0(now, to) == 0)
                continue;
            WsFix *fix = ws_fixer_add(F, "Arrive on %s of CTA %s, which writes here", barrier, to);
            ws_fix_set(fix, step, WS_F_cta, ws_json_expr(to));
        }
    }
}

/* "cta == 0" around a step: which CTA does it. NULL: not told so. Caller frees. */
static char *only_cta(const WsFixer *F, gint i)
{
    static const char is[] = "cta == ";
    for (; i >= 0; i = ws_spot(F, i)->up) {
        const gint branch = branch_of(F, i);
        g_autofree char *cond =
            branch >= 0 ? ws_field_text(ws_spot(F, branch)->node, WS_F_keyword) : NULL;
        if (cond && g_str_has_prefix(cond, is) &&
            strspn(cond + strlen(is), "0123456789") == strlen(cond + strlen(is)))
            return g_strdup(cond + strlen(is));
    }
    return NULL;
}

/* Does step i wait for the copy, in the CTA that it goes to? */
static gboolean gets(const WsFixer *F, gint i, gint copy)
{
    const WsNode *node = ws_spot(F, copy)->node;
    g_autofree char *to = ws_field_text(node, WS_F_cta), *here = only_cta(F, i);
    return ws_is_on(F, i, WS_STEP_WAIT, ws_step_barrier(node)) &&
           (!here || !to || !g_ascii_isdigit(*to) || strcmp(here, to) == 0);
}

/* A new barrier: whoever waits for a copy arrives there, and its sender waits before it writes what
 * was copied again. */
static void acknowledge(WsFixer *F, gint copy, const char *signal)
{
    const WsNode *root = ws_design_root(F->design), *node = ws_spot(F, copy)->node;
    g_autofree char *name = g_strdup_printf("%s_free", ws_step_ref(node, WS_F_keyword)),
                    *cta = only_cta(F, F->at), *use = ws_field_text(node, WS_F_use),
                    *when = ws_field_text(node, WS_F_when);
    gboolean told = FALSE;
    for (gint i = 0; i < (gint)F->spot->len; i++)
        told |= gets(F, i, copy);
    if (!cta || !told || ws_object_named(F->design, WS_F_barriers, name))
        return;
    WsFix *fix = ws_fixer_add(
        F, "Add %s: who waits for %s arrives on it, the copy's CTA waits for it", name, signal);
    fix->cost += 30;
    ws_fix_append(fix, root, WS_F_barriers,
                  WS_MAKE(WS_NODE_BARRIER, { WS_F_name, ws_json_text(name) }));
    for (gint i = (gint)F->spot->len - 1; i >= 0;
         i--) { /* from the last: indices before it stand */
        if (i == F->at)
            ws_fix_insert(F, fix, i, 0,
                          ws_hand(WS_STEP_WAIT, name, use, (WsHanding){ .when = when }));
        gint last = gets(F, i, copy) ? i : -1; /* behind what it reads there */
        for (gint k = last; k >= 0; k = ws_spot_next(F, k, 1))
            if (ws_step_reads(ws_spot(F, k)->node, ws_step_ref(node, WS_F_into)))
                last = k;
        if (last >= 0)
            ws_fix_insert(F, fix, last, 1,
                          ws_hand(WS_STEP_ARRIVE, name, use, (WsHanding){ .cta = cta }));
    }
}

/* What a copy may still read is written again: it has read it when it has signalled; in another CTA
 * somebody must say so. */
void ws_fix_wait_for_copy(WsFixer *F)
{
    const gint copy = F->other;
    if (F->at < 0 || !ws_step_is(F, copy, WS_STEP_COPY) ||
        !ws_node_has(ws_spot(F, copy)->node, WS_F_signal))
        return;
    g_autofree char *ref = ws_field_text(ws_spot(F, copy)->node, WS_F_signal),
                    *use = ws_field_text(ws_spot(F, copy)->node, WS_F_use),
                    *name = ws_step_name(ws_spot(F, F->at)->node);
    const char *signal = ws_step_barrier(ws_spot(F, copy)->node);
    WsFix *fix = ws_fixer_add(F, "Wait for %s before %s", signal, name);
    ws_fix_insert(F, fix, F->at, 0, ws_hand(WS_STEP_WAIT, ref, use, (WsHanding){ 0 }));
    acknowledge(F, copy, signal);
}

/* Bytes that are expected and never waited for. */
void ws_fix_wait_expected(WsFixer *F)
{
    for (gint e = 0; e < (gint)F->spot->len; e++) {
        const WsSpot *s = ws_spot(F, e);
        const char *barrier = s->node->kind == WS_STEP_EXPECT ? ws_step_barrier(s->node) : NULL;
        if (!barrier || ws_waits(F, NULL, barrier))
            continue;
        g_autofree char *ref = ws_field_text(s->node, WS_F_keyword),
                        *use = ws_field_text(s->node, WS_F_use);
        WsFix *fix = ws_fixer_add(F, "Wait for %s where its bytes are expected", barrier);
        ws_fix_insert(F, fix, e, 1, ws_hand(WS_STEP_WAIT, ref, use, (WsHanding){ 0 }));
    }
}
