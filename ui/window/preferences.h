/* What holds for every window: colours, language, font of code, machine, clock, host. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

void ws_preferences_show(WsWindow *w); /* one for each window */

G_END_DECLS
