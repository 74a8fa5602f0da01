/* Reading a score: which CTA and round, views that move together, what is seen from afar, pinching,
 * and a clock that nobody knows. */
#include "model/findings.h"
#include "scenario/scenario.h"
#include "scenario/seen.h"

#include "launch/history.h"
#include "ui/document/document_idle.h"
#include "ui/document/document_runs.h"
#include "ui/parts/table.h"
#include "ui/runs/measurements.h"
#include "ui/runs/run_compare.h"
#include "ui/runs/run_history.h"
#include "ui/timeline/timeline_private.h"

#include <math.h>
#include <string.h>

#define MEASURED "projects/gemm-bf16/measured/gemm-bf16.wtrace"
#define FA       "projects/attention-d128-full/design.wstave"

static WsTimeline *score(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static void view_of(WsTimeline *t, double *from, double *to)
{
    ws_timeline_get_view(t, from, to);
}

static void add_trace(Scenario *s)
{
    g_autoptr(GFile) file = scenario_file(MEASURED);
    g_assert_true(ws_window_open_trace(s->window, file));
    WAIT_FOR(!ws_document_pending(s->document));
    scenario_settle(GTK_WIDGET(s->window));
}

static void centre_of(Scenario *s, double *x, double *y)
{
    seen_timeline_origin(score(s), x, y);
    *x += 300;
    *y += 60;
}

/* --- CTA and round ------------------------------------------------------------------------------
 */

static void cta_by_keyboard(Scenario *s)
{
    WsTimeline *t = score(s);
    add_trace(s);
    guint n = ws_timeline_n_ctas(t);
    g_assert_cmpuint(n, ==, 3);
    scenario_act(s, "focus-score");
    guint ids[3];
    for (guint i = 0; i < n; i++) {
        g_assert_cmpuint(ws_timeline_cta(t), ==, i);
        ids[i] = ws_timeline_cta_info(t, i)->id;
        g_autofree char *name = g_strdup_printf("CTA %u", ids[i]);
        WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), name));
        scenario_key("alt+Next");
        WAIT_FOR(ws_timeline_cta(t) == (i + 1) % n);
    }
    g_assert_cmpuint(ids[0], !=, ids[1]);
    g_assert_cmpuint(ids[1], !=, ids[2]);
    scenario_key("alt+Prior");
    WAIT_FOR(ws_timeline_cta(t) == n - 1);
    /* What is drawn as measured is that CTA's. */
    scenario_settle(s->timeline);
    WsTrace *m = ws_document_measured(s->document);
    guint looked = 0;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->measured || !item->step || item->op == G_MAXUINT)
            continue;
        const WsTraceLane *lane = ws_trace_lane(m, n - 1, item->agent);
        gboolean found = FALSE;
        for (guint64 k = lane->first; k < lane->first + lane->n && !found; k++) {
            const WsTraceRecord *r = &g_array_index(m->record, WsTraceRecord, k);
            found = r->op == item->op && r->start == item->start && r->round == item->round;
        }
        g_assert_true(found);
        looked++;
    }
    g_assert_cmpuint(looked, >, 20);
}

static gboolean is_row(GtkWidget *w, gconstpointer unused)
{
    return GTK_IS_LIST_BOX_ROW(w) && gtk_widget_get_mapped(w) &&
           gtk_widget_get_ancestor(w, GTK_TYPE_POPOVER);
}

static void cta_by_pointer(Scenario *s)
{
    add_trace(s);
    GtkWidget *bar = NULL;
    WAIT_FOR((bar = scenario_find_type(GTK_WIDGET(s->window), "WsScrubber")));
    g_autofree char *first = g_strdup_printf("CTA %u", ws_timeline_cta_info(score(s), 0)->id);
    GtkWidget *label = NULL;
    WAIT_FOR((label = scenario_find_text(bar, first)));
    scenario_click_widget(label, NULL);
    g_autoptr(GPtrArray) rows = NULL;
    for (gint64 since = g_get_monotonic_time(); !scenario_late(since, "rows", __FILE__, __LINE__);
         scenario_turn()) {
        g_clear_pointer(&rows, g_ptr_array_unref);
        rows = scenario_find_all(bar, is_row, NULL);
        if (rows->len == 3)
            break;
    }
    scenario_settle(rows->pdata[1]);
    scenario_click_widget(rows->pdata[1], NULL);
    WAIT_FOR(ws_timeline_cta(score(s)) == 1);
}

