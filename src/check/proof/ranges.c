/* Ranges of the variables of control and the way they move. Everything here errs to the wide side:
 * a range that is not known is all numbers, a variable whose way is not known moves both ways. */
#include "check/proof/symbols.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

static gint64 clamped(__int128 x)
{
    return x >= WS_ENDLESS ? WS_ENDLESS : x <= -WS_ENDLESS ? -WS_ENDLESS : (gint64)x;
}

static const WsSpan all = { -WS_ENDLESS, WS_ENDLESS }, truth = { 0, 1 };

WsSpan ws_span_add(WsSpan a, WsSpan b)
{
    WsSpan r = {
        a.lo <= -WS_ENDLESS || b.lo <= -WS_ENDLESS ? -WS_ENDLESS : clamped((__int128)a.lo + b.lo),
        a.hi >= WS_ENDLESS || b.hi >= WS_ENDLESS ? WS_ENDLESS : clamped((__int128)a.hi + b.hi)
    };
    return r;
}

WsSpan ws_span_times(WsSpan a, gint64 factor)
{
    if (factor == 0)
        return (WsSpan){ 0, 0 };
    gint64 x = clamped((__int128)a.lo * factor), y = clamped((__int128)a.hi * factor);
    return factor > 0 ? (WsSpan){ x, y } : (WsSpan){ y, x };
}

static WsSpan hull(WsSpan a, WsSpan b)
{
    return (WsSpan){ MIN(a.lo, b.lo), MAX(a.hi, b.hi) };
}

/* Of floor(x / d), d > 0; what is endless stays so. */
static WsSpan divided(WsSpan a, gint64 d)
{
    return (WsSpan){ a.lo <= -WS_ENDLESS ? -WS_ENDLESS : ws_floor_div(a.lo, d),
                     a.hi >= WS_ENDLESS ? WS_ENDLESS : ws_floor_div(a.hi, d) };
}

static WsSpan of_var(const WsControl *c, gint var)
{
    if (var >= (gint)c->n_vars) {
        const WsSymbol *s = c->symbols->pdata[var - (gint)c->n_vars];
        return (WsSpan){ s->bounded ? s->least : -WS_ENDLESS, MIN(s->most, WS_ENDLESS) };
    }
    if (var < 0)
        return all;
    if (c->p->var[var].kind == WS_VAR_CTA)
        return (WsSpan){ 0, MAX(c->p->cluster, 1) - 1 };
    return c->range[var];
}

static WsSpan of_call(const WsControl *c, const WsExpr *e)
{
    gint64 d;
    WsSpan a = ws_span_of(c, e->arg[0]);
    if (e->func == WS_FUNC_ABS && e->n_args == 1)
        return a.lo >= 0 ? a : (WsSpan){ 0, MAX(a.hi, a.lo <= -WS_ENDLESS ? WS_ENDLESS : -a.lo) };
    if (e->func == WS_FUNC_SELECT && e->n_args == 3)
        return hull(ws_span_of(c, e->arg[1]), ws_span_of(c, e->arg[2]));
    if (e->n_args != 2)
        return all;
    WsSpan b = ws_span_of(c, e->arg[1]);
    if (e->func == WS_FUNC_MIN)
        return (WsSpan){ MIN(a.lo, b.lo), MIN(a.hi, b.hi) };
    if (e->func == WS_FUNC_MAX)
        return (WsSpan){ MAX(a.lo, b.lo), MAX(a.hi, b.hi) };
    if (e->func == WS_FUNC_CDIV && ws_expr_is_int(e->arg[1], &d) && d > 0)
        return divided(ws_span_add(a, (WsSpan){ d - 1, d - 1 }), d);
    return all;
}

/* Values that an expression (rewritten: symbols are variables) can have. */
WsSpan ws_span_of(const WsControl *c, const WsExpr *e)
{
    gint64 d;
    if (!e)
        return (WsSpan){ 0, 0 };
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL)
        return (WsSpan){ clamped(e->i), clamped(e->i) };
    if (e->op == WS_EXPR_VAR)
        return of_var(c, e->var);
    if (e->op == WS_EXPR_NEG)
        return ws_span_times(ws_span_of(c, e->arg[0]), -1);
    if (e->op == WS_EXPR_ADD)
        return ws_span_add(ws_span_of(c, e->arg[0]), ws_span_of(c, e->arg[1]));
    if (e->op == WS_EXPR_SUB)
        return ws_span_add(ws_span_of(c, e->arg[0]), ws_span_times(ws_span_of(c, e->arg[1]), -1));
    if (e->op == WS_EXPR_MUL) {
        if (ws_expr_is_int(e->arg[1], &d))
            return ws_span_times(ws_span_of(c, e->arg[0]), d);
        if (ws_expr_is_int(e->arg[0], &d))
            return ws_span_times(ws_span_of(c, e->arg[1]), d);
        return ws_span_of(c, e->arg[0]).lo >= 0 && ws_span_of(c, e->arg[1]).lo >= 0
                   ? (WsSpan){ 0, WS_ENDLESS }
                   : all;
    }
    if (e->op == WS_EXPR_DIV)
        return ws_expr_is_int(e->arg[1], &d) && d > 0 ? divided(ws_span_of(c, e->arg[0]), d) : all;
    if (e->op == WS_EXPR_MOD) {
        if (!ws_expr_is_int(e->arg[1], &d) || d <= 0)
            return all;
        WsSpan a = ws_span_of(c, e->arg[0]);
        return a.lo >= 0 && a.hi < d ? a : (WsSpan){ 0, d - 1 };
    }
    if (e->op == WS_EXPR_CALL)
        return of_call(c, e);
    return e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR ? truth : e->op == WS_EXPR_NOT ? truth : all;
}

