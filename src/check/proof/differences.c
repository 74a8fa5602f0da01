/* Comparisons of sums of names: M > N, M <= N + 1, M + j < N. Where a sum is compared in one way
 * only, a yes or no is all there is to know of it; else it is a number of its own, and all answers
 * about it go together. */
#include "check/proof/symbols.h"
#include "program/parts/agent.h"
#include "program/parts/product.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

static WsExpr *plus(WsExpr *sum, gint64 factor, const WsExpr *term)
{
    WsExpr *t = ws_expr_ref(term);
    gboolean less = sum && factor < 0;
    if (factor != (less ? -1 : 1))
        t = ws_expr_op(WS_EXPR_MUL, ws_expr_int(less ? -factor : factor), t);
    return sum ? ws_expr_op(less ? WS_EXPR_SUB : WS_EXPR_ADD, sum, t) : t;
}

/* The part of a sum that names have, times `sign`; NULL if there is none. `rest` is the other part,
 * as it is. */
static WsExpr *names_of(const WsControl *c, const WsAffine *a, gint sign, WsExpr **rest)
{
    WsExpr *sum = NULL, *other = ws_expr_int(a->constant);
    for (guint i = 0; i < a->n; i++)
        if (ws_leaves(c, a->term[i]).symbol > 0)
            sum = plus(sum, sign * a->factor[i], a->term[i]);
        else
            other = plus(other, a->factor[i], a->term[i]);
    if (rest)
        *rest = other;
    else
        ws_expr_unref(other);
    return sum;
}

/* Which way round names are compared with what grows: 1 or -1; 0 if with a number only. */
static gint way_of(const WsControl *c, const WsAffine *a)
{
    for (guint i = 0; i < a->n; i++) {
        WsLeaves l = ws_leaves(c, a->term[i]);
        if (l.symbol == 0 && l.index > l.cta)
            return a->factor[i] > 0 ? -1 : 1;
    }
    return 0;
}

static char *key_of(const WsControl *c, const WsAffine *a, gint sign)
{
    g_autoptr(WsExpr) sum = names_of(c, a, sign, NULL);
    g_autoptr(WsExpr) named = sum ? ws_named(c, sum) : NULL;
    return named ? ws_normal_text(c, named) : NULL;
}

/* One of the two ways for a sum, the same for all who ask. */
static gint sign_of(const WsControl *c, const WsAffine *a)
{
    g_autofree char *here = key_of(c, a, 1), *there = key_of(c, a, -1);
    if (!here || !there)
        return 1;
    gboolean is = g_hash_table_contains(c->counted, here),
             opposite = g_hash_table_contains(c->counted, there);
    return is != opposite ? (is ? 1 : -1) : strcmp(here, there) <= 0 ? 1 : -1;
}

/* A name by itself is no sum: most comparisons and counts have no more. */
typedef struct {
    const WsControl *c;
    guint names;
} Names;

static void see_name(const WsExpr *e, gpointer data)
{
    Names *n = data;
    if (e->op == WS_EXPR_MUL || e->op == WS_EXPR_INDEX)
        n->names++;
    if (e->op != WS_EXPR_VAR || e->var < 0 || (guint)e->var >= n->c->n_vars)
        return;
    const WsVar *v = &n->c->p->var[e->var];
    gboolean name = v->kind == WS_VAR_SIZE || v->kind == WS_VAR_RUN || v->kind == WS_VAR_AXIS ||
                    v->kind == WS_VAR_TILE;
    gboolean opaque = !v->value || v->value->op == WS_EXPR_CALL || v->value->op == WS_EXPR_DIV;
    n->names += !name ? 0 : opaque ? 1 : 2;
}

static gboolean is_sum(const WsControl *c, const WsExpr *e)
{
    Names n = { c, 0 };
    ws_expr_visit(e, see_name, &n);
    return n.names > 1;
}

/* --- before anything is asked: what is compared with what --------------------------------------
 */
