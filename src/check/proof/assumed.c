/* What `assume` says of whole expressions: of kt where it speaks of N/64, of N - M where it says
 * M <= N. */
#include "check/proof/symbols.h"
#include "program/program.h"

typedef struct {
    WsExprOp op;
    WsAffine sum; /* sum (op) 0 */
} Assumed;

static void clear_assumed(gpointer data)
{
    ws_affine_clear(&((Assumed *)data)->sum);
}

static void take(WsControl *c, const WsExpr *e)
{
    if (e->n_args == 2 && e->op == WS_EXPR_AND) {
        take(c, e->arg[0]);
        take(c, e->arg[1]);
        return;
    }
    if (e->n_args != 2 || e->op < WS_EXPR_LT || e->op > WS_EXPR_EQ)
        return;
    g_autoptr(WsExpr) d = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(e->arg[0]), ws_expr_ref(e->arg[1]));
    g_autoptr(WsExpr) whole = ws_defined(c, d);
    Assumed a = { .op = e->op };
    if (ws_expr_affine(whole, &a.sum))
        g_array_append_val(c->assumed, a);
}

void ws_find_assumed(WsControl *c)
{
    c->assumed = g_array_new(FALSE, FALSE, sizeof(Assumed));
    g_array_set_clear_func(c->assumed, clear_assumed);
    for (guint i = 0; i < c->p->n_assume && !c->page; i++)
        take(c, c->p->assume[i]);
}

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

/* L-ASSUMED: sign*(e - constant of e) + constant of a (op) 0. */
static void bound(const Assumed *a, const WsAffine *e, gint64 sign, gint64 *least, gint64 *most)
{
    if (!small(a->sum.constant) || !small(e->constant))
        return;
    gint64 at = e->constant - sign * a->sum.constant; /* e (op) at, or at (op) e */
    gint64 next = a->op == WS_EXPR_LT || a->op == WS_EXPR_GT;
    gboolean above = a->op == WS_EXPR_GE || a->op == WS_EXPR_GT || a->op == WS_EXPR_EQ;
    gboolean below = a->op == WS_EXPR_LE || a->op == WS_EXPR_LT || a->op == WS_EXPR_EQ;
    if (sign > 0 ? above : below)
        *least = MAX(*least, at + next);
    if (sign > 0 ? below : above)
        *most = MIN(*most, at - next);
}

void ws_assumed_bounds(const WsControl *c, const WsExpr *e, gint64 *least, gint64 *most)
{
    WsAffine sum = { 0 };
    if (c->assumed->len == 0)
        return;
    g_autoptr(WsExpr) whole = ws_defined(c, e);
    if (!ws_expr_affine(whole, &sum))
        return;
    for (guint i = 0; i < c->assumed->len; i++)
        for (gint64 sign = -1; sign <= 1; sign += 2) {
            const Assumed *a = &g_array_index(c->assumed, Assumed, i);
            if (same_terms(&a->sum, &sum, sign))
                bound(a, &sum, sign, least, most);
        }
    ws_affine_clear(&sum);
}
