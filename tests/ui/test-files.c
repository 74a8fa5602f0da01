/* Opening: broken, newer, missing and unreadable files are told of, and the window stays. */
#include "scenario.h"

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

static void good_after_bad(Scenario *s)
{
    refuse(s, "/nonexistent.wstave", "/nonexistent.wstave");
    scenario_open(s, "tests/designs/gemm-pingpong.wstave");
    WAIT_FOR(!bar(s) || !gtk_info_bar_get_revealed(GTK_INFO_BAR(bar(s))));
    g_autofree char *title = ws_document_title(s->document);
    g_assert_nonnull(strstr(title, "ping-pong"));
    g_assert_nonnull(strstr(gtk_window_get_title(GTK_WINDOW(s->window)), title));
}

/* A refuted design opens; its findings are in the problems panel and can be walked. */
static void refuted(Scenario *s)
{
    g_autoptr(GDir) dir = g_dir_open(WS_SOURCE_ROOT "/tests/designs/broken", 0, NULL);
    const char *name;
    guint n = 0;
    g_assert_nonnull(dir);
    while ((name = g_dir_read_name(dir))) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *path = g_build_filename("tests/designs/broken", name, NULL);
        scenario_open(s, path);
        n++;
        if (!ws_document_findings(s->document)->list->len)
            continue;
        scenario_act(s, "show-problems");
        scenario_act(s, "next-problem");
    }
    g_assert_cmpuint(n, >=, 5);
}

static void every_design(Scenario *s)
{
    g_autoptr(GDir) dir = g_dir_open(WS_SOURCE_ROOT "/tests/designs", 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir))) {
        if (!g_str_has_suffix(name, ".wstave"))
            continue;
        g_autofree char *path = g_build_filename("tests/designs", name, NULL);
        scenario_open(s, path);
        scenario_act(s, "show-resources");
        scenario_act(s, "show-measurements");
        scenario_act(s, "show-code");
    }
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
    scenario_add_empty("files/broken-in-empty-window", broken);
    scenario_add("files/good-after-bad", good_after_bad);
    scenario_add_empty("files/refuted-designs", refuted);
    scenario_add_empty("files/every-design", every_design);
    scenario_add("files/measured-trace", measured);
}

int main(int argc, char **argv)
{
    return scenario_main(argc, argv, add);
}
