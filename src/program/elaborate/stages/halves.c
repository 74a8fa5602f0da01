#include "program/elaborate/stages/stages.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* What each half of a group does of a step (LANGUAGE section 19). Half h of the waves holds rows
 * h*R/2 to (h+1)*R/2 of values of R rows, but the whole of what is operand b of a product; it loads
 * as many rows of a tile. */

gboolean ws_halves(const WsElab *E)
{
    return E->agent && E->agent->out->half >= 0;
}

static gboolean shared_out(const WsElab *E, const WsValueUse *use)
{
    return ws_halves(E) && use && E->agent->out->value[use->value].halved;
}

static WsExpr *offset(WsStepState *S, WsExpr *start, guint rows)
{
    return ws_elab_op_int(S->E, WS_EXPR_ADD, start, (gint64)S->E->agent->out->half * rows, S->id);
}

gboolean ws_half_rows(WsStepState *S, WsBufferView *view)
{
    WsElab *E = S->E;
    WsAccess *a = &view->access;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, a->buffer);
    const gboolean cols = a->transposed != view->rank1; /* of the storage */
    guint *count = cols ? &a->cols : &a->rows;
    if (*count % 2 != 0) {
        ws_elab_error(E, WS_RULE_L_STAGE, S->id, WS_WORD("Use an even number of rows."),
                      "%u rows of %s cannot be shared out to two halves", *count, b->name);
        return FALSE;
    }
    *count /= 2;
    view->rows /= 2;
    if (cols)
        a->col0 = offset(S, a->col0, *count);
    else
        a->row0 = offset(S, a->row0, *count);
    gint64 row, col;
    a->stage_offset = -1;
    if (ws_elab_is_int(a->row0, &row) && ws_elab_is_int(a->col0, &col))
        a->stage_offset = (gint64)ws_buffer_offset(b, (guint)row, (guint)col);
    return TRUE;
}

gboolean ws_half_view(WsStepState *S, const WsValueUse *use, WsBufferView *view)
{
    return !shared_out(S->E, use) || view->rows <= 1 || ws_half_rows(S, view);
}

void ws_half_coordinates(WsStepState *S, const WsValueUse *use, WsExpr **at, guint n)
{
    if (!shared_out(S->E, use) || n == 0)
        return;
    const guint dimension = use->cols > 1 && n > 1 ? n - 2 : n - 1;
    at[dimension] = offset(S, at[dimension], use->rows);
}

void ws_half_writes(WsStepState *S, const WsValueUse *use)
{
    if (ws_halves(S->E) && !shared_out(S->E, use))
        ws_elab_error(S->E, WS_RULE_L_STAGE, S->id, WS_WORD("Write a value of more than one row."),
                      "both halves hold the whole of %s, and both would write it",
                      S->E->agent->out->value[use->value].name);
}

/* Rows of a tile straight to shared memory: a load group of the half's waves. The waves of a half
 * may take its rows in any order: a wait covers them all. */
void ws_half_load(WsStepState *S, const WsTensor *t, guint tensor, WsBufferView *view)
{
    WsElab *E = S->E;
    static const WsFieldId none[] = { WS_F_signal, WS_F_slot, WS_F_multicast };
    for (guint i = 0; i < G_N_ELEMENTS(none); i++)
        if (ws_node_has(S->node, none[i])) {
            ws_elab_error(E, WS_RULE_L_LENS, S->id, WS_WORD("Drop it, and wait by `load_wait`."),
                          "load at %s: %s has no mbarriers and no clusters", S->id, E->p->target);
            return;
        }
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view->access.buffer);
    if (view->rank1 || view->access.transposed || t->rank < 2) {
        ws_elab_error(E, WS_RULE_L_LENS, S->id, WS_WORD("Load a tile [rows, columns]."),
                      "load at %s: only rows of two-dimensional tiles are shared out to halves",
                      S->id);
        return;
    }
    if (t->dtype != b->dtype)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s holds %s but %s holds %s", t->name,
                      ws_dtype_text(t->dtype), b->name, ws_dtype_text(b->dtype));
    const guint bytes = view->access.cols * ws_dtype_bytes(b->dtype);
    if (bytes % E->hw->bulk.granule != 0)
        ws_elab_note(E, WS_RULE_L_TMA, S->id, NULL, "a row is %u bytes; a multiple of %u is needed",
                     bytes, E->hw->bulk.granule);
    if (!ws_half_rows(S, view))
        return;
    WsOp *op = ws_step_op(S, WS_OP_CP_ROWS, NULL);
    op->tensor = (gint)tensor;
    op->n_coord = ws_step_coordinates(S, t, 0, op->coord);
    const guint rows = op->n_coord - 2;
    op->coord[rows] = offset(S, op->coord[rows], view->access.rows);
    g_autoptr(WsExpr) row = ws_expr_parse("row", NULL);
    op->coord[rows] = ws_elab_op(E, WS_EXPR_ADD, op->coord[rows],
                                 ws_elab_resolve(E, row, WS_RESOLVE_ROW, S->id), S->id);
    op->bytes = (gint64)view->access.rows * bytes;
    ws_op_access(E, op, &view->access);
    ws_op_label(E, op, "load %s -> %s", t->name, b->name);
    WsOp *commit = ws_step_op(S, WS_OP_CP_COMMIT, "commit");
    ws_op_label(E, commit, "commit load");
}

