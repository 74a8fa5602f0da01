/* LLVM's intrinsics by name, and what primitives of prim.def are in them. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"

#include <string.h>

LLVMValueRef ws_amd_call(WsEmit *e, const char *name, guint n_types, LLVMTypeRef *type, guint n,
                         LLVMValueRef *arg)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) {
        ws_emit_internal_error(e, "this LLVM has no %s", name);
        return LLVMGetUndef(e->i32);
    }
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(e->module, id, type, n_types);
    return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->ctx, id, type, n_types), fn, arg, n, "");
}

LLVMTypeRef ws_amd_vector(LLVMTypeRef element, guint n)
{
    return LLVMVectorType(element, n);
}

LLVMValueRef ws_amd_element(WsEmit *e, LLVMValueRef vector, guint i)
{
    return LLVMBuildExtractElement(e->b, vector, ws_i32(e, i), "");
}

LLVMValueRef ws_amd_with(WsEmit *e, LLVMValueRef vector, guint i, LLVMValueRef x)
{
    return LLVMBuildInsertElement(e->b, vector, x, ws_i32(e, i), "");
}

LLVMValueRef ws_amd_uniform(WsEmit *e, LLVMValueRef v)
{
    return e->host ? v : ws_amd_call(e, "llvm.amdgcn.readfirstlane", 1, &e->i32, 1, &v);
}

/* Functions of one float that are an instruction. */
static const char *function_of(WsPrim id)
{
    static const char *const name[WS_PRIM_COUNT] = {
        [WS_PRIM_EX2] = "llvm.amdgcn.exp2",  [WS_PRIM_LG2] = "llvm.amdgcn.log",
        [WS_PRIM_RCP] = "llvm.amdgcn.rcp",   [WS_PRIM_SQRT] = "llvm.amdgcn.sqrt",
        [WS_PRIM_RSQRT] = "llvm.amdgcn.rsq", [WS_PRIM_FLOOR] = "llvm.floor",
        [WS_PRIM_CEIL] = "llvm.ceil",
    };
    return name[id];
}

static LLVMValueRef half_bits(WsEmit *e, LLVMTypeRef half, LLVMValueRef x)
{
    LLVMValueRef bits = LLVMBuildBitCast(e->b, LLVMBuildFPTrunc(e->b, x, half, ""), e->i16, "");
    return LLVMBuildZExt(e->b, bits, e->i32, "");
}

/* (hi, lo) -> two 16-bit floats. */
static LLVMValueRef pair(WsEmit *e, LLVMTypeRef half, LLVMValueRef hi, LLVMValueRef lo)
{
    LLVMValueRef up = LLVMBuildShl(e->b, half_bits(e, half, hi), ws_i32(e, 16), "");
    return LLVMBuildOr(e->b, up, half_bits(e, half, lo), "");
}

LLVMValueRef ws_amd_prim(WsEmit *e, WsPrim id, LLVMValueRef *arg)
{
    const char *function = function_of(id);
    if (function)
        return ws_amd_call(e, function, 1, &e->f32, 1, arg);
    if (id == WS_PRIM_TID)
        return ws_amd_call(e, "llvm.amdgcn.workitem.id.x", 0, NULL, 0, NULL);
    if (id == WS_PRIM_CTAID)
        return ws_amd_call(e, "llvm.amdgcn.workgroup.id.x", 0, NULL, 0, NULL);
    if (id == WS_PRIM_NCTAID) /* of launches that are refused (kind.c) */
        return ws_i32(e, 1);
    if (id == WS_PRIM_CVT_F16X2 || id == WS_PRIM_CVT_F16X2_HERE)
        return pair(e, LLVMHalfTypeInContext(e->ctx), arg[0], arg[1]);
    if (id == WS_PRIM_CVT_BF16X2 || id == WS_PRIM_CVT_BF16X2_HERE)
        return pair(e, LLVMBFloatTypeInContext(e->ctx), arg[0], arg[1]);
    if (id == WS_PRIM_CVT_F32_F16)
        return LLVMBuildFPExt(
            e->b, LLVMBuildBitCast(e->b, arg[0], LLVMHalfTypeInContext(e->ctx), ""), e->f32, "");
    ws_amd_refuse(e, e->op, WS_WORD("this function is no instruction of gfx950 yet"), NULL);
    return LLVMGetUndef(strstr(ws_prim_row(id)->constraints, "=f") ? e->f32 : e->i32);
}
