/* The panels: what they say (facts, figures, meters, matches: plain data) and what they do. The
 * cases with widgets are skipped without a display. */
#include "ui/facts.h"
#include "ui/figures.h"
#include "ui/format.h"
#include "ui/inspector.h"
#include "ui/matches.h"
#include "ui/measurements.h"
#include "ui/problems.h"
#include "ui/resources.h"
#include "ui/search.h"
#include "ui/settings.h"

#include <math.h>
#include <string.h>

#define NARROW "\xe2\x80\xaf"
#define LOAD_A "groups/load/body/0/do/0/do/1"
#define MMA    "groups/mma/body/0/do/0/do/1"

static gboolean display;

static WsDocument *open_design(const char *path)
{
    WsDocument *d = ws_document_new();
    g_autofree char *full = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(full);
    g_autoptr(GError) error = NULL;
    ws_document_open(d, file, &error);
    g_assert_no_error(error);
    return d;
}

static void turn(void)
{
    gint64 end = g_get_monotonic_time() + 60000;
    while (g_main_context_iteration(NULL, FALSE) || g_get_monotonic_time() < end)
        ;
}

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

static const WsFact *fact(const WsFacts *facts, const char *section, const char *name)
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
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
    g_autoptr(WsFacts) f = ws_facts_new(d, LOAD_A);
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
    g_assert_cmpstr(fact(f, "Stands in", "group")->target, ==, "groups/load");
    g_autoptr(WsFacts) mma = ws_facts_new(d, MMA);
    g_assert_cmpstr(fact(mma, "Operation mma of mma.0", "instructions")->value, ==,
                    "4 × m64n256k16");
    fact(mma, "Operation mma_commit of mma.0, derived", "run by");
    g_assert_nonnull(strstr(fact(mma, "Predicted, mma.1", "in flight (p50)")->value, "cycles"));
}

static void test_object_facts(void)
{
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
    g_autoptr(WsFacts) design = ws_facts_new(d, NULL);
    g_assert_null(design->subtitle);
    g_assert_cmpstr(fact(design, "Constants", "BM")->value, ==, "128");
    g_assert_cmpstr(fact(design, "Sizes", "tiles")->value, ==, "2" NARROW "048");
    g_assert_cmpstr(fact(design, "Buffers", "buffer")->target, ==, "buffers/a");
    g_autoptr(WsFacts) buffer = ws_facts_new(d, "buffers/b");
    g_assert_cmpstr(fact(buffer, "shared memory", "bytes")->value, ==, "131" NARROW "072 bytes");
    g_assert_nonnull(ws_design_find(ws_document_design(d), fact(buffer, "Used by", "mma")->target));
    g_autoptr(WsFacts) group = ws_facts_new(d, "groups/mma");
    g_assert_nonnull(strstr(fact(group, "Agent mma.1", "acc")->value, "128 registers"));
    g_autoptr(WsDocument) wrong = open_design("tests/designs/broken/02-wrong-count.wstave");
    g_autoptr(WsFacts) barrier = ws_facts_new(wrong, "barriers/empty");
    g_assert_nonnull(strstr(fact(barrier, "program", "arrivals")->value, "3, set by hand"));
    g_autoptr(WsDocument) none = ws_document_new();
    g_assert_null(ws_facts_new(none, NULL));
}

static void test_places(void)
{
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
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

/* Every step and object of every shipped design has facts, and every link leads somewhere. */
static void check_all_places(WsDocument *d, const WsNode *node)
{
    WsDesign *design = ws_document_design(d);
    g_autofree char *path = ws_design_path(design, node);
    g_autoptr(WsFacts) facts = ws_facts_new(d, path);
    g_assert_cmpuint(facts->list->len, >, 0);
    for (guint i = 0; i < facts->list->len; i++) {
        const WsFact *f = g_ptr_array_index(facts->list, i);
        g_assert_nonnull(f->value);
        if (f->target && !ws_design_find(design, f->target))
            g_error("%s: link to %s, which is not there", path, f->target);
    }
    guint n;
    const WsFieldRow *rows = ws_node_rows(node->kind, &n);
    for (guint i = 0; i < n; i++)
        for (guint c = 0; c < ws_node_n_children(node, rows[i].field); c++)
            check_all_places(d, ws_node_child(node, rows[i].field, c));
}

static void each_design(const char *folder, void (*visit)(WsDocument *d, const char *name))
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *relative = g_build_filename(folder, name, NULL);
        g_autoptr(WsDocument) d = open_design(relative);
        visit(d, name);
        n++;
    }
    g_assert_cmpuint(n, >, 5);
}

