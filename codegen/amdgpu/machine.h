/* gfx950 through LLVM: a module becomes assembly text or an object. */
#pragma once

#include <glib.h>
#include <llvm-c/Core.h>

G_BEGIN_DECLS

#define WS_AMD_TRIPLE "amdgcn-amd-amdhsa"
#define WS_AMD_CPU    "gfx950"

/* Triple and layout; before anything is built in the module. */
gboolean ws_amd_target(LLVMModuleRef module, GError **error);
/* Assembly text, or an object file (ET_REL), code object version 4, 5 or 6. The module is changed
 * by passes; once only. */
GBytes *ws_amd_compile(LLVMModuleRef module, guint version, gboolean assembly, GError **error);
/* The same by passes of the caller. */
GBytes *ws_amd_compile_by(LLVMModuleRef module, const char *passes, guint version,
                          gboolean assembly, GError **error);

G_END_DECLS
