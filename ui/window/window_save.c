/* Keeping work: saving, asking before it is lost, the mark of what is unsaved. */
#include "ui/window/window_private.h"

#include "ui/compose/new_dialog.h"
#include "ui/document/document_source.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <string.h>

/* --- saying -------------------------------------------------------------------------------------
 */

static gboolean hide_toast(gpointer data)
{
    WsWindow *w = data;
    w->toast_source = 0;
    gtk_widget_set_visible(GTK_WIDGET(w->toast), FALSE);
    return G_SOURCE_REMOVE;
}

void ws_window_toast(WsWindow *w, const char *text)
{
    g_clear_handle_id(&w->toast_source, g_source_remove);
    gtk_label_set_text(w->toast, text ? text : "");
    gtk_widget_set_visible(GTK_WIDGET(w->toast), text && *text);
    if (text && *text)
        w->toast_source = g_timeout_add_seconds(12, hide_toast, w);
}

/* What to do about an error of writing. */
static const char *remedy_for(const GError *error)
{
    if (error->domain != G_FILE_ERROR)
        return NULL;
    switch (error->code) {
    case G_FILE_ERROR_NOSPC:
        return _("The disk is full. Make room and save again, or save to another disk. The design "
                 "stays open, and the file is as it was.");
    case G_FILE_ERROR_ROFS:
        return _("That disk can only be read. Save to another folder with Save As. The design "
                 "stays open.");
    case G_FILE_ERROR_ACCES:
    case G_FILE_ERROR_PERM:
        return _("You may not write there. Save to a folder of yours with Save As, or change the "
                 "permissions and save again. The design stays open.");
    case G_FILE_ERROR_NOENT:
    case G_FILE_ERROR_NOTDIR:
        return _("The folder is gone: it was moved or removed, or its disk is not mounted. Put it "
                 "back and save again, or save to another folder with Save As. The design stays "
                 "open.");
    default:
        return _("Save to another place with Save As. The design stays open, and the file is as it "
                 "was.");
    }
}

gboolean ws_window_save(WsWindow *w, GFile *file)
{
    g_autoptr(GError) error = NULL;
    if (ws_document_save(w->document, file, &error)) {
        ws_window_say_nothing(w);
        ws_window_note_recent(file);
        ws_window_watch_file(w);
        return TRUE;
    }
    g_autofree char *name = g_file_get_parse_name(file);
    g_autofree char *what = g_strdup_printf(_("Cannot save %s"), name);
    const char *remedy = remedy_for(error);
    g_autofree char *how =
        remedy ? g_strdup_printf("%s\n%s", error->message, remedy) : g_strdup(error->message);
    ws_window_say(w, GTK_MESSAGE_ERROR, what, how);
    return FALSE;
}

/* --- choosing a file -------------------------------------------------------------------------- */

/* What goes on once the design is safe (or given up). */
static void go_on(WsWindow *w, gboolean safe)
{
    WsWindowThen then = w->then;
    gpointer data = w->then_data;
    w->then = NULL;
    w->then_data = NULL;
    if (then)
        then(w, safe, data);
}

static void chose(GtkNativeDialog *dialog, int response, WsWindow *w)
{
    g_autoptr(GFile) file = ws_window_chosen(w, dialog, response);
    g_autofree char *name = file ? g_file_get_basename(file) : NULL;
    if (name && !g_str_has_suffix(name, ".wstave")) {
        g_autofree char *path = g_file_get_path(file);
        g_autofree char *full = g_strconcat(path, ".wstave", NULL);
        g_object_unref(file);
        file = g_file_new_for_path(full);
    }
    go_on(w, file && ws_window_save(w, file));
}

/* gemm.wstave for gemm.py. Caller frees. */
static char *name_beside(const char *source)
{
    const char *dot = strrchr(source, '.');
    return g_strdup_printf("%.*s.wstave", dot ? (int)(dot - source) : (int)strlen(source), source);
}

void ws_window_save_as(WsWindow *w)
{
    static const char *const designs[] = { "wstave", NULL };
    GtkFileChooser *chooser = ws_window_new_chooser(
        w, _("Save the Design"), GTK_FILE_CHOOSER_ACTION_SAVE, _("_Save"), G_CALLBACK(chose));
    GFile *file = ws_document_file(w->document);
    const WsSource *source = ws_document_source(w->document);
    g_autofree char *base = file     ? g_file_get_basename(file)
                            : source ? name_beside(source->name)
                                     : g_strdup("design.wstave");
    gtk_file_chooser_set_current_name(chooser,
                                      g_str_has_suffix(base, ".wtrace") ? "design.wstave" : base);
    ws_window_add_filter(chooser, _("Designs (.wstave)"), designs);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}

