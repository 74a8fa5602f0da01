/* Moves of the search: what one agent or one transfer does to a state, and what is wrong about it.
 */
#include "program/op_kind.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "state.h"

#include <string.h>

void state_problem(Search *S, guint flag, guint inst, const WsOp *at, const WsOp *other)
{
    OracleResult *r = S->result;
    if (!(r->verdict & ORACLE_BAD)) {
        r->at = at;
        r->other = other;
        r->inst = inst;
    }
    r->verdict |= flag;
}

const Event *state_next(const Search *S, const State *s, guint inst)
{
    return &g_array_index(S->E->thread[inst].events, Event, s->pc[inst]);
}

gboolean state_finished(const Search *S, const State *s, guint inst)
{
    return s->pc[inst] + 1u >= S->E->thread[inst].events->len;
}

/* --- mbarriers -------------------------------------------------------------------------------- */

static void complete(Search *S, State *s, guint slot)
{
    if (s->slot[slot].pend == 0 && s->slot[slot].tx == 0) {
        s->slot[slot].phase++;
        s->slot[slot].pend = (gint16)S->count[slot];
    }
}

/* What an event meets must be what it means or, where it does not say, the same in every
 * interleaving. */
static void same(Search *S, guint inst, const Event *e, guint met, guint flag)
{
    Event *own = (Event *)e;
    if (own->met && own->met != (gint)met + 1)
        state_problem(S, flag, inst, e->op, NULL);
    own->met = (gint)met + 1;
}

static void meets(Search *S, const State *s, guint inst, const Event *e, guint slot)
{
    gboolean seen = S->E->waits[slot];
    if (e->has_turn && e->turn != s->slot[slot].phase)
        state_problem(S, seen ? ORACLE_PHASE : ORACLE_UNSEEN, inst, e->op, NULL);
    if (!e->has_turn && e->n_slots == 1)
        same(S, inst, e, s->slot[slot].phase, seen ? ORACLE_PHASE : ORACLE_UNSEEN);
}

static void arrive(Search *S, State *s, guint inst, const Event *e)
{
    for (guint i = 0; i < e->n_slots; i++) {
        guint slot = e->slot[i];
        meets(S, s, inst, e, slot);
        gint64 tx = s->slot[slot].tx + e->bytes;
        if (tx > (1 << 20) - 1)
            state_problem(S, ORACLE_BYTES, inst, e->op, NULL);
        s->slot[slot].tx = (gint32)tx;
        if (e->count == 0)
            continue;
        /* lanes arrive one after the other; where somebody waits, more of them than a phase takes
         * are wrong already, and told as the arrival of their agent */
        gboolean seen = S->E->waits[slot];
        guint parts = seen ? 1 : MAX(e->parts, 1);
        gint64 count = seen ? e->count * MAX(e->parts, 1) : e->count;
        for (guint k = 0; k < parts; k++) {
            if (k > 0)
                meets(S, s, inst, e, slot);
            if (s->slot[slot].pend < count) {
                state_problem(S, ORACLE_COUNT, inst, e->op, NULL);
                s->slot[slot].pend = 0;
            } else {
                s->slot[slot].pend -= (gint16)count;
            }
            complete(S, s, slot);
        }
    }
}

static gboolean passes(const State *s, const Event *e)
{
    return s->slot[e->slot[0]].phase % 2 != e->parity;
}

/* --- named barriers --------------------------------------------------------------------------- */

static void join(Search *S, State *s, guint inst, const Event *e)
{
    guint id = e->slot[0], want = S->E->named_count[id];
    if (e->count == 0)
        return;
    gboolean seen = id + 1 == S->E->n_named || S->E->named_waits[id];
    same(S, inst, e, s->named[id].generation, seen ? ORACLE_PHASE : ORACLE_UNSEEN);
    s->named[id].arrived += (guint8)e->count;
    if (s->named[id].arrived > want)
        state_problem(S, ORACLE_COUNT, inst, e->op, NULL);
    if (s->named[id].arrived >= want) {
        s->named[id].arrived = 0;
        s->named[id].generation++;
    }
}

