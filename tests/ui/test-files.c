/* Opening: broken, newer, missing and unreadable files are told of, and the window stays. */
#include "../whole.h"
#include "model/findings.h"
#include "scenario/scenario.h"

#include "ui/document/document_source.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static GtkWidget *bar(Scenario *s)
{
    return scenario_find_type(GTK_WIDGET(s->window), "GtkInfoBar");
}

/* The file cannot be opened; the bar must show `what` and the former design must stay. */
static void refuse(Scenario *s, const char *path, const char *what)
{
    WsDesign *before = ws_document_design(s->document);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_assert_false(ws_window_open(s->window, file));
    scenario_settle(GTK_WIDGET(s->window));
    g_assert_nonnull(bar(s));
    g_assert_true(gtk_info_bar_get_revealed(GTK_INFO_BAR(bar(s))));
    g_autofree char *text = scenario_text(bar(s));
    if (!strstr(text, what))
        g_test_message("%s: the bar says: %s", path, text);
    g_assert_nonnull(strstr(text, what));
    g_assert_true(ws_document_design(s->document) == before);
    g_assert_true(gtk_widget_get_mapped(GTK_WIDGET(s->window)));
}

static char *scratch(const char *name, const char *text, gssize length)
{
    char *path = g_build_filename(g_get_user_runtime_dir(), name, NULL);
    g_autoptr(GError) error = NULL;
    g_file_set_contents(path, text, length, &error);
    g_assert_no_error(error);
    return path;
}

static void broken(Scenario *s)
{
    g_autofree char *path = scratch("broken.wstave", "{ \"warpstave\": 1, \"name\": ", -1);
    refuse(s, path, "broken.wstave");
}

static void newer(Scenario *s)
{
    g_autofree char *text = NULL;
    g_autoptr(GFile) file = scenario_file("projects/gemm-bf16/design.wstave");
    g_assert_true(g_file_get_contents(g_file_peek_path(file), &text, NULL, NULL));
    g_autoptr(GRegex) regex = g_regex_new("\"warpstave\": *[0-9]+", 0, 0, NULL);
    g_autofree char *other = g_regex_replace(regex, text, -1, 0, "\"warpstave\": 999", 0, NULL);
    g_assert_cmpstr(text, !=, other);
    g_autofree char *path = scratch("newer.wstave", other, -1);
    refuse(s, path, "999");
}

static void missing(Scenario *s)
{
    refuse(s, "/nonexistent/folder/design.wstave", "/nonexistent/folder/design.wstave");
}

static void folder(Scenario *s)
{
    refuse(s, g_get_user_runtime_dir(), g_get_user_runtime_dir());
}

static void unreadable(Scenario *s)
{
    g_autofree char *path = scratch("secret.wstave", "{}", -1);
    g_assert_cmpint(g_chmod(path, 0), ==, 0);
    if (!access(path, R_OK)) { /* root reads everything */
        g_test_skip("running as root");
        return;
    }
    refuse(s, path, "secret.wstave");
}

/* Unreadable for root too. */
static void endless_link(Scenario *s)
{
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), "loop.wstave", NULL);
    g_assert_cmpint(symlink(path, path), ==, 0);
    refuse(s, path, "loop.wstave");
}

static void corrupt_trace(Scenario *s)
{
    g_autofree char *junk = g_malloc0(5000);
    g_autofree char *path = scratch("junk.wtrace", junk, 5000);
    refuse(s, path, "junk.wtrace");
}

/* A good trace whose last half is gone. */
static void cut_trace(Scenario *s)
{
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), "cut.wtrace", NULL);
    g_autofree char *bytes = NULL;
    gsize length;
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_trace_save(ws_document_predicted(s->document), path, &error));
    g_assert_true(g_file_get_contents(path, &bytes, &length, &error));
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length / 2, &error));
    refuse(s, path, "cut.wtrace");
}

/* One byte of the version, or of the records, of a good trace. */
static void spoilt_trace(Scenario *s, gsize at, const char *name)
{
    g_autofree char *path = g_build_filename(g_get_user_runtime_dir(), name, NULL);
    g_autofree char *bytes = NULL;
    gsize length;
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_trace_save(ws_document_predicted(s->document), path, &error));
    g_assert_true(g_file_get_contents(path, &bytes, &length, &error));
    bytes[MIN(at, length - 1)] ^= 0x60;
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length, &error));
    refuse(s, path, name);
}

static void newer_trace(Scenario *s)
{
    spoilt_trace(s, 8, "newer.wtrace");
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "newer Warpstave"));
}

static void damaged_trace(Scenario *s)
{
    spoilt_trace(s, 20000, "damaged.wtrace");
    g_assert_nonnull(scenario_find_text(GTK_WIDGET(s->window), "checksum"));
}

