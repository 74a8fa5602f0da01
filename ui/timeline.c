#include "ui/timeline.h"

#include <glib/gi18n.h>

struct _WsTimeline {
    GtkWidget parent;
    WsDocument *document;
};

G_DEFINE_FINAL_TYPE(WsTimeline, ws_timeline, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsTimeline *self = WS_TIMELINE(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_timeline_parent_class)->dispose(object);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    g_value_set_double(value, 1);
}

static void ws_timeline_class_init(WsTimelineClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->get_property = get_property;
    g_object_class_install_property(G_OBJECT_CLASS(class), 1, g_param_spec_double("zoom", NULL, NULL, 0, G_MAXDOUBLE, 1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static void ws_timeline_init(WsTimeline *self)
{
    gtk_widget_set_parent(gtk_label_new("timeline"), GTK_WIDGET(self));
}

GtkWidget *ws_timeline_new(WsDocument *document)
{
    WsTimeline *self = g_object_new(WS_TYPE_TIMELINE, NULL);
    self->document = g_object_ref(document);
    return GTK_WIDGET(self);
}
