/* Reference arithmetic that LLVM has no portable instruction for: exp2, log2, tanh, erf, sine
 * and cosine in float64, and the widening of stored element types. Built as IR, so that host and
 * GPU compute the same. */
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

static LLVMValueRef horner(RefBuilder *r, LLVMValueRef x, guint n, const double *c)
{
    LLVMValueRef sum = real(r, c[n - 1]);
    for (guint i = n - 1; i-- > 0;)
        sum = fma_(r, sum, x, real(r, c[i]));
    return sum;
}

/* Below 1 x P(x^2); from there on 1 - e^(-x^2) Q(t)/(1 + 2 |x|), t = (|x| - 2)/(|x| + 2). The
 * polynomials are fitted to 1e-17; the result is within 3e-16 of erf
 * (tests/codegen/test-accuracy.c).
 */
static LLVMValueRef build_erf(RefBuilder *r, LLVMValueRef x)
{
    static const double near[] = { 1.1283791670955126,     -0.3761263890318355,
                                   0.11283791670945247,    -0.026866170643275133,
                                   0.0052239776074150665,  -0.0008548325989315822,
                                   0.00012055295309694914, -1.4924744466232057e-05,
                                   1.644751536205081e-06,  -1.620915898544719e-07,
                                   1.37229062412791e-08,   -7.801063599838421e-10 };
    static const double far[] = {
        1.2769783815525286,      -0.09276382658574621,    -0.1660303976152941,
        0.16405128003350078,     -0.05422000099139352,    -0.008034015087639389,
        0.008722653843671909,    0.0012713391804525132,   -0.001456813216198505,
        -0.00045434555999346435, 0.0002063593466910944,   0.00015109754854849257,
        -1.4797615713942467e-06, -3.6816284045867246e-05, -1.3403152694865121e-05,
        4.993769824357437e-06,   4.409545003129778e-06
    };
    LLVMValueRef a = ws_ref_intrinsic(r, "llvm.fabs", &x, 1);
    LLVMValueRef small = LLVMBuildFMul(
        r->b, x, horner(r, LLVMBuildFMul(r->b, x, x, ""), G_N_ELEMENTS(near), near), "");
    LLVMValueRef c = select_real(r, LLVMRealOLT, a, real(r, 6), a, real(r, 6));
    LLVMValueRef t = LLVMBuildFDiv(r->b, LLVMBuildFSub(r->b, c, real(r, 2), ""),
                                   LLVMBuildFAdd(r->b, c, real(r, 2), ""), "");
    LLVMValueRef e =
        exp2_(r, LLVMBuildFMul(r->b, LLVMBuildFMul(r->b, c, c, ""), real(r, -M_LOG2E), ""));
    LLVMValueRef rest = LLVMBuildFMul(r->b, e, horner(r, t, G_N_ELEMENTS(far), far), "");
    rest = LLVMBuildFDiv(r->b, rest, fma_(r, c, real(r, 2), real(r, 1)), "");
    LLVMValueRef large = LLVMBuildFSub(r->b, real(r, 1), rest, "");
    large = select_real(r, LLVMRealOLT, x, real(r, 0), LLVMBuildFNeg(r->b, large, ""), large);
    return select_real(r, LLVMRealOGE, a, real(r, 1), large, small);
}

/* Sine of x + quarter turns: x = n pi/2 + f by four parts of pi/2, the first three of 22 bits, so
 * that their products with n are exact up to 2^30; Taylor series on |f| <= pi/4 (remainder below
 * 1e-17).
 */
