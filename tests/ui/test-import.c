/* A kernel of Gluon or PTX in the studio: opened, read beside its source, what was not understood,
 * findings on its lines, changed on disk, saved as a design; and what cannot be read. */
#include "edit/edit.h"
#include "model/finding.h"
#include "program/program.h"
#include "scenario/hands.h"

#include "ui/document/document_compare.h"
#include "ui/document/document_source.h"
#include "ui/panels/code_panel.h"
#include "ui/problems/problems.h"
#include "ui/window/window_private.h"

#include <glib/gstdio.h>
#include <gtksourceview/gtksource.h>
#include <string.h>

#define GLUON   "tests/import/gluon/gemm.py"
#define PTX     "tests/import/ptx/triton-gluon.ptx"
#define STORES  "        tma.store_wait(0)\n        c_tile"
#define WAITING "groups/load/body/0/do/0/do/0" /* mbarrier.wait(empty.index(slot), phase) */

/* A kernel of the source tree, perhaps with one thing changed, in a folder of its own. */
typedef struct {
    char *folder, *path, *text;
    GFile *file;
} Kernel;

/* In the home folder that with-display.sh made: pictures show "~/kernels". */
static char *folder_of_ones_own(void)
{
    g_autofree char *folder = g_build_filename(g_get_home_dir(), "kernels", NULL);
    if (!g_str_has_prefix(folder, g_get_tmp_dir()) || g_mkdir(folder, 0700))
        return g_dir_make_tmp("kernels-XXXXXX", NULL);
    return g_steal_pointer(&folder);
}

static Kernel kernel(const char *from, const char *what, const char *by)
{
    g_autoptr(GFile) file = scenario_file(from);
    g_autofree char *base = g_file_get_basename(file), *text = NULL;
    g_assert_true(g_file_get_contents(g_file_peek_path(file), &text, NULL, NULL));
    Kernel k = { .folder = folder_of_ones_own() };
    if (what) {
        g_auto(GStrv) part = g_strsplit(text, what, 2);
        g_assert_nonnull(part[1]);
        k.text = g_strconcat(part[0], by, part[1], NULL);
    } else {
        k.text = g_strdup(text);
    }
    k.path = g_build_filename(k.folder, base, NULL);
    g_assert_true(g_file_set_contents(k.path, k.text, -1, NULL));
    k.file = g_file_new_for_path(k.path);
    return k;
}

static void end(Kernel *k)
{
    g_autoptr(GDir) dir = g_dir_open(k->folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(k->folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(k->folder);
    g_object_unref(k->file);
    g_free(k->folder);
    g_free(k->path);
    g_free(k->text);
}

static void open_kernel(Scenario *s, const Kernel *k)
{
    g_assert_true(ws_window_open(s->window, k->file));
    WAIT_FOR(ws_document_source(s->document) && !s->window->importing);
    /* The panels are given room for a source, where the window has it. */
    WAIT_FOR(gtk_widget_get_height(GTK_WIDGET(s->window->panels)) >= 300);
    hands_settle(s);
}

static WsCodePanel *panel(Scenario *s)
{
    return WS_CODE_PANEL(ws_window_part(s->window, WS_PART_CODE));
}

/* Lines count from 1 here, as people count. */
static void assert_marked(Scenario *s, guint first, guint last)
{
    guint a = 0, b = 0;
    WAIT_FOR(ws_code_panel_kind(panel(s)) == WS_CODE_SOURCE &&
             ws_code_panel_marked(panel(s), &a, &b) && a + 1 == first);
    g_assert_cmpuint(b + 1, ==, last);
}

/* The view has gone to a line. */
static void assert_shown(Scenario *s, guint line)
{
    GtkWidget *view = scenario_find_type(GTK_WIDGET(panel(s)), "GtkSourceView");
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    GtkTextIter at;
    g_assert_nonnull(gtk_source_buffer_get_language(GTK_SOURCE_BUFFER(buffer)));
    WAIT_FOR((gtk_text_buffer_get_iter_at_mark(buffer, &at, gtk_text_buffer_get_insert(buffer)),
              (guint)gtk_text_iter_get_line(&at) + 1 == line));
    scenario_settle(view);
}

static void click_line(Scenario *s, guint line)
{
    GtkWidget *view = scenario_find_type(GTK_WIDGET(panel(s)), "GtkSourceView");
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(view));
    GtkTextIter at;
    GdkRectangle place;
    int x = 0, y = -1, before = -2;
    /* It glides there, and heights of lines far off are only worked out on the way. */
    for (guint still = 0, tries = 0; still < 8 && tries < 400; tries++) {
        const gboolean seen = y >= 0 && y < gtk_widget_get_height(view);
        still = y == before && seen ? still + 1 : 0;
        gtk_text_buffer_get_iter_at_line(buffer, &at, (int)line - 1);
        if (!seen && tries % 40 == 0)
            gtk_text_view_scroll_to_iter(GTK_TEXT_VIEW(view), &at, 0.2, FALSE, 0, 0);
        scenario_settle(view);
        before = y;
        gtk_text_iter_forward_chars(&at, 12);
        gtk_text_view_get_iter_location(GTK_TEXT_VIEW(view), &at, &place);
        gtk_text_view_buffer_to_window_coords(GTK_TEXT_VIEW(view), GTK_TEXT_WINDOW_WIDGET, place.x,
                                              place.y + place.height / 2, &x, &y);
    }
    g_assert_cmpint(y, <, gtk_widget_get_height(view));
    scenario_click(view, x, y, 1, NULL);
}

static void assert_file(const char *path, const char *wanted)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, wanted);
}

