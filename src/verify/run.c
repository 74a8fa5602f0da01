/* The canonical run: control, and which operation does what. docs/soundness.md section 8.4. */
#include "program/parts/access.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "verify/step.h"
#include "verify/text.h"
#include "verify/value.h"

#include <string.h>

/* --- operations ------------------------------------------------------------------------------- */
static void note_undecided(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Run *r = data;
    gint64 value, loose;
    const gboolean set = ask == ASK_LET || ask == ASK_ADVANCE;
    if (ask == ASK_TRUTH || ask == ASK_COUNT || (set && !r->plan->relevant[t->op->var]))
        return;
    if (!value_number(r->plan, r->s, r->i, e, &value, &loose))
        r->leader = TRUE + 1; /* undecided */
}

static gboolean decided(Run *r, const WsTree *t)
{
    const gboolean leader = r->leader;
    r->leader = FALSE;
    plan_visit(r->plan, t, note_undecided, r);
    const gboolean undecided = r->leader != FALSE;
    r->leader = leader;
    return !undecided;
}

static Move assign(Run *r)
{
    gint64 value = 1, loose = 0;
    if (r->op->var < 0 || !r->plan->relevant[r->op->var])
        return MOVED;
    if (r->op->set)
        value_number(r->plan, r->s, r->i, r->op->set, &value, &loose);
    if (r->op->kind == WS_OP_ADVANCE) {
        if (__builtin_add_overflow(value, r->x->var[r->op->var], &value) || value == NO_LOW ||
            value == NO_HIGH)
            broken(r, "P-COUNT", "an overflow");
        loose = range_gcd(loose, r->x->loose[r->op->var]);
    }
    r->x->var[r->op->var] = value;
    r->x->loose[r->op->var] = loose;
    return MOVED;
}

/* What makes no step of the model. */
static Move nothing(Run *r)
{
    return MOVED;
}

static Move touch_own(Run *r)
{
    const Set did = set_of(1, (const guint[]){ holder(r->i, r->leader ? LEAD : DID) });
    touch_values(r);
    touch_all(r, &did, 0);
    return MOVED;
}

static Move send(Run *r)
{
    touch_values(r);
    return at_slots(r);
}

/* Lanes read another CTA, or write there, which may not end before it. */
static Move peek(Run *r)
{
    const guint by = holder(r->i, r->leader ? LEAD : DID);
    const Set did = set_of(1, &by);
    gint64 cta;
    touch_values(r);
    if (r->op->ctas.kind != WS_CTAS_EXPR || r->op->n_access != 1 ||
        (r->op->access[0].mode != WS_MODE_READ && r->op->access[0].mode != WS_MODE_WRITE) ||
        !value_number(r->plan, r->s, r->i, r->op->ctas.expr, &cta, NULL)) {
        refuse(r, "a read or write of another CTA of this form");
        return STUCK;
    }
    if (cta < 0 || cta >= r->plan->p->cluster) {
        broken(r, "P-CLUSTER", "no such CTA");
        return STUCK;
    }
    touch(r, 0, (guint)cta, r->cta, &did, 0);
    if (cta != r->cta)
        happen(r->plan, r->s, plan_item(r->plan, ITEM_REMOTE, (guint)cta, 2 * r->i + r->leader, 0),
               &did, FALSE);
    return MOVED;
}

/* Copies of lanes, stores of the leader: what they touch is over with their group. */
static Move in_group(Run *r)
{
    const gboolean rows = r->op->kind == WS_OP_CP_ROWS;
    if (r->leader == rows)
        refuse(r, rows ? "copies of the leader" : "a store by lanes");
    touch_all(r, NULL, open_group(r, rows ? WS_QUEUE_ROWS : WS_QUEUE_STORES));
    return MOVED;
}

static Move clear_touched(Run *r)
{
    r->x->touched = 0;
    return MOVED;
}

static Move fence(Run *r)
{
    fence_proxy(r->plan, r->s, r->i, r->leader);
    return MOVED;
}

