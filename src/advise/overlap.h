/* What ran beside what: units of an SM and agents of a CTA against each other. */
#pragma once

#include "advise/idle.h"

G_BEGIN_DECLS

#define WS_OVERLAP_AGENTS 16 /* agents looked at; a matrix of more is read by nobody */

/* A unit in use, or an agent at work (on anything but a wait). */
typedef struct {
    gboolean is_unit;
    guint index;      /* WsUnit, or agent of the program */
    gint64 used;      /* cycles, over all CTAs looked at */
    gint64 recorded;  /* of how many */
    gboolean at_most; /* measured, and some of the use rests on flights whose end was not seen */
} WsOverlapThing;

typedef struct {
    gint64 both;               /* cycles in which both were in use */
    gint64 known;              /* cycles of the row's use in which the column was recorded, too */
    gint64 longest;            /* stretch of both */
    guint cta;                 /* where that is: index in the trace, */
    WsIdlePlace first, second; /* and the executions of row and column in its middle */
} WsOverlapCell;

typedef struct {
    WsTraceOrigin origin;
    GArray *thing;       /* WsOverlapThing: units, then agents */
    WsOverlapCell *cell; /* [row * thing->len + column]; the diagonal: its own use */
} WsOverlap;

/* `idle` is of the same program and trace. Transfer full. */
WsOverlap *ws_overlap_new(const WsProgram *p, const WsTrace *t, const WsMachine *m,
                          const WsIdle *idle);
void ws_overlap_free(WsOverlap *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsOverlap, ws_overlap_free)

const WsOverlapCell *ws_overlap_cell(const WsOverlap *o, guint row, guint column);
/* Of the row's time in use, the share in which the column was in use; on the diagonal, of the time
 * recorded. NAN: not known. */
double ws_overlap_share(const WsOverlap *o, guint row, guint column);

G_END_DECLS
