/* Uniform integer expressions as C++ text. As in uniform.c every value carries the interval it lies
 * in: comparisons that an interval decides fold, divisions know their sign. */
#include "codegen/cuda.h"

#include <string.h>

WsTerm ws_term(const char *s, guint prec, gint64 lo, gint64 hi)
{
    return (WsTerm){ s, prec, ws_interval(lo, hi) };
}

WsTerm ws_term_int(WsCuda *c, gint64 value)
{
    if (value < G_MININT32 || value > G_MAXUINT32)
        ws_cuda_step_error(c, c->op, "an integer beyond 32 bits");
    const char *s = ws_cuda_format(c, "%" G_GINT64_FORMAT, value);
    return ws_term(s, value < 0 ? WS_CPP_UNARY : WS_CPP_ATOM, value, value);
}

gboolean ws_term_known(WsTerm t, gint64 *value)
{
    return ws_interval_known(t.in, value);
}

const char *ws_term_in(WsCuda *c, WsTerm t, guint prec)
{
    return t.prec < prec ? ws_cuda_format(c, "(%s)", t.s) : t.s;
}

static WsTerm infix(WsCuda *c, const char *op, guint prec, WsTerm a, WsTerm b, WsInterval in)
{
    const char *s =
        ws_cuda_format(c, "%s %s %s", ws_term_in(c, a, prec), op, ws_term_in(c, b, prec + 1));
    return (WsTerm){ s, prec, in };
}

/* Constants fold where both sides have no name; "x + 0" stays (cuda.h). */
static WsTerm sum(WsCuda *c, WsTerm a, WsTerm b, gboolean minus)
{
    WsInterval in = minus ? ws_interval_sub(a.in, b.in) : ws_interval_add(a.in, b.in);
    gint64 x, y, v;
    gboolean known_a = ws_term_known(a, &x), known_b = ws_term_known(b, &y);
    if (known_a && known_b && ws_interval_known(in, &v))
        return ws_term_int(c, v);
    if (known_b && y < 0) {
        minus = !minus;
        b = ws_term_int(c, -y);
    }
    if (known_a && !minus) { /* constants come last */
        WsTerm t = a;
        a = b;
        b = t;
    }
    if (known_a && x == 0 && minus)
        return (WsTerm){ ws_cuda_format(c, "-%s", ws_term_in(c, b, WS_CPP_UNARY)), WS_CPP_UNARY,
                         in };
    return infix(c, minus ? "-" : "+", WS_CPP_SUM, a, b, in);
}

static WsTerm product(WsCuda *c, WsTerm a, WsTerm b)
{
    WsInterval in = ws_interval_mul(a.in, b.in);
    gint64 v, one;
    if (ws_interval_known(in, &v) && (v == 0 || (ws_term_known(a, &one) && ws_term_known(b, &one))))
        return ws_term_int(c, v);
    if (ws_term_known(a, &one) && one == 1)
        return b;
    if (ws_term_known(b, &one) && one == 1)
        return a;
    return infix(c, "*", WS_CPP_TERM, a, b, in);
}

static WsTerm call2(WsCuda *c, const char *f, WsTerm a, WsTerm b, WsInterval in)
{
    return (WsTerm){ ws_cuda_format(c, "%s(%s, %s)", f, a.s, b.s), WS_CPP_ATOM, in };
}

static WsTerm divide(WsCuda *c, WsTerm a, WsTerm b, gboolean rest)
{
    gint64 v, by;
    gboolean known = ws_term_known(b, &by) && by > 0;
    gboolean positive = (a.in.lo >= 0 || c->nonneg) && b.in.lo >= 0;
    if (known && by == 1)
        return rest ? ws_term_int(c, 0) : a;
    if (known && rest && a.in.lo >= 0 && a.in.hi < by)
        return a;
    WsInterval in =
        rest ? ws_interval_mod(a.in, b.in, positive) : ws_interval_div(a.in, b.in, positive);
    if (ws_interval_known(in, &v))
        return ws_term_int(c, v);
    if (positive)
        return call2(c, rest ? "mod" : "quot", a, b, in);
    return call2(c, rest ? "floor_mod" : "floor_div", a, b, in);
}

static WsTerm compare(WsCuda *c, WsExprOp op, WsTerm a, WsTerm b)
{
    static const char *const text[] = { "<", "<=", ">", ">=", "==", "!=" };
    int known = ws_interval_decide(op, a.in, b.in);
    if (known >= 0)
        return ws_term_int(c, known);
    guint prec = op == WS_EXPR_EQ || op == WS_EXPR_NE ? WS_CPP_EQ : WS_CPP_REL;
    /* arithmetic on both sides reads without parentheses; nested comparisons do not */
    const char *s = ws_cuda_format(c, "%s %s %s", ws_term_in(c, a, WS_CPP_SHIFT),
                                   text[op - WS_EXPR_LT], ws_term_in(c, b, WS_CPP_SHIFT));
    return ws_term(s, prec, 0, 1);
}

