/* Items of composing that have no longer scenario of their own: by keys wherever keys are named. */
#include "model/finding.h"
#include "model/findings.h"
#include "program/parts/buffer.h"
#include "program/program.h"
#include "scenario/hands.h"
#include "scenario/seen.h"

#include "ui/compose/exports.h"
#include "ui/gesture/gesture.h"
#include "ui/inspector/inspector_fields.h"
#include "ui/window/window_private.h"

#include <glib/gstdio.h>
#include <string.h>

#define LOADS "groups/load/body/0/do/0/do/"
#define MMAS  "groups/mma/body/0/do/0/do/"

static const WsNode *node(Scenario *s, const char *path)
{
    return ws_design_find(ws_document_latest(s->document), path);
}

static const char *undo_name(Scenario *s)
{
    return ws_history_undo_name(ws_document_history(s->document));
}

/* Selected, and the score has the keyboard. */
static void on_score(Scenario *s, const char *step)
{
    hands_select(s, step, FALSE);
    scenario_key("F6");
    hands_settle(s);
}

static void press(Scenario *s, const char *keys)
{
    scenario_key(keys);
    hands_settle(s);
}

static void undo_to(Scenario *s, const char *text)
{
    press(s, "ctrl+z");
    g_autofree char *now = hands_text(s);
    g_assert_cmpstr(now, ==, text);
}

/* --- I16
 * ----------------------------------------------------------------------------------------- */

static void palette_return(Scenario *s)
{
    hands_structure(s);
    on_score(s, LOADS "2");
    GtkWidget *entry = scenario_find_type(GTK_WIDGET(s->window), "GtkSearchEntry");
    g_assert_nonnull(entry);
    scenario_click_widget(entry, NULL);
    scenario_type("mark");
    scenario_key("Return");
    WAIT_FOR(hands_states(s) == 2);
    hands_settle(s);
    g_assert_cmpint(node(s, LOADS "3")->kind, ==, WS_STEP_MARK);
    scenario_key("ctrl+a");
    scenario_key("BackSpace");
    GtkWidget *row = scenario_find_text(GTK_WIDGET(s->window), "names a uniform value");
    g_assert_nonnull(row);
    scenario_press(row, 10, 5, "click --repeat 2 --delay 40 1");
    WAIT_FOR(hands_states(s) == 3);
    hands_settle(s);
    g_assert_cmpint(node(s, LOADS "4")->kind, ==, WS_STEP_LET);
}

/* One click on the sign of a row adds; one on the row itself does not. */
static void palette_one_click(Scenario *s)
{
    hands_structure(s);
    on_score(s, LOADS "2");
    GtkWidget *entry = scenario_find_type(GTK_WIDGET(s->window), "GtkSearchEntry");
    scenario_click_widget(entry, NULL);
    scenario_type("mark");
    GtkWidget *row = NULL;
    WAIT_FOR((row = scenario_find_text(GTK_WIDGET(s->window), "named record")));
    scenario_click_widget(row, NULL);
    hands_settle(s);
    g_assert_cmpuint(hands_states(s), ==, 1);
    GtkWidget *add =
        scenario_find_type(gtk_widget_get_ancestor(row, GTK_TYPE_LIST_BOX_ROW), "GtkButton");
    g_assert_nonnull(add);
    g_assert_cmpint(gtk_widget_get_width(add), >=, 12);
    scenario_click_widget(add, NULL);
    WAIT_FOR(hands_states(s) == 2);
    hands_settle(s);
    g_assert_cmpint(node(s, LOADS "3")->kind, ==, WS_STEP_MARK);
    g_assert_cmpuint(hands_states(s), ==, 2);
}

/* --- I17
 * ----------------------------------------------------------------------------------------- */

static const WsSceneItem *find(Scenario *s, const char *step)
{
    return hands_find(s, (HandsItem){ step, -1, 60, -1, 0, FALSE });
}

