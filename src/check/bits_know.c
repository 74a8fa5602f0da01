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

/* The same, and `from` forgets it. */
__attribute__((optimize("O3"))) static void move_rows(guint64 *row, guint n, guint nw,
                                                      const WsMask *from, const WsMask *to)
{
    if (nw == 1) {
        guint64 f = from->w[0], t = to->w[0];
        for (guint i = 0; i < n; i++) {
            guint64 x = row[i] & f;
            row[i] = (row[i] & ~f) | (t & (0 - ((x | (0 - x)) >> 63)));
        }
        return;
    }
    for (guint i = 0; i < n; i++, row += nw) {
        guint64 x = 0;
        for (guint w = 0; w < nw; w++)
            x |= row[w] & from->w[w];
        x = 0 - ((x | (0 - x)) >> 63);
        for (guint w = 0; w < nw; w++)
            row[w] = (row[w] & ~from->w[w]) | (to->w[w] & x);
    }
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

void ws_bit_hand_out(WsBits *b, const WsMask *from, const WsMask *to)
{
    move_rows(ws_bit_k(b, 0), b->n_items, b->nw, from, to);
    move_rows(ws_bit_q(b, 0), b->n_q, b->nw, from, to);
}

/* All lanes release: what they know and what they did. What only one lane covers by a fence is
 * covered for nobody else. */
void ws_bit_release_all(WsBits *b, guint i, const WsMask *to)
{
    ws_bit_join_k(b, &b->all[i], to);
    ws_bit_join_q(b, &b->know[i], to);
}

/* The lanes meet: the leader and every lane learn the collective progress, which is returns from
 * waits; what ends with a group is told to all of them when it ends. */
void ws_bit_collective(WsBits *b, guint i)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsMask *own = &b->own_w[i], *all = &b->know[i];
    for (guint k = 0; k < a->n_returns; k++) {
        guint64 *row = ws_bit_k(b, ws_bit_rank(b, i) * b->items_of_rank + a->returns[k]), x = 0;
        for (guint w = 0; w < b->nw; w++)
            x |= row[w] & own->w[w];
        for (guint w = 0; x && w < b->nw; w++)
            row[w] |= all->w[w];
    }
}

/* A proxy fence covers what the leader knows, what all lanes know, and what every lane did. */
void ws_bit_fence(WsBits *b, guint i, gboolean leader)
{
    for (guint q = 0; q < b->n_q; q++) {
        guint64 *k = ws_bit_k(b, b->q_item[q]), *to = ws_bit_q(b, q), own = 0;
        for (guint w = 0; w < b->nw; w++) {
            own |= k[w] & b->own_o[i].w[w];
            to[w] |= k[w] & (leader ? b->lead[i].w[w] : b->know[i].w[w]);
        }
        for (guint w = 0; own && !leader && w < b->nw; w++)
            to[w] |= b->know[i].w[w];
    }
}
