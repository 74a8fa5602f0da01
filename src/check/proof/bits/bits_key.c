/* The key of a state of the proof: equal for states that do the same from here on, whatever is
 * known in them. Numbers that grow are put relative to each other. */
#include "check/proof/bits/bits.h"

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
/* L-AWAY: within its window a variable counts exactly, beyond it modulo. */
static void put_variable(WsBitKey *k, const WsControl *c, gint v, gint64 x)
{
    WsSpan exact = ws_exact_window(c, v);
    gint64 rest = ws_control_mod(x, c->modulus[v]);
    put(k, exact.lo > exact.hi ? rest
           : x > exact.hi      ? exact.hi + 1 + rest
           : x < exact.lo      ? exact.lo - 1 - rest
                               : x);
}

/* Rounds that are left of a loop whose count is a number; how far others are from their symbols
 * stands there (put_site). L-PASS: a loop over tiles in it leaves those behind, and from then on
 * its rounds are compared with symbols that nobody has asked about: so they count themselves. */
static void put_loops(WsBitKey *k, const WsBits *b, guint i)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    guint16 place = ws_bit_place(b, i);
    put(k, place);
    for (guint n = 0; n < a->n_loops; n++) {
        const WsBitLoop *l = &a->loop[n];
        const gint64 *r = ws_bit_loop(b, i, n);
        if (!ws_bit_entered(b, i, n))
            continue;
        if (l->tree->over == WS_OVER_COUNT && l->symbol < 0)
            put(k, r[3] > r[0] ? r[3] - r[0] : 0);
        else if (!l->rest.constant)
            put(k, r[3]);
        if (l->passes)
            put(k, r[0]);
        if (!l->from.constant)
            put(k, r[1]);
        if (!l->by.constant)
            put(k, r[2]);
        if (l->by_index && place > l->enter)
            put_variable(k, b->c, l->tree->index_var, ws_bit_local(b, i)[l->index]);
    }
}

static void put_position(WsBitKey *k, const WsBits *b, gint64 position);

/* L-OWED: what it is at least, and which tiles it owes; these are relative to what is asked. */
static void put_owing(WsBitKey *k, const WsBits *b, guint i, guint local)
{
    const WsBitOwed *o = ws_bit_owed(b, i) + local;
    const gint64 x = ws_bit_at_least(b, i, local);
    const gint v = b->agent[ws_bit_agent(b, i)].var[local];
    put(k, (gint64)o->tiles);
    if (o->tiles)
        put_position(k, b, o->first);
    if (o->tiles && x < ws_exact_window(b->c, v).lo)
        put(k, x); /* it may come into its window */
    put_variable(k, b->c, v, x);
}

static void put_sum(gpointer key, gint64 x)
{
    put(key, x);
}

static void put_inst(WsBitKey *k, WsBits *b, guint i)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    put(k, in->state | in->have << 4 | in->ask << 8 | in->open << 16 | in->parity << 24 |
               (in->vague != 0) << 28);
    if (in->vague)
        put(k, (gint64)in->vague);
    put(k, in->at);
    put_loops(k, b, i);
    for (guint n = 0; n < a->n_locals; n++)
        if (a->owing >> n & 1)
            put_owing(k, b, i, n);
        else if (a->counts[n])
            put_variable(k, b->c, a->var[n], ws_bit_local(b, i)[n]);
    ws_bit_put_sums(b, i, put_sum, k);
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

/* A comparison with numbers: beyond the greatest of them all values are alike. */
static void put_number(WsBitKey *k, const WsBitSite *s, const WsInstance *x, gboolean *absolute)
{
    if (s->beyond == G_MAXINT64)
        *absolute = TRUE;
    else
        put(k, MIN(x->lo, s->beyond));
}

/* The number that a running loop has come to, or that a condition moves with. */
static gint64 number_of(const WsBits *b, guint i, const WsBitSite *s)
{
    if (s->site->count) {
        const gint64 *r = ws_bit_loop(b, i, (guint)s->loop);
        return r[0] - r[3];
    }
    return s->by * ws_bit_local(b, i)[s->number];
}

/* L-DISTANCE: how far a symbol lies above a number that only moves on decides all that follows, as
 * long as neither starts again; beside a bound of a relation (max, min) both count. */
/* L-PASSED: once a number that only moves on has left a known value behind, every comparison with
 * it has the same answer; of one that only falls the least value is enough. */
