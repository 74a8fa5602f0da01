/* One form for expressions that are equal for a reason anyone sees: min(a, b) and min(b, a), 2*a
 * and a + a, a < b and b > a. What is said of one is then said of the other. */
#include "check/proof/symbols.h"
#include "program/parts/variable.h"
#include "program/program.h"

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

static gboolean is_of(const WsExpr *e, gboolean right, const WsExpr *quotient)
{
    return right && e->n_args == 2 && ws_expr_equal(e->arg[0], quotient->arg[0]) &&
           ws_expr_equal(e->arg[1], quotient->arg[1]);
}

/* What term[i] and q = x/m make together; NULL: no single term. `same`: their factors are alike. */
static WsExpr *folded(const WsExpr *t, const WsExpr *q, gint64 m, gboolean same, gboolean down,
                      gboolean up, gboolean half)
{
    const gboolean plain = q->arg[0]->op != WS_EXPR_ADD && q->arg[0]->op != WS_EXPR_MUL &&
                           q->arg[0]->op != WS_EXPR_INT; /* a term, not a sum */
    const gboolean rest = is_of(t, t->op == WS_EXPR_MOD, q),
                   ceiled = is_of(t, t->op == WS_EXPR_CALL && t->func == WS_FUNC_CDIV, q),
                   whole = ws_expr_equal(q->arg[0], t);
    if (plain && ((rest && up) || (ceiled && same && m == 2)))
        return ws_expr_ref(q->arg[0]);
    WsExpr *arg[2] = { q->arg[0], q->arg[1] };
    if (whole && down)
        return ws_expr_op(WS_EXPR_MOD, ws_expr_ref(arg[0]), ws_expr_ref(arg[1]));
    if ((whole && half && m == 2) || (rest && same && m == 2)) {
        ws_expr_ref(arg[0]), ws_expr_ref(arg[1]);
        return ws_expr_call(WS_FUNC_CDIV, arg, 2);
    }
    return NULL;
}

