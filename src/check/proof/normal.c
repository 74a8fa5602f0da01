/* One form for expressions that are equal for a reason anyone sees: min(a, b) and min(b, a), 2*a
 * and a + a, a < b and b > a. What is said of one is then said of the other. */
#include "check/proof/symbols.h"

#include <string.h>

static gint by_text(const WsExpr *a, const WsExpr *b)
{
    g_autofree char *x = ws_expr_print(a), *y = ws_expr_print(b);
    return strcmp(x, y);
}

/* The sum of the parts, those of greater text later; NULL: 0. */
static WsExpr *sum_of(const WsAffine *a, gint64 sign)
{
    WsExpr *r = NULL;
    for (guint i = 0; i < a->n; i++) {
        gint64 factor = sign * a->factor[i];
        WsExpr *t = factor == 1
                        ? ws_expr_ref(a->term[i])
                        : ws_expr_op(WS_EXPR_MUL, ws_expr_int(factor), ws_expr_ref(a->term[i]));
        r = r ? ws_expr_op(WS_EXPR_ADD, r, t) : t;
    }
    return r;
}

static gboolean small(const WsAffine *a)
{
    gboolean ok = ABS(a->constant / 2) < ((gint64)1 << 60);
    for (guint i = 0; i < a->n; i++)
        ok &= ABS(a->factor[i] / 2) < ((gint64)1 << 60);
    return ok;
}

static WsExpr *with_normal_args(const WsExpr *e)
{
    if (e->n_args == 0)
        return ws_expr_ref(e);
    if (e->op == WS_EXPR_CALL || e->op == WS_EXPR_INDEX) {
        g_autofree WsExpr **arg = g_new(WsExpr *, e->n_args);
        for (guint i = 0; i < e->n_args; i++)
            arg[i] = ws_normal(e->arg[i]);
        return e->op == WS_EXPR_CALL ? ws_expr_call(e->func, arg, e->n_args)
                                     : ws_expr_index(e->name, e->var, arg, e->n_args);
    }
    return ws_expr_op(e->op, ws_normal(e->arg[0]), e->n_args > 1 ? ws_normal(e->arg[1]) : NULL);
}

static WsExpr *sorted(WsExpr *e)
{
    if (by_text(e->arg[0], e->arg[1]) <= 0)
        return e;
    WsExpr *a = ws_expr_ref(e->arg[1]), *b = ws_expr_ref(e->arg[0]), *r;
    WsExpr *arg[2] = { a, b };
    r = e->op == WS_EXPR_CALL ? ws_expr_call(e->func, arg, 2) : ws_expr_op(e->op, a, b);
    ws_expr_unref(e);
    return r;
}

/* parts (op) number, the first part positive, < and > as <= and >= of the next integer. */
static WsExpr *comparison(WsExpr *e)
{
    static const WsExprOp mirror[] = {
        [WS_EXPR_LT] = WS_EXPR_GT, [WS_EXPR_LE] = WS_EXPR_GE, [WS_EXPR_GT] = WS_EXPR_LT,
        [WS_EXPR_GE] = WS_EXPR_LE, [WS_EXPR_EQ] = WS_EXPR_EQ, [WS_EXPR_NE] = WS_EXPR_NE
    };
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    WsAffine a = { 0 };
    if (!ws_expr_affine(d, &a))
        return e;
    if (a.n == 0 || !small(&a)) {
        ws_affine_clear(&a);
        return e;
    }
    gint64 sign = a.factor[0] < 0 ? -1 : 1, number = -sign * a.constant;
    WsExprOp op = sign < 0 ? mirror[e->op] : e->op;
    if (op == WS_EXPR_LT)
        op = WS_EXPR_LE, number--;
    if (op == WS_EXPR_GT)
        op = WS_EXPR_GE, number++;
    WsExpr *r = ws_expr_op(op, sum_of(&a, sign), ws_expr_int(number));
    ws_affine_clear(&a);
    ws_expr_unref(e);
    return r;
}

static WsExpr *sum(WsExpr *e)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(e, &a))
        return e;
    gboolean whole = a.n == 1 && a.factor[0] == 1 && a.constant == 0 &&
                     ws_expr_equal(a.term[0], e); /* a product of unknowns */
    WsExpr *r = whole ? NULL : sum_of(&a, 1);
    if (whole)
        r = e->op == WS_EXPR_MUL ? sorted(ws_expr_ref(e)) : ws_expr_ref(e);
    else if (!r)
        r = ws_expr_int(a.constant);
    else if (a.constant)
        r = ws_expr_op(WS_EXPR_ADD, r, ws_expr_int(a.constant));
    ws_affine_clear(&a);
    ws_expr_unref(e);
    return r;
}

/* Transfer full. */
WsExpr *ws_normal(const WsExpr *e)
{
    WsExpr *n = with_normal_args(e);
    switch (n->op) {
    case WS_EXPR_NEG:
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
    case WS_EXPR_MUL:
        return sum(n);
    case WS_EXPR_LT:
    case WS_EXPR_LE:
    case WS_EXPR_GT:
    case WS_EXPR_GE:
    case WS_EXPR_EQ:
    case WS_EXPR_NE:
        return comparison(n);
    case WS_EXPR_CALL:
        return n->n_args == 2 && (n->func == WS_FUNC_MIN || n->func == WS_FUNC_MAX) ? sorted(n) : n;
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return sorted(n);
    default:
        return n;
    }
}

char *ws_normal_text(const WsExpr *e)
{
    g_autoptr(WsExpr) n = ws_normal(e);
    return ws_expr_print(n);
}