static gint64 unpassed(const WsBitSite *s, const WsInstance *x, gint64 far)
{
    if (s->way == 0 || (!x->exact && s->way > 0))
        return far;
    return s->way > 0 ? MAX(far, -s->slack) : MIN(far, s->slack);
}

static void put_far(WsBitKey *k, const WsBitSite *s, const WsControl *c, const WsInstance *x,
                    gint64 number, gboolean *absolute)
{
    const WsSymbol *own = c->symbols->pdata[s->site->form->symbol];
    if (own->base < 0) {
        put(k, unpassed(s, x, x->lo - number));
    } else if (own->relation == WS_RELATION_DIV) {
        put(k, unpassed(s, x, x->lo - own->number * number));
    } else if (own->relation == WS_RELATION_MUL) {
        put(k, unpassed(s, x, own->number * x->lo - number));
    } else if (s->site->count && own->relation == WS_RELATION_MAX && number >= own->number) {
        put(k, x->lo - number);
    } else {
        put(k, number);
        *absolute = TRUE;
    }
}

/* L-BEGIN: its name has been asked anew, and the loop is yet to be entered. */
static gboolean is_coming(const WsBits *b, guint i, const WsBitLoop *l)
{
    const guint16 place = ws_bit_place(b, i);
    return place > l->begin && place <= l->enter;
}

/* How far one question of an agent is from the value of a symbol. */
static void put_site(WsBitKey *k, WsBits *b, guint i, const WsBitSite *s, const WsInstance *x,
                     gint64 here, gint64 mine, gboolean *absolute)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsSymbol *symbol = b->c->symbols->pdata[x->symbol];
    const WsSite *site = s->site;
    if (here > x->position || (symbol->split && mine > x->time))
        return;
    if (site->form->factor == 0) /* a letter */
        return;
    put(k, (s - a->site) << 16);
    if (!site->count && s->number < 0) {
        put_number(k, s, x, absolute);
        return;
    }
    if (here < x->position || (symbol->split && mine < x->time)) {
        *absolute = TRUE; /* it will come to that tile, to that loop */
        return;
    }
    gboolean runs = site->count      ? ws_bit_entered(b, i, (guint)s->loop)
                    : s->moving >= 0 ? ws_bit_active(b, i, (guint)s->moving)
                                     : lies_ahead(b, i, a, s);
    if (!runs) {
        if (symbol->by_round) /* it comes in this round, or in this round no more */
            *absolute |= s->at >= ws_bit_place(b, i) && ws_bit_active(b, i, s->around[0]);
        if ((site->count || site->renewed) &&
            symbol->split) { /* mostly that will be another time */
            *absolute |= is_coming(b, i, &a->loop[site->count ? s->loop : s->moving]);
            return;
        }
        *absolute |= lies_ahead(b, i, a, s);
        return;
    }
    put_far(k, s, b->c, x, number_of(b, i, s), absolute);
    if (!site->count && symbol->split &&
        !site->renewed) /* L-SPLIT: with another time's value, too */
        put(k, number_of(b, i, s));
    /* L-AGAIN: it starts again in this tile */
    for (guint n = 0; site->count && !symbol->split && n < s->n_around; n++)
        *absolute |= a->loop[s->around[n]].tree->over != WS_OVER_TILES;
    *absolute |= site->again;
}

static void put_distance(WsBitKey *k, WsBits *b, guint i, const WsInstance *x, gboolean *absolute)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsSymbol *symbol = b->c->symbols->pdata[x->symbol];
    if (in->state == WS_INST_DONE || (symbol->per_cta && x->rank != (gint)ws_bit_rank(b, i)))
        return;
    gint64 here = in->position;
    gint64 mine = symbol->split && here == x->position ? ws_bit_begun(b, i)[symbol->split - 1] : 0;
    for (guint n = 0; n < a->n_sites; n++)
        if (a->site[n].symbol == x->symbol)
            put_site(k, b, i, &a->site[n], x, here, mine, absolute);
    put(k, -1);
}

/* L-FRESH: where nobody has asked about the symbol of a comparison yet there is no distance to it,
 * so the number that moves counts itself. */
