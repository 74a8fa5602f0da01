/* What is wrong when nothing moves any more, and when everything is over. */
#include "check/play/play.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* --- deadlock --------------------------------------------------------------------------------- */
/* Instances whose code contributes to an element of a barrier at all. */
static void feeders(const WsPlay *play, const WsSlot *s, guint8 *feeder)
{
    const WsProgram *p = play->p;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        gint64 element;
        if (op->agent < 0 || op->barrier != (gint)s->barrier || !ws_op_feeds(op->kind) ||
            (op->element && ws_expr_is_int(op->element, &element) && element != (gint64)s->element))
            continue;
        for (guint r = 0; r < play->ranks; r++)
            feeder[r * p->n_agents + (guint)op->agent] = 1;
    }
}

static gboolean stuck_on_slot(const WsInst *inst)
{
    return inst->state == WS_INST_STUCK && inst->have && inst->step.op->kind == WS_OP_MBAR_WAIT &&
           inst->slot;
}

/* The bytes that lack are those of a load that comes behind another wait. */
static gboolean loads_stand(const WsPlay *play, const WsInst *inst)
{
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        if (m == inst || m->state != WS_INST_STUCK || !m->have || m->slot == inst->slot)
            continue;
        for (guint k = 0; k < play->p->n_ops; k++) {
            const WsOp *op = play->p->op[k];
            if (op->agent == (gint)m->agent && ws_op_brings(op->kind) &&
                op->barrier == (gint)inst->slot->barrier && op->index > m->step.op->index)
                return TRUE;
        }
    }
    return FALSE;
}

/* How surely a stuck wait is where the trouble starts: 4 bytes never balance, 3 everybody who can
 * has arrived, 2 nobody is left who could, 1 its contributors are stuck themselves. */
static guint suspicion(const WsPlay *play, const WsInst *inst)
{
    if (!stuck_on_slot(inst))
        return inst->named && inst->named->arrived > 0 ? 1 : 0;
    const WsSlot *s = inst->slot;
    if (s->pend == 0 && s->tx != 0)
        return s->tx > 0 && loads_stand(play, inst) ? 1 : 4;
    g_autofree guint8 *feeder = g_new0(guint8, play->n_inst + 1);
    feeders(play, s, feeder);
    gboolean left = FALSE, waiting = FALSE;
    for (guint i = 0; i < play->n_inst; i++) {
        if (!feeder[i] || play->inst[i].state == WS_INST_DONE)
            continue;
        left = TRUE;
        waiting |= s->contributed[i] != 1;
    }
    if (!left)
        return 3;
    return s->pend < s->count && !waiting ? 3 : 1;
}

/* What the headline says; the story has the details. */
static char *missing(const WsInst *inst)
{
    const WsSlot *s = inst->slot;
    if (inst->turn != G_MININT64 && inst->turn < s->phase) {
        g_autofree char *count = ws_completed_text(s->phase);
        return ws_phrase(", which it has missed: the slot has %s by now", count);
    }
    if (s->pend == 0 && s->tx != 0)
        return ws_phrase(": all arrivals are made, but %" G_GINT64_FORMAT
                         " bytes are expected and %" G_GINT64_FORMAT " came",
                         s->expected, s->credited);
    if (inst->a->queue >= 0)
        return ws_phrase(", which no queue sets any more");
    g_autofree char *bytes =
        s->tx > 0 ? ws_phrase(" and %" G_GINT64_FORMAT " bytes", s->tx) : g_strdup("");
    if (s->pend == 1 && s->count == 1)
        return ws_phrase(", which lacks its arrival%s", bytes);
    if (s->pend == s->count)
        return ws_phrase(", which lacks all its %" G_GINT64_FORMAT " arrivals%s", s->count, bytes);
    return ws_phrase(", which lacks %" G_GINT64_FORMAT " of its %" G_GINT64_FORMAT " arrivals%s",
                     s->pend, s->count, bytes);
}

static void add_stuck(const WsPlay *play, WsFinding *f, const WsInst *root)
{
    if (!f->steps)
        f->steps = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *inst = &play->inst[i];
        if (inst == root || inst->state == WS_INST_DONE || !inst->have)
            continue;
        const char *step = inst->step.op->step ? inst->step.op->step : inst->step.op->id;
        gboolean known = FALSE;
        for (guint k = 0; k < f->steps->len; k++)
            known |= strcmp(f->steps->pdata[k], step) == 0;
        if (!known)
            g_ptr_array_add(f->steps, g_strdup(step));
    }
}

