/* Shared-memory addresses: 32-bit offsets in the CTA's shared window. */
#include "codegen/nvptx/emit.h"
#include "program/parts/access.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/program.h"

static LLVMValueRef scaled(WsEmit *e, WsUniform u, guint64 by)
{
    return ws_uniform_op(e, WS_EXPR_MUL, u, ws_uniform_const(e, (gint64)by)).v;
}

static LLVMValueRef plus(WsEmit *e, LLVMValueRef base, LLVMValueRef more)
{
    return LLVMBuildAdd(e->b, base, more, "");
}

LLVMValueRef ws_barrier_address(WsEmit *e, const WsOp *op)
{
    const WsBarrier *b = &e->p->barrier[op->barrier];
    LLVMValueRef at = ws_add(e, e->shared, (gint64)b->offset);
    if (op->element)
        at = plus(e, at, scaled(e, ws_uniform_use(e, op->element), (guint64)b->slots * 8));
    if (op->slot)
        at = plus(e, at, scaled(e, ws_uniform_use(e, op->slot), 8));
    return at;
}

LLVMValueRef ws_stage_address(WsEmit *e, const WsAccess *a)
{
    const WsBuffer *b = &e->p->buffer[a->buffer];
    LLVMValueRef at = ws_add(e, e->shared, (gint64)b->offset);
    if (a->element)
        at = plus(e, at, scaled(e, ws_uniform_use(e, a->element), b->array_pitch));
    if (a->stage)
        at = plus(e, at, scaled(e, ws_uniform_use(e, a->stage), b->stage_pitch));
    return at;
}

LLVMValueRef ws_view_offset(WsEmit *e, const WsAccess *a, guint row, guint col)
{
    const WsBuffer *b = &e->p->buffer[a->buffer];
    guint element_bytes = ws_dtype_bytes(b->dtype), chunk_cols = MAX(b->chunk_cols, 1);
    WsUniform zero = ws_uniform_const(e, 0);
    WsUniform r = a->row0 ? ws_uniform_use(e, a->row0) : zero;
    WsUniform c = a->col0 ? ws_uniform_use(e, a->col0) : zero;
    gboolean outer = e->nonneg;
    e->nonneg = TRUE;
    r = ws_uniform_op(e, WS_EXPR_ADD, r, ws_uniform_const(e, row));
    c = ws_uniform_op(e, WS_EXPR_ADD, c, ws_uniform_const(e, col));
    WsUniform cols = ws_uniform_const(e, chunk_cols);
    LLVMValueRef at = scaled(e, ws_uniform_op(e, WS_EXPR_DIV, c, cols), b->chunk_bytes);
    at = plus(e, at, scaled(e, ws_uniform_op(e, WS_EXPR_MOD, c, cols), element_bytes));
    at = plus(e, at, scaled(e, r, b->row_bytes));
    e->nonneg = outer;
    return at;
}
