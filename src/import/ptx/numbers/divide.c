#include "import/ptx/walk.h"

/* Quotients, as compilers write them. */

const WsExpr *ptx_quotient(WsRead *r, const WsExpr *a, gint64 n)
{
    const gint64 cluster = r->cluster > 1 ? r->cluster : 0;
    WsAffine f;
    if (!a || !ws_expr_affine(a, &f))
        return NULL;
    gboolean ranks = f.n > 0 && n == cluster && f.constant == 0; /* (cta + 2 x) / 2 */
    const WsExpr *whole = ws_x_int(r, 0);
    for (guint i = 0; i < f.n && ranks; i++) {
        const gboolean rank = f.term[i]->op == WS_EXPR_NAME && !strcmp(f.term[i]->name, "cta");
        ranks = rank ? f.factor[i] == 1 : f.factor[i] % n == 0;
        if (!rank)
            whole = ws_x_op(r, WS_EXPR_ADD, whole,
                            ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f.term[i])),
                                    ws_x_int(r, f.factor[i] / n)));
    }
    if (ranks) {
        ws_affine_clear(&f);
        return whole;
    }
    gboolean sizes = f.n > 0 && n > 1 && f.constant == n - 1;
    for (guint i = 0; i < f.n && sizes; i++) {
        sizes = FALSE;
        for (guint k = 0; k < r->sizes->len && f.term[i]->op == WS_EXPR_NAME; k++)
            sizes |= !strcmp(f.term[i]->name, g_ptr_array_index(r->sizes, k));
    }
    ws_affine_clear(&f);
    if (!sizes)
        return ws_x_op(r, WS_EXPR_DIV, a, ws_x_int(r, n));
    return ws_x_call(r, WS_FUNC_CDIV, ws_x_op(r, WS_EXPR_SUB, a, ws_x_int(r, n - 1)),
                     ws_x_int(r, n), NULL);
}

/* --- by a product ----------------------------------------------------------------------------- */

#define MOST_SHIFT   48
#define MOST_DIVISOR 4096
#define MOST_DEPTH   16
#define NO_BOUND     G_MAXINT64

static gint64 gcd(gint64 a, gint64 b)
{
    return b ? gcd(b, a % b) : a;
}

/* e / n, n dividing all of it. */
static const WsExpr *exactly(WsRead *r, const WsAffine *f, gint64 n)
{
    const WsExpr *sum = ws_x_int(r, f->constant / n);
    for (guint i = 0; i < f->n; i++)
        sum = ws_x_op(r, WS_EXPR_ADD, sum,
                      ws_x_op(r, WS_EXPR_MUL, ws_x_own(r, ws_expr_ref(f->term[i])),
                              ws_x_int(r, f->factor[i] / n)));
    return sum;
}

static gint64 times(gint64 a, gint64 b)
{
    return a && b > NO_BOUND / a ? NO_BOUND : a * b;
}

static gint64 plus(gint64 a, gint64 b)
{
    return b > NO_BOUND - a ? NO_BOUND : a + b;
}

/* How far e may be from 0 if every name in it is below 2^28; NO_BOUND: further than 64 bits
 * reach, or what memory holds. */
static gint64 bound(const WsExpr *e, guint depth)
{
    gint64 n = 0, most = 0;
    if (ws_x_is(e, &n))
        return n < -NO_BOUND ? NO_BOUND : ABS(n);
    const gboolean leaf = e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL || e->op == WS_EXPR_VAR;
    if (leaf)
        return (gint64)1 << 28;
    if (e->op == WS_EXPR_NOT || (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR))
        return 1;
    if (depth > MOST_DEPTH || !e->n_args)
        return NO_BOUND;
    const gboolean known = e->n_args > 1 && ws_x_is(e->arg[1], &n) && n > 0;
    const gint64 a = bound(e->arg[0], depth + 1);
    if (e->op == WS_EXPR_NEG)
        return a;
    if (e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB)
        return plus(a, bound(e->arg[1], depth + 1));
    if (e->op == WS_EXPR_MUL)
        return times(a, bound(e->arg[1], depth + 1));
    if (e->op == WS_EXPR_DIV) /* rounds down: one further where it is below 0 */
        return known && a < NO_BOUND ? a / n + 1 : a;
    if (e->op == WS_EXPR_MOD)
        return known ? n - 1 : bound(e->arg[1], depth + 1);
    if (e->op == WS_EXPR_CALL) {
        if (e->func == WS_FUNC_CDIV)
            return known && a < NO_BOUND ? a / n + 1 : a;
        if (e->func != WS_FUNC_MIN && e->func != WS_FUNC_MAX && e->func != WS_FUNC_SELECT)
            return NO_BOUND;
        for (guint i = e->func == WS_FUNC_SELECT; i < e->n_args; i++)
            most = MAX(most, bound(e->arg[i], depth + 1));
        return most;
    }
    return NO_BOUND;
}

