/* The module of a program, by the generator of its target. */
#include "codegen/amdgpu/amd.h"
#include "codegen/prim.h"
#include "program/program.h"
#include "target/target.h"

static const WsEmitKind *kind_of(const WsProgram *p)
{
    return p->hardware->halves ? &ws_amd_kind : NULL;
}

LLVMModuleRef ws_lower_host(const WsProgram *p, const WsHold *hold, LLVMContextRef context,
                            GError **error)
{
    const WsGenerateOptions options = { .hold = hold };
    return ws_emit_module(p, &options, TRUE, kind_of(p), context, error);
}

/* The module as the emitters made it, before any pass. */
char *ws_generate_llvm(const WsProgram *p, const WsGenerateOptions *options, GError **error)
{
    ws_llvm_init();
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module = ws_emit_module(p, options, FALSE, kind_of(p), ctx, error);
    char *text = NULL;
    if (module) {
        char *ir = LLVMPrintModuleToString(module);
        text = g_strdup(ir);
        LLVMDisposeMessage(ir);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(ctx);
    return text;
}
