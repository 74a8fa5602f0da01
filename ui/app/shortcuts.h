/* The window of all keys, made from the table of commands. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkWidget *ws_shortcuts_new(GtkWindow *parent);

G_END_DECLS
