/* Compute steps of the CUDA printer: the nodes of a statement (program/array.h) with the names that
 * they get in the text. Internal to codegen/cuda/math*.c. */
#pragma once

#include "codegen/cuda/cuda.h"
#include "program/array.h"

G_BEGIN_DECLS

typedef struct WsCudaNode WsCudaNode;
struct WsCudaNode {
    const WsArray *is;
    guint n_row, n_col; /* slots of a thread; 0 before they are known */
    gboolean linear;    /* of a temporary: of linear values */
    WsCudaNode **arg;   /* [is->n_arg] */
    WsCudaView view;    /* WS_ARRAY_VALUE */
    const char *name;   /* of a temporary, or what the node has been named */
    const char *fixed;  /* masks: the part that does not change from slot to slot */
};

typedef struct {
    WsCuda *c;
    const WsOp *op;
    GPtrArray *pool;
    WsCudaNode **temporary; /* [op->n_math] */
    gboolean linear;
    guint lin_rows, lin_cols;
    gboolean stayed; /* the step's comparisons are held behind the wait before it */
} WsCudaMath;

/* --- math_node.c ------------------------------------------------------------------------------*/
void ws_cuda_math_init(WsCudaMath *m, WsCuda *c, const WsOp *op);
void ws_cuda_math_clear(WsCudaMath *m);
WsCudaNode *ws_cuda_math_fail(WsCudaMath *m, const char *what); /* NULL */
/* A node alone, without operands and slots. */
WsCudaNode *ws_cuda_node_new(WsCudaMath *m, const WsArray *a);
/* All nodes of `a` with their slots. NULL and an error where this lens has no answer. */
WsCudaNode *ws_cuda_node_of(WsCudaMath *m, const WsArray *a);

/* --- math_line.c ------------------------------------------------------------------------------*/
/* Declares an array with all elements of a running sum of linear values, which it names. */
void ws_cuda_scan_line(WsCudaMath *m, WsCudaNode *n);
/* The sum, or the largest, of a linear value of one row as a C++ expression. */
WsTerm ws_cuda_reduce_line(WsCudaMath *m, WsCudaNode *n, gboolean max);

/* --- math_text.c ------------------------------------------------------------------------------*/
/* The node at slots ri, ci (li) as a C++ expression of that kind. */
WsTerm ws_cuda_node_as(WsCudaMath *m, WsCudaNode *n, WsMathKind kind);
WsMathKind ws_cuda_node_own(const WsCudaNode *n); /* its kind; a literal is an integer */
WsTerm ws_cuda_node_slot(WsCudaMath *m, const WsCudaNode *n); /* of a temporary in an array */
gboolean ws_cuda_node_is_mask(WsCudaMath *m, const WsCudaNode *n);
void ws_cuda_node_name_mask(WsCudaMath *m, WsCudaNode *n); /* declares its fixed part */

G_END_DECLS
