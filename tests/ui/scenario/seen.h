/* What the studio's parts know of themselves and say to nobody but tests. */
#pragma once

#include "ui/document/document.h"
#include "ui/timeline/timeline.h"

/* Turns the main loop until nothing is to be answered. */
void seen_document_settle(WsDocument *d);
/* Lets go of the journal without ending it. */
void seen_document_crash(WsDocument *d);
gboolean seen_gesture_active(WsTimeline *t);
const char *seen_gesture_words(WsTimeline *t); /* beside the pointer; NULL: no gesture */
/* The middle of the handle of a ring. */
gboolean seen_gesture_ring_handle(WsTimeline *t, const char *ring, double *x, double *y);
gboolean seen_timeline_folded(WsTimeline *t);
/* Origin of the time area in the coordinates (pixels) of the timeline widget. */
void seen_timeline_origin(WsTimeline *t, double *x, double *y);
/* Place of an item; FALSE: no such item, or not one of a step. */
gboolean seen_timeline_item_place(WsTimeline *t, guint item, double *x, double *y, double *w,
                                  double *h);
gboolean seen_timeline_select_item(WsTimeline *t, guint item);
