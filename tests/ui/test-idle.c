/* "Where is the tensor core idle, and why?": rows of the units at the foot of the score, gaps that
 * say why and are looked at, the panel of causes, the edit that lowers one. */
#include "scenario/hands.h"

#include "program/parts/operation.h"
#include "program/program.h"
#include "ui/document/document_idle.h"
#include "ui/document/document_next.h"
#include "ui/gesture/gesture_private.h"
#include "ui/panels/idle_panel.h"
#include "ui/parts/table.h"
#include "ui/runs/measurements.h"
#include "ui/runs/overlap_matrix.h"
#include "ui/timeline/timeline_gap.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gstdio.h>
#include <string.h>

#define LOAD       "groups/load/body/0/do/0/do/"
#define NO_OVERLAP "projects/attention-d128/measured/no-overlap.wtrace"

static WsTimeline *score(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static WsIdlePanel *panel(Scenario *s)
{
    return WS_IDLE_PANEL(ws_window_part(s->window, WS_PART_IDLE));
}

static void open_trace(Scenario *s)
{
    scenario_open(s, NO_OVERLAP);
    WAIT_FOR(ws_document_idle(s->document, TRUE));
    WAIT_FOR(gtk_widget_get_mapped(score(s)->units) && score(s)->scene);
    scenario_settle(GTK_WIDGET(s->window));
}

/* The longest gap of a unit that is in view. */
static WsGapRef gap_in_view(Scenario *s, gboolean measured, WsUnit unit)
{
    const WsTrace *t =
        measured ? ws_document_measured(s->document) : ws_document_predicted(s->document);
    WsGapRef best = { measured, ws_timeline_cta_of(score(s), t), unit, G_MAXUINT };
    const WsIdleCta *c = ws_idle_cta(ws_document_idle(s->document, measured), best.cta);
    double widest = 0, from, to;
    for (guint i = 0; i < c->gap[unit]->len; i++) {
        const WsGapRef ref = { measured, best.cta, unit, i };
        if (!ws_gap_span(score(s), &ref, &from, &to) || from < 0 || to > score(s)->view.width ||
            to - from <= widest)
            continue;
        widest = to - from;
        best.gap = i;
    }
    g_assert_cmpuint(best.gap, !=, G_MAXUINT);
    g_assert_cmpfloat(widest, >, 8);
    return best;
}

/* Both rows of a unit stay at the foot however far the score is scrolled. */
static void pinned(Scenario *s)
{
    open_trace(s);
    WsTimeline *t = score(s);
    double x, y, was;
    const WsGapRef ref = gap_in_view(s, TRUE, WS_UNIT_TENSOR);
    g_assert_true(ws_timeline_units_place(t, &ref, &x, &y));
    g_assert_true(gtk_widget_translate_coordinates(t->units, GTK_WIDGET(t), 0, 0, &x, &was));
    ws_timeline_scroll_by(t, 0, 400);
    scenario_settle(s->timeline);
    g_assert_cmpfloat(t->view.at.y, >, 0);
    g_assert_true(gtk_widget_translate_coordinates(t->units, GTK_WIDGET(t), 0, 0, &x, &y));
    g_assert_cmpfloat(y, ==, was);
    /* Where the predicted gap is, no predicted product is drawn: the row and the score agree. */
    ws_timeline_scroll_by(t, 0, -400);
    scenario_settle(s->timeline);
    for (guint m = 0; m < 2; m++) {
        const WsGapRef here = gap_in_view(s, m == 1, WS_UNIT_TENSOR);
        double from, to;
        guint seen = 0;
        g_assert_true(ws_gap_span(t, &here, &from, &to));
        for (guint i = 0; i < t->scene->item->len; i++) {
            const WsSceneItem *item = ws_timeline_item(t, i);
            const double x0 = item->x + ws_timeline_offset(t);
            if (item->shape != WS_SHAPE_FLIGHT || item->kind != WS_ITEM_MMA ||
                item->measured != (m == 1))
                continue;
            seen++;
            g_assert_true(x0 + item->w < from + 3 || x0 > to - 3);
        }
        g_assert_cmpuint(seen, >, 3);
    }
}

/* A gap says why, and a click looks at it: its waiter and release, or its cause, are selected. */
static void by_pointer(Scenario *s)
{
    open_trace(s);
    WsTimeline *t = score(s);
    WsGapRef at, ref = gap_in_view(s, TRUE, WS_UNIT_TENSOR);
    double x, y;
    g_assert_true(ws_timeline_units_place(t, &ref, &x, &y));
    scenario_point(t->units, x - 3, y);
    scenario_point(t->units, x, y);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "Tensor core idle, measured: at least"));
    g_autofree char *text = ws_gap_text(s->document, &ref);
    g_assert_nonnull(strstr(text, "cycles: "));
    g_assert_nonnull(strstr(text, "next: mma "));
    scenario_click(t->units, x, y, 1, NULL);
    WAIT_FOR(ws_document_gap(s->document, &at));
    g_assert_cmpuint(at.gap, ==, ref.gap);
    g_assert_true(at.measured);
    const WsIdleGap *gap = ws_document_gap_of(s->document, &at, NULL);
    const WsProgram *p = ws_document_program(s->document);
    g_assert_cmpuint(ws_document_selection(s->document)->len, >=, 1);
    if (gap->waiter.op != G_MAXUINT) {
        g_assert_true(ws_document_selected(s->document, p->op[gap->waiter.op]->step));
        g_assert_cmpint(ws_document_focus(s->document)->round, ==, gap->waiter.round);
    }
    hands_shot(s, "idle-gap");
    /* Beside a gap nothing is looked at. */
    const WsIdleCta *c = ws_idle_cta(ws_document_idle(s->document, TRUE), at.cta);
    double from, to;
    g_assert_true(ws_gap_span(t, &at, &from, &to));
    g_assert_cmpuint(at.gap + 1, <, c->gap[WS_UNIT_TENSOR]->len);
    scenario_click(t->units, (WS_TIMELINE_GUTTER + to + 6) * t->page_scale, y, 1, NULL);
    WAIT_FOR(!ws_document_gap(s->document, &at));
    /* A predicted one too. */
    ref = gap_in_view(s, FALSE, WS_UNIT_MUFU);
    g_assert_true(ws_timeline_units_place(t, &ref, &x, &y));
    scenario_click(t->units, x, y, 1, NULL);
    WAIT_FOR(ws_document_gap(s->document, &at) && at.unit == WS_UNIT_MUFU && !at.measured);
}

