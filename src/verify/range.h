/* What is known of an integer: an interval, and that it is v up to multiples of g (0: it is v).
 * Expressions over such ranges. */
#pragma once

#include "verify/certificate.h"

G_BEGIN_DECLS

typedef struct {
    gint64 low, high; /* NO_LOW, NO_HIGH: unbounded */
    gint64 v, g;
    gboolean open; /* somebody has to ask before there is an answer */
} Range;

typedef struct RangeEnv RangeEnv;
struct RangeEnv {
    /* What stands for a whole subexpression: TRUE and its range. `truth`: a truth value is wanted.
     */
    gboolean (*leaf)(RangeEnv *env, const WsExpr *e, gboolean truth, Range *out);
    gboolean either;    /* where a condition is not known both branches count */
    const char *wrong;  /* set: there is no value, and why */
    gboolean undefined; /* it may have none: something is divided by what may be 0 */
};

static inline Range range_exact(gint64 x)
{
    return (Range){ x, x, x, 0, FALSE };
}

static inline Range range_of(gint64 low, gint64 high)
{
    return low == high ? range_exact(low) : (Range){ low, high, 0, 1, FALSE };
}

Range range_eval(RangeEnv *env, const WsExpr *e, gboolean truth);
/* Bounds of a - b, in affine form: terms that cancel left out. */
Range range_difference(RangeEnv *env, const WsExpr *a, const WsExpr *b);
/* x OP 0: 1, 0, or -1: not known. */
int range_answer(WsExprOp op, Range x);
Range range_meet(Range a, Range b); /* both hold */
Range range_moved(Range a, gint64 by);
Range range_scaled(Range a, gint64 k);  /* what does not fit is unbounded */
Range range_divided(Range a, gint64 k); /* of x if k * x lies in `a`, k > 0 */
gint64 range_gcd(gint64 a, gint64 b);
gint64 range_floor(gint64 a, gint64 m); /* a / m and the rest of it, m > 0 */
gint64 range_mod(gint64 a, gint64 m);
gint64 range_up(gint64 low, gint64 rest, gint64 m); /* from low to what leaves this rest */

G_END_DECLS
