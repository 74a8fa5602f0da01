/* Steps of the queues of a core. An operation is its queue's from its issue on; what orders it
 * against others of the same queue is a barrier of the queue (`sync`), against those of other
 * queues a flag. */
#include "program/elaborate/queues/queues.h"

#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "target/core.h"

#include <string.h>

static const WsBuffer *buffer_of(WsElab *E, const WsBufferView *v)
{
    return &g_array_index(E->buffers, WsBuffer, v->access.buffer);
}

/* A view without `.t`: only the right operand of a product may turn. */
static gboolean view(WsStepState *S, WsFieldId field, WsMode mode, WsBufferView *out)
{
    const WsRef *ref = ws_elab_field_ref(S->E, S->node, field);
    if (!ref || !ws_view_buffer(S, ref, mode, WS_PROXY_GENERIC, out))
        return FALSE;
    if (!out->access.transposed || (S->node->kind == WS_STEP_MMA && field == WS_F_b))
        return TRUE;
    ws_elab_error(S->E, WS_RULE_T_VIEW, S->id, NULL, "%s cannot be turned here", ref->name);
    return FALSE;
}

static gboolean strays(WsStepState *S, const WsFieldId *field, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (!ws_node_has(S->node, field[i]))
            continue;
        ws_elab_error(S->E, WS_RULE_L_QUEUE, S->id, "Remove it.", "a %s of %s has no `%s`",
                      ws_node_kind_keyword(S->node->kind), S->E->p->target,
                      ws_field_name(field[i]));
        return TRUE;
    }
    return FALSE;
}

gboolean ws_queue_converts(const WsElab *E, const WsBuffer *b, WsDtype to)
{
    const WsTargetMove *move =
        E->hw->core ? ws_core_move(E->hw->core, b->space, WS_CORE_TENSOR) : NULL;
    return move && move->converts && b->dtype == WS_DTYPE_F32 &&
           (to == WS_DTYPE_F16 || to == WS_DTYPE_BF16);
}

/* --- tensors ---------------------------------------------------------------------------------- */

typedef struct {
    WsOpKind kind;
    guint tensor;
    const char *name;
} Copy;

static WsOp *make_copy(WsStepState *S, guint box, const WsAccess *part, gint map, WsExpr **coord,
                       guint n_coord, gint64 bytes, gpointer data)
{
    const Copy *c = data;
    g_autofree char *suffix = box ? g_strdup_printf("box%u", box) : NULL;
    WsOp *op = ws_step_op(S, c->kind, suffix);
    op->tensor = (gint)c->tensor;
    op->map = map;
    op->n_coord = n_coord;
    memcpy(op->coord, coord, sizeof(WsExpr *) * n_coord);
    op->bytes = bytes;
    ws_op_access(S->E, op, part);
    const char *tensor = S->E->p->tensor[c->tensor].name;
    if (c->kind == WS_OP_QUEUE_IN)
        ws_op_label(S->E, op, "load %s -> %s", tensor, c->name);
    else
        ws_op_label(S->E, op, "store %s -> %s", c->name, tensor);
    return op;
}

static void copy(WsStepState *S, WsOpKind kind, WsFieldId field, WsTensorAccess access)
{
    WsElab *E = S->E;
    const char *name = ws_elab_field_name(E, S->node, WS_F_keyword);
    WsElabSymbol *symbol = ws_elab_find(E, name ? name : "", WS_SYMBOL_TENSOR, S->id);
    WsBufferView v;
    if (!symbol || symbol->index >= E->p->n_tensors ||
        !view(S, field, access == WS_ACCESS_READ ? WS_MODE_WRITE : WS_MODE_READ, &v))
        return;
    const WsTensor *t = &E->p->tensor[symbol->index];
    const WsBuffer *b = buffer_of(E, &v);
    if (t->access != access)
        ws_elab_note(E, WS_RULE_L_ACCESS, S->id, "Declare its `access`.",
                     "%s is declared with another access than this step needs", t->name);
    Copy c = { kind, symbol->index, b->name };
    WsExpr *at[WS_MAX_RANK];
    const guint n = ws_step_coordinates(S, t, 0, at);
    ws_boxes(S, symbol->index, &v, at, n, make_copy, &c);
}

