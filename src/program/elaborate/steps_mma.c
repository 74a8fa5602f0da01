#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/elaborate/stages/stages.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* mma: shapes, types, descriptors. Descriptor fields: PTX ISA, "matrix descriptor" of wgmma. */

/* Every instruction takes so many elements of the contraction. */
static guint step_k(const WsElab *E, WsDtype t)
{
    return MAX(E->hw->matrix.k_bytes / ws_dtype_bytes(t), 1);
}

static gboolean is_int8(WsDtype t)
{
    return t == WS_DTYPE_I8 || t == WS_DTYPE_U8;
}

/* "Use 64 or 128.": the legal extents around one that is not, multiples of `step` up to `most` (0:
 * no bound). */
static const char *nearest(WsElab *E, guint n, guint step, guint most)
{
    guint below = n / step * step, above = below + step;
    if (most && below > most)
        below = most;
    if (below == 0 || (most && above > most))
        return ws_arena_phrase(E->arena, "Use %u.", below ? below : above);
    return ws_arena_phrase(E->arena, "Use %u or %u.", below, above);
}

static void operand_legal(WsStepState *S, const WsBuffer *b, const WsAccess *a)
{
    WsElab *E = S->E;
    const WsTargetMatrix *x = &E->hw->matrix;
    guint bytes = ws_dtype_bytes(b->dtype);
    gint64 first;
    if (b->swizzle == 0) {
        g_autofree char *spans = ws_target_swizzles(E->hw);
        ws_elab_note(
            E, WS_RULE_L_SWIZZLE, S->id,
            ws_arena_phrase(E->arena, "Let the rows be a multiple of one of %s bytes.", spans),
            "%s has no swizzle; an mma operand needs one of %s bytes", b->name, spans);
    }
    if (a->transposed && bytes != x->transposable)
        ws_elab_note(E, WS_RULE_L_MAJOR, S->id,
                     "Store it with the contraction last in memory and drop `.t`, or transpose it "
                     "in shared memory first.",
                     "%s is %s: only %u-bit operands can be read transposed", b->name,
                     ws_dtype_text(b->dtype), 8 * x->transposable);
    if (a->transposed && (a->cols % b->chunk_cols != 0 ||
                          (ws_elab_is_int(a->col0, &first) && first % b->chunk_cols != 0)))
        ws_elab_note(E, WS_RULE_L_MAJOR, S->id, nearest(E, a->cols, b->chunk_cols, 0),
                     "a transposed operand spans whole swizzle chunks of %u columns; %s has %u",
                     b->chunk_cols, b->name, a->cols);
    if (ws_elab_is_int(a->row0, &first) && first % x->row_step != 0)
        ws_elab_note(E, WS_RULE_L_VIEW, S->id,
                     ws_arena_phrase(E->arena, "Start at a multiple of %u.", x->row_step),
                     "rows of %s used by an mma start at %" G_GINT64_FORMAT, b->name, first);
    if (!a->transposed && (a->cols * bytes % x->k_bytes != 0 ||
                           (ws_elab_is_int(a->col0, &first) && first * bytes % x->k_bytes != 0)))
        ws_elab_note(E, WS_RULE_L_VIEW, S->id, nearest(E, a->cols, x->k_bytes / bytes, 0),
                     "columns of %s along the contraction start and end at multiples of %u bytes",
                     b->name, x->k_bytes);
}

/* Byte offset of an operand's k-step j from its start. */
static guint k_offset(const WsBuffer *b, const WsAccess *a, guint j, guint inst_k)
{
    gint64 row = 0, col = 0;
    ws_elab_is_int(a->row0, &row);
    ws_elab_is_int(a->col0, &col);
    guint64 from = ws_buffer_offset(b, (guint)row, (guint)col);
    guint64 to = a->transposed ? ws_buffer_offset(b, (guint)row + j * inst_k, (guint)col)
                               : ws_buffer_offset(b, (guint)row, (guint)col + j * inst_k);
    return (guint)(to - from);
}

static void operand(WsStepState *S, WsMmaOperand *o, const WsAccess *a, guint k, guint inst_k)
{
    WsElab *E = S->E;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, a->buffer);
    const guint rows = E->hw->matrix.m;
    operand_legal(S, b, a);
    o->start = a->stage_offset;
    o->swizzle = b->swizzle;
    o->transposed = a->transposed;
    o->stride = E->hw->matrix.row_step * b->row_bytes;
    o->leading = a->transposed ? b->chunk_bytes : E->hw->shared.unit;
    o->atom_step =
        a->transposed ? b->chunk_bytes * MAX(1, rows / MAX(b->chunk_cols, 1)) : rows * b->row_bytes;
    o->n_k = k / inst_k;
    o->k_offset = ws_arena_new0(E->arena, guint, o->n_k);
    for (guint j = 0; j < o->n_k; j++)
        o->k_offset[j] = k_offset(b, a, j, inst_k);
}

