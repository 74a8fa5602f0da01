/* gfx950 through LLVM: a module becomes assembly text or an object. */
#pragma once

#include <glib.h>
#include <llvm-c/Core.h>

G_BEGIN_DECLS

#define WS_AMD_TRIPLE  "amdgcn-amd-amdhsa"
#define WS_AMD_CPU     "gfx950"
#define WS_AMD_VERSION 500 /* code object version 5 */

/* Triple, layout and version of the code object; before anything is built in the module. */
gboolean ws_amd_target(LLVMModuleRef module, GError **error);
/* Assembly text, or an object file (ET_REL). The module is changed by passes. */
GBytes *ws_amd_compile(LLVMModuleRef module, gboolean assembly, GError **error);

G_END_DECLS
