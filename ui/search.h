/* The search bar: steps, barriers, buffers and findings by name. */
#pragma once

#include "ui/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_SEARCH ws_search_get_type()
G_DECLARE_FINAL_TYPE(WsSearch, ws_search, WS, SEARCH, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_search_new(WsDocument *document);
/* Shows the bar and gives it the keyboard. */
void ws_search_open(WsSearch *search);

G_END_DECLS
