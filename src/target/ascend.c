/* Huawei Ascend, a core of the Atlas A2 products (910B): cube cores and vector cores, each with its
 * own stream of instructions. Sources: CANN 8.0 operator development guide, "Storage Units" (which
 * engine moves what) and "Architecture"; Ascend C API, SetFlag/WaitFlag (a flag is one bit: a wait
 * takes it away), PipeBarrier (dependent instructions of one queue need one), "General
 * Restrictions" (alignment). The guide leaves capacities to a call at run time (GetCoreMemSize):
 * those here are the ones that are reported of 910B, and are assumed. */
#include "target/core.h"

enum { UB, L1, L0A, L0B, L0C };
enum { MTE2, MTE1, M, V, FIX, MTE3, S };

#define GUIDE  "CANN 8.0, Storage Units"
#define ALIGN  "capacity assumed; alignment: Ascend C, General Restrictions"
#define TENSOR WS_CORE_TENSOR

static const WsTargetSpace space[] = {
    [UB] = { "UB", 196608, 32, 32, ALIGN },   [L1] = { "L1", 524288, 32, 32, ALIGN },
    [L0A] = { "L0A", 65536, 512, 32, ALIGN }, [L0B] = { "L0B", 65536, 512, 32, ALIGN },
    [L0C] = { "L0C", 131072, 64, 64, ALIGN },
};

static const WsTargetUnit unit[] = {
    [MTE2] = { "MTE2", NULL, "copies tensors in", TRUE },
    [MTE1] = { "MTE1", "cube", "copies L1 to L0A and L0B", TRUE },
    [M] = { "M", "cube", "matrix products", TRUE },
    [V] = { "V", "vector", "element-wise arithmetic", TRUE },
    [FIX] = { "FIX", "cube", "copies L0C out and converts", TRUE },
    [MTE3] = { "MTE3", "vector", "copies UB out", TRUE },
    [S] = { "S", NULL, "issues the steps, runs loops and conditions", FALSE },
};

static const WsTargetMove move[] = {
    { TENSOR, UB, MTE2, FALSE, GUIDE },  { TENSOR, L1, MTE2, FALSE, GUIDE },
    { TENSOR, L0A, MTE2, FALSE, GUIDE }, { TENSOR, L0B, MTE2, FALSE, GUIDE },
    { L1, L0A, MTE1, FALSE, GUIDE },     { L1, L0B, MTE1, FALSE, GUIDE },
    { UB, TENSOR, MTE3, FALSE, GUIDE },  { L0C, TENSOR, FIX, TRUE, GUIDE },
    { L0C, L1, FIX, FALSE, GUIDE },      { UB, UB, V, FALSE, "Ascend C, DataCopy" },
};

/* HardEvent of SetFlag/WaitFlag, without those of S and of a queue to itself. */
static const WsTargetFlags flags[] = {
    { MTE2, MTE1 }, { MTE1, MTE2 }, { MTE1, M },   { M, MTE1 },   { MTE2, V }, { V, MTE2 },
    { MTE3, V },    { V, MTE3 },    { MTE2, M },   { M, MTE2 },   { M, FIX },  { FIX, M },
    { MTE3, MTE2 }, { MTE2, MTE3 }, { MTE2, FIX }, { FIX, MTE2 },
};

static const WsTargetCore core = {
    .space = space,
    .n_spaces = G_N_ELEMENTS(space),
    .unit = unit,
    .n_units = G_N_ELEMENTS(unit),
    .move = move,
    .n_moves = G_N_ELEMENTS(move),
    .flags = flags,
    .n_flags = G_N_ELEMENTS(flags),
    .ids = 8,
    .flags_source = "Ascend C, SetFlag/WaitFlag: 0 to 7 on Atlas A2",
    .vector = V,
    .cube = M,
    .work = UB,
    .left = L0A,
    .right = L0B,
    .sums = L0C,
    .operations = "add sub mul div max min",
    .vector_types = "f32 f16",
};

