#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/elaborate/stages/stages.h"
#include "program/op.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* load, gather, load_wait, store, store_wait, copy, prefetch, claim, take. */

WsElabSymbol *ws_step_tensor(WsStepState *S)
{
    const char *name = ws_elab_field_name(S->E, S->node, WS_F_keyword);
    WsElabSymbol *symbol = ws_elab_find(S->E, name ? name : "", WS_SYMBOL_TENSOR, S->id);
    return symbol && symbol->index < S->E->p->n_tensors ? symbol : NULL;
}

static WsHint step_hint(WsStepState *S)
{
    static const char *const words[] = { NULL, "evict_first", "evict_normal", "evict_last" };
    for (guint i = 1; i < G_N_ELEMENTS(words); i++)
        if (ws_elab_field_is(S->E, S->node, WS_F_hint, words[i]))
            return (WsHint)i;
    return WS_HINT_NONE;
}

WsReduce ws_step_reduce(WsStepState *S)
{
    for (guint i = 1; i < WS_REDUCE_STORE; i++)
        if (ws_elab_field_is(S->E, S->node, WS_F_reduce, ws_reduce_text((WsReduce)i)))
            return (WsReduce)i;
    return WS_REDUCE_NONE;
}

/* `multicast` and `cta`: "all", a list of ranks, or one rank. */
WsCtas ws_step_ctas(WsStepState *S, WsFieldId field)
{
    WsElab *E = S->E;
    WsCtas ctas = { .kind = WS_CTAS_OWN };
    if (!ws_node_has(S->node, field))
        return ctas;
    if (E->p->cluster == 1)
        ws_elab_note(E, WS_RULE_L_CLUSTER, S->id, "Set \"cluster\", or drop the field.",
                     "this step reaches other CTAs, but the cluster has one");
    if (ws_elab_field_is(E, S->node, field, "all")) {
        ctas.kind = WS_CTAS_ALL;
    } else if (ws_node_get(S->node, field)->kind == WS_VALUE_LIST) {
        ctas.kind = WS_CTAS_MASK;
        for (guint i = 0; i < ws_elab_field_count(S->node, field); i++)
            ctas.mask |=
                (guint16)(1u << ws_elab_constant_in(
                              E, ws_elab_value_expr(E, ws_elab_field_item(S->node, field, i)), 0,
                              E->p->cluster - 1, "a rank", S->id));
    } else {
        ctas.kind = WS_CTAS_EXPR;
        ctas.expr = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, field), 0, S->id);
        for (guint c = 0; c < E->p->cluster; c++) {
            gint64 rank;
            if (ws_elab_at_rank(E, ctas.expr, c, &rank) && (rank < 0 || rank >= E->p->cluster))
                ws_elab_error(E, WS_RULE_T_RANGE, S->id, NULL,
                              "CTA %u would reach CTA %" G_GINT64_FORMAT " of a cluster of %u", c,
                              rank, E->p->cluster);
        }
    }
    return ctas;
}

gboolean ws_step_credit(WsStepState *S, WsOp *op, guint buffer, gboolean required)
{
    WsElab *E = S->E;
    WsExpr *use = NULL;
    gint pipe = ws_pipe_signal(S, buffer, &use);
    if (ws_node_has(S->node, WS_F_signal)) {
        if (pipe >= 0)
            ws_elab_note(E, WS_RULE_L_PIPE, S->id, "Drop \"signal\".",
                         "a transfer into a field of a pipe signals the pipe");
        return ws_op_barrier(S, op, ws_elab_field_ref(E, S->node, WS_F_signal),
                             WS_BARRIER_MBARRIER);
    }
    if (pipe >= 0) {
        static const WsFieldId of_barrier[] = { WS_F_slot };
        if (ws_step_strays(S, "pipe", of_barrier, G_N_ELEMENTS(of_barrier)))
            return FALSE;
        ws_op_barrier_at(S, op, pipe, ws_elab_int(E, 0), use);
        return TRUE;
    }
    if (required)
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Add \"signal\".",
                      "a %s needs a `signal` unless it fills a field of a pipe",
                      ws_node_kind_keyword(S->node->kind));
    return FALSE;
}

typedef struct {
    WsOpKind kind;
    guint tensor;
    WsCtas ctas;
    const char *name;
    const WsOp *first;
} Transfer;

