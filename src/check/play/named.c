/* Named barriers in the play, by generation, and the barrier of the cluster. */
#include "check/play/play.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

static WsNamed *named_of(WsPlay *play, WsInst *inst, gint64 *element)
{
    const WsOp *op = inst->step.op;
    WsNamed *mine = &play->named[inst->rank * play->n_named];
    *element = 0;
    if (op->barrier < 0) /* undeclared: all threads of the agent, or of the CTA (id 0) */
        return op->count > inst->a->threads ? mine : mine + ws_named_ids(play->p) + inst->agent;
    const WsBarrier *b = &play->p->barrier[op->barrier];
    if (op->element && !ws_play_eval(play, inst, op->element, element))
        return NULL;
    if (*element < 0 || *element >= MAX(b->array, 1)) {
        WsFinding *f = ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                                 "names element %" G_GINT64_FORMAT " of %s, which has %u", *element,
                                 b->name, MAX(b->array, 1));
        if (f)
            ws_finding_set_remedy(f, "name an element that %s has: 0 to %u", b->name,
                                  MAX(b->array, 1) - 1);
        return NULL;
    }
    return mine + ws_named_id(play->p, b, (guint)*element);
}

static void join_named(WsPlay *play, WsInst *inst, WsNamed *n, gint64 element)
{
    const WsOp *op = inst->step.op;
    const WsBarrier *b = op->barrier < 0 ? NULL : &play->p->barrier[op->barrier];
    gint64 threads = b && b->threads ? b->threads[element] : MAX(op->count, inst->a->threads);
    if (n->arrived == 0)
        n->count = threads;
    else if (n->count != threads)
        ws_report(play, WS_RULE_P_NAMED, inst, NULL,
                  "joins with %" G_GINT64_FORMAT
                  " threads a generation that others opened with %" G_GINT64_FORMAT,
                  threads, n->count);
    /* L-N1-WEAK: the warp that made all joins of the generation before knows that it is over. Warps
     * of one agent are not in step: then the generations are only good for not being waited for;
     * the proof does not close on it. */
    gboolean knows = n->generation == 0 || ws_knows(inst, FALSE, n->comp, (WsEpoch)n->generation) ||
                     ws_all_joined(n, inst);
    gboolean alone = n->joined_before == inst->index;
    n->skewed |= !knows && inst->a->warps > 1;
    const guint id = (guint)(n - &play->named[inst->rank * play->n_named]);
    const gboolean unheard = id < ws_named_ids(play->p) && play->unheard[id];
    if (!unheard && ((!knows && !alone) || (n->skewed && op->kind == WS_OP_BAR_SYNC))) {
        WsFinding *f =
            ws_report(play, WS_RULE_P_NAMED, inst, NULL,
                      "can join generation %" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT
                      ": nothing before it says that the earlier one is over",
                      n->generation - 1, n->generation);
        if (f) {
            f->fact[WS_FACT_GENERATION] = n->generation;
            ws_finding_tell(f, WS_STORY_WHO,
                            "it means generation %" G_GINT64_FORMAT
                            ", and knows no end of generation %" G_GINT64_FORMAT,
                            n->generation, n->generation - 1);
            ws_finding_tell(f, WS_STORY_SO,
                            "hang: if it comes early it fills the earlier generation in place of "
                            "another thread, which then waits forever");
            n->barrier = op->barrier, n->element = (gint)element;
            ws_remedy_generation(play, f, inst, n);
        }
    }
    n->barrier = op->barrier, n->element = (gint)element;
    n->arrived += inst->a->threads;
    n->joined = n->joined == WS_JOINED_BY_NOBODY || n->joined == inst->index ? inst->index
                                                                             : WS_JOINED_BY_MANY;
    ws_joins(n, inst);
    ws_release_all(play, inst, n->acc);
    inst->joined = n->generation;
    if (n->arrived > n->count) {
        WsFinding *f = ws_report(play, WS_RULE_P_NAMED, inst, NULL,
                                 "joins as thread %" G_GINT64_FORMAT
                                 " a generation of %" G_GINT64_FORMAT " threads",
                                 n->arrived, n->count);
        if (f) {
            f->fact[WS_FACT_GENERATION] = n->generation;
            f->fact[WS_FACT_JOINED] = n->arrived;
            f->fact[WS_FACT_THREADS] = n->count;
            ws_finding_tell(f, WS_STORY_SO,
                            "hang: the threads that are too many open the next generation, and the "
                            "barrier is one generation off from then on");
            ws_remedy_generation(play, f, inst, n);
        }
    }
    if (n->arrived < n->count)
        return;
    n->generation++;
    n->arrived = 0;
    n->joined_before = n->joined, n->joined = WS_JOINED_BY_NOBODY;
    ws_joins_over(n);
    ws_clock_join(play, n->done, n->acc);
    n->done[n->comp] = n->done[play->n_comps + n->comp] = (WsEpoch)n->generation;
    memset(n->acc, 0, WS_CLOCK_PARTS * play->n_comps * sizeof(WsEpoch));
    /* Who waits for this generation learns of this one now: he may go on later, when others have
     * completed more, but nothing makes him. */
    for (guint i = 0; i < play->n_inst; i++) {
        WsInst *x = &play->inst[i];
        if (x->have && x->named == n && x->joined == n->generation - 1 &&
            x->step.op->kind == WS_OP_BAR_SYNC)
            ws_acquire(play, x, FALSE, n->done);
    }
}

