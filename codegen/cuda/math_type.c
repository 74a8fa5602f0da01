/* Types of compute statements, told again for the printer: elaboration has judged them. */
#include "codegen/cuda/math.h"

#include <string.h>

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
    m->temporary = g_hash_table_new(g_str_hash, g_str_equal);
}

void ws_cuda_math_clear(WsCudaMath *m)
{
    g_hash_table_destroy(m->temporary);
    g_ptr_array_free(m->pool, TRUE);
}

WsCudaNode *ws_cuda_math_fail(WsCudaMath *m, const char *what)
{
    ws_cuda_step_error(m->c, m->op, what);
    return NULL;
}

WsCudaNode *ws_cuda_node_new(WsCudaMath *m, WsArrayForm form, WsMathKind kind, const WsExpr *x)
{
    WsCudaNode *n = g_new0(WsCudaNode, 1);
    *n = (WsCudaNode){
        .form = form, .kind = kind, .x = x, .rows = 1, .cols = 1, .n_row = 1, .n_col = 1
    };
    g_ptr_array_add(m->pool, n);
    return n;
}

static gboolean broadcast(WsCudaNode *n)
{
    guint rows = 1, cols = 1;
    for (guint i = 0; i < n->n_arg; i++) {
        if (!ws_array_meet(rows, n->arg[i]->rows, &rows) ||
            !ws_array_meet(cols, n->arg[i]->cols, &cols))
            return FALSE;
    }
    n->rows = rows;
    n->cols = cols;
    return TRUE;
}

static WsMathKind kind_of(const WsCudaNode *n)
{
    g_autofree WsMathKind *operand = g_new(WsMathKind, n->n_arg);
    for (guint i = 0; i < n->n_arg; i++)
        operand[i] = n->arg[i]->kind;
    return ws_array_kind(n->x, operand, n->n_arg);
}

static WsCudaNode *value_node(WsCudaMath *m, const WsExpr *x)
{
    WsCudaNode *temporary = g_hash_table_lookup(m->temporary, x->name);
    const WsAgent *a = m->c->agent;
    if (temporary)
        return temporary;
    for (guint i = 0; a && i < a->n_values; i++) {
        const WsRegValue *v = &a->value[i];
        if (strcmp(v->name, x->name) != 0)
            continue;
        WsCudaNode *n = ws_cuda_node_new(m, WS_ARRAY_VALUE,
                                         ws_dtype_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT, x);
        WsValueUse use = { .value = i, .rows = v->rows, .cols = v->cols };
        if (!ws_cuda_view(m->c, &use, &n->view))
            return ws_cuda_math_fail(m, "a value of this shape");
        n->rows = v->rows;
        n->cols = v->cols;
        if (n->view.shape == WS_PLACE_LINEAR) {
            m->linear = TRUE;
            m->lin_rows = MAX(m->lin_rows, v->rows);
            m->lin_cols = MAX(m->lin_cols, v->cols);
        }
        return n;
    }
    return ws_cuda_math_fail(m, "a name that is no value here");
}

static WsCudaNode *infer(WsCudaMath *m, const WsExpr *x)
{
    WsMathKind kind;
    x = ws_array_chosen(m->c->p, x);
    WsArrayForm form = ws_array_form(m->c->p, x, &kind);
    if (form == WS_ARRAY_VALUE)
        return value_node(m, x);
    if (form == WS_ARRAY_OTHER)
        return ws_cuda_math_fail(m, "an expression of this form");
    WsCudaNode *n = ws_cuda_node_new(m, form, kind, x);
    n->rows = form != WS_ARRAY_ROW;
    n->cols = form != WS_ARRAY_COL;
    if (form != WS_ARRAY_OPERATION && form != WS_ARRAY_REDUCTION)
        return n;
    n->n_arg = x->n_args;
    n->arg = g_new0(WsCudaNode *, x->n_args);
    for (guint i = 0; i < x->n_args; i++) {
        n->arg[i] = infer(m, x->arg[i]);
        if (!n->arg[i])
            return NULL;
    }
    n->kind = kind_of(n);
    if (!broadcast(n))
        return ws_cuda_math_fail(m, "shapes of this form");
    if (n->form == WS_ARRAY_REDUCTION)
        n->cols = x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM ? 4 : 1;
    return n;
}

static gboolean resolve(WsCudaMath *m, WsCudaNode *n, guint rows, guint cols)
{
    if (n->resolved)
        return TRUE;
    if (n->form == WS_ARRAY_REDUCTION) {
        WsCudaNode *a = n->arg[0];
        if (!resolve(m, a, MAX(a->rows, 1), MAX(a->cols, 1)))
            return FALSE;
        n->rows = a->rows;
    } else {
        for (guint i = 0; i < n->n_arg; i++) {
            if (!resolve(m, n->arg[i], rows, cols))
                return FALSE;
        }
        if (n->n_arg && !broadcast(n))
            return FALSE;
    }
    n->rows = n->rows ? n->rows : rows;
    n->cols = n->cols ? n->cols : cols;
    n->resolved = TRUE;
    if (n->form == WS_ARRAY_VALUE && n->view.shape != WS_PLACE_SCALAR &&
        (n->view.shape == WS_PLACE_LINEAR) != m->linear)
        return ws_cuda_math_fail(m, "linear values and an accumulator in one statement") != NULL;
    if (m->linear && (n->rows > 1 || n->cols > 1)) {
        guint threads = m->c->agent->threads;
        n->n_row = (m->lin_rows * m->lin_cols + threads - 1) / threads;
        n->n_col = 1;
    } else if (!m->linear) {
        n->n_row = ws_array_slots(n->rows, 32);
        n->n_col = ws_array_slots(n->cols, 4);
    }
    return TRUE;
}

WsCudaNode *ws_cuda_node_typed(WsCudaMath *m, const WsExpr *x, guint target_rows, guint target_cols)
{
    WsCudaNode *n = infer(m, x);
    guint rows, cols;
    if (!n || m->c->error)
        return NULL;
    if (!ws_array_meet(target_rows, n->rows, &rows) ||
        !ws_array_meet(target_cols, n->cols, &cols) || !resolve(m, n, MAX(rows, 1), MAX(cols, 1)))
        return m->c->error ? NULL : ws_cuda_math_fail(m, "shapes of this form");
    return n;
}
