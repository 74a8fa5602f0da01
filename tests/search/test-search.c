/* The search: what it returns is proved and takes the time that is said, the same for the same
 * seed. */
#include "../whole.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include "search/normal.h"
#include "search/search.h"

#include <string.h>

typedef struct {
    WsDesign *design;
    WsProgram *p;
    WsLaunchValues *v;
    WsMachine *m;
    WsTrialOf of;
} Fixture;

static void load(Fixture *f, const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", file, NULL);
    const WsSize size[] = { { "M", 1024 }, { "N", 1024 }, { "K", 2048 } };
    f->design = ws_design_load(path, findings);
    f->p = ws_elaborate(f->design, NULL, 0, findings);
    g_assert_nonnull(f->p);
    f->v = ws_launch_values(f->p, size, G_N_ELEMENTS(size), FALSE, findings);
    f->m = ws_machine_load(NULL, NULL);
    g_assert_true(f->v && f->m);
    f->of = (WsTrialOf){ f->p, f->v, f->m };
}

static void set_up(Fixture *f, gconstpointer file)
{
    load(f, file);
}

static void tear_down(Fixture *f, gconstpointer unused)
{
    ws_machine_free(f->m);
    ws_launch_values_free(f->v);
    ws_program_unref(f->p);
    ws_design_unref(f->design);
}

/* Elaborated, checked and played again, by nothing that the search keeps. */
static void check_found(const Fixture *f, const WsFound *found)
{
    g_autofree char *text = ws_design_print(found->design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) again = ws_design_parse(text, strlen(text), "found", findings);
    g_autoptr(WsProgram) p = ws_elaborate(again, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    g_assert_cmpint(verdict->kind, ==, WS_VERDICT_PROVED);
    const WsSize size[] = { { "M", 1024 }, { "N", 1024 }, { "K", 2048 } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, G_N_ELEMENTS(size), FALSE, findings);
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(p, v, f->m, &options, findings);
    g_assert_cmpint(r->cycles, ==, found->cycles);
    g_assert_cmpuint(p->shared_bytes, ==, found->shared);
}

/* Fastest first, each with less shared memory than all before it or with fewer edits for the same
 * time; the design as it is is slower. */
static void check_front(const Fixture *f, const WsSearch *s)
{
    g_assert_cmpuint(s->found->len, >, 0);
    guint fewest = G_MAXUINT;
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *found = s->found->pdata[i], *best = s->found->pdata[0];
        gboolean beaten = FALSE;
        g_assert_cmpint(found->cycles, <=, s->cycles);
        g_assert_cmpint(found->cycles, >=, i ? ((WsFound *)s->found->pdata[i - 1])->cycles : 0);
        for (guint k = 0; k < i; k++) {
            const WsFound *before = s->found->pdata[k];
            beaten |= before->shared <= found->shared && before->registers <= found->registers;
        }
        g_assert_true(!beaten ||
                      (found->decision->len < fewest && found->cycles * 100 <= best->cycles * 101));
        fewest = MIN(fewest, found->decision->len);
        check_found(f, found);
    }
}

static char *decisions(const WsSearch *s)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *f = s->found->pdata[i];
        for (guint k = 0; k < f->decision->len; k++)
            g_string_append_printf(text, "%s\n", (const char *)f->decision->pdata[k]);
        g_string_append(text, "--\n");
    }
    return g_string_free(text, FALSE);
}

static void test_found(Fixture *f, gconstpointer unused)
{
    const WsSearchOptions options = { .seconds = 1000, .beam = 3, .rounds = 2, .seed = 7 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) a = ws_search_new(&f->of, f->design, &options, findings);
    g_autoptr(WsSearch) b = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_true(a && b && !a->stopped);
    check_front(f, a);
    g_assert_cmpint(((WsFound *)a->found->pdata[0])->cycles, <, a->cycles);
    g_autofree char *x = decisions(a), *y = decisions(b);
    g_test_message("%s", x);
    g_assert_cmpstr(x, ==, y);
    g_assert_cmpuint(a->tried, ==, b->tried);
    g_assert_cmpuint(a->refuted, >, 0); /* some of what is tried is wrong, and is not returned */
}

