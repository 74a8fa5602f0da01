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
void meet_warps(Run *r);
void release(Run *r, guint to);
void acquire(Run *r, guint from);
/* One access in one CTA, judged, then made. `by`: who knows when it is over; `group`: it is over
 * with it; `to`: the CTA of a copy. */
void touch(Run *r, guint k, guint cta, guint to, const Set *by, Group *group);
/* All accesses of an operation by itself, reads first. */
void touch_all(Run *r, const Set *by, Group *group);
void touch_values(Run *r);
void math(Run *r);
Group *open_group(Run *r, WsQueue q);
void close_group(Run *r, WsQueue q);
void retire(Run *r, WsQueue q);
Move product(Run *r);
Move named(Run *r);
Move cluster(Run *r);
/* Operations on mbarriers. */
Move at_slots(Run *r);

G_END_DECLS
