/* Devices of a mesh (LANGUAGE section 27): boxes into a tensor of a device, through a tensor map
 * that is picked at run time, and flags, through a table of where each device has them. */
#include "codegen/nvptx/emit.h"
#include "program/parts/mesh.h"
#include "program/parts/tensor.h"
#include "program/program.h"

static LLVMValueRef wide(WsEmit *e, LLVMValueRef v)
{
    return LLVMBuildSExt(e->b, v, e->i64, "");
}

static LLVMValueRef of_expr(WsEmit *e, const WsExpr *x)
{
    return wide(e, ws_uniform_i32(e, x));
}

static LLVMValueRef scaled(WsEmit *e, LLVMValueRef v, guint by)
{
    return LLVMBuildMul(e->b, v, LLVMConstInt(e->i64, by, 0), "");
}

/* --- puts ------------------------------------------------------------------------------------- */
static void put_box(WsEmit *e, const WsOp *op, LLVMValueRef at, LLVMValueRef *c, guint rank,
                    LLVMValueRef map)
{
    LLVMValueRef arg[10] = { at, map };
    guint n = e->host ? 3 : 2;
    for (guint i = 0; i < rank; i++)
        arg[n++] = c[i];
    if (!e->host) {
        ws_prim_call(e, ws_bulk_store_prim(op->reduce, rank), n, arg, 0, NULL);
        return;
    }
    while (n < 3 + WS_MAX_RANK)
        arg[n++] = ws_i32(e, 0);
    arg[2] = ws_i32(e, rank);
    arg[8] = ws_i32(e, op->reduce);
    arg[9] = ws_uniform_i32(e, op->peer->device);
    ws_prim_call(e, WS_PRIM_HOST_TMA_PUT, 10, arg, 0, NULL);
}

/* The tensor map of the device that the operation names. */
static LLVMValueRef map_of(WsEmit *e, const WsOp *op)
{
    LLVMValueRef first = LLVMBuildMul(e->b, LLVMConstInt(e->i64, (guint64)op->map, 0),
                                      of_expr(e, e->p->mesh->devices), "");
    LLVMValueRef number = LLVMBuildAdd(e->b, first, of_expr(e, op->peer->device), "");
    return LLVMBuildAdd(e->b, e->peer_map, scaled(e, number, WS_PEER_MAP_BYTES), "");
}

void ws_peer_put(WsEmit *e, const WsOp *op)
{
    if (op->map < 0 || !e->peer_map) {
        ws_emit_step_error(e, op, "a put without tensor map");
        return;
    }
    ws_bulk_boxes(e, op, map_of(e, op), put_box);
}

/* --- gets ------------------------------------------------------------------------------------- */
static void get_box(WsEmit *e, const WsOp *op, LLVMValueRef at, LLVMValueRef *c, guint rank,
                    LLVMValueRef bar)
{
    static const WsPrim prim[WS_MAX_RANK] = { WS_PRIM_TMA_LOAD_1D, WS_PRIM_TMA_LOAD_2D,
                                              WS_PRIM_TMA_LOAD_3D, WS_PRIM_TMA_LOAD_4D,
                                              WS_PRIM_TMA_LOAD_5D };
    LLVMValueRef arg[10] = { at, map_of(e, op), bar };
    guint n = 3;
    if (e->host)
        arg[n++] = ws_i32(e, rank);
    for (guint i = 0; i < (e->host ? WS_MAX_RANK : rank); i++)
        arg[n++] = i < rank ? c[i] : ws_i32(e, 0);
    if (e->host)
        arg[n++] = ws_uniform_i32(e, op->peer->device);
    ws_prim_call(e, e->host ? WS_PRIM_HOST_TMA_GET : prim[rank - 1], n, arg, 0, NULL);
}

void ws_peer_get(WsEmit *e, const WsOp *op)
{
    if (op->map < 0 || op->barrier < 0 || !e->peer_map) {
        ws_emit_step_error(e, op, "a get without tensor map or barrier");
        return;
    }
    ws_bulk_boxes(e, op, ws_barrier_address(e, op), get_box);
}

