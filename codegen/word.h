/* Functions of bits (column B of func.def) in LLVM: the kernel's and its reference's are one. */
#pragma once

#include "expr/expr.h"

#include <llvm-c/Core.h>

G_BEGIN_DECLS

/* x and y are i32 in two's complement, and so is what comes out. */
LLVMValueRef ws_word_operation(LLVMBuilderRef b, WsFunc func, LLVMValueRef x, LLVMValueRef y);

G_END_DECLS
