/* What builds add that report stuck waits or hold agents to an order: the rounds of the enclosing
 * loops at run time, a record of where every agent stands, the gates of a hold, and operations put
 * off to the wait that retires them. Words of the report: codegen/generate.h. */
#include "codegen/nvptx/emit.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

static gboolean watching(const WsEmit *e)
{
    return e->debug_waits || e->hold;
}

/* --- rounds -----------------------------------------------------------------------------------*/

static LLVMValueRef round_cell(WsEmit *e, const WsTree *loop)
{
    if (!e->round_cell)
        e->round_cell = g_hash_table_new(NULL, NULL);
    LLVMValueRef cell = g_hash_table_lookup(e->round_cell, loop);
    if (!cell) {
        cell = ws_cell(e, e->i32, "round");
        g_hash_table_insert(e->round_cell, (gpointer)loop, cell);
    }
    return cell;
}

void ws_watch_round(WsEmit *e, const WsTree *loop, LLVMValueRef round)
{
    if (watching(e) && loop->total_var < 0)
        LLVMBuildStore(e->b, round, round_cell(e, loop));
}

void ws_watch_tile(WsEmit *e, const WsTree *loop, LLVMValueRef id, LLVMValueRef position)
{
    e->tile_id = position ? NULL : id;
    if (position)
        ws_watch_round(e, loop, position);
}

/* (id - first)/step, from what is at hand anyway: a counter of its own would be spilled. */
static LLVMValueRef tile_round(WsEmit *e)
{
    LLVMValueRef cta = ws_prim0(e, WS_PRIM_CTAID_HERE), n = ws_i32(e, MAX(e->p->cluster, 1));
    LLVMValueRef first = LLVMBuildUDiv(e->b, cta, n, "");
    return LLVMBuildUDiv(e->b, LLVMBuildSub(e->b, e->tile_id, first, ""), e->n_clusters.v, "");
}

/* Rounds of the loops around an operation, outermost first, as the walker counts them; with `ids`
 * the tile instead of the round where tiles lie at equal steps. */
static guint rounds_of(WsEmit *e, const WsOp *op, gboolean ids, LLVMValueRef *round)
{
    const WsTree *loop[WS_HOLD_ROUNDS];
    guint n = 0;
    for (const WsTree *t = op->tree; t; t = t->parent)
        if (t->kind == WS_TREE_LOOP && n < WS_HOLD_ROUNDS)
            loop[n++] = t;
    for (guint i = 0; i < n; i++) {
        const WsTree *t = loop[n - 1 - i];
        if (t->total_var < 0 && t->over == WS_OVER_TILES && e->tile_id) {
            round[i] = ids ? e->tile_id : tile_round(e);
            continue;
        }
        LLVMValueRef cell = t->total_var >= 0 ? e->var[t->total_var].v : round_cell(e, t);
        round[i] = ws_load(e, e->i32, cell, "");
    }
    return n;
}

/* --- where an agent stands --------------------------------------------------------------------*/

/* Address of the record of this agent in this CTA. */
static LLVMValueRef record(WsEmit *e)
{
    guint agent = (guint)(e->agent - e->p->agent), agents = MAX(e->p->n_agents, 1);
    LLVMValueRef cta = ws_prim0(e, WS_PRIM_CTAID_HERE);
    LLVMValueRef last = ws_i32(e, WS_DEBUG_AGENTS / agents - 1);
    LLVMValueRef over = LLVMBuildICmp(e->b, LLVMIntUGT, cta, last, "");
    cta = LLVMBuildSelect(e->b, over, last, cta, "");
    LLVMValueRef at = ws_add(e, LLVMBuildMul(e->b, cta, ws_i32(e, agents), ""), agent);
    at = LLVMBuildMul(e->b, at, ws_i32(e, 4 * WS_DEBUG_RECORD), "");
    at = LLVMBuildZExt(e->b, ws_add(e, at, 4 * WS_DEBUG_HEADER), e->i64, "");
    return LLVMBuildAdd(e->b, e->debug, at, "");
}

/* The three outermost rounds. What is not there is any value at hand: registers are scarce in the
 * groups that give theirs away. Returns the operation's word. */
static guint32 first_rounds(WsEmit *e, const WsOp *op, LLVMValueRef at_hand, LLVMValueRef out[3])
{
    LLVMValueRef round[WS_HOLD_ROUNDS];
    guint n = MIN(rounds_of(e, op, TRUE, round), 3);
    for (guint i = 0; i < 3; i++)
        out[i] = i < n ? round[i] : at_hand;
    const WsTree *outer = NULL;
    for (const WsTree *t = op->tree; t; t = t->parent)
        outer = t->kind == WS_TREE_LOOP ? t : outer;
    gboolean id = outer && outer->over == WS_OVER_TILES && outer->total_var < 0 && e->tile_id;
    return op->index | n << WS_DEBUG_ROUNDS_SHIFT | (id ? WS_DEBUG_TILE_ID : 0u);
}

