/* Composing by pointer and keyboard: undo, saving, the structure, commands on the selection. */
#include "scenario/hands.h"
#include "scenario/seen.h"

#include "ui/compose/edit_commands.h"
#include "ui/compose/recovery.h"
#include "ui/document/journal.h"

#include <string.h>

#define LOADS "groups/load/body/0/do/0/do/"

static GtkWidget *button(GtkWidget *root, const char *label)
{
    GtkWidget *text = scenario_find_text(root, label);
    return text ? gtk_widget_get_ancestor(text, GTK_TYPE_BUTTON) : NULL;
}

/* A click after which the widget is gone. */
static void click_away(GtkWidget *widget)
{
    scenario_press(widget, gtk_widget_get_width(widget) / 2.0, gtk_widget_get_height(widget) / 2.0,
                   "click 1");
}

/* --- I28, I29
 * -------------------------------------------------------------------------------------
 */

static void undo_redo(Scenario *s)
{
    g_autofree char *first = hands_text(s);
    g_assert_false(scenario_enabled(s, "undo"));
    hands_select(s, LOADS "2", FALSE);
    scenario_act(s, "focus-score");
    scenario_key("alt+Up");
    hands_settle(s);
    g_autofree char *moved = hands_text(s);
    g_assert_cmpstr(moved, !=, first);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, LOADS "1");
    g_assert_cmpstr(ws_document_code(s->document, WS_CODE_DESIGN), ==, moved);
    g_assert_nonnull(strstr(gtk_window_get_title(GTK_WINDOW(s->window)), "•"));
    g_assert_cmpstr(ws_history_undo_name(ws_document_history(s->document)), ==, "Move load B");
    scenario_key("ctrl+z");
    hands_settle(s);
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(back, ==, first);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, LOADS "2");
    g_assert_null(strstr(gtk_window_get_title(GTK_WINDOW(s->window)), "•"));
    scenario_key("ctrl+shift+z");
    hands_settle(s);
    g_autofree char *again = hands_text(s);
    g_assert_cmpstr(again, ==, moved);
    /* Two nudges in a row are one step; on a machine so slow that a second lies between them, two.
     */
    const gint64 began = g_get_monotonic_time();
    scenario_xdo("key alt+Up alt+Down");
    hands_settle(s);
    const gboolean slow = g_get_monotonic_time() - began >= WS_HISTORY_COALESCE;
    scenario_key("ctrl+z");
    hands_settle(s);
    g_autofree char *undone = hands_text(s);
    g_assert_true(slow || !strcmp(undone, first) || !strcmp(undone, moved));
}

/* The view stays where it is while the design is edited. */
static void view_stays(Scenario *s)
{
    WsTimeline *t = WS_TIMELINE(s->timeline);
    double from, to, from2, to2;
    ws_timeline_set_view(t, 130000, 138000);
    scenario_settle(s->timeline);
    ws_timeline_get_view(t, &from, &to);
    hands_select(s, "groups/mma/body/1", FALSE);
    ws_timeline_set_view(t, 130000, 138000);
    scenario_settle(s->timeline);
    ws_timeline_get_view(t, &from, &to);
    scenario_act(s, "mute");
    hands_settle(s);
    ws_timeline_get_view(t, &from2, &to2);
    g_assert_cmpfloat_with_epsilon(from, from2, 1);
    g_assert_cmpfloat_with_epsilon(to, to2, 1);
}

/* --- I44, I46: saving
 * ----------------------------------------------------------------------------- */

static GFile *temporary(const char *name)
{
    g_autofree char *folder = g_dir_make_tmp("compose-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_new_for_path(path);
}

static void edit_something(Scenario *s)
{
    hands_select(s, LOADS "2", FALSE);
    scenario_act(s, "earlier");
    hands_settle(s);
}

static void save(Scenario *s)
{
    g_autoptr(GFile) file = temporary("kept.wstave");
    g_autofree char *on_disk = NULL;
    edit_something(s);
    g_assert_true(ws_document_save(s->document, file, NULL));
    edit_something(s);
    scenario_key("ctrl+s");
    WAIT_FOR(!ws_document_dirty(s->document));
    g_assert_true(g_file_load_contents(file, NULL, &on_disk, NULL, NULL, NULL));
    g_autofree char *text = hands_text(s);
    g_assert_cmpstr(on_disk, ==, text);
    /* What this program wrote is not reported as another one's change. */
    for (gint64 since = g_get_monotonic_time(); g_get_monotonic_time() - since < 700000;)
        scenario_turn();
    g_autofree char *all = scenario_text(GTK_WIDGET(s->window));
    g_assert_null(strstr(all, "Another program"));
}

static void unsaved_question(Scenario *s)
{
    edit_something(s);
    gtk_window_close(GTK_WINDOW(s->window));
    WAIT_FOR(scenario_toplevel("GtkMessageDialog"));
    GtkWindow *dialog = scenario_toplevel("GtkMessageDialog");
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(dialog)));
    g_autofree char *text = scenario_text(GTK_WIDGET(dialog));
    g_assert_nonnull(strstr(text, "design.wstave"));
    g_assert_nonnull(strstr(text, "Discard"));
    g_assert_nonnull(strstr(text, "Save"));
    scenario_focus(GTK_WIDGET(dialog));
    scenario_key("Escape");
    WAIT_FOR(!scenario_toplevel("GtkMessageDialog"));
    g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(s->window)));
    g_assert_true(ws_document_dirty(s->document));
    scenario_focus(GTK_WIDGET(s->window));
    scenario_key("ctrl+w");
    WAIT_FOR((dialog = scenario_toplevel("GtkMessageDialog")) &&
             gtk_widget_get_mapped(GTK_WIDGET(dialog)));
    g_object_add_weak_pointer(G_OBJECT(s->window), (gpointer *)&s->window);
    g_assert_nonnull(button(GTK_WIDGET(dialog), "Discard"));
    scenario_focus(GTK_WIDGET(dialog));
    scenario_key("alt+d");
    WAIT_FOR(!s->window);
}

