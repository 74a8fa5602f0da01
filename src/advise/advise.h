/* What the parts of the advice share. Private to this folder. */
#pragma once

#include "advise/candidate.h"
#include "advise/next.h"
#include "trace/bind.h"
#include "trace/let_go.h"

/* One CTA of a trace, with what is needed to ask for causes. Borrows program and trace. */
typedef struct {
    const WsProgram *p;
    const WsTrace *t;
    guint cta;
    WsBind *bind;      /* NULL: the trace is not of this program */
    GHashTable *index; /* WsTraceRecord* (key: agent, op, round) -> itself: there may be millions */
    const WsLetGo *let_go; /* of the whole trace: borrowed, given after ws_run_init(); NULL: none */
    gint64 from, to; /* what was recorded without a gap: rounds and tiles are chosen for a trace */
} WsRun;

/* Empty if the trace has no such CTA or was recorded from another program. */
void ws_run_init(WsRun *run, const WsProgram *p, const WsTrace *t, guint cta);
void ws_run_clear(WsRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WsRun, ws_run_clear)

/* What let a wait go: the contribution that came last. */
typedef struct {
    const WsTraceRecord *by; /* NULL: cannot be told; of a flag it may be of another CTA */
    gint64 at;               /* when it was over; not after the wait's end */
} WsCause;
WsCause ws_run_cause(const WsRun *run, const WsTraceRecord *wait);
/* Whether a measured wait took longer than one that has nothing to wait for. */
gboolean ws_wait_stood(const WsTrace *t, const WsTraceRecord *wait);

/* A walk back from a moment of an agent along whatever it waited for (path.c). Causes in a circle
 * (clocks of different agents within a cycle) do not stop it. */
typedef struct {
    const WsRun *run;
    GPtrArray *runs; /* WsRun* by CTA, made when asked for: the walk follows a notify to its CTA;
                        NULL: it stays, and the time before the await is its own agent's */
    GArray *pieces;  /* WsNextPiece, latest first */
    guint agent;     /* whose time is told next, up to `t` */
    gint64 t;
    const WsTraceRecord *wait; /* the last step back was over this wait; NULL: none */
    WsCause by;                /* what let it go; by.by NULL: not known */
    guint still;
} WsPath;
/* One step back: at least one cycle, or to an agent that then goes back. FALSE: at the beginning.
 */
gboolean ws_path_back(WsPath *path);

/* Judges them all: fills edit, tried, refuted, unfit of `n`. FALSE: cancelled. */
typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    const WsMachine *m;
    const WsNextOptions *options;
} WsTrial;
gboolean ws_trial_run(const WsTrial *trial, GPtrArray *candidates, WsNext *n);
void ws_next_edit_free(WsNextEdit *e);
