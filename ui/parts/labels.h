/* Labels and links that several panels and dialogues make. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Wraps anywhere if it must; `css_class` or NULL. */
GtkWidget *ws_label_wrapped(const char *text, const char *css_class);
/* A button that looks like a link: it leads to a place of the design or the source. */
GtkWidget *ws_link_button(const char *label, const char *tip);
void ws_link_button_set(GtkWidget *button, const char *label); /* cut in the middle if too long */
/* A tip, without asking the display server where the pointer is, as setting one of a widget that
 * counts as visible does: for what is not on the screen yet nobody points at it. */
void ws_tip_set(GtkWidget *widget, const char *tip);

G_END_DECLS
