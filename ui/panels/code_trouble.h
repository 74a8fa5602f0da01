/* Lines of the code panel that belong to steps which errors name: a sign in the gutter at each. */
#pragma once

#include "ui/document/document.h"

#include <gtksourceview/gtksource.h>

G_BEGIN_DECLS

/* How the signs look in the present colours; again when these change. */
void ws_code_trouble_style(GtkSourceView *view);
/* Takes the old signs of a text away and sets the new ones; returns how many. */
guint ws_code_trouble_mark(WsDocument *document, WsCodeKind kind, GtkSourceBuffer *buffer);

G_END_DECLS
