/* Why a unit of the SM stands idle: causes by what they cost, predicted and measured side by side,
 * each with the edit that lowers it most. */
#pragma once

#include "ui/document/document_idle.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_IDLE_PANEL ws_idle_panel_get_type()
G_DECLARE_FINAL_TYPE(WsIdlePanel, ws_idle_panel, WS, IDLE_PANEL, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_idle_panel_new(WsDocument *document);
char *ws_idle_panel_copy(WsIdlePanel *panel); /* as text; caller frees */
guint ws_idle_panel_n_causes(WsIdlePanel *panel);

G_END_DECLS