/* Two runs of one design: the view stays while one flips. */
static void pin_and_flip(Scenario *s)
{
    WsTimeline *t = score(s);
    g_assert_false(scenario_enabled(s, "pin-run"));
    add_trace(s);
    g_assert_false(scenario_enabled(s, "flip-run"));
    WsTrace *first = ws_document_measured(s->document);
    scenario_key("ctrl+alt+r");
    WAIT_FOR(ws_document_pinned_run(s->document) == first);
    g_assert_false(scenario_enabled(s, "flip-run")); /* the same run */
    scenario_measure(s);
    WsTrace *second = ws_document_measured(s->document);
    g_assert_true(second != first);
    WAIT_FOR(scenario_enabled(s, "flip-run"));
    double middle = ws_timeline_length(t) / 2, from, to, from2, to2;
    ws_timeline_set_view(t, middle, middle + 9000);
    scenario_settle(s->timeline);
    view_of(t, &from, &to);
    for (guint i = 0; i < 4; i++) {
        scenario_key("ctrl+j");
        WAIT_FOR(ws_document_measured(s->document) == (i & 1 ? second : first));
        g_assert_true(ws_document_pinned_run(s->document) == (i & 1 ? first : second));
        scenario_settle(s->timeline);
        view_of(t, &from2, &to2);
        g_assert_cmpfloat_with_epsilon(to2 - from2, to - from, 40);
        g_assert_cmpfloat_with_epsilon(from2, from, 40);
    }
    /* Both beside each other, by round and by step. */
    WsMeasurements *m = WS_MEASUREMENTS(ws_window_part(s->window, WS_PART_MEASUREMENTS));
    scenario_act(s, "show-measurements");
    g_assert_true(ws_measurements_show(m, "two-runs"));
    WAIT_FOR(scenario_find_text(GTK_WIDGET(m), "in the pinned one"));
    GtkWidget *two = scenario_find_type(GTK_WIDGET(m), "WsRunCompare");
    g_assert_cmpuint(ws_run_compare_n_rounds(WS_RUN_COMPARE(two)), >, 3);
    ws_table_select(WS_TABLE(scenario_find_type(two, "WsTable")), 0);
    WAIT_FOR(ws_document_focus(s->document)->step != NULL);
    /* Of another design nothing is left to flip to. */
    scenario_open(s, FA);
    g_assert_false(scenario_enabled(s, "flip-run"));
    g_assert_null(ws_document_pinned_run(s->document));
}

