/* The maximum cycle ratio of a graph with weights and tokens, and the slack of its arcs. Pure. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* `to` is not before `from`, `tokens` rounds earlier, plus `weight`. Tokens may be negative on an
 * arc; on every cycle their sum is positive, else there is no answer. */
typedef struct {
    guint from, to;
    double weight;
    gint tokens;
} WsArc;

/* Cycles of a round: the largest sum of weights over sum of tokens of any cycle, by policy
 * improvement from below: the longest paths at a ratio either show a cycle above it, whose ratio is
 * the next one, or there is none. `cycle`: guint, the arcs of one such cycle in order; may be NULL.
 * FALSE: there is no cycle, or one without tokens. */
gboolean ws_cycle_ratio(guint n, const WsArc *arc, guint n_arcs, double *ratio, GArray *cycle);

/* By arc: cycles that its weight alone may grow before the ratio does; INFINITY: it is on no cycle.
 * Caller frees. */
double *ws_cycle_slack(guint n, const WsArc *arc, guint n_arcs, double ratio);

G_END_DECLS
