/* One operation of the current agent. The table says which kinds this lens can lower. */
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/fragment.h"
#include "program/op.h"

static void let(WsEmit *e, const WsOp *op)
{
    WsUniform u = ws_uniform(e, op->set);
    WsBinding *b = &e->var[op->var];
    if (b->kind != WS_BIND_CELL) {
        ws_emit_internal_error(e, "let of something that is no cell");
        return;
    }
    LLVMBuildStore(e->b, u.v, b->v);
    b->lo = u.lo;
    b->hi = u.hi;
}

static void advance(WsEmit *e, const WsOp *op)
{
    WsBinding *b = &e->var[op->var];
    if (b->kind != WS_BIND_CELL) {
        ws_emit_internal_error(e, "advance of something that is no counter");
        return;
    }
    LLVMValueRef now = ws_load(e, e->i32, b->v, "");
    LLVMBuildStore(e->b, LLVMBuildAdd(e->b, now, ws_uniform_i32(e, op->set), ""), b->v);
}

static void nothing(WsEmit *e, const WsOp *op)
{
    (void)e;
    (void)op;
}

typedef void (*Lower)(WsEmit *e, const WsOp *op);
static const Lower lower[WS_OP_KIND_COUNT] = {
    [WS_OP_MBAR_INIT] = ws_sync_mbar_init,
    [WS_OP_MBAR_WAIT] = ws_sync_wait,
    [WS_OP_MBAR_ARRIVE] = ws_sync_arrive,
    [WS_OP_MBAR_EXPECT] = ws_sync_expect,
    [WS_OP_TMA_LOAD] = ws_bulk_load,
    [WS_OP_TMA_STORE] = ws_bulk_store,
    [WS_OP_BULK_COMMIT] = ws_sync_simple,
    [WS_OP_BULK_WAIT] = ws_bulk_wait,
    [WS_OP_PREFETCH] = ws_bulk_prefetch,
    [WS_OP_PREFETCH_MAP] = ws_bulk_prefetch_map,
    [WS_OP_MMA_FENCE] = ws_sync_simple,
    [WS_OP_MMA] = ws_mma_step,
    [WS_OP_MMA_COMMIT] = ws_sync_simple,
    [WS_OP_MMA_WAIT] = ws_mma_wait,
    [WS_OP_MATH] = ws_math_step,
    [WS_OP_ST_SHARED] = ws_shared_st,
    [WS_OP_STMATRIX] = ws_shared_stmatrix,
    [WS_OP_CLAIM] = ws_dynamic_claim,
    [WS_OP_TAKE] = ws_dynamic_take,
    [WS_OP_BULK_COPY] = ws_bulk_copy,
    [WS_OP_CP_ROWS] = ws_gather_rows,
    [WS_OP_CP_ARRIVE] = ws_gather_arrive,
    [WS_OP_CP_COMMIT] = ws_gather_commit,
    [WS_OP_CP_WAIT] = ws_gather_wait,
    [WS_OP_ST_REMOTE] = ws_spot_store_remote,
    [WS_OP_LD_SHARED] = ws_spot_load,
    [WS_OP_LDMATRIX] = ws_spot_ldmatrix,
    [WS_OP_LD_GLOBAL] = ws_global_load,
    [WS_OP_ST_GLOBAL] = ws_global_store,
    [WS_OP_RED_GLOBAL] = ws_global_reduce,
    [WS_OP_BAR_SYNC] = ws_sync_bar,
    [WS_OP_BAR_ARRIVE] = ws_sync_bar,
    [WS_OP_WARP_SYNC] = ws_sync_simple,
    [WS_OP_CLUSTER_ARRIVE] = ws_sync_simple,
    [WS_OP_CLUSTER_WAIT] = ws_sync_simple,
    [WS_OP_FENCE_ASYNC] = ws_sync_simple,
    [WS_OP_FENCE_CLUSTER] = ws_sync_simple,
    [WS_OP_FENCE_GPU] = ws_sync_simple,
    [WS_OP_FENCE_INIT] = ws_sync_simple,
    [WS_OP_SETMAXNREG] = ws_sync_simple,
    [WS_OP_LET] = let,
    [WS_OP_ADVANCE] = advance,
    [WS_OP_DEP_WAIT] = ws_sync_simple,
    [WS_OP_DEP_LAUNCH] = ws_sync_simple,
    [WS_OP_RAW] = ws_raw_step,
    [WS_OP_MARK] = nothing, /* the recorder reads its clock */
};

/* Others can see when it happens. */
static gboolean is_seen(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->gives != WS_GIVES_NONE || (o->engine != WS_ENGINE_NONE && !ws_op_closes(kind)) ||
           ws_op_waits_for_agents(kind) || kind == WS_OP_CLAIM || kind == WS_OP_TAKE;
}

/* Sleeps before everything whose moment other agents can see. */
static void delay(WsEmit *e, const WsOp *op)
{
    if (!e->delays || e->host || op->agent < 0 || !is_seen(op->kind))
        return;
    /* Two rounds of a multiplicative hash: neighbours in place and seed have nothing in common. */
    guint32 h = (e->delays * 0x9E3779B1u) ^ (op->index * 0x85EBCA6Bu);
    h = (h ^ (h >> 15)) * 0xC2B2AE35u;
    ws_prim_call(e, WS_PRIM_DELAY, 0, NULL, 1, &h);
}

void ws_op_emit(WsEmit *e, const WsOp *op)
{
    if (e->error)
        return;
    ws_account_written(&e->account, op); /* also what is put off, and declared: its text has it */
    if (op->declared)
        return;
    if (!ws_watch_put_off(e, op))
        ws_op_emit_now(e, op);
}

void ws_op_emit_now(WsEmit *e, const WsOp *op)
{
    e->op = op;
    if (!lower[op->kind]) {
        ws_emit_step_error(e, op, NULL);
        return;
    }
    if (e->host)
        ws_prim(e, WS_PRIM_HOST_OP, ws_i32(e, op->index));
    delay(e, op);
    ws_watch_op(e, op, lower[op->kind]);
}