gboolean ws_do_named(WsPlay *play, WsInst *inst)
{
    gint64 element;
    if (!inst->named) {
        inst->named = named_of(play, inst, &element);
        if (!inst->named)
            return TRUE;
        join_named(play, inst, inst->named, element);
    }
    if (inst->step.op->kind == WS_OP_BAR_ARRIVE)
        return TRUE;
    WsNamed *n = inst->named;
    if (n->generation <= inst->joined)
        return FALSE;
    ws_collective(play, inst);
    return TRUE;
}

/* --- cluster barrier -------------------------------------------------------------------------- */
/* A generation is over when all have arrived that have not ended (PTX 9.7.13.3). */
void ws_cluster_complete(WsPlay *play)
{
    WsNamed *n = &play->cluster;
    for (guint i = 0; i < play->n_inst; i++)
        if (play->inst[i].cluster_joined != n->generation && play->inst[i].state != WS_INST_DONE)
            return;
    if (n->arrived == 0)
        return;
    n->generation++;
    n->arrived = 0;
    ws_clock_join(play, n->done, n->acc);
}

gboolean ws_do_cluster(WsPlay *play, WsInst *inst)
{
    WsNamed *n = &play->cluster;
    if (inst->step.op->kind == WS_OP_CLUSTER_ARRIVE) {
        if (inst->cluster_joined >= 0) {
            WsFinding *f =
                ws_report(play, WS_RULE_P_CLUSTER, inst, NULL,
                          "arrives at the cluster barrier again without having waited in between");
            if (f) {
                f->harm = WS_HARM_UNDEFINED;
                ws_finding_tell(f, WS_STORY_MISSING,
                                "a `cluster wait` of this agent after its first arrival");
                ws_finding_tell(f, WS_STORY_SO,
                                "undefined: the barrier takes one arrival of a thread in a phase");
                ws_finding_set_remedy(f, "put {\"cluster\": \"wait\"} between the two arrivals, or "
                                         "remove the second one");
            }
            return TRUE;
        }
        inst->cluster_joined = n->generation;
        ws_release_all(play, inst, n->acc);
        n->arrived++;
        ws_cluster_complete(play);
        return TRUE;
    }
    if (inst->cluster_joined < 0) {
        WsFinding *f =
            ws_report(play, WS_RULE_P_CLUSTER, inst, NULL, "waits without having arrived");
        if (f)
            ws_finding_set_remedy(
                f, "put {\"cluster\": \"arrive\"} before this wait, on every path that leads here");
        return TRUE;
    }
    if (n->generation <= inst->cluster_joined)
        return FALSE;
    inst->cluster_joined = -1;
    /* L-MEETING: the lanes met where they arrived, not here: they may wait for something between */
    ws_acquire(play, inst, FALSE, n->done);
    return TRUE;
}
