/* An edge by the keyboard: C at the step it begins at, any way to select another step, then Return
 * (or C again); Escape drops it. What it would make is said while one chooses. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

/* Begins at the focus; while one is begun: ends it there. */
void ws_edge_keys_go(WsWindow *w);
void ws_edge_keys_drop(WsWindow *w);

G_END_DECLS
