/* Global memory: tensors, and the tensor maps (TMA descriptors) in use. */
#pragma once

#include "expr/expr.h"
#include "program/forward.h"
#include "program/parts/dtype.h"

G_BEGIN_DECLS

typedef enum {
    WS_ACCESS_READ,
    WS_ACCESS_WRITE,
    WS_ACCESS_REDUCE,
    WS_ACCESS_EXCHANGE, /* put by the devices, then read; no argument of anybody else */
} WsTensorAccess;
typedef enum {
    WS_DATA_NORMAL,
    WS_DATA_UNIFORM,
    WS_DATA_INTEGERS,
    WS_DATA_ZEROS,
    WS_DATA_INDICES,
    WS_DATA_OFFSETS
} WsDataKind;
struct WsTensor {
    char *name;
    WsDtype dtype;
    guint rank;
    WsExpr *shape[WS_MAX_RANK]; /* over SIZE and RUN variables */
    WsExpr
        *stride[WS_MAX_RANK]; /* elements; derived (contiguous, last fastest) unless overridden */
    gboolean strides_given;
    WsTensorAccess access;
    WsDataKind data;
    WsExpr *data_a, *data_b; /* integer parameters of `data`, or NULL */
    double data_x, data_y;   /* real parameters: uniform(x, y), indices(.., y) */
    double tolerance_abs, tolerance_rel;
    char *covers; /* why every element is written once, where the design states it; or NULL */
};

/* What a launch leaves for its caller, and a reference is judged by. */
static inline gboolean ws_tensor_is_output(const WsTensor *t)
{
    return t->access == WS_ACCESS_WRITE || t->access == WS_ACCESS_REDUCE;
}

/* One tensor map (TMA descriptor) in use: a tensor, a box and a swizzle. Box and dims are listed
 * innermost first, as cuTensorMapEncodeTiled wants them: dim i is tensor dimension rank-1-i. */
struct WsTensorMap {
    guint tensor;
    guint rank;
    guint box[WS_MAX_RANK]; /* elements, each 1..256 */
    guint swizzle;          /* bytes: 128, 64, 32, 0 */
};

G_END_DECLS