/* NULL: not handled. */
/* clang-format off */
static Move (*const step_of[WS_OP_KIND_COUNT])(Run *r) = {
    [WS_OP_MBAR_WAIT] = at_slots, [WS_OP_MBAR_ARRIVE] = at_slots, [WS_OP_MBAR_EXPECT] = at_slots,
    [WS_OP_TMA_LOAD] = at_slots, [WS_OP_BULK_COPY] = at_slots, [WS_OP_CP_ARRIVE] = at_slots,
    [WS_OP_ST_REMOTE] = send, [WS_OP_LD_REMOTE] = peek,
    [WS_OP_ST_PEER] = peek,
    [WS_OP_CP_ROWS] = in_group, [WS_OP_TMA_STORE] = in_group,
    [WS_OP_BULK_COMMIT] = commit, [WS_OP_MMA_COMMIT] = commit, [WS_OP_CP_COMMIT] = commit,
    [WS_OP_BULK_WAIT] = retire, [WS_OP_MMA_WAIT] = retire, [WS_OP_CP_WAIT] = retire,
    [WS_OP_MMA] = product,
    [WS_OP_MMA_FENCE] = clear_touched,
    [WS_OP_ST_SHARED] = touch_own, [WS_OP_STMATRIX] = touch_own, [WS_OP_LD_SHARED] = touch_own,
    [WS_OP_LDMATRIX] = touch_own, [WS_OP_TRANSPOSE] = touch_own, [WS_OP_CLAIM] = touch_own,
    [WS_OP_TAKE] = touch_own, [WS_OP_PIPE_TELL] = touch_own, [WS_OP_PIPE_ASK] = touch_own,
    [WS_OP_RED_SHARED] = touch_own,
    [WS_OP_ST_GLOBAL] = touch_values, [WS_OP_RED_GLOBAL] = touch_values,
    [WS_OP_LD_GLOBAL] = touch_values,
    [WS_OP_MFMA] = touch_values,
    [WS_OP_MATH] = math,
    [WS_OP_BAR_SYNC] = named, [WS_OP_BAR_ARRIVE] = named,
    [WS_OP_CLUSTER_ARRIVE] = cluster, [WS_OP_CLUSTER_WAIT] = cluster,
    [WS_OP_WARP_SYNC] = meet_warps,
    [WS_OP_FENCE_ASYNC] = fence,
    [WS_OP_LET] = assign, [WS_OP_ADVANCE] = assign,
    [WS_OP_FENCE_CLUSTER] = nothing, [WS_OP_FENCE_GPU] = nothing, [WS_OP_PREFETCH] = nothing,
    [WS_OP_PREFETCH_MAP] = nothing, [WS_OP_DEP_WAIT] = nothing, [WS_OP_DEP_LAUNCH] = nothing,
    [WS_OP_MARK] = nothing, [WS_OP_SETMAXNREG] = nothing,
    [WS_OP_PRIORITY] = nothing,
};
/* clang-format on */

static Move operate(Run *r, const WsTree *t)
{
    r->op = t->op;
    r->leader = op_by_leader(t->op);
    r->need = know_of(r->i, r->leader);
    if (!decided(r, t))
        return STUCK;
    if (step_of[t->op->kind])
        return step_of[t->op->kind](r);
    refuse(r, ws_op_kind_text(t->op->kind));
    return STUCK;
}

/* --- control ---------------------------------------------------------------------------------- */
static void go_back(Run *r, const WsTree *t)
{
    if (!t)
        r->x->status = ENDED;
    r->x->place = t ? GPOINTER_TO_INT(g_hash_table_lookup(r->plan->agent[r->agent].number, t)) : 0;
}

/* What loops behind a place count to is asked anew there. */
static void ask_anew(Run *r)
{
    Plan *plan = r->plan;
    const guint n = plan->c->symbol->len;
    g_autofree gint64 *named = g_new0(gint64, n);
    for (guint i = 0; i < plan->c->anew->len; i++) {
        const Anew *x = &g_array_index(plan->c->anew, Anew, i);
        const WsTree *loop = plan->agent[x->agent].place[x->loop].tree;
        if (x->agent == r->agent && x->place == r->x->place)
            plan_count_symbols(plan, plan_form(plan, loop->count, FALSE), FALSE, named);
    }
    for (guint i = 0; i < n; i++)
        r->x->times[i] += named[i] > 0;
}

static void go(Run *r, const WsTree *t)
{
    go_back(r, t);
    if (t && r->plan->agent[r->agent].place[r->x->place].asks_anew)
        ask_anew(r);
}

/* Behind `t`: the next statement, the loop again, or the end. */
static void leave(Run *r, const WsTree *t)
{
    for (const WsTree *up = t->parent; up; t = up, up = up->parent) {
        if (up->kind == WS_TREE_LOOP) {
            if (up->total_var >= 0)
                r->x->var[up->total_var]++;
            go_back(r, up);
            return;
        }
        for (guint i = 0; up->kind == WS_TREE_SEQ && i + 1 < up->n_kids; i++)
            if (up->kid[i] == t) {
                go(r, up->kid[i + 1]);
                return;
            }
    }
    go(r, NULL);
}

/* Symbol i follows the index of `t`. */
static gboolean follows(const Run *r, const WsTree *t, guint i)
{
    const AgentPlan *a = &r->plan->agent[r->agent];
    const gint n = GPOINTER_TO_INT(g_hash_table_lookup(a->number, t));
    return i < 64 && a->place[n].of_rounds >> i & 1;
}

