/* Mutation: every small change of every right design (the catalogue's, the shipped ones, the
 * projects') is either refuted, or the oracle finds it right in every interleaving of every small
 * size of the reduced design (the change does no harm). What neither says is a survivor, and there
 * must be none. Where the oracle meets its cap the mutant is named.
 *
 * Arguments: `all` takes every mutant (./dev soak), else a sample; then a part of a design's name.
 */
#include "check/check.h"
#include "model/design.h"
#include "mutate.h"
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    guint killed, equivalent, refused, survived, capped, outside;
} Tally;

static Tally total;
static gboolean every; /* mutant, else a sample that is quick */
static const char *wanted;

/* A design, reduced for the oracle, and the sizes it is tried with. */
typedef struct {
    const char *file;
    WsSetting set[3];                        /* name NULL: none */
    const char *rounds, *tiles;              /* sizes that count rounds and tiles, NULL: none */
    gint64 per_round, per_tile, more_rounds; /* size = per_round * (rounds + more_rounds) */
    gint64 max_rounds, max_tiles;
    WsSize fixed[5];
    gboolean element; /* elements of integer tensors are the size of the rounds */
    gboolean small;   /* must be exhausted */
    guint cap;        /* states of one size; 0: 100,000 */
    gint64 max_work;  /* rounds of all tiles; 0: any */
} Subject;

/* K counts rounds of `k`, M tiles of `m`, N is one tile wide. */
#define GEMM(path, s, k, m, n, t, ...)                                                             \
    {                                                                                              \
        .file = path, .set = { { "STAGES", s } }, .rounds = "K", .tiles = "M", .per_round = k,     \
        .per_tile = m, .max_rounds = 3, .max_tiles = t, .fixed = { { "N", n } }, __VA_ARGS__       \
    }
/* SK counts blocks of `bn` keys, SQ tiles. */
#define KEYS(path, bn)                                                                             \
    {                                                                                              \
        .file = path, .set = { { "STAGES", 2 } }, .rounds = "SK", .tiles = "SQ", .per_round = bn,  \
        .per_tile = 128, .max_rounds = 3, .max_tiles = 2, .fixed = {                               \
            { "B", 1 },                                                                            \
            { "HQ", 1 },                                                                           \
            { "HKV", 1 }                                                                           \
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
static const Subject shipped[] = {
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
    CONTEXT("tests/designs/attention-tle-pingpong.wstave"),
    CONTEXT("projects/attention-d128-full/design.wstave"),
    SPARSE("tests/designs/sparse-mla-pipes.wstave", 64, 3, { "B", 1 }, { "SQ", 1 }, { "SKV", 64 },
           { "H", 64 }),
    SPARSE("tests/designs/sparse-mla-seesaw.wstave", 128, 2, { "SQ", 1 }, { "SKV", 64 },
           { "HQ", 64 }),
};

static guint n_set(const Subject *s)
{
    guint n = 0;
    while (n < G_N_ELEMENTS(s->set) && s->set[n].name)
        n++;
    return n;
}

static OracleResult one_case(const Subject *s, const WsProgram *p, gint64 n, gint64 t,
                             gboolean *there)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsSize size[8] = { { s->rounds, (n + s->more_rounds) * s->per_round } };
    guint n_size = 1;
    if (s->tiles && ws_program_find_var(p, s->tiles) >= 0)
        size[n_size++] = (WsSize){ s->tiles, t * s->per_tile };
    for (guint i = 0; i < G_N_ELEMENTS(s->fixed) && s->fixed[i].name; i++)
        size[n_size++] = s->fixed[i];
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n_size, FALSE, findings);
    guint cap = every ? s->cap ? s->cap : 100000 : s->small ? 60000 : 5000;
    OracleOptions options = { .tiles = (guint)t, .cap = cap, .stop = TRUE };
    options.element = s->element ? size[0].value : 0;
    *there = v != NULL;
    if (!v)
        return (OracleResult){ 0 };
    return oracle_run(p, v, &options);
}

