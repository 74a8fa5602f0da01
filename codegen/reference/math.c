/* Reference arithmetic that LLVM has no portable instruction for: exp2, log2 and tanh in float64,
 * and the widening of stored element types. Built as IR, so that host and GPU compute the same. */
#include "codegen/reference/internal.h"

#include <math.h>

static LLVMValueRef real(RefBuilder *r, double value)
{
    return LLVMConstReal(r->f64, value);
}

static LLVMValueRef fma_(RefBuilder *r, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    return LLVMBuildFAdd(r->b, LLVMBuildFMul(r->b, a, b, ""), c, "");
}

/* 2^n for an integer n of -1022..1023, as double. */
static LLVMValueRef power(RefBuilder *r, LLVMValueRef n)
{
    LLVMValueRef biased = LLVMBuildAdd(r->b, n, ws_ref_int(r, 1023), "");
    return LLVMBuildBitCast(r->b, LLVMBuildShl(r->b, biased, ws_ref_int(r, 52), ""), r->f64, "");
}

static LLVMValueRef select_real(RefBuilder *r, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b,
                                LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(r->b, LLVMBuildFCmp(r->b, p, a, b, ""), yes, no, "");
}

/* x = n + f with |f| <= 1/2; 2^f by its Taylor series to degree 14 (remainder below 1e-18); 2^n in
 * two factors so that denormal results come out right. */
static LLVMValueRef build_exp2(RefBuilder *r, LLVMValueRef x)
{
    LLVMValueRef low = select_real(r, LLVMRealOLT, x, real(r, -1080), real(r, -1080), x);
    LLVMValueRef c = select_real(r, LLVMRealOGT, low, real(r, 1030), real(r, 1030), low);
    LLVMValueRef safe = select_real(r, LLVMRealUNO, c, c, real(r, 0), c);
    LLVMValueRef up = LLVMBuildFAdd(r->b, safe, real(r, 4096.5), "");
    LLVMValueRef n =
        LLVMBuildSub(r->b, LLVMBuildFPToSI(r->b, up, r->i64, ""), ws_ref_int(r, 4096), "");
    LLVMValueRef f = LLVMBuildFSub(r->b, safe, LLVMBuildSIToFP(r->b, n, r->f64, ""), "");
    LLVMValueRef t = LLVMBuildFMul(r->b, f, real(r, M_LN2), "");
    LLVMValueRef sum = real(r, 1), half, rest, result;
    int k;
    for (k = 14; k >= 1; k--) /* Horner: 1 + t/1 (1 + t/2 (1 + …)) */
        sum = fma_(r, LLVMBuildFMul(r->b, t, real(r, 1.0 / k), ""), sum, real(r, 1));
    half = LLVMBuildAShr(r->b, n, ws_ref_int(r, 1), "");
    rest = LLVMBuildSub(r->b, n, half, "");
    result = LLVMBuildFMul(r->b, LLVMBuildFMul(r->b, sum, power(r, half), ""), power(r, rest), "");
    result = select_real(r, LLVMRealOLE, x, real(r, -1080), real(r, 0), result);
    result = select_real(r, LLVMRealOGE, x, real(r, 1030), real(r, INFINITY), result);
    return select_real(r, LLVMRealUNO, x, x, x, result);
}

