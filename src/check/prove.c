/* Exploring all answers: depth first, states of equal control merged by forgetting what only one of
 * them knows. If that closes without a finding, every trip count and every interleaving is right.
 */
#include "check/prove.h"

#include <string.h>

typedef struct Choice Choice;
struct Choice {
    const Choice *from; /* where it comes from, and by which answer */
    gint64 answer;
    GByteArray *state;
    WsAsk ask;
    guint instance;
    WsInstance asked; /* a copy of it */
    gint64 *option;
    guint n_options, next;
};

/* A control part and what was known there. */
typedef struct {
    guint64 hash;
    guint n_control, n_known;
    guint32 *control;
    guint8 *known;
} Seen;

typedef struct {
    WsPlay *play;
    GHashTable *seen; /* Seen* -> itself */
    GPtrArray *stack; /* Choice*; breadth first: a queue */
    guint head;       /* of the queue */
    gsize bytes;      /* of kept states */
    const Choice *from;
    gint64 answer;
    WsKey *key;
    gboolean merge;
    guint max_states;
    WsProof *proof;
    WsFindings *findings;
} Search;

static void choice_free(gpointer data)
{
    Choice *c = data;
    g_clear_pointer(&c->state, g_byte_array_unref);
    g_free(c->option);
    g_free(c);
}

/* Runs until nobody can move without an answer. */
static void settle(WsPlay *play)
{
    gboolean moved = TRUE;
    while (moved && !play->outside && !play->errors) {
        moved = FALSE;
        for (guint i = 0; i < play->n_inst; i++)
            if (play->inst[i].state != WS_INST_DONE)
                moved |= ws_play_advance(play, &play->inst[i], FALSE);
        if (!moved)
            moved = ws_play_land_one(play);
    }
}

/* Who asks about the earliest tile. */
static const WsControlInst *asker(const WsPlay *play)
{
    const WsControlInst *best = NULL;
    for (guint i = 0; i < play->n_inst; i++) {
        const WsControlInst *ci = &play->control->inst[i];
        if (play->inst[i].state != WS_INST_DONE && ci->ask != WS_ASK_NONE &&
            (!best || ci->position < best->position))
            best = ci;
    }
    return best;
}

/* The answers on the way, and the numbers of rounds and tiles they say. */
static void tell_path(Search *s)
{
    GString *t = g_string_new(NULL);
    s->proof->rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    gint64 answer = s->answer;
    for (const Choice *c = s->from; c; answer = c->answer, c = c->from) {
        gint64 n = c->asked.lo + (answer ? 1 : 0);
        if (c->ask == WS_ASK_MORE && c->asked.symbol == WS_SYMBOL_TILES)
            s->proof->tiles = MAX(s->proof->tiles, (guint)n);
        else if (c->ask == WS_ASK_MORE)
            g_array_append_val(s->proof->rounds, n);
        if (c->ask == WS_ASK_MORE && answer == 1 && c != s->from)
            continue; /* the last answer about it says more */
        g_autofree char *q = ws_control_question(s->play->control, c->ask, &c->asked, answer);
        g_string_prepend(t, t->len ? ", " : "");
        g_string_prepend(t, q);
    }
    s->proof->path = g_string_free(t, FALSE);
}

static void alarm_found(Search *s)
{
    const WsFinding *f = s->findings->list->len ? s->findings->list->pdata[0] : NULL;
    for (guint i = 0; i < s->findings->list->len; i++) {
        f = s->findings->list->pdata[i];
        if (f->severity == WS_SEVERITY_ERROR)
            break;
    }
    s->proof->kind = WS_PROOF_ALARM;
    s->proof->why = f ? g_strdup_printf("%s: %s %s", ws_rule(f->rule)->text, f->at, f->message)
                      : g_strdup("bytes are expected by an agent that does not arrive");
    tell_path(s);
}

static guint seen_hash(gconstpointer p)
{
    return (guint)((const Seen *)p)->hash;
}

static gboolean seen_equal(gconstpointer a, gconstpointer b)
{
    const Seen *x = a, *y = b;
    return x->hash == y->hash && x->n_control == y->n_control &&
           memcmp(x->control, y->control, x->n_control * sizeof(guint32)) == 0;
}

static void seen_free(gpointer p)
{
    Seen *x = p;
    g_free(x->control);
    g_free(x->known);
    g_free(x);
}

