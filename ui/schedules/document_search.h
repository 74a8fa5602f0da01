/* The search for faster schedules (search/search.h) of the document's design: a thread works on the
 * design as it was when the search began, whatever is edited meanwhile. What it lists is proved,
 * all of it; what stands at the front is assembled and rehearsed before (schedule_judge.h); times
 * are predicted. */
#pragma once

#include "ui/document/document.h"
#include "ui/schedules/schedule_judge.h"

G_BEGIN_DECLS

/* A design that was proved. The document's until its next "searched". */
typedef struct {
    WsDesign *design;
    GPtrArray *words;  /* char*: the edits in order, phrases; none: the design as it is */
    GArray *after;     /* gint64: cycles predicted after each of them */
    gint64 cycles;     /* predicted, whole launch */
    gint64 shared;     /* bytes of shared memory of a CTA */
    gint64 registers;  /* of a CTA, as planned */
    gboolean reorders; /* what computes was moved: the check says nothing of values */
    WsScheduleJudged judged;
    char hash[65]; /* WsProgram.design_hash: by which the history of runs knows it */
} WsScheduleFound;

typedef struct {
    WsDesign *of; /* design that was searched from; NULL: nothing was */
    gboolean running;
    guint tried;      /* edits so far */
    gboolean stopped; /* by its budget or by hand: edits were left */
    double seconds;   /* of the processor, once it is over */
    char *why;        /* phrase: why there is no search of this design; NULL */
} WsSearchState;

/* Begins anew; FALSE: there is no program to begin from. `seconds` of one processor. */
gboolean ws_document_search(WsDocument *d, double seconds);
void ws_document_search_stop(WsDocument *d); /* what was found stays */
const WsSearchState *ws_document_search_state(WsDocument *d);
/* WsScheduleFound*, in the order of being proved; the first is the design as it is. Borrowed, NULL:
 * nothing yet. */
const GPtrArray *ws_document_schedules(WsDocument *d);
/* How many were left out by ptxas or by their values; whether one is asked about now. */
guint ws_document_schedules_out(WsDocument *d);
gboolean ws_document_schedules_judging(WsDocument *d);
/* Which of those that hold nothing else beats in cycles, shared memory and registers, or, as far as
 * the clock can tell cycles, with a third fewer edits; fastest first, as indices (guint), and never
 * the design as it is. Free with g_array_unref. */
GArray *ws_document_schedule_front(WsDocument *d);
/* Whether they are of the design that is edited now: undone edits count for nothing. */
gboolean ws_document_schedules_fit(WsDocument *d);
/* One undoable step; FALSE with an error where the design was edited since, or it was not found to
 * hold. */
gboolean ws_document_take_schedule(WsDocument *d, guint i, GError **error);

G_END_DECLS