static void visit_places(WsDocument *d, const char *name)
{
    check_all_places(d, ws_design_root(ws_document_design(d)));
}

static void test_all_designs(void)
{
    each_design("tests/designs", visit_places);
    each_design("tests/designs/broken", visit_places);
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
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
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
    g_autoptr(WsDocument) d = open_design("tests/designs/broken/02-wrong-count.wstave");
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
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
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
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
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
    g_autoptr(WsDocument) d = open_design("projects/gemm-bf16/design.wstave");
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
    g_autoptr(GPtrArray) pairs = ws_figures_rows(WS_FIGURES_OVERLAP, d, NULL);
    g_assert_cmpuint(pairs->len, >, 0);
    g_autoptr(GPtrArray) summary = ws_figures_rows(WS_FIGURES_SUMMARY, d, NULL);
    g_assert_nonnull(
        strstr(ws_row_get_text(row_with(summary, 0, "Throughput", 0, NULL), 1), "TFLOP/s"));
    g_autofree char *bound = ws_figures_bound_text(d);
    g_assert_nonnull(strstr(bound, "tensor pipe"));
}

/* --- widgets ------------------------------------------------------------------------------------
 */

typedef struct {
    WsDocument *document;
    GtkWidget *window, *inspector, *problems, *resources, *measurements, *search;
} Fixture;

static gboolean set_up(Fixture *f, const char *path)
{
    if (!display) {
        g_test_skip("no display");
        return FALSE;
    }
    f->document = open_design(path);
    f->window = gtk_window_new();
    f->inspector = ws_inspector_new(f->document);
    f->problems = ws_problems_new(f->document);
    f->resources = ws_resources_new(f->document);
    f->measurements = ws_measurements_new(f->document);
    f->search = ws_search_new(f->document);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *part[] = { f->search, f->inspector, f->problems, f->resources, f->measurements };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        gtk_box_append(GTK_BOX(box), part[i]);
    gtk_window_set_child(GTK_WINDOW(f->window), box);
    gtk_window_set_default_size(GTK_WINDOW(f->window), 1200, 950);
    gtk_window_present(GTK_WINDOW(f->window));
    turn();
    return TRUE;
}

/* Nothing of the window may stay behind. */
static void tear_down(Fixture *f)
{
    gpointer left[] = { f->window,    f->inspector,    f->problems,
                        f->resources, f->measurements, f->search };
    for (guint i = 0; i < G_N_ELEMENTS(left); i++)
        g_object_add_weak_pointer(left[i], &left[i]);
    gtk_window_destroy(GTK_WINDOW(f->window));
    turn();
    for (guint i = 0; i < G_N_ELEMENTS(left); i++)
        g_assert_null(left[i]);
    g_assert_finalize_object(f->document); /* no panel keeps it */
}

static void gather_text(GtkWidget *widget, GString *out)
{
    if (GTK_IS_LABEL(widget) && gtk_widget_get_visible(widget))
        g_string_append_printf(out, "%s\n", gtk_label_get_text(GTK_LABEL(widget)));
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        gather_text(c, out);
}

static gboolean says(GtkWidget *widget, const char *text)
{
    g_autoptr(GString) all = g_string_new(NULL);
    gather_text(widget, all);
    return strstr(all->str, text) != NULL;
}

static void test_problems(void)
{
    Fixture f;
    if (!set_up(&f, "tests/designs/broken/02-wrong-count.wstave"))
        return;
    WsProblems *problems = WS_PROBLEMS(f.problems);
    WsFindings *findings = ws_document_findings(f.document);
    g_assert_cmpuint(ws_problems_n_shown(problems), ==, findings->list->len);
    g_assert_cmpuint(ws_problems_count(problems, WS_SEVERITY_HINT), ==, 1);
    g_assert_true(says(f.problems, "refuted"));
    g_assert_true(says(f.problems, "✖ error"));
    ws_problems_next(problems); /* errors come first */
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "groups/load/body/0/do/0/do/0");
    g_assert_true(says(f.problems, "restore the derived arrival count"));
    g_assert_true(says(f.inspector, "wait empty"));
    ws_problems_previous(problems); /* round the end: the hint */
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "barriers/empty");
    g_assert_true(says(f.inspector, "set by hand"));
    gtk_widget_activate_action(f.problems, "problems.next-problem", NULL);
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "groups/load/body/0/do/0/do/0");
    tear_down(&f);
}