gboolean ws_queue_load(WsStepState *S)
{
    static const WsFieldId not [] = { WS_F_signal, WS_F_slot, WS_F_multicast, WS_F_hint };
    if (!S->E->hw->core)
        return FALSE;
    if (!strays(S, not, G_N_ELEMENTS(not )))
        copy(S, WS_OP_QUEUE_IN, WS_F_into, WS_ACCESS_READ);
    return TRUE;
}

gboolean ws_queue_store(WsStepState *S)
{
    static const WsFieldId not [] = { WS_F_reduce, WS_F_open, WS_F_hint };
    if (!S->E->hw->core)
        return FALSE;
    if (!strays(S, not, G_N_ELEMENTS(not )))
        copy(S, WS_OP_QUEUE_OUT, WS_F_from, WS_ACCESS_WRITE);
    return TRUE;
}

/* --- between spaces --------------------------------------------------------------------------- */

static void shapes(WsStepState *S, const WsBufferView *a, const WsBufferView *b)
{
    WsElab *E = S->E;
    if (a->rows != b->rows || a->cols != b->cols)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s is %u x %u, but %s is %u x %u",
                      buffer_of(E, a)->name, a->rows, a->cols, buffer_of(E, b)->name, b->rows,
                      b->cols);
}

void ws_step_MOVE(WsStepState *S)
{
    WsElab *E = S->E;
    WsBufferView from, into;
    if (!view(S, WS_F_keyword, WS_MODE_READ, &from) || !view(S, WS_F_into, WS_MODE_WRITE, &into))
        return;
    const WsBuffer *b = buffer_of(E, &from), *to = buffer_of(E, &into);
    shapes(S, &from, &into);
    if (b->dtype != to->dtype)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s is %s, but %s holds %s", b->name,
                      ws_dtype_text(b->dtype), to->name, ws_dtype_text(to->dtype));
    WsOp *op = ws_step_op(S, WS_OP_QUEUE_MOVE, NULL);
    op->bytes = (gint64)from.access.rows * from.access.cols * ws_dtype_bytes(b->dtype);
    ws_op_access(E, op, &from.access);
    ws_op_access(E, op, &into.access);
    ws_op_label(E, op, "move %s -> %s", b->name, to->name);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static gboolean same_view(const WsAccess *a, const WsAccess *b)
{
    return a->buffer == b->buffer && a->rows == b->rows && a->cols == b->cols &&
           ws_expr_equal(a->element, b->element) && ws_expr_equal(a->stage, b->stage) &&
           ws_expr_equal(a->row0, b->row0) && ws_expr_equal(a->col0, b->col0);
}

static gboolean in_space(WsStepState *S, const WsBufferView *v, guint space)
{
    WsElab *E = S->E;
    const WsBuffer *b = buffer_of(E, v);
    if (b->space == (gint)space)
        return TRUE;
    ws_elab_error(E, WS_RULE_L_QUEUE, S->id,
                  ws_arena_phrase(E->arena, "Move it to %s.", E->hw->core->space[space].name),
                  "%s lies in %s, but this operand of a %s lies in %s", b->name,
                  ws_core_space_name(E->hw->core, b->space), ws_node_kind_keyword(S->node->kind),
                  E->hw->core->space[space].name);
    return FALSE;
}