/* N and P: every gap that is worth it, in order, and always in view. */
static void by_keys(Scenario *s)
{
    open_trace(s);
    WsTimeline *t = score(s);
    WsGapRef at = { 0 }, was;
    double from, to;
    scenario_act(s, "focus-score");
    scenario_key("n");
    WAIT_FOR(ws_document_gap(s->document, &at));
    g_assert_true(at.measured);
    g_assert_cmpint(at.unit, ==, WS_UNIT_TENSOR);
    for (guint i = 0; i < 12; i++) {
        was = at;
        scenario_key("n");
        WAIT_FOR(ws_document_gap(s->document, &at) && at.gap > was.gap);
        scenario_settle(s->timeline);
        g_assert_true(ws_gap_span(t, &at, &from, &to));
        g_assert_cmpfloat(from, >=, -1);
        g_assert_cmpfloat(to, <=, t->view.width + 1);
        const WsIdleGap *gap = ws_document_gap_of(s->document, &at, NULL);
        g_assert_cmpint(gap->to - gap->from, >=, WS_IDLE_SHORT);
    }
    was = at;
    scenario_key("p");
    WAIT_FOR(ws_document_gap(s->document, &at) && at.gap < was.gap);
    scenario_settle(s->timeline);
    g_assert_true(ws_gap_span(t, &at, &from, &to));
}

