/* What to do next: the edits that gain most, each one click from being tried, beside the edges that
 * cost most and what the critical path consists of. */
#pragma once

#include "ui/document/document_next.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_NEXT_PANEL ws_next_panel_get_type()
G_DECLARE_FINAL_TYPE(WsNextPanel, ws_next_panel, WS, NEXT_PANEL, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_next_panel_new(WsDocument *document);
char *ws_next_panel_copy(WsNextPanel *panel); /* all three lists as text; caller frees */
guint ws_next_panel_n_edits(WsNextPanel *panel);

G_END_DECLS
