/* Questions of the proof and their answers. */
#include "check/proof/prove.h"

gint64 ws_control_mod(gint64 x, gint64 m)
{
    gint64 r = x % m;
    return r < 0 ? r + m : r;
}

gint64 ws_floor_div(gint64 x, gint64 d)
{
    gint64 q = x / d;
    return q - (x % d != 0 && (x < 0) != (d < 0));
}

/* L-MOST: what has come to the greatest value that is assumed has it, if that leaves what it must.
 */
static gboolean at_most(const WsControl *c, const WsInstance *x)
{
    const WsSymbol *s = c->symbols->pdata[x->symbol];
    /* the floor of what has no least value stands for all below it, too */
    if (s->letter || (!s->bounded && x->lo == s->floor) || s->most > WS_FEW || x->lo < s->most ||
        x->position == -2 || ws_control_mod(x->lo, s->every) != s->left)
        return FALSE;
    gint64 r = -1;
    for (guint i = 0; s->ring && i < c->instance->len; i++) {
        const WsInstance *y = &g_array_index(c->instance, WsInstance, i);
        if (y->symbol == x->symbol && y->rank == x->rank && y->time == 0 &&
            y->position == ws_remainder_at(s, x->position))
            r = y->remainder;
    }
    return r < 0 || ws_control_mod(x->lo, s->modulus) == r;
}

WsInstance *ws_control_find(const WsControl *c, gint symbol, gint64 position, gint rank,
                            gint64 time)
{
    const WsSymbol *s = c->symbols->pdata[symbol];
    if (symbol == WS_SYMBOL_TILES) /* L-PASS: each loop over tiles asks anew */
        position = ws_behind(ws_pass_of(position));
    if (!s->per_cta)
        rank = -1;
    if (!s->split || position == -2)
        time = 0;
    for (guint i = 0; i < c->instance->len; i++) {
        WsInstance *x = &g_array_index(c->instance, WsInstance, i);
        if (x->symbol == symbol && x->position == position && x->rank == rank && x->time == time)
            return x;
    }
    WsInstance x = { symbol, position, rank, time, s->floor, FALSE, -1 };
    x.exact = at_most(c, &x);
    g_array_append_val(c->instance, x);
    return &g_array_index(c->instance, WsInstance, c->instance->len - 1);
}

void ws_control_answer(WsControl *c, WsAsk ask, guint instance, gint64 option)
{
    WsInstance *x = &g_array_index(c->instance, WsInstance, instance);
    const WsSymbol *s = c->symbols->pdata[x->symbol];
    if (ask == WS_ASK_REMAINDER) {
        x->remainder = option;
        return;
    }
    if (option) {
        x->lo++;
        x->exact = s->letter || at_most(c, x);
        return;
    }
    x->exact = TRUE;
    if (s->ring &&
        ws_remainder_at(s, x->position) == -2) { /* all tiles have this remainder from now on */
        gint64 lo = x->lo;
        WsInstance *r = ws_control_find(c, x->symbol, -2, x->rank, 0);
        r->remainder = ws_control_mod(lo, s->modulus);
    }
}

char *ws_control_question(const WsControl *c, WsAsk ask, const WsInstance *x, gint64 option)
{
    const WsSymbol *s = c->symbols->pdata[x->symbol];
    gint64 at = x->position % WS_PASS;
    gboolean in_tile = x->position >= 0 && at != WS_PASS - 1;
    g_autofree char *tile =
        in_tile ? g_strdup_printf(" in tile %" G_GINT64_FORMAT, at) : g_strdup("");
    if (ask == WS_ASK_REMAINDER)
        return g_strdup_printf("%s%s is %" G_GINT64_FORMAT " modulo %" G_GINT64_FORMAT, s->text,
                               tile, option, s->modulus);
    if (s->letter)
        return g_strdup_printf("%s%s is %s", s->text, tile, option ? "true" : "false");
    if (option == 0 && !s->bounded && x->lo == s->floor)
        return g_strdup_printf("%s%s <= %" G_GINT64_FORMAT, s->text, tile, x->lo);
    if (option == 0)
        return g_strdup_printf("%s%s = %" G_GINT64_FORMAT, s->text, tile, x->lo);
    return g_strdup_printf("%s%s > %" G_GINT64_FORMAT, s->text, tile, x->lo);
}