void ws_step_VECTOR(WsStepState *S)
{
    WsElab *E = S->E;
    const WsTargetCore *core = E->hw->core;
    WsBufferView a, b, into;
    const char *what = ws_elab_field_name(E, S->node, WS_F_keyword);
    if (!core || !view(S, WS_F_a, WS_MODE_READ, &a) || !view(S, WS_F_b, WS_MODE_READ, &b) ||
        !view(S, WS_F_into, WS_MODE_WRITE, &into) || !in_space(S, &a, core->work) ||
        !in_space(S, &b, core->work) || !in_space(S, &into, core->work))
        return;
    shapes(S, &a, &into);
    shapes(S, &b, &into);
    const WsDtype type = buffer_of(E, &into)->dtype;
    if (buffer_of(E, &a)->dtype != type || buffer_of(E, &b)->dtype != type)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "operands and result of %s have one type",
                      what);
    if (!ws_target_word(core->vector_types, ws_dtype_text(type)))
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id,
                      ws_arena_phrase(E->arena, "Use one of %s.", core->vector_types),
                      "the vector queue has no %s of %s", what, ws_dtype_text(type));
    WsOp *op = ws_step_op(S, WS_OP_VECTOR, NULL);
    op->math_name = ws_arena_strdup(E->arena, what);
    op->bytes = (gint64)into.access.rows * into.access.cols * ws_dtype_bytes(type);
    /* in place: each element is read before it is written. Views that overlap otherwise are judged
     * by the check. */
    if (same_view(&a.access, &into.access) || same_view(&b.access, &into.access))
        into.access.mode = (WsMode)(WS_MODE_READ | WS_MODE_WRITE);
    ws_op_access(E, op, &into.access);
    ws_op_access(E, op, &a.access);
    ws_op_access(E, op, &b.access);
    ws_op_label(E, op, "%s -> %s", what, buffer_of(E, &into)->name);
}

static void cube(WsStepState *S, WsTree *seq, const WsBufferView *acc, const WsBufferView *a,
                 const WsBufferView *b, gboolean restart)
{
    WsElab *E = S->E;
    WsTree *to = S->seq;
    S->seq = seq;
    WsOp *op = ws_step_op(S, WS_OP_CUBE, NULL);
    S->seq = to;
    WsAccess sums = acc->access;
    sums.mode = restart ? WS_MODE_WRITE : (WsMode)(WS_MODE_READ | WS_MODE_WRITE);
    op->restart = restart;
    op->bytes = (gint64)a->access.rows * a->access.cols * ws_dtype_bytes(buffer_of(E, a)->dtype) +
                (gint64)b->access.rows * b->access.cols * ws_dtype_bytes(buffer_of(E, b)->dtype);
    ws_op_access(E, op, &sums);
    ws_op_access(E, op, &a->access);
    ws_op_access(E, op, &b->access);
    ws_op_label(E, op, "mma %s", buffer_of(E, acc)->name);
}

static void product_legal(WsStepState *S, const WsBufferView *acc, const WsBufferView *a,
                          const WsBufferView *b)
{
    WsElab *E = S->E;
    const WsTargetMatrix *x = &E->hw->matrix;
    const char *left = ws_dtype_text(buffer_of(E, a)->dtype),
               *right = ws_dtype_text(buffer_of(E, b)->dtype),
               *sums = ws_dtype_text(buffer_of(E, acc)->dtype);
    const guint k = MAX(x->k_bytes / ws_dtype_bytes(buffer_of(E, a)->dtype), 1);
    if (a->rows != acc->rows || b->rows != acc->cols || a->cols != b->cols)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id,
                      "a is [M, K], b is [N, K], the accumulator [M, N].",
                      "mma of [%u, %u] and [%u, %u] into [%u, %u]", a->rows, a->cols, b->rows,
                      b->cols, acc->rows, acc->cols);
    if (acc->rows % x->m || acc->cols % x->n_step || a->cols % k)
        ws_elab_note(E, WS_RULE_L_MMA, S->id, NULL,
                     "M is %u, N %u, K %u; %s takes multiples of %u, %u and %u", acc->rows,
                     acc->cols, a->cols, x->name, x->m, x->n_step, k);
    if (!ws_target_has_product(E->hw, left, right, sums)) {
        g_autofree char *all = ws_target_products(E->hw);
        ws_elab_note(E, WS_RULE_L_MMA, S->id, ws_arena_phrase(E->arena, "Use one of %s.", all),
                     "%s has no %s x %s -> %s", x->name, left, right, sums);
    }
}

