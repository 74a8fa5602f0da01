/* The port of an SM's shared memory. Products fetch their operands first; what registers read and
 * write gets the cycles that these leave, and hardly any beside products that take them all. */
#include "clock/play.h"
#include "program/parts/operation.h"

#include <math.h>

#define NOTHING 1e-6 /* what rounding may leave of cycles */
#define BEHIND  32.0 /* cycles of stores that an agent does not wait for */

void ws_port_product(WsPort *port, double begin, double end, double use, guint by)
{
    port->span[port->n++ % WS_PORT_SPANS] = (WsPortSpan){ begin, end, use, by };
}

/* The last product that began by then and is not over; NULL: none. `until`: as long as that holds.
 */
static const WsPortSpan *span_at(const WsPort *port, double at, double *until)
{
    const guint first = port->n > WS_PORT_SPANS ? port->n - WS_PORT_SPANS : 0;
    *until = INFINITY;
    for (guint i = port->n; i-- > first;) {
        const WsPortSpan *s = &port->span[i % WS_PORT_SPANS];
        if (s->end <= at)
            break;
        *until = s->begin > at ? s->begin : s->end;
        if (s->begin <= at)
            return s;
    }
    return NULL;
}

/* Goes on with what is left of an agent's cycles at the port until they are over, or until products
 * leave another share of it. FALSE: some are left. */
static gboolean go_on(WsClockPlay *play, WsPlayer *a, double enough)
{
    WsSm *sm = &a->sms[a->rank];
    double until;
    const WsPortSpan *span = span_at(&sm->port, a->now, &until);
    const double least = play->m->value[WS_MACHINE_SMEM_BESIDE];
    const double rate = span ? MAX(1 - span->use, least) : 1;
    const double end = MIN(until, a->now + a->left / rate);
    ws_clock_because_order(play, a, span && end == until ? a->now : end);
    if (span && end == until)
        ws_clock_because(play, WS_CAUSE_SHARED, span->by, end);
    a->left -= (end - a->now) * rate;
    if (a->left < NOTHING)
        a->left = 0;
    a->now = end;
    ws_clock_goes_on(play, a);
    sm->smem.free = MAX(sm->smem.free, end);
    sm->smem.by = a->event;
    a->part++;
    return a->left <= enough;
}

/* Behind what others have had of the port so far. */
static void begin(WsClockPlay *play, WsPlayer *a, double cycles)
{
    WsSm *sm = &a->sms[a->rank];
    a->left = cycles;
    sm->smem.busy += cycles;
    ws_clock_because_order(play, a, a->now);
    ws_clock_because(play, WS_CAUSE_SHARED, sm->smem.by, sm->smem.free);
    a->now = MAX(a->now, sm->smem.free);
    ws_clock_goes_on(play, a);
}

WsClockMove ws_port_load(WsClockPlay *play, WsPlayer *a, const WsWork *w)
{
    if (a->part == 0)
        begin(play, a, w->smem);
    if (!go_on(play, a, 0))
        return WS_MOVE_AGAIN;
    a->now += ws_clock_own(play, a, w->latency);
    return WS_MOVE_NEXT;
}

WsClockMove ws_port_store(WsClockPlay *play, WsPlayer *a, const WsWork *w)
{
    if (a->part == 0) {
        WsUnit *alu = &a->sms[a->rank].alu;
        a->now = ws_clock_serve_for(play, a, alu, WS_CAUSE_ALU, a->now, w->alu);
        ws_clock_because(play, WS_CAUSE_ALU, alu->by, a->now);
        ws_clock_goes_on(play, a);
        begin(play, a, w->smem);
    }
    if (!go_on(play, a, BEHIND))
        return WS_MOVE_AGAIN;
    const double written = a->now + a->left + play->m->value[WS_MACHINE_SMEM_LATENCY];
    if (written >= a->stored)
        a->stored_by = a->event;
    a->stored = MAX(a->stored, written);
    return WS_MOVE_NEXT;
}
