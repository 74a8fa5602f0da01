/* Slots of mbarriers that somebody waits for in the case that is played. Which phase an arrival
 * meets in any other one has no consequence (L-R1-UNSEEN). */
#include "check/play/play.h"

/* The agent waits for the slot at some time. */
static gboolean waits(WsPlay *play, const WsInst *inst, const WsSlot *slot)
{
    WsCaseSource source = { play->p, play->c };
    g_autoptr(WsWalker) w = ws_walker_new(play->p, play->c->values, inst->agent, inst->rank,
                                          ws_case_source_tile, &source);
    WsStep step;
    ws_walker_set_element(w, ws_case_source_element, &source);
    ws_walker_limit(w, ws_play_limit(play));
    gboolean found = FALSE;
    g_autoptr(GError) error = NULL;
    for (guint64 n = 0; !found && ws_walker_next(w, &step, &error); n++) {
        const WsOp *op = step.op;
        gint64 element = 0, at = 0;
        found = n > play->max_ops;
        if (op->kind != WS_OP_MBAR_WAIT || op->barrier != (gint)slot->barrier)
            continue;
        found |= (op->element && !ws_walker_eval(w, op->element, &element, NULL)) ||
                 (op->slot && !ws_walker_eval(w, op->slot, &at, NULL)) ||
                 ws_slot_of(play, inst->rank, slot->barrier, element, at) == slot;
    }
    play->walked += (guint64)ws_walker_spent(w);
    return found || error; /* who cannot be followed may wait */
}

gboolean ws_is_watched(WsPlay *play, WsSlot *slot)
{
    if (!play->fed_singly[slot->barrier])
        return TRUE;
    if (slot->watched == WS_WATCHED_UNKNOWN) {
        slot->watched = WS_WATCHED_BY_NOBODY;
        for (guint i = 0; i < play->n_inst && slot->watched == WS_WATCHED_BY_NOBODY; i++)
            if (play->inst[i].rank == slot->rank && waits(play, &play->inst[i], slot))
                slot->watched = WS_WATCHED;
    }
    return slot->watched == WS_WATCHED;
}
