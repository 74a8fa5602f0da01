/* One instance that runs, and what its operations do to a state (docs/soundness.md sections 2 to
 * 4). */
#pragma once

#include "verify/know.h"

G_BEGIN_DECLS

typedef enum { STUCK, MOVED } Move;

typedef struct {
    Plan *plan;
    State *s;
    guint i, agent, cta; /* the running instance */
    Instance *x;
    const WsOp *op;
    gboolean leader;
    Set need;
} Run;

/* The first thing that is wrong ends the verification: a rule that is broken, or what is not
 * handled. */
void broken(Run *r, const char *rule, const char *what);
void refuse(Run *r, const char *what);
gboolean is_async(const WsOp *op);
void meet_lanes(Run *r);
Move meet_warps(Run *r);
void release(Run *r, guint to);
void acquire(Run *r, guint from);
/* One access in one CTA, judged, then made. `by`: who knows when it is over; `flight`: it is over
 * with this group (State.flight); `to`: the CTA of a copy. */
void touch(Run *r, guint k, guint cta, guint to, const Set *by, guint16 flight);
/* All accesses of an operation by itself, reads first. */
void touch_all(Run *r, const Set *by, guint16 flight);
Move touch_values(Run *r);
Move math(Run *r);
/* Items of its newest group, which is opened. */
guint16 open_group(Run *r, WsQueue q);
/* What is over with the oldest n groups is known to these. */
void end_groups(Run *r, WsQueue q, guint n, const Set *to);
Move commit(Run *r);
Move retire(Run *r);
Move product(Run *r);
Move named(Run *r);
Move cluster(Run *r);
/* Operations on mbarriers. */
Move at_slots(Run *r);

G_END_DECLS
