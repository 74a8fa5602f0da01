/* What the two pictures of a ring share: its stages and who touched them. Private to src/score. */
#pragma once

#include "score/build.h"

typedef struct {
    gint64 start, end;
    gint64 use, turn;
    const WsTraceRecord *r;
    gboolean write;
} WsRingTouch;

/* One stage of one array element of one buffer. */
typedef struct {
    guint buffer;
    gint64 element, stage;
    GArray *touch; /* WsRingTouch */
} WsStage;
void ws_stage_free(gpointer stage);
gint ws_stage_compare(gconstpointer pa, gconstpointer pb); /* of WsStage* in an array */

/* ring.c */
void ws_ring_gather_all(const WsBuild *b, GPtrArray *stages); /* every record of the CTA */
void ws_ring_remember(const WsBuild *b, const GPtrArray *stages);
/* Adds the times from the first write of a use to its last read; sorts the touches. */
void ws_ring_held(WsStage *s, WsScoreCover *cover);

/* occupancy.c */
void ws_occupancy_prepare(WsBuild *b); /* finds the covers of all stages, if there is time */
/* NULL: not every use is known. */
const WsScoreCover *ws_occupancy_of_stage(WsBuild *b, guint buffer, gint64 element, gint64 stage);
const WsScoreCover *ws_occupancy_of_buffer(WsBuild *b, guint buffer);
