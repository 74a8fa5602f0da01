/* What kernels compute in 32 bits and a proof counts in 64: which rows a write leaves out. A launch
 * is refused whose sizes, run names or tiles do not fit; what data give, and products of what is no
 * number, may not. */
#include "base/phrase.h"
#include "check/global/judge.h"
#include "program/parts/operation.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/depends.h"

enum { MOST_DEEP = 32 };

typedef struct {
    const WsProgram *p;
    const WsDepends *d;
    gboolean product;
    guint depth;
} Look;

static gboolean of_launch(const Look *l, const WsExpr *e)
{
    return e->op != WS_EXPR_INT && !ws_depends_of(l->d, e);
}

/* Numbers times a tile's are what axes were divided by; of sizes, and their sums, 32 bits need not
 * hold them. */
static gboolean grows(const Look *l, const WsExpr *e)
{
    const gboolean first = e->arg[0]->op == WS_EXPR_INT;
    const WsExpr *by = e->arg[!first], *of = e->arg[first];
    if (e->op == WS_EXPR_ADD)
        return of_launch(l, of) && of_launch(l, by);
    return by->op != WS_EXPR_INT || ((by->i < -1 || by->i > 1) && of_launch(l, of));
}

static void look(const WsExpr *e, gpointer data)
{
    Look *l = data;
    if (e->op == WS_EXPR_MUL || e->op == WS_EXPR_ADD)
        l->product |= grows(l, e);
    const WsVar *v = e->op == WS_EXPR_VAR && e->var >= 0 ? &l->p->var[e->var] : NULL;
    if (!v || l->depth >= MOST_DEEP || v->kind == WS_VAR_RUN)
        return;
    l->depth++;
    if (v->kind == WS_VAR_TILE && v->value)
        ws_expr_visit(v->value, look, l);
    for (guint i = 0; v->kind == WS_VAR_LET && i < l->p->n_ops; i++)
        if (l->p->op[i]->var == e->var && l->p->op[i]->set)
            ws_expr_visit(l->p->op[i]->set, look, l);
    l->depth--;
}

void ws_global_narrow(const WsProgram *p, GPtrArray *given)
{
    g_autoptr(WsDepends) d = NULL;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (!op->limit)
            continue;
        if (!d)
            d = ws_depends_new(p, NULL);
        Look l = { p, d, FALSE, 0 };
        ws_expr_visit(op->limit, look, &l);
        if (!l.product && !(ws_depends_of(d, op->limit) & WS_DEPENDS_DATA))
            continue;
        g_autofree char *text = ws_expr_print(op->limit);
        char *said = ws_phrase("32 bits hold how many rows are written (%s), and what that is "
                               "computed from",
                               text);
        if (g_ptr_array_find_with_equal_func(given, said, g_str_equal, NULL))
            g_free(said);
        else
            g_ptr_array_add(given, said);
    }
}
