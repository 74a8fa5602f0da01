/* How far expressions differ between two states: docs/soundness.md section 8.6. */
#include "program/parts/variable.h"
#include "verify/cover.h"
#include "verify/text.h"
#include "verify/value.h"

gboolean fail(Cover *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!c->why)
        c->why = g_strdup_vprintf(format, args);
    va_end(args);
    return FALSE;
}

gboolean less(gint64 a, gint64 b, gint64 *out)
{
    return !__builtin_sub_overflow(a, b, out);
}

gint64 shift_of_pass(const Cover *c, gint64 pass)
{
    for (guint i = 0; i < c->plan->n_inst; i++) {
        const Instance *y = &c->by->inst[i];
        if (y->status != ENDED && tile_is(y->tile) && tile_pass(y->tile) == pass)
            return tile_position(c->s->inst[i].tile) - tile_position(y->tile);
    }
    /* nobody is in it: how far the number of its tiles is off */
    const Fact key = { .tile = pass * TILE_PASS + TILE_LAUNCH, .cta = -1 },
               *f = state_fact(c->by, &key);
    Fact there = key;
    there.tile += c->passes * TILE_PASS;
    const Fact g = state_know(c->plan, c->s, &there);
    gint64 d = 0;
    return f && f->low != NO_LOW && g.low != NO_LOW && less(g.low, f->low, &d) ? d : 0;
}

gint64 counterpart_tile(const Cover *c, gint64 tile)
{
    return tile + c->passes * TILE_PASS + (tile_is(tile) ? shift_of_pass(c, tile_pass(tile)) : 0);
}

gint64 shift_of_time(const Cover *c, guint symbol, gint64 tile)
{
    for (guint i = 0; i < c->plan->n_inst; i++) {
        const Instance *y = &c->by->inst[i];
        if (y->status != ENDED && y->tile == tile &&
            c->plan->agent[i % c->plan->p->n_agents].asks[symbol])
            return c->s->inst[i].times[symbol] - y->times[symbol];
    }
    return 0;
}

/* How much further the index is that a name of rounds follows, in this beginning of its loop. */
static gint64 shift_of_rounds(const Cover *c, const Fact *f)
{
    for (guint i = 0; i < c->plan->n_inst; i++) {
        const guint agent = i % c->plan->p->n_agents;
        const Instance *x = &c->s->inst[i], *y = &c->by->inst[i];
        const LoopState *l = instance_rounds(c->plan, agent, y, f->symbol);
        if (y->status != ENDED && y->tile == f->tile && l && l->running &&
            y->times[f->symbol] == f->time >> 32)
            return instance_rounds(c->plan, agent, x, f->symbol)->index - l->index;
    }
    return 0;
}

Fact counterpart(const Cover *c, const Fact *f)
{
    Fact key = *f;
    const Symbol *y = &g_array_index(c->plan->c->symbol, Symbol, f->symbol);
    if (y->round)
        key.time +=
            shift_of_time(c, f->symbol, f->tile) * ((gint64)1 << 32) + shift_of_rounds(c, f);
    else if (y->split && f->tile != TILE_LAUNCH)
        key.time += shift_of_time(c, f->symbol, f->tile);
    if (!f->symbol || f->tile != TILE_LAUNCH)
        key.tile = counterpart_tile(c, f->tile);
    return key;
}

/* d of an instance of a symbol. */
gboolean shift_of_fact(Cover *c, const Fact *key, gint64 *d)
{
    const Fact *f = state_fact(c->by, key);
    *d = 0;
    if (!f)
        return TRUE;
    const Fact there = counterpart(c, f);
    const Fact known = state_know(c->plan, c->s, &there), *g = &known;
    if (f->low != NO_LOW)
        return g->low != NO_LOW && less(g->low, f->low, d);
    return f->high == NO_HIGH || (g->high != NO_HIGH && less(g->high, f->high, d));
}

/* --- 8.6 -------------------------------------------------------------------------------------- */
gboolean in_same(const Context *x, const WsTree *loop)
{
    for (guint i = 0; i < x->n_same; i++)
        if (x->same[i] == loop)
            return TRUE;
    return FALSE;
}

