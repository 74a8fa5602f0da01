#include "ui/parts/labels.h"

GtkWidget *ws_label_wrapped(const char *text, const char *css_class)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    if (css_class)
        gtk_widget_add_css_class(label, css_class);
    return label;
}

void ws_link_button_set(GtkWidget *button, const char *label)
{
    gtk_button_set_label(GTK_BUTTON(button), label);
    gtk_label_set_ellipsize(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))),
                            PANGO_ELLIPSIZE_MIDDLE);
}

GtkWidget *ws_link_button(const char *label, const char *tip)
{
    GtkWidget *button = gtk_button_new();
    ws_link_button_set(button, label);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_widget_add_css_class(button, "link");
    gtk_widget_add_css_class(button, "ws-link");
    gtk_widget_set_halign(button, GTK_ALIGN_START);
    ws_tip_set(button, tip);
    return button;
}

void ws_tip_set(GtkWidget *widget, const char *tip)
{
    if (!g_strcmp0(gtk_widget_get_tooltip_text(widget), tip))
        return;
    const gboolean hides = gtk_widget_get_visible(widget) && !gtk_widget_get_mapped(widget);
    if (hides)
        gtk_widget_set_visible(widget, FALSE);
    gtk_widget_set_tooltip_text(widget, tip);
    if (hides)
        gtk_widget_set_visible(widget, TRUE);
}