/* --- products ------------------------------------------------------------------------------- */

static gboolean operand(WsStepState *S, WsFieldId field, WsValueUse *use)
{
    WsElab *E = S->E;
    const WsRef *ref = ws_elab_field_ref(E, S->node, field);
    WsElabSymbol *symbol = ref ? ws_step_symbol(S, ref->name) : NULL;
    if (symbol && symbol->kind == WS_SYMBOL_VALUE)
        return ws_view_value(S, ref, WS_MODE_READ, use);
    ws_elab_error(E, WS_RULE_L_MMA, S->id, WS_WORD("Read it into a value first."),
                  "operands of %s are values; %s is none", E->hw->matrix.name,
                  ref ? ref->name : "");
    return FALSE;
}

static void legal(WsStepState *S, const WsMma *m)
{
    WsElab *E = S->E;
    const WsTargetMatrix *x = &E->hw->matrix;
    const guint rows = E->agent->out->mma_rows;
    if (m->m % rows != 0 || m->n % rows != 0 || m->k % m->inst_k != 0)
        ws_elab_note(E, WS_RULE_L_MMA, S->id,
                     ws_arena_phrase(E->arena,
                                     "Rows of a half and columns: multiples of %u; contraction: "
                                     "of %u.",
                                     rows, m->inst_k),
                     "%s has no product [%u, %u] by [%u, %u]", x->name, m->m, m->k, m->k, m->n);
    if (!ws_target_has_product(E->hw, ws_dtype_text(m->a_type), ws_dtype_text(m->b_type),
                               ws_dtype_text(m->acc_type)))
        ws_elab_note(E, WS_RULE_L_MMA, S->id, NULL, "%s has no %s x %s -> %s", x->name,
                     ws_dtype_text(m->a_type), ws_dtype_text(m->b_type),
                     ws_dtype_text(m->acc_type));
}

void ws_half_mma(WsStepState *S)
{
    WsElab *E = S->E;
    const WsRef *acc = ws_elab_field_ref(E, S->node, WS_F_keyword);
    WsValueUse use[3];
    gint64 first = 0;
    if (ws_node_has(S->node, WS_F_open) ||
        (ws_node_has(S->node, WS_F_first) &&
         !ws_elab_is_int(ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_first), 0, S->id),
                         &first))) {
        ws_elab_error(E, WS_RULE_L_LENS, S->id, WS_WORD("Set the accumulator to 0 before."),
                      "mma at %s: %s ends at once; it has no `open`, and `first` is a constant",
                      S->id, E->hw->matrix.name);
        return;
    }
    if (!acc ||
        !ws_view_value(S, acc, first ? WS_MODE_WRITE : WS_MODE_READ | WS_MODE_WRITE, &use[0]) ||
        !operand(S, WS_F_a, &use[1]) || !operand(S, WS_F_b, &use[2]))
        return;
    const WsRegValue *value = E->agent->out->value;
    WsOp *op = ws_step_op(S, WS_OP_MFMA, NULL);
    op->n_value = 3;
    memcpy(op->value, use, sizeof use);
    WsMma *m = op->mma = ws_arena_new0(E->arena, WsMma, 1);
    *m = (WsMma){ .a_type = value[use[1].value].dtype,
                  .b_type = value[use[2].value].dtype,
                  .acc_type = value[use[0].value].dtype,
                  .m = use[0].rows,
                  .n = use[0].cols,
                  .k = use[1].cols,
                  .a = { .in_registers = TRUE },
                  .b = { .in_registers = TRUE },
                  .first = ws_elab_int(E, first) };
    m->inst_k = ws_target_product_k(E->hw, ws_dtype_text(m->a_type), ws_dtype_bytes(m->a_type),
                                    E->agent->out->mma_rows);
    m->atoms = m->m / E->agent->out->mma_rows;
    ws_op_label(E, op, "mma %s", acc->name);
    if (use[1].rows != m->m || use[2].rows != m->n || use[2].cols != m->k)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id,
                      "a is [M, K], b is [N, K], the accumulator [M, N].",
                      "mma of [%u, %u] and [%u, %u] into [%u, %u]", use[1].rows, use[1].cols,
                      use[2].rows, use[2].cols, m->m, m->n);
    legal(S, m);
}
