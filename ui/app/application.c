#include "ui/app/application.h"

#include "ui/app/benchmark.h"
#include "ui/app/pictures.h"
#include "ui/app/settings.h"
#include "ui/app/theme.h"
#include "ui/compose/recovery.h"
#include "ui/window/window.h"

#include <glib/gi18n.h>

struct _WsApplication {
    GtkApplication parent;
};

G_DEFINE_FINAL_TYPE(WsApplication, ws_application, GTK_TYPE_APPLICATION)

static const GOptionEntry options[] = {
    { "new-window", 'w', 0, G_OPTION_ARG_NONE, NULL, N_("Open a new window"), NULL },
    { "version", 'v', 0, G_OPTION_ARG_NONE, NULL, N_("Print the version and exit"), NULL },
    { "benchmark", 0, 0, G_OPTION_ARG_NONE, NULL,
      N_("Measure start, zoom and pan, print the figures and exit"), NULL },
    { "pictures", 0, 0, G_OPTION_ARG_FILENAME, NULL,
      N_("Draw the pictures of the manual into FOLDER and exit"), N_("FOLDER") },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, NULL, NULL,
      N_("[DESIGN|KERNEL|TRACE …]") },
    { NULL }
};

static void startup(GApplication *application)
{
    G_APPLICATION_CLASS(ws_application_parent_class)->startup(application);
    ws_theme_start();
    gtk_window_set_default_icon_name(WS_APPLICATION_ID);
    ws_actions_set_accels(GTK_APPLICATION(application));
}

/* Once per start, when the first window is there: what a crash left. */
static gboolean offer_recovery(gpointer application)
{
    GtkWindow *active = gtk_application_get_active_window(GTK_APPLICATION(application));
    if (active && WS_IS_WINDOW(active))
        ws_recovery_offer(WS_WINDOW(active));
    return G_SOURCE_REMOVE;
}

static WsWindow *empty_window(GApplication *application)
{
    GtkWindow *active = gtk_application_get_active_window(GTK_APPLICATION(application));
    if (active && WS_IS_WINDOW(active) &&
        !ws_document_design(ws_window_document(WS_WINDOW(active))) &&
        !ws_window_importing(WS_WINDOW(active)))
        return WS_WINDOW(active);
    return ws_window_new(GTK_APPLICATION(application));
}

static gboolean is_trace(GFile *file)
{
    g_autofree char *name = g_file_get_basename(file);
    return name && g_str_has_suffix(name, ".wtrace");
}

/* Each design gets a window; a trace that follows its design is laid under it there. */
static void open_files(GApplication *application, GFile **file, int n, const char *hint)
{
    WsWindow *last = NULL;
    for (int i = 0; i < n; i++) {
        if (last && is_trace(file[i]) && ws_document_program(ws_window_document(last))) {
            ws_window_open_trace(last, file[i]);
            continue;
        }
        last = empty_window(application);
        ws_window_open(last, file[i]); /* first: the welcome page is not laid out for nothing */
        gtk_window_present(GTK_WINDOW(last));
    }
}

static void activate(GApplication *application)
{
    GtkWindow *active = gtk_application_get_active_window(GTK_APPLICATION(application));
    if (!active)
        active = GTK_WINDOW(ws_window_new(GTK_APPLICATION(application)));
    gtk_window_present(active);
}

static int command_line(GApplication *application, GApplicationCommandLine *line)
{
    GVariantDict *dict = g_application_command_line_get_options_dict(line);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_object_unref);
    g_autofree const char **name = NULL;
    gboolean new_window = g_variant_dict_contains(dict, "new-window");
    g_variant_dict_lookup(dict, G_OPTION_REMAINING, "^a&ay", &name);
    if (g_variant_dict_contains(dict, "benchmark"))
        return ws_benchmark_run(GTK_APPLICATION(application), name ? name[0] : NULL);
    const char *folder;
    if (g_variant_dict_lookup(dict, "pictures", "^&ay", &folder))
        return ws_pictures_run(GTK_APPLICATION(application), folder);
    for (guint i = 0; name && name[i]; i++)
        g_ptr_array_add(files, g_application_command_line_create_file_for_arg(line, name[i]));
    if (new_window)
        gtk_window_present(GTK_WINDOW(ws_window_new(GTK_APPLICATION(application))));
    static gboolean offered;
    if (!offered)
        g_idle_add_full(G_PRIORITY_LOW, offer_recovery, g_object_ref(application), g_object_unref);
    offered = TRUE;
    if (files->len)
        open_files(application, (GFile **)files->pdata, (int)files->len, "");
    else if (!new_window)
        activate(application);
    return 0;
}

static int handle_local_options(GApplication *application, GVariantDict *dict)
{
    if (!g_variant_dict_contains(dict, "version"))
        return -1;
    g_print("warpstave-studio %s\n", WARPSTAVE_VERSION);
    return 0;
}

static void ws_application_class_init(WsApplicationClass *class)
{
    GApplicationClass *application = G_APPLICATION_CLASS(class);
    application->startup = startup;
    application->activate = activate;
    application->open = open_files;
    application->command_line = command_line;
    application->handle_local_options = handle_local_options;
}

static void ws_application_init(WsApplication *self)
{
    g_application_add_main_option_entries(G_APPLICATION(self), options);
    g_application_set_option_context_summary(
        G_APPLICATION(self), _("Shows designs of GPU kernels as scores, predicted and measured."));
}

WsApplication *ws_application_new(gboolean unique)
{
    GApplicationFlags flags = G_APPLICATION_HANDLES_OPEN | G_APPLICATION_HANDLES_COMMAND_LINE;
    return g_object_new(WS_TYPE_APPLICATION, "application-id", WS_APPLICATION_ID, "flags",
                        flags | (unique ? 0 : G_APPLICATION_NON_UNIQUE), NULL);
}
