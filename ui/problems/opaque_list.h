/* What of a kernel was not understood, place by place, beside its source. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A row was chosen: its opaque steps are selected (if the design has any), and its lines are to be
 * shown. */
typedef void (*WsOpaqueChosen)(guint first, guint last, gpointer data);
/* Keeps a reference to the document; hidden while there is nothing to list. Floating reference. */
GtkWidget *ws_opaque_list_new(WsDocument *document, WsOpaqueChosen chosen, gpointer data);

G_END_DECLS