/* Behind the last gap comes the first one: N from a view behind it finds one, and selects. */
static void round_again(Scenario *s)
{
    scenario_open(s, "projects/gemm-bf16-pingpong/measured/gemm-bf16-pingpong.wtrace");
    hands_settle(s);
    WAIT_FOR(ws_document_idle(s->document, TRUE));
    WsGapRef at = { 0 };
    scenario_act(s, "focus-score");
    for (guint i = 0; i < 2; i++) {
        scenario_key(i ? "p" : "n");
        WAIT_FOR(ws_document_gap(s->document, &at));
        scenario_settle(s->timeline);
        g_assert_cmpuint(ws_document_selection(s->document)->len, >, 0);
    }
}

/* What costs most stands first, with both figures; a row shows its longest gap. */
static void causes(Scenario *s)
{
    open_trace(s);
    scenario_key("alt+0");
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(panel(s))) && ws_idle_panel_n_causes(panel(s)) > 2);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(panel(s)), "Measured: idle at least"));
    WsTable *table = WS_TABLE(scenario_find_type(GTK_WIDGET(panel(s)), "WsTable"));
    const WsIdle *idle = ws_document_idle(s->document, TRUE);
    const WsIdleCause *most = &g_array_index(idle->cause, WsIdleCause, 0);
    g_autofree char *first = g_strdup(ws_row_get_text(ws_table_shown(table, 0), 0));
    g_assert_nonnull(strstr(first, "compute "));
    g_assert_nonnull(strstr(first, "all agents at once"));
    g_assert_true(ws_idle_together(most));
    scenario_settle(GTK_WIDGET(panel(s)));
    GtkWidget *cell = NULL;
    WAIT_FOR((cell = scenario_find_text(GTK_WIDGET(panel(s)), first)));
    scenario_click_widget(cell, NULL);
    WsGapRef at;
    double from, to;
    WAIT_FOR(ws_document_gap(s->document, &at));
    g_assert_cmpuint(at.gap, ==, most->gap);
    scenario_settle(s->timeline);
    g_assert_true(ws_gap_span(score(s), &at, &from, &to));
    hands_shot(s, "idle");
    /* The summary has the same figure, and says how it comes about. */
    scenario_act(s, "show-measurements");
    GtkWidget *m = ws_window_part(s->window, WS_PART_MEASUREMENTS);
    g_assert_true(ws_measurements_show(WS_MEASUREMENTS(m), "summary"));
    WAIT_FOR(scenario_find_text(m, "at the rate of the unit"));
    WAIT_FOR(scenario_find_text(m, "65.7"));
}

/* Units and agents against each other, measured over predicted; a cell shows what overlapped. */
static void matrix(Scenario *s)
{
    open_trace(s);
    scenario_act(s, "show-measurements");
    GtkWidget *m = ws_window_part(s->window, WS_PART_MEASUREMENTS), *cell = NULL;
    g_assert_true(ws_measurements_show(WS_MEASUREMENTS(m), "overlap"));
    WAIT_FOR(scenario_find_text(m, "Of the time in which the row was in use"));
    WsOverlapMatrix *x = WS_OVERLAP_MATRIX(scenario_find_type(m, "WsOverlapMatrix"));
    WAIT_FOR((cell = ws_overlap_matrix_cell(x, "tensor core", "mma.0")));
    g_assert_nonnull(ws_overlap_matrix_cell(x, "mma.1", "TMA store"));
    g_assert_null(ws_overlap_matrix_cell(x, "mma.2", "TMA store"));
    /* The diagonal is what the rows of the units say. */
    const WsOverlap *o = ws_document_overlap(s->document, TRUE);
    const WsIdle *idle = ws_document_idle(s->document, TRUE);
    g_assert_cmpfloat_with_epsilon(ws_overlap_share(o, 0, 0), 1 - idle->idle[WS_UNIT_TENSOR], 1e-9);
    g_autofree char *text = ws_measurements_copy(WS_MEASUREMENTS(m));
    g_assert_nonnull(strstr(text, "\tmma.0\tmma.1\n"));
    scenario_settle(m);
    WAIT_FOR((cell = ws_overlap_matrix_cell(x, "tensor core", "mma.0")));
    scenario_click_widget(cell, NULL);
    WAIT_FOR(ws_document_selection(s->document)->len == 2);
    const WsProgram *p = ws_document_program(s->document);
    const WsOverlapCell *c = ws_overlap_cell(o, 0, WS_UNITS + 1);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, p->op[c->first.op]->step);
    g_assert_cmpint(ws_document_focus(s->document)->round, ==, c->first.round);
    g_assert_true(ws_document_selected(s->document, p->op[c->second.op]->step));
    hands_shot(s, "overlap");
    /* What binds the run, by measurement. */
    WAIT_FOR(scenario_find_text(m, "(work of all at once, tensor core idle 25"));
    g_assert_true(ws_measurements_show(WS_MEASUREMENTS(m), "summary"));
    WAIT_FOR(scenario_find_text(m, "TFLOP/s"));
}

