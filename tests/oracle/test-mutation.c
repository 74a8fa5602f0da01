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
    guint cap;
} Subject;

#define ATTENTION                                                                                  \
    {                                                                                              \
        { "B", 1 }, { "HQ", 1 },                                                                   \
        {                                                                                          \
            "HKV", 1                                                                               \
        }                                                                                          \
    }
static const Subject shipped[] = {
    { "tests/designs/gemm-cooperative.wstave",
      { { "STAGES", 2 } },
      "K",
      "M",
      64,
      128,
      0,
      3,
      2,
      { { "N", 256 } } },
    { "tests/designs/gemm-aliased.wstave",
      { { "STAGES", 4 } },
      "K",
      "M",
      64,
      128,
      0,
      3,
      2,
      { { "N", 256 } } },
    { "tests/designs/gemm-pingpong.wstave",
      { { "STAGES", 2 } },
      "K",
      "M",
      64,
      128,
      0,
      3,
      3,
      { { "N", 128 } } },
    { "tests/designs/gemm-cluster.wstave",
      { { "STAGES", 2 } },
      "K",
      "M",
      64,
      256,
      0,
      3,
      1,
      { { "N", 256 } } },
    { "tests/designs/gemm-fp8-block.wstave",
      { { "STAGES", 2 } },
      "K",
      "M",
      128,
      128,
      0,
      3,
      2,
      { { "N", 192 } } },
    { "tests/designs/attention-fa3-causal.wstave",
      { { "STAGES", 2 } },
      "SK",
      "SQ",
      128,
      128,
      0,
      3,
      2,
      ATTENTION },
    { "tests/designs/attention-fa3-dynamic.wstave",
      { { "STAGES", 2 } },
      "SK",
      "SQ",
      128,
      128,
      0,
      3,
      2,
      ATTENTION },
    { "tests/designs/attention-fa3-full.wstave",
      { { "STAGES", 2 } },
      "SK",
      "SQ",
      176,
      128,
      0,
      3,
      2,
      ATTENTION },
    { "tests/designs/attention-tle-pingpong.wstave",
      { { NULL, 0 } },
      "N_CTX",
      NULL,
      128,
      0,
      0,
      3,
      2,
      { { "Z", 1 }, { "H", 2 } } },
    { "tests/designs/sparse-mla-pipes.wstave",
      { { NULL, 0 } },
      "TOPK",
      NULL,
      64,
      0,
      0,
      3,
      1,
      { { "B", 1 }, { "SQ", 1 }, { "SKV", 64 }, { "H", 64 } },
      TRUE },
    { "tests/designs/sparse-mla-seesaw.wstave",
      { { NULL, 0 } },
      "TOPK",
      NULL,
      128,
      0,
      0,
      2,
      1,
      { { "SQ", 1 }, { "SKV", 64 }, { "HQ", 64 } },
      TRUE },
    { "projects/gemm-bf16/design.wstave",
      { { "STAGES", 2 } },
      "K",
      "M",
      64,
      128,
      0,
      3,
      2,
      { { "N", 256 } } },
    { "projects/gemm-fp8/design.wstave",
      { { "STAGES", 2 }, { "SMS", 1 } },
      "K",
      "M",
      128,
      128,
      3,
      1,
      1,
      { { "N", 256 } } },
    { "projects/gemm-fp8-block/design.wstave",
      { { "STAGES", 2 } },
      "K",
      "M",
      512,
      128,
      0,
      3,
      2,
      { { "N", 192 } } },
    { "projects/attention-d128/design.wstave",
      { { "STAGES", 2 } },
      "SK",
      "SQ",
      128,
      128,
      0,
      3,
      2,
      ATTENTION },
    { "projects/attention-d128-full/design.wstave",
      { { NULL, 0 } },
      "N_CTX",
      NULL,
      128,
      0,
      0,
      3,
      2,
      { { "Z", 1 }, { "H", 2 } } },
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
    guint cap = every ? s->cap ? s->cap : 100000 : s->cap ? 60000 : 5000;
    OracleOptions options = { .tiles = (guint)t, .cap = cap, .stop = TRUE };
    options.element = s->element ? size[0].value : 0;
    *there = v != NULL;
    if (!v)
        return (OracleResult){ 0 };
    return oracle_run(p, v, &options);
}

static guint oracle_of(const Subject *s, const WsProgram *p, char **text)
{
    guint verdict = 0;
    gint64 full_tiles = G_MAXINT64, full_rounds = 0;
    gboolean tiles = p->tiles.launch != WS_LAUNCH_SINGLE;
    for (gint64 t = 1; t <= (tiles ? s->max_tiles : 1); t++)
        for (gint64 n = 0; n <= s->max_rounds; n++) {
            gboolean there;
            if (t >= full_tiles && n >= full_rounds)
                continue; /* larger than one that was too large */
            OracleResult r = one_case(s, p, n, t, &there);
            if (!there)
                continue;
            verdict |= r.verdict;
            if (r.verdict == ORACLE_EXHAUSTED)
                full_tiles = t, full_rounds = n;
            if (r.verdict && !*text) {
                g_autofree char *say = oracle_text(&r);
                *text = g_strdup_printf("%d rounds, %d tiles: %s", (int)n, (int)t, say);
            }
            if (r.verdict & ~(guint)(ORACLE_EXHAUSTED | ORACLE_OUTSIDE))
                return r.verdict;
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
    if (oracle & ~(guint)(ORACLE_EXHAUSTED | ORACLE_OUTSIDE)) {
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
    guint stride = every ? 1 : s->cap ? 11 : 60;
    for (guint i = 0; i < mutants->len; i += stride)
        judge(s, g_ptr_array_index(mutants, i), &tally);
    g_test_message("%u mutants, every %u. taken: %u refuted, %u refused, %u do no harm, %u not "
                   "exhausted, %u not modelled, %u survived",
                   mutants->len, stride, tally.killed, tally.refused, tally.equivalent,
                   tally.capped, tally.outside, tally.survived);
    g_assert_cmpuint(mutants->len, >, 0);
    if (s->cap) /* small ones are always exhausted */
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
                                   .cap = 400000 };
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] == 'C' && g_str_has_suffix(name, ".wstave")) {
            g_autofree char *file = g_build_filename("tests/designs/catalogue", name, NULL);
            add(subjects, &small, file);
        }
    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++)
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
