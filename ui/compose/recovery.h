/* What a crash left: the designs that can be recovered, each with its picture and age. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

/* Shows the list over a window if there is anything to recover; the dialogue, or NULL. */
GtkWindow *ws_recovery_offer(WsWindow *w);

G_END_DECLS
