/* I37: two designs beside each other: the list, the marks and ghosts on the score, from one to the
 * other, by keyboard and by pointer. */
#include "scenario/hands.h"

#include "ui/document/document_compare.h"
#include "ui/panels/compare_panel.h"
#include "ui/timeline/marks/compare_score.h"

#include <math.h>
#include <string.h>

#define LOADS "groups/load/body/0/do/0/do/"

static WsTimeline *timeline(Scenario *s)
{
    return WS_TIMELINE(s->timeline);
}

static const WsComparison *compared(Scenario *s)
{
    WAIT_FOR(ws_document_comparison(s->document) &&
             ws_document_comparison(s->document)->b == ws_document_design(s->document));
    return ws_document_comparison(s->document);
}

static void edit(Scenario *s, gboolean (*how)(WsDraft *, const guint64 *, guint), const char *node)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    const guint64 id = ws_document_node(s->document, node);
    g_assert_true(how(draft, &id, 1));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
}

static gboolean earlier(WsDraft *d, const guint64 *node, guint n)
{
    return ws_edit_nudge(d, node, n, -1);
}

static gboolean mute(WsDraft *d, const guint64 *node, guint n)
{
    return ws_edit_mute(d, node, n);
}

static GtkWidget *panel(Scenario *s)
{
    return scenario_find_type(GTK_WIDGET(s->window), "WsComparePanel");
}

/* An edit, then what it changed against the saved design: all by keys. */
static void by_keys(Scenario *s)
{
    g_autofree char *first = hands_text(s);
    edit(s, earlier, LOADS "2");
    scenario_key("ctrl+alt+d");
    const WsComparison *c = compared(s);
    g_assert_cmpuint(c->compare->row->len, ==, 1);
    g_assert_cmpint(((WsCompareRow *)c->compare->row->pdata[0])->sign, ==, '>');
    WAIT_FOR(panel(s) && ws_compare_panel_n_rows(WS_COMPARE_PANEL(panel(s))) == 1);
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "A: the saved design"));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "1 moved"));
    g_assert_null(scenario_find_text(GTK_WIDGET(s->window), "0 added"));
    g_assert_nonnull(scenario_find_text(panel(s), "load "));
    WAIT_FOR(ws_compare_n_marks(timeline(s), '>', FALSE) > 1);
    g_assert_cmpuint(ws_compare_n_marks(timeline(s), '-', FALSE), ==, 0);
    g_assert_cmpuint(ws_compare_n_marks(timeline(s), '-', TRUE), ==, 0);
    hands_shot(s, "compare-moved");
    /* From the list to the score. */
    scenario_key("F4");
    WAIT_FOR(ws_document_focus(s->document)->step != NULL);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==,
                    ((WsCompareRow *)c->compare->row->pdata[0])->path_b);
    g_assert_cmpint(ws_document_row(s->document), ==, 0);
    /* The other one, and back. */
    scenario_key("ctrl+shift+j");
    WAIT_FOR(ws_document_shows_a(s->document) &&
             ws_document_design(s->document) == ws_document_comparison(s->document)->a);
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "A: the saved design (shown)"));
    WAIT_FOR(ws_compare_n_marks(timeline(s), '>', FALSE) > 0);
    scenario_key("ctrl+shift+j");
    WAIT_FOR(!ws_document_shows_a(s->document));
    /* Back to what was saved: nothing differs any more. */
    scenario_key("ctrl+z");
    hands_settle(s);
    WAIT_FOR(ws_document_comparison(s->document) &&
             ws_document_comparison(s->document)->compare->row->len == 0);
    WAIT_FOR(ws_compare_n_marks(timeline(s), '>', FALSE) == 0);
    g_assert_nonnull(scenario_find_text(panel(s), "The two designs are the same."));
    g_autofree char *last = hands_text(s);
    g_assert_cmpstr(first, ==, last);
    scenario_act(s, "compare-stop");
    WAIT_FOR(!scenario_find_text(GTK_WIDGET(s->window), "A: the saved design"));
    g_assert_false(scenario_enabled(s, "compare-flip"));
}

