#include "import/ptx/walk.h"

#include <string.h>

/* Branches on what is not known (data, mostly) that hold nothing a verdict is about: whichever way
 * a thread goes, it comes out at the same place, and what it computed there is forgotten. */

#define PTX_QUIET_BLOCKS 400

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

gboolean ptx_is_quiet(const PtxWalk *w, const WsPtxInst *i, gboolean *stores)
{
    static const char *const space[] = { ".global", ".local", ".const", ".param" };
    if (i->matters || i->spin || i->law == PTX_LAW_UNKNOWN)
        return FALSE;
    if (i->law == PTX_LAW_VALUE)
        return TRUE;
    if (!strncmp(i->op, "bra", 3))
        return TRUE;
    gboolean elsewhere = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(space); k++)
        elsewhere |= strstr(i->op, space[k]) != NULL;
    const gboolean access = g_str_has_prefix(i->op, "ld.") || g_str_has_prefix(i->op, "st.");
    *stores |= access && i->op[0] == 's';
    if (access && !elsewhere && i->op[0] == 'l') {
        ws_source_granted(w->p.r, PTX_POINTERS);
        return TRUE;
    }
    return (access && elsewhere) || (i->law == PTX_LAW_NONE && !g_str_has_prefix(i->op, "grid"));
}

/* The blocks from `block` on up to `join` that can be come to; FALSE: not all of them are quiet,
 * or one of them begins a loop. */
static gboolean gather(PtxWalk *w, guint block, guint join, gboolean all_come, GArray *found,
                       gboolean *stores)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    const GArray *first = block_at(w, block)->next;
    g_array_append_vals(found, first->data, first->len);
    for (guint at = 0; at < found->len; at++) {
        const guint b = g_array_index(found, guint, at);
        if (b == join || !g_hash_table_add(seen, GUINT_TO_POINTER(b)))
            continue;
        const WsPtxBlock *x = block_at(w, b);
        if (x->aborts) {
            ptx_no_abort(w, b, NULL);
            continue;
        }
        if (b == block || x->loop >= 0 || !x->next->len ||
            g_hash_table_size(seen) > PTX_QUIET_BLOCKS ||
            g_hash_table_contains(w->heads, GUINT_TO_POINTER(b)))
            return FALSE;
        for (guint i = x->first; i <= x->last; i++)
            if (!ptx_is_quiet(w, ws_ptx_inst(w->ptx, i), stores) ||
                (!all_come && ptx_warp_wide(ws_ptx_inst(w->ptx, i))))
                return FALSE;
        g_array_append_vals(found, x->next->data, x->next->len);
    }
    return TRUE;
}

void ptx_quiet_passed(PtxWalk *w, const WsPtxInst *i)
{
    w->p.budget++;
    if (g_hash_table_size(w->sum_names))
        ptx_reads(w, i);
    ptx_flying_touched(w, i);
    if (i->n && *i->arg[0] != '[' && strncmp(i->op, "bra", 3))
        ptx_forget(w, i->arg[0]);
}

gboolean ptx_quiet(PtxWalk *w, guint block, guint join, gboolean if_stores)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);
    gboolean stores = FALSE;
    if (!gather(w, block, join, if_stores, found, &stores) || (if_stores && !stores))
        return FALSE;
    for (guint at = 0; at < found->len; at++) {
        const guint b = g_array_index(found, guint, at);
        if (b == join || block_at(w, b)->aborts || !g_hash_table_add(done, GUINT_TO_POINTER(b)))
            continue;
        for (guint i = block_at(w, b)->first; i <= block_at(w, b)->last; i++)
            ptx_quiet_passed(w, ws_ptx_inst(w->ptx, i));
    }
    return TRUE;
}
