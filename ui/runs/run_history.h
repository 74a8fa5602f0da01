/* The runs of this design that were collected on this machine: figures, tags, notes; their traces
 * can be shown. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_RUN_HISTORY ws_run_history_get_type()
G_DECLARE_FINAL_TYPE(WsRunHistory, ws_run_history, WS, RUN_HISTORY, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_run_history_new(WsDocument *document);
void ws_run_history_read(WsRunHistory *history);  /* again from the file; else when it is shown */
char *ws_run_history_copy(WsRunHistory *history); /* as text; caller frees */

G_END_DECLS
