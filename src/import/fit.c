#include "import/fit.h"

#include <string.h>

/* Expressions of one unknown, recognised by their values. */

/* --- values ----------------------------------------------------------------------------------- */

typedef struct {
    const char *name[2]; /* of leaves */
    gint64 value[2];
    WsExprOp op;
    gboolean others; /* all other leaves are 0: they only move the unknown */
} Known;

static WsLookup look_up(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Known *k = data;
    *value = 0;
    for (guint i = 0; i < 2; i++)
        if (k->name[i] && leaf->op == k->op && !strcmp(leaf->name, k->name[i])) {
            *value = k->value[i];
            return WS_LOOKUP_KNOWN;
        }
    return k->others ? WS_LOOKUP_KNOWN : WS_LOOKUP_UNKNOWN;
}

static gboolean value_at(const WsExpr *e, const Known *known, gint64 *value)
{
    WsExprEnv env = { .integer = look_up, .data = (gpointer)known };
    return ws_expr_eval(e, &env, value, NULL);
}

/* --- what the expression depends on ----------------------------------------------------------- */

typedef struct {
    WsAffine unknown; /* without constant; n 0: none yet */
    gboolean good;
} Shape;

static gboolean is_leaf(const WsExpr *e)
{
    return e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL;
}

static gint64 gcd(gint64 a, gint64 b)
{
    while (b) {
        const gint64 rest = a % b;
        a = b;
        b = rest;
    }
    return MAX(a, 1);
}

/* Keeps the leaves of f, without a common factor; FALSE if there are none. */
static gboolean leaves_of(const WsAffine *f, WsAffine *out)
{
    out->constant = 0;
    out->n = 0;
    out->factor = g_new(gint64, f->n + 1);
    out->term = g_new(WsExpr *, f->n + 1);
    for (guint i = 0; i < f->n; i++)
        if (is_leaf(f->term[i])) {
            out->factor[out->n] = f->factor[i];
            out->term[out->n++] = ws_expr_ref(f->term[i]);
        }
    gint64 common = 0;
    for (guint i = 0; i < out->n; i++)
        common = gcd(common, ABS(out->factor[i]));
    for (guint i = 0; i < out->n; i++)
        out->factor[i] /= common;
    return out->n > 0;
}

/* Are both multiples of one another by ±1? */
static gboolean same_unknown(const WsAffine *a, const WsAffine *b)
{
    if (a->n != b->n)
        return FALSE;
    const gint64 sign = a->factor[0] == b->factor[0] ? 1 : -1;
    for (guint i = 0; i < a->n; i++)
        if (!ws_expr_equal(a->term[i], b->term[i]) || a->factor[i] != sign * b->factor[i])
            return FALSE;
    return TRUE;
}

static void look_inside(Shape *s, const WsExpr *e, gboolean inner, guint depth)
{
    WsAffine f, own;
    if (!s->good || depth > 20 || !ws_expr_affine(e, &f)) {
        s->good = FALSE;
        return;
    }
    if (inner && leaves_of(&f, &own)) {
        if (!s->unknown.n) {
            ws_affine_clear(&s->unknown);
            s->unknown = own;
        } else {
            s->good &= same_unknown(&s->unknown, &own);
            ws_affine_clear(&own);
        }
    } else if (inner) {
        ws_affine_clear(&own);
    }
    for (guint i = 0; i < f.n && s->good; i++) {
        const WsExpr *t = f.term[i];
        if (is_leaf(t))
            continue;
        if (t->op == WS_EXPR_MUL || t->op == WS_EXPR_INDEX || t->op == WS_EXPR_VAR)
            s->good = FALSE;
        for (guint k = 0; k < t->n_args && s->good; k++)
            look_inside(s, t->arg[k], TRUE, depth + 1);
    }
    ws_affine_clear(&f);
}

/* --- how it goes on --------------------------------------------------------------------------- */

/* f(x + period) = f(x) + rise for all x >= from: what the values tell of all others. */
typedef struct {
    gint64 period, rise, from;
} Course;

typedef struct {
    const WsExpr *leaf; /* the unknown */
    gint64 sign;        /* what it is at x: x or -x */
} Along;

static gboolean value_along(const Along *a, const WsExpr *e, gint64 x, gint64 *value)
{
    const Known known = { { a->leaf->name }, { a->sign * x }, a->leaf->op, TRUE };
    return value_at(e, &known, value);
}