static WsOp *make_load(WsStepState *S, guint box, const WsAccess *part, gint map, WsExpr **coord,
                       guint n_coord, gint64 bytes, gpointer data)
{
    WsElab *E = S->E;
    Transfer *T = data;
    g_autofree char *suffix = box ? g_strdup_printf("box%u", box) : NULL;
    WsOp *op = ws_step_op(S, T->kind, suffix);
    op->tensor = (gint)T->tensor;
    op->map = map;
    op->n_coord = n_coord;
    memcpy(op->coord, coord, sizeof(WsExpr *) * n_coord);
    op->hint = step_hint(S);
    op->bytes = bytes;
    op->ctas = T->ctas;
    ws_op_access(E, op, part);
    if (T->kind == WS_OP_TMA_STORE) {
        op->reduce = ws_step_reduce(S);
        ws_op_label(E, op, "store %s -> %s", T->name, E->p->tensor[T->tensor].name);
        return op;
    }
    ws_op_label(E, op, "load %s -> %s", E->p->tensor[T->tensor].name, T->name);
    if (ws_step_credit(S, op, part->buffer, TRUE))
        ws_transaction_credit(S, op, bytes, &op->ctas);
    return op;
}

/* Loads, gathers and prefetches take what no step of the kernel writes: nothing orders them against
 * the stores of other CTAs. */
static void only_read(WsStepState *S, const WsTensor *t)
{
    const gboolean put = t->access == WS_ACCESS_EXCHANGE && S->node->kind == WS_STEP_LOAD;
    if (t->access != WS_ACCESS_READ && !put)
        ws_elab_note(S->E, WS_RULE_L_ACCESS, S->id, "Read another tensor, or write another one.",
                     "%s is declared with access \"%s\", so the kernel does not read it", t->name,
                     t->access == WS_ACCESS_WRITE      ? "write"
                     : t->access == WS_ACCESS_EXCHANGE ? "exchange"
                                                       : "reduce");
}

void ws_step_LOAD(WsStepState *S)
{
    if (ws_queue_load(S))
        return;
    WsElab *E = S->E;
    WsElabSymbol *tensor = ws_step_tensor(S);
    WsBufferView view;
    WsExpr *at[WS_MAX_RANK];
    const WsRef *into = ws_elab_field_ref(E, S->node, WS_F_into);
    const WsProxy proxy = ws_halves(E) ? WS_PROXY_GENERIC : WS_PROXY_ASYNC;
    if (!tensor || !into || !ws_view_buffer(S, into, WS_MODE_WRITE, proxy, &view))
        return;
    if (ws_halves(E)) {
        only_read(S, &E->p->tensor[tensor->index]);
        ws_half_load(S, &E->p->tensor[tensor->index], tensor->index, &view);
        return;
    }
    Transfer T = { .kind = WS_OP_TMA_LOAD,
                   .tensor = tensor->index,
                   .name = into->name,
                   .ctas = ws_step_ctas(S, WS_F_multicast) };
    only_read(S, &E->p->tensor[tensor->index]);
    guint n = ws_step_coordinates(S, &E->p->tensor[tensor->index], 0, at);
    ws_boxes(S, tensor->index, &view, at, n, make_load, &T);
}

/* A group lies in one round: of what runs ahead of it the last round has none. */
void ws_step_joins(WsStepState *S, const WsOp *open, gint64 *shift)
{
    if (open && S->shift != *shift)
        ws_elab_note(S->E, WS_RULE_L_OPEN, S->id, "Give both steps the same `ahead`.",
                     "it belongs to the group of %s, which another round leaves open", open->step);
    *shift = S->shift;
}

void ws_step_closes(WsStepState *S, const WsOp *open, gint64 *shift)
{
    ws_step_joins(S, open, shift);
    if (open && ws_node_has(S->node, WS_F_when))
        ws_elab_note(S->E, WS_RULE_L_OPEN, S->id, "Close it by a step without `when`.",
                     "a condition guards the step that closes the group of %s", open->step);
}

