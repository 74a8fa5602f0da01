/* Uniform integer expressions as Python text, on the device and (y->host) in the launcher. As in
 * the other printers every value carries the interval it lies in: comparisons that an interval
 * decides fold, and a division whose sign is not known goes through a helper, since // of a scalar
 * on the device truncates where ours floors. */
#include "codegen/python/py.h"

#include <string.h>

#include <string.h>

static WsPyTerm term(const char *s, guint prec, gint64 lo, gint64 hi)
{
    return (WsPyTerm){ s, prec, ws_interval(lo, hi) };
}

WsPyTerm ws_py_int(WsPy *y, gint64 value)
{
    if (value < G_MININT32 || value > G_MAXUINT32)
        ws_py_refuse(y, y->op, "an integer beyond 32 bits", NULL);
    const char *s = ws_py_format(y, "%" G_GINT64_FORMAT, value);
    return term(s, value < 0 ? WS_PY_UNARY : WS_PY_ATOM, value, value);
}

gboolean ws_py_known(WsPyTerm t, gint64 *value)
{
    return ws_interval_known(t.in, value);
}

const char *ws_py_in(WsPy *y, WsPyTerm t, guint prec)
{
    return t.prec < prec ? ws_py_format(y, "(%s)", t.s) : t.s;
}

WsPyTerm ws_py_name(const char *s, gint64 lo, gint64 hi)
{
    return term(s, WS_PY_ATOM, lo, hi);
}

static WsPyTerm infix(WsPy *y, const char *op, guint prec, WsPyTerm a, WsPyTerm b, WsInterval in)
{
    const char *s = ws_py_format(y, "%s %s %s", ws_py_in(y, a, prec), op, ws_py_in(y, b, prec + 1));
    return (WsPyTerm){ s, prec, in };
}

/* Constants fold where both sides have no name; "x + 0" stays (ws_py_fold). */
static WsPyTerm sum(WsPy *y, WsPyTerm a, WsPyTerm b, gboolean minus)
{
    WsInterval in = minus ? ws_interval_sub(a.in, b.in) : ws_interval_add(a.in, b.in);
    gint64 known_x, known_y, v;
    gboolean known_a = ws_py_known(a, &known_x), known_b = ws_py_known(b, &known_y);
    if (known_a && known_b && ws_interval_known(in, &v))
        return ws_py_int(y, v);
    if (known_b && known_y < 0) {
        minus = !minus;
        b = ws_py_int(y, -known_y);
    }
    if (known_a && !minus) { /* constants come last */
        WsPyTerm t = a;
        a = b;
        b = t;
    }
    if (known_a && known_x == 0 && minus)
        return (WsPyTerm){ ws_py_format(y, "-%s", ws_py_in(y, b, WS_PY_UNARY)), WS_PY_UNARY, in };
    return infix(y, minus ? "-" : "+", WS_PY_SUM, a, b, in);
}

static WsPyTerm product(WsPy *y, WsPyTerm a, WsPyTerm b)
{
    WsInterval in = ws_interval_mul(a.in, b.in);
    gint64 v, one;
    if (ws_interval_known(in, &v) && (v == 0 || (ws_py_known(a, &one) && ws_py_known(b, &one))))
        return ws_py_int(y, v);
    if (ws_py_known(a, &one) && one == 1)
        return b;
    if (ws_py_known(b, &one) && one == 1)
        return a;
    return infix(y, "*", WS_PY_TERM, a, b, in);
}

static WsPyTerm call2(WsPy *y, const char *f, WsPyTerm a, WsPyTerm b, WsInterval in)
{
    return (WsPyTerm){ ws_py_format(y, "%s(%s, %s)", f, a.s, b.s), WS_PY_ATOM, in };
}

static WsPyTerm divide(WsPy *y, WsPyTerm a, WsPyTerm b, gboolean rest)
{
    gint64 v, by;
    gboolean known = ws_py_known(b, &by) && by > 0;
    gboolean positive = (a.in.lo >= 0 || y->nonneg) && b.in.lo >= 0;
    if (known && by == 1)
        return rest ? ws_py_int(y, 0) : a;
    if (known && rest && a.in.lo >= 0 && a.in.hi < by)
        return a;
    WsInterval in =
        rest ? ws_interval_mod(a.in, b.in, positive) : ws_interval_div(a.in, b.in, positive);
    if (ws_interval_known(in, &v))
        return ws_py_int(y, v);
    if (positive || y->host)
        return infix(y, rest ? "%" : "//", WS_PY_TERM, a, b, in);
    return call2(y, ws_py_helper(y, rest ? "floor_mod" : "floor_div"), a, b, in);
}

