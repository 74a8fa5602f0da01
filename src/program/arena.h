/* Memory of one program: everything it owns is freed in one go, on error paths too. Not
 * thread-safe; immutable once the program is published. */
#pragma once

#include "expr/expr.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct WsArena WsArena;

WsArena *ws_arena_new(void);
void ws_arena_free(WsArena *arena);
/* Zeroed memory, aligned for any type. Never NULL. */
gpointer ws_arena_alloc(WsArena *arena, gsize bytes);
#define ws_arena_new0(arena, Type, n) ((Type *)ws_arena_alloc((arena), sizeof(Type) * (n)))
char *ws_arena_strdup(WsArena *arena, const char *text);
/* A phrase (base/phrase.h). */
char *ws_arena_phrase(WsArena *arena, const char *format, ...) G_GNUC_PRINTF(2, 3);
char *ws_arena_printf(WsArena *arena, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Take the reference; the value returned is borrowed from the arena. NULL passes through. */
WsExpr *ws_arena_expr(WsArena *arena, WsExpr *e);
WsStatement *ws_arena_statement(WsArena *arena, WsStatement *s);
WsRef *ws_arena_ref(WsArena *arena, WsRef *r);
/* Appends to an array of pointers that grows by doubling; for lists built while elaborating. */
void ws_arena_push(WsArena *arena, gpointer **list, guint *n, gpointer item);

G_END_DECLS
