/* What to do next: edits ranked by what they gain, each one click from being made; the exposed
 * edges; the critical path on the score. */
#include "scenario/hands.h"

#include "ui/document/document_next.h"
#include "ui/panels/next_panel.h"
#include "ui/timeline/marks/path_score.h"

#include <math.h>
#include <string.h>

static WsTimeline *timeline(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static WsNextPanel *panel(Scenario *s)
{
    return WS_NEXT_PANEL(scenario_find_type(GTK_WIDGET(s->window), "WsNextPanel"));
}

/* A GEMM whose ring is too shallow. */
static void weaken(Scenario *s)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    const guint64 a = ws_document_node(s->document, "buffers/a");
    g_assert_true(ws_edit_depth(draft, a, 2));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
}

/* From the panel to a better design and back: by keys and by a click. */
static void best_edit(Scenario *s)
{
    weaken(s);
    scenario_key("alt+8");
    WAIT_FOR(panel(s) && gtk_widget_get_mapped(GTK_WIDGET(panel(s))));
    WAIT_FOR(ws_document_next_has_edits(s->document));
    const WsNext *next = ws_document_next(s->document);
    g_assert_cmpuint(next->edit->len, >, 0);
    g_assert_cmpuint(ws_next_panel_n_edits(panel(s)), ==, next->edit->len);
    const WsNextEdit *best = next->edit->pdata[0];
    const gint64 before = ws_document_clock(s->document)->cycles, after = best->cycles_after;
    g_autofree char *title = g_strdup(best->title);
    g_autofree char *text = hands_text(s);
    g_assert_cmpfloat(best->gain, >, 0);
    g_assert_cmpint(best->cycles_before, ==, before);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(panel(s)), "were timed") &&
             scenario_find_text(GTK_WIDGET(panel(s)), title));
    scenario_settle(GTK_WIDGET(panel(s)));
    hands_shot(s, "next-edit");
    scenario_settle(GTK_WIDGET(panel(s))); /* rows have their places */
    scenario_click_widget(scenario_find_text(GTK_WIDGET(panel(s)), title), NULL);
    WAIT_FOR(gtk_widget_is_sensitive(scenario_find_text(GTK_WIDGET(panel(s)), "Make This Edit")));
    /* First only tried. */
    scenario_click_widget(scenario_find_text(GTK_WIDGET(panel(s)), "Preview"), NULL);
    WAIT_FOR(ws_document_trying(s->document) && ws_document_clock(s->document) &&
             ws_document_clock(s->document)->cycles == after);
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(text, ==, same);
    scenario_click_widget(scenario_find_text(GTK_WIDGET(panel(s)), "Preview"), NULL);
    WAIT_FOR(!ws_document_trying(s->document));
    /* Then made: one step with its name, and the score that was foretold. */
    scenario_click_widget(scenario_find_text(GTK_WIDGET(panel(s)), "Make This Edit"), NULL);
    WAIT_FOR(!g_strcmp0(ws_history_undo_name(ws_document_history(s->document)), title));
    hands_settle(s);
    g_assert_cmpint(ws_document_clock(s->document)->cycles, ==, after);
    scenario_key("ctrl+z");
    hands_settle(s);
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(text, ==, back);
}

/* The critical path lies on the score, goes with it, and goes away. */
static void critical_path(Scenario *s)
{
    g_assert_cmpuint(ws_path_n_drawn(timeline(s)), ==, 0);
    scenario_act(s, "focus-score");
    scenario_key("ctrl+k");
    WAIT_FOR(ws_document_next(s->document) && ws_path_n_drawn(timeline(s)) > 3);
    const GArray *path = ws_document_next(s->document)->path;
    for (guint i = 1; i < path->len; i++)
        g_assert_cmpint(g_array_index(path, WsNextPiece, i).from, ==,
                        g_array_index(path, WsNextPiece, i - 1).to);
    scenario_settle(s->timeline);
    hands_shot(s, "critical-path");
    const double middle = ws_timeline_length(timeline(s)) / 2;
    ws_timeline_set_view(timeline(s), middle, middle + 6000);
    scenario_settle(s->timeline);
    g_assert_cmpuint(ws_path_n_drawn(timeline(s)), >, 3);
    weaken(s); /* another design has another path */
    WAIT_FOR(ws_document_next(s->document) && ws_path_n_drawn(timeline(s)) > 3);
    scenario_key("ctrl+k");
    WAIT_FOR(ws_path_n_drawn(timeline(s)) == 0);
}

/* Of a measured run the path lies on the measured bars. */
static void measured_path(Scenario *s)
{
    scenario_measure(s);
    scenario_act(s, "toggle-path");
    WAIT_FOR(ws_document_next(s->document) && ws_path_n_drawn(timeline(s)) > 3);
    g_assert_nonnull(ws_document_measured(s->document));
    scenario_act(s, "show-next");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(panel(s)), "those of the measured run"));
    hands_shot(s, "critical-path-measured");
    /* From an exposed edge to the step. */
    const WsNext *next = ws_document_next(s->document);
    g_assert_cmpuint(next->edge->len, >, 0);
}

static void add(void)
{
    scenario_add("next/best-edit", best_edit);
    scenario_add("next/critical-path", critical_path);
    scenario_add("next/measured-path", measured_path);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
