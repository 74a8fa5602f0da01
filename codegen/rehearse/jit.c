#include "codegen/rehearse/jit.h"

#include "codegen/emit_text.h"
#include "codegen/generate.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

struct WsJit {
    LLVMOrcLLJITRef jit;
};

static gboolean failed(LLVMErrorRef e, const char *what, GError **error)
{
    char *text;
    if (!e)
        return FALSE;
    text = LLVMGetErrorMessage(e);
    g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL, "%s: %s", what, text);
    LLVMDisposeErrorMessage(text);
    return TRUE;
}

static LLVMTargetMachineRef host_machine(GError **error)
{
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName();
    char *features = LLVMGetHostCPUFeatures(), *message = NULL;
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message))
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_ABSENT,
                    "this LLVM has no target for %s: %s", triple, message);
    else
        machine = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault,
                                          LLVMRelocPIC, LLVMCodeModelJITDefault);
    LLVMDisposeMessage(message);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return machine;
}

/* Verifies, then runs the passes for the host's processor. */
static gboolean prepare(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                        GError **error)
{
    char *message = NULL, *triple;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetTarget(module, triple);
    LLVMDisposeMessage(triple);
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message)) {
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_INTERNAL,
                    "host module does not verify: %s", message);
        LLVMDisposeMessage(message);
        return FALSE;
    }
    LLVMDisposeMessage(message);
    return !passes || ws_llvm_passes(module, passes, machine, "host passes", error);
}

static gboolean define(WsJit *jit, const WsJitSymbol *symbol, guint n, GError **error)
{
    LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(jit->jit);
    g_autofree LLVMOrcCSymbolMapPair *pair = g_new0(LLVMOrcCSymbolMapPair, n + 1);
    LLVMOrcDefinitionGeneratorRef process;
    guint i;
    for (i = 0; i < n; i++) {
        pair[i].Name = LLVMOrcLLJITMangleAndIntern(jit->jit, symbol[i].name);
        pair[i].Sym.Address = (LLVMOrcExecutorAddress)(guintptr)symbol[i].address;
        pair[i].Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
    }
    if (n && failed(LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(pair, n)), "host symbols",
                    error))
        return FALSE;
    if (failed(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                   &process, LLVMOrcLLJITGetGlobalPrefix(jit->jit), NULL, NULL),
               "process symbols", error))
        return FALSE;
    LLVMOrcJITDylibAddGenerator(dylib, process);
    return TRUE;
}

WsJit *ws_jit_new(LLVMModuleRef module, LLVMContextRef context, const char *passes,
                  const WsJitSymbol *symbol, guint n_symbols, GError **error)
{
    static gsize done;
    g_autoptr(WsJit) jit = g_new0(WsJit, 1);
    LLVMOrcThreadSafeContextRef safe;
    LLVMOrcThreadSafeModuleRef whole;
    LLVMTargetMachineRef machine;
    LLVMOrcLLJITBuilderRef builder;
    if (g_once_init_enter(&done)) {
        LLVMInitializeNativeTarget();
        LLVMInitializeNativeAsmPrinter();
        g_once_init_leave(&done, 1);
    }
    machine = host_machine(error);
    if (!machine || !prepare(module, passes, machine, error)) {
        if (machine)
            LLVMDisposeTargetMachine(machine);
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        return NULL;
    }
    builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(/* takes the machine */
                                                  builder,
                                                  LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(
                                                      machine));
    safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context); /* takes the context */
    whole = LLVMOrcCreateNewThreadSafeModule(module, safe);
    LLVMOrcDisposeThreadSafeContext(safe);
    if (failed(LLVMOrcCreateLLJIT(&jit->jit, builder), "host JIT", error) ||
        !define(jit, symbol, n_symbols, error)) {
        LLVMOrcDisposeThreadSafeModule(whole);
        return NULL;
    }
    if (failed(LLVMOrcLLJITAddLLVMIRModule(jit->jit, LLVMOrcLLJITGetMainJITDylib(jit->jit), whole),
               "host module", error))
        return NULL;
    return g_steal_pointer(&jit);
}

gpointer ws_jit_find(WsJit *jit, const char *name, GError **error)
{
    LLVMOrcExecutorAddress address = 0;
    if (failed(LLVMOrcLLJITLookup(jit->jit, &address, name), name, error))
        return NULL;
    return (gpointer)(guintptr)address;
}

void ws_jit_free(WsJit *jit)
{
    if (!jit)
        return;
    if (jit->jit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->jit));
    g_free(jit);
}
