#include "oracle.h"

#include <string.h>

/* A state is one block of bytes: program counters, joined generations, landed transfers, slots,
 * named barriers. */

#define MAX_THREADS 16
#define MAX_WORDS   8 /* transfers: 512 */
#define MAX_SLOTS   96
#define MAX_NAMED   33

typedef struct {
    guint16 pc[MAX_THREADS];
    guint8 joined[MAX_THREADS];    /* 1 + generation it waits for, 0 none */
    guint8 clustered[MAX_THREADS]; /* the same, of the cluster barrier */
    guint64 landed[MAX_WORDS];
    struct {
        gint32 tx;
        gint16 pend;
        guint8 phase;
        guint8 unused;
    } slot[MAX_SLOTS];
    struct {
        guint8 arrived; /* warps (cluster: agents) */
        guint8 generation;
    } named[MAX_NAMED];
} State;

/* What of a state can differ, without what this program does not use, one after the other. */
typedef struct {
    Events *E;
    const OracleOptions *options;
    OracleResult *result;
    guint8 **table; /* keys, open addressing */
    guint n_table, used, key_size;
    GPtrArray *stack;  /* keys, to be expanded */
    GPtrArray *blocks; /* storage */
    guint block_used;
    guint16 *count;         /* [slots] arrivals of a phase */
    guint named[MAX_NAMED]; /* named barriers in use */
    guint n_named, n_words;
} Search;

/* --- keys ------------------------------------------------------------------------------------- */
static guint8 *put(guint8 *at, gconstpointer from, gsize n)
{
    memcpy(at, from, n);
    return at + n;
}

static const guint8 *get(const guint8 *at, gpointer into, gsize n)
{
    memcpy(into, at, n);
    return at + n;
}

static void write_key(const Search *S, const State *s, guint8 *key)
{
    guint n = S->E->n_threads;
    key = put(key, s->pc, n * sizeof s->pc[0]);
    key = put(key, s->joined, n);
    key = put(key, s->clustered, n);
    key = put(key, s->landed, S->n_words * sizeof s->landed[0]);
    key = put(key, s->slot, S->E->n_slots * sizeof s->slot[0]);
    for (guint i = 0; i < S->n_named; i++)
        key = put(key, &s->named[S->named[i]], sizeof s->named[0]);
}

static State read_key(const Search *S, const guint8 *key)
{
    guint n = S->E->n_threads;
    State s;
    memset(&s, 0, sizeof s);
    key = get(key, s.pc, n * sizeof s.pc[0]);
    key = get(key, s.joined, n);
    key = get(key, s.clustered, n);
    key = get(key, s.landed, S->n_words * sizeof s.landed[0]);
    key = get(key, s.slot, S->E->n_slots * sizeof s.slot[0]);
    for (guint i = 0; i < S->n_named; i++)
        key = get(key, &s.named[S->named[i]], sizeof s.named[0]);
    return s;
}

static void choose_keys(Search *S)
{
    const Events *E = S->E;
    S->n_words = (E->transfers->len + 63) / 64;
    for (guint i = 0; i < E->n_named; i++)
        if (E->named_count[i])
            S->named[S->n_named++] = i;
    S->key_size = E->n_threads * 4 + S->n_words * 8 +
                  E->n_slots * (guint)sizeof((State *)NULL)->slot[0] + S->n_named * 2;
    S->key_size = (S->key_size + 7) / 8 * 8;
}

