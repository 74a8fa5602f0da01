/* Statements of `compute` steps (program/array.h), lowered element by element: each node remembers
 * the elements that have been built, so that a per-row part of a tile expression is built once per
 * row. Internal to codegen/nvptx/math*.c. */
#pragma once

#include "codegen/facts.h"
#include "codegen/nvptx/fragment.h"
#include "program/array.h"
#include "program/parts/value.h"

G_BEGIN_DECLS

typedef struct WsMathNode WsMathNode;
struct WsMathNode {
    const WsArray *is;
    guint n_row, n_col; /* what a thread holds: row slots, column slots */
    WsMathNode **arg;   /* [is->n_arg] */
    LLVMValueRef *made; /* [n_row * n_col] elements built so far */
    WsUniform u;        /* UNIFORM */
    gboolean evaluated; /* UNIFORM */
    gboolean linear;    /* its slots are those of linear values */
    WsFragment f;       /* VALUE; and the place of row and col in linear layout */
};

/* One compute step being lowered. */
typedef struct {
    WsEmit *e;
    const WsOp *op;
    GPtrArray *pool;        /* all nodes */
    WsMathNode **temporary; /* [op->n_math] what a statement has left, all its elements made */
    gboolean linear;        /* the statement is on linear values */
    WsRegValue lin;         /* its shape */
} WsMath;

/* --- math.c: what a thread holds of each node -------------------------------------------------*/
void ws_math_init(WsMath *m, WsEmit *e, const WsOp *op);
void ws_math_clear(WsMath *m);
/* NULL and e->error where this lens has no answer. */
WsMathNode *ws_math_node(WsMath *m, const WsArray *a);

/* --- math_tile.c: elements --------------------------------------------------------------------*/
/* Element (row slot, column slot) of a node in its own kind: i32 (LITERAL, INT), f32 or i1. */
LLVMValueRef ws_math_at(WsMath *m, WsMathNode *n, guint r, guint c);
LLVMValueRef ws_math_as(WsMath *m, WsMathNode *n, guint r, guint c, WsMathKind kind);
LLVMValueRef ws_math_max(WsEmit *e, LLVMValueRef a, LLVMValueRef b, gboolean max);
LLVMValueRef ws_math_contract(LLVMValueRef v); /* a·b + c may be fused */

/* --- math_small.c: bf16 of small integers out of bytes -----------------------------------------*/
/* FALSE: it is not such a statement, and nothing was built. */
gboolean ws_math_small(WsMath *m, const WsArray *a, const WsFragment *f);

/* --- math_half.c: f16 of products of 8-bit floats and an f16 of the row ----------------------------*/
/* The same. */
gboolean ws_math_half(WsMath *m, const WsArray *a, const WsFragment *f);

/* --- math_reduce.c ----------------------------------------------------------------------------*/
LLVMValueRef ws_math_reduce(WsMath *m, WsMathNode *n, guint r);
void ws_math_scan(WsMath *m, WsMathNode *n, guint r); /* makes all elements of the row */

/* --- math_line.c: of linear values ------------------------------------------------------------*/
typedef LLVMValueRef (*WsMathJoin)(WsEmit *e, LLVMValueRef a, LLVMValueRef b, gboolean max);
/* Makes all elements. */
void ws_math_scan_line(WsMath *m, WsMathNode *n, WsMathKind kind);
/* The sum, or the largest, of the one row. */
LLVMValueRef ws_math_reduce_line(WsMath *m, WsMathNode *n, WsMathKind kind, WsMathJoin join,
                                 gboolean max);

G_END_DECLS
