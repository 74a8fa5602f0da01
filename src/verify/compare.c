/* What a comparison is taken for: docs/soundness.md section 6, lemmas TRUTH and EXTREME. */
#include "program/parts/variable.h"
#include "verify/form.h"

gboolean form_divides(const WsExpr *e)
{
    gint64 m;
    const gboolean by = e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD ||
                        (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
    gboolean found = by && !(ws_expr_is_int(e->arg[1], &m) && m > 0);
    for (guint i = 0; i < e->n_args; i++)
        found |= form_divides(e->arg[i]);
    return found;
}

static gboolean is_truth(const WsExpr *e)
{
    return (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE) || e->op == WS_EXPR_NOT ||
           e->op == WS_EXPR_AND || e->op == WS_EXPR_OR;
}

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
    } else if (fits && f.n == 1 && is_truth(f.term[0]) &&
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

/* It has a name of the launch or of the tile; an index, a counter. */
static void note_kinds(const Plan *plan, const WsExpr *e, gboolean *name, gboolean *moves)
{
    const WsVarKind kind = plan_is_var(plan, e) ? plan->p->var[e->var].kind : WS_VAR_ROW;
    *name |= e->op == WS_EXPR_INDEX || kind == WS_VAR_SIZE || kind == WS_VAR_RUN ||
             kind == WS_VAR_AXIS || kind == WS_VAR_TILE;
    *moves |= kind == WS_VAR_INDEX || kind == WS_VAR_TOTAL || kind == WS_VAR_COUNTER ||
              kind == WS_VAR_LET;
    for (guint i = 0; i < e->n_args; i++)
        note_kinds(plan, e->arg[i], name, moves);
}

/* Lemma EXTREME: min(a, b) > x is a > x && b > x, min(a, b) < x is a < x || b < x; so for max. */
static WsExpr *by_sides(const Plan *plan, const WsExpr *e)
{
    for (guint i = 0; i < 2 && e->op <= WS_EXPR_GE; i++) {
        const WsExpr *s = e->arg[i], *x = e->arg[1 - i];
        gboolean name = FALSE, moves = FALSE;
        note_kinds(plan, s, &name, &moves);
        if (s->op != WS_EXPR_CALL || (s->func != WS_FUNC_MIN && s->func != WS_FUNC_MAX) ||
            s->n_args != 2 || !name || !moves)
            continue;
        const gboolean above = (e->op == WS_EXPR_GT || e->op == WS_EXPR_GE) == (i == 0);
        WsExpr *side[2];
        for (guint k = 0; k < 2; k++)
            side[k] =
                ws_expr_op(e->op, ws_expr_ref(i ? x : s->arg[k]), ws_expr_ref(i ? s->arg[k] : x));
        return ws_expr_op(above == (s->func == WS_FUNC_MIN) ? WS_EXPR_AND : WS_EXPR_OR, side[0],
                          side[1]);
    }
    return NULL;
}

WsExpr *form_compared(const Plan *plan, const WsExpr *e)
{
    WsExpr *truth = plain_truth(e);
    return truth ? truth : by_sides(plan, e);
}
