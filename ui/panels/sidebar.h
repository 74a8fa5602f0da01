/* The left side: what the design is made of, and below it what can be added. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

GtkWidget *ws_sidebar_new(WsWindow *w);
GtkWidget *ws_sidebar_structure(GtkWidget *sidebar);

G_END_DECLS
