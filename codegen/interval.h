/* Intervals of 64-bit integers: what is known of a uniform expression while text or code is built
 * from it. Rules only; what holds a value holds its interval beside it. */
#pragma once

#include "expr/expr.h"

G_BEGIN_DECLS

typedef struct {
    gint64 lo, hi;
} WsInterval;
#define WS_INTERVAL_MIN (-(G_GINT64_CONSTANT(1) << 40)) /* stands for "no bound known" */
#define WS_INTERVAL_MAX (G_GINT64_CONSTANT(1) << 40)
#define WS_INTERVAL_ANY ((WsInterval){ WS_INTERVAL_MIN, WS_INTERVAL_MAX })

WsInterval ws_interval(gint64 lo, gint64 hi); /* clamped */
gboolean ws_interval_known(WsInterval a, gint64 *value);
WsInterval ws_interval_add(WsInterval a, WsInterval b);
WsInterval ws_interval_sub(WsInterval a, WsInterval b);
WsInterval ws_interval_mul(WsInterval a, WsInterval b);
/* Floor division and its remainder; `positive`: neither side is negative, whatever a.lo says. */
WsInterval ws_interval_div(WsInterval a, WsInterval b, gboolean positive);
WsInterval ws_interval_mod(WsInterval a, WsInterval b, gboolean positive);
WsInterval ws_interval_min(WsInterval a, WsInterval b);
WsInterval ws_interval_max(WsInterval a, WsInterval b);
/* Of a comparison: -1 unknown, else 0 or 1. */
int ws_interval_decide(WsExprOp op, WsInterval a, WsInterval b);

G_END_DECLS