void ws_report_stuck(WsPlay *play)
{
    const WsInst *root = NULL;
    guint best = 0;
    gboolean circle = FALSE;
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *inst = &play->inst[i];
        if (inst->state == WS_INST_DONE)
            continue;
        const guint rank = suspicion(play, inst);
        const gboolean in = ws_in_circle(play, inst);
        if (!root || rank > best || (rank == best && in && !circle))
            root = inst, best = rank, circle = in;
    }
    if (!root)
        return;
    WsFinding *f;
    if (stuck_on_slot(root)) {
        const WsSlot *s = root->slot;
        const gint64 turn = root->turn != G_MININT64 ? root->turn : s->phase;
        g_autofree char *name = ws_completion_text(play, s, turn), *why = missing(root);
        f = ws_report(play, best == 4 ? WS_RULE_P_TX : WS_RULE_P_DEADLOCK, root, NULL,
                      "waits forever for %s%s", name, why);
        if (f) {
            ws_report_slot(play, f, s);
            ws_tell_stuck(play, f, root);
            ws_remedy_stuck(play, f, root, best == 3 && s->pend > 0);
        }
    } else if (root->named) {
        f = ws_report(play, WS_RULE_P_DEADLOCK, root, NULL,
                      "waits forever for generation %" G_GINT64_FORMAT
                      " of %s, which %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                      " threads have joined",
                      root->joined,
                      root->named->barrier >= 0 ? play->p->barrier[root->named->barrier].name
                                                : WS_WORD("a barrier"),
                      root->named->arrived, root->named->count);
        if (f && root->named->barrier >= 0) {
            f->barrier = g_strdup(play->p->barrier[root->named->barrier].name);
            f->object = g_strdup(f->barrier);
        }
        ws_tell_stuck(play, f, root);
        if (f)
            ws_remedy_named(play, f, root);
    } else {
        f = ws_report(play, WS_RULE_P_DEADLOCK, root, NULL,
                      "waits forever for the cluster barrier, which %" G_GINT64_FORMAT
                      " of %u agents have reached",
                      play->cluster.arrived, play->n_inst);
        ws_tell_stuck(play, f, root);
        if (f)
            ws_remedy_cluster(play, f, root);
    }
    if (f)
        add_stuck(play, f, root);
}

/* --- ends ------------------------------------------------------------------------------------- */
static void left_over(WsPlay *play, const GPtrArray *queue, const char *what, const char *remedy)
{
    if (queue->len == 0)
        return;
    const WsEvent *e = queue->pdata[0];
    WsFinding *f = ws_report_event(play, WS_RULE_P_EXIT, e, NULL,
                                   "is still in flight when its agent ends: %s", what);
    if (!f)
        return;
    g_autofree char *name = ws_inst_name(play, e->inst), *deed = ws_deed_event(play, e);
    ws_finding_tell(f, WS_STORY_FIRST, "%s is issued", deed);
    ws_finding_tell(f, WS_STORY_THEN, "the body of %s ends", name);
    ws_finding_tell(f, WS_STORY_MISSING, "%s", what);
    ws_finding_tell(f, WS_STORY_SO,
                    "corruption: the shared memory or the registers that it uses "
                    "are given to the next CTA while it is still at work");
    if (!ws_remedy_retired_before(play, f, e))
        ws_finding_set_remedy(f, "%s", remedy);
}

/* Does anybody of the CTA know it when the CTA ends? */
static gboolean known_at_end(const WsPlay *play, guint rank, guint comp, WsEpoch epoch)
{
    for (guint a = 0; a < play->p->n_agents; a++) {
        const WsInst *inst = &play->inst[rank * play->p->n_agents + a];
        if (inst->lead[comp] >= epoch || inst->lanes[comp] >= epoch)
            return TRUE;
    }
    return FALSE;
}

static void report_slots(WsPlay *play)
{
    for (guint i = 0; i < play->ranks * play->n_slots; i++) {
        WsSlot *s = &play->slot[i];
        if (s->broken || s->tx == 0)
            continue;
        const WsEvent *e = NULL;
        for (guint k = 0; k < play->transfers_used; k++) {
            const WsTransfer *t = play->transfers->pdata[k];
            if (t->slot == s)
                e = t->event;
        }
        for (guint k = 0; !e && s->came && k < s->came->len; k++) {
            const WsCame *c = &g_array_index(s->came, WsCame, k);
            if (c->expected !=
                0) /* no transfer of this case signals it: the expect stands for it */
                e = &c->by;
        }
        if (!e)
            continue;
        g_autofree char *name = ws_slot_name(play, s);
        WsFinding *f = ws_report_event(
            play, WS_RULE_P_TX, e, NULL,
            s->tx > 0 ? "leaves %s with %" G_GINT64_FORMAT
                        " bytes that were expected and never came: expected %" G_GINT64_FORMAT
                        ", came %" G_GINT64_FORMAT
                      : "leaves %s with %" G_GINT64_FORMAT
                        " bytes that were never expected: expected %" G_GINT64_FORMAT
                        ", came %" G_GINT64_FORMAT,
            name, ABS(s->tx), s->expected, s->credited);
        if (f) {
            ws_report_slot(play, f, s);
            ws_tell_came(play, f, s);
            ws_finding_tell(f, WS_STORY_SO, "nobody waits for it any more; a wait would hang");
            ws_finding_set_remedy(f, "expect exactly the bytes that land in one use of %s", name);
        }
    }
}

