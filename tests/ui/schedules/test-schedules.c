/* "Find a better schedule": a search begun, stopped and read by pointer; what it lists is proved,
 * is taken with one click and undone with one key; edits and closing do it no harm. */
#include "../scenario/hands.h"

#include "advise/candidate.h"
#include "check/check.h"
#include "launch/history.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "ui/document/document_compare.h"
#include "ui/document/document_machine.h"
#include "ui/parts/table.h"
#include "ui/schedules/schedules_panel.h"
#include "ui/timeline/marks/compare_score.h"

#include <glib/gstdio.h>
#include <string.h>

static GtkWidget *panel(Scenario *s)
{
    return ws_window_part(s->window, WS_PART_SCHEDULES);
}

static WsSchedulesPlot *plot(Scenario *s)
{
    return WS_SCHEDULES_PLOT(scenario_find_type(panel(s), "WsSchedulesPlot"));
}

static WsTable *table(Scenario *s)
{
    return WS_TABLE(scenario_find_type(panel(s), "WsTable"));
}

static const WsSearchState *state(Scenario *s)
{
    return ws_document_search_state(s->document);
}

/* Whoever asks ptxas and the rehearsal gets this answer (an exit code) from a tool that does
 * nothing; "" is the tool itself. */
static void answer(const char *code)
{
    g_autofree char *file = g_build_filename(g_get_user_runtime_dir(), "judge.sh", NULL);
    g_autofree char *text = g_strdup_printf("#!/bin/sh\nexit %s\n", code);
    if (!*code) {
        g_unsetenv("WARPSTAVE");
        return;
    }
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    g_assert_cmpint(g_chmod(file, 0700), ==, 0);
    g_setenv("WARPSTAVE", file, TRUE);
}

static gboolean is_over(Scenario *s)
{
    return !state(s)->running && !ws_document_schedules_judging(s->document);
}

/* A GEMM whose ring is too shallow. */
static void weaken(Scenario *s, gint64 depth)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    g_assert_true(ws_edit_depth(draft, ws_document_node(s->document, "buffers/a"), depth));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
}

static void click_text(Scenario *s, const char *text)
{
    scenario_click_widget(scenario_find_text(panel(s), text), NULL);
}

/* By keys to the panel, by pointer from there on. */
static void begin(Scenario *s, const char *seconds)
{
    scenario_key("ctrl+alt+s");
    WAIT_FOR(gtk_widget_get_mapped(panel(s)));
    scenario_settle(panel(s));
    GtkWidget *budget = scenario_find_type(panel(s), "GtkSpinButton");
    scenario_click_widget(scenario_find_type(budget, "GtkText"), NULL);
    scenario_key("ctrl+a");
    scenario_type(seconds);
    click_text(s, "Search");
    WAIT_FOR(state(s)->running);
}

static gint64 front_at(Scenario *s, guint row)
{
    return ws_row_get_index(ws_table_shown(table(s), row));
}

/* By the check alone, which the search did not call with these options. */
static void assert_proved(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
    g_assert_cmpint(verdict->kind, ==, WS_VERDICT_PROVED);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
}

/* One edit of the design is refuted and would be the fastest by far: a list that took what is
 * not proved would begin with it. */
static void assert_tempting(Scenario *s, double than)
{
    const WsTrialOf of = { ws_document_program(s->document), ws_document_launch(s->document),
                           ws_document_machine(s->document) };
    g_autoptr(GPtrArray) list = ws_candidates_deep(ws_document_latest(s->document));
    guint tempting = 0;
    for (guint i = 0; i < list->len && !tempting; i++) {
        const WsCandidate *c = list->pdata[i];
        gboolean stuck;
        g_autoptr(WsClockResult) r = NULL;
        g_autoptr(WsProgram) p = ws_trial_play(&of, c->design, 3, &r, &stuck);
        tempting += p && (double)r->cycles < than && ws_trial_judge(p, NULL) == WS_VERDICT_REFUTED;
    }
    g_assert_cmpuint(tempting, >, 0);
}

