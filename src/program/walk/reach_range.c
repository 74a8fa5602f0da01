#include "program/walk/reach_private.h"

WsReachRange ws_reach_range(gint64 lo, gint64 hi)
{
    return (WsReachRange){ CLAMP(lo, -WS_REACH_FAR, WS_REACH_FAR),
                           CLAMP(hi, -WS_REACH_FAR, WS_REACH_FAR) };
}

WsReachRange ws_reach_range_both(WsReachRange a, WsReachRange b)
{
    return ws_reach_range(MIN(a.lo, b.lo), MAX(a.hi, b.hi));
}

static gint64 times(gint64 a, gint64 b)
{
    gint64 r;
    return __builtin_mul_overflow(a, b, &r) ? ((a < 0) == (b < 0) ? WS_REACH_FAR : -WS_REACH_FAR)
                                            : r;
}

WsReachRange ws_reach_range_product(WsReachRange a, WsReachRange b)
{
    const gint64 x[4] = { times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo),
                          times(a.hi, b.hi) };
    WsReachRange r = ws_reach_range(x[0], x[0]);
    for (guint i = 1; i < 4; i++)
        r = ws_reach_range_both(r, ws_reach_range(x[i], x[i]));
    return r;
}

static gint64 floor_of(gint64 a, gint64 b)
{
    const gint64 q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

gint64 ws_reach_range_most(WsReachRange a)
{
    return MAX(ABS(a.lo), ABS(a.hi));
}

/* Floor division; `up`: rounded up instead. */
WsReachRange ws_reach_range_quotient(WsReachRange a, WsReachRange b, gboolean up)
{
    if (b.lo < 0)
        return ws_reach_range(-ws_reach_range_most(a) - 1, ws_reach_range_most(a) + 1);
    const gint64 by[2] = { MAX(b.lo, 1), MAX(b.hi, 1) }; /* that it is not 0 is shown elsewhere */
    WsReachRange r = { WS_REACH_FAR, -WS_REACH_FAR };
    for (guint i = 0; i < 2; i++) {
        const gint64 lo = up ? -floor_of(-a.lo, by[i]) : floor_of(a.lo, by[i]);
        const gint64 hi = up ? -floor_of(-a.hi, by[i]) : floor_of(a.hi, by[i]);
        r = (WsReachRange){ MIN(r.lo, lo), MAX(r.hi, hi) };
    }
    return r;
}

WsReachRange ws_reach_range_rest(WsReachRange a, WsReachRange b)
{
    if (b.lo < 0)
        return ws_reach_range(-ws_reach_range_most(b), ws_reach_range_most(b));
    const gint64 most = MAX(b.hi, 1) - 1;
    return ws_reach_range(0, a.lo >= 0 ? MIN(a.hi, most) : most);
}
