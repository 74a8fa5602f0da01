/* Elaboration of the shipped designs: golden texts of the GEMMs, the figures of LANGUAGE section
 * 24, and its speed. `WS_UPDATE_GOLDEN=1` rewrites the golden files; read the difference. */
#include "../cputime.h"
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/forward.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

static WsProgram *elaborate(const char *design, const WsSetting *set, guint n_set)
{
    g_autofree char *file = g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, design);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    WsProgram *p = d ? ws_elaborate(d, set, n_set, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_WARNING) > 0) {
        g_autofree char *text = ws_findings_print(findings, design);
        g_test_message("%s", text);
        g_test_fail();
    }
    return p;
}

/* --- golden texts --------------------------------------------------------------------------- */

typedef struct {
    const char *design, *golden;
    guint n_set;
    WsSetting set[2];
} Golden;

static const Golden golden[] = {
    { "gemm-cooperative", "gemm-cooperative", 0, { { NULL, 0 } } },
    { "gemm-cooperative", "gemm-cooperative-stages3", 1, { { "STAGES", 3 } } },
    { "gemm-cooperative", "gemm-cooperative-bn128", 1, { { "BN", 128 } } },
    { "gemm-aliased", "gemm-aliased", 0, { { NULL, 0 } } },
    { "gemm-aliased", "gemm-aliased-stages3-bn128", 2, { { "STAGES", 3 }, { "BN", 128 } } },
    { "gemm-pingpong", "gemm-pingpong", 0, { { NULL, 0 } } },
    { "gemm-pingpong", "gemm-pingpong-stages3", 1, { { "STAGES", 3 } } },
    { "gemm-cluster", "gemm-cluster", 0, { { NULL, 0 } } },
    { "gemm-cluster", "gemm-cluster-stages3", 1, { { "STAGES", 3 } } },
    { "gemm-cluster", "gemm-cluster-bn128", 1, { { "BN", 128 } } },
};

/* For one who tries many: the same program but for what people are told. */
static void test_bare(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(golden); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autofree char *path =
            g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, golden[i].design);
        g_autoptr(WsDesign) design = ws_design_load(path, findings);
        g_assert_nonnull(design);
        g_autoptr(WsProgram) all = ws_elaborate(design, NULL, 0, findings);
        g_autoptr(WsProgram) bare = ws_elaborate_bare(design, findings);
        g_autofree char *x = ws_program_print(all), *y = ws_program_print(bare);
        g_assert_cmpstr(x, ==, y);
        g_assert_nonnull(all->design_text);
        g_assert_null(bare->design_text);
    }
}

static void test_golden(gconstpointer data)
{
    const Golden *g = data;
    g_autoptr(WsProgram) p = elaborate(g->design, g->set, g->n_set);
    g_autofree char *file =
        g_strdup_printf("%s/tests/program/golden/%s.program", WS_SOURCE_ROOT, g->golden);
    g_assert_nonnull(p);
    g_autofree char *text = ws_program_print(p), *want = NULL;
    if (g_getenv("WS_UPDATE_GOLDEN"))
        g_assert_true(g_file_set_contents(file, text, -1, NULL));
    g_assert_true(g_file_get_contents(file, &want, NULL, NULL));
    g_auto(GStrv) have = g_strsplit(text, "\n", -1), expected = g_strsplit(want, "\n", -1);
    for (guint i = 0; have[i] || expected[i]; i++) {
        g_assert_cmpstr(have[i], ==, expected[i]);
        if (!have[i] || !expected[i])
            break;
    }
}

/* --- LANGUAGE section 24 -------------------------------------------------------------------- */

typedef struct {
    const char *barrier; /* "name" or "name[e]" */
    guint count;         /* arrivals, or threads of a named barrier */
    guint64 tx;          /* 0: not a figure of the table */
} Count;

typedef struct {
    const char *design;
    guint threads, registers[3]; /* per group in list order, 0: none */
    guint64 shared;
    Count count[16];
} Figures;

