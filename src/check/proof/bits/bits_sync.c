/* mbarriers, named barriers and the barrier of the cluster in the proof. */
#include "check/proof/bits/bits.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

/* --- flags ------------------------------------------------------------------------------------ */
/* A flag of a core is one bit (Ascend C API, SetFlag/WaitFlag): a set must find it down, a wait
 * takes it away. That a set comes behind the wait that took it in every order is W2. */
static gboolean is_flag(const WsBits *b, guint s)
{
    return b->p->barrier[b->barrier_of[s % b->n_slots]].flag;
}

static void raise_flag(WsBits *b, guint s)
{
    WsBitSlot *slot = ws_bit_slot(b, s);
    if (!is_flag(b, s))
        return;
    if (slot->up)
        ws_bit_alarm(b, WS_RULE_P_FLAG);
    slot->up = 1;
}

/* --- mbarriers -------------------------------------------------------------------------------- */
guint ws_bit_targets(WsBits *b, guint i, const WsBitOp *o, guint *rank)
{
    const WsCtas *ctas = &o->op->ctas;
    guint n = 0;
    gint64 one = 0;
    switch (ctas->kind) {
    case WS_CTAS_OWN:
        rank[n++] = ws_bit_rank(b, i);
        break;
    case WS_CTAS_ALL:
    case WS_CTAS_MASK:
        for (guint r = 0; r < b->ranks && n < 16; r++)
            if (ctas->kind == WS_CTAS_ALL || ctas->mask & (1u << r))
                rank[n++] = r;
        break;
    case WS_CTAS_EXPR:
        if (!ws_bit_eval(b, i, &o->cta, &one) || one < 0 || one >= b->ranks) {
            ws_bit_alarm(b, WS_RULE_P_CLUSTER);
            return 0;
        }
        rank[n++] = (guint)one;
        break;
    }
    return n;
}

/* The slot that an operation means in CTA `rank`, -1 (an alarm) if there is none. */
gint ws_bit_resolve(WsBits *b, guint i, const WsBitOp *o, guint rank, gint64 *turn)
{
    gint64 element = 0, slot = 0, use = 0;
    *turn = G_MININT64;
    if (o->barrier < 0)
        return -1;
    const WsBarrier *bar = &b->p->barrier[o->barrier];
    gint64 slots = MAX(bar->slots, 1);
    ws_bit_eval(b, i, &o->use, &use);
    ws_bit_eval(b, i, &o->element, &element);
    ws_bit_eval(b, i, &o->slot, &slot);
    if (b->c->outside)
        return -1;
    if (use < 0 || element < 0 || element >= MAX(bar->array, 1) || slot < 0 || slot >= slots) {
        ws_bit_alarm(b, WS_RULE_P_UNDEF);
        return -1;
    }
    guint s = rank * b->n_slots + b->first_slot[o->barrier] + (guint)(element * slots + slot);
    b->vague = FALSE;
    if (o->turn.given && ws_bit_eval(b, i, &o->turn, turn) && !o->exact) {
        gint64 phase = ws_bit_slot(b, s)->phase, d = ws_control_mod(*turn - phase, WS_LAPS);
        if (o->kind == WS_OP_MBAR_WAIT ? 2 * d >= WS_LAPS : 2 * d > WS_LAPS)
            d -= WS_LAPS;
        b->drifts |= !b->unwatched[o->barrier] && (b->vague || *turn != phase + d);
        *turn = phase + d;
    }
    return (gint)s;
}

static guint64 *slot_row(const WsBits *b, guint s, guint item)
{
    return ws_bit_k(b, s / b->n_slots * b->items_of_rank + b->slot_item[s % b->n_slots] + item);
}

/* W2: who waited for the completion before must have returned before the next can happen. */
static void check_lapped(WsBits *b, guint s, WsBitSlot *slot)
{
    guint k = b->barrier_of[s % b->n_slots];
    for (guint a = 0; slot->waited && a < b->n_agents; a++)
        if (slot->waited & (1u << a) &&
            !ws_bit_knows(b, slot_row(b, s, WS_ITEM_RETURN + (guint)b->agent[a].ret[k]),
                          &b->acc[s]))
            ws_bit_alarm(b, WS_RULE_P_ABA);
    slot->waited = 0;
}

