/* mbarriers, named barriers, fences, and everything that is one primitive without operands. */
#include "codegen/facts.h"
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/replicas/join.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

void ws_sync_mbar_init(WsEmit *e, const WsOp *op)
{
    ws_prim(e, WS_PRIM_MBAR_INIT, ws_barrier_address(e, op), ws_i32(e, op->n));
}

void ws_sync_wait(WsEmit *e, const WsOp *op)
{
    LLVMValueRef bar = ws_barrier_address(e, op), parity = ws_uniform_use(e, op->parity).v;
    if (ws_watch_wait(e, op, bar, parity))
        return;
    ws_prim(e, op->scope == WS_SCOPE_CLUSTER ? WS_PRIM_MBAR_WAIT_CLUSTER : WS_PRIM_MBAR_WAIT, bar,
            parity);
}

static void arrive_remote(WsEmit *e, LLVMValueRef bar, LLVMValueRef rank, gint64 n)
{
    ws_prim(e, ws_fact_publishes(e->p) ? WS_PRIM_MBAR_ARRIVE_PUBLISH : WS_PRIM_MBAR_ARRIVE_REMOTE,
            bar, rank, ws_i32(e, n));
}

static void arrive_at(WsEmit *e, const WsOp *op, LLVMValueRef bar, gint64 n)
{
    if (op->ctas.kind == WS_CTAS_OWN) {
        if (n == 1)
            ws_prim(e, WS_PRIM_MBAR_ARRIVE, bar);
        else
            ws_prim(e, WS_PRIM_MBAR_ARRIVE_N, bar, ws_i32(e, n));
    } else if (op->ctas.kind == WS_CTAS_EXPR) {
        arrive_remote(e, bar, ws_uniform_i32(e, op->ctas.expr), n);
    } else {
        for (guint c = 0; c < e->p->cluster; c++) {
            if (ws_fact_reaches(op, c))
                arrive_remote(e, bar, ws_i32(e, c), n);
        }
    }
}

/* `count` arrivals by the agent: by the leader, or by every per-th lane. */
void ws_sync_arrive(WsEmit *e, const WsOp *op)
{
    if (op->per == 0) { /* the leader's guard is in place */
        arrive_at(e, op, ws_barrier_address(e, op), op->count);
        return;
    }
    gint64 lanes = e->agent->threads / op->per;
    if (lanes < 1 || op->count % lanes != 0) {
        ws_emit_internal_error(e, "%" G_GINT64_FORMAT " arrivals by %" G_GINT64_FORMAT " lanes",
                               op->count, lanes);
        return;
    }
    LLVMValueRef bar = ws_barrier_address(e, op);
    if (op->per == 1) {
        arrive_at(e, op, bar, op->count / lanes);
        return;
    }
    LLVMValueRef rest = LLVMBuildURem(e->b, e->agent_tid, ws_i32(e, op->per), "");
    LLVMValueRef mine = LLVMBuildICmp(e->b, LLVMIntEQ, rest, ws_i32(e, 0), "");
    LLVMBasicBlockRef after = ws_if(e, mine, "arrive");
    arrive_at(e, op, bar, op->count / lanes);
    ws_end_if(e, after);
}

void ws_sync_expect(WsEmit *e, const WsOp *op)
{
    LLVMValueRef bar = ws_barrier_address(e, op), bytes = ws_i32(e, op->bytes);
    if (op->count > 1) {
        ws_prim(e, WS_PRIM_MBAR_EXPECT_ONLY, bar, bytes);
        ws_prim(e, WS_PRIM_MBAR_ARRIVE_N, bar, ws_i32(e, op->count));
        return;
    }
    ws_prim(e, op->count ? WS_PRIM_MBAR_EXPECT : WS_PRIM_MBAR_EXPECT_ONLY, bar, bytes);
}

/* Named barriers: the hardware id and the number of threads are immediates. */
void ws_sync_bar(WsEmit *e, const WsOp *op)
{
    guint32 id = 0, threads = (guint32)op->count;
    if (op->barrier >= 0) {
        WsUniform u = ws_uniform_const(e, 0);
        if (op->element)
            u = ws_uniform(e, op->element);
        gint64 element;
        if (!ws_uniform_known(&u, &element) || element < 0 ||
            element >= e->p->barrier[op->barrier].array) {
            ws_emit_step_error(e, op, "a named barrier whose element is not constant");
            return;
        }
        id = (guint32)e->p->barrier[op->barrier].hw_id[element];
    }
    const gboolean arrives = op->kind == WS_OP_BAR_ARRIVE;
    if (e->agent && ws_replicas_joined(e, e->agent)) {
        LLVMValueRef number = ws_i32(e, id);
        ws_prim_call(e, arrives ? WS_PRIM_BAR_ARRIVE_AT : WS_PRIM_BAR_SYNC_AT, 1, &number, 1,
                     &threads);
    } else {
        ws_prim_call(e, arrives ? WS_PRIM_BAR_ARRIVE : WS_PRIM_BAR_SYNC, 0, NULL, 2,
                     (guint32[]){ id, threads });
    }
    const WsOp *wait = ws_fact_wait_again(e->p, op);
    if (wait)
        ws_prim_call(e, WS_PRIM_WGMMA_WAIT, 0, NULL, 1, (guint32[]){ (guint32)wait->n });
    if (ws_fact_barrier_before_math(e->p, op))
        ws_prim(e, WS_PRIM_STAY, e->n_tiles.v);
}

void ws_sync_plain(WsEmit *e, const WsOp *op)
{
    ws_prim0(e, ws_fact_plain(op->kind));
}

void ws_sync_fence_async(WsEmit *e, const WsOp *op)
{
    (void)op;
    ws_prim0(e, ws_fact_peeks(e->p) ? WS_PRIM_FENCE_ASYNC_CLUSTER : WS_PRIM_FENCE_ASYNC);
}

void ws_sync_registers(WsEmit *e, const WsOp *op)
{
    /* In shared warp groups the role switch has done it for all warps together. */
    if (!e->agent || e->whole_group)
        ws_prim_call(e, op->increase ? WS_PRIM_SETMAXNREG_INC : WS_PRIM_SETMAXNREG_DEC, 0, NULL, 1,
                     (guint32[]){ (guint32)op->n });
}
