/* NVIDIA Hopper (H100, H200): PTX ISA 9.x, compute capability 9.0. */
#include "target/target.h"

/* PTX ISA, "wgmma.mma_async": types of the operands and accumulators. */
static const WsTargetProduct product[] = {
    { "f16", "f32 f16", FALSE },      { "bf16", "f32", FALSE }, { "tf32", "f32", FALSE },
    { "e4m3 e5m2", "f32 f16", TRUE }, { "i8 u8", "i32", TRUE },
};

static const WsTargetQueue queue[] = {
    { "TMA loads and copies", "load copy write", WS_ENDS_AT_BARRIER, NULL, 0 },
    { "cp.async", "gather", WS_ENDS_WITH_GROUP, "load_wait", 1 << 20 },
    { "TMA stores", "store", WS_ENDS_WITH_GROUP, "store_wait", 1 << 20 },
    { "wgmma", "mma", WS_ENDS_WITH_GROUP, "mma_wait", 7 },
};

const WsTarget ws_target_sm_90a = {
    .name = "sm_90a",
    .title = "NVIDIA Hopper (H100, H200)",
    .lanes = 32,
    .group_warps = 4,
    .threads = 1024,
    .registers = { .file = 65536,
                   .step = 8,
                   .least = 24,
                   .most = 256,
                   .entry = 248,
                   .idle = 40,
                   .few = 24,
                   .spare = 24,
                   .moves = TRUE },
    .shared = { .bytes = 232448, /* 227 KiB of the SM's 228 */
                .align = 128,
                .swizzle = { 128, 64, 32 },
                .swizzle_rows = 8,
                .unit = 16 },
    /* CUDA C++ programming guide, compute capability 9.0 */
    .sm = { .shared = 233472, .reserved = 1024, .threads = 2048, .ctas = 32 },
    /* CUDA driver API, cuTensorMapEncodeTiled */
    .bulk = { .line = 128, .box = 256, .granule = 16, .extent = 1ll << 32, .stride = 1ll << 40 },
    .sync = { .bytes = 8,
              .arrivals = (1 << 20) - 1,
              .transaction = (1 << 20) - 1,
              .named = 16,
              .named_reserved = 1, /* id 0: the barrier of the CTA */
              .cluster = { 1, 2, 4, 8 },
              .fences = "mma async async_global cluster gpu",
              .proxies = TRUE },
    .matrix = { .name = "wgmma",
                .warps = 4,
                .m = 64,
                .n_step = 8,
                .n_most = 256,
                .n_step_int8 = 16,
                .n_few = 32,
                .k_bytes = 32,
                .row_step = 8,
                .transposable = 2,
                .register_bytes = 2,
                .rows = 64,
                .quad = 4,
                .columns = 8,
                .cell = 8,
                .product = product,
                .n_products = G_N_ELEMENTS(product),
                .rate = 8192 },
    .queue = queue,
    .n_queues = G_N_ELEMENTS(queue),
    .steps =
        "for if let advance pipeline_group load gather load_wait store store_wait put get copy "
        "prefetch write read "
        "transpose mma mma_wait compute wait arrive expect sync cluster notify await fence claim "
        "take "
        "acquire commit release close griddepcontrol mark raw",
};
