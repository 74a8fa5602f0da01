/* Products: v_mfma of 16 rows (16x16x32 of 16 bits, 16x16x128 of 8) or of 32 (32x32x16, 32x32x64).
 * Its first operand is our b and its second our a, so that the results of a lane are neighbours in
 * a row of the accumulator, and a lane has rows for itself. Which columns of the contraction a lane
 * holds does not matter, as long as both operands agree. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "program/parts/product.h"
#include "program/program.h"

static LLVMValueRef host_address(WsEmit *e, guint i, LLVMValueRef x)
{
    LLVMBuildStore(e->b, x, e->amd->scratch[i]);
    return LLVMBuildPtrToInt(e->b, e->amd->scratch[i], e->i64, "");
}

static LLVMValueRef on_host(WsEmit *e, const WsMma *m, LLVMValueRef b, LLVMValueRef a,
                            LLVMValueRef sum)
{
    const guint32 imm[] = { e->amd->block, (guint32)m->b_type, (guint32)m->a_type };
    LLVMValueRef arg[] = { host_address(e, 0, sum), host_address(e, 1, b), host_address(e, 2, a) };
    ws_prim_call(e, WS_PRIM_MFMA, G_N_ELEMENTS(arg), arg, G_N_ELEMENTS(imm), imm);
    return LLVMBuildLoad2(e->b, LLVMTypeOf(sum), e->amd->scratch[0], "");
}

/* Formats of v_mfma_*_f8f6f4; scales of 0 stand for the instruction without them. */
static LLVMValueRef of_eight_bits(WsEmit *e, const WsMma *m, LLVMValueRef b, LLVMValueRef a,
                                  LLVMValueRef sum)
{
    LLVMValueRef zero = ws_i32(e, 0);
    LLVMValueRef arg[] = { b,
                           a,
                           sum,
                           ws_i32(e, m->b_type == WS_DTYPE_E5M2),
                           ws_i32(e, m->a_type == WS_DTYPE_E5M2),
                           zero,
                           zero,
                           zero,
                           zero };
    LLVMTypeRef type[] = { LLVMTypeOf(b), LLVMTypeOf(a) };
    return ws_amd_call(e,
                       e->amd->block == 16 ? "llvm.amdgcn.mfma.scale.f32.16x16x128.f8f6f4"
                                           : "llvm.amdgcn.mfma.scale.f32.32x32x64.f8f6f4",
                       2, type, G_N_ELEMENTS(arg), arg);
}

static LLVMValueRef multiply(WsEmit *e, const WsMma *m, LLVMValueRef b, LLVMValueRef a,
                             LLVMValueRef sum)
{
    static const char *const name[2][2] = {
        { "llvm.amdgcn.mfma.f32.16x16x32.f16", "llvm.amdgcn.mfma.f32.16x16x32.bf16" },
        { "llvm.amdgcn.mfma.f32.32x32x16.f16", "llvm.amdgcn.mfma.f32.32x32x16.bf16" },
    };
    const gboolean bf16 = m->a_type == WS_DTYPE_BF16;
    if (e->host)
        return on_host(e, m, b, a, sum);
    if (ws_dtype_bytes(m->a_type) == 1)
        return of_eight_bits(e, m, b, a, sum);
    LLVMTypeRef type =
        ws_amd_vector(bf16 ? LLVMBFloatTypeInContext(e->ctx) : LLVMHalfTypeInContext(e->ctx), 8);
    LLVMValueRef zero = ws_i32(e, 0);
    LLVMValueRef arg[] = { LLVMBuildBitCast(e->b, b, type, ""),
                           LLVMBuildBitCast(e->b, a, type, ""),
                           sum,
                           zero,
                           zero,
                           zero };
    return ws_amd_call(e, name[e->amd->block == 32][bf16], 0, NULL, G_N_ELEMENTS(arg), arg);
}

void ws_amd_mfma(WsEmit *e, const WsOp *op)
{
    const WsMma *m = op->mma;
    gint64 first = 0;
    WsAmdValue *sum = ws_amd_value(e, op, 0), *a = ws_amd_value(e, op, 1),
               *b = ws_amd_value(e, op, 2);
    if (!sum || !a || !b)
        return;
    if (!ws_expr_is_int(m->first, &first) || a->bytes > 2 || a->bytes != b->bytes ||
        (m->a_type != m->b_type && a->bytes != 1) || m->acc_type != WS_DTYPE_F32 ||
        sum->shape != WS_AMD_TILE || a->shape != WS_AMD_TILE || b->shape != WS_AMD_TILE ||
        a->order != b->order || a->cuts != b->cuts || a->cols != a->cuts * m->inst_k ||
        sum->blocks != a->blocks || sum->cuts != b->blocks) {
        ws_amd_refuse(e, op, WS_WORD("a product of this shape"), NULL);
        return;
    }
    for (guint k = 0; k < a->cuts; k++)
        for (guint i = 0; i < a->blocks; i++)
            for (guint j = 0; j < b->blocks; j++) {
                LLVMValueRef to =
                    k == 0 && first ? LLVMConstNull(sum->type) : ws_amd_get(e, sum, i, j);
                ws_amd_set(e, sum, i, j,
                           multiply(e, m, ws_amd_get(e, b, j, k), ws_amd_get(e, a, i, k), to));
            }
}