static void good_after_bad(Scenario *s)
{
    refuse(s, "/nonexistent.wstave", "/nonexistent.wstave");
    scenario_open(s, "tests/designs/gemm-pingpong.wstave");
    WAIT_FOR(!bar(s) || !gtk_info_bar_get_revealed(GTK_INFO_BAR(bar(s))));
    g_autofree char *title = ws_document_title(s->document);
    g_assert_nonnull(strstr(title, "ping-pong"));
    g_assert_nonnull(strstr(gtk_window_get_title(GTK_WINDOW(s->window)), title));
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Opens the designs of a folder in turn; the runs open shares of them. */
static guint open_each(Scenario *s, const char *folder, void (*look)(Scenario *s))
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    guint n = 0;
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(names, by_name);
    for (guint i = 0; i < names->len; i++) {
        if (!test_takes(i, 3, 9))
            continue;
        scenario_open(s, names->pdata[i]);
        look(s);
        n++;
    }
    g_test_message("%u of %u designs", n, names->len);
    return n;
}

/* A refuted design opens; its findings are in the problems panel and can be walked. */
static void walk_problems(Scenario *s)
{
    if (!ws_document_findings(s->document)->list->len)
        return;
    scenario_act(s, "show-problems");
    scenario_act(s, "next-problem");
}

static void refuted(Scenario *s)
{
    g_assert_cmpuint(open_each(s, "tests/designs/broken", walk_problems), >=, test_least(15, 3, 9));
}

static void show_panels(Scenario *s)
{
    scenario_act(s, "show-resources");
    scenario_act(s, "show-measurements");
    scenario_act(s, "show-code");
}

static void every_design(Scenario *s)
{
    g_assert_cmpuint(open_each(s, "tests/designs", show_panels), >=, test_least(15, 3, 9));
}

static void measured(Scenario *s)
{
    g_autoptr(GFile) file = scenario_file("projects/gemm-bf16/measured/gemm-bf16.wtrace");
    if (!g_file_query_exists(file, NULL)) {
        g_test_skip("no measured trace in projects/gemm-bf16/measured");
        return;
    }
    g_assert_true(ws_window_open_trace(s->window, file));
    scenario_settle(GTK_WIDGET(s->window));
    g_assert_nonnull(ws_document_measured(s->document));
    scenario_act(s, "show-measurements");
    scenario_act(s, "remove-trace");
    g_assert_null(ws_document_measured(s->document));
}

/* --- dropping ------------------------------------------------------------------------------------
 */

static GdkContentProvider *carry(GtkDragSource *source, double x, double y, GFile *file)
{
    GSList list = { .data = file };
    return gdk_content_provider_new_typed(GDK_TYPE_FILE_LIST, &list);
}

/* A window with something to drag out of, as a file manager has; over the corner of ours. */
static GtkWidget *file_manager(GFile *file)
{
    GtkWidget *window = gtk_window_new(), *icon = gtk_label_new("design.wstave");
    GtkDragSource *source = gtk_drag_source_new();
    g_signal_connect(source, "prepare", G_CALLBACK(carry), file);
    gtk_widget_add_controller(icon, GTK_EVENT_CONTROLLER(source));
    gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
    gtk_window_set_default_size(GTK_WINDOW(window), 160, 80);
    gtk_window_set_child(GTK_WINDOW(window), icon);
    gtk_window_present(GTK_WINDOW(window));
    WAIT_FOR(gtk_widget_get_mapped(icon));
    scenario_settle(icon);
    return window;
}

static void drop_file(Scenario *s, const char *path)
{
    g_autoptr(GFile) file = scenario_file(path);
    GtkWidget *manager = file_manager(file);
    WsDesign *before = ws_document_design(s->document);
    int x, y;
    scenario_on_screen(s->timeline, 500, 200, &x, &y);
    scenario_press(manager, 60, 40, "mousedown 1");
    for (int i = 1; i <= 10; i++) {
        scenario_xdo("mousemove %d %d", 60 + (x - 60) * i / 10, 40 + (y - 40) * i / 10);
        scenario_settle(s->timeline);
    }
    scenario_xdo("mouseup 1");
    WAIT_FOR(ws_document_design(s->document) != before);
    const WsSource *source = ws_document_source(s->document);
    g_assert_true(g_file_equal(source ? source->file : ws_document_file(s->document), file));
    gtk_window_destroy(GTK_WINDOW(manager));
}

static void drop(Scenario *s)
{
    drop_file(s, "tests/designs/gemm-cluster.wstave");
}

static void drop_kernel(Scenario *s)
{
    drop_file(s, "tests/import/gluon/gemm.py");
    g_assert_null(ws_document_file(s->document));
}

/* --- the program itself
 * --------------------------------------------------------------------------- */

