/* Gates of a forced order (program/hold.h): threads stand aside until the clock has come to them.
 */
#include "codegen/rehearse/host.h"

#define PATIENCE 200000u /* turns of one thread before its gate gives up */

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
    guint turn = 0;
    (void)clock;
    if (need == G_MAXUINT32)
        return;
    for (; h->clock < need && turn < PATIENCE; turn++)
        ws_fiber_yield(t->fiber);
    h->gave_up |= turn == PATIENCE;
    for (; settle && in_flight(h) && turn < 2 * PATIENCE; turn++)
        ws_fiber_yield(t->fiber);
}

/* The last thread of the agent sets the clock: then all of it has done the move. */
void wsh_hold_set(guint64 clock, guint32 value, guint64 counter, guint32 warps)
{
    WsHostThread *t = ws_host_me();
    WsHost *h = ws_host;
    guint *come = &t->cta->come[t->agent < 0 ? 0 : (guint)t->agent % WS_HOST_AGENTS];
    (void)clock, (void)counter;
    if (value == G_MAXUINT32)
        return;
    if (warps && ++*come < warps * 32)
        return;
    *come = 0;
    h->clock = MAX(h->clock, value);
}