void ws_bit_complete(WsBits *b, guint s)
{
    WsBitSlot *slot = ws_bit_slot(b, s);
    while (slot->pend == 0 && slot->tx == 0 && !b->alarm) {
        guint here = s % b->n_slots;
        const WsBarrier *bar = &b->p->barrier[b->barrier_of[here]];
        guint element = (here - b->first_slot[b->barrier_of[here]]) / MAX(bar->slots, 1);
        check_lapped(b, s, slot);
        if (slot->loose) /* R2c: it could complete before its bytes are expected */
            ws_bit_alarm(b, WS_RULE_P_TX);
        slot->bytes_before = slot->moved;
        slot->lanes_before = slot->lanes_now;
        slot->moved = slot->lanes_now = 0;
        slot->phase++;
        ws_bit_hand_out(b, &b->acc[s], &b->done[s]);
        b->handed = 0;
        guint64 *last = slot_row(b, s, WS_ITEM_LAST), *before = slot_row(b, s, WS_ITEM_BEFORE);
        for (guint w = 0; w < b->nw; w++)
            before[w] = last[w], last[w] = b->done[s].w[w];
        slot->pend = bar->arrivals ? (gint32)bar->arrivals[element] : 1;
        slot->earlier = (guint32)slot->before;
        slot->before = slot->now;
        slot->now = 0;
        if (slot->pend <= 0)
            return;
    }
}

/* L-KNOWN: who knows of all that contributed to a completion knows that it has happened. */
static gboolean surely_over(const WsBits *b, guint s, guint64 contributors, const WsMask *m)
{
    guint k = b->barrier_of[s % b->n_slots];
    for (guint64 left = b->feeds ? contributors : 0; left; left &= left - 1) {
        gint feed = b->agent[ws_bit_agent(b, (guint)__builtin_ctzll(left))].feed[k];
        if (feed < 0 || !ws_bit_knows(b, slot_row(b, s, (guint)feed), m))
            return FALSE;
    }
    return b->feeds && contributors;
}

/* R1: a contribution must not be able to hit an older phase, and must hit the one it means. */
void ws_bit_contribute(WsBits *b, guint i, const WsBitOp *o, guint s, gint64 turn)
{
    WsBitSlot *slot = ws_bit_slot(b, s);
    if (b->unwatched[o->barrier]) /* L-R1-UNSEEN */
        return;
    if (turn != G_MININT64 && turn != slot->phase)
        ws_bit_alarm(b, WS_RULE_P_EARLY);
    /* before the first completion everybody knows "the last one" */
    const WsMask *mask = o->leader ? &b->lead[i] : &b->know[i];
    if (ws_bit_knows(b, slot_row(b, s, WS_ITEM_LAST), mask) ||
        surely_over(b, s, slot->before, mask))
        return;
    /* L-R1-WEAK: a leader that contributed to the phase before and is alone in it cannot be early.
     * Lanes are not in step: one of them can be a phase ahead of another. */
    gboolean in_step = o->leader && !slot->lanes_now && !slot->lanes_before;
    if (!in_step || (slot->now | slot->before) != 1ull << i || slot->bytes_before)
        ws_bit_alarm(b, WS_RULE_P_EARLY);
}

/* The leader releases; not twice if it has learned nothing in between. */
void ws_bit_release(WsBits *b, guint i, guint s)
{
    guint64 now = (guint64)(i + 1) << 32 | s;
    if (b->handed != now)
        ws_bit_join(b, &b->lead[i], &b->acc[s]);
    b->handed = now;
}

static void count(WsBits *b, guint i, const WsBitOp *o, guint s)
{
    WsBitSlot *slot = ws_bit_slot(b, s);
    gint feed = b->feeds ? b->agent[ws_bit_agent(b, i)].feed[o->barrier] : -1;
    if (feed >= 0)
        ws_bit_set(b, slot_row(b, s, (guint)feed), o->leader ? &b->lead[i] : &b->own_o[i]);
    if (!o->leader && o->op->per > 0 && o->op->per <= 32) {
        ws_bit_release_all(b, i, &b->acc[s]);
        slot->lanes_now = 1;
    } else {
        ws_bit_release(b, i, s);
    }
    if (o->op->count > slot->pend) {
        ws_bit_alarm(b, WS_RULE_P_COUNT);
        return;
    }
    slot->pend -= (gint32)o->op->count;
    if (slot->loose == i + 1)
        slot->loose = 0;
    slot->now |= 1ull << i;
}

/* Remembers an arrival in another CTA, or a read of it: that CTA may not end before it. */
void ws_bit_reach(WsBits *b, guint i, gboolean lanes, guint rank)
{
    guint item = ws_bit_rank(b, i) * b->items_of_rank + b->item_remote +
                 (2 * ws_bit_agent(b, i) + lanes) * b->ranks + rank;
    ws_bit_set(b, ws_bit_k(b, item), lanes ? &b->own_o[i] : &b->lead[i]);
}

