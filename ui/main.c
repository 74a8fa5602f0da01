#include "ui/app/application.h"
#include "ui/app/benchmark.h"
#include "ui/app/settings.h"
#include "ui/app/theme.h"
#include "ui/roots.h"

#include <glib/gi18n.h>
#include <locale.h>
#include <string.h>

/* Exit status for "something is absent here", as in the command line tool. */
#define EXIT_ABSENT 4

static gboolean asks_only(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-v") ||
            g_str_has_prefix(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return TRUE;
    return FALSE;
}

/* No picture shows where somebody keeps the sources: they lie in "~". */
static void hide_places(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (g_str_has_prefix(argv[i], "--pictures"))
            g_setenv("HOME", WS_SOURCE_ROOT, TRUE);
}

/* The benchmark and the pictures are made in a process of their own, not in the running studio. */
static gboolean measures(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--benchmark") || g_str_has_prefix(argv[i], "--pictures"))
            return TRUE;
    return FALSE;
}

int main(int argc, char **argv)
{
    ws_benchmark_note_start();
    setlocale(LC_ALL, "");
    hide_places(argc, argv);
    ws_ui_setup();
    ws_theme_take_environment();
    if (!asks_only(argc, argv) && !gtk_init_check()) {
        g_printerr(
            _("warpstave-studio: there is no display. Set DISPLAY or WAYLAND_DISPLAY, or use "
              "the command line tool: warpstave --help\n"));
        return EXIT_ABSENT;
    }
    g_autoptr(WsApplication) application = ws_application_new(!measures(argc, argv));
    return g_application_run(G_APPLICATION(application), argc, argv);
}