LoopState *loop_of(const Context *x, const Instance *of, const WsTree *t)
{
    const AgentPlan *a = &x->c->plan->agent[x->agent];
    return &of->loop[a->place[GPOINTER_TO_INT(g_hash_table_lookup(a->number, t))].loop];
}

static const WsTree *loop_of_index(const Context *x, gint var)
{
    for (const WsTree *t = x->at; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->index_var == var)
            return t;
    return NULL;
}

/* The instance that a symbol stands for here; FALSE: one that no state names. */
static gboolean fact_here(const Context *x, guint symbol, Fact *key)
{
    const Symbol *y = &g_array_index(x->c->plan->c->symbol, Symbol, symbol);
    *key = (Fact){ .symbol = symbol, .tile = symbol ? x->tile : TILE_LAUNCH };
    key->cta = y->of_cta ? (gint)(x->inst / x->c->plan->p->n_agents) : -1;
    const gboolean still = (x->mixed && (symbol >= 64 || !(x->moved >> symbol & 1))) ||
                           (symbol < 64 && x->stays >> symbol & 1);
    const gboolean now = x->time == PRESENT || still || (y->round && x->in_round);
    if (y->split)
        key->time = now ? instance_time(x->c->plan, x->agent, x->y, symbol) : x->time;
    return !symbol || (x->tile != UNLISTED && (!y->split || now || x->time != UNLISTED));
}

static gboolean only_set(const AgentPlan *a, gint var, gint place)
{
    for (gint n = 1; n <= a->n_places; n++)
        if (n != place && a->place[n].tree->op && a->place[n].tree->op->var == var)
            return FALSE;
    return TRUE;
}

static gboolean set_anew(const Context *x, const WsTree *let)
{
    for (const WsTree *up = let->parent; up; up = up->parent)
        if (up->kind == WS_TREE_LOOP && !in_same(x, up))
            return TRUE;
    return FALSE;
}

/* What is set in a loop that is entered anew has the shift of what it is set to there; names of
 * which may by then be those of another time: such a let has none. */
static gboolean shift_of_set(Context *x, const WsTree *let, Shift *out)
{
    const WsExpr *e = plan_form(x->c->plan, let->op->set, FALSE);
    const WsTree *at = x->at;
    if (x->lets > 8 || plan_names_symbol(x->c->plan, e))
        return FALSE;
    x->at = let;
    x->lets++;
    const gboolean has = shift(x, e, FALSE, out);
    x->lets--;
    x->at = at;
    return has;
}

static gboolean shift_of_let(Context *x, gint var, Shift *out)
{
    const AgentPlan *a = &x->c->plan->agent[x->agent];
    for (gint n = 1; n <= a->n_places; n++) {
        const WsTree *t = a->place[n].tree;
        Shift by = { 0, 0 };
        if (t->kind != WS_TREE_OP || t->op->var != var || t->op->kind != WS_OP_LET ||
            !set_anew(x, t))
            continue;
        if (!only_set(a, var, n) || !shift_of_set(x, t, &by))
            return FALSE;
        *out = (Shift){ by.d, range_gcd(by.g, x->c->may[var]) };
        return TRUE;
    }
    return less(x->x->var[var], x->y->var[var], &out->d);
}

static gboolean shift_of_var(Context *x, gint var, Shift *out)
{
    const WsVarKind kind = x->c->plan->p->var[var].kind;
    const WsTree *loop = kind == WS_VAR_INDEX ? loop_of_index(x, var) : NULL;
    out->g = x->c->may[var];
    if (kind == WS_VAR_INDEX)
        return loop && (!in_same(x, loop) || less(loop_of(x, x->x, loop)->index,
                                                  loop_of(x, x->y, loop)->index, &out->d));
    if (kind == WS_VAR_TOTAL || kind == WS_VAR_COUNTER)
        return less(x->x->var[var], x->y->var[var], &out->d);
    return kind == WS_VAR_LET ? shift_of_let(x, var, out) : kind == WS_VAR_CTA;
}

