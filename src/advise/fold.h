/* Events of a play folded into the graph of one period. Private to src/advise. */
#pragma once

#include "clock/events.h"
#include "program/forward.h"

G_BEGIN_DECLS

typedef struct {
    guint from, to; /* nodes */
    WsCauseKind kind;
    double least, most; /* weight, of three periods */
    gint tokens;
} WsFoldArc;

typedef struct {
    guint n;                        /* nodes */
    GArray *of;                     /* WsEventOf by node */
    GArray *arc;                    /* WsFoldArc */
    double shift_least, shift_most; /* distance of an event from the same one a period before */
    guint *id;                      /* by event: what it is of */
    guint *number;                  /* by event: which execution of it */
    guint n_ids;
    GArray **events; /* by id: guint, its events in order */
} WsFold;

WsFold *ws_fold_new(const WsEvents *e);
void ws_fold_free(WsFold *f);
/* Folds three periods that begin at time[0], time[1], time[2] and end at time[3]: each has the same
 * events with the same causes, so many periods before them. FALSE: not so. */
gboolean ws_fold_try(WsFold *f, const WsEvents *e, const double time[4]);

/* What the clock assumes of the rounds of loops over tiles, or of counted ones: that data decide
 * it, or that it has no time. Static; NULL: nothing (assumed.c). */
const char *ws_fold_assumes(const WsProgram *p, gboolean tiles);

G_END_DECLS
