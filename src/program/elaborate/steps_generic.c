#include "program/elaborate/elab.h"
#include "program/elaborate/stages/stages.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* write, read, transpose, compute. */

/* A stored dtype widens exactly to a value's: equal, narrow float to f32, narrow integer to i32. */
static gboolean widens(WsDtype from, WsDtype to)
{
    if (from == to)
        return TRUE;
    return ws_dtype_real(from) == ws_dtype_real(to) && ws_dtype_bytes(from) < 4 &&
           (to == WS_DTYPE_F32 || to == WS_DTYPE_I32);
}

static gboolean same_shape(const WsValueUse *v, const WsBufferView *b)
{
    if (v->rows == b->rows && v->cols == b->cols)
        return TRUE;
    /* a rank-1 tile stands for one value per row or per column */
    return b->rank1 && v->rows == b->cols && v->cols == b->rows;
}

/* TRUE if whole rows of small matrices move: stmatrix, ldmatrix. */
static gboolean matrix_form(const WsElab *E, const WsRegValue *v, const WsValueUse *use,
                            const WsBufferView *view)
{
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view->access.buffer);
    const WsTargetMatrix *x = &E->hw->matrix;
    gint64 col = 0;
    ws_elab_is_int(view->access.col0, &col);
    return v->layout == WS_LAYOUT_ACCUMULATOR && b->rank == 2 && ws_dtype_bytes(b->dtype) == 2 &&
           ws_dtype_real(b->dtype) && x->cell > 0 && use->rows % x->rows == 0 &&
           use->cols % (2 * x->cell) == 0 && b->row_bytes % E->hw->shared.unit == 0 &&
           col % x->cell == 0 && view->access.cols % x->cell == 0;
}

static void to_buffer(WsStepState *S, const WsRef *ref, const WsValueUse *use)
{
    WsElab *E = S->E;
    const WsRegValue *v = &E->agent->out->value[use->value];
    WsBufferView view;
    const gboolean remote = ws_node_has(S->node, WS_F_signal),
                   peer = !remote && ws_node_has(S->node, WS_F_cta);
    if (!ws_view_buffer(S, ref, WS_MODE_WRITE, remote ? WS_PROXY_ASYNC : WS_PROXY_GENERIC, &view) ||
        !ws_half_view(S, use, &view))
        return;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view.access.buffer);
    if (!same_shape(use, &view))
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s is %u x %u, but %s is %u x %u", v->name,
                      use->rows, use->cols, b->name, view.rows, view.cols);
    if (ws_dtype_real(v->dtype) != ws_dtype_real(b->dtype))
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s, but %s holds %s", v->name,
                      ws_dtype_text(v->dtype), b->name, ws_dtype_text(b->dtype));
    WsOpKind kind = remote                          ? WS_OP_ST_REMOTE
                    : peer                          ? WS_OP_ST_PEER
                    : matrix_form(E, v, use, &view) ? WS_OP_STMATRIX
                                                    : WS_OP_ST_SHARED;
    WsOp *op = ws_step_op(S, kind, NULL);
    op->n_value = 1;
    op->value[0] = *use;
    ws_op_access(E, op, &view.access);
    ws_op_label(E, op, "write %s -> %s", v->name, b->name);
    gint pipe = ws_pipe_of(E, view.access.buffer);
    if (pipe >= 0 && S->list->window == pipe)
        g_array_index(E->pipes, WsPipeBuild, pipe).window_writes = TRUE;
    if (peer) {
        op->ctas = ws_step_ctas(S, WS_F_cta);
        if (op->ctas.kind != WS_CTAS_EXPR)
            ws_elab_error(E, WS_RULE_T_USE, S->id, "Name one CTA, or a `signal`.",
                          "a write without `signal` goes to one CTA");
    }
    if (!remote)
        return;
    op->ctas = ws_step_ctas(S, WS_F_cta);
    op->bytes = (gint64)view.access.rows * view.access.cols * ws_dtype_bytes(b->dtype);
    if (!ws_node_has(S->node, WS_F_cta))
        ws_elab_error(E, WS_RULE_T_USE, S->id, NULL, "a write that signals names `cta`");
    else if (ws_op_barrier(S, op, ws_elab_field_ref(E, S->node, WS_F_signal), WS_BARRIER_MBARRIER))
        ws_transaction_credit(S, op, op->bytes, &op->ctas);
}

