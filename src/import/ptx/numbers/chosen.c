#include "import/ptx/walk.h"

/* A value that one of two ways gave is select(c, a, b). Compilers ask it what c was: a number that
 * no index is (-1: there is no tile) is compared. */

static gboolean is_select(const WsExpr *e)
{
    return e && e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT;
}

static const WsExpr *own(WsRead *r, const WsExpr *e)
{
    return ws_x_own(r, ws_expr_ref((WsExpr *)e));
}

static gboolean at_most(PtxWalk *w, const WsExpr *a, const WsExpr *b, gint64 less)
{
    WsRead *r = w->p.r;
    const WsExpr *d = ws_x_op(r, WS_EXPR_SUB, own(r, b), own(r, a));
    return ptx_not_negative(w, ws_x_op(r, WS_EXPR_SUB, d, ws_x_int(r, less)));
}

/* Whether `a op b` holds; -1: it is not known. */
static gint decided(PtxWalk *w, WsExprOp op, const WsExpr *a, const WsExpr *b)
{
    if (op == WS_EXPR_GT || op == WS_EXPR_GE)
        return decided(w, op == WS_EXPR_GT ? WS_EXPR_LT : WS_EXPR_LE, b, a);
    if (op != WS_EXPR_LT && op != WS_EXPR_LE)
        return -1;
    const gint64 strict = op == WS_EXPR_LT;
    return at_most(w, a, b, strict) ? 1 : at_most(w, b, a, !strict) ? 0 : -1;
}

static const WsExpr *negated(WsRead *r, const WsExpr *c)
{
    return ptx_positive(r, ws_x_op(r, WS_EXPR_NOT, c, NULL));
}

/* Of a quotient by 0 nothing is known: the verdict says that there is none. */
static void grant_quotients(WsRead *r, const WsExpr *e)
{
    gint64 n;
    if ((e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD) && !ws_x_is(e->arg[1], &n)) {
        g_autofree char *by = ws_x_text(e->arg[1]);
        ws_source_granted(r, ws_source_format(r, "%s is not 0 where it divides", by));
    }
    for (guint i = 0; i < e->n_args; i++)
        grant_quotients(r, e->arg[i]);
}

const WsExpr *ptx_chosen(PtxWalk *w, WsExprOp op, const WsExpr *a, const WsExpr *b)
{
    gint64 n;
    const gboolean left = is_select(a);
    const WsExpr *choice = left ? a : b;
    if (!a || !b || !is_select(choice) || !ws_x_is(left ? b : a, &n))
        return NULL;
    gint said[2];
    for (guint k = 0; k < 2; k++)
        said[k] =
            left ? decided(w, op, choice->arg[1 + k], b) : decided(w, op, a, choice->arg[1 + k]);
    if (said[0] < 0 || said[1] < 0)
        return NULL;
    if (!w->p.probing)
        grant_quotients(w->p.r, choice);
    if (said[0] == said[1])
        return ws_x_int(w->p.r, said[0]);
    const WsExpr *c = own(w->p.r, choice->arg[0]);
    return said[0] ? c : negated(w->p.r, c);
}

const WsExpr *ptx_settled(PtxWalk *w, const WsExpr *e, const WsExpr *c, gboolean holds)
{
    const WsExpr *none = c && is_select(e) ? negated(w->p.r, c) : NULL;
    while (none && is_select(e)) {
        const gboolean same = ws_expr_equal(e->arg[0], c);
        if (!same && !ws_expr_equal(e->arg[0], none))
            break;
        e = own(w->p.r, e->arg[same == holds ? 1 : 2]);
    }
    return e;
}

void ptx_settle(PtxWalk *w, const WsExpr *c, gboolean holds)
{
    GHashTableIter it;
    gpointer value;
    g_hash_table_iter_init(&it, w->p.frame->vars);
    while (g_hash_table_iter_next(&it, NULL, &value)) {
        const Val *v = value;
        const WsExpr *e = v->kind == VAL_INT ? ptx_settled(w, v->e, c, holds) : NULL;
        if (!e || e == v->e)
            continue;
        w->by_path++; /* it is so on this way only */
        g_hash_table_iter_replace(&it, (gpointer)ptx_value(w, e));
    }
}