/* Counters that only rise (1) or only fall (-1); 0: neither; 2: never changed. */
static int direction(const Context *x, gint var)
{
    const AgentPlan *a = &x->c->plan->agent[x->agent];
    gboolean up = FALSE, down = FALSE;
    for (gint n = 1; n <= a->n_places; n++) {
        const WsTree *t = a->place[n].tree;
        if (t->kind != WS_TREE_OP || t->op->var != var)
            continue;
        const Range by = value_step(x->c->plan, t->op);
        up |= by.high > 0;
        down |= by.low < 0;
    }
    return up && down ? 0 : up ? 1 : down ? -1 : 2;
}

static Range from_here(gint64 value, int way)
{
    return way == 2 ? range_exact(value)
                    : range_of(way > 0 ? value : NO_LOW, way < 0 ? value : NO_HIGH);
}

/* --- fresh names --------------------------------------------------------------------------------
 */
/* By how much an instance that `by` does not list is shifted: as tiles of the pass are, against
 * them, or by a number of its own; not at all where they are not. */
static gint64 fresh_shift(const Context *x)
{
    const gint64 tiles = shift_of_pass(x->c, tile_pass(x->y->tile));
    return tiles == 0 || x->c->fresh_by == FRESH_TILES ? tiles
           : x->c->fresh_by == FRESH_AGAINST           ? -tiles
                                                       : x->c->fresh_by;
}

static gboolean may_be_fresh(const Context *x, guint symbol)
{
    const Symbol *y = &g_array_index(x->c->plan->c->symbol, Symbol, symbol);
    const gint64 d = fresh_shift(x);
    gint64 low;
    return x->in_pass && symbol < 64 && !y->letter && !y->round && y->modulus == 1 &&
           d % y->every == 0 &&
           (y->least == NO_LOW || !__builtin_add_overflow(y->least, ABS(d) + y->every, &low));
}

static gboolean is_fresh(const Context *x, guint symbol, gboolean named, const Fact *key)
{
    const Symbol *y = &g_array_index(x->c->plan->c->symbol, Symbol, symbol);
    return may_be_fresh(x, symbol) && (x->c->fresh >> symbol & 1) &&
           (fresh_shift(x) > 0 || y->most == NO_HIGH) && !(named && state_fact(x->c->by, key));
}

guint64 fresh_symbols(Context *x, const WsExpr *e)
{
    const guint symbol = e->op == WS_EXPR_INT ? 0 : plan_symbol(x->c->plan, e);
    guint64 found = symbol && may_be_fresh(x, symbol) ? (guint64)1 << symbol : 0;
    for (guint i = 0; !symbol && i < e->n_args; i++)
        found |= fresh_symbols(x, e->arg[i]);
    return found;
}

guint64 fresh_lows(const Context *x, guint64 fresh)
{
    for (guint i = 1; i < MIN(64, x->c->plan->c->symbol->len); i++)
        if (g_array_index(x->c->plan->c->symbol, Symbol, i).least == NO_LOW)
            fresh &= ~((guint64)1 << i);
    return fresh && fresh_shift(x) > 0 ? fresh : 0;
}

/* The least value, or in `s` what stands for that: values that are no shifted ones. */
static Range least_fresh(const Context *x, guint symbol, gboolean in_s)
{
    const Symbol *y = &g_array_index(x->c->plan->c->symbol, Symbol, symbol);
    return in_s ? range_of(y->least, y->least + fresh_shift(x) - 1)
                : range_exact(y->least + range_up(y->least, y->left, y->every));
}

/* What any instance of a symbol can be. */
static Range any_instance(const Context *x, guint symbol, gboolean in_s)
{
    const State *s = in_s ? x->c->s : x->c->by;
    const Fact rest = fact_default(x->c->plan->c, &(Fact){ .symbol = symbol });
    Range r = range_of(rest.low, rest.high);
    for (guint i = 0; i < s->fact->len; i++) {
        const Fact *f = &g_array_index(s->fact, Fact, i);
        if (f->symbol == symbol && f->tile != TILE_LAUNCH) /* of which a residue is kept */
            r = range_of(MIN(r.low, f->low), MAX(r.high, f->high));
    }
    return r;
}