/* A history file with two runs of the design of tests/launch/h200, one of them with its trace. */
static void make_history(const char *trace)
{
    g_autofree char *file = g_build_filename(g_get_user_runtime_dir(), "runs.db", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_setenv("WARPSTAVE_HISTORY", file, TRUE);
    g_autoptr(WsRunStore) h = ws_history_open(NULL, &error);
    g_assert_no_error(error);
    g_autoptr(WsCollected) c = ws_collect(WS_SOURCE_ROOT "/tests/launch/h200", findings, &error);
    g_assert_no_error(error);
    g_assert_true(ws_history_add(h, c, NULL, trace, &error));
    g_assert_true(ws_history_add(h, c, "gpu1", NULL, &error));
}

static gboolean is_entry(GtkWidget *w, gconstpointer name)
{
    const char *text = GTK_IS_ENTRY(w) ? gtk_entry_get_placeholder_text(GTK_ENTRY(w)) : NULL;
    return text && gtk_widget_get_mapped(w) && !strcmp(text, name);
}

/* Notes and tags are kept; the trace of a run is shown; without SQLite the page says so. */
static void run_history(Scenario *s)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsRunStore) probe = ws_history_open(NULL, &error);
    if (!probe) {
        g_test_skip("built without SQLite");
        return;
    }
    scenario_open(s, "tests/launch/h200/design.wstave");
    g_autofree char *trace = g_build_filename(g_get_user_runtime_dir(), "run.wtrace", NULL);
    WsTrace *predicted = ws_document_predicted(s->document);
    predicted->origin = WS_TRACE_MEASURED;
    g_assert_true(ws_trace_save(predicted, trace, &error));
    predicted->origin = WS_TRACE_PREDICTED;
    make_history(trace);
    scenario_act(s, "show-measurements");
    WsMeasurements *m = WS_MEASUREMENTS(ws_window_part(s->window, WS_PART_MEASUREMENTS));
    g_assert_true(ws_measurements_show(m, "runs"));
    GtkWidget *runs = NULL, *label = NULL;
    WAIT_FOR((runs = scenario_find_type(GTK_WIDGET(m), "WsRunHistory")));
    WAIT_FOR((label = scenario_find_text(runs, "NVIDIA H200 on gpu1")));
    scenario_settle(runs);
    scenario_click_widget(label, NULL);
    GtkWidget *tags = scenario_find(runs, is_entry, "Tags");
    WAIT_FOR(gtk_widget_get_sensitive(tags));
    scenario_click_widget(tags, NULL);
    scenario_type("base");
    scenario_click_widget(scenario_find(runs, is_entry, "Note on the selected run"), NULL);
    scenario_type("first");
    scenario_key("Return");
    WAIT_FOR(scenario_find_text(runs, "base"));
    g_autoptr(WsRunStore) h = ws_history_open(NULL, &error);
    g_autoptr(GPtrArray) all = ws_history_list(h, NULL, 10, &error);
    g_assert_cmpuint(all->len, ==, 2);
    const WsHistoryRun *newest = all->pdata[0];
    g_assert_cmpstr(newest->tags, ==, "base");
    g_assert_cmpstr(newest->note, ==, "first");
    /* The other one has a trace: a double click lays it under the prediction. */
    g_assert_null(ws_document_measured(s->document));
    ws_run_history_read((WsRunHistory *)runs);
    scenario_settle(runs);
    GtkWidget *button = scenario_find_text(runs, "Show This Run");
    g_assert_false(gtk_widget_get_sensitive(gtk_widget_get_ancestor(button, GTK_TYPE_BUTTON)));
    GtkWidget *list = scenario_find_type(runs, "GtkColumnListView");
    g_assert_nonnull(list);
    scenario_click(list, 60, 40, 1, NULL); /* the second row */
    WAIT_FOR(gtk_widget_get_sensitive(gtk_widget_get_ancestor(button, GTK_TYPE_BUTTON)));
    scenario_click_widget(gtk_widget_get_ancestor(button, GTK_TYPE_BUTTON), NULL);
    WAIT_FOR(ws_document_measured(s->document));
    g_unsetenv("WARPSTAVE_HISTORY");
}

static const WsScoreRound *round_now(Scenario *s)
{
    const GArray *rounds = ws_timeline_rounds(score(s), NULL);
    return &g_array_index(rounds, WsScoreRound, ws_timeline_round_at(score(s)));
}

static void rounds(Scenario *s)
{
    WsTimeline *t = score(s);
    const char *loop;
    const GArray *list = ws_timeline_rounds(t, &loop);
    g_assert_cmpstr(loop, ==, "k");
    g_assert_cmpuint(list->len, >, 100);
    ws_timeline_show_round(t, 5);
    scenario_settle(s->timeline);
    g_assert_cmpint(ws_timeline_round_at(t), ==, 5);
    scenario_act(s, "focus-score");
    scenario_key("Next");
    WAIT_FOR(ws_timeline_round_at(t) == 6);
    scenario_key("Prior");
    WAIT_FOR(ws_timeline_round_at(t) == 5);
    gint32 tile = round_now(s)->tile;
    scenario_key("ctrl+Next");
    WAIT_FOR(round_now(s)->tile == tile + 1);
    g_assert_cmpint(round_now(s)->round, ==, 0);
    scenario_key("ctrl+Prior");
    WAIT_FOR(round_now(s)->tile == tile);
    g_assert_cmpint(round_now(s)->round, ==, 0);
    /* The status bar names the place. */
    g_autofree char *name = g_strdup_printf("tile %d · k 0", tile);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), name));
    /* And the way back is kept. */
    scenario_key("alt+Left");
    WAIT_FOR(ws_timeline_round_at(t) != 0);
}

