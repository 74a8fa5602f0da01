/* From a module of LLVM to text or an object, the same for every machine. */
#pragma once

#include "program/forward.h"

#include <glib.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

G_BEGIN_DECLS

/* Runs the passes ("function(sroa)", "default<O2>"); `what` begins the error. */
gboolean ws_llvm_passes(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                        const char *what, GError **error);
/* Assembly or an object; NULL with an error that begins with `what`. Transfer full. */
GBytes *ws_llvm_emit(LLVMModuleRef module, LLVMTargetMachineRef machine, LLVMCodeGenFileType kind,
                     const char *what, GError **error);
/* Comment lines that say what a text was made from: version, design, its hash, constants. `sign`
 * begins a comment. ASCII only, comments included: ptxas takes nothing else. */
void ws_llvm_header(GString *out, const char *sign, const WsProgram *p);

G_END_DECLS
