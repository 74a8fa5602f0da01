/* The steady round of a design: how long it takes, because of which cycle, and what may take longer
 * without harm. From the events that the clock wrote down (clock/events.h), and nothing else. */
#pragma once

#include "base/json_out.h"
#include "clock/clock.h"

G_BEGIN_DECLS

typedef enum {
    WS_STEADY_EXACT,   /* the rounds looked at repeat with the same durations: the period is the
                          maximum cycle ratio, for as long as rounds go on like that. Another order
                          at a unit, which a later round may bring, is another graph. */
    WS_STEADY_BETWEEN, /* they repeat, and durations drift: between the ratios of the least and of
                          the largest seen in three periods; later rounds may drift on */
    WS_STEADY_ASSUMED, /* they repeat as the clock assumes of them what data decide, or what it does
                          not time: `why` */
    WS_STEADY_PLAYED,  /* they do not repeat in what was played: a mean of what was */
    WS_STEADY_NONE     /* nothing is known: `why` */
} WsSteadyKind;
const char *ws_steady_text(WsSteadyKind kind); /* "exact" */

typedef struct {
    WsEventOf from, to;
    WsCauseKind kind;
    double weight; /* cycles, at least: the largest seen */
    gint tokens;   /* periods between them */
    double slack; /* cycles that it alone may take longer before the period does; INFINITY: it is on
                     no cycle. Until then what waits for it does not wait differently. */
} WsSteadyEdge;

typedef struct {
    WsSteadyKind kind;
    const char *why;          /* NONE, ASSUMED: static; else NULL */
    const char *agent, *loop; /* whose rounds; borrowed of the program; NULL: none */
    guint rounds;             /* of it in one period */
    double period;            /* cycles of one round */
    double least, most;       /* BETWEEN, ASSUMED: it is between these; else both are `period` */
    double played;            /* mean distance of the rounds looked at, as played */
    gboolean settled;         /* every event of them came one period after the same one before: the
                                 state repeats. Those looked at are of the last tile with as many
                                 rounds as any; another tile may settle into another order. */
    /* EXACT, BETWEEN and ASSUMED. Cycles of a round: without a unit's limits; of the busiest unit
     * alone. */
    double recurrence, resource;
    WsCauseKind unit; /* that one */
    GArray *edge;     /* WsSteadyEdge */
    GArray *cycle;    /* guint: edges of a critical cycle, in order */
} WsSteady;

/* `r` is a play of `p` with `events`. Transfer full, never NULL. */
WsSteady *ws_steady_new(const WsProgram *p, const WsClockResult *r);
void ws_steady_free(WsSteady *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsSteady, ws_steady_free)

/* Members of the open object: --json of `warpstave simulate --critical`. */
void ws_steady_json(WsJsonOut *j, const WsSteady *s, const WsProgram *p);
char *ws_steady_report(const WsSteady *s, const WsProgram *p); /* for people; caller frees */

G_END_DECLS
