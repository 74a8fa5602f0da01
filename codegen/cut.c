#include "codegen/cut.h"
#include "program/parts/tree.h"

static guint noted(const WsTree *t, guint i)
{
    return t->index_var < 0 ? 0 : MIN(i + 1, t->n_cuts);
}

void ws_cuts_enter(GArray *cuts, const WsTree *t, guint i)
{
    for (guint k = 0; k < noted(t, i); k++) {
        WsCut cut = { t->index_var, t->cut[k], k == i };
        g_array_append_val(cuts, cut);
    }
}

void ws_cuts_leave(GArray *cuts, const WsTree *t, guint i)
{
    g_array_set_size(cuts, cuts->len - noted(t, i));
}

/* `op` between an index and the cut that it is below, or not below. */
static gboolean decided(WsExprOp op, gboolean below, gint64 *value)
{
    if (op == WS_EXPR_LT) {
        *value = below;
        return TRUE;
    }
    if (op == WS_EXPR_GE) {
        *value = !below;
        return TRUE;
    }
    if (op == WS_EXPR_LE) {
        *value = 1;
        return below;
    }
    if (op == WS_EXPR_GT || op == WS_EXPR_EQ) {
        *value = 0;
        return below;
    }
    if (op == WS_EXPR_NE) {
        *value = 1;
        return below;
    }
    return FALSE;
}

/* a op b as b op' a. */
static WsExprOp turned(WsExprOp op)
{
    if (op == WS_EXPR_LT)
        return WS_EXPR_GT;
    if (op == WS_EXPR_GT)
        return WS_EXPR_LT;
    if (op == WS_EXPR_LE)
        return WS_EXPR_GE;
    if (op == WS_EXPR_GE)
        return WS_EXPR_LE;
    return op;
}

gboolean ws_cuts_decide(const GArray *cuts, const WsExpr *x, gint64 *value)
{
    if (x->op < WS_EXPR_LT || x->op > WS_EXPR_NE)
        return FALSE;
    for (guint i = 0; i < cuts->len; i++) {
        const WsCut *c = &g_array_index(cuts, WsCut, i);
        for (guint side = 0; side < 2; side++) {
            const WsExpr *index = x->arg[side], *other = x->arg[1 - side];
            if (index->op == WS_EXPR_VAR && index->var == c->var && ws_expr_equal(other, c->cut) &&
                decided(side ? turned(x->op) : x->op, c->below, value))
                return TRUE;
        }
    }
    return FALSE;
}
