/* Where a loop counts on from a value, it gets a copy of its own.
 *
 * LLVM lets the count take the register of the value that it begins with. ptxas 13.0 then has been
 * seen to make a wrong program: what was derived of the value before the loop (an address of shared
 * memory) it derives again within, of a register that has counted on since
 * (tests/codegen/test-starts.c). A copy that LLVM cannot look into is read by the loop alone. */
#include "codegen/nvptx/emit.h"

#include <string.h>

/* Blocks on ways from `from` that do not pass through `without`. */
static void reach(LLVMBasicBlockRef from, LLVMBasicBlockRef without, GHashTable *reached)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    if (from == without || !g_hash_table_add(reached, from))
        return;
    for (unsigned i = 0; end && i < LLVMGetNumSuccessors(end); i++)
        reach(LLVMGetSuccessor(end, i), without, reached);
}

static gboolean counts(LLVMValueRef phi)
{
    LLVMTypeRef type = LLVMTypeOf(phi);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
           (LLVMGetIntTypeWidth(type) == 32 || LLVMGetIntTypeWidth(type) == 64);
}

static gboolean is_of_products(LLVMValueRef user)
{
    LLVMValueRef callee =
        LLVMGetInstructionOpcode(user) == LLVMCall ? LLVMGetCalledValue(user) : NULL;
    gsize n = 0;
    const char *text =
        callee && LLVMIsAInlineAsm(callee) ? LLVMGetInlineAsmAsmString(callee, &n) : NULL;
    return text && g_strstr_len(text, (gssize)n, "wgmma.");
}

/* Registers that a wgmma takes or adds to, or that its fence holds in place: one may be in flight
 * where a loop in a loop begins, and then a copy would read them. */
static gboolean multiplied(LLVMValueRef value, GHashTable *seen)
{
    if (!g_hash_table_add(seen, value))
        return FALSE;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (is_of_products(user) || (LLVMIsAPHINode(user) && multiplied(user, seen)))
            return TRUE;
    }
    return FALSE;
}

static LLVMValueRef copy_of(LLVMBuilderRef b, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    const gboolean wide = LLVMGetIntTypeWidth(type) == 64;
    const char *text = wide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;";
    const char *constraints = wide ? "=l,l" : "=r,r";
    LLVMTypeRef of = LLVMFunctionType(type, &type, 1, 0);
    LLVMValueRef copy = LLVMGetInlineAsm(of, text, strlen(text), constraints, strlen(constraints),
                                         0, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(b, of, copy, &value, 1, "start");
}

/* Edges into a block that come from where it has not been passed: what begins, if it is the head of
 * a loop. */
static void separate(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    g_autoptr(GHashTable) before = NULL;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(block); phi && LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        if (!counts(phi) || multiplied(phi, seen))
            continue;
        if (!before) {
            before = g_hash_table_new(NULL, NULL);
            reach(LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block)), block, before);
        }
        gboolean loop = FALSE;
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
            loop |= !g_hash_table_contains(before, LLVMGetIncomingBlock(phi, i));
        for (unsigned i = 0; loop && i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
            if (LLVMIsConstant(value) || !g_hash_table_contains(before, from))
                continue;
            LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(from));
            LLVMSetOperand(phi, i, copy_of(b, value));
        }
    }
}

void ws_nvptx_separate_starts(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef x = LLVMGetFirstBasicBlock(f); x; x = LLVMGetNextBasicBlock(x))
            separate(b, x);
    LLVMDisposeBuilder(b);
}
