/* Counts and conditions that follow the index of a loop around them: `for k: for j count k`, `count
 * nb - k`, `if L[k] > 0`. The
 * count of a round is taken as a number that nobody knows, the same for everybody in the round of
 * that index of that tile: every function of the index, the one that is meant among them. */
#include "check/proof/symbols.h"
#include "program/parts/variable.h"
#include "program/program.h"

typedef struct {
    const WsControl *c;
    const WsTree *at;
    const char *name; /* that the index is given */
    gint index;       /* the one index in it, -1 none */
    gint tile; /* index of a loop over tiles: the position, one more name of the tile; -1 none */
    gboolean other;
} Leaf;

static const WsTree *loop_around(const WsTree *t)
{
    for (t = t->parent; t && t->kind != WS_TREE_LOOP;)
        t = t->parent;
    return t;
}

static gboolean is_in(const WsTree *t, const WsTree *of)
{
    while (t && t != of)
        t = t->parent;
    return t != NULL;
}

/* The loop over tiles around a place that has this index, NULL if it has another one. */
static const WsTree *tiles_around(const WsTree *t, gint index)
{
    for (t = loop_around(t); t; t = loop_around(t))
        if (t->over == WS_OVER_TILES)
            return t->index_var == index ? t : NULL;
    return NULL;
}

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
        if (tiles_around(l->at, e->var)) {
            l->tile = e->var;
            return;
        }
        l->other |= l->index >= 0 && l->index != e->var;
        l->index = e->var;
        return;
    case WS_VAR_COL:
    case WS_VAR_COUNTER:
    case WS_VAR_CTA:
    case WS_VAR_LET:
    case WS_VAR_ROW:
    case WS_VAR_SCALAR:
    case WS_VAR_TOTAL:
    default:
        l->other = TRUE;
    }
}

static gboolean is_number(const WsExpr *e, gint64 otherwise, gint64 least)
{
    gint64 x = otherwise;
    return (!e || ws_expr_is_int(e, &x)) && x >= least && x < 1000000;
}

static gboolean counts_up(const WsTree *t)
{
    return is_number(t->from, 0, 0) && is_number(t->step_by, 1, 1);
}

/* L-ROUND: the loop around it counts upwards from a number >= 0, and has not a number of rounds
 * that stands in the text (then every index is known). How often it has begun in a tile is part of
 * the time, so it may begin again. */
static const WsTree *rounds_of(const Leaf *l)
{
    gint64 x;
    const WsTree *up = loop_around(l->at), *tiles = tiles_around(l->at, l->tile);
    if (l->other || (l->tile >= 0 && (!tiles || !counts_up(tiles))))
        return NULL;
    if (l->index < 0)
        return l->tile >= 0 ? tiles : NULL;
    if (!up || up->index_var != l->index || up->over != WS_OVER_COUNT || !up->count ||
        ws_expr_is_int(up->count, &x) || !counts_up(up))
        return NULL;
    return up;
}

static WsExpr *mark(const WsExpr *leaf, gpointer data, GError **error)
{
    const Leaf *l = data;
    return leaf->op != WS_EXPR_VAR || leaf->var < 0 ? NULL
           : leaf->var == l->tile                   ? ws_expr_name("#tile")
           : leaf->var == l->index                  ? ws_expr_name(l->name)
                                                    : NULL;
}

/* The symbol stands for the count of another loop of this agent around which is `up`, or one in or
 * around that: the rounds of one would be told over those of the other. */
static gboolean taken(const WsControl *c, gint agent, gint symbol, const WsTree *up, gboolean *near)
{
    gboolean same = FALSE;
    for (guint i = 0; i < c->site[agent]->len; i++) {
        const WsSite *site = &g_array_index(c->site[agent], WsSite, i);
        const WsTree *other = site->form->symbol == symbol ? loop_around(site->node) : NULL;
        same |= other == up && other;
        *near |= other && other != up && (is_in(other, up) || is_in(up, other));
    }
    return same;
}

static gint stands_for(const WsControl *c, const WsExpr *count)
{
    const WsExpr *seen = g_hash_table_lookup(c->rewritten, count);
    return seen->op == WS_EXPR_VAR && seen->var >= (gint)c->n_vars ? seen->var - (gint)c->n_vars
                                                                   : -1;
}

