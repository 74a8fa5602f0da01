#include "import/ptx/walk.h"

#include <string.h>

/* Where threads end, and where one of them ends the whole launch. */

static const WsPtxBlock *block_at(const PtxWalk *w, guint b)
{
    return &g_array_index(w->ptx->blocks, WsPtxBlock, b);
}

gboolean ptx_ends_at_once(const PtxWalk *w, guint block)
{
    for (guint steps = 0; steps < 6; steps++) {
        const WsPtxBlock *b = block_at(w, block);
        for (guint k = b->first; k <= b->last; k++) {
            const WsPtxInst *i = ws_ptx_inst(w->ptx, k);
            if (k > b->first + 60)
                return FALSE;
            if (ws_ptx_end(w->ptx, i) != PTX_GOES_ON && !i->guard)
                return ws_ptx_end(w->ptx, i) == PTX_ENDS;
            if (i->matters || (i->guard && i->target >= 0))
                return FALSE;
        }
        if (b->next->len != 1)
            return FALSE;
        block = g_array_index(b->next, guint, 0);
    }
    return FALSE;
}

void ptx_no_abort_at(PtxWalk *w, const WsPtxInst *end, const WsExpr *c)
{
    WsRead *r = w->p.r;
    if (w->p.probing || !g_hash_table_add(w->aborts, (gpointer)end))
        return;
    g_autofree char *text = c ? ws_x_text(c) : NULL;
    const gboolean said = text && strlen(text) < 80 && !strstr(text, "__");
    ws_source_granted(r, ws_source_format(r, "no thread ends the launch by `%s` in line %u%s%s%s%s",
                                          end->op, end->line, end->loc ? ", from " : "",
                                          end->loc ? end->loc : "", said ? ", where " : "",
                                          said ? text : ""));
}

void ptx_no_abort(PtxWalk *w, guint block, const WsExpr *c)
{
    while (block_at(w, block)->next->len)
        block = g_array_index(block_at(w, block)->next, guint, 0);
    ptx_no_abort_at(w, ws_ptx_inst(w->ptx, block_at(w, block)->last), c);
}