/* Of designs equally fast the first is the one that loses least where loads are late, by a machine
 * whose loads are. */
static void test_late(Fixture *f, gconstpointer unused)
{
    const WsSearchOptions options = { .seconds = 1000, .beam = 6, .rounds = 2, .jitter = 2 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_nonnull(s);
    const WsFound *first = s->found->pdata[0];
    gint64 fastest = first->cycles;
    guint asked = 0;
    static const WsMachineValue latency[] = { WS_MACHINE_TMA_LATENCY, WS_MACHINE_TMA_LATENCY_HBM,
                                              WS_MACHINE_TMA_LATENCY_COLD };
    for (guint i = 0; i < G_N_ELEMENTS(latency); i++)
        ws_machine_set(f->m, latency[i], 3 * f->m->value[latency[i]], "a test");
    for (guint i = 0; i < s->found->len; i++) {
        const WsFound *found = s->found->pdata[i];
        fastest = MIN(fastest, found->cycles);
        if (!found->late)
            continue;
        g_autoptr(WsProgram) p = ws_elaborate(found->design, NULL, 0, findings);
        g_assert_cmpint(ws_trial_cycles(&f->of, p), ==, found->late);
        g_assert_cmpint(found->late, >, found->cycles);
        g_assert_cmpint(found->late, >=, first->late);
        asked++;
    }
    g_test_message("%" G_GINT64_FORMAT " cycles, late %" G_GINT64_FORMAT ", %u asked",
                   first->cycles, first->late, asked);
    g_assert_cmpuint(asked, >, 0);
    g_assert_cmpint(first->cycles * 100, <=, fastest * 101);
}

static gboolean never(const WsFound *found, gpointer data)
{
    g_assert_cmpuint(found->decision->len, >, 0);
    ++*(guint *)data;
    return FALSE;
}

/* Nothing is returned that was not accepted, but the design as it is. */
static void test_rejected(Fixture *f, gconstpointer unused)
{
    guint asked = 0;
    const WsSearchOptions options = {
        .seconds = 1000, .beam = 2, .rounds = 1, .accept = never, .asks = 3, .data = &asked
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_cmpuint(s->found->len, ==, 1);
    g_assert_cmpuint(((WsFound *)s->found->pdata[0])->decision->len, ==, 0);
    g_assert_cmpuint(asked, >, 0);
    g_assert_cmpuint(asked, <=, 3);
    g_assert_cmpuint(s->rejected, ==, asked);
}

static void test_cancelled(Fixture *f, gconstpointer unused)
{
    const gint cancel = 1;
    const WsSearchOptions options = { .cancel = &cancel };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_true(s && s->stopped && s->tried == 0 && s->found->len == 1);
}

/* A design that is not proved is no place to begin. */
static void test_refuted(Fixture *f, gconstpointer unused)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_assert_null(ws_search_new(&f->of, f->design, NULL, findings));
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), >, 0);
}

/* Nothing is faster than nothing. */
static void test_empty(Fixture *f, gconstpointer unused)
{
    const WsSize size[] = { { "M", 0 }, { "N", 1024 }, { "K", 2048 } };
    g_autoptr(WsFindings) findings = ws_findings_new();
    ws_launch_values_free(f->v);
    f->v = ws_launch_values(f->p, size, G_N_ELEMENTS(size), FALSE, findings);
    f->of.v = f->v;
    g_assert_nonnull(f->v);
    g_assert_null(ws_search_new(&f->of, f->design, NULL, findings));
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 1);
}

/* --- from no overlap to the shipped schedule -----------------------------------------------------
 */

typedef struct {
    const char *from, *shipped;
    const WsSetting *set;
    WsSize size[3];
    guint n_size, beam, rounds; /* of the short search; the whole one: as `warpstave search` */
    gboolean same;              /* the whole one is for these sizes, too: the designs have others */
} Climb;

static const WsSetting masked = { "CAUSAL", 1 };

#define ROWS(s) { { "SQ", s }, { "SK", s } }, 2
#define D128                                                                                       \
    "projects/attention-d128/ablations/no-overlap.wstave", "projects/attention-d128/design.wstave"
