/* Writes down why: causes and events of a play. Nothing here changes a time. */
#include "clock/play.h"
#include "program/parts/operation.h"

void ws_clock_because(WsClockPlay *play, WsCauseKind kind, guint from, double candidate)
{
    ws_events_cause(play->events, kind, from, candidate);
}

void ws_clock_because_order(WsClockPlay *play, const WsPlayer *a, double candidate)
{
    ws_events_cause(play->events, WS_CAUSE_ORDER, a->event, candidate);
}

void ws_clock_goes_on(WsClockPlay *play, WsPlayer *a)
{
    if (play->events)
        a->event = ws_events_add(
            play->events, (WsEventOf){ (gint32)a->agent, a->cta, a->step.op->index, a->part, 0 },
            a->now);
}

guint ws_clock_ends(WsClockPlay *play, const WsPlayer *a, WsCauseKind unit, double at)
{
    return ws_events_add(
        play->events, (WsEventOf){ (gint32)a->agent, a->cta, a->step.op->index, a->part, 1 + unit },
        at);
}

double ws_clock_serve_for(WsClockPlay *play, const WsPlayer *a, WsUnit *u, WsCauseKind unit,
                          double at, double cycles)
{
    ws_clock_because_order(play, a, at + cycles);
    ws_clock_because(play, unit, u->by, u->free + cycles);
    ws_clock_serve(u, at, cycles);
    u->by = ws_clock_ends(play, a, unit, u->free);
    return u->free;
}

void ws_clock_contribute(WsClockPlay *play, GArray *from, WsCauseKind kind, guint by, double at)
{
    const WsContribution c = { kind, by, at };
    if (play->events && by)
        g_array_append_val(from, c);
}

guint ws_clock_phase(WsClockPlay *play, GArray *from, WsEventOf of, double at)
{
    if (!play->events)
        return 0;
    for (guint i = 0; i < from->len; i++) {
        const WsContribution *c = &g_array_index(from, WsContribution, i);
        ws_events_cause(play->events, c->kind, c->by, c->at);
    }
    g_array_set_size(from, 0);
    return ws_events_add(play->events, of, at);
}
