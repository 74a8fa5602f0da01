/* A program of gfx950 as assembly, or a code object that the HSA runtime loads. */
#pragma once

#include "codegen/amdgpu/code_object.h"
#include "codegen/generate.h"

G_BEGIN_DECLS

/* TRUE where the program can be written; the module is made, and not compiled. */
gboolean ws_generate_amd_supports(const WsProgram *p, GError **error);
/* Assembly, with a header that says what it was made from. Caller frees. */
char *ws_generate_amd_assembly(const WsProgram *p, GError **error) G_GNUC_WARN_UNUSED_RESULT;
#define WS_CODE_OBJECT_VERSION 5 /* what runtimes since ROCm 6 take */
#define WS_CODE_OBJECT_FIRST   4
#define WS_CODE_OBJECT_LAST    6
/* Code object (ET_DYN) of a version from the first to the last. Caller unrefs. */
GBytes *ws_generate_amd_object(const WsProgram *p, guint version,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The sampled reference of an output (ws_generate_reference_ptx) as a code object; blocks of 64
 * threads. Caller unrefs. */
GBytes *ws_generate_reference_amd(const WsProgram *p, guint tensor,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Nothing of the kernel is kept in scratch memory. */
gboolean ws_generate_amd_clean(GBytes *object);
/* Instructions of an assembly that move between vector and accumulation registers. */
guint ws_generate_amd_moves(const char *assembly);
/* What a CU holds at a time of a kernel: waves on each SIMD, by vector registers alone; workgroups,
 * by these and the `lds` bytes of the CU. */
typedef struct {
    guint waves, groups;
} WsAmdOccupancy;
WsAmdOccupancy ws_generate_amd_occupancy(const WsCodeObjectReport *r, guint64 lds);
/* What the code object says of itself, for people: registers, spills, bytes. *clean: nothing is
 * spilled. Caller frees. */
char *ws_generate_amd_report(const WsProgram *p, gboolean *clean,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