/* What the operands' types would have to be, the nearest first: those of `a` with itself. */
static const char *nearest_types(WsElab *E, const WsMma *m)
{
    WsDtype acc = is_int8(m->a_type) ? WS_DTYPE_I32 : WS_DTYPE_F32;
    if (ws_target_has_product(E->hw, ws_dtype_text(m->a_type), ws_dtype_text(m->a_type),
                              ws_dtype_text(acc)))
        return ws_arena_phrase(E->arena, "Use %s x %s -> %s.", ws_dtype_text(m->a_type),
                               ws_dtype_text(m->a_type), ws_dtype_text(acc));
    g_autofree char *all = ws_target_products(E->hw);
    return ws_arena_phrase(E->arena, "Use one of %s.", all);
}

static void shape_legal(WsStepState *S, const WsMma *m)
{
    WsElab *E = S->E;
    const WsTargetMatrix *x = &E->hw->matrix;
    guint n_step = is_int8(m->a_type) && m->n > x->n_few ? x->n_step_int8 : x->n_step;
    g_autofree char *few = is_int8(m->a_type) ? ws_phrase(" (8-bit integers above %u: of %u)",
                                                          x->n_few, x->n_step_int8)
                                              : g_strdup("");
    if (m->m % x->m != 0 || m->m == 0)
        ws_elab_note(E, WS_RULE_L_MMA, S->id, nearest(E, m->m, x->m, 0),
                     "M is %u; %s takes multiples of %u", m->m, x->name, x->m);
    if (m->n % n_step != 0 || m->n < x->n_step || m->n > x->n_most)
        ws_elab_note(E, WS_RULE_L_MMA, S->id, nearest(E, m->n, n_step, x->n_most),
                     "N is %u; %s takes multiples of %u up to %u%s", m->n, x->name, x->n_step,
                     x->n_most, few);
    if (m->k % m->inst_k != 0 || m->k == 0)
        ws_elab_note(E, WS_RULE_L_MMA, S->id, nearest(E, m->k, m->inst_k, 0),
                     "K is %u; %s takes %u bytes of the contraction at a time, so %s takes "
                     "multiples of %u",
                     m->k, x->name, x->k_bytes, ws_dtype_text(m->a_type), m->inst_k);
    if (!ws_target_has_product(E->hw, ws_dtype_text(m->a_type), ws_dtype_text(m->b_type),
                               ws_dtype_text(m->acc_type)))
        ws_elab_note(E, WS_RULE_L_MMA, S->id, nearest_types(E, m), "%s has no %s x %s -> %s",
                     x->name, ws_dtype_text(m->a_type), ws_dtype_text(m->b_type),
                     ws_dtype_text(m->acc_type));
    if (E->agent->out->warps != x->warps)
        ws_elab_note(E, WS_RULE_L_WARPS, S->id,
                     ws_arena_phrase(E->arena, "Set \"warps\": %u.", x->warps),
                     "a group with an mma has exactly %u warps, this one has %u", x->warps,
                     E->agent->out->warps);
}

/* Operand `a`: a view of shared memory or a value. Returns its extents [M, K]. */
static gboolean operand_a(WsStepState *S, WsOp *op, WsBufferView *view, guint extent[2])
{
    WsElab *E = S->E;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_a);
    WsElabSymbol *symbol = ref ? ws_step_symbol(S, ref->name) : NULL;
    if (!symbol || symbol->kind != WS_SYMBOL_VALUE) {
        if (!ref || !ws_view_buffer(S, ref, WS_MODE_READ, WS_PROXY_ASYNC, view))
            return FALSE;
        op->mma->a_type = g_array_index(E->buffers, WsBuffer, view->access.buffer).dtype;
        ws_op_access(E, op, &view->access);
        extent[0] = view->rows;
        extent[1] = view->cols;
        return TRUE;
    }
    if (!ws_view_value(S, ref, WS_MODE_READ, &op->value[1]))
        return FALSE;
    op->n_value = 2;
    op->mma->a.in_registers = TRUE;
    op->mma->a_type = E->agent->out->value[op->value[1].value].dtype;
    if (ws_dtype_bytes(op->mma->a_type) > E->hw->matrix.register_bytes)
        ws_elab_note(E, WS_RULE_L_MMA, S->id, "Convert it first.",
                     "%s is %s; an operand in registers has at most %u bits", ref->name,
                     ws_dtype_text(op->mma->a_type), 8 * E->hw->matrix.register_bytes);
    extent[0] = op->value[1].rows;
    extent[1] = op->value[1].cols;
    return TRUE;
}

