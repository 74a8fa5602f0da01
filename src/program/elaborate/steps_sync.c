#include "program/elaborate/elab.h"
#include "program/elaborate/queues/queues.h"
#include "program/elaborate/stages/stages.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* wait, arrive, expect, sync, cluster, fence, griddepcontrol. */

void ws_step_WAIT(WsStepState *S)
{
    if (ws_queue_wait(S))
        return;
    WsElab *E = S->E;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_keyword);
    gint pipe = ws_pipe_named(E, ref->name);
    if (pipe >= 0) {
        static const WsFieldId of_barrier[] = { WS_F_slot, WS_F_phase };
        if (!ws_step_strays(S, "pipe", of_barrier, G_N_ELEMENTS(of_barrier)))
            ws_pipe_wait(S, pipe);
        return;
    }
    WsOp *op = ws_step_op(S, WS_OP_MBAR_WAIT, NULL);
    if (ws_op_barrier(S, op, ref, WS_BARRIER_MBARRIER))
        ws_op_label(E, op, "wait %s", ref->name);
}

/* Who arrives: lanes per arrival (0: the leader alone) and arrivals of one execution. */
void ws_arrive_breadth(WsStepState *S, WsOp *op, const char *by, gint64 n, gint64 count)
{
    WsElab *E = S->E;
    guint threads = E->agent->out->threads;
    if (by && strcmp(by, "warp") == 0) {
        op->breadth = WS_BREADTH_WARP;
        op->per = E->hw->lanes;
        op->count = count * (threads / E->hw->lanes);
    } else if (by && strcmp(by, "all") == 0) {
        op->breadth = WS_BREADTH_GROUP;
        op->per = 1;
        op->count = count * threads;
    } else if (n > 0) {
        op->breadth = WS_BREADTH_WARP;
        if (threads % n != 0 || threads / n > E->hw->lanes)
            ws_elab_error(E, WS_RULE_T_RANGE, S->id,
                          "Let n divide the threads and be at least the "
                          "number of warps.",
                          "%" G_GINT64_FORMAT " arrivals by %u threads", n, threads);
        else
            op->per = threads / n;
        op->count = count * n;
    } else {
        op->breadth = WS_BREADTH_LEADER;
        op->count = count;
    }
}

/* bar.warp.sync before arrivals that stand for what several lanes did. */
void ws_arrive_warp_sync(WsStepState *S, const WsOp *arrive)
{
    if (arrive->per <= 1)
        return;
    WsOp *sync = ws_step_op(S, WS_OP_WARP_SYNC, "warp_sync");
    ws_op_label(S->E, sync, "warp sync");
    /* the arrival already stands before it: exchange the two */
    guint n = S->seq->n_kids;
    WsTree *last = S->seq->kid[n - 1];
    S->seq->kid[n - 1] = S->seq->kid[n - 2];
    S->seq->kid[n - 2] = last;
}

void ws_step_ARRIVE(WsStepState *S)
{
    if (ws_queue_arrive(S))
        return;
    WsElab *E = S->E;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_keyword);
    WsElabSymbol *symbol = ws_elab_find(E, ref->name, WS_SYMBOL_BARRIER, S->id);
    if (!symbol || symbol->index >= E->barriers->len)
        return;
    WsBarrierKind kind = g_array_index(E->barriers, WsBarrier, symbol->index).kind;
    static const WsFieldId of_mbarrier[] = { WS_F_by, WS_F_count, WS_F_cta, WS_F_slot, WS_F_use };
    if (kind == WS_BARRIER_NAMED &&
        ws_step_strays(S, "named barrier", of_mbarrier, G_N_ELEMENTS(of_mbarrier)))
        return;
    WsOp *op = ws_step_op(S, kind == WS_BARRIER_NAMED ? WS_OP_BAR_ARRIVE : WS_OP_MBAR_ARRIVE, NULL);
    ws_op_label(E, op, "arrive %s", ref->name);
    if (!ws_op_barrier(S, op, ref, kind) || kind == WS_BARRIER_NAMED)
        return;
    gint64 count = 1, n = 0;
    const char *by = NULL;
    if (ws_node_has(S->node, WS_F_count))
        count = ws_elab_constant_in(E, ws_elab_field_expr(E, S->node, WS_F_count), 1, 1 << 19,
                                    "count", S->id);
    const WsValue *v = ws_node_get(S->node, WS_F_by);
    if (v->kind == WS_VALUE_TEXT)
        by = v->text;
    else if (v->kind != WS_VALUE_NONE)
        n = ws_elab_constant_in(E, ws_elab_value_expr(E, v), 1, 1024, "by", S->id);
    ws_arrive_breadth(S, op, by, n, count);
    op->ctas = ws_step_ctas(S, WS_F_cta);
    op->scope = op->ctas.kind == WS_CTAS_OWN ? WS_SCOPE_CTA : WS_SCOPE_CLUSTER;
    ws_arrive_warp_sync(S, op);
}