#define D64                                                                                        \
    "tests/designs/search/attention-d64-straight.wstave", "projects/attention-d64/design.wstave"
#define D256                                                                                       \
    "tests/designs/search/attention-d256-straight.wstave", "projects/attention-d256/design.wstave"

static const Climb climbs[] = {
    { D128, NULL, ROWS(1024), 1, 2 },
    { D128, &masked, ROWS(1024), 1, 3 },
    { D64, NULL, ROWS(1024), 1, 4 },
    { D256, NULL, ROWS(1024), 1, 2 },
    { D256, &masked, ROWS(1024), 1, 3 },
    { "tests/designs/search/gemm-plain.wstave",
      "projects/gemm-bf16-deferred/design.wstave",
      NULL,
      { { "M", 8192 }, { "N", 8192 }, { "K", 8192 } },
      3,
      3,
      2,
      TRUE },
    { "tests/designs/search/gemm-plain.wstave",
      "tests/designs/gemm-one-consumer.wstave",
      NULL,
      { { "M", 1024 }, { "N", 1024 }, { "K", 2048 } },
      3,
      1,
      1,
      FALSE },
};

static gint64 cycles_of(const Climb *c, const char *file, Fixture *f)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", file, NULL);
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    f->design = ws_advise_settled(design, c->set, c->set ? 1 : 0);
    f->p = ws_elaborate(f->design, NULL, 0, findings);
    g_assert_nonnull(f->p);
    f->v =
        ws_launch_values(f->p, c->size, g_test_slow() && !c->same ? 0 : c->n_size, FALSE, findings);
    f->m = ws_machine_load(NULL, NULL);
    const WsClockOptions options = { .no_trace = TRUE };
    g_autoptr(WsClockResult) r = ws_clock_run(f->p, f->v, f->m, &options, findings);
    g_assert_nonnull(r);
    return r->cycles;
}

/* Without being told, at least as fast as what ships, by the clock; within a minute where it is
 * searched whole (./dev soak). */
static void test_climb(gconstpointer data)
{
    const Climb *c = data;
    Fixture shipped, f;
    g_autoptr(WsFindings) findings = ws_findings_new();
    const gint64 aim = cycles_of(c, c->shipped, &shipped), start = cycles_of(c, c->from, &f);
    f.of = (WsTrialOf){ f.p, f.v, f.m };
    const WsSearchOptions brief = { .seconds = 1000, .beam = c->beam, .rounds = c->rounds };
    const WsSearchOptions whole = { .seconds = 60 };
    g_autoptr(WsSearch) s =
        ws_search_new(&f.of, f.design, g_test_slow() ? &whole : &brief, findings);
    g_assert_true(s && s->found->len > 0);
    const WsFound *best = s->found->pdata[0];
    g_test_message("%s%s: %" G_GINT64_FORMAT " cycles, shipped %" G_GINT64_FORMAT
                   ", found %" G_GINT64_FORMAT " (%+.1f %% beside it) in %.1f s, %.0f a "
                   "second",
                   c->from, c->set ? " CAUSAL" : "", start, aim, best->cycles,
                   100 * ((double)aim / (double)best->cycles - 1), s->seconds,
                   s->tried / s->seconds);
    g_assert_cmpint(best->cycles, <, start);
    g_assert_cmpint(best->cycles, <=, aim);
    g_autoptr(WsProgram) p = ws_elaborate(best->design, NULL, 0, findings);
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    g_assert_cmpint(verdict->kind, ==, WS_VERDICT_PROVED);
    tear_down(&shipped, NULL);
    tear_down(&f, NULL);
}

/* --- what no time hangs on
 * ------------------------------------------------------------------------
 */

#define MNK(m, n, k) { { "M", m }, { "N", n }, { "K", k } }, 3

static const Climb idle[] = {
    { "projects/gemm-bf16/design.wstave", NULL, NULL, MNK(1024, 1024, 2048), 2, 2, TRUE },
    { "projects/gemm-bf16-pingpong/design.wstave", NULL, NULL, MNK(1024, 1024, 2048), 2, 2, TRUE },
    { "projects/gemm-bf16-deferred/design.wstave", NULL, NULL, MNK(1024, 1024, 1024), 2, 2, TRUE },
    { "projects/attention-d256/design.wstave", NULL, NULL, ROWS(512), 1, 1, TRUE },
    { "projects/attention-d128/design.wstave", NULL, NULL, ROWS(1024), 1, 1, TRUE },
    { "projects/attention-d64/design.wstave", NULL, NULL, ROWS(512), 1, 1, TRUE },
};