static LLVMValueRef build_turned(RefBuilder *r, LLVMValueRef x, guint quarters)
{
    static const double part[] = { 0x1.921fbp+0, 0x1.5110bp-22, 0x1.184698p-44,
                                   0x1.3198a2e037073p-69 };
    LLVMValueRef a = ws_ref_intrinsic(r, "llvm.fabs", &x, 1);
    LLVMValueRef near = LLVMBuildFCmp(r->b, LLVMRealOLE, a, real(r, 0x1p30), "");
    LLVMValueRef safe = LLVMBuildSelect(r->b, near, x, real(r, 0), "");
    LLVMValueRef n = fma_(r, safe, real(r, M_2_PI), real(r, 0.5));
    n = ws_ref_intrinsic(r, "llvm.floor", &n, 1);
    LLVMValueRef f = safe;
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        f = LLVMBuildFSub(r->b, f, LLVMBuildFMul(r->b, n, real(r, part[i]), ""), "");
    LLVMValueRef s = LLVMBuildFMul(r->b, f, f, ""), one = real(r, 1), sine = one, cosine = one;
    for (int k = 18; k >= 2; k -= 2) { /* 1 - s/(k(k - 1)) (1 - …) */
        LLVMValueRef even = LLVMBuildFMul(r->b, s, real(r, 1.0 / (k * (k - 1))), "");
        LLVMValueRef odd = LLVMBuildFMul(r->b, s, real(r, 1.0 / (k * (k + 1))), "");
        cosine = LLVMBuildFSub(r->b, one, LLVMBuildFMul(r->b, even, cosine, ""), "");
        sine = LLVMBuildFSub(r->b, one, LLVMBuildFMul(r->b, odd, sine, ""), "");
    }
    sine = LLVMBuildFMul(r->b, f, sine, "");
    LLVMValueRef q =
        LLVMBuildAdd(r->b, LLVMBuildFPToSI(r->b, n, r->i64, ""), ws_ref_int(r, quarters), "");
    LLVMValueRef nought = ws_ref_int(r, 0), bit = LLVMBuildAnd(r->b, q, ws_ref_int(r, 1), "");
    LLVMValueRef v =
        LLVMBuildSelect(r->b, LLVMBuildICmp(r->b, LLVMIntNE, bit, nought, ""), cosine, sine, "");
    bit = LLVMBuildAnd(r->b, q, ws_ref_int(r, 2), "");
    v = LLVMBuildSelect(r->b, LLVMBuildICmp(r->b, LLVMIntNE, bit, nought, ""),
                        LLVMBuildFNeg(r->b, v, ""), v, "");
    return LLVMBuildSelect(r->b, near, v, real(r, NAN), "");
}

static LLVMValueRef build_sin(RefBuilder *r, LLVMValueRef x)
{
    return build_turned(r, x, 0);
}

static LLVMValueRef build_cos(RefBuilder *r, LLVMValueRef x)
{
    return build_turned(r, x, 1);
}

/* What is finite and too far to be reduced is refused; the sine of infinity is NaN. */
static void judge_angle(RefBuilder *r, LLVMValueRef x)
{
    LLVMValueRef a = ws_ref_intrinsic(r, "llvm.fabs", &x, 1);
    LLVMValueRef far = LLVMBuildFCmp(r->b, LLVMRealOGT, a, real(r, 0x1p30), "");
    LLVMValueRef finite = LLVMBuildFCmp(r->b, LLVMRealOLT, a, real(r, INFINITY), "");
    ws_ref_flag_if(r, LLVMBuildAnd(r->b, far, finite, ""), WS_REF_FAR);
}

static LLVMValueRef root(RefBuilder *r, LLVMValueRef x)
{
    return ws_ref_intrinsic(r, "llvm.sqrt", &x, 1);
}

LLVMValueRef ws_ref_math(RefBuilder *r, WsFunc func, LLVMValueRef x)
{
    if (func == WS_FUNC_EXP2)
        return exp2_(r, x);
    if (func == WS_FUNC_EXP)
        return exp2_(r, LLVMBuildFMul(r->b, x, real(r, M_LOG2E), ""));
    if (func == WS_FUNC_LOG2)
        return log2_(r, x);
    if (func == WS_FUNC_LN)
        return LLVMBuildFMul(r->b, log2_(r, x), real(r, M_LN2), "");
    if (func == WS_FUNC_SQRT)
        return root(r, x);
    if (func == WS_FUNC_TANH)
        return tanh_(r, x);
    if (func == WS_FUNC_ERF)
        return call_math(r, 2, "ws_erf", build_erf, x);
    if (func == WS_FUNC_RSQRT)
        return LLVMBuildFDiv(r->b, real(r, 1), root(r, x), "");
    if (func == WS_FUNC_SIN) {
        judge_angle(r, x);
        return call_math(r, 3, "ws_sin", build_sin, x);
    }
    if (func == WS_FUNC_COS) {
        judge_angle(r, x);
        return call_math(r, 4, "ws_cos", build_cos, x);
    }
    if (func == WS_FUNC_FLOOR)
        return ws_ref_intrinsic(r, "llvm.floor", &x, 1);
    if (func == WS_FUNC_CEIL)
        return ws_ref_intrinsic(r, "llvm.ceil", &x, 1);
    return NULL;
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
    case WS_DTYPE_COUNT:
    case WS_DTYPE_F32:
    case WS_DTYPE_I32:
    case WS_DTYPE_I8:
    case WS_DTYPE_TF32:
    case WS_DTYPE_U8:
    default:
        return widen(r, bits);
    }
}
