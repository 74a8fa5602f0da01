/* Operations on barriers. docs/soundness.md sections 2 to 4. */
#include "verify/step.h"
#include "verify/value.h"

#include <string.h>

/* --- mbarriers -------------------------------------------------------------------------------- */
static guint slot_of(Run *r, gint64 element, gint64 slot)
{
    const WsBarrier *b = &r->plan->p->barrier[r->op->barrier];
    if (b->kind == WS_BARRIER_MBARRIER && element >= 0 && element < b->array && slot >= 0 &&
        slot < b->slots)
        return r->plan->slot0[r->op->barrier] + (guint)element * b->slots + (guint)slot;
    broken(r, "P-EARLY", "no such slot");
    return 0;
}

static gboolean waits_at(const Plan *plan, const Instance *x, guint i, guint at, gboolean name)
{
    const WsTree *t = plan->agent[i % plan->p->n_agents].place[x->place].tree;
    return x->status == WAIT && x->at == at && t->op &&
           (name ? t->op->kind == WS_OP_BAR_SYNC : t->op->kind == WS_OP_MBAR_WAIT);
}

static void complete(Run *r, guint cta, guint slot)
{
    Plan *plan = r->plan;
    const guint n = cta * plan->n_slots + slot;
    SlotState *b = &r->s->slot[n];
    if (r->plan->reason || b->pending != 0)
        return;
    if (b->tx < 0)
        broken(r, "P-TX", "bytes that nobody expected when the arrivals are complete");
    if (b->tx != 0)
        return;
    const guint from = holder_slot(plan, n, ACC), to = holder_slot(plan, n, DONE);
    const Set acc = set_of(1, &from), done = set_of(1, &to);
    for (guint a = 0; a < plan->p->n_agents; a++) {
        if ((b->owed >> a & 1) &&
            !knows(plan, r->s, plan_item(plan, ITEM_RETURN, cta, slot, a), &acc))
            broken(r, "P-ABA", "a completion that overtakes a wait for the one before");
        if ((b->expects >> a & 1) &&
            !knows(plan, r->s, plan_item(plan, ITEM_EXPECT, cta, slot, a), &acc))
            broken(r, "P-TX", "an expect that may come after the completion");
    }
    /* somebody who waits for the completion before, and has not gone on yet */
    for (guint i = cta * plan->p->n_agents; i < (cta + 1) * plan->p->n_agents; i++)
        if (waits_at(plan, &r->s->inst[i], i, n, FALSE) && (b->phase & 1) != r->s->inst[i].parity)
            broken(r, "P-ABA", "a completion that overtakes somebody who waits");
    const guint last = plan_item(plan, ITEM_LAST, cta, slot, 0);
    const guint before = plan_item(plan, ITEM_BEFORE, cta, slot, 0);
    const gsize bytes = plan->words * 8;
    forget_holder(plan, r->s, from, to);
    memcpy(r->s->k + (gsize)before * plan->words, r->s->k + (gsize)last * plan->words, bytes);
    happen(plan, r->s, last, &done, FALSE);
    b->owed = b->by_lanes = b->expects = 0;
    b->sole_before = b->sole;
    b->sole = 0;
    b->phase++;
    b->pending = plan->arrivals[slot];
}

/* Obligation M: modulo 2 where the turn depends on a symbol. */
static gboolean means(Run *r, gint64 completion)
{
    gint64 turn, loose;
    if (!r->op->turn || !value_number(r->plan, r->s, r->i, r->op->turn, &turn, &loose))
        return !r->op->turn;
    return loose % 2 == 0 && (turn == completion || (plan_names_symbol(r->plan, r->op->turn) &&
                                                     (turn - completion) % 2 == 0));
}

/* A contribution of the running instance: it knows the completion before. */
static void contribute(Run *r, guint cta, guint slot)
{
    SlotState *b = &r->s->slot[cta * r->plan->n_slots + slot];
    const guint me = r->leader && r->op->kind == WS_OP_MBAR_ARRIVE ? r->i + 1 : G_MAXUINT;
    b->sole = b->sole == 0 || b->sole == me ? me : G_MAXUINT;
    /* weak form of R1: the same lane made all contributions to the phase before */
    const gboolean alone = me != G_MAXUINT && b->sole == me && b->sole_before == me;
    if (!alone && !knows(r->plan, r->s, plan_item(r->plan, ITEM_LAST, cta, slot, 0), &r->need))
        broken(r, "P-EARLY", "a contribution that may come before the phase it is for");
    if (!means(r, b->phase))
        broken(r, "P-EARLY", "a contribution to another phase");
}

static void arrive(Run *r, guint cta, guint slot, gint64 count)
{
    const guint n = cta * r->plan->n_slots + slot;
    SlotState *b = &r->s->slot[n];
    contribute(r, cta, slot);
    if (cta != r->cta) {
        const Set by = set_of(1, (const guint[]){ holder(r->i, r->leader ? LEAD : DID) });
        happen(r->plan, r->s, plan_item(r->plan, ITEM_REMOTE, cta, 2 * r->i + r->leader, 0), &by,
               FALSE);
    }
    release(r, holder_slot(r->plan, n, ACC));
    if (count < 1 || b->pending < count)
        broken(r, "P-COUNT", "more arrivals than the count");
    b->pending -= count;
    complete(r, cta, slot);
}