/* --- variables -------------------------------------------------------------------------------- */
static WsSpan of_expr(WsControl *c, const WsExpr *e, gint64 otherwise)
{
    return e ? ws_span_of(c, ws_rewritten(c, e)) : (WsSpan){ otherwise, otherwise };
}

/* The index of a loop in its rounds, and which way it moves. */
static void loop_ranges(WsControl *c, const WsTree *t, WsSpan *range, gboolean *seen)
{
    if (!t)
        return;
    for (guint i = 0; i < t->n_kids; i++)
        loop_ranges(c, t->kid[i], range, seen);
    gint v = t->kind == WS_TREE_LOOP ? t->index_var : -1;
    if (v < 0 || !c->relevant[v])
        return;
    WsSpan from = of_expr(c, ws_from(c, t), 0), by = of_expr(c, ws_step(c, t), 1);
    gint64 rounds = WS_ENDLESS;
    if (t->over == WS_OVER_COUNT && t->count)
        rounds = ws_span_of(c, ws_rewritten(c, t->count)).hi;
    if (t->over == WS_OVER_TILES && c->p->tiles->launch == WS_LAUNCH_SINGLE)
        rounds = 1;
    WsSpan way = { 0, 0 }, far;
    if (rounds > 1 && (by.lo != 0 || by.hi != 0)) {
        gint64 last = rounds >= WS_ENDLESS ? WS_ENDLESS : rounds - 1;
        far = hull(ws_span_times(by, last), way);
        way = far;
    }
    WsSpan r = ws_span_add(from, way);
    range[v] = seen[v] ? hull(range[v], r) : r;
    c->up[v] = (seen[v] && c->up[v]) || by.hi > 0;
    c->down[v] = (seen[v] && c->down[v]) || by.lo < 0;
    seen[v] = TRUE;
}

static void step_ranges(WsControl *c, WsSpan *range, gboolean *seen)
{
    const WsProgram *p = c->p;
    for (guint a = 0; a < p->n_agents; a++)
        loop_ranges(c, p->agent[a].body, range, seen);
    for (guint v = 0; v < p->n_vars; v++) {
        if (p->var[v].kind == WS_VAR_TOTAL) {
            range[v] = (WsSpan){ 0, WS_ENDLESS };
            c->up[v] = TRUE, c->down[v] = FALSE;
        } else if (p->var[v].kind == WS_VAR_COUNTER && c->relevant[v]) {
            range[v] = of_expr(c, p->var[v].value, 0);
            c->up[v] = c->down[v] = FALSE;
        }
    }
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if ((op->kind != WS_OP_LET && op->kind != WS_OP_ADVANCE) || op->var < 0 ||
            !c->relevant[op->var])
            continue;
        guint v = (guint)op->var;
        WsSpan x = of_expr(c, op->set, op->kind == WS_OP_ADVANCE ? 1 : 0);
        if (op->kind == WS_OP_LET) {
            range[v] = seen[v] ? hull(range[v], x) : x;
            seen[v] = TRUE;
            continue;
        }
        c->up[v] |= x.hi > 0, c->down[v] |= x.lo < 0;
        range[v].hi = x.hi > 0 ? WS_ENDLESS : range[v].hi;
        range[v].lo = x.lo < 0 ? -WS_ENDLESS : range[v].lo;
    }
}

/* L-RANGE: beginning with all numbers, every pass gives ranges that hold if those before did. */
void ws_find_ranges(WsControl *c)
{
    const WsProgram *p = c->p;
    g_autofree WsSpan *next = g_new(WsSpan, p->n_vars + 1);
    g_autofree gboolean *seen = g_new(gboolean, p->n_vars + 1);
    for (guint v = 0; v < p->n_vars; v++)
        c->range[v] = all, c->up[v] = c->down[v] = TRUE;
    for (guint pass = 0; pass < 6; pass++) {
        for (guint v = 0; v < p->n_vars; v++)
            next[v] = all, seen[v] = FALSE;
        step_ranges(c, next, seen);
        for (guint v = 0; v < p->n_vars; v++)
            c->range[v] = next[v];
    }
    for (guint v = 0; v < p->n_vars; v++)
        if (p->var[v].kind == WS_VAR_LET) /* it stands where it is until it is set anew */
            c->up[v] = c->down[v] = FALSE;
}
