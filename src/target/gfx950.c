/* AMD CDNA 4 (MI350, MI355X): CDNA 4 ISA. Elaborated, proved, generated (codegen/amdgpu, Gluon)
 * and rehearsed: a group is two halves of four waves each, one for each SIMD of a CU. Every lens
 * without code behind it says what it lacks. */
#include "target/target.h"

static const WsTargetQueue queue[] = {
    { "vector memory (vmcnt)", "load", WS_ENDS_WITH_COUNTER, "load_wait", 63 },
};

/* v_mfma_f32_16x16x32_{f16,bf16}, v_mfma_f32_16x16x128_f8f6f4 of two 8-bit types without scales; of
 * 32 rows 32x32x16 and 32x32x64. */
static const WsTargetProduct product[] = { { "f16", "f32", FALSE, 32 },
                                           { "bf16", "f32", FALSE, 32 },
                                           { "e4m3 e5m2", "f32", TRUE, 128 } };

static const WsTargetWord word[] = {
    WS_TARGET_WORD("SM cycles", "CU cycles"),
    WS_TARGET_WORD("tensor core busy %.1f %%", "matrix units busy %.1f %%"),
    WS_TARGET_WORD("Hidden under the tensor core: ", "Hidden under the matrix units: "),
    { NULL, NULL },
};

const WsTarget ws_target_gfx950 = {
    .name = "gfx950",
    .title = "AMD CDNA 4 (MI350, MI355X)",
    .lanes = 64,
    .halves = 2,
    .half_warps = 4,
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
    .matrix = { .name = "MFMA",
                .warps = 4,
                .m = 16,
                .m_other = 32,
                .n_step = 16,
                .n_most = 1024,
                .k_bytes = 64,
                .values = TRUE,
                .register_bytes = 2,
                .product = product,
                .n_products = G_N_ELEMENTS(product) },
    .queue = queue,
    .n_queues = G_N_ELEMENTS(queue),
    .steps = "for if let advance stage load load_wait write read mma compute sync fence mark raw",
    .word = word,
    .lacks = { [WS_LENS_CUDA] = "CUDA is for NVIDIA",
               [WS_LENS_TLE] = "its TLE is not written",
               [WS_LENS_TLX] = "its TLX for AMD is not written" },
};
