/* One JIT-compiled module on this machine: ORC LLJIT through the C API. */
#pragma once

#include <glib.h>
#include <llvm-c/Core.h>

G_BEGIN_DECLS

typedef struct WsJit WsJit;
typedef struct {
    const char *name;
    gpointer address;
} WsJitSymbol;

/* Optimises (pass pipeline `passes`, NULL: none) and compiles `module`. Takes the module and its
 * context in every case. Symbols: those of `symbol` first, then those of the process. */
WsJit *ws_jit_new(LLVMModuleRef module, LLVMContextRef context, const char *passes,
                  const WsJitSymbol *symbol, guint n_symbols, GError **error);
/* Address of a function; NULL with error if it, or something it calls, is not defined. */
gpointer ws_jit_find(WsJit *jit, const char *name, GError **error);
void ws_jit_free(WsJit *jit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsJit, ws_jit_free)

G_END_DECLS
