/* L-LAPS: what decides parities, slots and stages counts modulo in a key, but a turn that no name
 * decides has to be the completion that it meets, not one whole laps away. So a key also holds how
 * far such turns are from what their barriers have completed: by the sums of variables that they
 * are made of. Two states in which these are alike have turns that are off by as much as the phases
 * of their slots are, now and later on. */
#include "check/proof/bits/bits.h"
#include "program/parts/barrier.h"
#include "program/program.h"

/* --- rings ------------------------------------------------------------------------------------ */
/* Slots that it may be: `first` and every step-th of its ring; the step. */
gint64 ws_bit_slots_of(const WsExpr *slot, gint64 slots, gint64 *first)
{
    WsAffine f;
    gint64 step = slots, m;
    *first = 0;
    if (ws_expr_is_int(slot, first))
        return slots;
    if (slot->op != WS_EXPR_MOD || !ws_expr_is_int(slot->arg[1], &m) || m != slots)
        return 1;
    const gboolean fits = ws_expr_affine(slot->arg[0], &f);
    for (guint i = 0; i < f.n; i++)
        for (gint64 x = f.factor[i]; x % step;) {
            const gint64 rest = ABS(x % step);
            x = step, step = rest;
        }
    *first = ws_control_mod(f.constant, slots);
    ws_affine_clear(&f);
    return fits ? step : 1;
}

/* Slots of a ring that somebody may meet are compared with its first one. */
void ws_bit_find_rings(WsBits *b)
{
    g_autofree guint8 *met = g_new0(guint8, b->n_slots + 1),
                      *exact = g_new0(guint8, b->n_slots + 1);
    for (guint a = 0; a < b->n_agents; a++)
        for (guint n = 0; n < b->agent[a].n_code; n++) {
            const WsBitOp *o = b->agent[a].code[n].op;
            gint64 first;
            if (!o || o->barrier < 0 || o->named >= 0 || !o->op->slot || b->unwatched[o->barrier])
                continue;
            const gint64 slots = MAX(b->p->barrier[o->barrier].slots, 1);
            const gint64 step = ws_bit_slots_of(ws_bit_rewritten(b, o->op->slot), slots, &first);
            const guint at = b->first_slot[o->barrier];
            for (guint s = 0; s < MAX(b->p->barrier[o->barrier].array, 1) * slots; s++) {
                met[at + s] |= ws_control_mod(s % slots - first, step) == 0;
                exact[at + s] |=
                    (o->exact || b->firm) && o->turn.given && !o->by_slot && step < slots;
            }
        }
    b->ring = ws_bit_alloc(b, (b->n_slots + 1) * sizeof(gint));
    for (guint s = 0; s < b->n_slots; s++) {
        const guint bar = b->barrier_of[s], slots = MAX(b->p->barrier[bar].slots, 1);
        guint first = b->first_slot[bar] + (s - b->first_slot[bar]) / slots * slots;
        while (first < s && !met[first])
            first++;
        b->ring[s] = met[s] && exact[s] ? (gint)first : -1;
    }
}

/* --- into a key ------------------------------------------------------------------------------- */
/* What a sum is: now, or (`later`) in the next round, once
 * the counter in it has gone on (`adds`); loops from
 * `cut` on are entered anew before it is asked for. */
typedef struct {
    gint cut;
    gboolean later, adds;
} When;

/* What a name is at least in the tile that is so many on. */
static gint64 least_in(const WsBits *b, guint i, gint symbol, gint64 on, gint64 time)
{
    const gint64 position = ws_bit_inst(b, i)->position + on;
    const WsSymbol *s = b->c->symbols->pdata[symbol];
    for (guint k = 0; k < b->c->instance->len; k++) {
        const WsInstance *x = &g_array_index(b->c->instance, WsInstance, k);
        if (x->symbol == symbol && x->position == position && x->time == time &&
            (!s->per_cta || x->rank == (gint)ws_bit_rank(b, i)))
            return x->lo;
    }
    return s->floor;
}

static gboolean is_pending(const WsBits *b, guint i, const WsBitStride *s)
{
    return s->place && s->place >= ws_bit_place(b, i);
}

/* L-SPLIT: the time of a name there. */
static gint64 time_at(const WsBits *b, guint i, const WsBitStride *s, gint symbol)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const guint split = ((const WsSymbol *)b->c->symbols->pdata[symbol])->split;
    gint64 time = split ? ws_bit_begun(b, i)[split - 1] : 0;
    for (guint n = 0; n < a->n_loops && split; n++)
        time += a->loop[n].split == split && a->loop[n].begin < s->place &&
                a->loop[n].begin >= ws_bit_inst(b, i)->at;
    return time;
}

static gint64 stride_value(const WsBits *b, guint i, const WsBitStride *s)
{
    const WsBitDebt *debt = &s->op->debt;
    gint64 x = 0;
    for (guint k = 0; k < debt->factor; k++)
        x += least_in(b, i, b->owed, b->owe_from + k, 0);
    for (guint n = 0; n < s->n_terms && !debt->factor; n++)
        x += s->term[n].factor *
             least_in(b, i, s->term[n].symbol, 0, time_at(b, i, s, s->term[n].symbol));
    return x;
}

