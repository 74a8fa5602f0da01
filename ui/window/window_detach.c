/* A panel in a window of its own (I51): by its command, or by dragging its tab off the window. It
 * comes back when that window is closed. */
#include "ui/window/window_private.h"

#include <glib/gi18n.h>

#define TAB_GROUP "warpstave-panels"

static void take_back(GtkNotebook *from, WsWindow *w)
{
    GtkWidget *panel;
    while ((panel = gtk_notebook_get_nth_page(from, 0))) {
        g_autoptr(GtkWidget) kept = g_object_ref(panel);
        g_autofree char *label = g_strdup(gtk_notebook_get_tab_label_text(from, panel));
        gtk_notebook_detach_tab(from, panel);
        ws_window_add_panel(w, panel, label);
    }
}

static gboolean closed(GtkWindow *window, WsWindow *w)
{
    take_back(GTK_NOTEBOOK(gtk_window_get_child(window)), w);
    g_ptr_array_remove(w->detached, window);
    return FALSE;
}

/* Dragging the last tab back leaves an empty window. */
static void page_removed(GtkNotebook *notebook, GtkWidget *panel, guint page, GtkWindow *window)
{
    if (gtk_notebook_get_n_pages(notebook) == 0 && gtk_widget_get_visible(GTK_WIDGET(window)))
        gtk_widget_set_visible(GTK_WIDGET(window), FALSE);
}

static void page_added(GtkNotebook *notebook, GtkWidget *panel, guint page, GtkWindow *window)
{
    gtk_window_present(window);
}

static GtkNotebook *new_window(WsWindow *w, const char *title)
{
    GtkWindow *window = GTK_WINDOW(gtk_window_new());
    GtkWidget *notebook = gtk_notebook_new();
    gtk_notebook_set_group_name(GTK_NOTEBOOK(notebook), TAB_GROUP);
    gtk_notebook_set_show_border(GTK_NOTEBOOK(notebook), FALSE);
    gtk_widget_add_css_class(notebook, "ws-panels");
    gtk_widget_add_css_class(GTK_WIDGET(window), "ws-studio");
    gtk_window_set_title(window, title);
    gtk_window_set_application(window, gtk_window_get_application(GTK_WINDOW(w)));
    gtk_window_set_default_size(window, 900, 500);
    gtk_widget_insert_action_group(GTK_WIDGET(window), "win", G_ACTION_GROUP(w));
    gtk_window_set_child(window, notebook);
    g_signal_connect_object(window, "close-request", G_CALLBACK(closed), w, 0);
    g_signal_connect_object(notebook, "page-removed", G_CALLBACK(page_removed), window, 0);
    g_signal_connect_object(notebook, "page-added", G_CALLBACK(page_added), window, 0);
    g_ptr_array_add(w->detached, window);
    return GTK_NOTEBOOK(notebook);
}

static GtkNotebook *create_window(GtkNotebook *from, GtkWidget *panel, WsWindow *w)
{
    return new_window(w, gtk_notebook_get_tab_label_text(from, panel));
}

void ws_window_add_panel(WsWindow *w, GtkWidget *panel, const char *label)
{
    gtk_notebook_append_page(w->panels, panel, gtk_label_new(label));
    gtk_notebook_set_tab_detachable(w->panels, panel, TRUE);
    gtk_notebook_set_tab_reorderable(w->panels, panel, TRUE);
}

void ws_window_make_detachable(WsWindow *w)
{
    w->detached = g_ptr_array_new();
    gtk_notebook_set_group_name(w->panels, TAB_GROUP);
    g_signal_connect_object(w->panels, "create-window", G_CALLBACK(create_window), w, 0);
}

void ws_window_detach_panel(WsWindow *w)
{
    GtkWidget *panel =
        gtk_notebook_get_nth_page(w->panels, gtk_notebook_get_current_page(w->panels));
    if (!panel)
        return;
    g_autoptr(GtkWidget) kept = g_object_ref(panel);
    g_autofree char *label = g_strdup(gtk_notebook_get_tab_label_text(w->panels, panel));
    GtkNotebook *notebook = new_window(w, label);
    gtk_notebook_detach_tab(w->panels, panel);
    gtk_notebook_append_page(notebook, panel, gtk_label_new(label));
    gtk_notebook_set_tab_detachable(notebook, panel, TRUE);
}

gboolean ws_window_present_detached(WsWindow *w, GtkWidget *panel)
{
    for (guint i = 0; i < w->detached->len; i++) {
        GtkWindow *window = g_ptr_array_index(w->detached, i);
        GtkNotebook *notebook = GTK_NOTEBOOK(gtk_window_get_child(window));
        int page = gtk_notebook_page_num(notebook, panel);
        if (page < 0)
            continue;
        gtk_notebook_set_current_page(notebook, page);
        gtk_window_present(window);
        return TRUE;
    }
    return FALSE;
}

void ws_window_close_detached(WsWindow *w)
{
    while (w->detached->len) {
        GtkWindow *window = g_ptr_array_index(w->detached, 0);
        take_back(GTK_NOTEBOOK(gtk_window_get_child(window)), w);
        g_ptr_array_remove_index(w->detached, 0);
        gtk_window_destroy(window);
    }
}
