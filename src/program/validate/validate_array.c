/* What program/array.h states about the nodes of a compute step. */
#include "program/array.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/validate.h"

#define HOLDS(condition) ws_holds(v, condition, #condition)

static gboolean is_leaf(WsArrayForm form)
{
    return form != WS_ARRAY_OPERATION && form != WS_ARRAY_REDUCTION && form != WS_ARRAY_SCAN;
}

/* Extent `a` of an operand fits into extent `of` of what it stands in. */
static gboolean fits(guint a, guint of)
{
    return a == of || a == 1;
}

static gboolean reduces(const WsExpr *x)
{
    return x->op == WS_EXPR_CALL && (x->func == WS_FUNC_ROWMAX || x->func == WS_FUNC_ROWSUM ||
                                     x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM);
}

static void node(WsValidation *v, const WsArray *a, const WsAssign *before, guint n_before)
{
    if (v->what || !HOLDS(a && a->x && a->rows >= 1 && a->cols >= 1))
        return;
    HOLDS((a->n_arg == 0) == is_leaf(a->form));
    HOLDS(a->form != WS_ARRAY_REDUCTION || (a->n_arg == 1 && reduces(a->x)));
    if (a->form == WS_ARRAY_SCAN)
        HOLDS(a->x->op == WS_EXPR_CALL && a->x->func == WS_FUNC_CUMSUM && a->n_arg <= 3 &&
              a->arg[0]->cols == a->cols && a->cols > 1);
    HOLDS(a->form != WS_ARRAY_UNIFORM || a->kind != WS_MATH_REAL);
    HOLDS((a->form != WS_ARRAY_ROW && a->form != WS_ARRAY_COL) || a->kind == WS_MATH_INT);
    if (a->form == WS_ARRAY_VALUE && HOLDS(v->agent && a->index < v->agent->n_values)) {
        const WsRegValue *value = &v->agent->value[a->index];
        HOLDS(a->rows == value->rows && a->cols == value->cols);
        HOLDS(a->kind == (ws_dtype_real(value->dtype) ? WS_MATH_REAL : WS_MATH_INT));
    }
    if (a->form == WS_ARRAY_TEMPORARY && HOLDS(a->index < n_before)) {
        const WsAssign *made = &before[a->index];
        if (HOLDS(made->value < 0 && made->array))
            HOLDS(a->rows == made->array->rows && a->cols == made->array->cols &&
                  a->kind == made->array->kind);
    }
    for (guint i = 0; i < a->n_arg && !v->what; i++) {
        const WsArray *of = a->arg[i];
        node(v, of, before, n_before);
        if (!v->what)
            HOLDS(fits(of->rows, a->rows) &&
                  (a->form == WS_ARRAY_REDUCTION || fits(of->cols, a->cols)));
    }
}

void ws_validate_math(WsValidation *v, const WsOp *op)
{
    HOLDS(op->n_math >= 1 && op->assign && (op->skip != NULL) == (op->unless != NULL));
    for (guint i = 0; i < op->n_math && !v->what; i++) {
        const WsAssign *s = &op->assign[i];
        HOLDS(op->math[i] && op->math[i]->name && op->math[i]->value);
        if (!HOLDS(s->value < (gint)v->agent->n_values && (s->value < 0 || s->array)))
            return;
        if (s->array)
            node(v, s->array, op->assign, i);
        if (s->value >= 0 && !v->what)
            HOLDS(fits(s->array->rows, v->agent->value[s->value].rows) &&
                  fits(s->array->cols, v->agent->value[s->value].cols));
    }
    HOLDS(op->line_barrier < (gint)v->p->n_barriers);
    HOLDS(op->line_barrier < 0 ||
          (op->line_at % 4 == 0 && op->line_at < v->p->shared_bytes &&
           v->p->barrier[op->line_barrier].kind == WS_BARRIER_NAMED && !op->unless));
    if (op->unless)
        node(v, op->unless, op->assign, op->n_math);
}
