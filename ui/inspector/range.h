/* What happened in a range of time of a trace. No widgets here. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

typedef struct {
    guint agent;
    gint64 busy, waiting; /* cycles of the range; what is left of it the agent did nothing */
} WsRangeLane;

typedef struct {
    guint agent, op;
    guint n;       /* executions that touch the range */
    gint64 held;   /* cycles of the range that the agent spent on it */
    gint64 flight; /* cycles of the range with at least one in flight */
    gboolean waits;
} WsRangeStep;

typedef struct {
    gint64 from, to;
    GArray *lane;    /* WsRangeLane */
    GArray *step;    /* WsRangeStep */
    GArray *pair;    /* WsTracePair: of steps with an asynchronous effect, both > 0 */
    gint64 mma, tma; /* cycles with at least one mma, one bulk transfer in flight */
    double tensor; /* share of the range that the mma in it need of the tensor pipe; NAN unknown */
} WsRangeStats;

/* Of the first CTA of the trace, [from, to). `columns` is the tensor pipe's rate in columns of an
 * m64 mma per cycle, 0 unknown; `p` gives the sizes of the mma and may be NULL. */
WsRangeStats *ws_range_stats_new(const WsTrace *t, const WsProgram *p, gint64 from, gint64 to,
                                 double columns);
void ws_range_stats_free(WsRangeStats *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsRangeStats, ws_range_stats_free)

G_END_DECLS
