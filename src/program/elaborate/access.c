#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"

#include <string.h>

/* References to buffers, values and barriers as steps use them (LANGUAGE section 4 and 8). */

WsElabSymbol *ws_step_symbol(WsStepState *S, const char *name)
{
    return ws_elab_lookup(S->E, name);
}

static WsExpr *element_of(WsStepState *S, const WsRef *ref, gboolean is_array, guint array,
                          gboolean *ok)
{
    WsElab *E = S->E;
    if ((ref->element != NULL) != is_array) {
        ws_elab_error(E, WS_RULE_N_ELEMENT, S->id, NULL,
                      is_array ? "%s is declared with `array`: write %s[i]"
                               : "%s is not an array: write %s without [i]",
                      ref->name, ref->name);
        *ok = FALSE;
        return ws_elab_int(E, 0);
    }
    if (!ref->element)
        return ws_elab_int(E, 0);
    WsExpr *element = ws_elab_resolve(E, ref->element, 0, S->id);
    gint64 value;
    if (ws_elab_is_int(element, &value) && (value < 0 || value >= array)) {
        ws_elab_error(E, WS_RULE_T_VIEW, S->id, NULL,
                      "%s has elements 0..%u, not %" G_GINT64_FORMAT, ref->name, array - 1, value);
        *ok = FALSE;
    }
    *ok = *ok && ws_bounds_check(S, ref->name, element, 1, array, FALSE);
    return element;
}

typedef struct {
    WsExpr *first[2]; /* rows, cols of the storage */
    guint count[2];
    gboolean transposed;
} Window;

static gboolean apply_views(WsStepState *S, const WsRef *ref, gboolean rank1, gboolean value,
                            Window *w)
{
    WsElab *E = S->E;
    for (guint i = 0; i < ref->n_views; i++) {
        const WsView *v = &ref->view[i];
        if (v->kind == WS_VIEW_T) {
            w->transposed = !w->transposed;
            continue;
        }
        /* A rank-1 tile [n] has n rows; its storage is one row of n columns. */
        guint axis = v->kind == WS_VIEW_ROWS ? 0 : 1;
        if (w->transposed != rank1)
            axis = 1 - axis;
        gint64 count = ws_elab_constant(E, v->count, S->id), start;
        WsExpr *first = ws_elab_resolve(E, v->start, 0, S->id);
        gboolean known = ws_elab_is_int(first, &start);
        if (count < 1 || count > w->count[axis] ||
            (known && (start < 0 || start > w->count[axis] - count))) {
            ws_elab_error(E, WS_RULE_T_VIEW, S->id, NULL,
                          "%s of %s: %s + %" G_GINT64_FORMAT " lies outside of 0..%u",
                          v->kind == WS_VIEW_ROWS ? ".rows" : ".cols", ref->name,
                          ws_elab_text(E, first), count, w->count[axis]);
            return FALSE;
        }
        if (!ws_bounds_check(S, ref->name, first, count, w->count[axis], value))
            return FALSE;
        w->first[axis] = ws_elab_op(E, WS_EXPR_ADD, w->first[axis], first, S->id);
        w->count[axis] = (guint)count;
    }
    return TRUE;
}

/* The use of a reference to a ring: its own `@`, the step's `use`, or that of the pipe window. */
static WsExpr *use_of(WsStepState *S, const WsRef *ref, gint pipe)
{
    if (ref->use)
        return ws_elab_resolve(S->E, ref->use, 0, S->id);
    if (S->use)
        return S->use;
    return pipe >= 0 && S->E->agent ? S->E->agent->pipe_use[pipe] : NULL;
}

static gint pipe_of_buffer(WsElab *E, guint buffer)
{
    for (guint i = 0; i < E->pipes->len; i++) {
        const WsPipeBuild *pipe = &g_array_index(E->pipes, WsPipeBuild, i);
        for (guint k = 0; k < pipe->n_fields; k++)
            if (pipe->field[k] == buffer)
                return (gint)i;
    }
    return -1;
}

gint ws_pipe_of(WsElab *E, guint buffer)
{
    return pipe_of_buffer(E, buffer);
}

