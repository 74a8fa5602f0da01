/* What differs between two designs, object by object; choosing a row shows it on the score. */
#pragma once

#include "ui/document/document_compare.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_COMPARE_PANEL ws_compare_panel_get_type()
G_DECLARE_FINAL_TYPE(WsComparePanel, ws_compare_panel, WS, COMPARE_PANEL, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_compare_panel_new(WsDocument *document);
void ws_compare_panel_choose(WsComparePanel *panel); /* opens the menu of what to compare with */
guint ws_compare_panel_n_rows(WsComparePanel *panel);

G_END_DECLS
