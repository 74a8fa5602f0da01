/* The key of a state of the proof: equal for states that do the same from here on, whatever is
 * known in them. Numbers that grow are put relative to each other. */
#include "check/bits.h"

#include <string.h>

static inline void put(WsBitKey *k, gint64 x)
{
    if (k->n + 4 > k->cap)
        k->word = g_renew(gint32, k->word, k->cap = 2 * k->cap + 256);
    if (x > G_MININT32 && x <= G_MAXINT32) {
        k->word[k->n++] = (gint32)x;
        return;
    }
    k->word[k->n++] = G_MININT32;
    k->word[k->n++] = (gint32)(x >> 32);
    k->word[k->n++] = (gint32)x;
}

/* --- instances -------------------------------------------------------------------------------- */
/* Variables up to their bound count exactly, beyond it modulo. */
static void put_variable(WsBitKey *k, const WsControl *c, gint v, gint64 x)
{
    gint64 bound = c->bound[v] + 1;
    put(k, x <= bound && x >= -bound ? x : bound + 1 + ws_control_mod(x, c->modulus[v]));
}

static void put_loops(WsBitKey *k, const WsBits *b, guint i)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    guint16 place = ws_bit_place(b, i);
    put(k, place);
    for (guint n = 0; n < a->n_loops; n++) {
        const WsBitLoop *l = &a->loop[n];
        if (place <= l->enter || place > l->head)
            continue;
        if (l->symbol < 0 && l->tree->over == WS_OVER_COUNT)
            put(k, ws_bit_loop(b, i, n)[0]);
        else if (l->by_index)
            put_variable(k, b->c, l->tree->index_var, ws_bit_local(b, i)[l->index]);
    }
}

static void put_inst(WsBitKey *k, const WsBits *b, guint i)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    put(k, in->state | in->have << 4 | in->ask << 8 | in->open << 16 | in->parity << 24);
    put(k, in->at);
    put_loops(k, b, i);
    for (guint n = 0; n < a->n_locals; n++)
        if (a->counts[n])
            put_variable(k, b->c, a->var[n], ws_bit_local(b, i)[n]);
    if (b->ranks > 1)
        put(k, in->cluster_joined < 0
                   ? 99
                   : in->cluster_joined - ws_bit_named(b, b->ranks * b->n_named)->generation);
    if (!in->have)
        return;
    gboolean named = a->code[in->at].op->kind != WS_OP_MBAR_WAIT;
    put(k, named ? in->named : in->slot);
    if (named)
        put(k, in->joined - ws_bit_named(b, (guint)in->named)->generation);
    else
        put(k, in->turn == G_MININT64 ? 99 : in->turn - ws_bit_slot(b, (guint)in->slot)->phase);
}

/* --- symbols ---------------------------------------------------------------------------------- */
/* The node can be met again in this tile: it lies ahead, or within a loop that is running. */
static gboolean lies_ahead(const WsBits *b, guint i, const WsBitAgent *a, const WsBitSite *s)
{
    if (s->at >= ws_bit_place(b, i))
        return TRUE;
    for (guint n = 0; n < s->n_around; n++)
        if (a->loop[s->around[n]].tree->over != WS_OVER_TILES && ws_bit_active(b, i, s->around[n]))
            return TRUE;
    return s->loop >= 0 && ws_bit_active(b, i, (guint)s->loop);
}

static gboolean in_scope(const WsBits *b, guint i, const WsBitSite *s)
{
    for (guint n = 0; n < s->n_around; n++)
        if (!ws_bit_active(b, i, s->around[n]))
            return FALSE;
    return TRUE;
}