static void commit(WsStepState *S, WsOp *op)
{
    if (ws_node_bool(S->node, WS_F_open, FALSE)) {
        ws_step_joins(S, S->list->open_mma, &S->list->mma_shift);
        S->list->open_mma = op;
        return;
    }
    ws_step_closes(S, S->list->open_mma, &S->list->mma_shift);
    S->list->open_mma = NULL;
    WsOp *close = ws_step_op(S, WS_OP_MMA_COMMIT, "commit");
    ws_op_label(S->E, close, "commit mma");
}

void ws_step_MMA(WsStepState *S)
{
    WsElab *E = S->E;
    if (ws_queue_mma(S))
        return;
    if (E->hw->matrix.values) {
        ws_half_mma(S);
        return;
    }
    WsMma *m = ws_arena_new0(E->arena, WsMma, 1);
    WsBufferView a = { 0 }, b;
    guint extent[2];
    if (E->fences && !S->list->open_mma) { /* F1 */
        WsOp *fence = ws_step_op(S, WS_OP_MMA_FENCE, "fence");
        ws_op_label(E, fence, "fence mma");
    }
    WsOp *op = ws_step_op(S, WS_OP_MMA, NULL);
    op->mma = m;
    op->n_value = 1;
    m->first = ws_elab_int(E, 0);
    if (ws_node_has(S->node, WS_F_first))
        m->first = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_first), 0, S->id);
    const WsRef *acc = ws_elab_field_ref(E, S->node, WS_F_keyword),
                *rb = ws_elab_field_ref(E, S->node, WS_F_b);
    if (!acc || !rb || !ws_view_value(S, acc, WS_MODE_READ | WS_MODE_WRITE, &op->value[0]) ||
        !operand_a(S, op, &a, extent) || !ws_view_buffer(S, rb, WS_MODE_READ, WS_PROXY_ASYNC, &b))
        return;
    ws_op_access(E, op, &b.access);
    const WsBuffer *bb = &g_array_index(E->buffers, WsBuffer, b.access.buffer);
    m->b_type = bb->dtype;
    m->acc_type = E->agent->out->value[op->value[0].value].dtype;
    m->m = op->value[0].rows;
    m->n = op->value[0].cols;
    m->k = extent[1];
    m->inst_k = step_k(E, m->a_type);
    m->atoms = m->m / E->hw->matrix.m;
    ws_op_label(E, op, "mma %s", acc->name);
    if (extent[0] != m->m || b.rows != m->n || b.cols != m->k)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id,
                      "a is [M, K], b is [N, K], the accumulator [M, N].",
                      "mma of [%u, %u] and [%u, %u] into [%u, %u]", extent[0], extent[1], b.rows,
                      b.cols, m->m, m->n);
    shape_legal(S, m);
    if (m->a.in_registers && ws_dtype_bytes(m->a_type) == 1 && !bb->k_permuted)
        ws_elab_note(E, WS_RULE_L_MMA, S->id, "Declare `k_order` accumulator.",
                     "an 8-bit operand in registers needs rows of %s in accumulator order",
                     bb->name);
    if (m->a.in_registers) {
        m->a.n_k = m->k / MAX(m->inst_k, 1);
        m->a.k_offset = ws_arena_new0(E->arena, guint, m->a.n_k);
    } else {
        operand(S, &m->a, &a.access, m->k, m->inst_k);
    }
    operand(S, &m->b, &b.access, m->k, m->inst_k);
    commit(S, op);
}

/* Inside of every 16 columns of a buffer in accumulator order bytes stand as an 8-bit operand in
 * registers has what was an accumulator. Only a step that puts them there may write it, and only a
 * product of such an operand means the same columns when it reads. */
static gboolean in_order(const WsOp *op, const WsAccess *a)
{
    const WsOpRow *o = ws_op_row(op->kind);
    if (a->mode == WS_MODE_WRITE) /* threads, from shared memory: a transposition */
        return o->proxy == WS_PROXY_GENERIC && o->from == WS_DATA_AT_SHARED &&
               o->to == WS_DATA_AT_SHARED;
    return a->mode == WS_MODE_READ && op->mma && op->mma->a.in_registers &&
           ws_dtype_bytes(op->mma->a_type) == 1;
}

void ws_elab_k_orders(WsElab *E)
{
    for (guint i = 0; i < E->p->n_ops; i++) {
        const WsOp *op = E->p->op[i];
        for (guint k = 0; k < op->n_access; k++) {
            const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, op->access[k].buffer);
            if (!b->k_permuted || in_order(op, &op->access[k]))
                continue;
            ws_elab_note(E, WS_RULE_L_MMA, op->step, "Drop `k_order`, or name another buffer.",
                         "%s is in accumulator order: `transpose` alone writes it, and it is read "
                         "as operand b beside an 8-bit value alone",
                         b->name);
        }
    }
}