static void note_count(WsControl *c, const WsExpr *e)
{
    WsAffine a = { 0 };
    if (!is_sum(c, e))
        return;
    g_autoptr(WsExpr) whole = ws_expanded(c, e);
    if (!ws_expr_affine(whole, &a))
        return;
    char *key = key_of(c, &a, 1);
    if (key)
        g_hash_table_add(c->counted, key);
    ws_affine_clear(&a);
}

/* One name alone is a number of its own: a sum that is worth it, or its opposite, is taken the same
 * way round. */
static void note_name(WsControl *c, const WsExpr *difference)
{
    WsAffine a = { 0 };
    const WsExpr *name = NULL;
    guint names = 0;
    if (!ws_expr_affine(difference, &a))
        return;
    for (guint i = 0; i < a.n; i++)
        if (ws_leaves(c, a.term[i]).symbol)
            names += ABS(a.factor[i]), name = a.term[i];
    if (names == 1)
        note_count(c, name);
    ws_affine_clear(&a);
}

static void note(WsControl *c, const WsExpr *e)
{
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR || e->op == WS_EXPR_NOT) {
        for (guint i = 0; i < e->n_args; i++)
            note(c, e->arg[i]);
        return;
    }
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_NE || !is_sum(c, e))
        return;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    g_autoptr(WsExpr) whole = ws_expanded(c, d);
    WsAffine a = { 0 };
    note_name(c, d);
    if (!ws_expr_affine(whole, &a))
        return;
    char *here = key_of(c, &a, 1), *there = key_of(c, &a, -1);
    gint way = way_of(c, &a);
    ws_affine_clear(&a);
    if (!here || !there) {
        g_free(here), g_free(there);
        return;
    }
    char *how = ws_normal_text(c, e);
    const char *before = g_hash_table_lookup(c->compared, here);
    if (before && strcmp(before, how) != 0)
        how[0] = '\0';
    g_hash_table_replace(c->compared, g_strdup(here), g_strdup(how));
    g_hash_table_replace(c->compared, g_strdup(there), how);
    if (way)
        g_hash_table_add(c->counted, g_strdup(way > 0 ? here : there));
    g_free(here), g_free(there);
}

static void note_tree(WsControl *c, const WsTree *t)
{
    if (!t)
        return;
    const WsExpr *asked = t->kind == WS_TREE_BRANCH             ? t->cond
                          : t->kind == WS_TREE_OP && t->op->mma ? t->op->mma->first
                          : t->kind == WS_TREE_LOOP             ? t->count
                                                                : NULL;
    g_autoptr(WsExpr) e = asked ? ws_without_lets(c, asked) : NULL;
    if (e && t->kind == WS_TREE_LOOP)
        note_count(c, e);
    else if (e)
        note(c, e);
    for (guint i = 0; i < t->n_kids; i++)
        note_tree(c, t->kid[i]);
}

void ws_find_differences(WsControl *c)
{
    c->compared = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    c->counted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
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

static WsForm *form_of(WsControl *c, const WsAffine *a, gint sign)
{
    WsForm *f = g_new0(WsForm, 1);
    g_autoptr(WsExpr) sum = names_of(c, a, sign, &f->rest);
    f->symbol = ws_symbol_of(c, sum, FALSE);
    f->factor = sign;
    return f;
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
    g_autofree char *key = all_names(c, &a) ? key_of(c, &a, 1) : NULL;
    const char *how = key ? g_hash_table_lookup(c->compared, key) : NULL;
    gboolean counted = key && g_hash_table_contains(c->counted, key);
    WsForm *f = NULL;
    if (key && (!how || !how[0] || counted || way_of(c, &a)))
        f = form_of(c, &a, sign_of(c, &a));
    ws_affine_clear(&a);
    return f;
}

/* The same for a count. */
WsForm *ws_sum_of_names(WsControl *c, const WsExpr *e)
{
    WsAffine a = { 0 };
    if (c->page || !ws_expr_affine(e, &a))
        return NULL;
    WsForm *f = all_names(c, &a) ? form_of(c, &a, 1) : NULL;
    ws_affine_clear(&a);
    return f;
}
