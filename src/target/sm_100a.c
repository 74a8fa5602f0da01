/* NVIDIA Blackwell (B200, GB200): PTX ISA 9.x, compute capability 10.0. A row without code behind
 * it yet: products go through tensor memory there, and complete at an mbarrier. */
#include "target/target.h"

static const WsTargetQueue queue[] = {
    { "TMA loads and copies", "load copy write", WS_ENDS_AT_BARRIER, NULL, 0 },
    { "cp.async", "gather", WS_ENDS_WITH_GROUP, "load_wait", 1 << 20 },
    { "TMA stores", "store", WS_ENDS_WITH_GROUP, "store_wait", 1 << 20 },
    { "tcgen05.mma", "mma", WS_ENDS_AT_BARRIER, NULL, 0 },
};

#define TENSOR_MEMORY "tensor memory and tcgen05 are not in the program"

const WsTarget ws_target_sm_100a = {
    .name = "sm_100a",
    .title = "NVIDIA Blackwell (B200, GB200)",
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
    .shared = { .bytes = 232448,
                .align = 128,
                .swizzle = { 128, 64, 32 },
                .swizzle_rows = 8,
                .unit = 16 },
    .bulk = { .line = 128, .box = 256, .granule = 16, .extent = 1ll << 32, .stride = 1ll << 40 },
    .sync = { .bytes = 8,
              .arrivals = (1 << 20) - 1,
              .transaction = (1 << 20) - 1,
              .named = 16,
              .named_reserved = 1,
              .cluster = { 1, 2, 4, 8 },
              .fences = "async cluster gpu",
              .proxies = TRUE },
    .queue = queue,
    .n_queues = G_N_ELEMENTS(queue),
    .steps =
        "for if let advance pipeline_group load gather load_wait store store_wait copy prefetch "
        "write read "
        "transpose mma compute wait arrive expect sync cluster fence claim take acquire commit "
        "release close griddepcontrol mark raw",
    .lacks = { [WS_LENS_ELABORATE] = TENSOR_MEMORY,
               [WS_LENS_CHECK] = "tensor memory and tcgen05 are not simulated",
               [WS_LENS_SIMULATE] = "there is no machine description of it",
               [WS_LENS_GENERATE] = "there is no generator of tcgen05",
               [WS_LENS_REHEARSE] = "there is no generator of tcgen05",
               [WS_LENS_CUDA] = "there is no generator of tcgen05",
               [WS_LENS_GLUON] = "its Gluon is not written",
               [WS_LENS_TLE] = "its TLE is not written",
               [WS_LENS_TLX] = "its TLX is not written",
               [WS_LENS_BUNDLE] = "there is no kernel of it to run" },
};