static void put_fresh(WsBitKey *k, const WsBits *b, guint i)
{
    const WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    const WsControl *c = b->c;
    for (guint n = 0; n < a->n_sites && in->state != WS_INST_DONE; n++) {
        const WsBitSite *s = &a->site[n];
        if (s->number < 0 || (s->moving >= 0 && !ws_bit_active(b, i, (guint)s->moving)))
            continue;
        const WsSymbol *symbol = c->symbols->pdata[s->symbol];
        gint64 time = symbol->split ? ws_bit_begun(b, i)[symbol->split - 1] : 0;
        gboolean found = FALSE;
        for (guint m = 0; m < c->instance->len && !found; m++) {
            const WsInstance *x = &g_array_index(c->instance, WsInstance, m);
            found = x->symbol == s->symbol && x->position == in->position && x->time == time &&
                    (!symbol->per_cta || x->rank == (gint)ws_bit_rank(b, i));
        }
        if (!found)
            put(k, number_of(b, i, s));
    }
}

/* --- positions -------------------------------------------------------------------------------- */
/* From where tiles of a pass are counted: the first one, if somebody has yet to begin that pass. */
static gint64 base_of(const WsBits *b, gint64 pass)
{
    gint64 base = WS_PASS;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        gint64 its = ws_pass_of(in->position);
        if (in->state == WS_INST_DONE || in->position >= ws_behind(pass))
            continue;
        base = MIN(base, its < pass ? 0 : in->position % WS_PASS);
    }
    return base;
}

static gint64 first_pass(const WsBits *b)
{
    gint64 first = G_MAXINT64;
    for (guint i = 0; i < b->n_inst; i++)
        if (ws_bit_inst(b, i)->state != WS_INST_DONE)
            first = MIN(first, ws_pass_of(ws_bit_inst(b, i)->position));
    return first == G_MAXINT64 ? 0 : first;
}

/* L-PASS: passes over the tiles are told apart relative to the earliest one that somebody is in,
 * tiles of a pass relative to the first one that somebody can still come to. */
static void put_position(WsBitKey *k, const WsBits *b, gint64 position)
{
    if (position < 0) {
        put(k, position);
        return;
    }
    gint64 pass = ws_pass_of(position), at = position % WS_PASS;
    gint64 base = base_of(b, pass);
    put(k, pass - first_pass(b));
    put(k, at == WS_PASS - 1 ? -4 : base == WS_PASS ? -5 : at - base);
}

/* Where the rounds of an entry are counted from: its first one, if somebody has yet to come to
 * it, else the first one that somebody is in. */
static gint64 first_round(const WsBits *b, gint symbol, gint64 position, gint64 entry)
{
    gint64 first = WS_ENTRY;
    guint split = ((const WsSymbol *)b->c->symbols->pdata[symbol])->split;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        if (in->state == WS_INST_DONE || in->position > position ||
            !ws_bit_asks(&b->agent[ws_bit_agent(b, i)], symbol))
            continue;
        gint64 time = in->position < position ? 0 : ws_bit_begun(b, i)[split - 1];
        if (time / WS_ENTRY < entry)
            return 0;
        if (time / WS_ENTRY == entry)
            first = MIN(first, time % WS_ENTRY);
    }
    return first == WS_ENTRY ? 0 : first;
}

/* L-SPLIT, L-ROUND: times relative to the least one at which somebody can still ask. */
static void put_time(WsBitKey *k, const WsBits *b, gint symbol, gint64 position, gint64 time)
{
    const WsSymbol *s = b->c->symbols->pdata[symbol];
    gint64 least = ws_bit_time(b, symbol, position);
    if (least == G_MAXINT64 || time < least) {
        put(k, -1);
    } else if (!s->by_round) {
        put(k, time - least);
    } else {
        gint64 entry = time / WS_ENTRY;
        put(k, entry - least / WS_ENTRY);
        put(k, time % WS_ENTRY - first_round(b, symbol, position, entry));
    }
}

static void put_positions(WsBitKey *k, const WsBits *b)
{
    const WsControl *c = b->c;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitInst *in = ws_bit_inst(b, i);
        if (in->state == WS_INST_DONE) {
            put(k, -3);
            continue;
        }
        put_position(k, b, in->position);
        for (guint n = 0; b->split && n < c->symbols->len; n++) {
            guint split = ((const WsSymbol *)c->symbols->pdata[n])->split;
            if (!split)
                continue;
            put_time(k, b, (gint)n, in->position, ws_bit_begun(b, i)[split - 1]);
        }
    }
}

/* L-SOME: where only some counts are looked at, whether this is one of them counts as well. */
static void put_range(WsBitKey *k, const WsBitRange *range, gint64 lo)
{
    if (!range)
        return;
    put(k, MIN(lo, range->least));
    put(k, ws_control_mod(lo, range->modulus));
    if (range->most >= 0)
        put(k, range->most - lo);
}