/* How far one question of an agent is from the value of a symbol. */
static void put_site(WsBitKey *k, WsBits *b, guint i, const WsBitSite *s, const WsInstance *x,
                     gint64 here, gint64 mine, gboolean *absolute)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsSymbol *symbol = b->c->symbols->pdata[x->symbol];
    const WsForm *form = s->site->form;
    gint64 rest;
    if (here > x->position || (symbol->split && mine > x->time))
        return;
    if (form->factor == 0 || (!s->site->count && !s->site->relative)) {
        /* a comparison with a number: beyond it all values are alike */
        if (form->factor && ws_bit_eval(b, i, &s->rest, &rest)) {
            gint64 most = ws_base_question(b->c, form->symbol, ABS(rest));
            put(k, MIN(x->lo, (ABS(most) < WS_NEVER ? ABS(most) : ABS(rest)) + 2));
        } else
            *absolute |= form->factor != 0;
        return;
    }
    if (here < x->position || (symbol->split && mine < x->time)) {
        *absolute = TRUE; /* it will come to that tile, to that loop */
        return;
    }
    if (!lies_ahead(b, i, a, s) && !symbol->split)
        return;
    gboolean running =
        s->site->count ? s->loop >= 0 && ws_bit_active(b, i, (guint)s->loop) : s->site->relative;
    if (s->site->count && !running && symbol->split)
        return; /* that will be another time */
    if (!running || !in_scope(b, i, s)) {
        *absolute = TRUE;
        return;
    }
    if (!ws_bit_eval(b, i, &s->rest, &rest))
        return;
    gint64 asked = s->site->count     ? ws_bit_loop(b, i, (guint)s->loop)[0] - rest
                   : form->factor > 0 ? -rest
                                      : rest;
    asked = ws_base_question(b->c, form->symbol, asked);
    if (asked == WS_ALWAYS || asked == WS_NEVER) { /* near a bound: not alike everywhere */
        *absolute = TRUE;
        return;
    }
    put(k, (s - a->site) << 16);
    put(k, x->lo - asked);
}

static void put_distance(WsBitKey *k, WsBits *b, guint i, const WsInstance *x, gboolean *absolute)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsSymbol *symbol = b->c->symbols->pdata[x->symbol];
    if (in->state == WS_INST_DONE || (symbol->per_cta && x->rank != (gint)ws_bit_rank(b, i)))
        return;
    gint64 here = x->symbol == WS_SYMBOL_TILES ? x->position : in->position;
    gint64 mine = symbol->split && here == x->position ? ws_bit_begun(b, i)[x->symbol] : 0;
    for (guint n = 0; n < a->n_sites; n++)
        if (a->site[n].symbol == x->symbol)
            put_site(k, b, i, &a->site[n], x, here, mine, absolute);
    put(k, -1);
}

static gint64 base_of(const WsBits *b)
{
    gint64 base = WS_FAR;
    for (guint i = 0; i < b->n_inst; i++)
        if (ws_bit_inst(b, i)->state != WS_INST_DONE)
            base = MIN(base, MAX(ws_bit_inst(b, i)->position, 0));
    return base;
}

static void put_positions(WsBitKey *k, const WsBits *b, gint64 base)
{
    const WsControl *c = b->c;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        gint64 at = in->position;
        gboolean done = in->state == WS_INST_DONE;
        put(k, done || at == WS_FAR ? -3 : at < 0 ? at : at - base);
        for (guint n = 0; b->split && !done && n < MIN(c->symbols->len, WS_MAX_SPLIT); n++) {
            if (!((const WsSymbol *)c->symbols->pdata[n])->split)
                continue;
            gint64 time = ws_bit_time(b, (gint)n, at), begun = ws_bit_begun(b, i)[n];
            put(k, time == G_MAXINT64 || begun < time ? -1 : begun - time);
        }
    }
}

