#include "codegen/sizes.h"
#include "program/program.h"

/* VAR cmp INT (or INT cmp VAR) narrows what is known. */
static void narrow(const WsExpr *x, gint var, WsInterval *in)
{
    static const WsExprOp mirror[] = { WS_EXPR_GT, WS_EXPR_GE, WS_EXPR_LT, WS_EXPR_LE, WS_EXPR_EQ };
    if (x->op == WS_EXPR_AND) {
        narrow(x->arg[0], var, in);
        narrow(x->arg[1], var, in);
        return;
    }
    if (x->op < WS_EXPR_LT || x->op > WS_EXPR_EQ)
        return;
    gboolean turned = x->arg[0]->op == WS_EXPR_INT;
    const WsExpr *a = x->arg[turned], *b = x->arg[!turned];
    WsExprOp op = turned ? mirror[x->op - WS_EXPR_LT] : x->op;
    if (a->op != WS_EXPR_VAR || b->op != WS_EXPR_INT || a->var != var)
        return;
    gint64 c = ws_interval(b->i, b->i).lo;
    if (op == WS_EXPR_GT || op == WS_EXPR_GE || op == WS_EXPR_EQ)
        in->lo = MAX(in->lo, c + (op == WS_EXPR_GT));
    if (op == WS_EXPR_LT || op == WS_EXPR_LE || op == WS_EXPR_EQ)
        in->hi = MIN(in->hi, c - (op == WS_EXPR_LT));
}

WsInterval ws_fact_size(const WsProgram *p, gint var)
{
    WsInterval in = { 0, G_MAXINT32 };
    for (guint i = 0; i < p->n_assume; i++)
        narrow(p->assume[i], var, &in);
    return in;
}
