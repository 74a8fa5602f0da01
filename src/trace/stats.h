/* Figures of a trace: time per step, exposed waits, periods of loops, overlap of pairs of steps,
 * and the comparison of two traces. All times are cycles of the SM clock. */
#pragma once

#include "trace/trace.h"

G_BEGIN_DECLS

typedef struct {
    gint64 p50, p95, max;
} WsTraceSpread;

/* One step of one agent, over all its rounds (and all CTAs of the trace). */
typedef struct {
    guint agent, op;
    guint n;
    WsTraceSpread held;   /* start -> issued: the agent was busy with it, or waited */
    guint n_flight;       /* executions whose `done` is known */
    WsTraceSpread flight; /* start -> done, of these */
    gint64 total;         /* sum of held; for a wait: its exposed cycles */
    double share;         /* total / (cycles of the trace x CTAs); NAN where only some rounds of
                             inner loops were recorded, beside all of the rest */
} WsTraceStepStat;

/* Distance between successive rounds of a loop within one tile (of a tile loop: between tiles);
 * where one round in `every` was recorded, the mean of so many. */
typedef struct {
    guint agent, op; /* the step whose starts are compared */
    char *loop;      /* "tile/k" */
    guint n;
    WsTraceSpread period;
} WsTraceLoopStat;

/* What recording every round of inner loops in one launch costs each of them, as a share:
 * `merged`, of launches that take turns, is of the same program and sizes. Of the products of each
 * loop as many rounds apart as `merged` measured; the loop that is worst. NAN: nothing to compare.
 */
double ws_trace_round_cost(const WsTrace *one, const WsTrace *merged);
/* Launches that may take turns so that each has two rounds of a tile: a power of two, 32 at most;
 * 1: no tile of this trace has rounds enough. */
guint ws_trace_turns(const WsTrace *one);

/* Two steps with an asynchronous effect, or work: the time both were in flight. */
typedef struct {
    guint agent_a, op_a, agent_b, op_b;
    gint64 a, b, both;       /* cycles in flight (unions), and of both together */
    double share_a, share_b; /* both / a, both / b */
} WsTracePair;

typedef struct {
    GArray *step; /* WsTraceStepStat, by agent and first start */
    GArray *loop; /* WsTraceLoopStat */
    GArray *pair; /* WsTracePair, a before b; none where only some rounds were recorded */
} WsTraceStats;
WsTraceStats *ws_trace_stats_new(const WsTrace *t);
void ws_trace_stats_free(WsTraceStats *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsTraceStats, ws_trace_stats_free)

/* One execution of one step in two traces. Times of b are shifted by the row's `shift` before they
 * are subtracted: each tile of each trace is aligned at its own first common record, so that a
 * difference says what this tile lost and not what was lost before. */
typedef struct {
    guint agent, op;
    guint n;                          /* executions found in both */
    WsTraceSpread held_a, held_b;     /* start -> issued */
    WsTraceSpread flight_a, flight_b; /* start -> done */
    gint64 total_a, total_b;          /* sums of held over the common executions */
    gint64 drift;                     /* median of (start_b - start_a), aligned per tile */
} WsTraceDelta;
typedef struct {
    GArray *row;  /* WsTraceDelta */
    guint common; /* executions in both */
    guint only_a, only_b;
    GPtrArray *loop; /* char*: lines "k loop of mma.0: 1024 -> 1031 cycles (+0.7 %)" */
} WsTraceComparison;
/* Aligns by (agent name, step, kind, tile, round); CTAs by their place in the tables. Traces of
 * other designs simply share fewer executions. */
WsTraceComparison *ws_trace_compare(const WsTrace *a, const WsTrace *b);
void ws_trace_comparison_free(WsTraceComparison *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WsTraceComparison, ws_trace_comparison_free)
/* Table "step | rounds | A | B | difference". Caller frees. */
char *ws_trace_comparison_print(const WsTraceComparison *c, const WsTrace *a, const WsTrace *b);
/* Round by round: per loop of `a` that `b` has too, the rounds of both, their sum, and the `most`
 * that differ most. Caller frees. */
char *ws_trace_rounds_print(const WsTrace *a, const WsTrace *b, guint most);

G_END_DECLS
