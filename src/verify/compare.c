/* What a comparison is taken for: docs/soundness.md section 6, lemmas TRUTH and EXTREME. */
#include "program/parts/variable.h"
#include "verify/state.h"
#include "verify/text.h"

static gint64 divisor_of(const WsAffine *f)
{
    gint64 g = 0;
    for (guint i = 0; i < f->n; i++)
        g = range_gcd(g, f->factor[i]);
    return g;
}

/* Lemma TRUTH: f*a + g*b is no number that the common divisor of f and g does not divide; a
 * comparison of a sum with one truth value in it is that, its opposite, or a number. */
static WsExpr *plain_truth(const WsExpr *e)
{
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    WsAffine f;
    WsExpr *made = NULL;
    gint64 one;
    const gboolean fits = ws_expr_affine(d, &f);
    if (fits && e->op >= WS_EXPR_EQ && divisor_of(&f) > 1 &&
        range_mod(f.constant, divisor_of(&f)) != 0) {
        made = ws_expr_int(e->op == WS_EXPR_NE);
    } else if (fits && f.n == 1 && text_is_truth(f.term[0]) &&
               !__builtin_add_overflow(f.constant, f.factor[0], &one)) {
        const int off = range_answer(e->op, range_exact(f.constant)),
                  on = range_answer(e->op, range_exact(one));
        made = off == on ? ws_expr_int(off) : ws_expr_ref(f.term[0]);
        if (off > on)
            made = ws_expr_op(WS_EXPR_NOT, made, NULL);
    }
    ws_affine_clear(&f);
    return made;
}

/* The sum with `with` in place of its term n, compared with 0 as `op` says. Takes `with`. */
static WsExpr *with_term(const WsAffine *f, guint n, WsExpr *with, WsExprOp op)
{
    WsExpr *all = ws_expr_int(f->constant);
    for (guint i = 0; i < f->n; i++) {
        WsExpr *term = i == n ? with : ws_expr_ref(f->term[i]);
        all =
            ws_expr_op(WS_EXPR_ADD, all, ws_expr_op(WS_EXPR_MUL, ws_expr_int(f->factor[i]), term));
    }
    return ws_expr_op(op, all, ws_expr_int(0));
}

/* `t` stands in the sum f, with a factor that is not 0: what the comparison says of both sides. */
static WsExpr *both_sides(const WsAffine *f, guint n, WsExprOp op)
{
    const WsExpr *t = f->term[n];
    const gboolean select = t->func == WS_FUNC_SELECT;
    WsExpr *a = with_term(f, n, ws_expr_ref(t->arg[select ? 1 : 0]), op);
    WsExpr *b = with_term(f, n, ws_expr_ref(t->arg[select ? 2 : 1]), op);
    if (select) {
        WsExpr *no = ws_expr_op(WS_EXPR_NOT, ws_expr_ref(t->arg[0]), NULL);
        return ws_expr_op(WS_EXPR_OR, ws_expr_op(WS_EXPR_AND, ws_expr_ref(t->arg[0]), a),
                          ws_expr_op(WS_EXPR_AND, no, b));
    }
    /* the sum grows with t, or falls; it is to be above 0, or below */
    const gboolean above = (op == WS_EXPR_GT || op == WS_EXPR_GE) == (f->factor[n] > 0);
    return ws_expr_op(above == (t->func == WS_FUNC_MIN) ? WS_EXPR_AND : WS_EXPR_OR, a, b);
}

/* Lemma EXTREME: min(a, b) + y > x is a + y > x && b + y > x, min(a, b) + y < x is a + y < x ||
 * b + y < x; so for max; select(c, a, b) + y > x is c && a + y > x || !c && b + y > x. */
static WsExpr *by_sides(const Plan *plan, const WsExpr *e)
{
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    WsAffine f;
    WsExpr *made = NULL;
    const gboolean fits = ws_expr_affine(d, &f);
    for (guint n = 0; n < f.n && fits && !made; n++) {
        const WsExpr *t = f.term[n];
        if (t->op != WS_EXPR_CALL || f.factor[n] == 0)
            continue;
        const guint leaves = text_leaves(plan->p, t, FALSE);
        const guint moving = LEAF(INDEX) | LEAF(TOTAL) | LEAF(COUNTER) | LEAF(LET);
        const gboolean extreme = (t->func == WS_FUNC_MIN || t->func == WS_FUNC_MAX) &&
                                 t->n_args == 2 && e->op <= WS_EXPR_GE;
        if ((leaves & (LEAF_LAUNCH | LEAF_TILE)) && (leaves & moving) &&
            (extreme || t->func == WS_FUNC_SELECT))
            made = both_sides(&f, n, e->op);
    }
    ws_affine_clear(&f);
    return made;
}

WsExpr *form_compared(const Plan *plan, const WsExpr *e)
{
    WsExpr *truth = plain_truth(e);
    return truth ? truth : by_sides(plan, e);
}