static void threshold(Scenario *s)
{
    double x, y;
    hands_zoom_to(s, LOADS "2", -1, 60, 3000);
    hands_place(s, find(s, LOADS "2"), 0.4, &x, &y);
    hands_press(s, x, y);
    hands_glide(s, x, y, x - 3, y);
    g_assert_false(seen_gesture_active(hands_timeline(s)));
    hands_glide(s, x - 3, y, x - 6, y);
    g_assert_true(seen_gesture_active(hands_timeline(s)));
    press(s, "Escape");
    hands_let_go(s);
    g_assert_cmpuint(hands_states(s), ==, 1);
}

static void drag_a_copy(Scenario *s)
{
    double x0, y0, x1, y1;
    g_autofree char *first = hands_text(s);
    hands_zoom_to(s, LOADS "1", -1, 60, 3000);
    hands_place(s, find(s, LOADS "2"), 0.4, &x0, &y0);
    hands_place(s, find(s, LOADS "1"), 0.1, &x1, &y1);
    hands_press(s, x0, y0);
    scenario_xdo("keydown ctrl");
    hands_glide(s, x0, y0, x1 - 1, y1);
    g_test_message("%s", seen_gesture_words(hands_timeline(s)));
    g_assert_nonnull(strstr(seen_gesture_words(hands_timeline(s)), "a copy before load A"));
    hands_let_go(s);
    scenario_xdo("keyup ctrl");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "1"), WS_F_keyword), ==, "B");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "2"), WS_F_keyword), ==, "A");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "3"), WS_F_keyword), ==, "B");
    undo_to(s, first);
}

/* --- I20: by keys; what cannot be says why
 * ------------------------------------------------------ */

static void connect_by_keys(Scenario *s)
{
    g_autofree char *first = hands_text(s);
    on_score(s, LOADS "1");
    scenario_key("c");
    hands_select(s, LOADS "2", FALSE);
    g_autofree char *said = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(said, "both are in load"));
    press(s, "Return");
    g_autofree char *same = hands_text(s);
    g_assert_cmpstr(same, ==, first);
    /* Without its barrier the ring is open; the edge closes it again. */
    hands_select_row(s, "barrier empty", 0);
    press(s, "Delete");
    on_score(s, MMAS "2");
    scenario_key("c");
    g_autofree char *choose = scenario_text(GTK_WIDGET(s->window));
    g_assert_nonnull(strstr(choose, "Edge from mma_wait 1: choose"));
    press(s, "Return"); /* nothing is chosen: it goes on */
    hands_select(s, LOADS "0", FALSE);
    press(s, "Return");
    g_assert_nonnull(node(s, "barriers/empty"));
    g_assert_cmpint(node(s, LOADS "0")->kind, ==, WS_STEP_WAIT);
    g_assert_cmpstr(undo_name(s), ==, "Connect mma_wait 1 → load A");
}

/* --- I21
 * ----------------------------------------------------------------------------------------- */

static void nudges(Scenario *s)
{
    g_autofree char *first = hands_text(s);
    on_score(s, LOADS "2");
    press(s, "alt+shift+Left");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "1"), WS_F_keyword), ==, "B");
    press(s, "alt+shift+Right");
    on_score(s, LOADS "0");
    press(s, "bracketleft");
    g_assert_cmpint(ws_node_int(node(s, LOADS "0"), WS_F_ahead, 0), ==, 1);
    press(s, "bracketright");
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(back, ==, first);
}

/* --- I22
 * ----------------------------------------------------------------------------------------- */

static void got_text(GObject *clipboard, GAsyncResult *result, gpointer text)
{
    *(char **)text = gdk_clipboard_read_text_finish(GDK_CLIPBOARD(clipboard), result, NULL);
}

