#include "program/visit.h"
#include "program/parts/access.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/raw.h"
#include "program/parts/tree.h"

typedef struct {
    const WsExpr *e;
    WsOperand what;
} Stands;

static void all(const Stands *at, guint n, WsOperandSee see, gpointer data)
{
    for (guint i = 0; i < n; i++)
        if (at[i].e)
            see(at[i].e, at[i].what, data);
}

typedef struct {
    WsOperandSee see;
    gpointer data;
} Raw;

/* Of the barrier that a text names. */
static void see_raw(const WsExpr *e, WsOperand what, gpointer data)
{
    const Raw *raw = data;
    raw->see(e, WS_OPERAND_RAW, raw->data);
}

void ws_op_operands(const WsOp *op, WsOperandSee see, gpointer data)
{
    const Stands own[] = { { op->element, WS_OPERAND_ELEMENT }, { op->use, WS_OPERAND_USE },
                           { op->slot, WS_OPERAND_SLOT },       { op->parity, WS_OPERAND_PARITY },
                           { op->turn, WS_OPERAND_TURN },       { op->ctas.expr, WS_OPERAND_CTAS },
                           { op->set, WS_OPERAND_SET },         { op->skip, WS_OPERAND_SKIP } };
    all(own, G_N_ELEMENTS(own), see, data);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *a = &op->access[i];
        const Stands of[] = { { a->element, WS_OPERAND_VIEW_ELEMENT },
                              { a->use, WS_OPERAND_VIEW_USE },
                              { a->stage, WS_OPERAND_VIEW_STAGE },
                              { a->row0, WS_OPERAND_VIEW_ROW },
                              { a->col0, WS_OPERAND_VIEW_COLUMN } };
        all(of, G_N_ELEMENTS(of), see, data);
    }
    for (guint i = 0; i < op->n_coord; i++)
        all(&(Stands){ op->coord[i], WS_OPERAND_COORD }, 1, see, data);
    all(&(Stands){ op->limit, WS_OPERAND_COORD }, 1, see, data);
    for (guint i = 0; i < op->n_value; i++) {
        const Stands of[] = { { op->value[i].row0, WS_OPERAND_VALUE },
                              { op->value[i].col0, WS_OPERAND_VALUE } };
        all(of, G_N_ELEMENTS(of), see, data);
    }
    if (op->peer) {
        const Stands of[] = { { op->peer->device, WS_OPERAND_COORD },
                              { op->peer->element, WS_OPERAND_COORD },
                              { op->peer->amount, WS_OPERAND_COORD } };
        all(of, G_N_ELEMENTS(of), see, data);
    }
    all(&(Stands){ op->mma ? op->mma->first : NULL, WS_OPERAND_FIRST }, 1, see, data);
    for (guint i = 0; i < op->n_math; i++)
        all(&(Stands){ op->math[i]->value, WS_OPERAND_MATH }, 1, see, data);
    for (guint i = 0; i < op->n_raw; i++) {
        Raw raw = { see, data };
        all(&(Stands){ op->raw[i].expr, WS_OPERAND_RAW }, 1, see, data);
        if (op->raw[i].barrier)
            ws_op_operands(op->raw[i].barrier, see_raw, &raw);
    }
}

void ws_tree_operands(const WsTree *t, WsOperandSee see, gpointer data)
{
    const Stands own[] = { { t->count, WS_OPERAND_COUNT },
                           { t->from, WS_OPERAND_FROM },
                           { t->step_by, WS_OPERAND_STEP },
                           { t->cond, WS_OPERAND_CONDITION } };
    all(own, G_N_ELEMENTS(own), see, data);
    for (guint i = 0; i < t->n_cuts; i++)
        all(&(Stands){ t->cut[i], WS_OPERAND_CUT }, 1, see, data);
    if (t->op)
        ws_op_operands(t->op, see, data);
}

void ws_tree_each(const WsTree *t, void (*see)(const WsTree *t, gpointer data), gpointer data)
{
    if (!t)
        return;
    see(t, data);
    for (guint i = 0; i < t->n_kids; i++)
        ws_tree_each(t->kid[i], see, data);
}

gboolean ws_tree_is_within(const WsTree *t, const WsTree *around)
{
    while (t && t != around)
        t = t->parent;
    return t != NULL;
}

const WsTree *ws_tree_loop_of_both(const WsOp *a, const WsOp *b)
{
    const WsTree *t = a->tree;
    while (t && (t->kind != WS_TREE_LOOP || !ws_tree_is_within(b->tree, t)))
        t = t->parent;
    return t;
}