static guint oracle_of(const Subject *s, const WsProgram *p, char **text)
{
    guint verdict = 0, seen = 0;
    gint64 full_tiles = G_MAXINT64, full_rounds = 0;
    gboolean tiles = p->tiles.launch != WS_LAUNCH_SINGLE;
    for (gint64 t = 1; t <= (tiles ? s->max_tiles : 1); t++)
        for (gint64 n = 0; n <= s->max_rounds; n++) {
            gboolean there;
            if ((t >= full_tiles && n >= full_rounds) || (s->max_work && t * n > s->max_work))
                continue; /* larger than one that was too large */
            OracleResult r = one_case(s, p, n, t, &there);
            if (!there)
                continue;
            seen++;
            verdict |= r.verdict;
            if (r.verdict == ORACLE_EXHAUSTED)
                full_tiles = t, full_rounds = n;
            if (r.verdict && !*text) {
                g_autofree char *say = oracle_text(&r);
                *text = g_strdup_printf("%d rounds, %d tiles: %s", (int)n, (int)t, say);
            }
            if (r.verdict & ORACLE_BAD)
                return r.verdict;
        }
    if (!seen) { /* the mutant allows none of these sizes */
        *text = g_strdup("no size is allowed");
        return ORACLE_EXHAUSTED;
    }
    return verdict;
}

static void judge(const Subject *s, const Mutant *m, Tally *tally)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(m->text, strlen(m->text), "mutant", findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, s->set, n_set(s), findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        tally->refused++; /* before the check: killed as well */
        return;
    }
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    if (ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        tally->killed++;
        return;
    }
    g_autofree char *say = NULL;
    guint oracle = oracle_of(s, p, &say);
    if (oracle & ORACLE_BAD) {
        tally->survived++;
        g_test_message("SURVIVED (%s) %s\n%s", ws_verdict_word(v->kind), m->what, say);
        g_test_fail();
    } else if (oracle & ORACLE_OUTSIDE) {
        tally->outside++;
        g_test_message("not modelled: %s\n%s", m->what, say);
        g_test_fail();
    } else if (oracle) {
        tally->capped++;
        g_test_message("not exhausted (%s): %s\n%s", ws_verdict_word(v->kind), m->what, say);
    } else {
        tally->equivalent++;
    }
}

static void test_design(gconstpointer data)
{
    const Subject *s = data;
    g_autofree char *text = NULL;
    Tally tally = { 0 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(s->file, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, s->set, n_set(s), findings) : NULL;
    g_assert_nonnull(p);
    g_assert_true(g_file_get_contents(s->file, &text, NULL, NULL));
    g_autoptr(GPtrArray) mutants = mutants_of(text, d, p);
    guint stride = every ? 1 : s->small ? 11 : 150;
    for (guint i = 0; i < mutants->len; i += stride)
        judge(s, g_ptr_array_index(mutants, i), &tally);
    g_test_message("%u mutants, every %u. taken: %u refuted, %u refused, %u do no harm, %u not "
                   "exhausted, %u not modelled, %u survived",
                   mutants->len, stride, tally.killed, tally.refused, tally.equivalent,
                   tally.capped, tally.outside, tally.survived);
    g_assert_cmpuint(mutants->len, >, 0);
    if (s->small) /* small ones are always exhausted */
        g_assert_cmpuint(tally.capped, ==, 0);
    total.killed += tally.killed + tally.refused;
    total.equivalent += tally.equivalent;
    total.survived += tally.survived;
    total.capped += tally.capped;
    total.outside += tally.outside;
}

static void add(GPtrArray *subjects, const Subject *s, const char *file)
{
    Subject *own = g_new(Subject, 1);
    *own = *s;
    own->file = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_ptr_array_add(subjects, own);
    g_autofree char *path = g_strdup_printf("/mutation/%s", file);
    if (!wanted || strstr(file, wanted))
        g_test_add_data_func(path, own, test_design);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        every = TRUE;
    wanted = argc > 2 ? argv[2] : NULL;
    g_autofree char *folder = g_build_filename(WS_SOURCE_ROOT, "tests/designs/catalogue", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) subjects = g_ptr_array_new();
    static const Subject small = { .rounds = "N",
                                   .tiles = "T",
                                   .per_round = 1,
                                   .per_tile = 1,
                                   .max_rounds = 5,
                                   .max_tiles = 2,
                                   .small = TRUE,
                                   .cap = 400000 };
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave")) {
            g_autofree char *file = g_build_filename("tests/designs/catalogue", name, NULL);
            add(subjects, &small, file);
        }
    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++)
        if (every || !g_str_has_prefix(shipped[i].file, "projects/")) /* as large, and like these */
            add(subjects, &shipped[i], shipped[i].file);
    int failed = g_test_run();
    g_test_message("all: %u refuted or refused, %u do no harm, %u not exhausted, %u not modelled, "
                   "%u survived",
                   total.killed, total.equivalent, total.capped, total.outside, total.survived);
    for (guint i = 0; i < subjects->len; i++) {
        Subject *s = g_ptr_array_index(subjects, i);
        g_free((char *)s->file);
        g_free(s);
    }
    return failed || total.survived > 0;
}
