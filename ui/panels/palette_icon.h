/* The picture beside a row of the palette: a step as the score draws it, an object by its shape. */
#pragma once

#include "model/design.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* 18 by 14 pixels; empty for what has no look of its own (control, bookkeeping, templates). */
GtkWidget *ws_palette_icon_new(WsNodeKind kind);

G_END_DECLS