static void visit_problems(WsDocument *d, const char *name)
{
    g_autoptr(GtkWidget) panel = g_object_ref_sink(ws_problems_new(d));
    guint errors = ws_problems_count(WS_PROBLEMS(panel), WS_SEVERITY_ERROR);
    g_assert_cmpuint(errors, ==, ws_findings_count(ws_document_findings(d), WS_SEVERITY_ERROR));
    for (guint i = 0; i < 4; i++)
        ws_problems_next(WS_PROBLEMS(panel));
    if (errors)
        g_assert_nonnull(ws_document_focus(d)->step);
}

static void test_all_problems(void)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    each_design("tests/designs/broken", visit_problems);
    each_design("tests/designs", visit_problems);
}

static void test_inspector(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    g_assert_true(says(f.inspector, "GEMM bf16"));
    const WsProgram *p = ws_document_program(f.document);
    for (guint i = 0; i < p->n_ops; i++) {
        WsFocus focus = { .step = p->op[i]->step, .agent = G_MAXUINT, .tile = -1, .round = -1 };
        if (!focus.step)
            continue;
        ws_document_select(f.document, &focus, WS_SELECT_REPLACE, TRUE);
        turn();
    }
    WsFocus focus = { .step = MMA, .agent = G_MAXUINT, .tile = -1, .round = -1 };
    ws_document_select(f.document, &focus, WS_SELECT_REPLACE, FALSE);
    turn();
    g_assert_true(says(f.inspector, "m64n256k16"));
    g_assert_true(says(f.inspector, "Predicted, mma.0"));
    focus.step = LOAD_A;
    ws_document_select(f.document, &focus, WS_SELECT_ADD, FALSE);
    turn();
    g_assert_true(says(f.inspector, "and 1 more selected"));
    ws_document_select(f.document, NULL, WS_SELECT_REPLACE, FALSE);
    turn();
    g_assert_true(says(f.inspector, "GEMM bf16"));
    g_assert_false(says(f.inspector, "m64n256k16"));
    tear_down(&f);
}

static void test_search(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    WsSearch *search = WS_SEARCH(f.search);
    g_assert_false(gtk_widget_get_visible(f.search));
    ws_search_open(search);
    turn();
    g_assert_true(gtk_widget_get_visible(f.search));
    g_assert_cmpuint(ws_search_find(search, "no such thing"), ==, 0);
    g_assert_false(ws_search_activate(search));
    g_assert_cmpuint(ws_search_find(search, "stmatrix"), >, 0);
    turn();
    g_assert_true(ws_search_activate(search));
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "groups/mma/body/0/do/3/do/2");
    g_assert_cmpuint(ws_search_find(search, "empty"), >, 0);
    g_assert_true(ws_search_activate(search));
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "barriers/empty");
    g_assert_true(says(f.inspector, "barrier empty"));
    ws_search_close(search);
    turn();
    g_assert_false(gtk_widget_get_visible(f.search));
    tear_down(&f);
}

static void test_measurements(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    WsMeasurements *panel = WS_MEASUREMENTS(f.measurements);
    ws_measurements_update(panel);
    g_assert_true(says(f.measurements, "Bound by tensor pipe, predicted"));
    g_autofree char *summary = ws_measurements_copy(panel);
    g_assert_nonnull(strstr(summary, "Throughput\t"));
    g_assert_null(strstr(summary, "tile/k"));
    g_assert_true(ws_measurements_show(panel, "loops"));
    turn();
    g_autofree char *loops = ws_measurements_copy(panel);
    g_assert_nonnull(strstr(loops, "tile/k\tmma.0\t"));
    g_assert_false(ws_measurements_show(panel, "no such page"));
    ws_document_set_range(f.document, 20000, 40480);
    turn();
    g_autofree char *range = ws_measurements_copy(panel);
    g_assert_nonnull(strstr(range, "20" NARROW "480 cycles"));
    g_assert_nonnull(strstr(range, "\nmma.0\t"));
    ws_document_take_result(f.document, WS_RESULT_REHEARSAL, TRUE, g_strdup("all 163840 agree"));
    turn();
    g_autofree char *results = ws_measurements_copy(panel);
    g_assert_nonnull(strstr(results, "all 163840 agree"));
    g_assert_nonnull(strstr(results, "passed"));
    tear_down(&f);
}