static Move enter(Run *r, const WsTree *t, LoopState *l)
{
    const gboolean tiles = t->over == WS_OVER_TILES;
    gint64 from = 0, step = 1, count = NO_LOW;
    const guint start = plan_start(r->plan, t);
    if ((t->from && !(start & START_0) &&
         !value_number(r->plan, r->s, r->i, t->from, &from, NULL)) ||
        (t->step_by && !(start & STEP_1) &&
         !value_number(r->plan, r->s, r->i, t->step_by, &step, NULL)))
        return STUCK;
    if (tiles && (from < 0 || step < 1 || from > 1 << 20 || step > 1 << 20))
        refuse(r, "a loop over tiles of this form");
    const guint moving = LEAF(TOTAL) | LEAF(COUNTER) | LEAF(LET); /* worked out on entry */
    if (!tiles && (text_leaves(r->plan->p, plan_form(r->plan, t->count, FALSE), FALSE) & moving) &&
        !value_number(r->plan, r->s, r->i, t->count, &count, NULL))
        return STUCK;
    *l = (LoopState){ TRUE, FALSE, 0, from, step, from, count };
    if (!tiles && !r->plan->agent[r->agent].place[r->x->place].begun)
        plan_count_symbols(r->plan, plan_form(r->plan, t->count, FALSE), FALSE, r->x->times);
    for (guint i = 1; i < r->plan->c->symbol->len; i++)
        r->x->times[i] += follows(r, t, i);
    return MOVED;
}

static int more_rounds(Run *r, const WsTree *t, const LoopState *l)
{
    if (l->count != NO_LOW)
        return l->rounds < l->count;
    if (t->over != WS_OVER_TILES)
        return value_more(r->plan, r->s, r->i, l->rounds, t->count);
    const gint64 next = l->from + l->step * l->rounds;
    if (r->plan->p->tiles->launch == WS_LAUNCH_SINGLE)
        return next < 1;
    const Fact f = instance_fact(r->plan, r->s, r->i, 0);
    return f.low > next ? 1 : f.high <= next ? 0 : -1;
}

static Move loop(Run *r, const WsTree *t, LoopState *l)
{
    if (!l->entered && enter(r, t, l) == STUCK)
        return STUCK;
    int more = more_rounds(r, t, l);
    if (more < 0)
        return STUCK;
    const gboolean tiles = t->over == WS_OVER_TILES;
    const gboolean single = r->plan->p->tiles->launch == WS_LAUNCH_SINGLE;
    const gint64 pass = tile_pass(instance_fact(r->plan, r->s, r->i, 0).tile);
    if (!more) {
        l->entered = l->running = FALSE;
        if (tiles && !single) {
            r->x->tile = TILE_PASS * pass + TILE_AFTER;
            memset(r->x->times, 0, r->plan->c->symbol->len * 8);
        }
        leave(r, t);
        return MOVED;
    }
    gint64 ahead;
    if (__builtin_mul_overflow(l->step, l->rounds, &ahead) ||
        __builtin_add_overflow(l->from, ahead, &l->index) || l->index == NO_LOW ||
        l->index == NO_HIGH)
        broken(r, "P-COUNT", "an overflow");
    for (guint i = 1; i < r->plan->c->symbol->len; i++)
        if (follows(r, t, i) && (l->index < 0 || l->index > 1 << 30 || l->step < 1))
            refuse(r, "rounds by an index that is below 0, large, or falls");
    l->running = TRUE;
    l->rounds++;
    if (t->index_var >= 0)
        r->x->var[t->index_var] = l->index;
    if (tiles) {
        r->x->tile = single ? l->index : TILE_PASS * pass + l->index;
        memset(r->x->times, 0, r->plan->c->symbol->len * 8);
    }
    go(r, t->kid[0]);
    return MOVED;
}

/* Both sides from what is assigned before; afterwards what both assign, or either touches. */
static void private_part(Run *r, const WsTree *t)
{
    if (t->kind == WS_TREE_OP) {
        if (t->op->kind != WS_OP_LET && operate(r, t) == STUCK)
            refuse(r, "a private step that is not decided");
        return;
    }
    guint64 assigned = r->x->assigned, both = G_MAXUINT64;
    for (guint i = 0; i < MAX(t->n_kids, 2); i++) {
        const WsTree *kid = i < t->n_kids ? t->kid[i] : NULL;
        if (t->kind == WS_TREE_BRANCH)
            r->x->assigned = assigned;
        if (kid)
            private_part(r, kid);
        both &= r->x->assigned;
    }
    if (t->kind == WS_TREE_BRANCH)
        r->x->assigned = both;
}

