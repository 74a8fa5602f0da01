/* What an empty window shows: open, the shipped designs, recent files. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *ws_welcome_new(void);

G_END_DECLS
