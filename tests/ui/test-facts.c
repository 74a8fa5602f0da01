/* What the panels say, as plain data and without a display: facts, figures, meters, matches. */
#include "program/parts/operation.h"
#include "program/program.h"
#include "scenario/designs.h"

#include "ui/app/settings.h"
#include "ui/inspector/facts.h"
#include "ui/inspector/figures.h"
#include "ui/inspector/matches.h"
#include "ui/panels/resources.h"
#include "ui/parts/format.h"
#include "ui/parts/table.h"

#include <gtk/gtk.h>
#include <math.h>
#include <string.h>

#define NARROW "\xe2\x80\xaf"
#define LOAD_A "groups/load/body/0/do/0/do/1"
#define MMA    "groups/mma/body/0/do/0/do/1"

/* --- numbers ------------------------------------------------------------------------------------
 */

static void same(char *text, const char *expected)
{
    g_assert_cmpstr(text, ==, expected);
    g_free(text);
}

static void test_format(void)
{
    same(ws_format_int(0), "0");
    same(ws_format_int(999), "999");
    same(ws_format_int(1024), "1" NARROW "024");
    same(ws_format_int(1234567), "1" NARROW "234" NARROW "567");
    same(ws_format_int(-1000), "\xe2\x88\x92"
                               "1" NARROW "000");
    same(ws_format_int(G_MININT64),
         "\xe2\x88\x92"
         "9" NARROW "223" NARROW "372" NARROW "036" NARROW "854" NARROW "775" NARROW "808");
    same(ws_format_real(1234.56, 1), "1" NARROW "234.6");
    same(ws_format_real(-0.01, 1), "0.0");
    same(ws_format_real(NAN, 1), WS_NO_FIGURE);
    same(ws_format_real(INFINITY, 1), WS_NO_FIGURE);
    same(ws_format_share(0.845), "84.5" NARROW "%");
    same(ws_format_share(NAN), WS_NO_FIGURE);
    same(ws_format_difference(0.012), "+1.2" NARROW "%");
    same(ws_format_difference(-0.012), "\xe2\x88\x92"
                                       "1.2" NARROW "%");
    same(ws_format_cycles(1), "1 cycle");
    same(ws_format_cycles(2048), "2" NARROW "048 cycles");
    same(ws_format_bytes(16384), "16" NARROW "384 bytes");
    same(ws_format_cycles_at(1024, 1.6), "1" NARROW "024 cycles (640 ns)");
    same(ws_format_cycles_at(1024, 0), "1" NARROW "024 cycles");
    same(ws_format_seconds(1.5e-3), "1.5 ms");
    same(ws_format_seconds(0), "0.0 ns");
}

/* --- facts --------------------------------------------------------------------------------------
 */

static const WsFact *fact(const WsInspectorFacts *facts, const char *section, const char *name)
{
    for (guint i = 0; i < facts->list->len; i++) {
        const WsFact *f = g_ptr_array_index(facts->list, i);
        if (strstr(f->section, section) && !g_strcmp0(f->name, name))
            return f;
    }
    g_test_message("no fact %s / %s", section, name);
    g_test_fail();
    return g_ptr_array_index(facts->list, 0);
}

static void test_step_facts(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    g_autoptr(WsInspectorFacts) f = ws_facts_new(d, LOAD_A);
    g_assert_cmpstr(f->subtitle, ==, LOAD_A);
    g_assert_cmpstr(fact(f, "file", "load")->value, ==, "A");
    g_assert_cmpint(fact(f, "file", "load")->kind, ==, WS_FACT_GIVEN);
    g_assert_cmpint(fact(f, "file", "ahead")->kind, ==, WS_FACT_DEFAULT);
    g_assert_cmpstr(fact(f, "file", "ahead")->value, ==, "0");
    g_assert_cmpstr(fact(f, "tma_load", "slot")->value, ==, "k.total % 4");
    g_assert_cmpstr(fact(f, "tma_load", "turn")->value, ==, "k.total/4");
    g_assert_cmpstr(fact(f, "tma_load", "bytes")->value, ==, "16" NARROW "384 bytes");
    g_assert_cmpstr(fact(f, "tma_load", "barrier")->target, ==, "barriers/full");
    g_assert_cmpstr(fact(f, "tma_load", "writes")->target, ==, "buffers/a");
    g_assert_cmpstr(fact(f, "tma_load", "bytes of the stage")->value, ==,
                    "0\xe2\x80\x93"
                    "16" NARROW "383");
    g_assert_cmpstr(fact(f, "expect of load, derived", "bytes")->value, ==,
                    "49" NARROW "152 bytes");
    g_assert_cmpstr(fact(f, "Predicted, load", "share of the trace")->value, !=, "");
    g_assert_cmpstr(fact(f, "Inside", "group")->target, ==, "groups/load");
    g_autoptr(WsInspectorFacts) mma = ws_facts_new(d, MMA);
    g_assert_cmpstr(fact(mma, "Operation mma of mma.0", "instructions")->value, ==,
                    "4 × m64n256k16");
    fact(mma, "Operation mma_commit of mma.0, derived", "run by");
    g_assert_nonnull(strstr(fact(mma, "Predicted, mma.1", "in flight (p50)")->value, "cycles"));
}

