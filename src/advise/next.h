/* The lens of advice: where the time of a run goes, which edge is exposed, and which edit would
 * gain most. Edges and path are read from a trace, predicted or measured; every proposed edit is
 * elaborated, checked and timed again, so a gain is a difference of two predictions and never an
 * estimate. Pure functions of immutable inputs: may run in any thread. */
#pragma once

#include "check/check.h"
#include "clock/clock.h"

G_BEGIN_DECLS

/* A dependence between two steps of one CTA and what its waiter stood still for it. */
typedef struct {
    guint from_op;  /* WsOp.index of the step waited for; G_MAXUINT: cannot be told */
    guint to_op;    /* the wait; or for mma_wait, store_wait: that wait */
    gint barrier;   /* -1: a queue of its own (mma, bulk stores) */
    gint64 count;   /* executions in which the waiter stood */
    gint64 exposed; /* cycles, of all executions in the trace's CTA */
    double share;   /* exposed / cycles of the CTA in the trace */
} WsNextEdge;

typedef enum {
    WS_NEXT_WORK,   /* the agent itself: issue, arithmetic, loop */
    WS_NEXT_WAIT,   /* from the event awaited to the return of the wait */
    WS_NEXT_FLIGHT, /* a copy or product under way, begun by this agent */
} WsNextReason;
const char *ws_next_reason_text(WsNextReason reason); /* "work" */

/* An execution. op G_MAXUINT: none. */
typedef struct {
    guint agent, op;
    gint32 tile, round;
    guint cta; /* index into the trace's CTAs */
} WsIdlePlace;

/* One piece of the critical path of a CTA. Pieces follow each other without gap, in order of time;
 * of devices they lead to other CTAs, where those let an await go. */
typedef struct {
    guint cta; /* index into the trace's CTAs */
    guint agent, op;
    gint32 tile, round;
    gint64 from, to; /* cycles of the trace */
    WsNextReason reason;
    gint waits_for;     /* WAIT: the other device whose notify let it go; -1: none, or not known */
    WsIdlePlace notify; /* that one */
} WsNextPiece;

/* Pieces of one kind together: what the path consists of. */
typedef struct {
    guint cta, agent, op;
    WsNextReason reason;
    guint count;
    gint64 cycles;
    double share; /* of the path */
} WsNextPart;

typedef struct {
    char *title; /* "Ring of a: 5 stages instead of 4" */
    char *words; /* the same as a phrase */
    char *why; /* phrase: "wait full in mma.0 stalls 9.1 % of the time, then 2.0 %"; may be NULL */
    GPtrArray *edits;                   /* WsEdit*, in order: what ws_document_commit_edits takes */
    char *step;                         /* id of the step or object to show */
    gint64 cycles_before, cycles_after; /* predicted, whole launch */
    double gain;                        /* cycles_before / cycles_after - 1 */
    gboolean proved; /* the check proves the edited design; else it could only be played */
} WsNextEdit;

typedef struct {
    WsClockResult *predicted; /* of the design as it is; `bound` names the bound */
    GArray *edge;             /* WsNextEdge, largest exposed first: of the measured run if given */
    GArray *path;    /* WsNextPiece, of the measured run if given, else of the prediction */
    GArray *part;    /* WsNextPart, largest first: of the same path */
    GPtrArray *edit; /* WsNextEdit*, largest gain first; only those that gain and hold */
    guint tried, refuted, unfit; /* candidates; that the check refutes; that do not elaborate */
    char *note;                  /* what was left out, for people */
} WsNext;

typedef struct {
    guint max_edits;    /* listed; 0: 8 */
    guint max_tried;    /* candidates timed; 0: 200 */
    gboolean no_edits;  /* edges and path only: a few milliseconds */
    guint cta;          /* index of the trace's CTA that is looked at */
    const gint *cancel; /* set to 1 by another thread: ends within a few ms, NULL returned */
} WsNextOptions;

/* `p` is `design` with `set` applied, `v` its launch. `measured` may be NULL. NULL with a finding
 * if the clock cannot play it. */
WsNext *ws_next_new(const WsDesign *design, const WsSetting *set, guint n_set, const WsProgram *p,
                    const WsLaunchValues *v, const WsMachine *m, const WsTrace *measured,
                    const WsNextOptions *options, WsFindings *findings);
void ws_next_free(WsNext *n);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsNext, ws_next_free)

/* Edges and path of one CTA of a trace alone. Transfer full; empty if the trace has no such CTA. */
GArray *ws_next_edges(const WsProgram *p, const WsTrace *t, guint cta); /* WsNextEdge */
GArray *ws_next_path(const WsProgram *p, const WsTrace *t, guint cta);  /* WsNextPiece */
GArray *ws_next_parts(const GArray *path);                              /* WsNextPart */

/* For people; caller frees. */
char *ws_next_text(const WsNext *n, const WsProgram *p, const WsTrace *measured);
char *ws_next_json(const WsNext *n, const WsProgram *p);

G_END_DECLS
