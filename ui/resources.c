#include "ui/resources.h"

#include <glib/gi18n.h>

struct _WsResources {
    GtkWidget parent;
    WsDocument *document;
};

G_DEFINE_FINAL_TYPE(WsResources, ws_resources, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsResources *self = WS_RESOURCES(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_resources_parent_class)->dispose(object);
}

static void ws_resources_class_init(WsResourcesClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static void ws_resources_init(WsResources *self)
{
    gtk_widget_set_parent(gtk_label_new("resources"), GTK_WIDGET(self));
}

GtkWidget *ws_resources_new(WsDocument *document)
{
    WsResources *self = g_object_new(WS_TYPE_RESOURCES, NULL);
    self->document = g_object_ref(document);
    return GTK_WIDGET(self);
}
