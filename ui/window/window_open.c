#include "model/findings.h"
#include "ui/document/document_hang.h"
#include "ui/document/document_source.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>
#include <string.h>

#define MIME_DESIGN "application/x-warpstave"
#define MIME_TRACE  "application/x-warpstave-trace"
#define MAX_RECENT  12

/* --- the error bar ---------------------------------------------------------------------------- */

void ws_window_say(WsWindow *w, GtkMessageType type, const char *what, const char *how)
{
    static const char *const icon[] = {
        [GTK_MESSAGE_INFO] = "dialog-information-symbolic",
        [GTK_MESSAGE_WARNING] = "dialog-warning-symbolic",
        [GTK_MESSAGE_QUESTION] = "dialog-question-symbolic",
        [GTK_MESSAGE_ERROR] = "dialog-error-symbolic",
        [GTK_MESSAGE_OTHER] = "dialog-information-symbolic",
    };
    gtk_info_bar_set_message_type(w->error_bar, type);
    gtk_image_set_from_icon_name(w->error_icon, icon[type]);
    gtk_label_set_text(w->error_what, what);
    gtk_label_set_text(w->error_how, how ? how : "");
    gtk_widget_set_visible(w->error_scroll, how && *how);
    gtk_widget_set_visible(w->reload_button, FALSE);
    gtk_widget_set_visible(w->cancel_button, FALSE);
    gtk_widget_set_visible(w->compare_button, FALSE);
    gtk_widget_set_visible(w->own_button, FALSE);
    gtk_info_bar_set_revealed(w->error_bar, TRUE);
}

void ws_window_say_nothing(WsWindow *w)
{
    gtk_info_bar_set_revealed(w->error_bar, FALSE);
}

static const char *remedy_for(GFile *file, const GError *error)
{
    if (g_error_matches(error, WS_TRACE_ERROR, WS_TRACE_ERROR_VERSION))
        return _(
            "This trace was written by a newer Warpstave. Update Warpstave, or record the trace "
            "again with this version.");
    if (g_error_matches(error, WS_TRACE_ERROR, WS_TRACE_ERROR_FORMAT))
        return _("The trace is damaged or is none. Record it again, or take a fresh copy of it.");
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA))
        return NULL; /* the findings name their remedies */
    if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED))
        return _("You may not read it. Change its permissions, or copy it to a folder of yours.");
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY))
        return _("It is a folder without a design.wstave. Open a .wstave or .wtrace file in it.");
    if (!g_file_query_exists(file, NULL))
        return _("It is not there. It may have been moved, or its folder may not be mounted.");
    return NULL;
}

static void say_cannot_open(WsWindow *w, GFile *file, const GError *error)
{
    g_autofree char *name = g_file_get_parse_name(file);
    /* Translators: %s is a file. */
    g_autofree char *what = g_strdup_printf(_("Cannot open %s"), name);
    const char *remedy = remedy_for(file, error);
    g_autofree char *how =
        remedy ? g_strdup_printf("%s\n%s", error->message, remedy) : g_strdup(error->message);
    ws_window_say(w, GTK_MESSAGE_ERROR, what, how);
}

/* --- opening ---------------------------------------------------------------------------------- */

static gboolean is_trace(GFile *file)
{
    g_autofree char *name = g_file_get_basename(file);
    return name && g_str_has_suffix(name, ".wtrace");
}

void ws_window_note_recent(GFile *file)
{
    g_autofree char *uri = g_file_get_uri(file);
    g_autofree char *name = g_file_get_basename(file);
    static char *groups[] = { "warpstave", NULL };
    GtkRecentData data = { .display_name = name,
                           .mime_type = (char *)(is_trace(file)       ? MIME_TRACE
                                                 : ws_source_is(file) ? "text/plain"
                                                                      : MIME_DESIGN),
                           .app_name = (char *)"warpstave-studio",
                           .app_exec = (char *)"warpstave-studio %u",
                           .groups = groups };
    gtk_recent_manager_add_full(gtk_recent_manager_get_default(), uri, &data);
}

/* A folder, or a file that cannot be opened at all, is named as such before any reader sees it. */
static gboolean readable(GFile *file, GError **error)
{
    g_autoptr(GFileInputStream) stream = g_file_read(file, NULL, error);
    return stream != NULL;
}

/* FALSE: it is no trace, or one of another design. */
static gboolean is_of_this(WsWindow *w, GFile *file)
{
    return is_trace(file) && ws_document_program(w->document) &&
           ws_document_open_trace(w->document, file, NULL);
}

static gboolean open_either(WsWindow *w, GFile *file, GError **error)
{
    if (!readable(file, error))
        return FALSE;
    return is_of_this(w, file) || ws_document_open(w->document, file, error);
}

/* What a reader wants to see first: what is wrong; if nothing is, where the time goes. */
static void choose_panel(WsWindow *w)
{
    WsFindings *findings = ws_document_findings(w->document);
    gboolean wrong = findings && ws_findings_count(findings, WS_SEVERITY_WARNING) > 0;
    ws_window_raise_panel(w, wrong ? WS_PART_PROBLEMS : WS_PART_MEASUREMENTS);
}

