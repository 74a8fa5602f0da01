/* Whether two pieces of one function are the same code but for some values and a few instructions.
 */
#pragma once

#include <glib.h>
#include <llvm-c/Core.h>

G_BEGIN_DECLS

typedef enum {
    WS_ALIKE_CHANGE, /* the operand is greater by `delta` (modulo the type's width) */
    WS_ALIKE_CHOOSE, /* the operand is value + delta, which is there where the instruction stands */
    WS_ALIKE_WITHOUT, /* the second piece does not have the call */
    WS_ALIKE_CALL, /* in front of the instruction the second piece has call `value`, with `arg` */
} WsAlikeKind;

/* Where the second piece runs, `instruction` of the first piece differs so. */
typedef struct {
    WsAlikeKind kind;
    LLVMValueRef instruction;
    guint operand;
    LLVMValueRef value;
    gint64 delta;
    GArray *arg; /* LLVMValueRef, in terms of the first piece; owned */
} WsAlikeDifference;

/* Compares the blocks that `a` and `b` lead to, up to `exit`, which both jump to at their ends.
 * What cells (allocas) each piece alone uses may differ; so may comments in asm texts. Arithmetic
 * that only the second has is copied into the first, where nothing but a difference uses it.
 * Opcodes, flags and attributes that are not known here make the pieces different. Returns the
 * differences (WsAlikeDifference; free with g_ptr_array_unref), or NULL with the reason in *why
 * (constant). */
GPtrArray *ws_alike(LLVMBuilderRef builder, LLVMBasicBlockRef a, LLVMBasicBlockRef b,
                    LLVMBasicBlockRef exit, const char **why) G_GNUC_WARN_UNUSED_RESULT;

/* Blocks that `from` leads to without `exit`. Free with g_ptr_array_unref. */
GPtrArray *ws_alike_blocks(LLVMBasicBlockRef from,
                           LLVMBasicBlockRef exit) G_GNUC_WARN_UNUSED_RESULT;

/* kind.c: what an instruction is besides its operands is the same. */
gboolean ws_alike_kind(LLVMValueRef a, LLVMValueRef b);
/* Its operands may be other values. */
gboolean ws_alike_computes(LLVMValueRef v);
gboolean ws_alike_pure(LLVMValueRef v);
/* A call without a result that one replica may have and another not: one instruction. */
gboolean ws_alike_may_miss(LLVMValueRef v);
/* Text of an asm without the comment in its first line; *n: bytes. */
const char *ws_alike_asm(LLVMValueRef callee, size_t *n);

G_END_DECLS