void ws_step_STORE(WsStepState *S)
{
    if (ws_queue_store(S))
        return;
    WsElab *E = S->E;
    WsElabSymbol *tensor = ws_step_tensor(S);
    WsBufferView view;
    WsExpr *at[WS_MAX_RANK];
    const WsRef *from = ws_elab_field_ref(E, S->node, WS_F_from);
    if (!tensor || !from || !ws_view_buffer(S, from, WS_MODE_READ, WS_PROXY_ASYNC, &view))
        return;
    const WsTensor *t = &E->p->tensor[tensor->index];
    gboolean reduce = ws_step_reduce(S) != WS_REDUCE_NONE;
    if (t->access != (reduce ? WS_ACCESS_REDUCE : WS_ACCESS_WRITE))
        ws_elab_note(E, WS_RULE_L_ACCESS, S->id, "Declare its `access`.",
                     "%s is not declared with access \"%s\"", t->name, reduce ? "reduce" : "write");
    Transfer T = { .kind = WS_OP_TMA_STORE, .tensor = tensor->index, .name = from->name };
    guint n = ws_step_coordinates(S, t, 0, at), before = E->ops->len;
    ws_boxes(S, tensor->index, &view, at, n, make_load, &T);
    if (E->ops->len == before)
        return;
    if (ws_node_bool(S->node, WS_F_open, FALSE)) {
        ws_step_joins(S, S->list->open_store, &S->list->store_shift);
        S->list->open_store = g_ptr_array_index(E->ops, before);
        return;
    }
    ws_step_closes(S, S->list->open_store, &S->list->store_shift);
    S->list->open_store = NULL;
    WsOp *commit = ws_step_op(S, WS_OP_BULK_COMMIT, "commit");
    ws_op_label(E, commit, "commit stores");
}

static void wait_groups(WsStepState *S, WsOpKind kind, const char *what)
{
    WsElab *E = S->E;
    WsOp *op = ws_step_op(S, kind, NULL);
    const WsTargetQueue *queue = ws_target_waited(E->hw, what);
    op->n = ws_elab_constant_in(E, ws_elab_field_expr(E, S->node, WS_F_keyword), 0,
                                queue ? queue->most : 0, what, S->id);
    ws_op_label(E, op, "%s %" G_GINT64_FORMAT, what, op->n);
}

void ws_step_STORE_WAIT(WsStepState *S)
{
    if (S->list->open_store)
        ws_elab_note(S->E, WS_RULE_L_OPEN, S->id, "Close it by a store without \"open\".",
                     "a bulk group is still open at this wait");
    wait_groups(S, WS_OP_BULK_WAIT, "store_wait");
    WsOp *op = g_ptr_array_index(S->E->ops, S->E->ops->len - 1);
    op->full = ws_node_bool(S->node, WS_F_full, FALSE);
}

void ws_step_LOAD_WAIT(WsStepState *S)
{
    wait_groups(S, WS_OP_CP_WAIT, "load_wait");
}

void ws_step_MMA_WAIT(WsStepState *S)
{
    if (S->list->open_mma)
        ws_elab_note(S->E, WS_RULE_L_OPEN, S->id, "Close it by an mma without \"open\".",
                     "a commit group is still open at this wait");
    wait_groups(S, WS_OP_MMA_WAIT, "mma_wait");
}

void ws_step_GATHER(WsStepState *S)
{
    WsElab *E = S->E;
    WsElabSymbol *tensor = ws_step_tensor(S);
    WsBufferView view;
    const WsRef *into = ws_elab_field_ref(E, S->node, WS_F_into);
    if (!tensor || !into || !ws_view_buffer(S, into, WS_MODE_WRITE, WS_PROXY_GENERIC, &view))
        return;
    const WsTensor *t = &E->p->tensor[tensor->index];
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view.access.buffer);
    only_read(S, t);
    if (t->dtype != b->dtype)
        ws_elab_error(E, WS_RULE_T_DTYPE, S->id, NULL, "%s holds %s but %s holds %s", t->name,
                      ws_dtype_text(t->dtype), b->name, ws_dtype_text(b->dtype));
    if (b->rank == 2 && view.access.cols * ws_dtype_bytes(b->dtype) % E->hw->bulk.granule != 0)
        ws_elab_note(E, WS_RULE_L_TMA, S->id, NULL,
                     "a gathered row is %u bytes; a multiple of %u is needed",
                     view.access.cols * ws_dtype_bytes(b->dtype), E->hw->bulk.granule);
    WsOp *op = ws_step_op(S, WS_OP_CP_ROWS, NULL);
    op->tensor = (gint)tensor->index;
    op->n_coord = ws_step_coordinates(S, t, WS_RESOLVE_ROW, op->coord);
    op->hint = step_hint(S);
    op->bytes = (gint64)view.access.rows * view.access.cols * ws_dtype_bytes(b->dtype);
    ws_op_access(E, op, &view.access);
    ws_op_label(E, op, "gather %s -> %s", t->name, b->name);
    if (ws_step_credit(S, op, view.access.buffer, FALSE)) {
        ws_transaction_gather(S, op);
        return;
    }
    WsOp *commit = ws_step_op(S, WS_OP_CP_COMMIT, "commit");
    ws_op_label(E, commit, "commit gather");
}

