#include "ui/panels/sidebar.h"

#include "ui/panels/palette_panel.h"
#include "ui/panels/structure.h"
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

static void chosen(const WsPaletteItem *item, gpointer window)
{
    ws_window_add_item(window, item, (WsEditSpot){ 0 });
}

GtkWidget *ws_sidebar_new(WsWindow *w)
{
    GtkWidget *paned = gtk_paned_new(GTK_ORIENTATION_VERTICAL);
    GtkWidget *structure = ws_structure_new(w->document);
    GtkWidget *palette = ws_palette_panel_new(w->document, FALSE, chosen, w);
    gtk_paned_set_start_child(GTK_PANED(paned), structure);
    gtk_paned_set_end_child(GTK_PANED(paned), palette);
    gtk_paned_set_shrink_start_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(paned), FALSE);
    gtk_widget_set_size_request(structure, 220, 120);
    gtk_widget_set_size_request(palette, 220, 190);
    gtk_widget_add_css_class(paned, "ws-sidebar");
    return paned;
}

GtkWidget *ws_sidebar_structure(GtkWidget *sidebar)
{
    return gtk_paned_get_start_child(GTK_PANED(sidebar));
}