static gboolean has_design_file(WsWindow *w)
{
    GFile *file = ws_document_file(w->document);
    g_autofree char *name = file ? g_file_get_basename(file) : NULL;
    return name && g_str_has_suffix(name, ".wstave");
}

void ws_window_do_save(WsWindow *w)
{
    if (has_design_file(w))
        ws_window_save(w, ws_document_file(w->document));
    else
        ws_window_save_as(w);
}

/* --- before something is lost ----------------------------------------------------------------- */

/* The dialogue is gone, with the key or click that answered it, before anything else goes. */
static gboolean act_on_answer(gpointer data)
{
    g_autoptr(WsWindow) w = data;
    if (!w->document || !w->answer)
        return G_SOURCE_REMOVE;
    const int response = w->answer;
    w->answer = 0;
    if (response == GTK_RESPONSE_REJECT)
        go_on(w, TRUE);
    else if (response != GTK_RESPONSE_ACCEPT)
        go_on(w, FALSE);
    else if (has_design_file(w))
        go_on(w, ws_window_save(w, ws_document_file(w->document)));
    else
        ws_window_save_as(w); /* goes on when a file is chosen */
    return G_SOURCE_REMOVE;
}

static void answered(GtkDialog *dialog, int response, WsWindow *w)
{
    w->asking = NULL;
    w->answer = response;
    gtk_window_destroy(GTK_WINDOW(dialog));
    g_idle_add(act_on_answer, g_object_ref(w));
}

/* Other windows may show the same document: it is not lost with this one. */
static gboolean is_shown_elsewhere(WsWindow *w)
{
    GList *all = gtk_application_get_windows(gtk_window_get_application(GTK_WINDOW(w)));
    for (GList *l = all; l; l = l->next)
        if (l->data != (gpointer)w && WS_IS_WINDOW(l->data) &&
            WS_WINDOW(l->data)->document == w->document)
            return TRUE;
    return FALSE;
}

void ws_window_when_safe(WsWindow *w, gboolean closing, WsWindowThen then, gpointer data)
{
    if (!ws_document_dirty(w->document) || (closing && is_shown_elsewhere(w))) {
        then(w, TRUE, data);
        return;
    }
    w->then = then;
    w->then_data = data;
    if (w->asking) {
        gtk_window_present(w->asking);
        return;
    }
    g_autofree char *title = ws_document_title(w->document);
    GFile *file = ws_document_file(w->document);
    g_autofree char *name = file ? g_file_get_basename(file) : g_strdup(title);
    GtkWidget *dialog = gtk_message_dialog_new(
        GTK_WINDOW(w), GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_WARNING,
        GTK_BUTTONS_NONE, _("Save the changes to “%s”?"), name);
    gtk_message_dialog_format_secondary_text(
        GTK_MESSAGE_DIALOG(dialog), _("If you discard them, what you did since the last save is "
                                      "gone."));
    gtk_dialog_add_button(GTK_DIALOG(dialog), _("_Cancel"), GTK_RESPONSE_CANCEL);
    GtkWidget *discard =
        gtk_dialog_add_button(GTK_DIALOG(dialog), _("_Discard"), GTK_RESPONSE_REJECT);
    GtkWidget *save = gtk_dialog_add_button(GTK_DIALOG(dialog), _("_Save"), GTK_RESPONSE_ACCEPT);
    gtk_widget_add_css_class(discard, "destructive-action");
    gtk_widget_add_css_class(save, "suggested-action");
    gtk_dialog_set_default_response(GTK_DIALOG(dialog), GTK_RESPONSE_ACCEPT);
    g_signal_connect_object(dialog, "response", G_CALLBACK(answered), w, 0);
    w->asking = GTK_WINDOW(dialog);
    gtk_window_present(w->asking);
}

/* --- new -------------------------------------------------------------------------------------- */

static void take_new(WsWindow *w, gboolean safe, gpointer design)
{
    if (safe && design) {
        ws_window_say_nothing(w);
        ws_document_take_design(w->document, design, NULL, FALSE);
        ws_window_want_pane(w, WS_PANE_SIDEBAR, TRUE);
    }
    g_clear_pointer((WsDesign **)&design, ws_design_unref);
}

void ws_window_begin_design(WsWindow *w, const WsDesign *design)
{
    ws_window_when_safe(w, FALSE, take_new, ws_design_ref(design));
}

void ws_window_do_new(WsWindow *w)
{
    ws_new_dialog_show(w);
}
