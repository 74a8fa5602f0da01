#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <string.h>

/* What runs once before the bodies: tensor-map prefetch, mbarrier initialisation, the fence that
 * publishes it, and the first CTA or cluster barrier. */

static WsOp *prologue_op(WsElab *E, WsOpKind kind, const char *id)
{
    WsOp *op = ws_op_new(E, kind, ws_arena_strdup(E->arena, id), "prologue", WS_NODE_DESIGN);
    op->derived = TRUE;
    gpointer *list = (gpointer *)E->p->prologue;
    ws_arena_push(E->arena, &list, &E->p->n_prologue, op);
    E->p->prologue = (WsOp **)list;
    ws_op_label(E, op, "%s", ws_op_kind_text(kind));
    return op;
}

static void initialise(WsElab *E, guint index)
{
    const WsBarrier *b = &g_array_index(E->barriers, WsBarrier, index);
    for (guint e = 0; e < b->array; e++)
        for (guint s = 0; s < b->slots; s++) {
            g_autofree char *id = g_strdup_printf("%s#init", b->path);
            WsOp *op = prologue_op(E, WS_OP_MBAR_INIT, id);
            op->barrier = (gint)index;
            op->element = ws_elab_int(E, e);
            op->slot = ws_elab_int(E, s);
            op->n = op->count = b->arrivals[e];
            ws_op_label(E, op, "init %s", b->name);
        }
}

void ws_elab_prologue(WsElab *E)
{
    for (guint i = 0; i < E->maps->len; i++) {
        const WsTensorMap *m = &g_array_index(E->maps, WsTensorMap, i);
        WsOp *op = prologue_op(E, WS_OP_PREFETCH_MAP, "prologue#map");
        op->map = (gint)i;
        op->tensor = (gint)m->tensor;
        ws_op_label(E, op, "prefetch map of %s", E->p->tensor[m->tensor].name);
    }
    gboolean any = FALSE;
    for (guint i = 0; i < E->barriers->len; i++)
        if (g_array_index(E->barriers, WsBarrier, i).kind == WS_BARRIER_MBARRIER) {
            initialise(E, i);
            any = TRUE;
        }
    if (any)
        prologue_op(E, WS_OP_FENCE_INIT, "prologue#fence")->scope = WS_SCOPE_CLUSTER;
    if (E->p->cluster > 1) {
        prologue_op(E, WS_OP_CLUSTER_ARRIVE, "prologue#arrive")->scope = WS_SCOPE_CLUSTER;
        prologue_op(E, WS_OP_CLUSTER_WAIT, "prologue#wait")->scope = WS_SCOPE_CLUSTER;
        return;
    }
    WsOp *sync = prologue_op(E, WS_OP_BAR_SYNC, "prologue#sync");
    sync->barrier = E->cta_barrier;
    sync->element = ws_elab_int(E, 0);
    sync->count = E->p->threads;
}
