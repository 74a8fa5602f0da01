/* What two instructions are besides their operands. What is not in these lists is different. */
#include "codegen/nvptx/replicas/alike.h"

#include <string.h>

const char *ws_alike_asm(LLVMValueRef callee, size_t *n)
{
    const char *text = LLVMGetInlineAsmAsmString(callee, n);
    const char *end = memchr(text, '\n', *n);
    if (*n > 2 && memcmp(text, "//", 2) == 0 && end) {
        *n -= (size_t)(end + 1 - text);
        return end + 1;
    }
    return text;
}

static gboolean same_asm(LLVMValueRef a, LLVMValueRef b)
{
    size_t na, nb, ca, cb;
    const char *ta = ws_alike_asm(a, &na), *tb = ws_alike_asm(b, &nb);
    const char *xa = LLVMGetInlineAsmConstraintString(a, &ca);
    const char *xb = LLVMGetInlineAsmConstraintString(b, &cb);
    return na == nb && memcmp(ta, tb, na) == 0 && ca == cb && memcmp(xa, xb, ca) == 0 &&
           LLVMGetInlineAsmFunctionType(a) == LLVMGetInlineAsmFunctionType(b) &&
           LLVMGetInlineAsmHasSideEffects(a) == LLVMGetInlineAsmHasSideEffects(b) &&
           LLVMGetInlineAsmDialect(a) == LLVMGetInlineAsmDialect(b) &&
           LLVMGetInlineAsmNeedsAlignedStack(a) == LLVMGetInlineAsmNeedsAlignedStack(b);
}

