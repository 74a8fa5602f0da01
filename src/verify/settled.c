/* Truths that are the same in two states though their parts are not: docs/soundness.md section 8.6.
 */
#include "verify/cover.h"

gboolean settled(Context *x, WsExprOp op, const WsExpr *a, const WsExpr *b, int *which)
{
    *which = range_answer(op, difference(x, a, b, TRUE));
    return *which >= 0 && *which == range_answer(op, difference(x, a, b, FALSE));
}

int settled_truth(Context *x, const WsExpr *e)
{
    int which = -1, a, b;
    if (e->op == WS_EXPR_NOT) {
        a = settled_truth(x, e->arg[0]);
        return a < 0 ? -1 : !a;
    }
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR) {
        const int enough = e->op == WS_EXPR_OR;
        a = settled_truth(x, e->arg[0]);
        b = a == enough ? a : settled_truth(x, e->arg[1]);
        return a == enough || b == enough ? enough : a < 0 || b < 0 ? -1 : !enough;
    }
    if (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE)
        return settled(x, e->op, e->arg[0], e->arg[1], &which) ? which : -1;
    g_autoptr(WsExpr) zero = ws_expr_int(0);
    return settled(x, WS_EXPR_NE, e, zero, &which) ? which : -1;
}

/* A comparison holds if its one fresh name, or a quotient of it, goes on by this much. */
void note_wanted(Context *x, const WsExpr *e)
{
    g_autoptr(WsExpr) sum = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    WsAffine f;
    gint64 rest = 0, by = 0, step, part = 1;
    gboolean fine = ws_expr_affine(sum, &f);
    for (guint i = 0; i < f.n && fine; i++) {
        const WsExpr *t = f.term[i];
        Shift d;
        if (fresh_symbols(x, t)) {
            if (!plan_symbol(x->c->plan, t) && t->op == WS_EXPR_DIV &&
                ws_expr_is_int(t->arg[1], &part))
                t = t->arg[0];
            fine = !by && plan_symbol(x->c->plan, t);
            by = f.factor[i];
        } else {
            fine = shift(x, t, FALSE, &d) && d.g == 0 &&
                   !__builtin_mul_overflow(f.factor[i], d.d, &step) &&
                   !__builtin_add_overflow(rest, step, &rest);
        }
    }
    ws_affine_clear(&f);
    if (fine && by && by != G_MININT64 && rest > -FRESH_MOST && rest < FRESH_MOST &&
        rest % by == 0 && part > 0 && part < FRESH_MOST / (ABS(rest) + 1))
        x->c->wanted = -rest / by * part;
}

/* What is at least 0 where the comparison `e` holds; NULL: it is none of <, <=, >, >=. */
static WsExpr *above_0(const WsExpr *e)
{
    const gboolean less = e->op == WS_EXPR_LT || e->op == WS_EXPR_LE,
                   strict = e->op == WS_EXPR_LT || e->op == WS_EXPR_GT;
    if (e->op < WS_EXPR_LT || e->op > WS_EXPR_GE)
        return NULL;
    WsExpr *d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[less]), ws_expr_ref(e->arg[!less]));
    return strict ? ws_expr_op(WS_EXPR_SUB, d, ws_expr_int(1)) : d;
}

/* Wherever `by` holds `e` does: lemma IMPLIED, from a >= b follows a >= 0 if b >= 0. */
static gboolean is_implied(Context *x, const WsExpr *by, const WsExpr *e)
{
    if (by->op == WS_EXPR_OR)
        return is_implied(x, by->arg[0], e) && is_implied(x, by->arg[1], e);
    if (e->op == WS_EXPR_AND)
        return is_implied(x, by, e->arg[0]) && is_implied(x, by, e->arg[1]);
    if (by->op == WS_EXPR_AND && (is_implied(x, by->arg[0], e) || is_implied(x, by->arg[1], e)))
        return TRUE;
    if (e->op == WS_EXPR_OR)
        return is_implied(x, by, e->arg[0]) || is_implied(x, by, e->arg[1]);
    g_autoptr(WsExpr) a = above_0(by), b = above_0(e);
    return a && b && difference(x, b, a, TRUE).low >= 0 && difference(x, b, a, FALSE).low >= 0;
}

gboolean one_side(Context *x, const WsExpr *e, guint fails, const Shift *d)
{
    for (guint i = 0; i < 2; i++) {
        const WsExpr *kept = e->arg[i], *left = e->arg[!i];
        if ((fails >> i & 1) || d[i].d != 0 || d[i].g != 0)
            continue;
        if (e->op == WS_EXPR_OR ? is_implied(x, left, kept) : is_implied(x, kept, left))
            return TRUE;
    }
    return FALSE;
}