void ws_bit_arrive(WsBits *b, guint i, const WsBitOp *o)
{
    guint rank[16], n = ws_bit_targets(b, i, o, rank);
    for (guint k = 0; k < n && !b->alarm; k++) {
        gint64 turn;
        gint s = ws_bit_resolve(b, i, o, rank[k], &turn);
        if (s < 0)
            return;
        raise_flag(b, (guint)s);
        ws_bit_contribute(b, i, o, (guint)s, turn);
        if (rank[k] != ws_bit_rank(b, i))
            ws_bit_reach(b, i, !o->leader && o->op->per > 0 && o->op->per <= 32, rank[k]);
        count(b, i, o, (guint)s);
        ws_bit_complete(b, (guint)s);
    }
}

void ws_bit_expect(WsBits *b, guint i, const WsBitOp *o)
{
    gint64 turn;
    gint s = ws_bit_resolve(b, i, o, ws_bit_rank(b, i), &turn);
    if (s < 0)
        return;
    WsBitSlot *slot = ws_bit_slot(b, (guint)s);
    ws_bit_contribute(b, i, o, (guint)s, turn);
    slot->tx += o->op->bytes;
    slot->moved |= o->op->bytes != 0;
    if (o->op->count <= 0) {
        if (slot->loose && slot->loose != i + 1)
            ws_bit_alarm(b, WS_RULE_P_TX);
        slot->loose = (guint8)(i + 1);
    } else {
        count(b, i, o, (guint)s);
    }
    ws_bit_complete(b, (guint)s);
}

/* L-LAST-RETURN: the last return of an agent stands for an earlier one unless the leader waits
 * again for the completion that the lanes may still be waiting for. */
static void note_return(WsBits *b, guint i, const WsBitOp *o, guint s, WsBitSlot *slot)
{
    guint a = ws_bit_agent(b, i);
    guint item = b->slot_item[s % b->n_slots] + WS_ITEM_RETURN + (guint)b->agent[a].ret[o->barrier];
    guint64 *row = ws_bit_k(b, s / b->n_slots * b->items_of_rank + item);
    gboolean open = slot->waited & (1u << a) && o->leader && !ws_bit_knows(b, row, &b->lead[i]);
    ws_bit_returned(b, i, item);
    if (open)
        ws_bit_fill(b, row, 0);
    else
        ws_bit_set(b, row, o->leader ? &b->lead[i] : &b->own_w[i]);
    slot->waited |= 1u << a;
}

/* FALSE while it must wait. */
gboolean ws_bit_wait(WsBits *b, guint i, const WsBitOp *o)
{
    WsBitInst *in = ws_bit_inst(b, i);
    gint64 parity = 0;
    if (!in->have) {
        gint s = ws_bit_resolve(b, i, o, ws_bit_rank(b, i), &in->turn);
        if (s < 0 || !o->parity.given || !ws_bit_eval(b, i, &o->parity, &parity))
            return TRUE;
        if (parity != 0 && parity != 1) {
            ws_bit_alarm(b, WS_RULE_P_UNDEF);
            return TRUE;
        }
        in->slot = (gint16)s, in->parity = (guint8)parity, in->have = 1;
    }
    guint s = (guint)in->slot;
    WsBitSlot *slot = ws_bit_slot(b, s);
    if ((slot->phase & 1) == in->parity || (is_flag(b, s) && !slot->up))
        return FALSE;
    slot->up = 0;
    gint64 k = slot->phase - 1;
    const WsMask *mask = o->leader ? &b->lead[i] : &b->know[i];
    if (in->turn != G_MININT64 && in->turn != k) /* passes on another completion than it means */
        ws_bit_alarm(b, WS_RULE_P_EARLY);
    if (!ws_bit_knows(b, slot_row(b, s, WS_ITEM_BEFORE), mask) &&
        !surely_over(b, s, slot->earlier, mask)) /* W1 */
        ws_bit_alarm(b, WS_RULE_P_EARLY);
    ws_bit_join(b, &b->done[s], mask);
    note_return(b, i, o, s, slot);
    in->have = 0, in->slot = 0, in->parity = 0, in->turn = 0;
    return TRUE;
}

/* --- named barriers --------------------------------------------------------------------------- */
static gint named_of(WsBits *b, guint i, const WsBitOp *o, gint64 *element)
{
    gint id = o->named;
    *element = 0;
    if (id < 0) {
        const WsBarrier *bar = &b->p->barrier[o->barrier];
        ws_bit_eval(b, i, &o->element, element);
        if (*element < 0 || *element >= MAX(bar->array, 1)) {
            ws_bit_alarm(b, WS_RULE_P_UNDEF);
            return -1;
        }
        id = (gint)ws_named_id(b->p, bar, (guint)*element);
    }
    return (gint)(ws_bit_rank(b, i) * b->n_named) + b->named_of[id];
}

/* In the place of the parity: the agent waits at a named barrier. */
#define AT_SYNC 2