/* term[i] = x and term[j] = x/m in a sum, or x % m, or cdiv(x, 2); TRUE: it was folded. */
static gboolean fold(WsAffine *a, guint i, guint j)
{
    gint64 m, back;
    const WsExpr *q = a->term[j];
    if (i == j || q->op != WS_EXPR_DIV || !ws_expr_is_int(q->arg[1], &m) || m < 2 || m > 4096 ||
        __builtin_mul_overflow(a->factor[i], m, &back) || back == G_MININT64)
        return FALSE;
    WsExpr *whole = folded(a->term[i], q, m, a->factor[i] == a->factor[j], -back == a->factor[j],
                           back == a->factor[j], a->factor[i] == 1 && a->factor[j] == -1);
    if (!whole)
        return FALSE;
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

static gint64 floor_of(gint64 a, gint64 m)
{
    return a / m - (a % m < 0);
}

gint64 ws_common_divisor(gint64 a, gint64 b)
{
    while (b) {
        const gint64 rest = a % b;
        a = b, b = rest;
    }
    return ABS(a);
}

/* x/k + c, k > 0 a number: x, k, c. */
static const WsExpr *inner_quotient(const WsAffine *a, gint64 *k, gboolean *up)
{
    const WsExpr *t = a->n == 1 && a->factor[0] == 1 ? a->term[0] : NULL;
    *up = t && t->op == WS_EXPR_CALL && t->func == WS_FUNC_CDIV;
    if (!t || (t->op != WS_EXPR_DIV && !*up) || !ws_expr_is_int(t->arg[1], k) || *k < 1)
        return NULL;
    return t->arg[0];
}

/* L-QUOTIENT: floor((x + plus)/m), m > 0, of a quotient by the product of both divisors, without
 * what m divides, m and all factors divided by what they have in common; NULL: it does not fit. */
static WsExpr *floored(const WsExpr *x, gint64 plus, gint64 m)
{
    WsAffine a = { 0 };
    gint64 k, over, wide;
    gboolean up;
    if (m > (gint64)1 << 40 || !ws_expr_affine(x, &a))
        return NULL;
    WsExpr *r = NULL;
    const WsExpr *in = inner_quotient(&a, &k, &up);
    if (!small(&a) || __builtin_add_overflow(a.constant, plus, &a.constant))
        goto out;
    if (in && !__builtin_mul_overflow(k, a.constant, &over) &&
        !__builtin_mul_overflow(k, m, &wide) &&
        !__builtin_add_overflow(over, up ? k - 1 : 0, &over)) {
        r = floored(in, over, wide);
        goto out;
    }
    gint64 common = m;
    for (guint i = 0; i < a.n; i++)
        common = ws_common_divisor(common, a.factor[i] % m);
    for (guint i = 0; i < a.n; i++) { /* terms of the part that m divides, then of the rest */
        const gint64 whole = floor_of(a.factor[i], m), rest = a.factor[i] - whole * m;
        WsExpr *t =
            whole ? ws_expr_op(WS_EXPR_MUL, ws_expr_int(whole), ws_expr_ref(a.term[i])) : NULL;
        r = r && t ? ws_expr_op(WS_EXPR_ADD, r, t) : t ? t : r;
        a.factor[i] = rest / common;
    }
    for (guint i = a.n; i-- > 0;)
        if (a.factor[i] == 0) {
            ws_expr_unref(a.term[i]);
            a.n--;
            for (guint n = i; n < a.n; n++)
                a.term[n] = a.term[n + 1], a.factor[n] = a.factor[n + 1];
        }
    const gint64 constant = floor_of(a.constant, common), by = m / common,
                 out = floor_of(constant, by), left = constant - out * by;
    if (a.n) {
        WsExpr *s = sum_of(&a, 1);
        WsExpr *q = by == 1 ? s : NULL;
        WsExpr *arg[2] = { s, q ? NULL : ws_expr_int(by) };
        if (!q && left == by - 1)
            q = ws_expr_call(WS_FUNC_CDIV, arg, 2);
        else if (!q)
            q = ws_expr_op(WS_EXPR_DIV, left ? ws_expr_op(WS_EXPR_ADD, s, ws_expr_int(left)) : s,
                           arg[1]);
        r = r ? ws_expr_op(WS_EXPR_ADD, r, q) : q;
    }
    r = !r ? ws_expr_int(out) : out ? ws_expr_op(WS_EXPR_ADD, r, ws_expr_int(out)) : r;
out:
    ws_affine_clear(&a);
    return r;
}

static WsExpr *quotient(WsExpr *e)
{
    gint64 m;
    WsExpr *r = ws_expr_is_int(e->arg[1], &m) && m > 0
                    ? floored(e->arg[0], e->op == WS_EXPR_CALL ? m - 1 : 0, m)
                    : NULL;
    if (!r)
        return e;
    ws_expr_unref(e);
    return r->op == WS_EXPR_ADD || r->op == WS_EXPR_MUL ? sum(r, TRUE) : r;
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
    case WS_EXPR_COMPARISON:
        return comparison(n, more);
    case WS_EXPR_DIV:
        return more ? quotient(n) : n;
    case WS_EXPR_CALL:
        if (more && n->func == WS_FUNC_CDIV)
            return quotient(n);
        if (n->n_args != 2 || (n->func != WS_FUNC_MIN && n->func != WS_FUNC_MAX))
            return n;
        return more ? of_several(n) : sorted(n);
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return sorted(n);
    case WS_EXPR_INDEX:
    case WS_EXPR_LEAF:
    case WS_EXPR_MOD:
    case WS_EXPR_NOT:
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

WsExpr *ws_defined(const WsControl *c, const WsExpr *e)
{
    Expand x = { c, 24, 0 };
    g_autoptr(WsExpr) whole = c->page ? NULL : ws_expr_map(e, definition, &x, NULL);
    return ws_normal(whole ? whole : e, !c->page);
}

WsExpr *ws_expanded(const WsControl *c, const WsExpr *e)
{
    WsExpr *plain = ws_defined(c, e);
    return c->page ? plain : ws_same(c, plain);
}

char *ws_normal_text(const WsControl *c, const WsExpr *e)
{
    g_autoptr(WsExpr) n = ws_expanded(c, e);
    return ws_expr_print(n);
}