static gint64 sum_value(const WsBits *b, guint i, const WsBitSum *s, When w)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    gint64 x = 0;
    for (guint n = 0; n < s->n_terms; n++) {
        const WsBitTerm *t = &s->term[n];
        if (t->symbol) {
            x += w.later ? 0 : t->factor * least_in(b, i, t->symbol, 0, 0);
            continue;
        }
        if (t->loop < 0 || (t->loop < w.cut && ws_bit_active(b, i, (guint)t->loop)))
            x += t->factor * ws_bit_at_least(b, i, (guint)t->local);
        if (w.adds && is_pending(b, i, &a->strides[t->local]))
            x += t->factor * stride_value(b, i, &a->strides[t->local]);
    }
    return x;
}

static void put_one(const WsBits *b, guint i, const WsBitSum *s, When w, WsBitPut put, gpointer key)
{
    const gint64 x = sum_value(b, i, s, w);
    if (s->barrier < 0) {
        put(key, s->modulus ? ws_control_mod(x, s->modulus) : x);
        return;
    }
    const guint slots = MAX(b->p->barrier[s->barrier].slots, 1), own = ws_bit_rank(b, i);
    for (guint r = 0; r < b->ranks; r++)
        for (guint e = 0; e < MAX(b->p->barrier[s->barrier].array, 1) && (s->to[own] >> r & 1);
             e++) {
            const guint first = b->first_slot[s->barrier] + e * slots;
            guint slot = first + (guint)MAX(s->slot, 0);
            while (s->slot < 0 && slot < first + slots && b->ring[slot] < 0)
                slot++;
            if (slot < first + slots && (s->element[own] < 0 || s->element[own] == (gint)e))
                put(key, x - s->laps * ws_bit_slot(b, r * b->n_slots + slot)->phase);
        }
}

/* A loop around it runs, in the loop `within` (-1: or in none). */
static gboolean is_enclosed(const WsBits *b, guint i, guint loop, gint within)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    for (const WsTree *t = a->loop[loop].tree->parent; t; t = t->parent)
        for (guint n = 0; n < loop && t->kind == WS_TREE_LOOP; n++)
            if (a->loop[n].tree == t && (gint)n > within && ws_bit_active(b, i, n))
                return TRUE;
    return FALSE;
}

/* L-DRIFT: the counter of it that goes on by names once in every tile. */
static const WsBitStride *stride_of(const WsBits *b, guint i, const WsBitSum *s)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsBitStride *found = NULL;
    guint n_found = 0;
    for (guint n = 0; n < s->n_terms; n++)
        if (!s->term[n].symbol && a->strides[s->term[n].local].place) {
            found = &a->strides[s->term[n].local];
            n_found++;
        }
    return n_found == 1 ? found : NULL;
}

static void put_sum(const WsBits *b, guint i, const WsBitSum *s, WsBitPut put, gpointer key)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const guint16 place = ws_bit_place(b, i);
    const WsBitStride *stride = stride_of(b, i, s);
    const gint loop = stride ? stride->loop : -1;
    const gboolean pending = stride && is_pending(b, i, stride);
    const gboolean within = loop < 0 || ws_bit_active(b, i, (guint)loop);
    const gboolean sure = pending && within && place >= stride->sure;
    const gboolean behind = sure && s->first > stride->place;
    gboolean now = s->last >= place && !behind, later = FALSE;
    for (guint64 l = s->around; l; l &= l - 1) {
        const guint n = (guint)__builtin_ctzll(l);
        if ((gint)n == loop || behind || (within && (gint)n < loop))
            later |= ws_bit_active(b, i, n);
        else
            now |= ws_bit_active(b, i, n);
    }
    later |= pending && s->last > stride->place;
    if (now) {
        /* in this turn of that loop nobody asks any more */
        const gboolean past = s->until >= 0 && ws_bit_active(b, i, (guint)s->until) &&
                              ws_bit_local(b, i)[a->loop[s->until].index] > s->most;
        if (!past)
            put_one(b, i, s, (When){ (gint)a->n_loops, FALSE, FALSE }, put, key);
        else if (is_enclosed(b, i, (guint)s->until, within ? loop : -1))
            put_one(b, i, s, (When){ s->until, FALSE, FALSE }, put, key);
        for (guint t = 0; t < s->n_terms; t++) /* the same, entered anew */
            if (s->term[t].loop >= 0 && ws_bit_active(b, i, (guint)s->term[t].loop) &&
                is_enclosed(b, i, (guint)s->term[t].loop, within ? loop : -1))
                put_one(b, i, s, (When){ s->term[t].loop, FALSE, FALSE }, put, key);
    }
    /* in the next round, or behind what the counter goes on by */
    const gint cut = loop >= 0 ? loop + 1 : (gint)a->n_loops;
    if (later)
        put_one(b, i, s, (When){ cut, TRUE, TRUE }, put, key);
    if (later && pending && !sure)
        put_one(b, i, s, (When){ cut, TRUE, FALSE }, put, key);
}

void ws_bit_put_sums(WsBits *b, guint i, WsBitPut put, gpointer key)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    for (guint n = 0; n < a->n_sums && ws_bit_inst(b, i)->state != WS_INST_DONE; n++)
        if (a->sum[n].to[ws_bit_rank(b, i)])
            put_sum(b, i, &a->sum[n], put, key);
}