static void cut_and_paste(Scenario *s)
{
    g_autofree char *first = hands_text(s), *clip = NULL;
    hands_select_row(s, "load B", 0);
    press(s, "ctrl+x");
    g_autofree char *without = hands_text(s);
    g_assert_null(strstr(without, "\"load\": \"B\""));
    gdk_clipboard_read_text_async(gtk_widget_get_clipboard(GTK_WIDGET(s->window)), NULL, got_text,
                                  &clip);
    WAIT_FOR(clip);
    g_assert_true(g_str_has_prefix(clip, "{"));
    g_assert_nonnull(strstr(clip, "\"load\": \"B\""));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(clip, strlen(clip), NULL, findings);
    g_assert_nonnull(design);
    hands_select_row(s, "load A", 0);
    scenario_key("ctrl+v");
    WAIT_FOR(hands_states(s) == 3);
    hands_settle(s);
    g_autofree char *back = hands_text(s);
    g_assert_cmpstr(back, ==, first);
}

/* --- I23
 * ----------------------------------------------------------------------------------------- */

static void rename_wrap_comment(Scenario *s)
{
    hands_select_row(s, "buffer a", 0);
    scenario_key("F2");
    hands_dialogue(s);
    scenario_key("ctrl+a");
    scenario_type("left");
    scenario_key("Return");
    WAIT_FOR(hands_states(s) == 2);
    scenario_focus(GTK_WIDGET(s->window));
    hands_settle(s);
    g_assert_nonnull(node(s, "buffers/left"));
    g_autofree char *renamed = hands_text(s);
    g_assert_nonnull(strstr(renamed, "\"into\": \"left\""));
    g_assert_nonnull(strstr(renamed, "\"a\": \"left.rows(replica*WM, WM)\""));
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    on_score(s, LOADS "2");
    press(s, "ctrl+shift+w");
    g_assert_cmpint(node(s, LOADS "2")->kind, ==, WS_STEP_FOR);
    press(s, "ctrl+z");
    on_score(s, LOADS "2");
    hands_type_field(s, "note", "second");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "2"), WS_F_note), ==, "second");
}

/* --- I24, I25, I26
 * -------------------------------------------------------------------------------- */

static void lanes(Scenario *s)
{
    g_autofree char *first = hands_text(s);
    hands_select_row(s, "group load", 0);
    press(s, "alt+shift+Down");
    g_assert_cmpstr(ws_node_name(ws_node_child(ws_design_root(ws_document_latest(s->document)),
                                               WS_F_groups, 0)),
                    ==, "mma");
    undo_to(s, first);
    hands_select_row(s, "group mma", 0);
    hands_add(s, "group");
    g_assert_cmpuint(
        ws_node_n_children(ws_design_root(ws_document_latest(s->document)), WS_F_groups), ==, 3);
}

static void depth_and_replicas(Scenario *s)
{
    on_score(s, LOADS "1");
    press(s, "ctrl+alt+Down");
    g_assert_cmpuint(ws_document_program(s->document)->buffer[0].stages, ==, 3);
    press(s, "ctrl+alt+Up");
    g_assert_cmpuint(ws_document_program(s->document)->buffer[0].stages, ==, 4);
    hands_select_row(s, "group mma", 0);
    press(s, "ctrl+alt+minus");
    g_assert_cmpint(ws_edit_replicas(node(s, "groups/mma")), ==, 1);
    hands_type_field(s, "replicate", "2");
    g_assert_cmpint(ws_edit_replicas(node(s, "groups/mma")), ==, 2);
    hands_select_row(s, "buffer a", 0);
    hands_type_field(s, "stages", "3");
    g_assert_cmpuint(ws_document_program(s->document)->buffer[0].stages, ==, 3);
}

/* The structure without a pointer: shown, walked along, extended, edited. */
static void structure_by_keys(Scenario *s)
{
    scenario_key("shift+F6");
    WAIT_FOR(scenario_find_type(GTK_WIDGET(s->window), "WsStructure"));
    GtkWidget *tree = scenario_find_type(GTK_WIDGET(s->window), "WsStructure");
    WAIT_FOR(gtk_root_get_focus(GTK_ROOT(s->window)) &&
             gtk_widget_is_ancestor(gtk_root_get_focus(GTK_ROOT(s->window)), tree));
    for (guint i = 0; i < 20 && !ws_document_selected(s->document, "groups/load"); i++)
        press(s, "Down"); /* over headings, too */
    g_assert_true(ws_document_selected(s->document, "groups/load"));
    for (guint i = 0; i < 4; i++)
        press(s, "Down");
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, LOADS "1");
    press(s, "shift+Down");
    g_assert_cmpuint(ws_document_selection(s->document)->len, ==, 2);
    press(s, "Delete");
    g_assert_cmpuint(ws_node_n_children(node(s, "groups/load/body/0/do/0"), WS_F_do), ==, 1);
    press(s, "ctrl+z");
    g_assert_cmpuint(ws_node_n_children(node(s, "groups/load/body/0/do/0"), WS_F_do), ==, 3);
}

