/* What a thread holds of each node of a statement. */
#include "base/phrase.h"
#include "codegen/cuda/math.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

static void free_node(gpointer data)
{
    WsCudaNode *n = data;
    g_free(n->arg);
    g_free(n);
}

void ws_cuda_math_init(WsCudaMath *m, WsCuda *c, const WsOp *op)
{
    *m = (WsCudaMath){ .c = c, .op = op };
    m->pool = g_ptr_array_new_with_free_func(free_node);
    m->temporary = g_new0(WsCudaNode *, op ? op->n_math : 0);
}

void ws_cuda_math_clear(WsCudaMath *m)
{
    g_free(m->temporary);
    g_ptr_array_free(m->pool, TRUE);
}

WsCudaNode *ws_cuda_math_fail(WsCudaMath *m, const char *what)
{
    ws_cuda_step_error(m->c, m->op, what);
    return NULL;
}

WsCudaNode *ws_cuda_node_new(WsCudaMath *m, const WsArray *a)
{
    WsCudaNode *n = g_new0(WsCudaNode, 1);
    n->is = a;
    g_ptr_array_add(m->pool, n);
    return n;
}

/* A value's registers; one that is linear makes the statement linear. */
static gboolean find_value(WsCudaMath *m, WsCudaNode *n)
{
    const WsRegValue *v = &m->c->agent->value[n->is->index];
    WsValueUse use = { .value = n->is->index, .rows = v->rows, .cols = v->cols };
    if (!ws_cuda_view(m->c, &use, &n->view)) {
        ws_cuda_math_fail(m, WS_WORD("a value of this shape"));
        return FALSE;
    }
    if (n->view.shape == WS_PLACE_LINEAR) {
        m->linear = TRUE;
        m->lin_rows = MAX(m->lin_rows, v->rows);
        m->lin_cols = MAX(m->lin_cols, v->cols);
    }
    return TRUE;
}

static WsCudaNode *node(WsCudaMath *m, const WsArray *a)
{
    WsCudaNode *n = ws_cuda_node_new(m, a);
    if (a->form == WS_ARRAY_TEMPORARY) {
        const WsCudaNode *left = m->temporary[a->index];
        n->name = left->name;
        n->n_row = left->n_row;
        n->n_col = left->n_col;
        n->linear = left->linear;
        return n;
    }
    n->arg = g_new0(WsCudaNode *, a->n_arg);
    if (a->form == WS_ARRAY_VALUE && !find_value(m, n))
        return NULL;
    for (guint i = 0; i < a->n_arg; i++) {
        n->arg[i] = node(m, a->arg[i]);
        if (!n->arg[i])
            return NULL;
    }
    return n;
}

/* Linear values meet those of their own shape alone: a thread's element i of one shape is not its
 * element i of another. FALSE and an error where they do not. */
static gboolean fits(WsCudaMath *m, const WsArray *a, gboolean linear)
{
    if (a->rows == 1 && a->cols == 1)
        return TRUE;
    if (linear != m->linear)
        ws_cuda_math_fail(m, WS_WORD("linear values and an accumulator in one statement"));
    else if (linear && (a->rows != m->lin_rows || a->cols != m->lin_cols))
        ws_cuda_math_fail(m, WS_WORD("linear values of different shapes in one statement (64*n "
                                     "rows and 8*n columns in a group of 4 warps are not linear)"));
    else
        return TRUE;
    return FALSE;
}

/* Slots of all nodes, once all values have said whether the statement is linear. */
static gboolean slots(WsCudaMath *m, WsCudaNode *n)
{
    const WsArray *a = n->is;
    if (n->n_row)
        return fits(m, a, n->linear);
    for (guint i = 0; i < a->n_arg; i++) {
        if (!slots(m, n->arg[i]))
            return FALSE;
    }
    n->n_row = n->n_col = 1;
    if (a->form == WS_ARRAY_VALUE && n->view.shape != WS_PLACE_SCALAR &&
        !fits(m, a, n->view.shape == WS_PLACE_LINEAR))
        return FALSE;
    if (m->linear && (a->rows > 1 || a->cols > 1)) {
        guint threads = m->c->agent->threads;
        n->n_row = (m->lin_rows * m->lin_cols + threads - 1) / threads;
    } else if (!m->linear) {
        n->n_row = ws_slots(a->rows, 32);
        n->n_col = ws_slots(a->cols, 4);
    }
    return TRUE;
}

WsCudaNode *ws_cuda_node_of(WsCudaMath *m, const WsArray *a)
{
    WsCudaNode *n = a ? node(m, a) : ws_cuda_math_fail(m, WS_WORD("an expression of this form"));
    return n && !m->c->error && slots(m, n) ? n : NULL;
}
