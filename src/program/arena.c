#include "program/arena.h"

#include "base/phrase.h"

#include <stdarg.h>
#include <string.h>

#define BLOCK_BYTES (16 * 1024)

struct WsArena {
    GPtrArray *blocks;
    gsize used, size; /* of the last block */
    GPtrArray *exprs, *statements, *refs;
};

static void unref_expr(gpointer p)
{
    ws_expr_unref(p);
}

static void unref_statement(gpointer p)
{
    ws_statement_unref(p);
}

static void unref_ref(gpointer p)
{
    ws_ref_unref(p);
}

WsArena *ws_arena_new(void)
{
    WsArena *arena = g_new0(WsArena, 1);
    arena->blocks = g_ptr_array_new_with_free_func(g_free);
    arena->exprs = g_ptr_array_new_with_free_func(unref_expr);
    arena->statements = g_ptr_array_new_with_free_func(unref_statement);
    arena->refs = g_ptr_array_new_with_free_func(unref_ref);
    return arena;
}

void ws_arena_free(WsArena *arena)
{
    if (!arena)
        return;
    g_ptr_array_free(arena->exprs, TRUE);
    g_ptr_array_free(arena->statements, TRUE);
    g_ptr_array_free(arena->refs, TRUE);
    g_ptr_array_free(arena->blocks, TRUE);
    g_free(arena);
}

gpointer ws_arena_alloc(WsArena *arena, gsize bytes)
{
    bytes = (bytes + 15) & ~(gsize)15;
    if (bytes > BLOCK_BYTES / 4) {
        gpointer own = g_malloc0(bytes);
        g_ptr_array_add(arena->blocks, own);
        arena->size = arena->used = 0; /* the own block is now last: start a fresh one next */
        return own;
    }
    if (arena->used + bytes > arena->size) {
        g_ptr_array_add(arena->blocks, g_malloc0(BLOCK_BYTES));
        arena->used = 0;
        arena->size = BLOCK_BYTES;
    }
    char *block = g_ptr_array_index(arena->blocks, arena->blocks->len - 1);
    gpointer at = block + arena->used;
    arena->used += bytes;
    return at;
}

char *ws_arena_strdup(WsArena *arena, const char *text)
{
    if (!text)
        return NULL;
    gsize n = strlen(text) + 1;
    return memcpy(ws_arena_alloc(arena, n), text, n);
}

char *ws_arena_phrase(WsArena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *phrase = ws_phrase_v(format, args);
    va_end(args);
    return ws_arena_strdup(arena, phrase);
}

char *ws_arena_printf(WsArena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return ws_arena_strdup(arena, text);
}

WsExpr *ws_arena_expr(WsArena *arena, WsExpr *e)
{
    if (e)
        g_ptr_array_add(arena->exprs, e);
    return e;
}

WsStatement *ws_arena_statement(WsArena *arena, WsStatement *s)
{
    if (s)
        g_ptr_array_add(arena->statements, s);
    return s;
}

WsRef *ws_arena_ref(WsArena *arena, WsRef *r)
{
    if (r)
        g_ptr_array_add(arena->refs, r);
    return r;
}

void ws_arena_push(WsArena *arena, gpointer **list, guint *n, gpointer item)
{
    if ((*n & (*n - 1)) == 0) { /* 0 or a power of two: full */
        guint room = *n ? *n * 2 : 1;
        gpointer *grown = ws_arena_alloc(arena, sizeof(gpointer) * room);
        if (*n)
            memcpy(grown, *list, sizeof(gpointer) * *n);
        *list = grown;
    }
    (*list)[(*n)++] = item;
}