static void test_object_facts(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    g_autoptr(WsInspectorFacts) design = ws_facts_new(d, NULL);
    g_assert_null(design->subtitle);
    g_assert_cmpstr(fact(design, "Constants", "BM")->value, ==, "128");
    g_assert_cmpstr(fact(design, "Sizes", "tiles")->value, ==, "2" NARROW "048");
    g_assert_cmpstr(fact(design, "Buffers", "buffer")->target, ==, "buffers/a");
    g_autoptr(WsInspectorFacts) buffer = ws_facts_new(d, "buffers/b");
    g_assert_cmpstr(fact(buffer, "shared memory", "bytes")->value, ==, "131" NARROW "072 bytes");
    g_assert_nonnull(ws_design_find(ws_document_design(d), fact(buffer, "Used by", "mma")->target));
    g_autoptr(WsInspectorFacts) group = ws_facts_new(d, "groups/mma");
    g_assert_nonnull(strstr(fact(group, "Agent mma.1", "acc")->value, "128 registers"));
    g_autoptr(WsDocument) wrong = designs_open("tests/designs/broken/02-wrong-count.wstave");
    g_autoptr(WsInspectorFacts) barrier = ws_facts_new(wrong, "barriers/empty");
    g_assert_nonnull(strstr(fact(barrier, "program", "arrivals")->value, "3, set by hand"));
    g_autoptr(WsDocument) none = ws_document_new();
    g_assert_null(ws_facts_new(none, NULL));
}

