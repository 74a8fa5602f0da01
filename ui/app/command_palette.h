/* The command palette: every command by name, with its keys; Return runs it. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

/* A window above `window`; it closes itself. */
GtkWidget *ws_command_palette_new(WsWindow *window);

G_END_DECLS
