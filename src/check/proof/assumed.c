/* What `assume` says of whole expressions: of kt where it speaks of N/64, of N - M where it says
 * M <= N. */
#include "check/proof/symbols.h"

typedef struct {
    const WsControl *c;
    const WsAffine *of; /* the expression */
    gint64 *least, *most;
} Bounds;

/* Terms of b are `sign` times those of a. */
static gboolean same_terms(const WsAffine *a, const WsAffine *b, gint64 sign)
{
    gboolean same = a->n == b->n && a->n > 0;
    for (guint i = 0; same && i < a->n; i++)
        same = a->factor[i] == sign * b->factor[i] && ws_expr_equal(a->term[i], b->term[i]);
    return same;
}

static gboolean small(gint64 x)
{
    return ABS(x / 2) < ((gint64)1 << 50);
}

/* L-ASSUMED: sign*(e - constant of e) + constant (op) 0. */
static void bound(const Bounds *b, WsExprOp op, gint64 sign, gint64 constant)
{
    if (!small(constant) || !small(b->of->constant))
        return;
    gint64 at = b->of->constant - sign * constant; /* e (op) at, or at (op) e */
    gint64 next = op == WS_EXPR_LT || op == WS_EXPR_GT;
    gboolean above = op == WS_EXPR_GE || op == WS_EXPR_GT || op == WS_EXPR_EQ;
    gboolean below = op == WS_EXPR_LE || op == WS_EXPR_LT || op == WS_EXPR_EQ;
    if (sign > 0 ? above : below)
        *b->least = MAX(*b->least, at + next);
    if (sign > 0 ? below : above)
        *b->most = MIN(*b->most, at - next);
}

static void look(const Bounds *b, const WsExpr *e)
{
    if (e->n_args == 2 && e->op == WS_EXPR_AND) {
        look(b, e->arg[0]);
        look(b, e->arg[1]);
        return;
    }
    if (e->n_args != 2 || e->op < WS_EXPR_LT || e->op > WS_EXPR_EQ)
        return;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    g_autoptr(WsExpr) whole = ws_expanded(b->c, d);
    WsAffine a = { 0 };
    if (!ws_expr_affine(whole, &a))
        return;
    for (gint64 sign = -1; sign <= 1; sign += 2)
        if (same_terms(&a, b->of, sign))
            bound(b, e->op, sign, a.constant);
    ws_affine_clear(&a);
}

void ws_assumed_bounds(const WsControl *c, const WsExpr *e, gint64 *least, gint64 *most)
{
    g_autoptr(WsExpr) whole = ws_expanded(c, e);
    WsAffine of = { 0 };
    if (c->page || !ws_expr_affine(whole, &of))
        return;
    Bounds b = { c, &of, least, most };
    for (guint i = 0; i < c->p->n_assume; i++)
        look(&b, c->p->assume[i]);
    ws_affine_clear(&of);
}
