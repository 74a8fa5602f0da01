#include "program/walk/launch_asked.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

typedef struct {
    const WsProgram *p;
    gboolean known;
} Known;

static void note_leaf(const WsExpr *e, gpointer data)
{
    Known *k = data;
    if (e->op == WS_EXPR_INDEX)
        k->known = FALSE;
    if (e->op != WS_EXPR_VAR)
        return;
    const gboolean named = e->var >= 0 && (guint)e->var < k->p->n_vars;
    const WsVarKind kind = named ? k->p->var[e->var].kind : WS_VAR_SIZE;
    k->known &= named && (kind == WS_VAR_SIZE || kind == WS_VAR_SCALAR || kind == WS_VAR_RUN);
}

gboolean ws_launch_knows(const WsProgram *p, const WsExpr *e)
{
    Known k = { p, TRUE };
    ws_expr_visit(e, note_leaf, &k);
    return k.known;
}

static void note_divisor(const WsExpr *e, gpointer data)
{
    gint64 divisor;
    const gboolean divides = e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD ||
                             (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
    if (divides && e->n_args == 2 && (!ws_expr_is_int(e->arg[1], &divisor) || divisor == 0))
        *(gboolean *)data = TRUE;
}

gboolean ws_may_lack_value(const WsExpr *e)
{
    gboolean lacks = FALSE;
    ws_expr_visit(e, note_divisor, &lacks);
    return lacks;
}

static void add(GPtrArray *to, WsExpr *e)
{
    for (guint i = 0; e && i < to->len; i++)
        if (ws_expr_equal(to->pdata[i], e))
            return;
    if (e && ws_may_lack_value(e))
        g_ptr_array_add(to, e);
}

GPtrArray *ws_launch_valued(const WsProgram *p)
{
    GPtrArray *valued = g_ptr_array_new();
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_RUN && !p->var[i].real)
            add(valued, p->var[i].value);
    for (guint t = 0; t < p->n_tensors; t++)
        for (guint d = 0; d < p->tensor[t].rank; d++) {
            add(valued, p->tensor[t].shape[d]);
            if (p->tensor[t].strides_given)
                add(valued, p->tensor[t].stride[d]);
        }
    for (guint a = 0; a < p->tiles->n_axes; a++)
        add(valued, p->tiles->axis[a].extent);
    add(valued, p->tiles->order_n);
    add(valued, p->tiles->grid);
    return valued;
}
