/* Questions of the proof and their answers. */
#include "check/prove.h"

static gint64 remainder_for(const WsControl *c, const WsInstance *x)
{
    const WsSymbol *s = c->symbols->pdata[x->symbol];
    if (!s->ring)
        return -1;
    return ws_control_find(c, x->symbol, s->run ? -2 : x->position, x->rank, 0)->remainder;
}

guint ws_control_options(const WsControl *c, const WsControlInst *ci, gint64 *option, guint max)
{
    guint n = 0;
    WsInstance x = g_array_index(c->instance, WsInstance, ci->ask_instance);
    if (ci->ask == WS_ASK_REMAINDER) {
        gint64 m = ((const WsSymbol *)c->symbols->pdata[x.symbol])->modulus;
        for (gint64 r = 0; r < m && n < max; r++)
            option[n++] = r;
        return n;
    }
    gint64 r = remainder_for(c, &x);
    if (r < 0 ||
        ws_control_mod(x.lo, ((const WsSymbol *)c->symbols->pdata[x.symbol])->modulus) == r)
        option[n++] = 0;
    option[n++] = 1;
    return n;
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
        x->exact = s->letter;
        return;
    }
    x->exact = TRUE;
    if (s->ring && s->run) { /* all tiles have this remainder from now on */
        gint64 lo = x->lo;
        WsInstance *r = ws_control_find(c, x->symbol, -2, x->rank, 0);
        r->remainder = ws_control_mod(lo, s->modulus);
    }
}

char *ws_control_question(const WsControl *c, WsAsk ask, const WsInstance *x, gint64 option)
{
    const WsSymbol *s = c->symbols->pdata[x->symbol];
    g_autofree char *tile = x->position >= 0
                                ? g_strdup_printf(" in tile %" G_GINT64_FORMAT, x->position)
                                : g_strdup("");
    if (ask == WS_ASK_REMAINDER)
        return g_strdup_printf("%s%s is %" G_GINT64_FORMAT " modulo %" G_GINT64_FORMAT, s->text,
                               tile, option, s->modulus);
    if (s->letter)
        return g_strdup_printf("%s%s is %s", s->text, tile, option ? "true" : "false");
    if (option == 0)
        return g_strdup_printf("%s%s = %" G_GINT64_FORMAT, s->text, tile, x->lo);
    return g_strdup_printf("%s%s > %" G_GINT64_FORMAT, s->text, tile, x->lo);
}

gint64 ws_control_time(const WsPlay *play, gint symbol, gint64 position)
{
    const WsControl *c = play->control;
    gint64 least = G_MAXINT64;
    for (guint i = 0; i < play->n_inst; i++) {
        const WsControlInst *ci = &c->inst[i];
        if (play->inst[i].state == WS_INST_DONE || ci->position > position)
            continue;
        for (guint k = 0; k < c->site[play->inst[i].agent]->len; k++)
            if (g_array_index(c->site[play->inst[i].agent], WsSite, k).form->symbol == symbol) {
                least = MIN(least, ci->position == position ? ci->begun[symbol] : 0);
                break;
            }
    }
    return least;
}

void ws_control_forget(WsPlay *play)
{
    WsControl *c = play->control;
    gint64 first = WS_FAR;
    for (guint i = 0; i < play->n_inst; i++)
        if (play->inst[i].state != WS_INST_DONE)
            first = MIN(first, MAX(c->inst[i].position, 0));
    guint n = 0;
    for (guint i = 0; i < c->instance->len; i++) {
        WsInstance x = g_array_index(c->instance, WsInstance, i);
        if (x.position >= 0 && x.position < first)
            continue;
        const WsSymbol *s = c->symbols->pdata[x.symbol];
        if (s->split && x.position != -2 && !(s->ring && x.time == 0) &&
            x.time < ws_control_time(play, x.symbol, x.position))
            continue;
        for (guint k = 0; k < play->n_inst; k++) /* questions name instances by number */
            if (c->inst[k].ask != WS_ASK_NONE && c->inst[k].ask_instance == i)
                c->inst[k].ask_instance = n;
        g_array_index(c->instance, WsInstance, n++) = x;
    }
    g_array_set_size(c->instance, n);
}
