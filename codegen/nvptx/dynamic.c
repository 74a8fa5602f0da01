/* Dynamic launches (LANGUAGE section 17): the next tile comes from a counter in global memory, or
 * from the slot that another agent has filled. The counter is a hidden parameter and begins at 0.
 * Every tile is followed by one claim, so a launch claims as often as it has tiles, and the
 * counter, which begins again after that many, is 0 when the kernel ends. */
#include "codegen/facts.h"
#include "codegen/nvptx/emit.h"
#include "program/parts/access.h"

static LLVMValueRef slot(WsEmit *e, const WsOp *op)
{
    return LLVMBuildAdd(e->b, ws_stage_address(e, &op->access[0]),
                        ws_view_offset(e, &op->access[0], 0, 0), "");
}

static void set_next(WsEmit *e, LLVMValueRef id)
{
    if (e->next_tile)
        LLVMBuildStore(e->b, id, e->next_tile);
    else
        ws_emit_internal_error(e, "no loop over tiles around");
}

void ws_dynamic_claim(WsEmit *e, const WsOp *op)
{
    if (ws_fact_shared_tiles(op)) {
        ws_emit_step_error(e, op, "a claim in a loop that more than the leader runs");
        return;
    }
    LLVMValueRef last = ws_add(e, e->n_tiles.v, -1);
    LLVMValueRef old = ws_prim(e, WS_PRIM_COUNT_UP, e->counter, last);
    LLVMValueRef id = LLVMBuildAdd(e->b, e->n_clusters.v, old, "claimed");
    ws_prim(e, WS_PRIM_ST_SHARED, slot(e, op), id);
    set_next(e, id);
}

void ws_dynamic_take(WsEmit *e, const WsOp *op)
{
    LLVMValueRef id = ws_prim(e, WS_PRIM_LD_SHARED, slot(e, op));
    if (!e->in_leader) /* through a shuffle, so that ptxas sees a uniform value */
        id = ws_prim(e, WS_PRIM_SHFL_IDX, id, ws_i32(e, 0));
    set_next(e, id);
}

/* Tile of position `position + 1`, as the body's claim or take has left it. */
LLVMValueRef ws_dynamic_next(WsEmit *e)
{
    return ws_load(e, e->i32, e->next_tile, "tile.next");
}

/* --- pipes that are closed: a word in each slot, 0 a round, 1 the end */

void ws_dynamic_tell(WsEmit *e, const WsOp *op)
{
    ws_prim(e, WS_PRIM_ST_SHARED, slot(e, op), ws_i32(e, op->n));
}

LLVMValueRef ws_dynamic_goes_on(WsEmit *e, const WsOp *ask)
{
    LLVMValueRef said = ws_prim(e, WS_PRIM_LD_SHARED, slot(e, ask));
    if (!e->in_leader) /* uniform, as in ws_dynamic_take */
        said = ws_prim(e, WS_PRIM_SHFL_IDX, said, ws_i32(e, 0));
    return LLVMBuildICmp(e->b, LLVMIntEQ, said, ws_i32(e, 0), "");
}

/* Cell i of the curve, `axis` 0 or 1, from the hidden table of order hilbert. */
WsUniform ws_dynamic_hilbert(WsEmit *e, WsUniform cell, guint axis, gint64 high)
{
    LLVMValueRef at = LLVMBuildZExt(e->b, cell.v, e->i64, "");
    at = LLVMBuildMul(e->b, at, LLVMConstInt(e->i64, 8, 0), "");
    at = LLVMBuildAdd(e->b, at, LLVMConstInt(e->i64, 4 * axis, 0), "");
    at = LLVMBuildAdd(e->b, e->hilbert, at, "");
    LLVMValueRef v = ws_prim(e, WS_PRIM_LDG_B32, at, LLVMConstInt(e->i1, 1, 0));
    if (!e->in_leader)
        v = ws_prim(e, WS_PRIM_SHFL_IDX, v, ws_i32(e, 0));
    return ws_uniform_value(v, 0, high);
}
