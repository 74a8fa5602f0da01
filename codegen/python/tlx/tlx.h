/* Inside of `generate --as tlx`. Barriers, parities and fences are those of Gluon, words for
 * tensors those of triton.language; products add to an accumulator and have no flag that says
 * whether. */
#pragma once

#include "codegen/python/plan.h"

G_BEGIN_DECLS

typedef struct {
    const WsPyPlan *plan;
} WsTlx;

static inline WsTlx *ws_tlx(WsPy *y)
{
    return y->role;
}

/* --- tlx_ops.c: synchronisation, copies; which function writes which operation ---------------- */
void ws_tlx_op(WsPy *y, const WsOp *op);
void ws_tlx_wait(WsPy *y, const WsOp *op);
void ws_tlx_arrive(WsPy *y, const WsOp *op);
void ws_tlx_expect(WsPy *y, const WsOp *op);
void ws_tlx_load(WsPy *y, const WsOp *op);
void ws_tlx_store(WsPy *y, const WsOp *op);
void ws_tlx_store_wait(WsPy *y, const WsOp *op);
void ws_tlx_named(WsPy *y, const WsOp *op);
/* --- tlx_memory.c: shared memory, values, products ---------------------------------------------
 */
/* A view of a stage: "tlx.local_slice(a[0], [0, 0], [64, 64])"; a stage, or `part` of it. */
const char *ws_tlx_view(WsPy *y, const WsAccess *a);
const char *ws_tlx_stage(WsPy *y, const WsAccess *a, const char *part);
void ws_tlx_mma(WsPy *y, const WsOp *op);
void ws_tlx_mma_wait(WsPy *y, const WsOp *op);
void ws_tlx_write(WsPy *y, const WsOp *op);
void ws_tlx_read(WsPy *y, const WsOp *op);
void ws_tlx_global(WsPy *y, const WsOp *op);
void ws_tlx_claim(WsPy *y, const WsOp *op);
void ws_tlx_take(WsPy *y, const WsOp *op);
/* --- tlx_objects.c ------------------------------------------------------------------------------
 * Lines that allocate buffers and barriers. */
void ws_tlx_objects(WsPy *y);
void ws_tlx_values(WsPy *y); /* refuses values whose extents are no powers of two */

G_END_DECLS
