#include "codegen/interval.h"

static gint64 clamp(gint64 x)
{
    return CLAMP(x, WS_INTERVAL_MIN, WS_INTERVAL_MAX);
}

static gboolean open_end(gint64 x)
{
    return x <= WS_INTERVAL_MIN || x >= WS_INTERVAL_MAX;
}

WsInterval ws_interval(gint64 lo, gint64 hi)
{
    return (WsInterval){ clamp(lo), clamp(hi) };
}

gboolean ws_interval_known(WsInterval a, gint64 *value)
{
    if (a.lo != a.hi || open_end(a.lo))
        return FALSE;
    *value = a.lo;
    return TRUE;
}

WsInterval ws_interval_add(WsInterval a, WsInterval b)
{
    return ws_interval(open_end(a.lo) || open_end(b.lo) ? WS_INTERVAL_MIN : a.lo + b.lo,
                       open_end(a.hi) || open_end(b.hi) ? WS_INTERVAL_MAX : a.hi + b.hi);
}

WsInterval ws_interval_sub(WsInterval a, WsInterval b)
{
    return ws_interval(open_end(a.lo) || open_end(b.hi) ? WS_INTERVAL_MIN : a.lo - b.hi,
                       open_end(a.hi) || open_end(b.lo) ? WS_INTERVAL_MAX : a.hi - b.lo);
}

static gint64 times(gint64 a, gint64 b)
{
    gint64 r;
    if (__builtin_mul_overflow(a, b, &r))
        return (a < 0) == (b < 0) ? WS_INTERVAL_MAX : WS_INTERVAL_MIN;
    return clamp(r);
}

WsInterval ws_interval_mul(WsInterval a, WsInterval b)
{
    gint64 x[4] = { times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi) };
    WsInterval r = { x[0], x[0] };
    for (guint i = 1; i < 4; i++) {
        r.lo = MIN(r.lo, x[i]);
        r.hi = MAX(r.hi, x[i]);
    }
    return r;
}

static gint64 floor_div(gint64 a, gint64 b)
{
    gint64 q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static gboolean divisor(WsInterval b, gint64 *c)
{
    return ws_interval_known(b, c) && *c > 0;
}

WsInterval ws_interval_div(WsInterval a, WsInterval b, gboolean positive)
{
    gint64 c;
    if (divisor(b, &c))
        return ws_interval(open_end(a.lo) ? WS_INTERVAL_MIN : floor_div(a.lo, c),
                           open_end(a.hi) ? WS_INTERVAL_MAX : floor_div(a.hi, c));
    return positive ? ws_interval(0, a.hi) : ws_interval(WS_INTERVAL_MIN, WS_INTERVAL_MAX);
}

WsInterval ws_interval_mod(WsInterval a, WsInterval b, gboolean positive)
{
    gint64 c;
    if (divisor(b, &c))
        return a.lo >= 0 && a.hi < c ? a : ws_interval(0, c - 1);
    return positive ? ws_interval(0, b.hi) : ws_interval(WS_INTERVAL_MIN, WS_INTERVAL_MAX);
}

WsInterval ws_interval_min(WsInterval a, WsInterval b)
{
    return (WsInterval){ MIN(a.lo, b.lo), MIN(a.hi, b.hi) };
}

WsInterval ws_interval_max(WsInterval a, WsInterval b)
{
    return (WsInterval){ MAX(a.lo, b.lo), MAX(a.hi, b.hi) };
}

int ws_interval_decide(WsExprOp op, WsInterval a, WsInterval b)
{
    gboolean lt = a.hi<b.lo, le = a.hi <= b.lo, gt = a.lo> b.hi, ge = a.lo >= b.hi;
    if (op == WS_EXPR_LT)
        return lt ? 1 : ge ? 0 : -1;
    if (op == WS_EXPR_LE)
        return le ? 1 : gt ? 0 : -1;
    if (op == WS_EXPR_GT)
        return gt ? 1 : le ? 0 : -1;
    if (op == WS_EXPR_GE)
        return ge ? 1 : lt ? 0 : -1;
    if (op == WS_EXPR_EQ || op == WS_EXPR_NE) {
        int eq = lt || gt ? 0 : a.lo == a.hi && b.lo == b.hi && !open_end(a.lo) ? 1 : -1;
        return eq < 0 ? -1 : eq ^ (op == WS_EXPR_NE);
    }
    return -1;
}