/* Edits left out because the time does not hang on what they change: with them the same is found.
 */
static void test_idle(gconstpointer data)
{
    const Climb *c = data;
    Fixture f;
    g_autoptr(WsFindings) findings = ws_findings_new();
    cycles_of(c, c->from, &f);
    f.of = (WsTrialOf){ f.p, f.v, f.m };
    WsSearchOptions options = { .seconds = 1000, .beam = c->beam, .rounds = c->rounds };
    g_autoptr(WsSearch) less = ws_search_new(&f.of, f.design, &options, findings);
    options.every = TRUE;
    g_autoptr(WsSearch) all = ws_search_new(&f.of, f.design, &options, findings);
    g_assert_true(less && all);
    const WsFound *a = less->found->pdata[0], *b = all->found->pdata[0];
    g_test_message("%s: %u of %u left out, %.0f a second; all: %.0f", c->from, less->idle,
                   less->tried, less->tried / less->seconds, all->tried / all->seconds);
    g_assert_cmpuint(less->idle, >, 0);
    g_assert_cmpuint(all->idle, ==, 0);
    g_assert_cmpint(a->cycles, ==, b->cycles);
    tear_down(&f, NULL);
}

/* Whoever takes a rotated loop compares its values with the reference. */
static void test_compared(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(
        WS_SOURCE_ROOT "/projects/attention-d128/ablations/no-overlap.wstave", findings);
    g_autoptr(GPtrArray) list = ws_candidates_new(design);
    guint rotated = 0, parted = 0;
    for (guint i = 0; i < list->len; i++) {
        const WsCandidate *c = list->pdata[i];
        const gboolean later = strstr(c->title, "what follows it one round later") != NULL;
        g_assert_cmpint(c->reorders, ==, later);
        rotated += later;
        parted += later && strstr(c->title, "barriers of its own");
    }
    g_assert_cmpuint(rotated, >, parted);
    g_assert_cmpuint(parted, >, 0);
}

/* A rotated loop leaves a turn before the rounds that orders nothing, sums behind a product that
 * need not wait for it, and releases that come late. */
static void test_reach(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(
        WS_SOURCE_ROOT "/tests/designs/search/attention-d64-straight.wstave", findings);
    g_autoptr(GPtrArray) first = ws_candidates_new(design);
    const WsCandidate *rotated = NULL;
    for (guint i = 0; i < first->len; i++) {
        const WsCandidate *c = first->pdata[i];
        if (g_str_has_prefix(c->title, "wait full and what follows it one round later, with"))
            rotated = c;
    }
    g_assert_nonnull(rotated);
    g_autoptr(GPtrArray) list = ws_candidates_deep(rotated->design);
    guint unordered = 0, computing = 0, released = 0;
    for (guint i = 0; i < list->len; i++) {
        const WsCandidate *c = list->pdata[i];
        const gboolean order = g_str_has_prefix(c->title, "Without sync turn");
        const gboolean far = g_str_has_suffix(c->title, " places earlier");
        if (!order && !far)
            continue;
        const gboolean computes = far && g_str_has_prefix(c->title, "compute");
        g_assert_cmpint(c->reorders, ==, computes);
        g_autoptr(WsProgram) p = ws_elaborate(c->design, NULL, 0, findings);
        const gboolean proved = p && ws_trial_judge(p, NULL) == WS_VERDICT_PROVED;
        unordered += order && proved;
        computing += computes && proved;
        released += far && !computes && proved;
    }
    g_assert_cmpuint(unordered, >, 0);
    g_assert_cmpuint(computing, >, 0);
    g_assert_cmpuint(released, >, 0);
}

/* --- what ptxas does not follow
 * ------------------------------------------------------------------ */

static WsProgram *program_of(const WsDesign *design, const WsSetting *set)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *p = ws_elaborate(design, set, set ? 1 : 0, findings);
    g_assert_nonnull(p);
    return p;
}

