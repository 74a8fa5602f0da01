/* The table of primitives (prim.def): name -> PTX template, operand constraints, flags and the host
 * symbol that stands for it in a rehearsal. Emitters see ws_prim_call() only, so the same lowering
 * gives PTX and host code.
 *
 * Host module: one function
 *     void warpstave(const uint64_t *param);
 * called once per GPU thread; param[i] is the i-th kernel parameter in the order of generate.h
 * (tensor map: address of the host's map object; tensor: address; size: value; scalar: the float's
 * bits in the low half). Every primitive is an external function "wsh_" name, signature as told in
 * prim.def. `wsh_op` is called by every thread that takes part before each operation. */
#pragma once

#include "program/hold.h"

#include <llvm-c/Core.h>

G_BEGIN_DECLS

typedef enum {
    WS_PRIM_PURE,     /* a value of its operands */
    WS_PRIM_CROSS,    /* pure but convergent */
    WS_PRIM_VOLATILE, /* sideeffect + convergent */
    WS_PRIM_EFFECT,   /* sideeffect + convergent + memory clobber */
} WsPrimFlags;

typedef enum {
#define WS_PRIM(id, name, ptx, constraints, flags) WS_PRIM_##id,
#include "codegen/prim.def"
#undef WS_PRIM
    WS_PRIM_COUNT
} WsPrim;

typedef struct {
    const char *name; /* host symbol: "wsh_" name */
    const char *ptx;  /* NULL: host only */
    const char *constraints;
    WsPrimFlags flags;
} WsPrimRow;
const WsPrimRow *ws_prim_row(WsPrim id);

/* How an instruction takes its accumulator: from 0, as it is, or as a run-time predicate says. */
typedef enum { WS_WGMMA_ZERO, WS_WGMMA_ONE, WS_WGMMA_RUN } WsWgmmaScale;
/* PTX of one wgmma of `m` with `regs` accumulator registers, operands as in prim.def: results, the
 * same again as inputs (`tied_apart`: LLVM counts them, CUDA C++ does not), A, B, predicate. */
char *ws_wgmma_text(const WsMma *m, guint regs, WsWgmmaScale scale, gboolean a_regs,
                    gboolean tied_apart);

/* The module of `p` lowered to host code, in `context`, without target triple; the kernel function
 * is WS_KERNEL_NAME. NULL and WS_GENERATE_ERROR on failure. Caller disposes the module. */
LLVMModuleRef ws_lower_host(const WsProgram *p, const WsHold *hold, LLVMContextRef context,
                            GError **error);

/* Once per process: NVPTX target, fatal-error handler (exit 5). */
void ws_llvm_init(void);

G_END_DECLS