/* x = m 2^e with m in [sqrt(1/2), sqrt(2)); log2(m) = 2/ln2 atanh((m - 1)/(m + 1)). */
static LLVMValueRef build_log2(RefBuilder *r, LLVMValueRef x)
{
    LLVMValueRef tiny = LLVMBuildFCmp(r->b, LLVMRealOLT, x, real(r, 0x1p-1022), "");
    LLVMValueRef scaled =
        LLVMBuildSelect(r->b, tiny, LLVMBuildFMul(r->b, x, real(r, 0x1p54), ""), x, "");
    LLVMValueRef bits = LLVMBuildBitCast(r->b, scaled, r->i64, "");
    LLVMValueRef over = LLVMBuildSub(r->b, bits, ws_ref_int(r, 0x3fe6a09e667f3bcd), "");
    LLVMValueRef e = LLVMBuildAShr(r->b, over, ws_ref_int(r, 52), "");
    LLVMValueRef m = LLVMBuildBitCast(
        r->b, LLVMBuildSub(r->b, bits, LLVMBuildShl(r->b, e, ws_ref_int(r, 52), ""), ""), r->f64,
        "");
    LLVMValueRef s = LLVMBuildFDiv(r->b, LLVMBuildFSub(r->b, m, real(r, 1), ""),
                                   LLVMBuildFAdd(r->b, m, real(r, 1), ""), "");
    LLVMValueRef square = LLVMBuildFMul(r->b, s, s, ""), sum = real(r, 1.0 / 25), result;
    LLVMValueRef shift = LLVMBuildSelect(r->b, tiny, ws_ref_int(r, 54), ws_ref_int(r, 0), "");
    int k;
    for (k = 23; k >= 1; k -= 2)
        sum = fma_(r, square, sum, real(r, 1.0 / k));
    result = LLVMBuildFMul(r->b, LLVMBuildFMul(r->b, s, sum, ""), real(r, 2 / M_LN2), "");
    e = LLVMBuildSub(r->b, e, shift, "");
    result = LLVMBuildFAdd(r->b, result, LLVMBuildSIToFP(r->b, e, r->f64, ""), "");
    result = select_real(r, LLVMRealOEQ, x, real(r, INFINITY), x, result);
    result = select_real(r, LLVMRealOEQ, x, real(r, 0), real(r, -INFINITY), result);
    return select_real(r, LLVMRealULT, x, real(r, 0), real(r, NAN), result);
}

/* Builds `double name(double)` once and returns a call of it. */
static LLVMValueRef call_math(RefBuilder *r, guint id, const char *name,
                              LLVMValueRef (*build)(RefBuilder *, LLVMValueRef), LLVMValueRef x)
{
    if (!r->math[id]) {
        LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b);
        unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
        LLVMValueRef fn;
        r->math_type = LLVMFunctionType(r->f64, &r->f64, 1, FALSE);
        fn = LLVMAddFunction(r->module, name, r->math_type);
        LLVMSetLinkage(fn, LLVMInternalLinkage);
        if (!r->host)
            LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                                    LLVMCreateEnumAttribute(r->context, always, 0));
        LLVMPositionBuilderAtEnd(r->b, LLVMAppendBasicBlockInContext(r->context, fn, "entry"));
        LLVMBuildRet(r->b, build(r, LLVMGetParam(fn, 0)));
        LLVMPositionBuilderAtEnd(r->b, here);
        r->math[id] = fn;
    }
    return LLVMBuildCall2(r->b, r->math_type, r->math[id], &x, 1, "");
}

static LLVMValueRef exp2_(RefBuilder *r, LLVMValueRef x)
{
    return call_math(r, 0, "ws_exp2", build_exp2, x);
}

static LLVMValueRef log2_(RefBuilder *r, LLVMValueRef x)
{
    return call_math(r, 1, "ws_log2", build_log2, x);
}

/* tanh(x) = 1 - 2/(e^2x + 1), exact to an absolute 1e-16. */
static LLVMValueRef tanh_(RefBuilder *r, LLVMValueRef x)
{
    LLVMValueRef e = exp2_(r, LLVMBuildFMul(r->b, x, real(r, 2 * M_LOG2E), ""));
    LLVMValueRef below = LLVMBuildFAdd(r->b, e, real(r, 1), "");
    return LLVMBuildFSub(r->b, real(r, 1), LLVMBuildFDiv(r->b, real(r, 2), below, ""), "");
}