/* The index of `loop` from now on: where a loop within it is still in the same turn it is the
 * present one, and it never gets behind the last round. */
static Range still_index(Context *x, const WsTree *loop, gboolean in_s)
{
    const LoopState *l = loop_of(x, in_s ? x->x : x->y, loop);
    const gboolean same = in_same(x, loop);
    gint64 from = same ? l->index : 0, step = same ? l->step : 1, last;
    if (same && x->same[x->n_same - 1] != loop)
        return range_exact(from);
    if (!same && !plan_fixed(x->c->plan, loop, &from, &step))
        return range_of(NO_LOW, NO_HIGH);
    if (x->later && loop->over == WS_OVER_TILES && __builtin_add_overflow(from, step, &from))
        return range_of(NO_LOW, NO_HIGH);
    Range r = from_here(from, step > 0 ? 1 : -1);
    if (loop->over != WS_OVER_COUNT || step != 1 || (same && l->from > from))
        return r;
    g_autoptr(WsExpr) zero = ws_expr_int(0);
    Context there = *x;
    there.at = loop;
    there.any = TRUE;
    const Range count =
        same && l->count != NO_LOW
            ? range_exact(l->count)
            : difference(&there, plan_form(x->c->plan, loop->count, FALSE), zero, in_s);
    if (count.high < NO_HIGH && less(count.high, 1, &last) &&
        !__builtin_add_overflow(last, same ? l->from : from, &last))
        r.high = MAX(last, from);
    return r;
}

/* What a term can still be, in `s` or in `by`. */
static Range still(Context *x, const WsExpr *e, gboolean in_s)
{
    const Instance *of = in_s ? x->x : x->y;
    guint symbol = plan_symbol(x->c->plan, e);
    Fact key;
    if (symbol && x->any)
        return any_instance(x, symbol, in_s);
    if (symbol) {
        const gboolean named = fact_here(x, symbol, &key);
        if (x->low >> (symbol & 63) & 1 && is_fresh(x, symbol, named, &key))
            return least_fresh(x, symbol, in_s);
        if (named && in_s)
            key = counterpart(x->c, &key);
        Fact f = named ? state_know(x->c->plan, in_s ? x->c->s : x->c->by, &key)
                       : fact_default(x->c->plan->c, &key);
        return range_of(f.low, f.high);
    }
    const gint var = e->op == WS_EXPR_VAR ? e->var : -1;
    const WsVarKind kind = var < 0 ? WS_VAR_ROW : x->c->plan->p->var[var].kind;
    const WsTree *loop = kind == WS_VAR_INDEX ? loop_of_index(x, var) : NULL;
    if (kind == WS_VAR_CTA)
        return range_exact((gint64)(x->inst / x->c->plan->p->n_agents));
    if (kind == WS_VAR_COUNTER && of->loose[var])
        return range_of(value_counter_least(x->c->plan, x->agent, var), NO_HIGH);
    if (kind == WS_VAR_TOTAL || kind == WS_VAR_COUNTER)
        return from_here(of->var[var], kind == WS_VAR_TOTAL ? 1 : direction(x, var));
    return loop ? still_index(x, loop, in_s) : range_of(NO_LOW, NO_HIGH);
}

static gboolean has_value(Context *x, guint symbol);

typedef struct {
    RangeEnv env;
    Context *x;
    gboolean in_s;
} Still;

static gboolean still_leaf(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out)
{
    Still *s = (Still *)env;
    if (e->op == WS_EXPR_INT ||
        (e->n_args && e->op != WS_EXPR_INDEX && !plan_symbol(s->x->c->plan, e)))
        return FALSE; /* its parts say what it can be */
    const guint symbol = plan_symbol(s->x->c->plan, e);
    env->undefined |= symbol && !has_value(s->x, symbol);
    *out = still(s->x, e, s->in_s);
    return TRUE;
}

/* 1, 0: so it is from now on; -1: open */
static int still_truth(Context *x, const WsExpr *e, gboolean in_s)
{
    Still env = { { .leaf = still_leaf }, x, in_s };
    const Range r = range_eval(&env.env, e, TRUE);
    const gboolean known = !r.open && !env.env.wrong && !env.env.undefined;
    return known && (r.low > 0 || r.high < 0) ? 1 : known && r.low == 0 && r.high == 0 ? 0 : -1;
}

