#include "ui/runs/run_rounds.h"

#include <string.h>

#define MOST_CTAS 16 /* more tell nothing new, and each has its thousands of rounds */

typedef struct {
    gint32 tile, round;
    gint64 shown, pinned, from;
    guint cta;
} Pair;

static gint by_place(gconstpointer pa, gconstpointer pb)
{
    const Pair *a = pa, *b = pb;
    if (a->tile != b->tile)
        return a->tile < b->tile ? -1 : 1;
    if (a->round != b->round)
        return a->round < b->round ? -1 : 1;
    return a->cta < b->cta ? -1 : a->cta > b->cta;
}

static gint by_value(gconstpointer a, gconstpointer b)
{
    const gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

static const WsScoreRound *round_of(const GArray *rounds, guint i)
{
    return &g_array_index(rounds, WsScoreRound, i);
}

/* Cycles to the next round of the tile; 0 for the last one. */
static gint64 length(const GArray *rounds, guint i)
{
    return i + 1 < rounds->len && round_of(rounds, i + 1)->tile == round_of(rounds, i)->tile
               ? round_of(rounds, i + 1)->from - round_of(rounds, i)->from
               : 0;
}

static void add_cta(const WsProgram *p, WsTrace *shown, guint cta, const WsProgram *q,
                    WsTrace *pinned, guint other, GArray *pairs, char **loop)
{
    if (shown->every > 1 || pinned->every > 1 || /* two rounds in a row are not of one launch */
        ws_trace_rounds_apart(p, shown, cta, pinned, other))
        return;
    g_autoptr(GArray) a = ws_score_rounds(p, shown, cta, loop);
    g_autoptr(GArray) b = ws_score_rounds(q, pinned, other, NULL);
    for (guint i = 0, k = 0; i < a->len && k < b->len;) {
        const WsScoreRound *x = round_of(a, i), *y = round_of(b, k);
        const gint order = x->tile != y->tile     ? (x->tile < y->tile ? -1 : 1)
                           : x->round != y->round ? (x->round < y->round ? -1 : 1)
                                                  : 0;
        if (order == 0) {
            const Pair pair = { x->tile, x->round, length(a, i), length(b, k), x->from, cta };
            if (pair.shown > 0 && pair.pinned > 0)
                g_array_append_val(pairs, pair);
        }
        i += order <= 0;
        k += order >= 0;
    }
}

static gint64 median(GArray *values)
{
    g_array_sort(values, by_value);
    return g_array_index(values, gint64, values->len / 2);
}

/* Pairs of one round, [from, to), as one. */
static WsRunRound sum_up(const GArray *pairs, guint from, guint to)
{
    const Pair *first = &g_array_index(pairs, Pair, from);
    WsRunRound r = { .tile = first->tile,
                     .round = first->round,
                     .n = to - from,
                     .from = first->from,
                     .cta = first->cta };
    g_autoptr(GArray) a = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) b = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = from; i < to; i++) {
        g_array_append_val(a, g_array_index(pairs, Pair, i).shown);
        g_array_append_val(b, g_array_index(pairs, Pair, i).pinned);
    }
    r.shown = median(a);
    r.pinned = median(b);
    return r;
}

GArray *ws_run_rounds(const WsProgram *p, WsTrace *shown, const WsProgram *q, WsTrace *pinned,
                      char **loop)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(WsRunRound));
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
    guint n = 0;
    for (guint i = 0; i < shown->cta->len && n < MOST_CTAS; i++)
        for (guint k = 0; k < pinned->cta->len; k++) {
            if (g_array_index(shown->cta, WsTraceCta, i).id !=
                g_array_index(pinned->cta, WsTraceCta, k).id)
                continue;
            add_cta(p, shown, i, q, pinned, k, pairs, loop && !*loop ? loop : NULL);
            n++;
            break;
        }
    g_array_sort(pairs, by_place);
    for (guint i = 0; i < pairs->len;) {
        guint to = i + 1;
        while (to < pairs->len &&
               g_array_index(pairs, Pair, to).tile == g_array_index(pairs, Pair, i).tile &&
               g_array_index(pairs, Pair, to).round == g_array_index(pairs, Pair, i).round)
            to++;
        const WsRunRound row = sum_up(pairs, i, to);
        g_array_append_val(rows, row);
        i = to;
    }
    return rows;
}
