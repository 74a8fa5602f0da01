/* Gaps of units on the time axis of a score: where they lie, what they say, going from one to the
 * next. x is in the time area, in units of the page. */
#pragma once

#include "ui/document/document_idle.h"
#include "ui/timeline/timeline.h"

G_BEGIN_DECLS

/* The part of a segment of the scene that is in view, in the times of one of the two traces. */
typedef struct {
    WsTimeline *t;
    gint64 from, to;
    double x0, x1; /* of the widget: the gutter included */
    gint64 shift;  /* main time = time + shift */
} WsGapAxis;
#define WS_GAP_AXES 4
guint ws_gap_axes(WsTimeline *t, gboolean measured, WsGapAxis axis[WS_GAP_AXES]);
double ws_gap_x(const WsGapAxis *a, gint64 time);
gint64 ws_gap_time(const WsGapAxis *a, double x);

/* Where a gap lies, if part of it is in view. */
gboolean ws_gap_span(WsTimeline *t, const WsGapRef *ref, double *from, double *to);
/* The gap of the unit and trace of `ref` at x (with the gutter), or at most 3 away: fills
 * ref->gap. */
gboolean ws_gap_at(WsTimeline *t, double x, WsGapRef *ref);

char *ws_gap_text(WsDocument *d, const WsGapRef *ref); /* a tooltip; caller frees */
char *ws_gap_unit_text(const WsIdle *idle, WsUnit unit);

/* To the next gap (by: 1) or the one before (-1) of the same unit, the tensor core at first. */
void ws_gap_step(WsTimeline *t, gint by);
void ws_gap_follow(WsTimeline *t); /* shows what the document looks at */

/* timeline_units.c: the middle of a gap in the row of its unit, in pixels of that widget; FALSE:
 * not in view */
gboolean ws_timeline_units_place(WsTimeline *t, const WsGapRef *ref, double *x, double *y);

G_END_DECLS