static Move expect(Run *r, guint slot)
{
    SlotState *b = &r->s->slot[r->cta * r->plan->n_slots + slot];
    if (!r->leader || r->op->count < 0 || r->op->count > 1 || r->op->bytes < 0)
        refuse(r, "an expect of this form");
    b->tx += r->op->bytes;
    if (r->op->count) {
        arrive(r, r->cta, slot, 1);
        return MOVED;
    }
    contribute(r, r->cta, slot);
    b->expects |= (guint64)1 << r->agent;
    happen(r->plan, r->s, plan_item(r->plan, ITEM_EXPECT, r->cta, slot, r->agent), &r->need, FALSE);
    complete(r, r->cta, slot);
    return MOVED;
}

static gboolean reaches(Run *r, guint cta, gint64 rank)
{
    switch (r->op->ctas.kind) {
    case WS_CTAS_OWN:
        return cta == r->cta;
    case WS_CTAS_ALL:
        return TRUE;
    case WS_CTAS_MASK:
        return r->op->ctas.mask >> cta & 1;
    case WS_CTAS_EXPR:
        if (rank < 0 || rank >= r->plan->p->cluster)
            broken(r, "P-CLUSTER", "no such CTA");
        return cta == rank;
    }
    return FALSE;
}

static void load(Run *r, guint cta, guint slot)
{
    const guint n = cta * r->plan->n_slots + slot;
    const guint acc = holder_slot(r->plan, n, ACC);
    const Set by = set_of(1, &acc);
    if (!r->leader || r->op->n_access != 1 || r->op->access[0].mode != WS_MODE_WRITE)
        refuse(r, "a load of this form");
    contribute(r, cta, slot);
    /* Its landing comes after its issue, and so after what its issuer knows; what threads wrote
     * travels with arrivals only. */
    for (guint item = 0; item < r->plan->n_items; item++) {
        const guint op = r->s->author[item].op;
        const gboolean thread =
            item % r->plan->per_cta < r->plan->n_cells &&
            (!op || ws_op_row(r->plan->p->op[op - 1]->kind)->proxy != WS_PROXY_ASYNC);
        if (!thread && knows(r->plan, r->s, item, &r->need))
            make_known(r->plan, r->s, item, &by);
    }
    touch(r, 0, cta, &by, NULL, TRUE);
    touch(r, 0, cta, &by, NULL, FALSE);
    happen(r->plan, r->s, plan_item(r->plan, ITEM_TRANSFER, cta, slot, 0), &by, FALSE);
    r->s->slot[n].tx -= r->op->bytes;
    complete(r, cta, slot);
}

static Move wait_phase(Run *r, guint slot, gint64 parity)
{
    const guint n = r->cta * r->plan->n_slots + slot;
    SlotState *b = &r->s->slot[n];
    if (parity != 0 && parity != 1)
        broken(r, "P-EARLY", "a parity that is neither 0 nor 1");
    r->x->status = WAIT;
    r->x->at = n;
    r->x->parity = parity;
    if ((b->phase & 1) == parity)
        return STUCK;
    r->x->status = RUN;
    if (!knows(r->plan, r->s, plan_item(r->plan, ITEM_BEFORE, r->cta, slot, 0), &r->need))
        broken(r, "P-EARLY", "a wait that may return one turn too early");
    if (!means(r, b->phase - 1))
        broken(r, "P-EARLY", "a wait that returns on another completion");
    acquire(r, holder_slot(r->plan, n, DONE));
    const guint64 me = (guint64)1 << r->agent;
    const guint item = plan_item(r->plan, ITEM_RETURN, r->cta, slot, r->agent);
    if ((b->owed & me) && (b->by_lanes & me) && r->leader) {
        const Set lanes = know_of(r->i, FALSE);
        if (!knows(r->plan, r->s, item, &lanes))
            refuse(r, "the leader waits again for what the lanes may still wait for");
    }
    const Set by = set_of(1, (const guint[]){ holder(r->i, r->leader ? LEAD : BACK) });
    happen(r->plan, r->s, item, &by, FALSE);
    b->owed |= me;
    b->by_lanes = r->leader ? b->by_lanes & ~me : b->by_lanes | me;
    return MOVED;
}