static WsDesign *design_of(const char *file)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", file, NULL);
    WsDesign *design = ws_design_load(path, findings);
    g_assert_nonnull(design);
    return design;
}

/* ptxas builds the shipped designs as they are written (projects/README.md). */
static void test_overlaps(void)
{
    g_autoptr(GDir) dir = g_dir_open(WS_SOURCE_ROOT "/projects", 0, NULL);
    const char *name;
    guint n = 0;
    while ((name = g_dir_read_name(dir))) {
        g_autofree char *file = g_strdup_printf("projects/%s/design.wstave", name);
        g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", file, NULL);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            continue;
        g_autoptr(WsDesign) design = design_of(file);
        g_autoptr(WsProgram) p = program_of(design, NULL);
        if (ws_search_serialises(p))
            g_error("%s", file);
        n++;
    }
    g_assert_cmpuint(n, >, 12);
}

static const WsNode *rounds_of(const WsNode *owner, WsFieldId list)
{
    for (guint i = 0; i < ws_node_n_children(owner, list); i++) {
        const WsNode *step = ws_node_child(owner, list, i);
        if (step->kind == WS_STEP_FOR)
            return ws_node_has(step, WS_F_over) ? rounds_of(step, WS_F_do) : step;
    }
    return NULL;
}

/* The first product of the shipped attention, with its wait before it, at the end of the round and
 * a round ahead: the same order, which ptxas serialises (C7514; CUDA 13.0). The search writes it
 * back. */
static void test_rounds_meet(void)
{
    static const char *const file[] = { "projects/attention-d128/design.wstave",
                                        "projects/attention-d128-full/design.wstave" };
    for (guint i = 0; i < G_N_ELEMENTS(file); i++) {
        g_autoptr(WsDesign) design = design_of(file[i]);
        g_autoptr(WsDraft) d = ws_draft_new(design);
        const WsNode *root = ws_design_root(design);
        const guint groups = ws_node_n_children(root, WS_F_groups);
        const WsNode *loop = rounds_of(ws_node_child(root, WS_F_groups, groups - 1), WS_F_body);
        const guint n = ws_node_n_children(loop, WS_F_do);
        guint moved = 0;
        for (guint k = 0; k < n && moved == k; k++) {
            const WsNode *step = ws_node_child(loop, WS_F_do, k);
            g_assert_true(ws_draft_set(d, step->identity, WS_F_ahead, ws_json_int(1)));
            g_assert_true(ws_draft_move(d, step->identity, loop->identity, WS_F_do, n - 1));
            moved += step->kind != WS_STEP_MMA;
        }
        g_autoptr(WsProgram) before = program_of(design, NULL);
        g_autoptr(WsProgram) met = program_of(d->design, NULL);
        g_assert_false(ws_search_serialises(before));
        g_assert_true(ws_search_serialises(met));
        gboolean rolled = FALSE;
        g_autoptr(WsDesign) again = ws_search_normal(d->design, &rolled);
        g_autofree char *x = ws_design_print(again), *y = ws_design_print(design);
        g_assert_true(rolled);
        g_assert_cmpstr(x, ==, y);
        g_autoptr(WsDesign) same = ws_search_normal(design, &rolled);
        g_assert_false(rolled);
        g_assert_true(same == design);
    }
}

typedef struct {
    guint asked, all;
    GHashTable *how;
} Builds;

/* Nothing is built: each order is asked about once, and no edit is tried on what does not build. */
static gboolean builds_nothing(const WsProgram *p, gpointer data)
{
    Builds *b = data;
    b->asked++;
    g_assert_true(g_hash_table_add(b->how, ws_search_computing(p)));
    return FALSE;
}

