/* Covering: docs/soundness.md sections 8.5 and 8.6. */
#include "verify/cover.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"

#include <string.h>

/* --- 1: shape --------------------------------------------------------------------------------- */
static gboolean same_queue(const Queue *a, const Queue *b)
{
    if (a->n != b->n || a->open != b->open)
        return FALSE;
    for (guint i = 0; i < a->n; i++) {
        const Group *g = &a->group[i], *h = &b->group[i];
        if (g->acc != h->acc || g->operand != h->operand || !g->shape != !h->shape ||
            !same_product(g->shape, h->shape))
            return FALSE;
    }
    return TRUE;
}

static gboolean same_instance(Cover *c, guint i)
{
    const Plan *plan = c->plan;
    const Instance *x = &c->s->inst[i], *y = &c->by->inst[i];
    const AgentPlan *a = &plan->agent[i % plan->p->n_agents];
    if (x->place != y->place || x->status != y->status || x->assigned != y->assigned ||
        x->touched != y->touched || x->cluster_arrived != y->cluster_arrived ||
        memcmp(x->loose, y->loose, plan->p->n_vars * 8) != 0)
        return fail(c, "instance %u is elsewhere", i);
    for (guint n = 1; n < plan->c->symbol->len && y->status != ENDED; n++)
        if (g_array_index(plan->c->symbol, Symbol, n).split && a->asks[n] &&
            x->times[n] - y->times[n] != shift_of_time(c, n, y->tile))
            return fail(c, "instance %u has entered other loops", i);
    for (gint l = 0; l < a->n_loops; l++) {
        const LoopState *m = &x->loop[l], *n = &y->loop[l];
        if (m->entered != n->entered || m->running != n->running ||
            (m->entered && (m->from != n->from || m->step != n->step ||
                            (m->count == NO_LOW) != (n->count == NO_LOW))))
            return fail(c, "instance %u runs other loops", i);
    }
    for (guint q = 0; q < WS_QUEUES; q++)
        if (!same_queue(&x->queue[q], &y->queue[q]))
            return fail(c, "instance %u has other groups in flight", i);
    return TRUE;
}

/* Indices that names of rounds follow differ by one number in one beginning of their loop, by none
 * as long as somebody has yet to begin it. */
static gboolean same_rounds(Cover *c, guint symbol)
{
    const Plan *plan = c->plan;
    for (guint i = 0; i < plan->n_inst * plan->n_inst; i++) {
        const guint a = i / plan->n_inst, b = i % plan->n_inst;
        const Instance *x = &c->by->inst[a], *y = &c->by->inst[b];
        const LoopState *l = instance_rounds(plan, a % plan->p->n_agents, x, symbol);
        const LoopState *m = instance_rounds(plan, b % plan->p->n_agents, y, symbol);
        if (x->status == ENDED || y->status == ENDED || !l || !l->running ||
            !plan->agent[b % plan->p->n_agents].asks[symbol])
            continue;
        const LoopState *of_s =
            instance_rounds(plan, a % plan->p->n_agents, &c->s->inst[a], symbol);
        const gint64 d = of_s->index - l->index;
        const gboolean same = y->tile == x->tile && y->times[symbol] == x->times[symbol];
        const gboolean earlier =
            y->tile < x->tile || (y->tile == x->tile && y->times[symbol] < x->times[symbol]);
        const LoopState *other =
            m ? instance_rounds(plan, b % plan->p->n_agents, &c->s->inst[b], symbol) : NULL;
        if (same && m && m->running ? other->index - m->index != d
                                    : (earlier || (same && m)) && d != 0)
            return fail(c, "instances %u and %u are in other rounds", a, b);
    }
    return TRUE;
}

static gboolean same_shape(Cover *c)
{
    const Plan *plan = c->plan;
    const guint cluster = plan->p->cluster * plan->n_names;
    for (guint i = 0; i < plan->n_inst; i++)
        if (!same_instance(c, i))
            return FALSE;
    for (guint n = 1; n < plan->c->symbol->len; n++)
        if (g_array_index(plan->c->symbol, Symbol, n).round && !same_rounds(c, n))
            return FALSE;
    for (guint n = 0; n < plan->p->cluster * plan->n_slots; n++) {
        const SlotState *a = &c->s->slot[n], *b = &c->by->slot[n];
        if ((a->phase - b->phase) % 2 || a->pending != b->pending || a->tx != b->tx)
            return fail(c, "slot %u differs", n);
    }
    for (guint n = 0; n <= cluster; n++) {
        const NameState *a = &c->s->name[n], *b = &c->by->name[n];
        if (a->joined != b->joined || a->count != b->count)
            return fail(c, "named barrier %u differs", n);
    }
    for (guint i = 0; i < plan->n_inst; i++)
        if (c->s->inst[i].cluster_arrived &&
            c->s->name[cluster].generation - c->s->inst[i].cluster_joined !=
                c->by->name[cluster].generation - c->by->inst[i].cluster_joined)
            return fail(c, "the cluster barrier differs");
    return TRUE;
}

