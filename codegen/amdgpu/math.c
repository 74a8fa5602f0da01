/* Compute steps: the statements are those of codegen/nvptx/math*.c; here is where their elements
 * lie. Row slot r of a thread is block r of rows, column slot c column c % 4 of run c / 4. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/program.h"

void ws_amd_math(WsEmit *e, const WsOp *op)
{
    if (op->skip) {
        ws_amd_refuse(e, op, WS_WORD("a condition under which waves may skip"),
                      WS_WORD("drop `unless`"));
        return;
    }
    for (guint i = 0; i < op->n_math; i++)
        if (op->assign[i].array &&
            ws_array_calls(op->assign[i].array, WS_FUNC_LANEMAX, WS_FUNC_LANESUM)) {
            ws_amd_refuse(e, op, WS_WORD("partial results of lanes"), WS_WORD("rowmax or rowsum"));
            return;
        }
    ws_math_step(e, op);
}

static LLVMTypeRef half_type(WsEmit *e, const WsRegValue *v)
{
    return v->dtype == WS_DTYPE_F16 ? LLVMHalfTypeInContext(e->ctx)
                                    : LLVMBFloatTypeInContext(e->ctx);
}

LLVMValueRef ws_amd_math_element(WsEmit *e, guint value, guint r, guint c)
{
    const WsAmdValue *v = &e->amd->value[value];
    const WsRegValue *is = &e->p->agent[0].value[value];
    if (v->shape != WS_AMD_TILE)
        return ws_amd_get(e, v, v->shape == WS_AMD_ROWS ? r : 0, 0);
    if (v->bytes == 4)
        return ws_amd_element(e, ws_amd_get(e, v, r, c / v->words), c % v->words);
    /* columns in fours: two runs make the 8 elements of a cell */
    LLVMTypeRef halves = ws_amd_vector(half_type(e, is), 8);
    LLVMValueRef cell = LLVMBuildBitCast(e->b, ws_amd_get(e, v, r, c / 8), halves, "");
    return LLVMBuildFPExt(e->b, ws_amd_element(e, cell, c % 8), e->f32, "");
}

void ws_amd_math_assign(WsEmit *e, guint value, LLVMValueRef *made)
{
    const WsAmdValue *v = &e->amd->value[value];
    const WsRegValue *is = &e->p->agent[0].value[value];
    const gboolean packed = v->shape == WS_AMD_TILE && v->bytes == 2;
    const guint per = v->shape != WS_AMD_TILE ? 1 : packed ? 8 : v->words;
    LLVMTypeRef type = packed ? ws_amd_vector(half_type(e, is), 8) : v->type;
    for (guint b = 0; b < v->blocks; b++)
        for (guint cut = 0; cut < v->cuts; cut++) {
            const LLVMValueRef *from = made + ((gsize)b * v->cuts + cut) * per;
            LLVMValueRef x = per == 1 ? from[0] : LLVMGetUndef(type);
            for (guint i = 0; i < per && per > 1; i++)
                x = ws_amd_with(e, x, i,
                                packed ? LLVMBuildFPTrunc(e->b, from[i], half_type(e, is), "")
                                       : from[i]);
            ws_amd_set(e, v, b, cut, packed ? LLVMBuildBitCast(e->b, x, v->type, "") : x);
        }
}

LLVMValueRef ws_amd_math_column(WsEmit *e, guint c)
{
    if (e->amd->waves_n > 1) {
        ws_amd_refuse(e, e->op, WS_WORD("`col` where waves share the columns"), NULL);
        return ws_i32(e, 0);
    }
    LLVMValueRef lane = LLVMBuildShl(e->b, e->amd->lane_group, ws_i32(e, 2), "");
    return ws_add(e, lane, (gint64)c / 4 * 4 * e->amd->groups + c % 4);
}

/* Lanes 16 and 32 apart hold the same row (32 alone, where blocks have 32 rows): a swap of a
 * register with itself leaves what the ones have in one result, and what the others have in the
 * other. */
void ws_amd_math_across(WsEmit *e, LLVMValueRef bits, guint i, LLVMValueRef out[2])
{
    const guint apart = e->amd->block << i;
    if (e->host) {
        out[0] = bits;
        out[1] = ws_prim(e, WS_PRIM_WAVE_XOR, bits, ws_i32(e, apart));
        return;
    }
    LLVMValueRef no = LLVMConstInt(e->i1, 0, 0);
    LLVMValueRef both =
        ws_amd_call(e, apart == 32 ? "llvm.amdgcn.permlane32.swap" : "llvm.amdgcn.permlane16.swap",
                    0, NULL, 4, (LLVMValueRef[]){ bits, bits, no, no });
    out[0] = LLVMBuildExtractValue(e->b, both, 0, "");
    out[1] = LLVMBuildExtractValue(e->b, both, 1, "");
}