/* --- beside its source ---------------------------------------------------------------------------
 */

static void source(Scenario *s)
{
    Kernel k = kernel(GLUON, NULL, NULL);
    open_kernel(s, &k);
    g_assert_null(ws_document_file(s->document));
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "not saved"));
    g_assert_cmpstr(ws_document_code(s->document, WS_CODE_SOURCE), ==, k.text);
    /* A bar of the score leads to its line … */
    double x, y;
    const WsSceneItem *load = NULL;
    WAIT_FOR((load = hands_find(s, (HandsItem){ .step = "groups/load/body/0/do/0/do/2",
                                                .tile = -1,
                                                .round = -1,
                                                .agent = -1 })));
    hands_place(s, load, 0.5, &x, &y);
    scenario_click(s->timeline, x, y, 1, NULL);
    assert_marked(s, 23, 23);
    assert_shown(s, 23);
    hands_shot(s, "import-1-source");
    /* … and a line to its step: both replicas, that of the group that was looked at first. */
    click_line(s, 43);
    WAIT_FOR(ws_document_selection(s->document)->len == 2);
    g_assert_true(g_str_has_prefix(ws_document_focus(s->document)->step, "groups/consume"));
    g_assert_true(ws_document_selected(s->document, "groups/consume_2/body/0/do/1/do/0"));
    assert_marked(s, 43, 43);
    scenario_key("Down"); /* by keys, too: a statement of two lines */
    WAIT_FOR(ws_document_selected(s->document, "groups/consume/body/0/do/1/do/1"));
    assert_marked(s, 44, 45);
    assert_file(k.path, k.text);
    end(&k);
}

static void saved(Scenario *s)
{
    Kernel k = kernel(GLUON, NULL, NULL);
    open_kernel(s, &k);
    g_autofree char *path = g_build_filename(k.folder, "gemm.wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    scenario_key("ctrl+s"); /* it has no file: where to is asked */
    WAIT_FOR(s->window->chooser);
    g_autofree char *name = gtk_file_chooser_get_current_name(GTK_FILE_CHOOSER(s->window->chooser));
    g_assert_cmpstr(name, ==, "gemm.wstave");
    gtk_native_dialog_hide(GTK_NATIVE_DIALOG(s->window->chooser));
    g_clear_object(&s->window->chooser);
    g_assert_true(ws_window_save(s->window, file));
    scenario_focus(GTK_WIDGET(s->window));
    g_assert_true(g_file_equal(ws_document_file(s->document), file));
    assert_file(k.path, k.text);
    /* Opened again, the source beside it is found, and no line is told that has changed since. */
    g_autofree char *shorter = g_strdup(strchr(k.text, '\n') + 1);
    g_assert_true(ws_window_open(s->window, file));
    hands_select(s, WAITING, FALSE);
    assert_marked(s, 21, 21);
    g_assert_true(g_file_set_contents(k.path, shorter, -1, NULL));
    g_assert_true(ws_window_open(s->window, file));
    guint a, b;
    hands_select(s, WAITING, FALSE);
    g_assert_false(ws_code_panel_marked(panel(s), &a, &b));
    end(&k);
}

/* --- what was not understood ---------------------------------------------------------------------
 */

static gboolean is_row(GtkWidget *widget, gconstpointer data)
{
    return GTK_IS_LIST_BOX_ROW(widget) && gtk_widget_get_mapped(widget);
}

static void opaque(Scenario *s)
{
    Kernel k = kernel(GLUON, STORES, "        mystery(acc,\n                2)\n" STORES);
    open_kernel(s, &k);
    g_autoptr(GPtrArray) places = ws_document_opaque(s->document);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_OUTSIDE);
    g_assert_cmpuint(places->len, >, 0);
    const WsOpaque *first = places->pdata[0];
    g_assert_cmpuint(first->steps->len, >, 0);
    g_autofree char *lines = g_strdup_printf("lines %u to %u", first->first + 1, first->last + 1);
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(panel(s)), lines));
    g_autoptr(GPtrArray) rows = scenario_find_all(GTK_WIDGET(panel(s)), is_row, NULL);
    g_assert_cmpuint(rows->len, ==, places->len);
    scenario_click_widget(rows->pdata[0], NULL);
    WAIT_FOR(ws_document_selection(s->document)->len == first->steps->len);
    g_assert_cmpstr(ws_document_focus(s->document)->step, ==, first->steps->pdata[0]);
    guint a, b;
    WAIT_FOR(ws_code_panel_marked(panel(s), &a, &b));
    g_assert_cmpuint(a, ==, first->first);
    /* Drawn as what nobody knows. */
    const WsSceneItem *bar = NULL;
    WAIT_FOR((bar = hands_find(
                  s, (HandsItem){
                         .step = first->steps->pdata[0], .tile = -1, .round = -1, .agent = -1 })));
    g_assert_cmpint(bar->kind, ==, WS_ITEM_OPAQUE);
    g_assert_cmpfloat(bar->w, >=, 4);
    assert_shown(s, first->first + 1);
    hands_shot(s, "import-2-opaque");
    end(&k);
}