/* The barrier of the cluster waits for no threads that have ended (PTX 9.7.13.3). */
static void cluster_ended(const Search *S, State *s)
{
    const guint id = S->E->n_named - 1;
    if (s->named[id].arrived == 0)
        return;
    for (guint i = 0; i < S->E->n_threads; i++)
        if (!state_finished(S, s, i) &&
            s->clustered[i] != (guint8)(s->named[id].generation % 255 + 1))
            return;
    s->named[id].arrived = 0;
    s->named[id].generation++;
}

/* --- transitions ------------------------------------------------------------------------------ */

/* One thread moves; FALSE if it cannot. */
gboolean state_move(Search *S, State *s, guint inst)
{
    const Event *e = state_next(S, s, inst);
    guint id = e->slot[0];
    gboolean cluster = id + 1 == S->E->n_named;
    switch (e->kind) {
    case EVENT_WAIT:
        if (!passes(s, e))
            return FALSE;
        if (e->has_turn && s->slot[id].phase != e->turn + 1)
            state_problem(S, ORACLE_PHASE, inst, e->op, NULL);
        if (!e->has_turn)
            same(S, inst, e, s->slot[id].phase, ORACLE_PHASE);
        break;
    case EVENT_ARRIVE:
        arrive(S, s, inst, e);
        break;
    case EVENT_LOAD:
        for (guint i = 0; i < e->n_slots; i++)
            meets(S, s, inst, e, e->slot[i]);
        break;
    case EVENT_JOIN:
        if (cluster) /* the wait that follows means this generation */
            s->clustered[inst] = (guint8)(s->named[id].generation % 255 + 1);
        join(S, s, inst, e);
        break;
    case EVENT_SYNC: {
        guint8 *joined = cluster ? &s->clustered[inst] : &s->joined[inst];
        if (!*joined) {
            *joined = (guint8)(s->named[id].generation % 255 + 1);
            join(S, s, inst, e);
            return TRUE; /* joined; waits from now on */
        }
        if (s->named[id].generation % 255 + 1 == *joined)
            return FALSE;
        *joined = 0;
        break;
    }
    case EVENT_ACCESS:
    case EVENT_ISSUE:
    case EVENT_RETIRE:
    default:
        break;
    }
    s->pc[inst]++;
    cluster_ended(S, s);
    return TRUE;
}

gboolean state_in_flight(const Search *S, const State *s, guint transfer)
{
    const Transfer *t = &g_array_index(S->E->transfers, Transfer, transfer);
    return s->pc[t->inst] > t->event && !(s->landed[transfer / 64] >> (transfer % 64) & 1);
}

void state_land(Search *S, State *s, guint transfer)
{
    const Transfer *t = &g_array_index(S->E->transfers, Transfer, transfer);
    const Event *e = &g_array_index(S->E->thread[t->inst].events, Event, t->event);
    s->landed[transfer / 64] |= (guint64)1 << (transfer % 64);
    meets(S, s, t->inst, e, t->slot);
    s->slot[t->slot].tx -= (gint32)t->bytes;
    if (s->slot[t->slot].pend < t->arrivals) {
        state_problem(S, ORACLE_COUNT, t->inst, e->op, NULL);
        s->slot[t->slot].pend = 0;
    } else {
        s->slot[t->slot].pend -= (gint16)t->arrivals;
    }
    complete(S, s, t->slot);
}

/* --- races ------------------------------------------------------------------------------------ */

typedef struct {
    const Bytes *range;
    guint n;
    const WsOp *op;
    guint inst;
} Active;

static gboolean conflict(const Active *a, const Active *b)
{
    for (guint i = 0; i < a->n; i++)
        for (guint k = 0; k < b->n; k++) {
            const Bytes *x = &a->range[i], *y = &b->range[k];
            if (x->rank == y->rank && (x->write || y->write) && x->from < y->to && y->from < x->to)
                return TRUE;
        }
    return FALSE;
}

/* cp.async: an arrival that has landed says that all copies before it have, too. */
static gboolean copied(const Search *S, const State *s, guint transfer)
{
    const Transfer *x = &g_array_index(S->E->transfers, Transfer, transfer);
    for (guint t = transfer + 1; x->arrivals > 0 && t < S->E->transfers->len; t++) {
        const Transfer *later = &g_array_index(S->E->transfers, Transfer, t);
        if (later->inst == x->inst && later->arrivals > 0 && s->landed[t / 64] >> (t % 64) & 1)
            return TRUE;
    }
    return FALSE;
}

