/* What the panels do, as widgets. The cases are skipped without a display. */
#include "model/finding.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "scenario/designs.h"

#include "ui/app/settings.h"
#include "ui/inspector/figures.h"
#include "ui/inspector/inspector.h"
#include "ui/inspector/matches.h"
#include "ui/inspector/name_completion.h"
#include "ui/panels/resources.h"
#include "ui/panels/search_bar.h"
#include "ui/problems/problems.h"
#include "ui/runs/measurements.h"

#include <math.h>
#include <string.h>

#define NARROW "\xe2\x80\xaf"
#define LOAD_A "groups/load/body/0/do/0/do/1"
#define MMA    "groups/mma/body/0/do/0/do/1"

static gboolean display;

static gboolean passed(gpointer done)
{
    *(gboolean *)done = TRUE;
    return G_SOURCE_REMOVE;
}

/* A few frames, asleep where nothing is to be done. */
static void turn(void)
{
    gboolean done = FALSE;
    g_timeout_add(60, passed, &done);
    while (g_main_context_iteration(NULL, !done) || !done)
        ;
}

/* Threads answer and frames come when the machine has time for them: a condition has three minutes,
 * and no number of frames. */
#define TURN_UNTIL(condition)                                                                      \
    do {                                                                                           \
        const gint64 end_ = g_get_monotonic_time() + 180 * G_USEC_PER_SEC;                         \
        while (!(condition) && g_get_monotonic_time() < end_)                                      \
            turn();                                                                                \
        g_assert_true(condition);                                                                  \
    } while (FALSE)

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
    f->document = designs_open(path);
    f->window = gtk_window_new();
    f->inspector = ws_inspector_new(f->document);
    f->problems = ws_problems_new(f->document);
    f->resources = ws_resources_new(f->document);
    f->measurements = ws_measurements_new(f->document);
    f->search = ws_search_bar_new(f->document);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *part[] = { f->search, f->inspector, f->problems, f->resources, f->measurements };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++)
        gtk_box_append(GTK_BOX(box), part[i]);
    gtk_window_set_child(GTK_WINDOW(f->window), box);
    gtk_window_set_default_size(GTK_WINDOW(f->window), 1200, 1500); /* five panels */
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
    gpointer document = f->document;
    gtk_window_destroy(GTK_WINDOW(f->window));
    for (guint i = 0; i < G_N_ELEMENTS(left); i++)
        TURN_UNTIL(!left[i]);
    g_object_add_weak_pointer(document, &document);
    g_object_unref(f->document);
    TURN_UNTIL(!document); /* no panel keeps it; a thread that works for it may, for a while */
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

static void go(gpointer problems, const char *way)
{
    g_autofree char *action = g_strdup_printf("problems.%s-problem", way);
    g_assert_true(gtk_widget_activate_action(problems, action, NULL));
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
    TURN_UNTIL(says(f.problems, "refuted"));
    TURN_UNTIL(says(f.problems, "✖ error"));
    go(problems, "next"); /* errors come first */
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "groups/load/body/0/do/0/do/0");
    TURN_UNTIL(says(f.problems, "restore the derived arrival count"));
    TURN_UNTIL(says(f.inspector, "wait empty"));
    go(problems, "previous"); /* round the end: the hint */
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "barriers/empty");
    TURN_UNTIL(says(f.inspector, "set by hand"));
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
        go(panel, "next");
    /* A target without a machine description is told of at the head of the design: no step. */
    const GPtrArray *list = ws_document_findings(d)->list;
    for (guint i = 0; i < list->len; i++)
        if (strcmp(((const WsFinding *)list->pdata[i])->at, "target") == 0)
            return;
    if (errors)
        g_assert_nonnull(ws_document_focus(d)->step);
}

static void test_all_problems(void)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    designs_each("tests/designs/broken", visit_problems);
    designs_each("tests/designs", visit_problems);
}

static void test_inspector(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    TURN_UNTIL(says(f.inspector, "GEMM bf16"));
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
    TURN_UNTIL(says(f.inspector, "m64n256k16"));
    TURN_UNTIL(says(f.inspector, "Predicted, mma.0"));
    focus.step = LOAD_A;
    ws_document_select(f.document, &focus, WS_SELECT_ADD, FALSE);
    TURN_UNTIL(says(f.inspector, "and 1 more selected"));
    ws_document_select(f.document, NULL, WS_SELECT_REPLACE, FALSE);
    TURN_UNTIL(says(f.inspector, "GEMM bf16") && !says(f.inspector, "m64n256k16"));
    tear_down(&f);
}

static void test_search(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    WsSearchBar *search = WS_SEARCH_BAR(f.search);
    g_assert_false(gtk_widget_get_visible(f.search));
    ws_search_bar_open(search);
    turn();
    g_assert_true(gtk_widget_get_visible(f.search));
    g_assert_cmpuint(ws_search_bar_find(search, "no such thing"), ==, 0);
    g_assert_false(ws_search_bar_activate(search));
    g_assert_cmpuint(ws_search_bar_find(search, "stmatrix"), >, 0);
    turn();
    g_assert_true(ws_search_bar_activate(search));
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "groups/mma/body/0/do/3/do/2");
    g_assert_cmpuint(ws_search_bar_find(search, "empty"), >, 0);
    g_assert_true(ws_search_bar_activate(search));
    turn();
    g_assert_cmpstr(ws_document_focus(f.document)->step, ==, "barriers/empty");
    TURN_UNTIL(says(f.inspector, "barrier empty"));
    ws_search_bar_close(search);
    turn();
    g_assert_false(gtk_widget_get_visible(f.search));
    tear_down(&f);
}

