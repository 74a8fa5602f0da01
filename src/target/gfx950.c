/* AMD CDNA 4 (MI350, MI355X): CDNA 4 ISA. A row without code behind it yet: designs are read, their
 * shared memory and threads are counted, and every lens says what it lacks. */
#include "target/target.h"

static const WsTargetQueue queue[] = {
    { "vector memory (vmcnt)", "load", WS_ENDS_WITH_COUNTER, "load_wait", 63 },
};

#define PROGRAM                                                                                    \
    "stages, halves and borders, and the layouts of MFMA operands, are not in the program"

const WsTarget ws_target_gfx950 = {
    .name = "gfx950",
    .title = "AMD CDNA 4 (MI350, MI355X)",
    .lanes = 64,
    .group_warps = 1,
    .threads = 1024,
    .shared = { .bytes = 163840, /* 160 KiB of LDS */
                .align = 128,
                .swizzle = { 128, 64, 32 },
                .swizzle_rows = 8,
                .unit = 16 },
    .bulk = { .box = 256, .granule = 16 },
    .sync = { .named = 1, /* s_barrier of the workgroup */
              .named_reserved = 1,
              .cluster = { 1 },
              .fences = "gpu" },
    .queue = queue,
    .n_queues = G_N_ELEMENTS(queue),
    .steps = "for if let advance stage load load_wait write read mma compute sync fence mark raw",
    .lacks = { [WS_LENS_ELABORATE] = PROGRAM,
               [WS_LENS_CHECK] = "stages, halves and borders are not simulated",
               [WS_LENS_SIMULATE] = "there is no machine description of it",
               [WS_LENS_GENERATE] = "there is no generator of AMDGPU code",
               [WS_LENS_REHEARSE] = "there is no generator of AMDGPU code",
               [WS_LENS_CUDA] = "CUDA is for NVIDIA",
               [WS_LENS_GLUON] = "its Gluon for AMD is not written",
               [WS_LENS_TLE] = "its TLE is not written",
               [WS_LENS_TLX] = "its TLX for AMD is not written",
               [WS_LENS_BUNDLE] = "the runner drives CUDA only" },
};