/* --- flags ------------------------------------------------------------------------------------ */
/* Bytes from where a device has its flags to the element that the operation names. */
static LLVMValueRef offset_of(WsEmit *e, const WsOp *op)
{
    LLVMValueRef at = of_expr(e, op->peer->element);
    for (gint f = 0; f < op->peer->flag; f++)
        at = LLVMBuildAdd(e->b, at, of_expr(e, e->p->mesh->flag[f].array), "");
    return scaled(e, at, 8);
}

static LLVMValueRef entry_of(WsEmit *e, LLVMValueRef device)
{
    return LLVMBuildAdd(e->b, e->flags, scaled(e, wide(e, device), 8), "");
}

static guint32 order_of(const WsPeer *peer)
{
    return (peer->relaxed ? 1 : 0) | (peer->gpu ? 2 : 0) | (peer->equals ? 4 : 0);
}

static void notify_one(WsEmit *e, const WsOp *op, LLVMValueRef device, LLVMValueRef offset,
                       LLVMValueRef amount)
{
    static const WsPrim prim[] = { WS_PRIM_NOTIFY, WS_PRIM_NOTIFY_RELAXED, WS_PRIM_NOTIFY_GPU,
                                   WS_PRIM_NOTIFY_RELAXED_GPU };
    const guint32 order = order_of(op->peer);
    LLVMValueRef arg[] = { entry_of(e, device), offset, amount };
    ws_prim_call(e, prim[order], 3, arg, 1, &order);
}

void ws_peer_notify(WsEmit *e, const WsOp *op)
{
    LLVMValueRef offset = offset_of(e, op), amount = of_expr(e, op->peer->amount);
    if (op->peer->device) {
        notify_one(e, op, ws_uniform_i32(e, op->peer->device), offset, amount);
        return;
    }
    LLVMValueRef devices = ws_uniform_i32(e, e->p->mesh->devices), zero = ws_i32(e, 0), next;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b), each = ws_block(e, "notify.each"),
                      after = ws_block(e, "notified");
    LLVMBuildBr(e->b, each); /* a mesh has a device at least */
    LLVMPositionBuilderAtEnd(e->b, each);
    LLVMValueRef d = LLVMBuildPhi(e->b, e->i32, "device");
    notify_one(e, op, d, offset, amount);
    next = ws_add(e, d, 1);
    LLVMAddIncoming(d, (LLVMValueRef[]){ zero, next },
                    (LLVMBasicBlockRef[]){ before, LLVMGetInsertBlock(e->b) }, 2);
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, next, devices, ""), each, after);
    LLVMPositionBuilderAtEnd(e->b, after);
}

void ws_peer_await(WsEmit *e, const WsOp *op)
{
    static const WsPrim prim[] = {
        WS_PRIM_AWAIT,        WS_PRIM_AWAIT_RELAXED,
        WS_PRIM_AWAIT_GPU,    WS_PRIM_AWAIT_RELAXED_GPU,
        WS_PRIM_AWAIT_EQ,     WS_PRIM_AWAIT_EQ_RELAXED,
        WS_PRIM_AWAIT_EQ_GPU, WS_PRIM_AWAIT_EQ_RELAXED_GPU,
    };
    const WsMesh *mesh = e->p->mesh;
    const guint32 order = order_of(op->peer);
    /* what the launches before have added, all of the same sizes */
    LLVMValueRef before =
        LLVMBuildMul(e->b, e->launches, of_expr(e, mesh->flag[op->peer->flag].per_launch), "");
    LLVMValueRef amount = LLVMBuildAdd(e->b, before, of_expr(e, op->peer->amount), "");
    LLVMValueRef arg[] = { entry_of(e, e->var[mesh->rank].v), offset_of(e, op), amount };
    ws_prim_call(e, prim[order], 3, arg, 1, &order);
}