/* --- 2, 3: tiles and names -------------------------------------------------------------------- */
static gboolean find_tiles(Cover *c)
{
    gboolean found = FALSE;
    for (guint i = 0; i < c->plan->n_inst; i++) {
        const Instance *x = &c->s->inst[i], *y = &c->by->inst[i];
        if (y->status == ENDED)
            continue;
        if (!found)
            c->passes = tile_pass(x->tile) - tile_pass(y->tile);
        found = TRUE;
        if (tile_is(x->tile) != tile_is(y->tile) ||
            (x->tile == TILE_BEFORE) != (y->tile == TILE_BEFORE) ||
            x->tile != counterpart_tile(c, y->tile))
            return fail(c, "instance %u is in another tile", i);
    }
    for (guint i = 0; i < c->by->fact->len; i++) {
        const Fact *f = &g_array_index(c->by->fact, Fact, i);
        gint64 d;
        if (!f->symbol && (!shift_of_fact(c, f, &d) || d != shift_of_pass(c, tile_pass(f->tile))))
            return fail(c, "the number of tiles differs");
    }
    return TRUE;
}

static gboolean names_match(Cover *c)
{
    for (guint i = 0; i < c->by->fact->len; i++) {
        const Fact *f = &g_array_index(c->by->fact, Fact, i);
        const Symbol *y = &g_array_index(c->plan->c->symbol, Symbol, f->symbol);
        const Fact there = counterpart(c, f);
        const Fact found = state_know(c->plan, c->s, &there), *g = &found;
        Fact launch = *f;
        launch.tile = TILE_LAUNCH;
        launch.time = 0;
        gint64 d;
        const gboolean kept =
            f->residue >= 0 || (f->symbol && state_know(c->plan, c->by, &launch).residue >= 0);
        if (fact_is_past(c->plan, c->by, f))
            continue;
        gint64 low = g->low, high = g->high;
        if (!shift_of_fact(c, f, &d) ||
            (f->low != NO_LOW && (low == NO_LOW || !less(low, d, &low) || low < f->low)) ||
            (f->high != NO_HIGH && (high == NO_HIGH || !less(high, d, &high) || high > f->high)) ||
            (f->residue >= 0 && f->residue != g->residue) || d % y->every || (y->letter && d) ||
            (kept && d % y->modulus)) {
            g_autofree char *text = fact_text(c->plan->c, f);
            return fail(c, "%s is not known as well", text);
        }
    }
    return TRUE;
}

/* --- what is required, everywhere --------------------------------------------------------------
 */
static gboolean count_holds(Context *x, const WsTree *t, const WsExpr *e)
{
    const LoopState *m = loop_of(x, x->x, t), *n = loop_of(x, x->y, t);
    const gboolean same = in_same(x, t);
    gint64 rounds = same ? m->rounds - n->rounds : 0, d;
    Shift by;
    if (same && n->count != NO_LOW)
        return less(m->count, n->count, &d) && d == rounds;
    if (shift(x, e, FALSE, &by) && by.d == rounds && by.g == 0)
        return TRUE;
    g_autoptr(WsExpr) zero = ws_expr_int(0);
    Range a = difference(x, e, zero, TRUE), b = difference(x, e, zero, FALSE);
    /* no round any more, in both */
    return same ? a.high <= m->rounds && b.high <= n->rounds : a.high <= 0 && b.high <= 0;
}

static gboolean let_is_kept(const Context *x)
{
    for (const WsTree *up = x->at; up; up = up->parent)
        if (up->kind == WS_TREE_LOOP && !in_same(x, up))
            return FALSE;
    return TRUE;
}

/* What is put into a variable may leave it off by more than its d. */
static void collect(Context *x, gint var, gint64 d, gint64 g)
{
    const gint64 all = range_gcd(x->c->may[var], range_gcd(d, g));
    x->c->more |= all != x->c->may[var];
    x->c->may[var] = all;
}