static void test_places(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    static const struct {
        const char *place, *expected;
    } row[] = {
        { LOAD_A, LOAD_A },
        { LOAD_A "/use", LOAD_A },
        { LOAD_A "#expect", LOAD_A },
        { "barriers/full", "barriers/full" },
        { "groups", NULL },
        { "nonsense/3", NULL },
        { "", NULL },
        { NULL, NULL },
        { "groups/mma/body/0/do/99", "groups/mma/body/0" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        same(ws_place_resolve(ws_document_design(d), row[i].place), row[i].expected);
}

static void visit_places(WsDocument *d, const char *name)
{
    designs_check_places(d, ws_design_root(ws_document_design(d)));
}

static void test_all_designs(void)
{
    designs_each("tests/designs", visit_places);
    designs_each("tests/designs/broken", visit_places);
}

/* --- meters -------------------------------------------------------------------------------------
 */

static const WsMeter *meter(GPtrArray *list, const char *name)
{
    for (guint i = 0; i < list->len; i++)
        if (!strcmp(((WsMeter *)g_ptr_array_index(list, i))->name, name))
            return g_ptr_array_index(list, i);
    g_error("no meter %s", name);
}

static void test_meters(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    WsProgram copy = *ws_document_program(d);
    static const struct {
        guint64 bytes;
        WsMeterState state;
    } row[] = { { 0, WS_METER_FREE },
                { 200000, WS_METER_FREE },
                { 209204, WS_METER_NEAR },
                { 232448, WS_METER_NEAR },
                { 232449, WS_METER_OVER } };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        copy.shared_bytes = row[i].bytes;
        g_autoptr(GPtrArray) list = ws_meters_new(&copy);
        g_assert_cmpint(meter(list, "Shared memory")->state, ==, row[i].state);
    }
    copy.shared_bytes = 115712;
    copy.per_sm = 2;
    g_autoptr(GPtrArray) beside = ws_meters_new(&copy);
    g_assert_cmpint(meter(beside, "Shared memory")->state, ==, WS_METER_NEAR);
    g_assert_cmpstr(meter(beside, "Shared memory")->text, ==,
                    "115" NARROW "712 of 115" NARROW "712 bytes");
    g_assert_cmpint(meter(beside, "Registers at the start")->state, ==, WS_METER_OVER);
    g_autoptr(GPtrArray) list = ws_meters_new(ws_document_program(d));
    g_assert_cmpstr(meter(list, "Shared memory")->text, ==,
                    "229" NARROW "440 of 232" NARROW "448 bytes");
    g_assert_cmpint(meter(list, "Threads")->used, ==, 384);
    g_assert_cmpint(meter(list, "Registers at the start")->used, ==, 384 * 168);
    g_assert_cmpint(meter(list, "Registers by plan")->used, ==, 128 * (40 + 2 * 232));
    g_assert_cmpint(meter(list, "Registers by plan")->state, ==, WS_METER_FREE);
    g_assert_cmpint(meter(list, "Registers of mma.0")->used, ==, 162);
    g_assert_cmpint(meter(list, "Named barriers")->used, ==, 3);
    g_assert_cmpint(meter(list, "Bytes per turn")->used, ==, 49152);
}

/* --- matches ------------------------------------------------------------------------------------
 */

static void test_matches(void)
{
    g_autoptr(WsDocument) d = designs_open("tests/designs/broken/02-wrong-count.wstave");
    static const struct {
        const char *text, *kind, *place; /* of the best match; NULL: nothing found */
    } row[] = {
        { "full", "barrier", "barriers/full" },
        { "FULL", "barrier", "barriers/full" },
        { "mma", "group", "groups/mma" },
        { "L-OVERRIDE", "finding", "barriers/empty" },
        { "wait full", "step", "groups/mma/body/0/do/0/do/0" },
        { "for tile", "step", NULL },
        { "no such thing", NULL, NULL },
        { "  ", NULL, NULL },
        { "", NULL, NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++) {
        g_autoptr(GPtrArray) list = ws_matches_new(d, row[i].text);
        g_assert_cmpint(list->len > 0, ==, row[i].kind != NULL);
        if (!list->len)
            continue;
        const WsMatch *m = g_ptr_array_index(list, 0);
        g_assert_cmpstr(m->kind, ==, row[i].kind);
        if (row[i].place)
            g_assert_cmpstr(m->place, ==, row[i].place);
    }
}

/* --- range --------------------------------------------------------------------------------------
 */

/* Two agents: one works 100..200 and waits 200..300, the other has a transfer in flight 150..400.
 */
static WsTrace *small_trace(const WsProgram *p, guint *work, guint *wait, guint *load)
{
    WsTrace *t = ws_trace_new(p, WS_TRACE_PREDICTED);
    for (guint i = 0; i < p->n_ops; i++) {
        if (p->op[i]->kind == WS_OP_MMA && p->op[i]->agent == 1)
            *work = i;
        if (p->op[i]->kind == WS_OP_MBAR_WAIT && p->op[i]->agent == 1)
            *wait = i;
        if (p->op[i]->kind == WS_OP_TMA_LOAD)
            *load = i;
    }
    WsTraceCta cta = { 0 };
    if (t->cta->len == 0)
        g_array_append_val(t->cta, cta);
    ws_trace_add(
        t, &(WsTraceRecord){ .op = *work, .agent = 1, .start = 100, .issued = 200, .done = 356 });
    ws_trace_add(
        t, &(WsTraceRecord){ .op = *wait, .agent = 1, .start = 200, .issued = 300, .done = 300 });
    ws_trace_add(
        t, &(WsTraceRecord){ .op = *load, .agent = 0, .start = 150, .issued = 160, .done = 400 });
    ws_trace_finish(t);
    return t;
}

static void test_range(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    const WsProgram *p = ws_document_program(d);
    guint work = 0, wait = 0, load = 0;
    g_autoptr(WsTrace) t = small_trace(p, &work, &wait, &load);
    g_autoptr(WsRangeStats) s = ws_range_stats_new(t, p, 150, 250, 2);
    gint64 busy = 0, waiting = 0;
    for (guint i = 0; i < s->lane->len; i++) {
        const WsRangeLane *lane = &g_array_index(s->lane, WsRangeLane, i);
        g_assert_cmpint(lane->busy + lane->waiting, <=, 100);
        busy += lane->busy;
        waiting += lane->waiting;
    }
    g_assert_cmpint(busy, ==, 50 + 10); /* the mma's issue, and the load's */
    g_assert_cmpint(waiting, ==, 50);
    g_assert_cmpint(s->mma, ==, 100);
    g_assert_cmpint(s->tma, ==, 100);
    /* 4 instructions of 256 columns at 2 a cycle are 512 cycles; 100 of its 256 lie inside. */
    g_assert_cmpfloat_with_epsilon(s->tensor, 512.0 * 100 / 256 / 100, 1e-9);
    g_assert_cmpuint(s->pair->len, ==, 1);
    g_assert_cmpint(g_array_index(s->pair, WsTracePair, 0).both, ==, 100);
    g_autoptr(WsRangeStats) late = ws_range_stats_new(t, p, 380, 500, 2);
    g_assert_cmpint(late->tma, ==, 20);
    g_assert_cmpint(late->mma, ==, 0);
    g_autoptr(WsRangeStats) none = ws_range_stats_new(t, p, 300, 300, 2);
    g_assert_cmpuint(none->step->len, ==, 0);
    g_assert_true(isnan(none->tensor));
}

/* A range over everything says what the statistics of the whole trace say. */
static void test_range_whole(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    WsTrace *t = ws_document_predicted(d);
    const WsTraceStats *whole = ws_document_stats(d, FALSE);
    g_autoptr(WsRangeStats) s = ws_range_stats_new(t, ws_document_program(d), 0, t->cycles + 1, 2);
    g_assert_cmpuint(s->step->len, ==, whole->step->len);
    for (guint i = 0; i < s->step->len; i++) {
        const WsRangeStep *a = &g_array_index(s->step, WsRangeStep, i);
        for (guint k = 0; k < whole->step->len; k++) {
            const WsTraceStepStat *b = &g_array_index(whole->step, WsTraceStepStat, k);
            if (a->agent == b->agent && a->op == b->op) {
                g_assert_cmpint(a->held, ==, b->total);
                g_assert_cmpuint(a->n, ==, b->n);
            }
        }
    }
}

/* --- figures ------------------------------------------------------------------------------------
 */

static WsRow *row_with(GPtrArray *rows, guint column, const char *text, guint column2,
                       const char *text2)
{
    for (guint i = 0; i < rows->len; i++) {
        WsRow *row = g_ptr_array_index(rows, i);
        if (!g_strcmp0(ws_row_get_text(row, column), text) &&
            (!text2 || !g_strcmp0(ws_row_get_text(row, column2), text2)))
            return row;
    }
    g_error("no row %s %s", text, text2 ? text2 : "");
}

static void test_figures(void)
{
    g_autoptr(WsDocument) d = designs_open("projects/gemm-bf16/design.wstave");
    g_autoptr(GPtrArray) alone = ws_figures_rows(WS_FIGURES_LOOPS, d, NULL);
    WsRow *k = row_with(alone, 0, "tile/k", 1, "mma.0");
    g_assert_cmpstr(ws_row_get_text(k, 4), ==, "1" NARROW "024");
    g_assert_cmpstr(ws_row_get_text(k, 5), ==, WS_NO_FIGURE);
    g_assert_cmpstr(ws_row_get_text(k, 6), ==, WS_NO_FIGURE);
    /* The prediction laid under itself differs from itself nowhere. */
    ws_document_take_measured(d, ws_trace_ref(ws_document_predicted(d)));
    g_autoptr(GPtrArray) loops = ws_figures_rows(WS_FIGURES_LOOPS, d, NULL);
    g_assert_cmpuint(loops->len, ==, alone->len);
    g_assert_cmpstr(ws_row_get_text(row_with(loops, 0, "tile/k", 1, "mma.0"), 6), ==,
                    "0.0" NARROW "%");
    g_autoptr(GPtrArray) steps = ws_figures_rows(WS_FIGURES_STEPS, d, NULL);
    for (guint i = 0; i < steps->len; i++) {
        WsRow *row = g_ptr_array_index(steps, i);
        g_assert_cmpstr(ws_row_get_text(row, 3), ==, ws_row_get_text(row, 4));
    }
    g_autoptr(GPtrArray) waits = ws_figures_rows(WS_FIGURES_WAITS, d, NULL);
    g_assert_cmpuint(waits->len, >, 0);
    g_assert_cmpuint(waits->len, <, steps->len);
    g_autoptr(GPtrArray) summary = ws_figures_rows(WS_FIGURES_SUMMARY, d, NULL);
    g_assert_nonnull(
        strstr(ws_row_get_text(row_with(summary, 0, "Throughput", 0, NULL), 1), "TFLOP/s"));
    g_autofree char *bound = ws_figures_bound_text(d);
    g_assert_nonnull(strstr(bound, "tensor pipe"));
}

int main(int argc, char **argv)
{
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    g_test_init(&argc, &argv, NULL);
    ws_ui_setup();
    g_test_add_func("/ui/facts/format", test_format);
    g_test_add_func("/ui/facts/step-facts", test_step_facts);
    g_test_add_func("/ui/facts/object-facts", test_object_facts);
    g_test_add_func("/ui/facts/places", test_places);
    g_test_add_func("/ui/facts/all-designs", test_all_designs);
    g_test_add_func("/ui/facts/meters", test_meters);
    g_test_add_func("/ui/facts/matches", test_matches);
    g_test_add_func("/ui/facts/range", test_range);
    g_test_add_func("/ui/facts/range-whole", test_range_whole);
    g_test_add_func("/ui/facts/figures", test_figures);
    return g_test_run();
}
