#include "codegen/sizes.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

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

static gboolean keeps(const WsProgram *p, const WsSize *size, guint n, gboolean rehearse)
{
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, size, n, rehearse, NULL);
    return v != NULL;
}

/* One size after the other leaves what each assumption by itself allows, a little at a time. */
static void search(const WsProgram *p, WsSize *size, guint n)
{
    for (gint64 d = 1; d <= 256; d++) {
        for (guint i = 0; i < 2 * n; i++) {
            const gint64 was = size[i / 2].value;
            size[i / 2].value = was + (i % 2 ? d : -d);
            if (keeps(p, size, n, FALSE))
                return;
            size[i / 2].value = was;
        }
    }
}

gint64 ws_fact_preset(const WsProgram *p, gint var)
{
    const WsVar *v = &p->var[var];
    if (keeps(p, NULL, 0, FALSE))
        return v->preset;
    if (keeps(p, NULL, 0, TRUE))
        return v->rehearse;
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    guint at = 0;
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind != WS_VAR_SIZE)
            continue;
        const WsInterval in = ws_fact_size(p, (gint)i);
        const WsSize one = { p->var[i].name, CLAMP(p->var[i].preset, in.lo, in.hi) };
        at = i == (guint)var ? size->len : at;
        g_array_append_val(size, one);
    }
    WsSize *all = (WsSize *)(gpointer)size->data;
    if (!keeps(p, all, size->len, FALSE))
        search(p, all, size->len);
    return all[at].value;
}
