#include "program/elaborate/elab.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <string.h>

/* put, get, notify, await (LANGUAGE section 27). */

gboolean ws_step_has_mesh(WsStepState *S)
{
    if (S->E->p->mesh)
        return TRUE;
    ws_elab_note(S->E, WS_RULE_L_DEVICES, S->id, "Say `devices`, or drop the step.",
                 "%s reaches devices of a mesh, and the design has one device",
                 ws_node_kind_keyword(S->node->kind));
    return FALSE;
}

typedef struct {
    guint tensor;
    const char *name; /* of the buffer */
    WsPeer *peer;
} Move;

/* Between a box of the tensor of a device and a part of the buffer. */
static WsOp *make_move(WsStepState *S, WsOpKind kind, guint box, const WsAccess *part, gint map,
                       WsExpr **coord, guint n_coord, gint64 bytes, const Move *move)
{
    g_autofree char *suffix = box ? g_strdup_printf("box%u", box) : NULL;
    WsOp *op = ws_step_op(S, kind, suffix);
    op->tensor = (gint)move->tensor;
    op->map = map;
    op->n_coord = n_coord;
    memcpy(op->coord, coord, sizeof(WsExpr *) * n_coord);
    op->bytes = bytes;
    op->peer = move->peer;
    ws_op_access(S->E, op, part);
    return op;
}

static WsPeer *at_device(WsStepState *S)
{
    WsPeer *peer = ws_arena_new0(S->E->arena, WsPeer, 1);
    peer->flag = -1;
    peer->device = ws_elab_resolve(S->E, ws_elab_field_expr(S->E, S->node, WS_F_device), 0, S->id);
    return peer;
}

static WsOp *make_put(WsStepState *S, guint box, const WsAccess *part, gint map, WsExpr **coord,
                      guint n_coord, gint64 bytes, gpointer data)
{
    const Move *put = data;
    WsOp *op = make_move(S, WS_OP_TMA_PUT, box, part, map, coord, n_coord, bytes, put);
    op->reduce = ws_step_reduce(S);
    ws_op_label(S->E, op, "put %s -> %s", put->name, S->E->p->tensor[put->tensor].name);
    return op;
}

void ws_step_PUT(WsStepState *S)
{
    WsElab *E = S->E;
    WsBufferView view;
    WsExpr *at[WS_MAX_RANK];
    if (!ws_step_has_mesh(S))
        return;
    WsElabSymbol *tensor = ws_step_tensor(S);
    const WsRef *from = ws_elab_field_ref(E, S->node, WS_F_from);
    if (!tensor || !from || !ws_view_buffer(S, from, WS_MODE_READ, WS_PROXY_ASYNC, &view))
        return;
    const WsTensor *t = &E->p->tensor[tensor->index];
    const gboolean add = ws_step_reduce(S) != WS_REDUCE_NONE;
    if (add ? t->access != WS_ACCESS_REDUCE
            : t->access != WS_ACCESS_WRITE && t->access != WS_ACCESS_EXCHANGE)
        ws_elab_note(E, WS_RULE_L_ACCESS, S->id, "Declare its `access`.",
                     "%s is not declared with access %s", t->name,
                     add ? "\"reduce\"" : "\"write\" or \"exchange\"");
    if (S->list->open_store)
        ws_elab_error(E, WS_RULE_L_LENS, S->id, "Close it by a store without \"open\".",
                      "a put in the open group of a store: not supported by elaborate");
    Move put = { tensor->index, from->name, at_device(S) };
    const guint n = ws_step_coordinates(S, t, 0, at), before = E->ops->len;
    ws_boxes(S, tensor->index, &view, at, n, make_put, &put);
    if (E->ops->len == before)
        return;
    WsOp *commit = ws_step_op(S, WS_OP_BULK_COMMIT, "commit");
    ws_op_label(E, commit, "commit puts");
}

static WsOp *make_get(WsStepState *S, guint box, const WsAccess *part, gint map, WsExpr **coord,
                      guint n_coord, gint64 bytes, gpointer data)
{
    const Move *get = data;
    WsOp *op = make_move(S, WS_OP_TMA_GET, box, part, map, coord, n_coord, bytes, get);
    ws_op_label(S->E, op, "get %s -> %s", S->E->p->tensor[get->tensor].name, get->name);
    if (ws_step_credit(S, op, part->buffer, TRUE))
        ws_transaction_credit(S, op, bytes, &op->ctas);
    return op;
}

void ws_step_GET(WsStepState *S)
{
    WsElab *E = S->E;
    WsBufferView view;
    WsExpr *at[WS_MAX_RANK];
    if (!ws_step_has_mesh(S))
        return;
    WsElabSymbol *tensor = ws_step_tensor(S);
    const WsRef *into = ws_elab_field_ref(E, S->node, WS_F_into);
    if (!tensor || !into || !ws_view_buffer(S, into, WS_MODE_WRITE, WS_PROXY_ASYNC, &view))
        return;
    const WsTensor *t = &E->p->tensor[tensor->index];
    if (t->access != WS_ACCESS_READ && t->access != WS_ACCESS_EXCHANGE)
        ws_elab_note(E, WS_RULE_L_ACCESS, S->id, "Read another tensor, or declare its `access`.",
                     "%s is not declared with access %s", t->name, "\"read\" or \"exchange\"");
    Move get = { tensor->index, into->name, at_device(S) };
    const guint n = ws_step_coordinates(S, t, 0, at);
    ws_boxes(S, tensor->index, &view, at, n, make_get, &get);
}

