/* Above the score while two designs are compared: which, what it costs, and what the marks mean. */
#pragma once

#include "ui/document/document_compare.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Keeps no reference: the document outlives it. Hidden while nothing is compared. */
GtkWidget *ws_compare_bar_new(WsDocument *document);

G_END_DECLS