/* --- named barriers, the cluster -------------------------------------------------------------- */
/* Joins with `threads` of `count`; TRUE if that ends the generation. */
static void join(Run *r, guint n, guint item, gint64 threads, gint64 count)
{
    NameState *b = &r->s->name[n];
    if (!knows(r->plan, r->s, item, &r->need))
        broken(r, "P-NAMED", "a join that may come into the generation before");
    if (b->joined && b->count != count)
        broken(r, "P-NAMED", "joins with unequal counts");
    b->count = count;
    b->joined += threads;
    if (b->joined > count)
        broken(r, "P-NAMED", "more threads than the count");
    release(r, holder_name(r->plan, n, ACC));
    if (b->joined < count)
        return;
    const guint done = holder_name(r->plan, n, DONE);
    const Set by = set_of(1, &done);
    forget_holder(r->plan, r->s, holder_name(r->plan, n, ACC), done);
    happen(r->plan, r->s, item, &by, FALSE);
    b->generation++;
    b->joined = b->count = 0;
    /* who waits knows it now: a later generation may be over before its turn comes */
    for (guint i = 0; i < r->plan->n_inst; i++)
        if (waits_at(r->plan, &r->s->inst[i], i, n, TRUE) &&
            r->s->inst[i].joined == b->generation - 1)
            learn(r->plan, r->s, &by, &by, 2, (const guint[]){ holder(i, LEAD), holder(i, LANES) });
}

Move named(Run *r)
{
    gint64 count = 0;
    const gint n = plan_name(r->plan, r->op, &count);
    const gboolean sync = r->op->kind == WS_OP_BAR_SYNC;
    const guint threads = r->plan->p->agent[r->agent].threads;
    if (r->leader || n < -1)
        refuse(r, "a named barrier of this form");
    if (n < 0 || r->plan->reason) {
        if (!sync || count != threads)
            refuse(r, "a barrier of a part of an agent");
        meet_lanes(r);
        return MOVED;
    }
    const guint at = r->cta * r->plan->n_names + (guint)n;
    NameState *b = &r->s->name[at];
    if (r->x->status != WAIT) {
        r->x->joined = b->generation;
        join(r, at, plan_item(r->plan, ITEM_NAME, r->cta, (guint)n, 0), threads, count);
    }
    if (!sync)
        return MOVED;
    if (r->x->status != WAIT && b->generation != r->x->joined)
        acquire(r, holder_name(r->plan, at, DONE)); /* its own join ended the generation */
    r->x->status = WAIT;
    r->x->at = at;
    if (b->generation == r->x->joined)
        return STUCK;
    r->x->status = RUN;
    meet_lanes(r);
    return MOVED;
}

Move cluster(Run *r)
{
    const guint at = r->plan->p->cluster * r->plan->n_names;
    const guint item = plan_item(r->plan, ITEM_NAME, 0, r->plan->n_names, 0);
    if (r->leader || r->plan->p->cluster < 2)
        refuse(r, "a cluster barrier of this form");
    if (r->op->kind == WS_OP_CLUSTER_ARRIVE) {
        if (r->x->cluster_arrived)
            broken(r, "P-CLUSTER", "a second arrival without a wait");
        r->x->cluster_arrived = TRUE;
        r->x->joined = r->s->name[at].generation;
        join(r, at, item, r->plan->p->agent[r->agent].threads,
             (gint64)r->plan->p->threads * r->plan->p->cluster);
        return MOVED;
    }
    if (!r->x->cluster_arrived)
        broken(r, "P-CLUSTER", "a wait without an arrival");
    if (r->s->name[at].generation == r->x->joined)
        return STUCK;
    r->x->cluster_arrived = FALSE;
    acquire(r, holder_name(r->plan, at, DONE)); /* lanes may still stand at it: no meeting */
    return MOVED;
}

Move at_slots(Run *r)
{
    gint64 element, slot, parity = 0, rank = -1;
    if (r->op->barrier < 0 || !r->op->slot ||
        !value_number(r->plan, r->s, r->i, r->op->element, &element, NULL) ||
        !value_number(r->plan, r->s, r->i, r->op->slot, &slot, NULL) ||
        (r->op->parity && !value_number(r->plan, r->s, r->i, r->op->parity, &parity, NULL)) ||
        (r->op->ctas.kind == WS_CTAS_EXPR &&
         !value_number(r->plan, r->s, r->i, r->op->ctas.expr, &rank, NULL))) {
        refuse(r, "an operation on a barrier of this form");
        return STUCK;
    }
    const guint n = slot_of(r, element, slot);
    if (r->plan->reason)
        return STUCK;
    if (r->op->kind == WS_OP_MBAR_WAIT)
        return wait_phase(r, n, parity);
    if (r->op->kind == WS_OP_MBAR_EXPECT)
        return expect(r, n);
    if (r->op->kind == WS_OP_MBAR_ARRIVE &&
        (r->op->per < 0 || r->op->per > 32 || (r->op->per == 0) != r->leader))
        refuse(r, "an arrival of this form");
    for (guint cta = 0; cta < r->plan->p->cluster && !r->plan->reason; cta++)
        if (reaches(r, cta, rank)) {
            if (r->op->kind == WS_OP_MBAR_ARRIVE)
                arrive(r, cta, n, r->op->count);
            else
                load(r, cta, n);
        }
    return MOVED;
}
