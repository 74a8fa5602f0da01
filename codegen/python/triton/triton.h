/* What the printers of TLE and TLX share: both are triton.language with words of their own. Text is
 * in the pool. */
#pragma once

#include "codegen/python/py.h"
#include "program/parts/operation.h"

G_BEGIN_DECLS

/* --- triton.c: words ---------------------------------------------------------------------------
 */
const char *ws_tl_type(WsDtype type); /* "bfloat16" */
const char *ws_tl_converted(WsPy *y, const char *x, WsDtype from, WsDtype to);
const char *ws_tl_reduction(WsReduce reduce); /* "add" of atomic_add */
/* WsPyDialect's functions of these names. */
const char *ws_tl_full(WsPy *y, guint value, const char *x);
const char *ws_tl_fresh(WsPy *y, guint value);
const char *ws_tl_row_index(WsPy *y, guint rows, guint cols);
const char *ws_tl_col_index(WsPy *y, guint rows, guint cols);
const char *ws_tl_spread(WsPy *y, const char *x, WsPyShape shape, guint rows, guint cols);
const char *ws_tl_reduce(WsPy *y, const char *what, const char *x, guint rows, guint cols);
/* Before a loop: accumulators whose first product in it starts them at 0. */
void ws_tl_block_around(WsPy *y, const WsTree *block, gboolean begin);
/* Fields of a WsPyDialect: what is triton.language's in all of them. */
#define WS_TL_DIALECT                                                                              \
    .module = "tl", .static_range = "tl.static_range", .constexpr_t = "tl.constexpr",              \
    .fresh = ws_tl_fresh, .full = ws_tl_full, .row_index = ws_tl_row_index,                        \
    .col_index = ws_tl_col_index, .spread = ws_tl_spread, .reduce = ws_tl_reduce,                  \
    .element = ws_tl_element, .block_around = ws_tl_block_around
/* Every product is a group of its own there; a wait names the accumulators that it makes readable,
 * and one also where it makes none. */
void ws_tl_mma_wait(WsPy *y, const WsOp *op, const char *call);
void ws_tl_helpers(WsPy *y);   /* functions that the text calls */
void ws_tl_constants(WsPy *y); /* those that are no parameters of the kernel */

/* --- triton_launch.c, triton_file.c -------------------------------------------------------------
 * Descriptors, tensors and sizes that the kernel takes, joined. */
const char *ws_tl_kernel_parameters(WsPy *y, const GPtrArray *roles, const GPtrArray *host);
/* def launch(…); `kernel` is what the kernel takes, `more` stands behind num_warps. Caller frees.
 */
char *ws_tl_launcher(WsPy *y, const char *kernel, guint warps, const char *more);

/* What differs between files of the two languages. */
typedef struct {
    const char *import; /* of the language's own words */
    gboolean ids;       /* named barriers are numbers of the hardware (named.c) */
    GArray *param;      /* WsPyParam: what roles take beside what the launcher works out */
    guint warps;        /* of the launch, and its other options */
    const char *options;
    gboolean inlined;       /* there is one role, and the kernel's body is its body */
    void (*head)(WsPy *y);  /* comments of the file */
    void (*texts)(WsPy *y); /* other functions of the file; NULL none */
    void (*kernel)(WsPy *y, const GPtrArray *roles); /* lines: objects, partitions */
} WsTlFile;
/* The whole text. */
void ws_tl_file(WsPy *y, const WsTlFile *file);

/* --- triton_tensors.c: tensors through pointers -------------------------------------------------
 * Offset and mask of a tile under construction. */
typedef struct {
    WsPy *y;
    const WsTensor *tensor;
    const char *offset, *mask; /* NULL: none yet */
} WsTlPointer;
gboolean ws_tl_scalar(const WsRegValue *v);
void ws_tl_leading(WsTlPointer *p, const WsOp *op, guint n);
void ws_tl_leading_one(WsTlPointer *p, const WsOp *op, guint d); /* dimension d alone */ /* the first n coordinates */
void ws_tl_running(WsTlPointer *p, guint dim, const char *index, gboolean negative);
/* "m * 128 + tl.arange(0, 64)" under a name of its own, which it returns. */
const char *ws_tl_line(WsPy *y, const char *name, const WsExpr *coord, guint n);
/* LD_GLOBAL, ST_GLOBAL, RED_GLOBAL. `part`: what is stored; `relaxed`: argument of a reduction. */
void ws_tl_global(WsPy *y, const WsOp *op, const char *part, const char *relaxed);
/* Element of a tensor in an expression, 0 outside of its shape. */
const char *ws_tl_element(WsPy *y, const WsExpr *x);

G_END_DECLS
