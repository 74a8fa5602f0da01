/* The search bar: steps, barriers, buffers, groups and findings by name. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_SEARCH ws_search_get_type()
G_DECLARE_FINAL_TYPE(WsSearch, ws_search, WS, SEARCH, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_search_new(WsDocument *document);
/* Shows the bar and gives it the keyboard. */
void ws_search_open(WsSearch *search);
/* Hides the bar and gives the keyboard back to whoever had it. */
void ws_search_close(WsSearch *search);
/* Puts `text` into the entry and looks for it at once; the results found. */
guint ws_search_find(WsSearch *search, const char *text);
/* Goes to the chosen result (the first one if none is) as Enter does. FALSE if there is none. */
gboolean ws_search_activate(WsSearch *search);

G_END_DECLS