static gboolean never_below_0(Context *x, const WsExpr *e)
{
    g_autoptr(WsExpr) zero = ws_expr_int(0);
    return difference(x, e, zero, TRUE).low >= 0 && difference(x, e, zero, FALSE).low >= 0;
}

static gboolean holds(Context *x, const WsTree *t, const WsExpr *e, Ask ask, Shift *by)
{
    gint64 of_let = 0;
    const gboolean fine =
        ask == ASK_COUNT ? count_holds(x, t, e) : shift(x, e, ask == ASK_TRUTH, by);
    switch (ask) {
    case ASK_LET:
        return !let_is_kept(x) || /* else it is judged where it is used */
               (fine && less(x->x->var[t->op->var], x->y->var[t->op->var], &of_let) &&
                by->d == of_let);
    case ASK_TURN:
        if (x->c->plan->unseen[t->op->barrier]) /* M says nothing of these */
            return fine && by->d % 2 == 0 && by->g % 2 == 0 && by->d >= 0;
        if (plan_turn_by_names(x->c->plan, t->op))
            return fine && by->d % 2 == 0 && by->g % 2 == 0;
        return turn_holds(x, t->op, e);
    case ASK_USE: /* which one it is says the stage; below 0 there is none */
        return (fine && by->d >= 0 && by->g == 0) || never_below_0(x, e);
    case ASK_COUNT:
    case ASK_ADVANCE:
        return fine;
    case ASK_NUMBER:
    case ASK_TRUTH:
    default:
        return fine && by->d == 0 && by->g == 0;
    }
}

static void require(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Context *x = data;
    Shift by = { 0, 0 };
    const gboolean set = ask == ASK_LET || ask == ASK_ADVANCE;
    if (set ? !x->c->plan->relevant[t->op->var] : x->c->collects)
        return;
    if (x->c->collects) {
        if (shift(x, e, FALSE, &by))
            collect(x, t->op->var, ask == ASK_ADVANCE ? by.d : 0, by.g);
        return;
    }
    /* whichever of the fresh names stand at their least values */
    const guint64 fresh = x->c->fresh ? x->c->fresh & fresh_symbols(x, e) : 0;
    gboolean fine = (!fresh || !set) && holds(x, t, e, ask, &by);
    const guint64 lows = fresh_lows(x, fresh);
    fine &= __builtin_popcountll(lows) < 5;
    for (x->low = lows; x->low && fine; x->low = (x->low - 1) & lows)
        fine = holds(x, t, e, ask, &by);
    x->low = 0;
    if (fine)
        return;
    if (ask != ASK_TRUTH)
        x->c->open |= fresh_symbols(x, e);
    g_autofree char *text = ws_expr_print(e);
    fail(x->c,
         "\"%s\" of agent %s is not invariant (tile %" G_GINT64_FORMAT
         ", %u loops, off by %" G_GINT64_FORMAT " and multiples of %" G_GINT64_FORMAT ")",
         text, x->c->plan->p->agent[x->agent].name, x->tile, x->n_same, by.d, by.g);
}

static void require_later_times(Context *x, gboolean present)
{
    const Plan *plan = x->c->plan;
    x->time = UNLISTED;
    plan_visit(plan, x->at, require, x);
    for (guint i = 0; i < x->c->by->fact->len; i++) {
        const Fact *f = &g_array_index(x->c->by->fact, Fact, i);
        x->time = f->time;
        if (f->tile == x->tile && g_array_index(plan->c->symbol, Symbol, f->symbol).split &&
            (!present || f->time > instance_time(plan, x->agent, x->y, f->symbol)))
            plan_visit(plan, x->at, require, x);
    }
}