/* Statistics of a long trace come from a thread; another trace may come in the meantime. */
static void test_long_trace(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    const WsProgram *p = ws_document_program(f.document);
    for (guint pass = 0; pass < 2; pass++) {
        WsTrace *t = ws_trace_new(p, WS_TRACE_MEASURED);
        WsTraceCta cta = { 0 };
        if (t->cta->len == 0)
            g_array_append_val(t->cta, cta);
        for (gint64 i = 0; i < 30000; i++)
            ws_trace_add(t, &(WsTraceRecord){ .op = p->n_ops - 1,
                                              .agent = 1,
                                              .round = (gint32)i,
                                              .start = 100 * i,
                                              .issued = 100 * i + 7 + pass,
                                              .done = 100 * i + 7 + pass });
        ws_trace_finish(t);
        ws_document_take_measured(f.document, t);
        ws_measurements_update(WS_MEASUREMENTS(f.measurements));
        g_assert_false(ws_measurements_ready(WS_MEASUREMENTS(f.measurements)));
    }
    gint64 end = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
    while (!ws_measurements_ready(WS_MEASUREMENTS(f.measurements)) && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_assert_true(ws_measurements_ready(WS_MEASUREMENTS(f.measurements)));
    const WsTraceStats *stats = ws_document_stats(f.document, TRUE);
    g_assert_cmpuint(stats->step->len, ==, 1);
    g_assert_cmpint(g_array_index(stats->step, WsTraceStepStat, 0).held.p50, ==, 8);
    tear_down(&f);
}

/* I54: twice as large a text must not ask for more than a common screen. */
static void test_large_text(void)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    int width;
    GtkSettings *settings = gtk_settings_get_default();
    g_object_set(settings, "gtk-xft-dpi", 192 * 1024, NULL);
    Fixture f;
    if (set_up(&f, "tests/designs/broken/02-wrong-count.wstave")) {
        GtkWidget *part[] = { f.problems, f.resources, f.measurements };
        for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
            gtk_widget_measure(part[i], GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
            g_assert_cmpint(width, <=, 1000);
        }
        gtk_widget_measure(f.inspector, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
        g_assert_cmpint(width, <=, 400);
        tear_down(&f);
    }
    g_object_set(settings, "gtk-xft-dpi", 96 * 1024, NULL);
}

static void test_resources(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    g_assert_true(says(f.resources, "229" NARROW "440 of 232" NARROW "448 bytes"));
    g_assert_true(says(f.resources, "near the limit"));
    g_assert_true(says(f.resources, "4 stages of 16" NARROW "384 bytes"));
    tear_down(&f);
}

static void visit_panels(WsDocument *d, const char *name)
{
    GtkWidget *(*const make[])(WsDocument *) = { ws_inspector_new, ws_problems_new,
                                                 ws_resources_new, ws_measurements_new,
                                                 ws_search_new };
    for (guint i = 0; i < G_N_ELEMENTS(make); i++) {
        g_autoptr(GtkWidget) panel = g_object_ref_sink(make[i](d));
        if (WS_IS_MEASUREMENTS(panel)) {
            WsTrace *t = ws_document_predicted(d);
            ws_document_set_range(d, 0, t ? t->cycles / 2 : 100);
            static const char *const page[] = { "summary", "loops",   "steps", "waits",
                                                "overlap", "results", "range" };
            for (guint k = 0; k < G_N_ELEMENTS(page); k++) {
                ws_measurements_show(WS_MEASUREMENTS(panel), page[k]);
                ws_measurements_update(WS_MEASUREMENTS(panel));
                g_autofree char *text = ws_measurements_copy(WS_MEASUREMENTS(panel));
                g_assert_cmpuint(strlen(text), >, 20);
                g_assert_true(g_utf8_validate(text, -1, NULL));
            }
        }
        if (WS_IS_SEARCH(panel))
            g_assert_cmpuint(ws_search_find(WS_SEARCH(panel), "a"), >, 0);
    }
    g_autoptr(GPtrArray) found = ws_matches_new(d, "o"); /* every result leads somewhere */
    for (guint i = 0; i < found->len; i++) {
        const WsMatch *m = g_ptr_array_index(found, i);
        if (m->place && !ws_design_find(ws_document_design(d), m->place))
            g_error("%s: %s %s leads to %s, which is not there", name, m->kind, m->title, m->place);
    }
}

static void test_every_design(void)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    each_design("tests/designs", visit_panels);
    each_design("tests/designs/broken", visit_panels);
}