/* Something in it may be divided by 0, be it in terms that cancel. */
static gboolean may_lack_value(Context *x, const WsExpr *e, gboolean in_s)
{
    const guint symbol = e->op == WS_EXPR_INT ? 0 : plan_symbol(x->c->plan, e);
    const gboolean select = e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT;
    const gboolean lazy = select || e->op == WS_EXPR_AND || e->op == WS_EXPR_OR;
    if (symbol)
        return !has_value(x, symbol);
    if (text_divided(e)) {
        g_autoptr(WsExpr) zero = ws_expr_int(0);
        const Range by = difference(x, e->arg[1], zero, in_s);
        if (by.low <= 0 && by.high >= 0)
            return TRUE;
    }
    const int first = lazy && text_divides(e) ? still_truth(x, e->arg[0], in_s) : -1;
    for (guint i = 0; i < e->n_args; i++) {
        const int asked = select ? i == 1 : e->op == WS_EXPR_AND; /* if the first one is this */
        if (!(lazy && i && first >= 0 && first != asked) && may_lack_value(x, e->arg[i], in_s))
            return TRUE;
    }
    return FALSE;
}

Range difference(Context *x, const WsExpr *a, const WsExpr *b, gboolean in_s)
{
    Still env = { { .leaf = still_leaf }, x, in_s };
    const Range r = range_difference(&env.env, a, b);
    return env.env.undefined || may_lack_value(x, a, in_s) || may_lack_value(x, b, in_s)
               ? range_of(NO_LOW, NO_HIGH)
               : r;
}

/* What a symbol is divided by is the same, or no 0 in both. */
static gboolean has_value(Context *x, guint symbol)
{
    const GPtrArray *divisor = g_array_index(x->c->plan->c->symbol, Symbol, symbol).divisor;
    g_autoptr(WsExpr) zero = ws_expr_int(0);
    for (guint i = 0; divisor && i < divisor->len; i++) {
        const WsExpr *d = plan_form(x->c->plan, divisor->pdata[i], FALSE);
        Shift by;
        int which;
        if (!(settled(x, WS_EXPR_NE, d, zero, &which) && which == 1) &&
            (!shift(x, d, FALSE, &by) || by.d != 0 || by.g != 0))
            return FALSE;
    }
    return TRUE;
}

static gboolean same(Shift a, Shift b)
{
    return a.d == b.d && a.g == 0 && b.g == 0;
}

static gboolean scaled(Shift a, gint64 k, Shift *out)
{
    return k != G_MININT64 && !__builtin_mul_overflow(k, a.d, &out->d) &&
           !__builtin_mul_overflow(ABS(k), a.g, &out->g);
}

static gboolean divided(Shift a, gint64 m, Shift *out)
{
    *out = m > 0 ? (Shift){ a.d / m, a.g / m } : a;
    return m > 0 && a.d % m == 0 && a.g % m == 0;
}

/* `fails`: bit i, argument i has no shift. */
static gboolean shift_of_call(Context *x, const WsExpr *e, const Shift *d, guint fails, Shift *out)
{
    gint64 m = 0;
    int which = 0;
    gboolean all = TRUE;
    if (e->func == WS_FUNC_CDIV)
        return !fails && ws_expr_is_int(e->arg[1], &m) && divided(d[0], m, out);
    if (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX) {
        for (guint i = 1; i < e->n_args; i++)
            all &= same(d[0], d[i]);
        *out = d[0];
        if (all && !fails)
            return TRUE;
        if (e->n_args != 2 || !settled(x, e->func == WS_FUNC_MIN ? WS_EXPR_LE : WS_EXPR_GE,
                                       e->arg[0], e->arg[1], &which))
            return FALSE;
        *out = d[which ? 0 : 1];
        return !(fails >> (which ? 0 : 1) & 1);
    }
    if (e->func == WS_FUNC_SELECT) {
        which = settled_truth(x, e->arg[0]);
        if (which >= 0) {
            *out = d[which ? 1 : 2];
            return !(fails >> (which ? 1 : 2) & 1);
        }
        *out = (Shift){ d[1].d, range_gcd(d[1].g, d[2].g) };
        return !fails && same(d[0], (Shift){ 0, 0 }) && d[1].d == d[2].d;
    }
    for (guint i = 0; i < e->n_args; i++)
        all &= same(d[i], (Shift){ 0, 0 });
    return all && !fails;
}

