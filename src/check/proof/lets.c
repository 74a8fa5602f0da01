/* Lets that only give a name to what is the same wherever they are seen: sizes, names of the launch
 * and of the tile, indices of the loops around. They are taken as what they stand for; and so are
 * indices of loops that start there. */
#include "check/proof/symbols.h"
#include "program/parts/agent.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

static guint loops_with(const WsTree *t, gint index)
{
    guint n = t && t->kind == WS_TREE_LOOP && t->index_var == index;
    for (guint i = 0; t && i < t->n_kids; i++)
        n += loops_with(t->kid[i], index);
    return n;
}

/* It is the index of a loop around, and no loop in that one sets it anew. */
static gboolean stands_still(const WsTree *t, gint index)
{
    while (t && !(t->kind == WS_TREE_LOOP && t->index_var == index))
        t = t->parent;
    return t && loops_with(t, index) == 1;
}

typedef struct {
    const WsControl *c;
    const WsTree *at;
    gboolean ok, names;
} Look;

static gboolean in_tile(const WsControl *c, const WsTree *t)
{
    if (c->p->tiles->launch == WS_LAUNCH_SINGLE)
        return TRUE;
    for (; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && t->over == WS_OVER_TILES)
            return TRUE;
    return FALSE;
}

static void look(const WsExpr *e, gpointer data)
{
    Look *l = data;
    if (e->op == WS_EXPR_REAL)
        l->ok = FALSE;
    if (e->op == WS_EXPR_INDEX)
        l->names = TRUE, l->ok &= in_tile(l->c, l->at);
    if (e->op != WS_EXPR_VAR)
        return;
    if (e->var < 0 || (guint)e->var >= l->c->p->n_vars) {
        l->ok = FALSE;
        return;
    }
    switch (l->c->p->var[e->var].kind) {
    case WS_VAR_CTA:
        return;
    case WS_VAR_SIZE:
    case WS_VAR_RUN:
        l->names = TRUE;
        return;
    case WS_VAR_AXIS:
    case WS_VAR_TILE:
        l->names = TRUE;
        l->ok &= in_tile(l->c, l->at);
        return;
    case WS_VAR_INDEX:
        l->ok &= stands_still(l->at, e->var);
        return;
    case WS_VAR_LET:
        l->ok &= l->c->let[e->var] != NULL;
        l->names = TRUE;
        return;
    case WS_VAR_COL:
    case WS_VAR_COUNTER:
    case WS_VAR_ROW:
    case WS_VAR_SCALAR:
    case WS_VAR_TOTAL:
    default:
        l->ok = FALSE;
    }
}

static WsExpr *meaning(const WsExpr *leaf, gpointer data, GError **error)
{
    const WsControl *c = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= c->n_vars)
        return NULL;
    if (c->let[leaf->var])
        return ws_expr_ref(c->let[leaf->var]);
    return c->start[leaf->var] ? ws_expr_op(WS_EXPR_ADD, ws_expr_ref(c->start[leaf->var]),
                                            ws_expr_ref((WsExpr *)leaf))
                               : NULL;
}

static void count_nodes(const WsExpr *e, gpointer data)
{
    ++*(guint *)data;
}

WsExpr *ws_without_lets(const WsControl *c, const WsExpr *e)
{
    WsExpr *r = ws_expr_map(e, meaning, (gpointer)c, NULL);
    return r ? r : ws_expr_ref(e);
}

/* L-LET: set in one place, seen only in the block behind it, of parts that do not change there. In
 * the order of the text, so a let may be made of those before it. */
void ws_find_lets(WsControl *c)
{
    const WsProgram *p = c->p;
    g_autofree guint *times = g_new0(guint, p->n_vars + 1);
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_LET && p->op[i]->var >= 0)
            times[p->op[i]->var]++;
    for (guint i = 0; i < p->n_ops && !c->page; i++) {
        const WsOp *op = p->op[i];
        if (op->kind != WS_OP_LET || op->var < 0 || !op->set || op->agent < 0 ||
            times[op->var] != 1 || p->var[op->var].kind != WS_VAR_LET || p->var[op->var].real)
            continue;
        Look l = { c, op->tree, TRUE, FALSE };
        ws_expr_visit(op->set, look, &l);
        if (!l.ok || !l.names)
            continue;
        g_autoptr(WsExpr) e = ws_without_lets(c, op->set);
        guint nodes = 0;
        ws_expr_visit(e, count_nodes, &nodes);
        if (nodes <= 64)
            c->let[op->var] = g_steal_pointer(&e);
    }
}

/* --- loops that start by a name --------------------------------------------------------------- */
static void see_index(const WsExpr *e, gpointer data)
{
    gint *index = data;
    if (e->op == WS_EXPR_VAR && e->var == *index)
        *index = -1;
}

/* What lets stand for has indices as they are in the text. */
static gboolean in_a_let(const WsControl *c, gint index)
{
    for (guint v = 0; v < c->n_vars && index >= 0; v++)
        if (c->let[v])
            ws_expr_visit(c->let[v], see_index, &index);
    return index < 0;
}

static void find_start(WsControl *c, const WsTree *body, const WsTree *t)
{
    gint64 step;
    if (!t)
        return;
    const gint v = t->kind == WS_TREE_LOOP && t->over == WS_OVER_COUNT ? t->index_var : -1;
    if (v >= 0 && t->from && c->p->var[v].kind == WS_VAR_INDEX &&
        (!t->step_by || ws_expr_is_int(t->step_by, &step))) {
        Look l = { c, t->parent, TRUE, FALSE };
        guint nodes = 0;
        ws_expr_visit(t->from, look, &l);
        ws_expr_visit(t->from, count_nodes, &nodes);
        if (l.ok && l.names && nodes <= 64 && !in_a_let(c, v) && loops_with(body, v) == 1)
            c->start[v] = ws_without_lets(c, t->from); /* indices around stand where they stand */
    }
    for (guint i = 0; i < t->n_kids; i++)
        find_start(c, body, t->kid[i]);
}

/* L-FROM: a loop whose first index is a name that stands still in it is the loop from 0, and its
 * index that name and the index of this one. */
void ws_find_starts(WsControl *c)
{
    for (guint a = 0; a < c->p->n_agents && !c->page; a++)
        find_start(c, c->p->agent[a].body, c->p->agent[a].body);
}

static gboolean counts_only(const WsControl *c, const WsTree *t)
{
    return t->over == WS_OVER_COUNT && !c->page && (t->index_var < 0 || !c->relevant[t->index_var]);
}

const WsExpr *ws_from(const WsControl *c, const WsTree *t)
{
    const gboolean moved = t->index_var >= 0 && c->start[t->index_var];
    return moved || counts_only(c, t) ? NULL : t->from;
}

const WsExpr *ws_step(const WsControl *c, const WsTree *t)
{
    return counts_only(c, t) ? NULL : t->step_by;
}
