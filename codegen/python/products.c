/* Accumulators that start at 0. */
#include "codegen/python/py.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tree.h"

#include <string.h>

static gboolean index_is_first(const WsTree *loop, const WsExpr *first)
{
    gint64 from = 0, value;
    if (loop->from && !ws_expr_is_int(loop->from, &from))
        return FALSE;
    return first->op == WS_EXPR_EQ && first->arg[0]->op == WS_EXPR_VAR &&
           first->arg[0]->var == loop->index_var && loop->index_var >= 0 &&
           ws_expr_is_int(first->arg[1], &value) && value == from;
}

static gboolean touches(const WsOp *op, guint value)
{
    for (guint i = 0; i < op->n_value; i++) {
        if (op->value[i].value == value)
            return TRUE;
    }
    for (guint i = 0; i < op->n_math; i++) {
        if (ws_array_reads(op->assign[i].array, value) || op->assign[i].value == (gint)value)
            return TRUE;
    }
    return FALSE;
}

/* Something in `t` before `stop` looks at the accumulator: then it cannot be 0 before the loop. */
static gboolean used_before(const WsTree *t, const WsOp *stop, gboolean *found)
{
    if (t->kind == WS_TREE_OP) {
        *found = *found || t->op == stop;
        return !*found && touches(t->op, stop->value[0].value);
    }
    for (guint i = 0; i < t->n_kids && !*found; i++) {
        if (t->kid[i] && used_before(t->kid[i], stop, found))
            return TRUE;
    }
    return FALSE;
}

const WsTree *ws_py_first_loop(const WsOp *op)
{
    gint64 known;
    if (!op->mma->first || ws_expr_is_int(op->mma->first, &known))
        return NULL;
    const WsTree *at = op->tree;
    while (at && at->kind != WS_TREE_LOOP) /* a loop between would begin anew in each round */
        at = at->parent;
    return at && index_is_first(at, op->mma->first) ? at : NULL;
}

const WsTree *ws_py_zeros_before(const WsOp *op)
{
    gboolean found = FALSE;
    const WsTree *loop = ws_py_first_loop(op);
    return loop && !used_before(loop, op, &found) ? loop : NULL;
}

gboolean ws_py_accumulates(const WsOp *op, guint value)
{
    for (guint i = 0; i < op->n_flying; i++) {
        if (op->flying[i]->value[0].value == value)
            return TRUE;
    }
    return FALSE;
}

gint64 ws_py_stay(WsPy *y, const WsOp *wait)
{
    if (wait->wait->stay < 0)
        ws_py_refuse(y, wait,
                     "a wait for some of several groups, of which paths leave different ones",
                     "wait for all of them (0), or make the groups equal");
    return wait->wait->stay;
}

gint64 ws_py_stores_stay(WsPy *y, const WsOp *wait)
{
    const WsWait *w = wait->wait;
    if (w->stay < 0)
        ws_py_comment(y, ws_py_format(y,
                                      "in the design all but %" G_GINT64_FORMAT
                                      " groups; here each store is one, and paths leave several",
                                      wait->n));
    return w->stay < 0 ? w->least : w->stay;
}
