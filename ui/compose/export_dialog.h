/* Taking the kernel out: every form there is, which of them this design has, and for the others the
 * step that stands in the way, why, and what to change. */
#pragma once

#include "ui/window/window.h"

G_BEGIN_DECLS

/* Opens it for the design that is shown; one for each window, brought forward if it is open. */
void ws_export_dialog_show(WsWindow *window);

G_END_DECLS
