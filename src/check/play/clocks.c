/* Clocks of the play: what the leader and the lanes of an agent know, give away and take over. */
#include "check/play/play.h"

#include <string.h>

static void join(WsEpoch *into, const WsEpoch *from, guint n)
{
    for (guint i = 0; i < n; i++)
        into[i] = MAX(into[i], from[i]);
}

void ws_clock_join(WsPlay *play, WsEpoch *into, const WsEpoch *from)
{
    join(into, from, WS_CLOCK_PARTS * play->n_comps);
}

void ws_clock_join_order(WsPlay *play, WsEpoch *into, const WsEpoch *from)
{
    join(into, from, WS_CLOCK_STORES * play->n_comps);
}

gboolean ws_knows(const WsInst *inst, gboolean leader, guint comp, WsEpoch epoch)
{
    if (leader)
        return inst->lead[comp] >= epoch;
    return inst->lead[comp] >= epoch && inst->lanes[comp] >= epoch;
}

gboolean ws_fenced(const WsPlay *play, const WsInst *inst, gboolean leader, guint comp,
                   WsEpoch epoch)
{
    comp += play->n_comps;
    return inst->lead[comp] >= epoch && (leader || inst->lanes[comp] >= epoch);
}

gboolean ws_published(const WsPlay *play, const WsInst *inst, gboolean leader, guint comp,
                      WsEpoch epoch)
{
    const guint at = WS_CLOCK_STORES * play->n_comps + comp;
    if (leader && comp == inst->comp_l)
        return TRUE;
    return inst->lead[at] >= epoch && (leader || inst->lanes[at] >= epoch);
}

/* What the leader stored itself. */
static void own_stores(WsPlay *play, WsInst *inst)
{
    inst->lead[WS_CLOCK_STORES * play->n_comps + inst->comp_l] = inst->lead[inst->comp_l];
}

void ws_release_leader(WsPlay *play, WsInst *inst, WsEpoch *into)
{
    own_stores(play, inst);
    ws_clock_join(play, into, inst->lead);
}

void ws_release_all(WsPlay *play, WsInst *inst, WsEpoch *into)
{
    const guint stores = WS_CLOCK_STORES * play->n_comps + inst->comp_o;
    own_stores(play, inst);
    ws_clock_join(play, into, inst->lead);
    ws_clock_join(play, into, inst->lanes);
    into[stores] = MAX(into[stores], inst->o);
    into[inst->comp_o] = MAX(into[inst->comp_o], inst->o);
    into[play->n_comps + inst->comp_o] = MAX(into[play->n_comps + inst->comp_o], inst->fenced);
    into[inst->comp_b] = MAX(into[inst->comp_b], inst->b);
}

void ws_acquire(WsPlay *play, WsInst *inst, gboolean leader, const WsEpoch *from)
{
    ws_clock_join(play, inst->lead, from);
    if (!leader)
        ws_clock_join(play, inst->lanes, from);
}

static void all_know(WsPlay *play, WsInst *inst, guint comp, WsEpoch epoch)
{
    const guint at[] = { comp, play->n_comps + comp, WS_CLOCK_STORES * play->n_comps + comp };
    for (guint i = 0; i < G_N_ELEMENTS(at); i++) {
        inst->lead[at[i]] = MAX(inst->lead[at[i]], epoch);
        inst->lanes[at[i]] = MAX(inst->lanes[at[i]], epoch);
    }
}

void ws_collective(WsPlay *play, WsInst *inst)
{
    all_know(play, inst, inst->comp_b, inst->b);
}

void ws_groups_known(WsPlay *play, WsInst *inst)
{
    all_know(play, inst, inst->comp_w, inst->w);
}

void ws_came_by(WsPlay *play, WsInst *inst, WsEpoch back, WsEpoch made)
{
    all_know(play, inst, inst->comp_b, back);
    inst->lead[inst->comp_o] = MAX(inst->lead[inst->comp_o], made);
    inst->lanes[inst->comp_o] = MAX(inst->lanes[inst->comp_o], made);
}
