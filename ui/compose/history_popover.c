#include "ui/compose/history_popover.h"

#include "ui/app/actions.h"

#include <glib/gi18n.h>

static GtkWidget *state_row(const WsHistory *h, guint state)
{
    const guint now = ws_history_now(h);
    const char *name = ws_history_name(h, state);
    GtkWidget *row = gtk_list_box_row_new();
    g_autofree char *text = g_strdup_printf("%s  %s",
                                            state == now  ? "●"
                                            : state > now ? "○"
                                                          : " ",
                                            name ? name : _("As it was at first"));
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 60);
    if (state > now)
        gtk_widget_add_css_class(label, "dim");
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    g_object_set_data(G_OBJECT(row), "state", GUINT_TO_POINTER(state));
    gtk_widget_set_tooltip_text(row, state > now   ? _("Redo up to here")
                                     : state < now ? _("Undo everything after this")
                                                   : _("The design is here"));
    return row;
}

static void activated(GtkListBox *list, GtkListBoxRow *row, WsWindow *w)
{
    const guint state = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(row), "state"));
    GtkWidget *popover = gtk_widget_get_ancestor(GTK_WIDGET(list), GTK_TYPE_POPOVER);
    gtk_popover_popdown(GTK_POPOVER(popover));
    ws_document_go_to(ws_window_document(w), state);
}

/* Made anew whenever it opens. */
static void fill(GtkMenuButton *button, gpointer data)
{
    WsWindow *w = data;
    const WsHistory *h = ws_document_history(ws_window_document(w));
    GtkWidget *popover = gtk_popover_new(), *scroll = gtk_scrolled_window_new();
    GtkWidget *list = gtk_list_box_new();
    gtk_accessible_update_property(GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Undo history, the newest first"), -1);
    for (guint i = ws_history_n(h); i > 0; i--) {
        GtkWidget *row = state_row(h, i - 1);
        gtk_list_box_append(GTK_LIST_BOX(list), row);
        if (i - 1 == ws_history_now(h))
            gtk_list_box_select_row(GTK_LIST_BOX(list), GTK_LIST_BOX_ROW(row));
    }
    g_signal_connect(list, "row-activated", G_CALLBACK(activated), w);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), list);
    gtk_scrolled_window_set_propagate_natural_height(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_propagate_natural_width(GTK_SCROLLED_WINDOW(scroll), TRUE);
    gtk_scrolled_window_set_max_content_height(GTK_SCROLLED_WINDOW(scroll), 420);
    gtk_popover_set_child(GTK_POPOVER(popover), scroll);
    gtk_menu_button_set_popover(button, popover);
    GtkListBoxRow *now = gtk_list_box_get_selected_row(GTK_LIST_BOX(list));
    if (now)
        gtk_widget_grab_focus(GTK_WIDGET(now));
}

GtkWidget *ws_history_button_new(WsWindow *w)
{
    const WsAction *action = ws_action_find("history");
    g_autofree char *tip = ws_action_tooltip(action);
    GtkWidget *button = gtk_menu_button_new();
    gtk_widget_set_tooltip_text(button, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   ws_action_label(action), -1);
    gtk_menu_button_set_create_popup_func(GTK_MENU_BUTTON(button), fill, w, NULL);
    return button;
}
