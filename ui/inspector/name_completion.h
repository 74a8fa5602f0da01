/* Completion of names in an entry that holds an expression or a reference: the word at the cursor
 * is completed with what the design has there. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* `node`: identity of what is edited; `row`: the field, whose own words are proposed first. */
void ws_name_completion_attach(GtkEntry *entry, WsDocument *document, guint64 node,
                               const WsFieldRow *row);

G_END_DECLS
