/* What becomes of register requests of warp_specialize: the solver of TLE (and Triton 3.6) told
 * again, so that an export can say it before anything is compiled. */
#pragma once

#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    const WsTarget *target;
    guint maxnreg;    /* all warps start with it, and ptxas compiles to it */
    gint leftover;    /* of the default partition; may be negative */
    gboolean dropped; /* no setmaxnreg is emitted at all, silently */
    guint padded;     /* worker warps, rounded up to warp groups */
} WsPartitionRegisters;

/* `n` workers; `maxnreg` 0: derived from the number of warps. */
WsPartitionRegisters ws_partition_registers(const WsTarget *hw, guint default_warps, guint n,
                                            const guint *warps, const guint *request,
                                            guint maxnreg);
/* "default 40, workers 232 232 (maxnreg 168)". Caller frees. */
char *ws_partition_registers_print(const WsPartitionRegisters *r, guint n, const guint *request);

G_END_DECLS
