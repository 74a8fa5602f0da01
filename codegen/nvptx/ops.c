/* One operation of the current agent. lower.def says which kinds this lens can lower. */
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
}

#define UNKNOWN                       NULL
#define PLAIN                         ws_sync_plain
#define WS_LOWER(id, prim, llvm, ...) [WS_OP_##id] = llvm,
static const WsLower lower[WS_OP_KIND_COUNT] = {
#include "codegen/lower.def"
};

/* Others can see when it happens. */
static gboolean is_seen(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->gives != WS_GIVES_NONE || (o->engine != WS_ENGINE_NONE && !ws_op_closes(kind)) ||
           ws_op_waits_for_agents(kind) || ws_op_hands_on(kind);
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
    const WsLower lowers =
        e->kind ? e->kind->lower[op->kind] : ws_queue_lower(e, op->kind, lower[op->kind]);
    e->op = op;
    if (!lowers) {
        ws_emit_step_error(e, op, NULL);
        return;
    }
    if (e->host)
        ws_prim(e, WS_PRIM_HOST_OP, ws_i32(e, op->index));
    delay(e, op);
    ws_watch_op(e, op, lowers);
}