static WsPyTerm compare(WsPy *y, WsExprOp op, WsPyTerm a, WsPyTerm b)
{
    static const char *const text[] = { "<", "<=", ">", ">=", "==", "!=" };
    int known = ws_interval_decide(op, a.in, b.in);
    if (known >= 0)
        return ws_py_int(y, known);
    guint prec = WS_PY_REL;
    /* arithmetic on both sides reads without parentheses; nested comparisons do not */
    const char *s = ws_py_format(y, "%s %s %s", ws_py_in(y, a, WS_PY_BIT), text[op - WS_EXPR_LT],
                                 ws_py_in(y, b, WS_PY_BIT));
    return term(s, prec, 0, 1);
}

WsPyTerm ws_py_op(WsPy *y, WsExprOp op, WsPyTerm a, WsPyTerm b)
{
    switch (op) {
    case WS_EXPR_ADD:
        return sum(y, a, b, FALSE);
    case WS_EXPR_SUB:
        return sum(y, a, b, TRUE);
    case WS_EXPR_MUL:
        return product(y, a, b);
    case WS_EXPR_DIV:
        return divide(y, a, b, FALSE);
    case WS_EXPR_MOD:
        return divide(y, a, b, TRUE);
    default:
        return compare(y, op, a, b);
    }
}

static const char *extreme_name(WsPy *y, gboolean max)
{
    if (y->host)
        return max ? "max" : "min";
    return ws_py_format(y, "%s.%simum", y->dialect->module, max ? "max" : "min");
}

static WsPyTerm extreme(WsPy *y, WsPyTerm a, WsPyTerm b, gboolean max)
{
    gint64 v;
    if (max ? a.in.lo >= b.in.hi : a.in.hi <= b.in.lo)
        return a;
    if (max ? b.in.lo >= a.in.hi : b.in.hi <= a.in.lo)
        return b;
    WsInterval in = max ? ws_interval_max(a.in, b.in) : ws_interval_min(a.in, b.in);
    if (ws_interval_known(in, &v))
        return ws_py_int(y, v);
    return call2(y, extreme_name(y, max), a, b, in);
}

WsPyTerm ws_py_min(WsPy *y, WsPyTerm a, WsPyTerm b)
{
    return extreme(y, a, b, FALSE);
}

static const char *cdiv_name(WsPy *y)
{
    return ws_py_format(y, "%s.cdiv", y->host ? "triton" : y->dialect->module);
}

WsPyTerm ws_py_cdiv(WsPy *y, WsPyTerm a, WsPyTerm b)
{
    WsInterval one = { 1, 1 }, up = ws_interval_sub(ws_interval_add(a.in, b.in), one);
    gboolean positive = up.lo >= 0 && b.in.lo > 0;
    WsInterval in =
        positive ? ws_interval_div(up, b.in, TRUE) : ws_interval(WS_INTERVAL_MIN, WS_INTERVAL_MAX);
    gint64 v;
    if (b.in.lo > 0 && !positive)
        in = ws_interval_div(up, b.in, FALSE);
    return ws_interval_known(in, &v) ? ws_py_int(y, v) : call2(y, cdiv_name(y), a, b, in);
}

WsPyTerm ws_py_truth(WsPy *y, WsPyTerm a)
{
    if (a.prec == WS_PY_REL || a.prec == WS_PY_AND || a.prec == WS_PY_OR)
        return a;
    return compare(y, WS_EXPR_NE, a, ws_py_int(y, 0));
}

static WsPyTerm choose(WsPy *y, WsPyTerm cond, const WsExpr *one, const WsExpr *other)
{
    gint64 known;
    cond = ws_py_truth(y, cond);
    if (ws_py_known(cond, &known))
        return ws_py_uniform(y, known ? one : other);
    WsPyTerm a = ws_py_uniform(y, one), b = ws_py_uniform(y, other);
    gint64 lo = MIN(a.in.lo, b.in.lo), hi = MAX(a.in.hi, b.in.hi);
    if (y->host)
        return term(ws_py_format(y, "%s if %s else %s", ws_py_in(y, a, WS_PY_OR),
                                 ws_py_in(y, cond, WS_PY_OR), ws_py_in(y, b, WS_PY_OR)),
                    WS_PY_COND, lo, hi);
    return term(ws_py_format(y, "%s.where(%s, %s, %s)", y->dialect->module, cond.s, a.s, b.s),
                WS_PY_ATOM, lo, hi);
}