/* Compiled: the same, on lines of PTX; a place that no step stands for is listed and shown, too. */
static void compiled(Scenario *s)
{
    Kernel k = kernel(PTX, NULL, NULL);
    open_kernel(s, &k);
    g_assert_cmpuint(ws_document_program(s->document)->n_agents, ==, 3);
    const WsSourceMap *map = ws_document_source_map(s->document);
    const WsSourceSpan *wait = NULL;
    for (guint i = 0; i < ws_source_map_n(map) && !wait; i++) {
        const WsNode *node =
            ws_design_find(ws_document_design(s->document), ws_source_map_span(map, i)->id);
        if (node->kind == WS_STEP_WAIT)
            wait = ws_source_map_span(map, i);
    }
    g_assert_nonnull(wait);
    g_auto(GStrv) line = g_strsplit(k.text, "\n", -1);
    g_assert_nonnull(strstr(line[wait->first], "mbarrier.try_wait"));
    click_line(s, wait->first + 1);
    WAIT_FOR(ws_document_selected(s->document, wait->id));
    assert_marked(s, wait->first + 1, wait->last + 1);
    end(&k);
    Kernel copies = kernel("tests/import/ptx/triton-cpasync.ptx", NULL, NULL);
    open_kernel(s, &copies);
    scenario_key("alt+9"); /* whatever the verdict shows first */
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(panel(s))));
    scenario_settle(GTK_WIDGET(s->window));
    g_autoptr(GPtrArray) places = ws_document_opaque(s->document);
    g_autoptr(GPtrArray) rows = scenario_find_all(GTK_WIDGET(panel(s)), is_row, NULL);
    g_assert_cmpuint(places->len, >, 0);
    g_assert_cmpuint(rows->len, ==, places->len);
    scenario_click_widget(rows->pdata[0], NULL);
    assert_shown(s, ((WsOpaque *)places->pdata[0])->first + 1);
    end(&copies);
}

/* --- findings ------------------------------------------------------------------------------------
 */

static void finding(Scenario *s)
{
    Kernel k = kernel(GLUON, "empty.index(i), count=2", "empty.index(i), count=3");
    open_kernel(s, &k);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_REFUTED);
    WsProblems *p = WS_PROBLEMS(ws_window_part(s->window, WS_PART_PROBLEMS));
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(p))); /* what is wrong is shown first */
    scenario_key("F8");
    WAIT_FOR(ws_problems_selected(p));
    g_assert_cmpuint(ws_problems_selected(p)->line, ==, 21);
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(p), "\xe2\x96\xb8   21"));
    GtkWidget *link = scenario_find_text(GTK_WIDGET(p), "gemm.py:21");
    g_assert_nonnull(link);
    hands_shot(s, "import-3-finding");
    scenario_click_widget(link, NULL);
    WAIT_FOR(gtk_widget_get_mapped(GTK_WIDGET(panel(s))));
    assert_marked(s, 21, 21);
    for (guint i = 0; i < ws_document_findings(s->document)->list->len; i++) {
        const WsFinding *f = ws_document_findings(s->document)->list->pdata[i];
        g_assert_cmpuint(f->line, >, 0); /* every one leads to the source */
    }
    end(&k);
}

