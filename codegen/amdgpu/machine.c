#include "codegen/amdgpu/machine.h"
#include "codegen/emit_text.h"
#include "codegen/generate.h"
#include "codegen/prim.h"

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <string.h>

#define PASSES "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)"

static void init(void)
{
    static gsize done;
    ws_llvm_init(); /* the handler of fatal errors */
    if (g_once_init_enter(&done)) {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTarget();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUAsmPrinter();
        g_once_init_leave(&done, 1);
    }
}

static LLVMTargetMachineRef machine(GError **error)
{
    LLVMTargetRef target;
    char *message = NULL;
    init();
    if (LLVMGetTargetFromTriple(WS_AMD_TRIPLE, &target, &message)) {
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_ABSENT,
                    "this LLVM has no AMDGPU target: %s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, WS_AMD_TRIPLE, WS_AMD_CPU, "",
                                   LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelDefault);
}

gboolean ws_amd_target(LLVMModuleRef module, GError **error)
{
    LLVMTargetMachineRef m = machine(error);
    if (!m)
        return FALSE;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, WS_AMD_TRIPLE);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(m);
    return TRUE;
}

GBytes *ws_amd_compile(LLVMModuleRef module, guint version, gboolean assembly, GError **error)
{
    return ws_amd_compile_by(module, PASSES, version, assembly, error);
}

GBytes *ws_amd_compile_by(LLVMModuleRef module, const char *passes, guint version,
                          gboolean assembly, GError **error)
{
    static const char flag[] = "amdhsa_code_object_version";
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorError, flag, strlen(flag),
                      LLVMValueAsMetadata(LLVMConstInt(i32, 100 * version, 0)));
    LLVMTargetMachineRef m = machine(error);
    if (!m)
        return NULL;
    GBytes *out =
        ws_llvm_passes(module, passes, m, "LLVM passes", error)
            ? ws_llvm_emit(module, m, assembly ? LLVMAssemblyFile : LLVMObjectFile, "LLVM", error)
            : NULL;
    LLVMDisposeTargetMachine(m);
    return out;
}