static guint64 hash(const Search *S, const guint8 *key)
{
    guint64 h = 0x9e3779b97f4a7c15u, w;
    for (guint i = 0; i < S->key_size; i += 8) {
        memcpy(&w, key + i, 8);
        h ^= w;
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static guint8 *keep(Search *S, const guint8 *key)
{
    enum { PER_BLOCK = 1024 };
    if (S->blocks->len == 0 || S->block_used == PER_BLOCK) {
        g_ptr_array_add(S->blocks, g_malloc(S->key_size * PER_BLOCK));
        S->block_used = 0;
    }
    guint8 *block = g_ptr_array_index(S->blocks, S->blocks->len - 1);
    return memcpy(block + S->key_size * S->block_used++, key, S->key_size);
}

static void grow(Search *S)
{
    guint n = S->n_table ? S->n_table * 2 : 4096;
    guint8 **table = g_new0(guint8 *, n);
    for (guint i = 0; i < S->n_table; i++) {
        if (!S->table[i])
            continue;
        guint at = (guint)hash(S, S->table[i]) & (n - 1);
        while (table[at])
            at = (at + 1) & (n - 1);
        table[at] = S->table[i];
    }
    g_free(S->table);
    S->table = table;
    S->n_table = n;
}

static void visit(Search *S, const State *s)
{
    guint8 key[sizeof(State) + 8] = { 0 };
    write_key(S, s, key);
    if (S->used * 2 >= S->n_table)
        grow(S);
    guint at = (guint)hash(S, key) & (S->n_table - 1);
    for (; S->table[at]; at = (at + 1) & (S->n_table - 1))
        if (memcmp(S->table[at], key, S->key_size) == 0)
            return;
    if (S->used >= S->options->cap) {
        S->result->verdict |= ORACLE_EXHAUSTED;
        return;
    }
    S->table[at] = keep(S, key);
    S->used++;
    g_ptr_array_add(S->stack, S->table[at]);
}

static void problem(Search *S, guint flag, guint inst, const WsOp *at, const WsOp *other)
{
    OracleResult *r = S->result;
    if (!(r->verdict & ORACLE_BAD)) {
        r->at = at;
        r->other = other;
        r->inst = inst;
    }
    r->verdict |= flag;
}

static const Event *next(const Search *S, const State *s, guint inst)
{
    return &g_array_index(S->E->thread[inst].events, Event, s->pc[inst]);
}

static gboolean finished(const Search *S, const State *s, guint inst)
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
static void same(Search *S, guint inst, const Event *e, guint met)
{
    Event *own = (Event *)e;
    if (own->met && own->met != (gint)met + 1)
        problem(S, ORACLE_PHASE, inst, e->op, NULL);
    own->met = (gint)met + 1;
}

static void meets(Search *S, const State *s, guint inst, const Event *e, guint slot)
{
    gboolean seen = S->E->waits[slot % S->E->slots_per_rank];
    if (e->has_turn && e->turn != s->slot[slot].phase)
        problem(S, seen ? ORACLE_PHASE : ORACLE_UNSEEN, inst, e->op, NULL);
    if (!e->has_turn && e->n_slots == 1)
        same(S, inst, e, s->slot[slot].phase);
}

static void arrive(Search *S, State *s, guint inst, const Event *e)
{
    for (guint i = 0; i < e->n_slots; i++) {
        guint slot = e->slot[i];
        meets(S, s, inst, e, slot);
        gint64 tx = s->slot[slot].tx + e->bytes;
        if (tx > (1 << 20) - 1)
            problem(S, ORACLE_BYTES, inst, e->op, NULL);
        s->slot[slot].tx = (gint32)tx;
        if (e->count == 0)
            continue;
        /* lanes arrive one after the other; where somebody waits, more of them than a phase takes
         * are wrong already, and told as the arrival of their agent */
        gboolean seen = S->E->waits[slot % S->E->slots_per_rank];
        guint parts = seen ? 1 : MAX(e->parts, 1);
        gint64 count = seen ? e->count * MAX(e->parts, 1) : e->count;
        for (guint k = 0; k < parts; k++) {
            if (k > 0)
                meets(S, s, inst, e, slot);
            if (s->slot[slot].pend < count) {
                problem(S, ORACLE_COUNT, inst, e->op, NULL);
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
    same(S, inst, e, s->named[id].generation);
    s->named[id].arrived += (guint8)e->count;
    if (s->named[id].arrived > want)
        problem(S, ORACLE_COUNT, inst, e->op, NULL);
    if (s->named[id].arrived >= want) {
        s->named[id].arrived = 0;
        s->named[id].generation++;
    }
}

/* --- transitions ------------------------------------------------------------------------------ */

/* One thread moves; FALSE if it cannot. */
static gboolean move(Search *S, State *s, guint inst)
{
    const Event *e = next(S, s, inst);
    guint id = e->slot[0];
    gboolean cluster = id + 1 == S->E->n_named;
    switch (e->kind) {
    case EVENT_WAIT:
        if (!passes(s, e))
            return FALSE;
        if (e->has_turn && s->slot[id].phase != e->turn + 1)
            problem(S, ORACLE_PHASE, inst, e->op, NULL);
        if (!e->has_turn)
            same(S, inst, e, s->slot[id].phase);
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
    default:
        break;
    }
    s->pc[inst]++;
    return TRUE;
}

static gboolean in_flight(const Search *S, const State *s, guint transfer)
{
    const Transfer *t = &g_array_index(S->E->transfers, Transfer, transfer);
    return s->pc[t->inst] > t->event && !(s->landed[transfer / 64] >> (transfer % 64) & 1);
}

static void land(Search *S, State *s, guint transfer)
{
    const Transfer *t = &g_array_index(S->E->transfers, Transfer, transfer);
    const Event *e = &g_array_index(S->E->thread[t->inst].events, Event, t->event);
    s->landed[transfer / 64] |= (guint64)1 << (transfer % 64);
    meets(S, s, t->inst, e, t->slot);
    s->slot[t->slot].tx -= (gint32)t->bytes;
    if (s->slot[t->slot].pend < t->arrivals) {
        problem(S, ORACLE_COUNT, t->inst, e->op, NULL);
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

static void races(Search *S, const State *s)
{
    Active list[256];
    guint n = 0;
    Events *E = S->E;
    for (guint t = 0; t < E->transfers->len && n < 200; t++)
        if (in_flight(S, s, t)) {
            const Transfer *x = &g_array_index(E->transfers, Transfer, t);
            const Event *e = &g_array_index(E->thread[x->inst].events, Event, x->event);
            list[n++] = (Active){ x->range, x->n_bytes, e->op, x->inst };
        }
    for (guint i = 0; i < E->n_threads && n < 240; i++) {
        const Thread *t = &E->thread[i];
        const Event *e = next(S, s, i);
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
                problem(S, ORACLE_RACE, list[k].inst, list[k].op, list[i].op);
}

/* --- search ----------------------------------------------------------------------------------- */

static void at_end(Search *S, const State *s)
{
    for (guint t = 0; t < S->E->transfers->len; t++)
        if (in_flight(S, s, t)) {
            const Transfer *x = &g_array_index(S->E->transfers, Transfer, t);
            problem(S, ORACLE_EXIT, x->inst,
                    g_array_index(S->E->thread[x->inst].events, Event, x->event).op, NULL);
        }
    for (guint i = 0; i < S->E->n_threads; i++) {
        const Event *e = next(S, s, i);
        if (e->mma_lo < e->mma_hi || e->store_lo < e->store_hi || e->rows_lo < e->rows_hi)
            problem(S, ORACLE_EXIT, i, NULL, NULL);
    }
    for (guint i = 0; i < S->E->n_slots; i++)
        if (s->slot[i].tx != 0)
            problem(S, ORACLE_BYTES, 0, NULL, NULL);
}

/* Moves that may be made at once, alone, without losing a problem.
 * Issuing something asynchronous: it counts as running before it is issued already, it can still
 * land whenever it likes, and what it may meet too late its landing meets later still. (An arrival
 * at once would hide another one that is early: it comes too soon only while this one is late.) */
static gboolean at_once(const Search *S, const Event *e)
{
    if (S->options->full)
        return FALSE;
    if (e->kind == EVENT_ISSUE ||
        (S->options->sync && (e->kind == EVENT_ACCESS || e->kind == EVENT_RETIRE)))
        return TRUE;
    if (S->options->sync && e->kind == EVENT_LOAD)
        return e->has_turn;
    return e->kind == EVENT_LOAD && e->has_turn && e->n_bytes == 0;
}

static void expand(Search *S, const State *s)
{
    Events *E = S->E;
    gboolean moved = FALSE, all = TRUE;
    if (!S->options->sync)
        races(S, s);
    for (guint i = 0; i < E->n_threads; i++) {
        if (finished(S, s, i) || !at_once(S, next(S, s, i)))
            continue;
        State to = *s;
        move(S, &to, i);
        visit(S, &to);
        return;
    }
    for (guint i = 0; i < E->n_threads; i++) {
        if (finished(S, s, i))
            continue;
        all = FALSE;
        State to = *s;
        if (move(S, &to, i)) {
            moved = TRUE;
            visit(S, &to);
        }
    }
    if (all)
        at_end(S, s);
    for (guint t = 0; t < E->transfers->len; t++)
        if (in_flight(S, s, t)) {
            State to = *s;
            land(S, &to, t);
            moved = TRUE;
            visit(S, &to);
        }
    if (!moved && !all)
        for (guint i = 0; i < E->n_threads; i++)
            if (!finished(S, s, i)) {
                problem(S, ORACLE_HANG, i, next(S, s, i)->op, NULL);
                break;
            }
}

static State start_state(const WsProgram *p, const Events *E, guint16 *count)
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

static Events *events_of(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    Events *E = events_new(p, v, options);
    if (E->n_threads > MAX_THREADS || E->transfers->len > 64 * MAX_WORDS ||
        E->n_slots > MAX_SLOTS || E->n_named > MAX_NAMED)
        E->outside = "too large for the oracle";
    return E;
}

OracleResult oracle_run(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    OracleResult result = { 0 };
    Events *E = events_of(p, v, options);
    if (E->outside) {
        result.verdict = ORACLE_OUTSIDE;
        result.reason = E->outside;
        events_free(E);
        return result;
    }
    Search S = { .E = E,
                 .options = options,
                 .result = &result,
                 .stack = g_ptr_array_new(),
                 .blocks = g_ptr_array_new_with_free_func(g_free),
                 .count = g_new0(guint16, E->n_slots + 1) };
    State start = start_state(p, E, S.count);
    choose_keys(&S);
    visit(&S, &start);
    while (S.stack->len) {
        State s = read_key(&S, g_ptr_array_steal_index(S.stack, S.stack->len - 1));
        expand(&S, &s);
        if (options->stop && (result.verdict & ORACLE_BAD))
            break;
    }
    result.states = S.used;
    g_ptr_array_free(S.stack, TRUE);
    g_ptr_array_free(S.blocks, TRUE);
    g_free(S.table);
    g_free(S.count);
    events_free(E);
    return result;
}

/* --- following -------------------------------------------------------------------------------- */
struct OracleRun {
    Search S;
    OracleResult result;
    State s;
};

OracleRun *oracle_follow(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    Events *E = events_of(p, v, options);
    if (E->outside) {
        events_free(E);
        return NULL;
    }
    OracleRun *run = g_new0(OracleRun, 1);
    run->S.E = E;
    run->S.result = &run->result;
    run->S.count = g_new0(guint16, E->n_slots + 1);
    run->s = start_state(p, E, run->S.count);
    return run;
}

gboolean oracle_follow_knows(const OracleRun *run, guint inst, const WsOp *op)
{
    const GArray *events = run->S.E->thread[inst].events;
    for (guint i = 0; i < events->len; i++)
        if (g_array_index(events, Event, i).op == op)
            return TRUE;
    return FALSE;
}

gboolean oracle_follow_step(OracleRun *run, guint inst, const WsOp *op)
{
    const Event *e = next(&run->S, &run->s, inst);
    return e->op == op && move(&run->S, &run->s, inst);
}

gboolean oracle_follow_land(OracleRun *run, guint inst, const WsOp *op, guint nth, guint rank)
{
    const Events *E = run->S.E;
    const GArray *events = E->thread[inst].events;
    for (guint i = 0, seen = 0; i < events->len; i++) {
        const Event *e = &g_array_index(events, Event, i);
        if (e->op != op || seen++ != nth)
            continue;
        for (guint k = 0; k < e->n_slots; k++)
            if (e->slot[k] / MAX(E->slots_per_rank, 1) == rank &&
                in_flight(&run->S, &run->s, e->first_transfer + k)) {
                land(&run->S, &run->s, e->first_transfer + k);
                return TRUE;
            }
    }
    return FALSE;
}

void oracle_follow_slot(const OracleRun *run, guint slot, gint64 *phase, gint64 *pending,
                        gint64 *tx)
{
    *phase = run->s.slot[slot].phase;
    *pending = run->s.slot[slot].pend;
    *tx = run->s.slot[slot].tx;
}

void oracle_follow_named(const OracleRun *run, guint number, gint64 *generation, gint64 *arrived)
{
    *generation = run->s.named[number].generation;
    *arrived = run->s.named[number].arrived;
}

guint oracle_follow_verdict(OracleRun *run)
{
    const Search *S = &run->S;
    gboolean all = TRUE, moved = FALSE;
    races(&run->S, &run->s);
    for (guint i = 0; i < S->E->n_threads; i++) {
        OracleResult ignored = { 0 };
        Search look = *S;
        State to = run->s;
        look.result = &ignored;
        if (finished(S, &run->s, i))
            continue;
        all = FALSE;
        moved |= move(&look, &to, i);
    }
    for (guint t = 0; t < S->E->transfers->len; t++)
        moved |= in_flight(S, &run->s, t);
    if (all)
        at_end(&run->S, &run->s);
    else if (!moved)
        run->result.verdict |= ORACLE_HANG;
    return run->result.verdict;
}

void oracle_follow_free(OracleRun *run)
{
    if (!run)
        return;
    events_free(run->S.E);
    g_free(run->S.count);
    g_free(run);
}

char *oracle_text(const OracleResult *r)
{
    static const struct {
        guint flag;
        const char *word;
    } words[] = {
        { ORACLE_HANG, "hang" },           { ORACLE_RACE, "race" },
        { ORACLE_PHASE, "phase" },         { ORACLE_COUNT, "count" },
        { ORACLE_BYTES, "bytes" },         { ORACLE_EXIT, "exit" },
        { ORACLE_OUTSIDE, "outside" },     { ORACLE_EXHAUSTED, "not exhausted" },
        { ORACLE_PROXY, "proxy" },         { ORACLE_REGISTER, "register" },
        { ORACLE_UNDEFINED, "undefined" }, { ORACLE_ACCESS, "access" },
        { ORACLE_LAPPED, "lapped" },       { ORACLE_UNSEEN, "unseen" },
        { ORACLE_OUTPUT, "output" },
    };
    GString *out = g_string_new(r->verdict ? NULL : "right");
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (r->verdict & words[i].flag)
            g_string_append_printf(out, "%s%s", out->len ? " " : "", words[i].word);
    if (r->at)
        g_string_append_printf(out, " at %s", r->at->id);
    if (r->other)
        g_string_append_printf(out, " and %s", r->other->id);
    if (r->reason)
        g_string_append_printf(out, ": %s", r->reason);
    g_string_append_printf(out, " (%u states)", r->states);
    return g_string_free(out, FALSE);
}