/* --- what `warpstave check` says of the same file -----------------------------------------------
 */

static void edit_note(Scenario *s)
{
    g_autoptr(GPtrArray) edits = g_ptr_array_new_with_free_func((GDestroyNotify)ws_edit_free);
    g_ptr_array_add(edits, ws_edit_new_set(".", "note", ws_json_text("of our own")));
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_document_commit_edits(s->document, "note", edits, &error));
    g_assert_no_error(error);
    hands_settle(s);
}

/* Kernels whose waits are slot and parity, and one with a place that was not read: read and edited.
 */
static void judged(Scenario *s)
{
    static const char *const right[] = { "tests/import/gluon/rows.py",
                                         "tests/import/ptx/together.ptx",
                                         "tests/import/ptx/phases.ptx" };
    for (guint i = 0; i < G_N_ELEMENTS(right); i++) {
        Kernel k = kernel(right[i], NULL, NULL);
        open_kernel(s, &k);
        g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
        edit_note(s);
        g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
        scenario_act(s, "undo");
        hands_settle(s);
        end(&k);
    }
    Kernel k = kernel(GLUON, STORES, "        mystery(acc,\n                2)\n" STORES);
    open_kernel(s, &k);
    edit_note(s);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_OUTSIDE);
    end(&k);
}

/* --- changed on disk -----------------------------------------------------------------------------
 */

static void changed(Scenario *s)
{
    Kernel k = kernel(GLUON, "empty.index(i), count=2", "empty.index(i), count=3");
    open_kernel(s, &k);
    /* Mended in an editor, below a new first line: read again by itself, beside what it was. */
    g_auto(GStrv) part = g_strsplit(k.text, "count=3", 2);
    g_autofree char *mended = g_strconcat("# mended\n", part[0], "count=2", part[1], NULL);
    g_assert_true(g_file_set_contents(k.path, mended, -1, NULL));
    WAIT_FOR(ws_document_comparison(s->document));
    hands_settle(s);
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    const WsComparison *c = ws_document_comparison(s->document);
    g_assert_cmpuint(c->compare->row->len, ==, 1); /* that lines moved is no difference */
    g_assert_cmpstr(((WsCompareRow *)c->compare->row->pdata[0])->path_b, ==, "barriers/empty");
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "as it was read before"));
    hands_select(s, WAITING, FALSE);
    assert_marked(s, 22, 22);
    /* Broken meanwhile: what was read stays, and the place is told. */
    g_assert_true(g_file_set_contents(k.path, "def f(:\n", -1, NULL));
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "gemm.py:2:1"));
    g_assert_cmpint(ws_document_verdict(s->document)->kind, ==, WS_VERDICT_PROVED);
    /* With edits of one's own it is offered, not done. */
    scenario_act(s, "earlier");
    hands_settle(s);
    g_assert_true(ws_document_dirty(s->document));
    g_assert_true(g_file_set_contents(k.path, k.text, -1, NULL));
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), "Another program has changed"));
    g_assert_true(ws_document_dirty(s->document));
    end(&k);
}

/* --- what cannot be read -------------------------------------------------------------------------
 */

static void refuse(Scenario *s, const char *name, const char *text, const char *said)
{
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), name, NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    WsDesign *before = ws_document_design(s->document);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    ws_window_open(s->window, file);
    WAIT_FOR(scenario_find_text(GTK_WIDGET(s->window), said));
    g_assert_true(ws_document_design(s->document) == before);
    g_assert_null(ws_document_source(s->document));
    g_unlink(path);
}

static void errors(Scenario *s)
{
    refuse(s, "bracket.py", "x = (1,\n", "bracket.py:2:1");
    refuse(s, "plain.py", "print('hello')\n", "plain.py:1:1");
    refuse(s, "plain.py", "print('hello')\n", "What is read");
    refuse(s, "nothing.ptx", "hello\n", "nothing.ptx:");
}

/* --- stopped -------------------------------------------------------------------------------------
 */

/* PTX that takes seconds to read, as the shipped design makes it. FALSE: this build
 * makes none. */
static gboolean slow_kernel(char **folder, GFile **file)
{
    g_autoptr(GFile) design = scenario_file("projects/gemm-fp8/design.wstave");
    *folder = folder_of_ones_own();
    g_autofree char *path = g_build_filename(*folder, "gemm-fp8.ptx", NULL);
    g_autoptr(GSubprocess) p =
        g_subprocess_new(G_SUBPROCESS_FLAGS_NONE, NULL, WS_BUILD_ROOT "/bin/warpstave", "generate",
                         g_file_peek_path(design), "--as", "ptx", "-o", path, NULL);
    *file = g_file_new_for_path(path);
    return p && g_subprocess_wait_check(p, NULL, NULL);
}

