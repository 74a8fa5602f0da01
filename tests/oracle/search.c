/* The search through all interleavings: packed states, each looked at once. */
#include "state.h"

#include <string.h>

/* States that were seen: keys one after the other, and a table of them. It is kept from run to run,
 * a run being short. */
static struct {
    guint8 *keys;
    guint64 *table; /* upper half of the hash, 1 + index of the key; 0: free */
    guint32 *stack; /* indices of keys, to be expanded */
    gsize bytes;
    guint n_table, used, n_stack, most_stack;
} seen;

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
    memset(key + S->key_size - 8, 0, 8);
    key = put(key, s->pc, n * sizeof s->pc[0]);
    key = put(key, s->joined, n);
    key = put(key, s->clustered, n);
    key = put(key, s->landed, S->n_words * sizeof s->landed[0]);
    key = put(key, s->slot, S->E->n_slots * sizeof s->slot[0]);
    for (guint i = 0; i < S->n_named; i++)
        key = put(key, &s->named[S->named[i]], sizeof s->named[0]);
}

static void read_key(const Search *S, const guint8 *key, State *s)
{
    guint n = S->E->n_threads;
    memset(s, 0, S->state_size);
    key = get(key, s->pc, n * sizeof s->pc[0]);
    key = get(key, s->joined, n);
    key = get(key, s->clustered, n);
    key = get(key, s->landed, S->n_words * sizeof s->landed[0]);
    key = get(key, s->slot, S->E->n_slots * sizeof s->slot[0]);
    for (guint i = 0; i < S->n_named; i++)
        key = get(key, &s->named[S->named[i]], sizeof s->named[0]);
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
    S->state_size = G_STRUCT_OFFSET(State, slot) + E->n_slots * sizeof((State *)NULL)->slot[0];
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

static void begin_seen(void)
{
    enum { FIRST = 512 };
    if (!seen.table)
        seen.table = g_new(guint64, FIRST);
    memset(seen.table, 0, FIRST * sizeof *seen.table);
    seen.n_table = FIRST;
    seen.used = seen.n_stack = 0;
}

static void grow(const Search *S)
{
    guint n = seen.n_table * 2;
    seen.table = g_renew(guint64, seen.table, n);
    memset(seen.table, 0, n * sizeof *seen.table);
    for (guint i = 0; i < seen.used; i++) {
        guint64 h = hash(S, seen.keys + (gsize)i * S->key_size);
        guint at = (guint)h & (n - 1);
        while (seen.table[at])
            at = (at + 1) & (n - 1);
        seen.table[at] = (h >> 32 << 32) | (i + 1);
    }
    seen.n_table = n;
}

static void visit(Search *S, const State *s)
{
    guint8 key[sizeof(State) + 8];
    write_key(S, s, key);
    if (seen.used * 2 >= seen.n_table)
        grow(S);
    guint64 h = hash(S, key);
    guint at = (guint)h & (seen.n_table - 1);
    for (; seen.table[at]; at = (at + 1) & (seen.n_table - 1)) {
        guint64 x = seen.table[at];
        if (x >> 32 == h >> 32 &&
            memcmp(seen.keys + ((x & G_MAXUINT32) - 1) * S->key_size, key, S->key_size) == 0)
            return;
    }
    if (seen.used >= S->options->cap) {
        S->result->verdict |= ORACLE_EXHAUSTED;
        return;
    }
    gsize from = (gsize)seen.used * S->key_size;
    if (from + S->key_size > seen.bytes) {
        seen.bytes = MAX(2 * seen.bytes, (gsize)1 << 20);
        seen.keys = g_realloc(seen.keys, seen.bytes);
    }
    if (seen.n_stack == seen.most_stack) {
        seen.most_stack = MAX(2 * seen.most_stack, 1024);
        seen.stack = g_renew(guint32, seen.stack, seen.most_stack);
    }
    memcpy(seen.keys + from, key, S->key_size);
    seen.stack[seen.n_stack++] = seen.used;
    seen.table[at] = (h >> 32 << 32) | ++seen.used;
}

/* --- search ----------------------------------------------------------------------------------- */

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
    State to;
    gboolean moved = FALSE, all = TRUE;
    if (!S->options->sync)
        state_races(S, s);
    for (guint i = 0; i < E->n_threads; i++) {
        if (state_finished(S, s, i) || !at_once(S, state_next(S, s, i)))
            continue;
        memcpy(&to, s, S->state_size);
        state_move(S, &to, i);
        visit(S, &to);
        return;
    }
    for (guint i = 0; i < E->n_threads; i++) {
        if (state_finished(S, s, i))
            continue;
        all = FALSE;
        memcpy(&to, s, S->state_size);
        if (state_move(S, &to, i)) {
            moved = TRUE;
            visit(S, &to);
        }
    }
    if (all)
        state_end(S, s);
    for (guint t = 0; t < E->transfers->len; t++)
        if (state_in_flight(S, s, t)) {
            memcpy(&to, s, S->state_size);
            state_land(S, &to, t);
            moved = TRUE;
            visit(S, &to);
        }
    if (!moved && !all)
        for (guint i = 0; i < E->n_threads; i++)
            if (!state_finished(S, s, i)) {
                state_problem(S, ORACLE_HANG, i, state_next(S, s, i)->op, NULL);
                break;
            }
}

OracleResult oracle_run(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    OracleResult result = { 0 };
    Events *E = state_events(p, v, options);
    if (E->outside) {
        result.verdict = ORACLE_OUTSIDE;
        result.reason = E->outside;
        events_free(E);
        return result;
    }
    Search S = {
        .E = E, .options = options, .result = &result, .count = g_new0(guint16, E->n_slots + 1)
    };
    State s = state_start(p, E, S.count);
    choose_keys(&S);
    begin_seen();
    visit(&S, &s);
    while (seen.n_stack) {
        read_key(&S, seen.keys + (gsize)seen.stack[--seen.n_stack] * S.key_size, &s);
        expand(&S, &s);
        if (options->stop && (result.verdict & ORACLE_BAD))
            break;
    }
    result.states = seen.used;
    g_free(S.count);
    events_free(E);
    return result;
}