/* By its point; what lies on the same place is picked by turns. */
static void click_point(Scenario *s, guint row)
{
    double x, y;
    for (guint turn = 0; turn < ws_table_n_shown(table(s)); turn++) {
        g_assert_true(ws_schedules_plot_place(plot(s), (guint)front_at(s, row), &x, &y));
        scenario_click(GTK_WIDGET(plot(s)), x, y, 1, NULL);
        WAIT_FOR(ws_table_selected(table(s)) >= 0);
        if (ws_table_selected(table(s)) == (gint)row)
            return;
    }
    g_assert_cmpint(ws_table_selected(table(s)), ==, row);
}

static void look_and_take(Scenario *s, const char *before)
{
    const GPtrArray *all = ws_document_schedules(s->document);
    const gint64 first = front_at(s, 0);
    const WsScheduleFound *best = all->pdata[first];
    g_autofree char *text = ws_design_print(best->design);
    const gint64 cycles = best->cycles;
    /* By its point: the row is chosen, and the ghosts lie on the score. */
    click_point(s, 0);
    WAIT_FOR(ws_document_comparison(s->document) &&
             ws_document_comparison(s->document)->a == best->design);
    scenario_settle(s->timeline);
    WAIT_FOR(ws_compare_n_marks(hands_timeline(s), 0, FALSE) > 0); /* what moves in time */
    hands_shot(s, "schedules");
    const guint states = hands_states(s);
    click_text(s, "Take");
    WAIT_FOR(hands_states(s) == states + 1);
    hands_settle(s);
    g_autofree char *taken = hands_text(s);
    g_assert_cmpstr(taken, ==, text);
    g_assert_cmpint(ws_document_clock(s->document)->cycles, ==, cycles);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    g_assert_false(ws_document_comparing(s->document));
    scenario_act(s, "focus-score");
    scenario_key("ctrl+z");
    hands_settle(s);
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(back, ==, before);
}

static void found_and_taken(Scenario *s)
{
    answer("0");
    weaken(s, 2);
    g_autofree char *before = hands_text(s);
    begin(s, "1");
    WAIT_FOR(is_over(s));
    WAIT_FOR(ws_table_n_shown(table(s)) > 0);
    scenario_settle(panel(s));
    const GPtrArray *all = ws_document_schedules(s->document);
    g_autoptr(GArray) front = ws_document_schedule_front(s->document);
    g_assert_cmpuint(front->len, ==, ws_table_n_shown(table(s)));
    g_assert_cmpuint(front->len, ==, ws_schedules_plot_n(plot(s), WS_POINT_FRONT));
    g_assert_cmpuint(1, ==, ws_schedules_plot_n(plot(s), WS_POINT_START));
    const WsScheduleFound *start = all->pdata[0];
    g_assert_true(start->design == ws_document_latest(s->document));
    g_assert_cmpint(start->cycles, ==, ws_document_clock(s->document)->cycles);
    assert_tempting(s, 0.8 * (double)start->cycles);
    for (guint i = 0; i < all->len; i++)
        assert_proved(((const WsScheduleFound *)all->pdata[i])->design);
    /* Every row says by what, and the changes of its edits make up the whole. */
    for (guint k = 0; k < front->len; k++) {
        const WsScheduleFound *f = all->pdata[g_array_index(front, guint, k)];
        g_assert_cmpuint(f->words->len, >, 0);
        g_assert_cmpint(f->judged, ==, WS_JUDGED_SAME);
        g_assert_cmpuint(f->words->len, ==, f->after->len);
        g_assert_cmpint(g_array_index(f->after, gint64, f->after->len - 1), ==, f->cycles);
    }
    g_assert_nonnull(scenario_find_text(panel(s), "Ring of a: "));
    look_and_take(s, before);
    /* What was found is of this design again. */
    WAIT_FOR(ws_document_schedules_fit(s->document));
    look_and_take(s, before);
}

