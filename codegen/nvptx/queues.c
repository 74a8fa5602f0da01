/* Steps of the queues of a core, for the host: each becomes a call that issues it. There is no code
 * for a GPU of it. */
#include "codegen/nvptx/emit.h"

#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "target/core.h"
#include "target/target.h"

#include <string.h>

static LLVMValueRef at(WsEmit *e, const WsAccess *a)
{
    return LLVMBuildAdd(e->b, ws_stage_address(e, a), ws_view_offset(e, a, 0, 0), "");
}

static LLVMValueRef pitch(WsEmit *e, const WsAccess *a)
{
    return ws_i32(e, e->p->buffer[a->buffer].row_bytes);
}

static LLVMValueRef type(WsEmit *e, const WsAccess *a)
{
    return ws_i32(e, e->p->buffer[a->buffer].dtype);
}

static void copy(WsEmit *e, const WsOp *op)
{
    LLVMValueRef arg[10] = { at(e, &op->access[0]), e->map[op->map], ws_i32(e, op->n_coord) };
    for (guint i = 0; i < WS_MAX_RANK; i++)
        arg[3 + i] =
            i < op->n_coord ? ws_uniform_i32(e, op->coord[op->n_coord - 1 - i]) : ws_i32(e, 0);
    arg[8] = type(e, &op->access[0]);
    arg[9] = ws_i32(e, ws_op_row(op->kind)->to == WS_DATA_AT_TENSOR);
    ws_prim_call(e, WS_PRIM_HOST_QUEUE_COPY, 10, arg, 0, NULL);
}

static void move(WsEmit *e, const WsOp *op)
{
    const WsAccess *from = &op->access[0], *to = &op->access[1];
    const guint bytes = from->cols * ws_dtype_bytes(e->p->buffer[from->buffer].dtype);
    ws_prim(e, WS_PRIM_HOST_QUEUE_MOVE, at(e, to), pitch(e, to), at(e, from), pitch(e, from),
            ws_i32(e, from->rows), ws_i32(e, bytes));
}

static void vector(WsEmit *e, const WsOp *op)
{
    static const char *const word[] = { "add", "sub", "mul", "div", "max", "min" };
    const WsAccess *to = &op->access[0], *a = &op->access[1], *b = &op->access[2];
    guint operation = 0;
    while (operation < G_N_ELEMENTS(word) && strcmp(word[operation], op->math_name) != 0)
        operation++;
    if (operation == G_N_ELEMENTS(word)) {
        ws_emit_step_error(e, op, op->math_name);
        return;
    }
    ws_prim(e, WS_PRIM_HOST_QUEUE_VECTOR, ws_i32(e, operation), at(e, to), pitch(e, to), at(e, a),
            pitch(e, a), at(e, b), pitch(e, b), ws_i32(e, to->rows), ws_i32(e, to->cols),
            type(e, to));
}

static void cube(WsEmit *e, const WsOp *op)
{
    const WsAccess *sums = &op->access[0], *a = &op->access[1], *b = &op->access[2];
    const gint64 how =
        (gint64)e->p->buffer[a->buffer].dtype + (op->restart ? 256 : 0) + (b->transposed ? 512 : 0);
    ws_prim(e, WS_PRIM_HOST_QUEUE_CUBE, at(e, sums), pitch(e, sums), at(e, a), pitch(e, a),
            at(e, b), pitch(e, b), ws_i32(e, sums->rows), ws_i32(e, sums->cols), ws_i32(e, a->cols),
            ws_i32(e, how));
}

static void set(WsEmit *e, const WsOp *op)
{
    ws_prim(e, WS_PRIM_HOST_FLAG_SET, ws_barrier_address(e, op));
}

static void wait(WsEmit *e, const WsOp *op)
{
    ws_prim(e, WS_PRIM_HOST_FLAG_WAIT, ws_barrier_address(e, op));
}

static void drain(WsEmit *e, const WsOp *op)
{
    ws_prim0(e, WS_PRIM_HOST_QUEUE_DRAIN);
}

static void barrier(WsEmit *e, const WsOp *op)
{
    if (op->agent >= 0)
        ws_prim0(e, WS_PRIM_HOST_QUEUE_DRAIN);
    ws_sync_bar(e, op);
}

static const WsLower lower[WS_OP_KIND_COUNT] = {
#define WS_QUEUE_OP(op, how) [WS_OP_##op] = how,
#include "codegen/nvptx/queue_lower.def"
#undef WS_QUEUE_OP
};

WsLower ws_queue_lower(const WsEmit *e, WsOpKind kind, WsLower otherwise)
{
    if (!e->host || !e->p->hardware->core)
        return otherwise;
    return lower[kind] ? lower[kind] : otherwise;
}
