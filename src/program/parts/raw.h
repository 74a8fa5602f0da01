/* Operands of the text of a raw step. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"

G_BEGIN_DECLS

/* Language of the text; LLVM is left to elaboration, which refuses it. */
typedef enum { WS_RAW_PTX, WS_RAW_CUDA, WS_RAW_MLIR, WS_RAW_LLVM, WS_RAW_UNREAD } WsRawText;
/* What a name in the text of a raw step stands for. */
typedef enum {
    WS_RAW_VALUE,   /* value[index] of the operation: its registers */
    WS_RAW_BUFFER,  /* access[index]: shared address */
    WS_RAW_BARRIER, /* `barrier`: shared address of the slot */
    WS_RAW_TENSOR,  /* tensor `index`: global address */
    WS_RAW_EXPR,    /* `expr` in a register */
} WsRawKind;
struct WsRawOperand {
    char *name;
    WsRawKind kind;
    gboolean out;
    guint index;
    const WsOp *barrier; /* only barrier, element and slot of it are meant */
    WsExpr *expr;
};

G_END_DECLS
