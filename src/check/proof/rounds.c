/* Counts that follow the index of a loop around them: `for k: for j count k`, `count nb - k`. The
 * count of a round is taken as a number that nobody knows, the same for everybody in the round of
 * that index of that tile: every function of the index, the one that is meant among them. */
#include "check/proof/symbols.h"

typedef struct {
    const WsControl *c;
    gint index; /* the one index in it, -1 none */
    gboolean other;
} Leaf;

static void see(const WsExpr *e, gpointer data)
{
    Leaf *l = data;
    if (e->op == WS_EXPR_REAL)
        l->other = TRUE;
    if (e->op != WS_EXPR_VAR || e->var < 0 || (guint)e->var >= l->c->n_vars)
        return;
    switch (l->c->p->var[e->var].kind) {
    case WS_VAR_SIZE:
    case WS_VAR_RUN:
    case WS_VAR_AXIS:
    case WS_VAR_TILE:
        l->other |= ws_leaves(l->c, e).real > 0 || ws_leaves(l->c, e).cta > 0;
        return;
    case WS_VAR_INDEX:
        l->other |= l->index >= 0 && l->index != e->var;
        l->index = e->var;
        return;
    default:
        l->other = TRUE;
    }
}

static gboolean is_number(const WsExpr *e, gint64 otherwise, gint64 least)
{
    gint64 x = otherwise;
    return (!e || ws_expr_is_int(e, &x)) && x >= least && x < 1000000;
}

static const WsTree *loop_around(const WsTree *t)
{
    for (t = t->parent; t && t->kind != WS_TREE_LOOP;)
        t = t->parent;
    return t;
}

/* L-ROUND: the loop around it counts upwards from a number >= 0, has not a number of rounds that
 * stands in the text (then every index is known), and begins once in a tile. */
static const WsTree *rounds_of(const WsControl *c, const WsTree *t)
{
    Leaf l = { c, -1, FALSE };
    gint64 x;
    const WsTree *up = loop_around(t);
    ws_expr_visit(t->count, see, &l);
    /* the index of a loop over tiles is the position: one more name of the tile */
    for (const WsTree *over = up; over && !l.other && l.index >= 0; over = loop_around(over))
        if (over->over == WS_OVER_TILES && over->index_var == l.index)
            return over;
    if (l.other || l.index < 0 || !up || up->index_var != l.index || up->over != WS_OVER_COUNT ||
        !up->count || ws_expr_is_int(up->count, &x) || !is_number(up->from, 0, 0) ||
        !is_number(up->step_by, 1, 1))
        return NULL;
    for (const WsTree *above = loop_around(up); above; above = loop_around(above))
        if (above->over != WS_OVER_TILES)
            return NULL;
    return up;
}

typedef struct {
    const WsControl *c;
    const char *mark;
} Mark;

static WsExpr *mark(const WsExpr *leaf, gpointer data, GError **error)
{
    const Mark *m = data;
    const WsControl *c = m->c;
    (void)error;
    return leaf->op == WS_EXPR_VAR && leaf->var >= 0 && (guint)leaf->var < c->n_vars &&
                   c->p->var[leaf->var].kind == WS_VAR_INDEX
               ? ws_expr_name(m->mark)
               : NULL;
}

gint ws_round_symbol(WsControl *c, gint agent, const WsTree *t)
{
    const WsTree *up = c->plain ? NULL : rounds_of(c, t);
    Mark m = { c, up && up->over == WS_OVER_TILES ? "#tile" : "#" };
    g_autoptr(WsExpr) e = up ? ws_expr_map(t->count, mark, &m, NULL) : NULL;
    if (!e || c->outside)
        return -1;
    guint before = c->symbols->len;
    gint symbol = ws_symbol_of(c, e, FALSE);
    WsSymbol *s = c->symbols->pdata[symbol];
    if (up->over == WS_OVER_TILES) {
        if (c->symbols->len > before) {
            g_free(s->text);
            s->text = ws_expr_print(t->count);
            s->run = FALSE;
            s->by_index = TRUE;
        }
        return s->by_index && !s->by_round ? symbol : -1;
    }
    if (c->symbols->len > before) {
        g_autofree char *text = ws_expr_print(t->count);
        if (c->n_split == WS_MAX_SPLIT) {
            s->whole = TRUE;
            return -1;
        }
        g_free(s->text);
        s->text = g_strdup_printf("%s in each round of %s", text, up->name ? up->name : "a loop");
        s->run = FALSE;
        s->by_round = s->by_index = TRUE;
        s->split = ++c->n_split;
    }
    for (guint i = 0; s->by_round && i < c->site[agent]->len; i++) {
        const WsSite *site = &g_array_index(c->site[agent], WsSite, i);
        if (site->form->symbol == symbol && loop_around(site->node) != up)
            return -1; /* two loops whose rounds would be mistaken for each other */
    }
    return s->by_round ? symbol : -1;
}