static WsPyTerm call(WsPy *y, const WsExpr *x)
{
    WsPyTerm a = ws_py_uniform(y, x->arg[0]);
    switch (x->func) {
    case WS_FUNC_CDIV:
        return ws_py_cdiv(y, a, ws_py_uniform(y, x->arg[1]));
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        for (guint i = 1; i < x->n_args; i++)
            a = extreme(y, a, ws_py_uniform(y, x->arg[i]), x->func == WS_FUNC_MAX);
        return a;
    case WS_FUNC_ABS:
        return (WsPyTerm){ ws_py_format(y, "abs(%s)", a.s), WS_PY_ATOM,
                           ws_interval(0, MAX(a.in.hi, -a.in.lo)) };
    case WS_FUNC_POW2FLOOR:
        if (!y->host)
            ws_py_refuse(y, y->op, "pow2floor on the device", "make it a `let` of the design");
        return term(ws_py_format(y, "%s(%s)", ws_py_helper(y, "pow2floor"), a.s), WS_PY_ATOM, 0,
                    MAX(a.in.hi, 0));
    case WS_FUNC_SELECT:
        return choose(y, a, x->arg[1], x->arg[2]);
    default:
        ws_py_refuse(y, y->op, "a real function in a uniform expression", NULL);
        return ws_py_int(y, 0);
    }
}

static WsPyTerm logic(WsPy *y, const WsExpr *x)
{
    gboolean is_and = x->op == WS_EXPR_AND;
    WsPyTerm a = ws_py_truth(y, ws_py_uniform(y, x->arg[0]));
    gint64 known;
    if (ws_py_known(a, &known)) {
        if ((known != 0) != is_and)
            return ws_py_int(y, !is_and);
        return ws_py_truth(y, ws_py_uniform(y, x->arg[1]));
    }
    WsPyTerm b = ws_py_truth(y, ws_py_uniform(y, x->arg[1]));
    if (ws_py_known(b, &known))
        return (known != 0) == is_and ? a : b;
    guint prec = is_and ? WS_PY_AND : WS_PY_OR;
    const char *s = ws_py_format(y, "%s %s %s", ws_py_in(y, a, prec), is_and ? "and" : "or",
                                 ws_py_in(y, b, prec + 1));
    return term(s, prec, 0, 1);
}

static WsPyTerm variable(WsPy *y, const WsExpr *x)
{
    const WsPyName *b = x->var >= 0 && (guint)x->var < y->p->n_vars ? &y->var[x->var] : NULL;
    if (!b || !b->bound) {
        if (!y->error)
            g_set_error(&y->error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                        "internal error of the generator at %s: %s has no value here",
                        y->op      ? y->op->id
                        : y->agent ? y->agent->path
                                   : "the kernel",
                        x->name);
        return ws_py_int(y, 0);
    }
    gint64 v;
    return ws_interval_known(b->in, &v) ? ws_py_int(y, v) : (WsPyTerm){ b->s, WS_PY_ATOM, b->in };
}

/* T[i, …] outside of the tensor is 0 with us, and a pointer without a bound there. */
static WsPyTerm element(WsPy *y, const WsExpr *x)
{
    if (y->dialect->element && !y->host)
        return term(y->dialect->element(y, x), WS_PY_ATOM, G_MININT32, G_MAXINT32);
    ws_py_refuse(
        y, y->op,
        ws_py_format(y, "an element of tensor %s in an expression", y->p->tensor[x->var].name),
        "read it by a `let` that no Python export needs, or use --as cuda");
    return ws_py_int(y, 0);
}

static WsPyTerm literal(WsPy *y, const WsExpr *x)
{
    WsPyTerm t = ws_py_int(y, x->i);
    if (x->name && !y->host) {
        t.s = ws_py_ident(y, x->name);
        t.prec = WS_PY_ATOM;
    }
    return t;
}

WsPyTerm ws_py_uniform(WsPy *y, const WsExpr *x)
{
    switch (x->op) {
    case WS_EXPR_INT:
        return literal(y, x);
    case WS_EXPR_TEXT_BOOL:
        return ws_py_int(y, x->i);
    case WS_EXPR_VAR:
        return variable(y, x);
    case WS_EXPR_NEG:
        return sum(y, ws_py_int(y, 0), ws_py_uniform(y, x->arg[0]), TRUE);
    case WS_EXPR_NOT:
        return compare(y, WS_EXPR_EQ, ws_py_uniform(y, x->arg[0]), ws_py_int(y, 0));
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return logic(y, x);
    case WS_EXPR_CALL:
        return call(y, x);
    case WS_EXPR_INDEX:
        return element(y, x);
    default:
        if (x->n_args == 2) {
            WsPyTerm a = ws_py_uniform(y, x->arg[0]), b = ws_py_uniform(y, x->arg[1]);
            gint64 v;
            if (y->ring_name && x->op == WS_EXPR_DIV && ws_py_known(b, &v) && v == y->ring)
                b.s = y->ring_name;
            return ws_py_op(y, x->op, a, b);
        }
        ws_py_refuse(y, y->op, "an unbound name in a uniform expression", NULL);
        return ws_py_int(y, 0);
    }
}