WsTerm ws_term_op(WsCuda *c, WsExprOp op, WsTerm a, WsTerm b)
{
    switch (op) {
    case WS_EXPR_ADD:
        return sum(c, a, b, FALSE);
    case WS_EXPR_SUB:
        return sum(c, a, b, TRUE);
    case WS_EXPR_MUL:
        return product(c, a, b);
    case WS_EXPR_DIV:
        return divide(c, a, b, FALSE);
    case WS_EXPR_MOD:
        return divide(c, a, b, TRUE);
    default:
        return compare(c, op, a, b);
    }
}

static WsTerm extreme(WsCuda *c, WsTerm a, WsTerm b, gboolean max)
{
    gint64 v;
    if (max ? a.in.lo >= b.in.hi : a.in.hi <= b.in.lo)
        return a;
    if (max ? b.in.lo >= a.in.hi : b.in.hi <= a.in.lo)
        return b;
    WsInterval in = max ? ws_interval_max(a.in, b.in) : ws_interval_min(a.in, b.in);
    if (ws_interval_known(in, &v))
        return ws_term_int(c, v);
    return call2(c, max ? "max" : "min", a, b, in);
}

WsTerm ws_term_min(WsCuda *c, WsTerm a, WsTerm b)
{
    return extreme(c, a, b, FALSE);
}

WsTerm ws_term_cdiv(WsCuda *c, WsTerm a, WsTerm b)
{
    WsInterval one = { 1, 1 }, up = ws_interval_sub(ws_interval_add(a.in, b.in), one);
    gboolean positive = up.lo >= 0 && b.in.lo > 0;
    WsInterval in =
        positive ? ws_interval_div(up, b.in, TRUE) : ws_interval(WS_INTERVAL_MIN, WS_INTERVAL_MAX);
    gint64 v;
    if (b.in.lo > 0 && !positive)
        in = ws_interval_div(up, b.in, FALSE);
    return ws_interval_known(in, &v) ? ws_term_int(c, v) : call2(c, "cdiv", a, b, in);
}

WsTerm ws_term_truth(WsCuda *c, WsTerm a)
{
    if (a.prec == WS_CPP_REL || a.prec == WS_CPP_EQ || a.prec == WS_CPP_AND || a.prec == WS_CPP_OR)
        return a;
    return compare(c, WS_EXPR_NE, a, ws_term_int(c, 0));
}

static WsTerm choose(WsCuda *c, WsTerm cond, const WsExpr *x, const WsExpr *y)
{
    gint64 known;
    cond = ws_term_truth(c, cond);
    if (ws_term_known(cond, &known))
        return ws_cuda_uniform(c, known ? x : y);
    WsTerm a = ws_cuda_uniform(c, x), b = ws_cuda_uniform(c, y);
    const char *s = ws_cuda_format(c, "%s ? %s : %s", ws_term_in(c, cond, WS_CPP_OR),
                                   ws_term_in(c, a, WS_CPP_OR), ws_term_in(c, b, WS_CPP_OR));
    return ws_term(s, WS_CPP_COND, MIN(a.in.lo, b.in.lo), MAX(a.in.hi, b.in.hi));
}

static WsTerm call(WsCuda *c, const WsExpr *x)
{
    WsTerm a = ws_cuda_uniform(c, x->arg[0]);
    switch (x->func) {
    case WS_FUNC_CDIV:
        return ws_term_cdiv(c, a, ws_cuda_uniform(c, x->arg[1]));
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        for (guint i = 1; i < x->n_args; i++)
            a = extreme(c, a, ws_cuda_uniform(c, x->arg[i]), x->func == WS_FUNC_MAX);
        return a;
    case WS_FUNC_ABS:
        return (WsTerm){ ws_cuda_format(c, "abs(%s)", a.s), WS_CPP_ATOM,
                         ws_interval(0, MAX(a.in.hi, -a.in.lo)) };
    case WS_FUNC_POW2FLOOR:
        return ws_term(ws_cuda_format(c, "pow2floor(%s)", a.s), WS_CPP_ATOM, 0, MAX(a.in.hi, 0));
    case WS_FUNC_SELECT:
        return choose(c, a, x->arg[1], x->arg[2]);
    default:
        ws_cuda_step_error(c, c->op, "a real function in a uniform expression");
        return ws_term_int(c, 0);
    }
}

static WsTerm logic(WsCuda *c, const WsExpr *x)
{
    gboolean is_and = x->op == WS_EXPR_AND;
    WsTerm a = ws_term_truth(c, ws_cuda_uniform(c, x->arg[0]));
    gint64 known;
    if (ws_term_known(a, &known)) {
        if ((known != 0) != is_and)
            return ws_term_int(c, !is_and);
        return ws_term_truth(c, ws_cuda_uniform(c, x->arg[1]));
    }
    WsTerm b = ws_term_truth(c, ws_cuda_uniform(c, x->arg[1]));
    if (ws_term_known(b, &known))
        return (known != 0) == is_and ? a : b;
    guint prec = is_and ? WS_CPP_AND : WS_CPP_OR;
    const char *s = ws_cuda_format(
        c, "%s %s %s", ws_term_in(c, a, prec == WS_CPP_OR ? WS_CPP_EQ : prec), is_and ? "&&" : "||",
        ws_term_in(c, b, prec == WS_CPP_OR ? WS_CPP_EQ : prec));
    return ws_term(s, prec, 0, 1);
}

