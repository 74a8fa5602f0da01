#include "program/array.h"

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