/* A design that reads but does not elaborate: the panels say so and show what there is. */
static void test_no_program(void)
{
    g_autofree char *from =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(from, &text, NULL, &error);
    g_assert_no_error(error);
    g_auto(GStrv) part = g_strsplit(text, "\"wait\": \"full\"", 2);
    g_assert_nonnull(part[1]);
    g_autofree char *broken = g_strjoinv("\"wait\": \"fulll\"", part);
    g_autoptr(GFileIOStream) stream = NULL;
    g_autoptr(GFile) file = g_file_new_tmp("panels-XXXXXX.wstave", &stream, &error);
    g_assert_no_error(error);
    g_file_set_contents(g_file_peek_path(file), broken, -1, &error);
    g_assert_no_error(error);
    g_autoptr(WsDocument) d = ws_document_new();
    g_assert_true(ws_document_open(d, file, &error));
    g_file_delete(file, NULL, NULL);
    /* What can be drawn is a draft; nothing is said of the whole. */
    g_assert_true(!ws_document_program(d) || ws_document_left_out(d) > 0);
    g_assert_null(ws_document_verdict(d));
    check_all_places(d, ws_design_root(ws_document_design(d)));
    g_autoptr(GPtrArray) found = ws_matches_new(d, "fulll");
    g_assert_cmpuint(found->len, >, 0);
    if (!display)
        return;
    visit_panels(d, "no program");
    g_autoptr(GtkWidget) problems = g_object_ref_sink(ws_problems_new(d));
    g_assert_true(says(problems, "does not elaborate"));
    ws_problems_next(WS_PROBLEMS(problems));
    g_assert_cmpstr(ws_document_focus(d)->step, ==, "groups/mma/body/0/do/0/do/0");
}

static void test_empty(void)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    g_autoptr(WsDocument) d = ws_document_new();
    GtkWidget *(*const make[])(WsDocument *) = { ws_inspector_new, ws_problems_new,
                                                 ws_resources_new, ws_measurements_new,
                                                 ws_search_new };
    for (guint i = 0; i < G_N_ELEMENTS(make); i++) {
        g_autoptr(GtkWidget) panel = g_object_ref_sink(make[i](d));
        g_assert_nonnull(panel);
        if (i == 1)
            ws_problems_next(WS_PROBLEMS(panel)); /* nowhere to go */
    }
}

int main(int argc, char **argv)
{
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    display = gtk_init_check();
    g_test_init(&argc, &argv, NULL);
    ws_ui_setup();
    g_test_add_func("/ui/panels/format", test_format);
    g_test_add_func("/ui/panels/step-facts", test_step_facts);
    g_test_add_func("/ui/panels/object-facts", test_object_facts);
    g_test_add_func("/ui/panels/places", test_places);
    g_test_add_func("/ui/panels/all-designs", test_all_designs);
    g_test_add_func("/ui/panels/meters", test_meters);
    g_test_add_func("/ui/panels/matches", test_matches);
    g_test_add_func("/ui/panels/range", test_range);
    g_test_add_func("/ui/panels/range-whole", test_range_whole);
    g_test_add_func("/ui/panels/figures", test_figures);
    g_test_add_func("/ui/panels/problems", test_problems);
    g_test_add_func("/ui/panels/all-problems", test_all_problems);
    g_test_add_func("/ui/panels/inspector", test_inspector);
    g_test_add_func("/ui/panels/search", test_search);
    g_test_add_func("/ui/panels/measurements", test_measurements);
    g_test_add_func("/ui/panels/long-trace", test_long_trace);
    g_test_add_func("/ui/panels/I54-large-text", test_large_text);
    g_test_add_func("/ui/panels/resources", test_resources);
    g_test_add_func("/ui/panels/every-design", test_every_design);
    g_test_add_func("/ui/panels/no-program", test_no_program);
    g_test_add_func("/ui/panels/empty", test_empty);
    return g_test_run();
}