/* A GEMM whose ring is too shallow: the edit that is proposed for the cause lowers it. */
static void best_edit(Scenario *s)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    g_assert_true(ws_edit_depth(draft, ws_document_node(s->document, "buffers/a"), 2));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
    scenario_key("alt+0");
    WAIT_FOR(ws_document_idle(s->document, FALSE) && ws_document_next_has_edits(s->document));
    WsTable *table = WS_TABLE(scenario_find_type(GTK_WIDGET(panel(s)), "WsTable"));
    WAIT_FOR(ws_table_n_shown(table) > 0 && scenario_find_text(GTK_WIDGET(panel(s)), "proved)"));
    const double before = ws_document_idle(s->document, FALSE)->idle[WS_UNIT_TENSOR];
    g_autofree char *first = g_strdup(ws_row_get_text(ws_table_shown(table, 0), 0));
    scenario_settle(GTK_WIDGET(panel(s)));
    GtkWidget *cell = NULL;
    WAIT_FOR((cell = scenario_find_text(GTK_WIDGET(panel(s)), first)));
    scenario_click_widget(cell, NULL);
    GtkWidget *take = scenario_find_text(GTK_WIDGET(panel(s)), "Make This Edit");
    g_assert_nonnull(take);
    WAIT_FOR(gtk_widget_is_sensitive(take));
    scenario_click_widget(take, NULL);
    WAIT_FOR(g_str_has_prefix(ws_history_undo_name(ws_document_history(s->document)), "Ring of "));
    hands_settle(s);
    WAIT_FOR(ws_document_idle(s->document, FALSE));
    g_assert_cmpfloat(ws_document_idle(s->document, FALSE)->idle[WS_UNIT_TENSOR], <, before - 0.05);
}

/* With text at 200 % the rows are twice as high, and a gap is where it is drawn. */
static void large_text(Scenario *s)
{
    GtkSettings *settings = gtk_settings_get_default();
    int dpi;
    g_object_get(settings, "gtk-xft-dpi", &dpi, NULL);
    open_trace(s);
    WsTimeline *t = score(s);
    const int high = gtk_widget_get_height(t->units);
    g_object_set(settings, "gtk-xft-dpi", 2 * dpi, NULL);
    WAIT_FOR(gtk_widget_get_height(t->units) > 1.8 * high);
    scenario_settle(GTK_WIDGET(s->window));
    WsGapRef at, ref = gap_in_view(s, TRUE, WS_UNIT_TENSOR);
    double x, y;
    g_assert_true(ws_timeline_units_place(t, &ref, &x, &y));
    scenario_click(t->units, x, y, 1, NULL);
    WAIT_FOR(ws_document_gap(s->document, &at) && at.gap == ref.gap);
    hands_shot(s, "idle-200");
    g_object_set(settings, "gtk-xft-dpi", dpi, NULL);
    WAIT_FOR(gtk_widget_get_height(t->units) < 1.2 * high);
}

