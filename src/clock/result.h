/* From a play to figures. Private to this folder. */
#pragma once

#include "clock/play.h"

/* Cycles of the busiest SM for the whole launch, from what was played; fills the fields of `r` that
 * say how (played, tiles_played, tile_period, waves, extrapolated, cycles, hbm_cycles). */
void ws_result_span(WsClockResult *r, const WsPlay *play);
/* Loops, waits, utilisation, bound, note, trace header. */
void ws_result_details(WsClockResult *r, WsPlay *play);