/* --- I27
 * ----------------------------------------------------------------------------------------- */

static void several_at_once(Scenario *s)
{
    hands_select(s, LOADS "1", FALSE);
    hands_select(s, LOADS "2", TRUE);
    WsFields *fields = WS_FIELDS(scenario_find_type(GTK_WIDGET(s->window), "WsFields"));
    GtkWidget *at = NULL;
    WAIT_FOR((at = ws_fields_entry(fields, "at")) &&
             scenario_find_text(GTK_WIDGET(fields), "several values"));
    g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(at)), ==, "");
    hands_type_field(s, "note", "both");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "1"), WS_F_note), ==, "both");
    g_assert_cmpstr(ws_node_text(node(s, LOADS "2"), WS_F_note), ==, "both");
    g_assert_cmpuint(hands_states(s), ==, 2); /* one step */
}

/* --- what is left out is shown as it is derived --------------------------------------------------
 */

static const char *hint(Scenario *s, const char *key)
{
    WsFields *fields = WS_FIELDS(scenario_find_type(GTK_WIDGET(s->window), "WsFields"));
    GtkWidget *input = ws_fields_entry(fields, key);
    if (GTK_IS_ENTRY(input))
        return gtk_entry_get_placeholder_text(GTK_ENTRY(input));
    return GTK_IS_DROP_DOWN(input)
               ? gtk_string_list_get_string(
                     GTK_STRING_LIST(gtk_drop_down_get_model(GTK_DROP_DOWN(input))), 0)
               : NULL;
}

static void derived_values(Scenario *s)
{
    static const struct {
        const char *place, *key, *hint;
    } cases[] = {
        { "barriers/empty", "arrivals", "derived: 2" },
        { "barriers/empty", "threads", "derived" }, /* of named barriers alone */
        { "buffers/a", "swizzle", "derived: 128" },
        { "tensors/A", "strides", "derived: K, 1" },
        { LOADS "0", "slot", "derived: k.total % 4" },
        { LOADS "0", "when", "none" },
        { "groups/mma", "note", NULL },
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        hands_select(s, cases[i].place, FALSE);
        hands_settle(s);
        g_test_message("%s %s: %s", cases[i].place, cases[i].key, hint(s, cases[i].key));
        g_assert_cmpstr(hint(s, cases[i].key), ==, cases[i].hint);
    }
    hands_select(s, "barriers/empty", FALSE); /* it follows the design; what is typed goes first */
    g_autoptr(WsDraft) d = ws_draft_new(ws_document_latest(s->document));
    g_assert_true(ws_edit_replicate(d, ws_document_node(s->document, "groups/mma"), 1));
    g_assert_true(ws_document_commit(s->document, d, NULL));
    hands_settle(s);
    hands_select(s, "barriers/empty", FALSE);
    WAIT_FOR(!g_strcmp0(hint(s, "arrivals"), "derived: 3"));
    hands_type_field(s, "arrivals", "3");
    g_assert_cmpint(ws_node_int(node(s, "barriers/empty"), WS_F_arrivals, 0), ==, 3);
    scenario_key("shift+Tab");
    scenario_key("ctrl+a");
    scenario_key("BackSpace");
    scenario_key("Tab");
    WAIT_FOR(!ws_node_has(node(s, "barriers/empty"), WS_F_arrivals));
    WAIT_FOR(!g_strcmp0(hint(s, "arrivals"), "derived: 3"));
}

/* --- I28: the history as a list
 * ------------------------------------------------------------------- */