void ws_step_COPY(WsStepState *S)
{
    WsElab *E = S->E;
    WsBufferView from, into;
    if (!ws_view_buffer(S, ws_elab_field_ref(E, S->node, WS_F_keyword), WS_MODE_READ,
                        WS_PROXY_ASYNC, &from) ||
        !ws_view_buffer(S, ws_elab_field_ref(E, S->node, WS_F_into), WS_MODE_WRITE, WS_PROXY_ASYNC,
                        &into))
        return;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, from.access.buffer);
    const WsBuffer *to = &g_array_index(E->buffers, WsBuffer, into.access.buffer);
    if (b->dtype != to->dtype || from.rows != into.rows || from.cols != into.cols)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s and %s differ in shape or dtype",
                      b->name, to->name);
    WsOp *op = ws_step_op(S, WS_OP_BULK_COPY, NULL);
    op->ctas = ws_step_ctas(S, WS_F_cta);
    op->bytes = (gint64)from.access.rows * from.access.cols * ws_dtype_bytes(b->dtype);
    ws_op_access(E, op, &from.access);
    ws_op_access(E, op, &into.access);
    ws_op_label(E, op, "copy %s -> %s", b->name, to->name);
    if (ws_step_credit(S, op, into.access.buffer, TRUE))
        ws_transaction_credit(S, op, op->bytes, &op->ctas);
}

void ws_step_PREFETCH(WsStepState *S)
{
    WsElab *E = S->E;
    WsElabSymbol *tensor = ws_step_tensor(S);
    if (!tensor)
        return;
    const WsTensor *t = &E->p->tensor[tensor->index];
    only_read(S, t);
    /* A box of the tile without swizzle; larger tiles take more steps. */
    WsOp *op = ws_step_op(S, WS_OP_PREFETCH, NULL);
    op->tensor = (gint)tensor->index;
    op->hint = step_hint(S);
    op->n_coord = ws_step_coordinates(S, t, 0, op->coord);
    guint box[WS_MAX_RANK] = { 1, 1, 1, 1, 1 }, n = ws_elab_field_count(S->node, WS_F_tile);
    for (guint i = 0; i < n && i < t->rank; i++)
        box[n - 1 - i] = (guint)ws_elab_constant_in(
            E, ws_elab_value_expr(E, ws_elab_field_item(S->node, WS_F_tile, i)), 1, E->hw->bulk.box,
            "a tile extent", S->id);
    op->map = ws_map_of(E, tensor->index, box, 0);
    ws_op_label(E, op, "prefetch %s", t->name);
}

static void next_tile(WsStepState *S, WsOpKind kind, WsFieldId field, WsMode mode)
{
    WsElab *E = S->E;
    WsBufferView view;
    if (E->p->tiles->launch != WS_LAUNCH_DYNAMIC)
        ws_elab_note(E, WS_RULE_L_DYNAMIC, S->id, "Set \"launch\": \"dynamic\".",
                     "%s belongs to a dynamic launch", ws_node_kind_keyword(S->node->kind));
    if (E->agent->tile_depth == 0)
        ws_elab_error(E, WS_RULE_L_DYNAMIC, S->id, NULL, "%s is in the body of a loop over tiles",
                      ws_node_kind_keyword(S->node->kind));
    if (!ws_view_buffer(S, ws_elab_field_ref(E, S->node, field), mode, WS_PROXY_GENERIC, &view))
        return;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, view.access.buffer);
    if (b->dtype != WS_DTYPE_I32 || b->rows != 1 || b->cols != 1)
        ws_elab_error(E, WS_RULE_T_SHAPE, S->id, NULL, "%s must be i32 with tile [1]", b->name);
    WsOp *op = ws_step_op(S, kind, NULL);
    ws_op_access(E, op, &view.access);
    ws_op_label(E, op, "%s tile %s %s", ws_node_kind_keyword(S->node->kind),
                kind == WS_OP_CLAIM ? "->" : "<-", b->name);
}

void ws_step_CLAIM(WsStepState *S)
{
    next_tile(S, WS_OP_CLAIM, WS_F_into, WS_MODE_WRITE);
}

void ws_step_TAKE(WsStepState *S)
{
    next_tile(S, WS_OP_TAKE, WS_F_from, WS_MODE_READ);
}