void state_races(Search *S, const State *s)
{
    Active list[256];
    guint n = 0;
    Events *E = S->E;
    for (guint t = 0; t < E->transfers->len && n < 200; t++)
        if (state_in_flight(S, s, t) && !copied(S, s, t)) {
            const Transfer *x = &g_array_index(E->transfers, Transfer, t);
            const Event *e = &g_array_index(E->thread[x->inst].events, Event, x->event);
            list[n++] = (Active){ x->range, x->n_bytes, e->op, x->inst };
        }
    for (guint i = 0; i < E->n_threads && n < 240; i++) {
        const Thread *t = &E->thread[i];
        const Event *e = state_next(S, s, i);
        for (guint k = e->mma_lo; k < e->mma_hi && n < 240; k++) {
            const Event *m = &g_array_index(t->events, Event, g_array_index(t->mma, guint, k));
            list[n++] = (Active){ m->range, m->n_bytes, m->op, i };
        }
        for (guint k = e->store_lo; k < e->store_hi && n < 240; k++) {
            const Event *m = &g_array_index(t->events, Event, g_array_index(t->store, guint, k));
            list[n++] = (Active){ m->range, m->n_bytes, m->op, i };
        }
        for (guint k = e->rows_lo; k < e->rows_hi && n < 240; k++) {
            const Event *m = &g_array_index(t->events, Event, g_array_index(t->rows, guint, k));
            list[n++] = (Active){ m->range, m->n_bytes, m->op, i };
        }
        /* a cp.async arrival takes over rows that are in the window already */
        if (e->kind == EVENT_LOAD && e->op->kind == WS_OP_CP_ARRIVE)
            continue;
        if (e->kind == EVENT_LOAD) {
            for (guint k = 0; k < e->n_slots && n < 240; k++) {
                const Transfer *x = &g_array_index(E->transfers, Transfer, e->first_transfer + k);
                list[n++] = (Active){ x->range, x->n_bytes, e->op, i };
            }
        } else if (e->n_bytes) {
            list[n++] = (Active){ e->range, e->n_bytes, e->op, i };
        }
    }
    for (guint i = 0; i < n; i++)
        for (guint k = i + 1; k < n; k++)
            if (conflict(&list[i], &list[k]))
                state_problem(S, ORACLE_RACE, list[k].inst, list[k].op, list[i].op);
}

/* --- begin and end ---------------------------------------------------------------------------- */

void state_end(Search *S, const State *s)
{
    for (guint t = 0; t < S->E->transfers->len; t++)
        if (state_in_flight(S, s, t)) {
            const Transfer *x = &g_array_index(S->E->transfers, Transfer, t);
            state_problem(S, ORACLE_EXIT, x->inst,
                          g_array_index(S->E->thread[x->inst].events, Event, x->event).op, NULL);
        }
    for (guint i = 0; i < S->E->n_threads; i++) {
        const Event *e = state_next(S, s, i);
        if (e->mma_lo < e->mma_hi || e->store_lo < e->store_hi || e->rows_lo < e->rows_hi)
            state_problem(S, ORACLE_EXIT, i, NULL, NULL);
    }
    for (guint i = 0; i < S->E->n_slots; i++)
        if (s->slot[i].tx != 0)
            state_problem(S, ORACLE_BYTES, 0, NULL, NULL);
}

State state_start(const WsProgram *p, const Events *E, guint16 *count)
{
    State start;
    memset(&start, 0, sizeof start);
    for (guint r = 0; r < p->cluster; r++)
        for (guint i = 0; i < p->n_barriers; i++) {
            const WsBarrier *b = &p->barrier[i];
            for (guint e = 0; b->kind == WS_BARRIER_MBARRIER && e < b->array; e++)
                for (guint k = 0; k < b->slots; k++) {
                    guint slot = r * E->slots_per_rank + E->first_slot[i] + e * b->slots + k;
                    count[slot] = (guint16)MIN(b->arrivals[e], 30000);
                    start.slot[slot].pend = (gint16)count[slot];
                }
        }
    return start;
}

Events *state_events(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    Events *E = events_new(p, v, options);
    if (E->n_threads > MAX_THREADS || E->transfers->len > 64 * MAX_WORDS ||
        E->n_slots > MAX_SLOTS || E->n_named > MAX_NAMED)
        E->outside = "too large for the oracle";
    return E;
}
