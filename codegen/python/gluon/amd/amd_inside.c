/* A tile that a load moves lies inside of its tensor: shown by bounds of the indices, definitions
 * and assumptions. In Gluon nothing says what a masked copy leaves in shared memory, so what is not
 * shown is refused. */
#include "codegen/python/gluon/amd/amd.h"
#include "codegen/sizes.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#define STEPS 64

typedef WsAffine Sum;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sum, ws_affine_clear)

static WsExpr *plus(WsExpr *a, WsExpr *b)
{
    return ws_expr_op(WS_EXPR_ADD, a, b);
}

static WsExpr *times(gint64 n, WsExpr *x)
{
    return ws_expr_op(WS_EXPR_MUL, ws_expr_int(n), x);
}

/* The last index of the loop around `op` that has variable `var`, or its first one. */
static WsExpr *of_loop(const WsOp *op, gint var, gboolean last)
{
    for (const WsTree *t = op->tree; t; t = t->parent) {
        gint64 step = 1;
        if (t->kind != WS_TREE_LOOP || t->index_var != var || t->over != WS_OVER_COUNT)
            continue;
        if (t->step_by && (!ws_expr_is_int(t->step_by, &step) || step < 1))
            return NULL;
        WsExpr *from = t->from ? ws_expr_ref(t->from) : ws_expr_int(0);
        if (!last)
            return from;
        return plus(from, times(step, plus(ws_expr_ref(t->count), ws_expr_int(-1))));
    }
    return NULL;
}

static WsExpr *of_axis(const WsTiles *t, gint var, gboolean last)
{
    for (guint i = 0; i < t->n_axes; i++)
        if (t->axis[i].var == var)
            return last ? plus(ws_expr_ref(t->axis[i].extent), ws_expr_int(-1)) : ws_expr_int(0);
    return NULL;
}

/* At least `factor` times the term; NULL: nothing is known. */
static WsExpr *least(const WsPy *y, const WsOp *op, const WsExpr *term, gint64 factor)
{
    const gboolean last = factor < 0;
    gint64 by;
    if (term->op == WS_EXPR_DIV && ws_expr_is_int(term->arg[1], &by) && by > 0 && factor % by == 0)
        return times(factor / by, plus(ws_expr_ref(term->arg[0]), ws_expr_int(last ? 0 : 1 - by)));
    if (term->op != WS_EXPR_VAR)
        return NULL;
    const WsVar *v = &y->p->var[term->var];
    WsExpr *x = NULL;
    if (v->kind == WS_VAR_INDEX)
        x = of_loop(op, term->var, last);
    else if (v->kind == WS_VAR_AXIS)
        x = of_axis(y->p->tiles, term->var, last);
    else if ((v->kind == WS_VAR_RUN || v->kind == WS_VAR_TILE) && v->value && !v->real)
        x = ws_expr_ref(v->value);
    else if (v->kind == WS_VAR_SIZE && !last)
        x = ws_expr_int(ws_fact_size(y->p, term->var).lo);
    return x ? times(factor, x) : NULL;
}

/* Which terms go first: indices, since bounds of loops speak of sizes, then definitions, divisions,
 * and sizes only where nothing else is left that they could cancel. */
static guint rank_of(const WsPy *y, const WsExpr *term)
{
    if (term->op != WS_EXPR_VAR)
        return 3;
    const WsVarKind kind = y->p->var[term->var].kind;
    return kind == WS_VAR_INDEX ? 0 : kind == WS_VAR_AXIS ? 1 : kind == WS_VAR_SIZE ? 4 : 2;
}

/* x >= 0. Takes x. */
static gboolean not_negative(const WsPy *y, const WsOp *op, WsExpr *x)
{
    for (guint step = 0; step < STEPS; step++) {
        g_auto(Sum) sum = { 0 };
        if (!ws_expr_affine(x, &sum))
            break;
        if (sum.n == 0) {
            ws_expr_unref(x);
            return sum.constant >= 0;
        }
        guint at = 0;
        for (guint i = 1; i < sum.n; i++)
            at = rank_of(y, sum.term[i]) < rank_of(y, sum.term[at]) ? i : at;
        WsExpr *less = least(y, op, sum.term[at], sum.factor[at]);
        if (!less)
            break;
        less = plus(less, ws_expr_int(sum.constant));
        for (guint i = 0; i < sum.n; i++)
            if (i != at)
                less = plus(less, times(sum.factor[i], ws_expr_ref(sum.term[i])));
        ws_expr_unref(x);
        x = less;
    }
    ws_expr_unref(x);
    return FALSE;
}

gboolean ws_gamd_inside(const WsPy *y, const WsOp *op, const WsExpr *x, gint64 extent,
                        const WsExpr *size)
{
    WsExpr *at = x ? ws_expr_ref(x) : ws_expr_int(0);
    WsExpr *room = plus(plus(ws_expr_ref(size), times(-1, ws_expr_ref(at))), ws_expr_int(-extent));
    const gboolean above = not_negative(y, op, at);
    return not_negative(y, op, room) && above;
}
