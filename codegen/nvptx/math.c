/* Compute steps: the types of their expressions. Elaboration has judged them (LANGUAGE section 10);
 * here they are told again for the lowering. */
#include "codegen/nvptx/math_node.h"

#include <string.h>

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
    m->temporary = g_hash_table_new(g_str_hash, g_str_equal);
}

void ws_math_clear(WsMath *m)
{
    g_hash_table_destroy(m->temporary);
    g_ptr_array_free(m->pool, TRUE);
}

static WsMathNode *fail(WsMath *m, const char *what)
{
    ws_emit_step_error(m->e, m->op, what);
    return NULL;
}

static WsMathNode *new_node(WsMath *m, WsArrayForm form, WsMathKind kind, const WsExpr *x)
{
    WsMathNode *n = g_new0(WsMathNode, 1);
    n->form = form;
    n->kind = kind;
    n->x = x;
    n->rows = n->cols = 1;
    g_ptr_array_add(m->pool, n);
    return n;
}

/* --- kinds and extents -------------------------------------------------------------------------*/

static gboolean broadcast(WsMathNode *n)
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

static WsMathKind kind_of(const WsMathNode *n)
{
    g_autofree WsMathKind *operand = g_new(WsMathKind, n->n_arg);
    for (guint i = 0; i < n->n_arg; i++)
        operand[i] = n->arg[i]->kind;
    return ws_array_kind(n->x, operand, n->n_arg);
}

static guint reduced_cols(const WsMathNode *n)
{
    return n->x->func == WS_FUNC_LANEMAX || n->x->func == WS_FUNC_LANESUM ? 4 : 1;
}

/* --- the tree ----------------------------------------------------------------------------------*/

static WsMathNode *value_node(WsMath *m, const WsExpr *x)
{
    WsMathNode *temporary = g_hash_table_lookup(m->temporary, x->name);
    const WsAgent *a = m->e->agent;
    if (temporary)
        return temporary;
    for (guint i = 0; a && i < a->n_values; i++) {
        const WsRegValue *v = &a->value[i];
        if (strcmp(v->name, x->name) != 0)
            continue;
        WsMathNode *n =
            new_node(m, WS_ARRAY_VALUE, ws_dtype_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT, x);
        WsValueUse use = { .value = i, .rows = v->rows, .cols = v->cols };
        if (!ws_fragment(m->e, &use, &n->f))
            return fail(m, "a value of this shape");
        n->rows = v->rows;
        n->cols = v->cols;
        if (n->f.shape == WS_FRAGMENT_LINEAR) {
            m->linear = TRUE;
            m->lin.rows = MAX(m->lin.rows, v->rows);
            m->lin.cols = MAX(m->lin.cols, v->cols);
        }
        return n;
    }
    ws_emit_internal_error(m->e, "%s is no value here", x->name);
    return NULL;
}

static WsMathNode *infer(WsMath *m, const WsExpr *x)
{
    WsMathKind kind;
    x = ws_array_chosen(m->e->p, x);
    WsArrayForm form = ws_array_form(m->e->p, x, &kind);
    if (form == WS_ARRAY_VALUE)
        return value_node(m, x);
    if (form == WS_ARRAY_OTHER)
        return fail(m, "an expression of this form");
    WsMathNode *n = new_node(m, form, kind, x);
    n->rows = form != WS_ARRAY_ROW;
    n->cols = form != WS_ARRAY_COL;
    if (form != WS_ARRAY_OPERATION && form != WS_ARRAY_REDUCTION)
        return n;
    n->n_arg = x->n_args;
    n->arg = g_new0(WsMathNode *, x->n_args);
    for (guint i = 0; i < x->n_args; i++) {
        n->arg[i] = infer(m, x->arg[i]);
        if (!n->arg[i])
            return NULL;
    }
    n->kind = kind_of(n);
    if (!broadcast(n))
        return fail(m, "shapes of this form");
    if (n->form == WS_ARRAY_REDUCTION)
        n->cols = reduced_cols(n);
    return n;
}

static void make_slots(WsMath *m, WsMathNode *n)
{
    n->n_row = n->n_col = 1;
    n->linear = m->linear;
    if (n->form == WS_ARRAY_VALUE && n->f.shape != WS_FRAGMENT_SCALAR &&
        (n->f.shape == WS_FRAGMENT_LINEAR) != m->linear)
        fail(m, "linear values and an accumulator in one statement");
    if (m->linear && (n->rows > 1 || n->cols > 1)) {
        guint threads = m->e->agent->threads;
        n->n_row = (m->lin.rows * m->lin.cols + threads - 1) / threads;
        if (n->form == WS_ARRAY_VALUE && (n->rows != m->lin.rows || n->cols != m->lin.cols))
            fail(m, "linear values of different shapes in one statement");
    } else if (!m->linear) {
        n->n_row = ws_array_slots(n->rows, 32);
        n->n_col = ws_array_slots(n->cols, 4);
    }
    n->made = g_new0(LLVMValueRef, (gsize)n->n_row * n->n_col);
}

/* Extents of row and col, then of all nodes above them; `rows`, `cols`: of the context. */
static gboolean resolve(WsMath *m, WsMathNode *n, guint rows, guint cols)
{
    if (n->made) { /* a temporary */
        if (n->linear != m->linear && (n->rows > 1 || n->cols > 1))
            fail(m, "linear values and an accumulator in one statement");
        return !m->e->error;
    }
    if (n->form == WS_ARRAY_REDUCTION) {
        WsMathNode *a = n->arg[0];
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
    if (n->rows == 0)
        n->rows = rows;
    if (n->cols == 0)
        n->cols = cols;
    make_slots(m, n);
    return !m->e->error;
}

WsMathNode *ws_math_node(WsMath *m, const WsExpr *x, guint target_rows, guint target_cols)
{
    WsMathNode *n = infer(m, x);
    guint rows, cols;
    if (!n || m->e->error)
        return NULL;
    if (!ws_array_meet(target_rows, n->rows, &rows) ||
        !ws_array_meet(target_cols, n->cols, &cols) || !resolve(m, n, MAX(rows, 1), MAX(cols, 1)))
        return m->e->error ? NULL : fail(m, "shapes of this form");
    return n;
}