/* The first one that this loop has not yet: where several loops follow the rounds of one, each has
 * a name of its own. */
static gint round_name(WsControl *c, gint agent, const WsExpr *count, Leaf *l, const WsTree *up)
{
    static const char *const name[] = { "#", "#2", "#3", "#4" };
    if (g_hash_table_contains(c->rewritten, l->at->count)) { /* an expression has one name */
        gboolean near = FALSE;
        gint symbol = stands_for(c, l->at->count);
        taken(c, agent, symbol, up, &near);
        return near ? -1 : symbol;
    }
    for (guint i = 0; i < G_N_ELEMENTS(name); i++) {
        l->name = name[i];
        g_autoptr(WsExpr) e = ws_expr_map(count, mark, l, NULL);
        gboolean near = FALSE;
        gint symbol = e ? ws_symbol_of(c, e, FALSE) : -1;
        if (symbol < 0 || up->over == WS_OVER_TILES)
            return symbol;
        gboolean same = taken(c, agent, symbol, up, &near);
        if (near || !same)
            return near ? -1 : symbol;
    }
    return -1;
}

gint ws_round_symbol(WsControl *c, gint agent, const WsTree *t)
{
    g_autoptr(WsExpr) count = ws_without_lets(c, t->count);
    Leaf l = { c, t, "#", -1, -1, FALSE };
    ws_expr_visit(count, see, &l);
    const WsTree *up = c->plain ? NULL : rounds_of(&l);
    if (!up || c->outside)
        return -1;
    guint before = c->symbols->len;
    gint symbol = round_name(c, agent, count, &l, up);
    if (symbol < 0)
        return -1;
    WsSymbol *s = c->symbols->pdata[symbol];
    gboolean fresh = c->symbols->len > before && (guint)symbol == c->symbols->len - 1;
    if (up->over == WS_OVER_TILES) {
        if (fresh) {
            g_free(s->text);
            s->text = ws_expr_print(t->count);
            s->run = FALSE;
            s->by_index = TRUE;
        }
        return s->by_index && !s->by_round ? symbol : -1;
    }
    if (fresh) {
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
    return s->by_round ? symbol : -1;
}

/* --- conditions ------------------------------------------------------------------------------- */
static void see_element(const WsExpr *e, gpointer data)
{
    gpointer *d = data;
    if (e->op == WS_EXPR_INDEX && ws_leaves(d[0], e).index > 0)
        *(gboolean *)d[1] = TRUE;
}

static gboolean reads_by_index(const WsControl *c, const WsExpr *e)
{
    gboolean found = FALSE;
    gpointer data[2] = { (gpointer)c, &found };
    ws_expr_visit(e, see_element, data);
    return found;
}

/* L-ROUND: a condition of elements that the index of the loop around chooses is a yes or no that
 * nobody knows, one for every round. */
gint ws_round_letter(WsControl *c, gint agent, const WsTree *t)
{
    g_autoptr(WsExpr) cond = ws_without_lets(c, t->cond);
    Leaf l = { c, t, "#", -1, -1, FALSE };
    if (c->plain || c->page || c->outside || !reads_by_index(c, cond))
        return -1;
    ws_expr_visit(cond, see, &l);
    const WsTree *up = loop_around(t), *tiles = tiles_around(t, l.tile);
    if (l.other || l.index < 0 || !up || up->index_var != l.index || up->over != WS_OVER_COUNT ||
        !counts_up(up) || (l.tile >= 0 && (!tiles || !counts_up(tiles))))
        return -1;
    g_autoptr(WsExpr) e = ws_expr_map(cond, mark, &l, NULL);
    const guint before = c->symbols->len;
    const gint symbol = e ? ws_symbol_of(c, e, TRUE) : -1;
    gboolean near = FALSE;
    if (symbol < 0)
        return -1;
    taken(c, agent, symbol, up, &near);
    WsSymbol *s = c->symbols->pdata[symbol];
    if (c->symbols->len > before && !near && c->n_split < WS_MAX_SPLIT) {
        g_autofree char *text = ws_expr_print(t->cond);
        g_free(s->text);
        s->text = g_strdup_printf("%s in each round of %s", text, up->name ? up->name : "a loop");
        s->run = FALSE;
        s->by_round = s->by_index = TRUE;
        s->split = ++c->n_split;
    }
    return s->by_round && !near ? symbol : -1;
}
