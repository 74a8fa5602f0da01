/* Compute steps of the CUDA printer: a statement is a tree of typed nodes. Internal to
 * codegen/cuda_math*.c; the LLVM lowering has its own nodes (math_node.h), with values in place of
 * text, and shares the rules of array.h. */
#pragma once

#include "codegen/cuda/cuda.h"

G_BEGIN_DECLS

typedef struct WsCudaNode WsCudaNode;
struct WsCudaNode {
    WsArrayForm form;
    WsMathKind kind;
    const WsExpr *x;
    guint rows, cols;   /* extent 0 while typing: takes that of its context (row, col) */
    guint n_row, n_col; /* slots of a thread */
    guint n_arg;
    WsCudaNode **arg;
    WsCudaView view;   /* WS_ARRAY_VALUE */
    const char *name;  /* WS_ARRAY_TEMPORARY, or what the node has been named */
    const char *fixed; /* masks: the part that does not change from slot to slot */
    gboolean resolved;
};

typedef struct {
    WsCuda *c;
    const WsOp *op;
    GPtrArray *pool;
    GHashTable *temporary;
    gboolean linear;
    guint lin_rows, lin_cols;
    gboolean stayed; /* the step's comparisons are held behind the wait before it */
} WsCudaMath;

/* --- cuda_math_type.c -------------------------------------------------------------------------*/
void ws_cuda_math_init(WsCudaMath *m, WsCuda *c, const WsOp *op);
void ws_cuda_math_clear(WsCudaMath *m);
WsCudaNode *ws_cuda_math_fail(WsCudaMath *m, const char *what); /* NULL */
WsCudaNode *ws_cuda_node_new(WsCudaMath *m, WsArrayForm form, WsMathKind kind, const WsExpr *x);
/* Types `x`, which stands where a target of that shape is (1, 1: none). NULL and an error where
 * this lens has no answer. */
WsCudaNode *ws_cuda_node_typed(WsCudaMath *m, const WsExpr *x, guint rows, guint cols);

/* --- cuda_math_text.c -------------------------------------------------------------------------*/
/* The node at slots ri, ci (li) as a C++ expression of that kind. */
WsTerm ws_cuda_node_as(WsCudaMath *m, WsCudaNode *n, WsMathKind kind);
WsMathKind ws_cuda_node_own(const WsCudaNode *n); /* its kind; a literal is an integer */
WsTerm ws_cuda_node_slot(WsCudaMath *m, const WsCudaNode *n); /* of a temporary in an array */
gboolean ws_cuda_node_is_mask(WsCudaMath *m, const WsCudaNode *n);
void ws_cuda_node_name_mask(WsCudaMath *m, WsCudaNode *n); /* declares its fixed part */

G_END_DECLS
