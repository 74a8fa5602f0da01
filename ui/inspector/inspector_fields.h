/* The fields of the selected step or object, as they stand in the file, to be edited: an entry or a
 * choice each, what is left out shown as its default, what is wrong said below the entry. Several
 * selected steps of one kind are edited together. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define WS_TYPE_FIELDS ws_fields_get_type()
G_DECLARE_FINAL_TYPE(WsFields, ws_fields, WS, FIELDS, GtkWidget)

GtkWidget *ws_fields_new(WsDocument *document); /* NULL: it follows */
void ws_fields_set_document(WsFields *f, WsDocument *document);
/* Shows the selection of the document; what is being typed stays as long as the selection does. */
void ws_fields_update(WsFields *f);
/* The entry of a field by its key ("count"), for tests; NULL if it has none. */
GtkWidget *ws_fields_entry(WsFields *f, const char *key);
const char *ws_fields_error(WsFields *f, const char *key); /* NULL: nothing is wrong */

G_END_DECLS
