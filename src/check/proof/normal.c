/* One form for expressions that are equal for a reason anyone sees: min(a, b) and min(b, a), 2*a
 * and a + a, a < b and b > a. What is said of one is then said of the other. */
#include "check/proof/symbols.h"
#include "program/parts/variable.h"

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

static WsExpr *with_normal_args(const WsExpr *e, gboolean more)
{
    if (e->n_args == 0)
        return ws_expr_ref(e);
    if (e->op == WS_EXPR_CALL || e->op == WS_EXPR_INDEX) {
        g_autofree WsExpr **arg = g_new(WsExpr *, e->n_args);
        for (guint i = 0; i < e->n_args; i++)
            arg[i] = ws_normal(e->arg[i], more);
        return e->op == WS_EXPR_CALL ? ws_expr_call(e->func, arg, e->n_args)
                                     : ws_expr_index(e->name, e->var, arg, e->n_args);
    }
    return ws_expr_op(e->op, ws_normal(e->arg[0], more),
                      e->n_args > 1 ? ws_normal(e->arg[1], more) : NULL);
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

/* term[i] = x and term[j] = x/m in a sum; TRUE: it was folded. */
static gboolean fold(WsAffine *a, guint i, guint j)
{
    gint64 m, back;
    const WsExpr *q = a->term[j];
    if (i == j || q->op != WS_EXPR_DIV || !ws_expr_is_int(q->arg[1], &m) || m < 2 || m > 4096 ||
        !ws_expr_equal(q->arg[0], a->term[i]))
        return FALSE;
    gboolean half = m == 2 && a->factor[i] == 1 && a->factor[j] == -1;
    if (!half && (__builtin_mul_overflow(a->factor[i], -m, &back) || back != a->factor[j]))
        return FALSE;
    WsExpr *arg[2] = { ws_expr_ref(q->arg[0]), ws_expr_ref(q->arg[1]) };
    WsExpr *whole =
        half ? ws_expr_call(WS_FUNC_CDIV, arg, 2) : ws_expr_op(WS_EXPR_MOD, arg[0], arg[1]);
    ws_expr_unref(a->term[i]);
    ws_expr_unref(a->term[j]);
    a->term[i] = whole;
    a->n--;
    a->term[j] = a->term[a->n], a->factor[j] = a->factor[a->n];
    return TRUE;
}

static void swap(WsAffine *a, guint i, guint j)
{
    WsExpr *t = a->term[i];
    gint64 f = a->factor[i];
    a->term[i] = a->term[j], a->factor[i] = a->factor[j];
    a->term[j] = t, a->factor[j] = f;
}

static gboolean fold_one(WsAffine *a)
{
    for (guint i = 0; i < a->n; i++)
        for (guint j = 0; j < a->n; j++)
            if (fold(a, i, j))
                return TRUE;
    return FALSE;
}

void ws_fold_quotients(WsAffine *a)
{
    gboolean folded = FALSE;
    while (fold_one(a))
        folded = TRUE;
    for (guint i = 0; folded && i < a->n; i++)
        for (guint j = i + 1; j < a->n; j++)
            if (by_text(a->term[i], a->term[j]) > 0)
                swap(a, i, j);
}

/* parts (op) number, the first part positive, < and > as <= and >= of the next integer. */
static WsExpr *comparison(WsExpr *e, gboolean more)
{
    static const WsExprOp mirror[] = {
        [WS_EXPR_LT] = WS_EXPR_GT, [WS_EXPR_LE] = WS_EXPR_GE, [WS_EXPR_GT] = WS_EXPR_LT,
        [WS_EXPR_GE] = WS_EXPR_LE, [WS_EXPR_EQ] = WS_EXPR_EQ, [WS_EXPR_NE] = WS_EXPR_NE
    };
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    WsAffine a = { 0 };
    if (!ws_expr_affine(d, &a))
        return e;
    if (more)
        ws_fold_quotients(&a);
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

/* Arguments of nested min, or max. */
static void gather(WsExpr *e, WsFunc func, GPtrArray *list)
{
    if (e->op == WS_EXPR_CALL && e->func == func && e->n_args == 2) {
        gather(e->arg[0], func, list);
        gather(e->arg[1], func, list);
        return;
    }
    g_ptr_array_add(list, ws_expr_ref(e));
}

static gint by_text_of(gconstpointer a, gconstpointer b)
{
    return by_text(*(WsExpr *const *)a, *(WsExpr *const *)b);
}

/* min(a, min(b, c)): each argument once, in the order of their texts, numbers as one. */
static WsExpr *of_several(WsExpr *e)
{
    WsFunc func = e->func;
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    gather(e, func, list);
    if (list->len > 16)
        return sorted(e);
    gint64 number = 0, x;
    gboolean numbers = FALSE;
    for (guint i = list->len; i-- > 0;)
        if (ws_expr_is_int(list->pdata[i], &x)) {
            number = !numbers ? x : func == WS_FUNC_MIN ? MIN(number, x) : MAX(number, x);
            numbers = TRUE;
            g_ptr_array_remove_index(list, i);
        }
    if (numbers)
        g_ptr_array_add(list, ws_expr_int(number));
    g_ptr_array_sort(list, by_text_of);
    WsExpr *r = ws_expr_ref(list->pdata[0]);
    for (guint i = 1; i < list->len; i++) {
        if (ws_expr_equal(list->pdata[i], list->pdata[i - 1]))
            continue;
        WsExpr *arg[2] = { r, ws_expr_ref(list->pdata[i]) };
        r = ws_expr_call(func, arg, 2);
    }
    ws_expr_unref(e);
    return r;
}

static WsExpr *sum(WsExpr *e, gboolean more)
{
    WsAffine a = { 0 };
    if (!ws_expr_affine(e, &a))
        return e;
    if (more)
        ws_fold_quotients(&a);
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
WsExpr *ws_normal(const WsExpr *e, gboolean more)
{
    WsExpr *n = with_normal_args(e, more);
    switch (n->op) {
    case WS_EXPR_NEG:
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
    case WS_EXPR_MUL:
        return sum(n, more);
    case WS_EXPR_LT:
    case WS_EXPR_LE:
    case WS_EXPR_GT:
    case WS_EXPR_GE:
    case WS_EXPR_EQ:
    case WS_EXPR_NE:
        return comparison(n, more);
    case WS_EXPR_CALL:
        if (n->n_args != 2 || (n->func != WS_FUNC_MIN && n->func != WS_FUNC_MAX))
            return n;
        return more ? of_several(n) : sorted(n);
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return sorted(n);
    default:
        return n;
    }
}

/* Names of a launch and of a tile that have a definition by what they stand for, so far as that is
 * short. */
typedef struct {
    const WsControl *c;
    guint left, depth;
} Expand;

static WsExpr *definition(const WsExpr *leaf, gpointer data, GError **error)
{
    Expand *x = data;
    (void)error;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= x->c->p->n_vars)
        return NULL;
    const WsVar *v = &x->c->p->var[leaf->var];
    if ((v->kind != WS_VAR_RUN && v->kind != WS_VAR_TILE) || !v->value || v->real || x->left == 0 ||
        x->depth > 8)
        return NULL;
    x->left--;
    x->depth++;
    WsExpr *e = ws_expr_map(v->value, definition, x, NULL);
    x->depth--;
    return e;
}

WsExpr *ws_expanded(const WsControl *c, const WsExpr *e)
{
    Expand x = { c, 24, 0 };
    g_autoptr(WsExpr) whole = c->page ? NULL : ws_expr_map(e, definition, &x, NULL);
    return ws_normal(whole ? whole : e, !c->page);
}

char *ws_normal_text(const WsControl *c, const WsExpr *e)
{
    g_autoptr(WsExpr) n = ws_expanded(c, e);
    return ws_expr_print(n);
}