/* --- I51: views that move together
 * ----------------------------------------------------------------
 */

static WsWindow *second_window(Scenario *s)
{
    WsWindow *w = ws_window_new_on(scenario_application(), s->document);
    gtk_window_set_default_size(GTK_WINDOW(w), 1100, 700);
    gtk_window_present(GTK_WINDOW(w));
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(w)));
    scenario_settle(GTK_WIDGET(w));
    return w;
}

static gboolean same_view(WsTimeline *a, WsTimeline *b)
{
    double from[2], to[2];
    view_of(a, &from[0], &to[0]);
    view_of(b, &from[1], &to[1]);
    double cycles_per_pixel = (to[0] - from[0]) / 500;
    return fabs(from[0] - from[1]) < 2 * cycles_per_pixel &&
           fabs(to[0] - to[1]) < 2 * cycles_per_pixel;
}

static void linked(Scenario *s)
{
    WsTimeline *a = score(s);
    WsWindow *w = second_window(s);
    WsTimeline *b = WS_TIMELINE(ws_window_part(w, WS_PART_TIMELINE));
    double middle = ws_timeline_length(a) / 2;
    /* On their own at first. */
    ws_timeline_set_view(a, middle, middle + 20000);
    ws_timeline_set_view(b, middle + 50000, middle + 60000);
    scenario_settle(s->timeline);
    scenario_settle(GTK_WIDGET(b));
    g_assert_false(same_view(a, b));
    scenario_focus(GTK_WIDGET(s->window));
    scenario_key("ctrl+l");
    WAIT_FOR(ws_timeline_linked(a));
    scenario_focus(GTK_WIDGET(w));
    scenario_key("ctrl+l");
    WAIT_FOR(ws_timeline_linked(b));
    WAIT_FOR(same_view(a, b)); /* who joins comes */
    ws_timeline_set_view(a, middle - 30000, middle - 10000);
    WAIT_FOR(same_view(a, b));
    for (guint i = 0; i < 3; i++) /* and both ways, by the keyboard of either */
        scenario_settle(GTK_WIDGET(b));
    g_action_group_activate_action(G_ACTION_GROUP(w), "focus-score", NULL);
    double from, to, was, was_to;
    view_of(a, &was, &was_to);
    scenario_key("d");
    WAIT_FOR((view_of(a, &from, &to), from > was + 100));
    WAIT_FOR(same_view(a, b));
    /* Each pane keeps its own height; without the link they part again. */
    scenario_key("ctrl+l");
    WAIT_FOR(!ws_timeline_linked(b));
    scenario_settle(GTK_WIDGET(b));
    view_of(a, &was, &was_to);
    scenario_key("d");
    scenario_settle(GTK_WIDGET(b));
    scenario_settle(s->timeline);
    view_of(a, &from, &to);
    g_assert_cmpfloat_with_epsilon(from, was, 1);
    g_assert_false(same_view(a, b));
    gtk_window_destroy(GTK_WINDOW(w));
    ws_timeline_set_view(a, middle, middle + 20000); /* nobody left to follow */
    scenario_settle(s->timeline);
}

/* --- I01: two fingers
 * -----------------------------------------------------------------------------
 */

static GtkEventController *controller_of(GtkWidget *widget, GType type)
{
    g_autoptr(GListModel) all = gtk_widget_observe_controllers(widget);
    for (guint i = 0; i < g_list_model_get_n_items(all); i++) {
        g_autoptr(GtkEventController) c = g_list_model_get_item(all, i);
        if (g_type_is_a(G_OBJECT_TYPE(c), type))
            return c;
    }
    return NULL;
}