/* A value in step with the one that is moved, element by element. NULL: there is none, or it is
 * said what is wrong. */
static const WsRegValue *beside(WsStepState *S, WsFieldId field, const char *what, WsMode mode,
                                WsOp *op, guint8 *number)
{
    WsElab *E = S->E;
    WsValueUse *use = &op->value[op->n_value];
    if (!ws_node_has(S->node, field) ||
        !ws_view_value(S, ws_elab_field_ref(E, S->node, field), mode, use))
        return NULL;
    const WsValueUse *of = &op->value[0];
    const WsRegValue *v = &E->agent->out->value[of->value],
                     *own = &E->agent->out->value[use->value];
    if (use->rows != of->rows || use->cols != of->cols || own->layout != v->layout)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL,
                      "%s (%u x %u) and its %s %s (%u x %u) are not in step", v->name, of->rows,
                      of->cols, what, own->name, use->rows, use->cols);
    *number = (guint8)op->n_value++;
    return own;
}

/* The elements that `places` picks; FALSE: said. */
static gboolean places(WsStepState *S, WsOp *op)
{
    const WsRegValue *p = beside(S, WS_F_places, "places", WS_MODE_READ, op, &op->places);
    if (p && p->dtype != WS_DTYPE_I32)
        ws_elab_error(S->E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s: places are i32", p->name,
                      ws_dtype_text(p->dtype));
    return p || !ws_node_has(S->node, WS_F_places);
}

/* What has to be there, and what was there. */
static void compared(WsStepState *S, const WsBuffer *b, WsOp *op)
{
    WsElab *E = S->E;
    if (ws_node_has(S->node, WS_F_expected) != (op->reduce == WS_REDUCE_COMPARE))
        ws_elab_error(E, WS_RULE_T_USE, S->id, NULL,
                      "`expected` belongs to reduce `compare`, which needs it");
    const WsRegValue *x = beside(S, WS_F_expected, "expected", WS_MODE_READ, op, &op->expected);
    if (x && x->dtype != b->dtype)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s, but %s holds %s", x->name,
                      ws_dtype_text(x->dtype), b->name, ws_dtype_text(b->dtype));
    const guint n = op->n_value;
    const WsRegValue *old = beside(S, WS_F_old, "old", WS_MODE_WRITE, op, &op->old);
    if (old && old->dtype != b->dtype)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s, but %s holds %s", old->name,
                      ws_dtype_text(old->dtype), b->name, ws_dtype_text(b->dtype));
    for (guint i = 0; old && i < n; i++)
        if (op->value[i].value == op->value[op->old].value) {
            ws_elab_error(E, WS_RULE_T_USE, S->id, "Name another value.",
                          "%s is read by the step that gives it what was there", old->name);
            return;
        }
}

/* Atomic: other agents may do the same to the same bytes at the same time. */
static void combine(WsStepState *S, const WsRef *ref, const WsValueUse *use)
{
    WsElab *E = S->E;
    const WsRegValue *v = &E->agent->out->value[use->value];
    const WsMode both = (WsMode)(WS_MODE_READ | WS_MODE_WRITE);
    WsBufferView view;
    if (ws_halves(E)) {
        ws_elab_error(E, WS_RULE_L_LENS, S->id, NULL,
                      "write at %s: halves of a group do not reduce shared memory yet", S->id);
        return;
    }
    if (ws_node_has(S->node, WS_F_cta) || ws_node_has(S->node, WS_F_signal)) {
        ws_elab_error(E, WS_RULE_T_USE, S->id, NULL, "a write with `reduce` stays in its own CTA");
        return;
    }
    if (!ws_view_buffer(S, ref, both, WS_PROXY_GENERIC, &view))
        return;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view.access.buffer);
    const WsReduce said = ws_step_reduce(S), reduce = said ? said : WS_REDUCE_STORE;
    if (reduce == WS_REDUCE_STORE && ws_node_has(S->node, WS_F_old)) {
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Name `reduce`: `exchange` stores as well.",
                      "`old` belongs to a write with `reduce`");
        return;
    }
    if (!ws_node_has(S->node, WS_F_places) && !same_shape(use, &view))
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s is %u x %u, but %s is %u x %u", v->name,
                      use->rows, use->cols, b->name, view.rows, view.cols);
    const gboolean real = reduce == WS_REDUCE_ADD || reduce == WS_REDUCE_EXCHANGE;
    if (reduce == WS_REDUCE_STORE ? ws_dtype_real(v->dtype) != ws_dtype_real(b->dtype)
                                  : v->dtype != b->dtype || (b->dtype != WS_DTYPE_I32 &&
                                                             (b->dtype != WS_DTYPE_F32 || !real)))
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, "Add or exchange f32, or combine i32.",
                      "%s (%s) is not combined with %s (%s) in this way", v->name,
                      ws_dtype_text(v->dtype), b->name, ws_dtype_text(b->dtype));
    WsOp *op = ws_step_op(S, WS_OP_RED_SHARED, NULL);
    op->n_value = 1;
    op->value[0] = *use;
    op->reduce = reduce;
    if (!places(S, op))
        return;
    compared(S, b, op);
    ws_op_access(E, op, &view.access);
    ws_op_label(E, op, "write %s -> %s", v->name, b->name);
    gint pipe = ws_pipe_of(E, view.access.buffer);
    if (pipe >= 0 && S->list->window == pipe)
        g_array_index(E->pipes, WsPipeBuild, pipe).window_writes = TRUE;
}