/* One context, at every time that a symbol asked several times in a tile may have. */
static void require_times(Context *x, gboolean present)
{
    const Plan *plan = x->c->plan;
    const AgentPlan *a = &plan->agent[x->agent];
    const gint n = GPOINTER_TO_INT(g_hash_table_lookup(a->number, x->at));
    const LoopState *l = x->at->kind == WS_TREE_LOOP ? loop_of(x, x->y, x->at) : NULL;
    const gboolean own =
        l && (in_same(x, x->at) || (n == x->y->place && l->entered && !l->running && present));
    gboolean split = FALSE;
    for (guint i = 1; i < plan->c->symbol->len; i++)
        split |= g_array_index(plan->c->symbol, Symbol, i).split;
    x->time = PRESENT;
    /* between the place where it is asked anew and its loop a count is the present one */
    const gint begun = a->place[n].begun;
    const gboolean coming = begun && x->y->place >= begun && x->y->place <= n;
    x->moved = x->stays = 0;
    if (split && present && !own)
        anew_times(x, n);
    if (x->moved) {
        x->mixed = TRUE;
        require_later_times(x, TRUE);
        x->mixed = FALSE;
    } else if (!split || (present && (!l || own || coming))) {
        plan_visit(plan, x->at, require, x);
    }
    if (!split || own)
        return;
    for (guint in_round = 0; in_round <= (present && l && within_round(x, n)); in_round++) {
        x->in_round = in_round;
        require_later_times(x, present);
    }
    x->in_round = FALSE;
}

/* Later tiles: of the same pass, then it may make every second one, or of later passes. */
static void require_later(Context *x, const WsTree *tiles, gboolean same_pass)
{
    const gint64 now = x->y->tile;
    gint64 from, step;
    if (!plan_fixed(x->c->plan, tiles, &from, &step) || step < 1)
        step = 1;
    x->tile = UNLISTED;
    x->in_pass = x->later = same_pass;
    require_times(x, FALSE);
    for (guint i = 0; i < x->c->by->fact->len; i++) {
        x->tile = g_array_index(x->c->by->fact, Fact, i).tile;
        const gint64 at = tile_position(x->tile);
        if (x->tile > now && tile_is(x->tile) &&
            (!same_pass || tile_pass(x->tile) == tile_pass(now)) &&
            (step == 1 || (at >= from && (at - from) % step == 0)))
            require_times(x, FALSE);
    }
}

/* Loops over tiles between now and the node: 0 none, 1 some may come, 2 one has to. */
static guint passes_before(const Context *x, gint n)
{
    const AgentPlan *a = &x->c->plan->agent[x->agent];
    const WsTree *same = x->n_same ? x->same[x->n_same - 1] : NULL;
    guint passes = 0;
    for (gint m = 1; m <= a->n_places; m++) {
        const WsTree *t = a->place[m].tree, *up = t;
        if (t->kind != WS_TREE_LOOP || t->over != WS_OVER_TILES)
            continue;
        const gboolean between = m >= x->y->place && m < n;
        do
            up = up->parent;
        while (up && up->kind == WS_TREE_SEQ && !tree_is_below(x->at, up));
        if (between && up && up->kind == WS_TREE_SEQ)
            return 2;
        if (same ? tree_is_below(t, same) : between || loop_of(x, x->y, t)->running)
            passes = 1;
    }
    return passes;
}

/* In no tile: now, and behind every loop over tiles that comes before the node is reached. */
static void require_outside(Context *x, gint n)
{
    const guint passes = passes_before(x, n);
    if (!tile_is(x->y->tile) && passes < 2) {
        x->tile = x->y->tile;
        require_times(x, TRUE);
    }
    if (!passes)
        return;
    x->tile = UNLISTED;
    x->in_pass = FALSE;
    require_times(x, FALSE);
    for (guint i = 0; i < x->c->by->fact->len; i++) {
        x->tile = g_array_index(x->c->by->fact, Fact, i).tile;
        if (x->tile > x->y->tile && tile_position(x->tile) == TILE_AFTER)
            require_times(x, FALSE);
    }
}

