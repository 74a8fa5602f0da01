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
    gboolean any = a && (a->form == WS_ARRAY_OPERATION || a->form == WS_ARRAY_REDUCTION) &&
                   a->x->op == WS_EXPR_CALL && (a->x->func == one || a->x->func == other);
    for (guint i = 0; a && i < a->n_arg && !any; i++)
        any = ws_array_calls(a->arg[i], one, other);
    return any;
}

gboolean ws_array_places(const WsArray *a)
{
    gboolean any = a->form == WS_ARRAY_ROW || a->form == WS_ARRAY_COL;
    for (guint i = 0; a->form == WS_ARRAY_OPERATION && i < a->n_arg && !any; i++)
        any = ws_array_places(a->arg[i]);
    return any;
}
