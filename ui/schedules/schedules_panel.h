/* "Find a better schedule": a search with a budget, what it has proved so far as points and as a
 * list in words, and one click to take one of them. */
#pragma once

#include "ui/schedules/document_search.h"
#include "ui/schedules/schedules_plot.h"

G_BEGIN_DECLS

#define WS_TYPE_SCHEDULES_PANEL ws_schedules_panel_get_type()
G_DECLARE_FINAL_TYPE(WsSchedulesPanel, ws_schedules_panel, WS, SCHEDULES_PANEL, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_schedules_panel_new(WsDocument *document);
char *ws_schedules_panel_copy(WsSchedulesPanel *panel); /* as text; caller frees */

G_END_DECLS