/* What both primitives that write records are told about the buffer; [4] and [5] are their own. */
static void literals(WsEmit *e, guint32 word, guint32 imm[7])
{
    guint agent = (guint)(e->agent - e->p->agent), agents = MAX(e->p->n_agents, 1);
    const guint32 all[] = { word,
                            4 * WS_DEBUG_RECORD * agents,
                            4 * (WS_DEBUG_HEADER + WS_DEBUG_RECORD * agent),
                            WS_DEBUG_AGENTS / agents - 1,
                            0,
                            0,
                            e->debug_param };
    memcpy(imm, all, sizeof all);
}

gboolean ws_watch_wait(WsEmit *e, const WsOp *op, LLVMValueRef bar, LLVMValueRef parity)
{
    if (!e->debug_waits || e->host || !e->agent)
        return FALSE;
    LLVMValueRef round[3];
    guint32 word = first_rounds(e, op, bar, round);
    guint32 imm[7];
    LLVMValueRef arg[] = { bar, parity, round[0], round[1], round[2] };
    literals(e, word, imm);
    imm[4] = (guint32)e->p->barrier[op->barrier].offset;
    imm[5] = MAX(e->p->barrier[op->barrier].slots, 1);
    ws_prim_call(e, WS_PRIM_MBAR_WAIT_DEBUG, 5, arg, 7, imm);
    return TRUE;
}

/* Named and cluster barriers cannot be asked: the agent says that it goes there, and that it left.
 */
static void stands(WsEmit *e, const WsOp *op, guint32 state)
{
    if (!e->debug_waits || e->host || !e->agent || !ws_op_waits_for_agents(op->kind) ||
        ws_op_waits_phase(op->kind))
        return;
    LLVMValueRef round[3];
    guint32 word = first_rounds(e, op, ws_i32(e, 0), round);
    guint32 imm[7];
    literals(e, word, imm);
    imm[4] = state;
    ws_prim_call(e, WS_PRIM_STANDS, 3, round, 7, imm);
}

void ws_watch_done(WsEmit *e)
{
    if (!e->debug_waits || e->host)
        return;
    guint32 imm[7];
    LLVMValueRef none[] = { ws_i32(e, 0), ws_i32(e, 0), ws_i32(e, 0) };
    literals(e, 0, imm);
    imm[4] = WS_DEBUG_DONE;
    ws_prim_call(e, WS_PRIM_STANDS, 3, none, 7, imm);
}

/* --- gates ------------------------------------------------------------------------------------*/

typedef struct {
    LLVMValueRef need, settle, then, need_after, then_after, first, need_others;
} Gate;

static LLVMValueRef meant(WsEmit *e, const WsHoldGate *g, LLVMValueRef *round, guint n)
{
    LLVMValueRef is = LLVMBuildICmp(e->b, LLVMIntEQ, e->cta_rank.v, ws_i32(e, g->rank), "gate");
    for (guint i = 0; i < MIN(g->n_rounds, n); i++) {
        LLVMValueRef same = LLVMBuildICmp(e->b, LLVMIntEQ, round[i], ws_i32(e, g->round[i]), "");
        is = LLVMBuildAnd(e->b, is, same, "");
    }
    return is;
}

static gboolean gate_of(WsEmit *e, const WsOp *op, Gate *out)
{
    LLVMValueRef round[WS_HOLD_ROUNDS],
        *field[] = { &out->need,       &out->settle, &out->then,       &out->need_after,
                     &out->then_after, &out->first,  &out->need_others };
    gboolean any = FALSE;
    guint n = 0;
    for (guint i = 0; e->hold && op->agent >= 0 && i < e->hold->gate->len; i++) {
        const WsHoldGate *g = &g_array_index(e->hold->gate, WsHoldGate, i);
        if (g->op != op->index)
            continue;
        if (!any) {
            n = rounds_of(e, op, FALSE, round);
            for (guint k = 0; k < G_N_ELEMENTS(field); k++)
                *field[k] = ws_i32(e, k == 1 || k == 5 ? 0 : WS_HOLD_FREE);
            any = TRUE;
        }
        LLVMValueRef is = meant(e, g, round, n);
        guint32 value[] = { g->need,       g->settle, g->then,       g->need_after,
                            g->then_after, g->first,  g->need_others };
        for (guint k = 0; k < G_N_ELEMENTS(field); k++)
            *field[k] = LLVMBuildSelect(e->b, is, ws_i32(e, value[k]), *field[k], "");
    }
    return any;
}