/* What was removed is drawn where it was, its edges too; what was added as added. */
static void removed_and_added(Scenario *s)
{
    g_autoptr(WsDraft) draft = ws_draft_new(ws_document_latest(s->document));
    const guint64 empty = ws_document_node(s->document, "barriers/empty");
    g_assert_true(ws_edit_remove(draft, &empty, 1));
    g_assert_true(ws_document_commit(s->document, draft, NULL));
    hands_settle(s);
    g_assert_true(ws_document_compare_state(s->document, 0));
    const WsComparison *c = compared(s);
    g_assert_cmpuint(c->compare->row->len, >=, 3); /* the barrier, its wait, its arrival */
    WAIT_FOR(ws_compare_n_marks(timeline(s), '-', FALSE) > 0);
    g_assert_cmpuint(ws_compare_n_marks(timeline(s), '-', TRUE), >, 0);
    g_assert_cmpuint(ws_compare_n_marks(timeline(s), '+', TRUE), ==, 0);
    hands_shot(s, "compare-removed");
    /* The other way round. */
    scenario_act(s, "undo");
    hands_settle(s);
    g_assert_true(ws_document_compare_state(s->document, 1));
    compared(s);
    WAIT_FOR(ws_compare_n_marks(timeline(s), '+', FALSE) > 0);
    g_assert_cmpuint(ws_compare_n_marks(timeline(s), '+', TRUE), >, 0);
    g_assert_cmpuint(ws_compare_n_marks(timeline(s), '-', FALSE), ==, 0);
}

/* With the pointer: the menu of what to compare with, then a row. */
static void by_pointer(Scenario *s)
{
    edit(s, mute, LOADS "2");
    scenario_act(s, "show-differences");
    WAIT_FOR(panel(s) && gtk_widget_get_mapped(panel(s)));
    GtkWidget *with = scenario_find_text(panel(s), "Compare With");
    scenario_click_widget(with, NULL);
    WAIT_FOR(scenario_find_text(panel(s), "As It Was Opened"));
    scenario_settle(panel(s));
    scenario_click_widget(scenario_find_text(panel(s), "As It Was Opened"), NULL);
    WAIT_FOR(ws_document_comparing(s->document));
    compared(s);
    WAIT_FOR(scenario_find_text(panel(s), "load B"));
    scenario_settle(panel(s));
    scenario_click_widget(scenario_find_text(panel(s), "load B"), NULL);
    WAIT_FOR(ws_document_row(s->document) == 0);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, LOADS "2");
    scenario_click_widget(scenario_find_text(GTK_WIDGET(s->window), "Show A"), NULL);
    WAIT_FOR(ws_document_shows_a(s->document));
    scenario_click_widget(scenario_find_text(GTK_WIDGET(s->window), "Stop"), NULL);
    WAIT_FOR(!ws_document_comparing(s->document));
    g_assert_false(ws_document_trying(s->document));
}

/* Another file: any two designs; what cannot be read says why, and nothing else changes. */
static void other_file(Scenario *s)
{
    g_autoptr(GFile) other = scenario_file("projects/gemm-bf16-pingpong/design.wstave");
    g_autoptr(GFile) broken = scenario_file("meson.build");
    g_autoptr(GFile) none = scenario_file("no-such.wstave");
    g_assert_true(ws_window_compare_file(s->window, other));
    const WsComparison *c = compared(s);
    g_assert_cmpuint(c->compare->row->len, >, 2);
    g_assert_cmpint(c->cycles_a, >, 0);
    g_assert_cmpint(c->cycles_b, >, 0);
    scenario_settle(s->timeline);
    g_assert_false(ws_window_compare_file(s->window, broken));
    g_assert_false(ws_window_compare_file(s->window, none));
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "Cannot compare with"));
    g_assert_true(ws_document_comparison(s->document) == c);
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "no-such.wstave"));
    hands_shot(s, "compare-files");
    /* Zooming, panning and the axis Order keep drawing. */
    ws_timeline_zoom_at(timeline(s), 300, 3);
    scenario_settle(s->timeline);
    ws_timeline_scroll_by(timeline(s), 2000, 0);
    scenario_settle(s->timeline);
    scenario_act(s, "toggle-axis");
    scenario_settle(s->timeline);
    scenario_open(s, "projects/gemm-fp16/design.wstave");
    scenario_settle(s->timeline);
    compared(s);
}

static void add(void)
{
    scenario_add("I37/keys", by_keys);
    scenario_add("I37/removed-and-added", removed_and_added);
    scenario_add("I37/pointer", by_pointer);
    scenario_add("I37/other-file", other_file);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
