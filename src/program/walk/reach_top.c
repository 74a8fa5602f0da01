#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/visit.h"
#include "program/walk/reach_private.h"

enum { MOST_FOLLOWED = 64 }; /* names */

typedef struct {
    const WsReach *r;
    gboolean launch;
} Made;

static void see_var(const WsExpr *e, gpointer data)
{
    Made *m = data;
    const WsVar *v = e->op == WS_EXPR_VAR && e->var >= 0 ? &m->r->p->var[e->var] : NULL;
    const gboolean number = v && !v->real && (v->kind == WS_VAR_SIZE || v->kind == WS_VAR_RUN);
    m->launch &= e->op != WS_EXPR_INDEX && (e->op != WS_EXPR_VAR || number);
}

gboolean ws_reach_of_launch(const WsReach *r, const WsExpr *e)
{
    Made m = { r, TRUE };
    ws_expr_visit(e, see_var, &m);
    return m.launch;
}

static WsExpr *less_one(WsExpr *e)
{
    return e ? ws_expr_op(WS_EXPR_SUB, e, ws_expr_int(1)) : NULL;
}

typedef struct {
    gint var;
    guint times;
    const WsTree *node;
} Giver;

static void see_giver(const WsTree *t, gpointer data)
{
    Giver *g = data;
    if (!(t->kind == WS_TREE_LOOP && t->index_var == g->var) && !(t->op && t->op->var == g->var))
        return;
    g->node = t;
    g->times++;
}

/* The loop whose index it is, or the step that sets it; NULL: there are several, or none. */
static const WsTree *giver_of(const WsReach *r, gint var)
{
    Giver g = { var, 0, NULL };
    for (guint a = 0; a < r->p->n_agents; a++)
        ws_tree_each(r->p->agent[a].body, see_giver, &g);
    return g.times == 1 ? g.node : NULL;
}

static WsExpr *top_of_index(WsReach *r, gint var)
{
    const WsTree *loop = giver_of(r, var);
    if (!loop || loop->kind != WS_TREE_LOOP || loop->over != WS_OVER_COUNT || loop->ask ||
        !loop->count ||
        (loop->step_by && (loop->step_by->op != WS_EXPR_INT || loop->step_by->i < 0)) ||
        (loop->from && loop->from->op != WS_EXPR_INT))
        return NULL;
    WsExpr *rounds = less_one(ws_reach_top(r, loop->count));
    if (rounds && loop->step_by && loop->step_by->i != 1)
        rounds = ws_expr_op(WS_EXPR_MUL, rounds, ws_expr_ref(loop->step_by));
    if (rounds && loop->from && loop->from->i != 0)
        rounds = ws_expr_op(WS_EXPR_ADD, rounds, ws_expr_ref(loop->from));
    return rounds;
}

static WsExpr *top_of_let(WsReach *r, gint var)
{
    const WsTree *step = giver_of(r, var);
    return step && step->op && step->op->set ? ws_reach_top(r, step->op->set) : NULL;
}

static WsExpr *top_of_var(WsReach *r, gint var)
{
    const WsVar *v = &r->p->var[var];
    const WsTiles *t = r->p->tiles;
    if (v->kind == WS_VAR_TILE && v->value)
        return ws_reach_top(r, v->value);
    for (guint a = 0; v->kind == WS_VAR_AXIS && a < t->n_axes; a++)
        if (t->axis[a].var == var)
            return less_one(ws_expr_ref(t->axis[a].extent));
    if (v->kind == WS_VAR_LET)
        return top_of_let(r, var);
    if (v->kind == WS_VAR_ROW || v->kind == WS_VAR_COL)
        return ws_expr_int(WS_REACH_TILE_MOST);
    if (v->kind == WS_VAR_CTA)
        return ws_expr_int(MAX(r->p->cluster, 1) - 1);
    return v->kind == WS_VAR_INDEX ? top_of_index(r, var) : NULL;
}

static WsExpr *top_of_two(WsReach *r, const WsExpr *e)
{
    WsExpr *a = ws_reach_of(r, e->arg[0]).lo >= 0 ? ws_reach_top(r, e->arg[0]) : NULL;
    WsExpr *b = a && ws_reach_of(r, e->arg[1]).lo >= 0 ? ws_reach_top(r, e->arg[1]) : NULL;
    if (b)
        return ws_expr_op(e->op, a, b);
    g_clear_pointer(&a, ws_expr_unref);
    return NULL;
}

WsExpr *ws_reach_top(WsReach *r, const WsExpr *e)
{
    if (ws_reach_of_launch(r, e))
        return ws_expr_ref(e);
    if (e->op == WS_EXPR_VAR && e->var >= 0 && r->depth++ < MOST_FOLLOWED)
        return top_of_var(r, e->var);
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_MUL)
        return top_of_two(r, e);
    if (e->op == WS_EXPR_DIV && ws_reach_of_launch(r, e->arg[1]) &&
        ws_reach_of(r, e->arg[0]).lo >= 0 && ws_reach_of(r, e->arg[1]).lo >= 0) {
        WsExpr *a = ws_reach_top(r, e->arg[0]);
        return a ? ws_expr_op(WS_EXPR_DIV, a, ws_expr_ref(e->arg[1])) : NULL;
    }
    if (e->op == WS_EXPR_MOD && ws_reach_of(r, e->arg[1]).lo >= 0)
        return less_one(ws_reach_top(r, e->arg[1]));
    return NULL;
}