static LLVMValueRef clock_address(WsEmit *e)
{
    if (e->host)
        return LLVMConstInt(e->i64, 0, 0);
    return LLVMBuildAdd(e->b, e->debug, LLVMConstInt(e->i64, 4 * WS_DEBUG_CLOCK, 0), "");
}

/* Other warps than the first: what is meant for them. */
static void split_warps(WsEmit *e, Gate *g)
{
    LLVMValueRef none = ws_i32(e, WS_HOLD_FREE), zero = ws_i32(e, 0);
    LLVMValueRef only = LLVMBuildICmp(e->b, LLVMIntNE, g->first, zero, "");
    LLVMValueRef other = LLVMBuildICmp(e->b, LLVMIntNE, e->agent_warp, zero, "");
    other = LLVMBuildAnd(e->b, other, only, "");
    g->need = LLVMBuildSelect(e->b, other, g->need_others, g->need, "");
    g->then = LLVMBuildSelect(e->b, other, none, g->then, "");
}

static void set_clock(WsEmit *e, LLVMValueRef then, LLVMValueRef first)
{
    LLVMValueRef counter = LLVMConstInt(e->i64, 0, 0);
    if (!e->host) {
        LLVMValueRef spare = LLVMConstInt(e->i64, 4 * WS_DEBUG_COUNTER, 0);
        counter = LLVMBuildAdd(e->b, record(e), spare, "");
    }
    LLVMValueRef warps = ws_i32(e, e->in_leader ? 0 : e->agent->warps);
    LLVMValueRef only = LLVMBuildICmp(e->b, LLVMIntNE, first, ws_i32(e, 0), "");
    if (!e->in_leader)
        warps = LLVMBuildSelect(e->b, only, ws_i32(e, 1), warps, "");
    ws_prim(e, WS_PRIM_HOLD_SET, clock_address(e), then, counter, warps);
}

/* --- operations put off -----------------------------------------------------------------------*/

/* What an agent may do between an asynchronous operation and the wait that retires it. */
static gboolean passes_late(const WsOp *op)
{
    const WsOpRow *o = ws_op_row(op->kind);
    const gboolean hands_over = ws_op_arrives(op->kind) || ws_op_joins(op->kind);
    return (hands_over && o->deed == WS_DEED_NONE && o->waits == WS_WAITS_NONE) ||
           op->kind == WS_OP_WARP_SYNC || op->kind == WS_OP_MARK;
}

static gboolean passes_all(const WsTree *t)
{
    return t->kind == WS_TREE_OP && passes_late(t->op);
}

void ws_watch_flush(WsEmit *e)
{
    GPtrArray *late = g_steal_pointer(&e->put_off);
    for (guint i = 0; late && i < late->len; i++) {
        const WsOp *op = late->pdata[i];
        gboolean guard = !e->in_leader && ws_op_leader_only(op);
        LLVMBasicBlockRef after = guard ? ws_if(e, e->leader, "late") : NULL;
        e->in_leader |= guard;
        ws_op_emit_now(e, op);
        if (!guard)
            continue;
        e->in_leader = FALSE;
        ws_end_if(e, after);
    }
    g_clear_pointer(&late, g_ptr_array_unref);
}

/* Before a part of a sequence is emitted: what was put off comes first unless it may be passed. */
void ws_watch_before(WsEmit *e, const WsTree *t)
{
    if (e->put_off && !passes_all(t) &&
        !(t->kind == WS_TREE_OP && ws_hold_is_late(e->hold, t->op->index)))
        ws_watch_flush(e);
}

gboolean ws_watch_put_off(WsEmit *e, const WsOp *op)
{
    if (!ws_hold_is_late(e->hold, op->index))
        return FALSE;
    if (!e->put_off)
        e->put_off = g_ptr_array_new();
    g_ptr_array_add(e->put_off, (gpointer)op);
    return TRUE;
}

/* --- one operation ----------------------------------------------------------------------------*/

void ws_watch_op(WsEmit *e, const WsOp *op, void (*lower)(WsEmit *, const WsOp *))
{
    Gate g;
    gboolean gated = gate_of(e, op, &g), sync = ws_op_waits_join(op->kind);
    if (gated) {
        split_warps(e, &g);
        ws_prim(e, WS_PRIM_HOLD_WAIT, clock_address(e), g.need, g.settle);
    }
    if (gated && sync)
        set_clock(e, g.then, g.first);
    stands(e, op, WS_DEBUG_NAMED);
    lower(e, op);
    stands(e, op, WS_DEBUG_RUNNING);
    if (gated && sync)
        ws_prim(e, WS_PRIM_HOLD_WAIT, clock_address(e), g.need_after, ws_i32(e, 0));
    if (gated)
        set_clock(e, sync ? g.then_after : g.then, g.first);
}