gboolean ws_view_buffer(WsStepState *S, const WsRef *ref, WsMode mode, WsProxy proxy,
                        WsBufferView *out)
{
    WsElab *E = S->E;
    *out = (WsBufferView){ .rows = 1, .cols = 1 };
    out->access = (WsAccess){ .element = ws_elab_int(E, 0),
                              .stage = ws_elab_int(E, 0),
                              .row0 = ws_elab_int(E, 0),
                              .col0 = ws_elab_int(E, 0),
                              .rows = 1,
                              .cols = 1,
                              .mode = mode,
                              .proxy = proxy };
    WsElabSymbol *symbol = ws_elab_find(E, ref->name, WS_SYMBOL_BUFFER, S->id);
    if (!symbol || symbol->index >= E->buffers->len)
        return FALSE;
    const WsBuffer *b = &g_array_index(E->buffers, WsBuffer, symbol->index);
    WsAccess *a = &out->access;
    gboolean ok = TRUE;
    a->buffer = symbol->index;
    a->element = element_of(S, ref, b->is_array, b->array, &ok);
    Window w = { { ws_elab_int(E, 0), ws_elab_int(E, 0) }, { b->rows, b->cols }, FALSE };
    ok = ok && apply_views(S, ref, b->rank == 1, FALSE, &w);
    a->row0 = w.first[0];
    a->col0 = w.first[1];
    a->rows = w.count[0];
    a->cols = w.count[1];
    a->transposed = w.transposed;
    out->rank1 = b->rank == 1;
    gboolean swapped = w.transposed != (b->rank == 1);
    out->rows = swapped ? a->cols : a->rows;
    out->cols = swapped ? a->rows : a->cols;
    const gint pipe = pipe_of_buffer(E, symbol->index);
    if (pipe >= 0 && (mode & WS_MODE_WRITE))
        ws_window_in_step(S, pipe);
    a->use = use_of(S, ref, pipe);
    if (b->stages > 1 && !a->use) {
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Add \"use\".",
                      "%s has %u stages: say which one by a `use`", b->name, b->stages);
        return FALSE;
    }
    if (a->use && b->stages > 1)
        a->stage = ws_elab_op_int(E, WS_EXPR_MOD, a->use, b->stages, S->id);
    gint64 row, col;
    a->stage_offset = -1;
    if (ws_elab_is_int(a->row0, &row) && ws_elab_is_int(a->col0, &col))
        a->stage_offset = (gint64)ws_buffer_offset(b, (guint)row, (guint)col);
    return ok;
}

gboolean ws_view_value(WsStepState *S, const WsRef *ref, WsMode mode, WsValueUse *out)
{
    WsElab *E = S->E;
    *out = (WsValueUse){
        .row0 = ws_elab_int(E, 0), .col0 = ws_elab_int(E, 0), .rows = 1, .cols = 1, .mode = mode
    };
    WsElabSymbol *symbol = ws_elab_find(E, ref->name, WS_SYMBOL_VALUE, S->id);
    if (!symbol)
        return FALSE;
    const WsRegValue *v = &E->agent->out->value[symbol->index];
    Window w = { { out->row0, out->col0 }, { v->rows, v->cols }, FALSE };
    if (ref->element || ref->use) {
        ws_elab_error(E, WS_RULE_N_ELEMENT, S->id, NULL, "%s is a value: it has no [i] and no use",
                      ref->name);
        return FALSE;
    }
    out->value = symbol->index;
    for (guint i = 0; v->halved && i < ref->n_views; i++)
        if (ref->view[i].kind == WS_VIEW_ROWS) {
            ws_elab_error(E, WS_RULE_L_LENS, S->id, WS_WORD("Use a value of fewer rows."),
                          "the rows of %s are shared out to two halves: none can be picked",
                          ref->name);
            return FALSE;
        }
    gboolean ok = apply_views(S, ref, FALSE, TRUE, &w);
    if (ok && w.transposed) {
        ws_elab_error(E, WS_RULE_T_VIEW, S->id, NULL, "a value cannot be transposed");
        ok = FALSE;
    }
    out->row0 = w.first[0];
    out->col0 = w.first[1];
    out->rows = w.count[0];
    out->cols = w.count[1];
    return ok;
}

/* --- barriers ------------------------------------------------------------------------------- */