/* A run whose CTAs claimed tiles of different length says so instead of a figure, on every page, if
 * the trace does not hold which ones (as those of older versions). */
static void claimed(Scenario *s)
{
    g_autoptr(WsTrace) old =
        ws_trace_load(WS_SOURCE_ROOT "/projects/attention-d128/measured/causal.wtrace", NULL);
    g_autofree char *dir = g_dir_make_tmp("ws-idle-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(dir, "old.wtrace", NULL);
    g_assert_nonnull(old);
    g_array_set_size(old->claimed, 0);
    g_assert_true(ws_trace_save(old, file, NULL));
    g_autoptr(GFile) opened = g_file_new_for_path(file);
    g_assert_true(ws_window_open(s->window, opened));
    hands_settle(s);
    WAIT_FOR(ws_document_idle(s->document, FALSE));
    g_assert_nonnull(ws_document_measured(s->document));
    g_assert_true(ws_document_claims(s->document));
    g_assert_null(ws_document_idle(s->document, TRUE));
    g_assert_null(ws_document_overlap(s->document, TRUE));
    scenario_act(s, "show-idle");
    WAIT_FOR(ws_idle_panel_n_causes(panel(s)));
    g_autofree char *text = ws_idle_panel_copy(panel(s));
    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, "claim their tiles"));
    g_assert_nonnull(strstr(text, "not known"));
    g_assert_null(strstr(text, "Measured: idle"));
    hands_shot(s, "idle-claimed");
    g_unlink(file);
    g_rmdir(dir);
}

/* Where it holds them, the prediction plays the same tiles, and both have causes. */
static void claims_known(Scenario *s)
{
    scenario_open(s, "projects/attention-d128/measured/causal.wtrace");
    WAIT_FOR(ws_document_idle(s->document, FALSE) && ws_document_idle(s->document, TRUE));
    WsTrace *measured = ws_document_measured(s->document);
    WsTrace *predicted = ws_document_predicted(s->document);
    guint n;
    ws_trace_claims(measured, 0, &n);
    g_assert_cmpuint(n, >, 4);
    g_assert_true(ws_trace_same_claims(measured, 0, predicted, 0));
    g_assert_false(ws_document_claims(s->document));
    scenario_act(s, "show-idle");
    WAIT_FOR(ws_idle_panel_n_causes(panel(s)));
    g_autofree char *text = ws_idle_panel_copy(panel(s));
    g_test_message("%s", text);
    g_assert_nonnull(strstr(text, "Measured: idle"));
    g_assert_null(strstr(text, "not known"));
    hands_shot(s, "idle-claims-known");
    scenario_act(s, "theme-dark");
    hands_shot(s, "idle-claims-known-dark");
    scenario_act(s, "theme-light");
}

/* While a step is dragged the panels stay as they were, and its verdict makes no new score. */
static void while_dragged(Scenario *s)
{
    double x0, y0, x1, y1;
    WsTimeline *t = score(s);
    scenario_act(s, "show-measurements");
    GtkWidget *m = ws_window_part(s->window, WS_PART_MEASUREMENTS);
    g_assert_true(ws_measurements_show(WS_MEASUREMENTS(m), "summary"));
    hands_settle(s);
    WAIT_FOR(ws_document_idle(s->document, FALSE));
    hands_zoom_to(s, LOAD "1", -1, 60, 3000);
    const WsSceneItem *b = hands_find(s, (HandsItem){ LOAD "2", -1, 60, -1, 0, FALSE });
    const WsSceneItem *a = hands_find(s, (HandsItem){ LOAD "1", -1, 60, -1, 0, FALSE });
    g_assert_nonnull(a);
    g_assert_nonnull(b);
    hands_place(s, b, 0.4, &x0, &y0);
    hands_place(s, a, 0.1, &x1, &y1);
    WsTable *table = WS_TABLE(scenario_find_type(m, "WsTable"));
    g_autoptr(WsRow) first = g_object_ref(ws_table_shown(table, 0));
    hands_press(s, x0, y0);
    hands_glide(s, x0, y0, x1 - 1, y1);
    WAIT_FOR(ws_document_trying(s->document) &&
             ws_document_design(s->document) == t->gesture->draft->design);
    scenario_settle(s->timeline);
    const WsScene *scene = t->scene;
    WAIT_FOR(!ws_document_pending(s->document) && strstr(t->gesture->words, "\xe2\x9c\x94"));
    WAIT_FOR(ws_document_idle(s->document, FALSE)); /* of what is tried: the rows of the units */
    scenario_settle(s->timeline);
    g_assert_true(t->scene == scene);
    g_assert_true(ws_table_shown(table, 0) == first);
    hands_let_go(s);
    WAIT_FOR(ws_table_shown(table, 0) != first);
}

