/* Which lines of a source belong to which step or object of the design that was read from it: its
 * `source`, as far as the text still holds what the note beside it quotes. Plain data. */
#pragma once

#include "model/forward.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
    char *id;          /* path or id of the node */
    guint first, last; /* lines, from 0 */
    gboolean step, opaque;
} WsSourceSpan;

typedef struct WsSourceMap WsSourceMap;
/* `text` of the file that the design calls `name`. Owns its spans; nothing of the design is kept.
 */
WsSourceMap *ws_source_map_new(const WsDesign *design, const char *text, const char *name);
void ws_source_map_free(WsSourceMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsSourceMap, ws_source_map_free)

guint ws_source_map_n(const WsSourceMap *map);
const WsSourceSpan *ws_source_map_span(const WsSourceMap *map, guint i); /* as in the design */
/* NULL if nothing of that text belongs to it. */
const WsSourceSpan *ws_source_map_of(const WsSourceMap *map, const char *id);
/* What a line belongs to: the spans that begin on the statement that it is a line of; empty if it
 * belongs to none. Borrowed elements; free with g_ptr_array_unref. */
GPtrArray *ws_source_map_at(const WsSourceMap *map, guint line);
/* The name of the file that a design says it was read from; NULL. Borrowed from it. */
const char *ws_source_name_of(const WsDesign *design);

G_END_DECLS
