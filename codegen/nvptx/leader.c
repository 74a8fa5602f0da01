#include "codegen/nvptx/leader.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"

gboolean ws_op_leader_only(const WsOp *op)
{
    if (op->kind == WS_OP_MBAR_ARRIVE)
        return op->per == 0;
    return op->breadth == WS_BREADTH_LEADER;
}

gboolean ws_tree_wants_leader(const WsTree *t)
{
    return t->leader || (t->kind == WS_TREE_OP && ws_op_leader_only(t->op));
}

void ws_tree_left_behind(const WsTree *t, void (*left)(gpointer data, gint var), gpointer data)
{
    gint var = -1;
    if (t->kind == WS_TREE_LOOP)
        var = t->total_var;
    else if (t->kind == WS_TREE_OP && ws_op_assigns(t->op->kind))
        var = t->op->var;
    if (var >= 0)
        left(data, var);
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i])
            ws_tree_left_behind(t->kid[i], left, data);
    }
}