static gboolean shift_of(Context *x, const WsExpr *e, gboolean truth, Shift *out)
{
    Shift d[16] = { { 0, 0 } };
    const Shift zero = { 0, 0 };
    gint64 k;
    Fact key;
    *out = zero;
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL)
        return TRUE;
    guint symbol = plan_symbol(x->c->plan, e);
    if (symbol) {
        const gboolean named = fact_here(x, symbol, &key);
        if (!has_value(x, symbol))
            return FALSE;
        if (!is_fresh(x, symbol, named, &key))
            return !named || shift_of_fact(x->c, &key, &out->d);
        out->d = fresh_shift(x);
        return !(x->low >> symbol & 1);
    }
    if (e->op == WS_EXPR_VAR)
        return e->var >= 0 && shift_of_var(x, e->var, out);
    if (e->n_args == 0 || e->n_args > 16 || e->op == WS_EXPR_INDEX)
        return FALSE;
    const gboolean truths = e->op == WS_EXPR_NOT || e->op == WS_EXPR_AND || e->op == WS_EXPR_OR;
    const gboolean compares = text_compares(e);
    guint fails = 0;
    for (guint i = 0; i < e->n_args; i++)
        if (!shift(x, e->arg[i],
                   truths || (i == 0 && e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT), &d[i]))
            fails |= 1u << i;
    if ((e->op == WS_EXPR_AND || e->op == WS_EXPR_OR) && one_side(x, e, fails, d))
        return TRUE;
    if (fails && !compares && e->op != WS_EXPR_CALL)
        return FALSE;
    int which;
    if (e->op == WS_EXPR_CALL)
        return shift_of_call(x, e, d, fails, out);
    if (truths)
        return same(d[0], zero) && same(d[1], zero);
    if (compares) {
        if ((!fails && same(d[0], d[1])) || settled(x, e->op, e->arg[0], e->arg[1], &which))
            return TRUE;
        if (fresh_symbols(x, e))
            note_wanted(x, e);
        x->c->open |= fresh_symbols(x, e);
        return FALSE;
    }
    if (e->op == WS_EXPR_NEG)
        return scaled(d[0], -1, out);
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB) {
        out->g = range_gcd(d[0].g, d[1].g);
        return e->op == WS_EXPR_SUB ? less(d[0].d, d[1].d, &out->d)
                                    : !__builtin_add_overflow(d[0].d, d[1].d, &out->d);
    }
    if (e->op == WS_EXPR_MUL) {
        if (ws_expr_is_int(e->arg[0], &k) || ws_expr_is_int(e->arg[1], &k))
            return scaled(d[ws_expr_is_int(e->arg[0], &k) ? 1 : 0], k, out);
        /* a'b' - ab = a'(b' - b) + b(a' - a) */
        out->g = range_gcd(range_gcd(d[0].d, d[0].g), range_gcd(d[1].d, d[1].g));
        return TRUE;
    }
    /* a quotient, a remainder: of multiples */
    const gboolean fine = ws_expr_is_int(e->arg[1], &k) && divided(d[0], k, &d[1]);
    *out = e->op == WS_EXPR_DIV ? d[1] : zero;
    return fine;
}

gboolean shift(Context *x, const WsExpr *e, gboolean truth, Shift *out)
{
    const guint64 open = x->c->open;
    const gboolean has = shift_of(x, e, truth, out);
    if (!truth || (has && out->d == 0 && out->g == 0) || settled_truth(x, e) < 0)
        return has;
    x->c->open = open; /* what is not invariant in it does not matter */
    *out = (Shift){ 0, 0 };
    return TRUE;
}
