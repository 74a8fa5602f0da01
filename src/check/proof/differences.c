/* Comparisons of sums of names: M > N, M <= N + 1, M + j < N. Where a sum is compared in one way
 * only, a yes or no is all there is to know of it; else it is a number of its own, and all answers
 * about it go together. */
#include "check/proof/symbols.h"

#include <string.h>

static WsExpr *plus(WsExpr *sum, gint64 factor, const WsExpr *term)
{
    WsExpr *t = ws_expr_ref(term);
    gboolean less = sum && factor < 0;
    if (factor != (less ? -1 : 1))
        t = ws_expr_op(WS_EXPR_MUL, ws_expr_int(less ? -factor : factor), t);
    return sum ? ws_expr_op(less ? WS_EXPR_SUB : WS_EXPR_ADD, sum, t) : t;
}

/* The part of a sum that names have, its first factor positive; NULL if it is not so. */
static WsExpr *names_of(const WsControl *c, const WsAffine *a, WsExpr **rest, gint *sign)
{
    WsExpr *sum = NULL, *other = ws_expr_int(a->constant);
    *sign = 0;
    for (guint i = 0; i < a->n; i++) {
        gboolean name = ws_leaves(c, a->term[i]).symbol > 0;
        if (name && *sign == 0)
            *sign = a->factor[i] < 0 ? -1 : 1;
        gint64 factor = name ? *sign * a->factor[i] : a->factor[i];
        if (name)
            sum = plus(sum, factor, a->term[i]);
        else
            other = plus(other, factor, a->term[i]);
    }
    *rest = other;
    return sum;
}

/* --- before anything is asked: what is compared with what --------------------------------------
 */
static void note(WsControl *c, const WsExpr *e)
{
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT) {
        for (guint i = 0; i < e->n_args; i++)
            note(c, e->arg[i]);
        return;
    }
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_NE)
        return;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    g_autoptr(WsExpr) whole = ws_expanded(c, d), rest = NULL;
    WsAffine a = { 0 };
    gint sign;
    if (!ws_expr_affine(whole, &a))
        return;
    g_autoptr(WsExpr) sum = names_of(c, &a, &rest, &sign);
    ws_affine_clear(&a);
    if (!sum)
        return;
    char *key = ws_normal_text(c, sum), *how = ws_normal_text(c, e);
    const char *before = g_hash_table_lookup(c->compared, key);
    if (before && strcmp(before, how) != 0)
        how[0] = '\0';
    g_hash_table_replace(c->compared, key, how);
}

static void note_tree(WsControl *c, const WsTree *t)
{
    if (!t)
        return;
    const WsExpr *asked = t->kind == WS_TREE_BRANCH             ? t->cond
                          : t->kind == WS_TREE_OP && t->op->mma ? t->op->mma->first
                                                                : NULL;
    g_autoptr(WsExpr) e = asked ? ws_without_lets(c, asked) : NULL;
    if (e)
        note(c, e);
    for (guint i = 0; i < t->n_kids; i++)
        note_tree(c, t->kid[i]);
}

void ws_find_differences(WsControl *c)
{
    c->compared = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint a = 0; a < c->p->n_agents && !c->page; a++)
        note_tree(c, c->p->agent[a].body);
}

/* --- a condition -------------------------------------------------------------------------------
 */
static gboolean all_names(const WsControl *c, const WsAffine *a)
{
    guint names = 0;
    for (guint i = 0; i < a->n; i++) {
        gboolean name = a->term[i]->op == WS_EXPR_VAR && a->term[i]->var >= (gint)c->n_vars;
        if (!name && ws_leaves(c, a->term[i]).symbol)
            return FALSE;
        names += name;
    }
    return names > 0;
}

/* L-DIFFERENCE: a comparison (rewritten) as one of a sum of names with the rest; NULL: it is a
 * letter, or none. */
WsForm *ws_difference(WsControl *c, const WsExpr *e)
{
    WsAffine a = { 0 };
    if (c->page || e->op < WS_EXPR_LT || e->op > WS_EXPR_NE)
        return NULL;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    if (!ws_expr_affine(d, &a))
        return NULL;
    gint sign = 0;
    g_autoptr(WsExpr) rest = NULL, sum = NULL;
    if (all_names(c, &a))
        sum = names_of(c, &a, &rest, &sign);
    ws_affine_clear(&a);
    if (!sum)
        return NULL;
    g_autoptr(WsExpr) plain = ws_named(c, sum);
    g_autofree char *key = plain ? ws_normal_text(c, plain) : NULL;
    const char *how = key ? g_hash_table_lookup(c->compared, key) : NULL;
    if (!plain || (how && how[0] && ws_leaves(c, e).index == 0))
        return NULL;
    WsForm *f = g_new0(WsForm, 1);
    f->symbol = ws_symbol_of(c, sum, FALSE);
    f->factor = sign;
    f->rest = g_steal_pointer(&rest);
    return f;
}