/* What the pages of projects found by hand stands first in the panel, with what is known of it. */
static void shipped(Scenario *s)
{
    static const struct {
        const char *trace, *cause, *reason;
        gboolean together;
        double least, most, rated_least, rated_most;
    } rows[] = {
#define WS_SHIPPED_IDLE(...) { __VA_ARGS__ },
#include "../advise/shipped_idle.def"
    };
    for (guint i = 1; i < G_N_ELEMENTS(rows); i += 2) { /* the command line has all of them */
        g_autofree char *file = g_strdup_printf("projects/%s.wtrace", rows[i].trace);
        scenario_open(s, file);
        scenario_act(s, "show-idle");
        WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(panel(s))));
        WAIT_FOR(ws_document_idle(s->document, TRUE) && ws_idle_panel_n_causes(panel(s)));
        const WsIdle *idle = ws_document_idle(s->document, TRUE);
        WsTable *table = WS_TABLE(scenario_find_type(GTK_WIDGET(panel(s)), "WsTable"));
        WsRow *row = ws_table_shown(table, 0);
        g_autofree char *wanted = g_strdup_printf("%s, ", rows[i].cause);
        g_test_message("%s: %s %s %s", rows[i].trace, ws_row_get_text(row, 0),
                       ws_row_get_text(row, 1), ws_row_get_text(row, 3));
        g_assert_true(g_str_has_prefix(ws_row_get_text(row, 0), wanted));
        g_assert_cmpint(g_str_has_suffix(ws_row_get_text(row, 0), "all agents at once"), ==,
                        rows[i].together);
        g_assert_cmpstr(ws_row_get_text(row, 1), ==, rows[i].reason);
        /* Where ends were not seen a share is that at least, and none is "not seen". */
        const gboolean open = idle->most[WS_UNIT_TENSOR] - idle->idle[WS_UNIT_TENSOR] >= 0.0005;
        guint none = 0;
        for (guint r = 0; r < ws_table_n_shown(table); r++) {
            const char *share = ws_row_get_text(ws_table_shown(table, r), 3);
            g_assert_cmpint(g_str_has_prefix(share, "\xe2\x89\xa5 ") || !strcmp(share, "not seen"),
                            ==, open);
            none += !strcmp(share, "not seen");
        }
        g_test_message("%u not seen", none);
    }
}

static void add(void)
{
    scenario_add_empty("idle/shipped", shipped);
    scenario_add("idle/while-dragged", while_dragged);
    scenario_add("idle/pinned", pinned);
    scenario_add("idle/text-200", large_text);
    scenario_add("idle/by-pointer", by_pointer);
    scenario_add("idle/by-keys", by_keys);
    scenario_add_empty("idle/round-again", round_again);
    scenario_add("idle/causes", causes);
    scenario_add("idle/matrix", matrix);
    scenario_add("idle/best-edit", best_edit);
    scenario_add_empty("idle/claimed", claimed);
    scenario_add_empty("idle/claims-known", claims_known);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
