/* Compute steps: the types of their expressions. Elaboration has judged them (LANGUAGE section 10);
 * here they are told again for the lowering. */
#include "codegen/math_node.h"

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

static WsMathNode *new_node(WsMath *m, WsMathForm form, WsMathKind kind, const WsExpr *x)
{
    WsMathNode *n = g_new0(WsMathNode, 1);
    n->form = form;
    n->kind = kind;
    n->x = x;
    n->rows = n->cols = 1;
    g_ptr_array_add(m->pool, n);
    return n;
}

/* --- uniform parts -----------------------------------------------------------------------------*/

static gboolean uniform_call(WsFunc f)
{
    return f == WS_FUNC_CDIV || f == WS_FUNC_MIN || f == WS_FUNC_MAX || f == WS_FUNC_ABS ||
           f == WS_FUNC_SELECT || f == WS_FUNC_POW2FLOOR;
}

/* Integers and conditions over them that are the same in every thread. */
static gboolean is_uniform(WsMath *m, const WsExpr *x)
{
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &m->e->p->var[x->var];
        return !v->real && v->kind != WS_VAR_ROW && v->kind != WS_VAR_COL;
    }
    if (x->op == WS_EXPR_REAL || x->op == WS_EXPR_NAME || x->op == WS_EXPR_TOTAL ||
        x->op == WS_EXPR_INDEX || (x->op == WS_EXPR_CALL && !uniform_call(x->func)))
        return FALSE;
    for (guint i = 0; i < x->n_args; i++) {
        if (!is_uniform(m, x->arg[i]))
            return FALSE;
    }
    return TRUE;
}

static gboolean has_var(const WsExpr *x)
{
    gboolean any = x->op == WS_EXPR_VAR;
    for (guint i = 0; i < x->n_args; i++)
        any = any || has_var(x->arg[i]);
    return any;
}

static WsMathKind uniform_kind(const WsExpr *x)
{
    if (x->op == WS_EXPR_TEXT_BOOL || x->op == WS_EXPR_NOT ||
        (x->op >= WS_EXPR_LT && x->op <= WS_EXPR_OR))
        return WS_MATH_BOOL;
    if (x->op == WS_EXPR_CALL && x->func == WS_FUNC_SELECT &&
        uniform_kind(x->arg[1]) == WS_MATH_BOOL)
        return WS_MATH_BOOL;
    return has_var(x) ? WS_MATH_INT : WS_MATH_LITERAL;
}

/* --- kinds and extents -------------------------------------------------------------------------*/

static gboolean meet(guint a, guint b, guint *out)
{
    if (a == b || b == 1 || (b == 0 && a != 1))
        *out = a;
    else if (a == 1 || a == 0)
        *out = b;
    else
        return FALSE;
    return TRUE;
}

static gboolean broadcast(WsMathNode *n)
{
    guint rows = 1, cols = 1;
    for (guint i = 0; i < n->n_arg; i++) {
        if (!meet(rows, n->arg[i]->rows, &rows) || !meet(cols, n->arg[i]->cols, &cols))
            return FALSE;
    }
    n->rows = rows;
    n->cols = cols;
    return TRUE;
}

static WsMathKind common(WsMathKind a, WsMathKind b)
{
    if (a == WS_MATH_BOOL || b == WS_MATH_BOOL)
        return WS_MATH_BOOL;
    if (a == WS_MATH_REAL || b == WS_MATH_REAL)
        return WS_MATH_REAL;
    return a == WS_MATH_INT || b == WS_MATH_INT ? WS_MATH_INT : WS_MATH_LITERAL;
}

static WsMathKind call_kind(const WsMathNode *n)
{
    WsMathKind kind = n->arg[0]->kind;
    switch (n->x->func) {
    case WS_FUNC_SELECT:
        return common(n->arg[1]->kind, n->arg[2]->kind);
    case WS_FUNC_CDIV:
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        for (guint i = 1; i < n->n_arg; i++)
            kind = common(kind, n->arg[i]->kind);
        return kind;
    case WS_FUNC_ABS:
    case WS_FUNC_ROWMAX:
    case WS_FUNC_ROWSUM:
    case WS_FUNC_LANEMAX:
    case WS_FUNC_LANESUM:
        return kind;
    case WS_FUNC_I32:
    case WS_FUNC_I8:
    case WS_FUNC_U8:
        return WS_MATH_INT;
    default:
        return WS_MATH_REAL;
    }
}

