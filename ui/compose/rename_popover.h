/* A new name for the selected object, group, value, loop: a small window over the studio. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

void ws_rename_popup(WsWindow *w);

G_END_DECLS
