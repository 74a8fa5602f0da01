/* A parsed kernel: its labels, and its end. */
#include "import/ptx/ptx.h"

#include <string.h>

void ws_ptx_free(WsPtx *p)
{
    if (!p)
        return;
    g_array_unref(p->params);
    g_array_unref(p->wide);
    g_array_unref(p->inst);
    g_hash_table_unref(p->tables);
    g_hash_table_unref(p->labels);
    g_array_unref(p->blocks);
    g_array_unref(p->block_of);
    g_array_unref(p->loops);
    g_hash_table_unref(p->shared);
    g_hash_table_unref(p->locals);
    g_array_unref(p->odd);
    g_hash_table_unref(p->files);
    g_string_chunk_free(p->text);
    g_free(p);
}

gint ws_ptx_label(const WsPtx *p, const char *name, guint from)
{
    const GArray *at = g_hash_table_lookup(p->labels, name);
    gint best = -1;
    for (guint i = 0; at && i < at->len; i++) {
        const gint where = (gint)g_array_index(at, guint, i);
        if (best < 0 || ABS(where - (gint)from) < ABS(best - (gint)from))
            best = where;
    }
    return best;
}