/* Far enough inside of the values that are compared. */
static gboolean within(const Course *c)
{
    return c->period <= WS_FIT_PERIOD && c->from <= WS_FIT_PERIOD &&
           ABS(c->rise) <= (gint64)1 << 32;
}

/* Both over one period. */
static gboolean join(Course *a, Course *b)
{
    const gint64 period = a->period / gcd(a->period, b->period) * b->period;
    a->rise *= period / a->period;
    b->rise *= period / b->period;
    a->period = b->period = period;
    a->from = b->from = MAX(a->from, b->from);
    return within(a) && within(b);
}

/* From where on x is above y, or below it, for good. `c`: of their difference, which rises. */
static gboolean settles(const Along *along, const WsExpr *x, const WsExpr *y, Course *c)
{
    gint64 left, right, held = 0;
    for (gint64 at = c->from; at < WS_FIT_PERIOD * 2; at++) {
        if (!value_along(along, x, at, &left) || !value_along(along, y, at, &right))
            return FALSE;
        held = c->rise > 0 ? (left > right ? held + 1 : 0) : (left < right ? held + 1 : 0);
        if (held == c->period) {
            *c = (Course){ .period = 1, .from = at + 1 - held };
            return within(c);
        }
    }
    return FALSE;
}

static gboolean divided(const Along *along, const WsExpr *e, const Course *by, Course *c)
{
    gint64 d;
    if (by->period != 1 || by->rise || by->from || !value_along(along, e->arg[1], 0, &d) || d < 1)
        return FALSE;
    const gint64 turns = c->rise ? d / gcd(ABS(c->rise), d) : 1;
    c->period *= turns;
    c->rise = e->op == WS_EXPR_MOD ? 0 : c->rise * turns / d;
    return within(c);
}

static gboolean multiplied(const Along *along, const WsExpr *e, Course *a, Course *b)
{
    if (!a->rise && !b->rise)
        return join(a, b);
    const guint rising = a->rise ? 0 : 1;
    const Course *times = rising ? a : b;
    gint64 n;
    if (times->period != 1 || times->rise || times->from ||
        !value_along(along, e->arg[1 - rising], 0, &n) || ABS(n) > (gint64)1 << 24)
        return FALSE;
    *a = rising ? *b : *a;
    a->rise *= n;
    return within(a);
}

/* One of two: which one settles, or they rise alike. */
static gboolean larger(const Along *along, const WsExpr *e, const Course *a, const Course *b,
                       Course *c)
{
    Course x = *a, y = *b;
    gint64 left, right;
    if (!join(&x, &y))
        return FALSE;
    Course d = { x.period, x.rise - y.rise, x.from };
    *c = x;
    if (!d.rise)
        return TRUE;
    if (!settles(along, e->arg[0], e->arg[1], &d) ||
        !value_along(along, e->arg[0], d.from, &left) ||
        !value_along(along, e->arg[1], d.from, &right))
        return FALSE;
    *c = (e->func == WS_FUNC_MAX) == (left > right) ? *a : *b;
    c->from = MAX(c->from, d.from);
    return TRUE;
}

static gboolean selected(const Along *along, const WsExpr *e, Course *condition, Course *a,
                         Course *b, Course *c)
{
    gint64 holds;
    if (condition->rise)
        return FALSE;
    if (condition->period == 1) {
        if (!value_along(along, e->arg[0], condition->from, &holds))
            return FALSE;
        *c = holds ? *a : *b;
        c->from = MAX(c->from, condition->from);
        return TRUE;
    }
    if (!join(a, b) || a->rise != b->rise || !join(a, condition))
        return FALSE;
    *c = *a;
    return TRUE;
}