static WsMathKind kind_of(const WsMathNode *n)
{
    const WsExpr *x = n->x;
    if (x->op == WS_EXPR_CALL)
        return call_kind(n);
    if (x->op == WS_EXPR_NOT || (x->op >= WS_EXPR_LT && x->op <= WS_EXPR_OR))
        return WS_MATH_BOOL;
    return n->n_arg > 1 ? common(n->arg[0]->kind, n->arg[1]->kind) : n->arg[0]->kind;
}

static gboolean is_reduction(const WsExpr *x)
{
    return x->op == WS_EXPR_CALL && (x->func == WS_FUNC_ROWMAX || x->func == WS_FUNC_ROWSUM ||
                                     x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM);
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
            new_node(m, WS_MATH_VALUE, ws_dtype_real(v->dtype) ? WS_MATH_REAL : WS_MATH_INT, x);
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

static WsMathNode *leaf(WsMath *m, const WsExpr *x)
{
    if (x->op == WS_EXPR_REAL)
        return new_node(m, WS_MATH_CONST, WS_MATH_REAL, x);
    if (x->op == WS_EXPR_NAME)
        return value_node(m, x);
    if (x->op != WS_EXPR_VAR)
        return fail(m, "an expression of this form");
    const WsVar *v = &m->e->p->var[x->var];
    if (v->real)
        return new_node(m, WS_MATH_SCALAR, WS_MATH_REAL, x);
    WsMathNode *n = new_node(m, v->kind == WS_VAR_ROW ? WS_MATH_ROW : WS_MATH_COL, WS_MATH_INT, x);
    *(v->kind == WS_VAR_ROW ? &n->rows : &n->cols) = 0;
    return n;
}

/* An index times a constant 0 or 1: the choice between two masks by a constant of the design. */
static const WsExpr *chosen(WsMath *m, const WsExpr *x)
{
    for (guint i = 0; x->op == WS_EXPR_MUL && i < 2; i++) {
        const WsExpr *factor = x->arg[i], *index = x->arg[1 - i];
        if (factor->op == WS_EXPR_INT && (factor->i == 0 || factor->i == 1) &&
            index->op == WS_EXPR_VAR && !m->e->p->var[index->var].real)
            return factor->i ? index : factor;
    }
    return x;
}

static WsMathNode *infer(WsMath *m, const WsExpr *x)
{
    x = chosen(m, x);
    if (is_uniform(m, x))
        return new_node(m, WS_MATH_UNIFORM, uniform_kind(x), x);
    if (!x->n_args)
        return leaf(m, x);
    WsMathNode *n = new_node(m, is_reduction(x) ? WS_MATH_REDUCE : WS_MATH_OP, WS_MATH_REAL, x);
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
    if (n->form == WS_MATH_REDUCE)
        n->cols = reduced_cols(n);
    return n;
}

static guint slots(guint extent, guint per)
{
    return extent <= 4 ? 1 : extent / per;
}

static void make_slots(WsMath *m, WsMathNode *n)
{
    n->n_row = n->n_col = 1;
    n->linear = m->linear;
    if (n->form == WS_MATH_VALUE && n->f.shape != WS_FRAGMENT_SCALAR &&
        (n->f.shape == WS_FRAGMENT_LINEAR) != m->linear)
        fail(m, "linear values and an accumulator in one statement");
    if (m->linear && (n->rows > 1 || n->cols > 1)) {
        guint threads = m->e->agent->threads;
        n->n_row = (m->lin.rows * m->lin.cols + threads - 1) / threads;
        if (n->form == WS_MATH_VALUE && (n->rows != m->lin.rows || n->cols != m->lin.cols))
            fail(m, "linear values of different shapes in one statement");
    } else if (!m->linear) {
        n->n_row = slots(n->rows, 32);
        n->n_col = slots(n->cols, 4);
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
    if (n->form == WS_MATH_REDUCE) {
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
    if (!meet(target_rows, n->rows, &rows) || !meet(target_cols, n->cols, &cols) ||
        !resolve(m, n, MAX(rows, 1), MAX(cols, 1)))
        return m->e->error ? NULL : fail(m, "shapes of this form");
    return n;
}
