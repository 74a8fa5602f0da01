#include "program/elaborate/stages/stages.h"
#include "program/op.h"
#include "program/parts/agent.h"

/* What Triton's lowering of warp_pipeline_stage (ConvertWarpPipeline.cpp) makes of the borders of
 * these stages: LOCAL or PLAIN, or as drawn where a wait or barrier stands already. It looks at
 * pairs of stages whose LDS accesses meet, for distances of 1 stage up to all of them, and marks
 * the border before the later stage, or the one before that for more than one stage between, unless
 * a border between the two is local. Loads straight to LDS count against writes of registers alone:
 * the reads that meet them are taken to be ordered by waits. */

static gboolean meet(WsElab *E, const WsAccess *a, const WsAccess *b)
{
    gint64 x, y;
    if (!((a->mode | b->mode) & WS_MODE_WRITE))
        return FALSE;
    if (a->buffer == b->buffer && ws_elab_is_int(a->stage, &x) && ws_elab_is_int(b->stage, &y) &&
        x != y)
        return FALSE;
    return a->buffer == b->buffer || ws_accesses_overlap(E, a, b);
}

static gboolean filtered(const WsOp *a, const WsOp *b)
{
    const gboolean load_a = a->engine == WS_ENGINE_GATHER, load_b = b->engine == WS_ENGINE_GATHER;
    if (!load_a && !load_b)
        return FALSE;
    return (load_a && load_b) || !((load_a ? b : a)->access[0].mode & WS_MODE_WRITE);
}

static gboolean depends(WsElab *E, const WsStageMade *x, const WsStageMade *y)
{
    for (guint i = x->from; i < x->to; i++)
        for (guint k = y->from; k < y->to; k++) {
            const WsOp *a = g_ptr_array_index(E->ops, i), *b = g_ptr_array_index(E->ops, k);
            if (a->n_access == 0 || b->n_access == 0 || filtered(a, b))
                continue;
            for (guint m = 0; m < a->n_access; m++)
                for (guint n = 0; n < b->n_access; n++)
                    if (meet(E, &a->access[m], &b->access[n]))
                        return TRUE;
        }
    return FALSE;
}

/* Where the two differ, once for both halves. */
static void tell(WsElab *E, const WsStageMade *made, gboolean waits)
{
    const WsOp *border = made->border;
    if (E->agent->out->half != 0)
        return;
    if (made->drawn && waits)
        ws_elab_note(
            E, WS_RULE_L_BORDER, border->step, NULL,
            "%s: where a load_wait or sync stands Triton adds no barrier of its own, though "
            "its analysis asks for one that waits for shared memory",
            border->label);
    else if (!made->drawn && border->lowered == WS_BORDER_LOCAL &&
             border->border == WS_BORDER_PLAIN)
        ws_elab_note(E, WS_RULE_L_BORDER, border->step, NULL,
                     "%s: Triton waits for operations on shared memory, the design does not",
                     border->label);
    else if (!made->drawn && border->lowered == WS_BORDER_PLAIN &&
             border->border == WS_BORDER_LOCAL)
        ws_elab_note(E, WS_RULE_L_BORDER, border->step, NULL,
                     "%s: the design waits for operations on shared memory, Triton does not",
                     border->label);
}

/* local[i]: the border before stage i. */
void ws_stage_lowering(WsElab *E, const WsStageRun *run)
{
    const guint n = run->made ? run->made->len : 0;
    g_autofree gboolean *local = g_new0(gboolean, n + 1);
    const WsStageMade *made = n ? &g_array_index(run->made, WsStageMade, 0) : NULL;
    for (guint dist = 1; n && dist <= (run->loop ? n : n - 1); dist++)
        for (guint src = 0; src < (run->loop ? n : n - dist); src++) {
            const guint dst = (src + dist) % n, at = dist == 1 ? dst : (dst + n - 1) % n;
            gboolean covered = FALSE;
            for (guint k = (src + 1) % n;; k = (k + 1) % n) {
                covered |= local[k];
                if (k == at)
                    break;
            }
            if (!covered && depends(E, &made[src], &made[dst]))
                local[at] = TRUE;
        }
    for (guint i = 0; i < n; i++) {
        const gboolean waits = local[(i + 1) % n] && (run->loop || i + 1 < n);
        if (!made[i].border)
            continue;
        made[i].border->lowered = made[i].drawn ? WS_BORDER_NONE
                                  : waits       ? WS_BORDER_LOCAL
                                                : WS_BORDER_PLAIN;
        tell(E, &made[i], waits);
    }
}