/* Edits leave the search alone; what it finds fits again when they are undone. */
static void edited_meanwhile(Scenario *s)
{
    g_autoptr(GError) error = NULL;
    answer("0");
    weaken(s, 2);
    begin(s, "600");
    WAIT_FOR(ws_document_schedules(s->document) && ws_document_schedules(s->document)->len > 1);
    weaken(s, 3);
    g_autofree char *edited = hands_text(s);
    g_assert_true(state(s)->running);
    WAIT_FOR(scenario_find_text(panel(s), "was edited since"));
    click_text(s, "Stop");
    WAIT_FOR(!state(s)->running);
    g_assert_true(state(s)->stopped);
    WAIT_FOR(scenario_find_text(panel(s), "Ring of a: "));
    scenario_settle(panel(s));
    click_text(s, "Ring of a: ");
    WAIT_FOR(ws_table_selected(table(s)) >= 0);
    GtkWidget *button =
        gtk_widget_get_ancestor(scenario_find_text(panel(s), "Take"), GTK_TYPE_BUTTON);
    g_assert_false(gtk_widget_is_sensitive(button));
    g_assert_false(ws_document_take_schedule(s->document, 1, &error));
    g_assert_nonnull(error);
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(same, ==, edited);
    scenario_act(s, "focus-score");
    scenario_key("ctrl+z");
    hands_settle(s);
    WAIT_FOR(gtk_widget_is_sensitive(button));
    /* Another file: nothing of it is left. */
    scenario_open(s, "projects/gemm-bf16/design.wstave");
    g_assert_null(ws_document_schedules(s->document));
    scenario_key("ctrl+alt+s");
    WAIT_FOR(gtk_widget_get_mapped(panel(s)) && !scenario_find_text(panel(s), "Ring of a: "));
}

/* The thread does not keep the document. */
static void closed_meanwhile(Scenario *s)
{
    begin(s, "600");
    gpointer document = s->document;
    g_object_add_weak_pointer(document, &document);
    gtk_window_destroy(GTK_WINDOW(s->window));
    s->window = NULL;
    WAIT_FOR(!document);
}

/* A run of the first schedule, for the sizes of the document, in a history file of its own. */
static gboolean add_run(Scenario *s, const WsScheduleFound *f, double us)
{
    g_autofree char *file = g_build_filename(g_get_user_runtime_dir(), "schedules.db", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    g_setenv("WARPSTAVE_HISTORY", file, TRUE);
    g_autoptr(WsRunStore) h = ws_history_open(NULL, &error);
    if (!h)
        return FALSE;
    g_autoptr(WsCollected) c = ws_collect(WS_SOURCE_ROOT "/tests/launch/h200", findings, &error);
    g_assert_no_error(error);
    WsCollectedCase *run = c->cases->pdata[0];
    ws_program_unref(c->program);
    c->program = ws_elaborate(f->design, NULL, 0, findings);
    g_free(run->label);
    run->label = ws_launch_sizes_text(ws_document_launch(s->document));
    run->cold.median_us = us;
    g_assert_true(ws_history_add(h, c, NULL, NULL, &error));
    return TRUE;
}

static gint by_cycles(gconstpointer pa, gconstpointer pb)
{
    const WsScheduleFound *a = *(WsScheduleFound *const *)pa, *b = *(WsScheduleFound *const *)pb;
    return (a->cycles > b->cycles) - (a->cycles < b->cycles);
}

/* All of them were measured, in the reverse of the order predicted but for the two at its ends;
 * points of it are chosen by pointer. */
static void scatter(Scenario *s)
{
    const GPtrArray *all = ws_document_schedules(s->document);
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++)
        g_ptr_array_add(order, all->pdata[i]);
    g_ptr_array_sort(order, by_cycles);
    const WsScheduleFound *last = NULL;
    guint n = 0;
    for (guint i = 0; i < order->len; i++) {
        const WsScheduleFound *f = order->pdata[i];
        n += !last || f->cycles != last->cycles; /* equal times share a rank */
        g_assert_true(add_run(s, f, 900.0 - 10.0 * n));
        last = f;
    }
    g_assert_cmpuint(n, >, 2);
    scenario_act(s, "show-problems");
    scenario_act(s, "show-schedules");
    WAIT_FOR(scenario_find_text(panel(s), "measured time: \xe2\x88\x92"
                                          "1.00."));
    g_assert_true(!scenario_find_text(panel(s), "by chance") == (all->len >= 10));
    g_autofree char *count = g_strdup_printf("%u were measured for these sizes.", all->len);
    g_assert_nonnull(scenario_find_text(panel(s), count));
    g_assert_cmpuint(ws_schedules_plot_n(plot(s), WS_POINT_START), ==, 1);
    g_assert_cmpuint(ws_schedules_plot_n(plot(s), WS_POINT_FRONT), ==, ws_table_n_shown(table(s)));
    click_point(s, ws_table_n_shown(table(s)) - 1);
}

