/* Interval and residue arithmetic. Bounds that do not fit in 64 bits are an error: so is the value
 * itself (docs/soundness.md section 2). */
#include "verify/range.h"

gint64 range_gcd(gint64 a, gint64 b)
{
    if (a == G_MININT64 || b == G_MININT64)
        return 1; /* what divides both */
    a = ABS(a);
    for (b = ABS(b); b;) {
        gint64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

gint64 range_mod(gint64 a, gint64 m)
{
    gint64 rest = a % m;
    return rest < 0 ? rest + m : rest;
}

gint64 range_up(gint64 low, gint64 rest, gint64 m)
{
    return range_mod(range_mod(rest, m) - range_mod(low, m), m);
}

gint64 range_floor(gint64 a, gint64 m)
{
    return a / m - (a % m < 0);
}

static gboolean infinite(gint64 x)
{
    return x == NO_LOW || x == NO_HIGH;
}

static gint64 sum(RangeEnv *env, gint64 a, gint64 b)
{
    gint64 out;
    if (infinite(a) || infinite(b))
        return infinite(a) ? a : b;
    if (__builtin_add_overflow(a, b, &out) || infinite(out))
        env->wrong = "an overflow";
    return env->wrong ? 0 : out;
}

static gint64 times(RangeEnv *env, gint64 k, gint64 a)
{
    gint64 out;
    if (k == 0)
        return 0;
    if (infinite(a))
        return (k > 0) == (a == NO_HIGH) ? NO_HIGH : NO_LOW;
    if (__builtin_mul_overflow(k, a, &out) || infinite(out))
        env->wrong = "an overflow";
    return env->wrong ? 0 : out;
}

static Range any(void)
{
    return range_of(NO_LOW, NO_HIGH);
}

static Range scale(RangeEnv *env, gint64 k, Range a)
{
    if (k == G_MININT64) {
        env->wrong = "an overflow";
        return any();
    }
    Range r = { times(env, k, k < 0 ? a.high : a.low), times(env, k, k < 0 ? a.low : a.high),
                times(env, k, a.v), times(env, ABS(k), a.g), FALSE };
    return k == 0 ? range_exact(0) : r;
}

static Range add(RangeEnv *env, Range a, Range b)
{
    return (Range){ sum(env, a.low, b.low), sum(env, a.high, b.high), sum(env, a.v, b.v),
                    range_gcd(a.g, b.g), FALSE };
}

Range range_moved(Range a, gint64 by)
{
    RangeEnv env = { .wrong = NULL };
    a = add(&env, a, range_exact(by));
    return env.wrong ? any() : a;
}

Range range_scaled(Range a, gint64 k)
{
    RangeEnv env = { .wrong = NULL };
    a = scale(&env, k, a);
    return env.wrong ? any() : a;
}

Range range_divided(Range a, gint64 k)
{
    Range r = range_of(infinite(a.low) ? a.low : -range_floor(-a.low, k),
                       infinite(a.high) ? a.high : range_floor(a.high, k));
    if (a.g % k == 0 && a.v % k == 0)
        r.v = a.v / k, r.g = a.g / k;
    return r;
}

static gboolean single(Range a)
{
    return a.low == a.high && !infinite(a.low);
}

static Range multiply(RangeEnv *env, Range a, Range b)
{
    if (single(a) || single(b))
        return single(a) ? scale(env, a.low, b) : scale(env, b.low, a);
    Range r = any();
    if (a.low >= 0 && b.low >= 0)
        r = range_of(times(env, a.low, b.low),
                     infinite(a.high) || infinite(b.high) ? NO_HIGH : times(env, a.high, b.high));
    return r;
}

/* What is divided by. */
static void not_0(RangeEnv *env, Range *b)
{
    env->undefined |= b->low <= 0 && b->high >= 0;
    if (b->low == 0 && b->high > 0)
        b->low = 1;
}

/* floor, or ceiling, of a / m */
static Range divide(RangeEnv *env, Range a, Range b, gboolean up)
{
    not_0(env, &b);
    if (!single(b) && a.low >= 0 && b.low > 0) /* at most a, at least 0 */
        return range_of(0, a.high);
    if (!single(b) || b.low <= 0)
        return any();
    const gint64 m = b.low;
    if (up)
        a = add(env, a, range_exact(m - 1));
    Range r = range_of(infinite(a.low) ? a.low : range_floor(a.low, m),
                       infinite(a.high) ? a.high : range_floor(a.high, m));
    if (single(r))
        return r;
    r.v = range_floor(a.v, m);
    r.g = a.g % m == 0 ? a.g / m : 1;
    return r;
}

static Range rest(RangeEnv *env, Range a, Range b)
{
    not_0(env, &b);
    if (!single(b) || b.low <= 0)
        return any();
    const gint64 m = b.low;
    Range r = range_of(0, m - 1);
    if (!infinite(a.low) && !infinite(a.high) && range_floor(a.low, m) == range_floor(a.high, m))
        r = range_of(range_mod(a.low, m), range_mod(a.high, m));
    if (single(r) || a.g % m == 0)
        return single(r) ? r : range_exact(range_mod(a.v, m));
    r.v = range_mod(a.v, m);
    r.g = range_gcd(a.g, m);
    return r;
}

static Range extreme(Range a, Range b, gboolean greater)
{
    Range r = greater ? range_of(MAX(a.low, b.low), MAX(a.high, b.high))
                      : range_of(MIN(a.low, b.low), MIN(a.high, b.high));
    if (greater ? a.low >= b.high : a.high <= b.low)
        return a;
    if (greater ? b.low >= a.high : b.high <= a.low)
        return b;
    r.v = greater ? MAX(a.v, b.v) : MIN(a.v, b.v);
    gint64 apart;
    r.g = __builtin_sub_overflow(a.v, b.v, &apart) || apart == G_MININT64
              ? 1
              : range_gcd(range_gcd(a.g, b.g), apart);
    return r;
}

static Range truth_of(int known)
{
    Range r = range_of(known < 0 ? 0 : known, known < 0 ? 1 : known);
    r.open = known < 0;
    return r;
}

static int sign_known(Range a) /* 1: not 0, 0: it is 0, -1: open */
{
    return a.low > 0 || a.high < 0 ? 1 : single(a) ? a.low != 0 : -1;
}

int range_answer(WsExprOp op, Range d)
{
    if (op == WS_EXPR_LT)
        return d.high < 0 ? 1 : d.low >= 0 ? 0 : -1;
    if (op == WS_EXPR_LE)
        return d.high <= 0 ? 1 : d.low > 0 ? 0 : -1;
    if (op == WS_EXPR_GT)
        return d.low > 0 ? 1 : d.high <= 0 ? 0 : -1;
    if (op == WS_EXPR_GE)
        return d.low >= 0 ? 1 : d.high < 0 ? 0 : -1;
    return d.low > 0 || d.high < 0     ? op == WS_EXPR_NE
           : d.low == 0 && d.high == 0 ? op == WS_EXPR_EQ
                                       : -1;
}

Range range_difference(RangeEnv *env, const WsExpr *a, const WsExpr *b)
{
    g_autoptr(WsExpr) e = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(a), ws_expr_ref(b));
    WsAffine f;
    if (env->wrong || !ws_expr_affine(e, &f))
        return any();
    Range r = range_exact(f.constant);
    if (infinite(f.constant))
        env->wrong = "an overflow";
    for (guint i = 0; i < f.n; i++) {
        const Range term = range_eval(env, f.term[i], FALSE);
        r = term.open ? any() : add(env, r, scale(env, f.factor[i], term));
    }
    ws_affine_clear(&f);
    if (env->wrong) /* names that only the whole has a value for */
        r = any();
    env->wrong = NULL;
    return r;
}

static Range compare(RangeEnv *env, const WsExpr *e, Range a, Range b)
{
    int known = range_answer(e->op, add(env, a, scale(env, -1, b)));
    if (env->wrong) /* no value of it is needed */
        known = -1;
    env->wrong = NULL;
    if (known < 0)
        known = range_answer(e->op, range_difference(env, e->arg[0], e->arg[1]));
    return truth_of(known);
}

static Range call(RangeEnv *env, const WsExpr *e, const Range *x)
{
    Range r = x[0];
    env->wrong = e->op != WS_EXPR_CALL ? "an expression that is not handled" : NULL;
    if (env->wrong)
        return any();
    if (e->func == WS_FUNC_CDIV)
        return divide(env, x[0], x[1], TRUE);
    if (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX) {
        for (guint i = 1; i < e->n_args; i++)
            r = extreme(r, x[i], e->func == WS_FUNC_MAX);
        return r;
    }
    if (e->func == WS_FUNC_ABS)
        return r.low >= 0 ? r : r.high <= 0 ? scale(env, -1, r) : range_of(0, NO_HIGH);
    if (e->func == WS_FUNC_POW2FLOOR)
        return single(r) ? range_exact(
                               r.low < 1 ? 0 : (gint64)1 << (63 - __builtin_clzll((guint64)r.low)))
                         : range_of(r.low > 0, NO_HIGH);
    env->wrong = "an expression that is not handled";
    return any();
}

static Range lazy(RangeEnv *env, const WsExpr *e)
{
    const gboolean select = e->op == WS_EXPR_CALL;
    Range first = range_eval(env, e->arg[0], TRUE);
    int known = first.open ? -1 : sign_known(first);
    if (known < 0 && select && env->either) {
        Range a = range_eval(env, e->arg[1], FALSE), b = range_eval(env, e->arg[2], FALSE);
        return a.open || b.open ? any() : range_of(MIN(a.low, b.low), MAX(a.high, b.high));
    }
    if (known < 0)
        return truth_of(-1);
    if (select)
        return range_eval(env, e->arg[known ? 1 : 2], FALSE);
    if (known == (e->op == WS_EXPR_OR))
        return range_exact(known);
    Range second = range_eval(env, e->arg[1], TRUE);
    return truth_of(second.open ? -1 : sign_known(second));
}

/* A bound moved inwards; where that does not fit it stays. */
static gint64 raised(gint64 bound, gint64 by)
{
    gint64 out;
    return __builtin_add_overflow(bound, by, &out) || infinite(out) ? bound : out;
}

Range range_meet(Range a, Range b)
{
    Range r = { MAX(a.low, b.low), MIN(a.high, b.high), a.g == 0 || b.g == 1 ? a.v : b.v,
                a.g == 0 || b.g == 1 ? a.g : b.g, FALSE };
    if (r.g > 1 && !infinite(r.low))
        r.low = raised(r.low, range_up(r.low, r.v, r.g));
    if (r.g > 1 && !infinite(r.high))
        r.high = raised(r.high, -range_up(r.v, r.high, r.g));
    return r;
}

Range range_eval(RangeEnv *env, const WsExpr *e, gboolean truth)
{
    Range r = any();
    if (env->wrong || env->leaf(env, e, truth, &r))
        return r;
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL) {
        if (infinite(e->i)) /* stands for no bound */
            env->wrong = "an overflow";
        return range_exact(e->i);
    }
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR ||
        (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT))
        return lazy(env, e);
    if (e->n_args == 0 || e->n_args > 16 || e->op == WS_EXPR_INDEX) {
        env->wrong = "a name whose value the program does not fix";
        return r;
    }
    Range x[16];
    for (guint i = 0; i < e->n_args; i++) {
        x[i] = range_eval(env, e->arg[i], e->op == WS_EXPR_NOT);
        if (x[i].open || env->wrong)
            return truth_of(-1);
    }
    if (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE)
        return compare(env, e, x[0], x[1]);
    if (e->op == WS_EXPR_NOT)
        return truth_of(sign_known(x[0]) < 0 ? -1 : !sign_known(x[0]));
    if (e->op == WS_EXPR_NEG || e->op == WS_EXPR_SUB || e->op == WS_EXPR_ADD) {
        const Range last = x[e->n_args - 1];
        r = e->op == WS_EXPR_ADD ? last : scale(env, -1, last);
        return e->n_args > 1 ? add(env, x[0], r) : r;
    }
    if (e->op == WS_EXPR_MUL)
        return multiply(env, x[0], x[1]);
    if (e->op == WS_EXPR_DIV)
        return divide(env, x[0], x[1], FALSE);
    return e->op == WS_EXPR_MOD ? rest(env, x[0], x[1]) : call(env, e, x);
}
