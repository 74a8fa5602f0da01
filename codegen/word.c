/* Functions of bits. */
#include "codegen/word.h"

LLVMValueRef ws_word_operation(LLVMBuilderRef b, WsFunc func, LLVMValueRef x, LLVMValueRef y)
{
    LLVMTypeRef word = LLVMTypeOf(x), wide;
    /* A shift takes its amount modulo 32, as the hardware would not. */
    LLVMValueRef amount = LLVMBuildAnd(b, y, LLVMConstInt(word, 31, FALSE), "");
    if (func == WS_FUNC_SHL)
        return LLVMBuildShl(b, x, amount, "");
    if (func == WS_FUNC_SHR)
        return LLVMBuildLShr(b, x, amount, "");
    if (func == WS_FUNC_SAR)
        return LLVMBuildAShr(b, x, amount, "");
    if (func == WS_FUNC_BITAND)
        return LLVMBuildAnd(b, x, y, "");
    if (func == WS_FUNC_BITOR)
        return LLVMBuildOr(b, x, y, "");
    if (func == WS_FUNC_BITXOR)
        return LLVMBuildXor(b, x, y, "");
    if (func == WS_FUNC_UMULHI) {
        wide = LLVMInt64TypeInContext(LLVMGetTypeContext(word));
        x = LLVMBuildMul(b, LLVMBuildZExt(b, x, wide, ""), LLVMBuildZExt(b, y, wide, ""), "");
        x = LLVMBuildLShr(b, x, LLVMConstInt(wide, 32, FALSE), "");
        return LLVMBuildTrunc(b, x, word, "");
    }
    g_assert_not_reached();
}