/* --- I41: what a crash left
 * ----------------------------------------------------------------------- */

static void recovery(Scenario *s)
{
    edit_something(s);
    g_autofree char *wanted = hands_text(s);
    seen_document_crash(s->document);
    g_autoptr(WsDocument) other = ws_document_new();
    WsWindow *w = ws_window_new(scenario_application());
    gtk_window_present(GTK_WINDOW(w));
    GtkWindow *dialog = ws_recovery_offer(w);
    g_assert_nonnull(dialog);
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(dialog)));
    scenario_settle(GTK_WIDGET(dialog));
    g_autofree char *text = scenario_text(GTK_WIDGET(dialog));
    g_assert_nonnull(strstr(text, "GEMM bf16"));
    g_assert_nonnull(strstr(text, "1 edit"));
    click_away(button(GTK_WIDGET(dialog), "Recover"));
    WAIT_FOR(ws_document_design(ws_window_document(w)));
    g_autofree char *now = ws_design_print(ws_document_latest(ws_window_document(w)));
    g_assert_cmpstr(now, ==, wanted);
    g_assert_true(ws_document_dirty(ws_window_document(w)));
    /* The journal of the recovered one is its own; the old one is gone. */
    g_autoptr(GPtrArray) lost = ws_journal_lost();
    g_assert_cmpuint(lost->len, ==, 0);
}

/* --- structure
 * ------------------------------------------------------------------------------------ */

static void structure_by_keys(Scenario *s)
{
    WsStructure *tree = hands_structure(s);
    g_autofree char *first = hands_text(s);
    scenario_click_widget(ws_structure_row_widget(tree, "load B", 0), NULL);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, LOADS "2");
    scenario_key("Delete");
    hands_settle(s);
    g_autofree char *deleted = hands_text(s);
    g_assert_null(strstr(deleted, "\"load\": \"B\""));
    scenario_key("ctrl+z");
    hands_settle(s);
    scenario_click_widget(ws_structure_row_widget(tree, "load B", 0), NULL);
    scenario_key("ctrl+d");
    hands_settle(s);
    g_assert_nonnull(ws_structure_row_widget(tree, "load B", 1));
    scenario_key("ctrl+z");
    hands_settle(s);
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(back, ==, first);
}

/* I22: the clipboard holds a design's text, which goes into another window. */
static void copy_paste(Scenario *s)
{
    WsStructure *tree = hands_structure(s);
    scenario_click_widget(ws_structure_row_widget(tree, "group load", 0), NULL);
    scenario_key("ctrl+c");
    WsWindow *w = ws_window_new(scenario_application());
    g_autoptr(WsDesign) empty = ws_edit_empty("Other");
    gtk_window_present(GTK_WINDOW(w));
    ws_document_take_design(ws_window_document(w), empty, NULL, FALSE);
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(w)));
    scenario_focus(GTK_WIDGET(w));
    g_action_group_activate_action(G_ACTION_GROUP(w), "focus-structure", NULL);
    scenario_settle(GTK_WIDGET(w));
    scenario_key("ctrl+v");
    WAIT_FOR(ws_document_dirty(ws_window_document(w)));
    WAIT_FOR(!ws_document_pending(ws_window_document(w)));
    WsDesign *now = ws_document_latest(ws_window_document(w));
    g_assert_nonnull(ws_design_find(now, "groups/load"));
    g_assert_nonnull(ws_design_find(now, "buffers/a"));
    g_assert_nonnull(ws_design_find(now, "barriers/empty"));
    g_assert_cmpuint(ws_document_left_out(ws_window_document(w)), ==, 0);
}

