/* Products: v_mfma_f32_16x16x32. Its first operand is our b and its second our a, so that a lane's
 * four results are neighbours in a row of the accumulator, and a lane has rows for itself. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "program/parts/product.h"
#include "program/program.h"

static LLVMValueRef multiply(WsEmit *e, WsDtype t, LLVMValueRef b, LLVMValueRef a, LLVMValueRef sum)
{
    const gboolean bf16 = t == WS_DTYPE_BF16;
    if (e->host) {
        LLVMValueRef arg[12];
        const guint32 type = (guint32)t;
        for (guint i = 0; i < 4; i++) {
            arg[i] = ws_amd_element(e, sum, i);
            arg[4 + i] = ws_amd_element(e, b, i);
            arg[8 + i] = ws_amd_element(e, a, i);
        }
        LLVMValueRef out = ws_prim_call(e, WS_PRIM_MFMA_16X16X32, 12, arg, 1, &type);
        for (guint i = 0; i < 4; i++)
            sum = ws_amd_with(e, sum, i, LLVMBuildExtractValue(e->b, out, i, ""));
        return sum;
    }
    LLVMTypeRef type =
        ws_amd_vector(bf16 ? LLVMBFloatTypeInContext(e->ctx) : LLVMHalfTypeInContext(e->ctx), 8);
    LLVMValueRef zero = ws_i32(e, 0);
    LLVMValueRef arg[] = { LLVMBuildBitCast(e->b, b, type, ""),
                           LLVMBuildBitCast(e->b, a, type, ""),
                           sum,
                           zero,
                           zero,
                           zero };
    return ws_amd_call(
        e, bf16 ? "llvm.amdgcn.mfma.f32.16x16x32.bf16" : "llvm.amdgcn.mfma.f32.16x16x32.f16", 0,
        NULL, G_N_ELEMENTS(arg), arg);
}

void ws_amd_mfma(WsEmit *e, const WsOp *op)
{
    const WsMma *m = op->mma;
    gint64 first = 0;
    WsAmdValue *sum = ws_amd_value(e, op, 0), *a = ws_amd_value(e, op, 1),
               *b = ws_amd_value(e, op, 2);
    if (!sum || !a || !b)
        return;
    if (!ws_expr_is_int(m->first, &first) || m->inst_k != WS_AMD_K || m->a_type != m->b_type ||
        m->acc_type != WS_DTYPE_F32 || sum->shape != WS_AMD_TILE || !a->packed || !b->packed ||
        a->order != b->order || a->cuts != b->cuts || sum->blocks != a->blocks ||
        sum->cuts != b->blocks) {
        ws_amd_refuse(e, op, WS_WORD("a product of this shape"), NULL);
        return;
    }
    for (guint k = 0; k < a->cuts; k++)
        for (guint i = 0; i < a->blocks; i++)
            for (guint j = 0; j < b->blocks; j++) {
                LLVMValueRef to =
                    k == 0 && first ? LLVMConstNull(sum->type) : ws_amd_get(e, sum, i, j);
                ws_amd_set(
                    e, sum, i, j,
                    multiply(e, m->a_type, ws_amd_get(e, b, j, k), ws_amd_get(e, a, i, k), to));
            }
}
