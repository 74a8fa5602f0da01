/* Which of the designs found are returned, and in what order. Private to src/search. */
#pragma once

#include "search/search.h"

G_BEGIN_DECLS

/* Slower by no more than the clock can tell: 1 %. */
gboolean ws_front_as_fast(gint64 cycles, gint64 best);

/* Fastest first (WsFound*). With jitter those that are as fast as the fastest stand in the order of
 * their times when loads are late, which they get. */
void ws_front_order(GPtrArray *all, const WsTrialOf *of, double jitter);

/* One that is returned already has no more cycles, shared memory and registers; of `found` in that
 * order. */
gboolean ws_front_beaten(const GPtrArray *found, const WsFound *f);

G_END_DECLS
