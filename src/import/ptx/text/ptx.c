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
    g_hash_table_unref(p->spun);
    g_hash_table_unref(p->shared);
    g_hash_table_unref(p->own);
    g_hash_table_unref(p->locals);
    g_array_unref(p->odd);
    g_hash_table_unref(p->files);
    g_string_chunk_free(p->text);
    g_free(p);
}

gboolean ws_ptx_calls(const WsPtx *p, const WsPtxInst *i, const char *function)
{
    gboolean named = FALSE;
    for (guint k = 0; k < i->n; k++)
        named |= !strcmp(i->arg[k], function);
    return named && g_str_has_prefix(i->op, "call") && !g_hash_table_contains(p->own, function);
}

PtxEnd ws_ptx_end(const WsPtx *p, const WsPtxInst *i)
{
    static const struct {
        const char *op;
        PtxEnd end;
    } table[] = { { "ret", PTX_ENDS },
                  { "ret.uni", PTX_ENDS },
                  { "exit", PTX_ENDS },
                  { "trap", PTX_ABORTS },
                  { "brkpt", PTX_ABORTS } };
    for (guint k = 0; k < G_N_ELEMENTS(table); k++)
        if (!strcmp(i->op, table[k].op))
            return table[k].end;
    return ws_ptx_calls(p, i, "__assertfail") ? PTX_ABORTS : PTX_GOES_ON;
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
    guint scope = from < p->inst->len ? ws_ptx_inst(p, from)->scope : 0;
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