/* `rows`: where the tile ends. */
static void leave_rows(WsStepState *S, const WsValueUse *use, WsOp *op)
{
    WsElab *E = S->E;
    op->limit =
        ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_rows), WS_RESOLVE_TENSOR, S->id);
    if (use->rows == 1)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, "Guard it with `when`.",
                      "%s has one row: `rows` leaves out rows of a tile that has several",
                      E->agent->out->value[use->value].name);
    if (ws_halves(E))
        ws_elab_error(E, WS_RULE_L_LENS, S->id, NULL,
                      "write at %s: halves of a group do not leave out rows yet", S->id);
}

/* The elements that are written. */
static void masked(WsStepState *S, WsOp *op)
{
    WsElab *E = S->E;
    if (!ws_node_has(S->node, WS_F_mask))
        return;
    if (ws_halves(E) || E->p->mesh) {
        ws_elab_error(E, WS_RULE_L_LENS, S->id, NULL,
                      "write at %s: a mask of halves of a group, or on a mesh, is not elaborated",
                      S->id);
        return;
    }
    const WsRegValue *m = beside(S, WS_F_mask, "mask", WS_MODE_READ, op, &op->mask);
    if (m && m->dtype != WS_DTYPE_I32)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s: a mask is i32", m->name,
                      ws_dtype_text(m->dtype));
}

/* st_global, red_global, ld_global. */
static void global(WsStepState *S, WsOpKind kind, WsElabSymbol *tensor, const WsValueUse *use)
{
    WsElab *E = S->E;
    const WsTensor *t = &E->p->tensor[tensor->index];
    const WsRegValue *v = &E->agent->out->value[use->value];
    gboolean load = kind == WS_OP_LD_GLOBAL;
    WsTensorAccess need = load                       ? WS_ACCESS_READ
                          : kind == WS_OP_RED_GLOBAL ? WS_ACCESS_REDUCE
                                                     : WS_ACCESS_WRITE;
    if (t->access != need)
        ws_elab_note(E, WS_RULE_L_ACCESS, S->id, "Declare its `access`.",
                     "%s is declared with another access than this step needs", t->name);
    if (load ? !widens(t->dtype, v->dtype) : ws_dtype_real(t->dtype) != ws_dtype_real(v->dtype))
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s, but %s holds %s", v->name,
                      ws_dtype_text(v->dtype), t->name, ws_dtype_text(t->dtype));
    guint rank = (use->rows > 1) + (use->cols > 1);
    if (t->rank < rank)
        ws_elab_error(E, WS_RULE_T_RANK, S->id, NULL, "%s has %u dimensions, the tile %u", t->name,
                      t->rank, rank);
    WsOp *op = ws_step_op(S, kind, NULL);
    op->n_value = 1;
    op->value[0] = *use;
    op->tensor = (gint)tensor->index;
    op->n_coord = ws_step_coordinates(S, t, 0, op->coord);
    ws_half_coordinates(S, use, op->coord, op->n_coord);
    op->reduce = ws_step_reduce(S);
    if (ws_node_has(S->node, WS_F_rows))
        leave_rows(S, use, op);
    if (!load)
        masked(S, op);
    ws_op_label(E, op, load ? "read %s <- %s" : "write %s -> %s", v->name, t->name);
}

