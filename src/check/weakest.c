/* Under which assumption a refuted design would be right: the proof is repeated for some counts
 * only, from the weakest restriction to stronger ones. What closes is said: "right for N <= 2", or,
 * of all other counts, "fails only for N < 2". Of counts for which it does not close nothing is
 * said. */
#include "check/weakest.h"
#include "program/parts/barrier.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include "check/play/play.h"

#include <string.h>

typedef struct {
    const WsProgram *p;
    WsBitOptions o;
    const GPtrArray *names; /* WsProvedName*: its index is the symbol */
    guint64 left;           /* of the steps that all proofs together may take */
} Weakest;

static gboolean late(const Weakest *w)
{
    return w->left == 0 || (w->o.cancel && g_atomic_int_get(w->o.cancel));
}

static gboolean closes(Weakest *w, gint symbol, const WsBitRange *rounds, const WsBitRange *tiles)
{
    if (late(w))
        return FALSE;
    w->o.symbol = symbol, w->o.rounds = rounds, w->o.tiles = tiles;
    w->o.max_work = w->left;
    WsProof *proof = ws_bits_prove(w->p, &w->o);
    w->left -= MIN(w->left, proof->work);
    gboolean closed = proof->kind == WS_PROOF_CLOSED;
    ws_proof_free(proof);
    return closed;
}

/* "K" for cdiv(K, 64), which is 0 where K is; else the text itself. */
static char *zero_of(const char *text)
{
    gsize name = g_str_has_prefix(text, "cdiv(") ? strcspn(text + 5, " ,()+-*/%") : 0;
    return name && text[5 + name] == ',' ? g_strndup(text + 5, name) : g_strdup(text);
}

static gboolean counts(const WsProvedName *n)
{
    return !n->derived && (n->kind == WS_NAME_UNIFORM || n->kind == WS_NAME_STREAM) &&
           n->least < G_MAXINT32; /* what nobody launches needs no words */
}

/* One value of one name. */
static char *only_small(Weakest *w)
{
    for (gint64 least = 1; least <= 2; least++)
        for (guint i = 1; i < w->names->len; i++) {
            const WsProvedName *n = w->names->pdata[i];
            const WsBitRange from = { n->least + least, -1, 1, 0 };
            if (!counts(n) || !closes(w, (gint)i, &from, NULL))
                continue;
            if (n->below || n->least != 0 || least > 1)
                return ws_phrase("fails only for %s < %" G_GINT64_FORMAT, n->text, from.least);
            g_autofree char *zero = zero_of(n->text);
            return ws_phrase("fails only for %s = 0", zero);
        }
    return NULL;
}

static char *only_tiles(Weakest *w, gboolean few)
{
    static const WsBitRange some = { 1, -1, 1, 0 }, even = { 0, -1, 2, 0 }, odd = { 0, -1, 2, 1 };
    static const WsBitRange one = { 0, 1, 1, 0 }, two = { 0, 2, 1, 0 };
    static const struct {
        gboolean few;
        const WsBitRange *tiles;
        const char *words;
    } row[] = {
        { FALSE, &some, WS_WORD("fails only for a CTA without a tile") },
        { FALSE, &even, WS_WORD("fails only for an odd number of tiles of a CTA") },
        { FALSE, &odd, WS_WORD("fails only for an even number of tiles of a CTA") },
        { TRUE, &two, WS_WORD("right for two tiles of a CTA at most") },
        { TRUE, &one, WS_WORD("right for one tile of a CTA at most") },
    };
    if (w->p->tiles->launch == WS_LAUNCH_SINGLE)
        return NULL;
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        if (row[i].few == few && closes(w, 0, NULL, row[i].tiles))
            return g_strdup(row[i].words);
    return NULL;
}

static guint most_slots(const WsProgram *p)
{
    guint most = 1;
    for (guint i = 0; i < p->n_barriers; i++)
        most = MAX(most, p->barrier[i].slots);
    return MIN(most, 16);
}

/* Some launch makes so many rounds: what holds for none is not worth saying. */
static gboolean there_are(const Weakest *w, gint64 rounds)
{
    g_autoptr(GArray) more = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GPtrArray) skipped = g_ptr_array_new_with_free_func(g_free);
    g_array_append_val(more, rounds);
    g_autoptr(GPtrArray) cases = ws_cases(w->p, 1, more, skipped);
    for (guint i = 0; i < cases->len; i++)
        if (((const WsCase *)cases->pdata[i])->rounds == rounds)
            return TRUE;
    return FALSE;
}

static char *only_multiples(Weakest *w)
{
    static const WsBitRange odd = { 0, -1, 2, 1 };
    const gint64 slots = most_slots(w->p), of[] = { 2, slots, 2 * slots };
    for (guint i = 1; i < w->names->len; i++) {
        const WsProvedName *n = w->names->pdata[i];
        if (counts(n) && closes(w, (gint)i, &odd, NULL))
            return ws_phrase("fails only for an even %s", n->text);
        for (guint k = 0; counts(n) && k < G_N_ELEMENTS(of); k++) {
            const WsBitRange multiple = { 0, -1, of[k], 0 };
            if (of[k] < 2 || !closes(w, (gint)i, &multiple, NULL) || !there_are(w, of[k]))
                continue;
            return of[k] == 2 ? ws_phrase("fails only for an odd %s", n->text)
                              : ws_phrase("right where %s is a multiple of %" G_GINT64_FORMAT,
                                          n->text, of[k]);
        }
    }
    return NULL;
}

/* The greatest number of rounds that is right, if a smaller one is: for any tiles, or for one. */
static char *from_round(Weakest *w, gboolean alone)
{
    static const WsBitRange one = { 0, 1, 1, 0 };
    gint64 slots = most_slots(w->p), best = -1;
    for (gint64 most = 0; most <= 2 * slots + 2; most++) {
        const WsBitRange few = { 0, most, 1, 0 };
        if (!closes(w, 0, &few, alone ? &one : NULL))
            break;
        best = most;
    }
    guint only = 0, n = 0;
    for (guint i = 1; i < w->names->len; i++)
        if (counts(w->names->pdata[i])) {
            const WsProvedName *x = w->names->pdata[i];
            only = i, n++;
            if (best < x->least) /* of no launch at all */
                return NULL;
        }
    if (best < 0 || late(w) || n == 0 || best > 2 * slots + 1)
        return NULL;
    const char *name = n == 1 ? ((const WsProvedName *)w->names->pdata[only])->text : NULL;
    g_autofree char *words =
        best == 0   ? name ? ws_phrase("right for %s <= 0", name)
                           : ws_phrase("right where no loop has a round")
          : name ? ws_phrase("right for %s <= %" G_GINT64_FORMAT, name, best)
        : best == 1 ? ws_phrase("right for loops of %" G_GINT64_FORMAT " round at most", best)
                    : ws_phrase("right for loops of %" G_GINT64_FORMAT " rounds at most", best);
    return alone ? ws_phrase("within one tile %s", words) : g_steal_pointer(&words);
}

char *ws_weakest(const WsProgram *p, const GPtrArray *names, const WsBitOptions *options,
                 guint64 work)
{
    Weakest w = { p, *options, names, work };
    w.o.exact = FALSE;
    char *words = only_small(&w);
    if (!words)
        words = only_tiles(&w, FALSE);
    if (!words)
        words = only_multiples(&w);
    if (!words)
        words = only_tiles(&w, TRUE);
    if (!words)
        words = from_round(&w, FALSE);
    return words || p->tiles->launch == WS_LAUNCH_SINGLE ? words : from_round(&w, TRUE);
}
