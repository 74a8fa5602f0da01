/* Exploring all answers: states of equal control merged by forgetting what only one of
 * them knows. If that closes without an alarm, every trip count and every interleaving is right. */
#include "base/phrase.h"
#include "check/proof/bits/bits_much.h"
#include "check/proof/certificate.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/program.h"

#include <string.h>

enum { MAX_INSTANCES = 96, ENDLESS_STATES = 400 };
#define MAX_BYTES                                                                                  \
    ((gsize)60 << 20)           /* for a certificate, which takes more states, four times that */
#define CHUNK ((gsize)96 << 10) /* small enough for the allocator to keep */

typedef struct Seen Seen;
/* A state whose answers are not all explored, and how one came there. */
typedef struct Choice Choice;
struct Choice {
    const Choice *from;
    gint64 answer; /* of `from` */
    WsAsk ask;
    guint instance;
    WsInstance asked; /* a copy of it */
    gint64 option;    /* the first one; the others follow */
    guint n_options, next;
    guint8 *state; /* NULL: given back */
    Seen *seen;
    Choice *later;
};

struct Seen {
    guint64 hash;
    guint n, number;
    gint32 *word;
    guint64 *known;  /* NULL if it is part of the words */
    Choice *waiting; /* not begun yet: what is forgotten here is forgotten there */
};

typedef struct {
    WsBits *b;
    const WsBitOptions *o;
    WsProof *proof;
    WsBitKey key;
    /* states met: open addressing */
    Seen **seen;
    guint n_seen, cap_seen;
    GPtrArray *chunks;
    gsize in_chunk, bytes;
    Choice *first, *last; /* those to go on from */
    GPtrArray *spare_states;
    guint64 *past; /* words of the state at hand */
    const Choice *from;
    gint64 answer;
    gboolean stop;
    const Seen *met; /* what the state at hand is one of */
} Search;

/* --- memory ----------------------------------------------------------------------------------- */
static gpointer carve(Search *s, gsize bytes)
{
    bytes = (bytes + 15) & ~(gsize)15;
    if (s->chunks->len == 0 || s->in_chunk + bytes > CHUNK || bytes > CHUNK) {
        g_ptr_array_add(s->chunks, g_malloc(MAX(CHUNK, bytes)));
        s->bytes += MAX(CHUNK, bytes);
        s->in_chunk = 0;
    }
    gpointer p = (guint8 *)s->chunks->pdata[s->chunks->len - 1] + s->in_chunk;
    s->in_chunk += bytes;
    return p;
}

static gsize state_bytes(const WsBits *b)
{
    return b->bytes + sizeof(gint64) + MAX_INSTANCES * sizeof(WsInstance);
}

static guint8 *save(Search *s)
{
    const WsBits *b = s->b;
    const GArray *instance = b->c->instance;
    guint8 *p = s->spare_states->len
                    ? g_ptr_array_remove_index_fast(s->spare_states, s->spare_states->len - 1)
                    : carve(s, state_bytes(b));
    memcpy(p, b->now, b->bytes);
    gint64 n = instance->len;
    memcpy(p + b->bytes, &n, sizeof n);
    memcpy(p + b->bytes + sizeof n, instance->data, (gsize)n * sizeof(WsInstance));
    return p;
}

static void restore(Search *s, const guint8 *p)
{
    WsBits *b = s->b;
    gint64 n;
    memcpy(b->now, p, b->bytes);
    memcpy(&n, p + b->bytes, sizeof n);
    g_array_set_size(b->c->instance, (guint)n);
    memcpy(b->c->instance->data, p + b->bytes + sizeof n, (gsize)n * sizeof(WsInstance));
}

/* --- states met ------------------------------------------------------------------------------- */
static guint64 hash_of(const gint32 *word, guint n)
{
    guint64 h = 0x9e3779b97f4a7c15u, x;
    for (guint i = 0; i + 1 < n; i += 2) {
        memcpy(&x, word + i, sizeof x);
        h = (h ^ x) * 0xff51afd7ed558ccdu;
        h ^= h >> 29;
    }
    return h ? h : 1;
}

static Seen **slot_for(const Search *s, guint64 hash, const gint32 *word, guint n)
{
    for (guint i = (guint)hash & (s->cap_seen - 1);; i = (i + 1) & (s->cap_seen - 1)) {
        const Seen *x = s->seen[i];
        if (!x || (x->hash == hash && x->n == n && memcmp(x->word, word, n * sizeof(gint32)) == 0))
            return &s->seen[i];
    }
}