static gboolean copies(WsMeasurements *panel, const char *text)
{
    g_autofree char *page = ws_measurements_copy(panel);
    return strstr(page, text) != NULL;
}

static void test_measurements(void)
{
    Fixture f;
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    WsMeasurements *panel = WS_MEASUREMENTS(f.measurements);
    ws_measurements_update(panel);
    TURN_UNTIL(says(f.measurements, "Bound by tensor pipe, predicted"));
    g_autofree char *summary = ws_measurements_copy(panel);
    g_assert_nonnull(strstr(summary, "Throughput\t"));
    g_assert_null(strstr(summary, "tile/k"));
    g_assert_true(ws_measurements_show(panel, "loops"));
    TURN_UNTIL(copies(panel, "tile/k\tmma.0\t"));
    g_assert_false(ws_measurements_show(panel, "no such page"));
    ws_document_set_range(f.document, 20000, 40480);
    TURN_UNTIL(copies(panel, "20" NARROW "480 cycles") && copies(panel, "\nmma.0\t"));
    ws_document_take_result(f.document, WS_RESULT_REHEARSAL, TRUE, g_strdup("all 163840 agree"));
    TURN_UNTIL(copies(panel, "all 163840 agree") && copies(panel, "passed"));
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
    gint64 end = g_get_monotonic_time() + 180 * G_USEC_PER_SEC;
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
    TURN_UNTIL(says(f.resources, "229" NARROW "440 of 232" NARROW "448 bytes"));
    TURN_UNTIL(says(f.resources, "near the limit"));
    TURN_UNTIL(says(f.resources, "4 stages of 16" NARROW "384 bytes"));
    tear_down(&f);
}

static void visit_panels(WsDocument *d, const char *name)
{
    GtkWidget *(*const make[])(WsDocument *) = { ws_inspector_new, ws_problems_new,
                                                 ws_resources_new, ws_measurements_new,
                                                 ws_search_bar_new };
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
        if (WS_IS_SEARCH_BAR(panel))
            g_assert_cmpuint(ws_search_bar_find(WS_SEARCH_BAR(panel), "a"), >, 0);
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
    designs_each("tests/designs", visit_panels);
    designs_each("tests/designs/broken", visit_panels);
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
    designs_check_places(d, ws_design_root(ws_document_design(d)));
    g_autoptr(GPtrArray) found = ws_matches_new(d, "fulll");
    g_assert_cmpuint(found->len, >, 0);
    if (!display)
        return;
    visit_panels(d, "no program");
    g_autoptr(GtkWidget) problems = g_object_ref_sink(ws_problems_new(d));
    g_assert_true(says(problems, "does not elaborate"));
    go(problems, "next");
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
                                                 ws_search_bar_new };
    for (guint i = 0; i < G_N_ELEMENTS(make); i++) {
        g_autoptr(GtkWidget) panel = g_object_ref_sink(make[i](d));
        g_assert_nonnull(panel);
        if (i == 1)
            go(panel, "next"); /* nowhere to go */
    }
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What is proposed for the whole of a field, sorted. */
static char *proposed(WsDocument *document, const char *path, WsFieldId field)
{
    const WsNode *node = ws_design_find(ws_document_latest(document), path);
    GtkWidget *entry = g_object_ref_sink(gtk_entry_new());
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    GtkTreeIter at;
    ws_name_completion_attach(GTK_ENTRY(entry), document, node->identity,
                              ws_node_row(node->kind, field));
    GtkTreeModel *model =
        gtk_entry_completion_get_model(gtk_entry_get_completion(GTK_ENTRY(entry)));
    for (gboolean more = gtk_tree_model_get_iter_first(model, &at); more;
         more = gtk_tree_model_iter_next(model, &at)) {
        char *name = NULL;
        gboolean whole;
        gtk_tree_model_get(model, &at, 0, &name, 1, &whole, -1);
        if (whole)
            g_ptr_array_add(names, name);
        else
            g_free(name);
    }
    g_object_unref(entry);
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    return g_strjoinv(" ", (char **)names->pdata);
}

/* A field that names objects is offered those of its kinds (row.def), and no others. */
static void test_proposed(void)
{
    static const struct {
        const char *step;
        WsFieldId field;
        const char *names;
    } fields[] = {
        { "groups/load/body/0/do/0/do/1", WS_F_keyword, "A B C" },
        { "groups/load/body/0/do/0/do/1", WS_F_into, "a b c" },
        { "groups/load/body/0/do/0/do/1", WS_F_signal, "empty full" },
        { "groups/mma/body/0/do/0/do/0", WS_F_keyword, "empty full" },
        { "groups/mma/body/0/do/0/do/1", WS_F_keyword, "acc" },
        { "groups/mma/body/0/do/0/do/1", WS_F_a, "a acc b c" },
        { "groups/mma/body/0/do/3/do/2", WS_F_to, "A B C a b c" },
    };
    Fixture f = { 0 };
    if (!set_up(&f, "projects/gemm-bf16/design.wstave"))
        return;
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
        g_autofree char *names = proposed(f.document, fields[i].step, fields[i].field);
        g_assert_cmpstr(names, ==, fields[i].names);
    }
    tear_down(&f);
}

int main(int argc, char **argv)
{
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    display = gtk_init_check();
    g_test_init(&argc, &argv, NULL);
    ws_ui_setup();
    g_test_add_func("/ui/panels/problems", test_problems);
    g_test_add_func("/ui/panels/all-problems", test_all_problems);
    g_test_add_func("/ui/panels/inspector", test_inspector);
    g_test_add_func("/ui/panels/proposed", test_proposed);
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