/* What the bar says of a reading now; NULL: nothing. Caller frees. */
static char *said(Scenario *s)
{
    return gtk_widget_get_mapped(s->window->cancel_button)
               ? g_strdup(gtk_label_get_text(s->window->error_how))
               : NULL;
}

static gboolean says(Scenario *s, const char *part)
{
    g_autofree char *words = said(s);
    return words && strstr(words, part);
}

/* Nothing is open that was not, nothing is noted or said, and the thread ends: without being told
 * to stop it goes on for seconds. */
static void assert_stopped(Scenario *s, WsDesign *before, guint states)
{
    const gint64 since = g_get_monotonic_time();
    g_assert_null(s->window->importing);
    WAIT_FOR(ws_document_readings() == 0);
    g_test_message("the thread ended %.0f ms after the stop was seen",
                   (double)(g_get_monotonic_time() - since) / 1000);
    g_assert_cmpint(g_get_monotonic_time() - since, <, 500000);
    hands_settle(s);
    g_assert_true(ws_document_latest(s->document) == before);
    g_assert_cmpuint(hands_states(s), ==, states);
    g_assert_true(ws_document_dirty(s->document)); /* what was edited is still so */
    g_assert_null(ws_document_source(s->document));
    g_assert_false(gtk_widget_get_mapped(s->window->cancel_button));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "was stopped"));
    g_assert_false(gtk_info_bar_get_revealed(s->window->error_bar)); /* nothing is left to close */
}

static void begin_slow(Scenario *s, GFile *file, const char *part)
{
    const gint64 since = g_get_monotonic_time();
    ws_window_import(s->window, file);
    g_assert_cmpint(g_get_monotonic_time() - since, <, 100000); /* the window goes on */
    WAIT_FOR(says(s, part));
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "Reading gemm-fp8.ptx…"));
    g_assert_nonnull(scenario_find_text(s->window->cancel_button, "Stop"));
}

static void stopped(Scenario *s)
{
    g_autofree char *folder = NULL;
    g_autoptr(GFile) file = NULL;
    if (!slow_kernel(&folder, &file)) {
        g_test_skip("built without code generation: there is no kernel that takes seconds");
        return;
    }
    scenario_act(s, "select-all");
    hands_select(s, "groups/load/body/0/do/0/do/0", FALSE);
    scenario_act(s, "duplicate");
    hands_settle(s);
    g_assert_true(ws_document_dirty(s->document));
    WsDesign *before = ws_document_latest(s->document);
    const guint states = hands_states(s);
    /* by the button, while lines are read: it says other lines from one time to the next */
    begin_slow(s, file, "Line ");
    g_autofree char *first = said(s);
    g_autofree char *later = NULL;
    WAIT_FOR((g_free(later), later = said(s)) && strcmp(first, later) != 0);
    hands_shot(s, "import-4-reading");
    scenario_click_widget(s->window->cancel_button, NULL);
    WAIT_FOR(!s->window->importing);
    assert_stopped(s, before, states);
    /* by Escape in the score */
    gtk_widget_grab_focus(s->timeline);
    begin_slow(s, file, "Line ");
    scenario_key("Escape");
    WAIT_FOR(!s->window->importing);
    assert_stopped(s, before, states);
    /* and left alone it opens */
    ws_window_import(s->window, file);
    WAIT_FOR(!s->window->importing);
    hands_settle(s);
    g_assert_nonnull(ws_document_source(s->document));
    g_assert_false(gtk_widget_get_mapped(s->window->cancel_button));
    g_autofree char *path = g_file_get_path(file);
    g_unlink(path);
    g_rmdir(folder);
}

/* A kernel for another machine than that of the design that is open is played on its own. */
static void other_machine(Scenario *s)
{
    Kernel k = kernel("tests/import/amd/hand.py", NULL, NULL);
    open_kernel(s, &k);
    g_assert_nonnull(ws_document_predicted(s->document));
    end(&k);
}

static void add(void)
{
    scenario_add("import/other-machine", other_machine);
    scenario_add_empty("import/source", source);
    scenario_add_empty("import/saved", saved);
    scenario_add_empty("import/opaque", opaque);
    scenario_add_empty("import/judged", judged);
    scenario_add_empty("import/compiled", compiled);
    scenario_add_empty("import/finding", finding);
    scenario_add_empty("import/changed-on-disk", changed);
    scenario_add("import/errors", errors);
    scenario_add("import/stopped", stopped);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