static gboolean same_attributes(LLVMValueRef a, LLVMValueRef b)
{
    for (guint at = 0; at <= LLVMGetNumArgOperands(a) + 1; at++) {
        LLVMAttributeIndex i = at ? at - 1 : (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
        guint n = LLVMGetCallSiteAttributeCount(a, i);
        if (n != LLVMGetCallSiteAttributeCount(b, i))
            return FALSE;
        g_autofree LLVMAttributeRef *x = g_new0(LLVMAttributeRef, n + 1);
        g_autofree LLVMAttributeRef *y = g_new0(LLVMAttributeRef, n + 1);
        LLVMGetCallSiteAttributes(a, i, x);
        LLVMGetCallSiteAttributes(b, i, y);
        if (memcmp(x, y, n * sizeof *x) != 0)
            return FALSE;
    }
    return TRUE;
}

static gboolean same_callee(LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef x = LLVMGetCalledValue(a), y = LLVMGetCalledValue(b);
    if (LLVMGetNumOperandBundles(a) || LLVMGetNumOperandBundles(b) || !same_attributes(a, b) ||
        LLVMGetInstructionCallConv(a) != LLVMGetInstructionCallConv(b) ||
        LLVMGetTailCallKind(a) != LLVMGetTailCallKind(b))
        return FALSE;
    return x == y || (LLVMIsAInlineAsm(x) && LLVMIsAInlineAsm(y) && same_asm(x, y));
}

static gboolean same_memory(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetAlignment(a) == LLVMGetAlignment(b) && LLVMGetVolatile(a) == LLVMGetVolatile(b) &&
           LLVMGetOrdering(a) == LLVMGetOrdering(b);
}

static gboolean same_indices(LLVMValueRef a, LLVMValueRef b)
{
    const guint n = LLVMGetNumIndices(a);
    return n == LLVMGetNumIndices(b) &&
           memcmp(LLVMGetIndices(a), LLVMGetIndices(b), n * sizeof(unsigned)) == 0;
}

static gboolean same_wraps(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetNUW(a) == LLVMGetNUW(b) && LLVMGetNSW(a) == LLVMGetNSW(b);
}

static gboolean same_exact(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetExact(a) == LLVMGetExact(b);
}

static gboolean same_disjoint(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetIsDisjoint(a) == LLVMGetIsDisjoint(b);
}

static gboolean same_nneg(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetNNeg(a) == LLVMGetNNeg(b);
}

static gboolean same_icmp(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetICmpPredicate(a) == LLVMGetICmpPredicate(b);
}

static gboolean same_fcmp(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetFCmpPredicate(a) == LLVMGetFCmpPredicate(b);
}

static gboolean same_gep(LLVMValueRef a, LLVMValueRef b)
{
    return LLVMGetGEPSourceElementType(a) == LLVMGetGEPSourceElementType(b) &&
           LLVMGEPGetNoWrapFlags(a) == LLVMGEPGetNoWrapFlags(b);
}

static gboolean always(LLVMValueRef a, LLVMValueRef b)
{
    (void)a;
    (void)b;
    return TRUE;
}

static const struct {
    LLVMOpcode op;
    gboolean (*same)(LLVMValueRef a, LLVMValueRef b);
    gboolean pure, computes;
} kinds[] = {
    { LLVMAdd, same_wraps, TRUE, TRUE },
    { LLVMSub, same_wraps, TRUE, TRUE },
    { LLVMMul, same_wraps, TRUE, TRUE },
    { LLVMShl, same_wraps, TRUE, TRUE },
    { LLVMUDiv, same_exact, FALSE, TRUE },
    { LLVMSDiv, same_exact, FALSE, TRUE },
    { LLVMURem, always, FALSE, TRUE },
    { LLVMSRem, always, FALSE, TRUE },
    { LLVMLShr, same_exact, TRUE, TRUE },
    { LLVMAShr, same_exact, TRUE, TRUE },
    { LLVMAnd, always, TRUE, TRUE },
    { LLVMOr, same_disjoint, TRUE, TRUE },
    { LLVMXor, always, TRUE, TRUE },
    { LLVMFAdd, always, TRUE, TRUE },
    { LLVMFSub, always, TRUE, TRUE },
    { LLVMFMul, always, TRUE, TRUE },
    { LLVMFDiv, always, TRUE, TRUE },
    { LLVMFNeg, always, TRUE, TRUE },
    { LLVMSelect, always, TRUE, TRUE },
    { LLVMTrunc, always, TRUE, TRUE },
    { LLVMSExt, always, TRUE, TRUE },
    { LLVMZExt, same_nneg, TRUE, TRUE },
    { LLVMFPTrunc, always, TRUE, TRUE },
    { LLVMFPExt, always, TRUE, TRUE },
    { LLVMFPToSI, always, FALSE, TRUE },
    { LLVMSIToFP, always, TRUE, TRUE },
    { LLVMUIToFP, same_nneg, TRUE, TRUE },
    { LLVMBitCast, always, TRUE, TRUE },
    { LLVMIntToPtr, always, FALSE, TRUE },
    { LLVMPtrToInt, always, TRUE, TRUE },
    { LLVMAddrSpaceCast, always, FALSE, TRUE },
    { LLVMInsertElement, always, FALSE, TRUE },
    { LLVMExtractElement, always, FALSE, TRUE },
    { LLVMExtractValue, same_indices, FALSE, TRUE },
    { LLVMInsertValue, same_indices, FALSE, TRUE },
    { LLVMICmp, same_icmp, TRUE, TRUE },
    { LLVMFCmp, same_fcmp, TRUE, TRUE },
    { LLVMLoad, same_memory, FALSE, TRUE },
    { LLVMStore, same_memory, FALSE, TRUE },
    { LLVMGetElementPtr, same_gep, FALSE, FALSE },
    { LLVMCall, same_callee, FALSE, TRUE },
    { LLVMBr, always, FALSE, TRUE },
    { LLVMPHI, always, FALSE, TRUE },
};

static guint row_of(LLVMValueRef v)
{
    guint i = 0;
    while (i < G_N_ELEMENTS(kinds) && kinds[i].op != LLVMGetInstructionOpcode(v))
        i++;
    return i;
}

gboolean ws_alike_kind(LLVMValueRef a, LLVMValueRef b)
{
    const guint i = row_of(a);
    if (LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
        LLVMTypeOf(a) != LLVMTypeOf(b) || LLVMGetNumOperands(a) != LLVMGetNumOperands(b) ||
        i == G_N_ELEMENTS(kinds) || LLVMHasMetadata(a) || LLVMHasMetadata(b))
        return FALSE;
    if (LLVMCanValueUseFastMathFlags(a) && LLVMGetFastMathFlags(a) != LLVMGetFastMathFlags(b))
        return FALSE;
    return kinds[i].same(a, b);
}

gboolean ws_alike_computes(LLVMValueRef v)
{
    const guint i = row_of(v);
    return i < G_N_ELEMENTS(kinds) && kinds[i].computes;
}

gboolean ws_alike_pure(LLVMValueRef v)
{
    const guint i = row_of(v);
    return i < G_N_ELEMENTS(kinds) && kinds[i].pure && !LLVMHasMetadata(v);
}

gboolean ws_alike_may_miss(LLVMValueRef v)
{
    if (LLVMGetInstructionOpcode(v) != LLVMCall || LLVMHasMetadata(v) ||
        LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind || LLVMGetNumOperandBundles(v))
        return FALSE;
    LLVMValueRef callee = LLVMGetCalledValue(v);
    if (!LLVMIsAInlineAsm(callee))
        return LLVMIsAFunction(callee) && !LLVMGetIntrinsicID(callee);
    size_t n;
    const char *text = ws_alike_asm(callee, &n);
    return n && !memchr(text, '{', n) && !memchr(text, '@', n) && !memchr(text, '\n', n) &&
           memchr(text, ';', n) == text + n - 1;
}
