/* What a wait for groups retires. */
#pragma once

#include "program/parts/operation.h"

G_BEGIN_DECLS

/* What a wait for groups (MMA_WAIT, BULK_WAIT, CP_WAIT) finds, over all paths that lead to it
 * (flight.c). A branch whose condition is no constant goes both ways; a loop whose count is no
 * positive constant may make no round. */
struct WsRetired {
    const WsOp *op;   /* MMA, TMA_STORE, CP_ROWS */
    gboolean by_path; /* not there on every path, or a later one of its kind stays in flight */
};
struct WsWait {
    guint n_retired;
    WsRetired *retired; /* oldest first */
    /* Steps in the newest n groups, which stay in flight: at most; -1: paths that leave something
     * behind the newest n differ in it. */
    gint64 stay;
    /* Steps in them on every path that leaves something behind them: a wait for all but the newest
     * `least` steps waits for no less. */
    gint64 least;
    /* CP_WAIT: bytes of the newest n groups, on the path with the fewest that leaves something
     * behind them; -1: no path does. */
    gint64 stay_bytes;
    /* MMA_WAIT: registers of no product any more, on some path; whole values where no part of them
     * stays in use. mode READ | WRITE: an accumulator, READ: an operand. row0, col0 are literals.
     */
    guint n_freed;
    WsValueUse *freed;
};

G_END_DECLS