LLVMValueRef ws_ref_math(RefBuilder *r, WsFunc func, LLVMValueRef x)
{
    switch (func) {
    case WS_FUNC_EXP2:
        return exp2_(r, x);
    case WS_FUNC_EXP:
        return exp2_(r, LLVMBuildFMul(r->b, x, real(r, M_LOG2E), ""));
    case WS_FUNC_LOG2:
        return log2_(r, x);
    case WS_FUNC_LN:
        return LLVMBuildFMul(r->b, log2_(r, x), real(r, M_LN2), "");
    case WS_FUNC_SQRT:
        return ws_ref_intrinsic(r, "llvm.sqrt", &x, 1);
    case WS_FUNC_TANH:
        return tanh_(r, x);
    default:
        return NULL;
    }
}

/* --- stored element types --------------------------------------------------------------------- */
static LLVMValueRef word(RefBuilder *r, guint64 value)
{
    return LLVMConstInt(r->i32, value, FALSE);
}

/* f32 bits in an i32 -> double. */
static LLVMValueRef widen(RefBuilder *r, LLVMValueRef bits)
{
    return LLVMBuildFPExt(r->b, LLVMBuildBitCast(r->b, bits, r->f32, ""), r->f64, "");
}

/* A small float in the low bits of an i32: `sign` is its sign bit, `up` moves its exponent and
 * mantissa under those of f32, whose value times 2^scale is the small float's (denormals
 * included). Magnitudes from `special` up are infinity (first one, if `inf`) or NaN. */
static LLVMValueRef small(RefBuilder *r, LLVMValueRef bits, guint sign, guint up, double scale,
                          guint special, gboolean inf)
{
    LLVMValueRef magnitude = LLVMBuildAnd(r->b, bits, word(r, sign - 1), "");
    LLVMValueRef value = LLVMBuildFMul(
        r->b, widen(r, LLVMBuildShl(r->b, magnitude, word(r, up), "")), real(r, scale), "");
    LLVMValueRef above = LLVMBuildICmp(r->b, LLVMIntUGE, magnitude, word(r, special), "");
    LLVMValueRef negative =
        LLVMBuildICmp(r->b, LLVMIntNE, LLVMBuildAnd(r->b, bits, word(r, sign), ""), word(r, 0), "");
    LLVMValueRef wild = real(r, NAN);
    if (inf)
        wild =
            LLVMBuildSelect(r->b, LLVMBuildICmp(r->b, LLVMIntEQ, magnitude, word(r, special), ""),
                            real(r, INFINITY), wild, "");
    value = LLVMBuildSelect(r->b, above, wild, value, "");
    return LLVMBuildSelect(r->b, negative, LLVMBuildFNeg(r->b, value, ""), value, "");
}

LLVMValueRef ws_ref_load(RefBuilder *r, WsDtype dtype, LLVMValueRef address)
{
    guint bytes = ws_dtype_bytes(dtype);
    LLVMTypeRef type = bytes == 1 ? r->i8 : bytes == 2 ? r->i16 : r->i32;
    LLVMTypeRef space = LLVMPointerTypeInContext(r->context, r->host ? 0 : 1);
    LLVMValueRef at = LLVMBuildIntToPtr(r->b, address, space, "");
    LLVMValueRef raw = LLVMBuildLoad2(r->b, type, at, ""), bits;
    LLVMSetAlignment(raw, bytes);
    if (dtype == WS_DTYPE_I8 || dtype == WS_DTYPE_I32)
        return LLVMBuildSExt(r->b, raw, r->i64, "");
    if (dtype == WS_DTYPE_U8)
        return LLVMBuildZExt(r->b, raw, r->i64, "");
    bits = bytes == 4 ? raw : LLVMBuildZExt(r->b, raw, r->i32, "");
    switch (dtype) {
    case WS_DTYPE_F16:
        return small(r, bits, 0x8000, 13, 0x1p112, 0x7c00, TRUE);
    case WS_DTYPE_E5M2:
        return small(r, bits, 0x80, 21, 0x1p112, 0x7c, TRUE);
    case WS_DTYPE_E4M3:
        return small(r, bits, 0x80, 20, 0x1p120, 0x7f, FALSE);
    case WS_DTYPE_BF16:
        return widen(r, LLVMBuildShl(r->b, bits, word(r, 16), ""));
    default:
        return widen(r, bits);
    }
}
