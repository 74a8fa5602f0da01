#include "import/ptx/walk.h"

/* Registers that warps hand to each other: one that asks for more waits until others have left
 * them. What stands between two barriers of the CTA happens while all are there, so whoever leaves
 * some has to do it in the same part or before, and there behind no wait for others, who may wait
 * for them. */

static const PtxHanded *event(const PtxWalk *w, guint i)
{
    return &g_array_index(w->handed, PtxHanded, i);
}

/* What the warp has before event `end`, as far as part `at`; `entry` at the beginning. */
static gint64 held_by(const PtxWalk *w, guint warp, guint at, guint end, gint64 entry)
{
    gint64 n = entry;
    for (guint i = 0; i < end; i++)
        if (event(w, i)->warp == warp && event(w, i)->at <= at)
            n = event(w, i)->n;
    return n;
}

/* Are there too few for all that ask as far as part `at`? */
static gboolean too_few(const PtxWalk *w, guint at, guint warps, gint64 entry)
{
    gint64 all = 0;
    for (guint k = 0; k < warps; k++)
        all += held_by(w, k, at, w->handed->len, entry);
    return all > warps * entry;
}

void ptx_handed(PtxWalk *w, guint warps)
{
    const gint64 entry = ptx_entry_registers(w->ptx);
    gboolean late = FALSE, few = FALSE;
    for (guint i = 0; i < w->handed->len; i++) {
        const PtxHanded *ask = event(w, i);
        if (ask->n <= held_by(w, ask->warp, ask->at, i, 0))
            continue; /* it asks for none */
        few |= too_few(w, ask->at, warps, entry);
        for (guint k = 0; k < w->handed->len; k++) {
            const PtxHanded *leave = event(w, k);
            late |= leave->at == ask->at && leave->held &&
                    leave->n < held_by(w, leave->warp, leave->at, k, entry);
        }
    }
    gboolean apart = FALSE;
    for (guint i = 1; i < w->handed->len; i++)
        apart |= event(w, i)->under != event(w, 0)->under;
    if (apart && !w->lost)
        ptx_lose_line(w, w->ptx->line, "registers that only some hand over where others do not");
    if (!w->raises || w->lost)
        return;
    if (late)
        ptx_lose_line(w, w->ptx->line,
                      "registers that are left after a wait for those who may wait for them");
    else if (w->most_left > w->most_raised)
        ptx_lose_line(w, w->ptx->line, "registers that are left to more than others ask for");
    else if (few || w->unset || w->taken > warps * entry)
        ptx_lose_line(w, w->ptx->line,
                      "more registers than the launch may have, which a warp would wait for");
}
