/* A parsed kernel: its labels, and its end. */
#include "import/ptx/text/ptx.h"

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
    g_array_unref(p->outer);
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

void ws_ptx_add_label(WsPtx *p, const char *name, guint scope)
{
    const WsPtxLabel label = { p->inst->len, scope };
    GArray *at = g_hash_table_lookup(p->labels, name);
    if (!at) {
        at = g_array_new(FALSE, FALSE, sizeof(WsPtxLabel));
        g_hash_table_insert(p->labels, (gpointer)name, at);
    }
    g_array_append_val(at, label);
}

gint ws_ptx_label(const WsPtx *p, const char *name, guint from)
{
    const GArray *at = g_hash_table_lookup(p->labels, name);
    guint scope = from < p->inst->len ? g_array_index(p->inst, WsPtxInst, from).scope : 0;
    while (at) {
        for (guint i = 0; i < at->len; i++) {
            const WsPtxLabel *label = &g_array_index(at, WsPtxLabel, i);
            if (label->scope == scope)
                return (gint)label->at;
        }
        if (!scope)
            break;
        scope = g_array_index(p->outer, guint, scope - 1);
    }
    return -1;
}
