/* Median, 95th percentile and maximum of a list of cycles. */
#pragma once

#include "trace/stats.h"

/* `list` of gint64 is sorted in place; nearest-rank percentiles; zeros for an empty list. */
WsTraceSpread ws_spread(GArray *list);

/* Sums of untrusted times may not overflow: they stop at the largest number. */
static inline gint64 ws_add_saturated(gint64 a, gint64 b)
{
    gint64 sum;
    return __builtin_add_overflow(a, b, &sum) ? G_MAXINT64 : sum;
}
