/* Waits, barriers, priorities. The program says which of them there are and in which order; LLVM
 * adds waits for registers, and is kept from moving anything over these. */
#include "codegen/amdgpu/amd.h"
#include "program/parts/barrier.h"
#include "program/parts/retired.h"
#include "program/program.h"

#define NO_VM   63
#define NO_LGKM 15

void ws_amd_schedule(WsEmit *e, guint mask)
{
    LLVMValueRef m = ws_i32(e, mask);
    if (!e->host)
        ws_amd_call(e, "llvm.amdgcn.sched.barrier", 0, NULL, 1, &m);
}

/* Of the compiler alone: no instruction. */
static void compiler_fence(WsEmit *e)
{
    if (!e->host)
        LLVMBuildFence(e->b, LLVMAtomicOrderingAcquireRelease, 1, "");
}

/* s_waitcnt, gfx9: vmcnt in bits 0-3 and 14-15, expcnt 4-6, lgkmcnt 8-11. */
static void waitcnt(WsEmit *e, guint vm, guint lgkm)
{
    LLVMValueRef bits = ws_i32(e, (vm & 15) | 7 << 4 | lgkm << 8 | (vm >> 4) << 14);
    if (!e->host)
        ws_amd_call(e, "llvm.amdgcn.s.waitcnt", 0, NULL, 1, &bits);
}

void ws_amd_settle(WsEmit *e)
{
    waitcnt(e, 0, NO_LGKM);
}

/* vmcnt counts instructions of the wave, first in first out: those that stay are the bytes that the
 * program says. */
void ws_amd_wait(WsEmit *e, const WsOp *op)
{
    const gint64 bytes = op->wait ? op->wait->stay_bytes : 0;
    if (bytes < 0) /* nothing is ever behind them */
        return;
    guint32 stay = MIN(ws_amd_load_instructions(e, bytes), NO_VM);
    if (e->host) {
        ws_prim_call(e, WS_PRIM_CP_WAIT, 0, NULL, 1, &stay);
        return;
    }
    ws_amd_schedule(e, 0);
    waitcnt(e, stay, NO_LGKM);
    compiler_fence(e);
}

void ws_amd_barrier(WsEmit *e, const WsOp *op)
{
    if (e->host) {
        const guint32 imm[] = { 0, (guint32)op->count };
        ws_prim_call(e, WS_PRIM_BAR_SYNC, 0, NULL, 2, imm);
        return;
    }
    ws_amd_schedule(e, 0);
    if (op->border != WS_BORDER_PLAIN)
        waitcnt(e, NO_VM, 0);
    compiler_fence(e);
    ws_amd_call(e, "llvm.amdgcn.s.barrier", 0, NULL, 0, NULL);
    compiler_fence(e);
    ws_amd_schedule(e, 0);
}

void ws_amd_priority(WsEmit *e, const WsOp *op)
{
    LLVMValueRef n = LLVMConstInt(e->i16, (guint64)op->n, 0);
    if (e->host)
        return;
    ws_amd_schedule(e, 0);
    ws_amd_call(e, "llvm.amdgcn.s.setprio", 0, NULL, 1, &n);
}
