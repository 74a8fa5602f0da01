/* What depends on the LLVM version (22): kernel attributes, target set-up. */
#include "codegen/nvptx/emit.h"

#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WS_PTX_KERNEL 71 /* calling convention ptx_kernel */

/* No user input leads here (generate.h); if something does, it is our defect. */
static void fatal(const char *reason)
{
    fprintf(stderr, "warpstave: internal error: LLVM: %s\n", reason);
    exit(5);
}

void ws_llvm_init(void)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        LLVMInstallFatalErrorHandler(fatal);
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
        g_once_init_leave(&done, 1);
    }
}

static LLVMAttributeRef enum_attribute(WsEmit *e, const char *name, guint64 value)
{
    return LLVMCreateEnumAttribute(e->ctx, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   value);
}

static LLVMAttributeRef text_attribute(WsEmit *e, const char *name, const char *value)
{
    return LLVMCreateStringAttribute(e->ctx, name, strlen(name), value, strlen(value));
}

static LLVMTypeRef llvm_map_type(WsEmit *e)
{
    return LLVMArrayType2(LLVMInt8TypeInContext(e->ctx), 128);
}

/* .maxntid and .minnctapersm together let ptxas know the register count at entry (setmaxnreg). */
void ws_llvm_mark_kernel(WsEmit *e, guint threads, guint cluster, guint per_sm)
{
    g_autofree char *ntid = g_strdup_printf("%u,1,1", threads);
    g_autofree char *residents = g_strdup_printf("%u", per_sm);
    LLVMSetFunctionCallConv(e->fn, WS_PTX_KERNEL);
    LLVMAddAttributeAtIndex(e->fn, LLVMAttributeFunctionIndex, enum_attribute(e, "nounwind", 0));
    LLVMAddAttributeAtIndex(e->fn, LLVMAttributeFunctionIndex, enum_attribute(e, "convergent", 0));
    LLVMAddAttributeAtIndex(e->fn, LLVMAttributeFunctionIndex,
                            text_attribute(e, "nvvm.maxntid", ntid));
    LLVMAddAttributeAtIndex(e->fn, LLVMAttributeFunctionIndex,
                            text_attribute(e, "nvvm.minctasm", residents));
    if (cluster > 1) {
        g_autofree char *dim = g_strdup_printf("%u,1,1", cluster);
        LLVMAddAttributeAtIndex(e->fn, LLVMAttributeFunctionIndex,
                                text_attribute(e, "nvvm.cluster_dim", dim));
    }
}

/* Without grid_constant the map would be copied to local memory, where the TMA cannot read it. */
void ws_llvm_mark_map(WsEmit *e, guint param)
{
    guint kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAddAttributeAtIndex(e->fn, param + 1,
                            LLVMCreateTypeAttribute(e->ctx, kind, llvm_map_type(e)));
    LLVMAddAttributeAtIndex(e->fn, param + 1, enum_attribute(e, "align", 64));
    LLVMAddAttributeAtIndex(e->fn, param + 1, text_attribute(e, "nvvm.grid_constant", ""));
}

void ws_llvm_mark_asm(WsEmit *e, LLVMValueRef call, WsPrimFlags flags)
{
    LLVMAttributeIndex at = LLVMAttributeFunctionIndex;
    LLVMAddCallSiteAttribute(call, at, enum_attribute(e, "nounwind", 0));
    if (flags != WS_PRIM_PURE)
        LLVMAddCallSiteAttribute(call, at, enum_attribute(e, "convergent", 0));
    if (flags <= WS_PRIM_CROSS) {
        LLVMAddCallSiteAttribute(call, at, enum_attribute(e, "memory", 0));
        LLVMAddCallSiteAttribute(call, at, enum_attribute(e, "willreturn", 0));
    }
}

WsLlvmMachine ws_llvm_machine(GError **error)
{
    ws_llvm_init();
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &message)) {
        g_set_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_ABSENT,
                    "this LLVM has no NVPTX target: %s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    /* PTX 8.0 is the oldest that has all of prim.def: the widest range of drivers. */
    return LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", "sm_90a", "+ptx80",
                                   LLVMCodeGenLevelAggressive, LLVMRelocDefault,
                                   LLVMCodeModelDefault);
}
