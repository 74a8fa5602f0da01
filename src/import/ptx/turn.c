#include "import/fit.h"
#include "import/ptx/walk.h"

/* Indices that go round, and parities that flip where they do, as compilers write them: with
 * selects. */

/* c holds (or, `negated`, does not) exactly where x % n wraps: (x + 1) % n is 0. */
static gboolean is_wrap(WsRead *r, const WsExpr *c, const WsExpr **x, gint64 *n, gboolean *negated)
{
    gint64 want;
    WsAffine f;
    *negated = c && c->op == WS_EXPR_NE;
    if (!c || (c->op != WS_EXPR_EQ && c->op != WS_EXPR_NE) || !ws_x_is(c->arg[1], &want) ||
        !ws_expr_affine(c->arg[0], &f))
        return FALSE;
    const WsExpr *m = f.n == 1 && f.factor[0] == 1 ? f.term[0] : NULL;
    gboolean good = m && m->op == WS_EXPR_MOD && ws_x_is(m->arg[1], n) && *n > 1;
    if (good) {
        *x = ws_x_own(r, ws_expr_ref(m->arg[0]));
        want -= f.constant;
        good = want == *n - 1 || want == 0;
        if (good && want == 0)
            *x = ws_x_op(r, WS_EXPR_SUB, *x, ws_x_int(r, 1));
    }
    ws_affine_clear(&f);
    return good && *x;
}

/* What a round that is only tried begins with: an index is below its modulus, a parity 0 or 1. */
static gboolean is_trial(const WsExpr *e)
{
    return e->op == WS_EXPR_NAME && g_str_has_prefix(e->name, "__v_");
}

/* The parity p = (x / n + …) % 2 of what comes after the wrap: (x + 1) / n is one more there. */
static const WsExpr *next_parity(WsRead *r, const WsExpr *p, const WsExpr *x, gint64 n)
{
    gint64 two, d, by;
    WsAffine f;
    const WsExpr *sum = NULL;
    if (p && is_trial(p) && is_trial(x))
        return ws_x_mod(r,
                        ws_x_op(r, WS_EXPR_ADD, p,
                                ws_x_op(r, WS_EXPR_DIV, ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, 1)),
                                        ws_x_int(r, n))),
                        2);
    if (!p || p->op != WS_EXPR_MOD || !ws_x_is(p->arg[1], &two) || two != 2 ||
        !ws_expr_affine(p->arg[0], &f))
        return NULL;
    for (guint i = 0; i < f.n && !sum; i++) {
        const WsExpr *t = f.term[i];
        if (t->op != WS_EXPR_DIV || !ws_x_is(t->arg[1], &by) || by != n || f.factor[i] % 2 == 0 ||
            !ws_x_difference(t->arg[0], x, &d) || d)
            continue;
        const WsExpr *next =
            ws_x_op(r, WS_EXPR_DIV, ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, 1)), ws_x_int(r, n));
        sum = ws_x_op(r, WS_EXPR_ADD, ws_x_own(r, ws_expr_ref(p->arg[0])),
                      ws_x_op(r, WS_EXPR_SUB, next, ws_x_own(r, ws_expr_ref(t))));
    }
    ws_affine_clear(&f);
    return sum ? ws_x_mod(r, sum, 2) : NULL;
}

/* select(x % n wraps, 0, x % n + 1) is (x + 1) % n; the same of a parity that flips there. */
const WsExpr *ptx_next_turn(WsRead *r, const WsExpr *c, const WsExpr *a, const WsExpr *b)
{
    const WsExpr *x;
    gint64 n, zero, d;
    gboolean negated;
    if (a && b && c && c->n_args == 2 && is_trial(c->arg[0])) {
        const WsExpr *atom = ws_x_own(r, ws_expr_ref(c->arg[0]));
        const WsExpr *e = ws_x_call(r, WS_FUNC_SELECT, c, a, b);
        if (e && ws_fit_wraps(e, atom->name, &n, &d))
            return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, atom, ws_x_int(r, d)), n);
    }
    if (!a || !b || !is_wrap(r, c, &x, &n, &negated))
        return NULL;
    const WsExpr *wraps = negated ? b : a, *goes_on = negated ? a : b;
    const WsExpr *index = ws_x_mod(r, x, n);
    if (ws_x_is(wraps, &zero) && zero == 0 && ws_x_difference(index, goes_on, &d) && d == 1)
        return ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, x, ws_x_int(r, 1)), n);
    const WsExpr *flipped =
        goes_on->op == WS_EXPR_MOD
            ? ws_x_mod(
                  r, ws_x_op(r, WS_EXPR_ADD, ws_x_own(r, ws_expr_ref(goes_on)), ws_x_int(r, 1)), 2)
            : NULL;
    return flipped && ws_expr_equal(flipped, wraps) ? next_parity(r, goes_on, x, n) : NULL;
}

const WsExpr *ptx_next_parity(WsRead *r, const WsExpr *c, const WsExpr *parity)
{
    const WsExpr *x;
    gint64 n;
    gboolean negated;
    return is_wrap(r, c, &x, &n, &negated) && !negated ? next_parity(r, parity, x, n) : NULL;
}

/* … of an index below n that is counted on by 1: what the parity is then. */
const WsExpr *ptx_flipped(WsRead *r, const WsExpr *parity, const WsExpr *index, gint64 n)
{
    gint64 c, p, two;
    if (ws_x_is(index, &c)) {
        if (c + 1 != n)
            return c + 1 < n ? parity : NULL;
        if (ws_x_is(parity, &p))
            return p == 0 || p == 1 ? ws_x_int(r, 1 - p) : NULL;
        const gboolean is = is_trial(parity) || (parity->op == WS_EXPR_MOD &&
                                                 ws_x_is(parity->arg[1], &two) && two == 2);
        return is ? ws_x_mod(r, ws_x_op(r, WS_EXPR_ADD, parity, ws_x_int(r, 1)), 2) : NULL;
    }
    if (is_trial(index))
        return next_parity(r, parity, index, n);
    return index->op == WS_EXPR_MOD && ws_x_is(index->arg[1], &c) && c == n
               ? next_parity(r, parity, ws_x_own(r, ws_expr_ref(index->arg[0])), n)
               : NULL;
}