/* Mmad: 16 x 16 fractals of C; 32 bytes of the contraction. */
static const WsTargetProduct product[] = { { "f16", "f32", FALSE }, { "bf16", "f32", FALSE } };

static const WsTargetWord word[] = {
    WS_TARGET_WORD("SM cycles", "core cycles"),
    WS_TARGET_WORD("CTA %u, %s cycles", "core %u, %s cycles"),
    WS_TARGET_WORD("CTAs", "programs"),
    WS_TARGET_WORD("1 warp", "queue"),
    WS_TARGET_WORD("TMA load", "copy in"),
    WS_TARGET_WORD("TMA store", "copy out"),
    WS_TARGET_WORD("TMA loads", "copies in"),
    WS_TARGET_WORD("TMA stores", "copies out"),
    WS_TARGET_WORD("TMA", "copies"),
    WS_TARGET_WORD("TMA in use", "copies in and out at work"),
    WS_TARGET_WORD("tensor core", "cube"),
    WS_TARGET_WORD("tensor", "cube"),
    WS_TARGET_WORD("tensor core in use", "cube at work"),
    WS_TARGET_WORD("tensor core busy %.1f %%", "cube busy %.1f %%"),
    WS_TARGET_WORD("Hidden under the tensor core: ", "Hidden under the cube: "),
    WS_TARGET_WORD("compute", "arithmetic"),
    WS_TARGET_WORD("gather, copy", "move"),
    WS_TARGET_WORD("gathers and copies", "moves"),
    WS_TARGET_WORD("copies", "moves"),
    WS_TARGET_WORD("consumer waits", "queue waits"),
    WS_TARGET_WORD("producer waits", "queue waits to copy"),
    WS_TARGET_WORD("Tensor pipe busy", "M busy"),
    WS_TARGET_WORD("TMA busy", "MTE2, MTE3, FIX busy"),
    WS_TARGET_WORD("Shared memory busy", "MTE1 busy"),
    WS_TARGET_WORD("ALU busy", "V busy"),
    WS_TARGET_WORD("Tiles of the busiest CTA", "Tiles of the busiest core"),
    /* of verdicts, findings and witnesses: the templates, as phrases keep them (base/phrase.h) */
    WS_TARGET_WORD("%sCTA %d of %d", "%sprogram %d of %d"),
    WS_TARGET_WORD("%s%" G_GINT64_FORMAT " CTA", "%s%" G_GINT64_FORMAT " program"),
    WS_TARGET_WORD("%s%" G_GINT64_FORMAT " CTAs", "%s%" G_GINT64_FORMAT " programs"),
    WS_TARGET_WORD("%s of CTA %" G_GINT64_FORMAT, "%s of program %" G_GINT64_FORMAT),
    WS_TARGET_WORD("%u tile of a CTA", "%u tile of a program"),
    WS_TARGET_WORD("%u tiles of a CTA", "%u tiles of a program"),
    WS_TARGET_WORD(": rounds %s over up to %u tile per CTA",
                   ": rounds %s over up to %u tile per program"),
    WS_TARGET_WORD(": rounds %s over up to %u tiles per CTA",
                   ": rounds %s over up to %u tiles per program"),
    WS_TARGET_WORD(": up to %u tile per CTA", ": up to %u tile per program"),
    WS_TARGET_WORD(": up to %u tiles per CTA", ": up to %u tiles per program"),
    WS_TARGET_WORD("fails only for a CTA without a tile",
                   "fails only for a program without a tile"),
    WS_TARGET_WORD("fails only for an odd number of tiles of a CTA",
                   "fails only for an odd number of tiles of a program"),
    WS_TARGET_WORD("fails only for an even number of tiles of a CTA",
                   "fails only for an even number of tiles of a program"),
    WS_TARGET_WORD("right for two tiles of a CTA at most",
                   "right for two tiles of a program at most"),
    WS_TARGET_WORD("right for one tile of a CTA at most",
                   "right for one tile of a program at most"),
    WS_TARGET_WORD("no CTA of any launch has so many", "no program of any launch has so many"),
    WS_TARGET_WORD("%s writes %s (%s%s%s), in CTA %d", "%s writes %s (%s%s%s), in program %d"),
    WS_TARGET_WORD("%s writes it, too (%s%s%s), in CTA %d",
                   "%s writes it, too (%s%s%s), in program %d"),
    WS_TARGET_WORD("give each step, replica and CTA its own part of the tile: let the coordinates "
                   "name `replica` or `cta`, or let one of them write",
                   "give each step its own part of the tile, or let one of them write"),
    WS_TARGET_WORD("%s is outside the loop over tiles: every CTA runs it once",
                   "%s is outside the loop over tiles: every program runs it once"),
    WS_TARGET_WORD("All %d tile of the launch are done, in %d CTA, and nobody has written %s.",
                   "All %d tile of the launch are done, in %d program, and nobody has written %s."),
    WS_TARGET_WORD(
        "All %d tile of the launch are done, in %d CTAs, and nobody has written %s.",
        "All %d tile of the launch are done, in %d programs, and nobody has written %s."),
    WS_TARGET_WORD(
        "All %d tiles of the launch are done, in %d CTA, and nobody has written %s.",
        "All %d tiles of the launch are done, in %d program, and nobody has written %s."),
    WS_TARGET_WORD(
        "All %d tiles of the launch are done, in %d CTAs, and nobody has written %s.",
        "All %d tiles of the launch are done, in %d programs, and nobody has written %s."),
    WS_TARGET_WORD("%s has waited for no mbarrier before", "%s has waited for no flag before"),
    WS_TARGET_WORD("undefined: whatever shared memory held is used",
                   "undefined: whatever the memory held is used"),
    WS_TARGET_WORD(", each lane at its own time", ", in its own time"),
    WS_TARGET_WORD("no `sync` of the group: a lane of %s knows only what it did itself",
                   "no `sync` between them: steps of %s start in turn and may overlap"),
    WS_TARGET_WORD("corruption: the agents of the CTA work on different tiles",
                   "corruption: the queues of the core work on different tiles"),
    { NULL, NULL },
};