/* What is given besides the name of the place and does not belong to it. */
static gboolean strays(WsStepState *S, const WsRef *ref, gboolean tensor)
{
    static const WsFieldId of_buffer[] = { WS_F_cta,    WS_F_signal,   WS_F_use,
                                           WS_F_places, WS_F_expected, WS_F_old };
    static const WsFieldId of_tensor[] = { WS_F_at, WS_F_rows, WS_F_mask };
    if (!tensor)
        return ws_step_strays(S, "buffer", of_tensor, G_N_ELEMENTS(of_tensor));
    if (ref->element || ref->use || ref->n_views) {
        ws_elab_error(S->E, WS_RULE_N_ELEMENT, S->id, "Say the place with `at`.",
                      "%s is a tensor: it has no [i], no use and no view", ref->name);
        return TRUE;
    }
    return ws_step_strays(S, "tensor", of_buffer, G_N_ELEMENTS(of_buffer));
}

static gboolean is_tensor(const WsElab *E, const WsElabSymbol *symbol)
{
    return symbol && symbol->kind == WS_SYMBOL_TENSOR && symbol->index < E->p->n_tensors;
}

void ws_step_WRITE(WsStepState *S)
{
    WsElab *E = S->E;
    WsValueUse use;
    const WsRef *to = ws_elab_field_ref(E, S->node, WS_F_to);
    if (!ws_view_value(S, ws_elab_field_ref(E, S->node, WS_F_keyword), WS_MODE_READ, &use) || !to)
        return;
    ws_half_writes(S, &use);
    WsElabSymbol *symbol = ws_step_symbol(S, to->name);
    WsReduce reduce = ws_step_reduce(S);
    if (strays(S, to, is_tensor(E, symbol)))
        return;
    if (is_tensor(E, symbol) && reduce > WS_REDUCE_MAX)
        ws_elab_error(E, WS_RULE_T_USE, S->id, NULL, "tensors are reduced by add, min and max");
    else if (is_tensor(E, symbol))
        global(S, reduce ? WS_OP_RED_GLOBAL : WS_OP_ST_GLOBAL, symbol, &use);
    else if (reduce || ws_node_has(S->node, WS_F_places))
        combine(S, to, &use);
    else if (ws_node_has(S->node, WS_F_expected) || ws_node_has(S->node, WS_F_old))
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Name `reduce`.",
                      "`expected` and `old` belong to a write with `reduce`");
    else
        to_buffer(S, to, &use);
}

void ws_step_READ(WsStepState *S)
{
    WsElab *E = S->E;
    WsValueUse use;
    WsBufferView view;
    const WsRef *from = ws_elab_field_ref(E, S->node, WS_F_from);
    if (!ws_view_value(S, ws_elab_field_ref(E, S->node, WS_F_keyword), WS_MODE_WRITE, &use) ||
        !from)
        return;
    const WsRegValue *v = &E->agent->out->value[use.value];
    WsElabSymbol *symbol = ws_step_symbol(S, from->name);
    if (strays(S, from, is_tensor(E, symbol)))
        return;
    if (is_tensor(E, symbol)) {
        global(S, WS_OP_LD_GLOBAL, symbol, &use);
        return;
    }
    if (!ws_view_buffer(S, from, WS_MODE_READ, WS_PROXY_GENERIC, &view) ||
        !ws_half_view(S, &use, &view))
        return;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view.access.buffer);
    const gboolean picks = ws_node_has(S->node, WS_F_places);
    if (picks && ws_halves(E)) {
        ws_elab_error(E, WS_RULE_L_LENS, S->id, NULL,
                      "read at %s: halves of a group do not pick elements of shared memory yet",
                      S->id);
        return;
    }
    if (picks && ws_node_has(S->node, WS_F_cta)) {
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Drop `cta`.",
                      "a read with `places` stays in its own CTA");
        return;
    }
    if (!picks && !same_shape(&use, &view))
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s is %u x %u, but %s is %u x %u", v->name,
                      use.rows, use.cols, b->name, view.rows, view.cols);
    if (!widens(b->dtype, v->dtype))
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s, but %s holds %s", v->name,
                      ws_dtype_text(v->dtype), b->name, ws_dtype_text(b->dtype));
    gboolean remote = ws_node_has(S->node, WS_F_cta);
    gboolean matrix = !picks && b->dtype == v->dtype && matrix_form(E, v, &use, &view);
    WsOp *op = ws_step_op(S,
                          remote   ? WS_OP_LD_REMOTE
                          : matrix ? WS_OP_LDMATRIX
                                   : WS_OP_LD_SHARED,
                          NULL);
    op->n_value = 1;
    op->value[0] = use;
    if (!places(S, op))
        return;
    ws_op_access(E, op, &view.access);
    if (remote)
        op->ctas = ws_step_ctas(S, WS_F_cta);
    ws_op_label(E, op, "read %s <- %s", v->name, b->name);
}