/* I16: a row of the palette dragged between two rows of the structure. */
static void drag_from_palette(Scenario *s)
{
    WsStructure *tree = hands_structure(s);
    scenario_act(s, "focus-structure");
    GtkWidget *row = ws_structure_row_widget(tree, "load B", 0);
    GtkWidget *panel = scenario_find_text(GTK_WIDGET(s->window), "names a uniform value");
    g_assert_nonnull(row);
    g_assert_nonnull(panel);
    scenario_drag_onto(panel, 10, 5, row, 40, gtk_widget_get_height(row) - 2);
    WAIT_FOR(ws_document_dirty(s->document));
    hands_settle(s);
    const WsNode *node = ws_design_find(ws_document_latest(s->document), LOADS "3");
    g_assert_nonnull(node);
    g_assert_cmpint(node->kind, ==, WS_STEP_LET);
}

/* The same onto the score: the line says where it goes. */
static void drag_onto_score(Scenario *s)
{
    hands_structure(s);
    WsTimeline *t = WS_TIMELINE(s->timeline);
    GtkWidget *row = scenario_find_text(GTK_WIDGET(s->window), "names a uniform value");
    double ox, oy, x, y, w, h;
    guint at = 0;
    scenario_settle(s->timeline);
    seen_timeline_origin(t, &ox, &oy);
    for (guint i = 0; i < ws_timeline_n_items(t); i++)
        if (seen_timeline_item_place(t, i, &x, &y, &w, &h) && w > 40 && x > 40 && y < 60) {
            at = i;
            break;
        }
    g_assert_true(seen_timeline_item_place(t, at, &x, &y, &w, &h));
    scenario_drag_onto(row, 10, 5, s->timeline, ox + x + w * 0.8, oy + y + h / 2);
    WAIT_FOR(ws_document_dirty(s->document));
    hands_settle(s);
    const char *now = ws_document_focus(s->document)->step;
    g_assert_cmpint(ws_design_find(ws_document_latest(s->document), now)->kind, ==, WS_STEP_LET);
    g_assert_true(g_str_has_prefix(now, "groups/load/body/0/do/0/do/"));
}

/* Onto a score that has nothing yet: it goes into the group there is. */
static void drag_onto_nothing(Scenario *s)
{
    hands_begin_empty(s);
    GtkWidget *text = scenario_find_text(s->timeline, "Nothing happens in this design yet");
    GtkWidget *row = scenario_find_text(GTK_WIDGET(s->window), "names a uniform value");
    g_assert_nonnull(text);
    g_assert_nonnull(row);
    hands_shot(s, "drop-onto-nothing");
    g_assert_nonnull(scenario_find_text(s->timeline, "goes into reference"));
    const guint states = hands_states(s);
    scenario_drag_onto(row, 10, 5, text, gtk_widget_get_width(text) / 3, 60);
    WAIT_FOR(hands_states(s) == states + 1);
    hands_settle(s);
    const WsNode *step = ws_design_find(ws_document_latest(s->document), "groups/warps/body/0");
    g_assert_nonnull(step);
    g_assert_cmpint(step->kind, ==, WS_STEP_LET);
}

/* Insert: a step by its name. */
static void add_by_name(Scenario *s)
{
    hands_select(s, LOADS "2", FALSE);
    scenario_act(s, "focus-score");
    scenario_key("Insert");
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "GEMM"));
    GtkWindow *dialog = NULL;
    GListModel *all = gtk_window_get_toplevels();
    WAIT_FOR(g_list_model_get_n_items(all) == 2);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(GtkWindow) each = g_list_model_get_item(all, i);
        if (each != GTK_WINDOW(s->window))
            dialog = each;
    }
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(dialog)));
    scenario_focus(GTK_WIDGET(dialog));
    scenario_type("mark");
    scenario_key("Return");
    WAIT_FOR(ws_document_dirty(s->document));
    hands_settle(s);
    g_assert_cmpint(ws_design_find(ws_document_latest(s->document), LOADS "3")->kind, ==,
                    WS_STEP_MARK);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, LOADS "3");
}

static void add(void)
{
    scenario_add("I28/undo-redo", undo_redo);
    scenario_add("I28/view-stays", view_stays);
    scenario_add("I44/save", save);
    scenario_add("I46/unsaved", unsaved_question);
    scenario_add("I41/recovery", recovery);
    scenario_add("structure/keys", structure_by_keys);
    scenario_add("I22/copy-paste", copy_paste);
    scenario_add("I16/drag-from-palette", drag_from_palette);
    scenario_add("I16/drag-onto-the-score", drag_onto_score);
    scenario_add("I16/add-by-name", add_by_name);
    scenario_add_empty("I16/drag-onto-nothing", drag_onto_nothing);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
