#include "import/ptx/rolled.h"

#include <string.h>

/* Which registers blocks of the text write and read. */

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

void ptx_note_written(const PtxWalk *w, guint b, GHashTable *into)
{
    const WsPtxBlock *block = block_at(w, b);
    for (guint k = block->first; k <= block->last; k++) {
        const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
        if (!i->n || *i->arg[0] == '[' || !strncmp(i->op, "bra", 3))
            continue;
        g_autofree char *list = g_strdelimit(g_strdup(i->arg[0]), "{},|", ' ');
        g_auto(GStrv) word = g_strsplit(list, " ", -1);
        for (guint r = 0; word[r]; r++)
            if (*word[r])
                g_hash_table_add(into, g_string_chunk_insert_const(w->p.r->text, word[r]));
    }
}

void ptx_note_written_of(const PtxWalk *w, GHashTable *blocks, GHashTable *into)
{
    GHashTableIter it;
    gpointer key;
    g_hash_table_iter_init(&it, blocks);
    while (g_hash_table_iter_next(&it, &key, NULL))
        ptx_note_written(w, GPOINTER_TO_UINT(key), into);
}

/* Registers read in `blocks` that may hold what was there before: those that the block itself did
 * not write, nor the first one, before. */
void ptx_note_read(const PtxWalk *w, GHashTable *blocks, guint first, GHashTable *into)
{
    g_autoptr(GHashTable) head = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) rest = g_hash_table_new(NULL, NULL);
    GHashTableIter it;
    gpointer key;
    for (guint pass = 0; pass < 2; pass++) {
        g_hash_table_iter_init(&it, blocks);
        while (g_hash_table_iter_next(&it, &key, NULL)) {
            const guint n = GPOINTER_TO_UINT(key);
            const WsPtxBlock *b = block_at(w, n);
            if ((n == first) != (pass == 0))
                continue;
            g_hash_table_remove_all(done);
            for (guint k = b->first; k <= b->last; k++) {
                const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
                const gboolean writes =
                    i->n && *i->arg[0] != '[' && *i->arg[0] != '{' && strncmp(i->op, "bra", 3) != 0;
                g_autoptr(GString) text = g_string_new(i->guard ? i->guard : "");
                for (guint a = writes; a < i->n; a++)
                    g_string_append_printf(text, " %s", i->arg[a]);
                g_autofree char *list = g_strdelimit(g_strdup(text->str), "{}[]+-,|()", ' ');
                g_auto(GStrv) word = g_strsplit(list, " ", -1);
                for (guint r = 0; word[r]; r++)
                    if (*word[r] && !g_hash_table_contains(done, word[r]) &&
                        !g_hash_table_contains(head, word[r]))
                        g_hash_table_add(into, g_string_chunk_insert_const(w->p.r->text, word[r]));
                if (writes && !i->guard && !strpbrk(i->arg[0], "{|,"))
                    g_hash_table_add(pass ? done : head, (gpointer)i->arg[0]);
            }
        }
    }
}