/* Predicted over measured: what was run stands there, and nothing else. */
static void measured(Scenario *s)
{
    answer("0");
    weaken(s, 2);
    begin(s, "1");
    WAIT_FOR(is_over(s) && ws_table_n_shown(table(s)) > 0);
    const gint64 first = front_at(s, 0);
    GtkWidget *axis = scenario_find_type(panel(s), "GtkDropDown");
    scenario_click_widget(axis, NULL);
    WAIT_FOR(scenario_find_text(axis, "Measured"));
    scenario_click_widget(scenario_find_text(axis, "Measured"), NULL);
    WAIT_FOR(gtk_drop_down_get_selected(GTK_DROP_DOWN(axis)) == 2);
    g_assert_cmpuint(ws_schedules_plot_n(plot(s), WS_POINT_FRONT), ==, 0);
    g_assert_nonnull(scenario_find_text(panel(s), "None of them was measured"));
    if (!add_run(s, ws_document_schedules(s->document)->pdata[first], 300)) {
        g_test_skip("built without SQLite");
        return;
    }
    scenario_act(s, "show-problems");
    scenario_act(s, "show-schedules"); /* read when it is shown */
    WAIT_FOR(ws_schedules_plot_n(plot(s), WS_POINT_FRONT) == 1);
    double x, y;
    g_assert_true(ws_schedules_plot_place(plot(s), (guint)first, &x, &y));
    g_assert_cmpstr(ws_row_get_text(ws_table_shown(table(s), 0), 5), !=, "\xe2\x80\x93");
    g_assert_nonnull(scenario_find_text(panel(s), "1 was measured for these sizes."));
    g_assert_nonnull(scenario_find_text(panel(s), "too few for a rank correlation"));
    scatter(s);
    hands_shot(s, "schedules-measured");
    /* Text at 200 %: the page leaves the window its room. */
    int least;
    g_object_set(gtk_settings_get_default(), "gtk-xft-dpi", 2 * 96 * 1024, NULL);
    gtk_widget_measure(panel(s), GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
    g_object_set(gtk_settings_get_default(), "gtk-xft-dpi", 96 * 1024, NULL);
    g_test_message("%d pixels at 200 %%", least);
    g_assert_cmpint(least, <=, 720);
    g_unsetenv("WARPSTAVE_HISTORY");
}

/* What ptxas or the rehearsal say no to is not listed and not taken; what nobody can rehearse is
 * listed where nothing that computes was moved. */
static void left_out(Scenario *s)
{
    g_autoptr(GError) error = NULL;
    answer("1");
    weaken(s, 2);
    begin(s, "1");
    WAIT_FOR(is_over(s) && ws_document_schedules_out(s->document) > 0);
    const GPtrArray *all = ws_document_schedules(s->document);
    g_assert_cmpuint(ws_table_n_shown(table(s)), ==, 0);
    g_assert_nonnull(scenario_find_text(panel(s), "left out"));
    for (guint i = 1; i < all->len; i++)
        g_assert_cmpint(((const WsScheduleFound *)all->pdata[i])->judged, !=, WS_JUDGED_SAME);
    g_assert_false(ws_document_take_schedule(s->document, 1, &error));
    g_assert_nonnull(error);
    answer("3");
    click_text(s, "Search");
    WAIT_FOR(state(s)->running);
    WAIT_FOR(is_over(s) && ws_table_n_shown(table(s)) > 0);
    all = ws_document_schedules(s->document);
    g_autoptr(GArray) front = ws_document_schedule_front(s->document);
    for (guint k = 0; k < front->len; k++) {
        const WsScheduleFound *f = all->pdata[g_array_index(front, guint, k)];
        g_assert_false(f->reorders);
        g_assert_cmpint(f->judged, ==, WS_JUDGED_UNCOMPARED);
    }
    g_assert_nonnull(scenario_find_text(panel(s), "values not compared"));
    answer("");
}

static void note_judged(WsScheduleJudged judged, gpointer data)
{
    *(gint *)data = (gint)judged;
}

/* The tool itself: a design whose values are right, and one that computes something else. */
static void judged(Scenario *s)
{
    static const char *const file[] = { "projects/gemm-bf16/design.wstave",
                                        "projects/gemm-bf16/design.wstave" };
    answer("");
    for (guint i = 0; i < G_N_ELEMENTS(file); i++) {
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/", file[i], NULL);
        g_autoptr(WsDesign) right = ws_design_load(path, findings);
        g_autoptr(WsEdit) edit =
            ws_edit_new_set(".", "reference", ws_json_text("C[m,n] = 2*sum(k < K, A[m,k]*B[n,k])"));
        g_autoptr(WsDesign) wrong = ws_design_apply(right, edit, findings);
        g_assert_nonnull(wrong);
        gint said = -1;
        ws_schedule_judge_start(i ? wrong : right, TRUE, note_judged, &said);
        WAIT_FOR(said >= 0);
        g_assert_cmpint(said, ==, i ? WS_JUDGED_OUT : WS_JUDGED_SAME);
    }
    /* Abandoned: nobody is told. */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave", findings);
    gint said = -1;
    ws_schedule_judge_abandon(ws_schedule_judge_start(design, TRUE, note_judged, &said));
    scenario_settle(GTK_WIDGET(s->window));
    g_assert_cmpint(said, ==, -1);
}

/* What is not proved is no beginning: it says so and lists nothing. */
static void not_proved(Scenario *s)
{
    scenario_open(s, "tests/designs/broken/02-wrong-count.wstave");
    scenario_settle(GTK_WIDGET(s->window));
    scenario_key("ctrl+alt+s");
    WAIT_FOR(gtk_widget_get_mapped(panel(s)));
    click_text(s, "Search");
    WAIT_FOR(state(s)->why && !state(s)->running);
    WAIT_FOR(scenario_find_text(panel(s), "No search: "));
    g_assert_null(ws_document_schedules(s->document));
    g_assert_true(!table(s) || ws_table_n_shown(table(s)) == 0);
    g_assert_cmpuint(ws_schedules_plot_n(plot(s), WS_POINT_FRONT), ==, 0);
}

static void add(void)
{
    scenario_add("schedules/found-and-taken", found_and_taken);
    scenario_add("schedules/edited-meanwhile", edited_meanwhile);
    scenario_add("schedules/closed-meanwhile", closed_meanwhile);
    scenario_add("schedules/measured", measured);
    scenario_add("schedules/left-out", left_out);
    scenario_add("schedules/judged", judged);
    scenario_add("schedules/not-proved", not_proved);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
