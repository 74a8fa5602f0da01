/* Affine normal form: c0 + sum ci*xi over variables and opaque subtrees. */
#include "expr/internal.h"

#include <string.h>

void ws_affine_clear(WsAffine *a)
{
    for (guint i = 0; i < a->n; i++)
        ws_expr_unref(a->term[i]);
    g_free(a->term);
    g_free(a->factor);
    *a = (WsAffine){ 0 };
}

static gboolean add_constant(WsAffine *a, gint64 factor, gint64 value)
{
    gint64 product;
    return !__builtin_mul_overflow(factor, value, &product) &&
           !__builtin_add_overflow(a->constant, product, &a->constant);
}

static gboolean add_term(WsAffine *a, gint64 factor, const WsExpr *term)
{
    for (guint i = 0; i < a->n; i++)
        if (ws_expr_equal(a->term[i], term))
            return !__builtin_add_overflow(a->factor[i], factor, &a->factor[i]);
    a->factor = g_renew(gint64, a->factor, a->n + 1);
    a->term = g_renew(WsExpr *, a->term, a->n + 1);
    a->factor[a->n] = factor;
    a->term[a->n++] = ws_expr_ref(term);
    return TRUE;
}

static gboolean has_leaf(const WsExpr *e)
{
    if (e->n_args == 0)
        return e->op != WS_EXPR_INT && e->op != WS_EXPR_TEXT_BOOL;
    for (guint i = 0; i < e->n_args; i++)
        if (has_leaf(e->arg[i]))
            return TRUE;
    return e->op == WS_EXPR_INDEX;
}

/* The value of a subtree without leaves. */
static gboolean constant(const WsExpr *e, gint64 *value)
{
    return !has_leaf(e) && ws_expr_eval(e, NULL, value, NULL);
}

/* Adds factor*e. */
static gboolean collect(WsAffine *a, const WsExpr *e, gint64 factor)
{
    gint64 c, product;
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL)
        return add_constant(a, factor, e->i);
    if (e->op == WS_EXPR_NEG)
        return !__builtin_sub_overflow((gint64)0, factor, &product) &&
               collect(a, e->arg[0], product);
    if (e->op == WS_EXPR_ADD)
        return collect(a, e->arg[0], factor) && collect(a, e->arg[1], factor);
    if (e->op == WS_EXPR_SUB)
        return collect(a, e->arg[0], factor) &&
               !__builtin_sub_overflow((gint64)0, factor, &product) &&
               collect(a, e->arg[1], product);
    if (e->op == WS_EXPR_MUL) {
        for (guint side = 0; side < 2; side++)
            if (constant(e->arg[side], &c))
                return !__builtin_mul_overflow(factor, c, &product) &&
                       collect(a, e->arg[1 - side], product);
        return add_term(a, factor, e);
    }
    if (e->n_args && constant(e, &c))
        return add_constant(a, factor, c);
    return add_term(a, factor, e);
}

typedef struct {
    char *text;
    gint64 factor;
    WsExpr *term;
} Row;

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(((const Row *)a)->text, ((const Row *)b)->text);
}

static void sort_terms(WsAffine *a)
{
    g_autofree Row *row = g_new0(Row, a->n + 1);
    guint kept = 0;
    for (guint i = 0; i < a->n; i++) {
        if (a->factor[i] == 0)
            ws_expr_unref(a->term[i]);
        else
            row[kept++] = (Row){ ws_expr_print(a->term[i]), a->factor[i], a->term[i] };
    }
    qsort(row, kept, sizeof *row, by_text);
    for (guint i = 0; i < kept; i++) {
        a->factor[i] = row[i].factor;
        a->term[i] = row[i].term;
        g_free(row[i].text);
    }
    a->n = kept;
}

gboolean ws_expr_affine(const WsExpr *e, WsAffine *out)
{
    *out = (WsAffine){ 0 };
    const gboolean fits = collect(out, e, 1);
    sort_terms(out);
    if (!fits)
        ws_affine_clear(out);
    return fits;
}
