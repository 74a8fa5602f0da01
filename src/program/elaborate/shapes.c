/* Shapes of array statements: how extents meet, and what `row` and `col` take from their context.
 */
#include "program/elaborate/typing.h"

#include <string.h>

gboolean ws_shape_meet(guint a, guint b, guint *out)
{
    if (a == b || b == 1 || (b == 0 && a != 1)) {
        *out = a;
        return TRUE;
    }
    if (a <= 1) { /* 0 meets a number, or 1 meets anything */
        *out = b;
        return TRUE;
    }
    return FALSE;
}

gboolean ws_shape_of_args(WsArray *a)
{
    guint rows = 1, cols = 1;
    for (guint i = 0; i < a->n_arg; i++) {
        if (!ws_shape_meet(rows, a->arg[i]->rows, &rows) ||
            !ws_shape_meet(cols, a->arg[i]->cols, &cols))
            return FALSE;
    }
    a->rows = rows;
    a->cols = cols;
    return TRUE;
}

/* A reduction knows the columns that it runs over; its rows are those of its context. */
void ws_shape_resolve(WsArray *a, guint rows, guint cols)
{
    if (a->form == WS_ARRAY_REDUCTION) {
        ws_shape_resolve(a->arg[0], rows, a->arg[0]->cols);
        a->rows = a->arg[0]->rows;
        return;
    }
    for (guint i = 0; i < a->n_arg;
         i++) /* a running sum is one of the columns that its operand has */
        ws_shape_resolve(a->arg[i], rows, a->form == WS_ARRAY_SCAN ? a->arg[i]->cols : cols);
    if (a->n_arg)
        ws_shape_of_args(a);
    a->rows = a->rows ? a->rows : rows;
    a->cols = a->cols ? a->cols : cols;
}

gboolean ws_shape_open(const WsArray *a)
{
    return a->rows == 0 || a->cols == 0;
}

static const char *changed(const WsTyping *T, const WsArray *a, guint since)
{
    const char *name = NULL;
    for (guint i = since + 1; i < T->op->n_math && i < T->statement && !name; i++) {
        if ((a->form == WS_ARRAY_VALUE || a->form == WS_ARRAY_TEMPORARY) &&
            strcmp(T->op->math[i]->name, a->x->name) == 0)
            name = a->x->name;
    }
    for (guint i = 0; i < a->n_arg && !name; i++)
        name = changed(T, a->arg[i], since);
    return name;
}

static WsArray *copy(WsTyping *T, const WsArray *a)
{
    WsArray *out = ws_arena_new0(T->E->arena, WsArray, 1);
    *out = *a;
    out->arg = ws_arena_new0(T->E->arena, WsArray *, a->n_arg);
    for (guint i = 0; i < a->n_arg; i++)
        out->arg[i] = copy(T, a->arg[i]);
    return out;
}

WsArray *ws_shape_copy(WsTyping *T, const WsTemporary *t, const char **name)
{
    *name = changed(T, t->array, t->statement);
    return *name ? NULL : copy(T, t->array);
}