#define NO_GPU "it is no GPU: its text is TLE-DSA"

const WsTarget ws_target_ascend = {
    .name = "ascend",
    .title = "Huawei Ascend (Atlas A2, 910B)",
    .lanes = 32, /* of the host's stand-in for a queue: nothing of the hardware */
    .group_warps = 4,
    .threads = 256,
    /* all spaces one behind the other, and the flags */
    .shared = { .bytes = 196608 + 524288 + 2 * 65536 + 131072 + 8 * 8 * 16,
                .align = 512,
                .unit = 32 },
    .bulk = { .box = 65535,
              .granule = 1,
              .extent = (gint64)1 << 32, /* assumed */
              .stride = (gint64)1 << 40 },
    .sync = { .bytes = 8,
              .arrivals = 32,
              .named = 1,
              .named_reserved = 1,
              .cluster = { 1 },
              .fences = "" },
    .matrix = { .name = "Mmad",
                .warps = 1,
                .m = 16,
                .n_step = 16,
                .n_most = 4096,
                .k_bytes = 32,
                .product = product,
                .n_products = G_N_ELEMENTS(product) },
    .core = &core,
    .word = word,
    .steps = "for if let advance load store move vector mma wait arrive sync mark",
    .lacks = { [WS_LENS_GENERATE] = NO_GPU,
               [WS_LENS_CUDA] = "CUDA is for NVIDIA",
               [WS_LENS_GLUON] = NO_GPU,
               [WS_LENS_TLX] = NO_GPU,
               [WS_LENS_BUNDLE] = "the runner drives CUDA only" },
};
