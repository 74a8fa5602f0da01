/* Uses that are worked out anew in every round: tile*kt + k. Where loop k has kt rounds and is gone
 * through once in every tile, that is how many rounds there were before: k.total. */
#include "check/proof/symbols.h"
#include "program/parts/agent.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const WsTree *tiles, *loop;
    char *rounds; /* normal text of the count of `loop` */
} Flat;

static void clear_flat(gpointer data)
{
    g_free(((Flat *)data)->rounds);
}

static gboolean plain(const WsTree *t)
{
    gint64 from = 0, by = 1;
    return (!t->from || (ws_expr_is_int(t->from, &from) && from == 0)) &&
           (!t->step_by || (ws_expr_is_int(t->step_by, &by) && by == 1));
}

static guint loops_of(const WsTree *t, gint index)
{
    guint n = t && t->kind == WS_TREE_LOOP && t->index_var == index;
    for (guint i = 0; t && i < t->n_kids; i++)
        n += loops_of(t->kid[i], index);
    return n;
}

/* L-FLAT: a loop over tiles from 0 by 1, in no other loop and no branch; in its body, in no branch
 * and no loop, the only loop of its name, from 0 by 1, of a number of rounds that the launch fixes.
 */
static void look(WsControl *c, const WsAgent *a, const WsTree *tiles, const WsTree *t)
{
    if (t && t->kind == WS_TREE_SEQ) {
        for (guint i = 0; i < t->n_kids; i++)
            look(c, a, tiles, t->kid[i]);
        return;
    }
    if (!t || t->kind != WS_TREE_LOOP || !plain(t) || t->index_var < 0 || t->n_kids != 1 ||
        loops_of(a->body, t->index_var) != 1)
        return;
    if (!tiles) {
        if (t->over == WS_OVER_TILES)
            look(c, a, t, t->kid[0]);
        return;
    }
    if (t->over != WS_OVER_COUNT || !t->count || t->total_var < 0)
        return;
    g_autoptr(WsExpr) count = ws_without_lets(c, t->count);
    WsLeaves l = ws_leaves(c, count);
    if (l.index || l.tile || l.real || l.cta || !l.symbol)
        return;
    Flat f = { tiles, t, ws_normal_text(c, count) };
    g_array_append_val(c->flat, f);
}

void ws_find_flat(WsControl *c)
{
    c->flat = g_array_new(FALSE, FALSE, sizeof(Flat));
    g_array_set_clear_func(c->flat, clear_flat);
    for (guint a = 0; a < c->p->n_agents && !c->page; a++)
        look(c, &c->p->agent[a], NULL, c->p->agent[a].body);
}

/* --- a sum --------------------------------------------------------------------------------------
 */
static gint term_of(const WsAffine *a, gint var)
{
    for (guint i = 0; i < a->n; i++)
        if (a->term[i]->op == WS_EXPR_VAR && a->term[i]->var == var)
            return (gint)i;
    return -1;
}

/* tile * rounds, either way round. */
static gboolean is_product(const WsControl *c, const WsExpr *e, const Flat *f)
{
    for (guint i = 0; e->op == WS_EXPR_MUL && i < 2; i++) {
        const WsExpr *x = e->arg[i];
        if (x->op != WS_EXPR_VAR || x->var != f->tiles->index_var)
            continue;
        g_autofree char *other = ws_normal_text(c, e->arg[1 - i]);
        if (strcmp(other, f->rounds) == 0)
            return TRUE;
    }
    return FALSE;
}

/* factor*(tile*rounds) + factor*index becomes factor*total. */
static gboolean replaced(const WsControl *c, WsAffine *a)
{
    for (guint n = 0; n < c->flat->len; n++) {
        const Flat *f = &g_array_index(c->flat, Flat, n);
        gint k = term_of(a, f->loop->index_var);
        for (guint i = 0; k >= 0 && i < a->n; i++) {
            if (a->factor[i] != a->factor[k] || !is_product(c, a->term[i], f))
                continue;
            ws_expr_unref(a->term[k]);
            a->term[k] = ws_expr_var(f->loop->total_var, c->p->var[f->loop->total_var].name);
            ws_expr_unref(a->term[i]);
            a->n--;
            a->term[i] = a->term[a->n], a->factor[i] = a->factor[a->n];
            return TRUE;
        }
    }
    return FALSE;
}

static WsExpr *sum_of(const WsAffine *a)
{
    WsExpr *r = ws_expr_int(a->constant);
    for (guint i = 0; i < a->n; i++)
        r = ws_expr_op(WS_EXPR_ADD, r,
                       ws_expr_op(WS_EXPR_MUL, ws_expr_int(a->factor[i]), ws_expr_ref(a->term[i])));
    return r;
}

static WsExpr *flattened(const WsControl *c, const WsExpr *e)
{
    WsAffine a = { 0 };
    if (e->n_args == 0 || e->op == WS_EXPR_INDEX)
        return ws_expr_ref(e);
    gboolean sum = e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_NEG;
    if (sum && ws_expr_affine(e, &a)) {
        gboolean any = FALSE;
        while (replaced(c, &a))
            any = TRUE;
        WsExpr *r = any ? sum_of(&a) : NULL;
        ws_affine_clear(&a);
        if (r)
            return r;
    }
    WsExpr *arg[8];
    gboolean same = TRUE;
    if (e->n_args > G_N_ELEMENTS(arg))
        return ws_expr_ref(e);
    for (guint i = 0; i < e->n_args; i++) {
        arg[i] = flattened(c, e->arg[i]);
        same &= arg[i] == e->arg[i];
    }
    if (same) {
        for (guint i = 0; i < e->n_args; i++)
            ws_expr_unref(arg[i]);
        return ws_expr_ref(e);
    }
    return e->op == WS_EXPR_CALL ? ws_expr_call(e->func, arg, e->n_args)
                                 : ws_expr_op(e->op, arg[0], e->n_args > 1 ? arg[1] : NULL);
}

static void see_tile(const WsExpr *e, gpointer data)
{
    gpointer *d = data;
    const WsControl *c = d[0];
    for (guint i = 0; e->op == WS_EXPR_VAR && i < c->flat->len; i++)
        if (g_array_index(c->flat, Flat, i).tiles->index_var == e->var)
            *(gboolean *)d[1] = TRUE;
}

WsExpr *ws_flattened(const WsControl *c, const WsExpr *e)
{
    gboolean tile = FALSE;
    gpointer data[2] = { (gpointer)c, &tile };
    if (c->flat->len)
        ws_expr_visit(e, see_tile, data);
    return tile ? flattened(c, e) : ws_expr_ref(e);
}