WsPyTerm ws_py_use(WsPy *y, const WsExpr *x)
{
    gboolean outer = y->nonneg;
    y->nonneg = TRUE;
    WsPyTerm t = ws_py_uniform(y, x);
    y->nonneg = outer;
    return t;
}

const char *ws_py_text(WsPy *y, const WsExpr *x)
{
    WsPyTerm t = ws_py_uniform(y, x);
    gint64 v;
    if (!y->plus_zero || ws_py_known(t, &v))
        return t.s;
    gboolean ends = (x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB) && x->n_args == 2 &&
                    ws_py_known(ws_py_uniform(y, x->arg[1]), &v);
    return ends ? t.s : ws_py_format(y, "%s + 0", ws_py_in(y, t, WS_PY_SUM));
}

gboolean ws_py_constant(WsPy *y, const WsExpr *x, gint64 *out)
{
    gint64 v = 0;
    if (x && !ws_py_known(ws_py_uniform(y, x), &v))
        return FALSE;
    *out = v;
    return TRUE;
}

/* --- slots, parities, stages
 * --------------------------------------------------------------------*/

const char *ws_py_count_name(WsPy *y, WsFieldId list, WsFieldId field, const char *name)
{
    const WsNode *root = y->design ? ws_design_root(y->design) : NULL;
    for (guint i = 0; root && i < ws_node_n_children(root, list); i++) {
        const WsNode *node = ws_node_child(root, list, i);
        const WsExpr *x = ws_node_expr(node, field);
        if (g_strcmp0(ws_node_name(node), name) != 0 || !x || x->op != WS_EXPR_NAME)
            continue;
        for (guint k = 0; k < y->p->n_constants; k++) {
            if (!strcmp(y->p->constant_name[k], x->name))
                return ws_py_ident(y, x->name);
        }
    }
    return NULL;
}

/* Slots of arrays lie one behind another: element * n + slot. */
static const char *in_array(WsPy *y, const WsExpr *element, guint array, guint n, WsPyTerm slot,
                            const char *count)
{
    if (array <= 1)
        return slot.s;
    WsPyTerm at = element ? ws_py_use(y, element) : ws_py_int(y, 0);
    gint64 known;
    if (n > 1) {
        WsPyTerm by = ws_py_int(y, n);
        if (count)
            by.s = count;
        if (ws_py_known(at, &known) && known == 0 && !y->plus_zero)
            return slot.s;
        at = infix(y, "*", WS_PY_TERM, at, by, ws_interval_mul(at.in, by.in));
        return sum(y, at, slot, FALSE).s;
    }
    return at.s;
}

static WsPyTerm ring(WsPy *y, const WsExpr *x, guint n, const char *count)
{
    if (n <= 1 || !x)
        return ws_py_int(y, 0);
    gboolean is_mod = x->op == WS_EXPR_MOD && x->arg[1]->op == WS_EXPR_INT && x->arg[1]->i == n;
    gint64 v;
    if (!is_mod || !count)
        return ws_py_use(y, x);
    WsPyTerm t = ws_py_use(y, x->arg[0]);
    if (ws_py_known(t, &v))
        return ws_py_int(y, v % n);
    return infix(y, "%", WS_PY_TERM, t, ws_py_name(count, n, n), ws_interval(0, n - 1));
}

const char *ws_py_slot(WsPy *y, const WsOp *op)
{
    const WsBarrier *b = &y->p->barrier[op->barrier];
    const char *count = ws_py_count_name(y, WS_F_barriers, WS_F_slots, b->name);
    return in_array(y, op->element, b->array, b->slots, ring(y, op->slot, b->slots, count), count);
}

const char *ws_py_parity(WsPy *y, const WsOp *op)
{
    const WsBarrier *b = &y->p->barrier[op->barrier];
    y->ring = b->slots;
    y->ring_name = ws_py_count_name(y, WS_F_barriers, WS_F_slots, b->name);
    const char *s = ws_py_use(y, op->parity).s;
    y->ring_name = NULL;
    return s;
}

const char *ws_py_stage(WsPy *y, const WsAccess *a)
{
    const WsBuffer *b = &y->p->buffer[a->buffer];
    const char *count = ws_py_count_name(y, WS_F_buffers, WS_F_stages, b->name);
    return in_array(y, a->element, b->array, b->stages, ring(y, a->stage, b->stages, count), count);
}