static guint64 hash_of(const WsKey *k)
{
    guint64 h = 0x9e3779b97f4a7c15u;
    for (guint i = 0; i < k->n_control; i++) {
        h ^= k->control[i];
        h *= 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

/* Without merging, states are equal if they know the same, too. */
static void join_known(WsKey *k)
{
    guint n = k->n_known;
    while (k->cap_control < k->n_control + n)
        k->control = g_renew(guint32, k->control, k->cap_control *= 2);
    for (guint i = 0; i < n; i++)
        k->control[k->n_control++] = k->known[i];
}

/* TRUE: the state is new, or less is known in it than before. */
static gboolean enter(Search *s)
{
    ws_key_make(s->play, s->key);
    WsKey *k = s->key;
    if (s->play->outside)
        return FALSE;
    if (!s->merge)
        join_known(k);
    const Seen look = { hash_of(k), k->n_control, k->n_known, k->control, k->known };
    Seen *before = g_hash_table_lookup(s->seen, &look);
    if (!before) {
        before = g_new(Seen, 1);
        *before = look;
        before->control = g_memdup2(k->control, k->n_control * sizeof(guint32));
        before->known = g_memdup2(k->known, MAX(k->n_known, 1));
        g_hash_table_add(s->seen, before);
        s->bytes += k->n_control * sizeof(guint32) + k->n_known;
        s->proof->states++;
        return TRUE;
    }
    gboolean less = FALSE;
    for (guint i = 0; i < before->n_known; i++)
        if (k->known[i] < before->known[i]) {
            before->known[i] = k->known[i];
            less = TRUE;
        }
    if (!less)
        return FALSE;
    s->proof->merges++;
    ws_key_lower(s->play, k, before->known);
    return TRUE;
}

/* From a state on which nothing can move: pushes the choice, or ends the path. */
static void arrive(Search *s)
{
    WsPlay *play = s->play;
    s->proof->ops += play->ops;
    play->ops = 0;
    if (play->errors || play->outside)
        return;
    const WsControlInst *ci = asker(play);
    if (!ci) {
        ws_play_conclude(play);
        return;
    }
    ws_control_forget(play);
    ws_state_compact(play);
    if (!enter(s))
        return;
    gint64 option[4096];
    guint n = ws_control_options(play->control, ci, option, G_N_ELEMENTS(option));
    Choice *c = g_new0(Choice, 1);
    c->from = s->from;
    c->answer = s->answer;
    c->ask = ci->ask;
    c->instance = ci->ask_instance;
    c->asked = g_array_index(play->control->instance, WsInstance, c->instance);
    c->option = g_memdup2(option, n * sizeof(gint64));
    c->n_options = n;
    c->state = g_byte_array_new();
    ws_state_save(play, c->state);
    s->bytes += c->state->len;
    g_ptr_array_add(s->stack, c);
}

#define MAX_BYTES ((gsize)64 << 20)

static gboolean capped(Search *s)
{
    guint n = s->proof->states + s->proof->merges;
    if (n <= s->max_states && s->bytes <= MAX_BYTES)
        return FALSE;
    s->proof->kind = WS_PROOF_CAP;
    s->proof->why = n > s->max_states ? g_strdup_printf("more than %u states", s->max_states)
                                      : g_strdup("the states take more than 64 MB");
    return TRUE;
}

/* The choice to go on from: the newest, or the oldest. NULL: all is explored. */
static Choice *current(Search *s)
{
    while (s->head < s->stack->len) {
        Choice *c = s->stack->pdata[s->merge ? s->stack->len - 1 : s->head];
        if (c->next < c->n_options)
            return c;
        if (s->merge)
            g_ptr_array_remove_index(s->stack, s->stack->len - 1);
        else
            s->head++; /* the path is still needed */
    }
    return NULL;
}

static void explore(Search *s)
{
    WsPlay *play = s->play;
    settle(play);
    arrive(s);
    for (Choice *c; !play->errors && !play->outside && (c = current(s));) {
        if (capped(s))
            return;
        ws_state_restore(play, c->state);
        s->from = c;
        s->answer = c->option[c->next++];
        if (c->next == c->n_options) {
            s->bytes -= c->state->len;
            g_clear_pointer(&c->state, g_byte_array_unref);
        }
        ws_control_answer(play->control, c->ask, c->instance, s->answer);
        settle(play);
        arrive(s);
    }
    if (play->errors)
        alarm_found(s);
    else if (play->outside || play->control->outside) {
        s->proof->kind = WS_PROOF_OUTSIDE;
        guint n = s->findings->list->len;
        s->proof->why = g_strdup(play->control->outside ? play->control->outside
                                 : n ? ((const WsFinding *)s->findings->list->pdata[n - 1])->message
                                     : "an expression has no value");
    }
}

WsProof *ws_prove(const WsProgram *p, guint max_states, gboolean merge)
{
    gint64 start = g_get_monotonic_time();
    WsProof *proof = g_new0(WsProof, 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsPlay *play = ws_play_new(p, findings, 4);
    play->max_ops = 200000; /* between two questions */
    play->control = ws_control_new(p, play->n_inst);
    if (play->control->outside) {
        proof->kind = WS_PROOF_OUTSIDE;
        proof->why = g_strdup(play->control->outside);
    } else {
        Search s = { .play = play, .merge = merge, .max_states = max_states, .proof = proof };
        s.findings = findings;
        s.seen = g_hash_table_new_full(seen_hash, seen_equal, seen_free, NULL);
        s.stack = g_ptr_array_new_with_free_func(choice_free);
        s.key = ws_key_new(play);
        ws_play_reset(play);
        ws_control_reset(play);
        explore(&s);
        proof->names = ws_proof_names(play->control);
        ws_key_free(s.key);
        g_hash_table_unref(s.seen);
        g_ptr_array_unref(s.stack);
    }
    ws_control_free(play->control);
    play->control = NULL;
    ws_play_free(play);
    proof->seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
    return proof;
}
