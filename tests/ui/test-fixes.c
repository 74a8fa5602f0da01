/* Quick-fixes in the problems panel: a finding that is explained gets buttons, one of them makes
 * the design right, and that is one step of undo. Skipped without a display. */
#include "ui/problems/problems.h"

static gboolean display;

static gboolean passed(gpointer done)
{
    *(gboolean *)done = TRUE;
    return G_SOURCE_REMOVE;
}

/* Turns the main loop for so long, asleep where nothing is to be done. */
static void turn(guint ms)
{
    gboolean done = FALSE;
    g_timeout_add(ms, passed, &done);
    while (g_main_context_iteration(NULL, !done) || !done)
        ;
}

static GtkWidget *first_button(WsProblems *problems)
{
    GtkWidget *child = gtk_widget_get_first_child(GTK_WIDGET(ws_problems_actions(problems)));
    return child && GTK_IS_BUTTON(child) ? child : NULL;
}

/* Until there is a button, 60 s at most. */
static GtkWidget *awaited_button(WsProblems *problems)
{
    for (guint i = 0; i < 1200 && !first_button(problems); i++)
        turn(50);
    return first_button(problems);
}

static void fix(gconstpointer data)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    g_autofree char *path =
        g_strconcat(WS_SOURCE_ROOT "/tests/designs/broken/", (const char *)data, ".wstave", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(path);
    g_autoptr(GError) error = NULL;
    WsDocument *document = ws_document_new();
    ws_document_open(document, file, &error);
    g_assert_no_error(error);
    GtkWidget *window = gtk_window_new(), *panel = ws_problems_new(document);
    gtk_window_set_child(GTK_WINDOW(window), panel);
    gtk_window_present(GTK_WINDOW(window));
    turn(60);
    WsProblems *problems = WS_PROBLEMS(panel);
    g_autofree char *before = ws_design_print(ws_document_design(document));
    g_assert_cmpuint(ws_problems_count(problems, WS_SEVERITY_ERROR), >, 0);
    g_assert_true(gtk_widget_activate_action(GTK_WIDGET(problems), "problems.next-problem", NULL));
    GtkWidget *button = awaited_button(problems);
    g_assert_nonnull(button);
    g_assert_nonnull(gtk_widget_get_tooltip_text(button));
    g_signal_emit_by_name(button, "clicked");
    for (guint i = 0; i < 1200 && ws_problems_count(problems, WS_SEVERITY_ERROR) > 0; i++)
        turn(50);
    g_assert_cmpuint(ws_problems_count(problems, WS_SEVERITY_ERROR), ==, 0);
    turn(60);
    g_assert_null(first_button(problems)); /* nothing is explained any more */
    g_assert_true(ws_document_undo(document));
    for (guint i = 0; i < 1200 && ws_problems_count(problems, WS_SEVERITY_ERROR) == 0; i++)
        turn(50);
    g_autofree char *after = ws_design_print(ws_document_design(document));
    g_assert_cmpstr(before, ==, after);
    gtk_window_destroy(GTK_WINDOW(window));
    turn(60);
    g_object_unref(document);
}

/* A panel that is closed while a thread looks for fixes goes at once. */
static void closed_early(void)
{
    if (!display) {
        g_test_skip("no display");
        return;
    }
    g_autoptr(GFile) file =
        g_file_new_for_path(WS_SOURCE_ROOT "/tests/designs/broken/01-missing-wait.wstave");
    WsDocument *document = ws_document_new();
    g_assert_true(ws_document_open(document, file, NULL));
    GtkWidget *panel = g_object_ref_sink(ws_problems_new(document));
    g_assert_true(gtk_widget_activate_action(GTK_WIDGET(panel), "problems.next-problem", NULL));
    gpointer weak = panel;
    g_object_add_weak_pointer(weak, &weak);
    g_object_unref(panel);
    g_assert_null(weak);
    /* The thread holds the document until it ends: 180 s at most. */
    for (guint i = 0; i < 3600 && G_OBJECT(document)->ref_count > 1; i++)
        turn(50);
    g_assert_finalize_object(document);
}

int main(int argc, char **argv)
{
    display = gtk_init_check();
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/ui/fixes/early-release", "05-early-release", fix);
    g_test_add_data_func("/ui/fixes/wrong-count", "02-wrong-count", fix);
    g_test_add_func("/ui/fixes/closed-early", closed_early);
    return g_test_run();
}
