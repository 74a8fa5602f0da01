/* Why everything happened when it did: the events of a play, each with what it had to come after.
 * An event is at the latest of (time of a cause + weight) over its causes: of all that the play
 * compared, not only of the one that decided. Causes stand before what they cause. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
#define WS_CAUSE(id, text) WS_CAUSE_##id,
#include "clock/cause.def"
#undef WS_CAUSE
    WS_CAUSE_COUNT
} WsCauseKind;
const char *ws_cause_text(WsCauseKind kind); /* "order" */

typedef struct {
    guint32 from; /* index of an event */
    WsCauseKind kind;
    double weight; /* cycles from it, at least; may be negative (a path that lets bursts pass) */
} WsEventCause;

/* What the event is of: the same for all its executions. */
typedef struct {
    gint32 agent; /* of the program; -1: the end of a phase of a barrier */
    guint32 cta;
    guint32 op;   /* index of the operation; of a phase: of the barrier, or n_barriers: of all */
    guint32 part; /* slice of the operation; of a phase: element of the barrier */
    guint32 sub;  /* 0: the agent goes on; else which unit ended */
} WsEventOf;

typedef struct {
    WsEventOf of;
    double at;
    guint32 first, n; /* its causes */
} WsClockEvent;

/* A round of a loop began (first CTA). */
typedef struct {
    guint agent;
    const void *loop; /* WsTree of the program */
    double at;
    gboolean follows; /* the round before it of the same execution of the loop */
} WsEventRound;

typedef struct {
    GArray *event;     /* WsClockEvent; number 0 is none */
    GArray *cause;     /* WsEventCause */
    GArray *round;     /* WsEventRound */
    GArray *pending;   /* WsEventCause: of the next event */
    guint most;        /* of `event` */
    gboolean too_many; /* there were more: the play went on without writing down */
} WsEvents;

WsEvents *ws_events_new(guint most);
void ws_events_free(WsEvents *e);

/* The next event is not before `candidate`, because of the event `from`; 0 is none. */
void ws_events_cause(WsEvents *e, WsCauseKind kind, guint from, double candidate);
/* The event with the causes given since the last one; its number. */
guint ws_events_add(WsEvents *e, WsEventOf of, double at);

G_END_DECLS
