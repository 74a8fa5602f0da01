/* The run that is shown beside the one that is pinned: by round and by step. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_RUN_COMPARE ws_run_compare_get_type()
G_DECLARE_FINAL_TYPE(WsRunCompare, ws_run_compare, WS, RUN_COMPARE, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_run_compare_new(WsDocument *document);
char *ws_run_compare_copy(WsRunCompare *panel); /* as text; caller frees */
guint ws_run_compare_n_rounds(WsRunCompare *panel);

G_END_DECLS
