/* Beginning a design: an empty one, or one of the starting designs. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

void ws_new_dialog_show(WsWindow *w);

G_END_DECLS
