/* Choosing the machine that predictions are played on. */
#include "ui/app/settings.h"
#include "ui/document/document_machine.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

static gboolean ws_window_use_machine(WsWindow *w, GFile *file)
{
    g_autoptr(GError) error = NULL;
    if (ws_document_use_machine(w->document, file, &error))
        return TRUE;
    g_autofree char *name = g_file_get_parse_name(file);
    /* Translators: %s is a file. */
    g_autofree char *what = g_strdup_printf(_("Cannot predict with %s"), name);
    ws_window_say(w, GTK_MESSAGE_ERROR, what, error->message);
    return FALSE;
}

static void chose(GtkNativeDialog *dialog, int response, WsWindow *w)
{
    g_autoptr(GFile) file = ws_window_chosen(w, dialog, response);
    if (file)
        ws_window_use_machine(w, file);
}

void ws_window_choose_machine(WsWindow *w)
{
    static const char *const machines[] = { "json", NULL };
    GtkFileChooser *chooser =
        ws_window_new_chooser(w, _("Machine Description"), GTK_FILE_CHOOSER_ACTION_OPEN,
                              _("_Predict"), G_CALLBACK(chose));
    g_autofree char *shipped = ws_machines_folder();
    g_autoptr(GFile) folder = shipped ? g_file_new_for_path(shipped) : NULL;
    if (folder)
        gtk_file_chooser_set_current_folder(chooser, folder, NULL);
    ws_window_add_filter(chooser, _("Machine descriptions (.json)"), machines);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}

void ws_window_machine_built_in(WsWindow *w)
{
    ws_document_use_machine(w->document, NULL, NULL);
}