void ws_op_barrier_at(WsStepState *S, WsOp *op, gint barrier, WsExpr *element, WsExpr *use)
{
    WsElab *E = S->E;
    const WsBarrier *b = &g_array_index(E->barriers, WsBarrier, barrier);
    op->barrier = barrier;
    op->element = element;
    if (b->kind == WS_BARRIER_NAMED)
        return;
    if (!use) {
        ws_elab_error(E, WS_RULE_T_USE, S->id, "Add \"use\".", "%s needs a `use`", b->name);
        use = ws_elab_int(E, 0);
    }
    op->use = use;
    op->slot = ws_elab_op_int(E, WS_EXPR_MOD, use, b->slots, S->id);
    op->turn = ws_elab_op_int(E, WS_EXPR_DIV, use, b->slots, S->id);
    if (!ws_op_waits_phase(op->kind))
        return;
    gint64 e = 0;
    gboolean known = ws_elab_is_int(element, &e), ready = b->ready[known ? e : 0];
    for (guint i = 0; !known && i < b->array; i++)
        if (b->ready[i] != ready)
            ws_elab_error(E, WS_RULE_T_CONST, S->id, NULL,
                          "the elements of %s start differently: "
                          "its index must be a constant or depend on replica",
                          b->name);
    op->parity = ws_elab_op_int(
        E, WS_EXPR_MOD, ready ? ws_elab_op_int(E, WS_EXPR_ADD, op->turn, 1, S->id) : op->turn, 2,
        S->id);
    if (ready)
        op->turn = ws_elab_op_int(E, WS_EXPR_SUB, op->turn, 1, S->id);
}

/* The override pair `slot`, `phase`. A wait by a parity of its own is for no use in particular. */
static void override(WsStepState *S, WsOp *op)
{
    WsElab *E = S->E;
    const WsBarrier *b = &g_array_index(E->barriers, WsBarrier, op->barrier);
    gint64 e = 0;
    ws_elab_is_int(op->element, &e);
    if (ws_node_has(S->node, WS_F_slot)) {
        op->slot = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_slot), 0, S->id);
        gint64 slot;
        if (ws_elab_is_int(op->slot, &slot) && (slot < 0 || slot >= b->slots))
            ws_elab_error(E, WS_RULE_T_RANGE, S->id,
                          "Name a slot that it has, or let the slot follow from a `use`.",
                          "%s has slots 0..%u, not %" G_GINT64_FORMAT, b->name, b->slots - 1, slot);
        if (!S->use)
            op->turn = NULL;
    }
    if (ws_op_waits_phase(op->kind) && ws_node_has(S->node, WS_F_phase)) {
        WsExpr *phase = ws_elab_resolve(E, ws_elab_field_expr(E, S->node, WS_F_phase), 0, S->id);
        if (b->ready[e])
            phase = ws_elab_op_int(E, WS_EXPR_ADD, phase, 1, S->id);
        op->parity = ws_elab_op_int(E, WS_EXPR_MOD, phase, 2, S->id);
        op->turn = NULL;
    }
    if (!S->use || !op->turn)
        op->use = NULL;
}

gboolean ws_op_barrier(WsStepState *S, WsOp *op, const WsRef *ref, WsBarrierKind kind)
{
    WsElab *E = S->E;
    WsElabSymbol *symbol = ws_elab_find(E, ref->name, WS_SYMBOL_BARRIER, S->id);
    if (!symbol || symbol->index >= E->barriers->len)
        return FALSE;
    const WsBarrier *b = &g_array_index(E->barriers, WsBarrier, symbol->index);
    if (b->kind != kind) {
        ws_elab_error(
            E, WS_RULE_T_KIND, S->id, NULL, "%s is %s, but %s is needed here", b->name,
            b->kind == WS_BARRIER_NAMED ? WS_WORD("a named barrier") : WS_WORD("an mbarrier"),
            kind == WS_BARRIER_NAMED ? WS_WORD("a named barrier") : WS_WORD("an mbarrier"));
        return FALSE;
    }
    gboolean ok = TRUE;
    WsExpr *element = element_of(S, ref, b->is_array, b->array, &ok);
    gint64 value;
    if (kind == WS_BARRIER_NAMED && !ws_elab_is_int(element, &value)) {
        ws_elab_error(E, WS_RULE_T_CONST, S->id, NULL,
                      "the element of a named barrier may depend on replica and constants only");
        return FALSE;
    }
    if (!ok)
        return FALSE;
    gboolean overridden = ws_node_has(S->node, WS_F_slot);
    if (ws_node_has(S->node, WS_F_phase) && !overridden && !S->use)
        ws_elab_error(E, WS_RULE_T_USE, S->id, NULL, "`phase` goes with `slot` or `use`");
    WsExpr *use = ref->use ? ws_elab_resolve(E, ref->use, 0, S->id) : S->use;
    ws_op_barrier_at(S, op, (gint)symbol->index, element,
                     use || !overridden ? use : ws_elab_int(E, 0));
    if (kind == WS_BARRIER_MBARRIER && (overridden || ws_node_has(S->node, WS_F_phase)))
        override(S, op);
    return TRUE;
}