gint64 ptx_bound(const WsAffine *f)
{
    gint64 sum = f->constant < -NO_BOUND ? NO_BOUND : ABS(f->constant);
    for (guint i = 0; i < f->n; i++)
        sum = f->factor[i] < -NO_BOUND ? NO_BOUND
                                       : plus(sum, times(bound(f->term[i], 0), ABS(f->factor[i])));
    return sum;
}

/* f is m x. With m d = 2^s + rest, x m / 2^s is x / d + x rest / (d 2^s). What is left of x / d is
 * at most (d - 1) / d, so both round down alike where x rest < 2^s. All names are below 2^28: x is
 * below what its terms, their factors and its constant make of that. */
static const WsExpr *divided(PtxWalk *w, const WsAffine *f, gint64 s)
{
    const gint64 c = f->constant;
    const gint64 sum = ptx_bound(f);
    if (s < 32 || !ptx_fits_64(f))
        return NULL;
    gint64 common = ABS(c);
    for (guint i = 0; i < f->n; i++)
        common = gcd(common, ABS(f->factor[i]));
    for (gint64 d = 3; d <= MOST_DIVISOR; d++) {
        const gint64 whole = (gint64)1 << s, m = (whole + d - 1) / d, rest = m * d - whole;
        if (common % m || !(d & (d - 1)) || sum / m >= whole / rest)
            continue;
        const WsExpr *x = exactly(w->p.r, f, m);
        if (!ptx_not_negative(w, x))
            continue;
        ws_source_granted(w->p.r, PTX_BELOW);
        return ptx_quotient(w->p.r, x, d);
    }
    return NULL;
}

static const WsExpr *by_product(PtxWalk *w, const WsExpr *e, gint64 s, guint depth)
{
    WsRead *r = w->p.r;
    WsAffine f;
    gint64 by;
    if (!e || depth > 3 || s > MOST_SHIFT || !ws_expr_affine(e, &f))
        return NULL;
    const WsExpr *found = divided(w, &f, s);
    for (guint i = 0; i < f.n && !found; i++) {
        const WsExpr *t = f.term[i];
        gint64 more = 0;
        if (t->op != WS_EXPR_DIV || !ws_x_is(t->arg[1], &by) || by < 2 || (by & (by - 1)) ||
            f.factor[i] != 1)
            continue;
        while (by >> (more + 1))
            more++;
        /* x + floor(y / n) is floor((n x + y) / n) */
        const WsExpr *x = ws_x_op(r, WS_EXPR_SUB, e, ws_x_own(r, ws_expr_ref(t)));
        x = ws_x_op(r, WS_EXPR_MUL, x, ws_x_int(r, by));
        x = ws_x_op(r, WS_EXPR_ADD, x, ws_x_own(r, ws_expr_ref(t->arg[0])));
        found = by_product(w, x, s + more, depth + 1);
    }
    ws_affine_clear(&f);
    return found;
}

const WsExpr *ptx_by_product(PtxWalk *w, const WsExpr *e, gint64 s)
{
    return by_product(w, e, s, 0);
}

/* The same of all bits of it turned: -1 - x / d. */
const WsExpr *ptx_by_product_turned(PtxWalk *w, const WsExpr *e, gint64 s)
{
    const WsExpr *x = ws_x_op(w->p.r, WS_EXPR_SUB, ws_x_int(w->p.r, -1), e);
    return x ? ptx_by_product(w, x, s) : NULL;
}