static const Figures figures[] = {
    { "gemm-cooperative", 384, { 40, 232 }, 229440, { { "full", 1, 49152 }, { "empty", 2, 0 } } },
    { "gemm-aliased",
      384,
      { 40, 232 },
      196680,
      { { "full", 1, 49152 }, { "empty", 2, 0 }, { "c_free", 2, 0 } } },
    { "gemm-pingpong",
      384,
      { 40, 232 },
      196704,
      { { "full", 1, 32768 },
        { "empty", 1, 0 },
        { "main_turn[0]", 128, 0 },
        { "main_turn[1]", 128, 0 },
        { "store_turn[0]", 128, 0 },
        { "store_turn[1]", 128, 0 } } },
    { "gemm-cluster", 384, { 24, 240 }, 229440, { { "full", 1, 49152 }, { "empty", 4, 0 } } },
    { "gemm-fp8-block",
      384,
      { 232, 40 },
      216128,
      { { "full", 1, 41472 }, { "empty", 8, 0 }, { "both", 256, 0 } } },
    { "attention-fa3-causal",
      384,
      { 24, 240 },
      163928,
      { { "q_full", 1, 32768 },
        { "k_full", 1, 32768 },
        { "v_full", 1, 32768 },
        { "q_empty", 2, 0 },
        { "k_empty", 2, 0 },
        { "v_empty", 2, 0 },
        { "o_free", 1, 0 },
        { "turn[0]", 256, 0 },
        { "turn[1]", 256, 0 },
        { "v_left", 256, 0 },
        { "o_staged", 256, 0 } } },
    { "attention-fa3-dynamic",
      384,
      { 24, 240 },
      163952,
      { { "k_full", 1, 32768 },
        { "next_full", 1, 0 },
        { "next_empty", 8, 0 },
        { "o_free", 1, 0 } } },
    { "attention-tle-pingpong",
      384,
      { 40, 232 },
      196704,
      { { "q_fulls[0]", 1, 16384 },
        { "q_fulls[1]", 1, 16384 },
        { "k_fulls", 1, 32768 },
        { "v_fulls", 1, 32768 },
        { "q_empties[0]", 1, 0 },
        { "q_empties[1]", 1, 0 },
        { "k_empties", 2, 0 },
        { "v_empties", 2, 0 },
        { "pingpong[0]", 256, 0 },
        { "pingpong[1]", 256, 0 } } },
    { "sparse-mla-seesaw",
      384,
      { 216, 216, 72 },
      230352,
      { { "q_full", 1, 73728 },
        { "k0_ready[0]", 128, 0 },
        { "k0_ready[1]", 128, 0 },
        { "k0_free[0]", 128, 0 },
        { "k0_free[1]", 128, 0 },
        { "k1_ready[0]", 128, 0 },
        { "k1_ready[1]", 128, 0 },
        { "k1_free[0]", 128, 0 },
        { "k1_free[1]", 128, 0 },
        { "valid_ready", 16, 0 },
        { "m0", 256, 0 },
        { "m1", 256, 0 },
        { "p0", 256, 0 },
        { "p1", 256, 0 },
        { "lsum", 256, 0 } } },
    { "sparse-mla-pipes",
      384,
      { 96, 240, 168 },
      230456,
      { { "sparse_mla_q.full", 1, 73728 },
        { "sparse_mla_kv.full", 132, 0 },
        { "sparse_mla_kv.empty", 8, 0 },
        { "sparse_mla_score.full", 4, 0 },
        { "sparse_mla_score.empty", 4, 0 } } },
};

static guint count_of(const WsProgram *p, const char *name, guint64 *tx)
{
    g_auto(GStrv) part = g_strsplit_set(name, "[]", -1);
    guint e = part[1] ? (guint)g_ascii_strtoull(part[1], NULL, 10) : 0;
    for (guint i = 0; i < p->n_barriers; i++) {
        const WsBarrier *b = &p->barrier[i];
        if (strcmp(b->name, part[0]) != 0)
            continue;
        g_assert_cmpuint(e, <, b->array);
        *tx = b->expected_bytes;
        return b->kind == WS_BARRIER_NAMED ? b->threads[e] : b->arrivals[e];
    }
    g_test_message("no barrier %s", name);
    g_test_fail();
    return 0;
}

