/* From a play to figures. Private to this folder. */
#pragma once

#include "clock/play.h"

/* Cycles of the busiest SM for the whole launch, from what was played; fills the fields of `r` that
 * say how (played, tiles_played, tile_period, waves, extrapolated, cycles, hbm_cycles). */
void ws_result_span(WsClockResult *r, const WsClockPlay *play);
/* Loops, waits, utilisation, bound, note, trace header. */
void ws_result_details(WsClockResult *r, WsClockPlay *play);

/* Cycles of the tiles [played, tiles) of this CTA, when tiles differ: `period` is what the played
 * ones took on average. */
double ws_tiles_left(const WsClockPlay *play, gint64 played, gint64 tiles, double period);
/* Mean rounds of all `tiles` of the launch over those of this CTA's first tile. */
gboolean ws_tiles_uneven(const WsClockPlay *play); /* have tiles different numbers of rounds? */
/* Cycles of a launch whose CTAs take the next tile when they are free: the latest end, if tiles
 * cost what the played ones did. */
double ws_tiles_dynamic(const WsClockPlay *play, gint64 played, gint64 ctas, double period,
                        double end);
double ws_tiles_mean_ratio(const WsClockPlay *play, gint64 tiles);
/* Engines 0 to 4 of a result: products, copies, shared memory, arithmetic, special functions (NULL:
 * the target has none); `whole`: as what bounds a run. */
const char *ws_result_engine(const WsClockResult *r, guint i, gboolean whole);

/* --- power.c --- */
/* The engine clock that power leaves a launch whose matrix units work for `busy` of the time, all
 * CUs together, and that fetches `far` bytes a cycle from beyond the dies; at most clock_ghz. */
double ws_clock_power_ghz(const WsMachine *machine, double busy, double far);
/* The same of a play of halves whose span is known. */
double ws_clock_play_ghz(const WsClockPlay *play, const WsClockResult *r);
