/* Find what can be added by name and add it behind the selection. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

void ws_add_dialog_show(WsWindow *w, gboolean templates);

G_END_DECLS