static void put_symbols(WsBitKey *k, WsBits *b)
{
    const WsControl *c = b->c;
    gint64 base = base_of(b);
    put_positions(k, b, base);
    for (guint n = 0; n < c->instance->len; n++) {
        /* by value: evaluation may make new instances */
        WsInstance x = g_array_index(c->instance, WsInstance, n);
        const WsSymbol *s = c->symbols->pdata[x.symbol];
        put(k, x.symbol << 8 | x.exact);
        put(k, x.position == WS_FAR ? -4 : x.position < 0 ? x.position : x.position - base);
        if (b->ranks > 1)
            put(k, x.rank);
        if (s->split && x.position != -2) {
            gint64 time = ws_bit_time(b, x.symbol, x.position);
            put(k, time == G_MAXINT64 || x.time < time ? -1 : x.time - time);
        }
        put(k, x.remainder);
        if (x.symbol == WS_SYMBOL_TILES) {
            put(k, base == WS_FAR ? 0 : x.lo - base);
            continue;
        }
        gboolean absolute = FALSE;
        if (s->every > 1)
            put(k, ws_control_mod(x.lo, s->every));
        for (guint i = 0; i < b->n_inst; i++)
            put_distance(k, b, i, &x, &absolute);
        if (absolute || s->letter)
            put(k, x.lo);
        else if (s->ring)
            put(k, -1 - ws_control_mod(x.lo, s->modulus));
    }
}

/* --- objects ---------------------------------------------------------------------------------- */
static void put_slot(WsBitKey *k, const WsBitSlot *s)
{
    put(k, (s->phase & 1) | s->moved << 4 | s->loose << 8);
    put(k, s->pend);
    put(k, s->tx);
    put(k, (gint64)s->now);
}

guint ws_bit_n_past(const WsBits *b)
{
    return b->ranks * (2 * b->n_slots + b->n_named) + b->o_author - b->o_written;
}

void ws_bit_past(const WsBits *b, guint64 *word)
{
    for (guint s = 0; s < b->ranks * b->n_slots; s++) {
        const WsBitSlot *x = ws_bit_slot(b, s);
        *word++ = ~(x->before | (guint64)x->waited << 32);
        *word++ = ~(guint64)(x->bytes_before | x->signalled << 1);
    }
    for (guint n = 0; n < b->ranks * b->n_named; n++)
        *word++ = ~ws_bit_named(b, n)->before;
    memcpy(word, ws_bit_raw(b) + b->o_written, (b->o_author - b->o_written) * sizeof *word);
}

void ws_bit_set_past(WsBits *b, const guint64 *word)
{
    for (guint s = 0; s < b->ranks * b->n_slots; s++) {
        WsBitSlot *x = ws_bit_slot(b, s);
        x->before = ~*word & G_MAXUINT32, x->waited = (guint32)(~*word >> 32);
        word++;
        x->bytes_before = ~*word & 1, x->signalled = ~*word >> 1 & 1;
        word++;
    }
    for (guint n = 0; n < b->ranks * b->n_named; n++)
        ws_bit_named(b, n)->before = ~*word++;
    memcpy(ws_bit_raw(b) + b->o_written, word, (b->o_author - b->o_written) * sizeof *word);
}

void ws_bit_key(WsBits *b, WsBitKey *k)
{
    k->n = 0;
    for (guint i = 0; i < b->n_inst; i++)
        put_inst(k, b, i);
    put_symbols(k, b);
    for (guint s = 0; s < b->ranks * b->n_slots; s++)
        put_slot(k, ws_bit_slot(b, s));
    for (guint n = 0; n <= b->ranks * b->n_named; n++) {
        const WsBitNamed *x = ws_bit_named(b, n);
        put(k, x->arrived);
        put(k, x->count);
        put(k, (gint64)x->now);
    }
    if (k->n & 1)
        put(k, 0);
    /* what has been written belongs to the past */
    guint first = b->o_written, rest = b->n_raw - b->o_author, words = 2 * (first + rest);
    if (k->n + words + 4 > k->cap)
        k->word = g_renew(gint32, k->word, k->cap = 2 * (k->n + words) + 256);
    memcpy(k->word + k->n, ws_bit_raw(b), first * sizeof(guint64));
    memcpy(k->word + k->n + 2 * first, ws_bit_raw(b) + b->o_author, rest * sizeof(guint64));
    k->n += words;
}