static void test_builds(Fixture *f, gconstpointer unused)
{
    g_autoptr(GHashTable) how = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Builds b = { 0, 0, how };
    const WsSearchOptions options = {
        .seconds = 1000, .beam = 2, .rounds = 3, .builds = builds_nothing, .asks = 1000, .data = &b
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&f->of, f->design, &options, findings);
    g_assert_cmpuint(s->rounds, ==, 0);
    g_assert_cmpuint(s->found->len, ==, 1); /* the design as it is */
    g_assert_cmpuint(b.asked, >, 0);
    g_assert_cmpuint(s->unbuilt, >=, b.asked);
    /* Where a barrier is waited for is no matter of the order; how many stay in flight is. */
    g_autofree char *x = ws_search_computing(f->p);
    g_autoptr(GPtrArray) list = ws_candidates_new(f->design);
    guint same = 0, other = 0;
    for (guint i = 0; i < list->len; i++) {
        const WsCandidate *c = list->pdata[i];
        const gboolean moves = g_str_has_prefix(c->title, "wait ") && strstr(c->title, " place ");
        const gboolean waits = strstr(c->title, " in flight") != NULL;
        g_autoptr(WsProgram) p = ws_elaborate(c->design, NULL, 0, findings);
        g_autofree char *y = p ? ws_search_computing(p) : NULL;
        if (y && moves)
            g_assert_cmpstr(x, ==, y);
        if (y && waits)
            g_assert_cmpstr(x, !=, y);
        same += y && moves;
        other += y && waits;
    }
    g_assert_cmpuint(same, >, 0);
    g_assert_cmpuint(other, >, 0);
}

/* Constants are asked about once, and nothing is tried on those whose values are wrong. */
static gboolean of_no_value(const WsDesign *design, gpointer data)
{
    Builds *b = data;
    const WsValue *map = ws_node_get(ws_design_root(design), WS_F_constants);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < map->n; i++) {
        g_autofree char *value = ws_expr_print(map->item[i].expr);
        g_string_append_printf(text, "%s ", value);
    }
    b->asked++;
    g_assert_true(g_hash_table_add(b->how, g_string_free(text, FALSE)));
    return FALSE;
}

static void test_values(Fixture *f, gconstpointer unused)
{
    g_autoptr(GHashTable) how = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Builds b = { 0, 0, how };
    const WsSearchOptions options = {
        .seconds = 1000, .beam = 6, .rounds = 2, .values = of_no_value, .data = &b
    };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsSearch) s = ws_search_new(&f->of, f->design, &options, findings);
    g_autofree char *text = decisions(s);
    g_assert_cmpuint(b.asked, >, 0);
    g_assert_cmpuint(s->rejected, >=, b.asked);
    g_assert_null(strstr(text, " = "));
    g_assert_cmpuint(s->found->len, >, 1); /* what has the constants of the start is found */
}

int main(int argc, char **argv)
{
    static const char right[] = "projects/gemm-bf16-pingpong/design.wstave";
    static const char wrong[] = "tests/designs/broken/02-wrong-count.wstave";
    g_test_init(&argc, &argv, NULL);
    g_test_add("/search/found", Fixture, right, set_up, test_found, tear_down);
    g_test_add("/search/late", Fixture, right, set_up, test_late, tear_down);
    g_test_add("/search/rejected", Fixture, right, set_up, test_rejected, tear_down);
    g_test_add("/search/cancelled", Fixture, right, set_up, test_cancelled, tear_down);
    g_test_add("/search/empty", Fixture, right, set_up, test_empty, tear_down);
    g_test_add("/search/refuted", Fixture, wrong, set_up, test_refuted, tear_down);
    g_test_add("/search/builds", Fixture, right, set_up, test_builds, tear_down);
    g_test_add("/search/values", Fixture, right, set_up, test_values, tear_down);
    g_test_add_func("/search/overlaps", test_overlaps);
    g_test_add_func("/search/rounds-meet", test_rounds_meet);
    g_test_add_func("/search/compared", test_compared);
    g_test_add_func("/search/reach", test_reach);
    for (guint i = 0; i < G_N_ELEMENTS(idle); i++) {
        g_autofree char *name = g_strdup_printf("/search/idle/%u", i);
        if (test_takes(i, 2, 3))
            g_test_add_data_func(name, &idle[i], test_idle);
    }
    for (guint i = 0; i < G_N_ELEMENTS(climbs); i++) {
        g_autofree char *name = g_strdup_printf("/search/climb/%u", i);
        if (test_takes(i, 5, 3))
            g_test_add_data_func(name, &climbs[i], test_climb);
    }
    return g_test_run();
}