gboolean ws_queue_mma(WsStepState *S)
{
    WsElab *E = S->E;
    const WsTargetCore *core = E->hw->core;
    static const WsFieldId not [] = { WS_F_open };
    WsBufferView acc, a, b;
    if (!core)
        return FALSE;
    if (strays(S, not, G_N_ELEMENTS(not )) || !view(S, WS_F_keyword, WS_MODE_WRITE, &acc) ||
        !view(S, WS_F_a, WS_MODE_READ, &a) || !view(S, WS_F_b, WS_MODE_READ, &b) ||
        !in_space(S, &acc, core->sums) || !in_space(S, &a, core->left) ||
        !in_space(S, &b, core->right))
        return TRUE;
    product_legal(S, &acc, &a, &b);
    WsExpr *first = ws_elab_int(E, 0);
    gint64 known;
    if (ws_node_has(S->node, WS_F_first))
        first = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_first), 0, S->id);
    if (ws_elab_is_int(first, &known)) {
        cube(S, S->seq, &acc, &a, &b, known != 0);
        return TRUE;
    }
    /* the accumulator is read or not: two operations */
    WsTree *branch = ws_tree_new(E, WS_TREE_BRANCH, S->id);
    branch->cond = first;
    ws_tree_add(E, S->seq, branch);
    for (guint i = 0; i < 2; i++) {
        WsTree *seq = ws_tree_new(E, WS_TREE_SEQ, S->id);
        ws_tree_add(E, branch, seq);
        cube(S, seq, &acc, &a, &b, i == 0);
    }
    return TRUE;
}

/* --- order ------------------------------------------------------------------------------------ */

gboolean ws_queue_wait(WsStepState *S)
{
    static const WsFieldId not [] = { WS_F_slot, WS_F_phase };
    if (!S->E->hw->core)
        return FALSE;
    if (strays(S, not, G_N_ELEMENTS(not )))
        return TRUE;
    const WsRef *ref = ws_elab_field_ref(S->E, S->node, WS_F_keyword);
    WsOp *op = ws_step_op(S, WS_OP_MBAR_WAIT, NULL);
    if (ws_op_barrier(S, op, ref, WS_BARRIER_MBARRIER))
        ws_op_label(S->E, op, "wait %s", ref->name);
    return TRUE;
}

gboolean ws_queue_arrive(WsStepState *S)
{
    static const WsFieldId not [] = { WS_F_by, WS_F_count, WS_F_cta, WS_F_slot };
    if (!S->E->hw->core)
        return FALSE;
    if (strays(S, not, G_N_ELEMENTS(not )))
        return TRUE;
    const WsRef *ref = ws_elab_field_ref(S->E, S->node, WS_F_keyword);
    WsOp *op = ws_step_op(S, WS_OP_MBAR_ARRIVE, NULL);
    ws_op_label(S->E, op, "set %s", ref->name);
    if (!ws_op_barrier(S, op, ref, WS_BARRIER_MBARRIER))
        return TRUE;
    /* all lanes that stand for the queue arrive, so that it covers what any of them did */
    ws_arrive_breadth(S, op, "all", 0, 1);
    return TRUE;
}

/* A barrier of one queue; `group`: of all queues of the core. */
gboolean ws_queue_sync(WsStepState *S)
{
    WsElab *E = S->E;
    if (!E->hw->core)
        return FALSE;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_keyword);
    if (strcmp(ref->name, "group") == 0 || strcmp(ref->name, "cta") == 0) {
        WsOp *op = ws_step_op(S, WS_OP_BAR_SYNC, NULL);
        op->element = ws_elab_int(E, 0);
        op->barrier = E->cta_barrier;
        ws_op_label(E, op, "barrier of all queues");
        return TRUE;
    }
    WsOp *op = ws_step_op(S, WS_OP_WARP_SYNC, NULL);
    op->breadth = WS_BREADTH_GROUP;
    ws_op_label(E, op, "barrier of %s", ref->name);
    return TRUE;
}