static WsTerm variable(WsCuda *c, const WsExpr *x)
{
    const WsCudaName *b = x->var >= 0 && (guint)x->var < c->p->n_vars ? &c->var[x->var] : NULL;
    if (!b || !b->bound) {
        if (!c->error)
            g_set_error(&c->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                        "internal error of the generator at %s: %s has no value here",
                        c->op      ? c->op->id
                        : c->agent ? c->agent->path
                                   : "the kernel",
                        x->name);
        return ws_term_int(c, 0);
    }
    if (!c->in_leader && b->stale)
        ws_cuda_step_error(c, c->op, "a counter that the leader alone advanced");
    gint64 v;
    return ws_interval_known(b->in, &v) ? ws_term_int(c, v) : (WsTerm){ b->s, WS_CPP_ATOM, b->in };
}

/* T[i, ...]: 0 outside of the tensor; one value per warp. */
static WsTerm element(WsCuda *c, const WsExpr *x)
{
    const WsTensor *t = &c->p->tensor[x->var];
    GString *s = g_string_new(NULL);
    gboolean outer = c->nonneg;
    c->nonneg = FALSE;
    for (guint d = 0; d < t->rank; d++)
        g_string_append_printf(s, "%s%s", d ? ", " : "", ws_cuda_uniform(c, x->arg[d]).s);
    c->nonneg = outer;
    gboolean alone = c->in_leader || c->per_thread;
    const char *text =
        ws_cuda_format(c, alone ? "%s_at(%s)" : "uniform(%s_at(%s))", c->tensor[x->var], s->str);
    g_string_free(s, TRUE);
    if (ws_dtype_real(t->dtype))
        ws_cuda_step_error(c, c->op, "a float tensor in a uniform expression");
    gint64 lo = t->dtype == WS_DTYPE_I8 ? -128 : t->dtype == WS_DTYPE_U8 ? 0 : G_MININT32;
    gint64 hi = t->dtype == WS_DTYPE_I8 ? 127 : t->dtype == WS_DTYPE_U8 ? 255 : G_MAXINT32;
    return ws_term(text, WS_CPP_ATOM, lo, hi);
}

static WsTerm literal(WsCuda *c, const WsExpr *x)
{
    WsTerm t = ws_term_int(c, x->i);
    if (x->name) {
        t.s = ws_cuda_ident(c, x->name);
        t.prec = WS_CPP_ATOM;
    }
    return t;
}

WsTerm ws_cuda_uniform(WsCuda *c, const WsExpr *x)
{
    gint64 known;
    switch (x->op) {
    case WS_EXPR_INT:
        return literal(c, x);
    case WS_EXPR_TEXT_BOOL:
        return ws_term_int(c, x->i);
    case WS_EXPR_VAR:
        return variable(c, x);
    case WS_EXPR_NEG:
        return sum(c, ws_term_int(c, 0), ws_cuda_uniform(c, x->arg[0]), TRUE);
    case WS_EXPR_NOT:
        return compare(c, WS_EXPR_EQ, ws_cuda_uniform(c, x->arg[0]), ws_term_int(c, 0));
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(c, x);
    case WS_EXPR_CALL:
        return call(c, x);
    case WS_EXPR_INDEX:
        return element(c, x);
    default:
        if (c->cuts && ws_cuts_decide(c->cuts, x, &known))
            return ws_term_int(c, known);
        if (x->n_args == 2) {
            WsTerm a = ws_cuda_uniform(c, x->arg[0]), b = ws_cuda_uniform(c, x->arg[1]);
            gint64 v;
            if (c->ring_name && x->op == WS_EXPR_DIV && ws_term_known(b, &v) && v == c->ring)
                b.s = c->ring_name;
            return ws_term_op(c, x->op, a, b);
        }
        ws_cuda_step_error(c, c->op, "an unbound name in a uniform expression");
        return ws_term_int(c, 0);
    }
}

WsTerm ws_cuda_use(WsCuda *c, const WsExpr *x)
{
    gboolean outer = c->nonneg;
    c->nonneg = TRUE;
    WsTerm t = ws_cuda_uniform(c, x);
    c->nonneg = outer;
    return t;
}

const char *ws_cuda_int(WsCuda *c, const WsExpr *x)
{
    WsTerm t = ws_cuda_uniform(c, x);
    gint64 v;
    if (!c->plus_zero || ws_term_known(t, &v))
        return t.s;
    gboolean ends = (x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB) && x->n_args == 2 &&
                    ws_term_known(ws_cuda_uniform(c, x->arg[1]), &v);
    return ends ? t.s : ws_cuda_format(c, "%s + 0", ws_term_in(c, t, WS_CPP_SUM));
}

gboolean ws_cuda_constant(WsCuda *c, const WsExpr *x, guint *out)
{
    gint64 v = 0;
    if (x && !ws_term_known(ws_cuda_uniform(c, x), &v))
        return FALSE;
    *out = (guint)v;
    return v >= 0 && v <= G_MAXINT32;
}
