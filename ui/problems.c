#include "ui/problems.h"

#include <glib/gi18n.h>

struct _WsProblems {
    GtkWidget parent;
    WsDocument *document;
};

G_DEFINE_FINAL_TYPE(WsProblems, ws_problems, GTK_TYPE_WIDGET)

static void dispose(GObject *object)
{
    WsProblems *self = WS_PROBLEMS(object);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(self))))
        gtk_widget_unparent(child);
    g_clear_object(&self->document);
    G_OBJECT_CLASS(ws_problems_parent_class)->dispose(object);
}

static void ws_problems_class_init(WsProblemsClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
}

static void ws_problems_init(WsProblems *self)
{
    gtk_widget_set_parent(gtk_label_new("problems"), GTK_WIDGET(self));
}

GtkWidget *ws_problems_new(WsDocument *document)
{
    WsProblems *self = g_object_new(WS_TYPE_PROBLEMS, NULL);
    self->document = g_object_ref(document);
    return GTK_WIDGET(self);
}