static void grow(Search *s)
{
    Seen **old = s->seen;
    guint n = s->cap_seen;
    s->cap_seen = n ? 2 * n : 512;
    s->seen = g_new0(Seen *, s->cap_seen);
    for (guint i = 0; i < n; i++)
        if (old[i])
            *slot_for(s, old[i]->hash, old[i]->word, old[i]->n) = old[i];
    g_free(old);
}

static guint known_words(const WsBits *b)
{
    return (b->n_items + b->n_q) * b->nw + ws_bit_n_past(b);
}

/* What is known lies in one piece but for the gap between K and Q. */
static void known_of(const WsBits *b, guint64 *out)
{
    gsize k = (gsize)b->n_items * b->nw, q = (gsize)b->n_q * b->nw;
    memcpy(out, b->now + b->o_k, k * sizeof(guint64));
    memcpy(out + k, b->now + b->o_q, q * sizeof(guint64));
    ws_bit_past(b, out + k + q);
}

/* Forgets what the other does not know; TRUE: the other knew more somewhere. */
static gboolean meet(guint64 *now, guint64 *before, gsize n)
{
    guint64 lost = 0;
    for (gsize i = 0; i < n; i++) {
        guint64 both = now[i] & before[i];
        lost |= before[i] ^ both;
        now[i] = before[i] = both;
    }
    return lost != 0;
}

/* The state is new, or less is known in it than before and nobody is going on from it yet: then
 * the place where the choice belongs; else NULL. */
static Seen *enter(Search *s)
{
    WsBits *b = s->b;
    ws_bit_turn(b);
    ws_bit_key(b, &s->key);
    guint n = s->key.n, known = known_words(b);
    if (s->o->exact) {
        if (s->key.cap < n + 2 * known)
            s->key.word = g_renew(gint32, s->key.word, s->key.cap = n + 2 * known);
        known_of(b, (guint64 *)(gpointer)(s->key.word + n));
        n += 2 * known;
    }
    if (2 * s->n_seen >= s->cap_seen)
        grow(s);
    guint64 hash = hash_of(s->key.word, n);
    Seen **at = slot_for(s, hash, s->key.word, n), *x = *at;
    if (!x) {
        x = *at = carve(s, sizeof *x);
        x->hash = hash, x->n = n;
        x->word = carve(s, n * sizeof(gint32));
        memcpy(x->word, s->key.word, n * sizeof(gint32));
        x->known = NULL;
        if (!s->o->exact) {
            x->known = carve(s, (known + 1) * sizeof(guint64));
            known_of(b, x->known);
        }
        x->waiting = NULL;
        x->number = s->n_seen++;
        s->proof->states++;
        s->met = x;
        return x;
    }
    s->met = x;
    if (s->o->exact)
        return NULL;
    gsize k = (gsize)b->n_items * b->nw, q = (gsize)b->n_q * b->nw;
    gboolean less = meet(ws_bit_k(b, 0), x->known, k);
    less |= meet(ws_bit_q(b, 0), x->known + k, q);
    ws_bit_past(b, s->past);
    less |= meet(s->past, x->known + k + q, ws_bit_n_past(b));
    ws_bit_set_past(b, s->past);
    if (!less)
        return NULL;
    if (x->waiting) {
        memcpy(x->waiting->state + b->o_k, b->now + b->o_k, k * sizeof(guint64));
        memcpy(x->waiting->state + b->o_q, b->now + b->o_q, q * sizeof(guint64));
        guint8 *here = b->now;
        b->now = x->waiting->state;
        ws_bit_set_past(b, s->past);
        b->now = here;
        return NULL;
    }
    s->proof->merges++;
    return x;
}

/* --- choices ---------------------------------------------------------------------------------- */
/* Who asks about the earliest tile. */
static const WsBitInst *asker(const WsBits *b)
{
    const WsBitInst *best = NULL;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        if (in->state != WS_INST_DONE && in->ask != WS_ASK_NONE &&
            (!best || in->position < best->position))
            best = in;
    }
    return best;
}

