/* The bound under a search: no design of a full one beats it, nor does one whose order or tiles a
 * hand has changed; where it is not known, it says why. */
#include "../whole.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "search/bound.h"
#include "search/search.h"

#include <string.h>

typedef struct {
    const char *file;
    WsSize size[3];
    guint n, beam, rounds;
    gboolean tiles; /* all tiles have as many products */
} Row;

#define MNK(m, n, k) { { "M", m }, { "N", n }, { "K", k } }, 3
#define ROWS(s)      { { "SQ", s }, { "SK", s } }, 2

static const Row rows[] = {
    { "tests/designs/search/gemm-plain.wstave", MNK(2048, 2048, 1024), 4, 3, TRUE },
    { "projects/gemm-bf16-pingpong/design.wstave", MNK(1024, 1024, 1024), 4, 3, TRUE },
    { "projects/gemm-bf16-cluster2/design.wstave", MNK(1024, 1024, 1024), 6, 2, TRUE },
    { "projects/gemm-fp8/design.wstave", MNK(1024, 1024, 1024), 2, 2, TRUE },
    { "projects/gemm-small/design.wstave", MNK(16, 4096, 4096), 2, 2, TRUE },
    { "projects/attention-d128/ablations/no-overlap.wstave", ROWS(1024), 2, 2, FALSE },
};

typedef struct {
    WsSearchBound c;
    WsTrialOf of;
    guint all, order;
    gint64 best;
} Held;

static gboolean keeps_tiles(const WsFound *f)
{
    for (guint i = 0; i < f->decision->len; i++)
        if (strstr(f->decision->pdata[i], " = ") || strstr(f->decision->pdata[i], "half of the"))
            return FALSE;
    return TRUE;
}

static void hold(const WsFound *f, gpointer data)
{
    Held *h = data;
    g_assert_cmpint(f->cycles, >=, h->c.all.cycles);
    h->all++;
    h->best = h->best ? MIN(h->best, f->cycles) : f->cycles;
    if (!keeps_tiles(f))
        return;
    g_assert_cmpint(f->cycles, >=, h->c.order.cycles);
    /* What it rests on: the work of the units is what it was. */
    const WsFloor floor = ws_trial_floor(&h->of, f->design),
                  was = ws_floor_of(h->of.p, h->of.v, h->of.m, 0);
    g_assert_cmpint(floor.cycles, ==, was.cycles);
    h->order++;
}

static void test_full(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", row->file, NULL);
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, row->size, row->n, FALSE, findings);
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    Held h = { .of = { p, v, m } };
    h.c = ws_search_bound_of(&h.of);
    g_assert_cmpint(h.c.order.cycles, >, 0);
    g_assert_cmpint(h.c.all.cycles > 0, ==, row->tiles);
    g_assert_cmpint(h.c.why == NULL, ==, row->tiles);
    g_assert_cmpint(h.c.all.cycles, <=, h.c.order.cycles);
    const WsSearchOptions options = { .seconds = 1000,
                                      .beam = row->beam,
                                      .rounds = g_test_slow() ? 12 : row->rounds,
                                      .every = TRUE,
                                      .proved = hold,
                                      .data = &h };
    g_autoptr(WsSearch) s = ws_search_new(&h.of, design, &options, findings);
    g_assert_nonnull(s);
    g_assert_cmpuint(h.order, >, 1);
    g_assert_cmpuint(h.all, >=, h.order);
    g_test_message("%s: %u designs, best %" G_GINT64_FORMAT ", bound %" G_GINT64_FORMAT
                   " (%s), on any tiles %" G_GINT64_FORMAT,
                   row->file, h.all, h.best, h.c.order.cycles, h.c.order.unit, h.c.all.cycles);
}

/* By hand: 2*M*N*K floating-point operations at the rate of the pipe, 5 % less. */
static void test_by_hand(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", findings);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
    const WsSize size[] = { { "M", 2048 }, { "N", 4096 }, { "K", 1024 } };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, 3, FALSE, findings);
    const WsTrialOf of = { p, v, m };
    const WsSearchBound c = ws_search_bound_of(&of);
    const double macs = 2048.0 * 4096 * 1024;
    g_assert_cmpint(c.macs, ==, (gint64)macs);
    g_assert_cmpstr(c.all.unit, ==, "tensor pipe");
    const double rate = 64 * m->value[WS_MACHINE_MMA_COLUMNS] * 16 * m->value[WS_MACHINE_SMS];
    g_assert_cmpfloat_with_epsilon((double)c.all.cycles, 0.95 * macs / rate, 1);
    /* Another machine, half as fast: twice as long. */
    ws_machine_set(m, WS_MACHINE_MMA_COLUMNS, m->value[WS_MACHINE_MMA_COLUMNS] / 2, "a test");
    const WsSearchBound slow = ws_search_bound_of(&of);
    g_assert_cmpfloat_with_epsilon((double)slow.all.cycles, 2 * (double)c.all.cycles, 2);
    g_assert_cmpint(slow.order.cycles, >, c.order.cycles);
    g_autofree char *text = ws_search_bound_text(&c);
    g_assert_nonnull(strstr(text, "no schedule of these moves on tiles of any size"));
}

static void test_unknown(void)
{
    static const struct {
        const char *file, *why;
    } cases[] = {
        { "projects/attention-decode/design.wstave", "depends on the tile or on data" },
        { "projects/gemm-gfx950/design.wstave", "not known to the bound" },
        { "projects/gemm-bf16-balanced/design.wstave", "depends on the tile" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", cases[i].file, NULL);
        g_autoptr(WsDesign) design = ws_design_load(path, findings);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_autoptr(WsMachine) m = ws_machine_for(NULL, p->target, NULL);
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, FALSE, findings);
        const WsTrialOf of = { p, v, m };
        const WsSearchBound c = ws_search_bound_of(&of);
        g_test_message("%s: %s", cases[i].file, c.why);
        g_assert_cmpint(c.all.cycles, ==, 0);
        g_assert_nonnull(strstr(c.why, cases[i].why));
    }
}

/* Rounds that stand in another place of a tile than of the one before it: what the first has says
 * nothing of the others. */
static void test_order(void)
{
    static const struct {
        const char *count;
        gboolean known;
    } cases[] = {
        { "kt", TRUE },
        { "select(tile == 0, kt, 1)", FALSE },
        { "select(tile.total == 0, kt, 1)", FALSE },
        { "select(kt > 2, kt, 1)", TRUE },
    };
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/search/gemm-plain.wstave",
                                      &text, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autofree char *count = g_strdup_printf("\"count\": \"%s\"", cases[i].count);
        g_auto(GStrv) part = g_strsplit(text, "\"count\": \"kt\"", -1);
        g_autofree char *with = g_strjoinv(count, part);
        g_autoptr(WsDesign) design = ws_design_parse(with, strlen(with), "order", findings);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_assert_nonnull(p);
        g_autoptr(WsMachine) m = ws_machine_load(NULL, NULL);
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, FALSE, findings);
        const WsTrialOf of = { p, v, m };
        const WsSearchBound c = ws_search_bound_of(&of);
        g_test_message("%s: %s", cases[i].count, c.why);
        g_assert_cmpint(c.all.cycles > 0, ==, cases[i].known);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bound/by-hand", test_by_hand);
    g_test_add_func("/bound/unknown", test_unknown);
    g_test_add_func("/bound/order", test_order);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *name = g_strdup_printf("/bound/full/%u", i);
        if (test_takes(i, 2, 3))
            g_test_add_data_func(name, &rows[i], test_full);
    }
    return g_test_run();
}
