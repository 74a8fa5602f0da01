/* What a recorded run is bound by. */
#pragma once

#include "advise/idle.h"

G_BEGIN_DECLS

#define WS_BOUND_RATE  0.85 /* a unit with work at its rate for this share of the time binds it */
#define WS_BOUND_CAUSE 0.05 /* a cause that idles the unit for less binds nothing */

typedef struct {
    gboolean is_unit;    /* `unit` has work at its rate for `share` of the time recorded; else: */
    WsUnit unit;         /* `unit` is idle for `share` of it while */
    guint op;            /* this step (of one of its agents) */
    WsNextReason reason; /* works, waits, or is under way; */
    gboolean together;   /* in all agents that use the unit at once */
    double share;
} WsBoundBy;

/* The unit asked about is the tensor core or, without one, the first in use. FALSE: not known. */
gboolean ws_bound_by(const WsIdle *idle, WsBoundBy *by);

G_END_DECLS
