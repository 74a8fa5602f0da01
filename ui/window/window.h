/* A window: one document, the score in the middle, the inspector at its right, the panels below. */
#pragma once

#include "ui/app/actions.h"
#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_WINDOW ws_window_get_type()
G_DECLARE_FINAL_TYPE(WsWindow, ws_window, WS, WINDOW, GtkApplicationWindow)

WsWindow *ws_window_new(GtkApplication *application);
/* One more window on a document: selection and range are shared, the view is its own. */
WsWindow *ws_window_new_on(GtkApplication *application, WsDocument *document);
WsDocument *ws_window_document(WsWindow *window);         /* borrowed */
GtkWidget *ws_window_part(WsWindow *window, WsPart part); /* borrowed */
/* Opens a design or a trace; a trace of the design that is shown is laid under it. On failure the
 * error bar says what is wrong and what to do, and the former document stays. A kernel in another
 * language is read in a thread: TRUE, and the window shows it when it is there. */
gboolean ws_window_open(WsWindow *window, GFile *file);
gboolean ws_window_importing(WsWindow *window); /* a kernel is being read */
/* Lays a measured trace under the design that is shown, or says why it cannot. */
gboolean ws_window_open_trace(WsWindow *window, GFile *file);
/* The error bar: one sentence, and what is known beyond it (NULL: nothing). */
void ws_window_say(WsWindow *window, GtkMessageType type, const char *what, const char *how);
void ws_window_say_nothing(WsWindow *window);
/* Shows one of the panels at the bottom and gives it the keyboard. */
void ws_window_show_panel(WsWindow *window, WsPart part);

/* What was dragged here from the palette or from elsewhere, as text; owner 0: behind the selection.
 */
gboolean ws_window_drop_text(WsWindow *w, const char *text, WsEditSpot spot);
/* What a command or gesture has to say; NULL: nothing more. */
/* While the score shows what letting go would give, and the panels what was before. */
void ws_window_set_dragging(WsWindow *w, gboolean dragging);
void ws_window_toast(WsWindow *w, const char *text);

/* Compares the open design with one in a file; says why not. */
gboolean ws_window_compare_file(WsWindow *window, GFile *file);

G_END_DECLS
