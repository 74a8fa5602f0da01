/* Gates of a forced order (program/hold.h): threads stand aside until the clock has come to them.
 */
#include "codegen/rehearse/host.h"

/* To settle is to let everything that works beside the threads touch shared memory. */
static gboolean in_flight(const WsHost *h)
{
    for (guint i = 0; i < h->later->len; i++)
        if (((const WsHostLater *)h->later->pdata[i])->kind != WS_HOST_STORE_WRITE)
            return TRUE;
    return FALSE;
}

void wsh_hold_wait(guint64 clock, guint32 need, guint32 settle)
{
    WsHostThread *t = ws_host_me();
    WsHost *h = ws_host;
    if (need == G_MAXUINT32)
        return;
    t->need = need;
    while (h->clock < t->need)
        ws_host_block(t, WS_HOST_WAIT_GATE, h->gated);
    while (settle && in_flight(h))
        ws_host_block(t, WS_HOST_WAIT_GATE, h->settling);
}

void ws_host_settled(WsHost *h)
{
    if (h->settling->len && !in_flight(h))
        ws_host_wake_all(h->settling);
}

/* Nothing else can move: the gates that are next in the order go on although their turn has not
 * come. */
gboolean ws_host_give_up(WsHost *h)
{
    guint32 least = G_MAXUINT32;
    if (!h->gated->len)
        return FALSE;
    for (guint i = 0; i < h->gated->len; i++)
        least = MIN(least, ((const WsHostThread *)h->gated->pdata[i])->need);
    for (guint i = 0; i < h->gated->len; i++) {
        WsHostThread *t = h->gated->pdata[i];
        if (t->need == least)
            t->need = 0;
    }
    h->gave_up = TRUE;
    ws_host_wake_all(h->gated);
    return TRUE;
}

/* The last thread of the agent sets the clock: then all of it has done the move. */
void wsh_hold_set(guint64 clock, guint32 value, guint64 counter, guint32 warps)
{
    WsHostThread *t = ws_host_me();
    WsHost *h = ws_host;
    guint *come = &t->cta->come[t->agent < 0 ? 0 : (guint)t->agent % WS_HOST_AGENTS];
    if (value == G_MAXUINT32)
        return;
    if (warps && ++*come < warps * 32)
        return;
    *come = 0;
    if (value <= h->clock)
        return;
    h->clock = value;
    ws_host_wake_all(h->gated);
}
