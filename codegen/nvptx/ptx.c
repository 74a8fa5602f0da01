/* Module -> PTX text: a cheap pass pipeline is enough, the shape of the code is made by the
 * emitters; then the header that says what the text was made from. */
#include "codegen/emit_text.h"
#include "codegen/nvptx/emit.h"
#include "program/program.h"

#include <llvm-c/TargetMachine.h>

#include <string.h>

/* What counts in a loop is decided by the last of them, so that ws_nvptx_separate_starts() sees it.
 */
#define WS_PASSES                                                                                  \
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,"     \
    "loop(loop-reduce))"

static void append_header(GString *s, const WsProgram *p, const WsGenerateOptions *options)
{
    ws_llvm_header(s, "//", p);
    g_string_append_printf(s,
                           "// launch: %u threads, cluster %u, %" G_GUINT64_FORMAT
                           " bytes of dynamic shared memory\n",
                           p->threads, p->cluster, p->shared_bytes);
    if (options && options->recorder)
        g_string_append(s, "// traced build\n");
    if (options && options->debug_waits)
        g_string_append(s, "// waits report when they are stuck\n");
    if (options && options->delays)
        g_string_append_printf(s, "// random delays, seed %u: times mean nothing\n",
                               options->delays);
}

/* Emits `module` for the machine and disposes neither. */
static char *ptx_of_module(LLVMModuleRef module, const char *header, GError **error)
{
    LLVMTargetMachineRef machine = ws_llvm_machine(error);
    if (!machine)
        return NULL;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    char *layout_text = LLVMCopyStringRepOfTargetData(layout);
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    LLVMSetDataLayout(module, layout_text);
    LLVMDisposeMessage(layout_text);
    LLVMDisposeTargetData(layout);
    g_autoptr(GBytes) body = NULL;
    if (ws_llvm_passes(module, WS_PASSES, machine, "LLVM passes", error)) {
        ws_nvptx_separate_starts(module);
        body = ws_llvm_emit(module, machine, LLVMAssemblyFile, "LLVM", error);
    }
    LLVMDisposeTargetMachine(machine);
    if (!body)
        return NULL;
    GString *text = g_string_new(header);
    gsize size;
    const char *data = g_bytes_get_data(body, &size);
    g_string_append_len(text, data, (gssize)size);
    return g_string_free(text, FALSE);
}

/* st.async is of PTX 8.1, everything else of 8.0, which older drivers take too. */
static char *raise_version(const WsProgram *p, char *text)
{
    static const char old[] = "\n.version 8.0\n";
    char *at = text ? strstr(text, old) : NULL;
    for (guint i = 0; at && i < p->n_ops; i++) {
        if (p->op[i]->kind == WS_OP_ST_REMOTE) {
            at[strlen(old) - 2] = '1';
            break;
        }
    }
    return text;
}

char *ws_generate_ptx(const WsProgram *p, const WsGenerateOptions *options, GError **error)
{
    ws_llvm_init();
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module = ws_emit_module(p, options, FALSE, NULL, ctx, error);
    char *text = NULL;
    if (module) {
        GString *header = g_string_new(NULL);
        append_header(header, p, options);
        text = raise_version(p, ptx_of_module(module, header->str, error));
        g_string_free(header, TRUE);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(ctx);
    return text;
}
