#include "ui/measurements.h"

#include <glib/gi18n.h>

struct _WsMeasurements {
    GtkWidget parent;
    WsDocument *document;
};

G_DEFINE_FINAL_TYPE(WsMeasurements, ws_measurements, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsMeasurements *self = WS_MEASUREMENTS(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_measurements_parent_class)->dispose(object);
}

static void ws_measurements_class_init(WsMeasurementsClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static void ws_measurements_init(WsMeasurements *self)
{
    gtk_widget_set_parent(gtk_label_new("measurements"), GTK_WIDGET(self));
}

GtkWidget *ws_measurements_new(WsDocument *document)
{
    WsMeasurements *self = g_object_new(WS_TYPE_MEASUREMENTS, NULL);
    self->document = g_object_ref(document);
    return GTK_WIDGET(self);
}
