/* Choosing a file to compare the open design with. */
#include "ui/document/document_compare.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

gboolean ws_window_compare_file(WsWindow *w, GFile *file)
{
    g_autoptr(GError) error = NULL;
    if (ws_document_compare_file(w->document, file, &error)) {
        ws_window_show_panel(w, WS_PART_COMPARE);
        return TRUE;
    }
    g_autofree char *name = g_file_get_parse_name(file);
    /* Translators: %s is a file. */
    g_autofree char *what = g_strdup_printf(_("Cannot compare with %s"), name);
    ws_window_say(w, GTK_MESSAGE_ERROR, what, error->message);
    return FALSE;
}

static void chose(GtkNativeDialog *dialog, int response, WsWindow *w)
{
    g_autoptr(GFile) file = ws_window_chosen(w, dialog, response);
    if (file)
        ws_window_compare_file(w, file);
}

void ws_window_choose_other_design(WsWindow *w)
{
    static const char *const designs[] = { "wstave", NULL };
    GtkFileChooser *chooser =
        ws_window_new_chooser(w, _("Compare with Another Design"), GTK_FILE_CHOOSER_ACTION_OPEN,
                              _("_Compare"), G_CALLBACK(chose));
    ws_window_add_filter(chooser, _("Designs (.wstave)"), designs);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(chooser));
}
