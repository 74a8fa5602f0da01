#include "ui/compose/add_dialog.h"

#include "ui/compose/edit_commands.h"
#include "ui/panels/palette_panel.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

typedef struct {
    WsWindow *window;
    GtkWindow *dialog;
} Add;

void ws_window_add_item(WsWindow *w, const WsPaletteItem *item, WsEditSpot spot)
{
    if (item->kind != WS_NODE_KIND_COUNT) {
        ws_edit_add_kind(w, item->kind, spot);
        return;
    }
    g_autofree char *text = ws_palette_text(item->name);
    ws_edit_insert_text(w, text, TRUE, spot);
}

static void chosen(const WsPaletteItem *item, gpointer data)
{
    Add *a = data;
    ws_window_add_item(a->window, item, (WsEditSpot){ 0 });
    gtk_window_destroy(a->dialog);
}

static gboolean key(GtkEventControllerKey *c, guint value, guint code, GdkModifierType state,
                    Add *a)
{
    if (value != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(a->dialog);
    return TRUE;
}

void ws_add_dialog_show(WsWindow *w, gboolean templates)
{
    Add *a = g_new0(Add, 1);
    *a = (Add){ w, GTK_WINDOW(gtk_window_new()) };
    GtkWidget *panel = ws_palette_panel_new(w->document, templates, chosen, a);
    gtk_window_set_title(a->dialog, templates ? _("Insert a Template") : _("Add"));
    gtk_window_set_transient_for(a->dialog, GTK_WINDOW(w));
    gtk_window_set_modal(a->dialog, TRUE);
    gtk_window_set_destroy_with_parent(a->dialog, TRUE);
    gtk_window_set_default_size(a->dialog, 560, 460);
    gtk_widget_add_css_class(GTK_WIDGET(a->dialog), "ws-studio");
    gtk_widget_add_css_class(GTK_WIDGET(a->dialog), "ws-palette");
    gtk_window_set_child(a->dialog, panel);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key), a);
    gtk_widget_add_controller(GTK_WIDGET(a->dialog), keys);
    g_object_set_data_full(G_OBJECT(a->dialog), "add", a, g_free);
    gtk_window_present(a->dialog);
    gtk_widget_grab_focus(ws_palette_panel_entry(panel));
}
