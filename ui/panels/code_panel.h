/* The generated texts (program, PTX, LLVM IR, canonical design), and the source that a design was
 * read from, in step with the selection: lines
 * of the selected steps are marked, and placing the cursor on a line selects its step. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_CODE_PANEL ws_code_panel_get_type()
G_DECLARE_FINAL_TYPE(WsCodePanel, ws_code_panel, WS, CODE_PANEL, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_code_panel_new(WsDocument *document);
void ws_code_panel_show(WsCodePanel *self, WsCodeKind kind);
WsCodeKind ws_code_panel_kind(WsCodePanel *self);
/* First and last line (0-based) marked for the primary selected step; FALSE if none is. */
gboolean ws_code_panel_marked(WsCodePanel *self, guint *first, guint *last);

G_END_DECLS
