/* What ran beside what, as a matrix: units and agents against each other, measured over predicted.
 * A cell shows what overlapped longest on the score. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_OVERLAP_MATRIX ws_overlap_matrix_get_type()
G_DECLARE_FINAL_TYPE(WsOverlapMatrix, ws_overlap_matrix, WS, OVERLAP_MATRIX, GtkWidget)

GtkWidget *ws_overlap_matrix_new(WsDocument *document);
/* The button of a cell, by the names of its row and column ("tensor core", "mma.0"); NULL: none. */
GtkWidget *ws_overlap_matrix_cell(WsOverlapMatrix *matrix, const char *row, const char *column);
char *ws_overlap_matrix_copy(WsOverlapMatrix *matrix); /* rows with tabulators; caller frees */

G_END_DECLS