static gboolean opened(WsWindow *w, GFile *file, gboolean ok, const GError *error)
{
    if (!ok) {
        say_cannot_open(w, file, error);
        return FALSE;
    }
    ws_window_say_nothing(w);
    ws_window_note_recent(file);
    choose_panel(w);
    if (!ws_document_program(w->document))
        ws_window_show_panel(w, WS_PART_PROBLEMS);
    else
        gtk_widget_grab_focus(w->part[WS_PART_TIMELINE]);
    return TRUE;
}

/* A project's folder stands for the design in it. Transfer full. */
static GFile *design_of(GFile *file)
{
    g_autoptr(GFile) design = g_file_get_child(file, "design.wstave");
    return g_object_ref(g_file_query_exists(design, NULL) ? design : file);
}

/* What the results of a run say of the agents that stood still. */
static gboolean open_hang(WsWindow *w, GFile *file, GFile *folder)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) lines = g_string_new(NULL);
    if (!ws_document_open_hang(w->document, folder, &error)) {
        say_cannot_open(w, file, error);
        return FALSE;
    }
    const WsHang *h = ws_document_hang(w->document);
    const guint n = h ? h->stuck->len : 0;
    for (guint i = 0; i < n; i++) {
        g_autofree char *line = ws_hang_text(h, i);
        g_string_append_printf(lines, "%s%s", i ? "\n" : "", line);
    }
    if (h && h->seen)
        g_string_append_printf(lines, "\n%s", h->seen);
    g_autofree char *what =
        n ? g_strdup_printf(g_dngettext(GETTEXT_PACKAGE, "The kernel hung: %u agent is stuck",
                                        "The kernel hung: %u agents are stuck", n),
                            n)
          : g_strdup(_("No agent hung in this run"));
    ws_window_say(w, n ? GTK_MESSAGE_ERROR : GTK_MESSAGE_INFO, what, lines->str);
    return TRUE;
}

gboolean ws_window_open(WsWindow *w, GFile *given)
{
    g_autoptr(GFile) results = ws_hang_folder(given);
    if (results)
        return open_hang(w, given, results);
    g_autoptr(GError) error = NULL;
    g_autoptr(GFile) file = design_of(given);
    if (ws_source_is(file) && g_file_query_file_type(file, 0, NULL) != G_FILE_TYPE_DIRECTORY) {
        ws_window_import(w, file);
        return TRUE;
    }
    ws_window_cancel_import(w);
    gboolean ok = open_either(w, file, &error);
    return opened(w, file, ok, error);
}

static gboolean lay_under(WsWindow *w, GFile *file)
{
    return is_of_this(w, file) && opened(w, file, TRUE, NULL);
}

gboolean ws_window_open_own(WsWindow *w, GFile *file)
{
    g_autoptr(GError) error = NULL;
    ws_window_cancel_import(w);
    const gboolean ok = readable(file, &error) && ws_document_open(w->document, file, &error);
    return opened(w, file, ok, error);
}

static void open_now(WsWindow *w, gboolean safe, gpointer data)
{
    g_autoptr(GFile) file = data;
    if (safe)
        ws_window_open(w, file);
}

void ws_window_open_safely(WsWindow *w, GFile *file)
{
    g_autofree char *name = g_file_get_basename(file);
    /* A trace is laid under what is open, if it is of that design; results of a run tell of it. */
    if (is_trace(file) && ws_window_offer_trace(w, file, FALSE))
        return;
    if (name && g_str_has_suffix(name, ".json"))
        ws_window_open(w, file);
    else if (!is_trace(file) || !lay_under(w, file))
        ws_window_when_safe(w, FALSE, open_now, g_object_ref(file));
}

gboolean ws_window_open_trace(WsWindow *w, GFile *file)
{
    g_autoptr(GError) error = NULL;
    if (ws_window_offer_trace(w, file, TRUE))
        return FALSE;
    gboolean ok = readable(file, &error) && ws_document_open_trace(w->document, file, &error);
    return opened(w, file, ok, error);
}

/* --- dialogues -------------------------------------------------------------------------------- */

void ws_window_add_filter(GtkFileChooser *chooser, const char *name, const char *const *suffixes)
{
    g_autoptr(GtkFileFilter) filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, name);
    for (guint i = 0; suffixes[i]; i++)
        gtk_file_filter_add_suffix(filter, suffixes[i]);
    gtk_file_chooser_add_filter(chooser, filter);
}

