/* Handing knowledge on: passes over the rows of bits. */
#include "check/proof/bits/bits.h"

/* The passes over single words are the inner loops of the proof: with wide registers where the
 * machine has them. */
#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE_BODY __attribute__((always_inline)) static inline
#define WIDE_CALL __attribute__((optimize("O3"), target("avx2"))) static
#define HAVE_WIDE 1
#else
#define WIDE_BODY static inline
#endif
#define PLAIN_CALL __attribute__((optimize("O3"))) static

WIDE_BODY void join_words(guint64 *row, guint n, guint64 from, guint64 to)
{
    for (guint i = 0; i < n; i++)
        row[i] |= row[i] & from ? to : 0;
}

WIDE_BODY void move_words(guint64 *row, guint n, guint64 from, guint64 to)
{
    for (guint i = 0; i < n; i++)
        row[i] = (row[i] & ~from) | (row[i] & from ? to : 0);
}

PLAIN_CALL void join_plain(guint64 *row, guint n, guint64 from, guint64 to)
{
    join_words(row, n, from, to);
}

PLAIN_CALL void move_plain(guint64 *row, guint n, guint64 from, guint64 to)
{
    move_words(row, n, from, to);
}

#ifdef HAVE_WIDE
WIDE_CALL void join_wide(guint64 *row, guint n, guint64 from, guint64 to)
{
    join_words(row, n, from, to);
}

WIDE_CALL void move_wide(guint64 *row, guint n, guint64 from, guint64 to)
{
    move_words(row, n, from, to);
}

gboolean ws_bit_has_wide(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define join_wide join_plain
#define move_wide move_plain

gboolean ws_bit_has_wide(void)
{
    return FALSE;
}
#endif

/* Words of a mask that hold something: mostly one or two of many. */
typedef struct {
    guint n, at[WS_BIT_WORDS];
} Words;

static inline Words words_of(const WsBits *b, const WsMask *m)
{
    Words x = { .n = 0 };
    for (guint w = 0; w < b->nw; w++)
        if (m->w[w])
            x.at[x.n++] = w;
    return x;
}

static inline gboolean knows_any(const guint64 *row, const Words *x, const WsMask *m)
{
    for (guint i = 0; i < x->n; i++)
        if (row[x->at[i]] & m->w[x->at[i]])
            return TRUE;
    return FALSE;
}

static inline void add(guint64 *row, const Words *x, const WsMask *m)
{
    for (guint i = 0; i < x->n; i++)
        row[x->at[i]] |= m->w[x->at[i]];
}

/* Whoever is in `to` learns what anybody in `from` knows. */
static void join_rows(const WsBits *b, guint64 *row, guint n, const WsMask *from, const WsMask *to)
{
    if (b->nw == 1) {
        (b->wide ? join_wide : join_plain)(row, n, from->w[0], to->w[0]);
        return;
    }
    const Words of = words_of(b, from), on = words_of(b, to);
    for (guint i = 0; i < n; i++, row += b->nw)
        if (knows_any(row, &of, from))
            add(row, &on, to);
}

/* The same, and `from` forgets it. */
static void move_rows(const WsBits *b, guint64 *row, guint n, const WsMask *from, const WsMask *to)
{
    if (b->nw == 1) {
        (b->wide ? move_wide : move_plain)(row, n, from->w[0], to->w[0]);
        return;
    }
    const Words of = words_of(b, from), on = words_of(b, to);
    for (guint i = 0; i < n; i++, row += b->nw)
        if (knows_any(row, &of, from)) {
            for (guint w = 0; w < of.n; w++)
                row[of.at[w]] &= ~from->w[of.at[w]];
            add(row, &on, to);
        }
}

void ws_bit_join_k(WsBits *b, const WsMask *from, const WsMask *to)
{
    join_rows(b, ws_bit_k(b, 0), b->n_items, from, to);
}

void ws_bit_join_q(WsBits *b, const WsMask *from, const WsMask *to)
{
    join_rows(b, ws_bit_q(b, 0), b->n_q, from, to);
}

void ws_bit_join(WsBits *b, const WsMask *from, const WsMask *to)
{
    ws_bit_join_k(b, from, to);
    ws_bit_join_q(b, from, to);
}

void ws_bit_hand_out(WsBits *b, const WsMask *from, const WsMask *to)
{
    move_rows(b, ws_bit_k(b, 0), b->n_items, from, to);
    move_rows(b, ws_bit_q(b, 0), b->n_q, from, to);
}

/* All lanes release: what they know and what they did, and what of it they have covered. */
void ws_bit_release_all(WsBits *b, guint i, const WsMask *to)
{
    ws_bit_join(b, &b->all[i], to);
}

/* The lanes meet: the leader and every lane learn the collective progress, which is returns from
 * waits; what ends with a group is told to all of them when it ends. */
void ws_bit_collective(WsBits *b, guint i)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsMask *own = &b->own_w[i], *all = &b->know[i];
    const Words of = words_of(b, own), on = words_of(b, all);
    for (guint k = 0; k < a->n_returns; k++) {
        guint64 *row = ws_bit_k(b, ws_bit_rank(b, i) * b->items_of_rank + a->returns[k]);
        if (knows_any(row, &of, own))
            add(row, &on, all);
    }
}

/* L-FENCE: a proxy fence covers what the leader knows, what all lanes know, and what every lane did
 * itself; the last for nobody but that lane until the lanes meet or release. */
void ws_bit_fence(WsBits *b, guint i, gboolean leader)
{
    for (guint q = 0; q < b->n_q; q++) {
        guint64 *k = ws_bit_k(b, b->q_item[q]), *to = ws_bit_q(b, q);
        for (guint w = 0; w < b->nw; w++) {
            guint64 covers = leader ? b->lead[i].w[w] : b->know[i].w[w] | b->own_o[i].w[w];
            to[w] |= k[w] & covers;
        }
    }
}
