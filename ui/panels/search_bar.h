/* The search bar: steps, barriers, buffers, groups and findings by name. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_SEARCH_BAR ws_search_bar_get_type()
G_DECLARE_FINAL_TYPE(WsSearchBar, ws_search_bar, WS, SEARCH_BAR, GtkWidget)

/* Keeps a reference to the document. Floating reference, as of every new widget. */
GtkWidget *ws_search_bar_new(WsDocument *document);
/* Shows the bar and gives it the keyboard. */
void ws_search_bar_open(WsSearchBar *search);
/* Hides the bar and gives the keyboard back to whoever had it. */
void ws_search_bar_close(WsSearchBar *search);
/* Puts `text` into the entry and looks for it at once; the results found. */
guint ws_search_bar_find(WsSearchBar *search, const char *text);
/* Goes to the chosen result (the first one if none is) as Enter does. FALSE if there is none. */
gboolean ws_search_bar_activate(WsSearchBar *search);

G_END_DECLS
