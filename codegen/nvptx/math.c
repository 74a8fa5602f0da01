/* Compute steps: what a thread holds of each node of a statement. */
#include "base/phrase.h"
#include "codegen/nvptx/math_node.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

static void free_node(gpointer data)
{
    WsMathNode *n = data;
    g_free(n->arg);
    g_free(n->made);
    g_free(n);
}

void ws_math_init(WsMath *m, WsEmit *e, const WsOp *op)
{
    *m = (WsMath){ .e = e, .op = op };
    m->pool = g_ptr_array_new_with_free_func(free_node);
    m->temporary = g_new0(WsMathNode *, op ? op->n_math : 0);
}

void ws_math_clear(WsMath *m)
{
    g_free(m->temporary);
    g_ptr_array_free(m->pool, TRUE);
}

static WsMathNode *fail(WsMath *m, const char *what)
{
    ws_emit_step_error(m->e, m->op, what);
    return NULL;
}

/* A value's registers; one that is linear makes the statement linear. */
static gboolean find_value(WsMath *m, WsMathNode *n)
{
    const WsRegValue *v = &m->e->agent->value[n->is->index];
    WsValueUse use = { .value = n->is->index, .rows = v->rows, .cols = v->cols };
    if (m->e->kind) {
        n->f.shape = v->rows == 1 && v->cols == 1 ? WS_FRAGMENT_SCALAR : WS_FRAGMENT_TILE;
        return TRUE;
    }
    if (!ws_fragment(m->e, &use, &n->f)) {
        fail(m, WS_WORD("a value of this shape"));
        return FALSE;
    }
    if (n->f.shape == WS_FRAGMENT_LINEAR) {
        m->linear = TRUE;
        m->lin.rows = MAX(m->lin.rows, v->rows);
        m->lin.cols = MAX(m->lin.cols, v->cols);
    }
    return TRUE;
}

static WsMathNode *node(WsMath *m, const WsArray *a)
{
    if (a->form == WS_ARRAY_TEMPORARY)
        return m->temporary[a->index];
    WsMathNode *n = g_new0(WsMathNode, 1);
    g_ptr_array_add(m->pool, n);
    n->is = a;
    n->arg = g_new0(WsMathNode *, a->n_arg);
    if (a->form == WS_ARRAY_VALUE && !find_value(m, n))
        return NULL;
    for (guint i = 0; i < a->n_arg; i++) {
        n->arg[i] = node(m, a->arg[i]);
        if (!n->arg[i])
            return NULL;
    }
    return n;
}

/* A thread's element i of one shape is not its element i of another. */
static void fits(WsMath *m, const WsArray *a)
{
    if (m->linear && (a->rows > 1 || a->cols > 1) &&
        (a->rows != m->lin.rows || a->cols != m->lin.cols))
        fail(m, WS_WORD("linear values of different shapes in one statement (64*n rows and 8*n "
                        "columns in a group of 4 warps are not linear)"));
}

static void make_slots(WsMath *m, WsMathNode *n)
{
    const WsArray *a = n->is;
    n->n_row = n->n_col = 1;
    n->linear = m->linear;
    if (a->form == WS_ARRAY_VALUE && n->f.shape != WS_FRAGMENT_SCALAR &&
        (n->f.shape == WS_FRAGMENT_LINEAR) != m->linear)
        fail(m, WS_WORD("linear values and an accumulator in one statement"));
    if (m->linear && (a->rows > 1 || a->cols > 1)) {
        guint threads = m->e->agent->threads;
        n->n_row = (m->lin.rows * m->lin.cols + threads - 1) / threads;
        if (a->form == WS_ARRAY_VALUE)
            fits(m, a);
    } else if (!m->linear) {
        n->n_row = ws_slots(a->rows, m->e->row_lanes);
        n->n_col = ws_slots(a->cols, m->e->quad_lanes);
    }
    n->made = g_new0(LLVMValueRef, (gsize)n->n_row * n->n_col);
}

/* Slots of all nodes, once all values have said whether the statement is linear. */
static gboolean slots(WsMath *m, WsMathNode *n)
{
    if (n->made) { /* a temporary */
        if (n->linear != m->linear && (n->is->rows > 1 || n->is->cols > 1))
            fail(m, WS_WORD("linear values and an accumulator in one statement"));
        fits(m, n->is);
        return !m->e->error;
    }
    for (guint i = 0; i < n->is->n_arg; i++) {
        if (!slots(m, n->arg[i]))
            return FALSE;
    }
    make_slots(m, n);
    return !m->e->error;
}

WsMathNode *ws_math_node(WsMath *m, const WsArray *a)
{
    WsMathNode *n = a ? node(m, a) : fail(m, WS_WORD("an expression of this form"));
    return n && slots(m, n) ? n : NULL;
}