static GtkWidget *history_list(Scenario *s)
{
    GtkWidget *row = scenario_find_text(GTK_WIDGET(s->window), "As it was at first");
    return row ? gtk_widget_get_ancestor(row, GTK_TYPE_LIST_BOX) : NULL;
}

static void history_popover(Scenario *s)
{
    g_autofree char *first = hands_text(s);
    on_score(s, LOADS "2");
    press(s, "alt+Up");
    g_autofree char *moved = hands_text(s);
    press(s, "ctrl+m");
    press(s, "ctrl+d");
    g_autofree char *last = hands_text(s);
    g_assert_cmpuint(hands_states(s), ==, 4);
    scenario_key("ctrl+alt+z");
    WAIT_FOR(history_list(s));
    scenario_settle(GTK_WIDGET(s->window));
    g_autofree char *text = scenario_text(history_list(s));
    g_assert_nonnull(strstr(text, "Move load B"));
    g_assert_nonnull(strstr(text, "●"));
    scenario_key("Down");
    scenario_key("Down");
    scenario_key("Return"); /* two back: the move alone */
    WAIT_FOR(ws_history_now(ws_document_history(s->document)) == 1);
    hands_settle(s);
    g_autofree char *there = hands_text(s);
    g_assert_cmpstr(there, ==, moved);
    scenario_key("ctrl+alt+z");
    WAIT_FOR(history_list(s));
    scenario_settle(GTK_WIDGET(s->window));
    GtkWidget *row = scenario_find_text(history_list(s), "As it was at first");
    scenario_press(row, 30, gtk_widget_get_height(row) / 2.0, "click 1");
    WAIT_FOR(ws_history_now(ws_document_history(s->document)) == 0);
    hands_settle(s);
    g_autofree char *begun = hands_text(s);
    g_assert_cmpstr(begun, ==, first);
    ws_document_go_to(s->document, 3);
    hands_settle(s);
    g_autofree char *again = hands_text(s);
    g_assert_cmpstr(again, ==, last);
}

/* --- I34
 * ----------------------------------------------------------------------------------------- */

static guint silenced(Scenario *s)
{
    const GPtrArray *all = ws_document_findings(s->document)->list;
    guint n = 0;
    for (guint i = 0; i < all->len; i++)
        n += ((const WsFinding *)all->pdata[i])->silenced != NULL;
    return n;
}

static void silence(Scenario *s)
{
    static const char ASKED[] = "Intended: give the reason";
    scenario_open(s, "tests/designs/catalogue/B64-gathered-bytes-without-a-fence.wstave");
    g_assert_cmpuint(silenced(s), ==, 0);
    for (guint i = 0; i < 6 && !scenario_find_text(GTK_WIDGET(s->window), ASKED); i++) {
        press(s, "F8"); /* errors come first, and cannot be silenced */
        WAIT_FOR(!scenario_find_text(GTK_WIDGET(s->window), "Looking for quick-fixes"));
        hands_settle(s);
    }
    GtkWidget *entry = scenario_find_text(GTK_WIDGET(s->window), ASKED);
    g_assert_nonnull(entry);
    hands_scroll_to(s, entry);
    scenario_click_widget(entry, NULL);
    scenario_xdo("type --delay 1 measured:harmless");
    scenario_key("Return");
    WAIT_FOR(hands_states(s) == 2);
    hands_settle(s);
    g_assert_cmpuint(silenced(s), ==, 1);
    g_assert_true(g_str_has_prefix(undo_name(s), "Silence P-"));
    g_autofree char *text = hands_text(s);
    g_assert_nonnull(strstr(text, "\"reason\": \"measured:harmless\""));
    press(s, "ctrl+z"); /* the entry is gone, so this is the design's */
    g_assert_cmpuint(silenced(s), ==, 0);
}

/* --- I42
 * ----------------------------------------------------------------------------------------- */