static void test_figures(gconstpointer data)
{
    const Figures *f = data;
    g_autoptr(WsProgram) p = elaborate(f->design, NULL, 0);
    g_assert_nonnull(p);
    g_assert_cmpuint(p->threads, ==, f->threads);
    g_assert_cmpuint(p->shared_bytes, ==, f->shared);
    for (guint i = 0; i < p->n_agents; i++)
        g_assert_cmpuint(p->agent[i].registers, ==, f->registers[p->agent[i].group]);
    for (guint i = 0; i < G_N_ELEMENTS(f->count) && f->count[i].barrier; i++) {
        guint64 tx = 0;
        g_test_message("%s", f->count[i].barrier);
        g_assert_cmpuint(count_of(p, f->count[i].barrier, &tx), ==, f->count[i].count);
        if (f->count[i].tx)
            g_assert_cmpuint(tx, ==, f->count[i].tx);
    }
}

/* --- what every program keeps --------------------------------------------------------------- */

static guint check_tree(const WsProgram *p, const WsTree *t, const WsTree *parent, gboolean leader)
{
    guint n = 0;
    if (!t)
        return 0;
    g_assert_true(t->parent == parent);
    g_assert_true(!leader || t->leader);
    if (t->kind == WS_TREE_OP) {
        g_assert_true(t->op->tree == t);
        g_assert_true(p->op[t->op->index] == t->op);
        g_assert_nonnull(t->op->id);
        g_assert_nonnull(t->op->label);
        g_assert_true(!t->leader || t->op->breadth == WS_BREADTH_LEADER);
        return 1;
    }
    for (guint i = 0; i < t->n_kids; i++)
        n += check_tree(p, t->kid[i], t, t->leader);
    return n;
}

static void test_shape(gconstpointer data)
{
    const Figures *f = data;
    g_autoptr(WsProgram) p = elaborate(f->design, NULL, 0);
    g_assert_nonnull(p);
    guint n = p->n_prologue;
    for (guint i = 0; i < p->n_agents; i++)
        n += check_tree(p, p->agent[i].body, NULL, FALSE);
    g_assert_cmpuint(n, ==, p->n_ops);
    for (guint i = 0; i < p->n_vars; i++)
        g_assert_true(p->var[i].agent < (gint)p->n_agents);
    g_assert_cmpint((gint)strlen(p->design_hash), ==, 64);
}

static void test_speed(void)
{
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/gemm-cooperative.wstave", WS_SOURCE_ROOT);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(file, findings);
    gint64 best = G_MAXINT64;
    for (guint i = 0; i < 20; i++) { /* the least of 20: caches are shared */
        gint64 from = cputime_mine();
        g_autoptr(WsProgram) p = ws_elaborate(d, NULL, 0, findings);
        g_assert_nonnull(p);
        best = MIN(best, cputime_mine() - from);
    }
    g_test_message("%" G_GINT64_FORMAT " us", best);
#if defined(__SANITIZE_ADDRESS__)
    g_assert_cmpint(best, <, 20000);
#else
    g_assert_cmpint(best, <, 1000);
#endif
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(golden); i++) {
        g_autofree char *path = g_strdup_printf("/program/golden/%s", golden[i].golden);
        g_test_add_data_func(path, &golden[i], test_golden);
    }
    for (guint i = 0; i < G_N_ELEMENTS(figures); i++) {
        g_autofree char *path = g_strdup_printf("/program/figures/%s", figures[i].design);
        g_test_add_data_func(path, &figures[i], test_figures);
        g_autofree char *shape = g_strdup_printf("/program/shape/%s", figures[i].design);
        g_test_add_data_func(shape, &figures[i], test_shape);
    }
    g_test_add_func("/program/bare", test_bare);
    g_test_add_func("/program/speed", test_speed);
    return g_test_run();
}
