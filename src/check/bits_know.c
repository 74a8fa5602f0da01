/* Handing knowledge on: passes over the rows of bits. */
#include "check/bits.h"

/* Whoever is in `to` learns what anybody in `from` knows. */
__attribute__((optimize("O3"))) static void join_rows(guint64 *row, guint n, guint nw,
                                                      const WsMask *from, const WsMask *to)
{
    if (nw == 1) {
        guint64 f = from->w[0], t = to->w[0];
        for (guint i = 0; i < n; i++) {
            guint64 x = row[i] & f;
            row[i] |= t & (0 - ((x | (0 - x)) >> 63));
        }
        return;
    }
    for (guint i = 0; i < n; i++, row += nw) {
        guint64 x = 0;
        for (guint w = 0; w < nw; w++)
            x |= row[w] & from->w[w];
        x = 0 - ((x | (0 - x)) >> 63);
        for (guint w = 0; w < nw; w++)
            row[w] |= to->w[w] & x;
    }
}

__attribute__((optimize("O3"))) static void clear_rows(guint64 *row, guint n, guint nw,
                                                       const WsMask *of)
{
    if (nw == 1) {
        guint64 keep = ~of->w[0];
        for (guint i = 0; i < n; i++)
            row[i] &= keep;
        return;
    }
    for (guint i = 0; i < n; i++, row += nw)
        for (guint w = 0; w < nw; w++)
            row[w] &= ~of->w[w];
}

void ws_bit_join_k(WsBits *b, const WsMask *from, const WsMask *to)
{
    join_rows(ws_bit_k(b, 0), b->n_items, b->nw, from, to);
}

void ws_bit_join_q(WsBits *b, const WsMask *from, const WsMask *to)
{
    join_rows(ws_bit_q(b, 0), b->n_q, b->nw, from, to);
}

void ws_bit_join(WsBits *b, const WsMask *from, const WsMask *to)
{
    ws_bit_join_k(b, from, to);
    ws_bit_join_q(b, from, to);
}

void ws_bit_clear(WsBits *b, const WsMask *of)
{
    clear_rows(ws_bit_k(b, 0), b->n_items, b->nw, of);
    clear_rows(ws_bit_q(b, 0), b->n_q, b->nw, of);
}

/* All lanes release: what they know and what they did. What only one lane covers by a fence is
 * covered for nobody else. */
void ws_bit_release_all(WsBits *b, guint i, const WsMask *to)
{
    ws_bit_join_k(b, &b->all[i], to);
    ws_bit_join_q(b, &b->know[i], to);
}

/* The lanes meet: the leader and every lane learn the collective progress. */
void ws_bit_collective(WsBits *b, guint i)
{
    ws_bit_join_k(b, &b->own_w[i], &b->know[i]);
}

/* A proxy fence covers what the leader knows, what all lanes know, and what every lane did. */
void ws_bit_fence(WsBits *b, guint i, gboolean leader)
{
    for (guint item = 0; item < b->n_items; item++) {
        gint16 q = b->q_row[item];
        if (q < 0)
            continue;
        guint64 *k = ws_bit_k(b, item), *to = ws_bit_q(b, (guint)q), own = 0;
        for (guint w = 0; w < b->nw; w++) {
            own |= k[w] & b->own_o[i].w[w];
            to[w] |= k[w] & (leader ? b->lead[i].w[w] : b->know[i].w[w]);
        }
        for (guint w = 0; own && !leader && w < b->nw; w++)
            to[w] |= b->know[i].w[w];
    }
}
