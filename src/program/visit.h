/* The expressions of a program, each with what it says where it stands. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef enum {
    WS_OPERAND_ELEMENT, /* of a barrier: which one of an array, */
    WS_OPERAND_USE,
    WS_OPERAND_SLOT,
    WS_OPERAND_PARITY,
    WS_OPERAND_TURN,
    WS_OPERAND_CTAS,
    WS_OPERAND_VIEW_ELEMENT, /* of what is touched of shared memory */
    WS_OPERAND_VIEW_USE,
    WS_OPERAND_VIEW_STAGE,
    WS_OPERAND_VIEW_ROW,
    WS_OPERAND_VIEW_COLUMN,
    WS_OPERAND_VALUE, /* corner of a register value */
    WS_OPERAND_FIRST, /* of a product: a truth */
    WS_OPERAND_SET,
    WS_OPERAND_COORD,
    WS_OPERAND_SKIP,
    WS_OPERAND_MATH,
    WS_OPERAND_RAW,
    WS_OPERAND_CONDITION, /* of a branch: a truth */
    WS_OPERAND_COUNT,     /* of a loop */
    WS_OPERAND_FROM,
    WS_OPERAND_STEP,
    WS_OPERAND_CUT,
} WsOperand;

typedef void (*WsOperandSee)(const WsExpr *e, WsOperand what, gpointer data);

void ws_op_operands(const WsOp *op, WsOperandSee see, gpointer data);
/* Of this node: its control, or its operation. */
void ws_tree_operands(const WsTree *t, WsOperandSee see, gpointer data);
/* `t` (or nothing) and all below it, the outer ones first. */
void ws_tree_each(const WsTree *t, void (*see)(const WsTree *t, gpointer data), gpointer data);

/* Whether `t` is `around` or stands in it. */
gboolean ws_tree_is_within(const WsTree *t, const WsTree *around);
/* The innermost loop around both operations; NULL: there is none. */
const WsTree *ws_tree_loop_of_both(const WsOp *a, const WsOp *b);

G_END_DECLS