/* All contexts of one tree node. */
static void require_node(Cover *c, guint i, gint n)
{
    const Plan *plan = c->plan;
    Context x = {
        .c = c, .inst = i, .agent = i % plan->p->n_agents, .x = &c->s->inst[i], .y = &c->by->inst[i]
    };
    const AgentPlan *a = &plan->agent[x.agent];
    const WsTree *around[32], *tiles = NULL;
    guint c_all = 0, depth = 0;
    x.at = a->place[n].tree;
    if (c->collects && !(x.at->op && x.at->op->var >= 0 && plan->relevant[x.at->op->var]))
        return; /* it sets nothing that matters */
    for (const WsTree *up = x.at; up; up = up->parent) {
        if (up->kind != WS_TREE_LOOP)
            continue;
        if (up->over == WS_OVER_TILES)
            tiles = up;
        if (loop_of(&x, x.y, up)->running && c_all < G_N_ELEMENTS(around))
            around[c_all++] = up; /* innermost first */
    }
    if ((n < x.y->place && !c_all) || c->why)
        return;
    const gboolean single = plan->p->tiles->launch == WS_LAUNCH_SINGLE;
    for (guint same = MIN(c_all, 1); same <= c_all; same++) {
        x.n_same = same;
        for (guint k = 0; k < same; k++) {
            x.same[k] = around[c_all - 1 - k];
            if (x.same[k] == tiles)
                depth = k + 1;
        }
        x.tile = x.y->tile;
        x.in_pass = !single && tile_is(x.tile);
        x.later = FALSE;
        /* an instance that stands before the next round of its tiles is through with this one */
        const gboolean ahead = n >= x.y->place && a->place[x.y->place].tree != tiles;
        if (single)
            require_times(&x, TRUE);
        else if (!tiles) {
            require_outside(&x, n);
        } else if (tiles == x.at) {
            require_times(&x, TRUE);
        } else if (!depth) {
            require_later(&x, tiles, FALSE);
        } else {
            if (same > depth || (same == c_all && ahead))
                require_times(&x, TRUE);
            if (same == depth)
                require_later(&x, tiles, TRUE);
        }
    }
}

/* Rounds of loops over tiles go with positions; who is still to enter a pass in which others are
 * enters it at the same position in both. */
static void tiles_hold(Cover *c, guint i)
{
    const AgentPlan *a = &c->plan->agent[i % c->plan->p->n_agents];
    const Instance *me = &c->by->inst[i];
    const gint64 pass = me->tile == TILE_BEFORE ? -1 : tile_pass(me->tile);
    gboolean within = FALSE, enters = FALSE;
    for (gint n = 1; n <= a->n_places; n++) {
        const WsTree *t = a->place[n].tree;
        const LoopState *x = &c->s->inst[i].loop[MAX(a->place[n].loop, 0)];
        const LoopState *y = &me->loop[MAX(a->place[n].loop, 0)];
        if (t->kind != WS_TREE_LOOP || c->plan->p->tiles->launch == WS_LAUNCH_SINGLE)
            continue;
        within |= y->running;
        if (t->over != WS_OVER_TILES)
            continue;
        if (y->running && (x->rounds - y->rounds) * y->step != shift_of_pass(c, pass))
            fail(c, "rounds over tiles differ");
        enters |= n >= me->place || within;
    }
    for (guint k = 0; k < c->plan->n_inst && enters; k++)
        if (tile_pass(c->by->inst[k].tile) > pass && tile_is(c->by->inst[k].tile) &&
            c->by->inst[k].status != ENDED && shift_of_pass(c, tile_pass(c->by->inst[k].tile)) != 0)
            fail(c, "tiles of a loop to come differ");
}

/* Counters of an instance that has not begun. */
static void require_starts(Cover *c, guint i)
{
    const WsProgram *p = c->plan->p;
    Context x = { .c = c, .inst = i, .agent = i % p->n_agents, .x = &c->s->inst[i] };
    x.y = &c->by->inst[i];
    x.at = c->plan->agent[x.agent].place[1].tree;
    x.tile = x.y->tile;
    x.time = PRESENT;
    for (guint v = 0; v < p->n_vars && x.y->place == 0; v++) {
        Shift by = { 0, 0 };
        if (p->var[v].kind == WS_VAR_COUNTER && p->var[v].agent == (gint)x.agent &&
            p->var[v].value && c->plan->relevant[v] &&
            (!shift(&x, plan_form(c->plan, p->var[v].value, FALSE), FALSE, &by) || by.d != 0 ||
             by.g != 0))
            fail(c, "the start of %s is not invariant", p->var[v].name);
    }
}

static void require_all(Cover *c)
{
    for (guint i = 0; i < c->plan->n_inst && !c->why; i++) {
        if (c->by->inst[i].status == ENDED)
            continue;
        tiles_hold(c, i);
        require_starts(c, i);
        for (gint n = 1; n <= c->plan->agent[i % c->plan->p->n_agents].n_places && !c->why; n++)
            require_node(c, i, n);
    }
}

static gboolean covered(Cover *c)
{
    c->collects = c->more = TRUE;
    memset(c->may, 0, (c->plan->p->n_vars + 1) * sizeof *c->may);
    if (!find_tiles(c) || !names_match(c))
        return FALSE;
    for (guint i = 0; i < 100 && c->more && !c->why; i++) {
        c->more = FALSE;
        require_all(c);
    }
    if (c->more)
        fail(c, "counters that differ by ever more");
    c->collects = FALSE;
    require_all(c);
    return !c->why;
}