void ws_step_EXPECT(WsStepState *S)
{
    WsElab *E = S->E;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_keyword);
    WsOp *op = ws_step_op(S, WS_OP_MBAR_EXPECT, NULL);
    op->count = 1;
    op->bytes = ws_elab_constant_in(E, ws_elab_field_expr(E, S->node, WS_F_bytes), 0, G_MAXINT32,
                                    "bytes", S->id);
    if (ws_node_has(S->node, WS_F_count))
        op->count = ws_elab_constant_in(E, ws_elab_field_expr(E, S->node, WS_F_count), 0, 1,
                                        "count", S->id);
    ws_op_barrier(S, op, ref, WS_BARRIER_MBARRIER);
    ws_op_label(E, op, "expect %s", ref->name);
}

gint ws_barrier_group(WsElab *E)
{
    const WsAgent *a = E->agent->out;
    g_autofree char *name = g_strdup_printf("sync %s", a->name);
    for (guint i = 0; i < E->barriers->len; i++)
        if (strcmp(g_array_index(E->barriers, WsBarrier, i).name, name) == 0)
            return (gint)i;
    gint barrier = ws_barrier_derived(E, name, a->path, WS_BARRIER_NAMED, 1, FALSE);
    g_array_index(E->barriers, WsBarrier, barrier).threads_derived[0] = a->threads;
    return barrier;
}

void ws_step_SYNC(WsStepState *S)
{
    if (ws_queue_sync(S))
        return;
    WsElab *E = S->E;
    const WsRef *ref = ws_elab_field_ref(E, S->node, WS_F_keyword);
    const WsAgent *a = E->agent->out;
    gboolean group = strcmp(ref->name, "group") == 0;
    if (group && a->warps == 1) {
        WsOp *op = ws_step_op(S, WS_OP_WARP_SYNC, NULL);
        op->breadth = WS_BREADTH_GROUP;
        ws_op_label(E, op, "sync group");
        return;
    }
    WsOp *op = ws_step_op(S, WS_OP_BAR_SYNC, NULL);
    op->element = ws_elab_int(E, 0);
    ws_op_label(E, op, "sync %s", ref->name);
    if (group && ws_halves(E)) /* the one barrier that there is takes both halves */
        op->barrier = E->cta_barrier;
    else if (group)
        op->barrier = ws_barrier_group(E);
    else if (strcmp(ref->name, "cta") == 0)
        op->barrier = E->cta_barrier;
    else
        ws_op_barrier(S, op, ref, WS_BARRIER_NAMED);
}

void ws_step_CLUSTER(WsStepState *S)
{
    WsElab *E = S->E;
    gboolean sync = ws_elab_field_is(E, S->node, WS_F_keyword, "sync");
    if (E->p->cluster == 1)
        ws_elab_note(E, WS_RULE_L_CLUSTER, S->id, "Set \"cluster\", or drop the step.",
                     "a cluster barrier needs a cluster of more than one CTA");
    WsOp *op = NULL;
    if (sync || ws_elab_field_is(E, S->node, WS_F_keyword, "arrive")) {
        op = ws_step_op(S, WS_OP_CLUSTER_ARRIVE, NULL);
        op->scope = WS_SCOPE_CLUSTER;
        ws_op_label(E, op, "cluster arrive");
    }
    if (sync || !op) {
        op = ws_step_op(S, WS_OP_CLUSTER_WAIT, sync ? "wait" : NULL);
        op->scope = WS_SCOPE_CLUSTER;
        op->derived = FALSE;
        ws_op_label(E, op, "cluster wait");
    }
}

void ws_step_FENCE(WsStepState *S)
{
    static const struct {
        const char *word;
        WsOpKind kind;
        WsScope scope;
    } fences[] = {
        { "mma", WS_OP_MMA_FENCE, WS_SCOPE_CTA },
        { "async", WS_OP_FENCE_ASYNC, WS_SCOPE_CTA },
        { "async_global", WS_OP_FENCE_GLOBAL, WS_SCOPE_GPU },
        { "cluster", WS_OP_FENCE_CLUSTER, WS_SCOPE_CLUSTER },
        { "gpu", WS_OP_FENCE_GPU, WS_SCOPE_GPU },
    };
    for (guint i = 0; i < G_N_ELEMENTS(fences); i++)
        if (ws_elab_field_is(S->E, S->node, WS_F_keyword, fences[i].word)) {
            if (!ws_target_word(S->E->hw->sync.fences, fences[i].word))
                ws_elab_error(S->E, WS_RULE_L_LENS, S->id, NULL,
                              "fence %s at %s: %s has no such fence", fences[i].word, S->id,
                              S->E->p->target);
            WsOp *op = ws_step_op(S, fences[i].kind, NULL);
            op->scope = fences[i].scope;
            ws_op_label(S->E, op, "fence %s", fences[i].word);
        }
}

void ws_step_GRIDDEPCONTROL(WsStepState *S)
{
    gboolean wait = ws_elab_field_is(S->E, S->node, WS_F_keyword, "wait");
    WsOp *op = ws_step_op(S, wait ? WS_OP_DEP_WAIT : WS_OP_DEP_LAUNCH, NULL);
    ws_op_label(S->E, op, wait ? "wait for the previous kernel" : "launch dependents");
}
