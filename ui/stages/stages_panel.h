/* The page with the loops of the newest design that have the hint form: each as a matrix, and what
 * is derived of it; one button writes their steps in their place. */
#pragma once

#include "ui/document/document.h"
#include "ui/stages/stages_matrix.h"

G_BEGIN_DECLS

#define WS_TYPE_STAGES_PANEL ws_stages_panel_get_type()
G_DECLARE_FINAL_TYPE(WsStagesPanel, ws_stages_panel, WS, STAGES_PANEL, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_stages_panel_new(WsDocument *document);
WsStagesMatrix *ws_stages_panel_matrix(WsStagesPanel *panel, guint loop); /* NULL: none */
const char *ws_stages_panel_says(WsStagesPanel *panel);                   /* borrowed */
char *ws_stages_panel_copy(WsStagesPanel *panel); /* as text; caller frees */

G_END_DECLS