/* Xvfb has no touchpad: the gesture itself says what it would say. */
static void pinch(Scenario *s)
{
    WsTimeline *t = score(s);
    GtkEventController *zoom = controller_of(t->canvas, GTK_TYPE_GESTURE_ZOOM);
    double middle = ws_timeline_length(t) / 2, ox, oy, from, to, wide;
    g_assert_nonnull(zoom);
    ws_timeline_set_view(t, middle, middle + 20000);
    scenario_settle(s->timeline);
    seen_timeline_origin(t, &ox, &oy);
    static const double places[] = { 60, 333, 700 };
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        scenario_point(s->timeline, ox + places[i], oy + 60);
        WAIT_FOR(fabs(t->pointer_x - WS_TIMELINE_GUTTER - places[i]) < 1.5);
        double x = t->pointer_x - WS_TIMELINE_GUTTER, cycle = ws_timeline_cycle_of_x(t, x);
        view_of(t, &from, &to);
        wide = to - from;
        g_signal_emit_by_name(zoom, "begin", NULL);
        for (double scale = 1.05; scale < 1.6; scale += 0.05) {
            g_signal_emit_by_name(zoom, "scale-changed", scale);
            g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) - x), <, 1);
        }
        view_of(t, &from, &to);
        g_assert_cmpfloat_with_epsilon(wide / (to - from), 1.55, 0.06);
        g_signal_emit_by_name(zoom, "begin", NULL);
        g_signal_emit_by_name(zoom, "scale-changed", 1 / 1.55);
        scenario_settle(s->timeline);
        g_assert_cmpfloat(fabs(ws_timeline_x_of_cycle(t, cycle) - x), <, 1);
    }
}

/* --- I09
 * ------------------------------------------------------------------------------------------
 */

/* Pixels of the ruler's upper line that are not the page. */
static guint ink(Scenario *s)
{
    cairo_surface_t *p = scenario_picture(score(s)->canvas);
    const guint32 *pixel = (const guint32 *)(const void *)cairo_image_surface_get_data(p);
    int stride = cairo_image_surface_get_stride(p) / 4, width = cairo_image_surface_get_width(p);
    guint n = 0;
    for (int y = 2; y < 13; y++)
        for (int x = (int)WS_TIMELINE_GUTTER + 30; x < width - 20; x++)
            n += pixel[y * stride + x] != pixel[y * stride + (int)WS_TIMELINE_GUTTER - 4];
    cairo_surface_destroy(p);
    return n;
}

static void no_clock(Scenario *s)
{
    WsTimeline *t = score(s);
    scenario_xdo("mousemove 1599 999");
    scenario_settle(s->timeline);
    g_assert_cmpfloat(ws_timeline_ghz(t), >, 0);
    g_assert_cmpuint(ink(s), >, 50);
    ws_document_clock(s->document)->ghz = 0; /* a machine file without one cannot be made: a key */
    ws_timeline_drop_nodes(t);
    gtk_widget_queue_draw(t->canvas);
    scenario_settle(s->timeline);
    g_assert_cmpfloat(ws_timeline_ghz(t), ==, 0);
    g_assert_cmpuint(ink(s), ==, 0);
    g_signal_emit_by_name(s->document, "changed");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "clock not known"));
}

/* --- from afar
 * ------------------------------------------------------------------------------------
 */

static guint levels_in(WsTimeline *t, WsRowKind kind, double *least, double *most)
{
    guint n = 0;
    *least = 2;
    *most = -1;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (item->shape != WS_SHAPE_LEVEL ||
            g_array_index(t->scene->row, WsSceneRow, item->row).kind != kind)
            continue;
        *least = MIN(*least, item->level);
        *most = MAX(*most, item->level);
        n++;
    }
    return n;
}

static void from_afar(Scenario *s)
{
    WsTimeline *t = score(s);
    double least, most;
    scenario_act(s, "fit-all");
    WAIT_FOR(t->scene && !t->scene->partial);
    scenario_settle(s->timeline);
    g_assert_cmpuint(levels_in(t, WS_ROW_RING, &least, &most), >, 40);
    g_assert_cmpfloat(least, >, 0);
    g_assert_cmpfloat(most, <=, 1);
    g_assert_cmpfloat(most, >, 0.9);
    g_assert_cmpuint(levels_in(t, WS_ROW_UNIT, &least, &most), ==, 0); /* they have their own */
    /* Near by, states take their place again. */
    double middle = ws_timeline_length(t) / 2;
    ws_timeline_set_view(t, middle, middle + 5000);
    WAIT_FOR(t->scene && !t->scene->partial);
    scenario_settle(s->timeline);
    g_assert_cmpuint(levels_in(t, WS_ROW_RING, &least, &most), ==, 0);
}

