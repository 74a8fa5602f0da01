/* The list of events and causes. */
#include "clock/events.h"

const char *ws_cause_text(WsCauseKind kind)
{
    static const char *const text[] = {
#define WS_CAUSE(id, text) text,
#include "clock/cause.def"
#undef WS_CAUSE
    };
    return text[kind];
}

WsEvents *ws_events_new(guint most)
{
    WsEvents *e = g_new0(WsEvents, 1);
    e->most = most;
    e->event = g_array_new(FALSE, TRUE, sizeof(WsClockEvent));
    e->cause = g_array_new(FALSE, FALSE, sizeof(WsEventCause));
    e->round = g_array_new(FALSE, FALSE, sizeof(WsEventRound));
    e->pending = g_array_new(FALSE, FALSE, sizeof(WsEventCause));
    g_array_set_size(e->event, 1);
    return e;
}

void ws_events_free(WsEvents *e)
{
    if (!e)
        return;
    g_array_unref(e->event);
    g_array_unref(e->cause);
    g_array_unref(e->round);
    g_array_unref(e->pending);
    g_free(e);
}

void ws_events_cause(WsEvents *e, WsCauseKind kind, guint from, double candidate)
{
    if (!e || !from)
        return;
    const WsEventCause c = { from, kind,
                             candidate - g_array_index(e->event, WsClockEvent, from).at };
    g_array_append_val(e->pending, c);
}

guint ws_events_add(WsEvents *e, WsEventOf of, double at)
{
    if (!e)
        return 0;
    if (e->event->len > e->most) {
        e->too_many = TRUE;
        g_array_set_size(e->pending, 0);
        return 0;
    }
    const WsClockEvent event = { of, at, e->cause->len, e->pending->len };
    g_array_append_vals(e->cause, e->pending->data, e->pending->len);
    g_array_set_size(e->pending, 0);
    g_array_append_val(e->event, event);
    return e->event->len - 1;
}