void ws_step_TRANSPOSE(WsStepState *S)
{
    WsElab *E = S->E;
    WsBufferView from, into;
    if (!ws_view_buffer(S, ws_elab_field_ref(E, S->node, WS_F_keyword), WS_MODE_READ,
                        WS_PROXY_GENERIC, &from) ||
        !ws_view_buffer(S, ws_elab_field_ref(E, S->node, WS_F_into), WS_MODE_WRITE,
                        WS_PROXY_GENERIC, &into))
        return;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, from.access.buffer);
    const WsBuffer *to = &g_array_index(E->buffers, WsBuffer, into.access.buffer);
    if (ws_dtype_bytes(b->dtype) != 1 || b->dtype != to->dtype)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "transpose takes equal 8-bit dtypes");
    if (from.rows != into.cols || from.cols != into.rows)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s is %u x %u, %s is %u x %u", b->name,
                      from.rows, from.cols, to->name, into.rows, into.cols);
    WsOp *op = ws_step_op(S, WS_OP_TRANSPOSE, NULL);
    ws_op_access(E, op, &from.access);
    ws_op_access(E, op, &into.access);
    ws_op_label(E, op, "transpose %s -> %s", b->name, to->name);
}

static void names_row(const WsExpr *e, gpointer data)
{
    *(gboolean *)data |= e->op == WS_EXPR_NAME && strcmp(e->name, "row") == 0;
}

/* `row` counts from the first row of the half that computes. */
static void row_of_half(WsStepState *S, const WsExpr *e)
{
    gboolean row = FALSE;
    if (ws_halves(S->E) && e)
        ws_expr_visit(e, names_row, &row);
    if (row)
        ws_elab_error(S->E, WS_RULE_L_LENS, S->id, NULL,
                      "compute at %s: `row` of a value that halves share out is not elaborated",
                      S->id);
}

void ws_step_COMPUTE(WsStepState *S)
{
    WsElab *E = S->E;
    row_of_half(S, ws_node_expr(S->node, WS_F_unless));
    guint n = ws_elab_field_count(S->node, WS_F_keyword);
    WsOp *op = ws_step_op(S, WS_OP_MATH, NULL);
    op->math = ws_arena_new0(E->arena, WsStatement *, n);
    g_autoptr(GHashTable) temporaries = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < n; i++) {
        const WsValue *v = ws_elab_field_item(S->node, WS_F_keyword, i);
        if (v->kind != WS_VALUE_STATEMENT)
            continue;
        const WsStatement *s = v->statement;
        row_of_half(S, s->value);
        op->math[op->n_math++] = ws_elab_statement(E, s, temporaries, S->id);
        WsElabSymbol *symbol = ws_step_symbol(S, s->name);
        if (!symbol)
            g_hash_table_add(temporaries, s->name);
        else if (symbol->kind != WS_SYMBOL_VALUE)
            ws_elab_error(E, WS_RULE_N_SHADOW, S->id, "Choose another name.",
                          "%s is assigned here, but already names something that is not a value",
                          s->name);
    }
    if (ws_node_has(S->node, WS_F_unless))
        op->skip = ws_elab_array_expr(E, ws_elab_field_expr(E, S->node, WS_F_unless), S->id);
    ws_op_label(E, op, "compute %s", op->n_math ? op->math[0]->name : "");
    ws_types_bind(S, op);
    ws_elab_lines(S, op);
}
