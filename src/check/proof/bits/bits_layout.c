/* Where everything of a state of the proof lies, and the first state. */
#include "check/proof/bits/bits.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include <string.h>

/* --- items ------------------------------------------------------------------------------------ */
static void number_items(WsBits *b)
{
    const WsProgram *p = b->p;
    guint item = b->n_touched;
    b->first_slot = ws_bit_alloc(b, (p->n_barriers + 1) * sizeof(guint));
    b->n_slots = 0;
    for (guint k = 0; k < p->n_barriers; k++) {
        b->first_slot[k] = b->n_slots;
        if (p->barrier[k].kind == WS_BARRIER_MBARRIER)
            b->n_slots += MAX(p->barrier[k].array, 1) * MAX(p->barrier[k].slots, 1);
    }
    b->slot_item = ws_bit_alloc(b, (b->n_slots + 1) * sizeof(guint));
    for (guint a = 0; a < b->n_agents; a++) {
        b->agent[a].n_returns = 0;
        b->agent[a].returns = ws_bit_alloc(b, (b->n_slots + 1) * sizeof(guint));
    }
    b->barrier_of = ws_bit_alloc(b, (b->n_slots + 1) * sizeof(guint));
    for (guint k = 0; k < p->n_barriers; k++) {
        if (p->barrier[k].kind != WS_BARRIER_MBARRIER)
            continue;
        gint16 waiting = 0;
        for (guint a = 0; a < b->n_agents; a++)
            if (b->agent[a].ret[k] >= 0) /* again after a restart: the same numbers */
                b->agent[a].ret[k] = waiting++;
        guint own = WS_ITEM_RETURN + (guint)waiting;
        own += ws_bit_number_feeds(b, k, own);
        guint n = MAX(p->barrier[k].array, 1) * MAX(p->barrier[k].slots, 1);
        for (guint s = b->first_slot[k]; s < b->first_slot[k] + n; s++) {
            b->slot_item[s] = item;
            b->barrier_of[s] = k;
            for (guint a = 0; a < b->n_agents; a++)
                if (b->agent[a].ret[k] >= 0)
                    b->agent[a].returns[b->agent[a].n_returns++] =
                        item + WS_ITEM_RETURN + (guint)b->agent[a].ret[k];
            item += own;
        }
    }
    b->item_named = item;
    b->item_remote = item + b->n_named;
    b->items_of_rank = b->item_remote + (b->ranks > 1 ? 2 * b->ranks * b->n_agents : 0);
    b->n_items = b->ranks * b->items_of_rank;
    b->kept = ws_bit_alloc(b, (b->n_items + 1) * sizeof(guint32));
    b->touch = ws_bit_alloc(b, (b->n_items + 1) * sizeof(guint32));
    b->q_row = ws_bit_alloc(b, (b->n_items + 1) * sizeof(gint16));
    memset(b->q_row, 0xff, (b->n_items + 1) * sizeof(gint16));
    b->q_item = ws_bit_alloc(b, (b->n_items + 1) * sizeof(guint));
    b->n_q = 0;
    for (guint r = 0; r < b->ranks; r++)
        for (guint i = 0; i < b->n_touched; i++)
            if (b->fenced[i]) {
                b->q_item[b->n_q] = r * b->items_of_rank + i;
                b->q_row[r * b->items_of_rank + i] = (gint16)b->n_q++;
            }
    if (b->n_items > 16000)
        ws_bit_outside(b, "too many events can still matter");
}

/* --- holders ---------------------------------------------------------------------------------- */
static void holder(WsBits *b, WsMask *m, guint *n)
{
    if (*n < 64 * WS_BIT_WORDS)
        m->w[*n / 64] |= 1ull << (*n % 64);
    else
        ws_bit_outside(b, "too many barriers and agents");
    ++*n;
}

static void join_masks(WsMask *into, const WsMask *from)
{
    for (guint w = 0; w < WS_BIT_WORDS; w++)
        into->w[w] |= from->w[w];
}

/* The holders of one ring lie in one word, so that they can be turned. */
static guint start_of_ring(const WsBits *b, guint object, guint n)
{
    if (object >= b->ranks * b->n_slots)
        return n;
    guint here = object % b->n_slots, bar = b->barrier_of[here];
    guint slots = MAX(b->p->barrier[bar].slots, 1);
    gboolean first = (here - b->first_slot[bar]) % slots == 0;
    return first && 2 * slots <= 64 && n % 64 + 2 * slots > 64 ? (n / 64 + 1) * 64 : n;
}

static void number_holders(WsBits *b)
{
    guint n = 0, objects = b->ranks * (b->n_slots + b->n_named) + 1;
    gsize insts = (b->n_inst + 1) * sizeof(WsMask);
    b->lead = ws_bit_alloc(b, insts), b->lanes = ws_bit_alloc(b, insts);
    b->know = ws_bit_alloc(b, insts), b->all = ws_bit_alloc(b, insts);
    b->own_o = ws_bit_alloc(b, insts), b->own_w = ws_bit_alloc(b, insts);
    b->acc = ws_bit_alloc(b, objects * sizeof(WsMask));
    b->done = ws_bit_alloc(b, objects * sizeof(WsMask));
    for (guint i = 0; i < b->n_inst; i++) {
        holder(b, &b->lead[i], &n);
        if (b->agent[ws_bit_agent(b, i)].lanes) {
            holder(b, &b->lanes[i], &n);
            holder(b, &b->own_o[i], &n);
            holder(b, &b->own_w[i], &n);
        }
        join_masks(&b->know[i], &b->lead[i]);
        join_masks(&b->know[i], &b->lanes[i]);
        join_masks(&b->all[i], &b->know[i]);
        join_masks(&b->all[i], &b->own_o[i]);
        join_masks(&b->all[i], &b->own_w[i]);
    }
    for (guint i = 0; i < objects; i++) {
        if (i + 1 == objects && b->ranks == 1)
            break; /* no cluster barrier */
        n = start_of_ring(b, i, n);
        holder(b, &b->acc[i], &n);
        holder(b, &b->done[i], &n);
    }
    b->nw = (n + 63) / 64;
}