static void recent(Scenario *s)
{
    g_autoptr(GFile) file = scenario_file("projects/gemm-bf16/design.wstave");
    g_autofree char *uri = g_file_get_uri(file), *folder = g_dir_make_tmp("recent-XXXXXX", NULL);
    GtkRecentManager *all = gtk_recent_manager_get_default();
    WAIT_FOR(gtk_recent_manager_has_item(all, uri)); /* opened, not at the end */
    g_autofree char *path = g_build_filename(folder, "saved.wstave", NULL);
    g_autoptr(GFile) saved = g_file_new_for_path(path);
    g_autofree char *saved_uri = g_file_get_uri(saved);
    g_assert_true(ws_window_save(s->window, saved));
    WAIT_FOR(gtk_recent_manager_has_item(all, saved_uri));
    g_unlink(path);
    g_rmdir(folder);
}

/* --- I48
 * ----------------------------------------------------------------------------------------- */

typedef struct {
    gboolean done;
    char *why;
} Saved;

static void on_saved(GFile *file, const char *why, gpointer data)
{
    Saved *saved = data;
    *saved = (Saved){ TRUE, g_strdup(why) };
}

static void on_news(WsExports *exports, WsExport what, gpointer data)
{
}

/* The newest design in one form, as a file holds it; NULL: this build has none. */
static char *exported(Scenario *s, WsExport what)
{
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), "kernel", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    Saved saved = { 0 };
    char *text = NULL;
    WsExports *e = ws_exports_new(ws_document_latest(s->document), NULL, on_news, NULL);
    WAIT_FOR(ws_exports_result(e, what)->state != WS_EXPORT_WAITING);
    if (ws_exports_result(e, what)->state == WS_EXPORT_MADE) {
        ws_exports_save(e, what, file, on_saved, &saved);
        WAIT_FOR(saved.done);
        g_assert_null(saved.why);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_unlink(path);
        g_autoptr(GFile) nowhere = g_file_new_for_path("/nowhere/kernel");
        ws_exports_save(e, what, nowhere, on_saved, &saved);
        g_assert_nonnull(strstr(saved.why, "No such file"));
        g_free(saved.why);
    } else {
        g_assert_cmpint(ws_exports_result(e, what)->state, ==, WS_EXPORT_ABSENT);
    }
    ws_exports_free(e);
    return text;
}

static void export_code(Scenario *s)
{
    g_autofree char *program = exported(s, WS_EXPORT_PROGRAM);
    g_assert_cmpstr(program, ==, ws_document_code(s->document, WS_CODE_PROGRAM));
    /* Edited, not saved: what is on screen is exported. */
    on_score(s, LOADS "2");
    press(s, "alt+Up");
    g_autofree char *edited = exported(s, WS_EXPORT_PROGRAM);
    g_assert_cmpstr(edited, ==, ws_document_code(s->document, WS_CODE_PROGRAM));
    g_assert_cmpstr(edited, !=, program);
    g_autofree char *cuda = exported(s, WS_EXPORT_CUDA);
    if (cuda)
        g_assert_nonnull(strstr(cuda, "__global__"));
    else
        g_test_skip("built without code generation: CUDA C++ is not compared");
}

static void add(void)
{
    scenario_add("I16/palette-return-and-double-click", palette_return);
    scenario_add("I16/palette-one-click", palette_one_click);
    scenario_add("I17/nothing-before-4-px", threshold);
    scenario_add("I17/ctrl-drags-a-copy", drag_a_copy);
    scenario_add("I20/connect-by-keys", connect_by_keys);
    scenario_add("I21/nudge-and-ahead", nudges);
    scenario_add("fields/derived", derived_values);
    scenario_add("I22/cut-and-paste", cut_and_paste);
    scenario_add("I23/rename-wrap-comment", rename_wrap_comment);
    scenario_add("I24/lanes", lanes);
    scenario_add("I25-I26/depth-and-replicas", depth_and_replicas);
    scenario_add("structure/keys-alone", structure_by_keys);
    scenario_add("I27/several-at-once", several_at_once);
    scenario_add("I28/history-popover", history_popover);
    scenario_add_empty("I34/silence-with-a-reason", silence);
    scenario_add("I42/recent", recent);
    scenario_add("I48/export-code", export_code);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
