/* The undo history as a list of named edits, the newest first: choosing one goes there. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

GtkWidget *ws_history_button_new(WsWindow *w); /* beside undo and redo */

G_END_DECLS
