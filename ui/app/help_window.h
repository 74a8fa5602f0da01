/* The manual in a window of its own: the pages of help/C, the same that desktop readers show. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_HELP_WINDOW ws_help_window_get_type()
G_DECLARE_FINAL_TYPE(WsHelpWindow, ws_help_window, WS, HELP_WINDOW, GtkWindow)

/* One window for all; `page` NULL: where it stands, or the index. */
void ws_help_show(GtkApplication *application, const char *page);
/* FALSE: no such page. */
gboolean ws_help_window_go(WsHelpWindow *window, const char *page);
const char *ws_help_window_page(WsHelpWindow *window); /* id; borrowed */

G_END_DECLS
