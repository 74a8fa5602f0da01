/* One loop in the hint form as a matrix: a row for each group, in the order of the round; columns
 * of its stages, and of the groups that may run it. A group goes to another column, and with it to
 * another row, by pointer, or by Shift and the arrow keys. While it is held, the score shows what
 * would come of it. */
#pragma once

#include "model/hint.h"
#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_STAGES_MATRIX ws_stages_matrix_get_type()
G_DECLARE_FINAL_TYPE(WsStagesMatrix, ws_stages_matrix, WS, STAGES_MATRIX, GtkWidget)

/* Of a loop of the newest design, which is borrowed as long as that design is held. Signals: "said"
 * (string): what would come of the move that is tried, or why there is none; "" for nothing. */
GtkWidget *ws_stages_matrix_new(WsDocument *document, WsDesign *design, const WsHintLoop *loop);
/* The place of a group in a column: of a stage, or of an executor (`stage` -1). NULL: none. */
GtkWidget *ws_stages_matrix_place(WsStagesMatrix *m, const char *group, gint stage,
                                  const char *executor);
gboolean ws_stages_matrix_holds(WsStagesMatrix *m); /* a group is being dragged */
/* Where the pointer is that drags one; FALSE: none does. */
gboolean ws_stages_matrix_pointer(WsStagesMatrix *m, double *x, double *y);
/* The keyboard's place, to be taken up again in the matrix that takes this one's. */
gboolean ws_stages_matrix_focus(WsStagesMatrix *m, guint64 *group, gboolean *executor);
void ws_stages_matrix_set_focus(WsStagesMatrix *m, guint64 group, gboolean executor);

G_END_DECLS
