/* Archives in the ZIP format: stored, with one fixed date, so that the same files give the same
 * bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsZip WsZip;

WsZip *ws_zip_new(void);
/* `name` has slashes between folders; `program`: it may be executed. Less than 2^32 bytes in all.
 */
void ws_zip_add(WsZip *zip, const char *name, const void *data, gsize n, gboolean program);
/* The archive; frees `zip`. Caller unrefs. */
GBytes *ws_zip_end(WsZip *zip);

G_END_DECLS