gboolean state_covered(Plan *plan, const State *s, const State *by, gint64 *tiles, char **why)
{
    Cover c = { .plan = plan, .s = s, .by = by };
    c.may = g_new0(gint64, plan->p->n_vars + 1);
    const guint tries = same_shape(&c) ? 7 : 0;
    gboolean fine = FALSE;
    for (guint with = 0; with < tries && !fine; with++) {
        /* fresh names: none, some, more; against the tiles; by a number of its own */
        const gboolean anew = with == 1 || with == 3 || with == 5;
        const guint64 before = anew ? 0 : c.fresh, open = c.open & ~before;
        if ((with && !open) || (with > 4 && (c.wanted == FRESH_TILES || c.wanted == FRESH_AGAINST)))
            continue;
        c.fresh_by = with > 4 ? c.wanted : with > 2 ? FRESH_AGAINST : FRESH_TILES;
        c.fresh = with ? before | open : 0;
        fine = covered(&c);
        if (*why) /* the first one is told */
            g_free(c.why);
        else
            *why = c.why;
        c.why = NULL;
    }
    if (fine)
        g_clear_pointer(why, g_free);
    else if (!tries)
        *why = c.why;
    g_free(c.may);
    for (guint i = 0; i < plan->n_inst && fine; i++)
        if (tile_is(by->inst[i].tile))
            *tiles = s->inst[i].tile - by->inst[i].tile;
    return fine;
}

/* What one of them knows only modulo is known so in both. TRUE: `node` knows less than before. */
gboolean state_loosen(const Plan *plan, State *node, State *s)
{
    gboolean lost = FALSE;
    for (guint n = 0; n < plan->n_inst * plan->p->n_vars; n++) {
        Instance *x = &s->inst[n / plan->p->n_vars], *y = &node->inst[n / plan->p->n_vars];
        const guint v = n % plan->p->n_vars;
        const gint64 both = range_gcd(x->loose[v], y->loose[v]);
        lost |= y->loose[v] != both;
        x->loose[v] = y->loose[v] = both;
    }
    return lost;
}

/* --- 4: knowledge ----------------------------------------------------------------------------- */
static gboolean narrow(guint64 *a, const guint64 *b, gsize n)
{
    gboolean lost = FALSE;
    for (gsize i = 0; i < n; i++) {
        lost |= (a[i] & ~b[i]) != 0;
        a[i] &= b[i];
    }
    return lost;
}

static gboolean widen(guint64 *a, guint64 b)
{
    const gboolean more = (b & ~*a) != 0;
    *a |= b;
    return more;
}

gboolean state_meet(const Plan *plan, State *node, const State *s, gint64 tiles)
{
    const gsize words = (gsize)plan->n_items * plan->words;
    gboolean lost = narrow(node->k, s->k, words) | narrow(node->q, s->q, words);
    for (guint n = 0; n < plan->p->cluster * plan->n_cells; n++) {
        lost |= node->written[n] && !s->written[n];
        node->written[n] &= s->written[n];
    }
    for (guint n = 0; n < plan->p->cluster * plan->n_slots; n++) {
        lost |= widen(&node->slot[n].owed, s->slot[n].owed);
        lost |= widen(&node->slot[n].by_lanes, s->slot[n].by_lanes);
        lost |= widen(&node->slot[n].expects, s->slot[n].expects);
        lost |= widen(&node->slot[n].gives, s->slot[n].gives);
        lost |= widen(&node->slot[n].gave, s->slot[n].gave);
        lost |= widen(&node->slot[n].gave_before, s->slot[n].gave_before);
    }
    for (guint i = 0; i < plan->n_items; i++) {
        Author *a = &node->author[i];
        const Author *b = &s->author[i];
        const gboolean claim = a->op && plan->p->op[a->op - 1]->kind == WS_OP_CLAIM;
        if (!a->op || (a->op == b->op && a->row0 == b->row0 && a->col0 == b->col0 &&
                       b->tile - a->tile == (claim ? tiles : 0)))
            continue;
        *a = (Author){ 0 };
        lost = TRUE;
    }
    for (guint i = 0; i < plan->n_items; i++)
        if (node->flight[i] && node->flight[i] != s->flight[i]) {
            node->flight[i] = 0;
            lost = TRUE;
        }
    return lost;
}