static void mufu(Scenario *s)
{
    const WsIdle *idle = NULL;
    WAIT_FOR((idle = ws_document_idle(s->document, FALSE)));
    g_assert_false(idle->uses[WS_UNIT_MUFU]); /* nothing there uses it */
    scenario_open(s, FA);
    WAIT_FOR((idle = ws_document_idle(s->document, FALSE)));
    g_assert_true(idle->uses[WS_UNIT_MUFU]);
    /* The clock says the same of the steady tiles. */
    g_assert_cmpfloat_with_epsilon(idle->rated[WS_UNIT_MUFU],
                                   ws_document_clock(s->document)->mufu_busy, 0.08);
}

/* On a slow machine scenes are made in haste first, and whole ones when the movement is over: there
 * is a score at every moment between. */
static void never_without_a_score(Scenario *s)
{
    WsTimeline *t = score(s);
    scenario_open(s, FA);
    const double middle = ws_timeline_length(t) / 2;
    ws_timeline_set_view(t, middle, middle + 6000);
    WAIT_FOR(t->scene && !t->settle && !seen_timeline_folded(t));
    scenario_settle(s->timeline);
    for (guint i = 0; i < 6; i++) {
        guint hasty = 0;
        t->full_cost = 1000000; /* a second for a whole scene */
        ws_timeline_zoom_at(t, 300, i & 1 ? 0.7 : 1.5);
        ws_timeline_sync(t);
        g_assert_true(t->scene->partial);
        for (gint64 since = g_get_monotonic_time();
             t->settle && !scenario_late(since, "the whole scene", __FILE__, __LINE__); hasty++) {
            g_main_context_iteration(NULL, TRUE);
            g_assert_nonnull(t->scene);
        }
        g_assert_cmpuint(hasty, >, 0);
        g_assert_false(t->scene->partial);
    }
}

static void whiskers(Scenario *s)
{
    WsTimeline *t = score(s);
    add_trace(s);
    WAIT_FOR(t->scene);
    guint n = 0;
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->n_runs)
            continue;
        g_assert_true(item->measured);
        g_assert_cmpint(item->p20, <=, item->p80);
        g_assert_cmpfloat(item->low, <=, item->high + 1e-9);
        n++;
    }
    g_assert_cmpuint(n, >, 20);
    /* Hovering says them. */
    double ox, oy;
    centre_of(s, &ox, &oy);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (!item->n_runs || item->w < 40 || item->y > 300 || item->x < 10)
            continue;
        seen_timeline_origin(t, &ox, &oy);
        scenario_point(s->timeline, ox + item->x + item->w / 2,
                       oy - t->scene->top + item->y + item->h / 2 - t->view.at.y);
        WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "20 % to 80 % of its"));
        return;
    }
    g_assert_not_reached();
}

static void upstream_of_mma(Scenario *s)
{
    WsTimeline *t = score(s);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (item->kind == WS_ITEM_MMA && item->step && item->shape == WS_SHAPE_HEAD) {
            g_assert_true(seen_timeline_select_item(t, i));
            break;
        }
    }
    g_assert_cmpuint(ws_document_selection(s->document)->len, ==, 1);
    scenario_act(s, "focus-score");
    scenario_key("l");
    WAIT_FOR(ws_document_selection(s->document)->len == 5); /* wait, two loads, wait for room */
    scenario_key("l"); /* one round back: who gave the stage back */
    WAIT_FOR(ws_document_selection(s->document)->len > 5);
}

static void add(void)
{
    scenario_add("reading/never-without-a-score", never_without_a_score);
    scenario_add("reading/cta-by-keyboard", cta_by_keyboard);
    scenario_add("reading/cta-by-pointer", cta_by_pointer);
    scenario_add("reading/pin-and-flip", pin_and_flip);
    scenario_add("reading/run-history", run_history);
    scenario_add("reading/rounds", rounds);
    scenario_add("reading/from-afar", from_afar);
    scenario_add("reading/mufu", mufu);
    scenario_add("reading/whiskers", whiskers);
    scenario_add("I01/pinch", pinch);
    scenario_add("I09/no-clock", no_clock);
    scenario_add("I13/upstream-of-mma", upstream_of_mma);
    scenario_add("I51/linked-views", linked);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