static gboolean course_of(const Along *along, const WsExpr *e, guint depth, Course *c)
{
    Course of[3] = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } };
    *c = of[0];
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_TEXT_BOOL)
        return TRUE;
    if (is_leaf(e)) {
        c->rise = ws_expr_equal(e, along->leaf) ? along->sign : 0;
        return TRUE;
    }
    if (depth > 20 || !e->n_args || e->n_args > G_N_ELEMENTS(of))
        return FALSE;
    gboolean rises = FALSE;
    for (guint i = 0; i < e->n_args; i++) {
        if (!course_of(along, e->arg[i], depth + 1, &of[i]))
            return FALSE;
        rises |= of[i].rise != 0;
    }
    *c = of[0];
    switch (e->op) {
    case WS_EXPR_NEG:
        c->rise = -c->rise;
        return TRUE;
    case WS_EXPR_NOT:
        return !rises;
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
        if (!join(c, &of[1]))
            return FALSE;
        c->rise += e->op == WS_EXPR_ADD ? of[1].rise : -of[1].rise;
        return within(c);
    case WS_EXPR_MUL:
        return multiplied(along, e, c, &of[1]);
    case WS_EXPR_DIV:
    case WS_EXPR_MOD:
        return divided(along, e, &of[1], c);
    case WS_EXPR_COMPARISON:
        if (!join(c, &of[1]))
            return FALSE;
        c->rise -= of[1].rise;
        return !c->rise || settles(along, e->arg[0], e->arg[1], c);
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return !rises && join(c, &of[1]);
    case WS_EXPR_CALL:
        if (e->n_args == 2 && (e->func == WS_FUNC_MAX || e->func == WS_FUNC_MIN))
            return larger(along, e, &of[0], &of[1], c);
        return e->func == WS_FUNC_SELECT && selected(along, e, &of[0], &of[1], &of[2], c);
    case WS_EXPR_INDEX:
    case WS_EXPR_LEAF:
    default:
        return FALSE;
    }
}

/* --- forms ------------------------------------------------------------------------------------ */

/* base + stride * ((u + shift) mod n) */
static const WsExpr *cyclic(WsRead *r, const gint64 *v, const WsExpr *u)
{
    for (gint64 n = 2; n <= WS_FIT_MODULUS; n++) {
        gboolean good = TRUE;
        for (gint64 i = 0; i + n < WS_FIT_VALUES && good; i++)
            good = v[i] == v[i + n];
        if (!good)
            continue;
        gint64 least = 0;
        for (gint64 i = 1; i < n; i++)
            least = v[i] < v[least] ? i : least;
        const gint64 stride = v[least + 1] - v[least];
        for (gint64 i = 0; i < n; i++)
            if (v[least + i] != v[least] + stride * i)
                return NULL;
        const WsExpr *at = ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, u, ws_x_int(r, (n - least) % n)), n);
        return ws_x_op(r, WS_EXPR_ADD, ws_x_op(r, WS_EXPR_MUL, at, ws_x_int(r, stride)),
                       ws_x_int(r, v[least]));
    }
    return NULL;
}

/* ((u + shift) / n + turn) mod 2, shift below n */
static const WsExpr *turning(WsRead *r, const gint64 *v, const WsExpr *u)
{
    gint64 first = 1, n = 1;
    while (first < WS_FIT_MODULUS && v[first] == v[0])
        first++;
    while (first + n < WS_FIT_VALUES && n <= WS_FIT_MODULUS && v[first + n] == v[first])
        n++;
    if (n < 2 || n > WS_FIT_MODULUS || first > n)
        return NULL;
    const gint64 shift = n - first;
    for (gint64 i = 0; i < WS_FIT_VALUES; i++)
        if (v[i] != (((i + shift) / n + v[0]) & 1))
            return NULL;
    const WsExpr *turn =
        ws_x_op(r, WS_EXPR_DIV, ws_x_op(r, WS_EXPR_ADD, u, ws_x_int(r, shift)), ws_x_int(r, n));
    return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, turn, ws_x_int(r, v[0])), 2);
}

static const WsExpr *straight(WsRead *r, const gint64 *v, const WsExpr *u)
{
    for (gint64 i = 2; i < WS_FIT_VALUES; i++)
        if (v[i] - v[i - 1] != v[1] - v[0])
            return NULL;
    return ws_x_op(r, WS_EXPR_ADD, ws_x_op(r, WS_EXPR_MUL, u, ws_x_int(r, v[1] - v[0])),
                   ws_x_int(r, v[0]));
}

static const WsExpr *form_of(WsRead *r, const gint64 *v, const WsExpr *u)
{
    const WsExpr *e = straight(r, v, u);
    e = e ? e : cyclic(r, v, u);
    return e ? e : turning(r, v, u);
}

static const WsExpr *sum_of(WsRead *r, const WsAffine *f, gint64 sign)
{
    const WsExpr *sum = ws_x_int(r, 0);
    for (guint i = 0; i < f->n; i++)
        sum = ws_x_op(r, WS_EXPR_ADD, sum,
                      ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f->term[i])),
                              ws_x_int(r, sign * f->factor[i])));
    return sum;
}

