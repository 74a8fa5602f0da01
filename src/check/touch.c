/* What an operation touches, worked out once for the play and for the proof. */
#include "check/touch.h"

#include <string.h>

guint64 ws_value_blocks(const WsRegValue *v, const WsValueUse *u, gint64 r0, gint64 c0)
{
    gint64 rh = MAX(1, (v->rows + 3) / 4), cw = MAX(1, (v->cols + 15) / 16);
    gint64 ra = CLAMP(r0 / rh, 0, 3), rb = CLAMP((r0 + MAX(u->rows, 1) - 1) / rh, 0, 3);
    gint64 ca = CLAMP(c0 / cw, 0, 15), cb = CLAMP((c0 + MAX(u->cols, 1) - 1) / cw, 0, 15);
    guint64 row = ((2ull << cb) - (1ull << ca)) & 0xffff, mask = 0;
    for (gint64 r = ra; r <= rb; r++)
        mask |= row << (16 * r);
    return mask;
}

typedef struct {
    const WsAgent *agent;
    GArray *read, *write; /* guint */
} Names;

static gint find_value(const WsAgent *a, const char *name)
{
    for (guint i = 0; name && i < a->n_values; i++)
        if (strcmp(a->value[i].name, name) == 0)
            return (gint)i;
    return -1;
}

static void see_name(const WsExpr *e, gpointer data)
{
    Names *n = data;
    gint v = e->op == WS_EXPR_NAME ? find_value(n->agent, e->name) : -1;
    guint value = (guint)v;
    if (v < 0)
        return;
    for (guint i = 0; i < n->write->len; i++)
        if (g_array_index(n->write, guint, i) == value)
            return; /* defined by an earlier statement of the step */
    g_array_append_val(n->read, value);
}

void ws_math_values(const WsAgent *agent, const WsOp *op, GArray *read, GArray *write)
{
    Names n = { agent, read, write };
    for (guint i = 0; i < op->n_math; i++) {
        ws_expr_visit(op->math[i]->value, see_name, &n);
        gint v = find_value(agent, op->math[i]->name);
        guint value = (guint)v;
        if (v >= 0)
            g_array_append_val(write, value);
    }
    if (op->skip)
        ws_expr_visit(op->skip, see_name, &n);
}

gboolean ws_has_integer_tensor(const WsProgram *p)
{
    for (guint i = 0; i < p->n_tensors; i++)
        if (p->tensor[i].data == WS_DATA_INTEGERS)
            return TRUE;
    return FALSE;
}
