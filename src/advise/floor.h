/* A floor under the time of a launch: what a unit has to do at its rate, whatever the order of the
 * steps. */
#pragma once

#include "clock/clock.h"

G_BEGIN_DECLS

typedef struct {
    gint64 cycles;    /* of the busiest SM, at least; 0: not known */
    const char *unit; /* "tensor pipe", "MUFU"; static */
} WsFloor;

/* Of the work of all tiles, each counted with its own rounds, some SM has at least its share, and
 * at least as many tiles as there are for each SM. Holds for every schedule of the same products
 * and functions on tiles of this size on this machine: a unit does one after the other, at no more
 * than its rate. Not known where more than `most` operations would be walked (0: 20 million; of
 * tiles that have the same work one is, and of agents those that have any), or data decide the
 * tiles. */
WsFloor ws_floor_of(const WsProgram *p, const WsLaunchValues *v, const WsMachine *m, gint64 most);

/* The loop with products that has most rounds: what one takes, and the least that it can. */
typedef struct {
    const char *agent, *loop; /* borrowed of the program; NULL: there is none */
    double period;            /* cycles from round to round, as played */
    double least;             /* cycles that `unit` works for a round of all replicas */
    const char *unit;
} WsRound;

/* `r` is a play of `p`. Branches and loops inside of the round count for nothing. */
WsRound ws_round_of(const WsProgram *p, const WsClockResult *r, const WsMachine *m);

G_END_DECLS