/* e's terms that depend on the unknown, and the rest. */
static void part(WsRead *r, const WsExpr *e, const WsAffine *u, const WsExpr **in,
                 const WsExpr **rest)
{
    WsAffine f;
    *in = NULL;
    *rest = ws_x_int(r, 0);
    if (!ws_expr_affine(e, &f))
        return;
    const WsExpr *sum = ws_x_int(r, f.constant);
    gint64 whole = 0; /* how often the unknown stands in it as it is */
    for (guint i = 0; i < f.n; i++)
        if (ws_expr_equal(f.term[i], u->term[0]))
            whole = f.factor[i] * u->factor[0]; /* factors of the unknown are ±1 there */
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = ws_x_own(r, ws_expr_ref(f.term[i]));
        gint64 factor = f.factor[i];
        if (!is_leaf(t)) {
            sum = ws_x_op(r, WS_EXPR_ADD, sum, ws_x_op(r, WS_EXPR_MUL, t, ws_x_int(r, factor)));
            continue;
        }
        for (guint k = 0; k < u->n; k++)
            if (ws_expr_equal(u->term[k], t))
                factor -= whole * u->factor[k];
        *rest = ws_x_op(r, WS_EXPR_ADD, *rest, ws_x_op(r, WS_EXPR_MUL, t, ws_x_int(r, factor)));
    }
    for (guint k = 0; k < u->n; k++) { /* leaves of the unknown that e itself has not */
        gboolean found = FALSE;
        for (guint i = 0; i < f.n; i++)
            found |= ws_expr_equal(f.term[i], u->term[k]);
        if (!found && whole)
            *rest = ws_x_op(r, WS_EXPR_SUB, *rest,
                            ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(u->term[k])),
                                    ws_x_int(r, whole * u->factor[k])));
    }
    *in =
        ws_x_op(r, WS_EXPR_ADD, sum, ws_x_op(r, WS_EXPR_MUL, sum_of(r, u, 1), ws_x_int(r, whole)));
    ws_affine_clear(&f);
}

const WsExpr *ws_fit(WsRead *r, const WsExpr *e)
{
    Shape s = { .good = TRUE };
    if (!e)
        return NULL;
    look_inside(&s, e, FALSE, 0);
    const WsExpr *form = NULL;
    if (s.good && s.unknown.n && (s.unknown.factor[0] == 1 || s.unknown.factor[0] == -1)) {
        const gboolean minus = s.unknown.factor[0] < 0;
        gboolean all = TRUE, good = TRUE;
        for (guint i = 1; i < s.unknown.n; i++) /* mixed signs: which way does it count? */
            all &= (s.unknown.factor[i] < 0) == minus;
        const WsExpr *in, *rest, *u = sum_of(r, &s.unknown, all && minus ? -1 : 1);
        part(r, e, &s.unknown, &in, &rest);
        gint64 *v = g_new(gint64, WS_FIT_VALUES);
        const Along along = { s.unknown.term[0], all || !minus ? 1 : -1 };
        Course course;
        good = in && course_of(&along, in, 0, &course);
        for (gint64 x = 0; good && x < WS_FIT_VALUES; x++)
            good = value_along(&along, in, x, &v[x]);
        if (good)
            form = form_of(r, v, u);
        if (form)
            form = ws_x_op(r, WS_EXPR_ADD, form, rest);
        g_free(v);
    }
    ws_affine_clear(&s.unknown);
    return form ? form : e;
}

gboolean ws_fit_wraps(const WsExpr *e, const char *atom, gint64 *n, gint64 *step)
{
    gint64 value;
    *n = *step = 0;
    for (gint64 x = 0; x < WS_FIT_MODULUS; x++) {
        const Known known = { { atom }, { x }, WS_EXPR_NAME, FALSE };
        if (!value_at(e, &known, &value) || value < 0)
            return FALSE;
        *step = x ? *step : value;
        if (!*n && value != x + *step)
            *n = x + *step;
        if (*n && (*step >= *n || value != (x + *step) % *n))
            return FALSE;
        if (*n && x + 1 == *n)
            return *n > 1;
    }
    return FALSE;
}

gboolean ws_fit_flips(const WsExpr *e, const char *phase, const char *index, gint64 n, gint64 step)
{
    gint64 value;
    for (gint64 p = 0; p < 2; p++)
        for (gint64 x = 0; x < n; x++) {
            const Known known = { { phase, index }, { p, x }, WS_EXPR_NAME, FALSE };
            if (!value_at(e, &known, &value) || value != (x + step >= n ? 1 - p : p))
                return FALSE;
        }
    return TRUE;
}
