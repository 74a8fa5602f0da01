#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

void ws_array_visit(const WsArray *a, void (*see)(const WsArray *node, gpointer data),
                    gpointer data)
{
    if (!a)
        return;
    see(a, data);
    for (guint i = 0; i < a->n_arg; i++)
        ws_array_visit(a->arg[i], see, data);
}

gboolean ws_array_reads(const WsArray *a, guint value)
{
    gboolean any = a && a->form == WS_ARRAY_VALUE && a->index == value;
    for (guint i = 0; a && i < a->n_arg && !any; i++)
        any = ws_array_reads(a->arg[i], value);
    return any;
}

gboolean ws_array_calls(const WsArray *a, WsFunc one, WsFunc other)
{
    gboolean any =
        a && a->n_arg > 0 && a->x->op == WS_EXPR_CALL && (a->x->func == one || a->x->func == other);
    for (guint i = 0; a && i < a->n_arg && !any; i++)
        any = ws_array_calls(a->arg[i], one, other);
    return any;
}

void ws_array_scan(const WsArray *a, gboolean *exclusive, gboolean *reverse)
{
    *exclusive = a->x->n_args > 1 && a->x->arg[1]->i;
    *reverse = a->x->n_args > 2 && a->x->arg[2]->i;
}

gboolean ws_array_places(const WsArray *a)
{
    gboolean any = a->form == WS_ARRAY_ROW || a->form == WS_ARRAY_COL;
    for (guint i = 0; a->form == WS_ARRAY_OPERATION && i < a->n_arg && !any; i++)
        any = ws_array_places(a->arg[i]);
    return any;
}

static gboolean is_byte(WsDtype t)
{
    return t == WS_DTYPE_E4M3 || t == WS_DTYPE_E5M2;
}

static const WsArray *rounded(const WsArray *a)
{
    const gboolean converts =
        a->form == WS_ARRAY_OPERATION && a->x->op == WS_EXPR_CALL && a->x->func == WS_FUNC_F16;
    return converts ? a->arg[0] : a;
}

gboolean ws_array_half(const WsAgent *agent, const WsArray *a, guint to, guint *tile)
{
    const WsRegValue *w = &agent->value[to];
    if (!a || w->dtype != WS_DTYPE_F16 || w->cols <= 4)
        return FALSE;
    a = rounded(a);
    if (a->form != WS_ARRAY_OPERATION || a->n_arg != 2 || a->x->op != WS_EXPR_MUL ||
        a->arg[0]->form != WS_ARRAY_VALUE || a->arg[1]->form != WS_ARRAY_VALUE)
        return FALSE;
    const guint first = is_byte(agent->value[a->arg[0]->index].dtype) ? 0 : 1;
    const WsRegValue *x = &agent->value[a->arg[first]->index];
    const WsRegValue *s = &agent->value[a->arg[1 - first]->index];
    *tile = a->arg[first]->index;
    return is_byte(x->dtype) && s->dtype == WS_DTYPE_F16 && x->rows == w->rows &&
           x->cols == w->cols && s->rows == w->rows && s->cols == 1 &&
           w->layout == WS_LAYOUT_ACCUMULATOR && x->layout == w->layout && s->layout == w->layout;
}
