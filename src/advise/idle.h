/* Where the units of an SM stand idle, and why: of one trace, predicted or measured.
 *
 * A unit is in use while an execution of a step that needs it is in flight. The cause of a gap is
 * the chain of what happened from the end of the gap backwards: the agent that uses the unit next,
 * what it did or waited for until then, whatever let that wait go, and so on to the gap's
 * beginning. Every cycle of a gap belongs to one piece of its chain.
 *
 * Measured: the end of a flight is known as the moment at which its wait returned. Gaps are then
 * at least as long as they are said to be; `rated` says how long the unit must have worked at
 * least. What lies between is not known. A wait that came too late to stand says only that the
 * flight was over by then: such a flight is in use at most, and not for sure. */
#pragma once

#include "advise/next.h"
#include "base/json_out.h"

G_BEGIN_DECLS

typedef enum { WS_UNIT_TENSOR, WS_UNIT_MUFU, WS_UNIT_LOAD, WS_UNIT_STORE, WS_UNITS } WsUnit;
const char *ws_unit_text(WsUnit unit); /* "tensor core" */

#define WS_IDLE_SHORT 32 /* cycles; shorter gaps count, but nobody needs to visit them */

/* Cycles of the trace; spans of a list are ascending and apart. */
typedef struct {
    gint64 from, to;
    gint64 before; /* cycles in use before this span */
} WsIdleSpan;

typedef struct {
    WsUnit unit;
    gint64 from, to;
    double share;              /* of the unit's time recorded of this CTA */
    WsIdlePlace next;          /* who uses the unit next */
    WsIdlePlace waiter;        /* the longest wait of its chain; none: nobody waited */
    WsIdlePlace release;       /* what let that wait go */
    gint64 waited;             /* cycles that this wait stood still inside the gap */
    guint first_piece, pieces; /* its chain in WsIdleCta.piece, in order of time; 0: not known */
    guint cause;               /* in WsIdle.cause: what most of the gap goes to; G_MAXUINT none */
} WsIdleGap;

/* Rounds and tiles are chosen for a trace: where an agent that uses a unit was not recorded,
 * nothing is known of the unit, and there is neither use nor gap. */
typedef struct {
    guint cta;                  /* index in the trace's CTAs */
    GArray *recorded[WS_UNITS]; /* WsIdleSpan: from a use to a use, without a hole between */
    GArray *busy[WS_UNITS];     /* WsIdleSpan: in use; measured: at most */
    GArray *sure[WS_UNITS];     /* WsIdleSpan, in `busy`: in use for sure */
    GArray *gap[WS_UNITS];      /* WsIdleGap, ascending */
    GArray *piece;              /* WsNextPiece */
    guint executions[WS_UNITS];
    gint64 cycles[WS_UNITS];  /* recorded */
    gint64 used[WS_UNITS];    /* cycles in use */
    gint64 certain[WS_UNITS]; /* of them, cycles of `sure` */
    double rated[WS_UNITS]; /* cycles that the executions need at the unit's rate; NAN: the rate is
                               not known */
    double flops; /* of the products: a multiplication and an addition each; 0 not known */
} WsIdleCta;

/* All gaps of a unit in which the same step does (or waits for) the same. */
typedef struct {
    WsUnit unit;
    guint op; /* of the step, of one of its agents */
    WsNextReason reason;
    gint waits_for; /* another device whose notify it waits for; -1: none, or not known */
    guint gaps;
    gint64 cycles;               /* of all CTAs looked at */
    double share;                /* of the time recorded of them */
    gint64 together;             /* cycles in which all other agents that use the unit worked too */
    WsIdlePlace waiter, release; /* of the gap that it has most cycles of */
    guint cta, gap;              /* that gap: index in WsIdle.cta, and in its `gap` of the unit */
    gint64 most;                 /* and those cycles */
} WsIdleCause;

typedef struct {
    WsTraceOrigin origin;
    GPtrArray *cta;          /* WsIdleCta* */
    GArray *cause;           /* WsIdleCause, by unit, most cycles first */
    gint64 cycles[WS_UNITS]; /* recorded, of all CTAs looked at */
    double idle[WS_UNITS];   /* shares of them; measured: at least */
    double most[WS_UNITS]; /* idle at most: the rest was in use for sure, or had work at its rate */
    double rated[WS_UNITS]; /* NAN unknown; measured: in use at least */
    gboolean uses[WS_UNITS];
    double flops; /* of all products recorded, in cycles[WS_UNIT_TENSOR]; 0 not known */
} WsIdle;

/* Of all CTAs of the trace (at most WS_IDLE_CTAS); `m` says the rates of units, NULL: not known. A
 * trace of another program has gaps without causes. NULL where it is not known what stands between
 * two records (ws_trace_between_unknown). Transfer full. */
#define WS_IDLE_CTAS 160
WsIdle *ws_idle_new(const WsProgram *p, const WsTrace *t, const WsMachine *m);
void ws_idle_free(WsIdle *idle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsIdle, ws_idle_free)

/* The share that a CTA's unit was idle at most, as WsIdle.most. */
double ws_idle_most(const WsIdleCta *c, WsUnit unit);
/* Most of what is known of the unit's use rests on flights whose end was not seen. */
gboolean ws_idle_unseen(double idle, double most);
const WsIdleCta *ws_idle_cta(const WsIdle *idle, guint cta); /* by index in the trace; or NULL */
/* Cycles of [from, to) in which the unit was in use; and for sure. */
gint64 ws_idle_used(const WsIdleCta *c, WsUnit unit, gint64 from, gint64 to);
gint64 ws_idle_certain(const WsIdleCta *c, WsUnit unit, gint64 from, gint64 to);
/* Index of the gap at a time or, none there, of the first one after it; gaps->len: none. */
guint ws_idle_gap_from(const WsIdleCta *c, WsUnit unit, gint64 time);
/* The same cause in another trace of the program; NULL: it is none there. */
const WsIdleCause *ws_idle_same(const WsIdle *idle, const WsProgram *p, const WsIdleCause *cause);
gboolean ws_idle_together(const WsIdleCause *cause); /* most of it is */

/* Of each cause of a predicted `idle` of `p`, in its order: of the edits of `n` (made from
 * `design`, with these WsSize or NULL) that lower its share by a third the one that gains most,
 * played with a trace of its own. Transfer full. */
typedef struct {
    WsUnit unit;
    guint op;
    WsNextReason reason;
    guint edit;           /* in n->edit; G_MAXUINT: none lowers it so far, and 0.2 % of the time */
    double before, after; /* its share, predicted; of all steps with this text */
} WsIdleEdit;
GArray *ws_idle_edits(const WsIdle *idle, const WsNext *n, const WsDesign *design,
                      const WsProgram *p, const GArray *sizes, const WsMachine *m,
                      const gint *cancel);

/* A few lines for people, and members of an object of JSON (array "units"). */
char *ws_idle_text(const WsIdle *idle, const WsProgram *p);
void ws_idle_json(WsJsonOut *j, const WsIdle *idle, const WsProgram *p);

G_END_DECLS