void ws_report_ends(WsPlay *play)
{
    for (guint i = 0; i < play->n_inst; i++) {
        left_over(play, play->inst[i].mma, WS_WORD("no mma_wait retires it"),
                  WS_WORD("end with {\"mma_wait\": 0}"));
        left_over(play, play->inst[i].bulk, WS_WORD("no store_wait retires it"),
                  WS_WORD("end with {\"store_wait\": 0}"));
        left_over(play, play->inst[i].cp, WS_WORD("no load_wait retires it"),
                  WS_WORD("end with {\"load_wait\": 0}"));
    }
    report_slots(play);
    ws_flags_end(play);
    for (guint i = 0; i < play->transfers_used; i++) {
        const WsTransfer *t = play->transfers->pdata[i];
        const WsEvent *e = t->event;
        if (!e || !t->slot || t->slot->broken ||
            known_at_end(play, t->slot->rank, e->comp, e->epoch))
            continue;
        g_autofree char *name = ws_slot_name(play, t->slot);
        WsFinding *f = ws_report_event(play, WS_RULE_P_EXIT, e, NULL,
                                       "can still be in flight when the CTA ends: nobody waits for "
                                       "completion %" G_GINT64_FORMAT " of %s",
                                       (gint64)e->epoch - 1, name);
        if (f) {
            ws_report_slot(play, f, t->slot);
            f->fact[WS_FACT_COMPLETION] = (gint64)e->epoch - 1;
            if (t->arrivals)
                ws_finding_tell(f, WS_STORY_FIRST,
                                "%" G_GINT64_FORMAT " threads arrive at %s when their copies are "
                                "there, each at its own time",
                                t->arrivals, name);
            else
                ws_finding_tell(f, WS_STORY_FIRST,
                                "%" G_GINT64_FORMAT " bytes are on their way into %s", t->bytes,
                                name);
            ws_finding_tell(f, WS_STORY_MISSING,
                            "a wait of any agent for completion %" G_GINT64_FORMAT
                            ": all rounds that wait are over",
                            (gint64)e->epoch - 1);
            ws_finding_tell(f, WS_STORY_SO,
                            "corruption: the CTA can end first, and the bytes land "
                            "in shared memory that belongs to the next one");
            ws_remedy_unawaited(play, f, e, t->slot);
        }
    }
    for (guint i = 0; i < play->transfers_used; i++) { /* L-COPY-SOURCE */
        const WsEvent *e = ((const WsTransfer *)play->transfers->pdata[i])->event;
        guint rank = e ? play->inst[e->inst].rank : 0;
        if (!e || e->op->kind != WS_OP_BULK_COPY || e->pending || !e->slot || e->slot->broken ||
            known_at_end(play, rank, e->comp, e->epoch))
            continue;
        g_autofree char *name = ws_slot_name(play, e->slot);
        WsFinding *f =
            ws_report_event(play, WS_RULE_P_EXIT, e, NULL,
                            "may still read the shared memory of CTA %u when that CTA "
                            "ends: nobody there knows of completion %" G_GINT64_FORMAT " of %s",
                            rank, (gint64)e->epoch - 1, name);
        if (!f)
            continue;
        f->fact[WS_FACT_CTA] = rank;
        ws_finding_tell(f, WS_STORY_MISSING,
                        "an answer of the CTA that receives it, for which CTA %u waits", rank);
        ws_finding_tell(f, WS_STORY_SO,
                        "corruption: the CTA can end first, and the copy reads shared memory that "
                        "belongs to the next one");
        ws_finding_set_remedy(f,
                              "let CTA %u answer before CTA %u ends: it arrives there when it has "
                              "waited for %s; or let all groups sync the cluster after that wait",
                              e->slot->rank, rank, name);
    }
    for (guint i = 0; i < play->remote->len; i++) {
        const WsEvent *e = play->remote->pdata[i];
        if (known_at_end(play, (guint)e->stage, e->comp, e->epoch))
            continue;
        WsFinding *f = ws_report_event(
            play, WS_RULE_P_CLUSTER, e, NULL,
            "can reach CTA %" G_GINT64_FORMAT " after that CTA has ended", e->stage);
        if (!f)
            continue;
        f->fact[WS_FACT_CTA] = e->stage;
        ws_finding_tell(f, WS_STORY_MISSING,
                        "nothing that the agents of CTA %" G_GINT64_FORMAT
                        " wait for before they end says that this has arrived",
                        e->stage);
        ws_finding_tell(f, WS_STORY_SO,
                        "corruption: it reaches shared memory that is no longer that "
                        "CTA's, or faults");
        ws_finding_set_remedy(f, "end every group with {\"cluster\": \"sync\"}, or let the "
                                 "producer wait for every slot at the end");
    }
}
