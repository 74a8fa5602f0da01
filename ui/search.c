#include "ui/search.h"

#include <glib/gi18n.h>

struct _WsSearch {
    GtkWidget parent;
    WsDocument *document;
};

G_DEFINE_FINAL_TYPE(WsSearch, ws_search, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsSearch *self = WS_SEARCH(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_search_parent_class)->dispose(object);
}

static void ws_search_class_init(WsSearchClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static void ws_search_init(WsSearch *self)
{
    gtk_widget_set_parent(gtk_label_new("search"), GTK_WIDGET(self));
}

GtkWidget *ws_search_new(WsDocument *document)
{
    WsSearch *self = g_object_new(WS_TYPE_SEARCH, NULL);
    self->document = g_object_ref(document);
    return GTK_WIDGET(self);
}

void ws_search_open(WsSearch *self)
{
    gtk_widget_set_visible(GTK_WIDGET(self), TRUE);
}