typedef struct {
    GSubprocess *process;
    char *window; /* X window */
    gboolean done;
    char *said;
} Program;

static void heard(GObject *source, GAsyncResult *result, gpointer data)
{
    Program *p = data;
    g_subprocess_communicate_utf8_finish(G_SUBPROCESS(source), result, NULL, &p->said, NULL);
    p->done = TRUE;
}

/* Id of a window with this title, NULL if there is none. */
static char *window_called(const char *title)
{
    g_autofree char *out = NULL;
    g_autoptr(GSubprocess) search =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                         "xdotool", "search", "--onlyvisible", "--name", title, NULL);
    g_subprocess_communicate_utf8(search, NULL, NULL, &out, NULL, NULL);
    g_strchomp(out);
    return *out ? g_steal_pointer(&out) : NULL;
}

static gboolean begin_program(Program *p, const char *title, const char *const *argument)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    g_ptr_array_add(argv, (char *)WS_BUILD_ROOT "/bin/warpstave-studio");
    for (guint i = 0; argument[i]; i++)
        g_ptr_array_add(argv, (char *)argument[i]);
    g_ptr_array_add(argv, NULL);
    *p = (Program){ .process = g_subprocess_newv((const char *const *)argv->pdata,
                                                 G_SUBPROCESS_FLAGS_STDERR_PIPE, &error) };
    if (!p->process) {
        g_test_skip("bin/warpstave-studio is not built");
        return FALSE;
    }
    g_subprocess_communicate_utf8_async(p->process, NULL, NULL, heard, p);
    WAIT_FOR(p->done || (p->window = window_called(title)));
    return TRUE;
}

/* Ctrl+Q by the keyboard; it must end well and have said nothing alarming. */
static void end_program(Program *p)
{
    g_assert_false(p->done);
    scenario_xdo("windowfocus --sync %s key ctrl+q", p->window);
    WAIT_FOR(p->done);
    g_assert_cmpint(g_subprocess_get_exit_status(p->process), ==, 0);
    if (strstr(p->said, "CRITICAL") || strstr(p->said, "WARNING"))
        g_error("the program said: %s", p->said);
    g_object_unref(p->process);
    g_free(p->window);
    g_free(p->said);
}

static void close_window(Scenario *s)
{
    gtk_window_destroy(GTK_WINDOW(s->window));
    scenario_turn();
}

static void program_opens_both(Scenario *s)
{
    static const char *const arguments[] = { WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave",
                                             WS_SOURCE_ROOT
                                             "/projects/gemm-bf16/measured/gemm-bf16.wtrace",
                                             NULL };
    Program p;
    close_window(s);
    if (begin_program(&p, "GEMM bf16", arguments))
        end_program(&p);
}

/* Each in a window of its own, though the first is still being read when the second is opened. */
static void program_opens_kernels(Scenario *s)
{
    static const char *const arguments[] = { WS_SOURCE_ROOT "/tests/import/gluon/gemm.py",
                                             WS_SOURCE_ROOT "/tests/import/ptx/gemm.ptx", NULL };
    Program p;
    close_window(s);
    if (begin_program(&p, "gemm of gemm.ptx", arguments)) {
        g_autofree char *other = NULL;
        WAIT_FOR(p.done || (other = window_called("gemm of gemm.py")));
        end_program(&p);
    }
}

static void program_stays(Scenario *s)
{
    static const char *const arguments[] = { "/nonexistent/broken.wstave", NULL };
    Program p;
    close_window(s);
    if (begin_program(&p, "Warpstave", arguments))
        end_program(&p);
}

static void add(void)
{
    scenario_add("files/broken", broken);
    scenario_add("files/newer", newer);
    scenario_add("files/missing", missing);
    scenario_add("files/folder", folder);
    scenario_add("files/unreadable", unreadable);
    scenario_add("files/endless-link", endless_link);
    scenario_add("files/corrupt-trace", corrupt_trace);
    scenario_add("files/cut-trace", cut_trace);
    scenario_add("files/newer-trace", newer_trace);
    scenario_add("files/damaged-trace", damaged_trace);
    scenario_add_empty("files/broken-in-empty-window", broken);
    scenario_add("files/good-after-bad", good_after_bad);
    scenario_add_empty("files/refuted-designs", refuted);
    scenario_add_empty("files/every-design", every_design);
    scenario_add("files/measured-trace", measured);
    scenario_add("I45/drop", drop);
    scenario_add("I45/drop-kernel", drop_kernel);
    scenario_add_empty("files/program-opens-design-and-trace", program_opens_both);
    scenario_add_empty("files/program-opens-kernels", program_opens_kernels);
    scenario_add_empty("files/program-stays-without-the-file", program_stays);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
