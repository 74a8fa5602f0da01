/* What an operation touches, worked out once for the play and for the proof. */
#include "check/touch.h"

#include <string.h>

/* Rows of accumulators come in 64s; other values are cut in four. Columns are cut as finely as 64
 * blocks allow, by a power of two. */
static void grid(const WsRegValue *v, gint64 *rows, gint64 *cols)
{
    gboolean atoms = v->rows % 64 == 0 && v->rows <= 512 && v->layout == WS_LAYOUT_ACCUMULATOR;
    *rows = atoms ? 64 : MAX(1, (v->rows + 3) / 4);
    gint64 across = MAX(1, 64 / MAX(1, (v->rows + *rows - 1) / *rows));
    for (*cols = 1; (v->cols + *cols - 1) / *cols > across;)
        *cols *= 2;
}

/* A range of n from `first` on, of `all`, in blocks of `size`. */
static gboolean whole_blocks(gint64 first, gint64 n, gint64 all, gint64 size)
{
    return first >= 0 && n > 0 && first + n <= all && first % size == 0 &&
           ((first + n) % size == 0 || first + n == all);
}

guint64 ws_value_blocks(const WsRegValue *v, const WsValueUse *u, gint64 r0, gint64 c0,
                        gboolean *exact)
{
    gint64 rh, cw, rows = MAX(u->rows, 1), cols = MAX(u->cols, 1);
    grid(v, &rh, &cw);
    *exact = whole_blocks(r0, rows, v->rows, rh) && whole_blocks(c0, cols, v->cols, cw);
    gint64 across = (v->cols + cw - 1) / cw, down = (v->rows + rh - 1) / rh;
    gint64 ra = CLAMP(r0 / rh, 0, down - 1), rb = CLAMP((r0 + rows - 1) / rh, 0, down - 1);
    gint64 ca = CLAMP(c0 / cw, 0, across - 1), cb = CLAMP((c0 + cols - 1) / cw, 0, across - 1);
    guint64 mask = 0;
    for (gint64 r = ra; r <= rb; r++)
        for (gint64 c = ca; c <= cb; c++)
            mask |= 1ull << (r * across + c);
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
    if (op->skip)
        ws_expr_visit(op->skip, see_name, &n);
    for (guint i = 0; i < op->n_math; i++) {
        gint v = find_value(agent, op->math[i]->name);
        guint value = (guint)v;
        ws_expr_visit(op->math[i]->value, see_name, &n);
        if (v >= 0 && op->skip)
            g_array_append_val(read, value);
        if (v >= 0)
            g_array_append_val(write, value);
    }
}

static gboolean single_arrivals(const WsProgram *p, const WsOp *op)
{
    gint64 lanes = op->kind == WS_OP_CP_ARRIVE ? 1 : op->per;
    return (op->kind == WS_OP_MBAR_ARRIVE || op->kind == WS_OP_CP_ARRIVE) && op->agent >= 0 &&
           op->count == (lanes > 0 ? p->agent[op->agent].threads / lanes : 1);
}

gboolean *ws_unwatched(const WsProgram *p)
{
    gboolean *unwatched = g_new(gboolean, p->n_barriers + 1);
    for (guint b = 0; b < p->n_barriers; b++)
        unwatched[b] = p->barrier[b].kind == WS_BARRIER_MBARRIER && !p->has_raw;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->barrier >= 0 && op->kind != WS_OP_MBAR_INIT && !single_arrivals(p, op))
            unwatched[op->barrier] = FALSE;
    }
    return unwatched;
}

gboolean ws_has_integer_tensor(const WsProgram *p)
{
    for (guint i = 0; i < p->n_tensors; i++)
        if (p->tensor[i].data == WS_DATA_INTEGERS)
            return TRUE;
    return FALSE;
}