static Move step(Run *r)
{
    const Place *at = &r->plan->agent[r->agent].place[r->x->place];
    const WsTree *t = at->tree;
    r->op = NULL;
    if (t->kind == WS_TREE_OP) {
        if (operate(r, t) == STUCK || r->plan->reason)
            return STUCK;
        leave(r, t);
        return MOVED;
    }
    if (t->kind == WS_TREE_LOOP)
        return loop(r, t, &r->x->loop[at->loop]);
    if (t->kind == WS_TREE_SEQ) {
        if (t->n_kids)
            go(r, t->kid[0]);
        else
            leave(r, t);
        return MOVED;
    }
    if (plan_private(r->plan, t)) {
        private_part(r, t);
        leave(r, t);
        return MOVED;
    }
    int cond = value_truth(r->plan, r->s, r->i, t->cond);
    if (cond < 0)
        return STUCK;
    const WsTree *kid = cond ? t->kid[0] : t->n_kids > 1 ? t->kid[1] : NULL;
    if (kid)
        go(r, kid);
    else
        leave(r, t);
    return MOVED;
}

static gboolean begin(Run *r)
{
    for (guint v = 0; v < r->plan->p->n_vars; v++) {
        const WsVar *var = &r->plan->p->var[v];
        if (var->kind == WS_VAR_COUNTER && var->agent == (gint)r->agent && var->value &&
            r->plan->relevant[v] &&
            !value_number(r->plan, r->s, r->i, var->value, &r->x->var[v], &r->x->loose[v]))
            return FALSE;
    }
    return TRUE;
}

gboolean state_run(Plan *plan, State *s)
{
    guint steps = 0;
    for (gboolean moved = TRUE; moved && !plan->reason;) {
        moved = FALSE;
        for (guint i = 0; i < plan->n_inst; i++) {
            Run r = { .plan = plan, .s = s, .i = i, .agent = i % plan->p->n_agents };
            r.cta = i / plan->p->n_agents;
            r.x = &s->inst[i];
            if (r.x->place == 0 && r.x->status == RUN) {
                if (!begin(&r))
                    continue;
                r.x->place = 1;
            }
            while (r.x->status != ENDED && !plan->reason && step(&r) == MOVED) {
                moved = TRUE;
                if (++steps > 1000000)
                    refuse(&r, "more than 1000000 operations between two questions");
            }
        }
    }
    return steps > 0;
}

gboolean state_ended(const Plan *plan, const State *s)
{
    for (guint i = 0; i < plan->n_inst; i++)
        if (s->inst[i].status != ENDED)
            return FALSE;
    return TRUE;
}

/* Somebody of the CTA knows it. */
static gboolean known_in(const Plan *plan, const State *s, guint cta, guint item)
{
    const guint64 *k = s->k + (gsize)item * plan->words;
    for (guint i = cta * plan->p->n_agents; i < (cta + 1) * plan->p->n_agents; i++)
        if (has_bit(k, holder(i, LEAD)) || has_bit(k, holder(i, LANES)))
            return TRUE;
    return FALSE;
}

void state_exit(Plan *plan, const State *s)
{
    for (guint i = 0; i < plan->n_inst; i++)
        for (guint q = 0; q < WS_QUEUES; q++)
            if (s->inst[i].queue[q].n)
                plan_fail(plan, WS_VERIFY_REJECTED, "P-EXIT: a group in flight at the end");
    for (guint n = 0; n < plan->p->cluster * plan->n_slots; n++) {
        const guint cta = n / plan->n_slots;
        if (s->slot[n].tx != 0 || s->slot[n].expects)
            plan_fail(plan, WS_VERIFY_REJECTED, "P-TX: bytes expected at the end");
        if (!known_in(plan, s, cta, plan_item(plan, ITEM_TRANSFER, cta, n % plan->n_slots, 0)))
            plan_fail(plan, WS_VERIFY_REJECTED, "P-EXIT: a transfer that nobody waited for");
    }
    for (guint cta = 0; cta < plan->p->cluster; cta++)
        for (guint i = 0; i < plan->reader->len * plan->n_cells; i++)
            if (g_array_index(plan->reader, Reader, i % plan->reader->len).copy &&
                !known_in(plan, s, cta, plan_item(plan, ITEM_READ, cta, 0, i)))
                plan_fail(plan, WS_VERIFY_REJECTED, "P-EXIT: a copy that still reads at the end");
    for (guint cta = 0; cta < plan->p->cluster; cta++)
        for (guint i = 0; i < 2 * plan->n_inst; i++)
            if (!known_in(plan, s, cta, plan_item(plan, ITEM_REMOTE, cta, i, 0)))
                plan_fail(plan, WS_VERIFY_REJECTED,
                          "P-CLUSTER: an arrival from a peer that may be gone");
}