static void options_of(const WsControl *c, const WsBitOptions *o, Choice *x)
{
    const WsSymbol *s = c->symbols->pdata[x->asked.symbol];
    if (x->ask == WS_ASK_REMAINDER) {
        x->option = 0;
        x->n_options = (guint)s->modulus;
        return;
    }
    gint64 r = -1;
    if (s->ring)
        r = ws_control_find(c, x->asked.symbol, ws_remainder_at(s, x->asked.position),
                            x->asked.rank, 0)
                ->remainder;
    /* L-FLOOR: what stands for all values below it leaves no remainder */
    gboolean floor = !s->letter && !s->bounded && x->asked.lo == s->floor;
    gboolean ends = floor || ((r < 0 || ws_control_mod(x->asked.lo, s->modulus) == r) &&
                              ws_control_mod(x->asked.lo, s->every) == s->left);
    gboolean more = s->letter || s->most > WS_FEW || x->asked.lo < s->most;
    const WsBitRange *range = s->letter                                   ? NULL
                              : x->asked.symbol == WS_SYMBOL_TILES        ? o->tiles
                              : o->symbol && o->symbol != x->asked.symbol ? NULL
                                                                          : o->rounds;
    if (range) {
        ends &= x->asked.lo >= range->least &&
                ws_control_mod(x->asked.lo, range->modulus) == range->remainder;
        more &= range->most < 0 || x->asked.lo < range->most;
    }
    x->option = ends ? 0 : 1;
    x->n_options = (guint)ends + (guint)more;
}

/* What was met first comes first, again and again, as in any search for a fixed point: what follows
 * from it is gone through once less is known there. Exactly, or for a certificate, the oldest
 * choice: the fewest answers lead to an alarm. */
static void queue(Search *s, Choice *c)
{
    Choice **at = s->first ? &s->first->later : &s->first;
    if (s->first && (s->o->exact || s->o->certificate))
        at = &s->last->later;
    while (*at && (*at)->seen->number < c->seen->number)
        at = &(*at)->later;
    c->later = *at;
    *at = c;
    if (!c->later)
        s->last = c;
}

static void push(Search *s, const WsBitInst *in, Seen *seen)
{
    WsBits *b = s->b;
    Choice *c = carve(s, sizeof *c);
    memset(c, 0, sizeof *c);
    c->from = s->from;
    c->answer = s->answer;
    c->ask = (WsAsk)in->ask;
    c->instance = in->ask_instance;
    c->asked = g_array_index(b->c->instance, WsInstance, c->instance);
    options_of(b->c, s->o, c);
    if (b->c->instance->len > MAX_INSTANCES) {
        ws_bit_outside(b, "agents are too many tiles apart");
        return;
    }
    c->state = save(s);
    c->seen = seen;
    seen->waiting = s->o->exact ? NULL : c;
    if (s->o->certificate)
        ws_certificate_node(s->o->certificate, b, seen->number, &c->asked);
    queue(s, c);
}

/* For the certificate: where the answer at hand has led, NULL: to the end. */
static void tell_edge(const Search *s, const Seen *to)
{
    const Choice *c = s->from;
    if (s->o->certificate && !s->b->alarm)
        ws_certificate_edge(s->o->certificate, s->b, c ? (gint)c->seen->number : -1,
                            c ? c->ask : WS_ASK_NONE, c ? &c->asked : NULL, s->answer,
                            to ? (gint)to->number : -1);
}

/* An operation goes over the rows it teaches, a state is written, turned and looked up as a whole.
 * Counted, not timed: the same design comes to the same end on every machine. */
static guint64 work_of(const Search *s)
{
    const WsBits *b = s->b;
    guint64 rows = (guint64)(b->n_items + b->n_q) * b->nw;
    return 4 * b->steps + b->ops * (32 + rows / 8) + 8 * rows + 2 * s->key.n + b->bytes / 8;
}

/* From a state on which nothing can move: pushes the choice, or ends the path. */
static void arrive(Search *s)
{
    WsBits *b = s->b;
    s->proof->ops += b->ops;
    s->proof->work += work_of(s);
    if (b->alarm || b->c->outside)
        return;
    const WsBitInst *in = asker(b);
    if (!in) {
        ws_bit_conclude(b);
        tell_edge(s, NULL);
        return;
    }
    ws_bit_forget(b);
    Seen *seen = enter(s);
    tell_edge(s, s->met);
    if (seen)
        push(s, in, seen);
}

/* The choice to go on from; what is forgotten later reaches those that still wait. NULL: all is
 * explored. */
static Choice *current(Search *s)
{
    while (s->first && s->first->next == s->first->n_options)
        s->first = s->first->later;
    return s->first;
}

