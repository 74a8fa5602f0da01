#include "program/elaborate/elab.h"
#include "program/parts/product.h"
#include "program/parts/raw.h"

/* Every expression of an operation, and of the control of a tree. */

static void see(const WsExpr *e, WsExprVisit visit, gpointer data)
{
    if (e)
        ws_expr_visit(e, visit, data);
}

void ws_op_visit(const WsOp *op, WsExprVisit visit, gpointer data)
{
    const WsExpr *own[] = { op->element,   op->use,  op->slot,
                            op->parity,    op->turn, op->set,
                            op->ctas.expr, op->skip, op->mma ? op->mma->first : NULL };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        see(own[i], visit, data);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        const WsExpr *of[] = { a->element, a->use, a->stage, a->row0, a->col0 };
        for (guint k = 0; k < G_N_ELEMENTS(of); k++)
            see(of[k], visit, data);
    }
    for (guint i = 0; i < op->n_coord; i++)
        see(op->coord[i], visit, data);
    for (guint i = 0; i < op->n_value; i++) {
        see(op->value[i].row0, visit, data);
        see(op->value[i].col0, visit, data);
    }
    for (guint i = 0; i < op->n_math; i++)
        see(op->math[i]->value, visit, data);
    for (guint i = 0; i < op->n_raw; i++) {
        see(op->raw[i].expr, visit, data);
        if (op->raw[i].barrier)
            ws_op_visit(op->raw[i].barrier, visit, data);
    }
}