static void put_symbols(WsBitKey *k, WsBits *b)
{
    const WsControl *c = b->c;
    put_positions(k, b);
    for (guint i = 0; i < b->n_inst; i++)
        put_fresh(k, b, i);
    put(k, c->instance->len);
    for (guint n = 0; n < c->instance->len; n++) {
        /* by value: evaluation may make new instances */
        WsInstance x = g_array_index(c->instance, WsInstance, n);
        const WsSymbol *s = c->symbols->pdata[x.symbol];
        put(k, x.symbol << 8 | x.exact);
        put_position(k, b, x.position);
        if (b->ranks > 1)
            put(k, x.rank);
        if (s->split && x.position != -2)
            put_time(k, b, x.symbol, x.position, x.time);
        put(k, x.remainder);
        if (x.symbol == WS_SYMBOL_TILES) {
            gint64 base = base_of(b, ws_pass_of(x.position));
            put(k, base == WS_PASS ? 0 : x.lo - base);
            put_range(k, b->tiles, x.lo);
            continue;
        }
        gboolean absolute = FALSE;
        if (s->every > 1)
            put(k, ws_control_mod(x.lo, s->every));
        for (guint i = 0; i < b->n_inst; i++) {
            put_distance(k, b, i, &x, &absolute);
            absolute |= b->firm && ws_bit_is_amount(b, i, &x);
        }
        if (absolute || s->letter) {
            put(k, x.lo);
        } else {
            if (s->ring &&
                !(x.symbol == b->owed && x.remainder < 0 && !ws_bit_will_owe(b, x.position)))
                put(k, -1 - ws_control_mod(x.lo, s->modulus));
            if (s->window >= 0) /* L-SMALL */
                put(k, MIN(x.lo, s->window + 1));
            if (!s->bounded) /* L-FLOOR: the value that stands for all below it */
                put(k, x.lo == s->floor);
            if (s->most <= WS_FEW && !x.exact) /* L-MOST */
                put(k, s->most - x.lo);
            if (!s->letter && (b->symbol == 0 || b->symbol == x.symbol))
                put_range(k, b->rounds, x.lo);
        }
    }
}

/* --- objects ---------------------------------------------------------------------------------- */
/* L-LAPS: beside its parity, how far it is ahead of the first slot of its ring. */
static void put_slot(WsBitKey *k, const WsBits *b, guint n)
{
    const WsBitSlot *s = ws_bit_slot(b, n);
    const gint ring = b->ring[n % b->n_slots];
    const gint64 ahead =
        ring < 0 ? 0 : s->phase - ws_bit_slot(b, n - n % b->n_slots + (guint)ring)->phase;
    put(k, (s->phase & 1) | s->moved << 4 | s->lanes_now << 5 | s->up << 6 | s->loose << 8 |
               ahead * (1 << 16));
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
        *word++ = ~(guint64)(x->bytes_before | x->signalled << 1 | x->lanes_before << 2 |
                             (guint64)x->earlier << 32);
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
        x->lanes_before = ~*word >> 2 & 1;
        x->earlier = (guint32)(~*word >> 32);
        word++;
    }
    for (guint n = 0; n < b->ranks * b->n_named; n++)
        ws_bit_named(b, n)->before = ~*word++;
    memcpy(ws_bit_raw(b) + b->o_written, word, (b->o_author - b->o_written) * sizeof *word);
}

/* Tiles that can still be taken. */
static void put_claims(WsBitKey *k, const WsBits *b)
{
    for (guint r = 0; b->claims && r < b->ranks; r++)
        for (guint c = 0; c < b->n_cells; c++) {
            gint64 held = *ws_bit_claimed(b, r, c);
            if (held <= WS_TOLD) { /* no position */
                put(k, r * b->n_cells + c);
                put(k, -held);
                continue;
            }
            if (held < 0 || held % WS_PASS < base_of(b, ws_pass_of(held)))
                continue;
            put(k, r * b->n_cells + c);
            put_position(k, b, held);
        }
}

void ws_bit_key(WsBits *b, WsBitKey *k)
{
    k->n = 0;
    for (guint i = 0; i < b->n_inst; i++)
        put_inst(k, b, i);
    put_symbols(k, b);
    for (guint s = 0; s < b->ranks * b->n_slots; s++)
        put_slot(k, b, s);
    for (guint n = 0; n <= b->ranks * b->n_named; n++) {
        const WsBitNamed *x = ws_bit_named(b, n);
        put(k, x->arrived);
        put(k, x->count);
        put(k, (gint64)x->now);
    }
    put_claims(k, b);
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