/* The flag that the step names, and what both steps say of it. */
static WsPeer *at_flag(WsStepState *S, const char *relaxed)
{
    WsElab *E = S->E;
    if (!ws_step_has_mesh(S))
        return NULL;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_keyword);
    WsElabSymbol *symbol = ws_elab_find(E, ref->name, WS_SYMBOL_FLAG, S->id);
    if (!symbol || symbol->index >= E->p->mesh->n_flags)
        return NULL;
    const WsFlag *f = &E->p->mesh->flag[symbol->index];
    if (ref->n_views > 0 || ref->use)
        ws_elab_error(E, WS_RULE_T_VIEW, S->id, "Name the flag, or an element of it.",
                      "%s is a flag: it has no view and no use", f->name);
    if ((ref->element != NULL) != f->is_array)
        ws_elab_error(E, WS_RULE_N_ELEMENT, S->id, NULL,
                      f->is_array ? "%s is declared with `array`: write %s[i]"
                                  : "%s is not an array: write %s without [i]",
                      f->name, f->name);
    WsPeer *peer = ws_arena_new0(E->arena, WsPeer, 1);
    peer->flag = (gint)symbol->index;
    peer->element = ref->element ? ws_elab_resolve(E, ref->element, 0, S->id) : ws_elab_int(E, 0);
    peer->relaxed = ws_elab_field_is(E, S->node, WS_F_order, relaxed);
    peer->gpu = ws_elab_field_is(E, S->node, WS_F_scope, "gpu");
    return peer;
}

/* `got`: as if the notify read all of these buffers, so that what has been got into them must have
 * come. */
static void has_got(WsStepState *S, WsOp *op)
{
    WsElab *E = S->E;
    for (guint i = 0; i < ws_elab_field_count(S->node, WS_F_got); i++) {
        const WsValue *v = ws_elab_field_item(S->node, WS_F_got, i);
        WsElabSymbol *symbol =
            v->kind == WS_VALUE_REF ? ws_elab_find(E, v->ref->name, WS_SYMBOL_BUFFER, S->id) : NULL;
        if (!symbol || symbol->index >= E->buffers->len)
            continue;
        if (v->ref->n_views > 0 || v->ref->use || v->ref->element)
            ws_elab_error(E, WS_RULE_T_VIEW, S->id, "Name the buffer alone.",
                          "`got` takes %s whole: no view, use or element", v->ref->name);
        const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, symbol->index);
        for (guint e = 0; e < MAX(b->array, 1); e++)
            for (guint stage = 0; stage < MAX(b->stages, 1); stage++) {
                const WsAccess a = { .buffer = symbol->index,
                                     .element = ws_elab_int(E, e),
                                     .use = b->stages > 1 ? ws_elab_int(E, stage) : NULL,
                                     .stage = ws_elab_int(E, stage),
                                     .row0 = ws_elab_int(E, 0),
                                     .col0 = ws_elab_int(E, 0),
                                     .rows = b->rows,
                                     .cols = b->cols,
                                     .mode = WS_MODE_READ,
                                     .proxy = WS_PROXY_GENERIC };
                ws_op_access(E, op, &a);
            }
    }
}

void ws_step_NOTIFY(WsStepState *S)
{
    WsElab *E = S->E;
    WsPeer *peer = at_flag(S, "relaxed");
    if (!peer)
        return;
    if (!ws_elab_field_is(E, S->node, WS_F_device, "all"))
        peer->device = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_device), 0, S->id);
    peer->amount = ws_node_has(S->node, WS_F_count)
                       ? ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_count), 0, S->id)
                       : ws_elab_int(E, 1);
    WsOp *op = ws_step_op(S, WS_OP_NOTIFY, NULL);
    op->peer = peer;
    op->scope = WS_SCOPE_GPU;
    ws_op_label(E, op, "notify %s", E->p->mesh->flag[peer->flag].name);
    has_got(S, op);
}

void ws_step_AWAIT(WsStepState *S)
{
    WsElab *E = S->E;
    const gboolean equals = ws_node_has(S->node, WS_F_equals); /* or at_least: the reader */
    WsPeer *peer = at_flag(S, "relaxed");
    if (!peer)
        return;
    peer->equals = equals;
    peer->amount = ws_elab_resolve(
        E, ws_elab_field_expr(E, S->node, equals ? WS_F_equals : WS_F_at_least), 0, S->id);
    WsOp *op = ws_step_op(S, WS_OP_AWAIT, NULL);
    op->peer = peer;
    op->scope = WS_SCOPE_GPU;
    ws_op_label(E, op, "await %s", E->p->mesh->flag[peer->flag].name);
    if (!E->fences || peer->relaxed)
        return;
    /* What was acquired by the generic proxy is for the engines behind this fence, too. */
    WsOp *fence = ws_step_op(S, WS_OP_FENCE_GLOBAL, "fence");
    ws_op_label(E, fence, "fence async_global");
}