static gboolean ended(Search *s)
{
    guint n = s->proof->states + s->proof->merges;
    g_autofree char *what = NULL;
    if (s->o->states)
        g_atomic_int_set(s->o->states, (gint)s->proof->states);
    if (s->o->cancel && g_atomic_int_get(s->o->cancel))
        s->proof->why = g_strdup("cancelled");
    else if (s->b->c->endless && n > ENDLESS_STATES)
        s->proof->why = g_strdup(s->b->c->endless);
    else if (s->proof->states > s->o->max_states)
        what = ws_phrase("more than %u states", s->o->max_states);
    else if (s->bytes > (s->o->certificate ? 4 * MAX_BYTES : MAX_BYTES))
        what = s->o->certificate ? ws_phrase("the states take more than 256 MB")
                                 : ws_phrase("the states take more than 64 MB");
    else if (s->o->max_work && s->proof->work > s->o->max_work)
        what = ws_phrase("it takes too many steps");
    if (what)
        s->proof->why = ws_bits_too_much(s->b, what);
    if (s->proof->why)
        s->proof->kind = WS_PROOF_CAP;
    return s->proof->why != NULL;
}

static void explore(Search *s)
{
    WsBits *b = s->b;
    ws_bit_settle(b);
    arrive(s);
    for (Choice *c; !b->alarm && !b->c->outside && (c = current(s));) {
        if (ended(s))
            return;
        c->seen->waiting = NULL;
        restore(s, c->state);
        s->from = c;
        s->answer = c->option + c->next++;
        if (c->next == c->n_options && c->state) {
            g_ptr_array_add(s->spare_states, c->state);
            c->state = NULL;
        }
        ws_control_answer(b->c, c->ask, c->instance, s->answer);
        ws_bit_settle(b);
        arrive(s);
        if ((b->recut && s->proof->states > 24) || (b->firm && b->drifts))
            return;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */
/* "P-RACE: load A -> a at groups/load/body/0 (load)" */
static void tell_alarm(const WsBits *b, WsProof *proof)
{
    const WsOp *op = b->op;
    const char *who = b->p->agent[ws_bit_agent(b, b->runs)].name;
    proof->rule = b->rule;
    proof->op = op;
    proof->why =
        op ? g_strdup_printf("%s: %s at %s (%s)", ws_rule(b->rule)->text,
                             op->label && *op->label ? op->label : ws_op_kind_text(op->kind),
                             op->step ? op->step : op->id, who)
           : g_strdup_printf("%s: %s", ws_rule(b->rule)->text, ws_rule(b->rule)->title);
}

static void clear_told(gpointer data)
{
    ws_expr_unref(((WsTold *)data)->expr);
}

/* The last answer about a name counts. */
static void tell_name(Search *s, const Choice *c, gint64 answer)
{
    const WsSymbol *x = s->b->c->symbols->pdata[c->asked.symbol];
    WsTold t = { x->expr, WS_EXPR_EQ, c->asked.lo, x->run, -1 };
    if (!x->run && c->asked.position >= 0 && c->asked.position % WS_PASS != WS_PASS - 1)
        t.position = c->asked.position % WS_PASS;
    if (c->ask != WS_ASK_MORE || !x->expr || x->by_index)
        return;
    if (x->letter)
        t.op = WS_EXPR_NE, t.value = answer;
    else if (answer)
        t.op = WS_EXPR_GT;
    else if (!x->bounded && c->asked.lo == x->floor)
        t.op = WS_EXPR_LE;
    for (guint i = 0; i < s->proof->told->len; i++) {
        const WsTold *before = &g_array_index(s->proof->told, WsTold, i);
        if (before->expr == t.expr && before->position == t.position)
            return;
    }
    ws_expr_ref(t.expr);
    g_array_append_val(s->proof->told, t);
}

/* The answers on the way, and the numbers of rounds and tiles they say. */
static void tell_path(Search *s)
{
    GString *t = g_string_new(NULL);
    s->proof->rounds = g_array_new(FALSE, FALSE, sizeof(gint64));
    s->proof->told = g_array_new(FALSE, FALSE, sizeof(WsTold));
    g_array_set_clear_func(s->proof->told, clear_told);
    gint64 answer = s->answer;
    for (const Choice *c = s->from; c; answer = c->answer, c = c->from) {
        gint64 n = c->asked.lo + (answer ? 1 : 0);
        tell_name(s, c, answer);
        if (c->ask == WS_ASK_MORE && c->asked.symbol == WS_SYMBOL_TILES)
            s->proof->tiles = MAX(s->proof->tiles, (guint)n);
        else if (c->ask == WS_ASK_MORE)
            g_array_append_val(s->proof->rounds, n);
        if (c->ask == WS_ASK_MORE && answer == 1 && c != s->from)
            continue; /* the last answer about it says more */
        g_autofree char *q = ws_control_question(s->b->c, c->ask, &c->asked, answer);
        g_string_prepend(t, t->len ? ", " : "");
        g_string_prepend(t, q);
    }
    s->proof->path = g_string_free(t, FALSE);
}

static void clear(Search *s)
{
    s->n_seen = 0;
    if (s->seen)
        memset(s->seen, 0, s->cap_seen * sizeof(Seen *));
    s->first = s->last = NULL;
    g_ptr_array_set_size(s->spare_states, 0);
    g_ptr_array_set_size(s->chunks, 0);
    s->bytes = s->in_chunk = 0;
    s->from = NULL;
    s->answer = 0;
    s->proof->states = s->proof->merges = 0;
}

/* Cells that a path cuts anew are known from then on, and everything begins again. */
static void search(Search *s)
{
    WsBits *b = s->b;
    for (guint again = 0; again < 64; again++) {
        clear(s);
        if (ended(s))
            return;
        ws_bit_layout(b);
        if (b->c->outside)
            return;
        ws_bit_reset(b);
        b->drifts = FALSE;
        if (s->o->certificate)
            ws_certificate_begin(s->o->certificate, b);
        s->past = g_renew(guint64, s->past, ws_bit_n_past(b) + 1);
        explore(s);
        if (!b->recut || b->c->outside || s->proof->why)
            return;
    }
    ws_bit_outside(b, "ranges of shared memory keep changing");
}

WsProof *ws_bits_prove_as(const WsProgram *p, const WsBitOptions *options, WsHow how)
{
    if (options->laps)
        how |= WS_HOW_LAPS;
    gint64 start = g_get_monotonic_time();
    WsProof *proof = g_new0(WsProof, 1);
    WsBits *b = ws_bits_new(p, options->policy, how);
    Search s = { .b = b, .o = options, .proof = proof };
    b->in_step = options->in_step;
    b->firm = !options->certificate && !(how & WS_HOW_LAPS);
    b->rounds = options->rounds, b->tiles = options->tiles, b->symbol = options->symbol;
    s.chunks = g_ptr_array_new_with_free_func(g_free);
    s.spare_states = g_ptr_array_new();
    if (!b->c->outside)
        search(&s);
    if (b->alarm && b->rule == WS_RULE_P_EARLY && !b->c->outside && !proof->why) {
        b->feeds = TRUE; /* once more, remembering more */
        search(&s);
    }
    if (b->alarm && !b->c->outside && !proof->why) {
        proof->kind = WS_PROOF_ALARM;
        tell_alarm(b, proof);
        tell_path(&s);
        proof->again = ws_bits_starts_again(b->c);
    } else if (b->c->outside && !proof->why) {
        proof->kind = WS_PROOF_OUTSIDE;
        proof->why = g_strdup(b->c->outside);
    } else if (b->firm && b->drifts && !proof->why) {
        proof->kind = WS_PROOF_OUTSIDE; /* L-DRIFT */
        proof->drifts = TRUE;
        proof->why =
            g_strdup("the turn of a use depends on names, and may be an even number of laps "
                     "from the completion that it meets (count with k.total, or with a "
                     "counter that `advance`s by one in every round)");
    }
    if (proof->kind == WS_PROOF_CLOSED && options->certificate)
        proof->certificate = ws_certificate_text(options->certificate, b);
    for (guint i = 0; i < b->c->symbols->len; i++)
        proof->by_index |= ((const WsSymbol *)b->c->symbols->pdata[i])->by_index;
    proof->names = ws_proof_names(b->c);
    proof->owed = b->owed >= 0;
    proof->letters = b->c->letters;
    proof->leads = b->c->leads && !(how & WS_HOW_LEAD) && proof->kind != WS_PROOF_CLOSED;
    proof->bytes = s.bytes + s.cap_seen * sizeof(Seen *) + ws_bits_size(b);
    g_ptr_array_unref(s.chunks);
    g_ptr_array_unref(s.spare_states);
    g_free(s.seen);
    g_free(s.key.word);
    g_free(s.past);
    ws_bits_free(b);
    proof->seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
    return proof;
}