/* --- the block -------------------------------------------------------------------------------- */
static gsize take(gsize *at, gsize bytes)
{
    gsize here = *at;
    *at += (bytes + 63) & ~(gsize)63;
    return here;
}

/* The words that are the key as they are. */
static void lay_raw(WsBits *b)
{
    guint n = 0;
    b->n_set = (b->item_named + 63) / 64; /* returns from waits, too: L-MMA-MEETING */
    b->defined0 = ws_bit_alloc(b, (b->n_inst + 1) * sizeof(guint));
    b->busy0 = ws_bit_alloc(b, (b->n_inst + 1) * sizeof(guint));
    for (guint q = 0; q < 3; q++)
        b->set0[q] = ws_bit_alloc(b, (b->n_inst + 1) * sizeof(guint));
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
        b->defined0[i] = n;
        n += (2 + a->private_depth) * a->a->n_values;
        for (guint q = 0; q < 3; q++) {
            b->set0[q][i] = n;
            n += a->ages[q] * b->n_set;
        }
        b->busy0[i] = n;
        n += a->ages[0];
    }
    b->o_written = n;
    n += (b->ranks * b->n_cells + 63) / 64;
    b->o_author = n;
    n += (b->ranks * b->n_touched + 3) / 4;
    b->n_raw = n;
}

void ws_bit_layout(WsBits *b)
{
    ws_bit_cells(b);
    if (b->c->outside)
        return;
    number_items(b);
    number_holders(b);
    lay_raw(b);
    if (b->c->outside)
        return;
    b->v0 = ws_bit_alloc(b, (b->n_inst + 1) * sizeof(guint));
    b->l0 = ws_bit_alloc(b, (b->n_inst + 1) * sizeof(guint));
    b->n_locals = b->n_loops = 0;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
        b->v0[i] = b->n_locals, b->l0[i] = b->n_loops;
        b->n_locals += a->n_locals, b->n_loops += a->n_loops;
    }
    gsize at = 0;
    b->o_inst = take(&at, b->n_inst * sizeof(WsBitInst));
    b->o_begun = take(&at, b->split ? b->n_inst * WS_MAX_SPLIT * sizeof(gint64) : 0);
    b->o_owed = take(&at, b->may_owe ? b->n_locals * sizeof(WsBitOwed) : 0);
    b->o_value = take(&at, b->n_locals * sizeof(gint64));
    b->o_loop = take(&at, 4 * b->n_loops * sizeof(gint64));
    b->o_slot = take(&at, b->ranks * b->n_slots * sizeof(WsBitSlot));
    b->o_named = take(&at, (b->ranks * b->n_named + 1) * sizeof(WsBitNamed));
    b->o_raw = take(&at, b->n_raw * sizeof(guint64));
    b->o_k = take(&at, (gsize)b->n_items * b->nw * sizeof(guint64));
    b->o_q = take(&at, (gsize)b->n_q * b->nw * sizeof(guint64));
    b->o_claim = take(&at, b->claims ? b->ranks * b->n_cells * sizeof(gint64) : 0);
    b->bytes = at;
    g_free(b->now);
    b->now = g_malloc0(at);
    b->serial = 1;
    ws_bit_find_sums(b);
    ws_bit_find_groups(b);
    ws_bit_find_owed(b);
    ws_bit_find_amounts(b);
}

void ws_bit_reset(WsBits *b)
{
    const WsProgram *p = b->p;
    memset(b->now, 0, b->bytes);
    memset(b->now + b->o_k, 0xff, (gsize)b->n_items * b->nw * sizeof(guint64));
    memset(b->now + b->o_q, 0xff, (gsize)b->n_q * b->nw * sizeof(guint64));
    memset(b->now + b->o_claim, 0xff, b->bytes - b->o_claim); /* WS_NO_TILE */
    g_array_set_size(b->c->instance, 0);
    for (guint i = 0; i < b->n_inst; i++) {
        WsBitInst *in = ws_bit_inst(b, i);
        in->position = p->tiles->launch == WS_LAUNCH_SINGLE ? 0 : -1;
        in->state = WS_INST_RUN;
        in->cluster_joined = -1;
    }
    for (guint s = 0; s < b->ranks * b->n_slots; s++) {
        guint here = s % b->n_slots;
        const WsBarrier *bar = &p->barrier[b->barrier_of[here]];
        guint element = (here - b->first_slot[b->barrier_of[here]]) / MAX(bar->slots, 1);
        ws_bit_slot(b, s)->pend = bar->arrivals ? (gint32)bar->arrivals[element] : 1;
    }
    b->alarm = FALSE;
    b->ops = 0;
}
