#include "subjects.h"
#include "model/finding.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

/* K counts rounds of `k`, M tiles of `m`, N is one tile wide. */
#define GEMM(path, s, k, m, n, t, ...)                                                             \
    {                                                                                              \
        .file = path, .set = { { "STAGES", s } }, .rounds = "K", .tiles = "M", .per_round = k,     \
        .per_tile = m, .max_rounds = 3, .max_tiles = t, .fixed = { { "N", n } }, __VA_ARGS__       \
    }
/* SK counts blocks of `bn` keys, SQ tiles. */
#define KEYS(path, bn, ...)                                                                        \
    {                                                                                              \
        .file = path, .set = { { "STAGES", 2 } }, .rounds = "SK", .tiles = "SQ", .per_round = bn,  \
        .per_tile = 128, .max_rounds = 3, .max_tiles = 2, .fixed = {                               \
            { "B", 1 },                                                                            \
            { "HQ", 1 },                                                                           \
            { "HKV", 1 },                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define CONTEXT(path)                                                                              \
    {                                                                                              \
        .file = path, .rounds = "N_CTX", .per_round = 128, .max_rounds = 3, .max_tiles = 2,        \
        .fixed = { { "Z", 1 }, { "H", 2 } }, .max_work = 3                                         \
    }
#define SPARSE(path, block, most, ...)                                                             \
    {                                                                                              \
        .file = path, .rounds = "TOPK", .per_round = block, .max_rounds = most, .max_tiles = 1,    \
        .fixed = { __VA_ARGS__ }, .element = TRUE                                                  \
    }
const Subject subject_shipped[] = {
    GEMM("tests/designs/gemm-cooperative.wstave", 2, 64, 128, 256, 2),
    GEMM("tests/designs/gemm-aliased.wstave", 4, 64, 128, 256, 2),
    GEMM("tests/designs/gemm-pingpong.wstave", 2, 64, 128, 128, 3),
    GEMM("tests/designs/gemm-cluster.wstave", 2, 64, 256, 256, 1),
    GEMM("tests/designs/gemm-fp8-block.wstave", 2, 128, 128, 192, 2),
    GEMM("projects/gemm-bf16/design.wstave", 2, 64, 128, 256, 2),
    GEMM("projects/gemm-bf16-balanced/design.wstave", 2, 64, 128, 256, 1, .more_rounds = 4),
    GEMM("projects/gemm-bf16-cluster2/design.wstave", 2, 64, 256, 256, 1),
    GEMM("projects/gemm-bf16-deferred/design.wstave", 2, 64, 128, 256, 2, .more_rounds = 4),
    GEMM("projects/gemm-bf16-pingpong/design.wstave", 2, 64, 128, 128, 3),
    GEMM("projects/gemm-bf16-splitk/design.wstave", 2, 64, 128, 128, 1, .more_rounds = 2),
    GEMM("projects/gemm-fp16/design.wstave", 2, 64, 128, 256, 1, .more_rounds = 4),
    GEMM("projects/gemm-fp8/design.wstave", 2, 128, 128, 256, 2, .more_rounds = 4),
    GEMM("projects/gemm-fp8-block/design.wstave", 2, 128, 128, 192, 2),
    KEYS("tests/designs/attention-fa3-causal.wstave", 128),
    KEYS("tests/designs/attention-fa3-dynamic.wstave", 128),
    KEYS("tests/designs/attention-fa3-full.wstave", 176),
    KEYS("projects/attention-d64/design.wstave", 128),
    KEYS("projects/attention-d128/design.wstave", 128),
    KEYS("projects/attention-d256/design.wstave", 80),
    KEYS("projects/attention-window/design.wstave", 128, { "W", 150 }),
    CONTEXT("tests/designs/attention-tle-pingpong.wstave"),
    CONTEXT("projects/attention-d128-full/design.wstave"),
    SPARSE("tests/designs/sparse-mla-pipes.wstave", 64, 3, { "B", 1 }, { "SQ", 1 }, { "SKV", 64 },
           { "H", 64 }),
    SPARSE("tests/designs/sparse-mla-seesaw.wstave", 128, 2, { "SQ", 1 }, { "SKV", 64 },
           { "HQ", 64 }),
};

guint subject_n_shipped(void)
{
    return G_N_ELEMENTS(subject_shipped);
}

const Subject subject_small = { .rounds = "N",
                                .tiles = "T",
                                .per_round = 1,
                                .per_tile = 1,
                                .max_rounds = 5,
                                .max_tiles = 2,
                                .small = TRUE,
                                .cap = 400000 };

guint subject_n_set(const Subject *s)
{
    guint n = 0;
    while (n < G_N_ELEMENTS(s->set) && s->set[n].name)
        n++;
    return n;
}

WsLaunchValues *subject_values(const Subject *s, const WsProgram *p, gint64 n, gint64 t)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[8] = { { s->rounds, (n + s->more_rounds) * s->per_round } };
    guint n_size = 1;
    if (s->tiles && ws_program_find_var(p, s->tiles) >= 0)
        size[n_size++] = (WsSize){ s->tiles, t * s->per_tile };
    for (guint i = 0; i < G_N_ELEMENTS(s->fixed) && s->fixed[i].name; i++)
        size[n_size++] = s->fixed[i];
    return ws_launch_values(p, size, n_size, FALSE, findings);
}

gint64 subject_element(const Subject *s, gint64 n)
{
    return s->element ? (n + s->more_rounds) * s->per_round : 0;
}
