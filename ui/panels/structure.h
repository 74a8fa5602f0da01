/* The structure: groups with their steps, and objects, as an outline. What the score cannot draw
 * yet is here; the selection is the document's. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_STRUCTURE ws_structure_get_type()
G_DECLARE_FINAL_TYPE(WsStructure, ws_structure, WS, STRUCTURE, GtkWidget)

GtkWidget *ws_structure_new(WsDocument *document);
/* A row by its label ("mma acc"), for tests: its widget if it is in view, else NULL. */
GtkWidget *ws_structure_row_widget(WsStructure *s, const char *label, guint nth);

G_END_DECLS
