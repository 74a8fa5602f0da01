/* Two traces of kindred designs: steps go together by what they are called and by the role of who
 * runs them, whatever their places in the design. */
#pragma once

#include "trace/stats.h"

G_BEGIN_DECLS

/* A step in either trace; NULL: it has no partner there. Borrowed from the statistics. */
typedef struct {
    const WsTraceStepStat *s[2];
} WsTraceKinRow;

/* Agents go together by name, else by the name of their group, else by what they do (load,
 * multiply, store, none of these), each with one other; their steps by kind and text, the n-th with
 * the n-th. In the order of `a`, then what only `b` has. Free with g_array_unref. */
GArray *ws_trace_kin_rows(const WsTrace *a, const WsTraceStats *sa, const WsTrace *b,
                          const WsTraceStats *sb);

/* Of the copies, products and computations of the trace that has fewer of them, the share that is
 * called alike in the other, 0..1. */
double ws_trace_kinship(const WsTrace *a, const WsTrace *b);
#define WS_TRACE_KIN 0.5 /* from here on two designs are taken to be kin */

G_END_DECLS
