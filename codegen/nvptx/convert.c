/* Conversions between an element's stored bits and the kinds of arithmetic: f32 and i32. */
#include "codegen/nvptx/fragment.h"
#include "program/parts/dtype.h"

static LLVMValueRef low_half(WsEmit *e, LLVMValueRef bits)
{
    return LLVMBuildTrunc(e->b, bits, e->i16, "");
}

static LLVMValueRef half_to_float(WsEmit *e, LLVMValueRef bits)
{
    return ws_prim(e, WS_PRIM_CVT_F32_F16, low_half(e, bits));
}

LLVMValueRef ws_widen_pair(WsEmit *e, WsDtype t, LLVMValueRef bits)
{
    return ws_prim(e, t == WS_DTYPE_E4M3 ? WS_PRIM_CVT_F16X2_E4M3 : WS_PRIM_CVT_F16X2_E5M2,
                   low_half(e, bits));
}

LLVMValueRef ws_widen_half(WsEmit *e, WsDtype t, LLVMValueRef bits, guint half)
{
    bits = ws_widen_pair(e, t, bits);
    return half_to_float(e, half ? LLVMBuildLShr(e->b, bits, ws_i32(e, 16), "") : bits);
}

LLVMValueRef ws_widen(WsEmit *e, WsDtype t, LLVMValueRef bits)
{
    switch (t) {
    case WS_DTYPE_BF16:
        bits = LLVMBuildShl(e->b, bits, ws_i32(e, 16), "");
        return LLVMBuildBitCast(e->b, bits, e->f32, "");
    case WS_DTYPE_F16:
        return half_to_float(e, bits);
    case WS_DTYPE_E4M3:
    case WS_DTYPE_E5M2:
        return ws_widen_half(e, t, bits, 0);
    case WS_DTYPE_I8:
        bits = LLVMBuildShl(e->b, bits, ws_i32(e, 24), "");
        return LLVMBuildAShr(e->b, bits, ws_i32(e, 24), "");
    case WS_DTYPE_U8:
        return LLVMBuildAnd(e->b, bits, ws_i32(e, 255), "");
    case WS_DTYPE_I32:
        return bits;
    case WS_DTYPE_COUNT:
    case WS_DTYPE_F32:
    case WS_DTYPE_TF32:
    default: /* f32, tf32 */
        return LLVMBuildBitCast(e->b, bits, e->f32, "");
    }
}

LLVMValueRef ws_narrow_pair(WsEmit *e, WsDtype t, LLVMValueRef lo, LLVMValueRef hi)
{
    static const WsPrim prim[WS_DTYPE_COUNT] = {
        [WS_DTYPE_BF16] = WS_PRIM_CVT_BF16X2,
        [WS_DTYPE_F16] = WS_PRIM_CVT_F16X2,
        [WS_DTYPE_E4M3] = WS_PRIM_CVT_E4M3X2,
        [WS_DTYPE_E5M2] = WS_PRIM_CVT_E5M2X2,
    };
    if (!ws_dtype_real(t)) { /* i8, u8 */
        lo = LLVMBuildAnd(e->b, lo, ws_i32(e, 255), "");
        hi = LLVMBuildAnd(e->b, hi, ws_i32(e, 255), "");
        return LLVMBuildOr(e->b, lo, LLVMBuildShl(e->b, hi, ws_i32(e, 8), ""), "");
    }
    LLVMValueRef pair = ws_prim(e, prim[t], hi, lo);
    return LLVMTypeOf(pair) == e->i16 ? LLVMBuildZExt(e->b, pair, e->i32, "") : pair;
}

LLVMValueRef ws_narrow(WsEmit *e, WsDtype t, LLVMValueRef x)
{
    guint bytes = ws_dtype_bytes(t);
    if (t == WS_DTYPE_TF32)
        return ws_prim(e, WS_PRIM_CVT_TF32, x);
    if (bytes == 4)
        return LLVMTypeOf(x) == e->i32 ? x : LLVMBuildBitCast(e->b, x, e->i32, "");
    LLVMValueRef zero = ws_dtype_real(t) ? LLVMConstReal(e->f32, 0) : ws_i32(e, 0);
    return LLVMBuildAnd(e->b, ws_narrow_pair(e, t, x, zero), ws_i32(e, bytes == 2 ? 0xffff : 0xff),
                        "");
}