static void join_named(WsBits *b, guint i, const WsBitOp *o, guint n, gint64 element)
{
    WsBitNamed *x = ws_bit_named(b, n);
    guint holder = b->ranks * b->n_slots + n,
          threads_of_agent = b->agent[ws_bit_agent(b, i)].a->threads;
    const WsBarrier *bar = o->barrier < 0 ? NULL : &b->p->barrier[o->barrier];
    gint64 threads =
        bar && bar->threads ? bar->threads[element] : MAX(o->op->count, (gint64)threads_of_agent);
    guint64 *row = ws_bit_k(b, n / b->n_named * b->items_of_rank + b->item_named + n % b->n_named);
    if (x->arrived == 0)
        x->count = (gint32)threads;
    else if (x->count != threads)
        ws_bit_alarm(b, WS_RULE_P_NAMED);
    /* N1; L-N1-WEAK: the warp that made all joins of the generation before knows that it is over;
     * warps of one agent are not in step. */
    const gboolean alone = x->before == 1ull << i && b->agent[ws_bit_agent(b, i)].a->warps == 1;
    if (!alone && !ws_bit_knows(b, row, &b->know[i]))
        ws_bit_alarm(b, WS_RULE_P_NAMED);
    x->arrived += (gint32)threads_of_agent;
    x->now |= 1ull << i;
    ws_bit_release_all(b, i, &b->acc[holder]);
    ws_bit_inst(b, i)->joined = x->generation;
    if (x->arrived > x->count)
        ws_bit_alarm(b, WS_RULE_P_NAMED);
    if (x->arrived < x->count)
        return;
    x->generation++;
    x->arrived = x->count = 0;
    x->before = x->now, x->now = 0;
    ws_bit_hand_out(b, &b->acc[holder], &b->done[holder]);
    ws_bit_set(b, row, &b->done[holder]);
    /* Who waits for this generation learns of this one, however late he goes on. */
    for (guint k = 0; k < b->n_inst; k++) {
        const WsBitInst *w = ws_bit_inst(b, k);
        if (w->have && w->parity == AT_SYNC && w->named == (gint16)n &&
            w->joined == x->generation - 1)
            ws_bit_join(b, &b->done[holder], &b->know[k]);
    }
}

gboolean ws_bit_sync(WsBits *b, guint i, const WsBitOp *o)
{
    WsBitInst *in = ws_bit_inst(b, i);
    gint64 element;
    if (o->named >= (gint)ws_named_ids(b->p)) { /* all lanes of one agent and nobody else */
        if (o->kind == WS_OP_BAR_ARRIVE)
            return TRUE;
        ws_bit_join(b, &b->all[i], &b->know[i]);
        return TRUE;
    }
    if (!in->have) {
        gint n = named_of(b, i, o, &element);
        if (n < 0)
            return TRUE;
        in->named = (gint16)n, in->have = 1;
        in->parity = o->kind == WS_OP_BAR_SYNC ? AT_SYNC : 0;
        join_named(b, i, o, (guint)n, element);
    }
    guint n = (guint)in->named;
    if (o->kind == WS_OP_BAR_SYNC) {
        if (ws_bit_named(b, n)->generation <= in->joined)
            return FALSE;
        ws_bit_collective(b, i);
    }
    in->have = 0, in->named = 0, in->joined = 0, in->parity = 0;
    return TRUE;
}

/* --- cluster barrier -------------------------------------------------------------------------- */
gboolean ws_bit_cluster(WsBits *b, guint i, const WsBitOp *o)
{
    WsBitInst *in = ws_bit_inst(b, i);
    guint n = b->ranks * b->n_named, holder = b->ranks * b->n_slots + n;
    WsBitNamed *x = ws_bit_named(b, n);
    if (o->kind == WS_OP_CLUSTER_ARRIVE) {
        if (in->cluster_joined >= 0) { /* L-CLUSTER: arrivals and waits take turns */
            ws_bit_alarm(b, WS_RULE_P_CLUSTER);
            return TRUE;
        }
        in->cluster_joined = x->generation;
        ws_bit_release_all(b, i, &b->acc[holder]);
        if (++x->arrived >= (gint32)b->n_inst) {
            x->generation++;
            x->arrived = 0;
            ws_bit_join(b, &b->acc[holder], &b->done[holder]);
        }
        return TRUE;
    }
    if (in->cluster_joined < 0) {
        ws_bit_alarm(b, WS_RULE_P_CLUSTER);
        return TRUE;
    }
    if (x->generation <= in->cluster_joined)
        return FALSE;
    in->cluster_joined = -1;
    /* L-MEETING: the lanes met where they arrived, not here: they may wait for something between */
    ws_bit_join(b, &b->done[holder], &b->know[i]);
    return TRUE;
}