GtkFileChooser *ws_window_new_chooser(WsWindow *w, const char *title, GtkFileChooserAction action,
                                      const char *accept, GCallback response)
{
    g_clear_object(&w->chooser);
    w->chooser = gtk_file_chooser_native_new(title, GTK_WINDOW(w), action, accept, _("_Cancel"));
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(w->chooser), TRUE);
    g_signal_connect_object(w->chooser, "response", response, w, 0);
    const WsSource *source = ws_document_source(w->document);
    GFile *file = ws_document_file(w->document);
    if (!file && source)
        file = source->file;
    g_autoptr(GFile) folder = file ? g_file_get_parent(file) : NULL;
    if (folder)
        gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(w->chooser), folder, NULL);
    return GTK_FILE_CHOOSER(w->chooser);
}

GFile *ws_window_chosen(WsWindow *w, GtkNativeDialog *dialog, int response)
{
    GFile *file = response == GTK_RESPONSE_ACCEPT
                      ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
                      : NULL;
    g_clear_object(&w->chooser);
    return file;
}

static void chose_file(GtkNativeDialog *dialog, int response, WsWindow *w)
{
    gboolean trace = g_object_get_data(G_OBJECT(dialog), "trace") != NULL;
    g_autoptr(GFile) file = ws_window_chosen(w, dialog, response);
    if (file && trace)
        ws_window_open_trace(w, file);
    else if (file)
        ws_window_open_safely(w, file);
}

void ws_window_choose_file(WsWindow *w, gboolean trace)
{
    static const char *const designs[] = { "wstave", "wtrace", "py", "ptx", "results.json", NULL };
    static const char *const kernels[] = { "py", "ptx", NULL };
    static const char *const traces[] = { "wtrace", NULL };
    GtkFileChooser *chooser = ws_window_new_chooser(
        w, trace ? _("Add a Measured Trace") : _("Open a Design, a Kernel or a Trace"),
        GTK_FILE_CHOOSER_ACTION_OPEN, _("_Open"), G_CALLBACK(chose_file));
    if (trace)
        g_object_set_data(G_OBJECT(chooser), "trace", w);
    ws_window_add_filter(
        chooser,
        trace ? _("Traces (.wtrace)")
              : _("Designs, kernels, traces, results of a run (.wstave, .py, .ptx, .wtrace, "
                  "results.json)"),
        trace ? traces : designs);
    if (!trace)
        ws_window_add_filter(chooser, _("Kernels in Gluon, TLE or PTX (.py, .ptx)"), kernels);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}

/* --- drops ------------------------------------------------------------------------------------ */

static gboolean dropped(GtkDropTarget *target, const GValue *value, double x, double y, WsWindow *w)
{
    gtk_widget_remove_css_class(GTK_WIDGET(w), "ws-drop");
    GSList *files = g_value_get_boxed(value);
    for (GSList *f = files; f; f = f->next)
        ws_window_open_safely(w, f->data);
    return files != NULL;
}

static GdkDragAction drag_enter(GtkDropTarget *target, double x, double y, WsWindow *w)
{
    gtk_widget_add_css_class(GTK_WIDGET(w), "ws-drop");
    return GDK_ACTION_COPY;
}

static void drag_leave(GtkDropTarget *target, WsWindow *w)
{
    gtk_widget_remove_css_class(GTK_WIDGET(w), "ws-drop");
}

void ws_window_accept_drops(WsWindow *w)
{
    GtkDropTarget *target = gtk_drop_target_new(GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);
    g_signal_connect_object(target, "drop", G_CALLBACK(dropped), w, 0);
    g_signal_connect_object(target, "enter", G_CALLBACK(drag_enter), w, 0);
    g_signal_connect_object(target, "leave", G_CALLBACK(drag_leave), w, 0);
    gtk_widget_add_controller(GTK_WIDGET(w), GTK_EVENT_CONTROLLER(target));
}

/* --- recent files ----------------------------------------------------------------------------- */

static gint newest_first(gconstpointer a, gconstpointer b)
{
    GtkRecentInfo *first = (GtkRecentInfo *)a, *second = (GtkRecentInfo *)b;
    return g_date_time_compare(gtk_recent_info_get_modified(second),
                               gtk_recent_info_get_modified(first));
}

GMenuModel *ws_window_recent_menu(void)
{
    GList *all = gtk_recent_manager_get_items(gtk_recent_manager_get_default());
    GMenu *menu = g_menu_new();
    guint n = 0;
    all = g_list_sort(all, newest_first);
    for (GList *l = all; l && n < MAX_RECENT; l = l->next) {
        GtkRecentInfo *info = l->data;
        if (!gtk_recent_info_has_group(info, "warpstave"))
            continue;
        g_autoptr(GMenuItem) item = g_menu_item_new(NULL, NULL);
        g_autofree char *shown = gtk_recent_info_get_uri_display(info);
        g_menu_item_set_label(item, shown ? shown : gtk_recent_info_get_display_name(info));
        g_menu_item_set_action_and_target(item, "win.open-file", "s",
                                          gtk_recent_info_get_uri(info));
        g_menu_append_item(menu, item);
        n++;
    }
    if (!n)
        g_menu_append(menu, _("No recent files"), "win.none");
    g_list_free_full(all, (GDestroyNotify)gtk_recent_info_unref);
    return G_MENU_MODEL(menu);
}
