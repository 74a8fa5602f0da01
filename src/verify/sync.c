/* Operations on barriers. docs/soundness.md sections 2 to 4. */
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/value.h"
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
            !knows(plan, r->s, plan_item(plan, ITEM_GIVE, cta, slot, 2 * a + 1), &acc))
            broken(r, "P-TX", "an expect that may come after the completion");
    }
    /* somebody who waits for the completion before, and has not gone on yet */
    for (guint i = cta * plan->p->n_agents; i < (cta + 1) * plan->p->n_agents; i++)
        if (waits_at(plan, &r->s->inst[i], i, n, FALSE) && (b->phase & 1) != r->s->inst[i].parity)
            broken(r, "P-ABA", "a completion that overtakes a wait");
    const guint last = plan_item(plan, ITEM_LAST, cta, slot, 0);
    const guint before = plan_item(plan, ITEM_BEFORE, cta, slot, 0);
    const gsize bytes = plan->words * 8;
    forget_holder(plan, r->s, from, to);
    memcpy(r->s->k + (gsize)before * plan->words, r->s->k + (gsize)last * plan->words, bytes);
    happen(plan, r->s, last, &done, FALSE);
    b->owed = b->by_lanes = b->expects = 0;
    b->gave_before = b->gave;
    b->gave = b->gives;
    b->gives = 0;
    b->phase++;
    b->pending = plan->arrivals[slot];
}

/* Obligation M: modulo 2 where the turn depends on a symbol. */
static gboolean means(Run *r, gint64 completion)
{
    gint64 turn, loose;
    if (!r->op->turn || !value_number(r->plan, r->s, r->i, r->op->turn, &turn, &loose))
        return !r->op->turn;
    const gboolean named = plan_turn_by_names(r->plan, r->op);
    r->plan->laps |= named;
    return named ? loose % 2 == 0 && (turn - completion) % 2 == 0
                 : loose == 0 && turn == completion;
}

/* A completion is known, or all that contributed to it: then it has happened. */
static gboolean knows_completion(Run *r, guint cta, guint slot, ItemKind which, guint64 gave)
{
    gboolean all = gave != 0 && !(gave & OTHERS);
    for (guint x = 0; all && x < 2 * r->plan->p->n_agents; x++)
        all = !(gave >> x & 1) ||
              knows(r->plan, r->s, plan_item(r->plan, ITEM_GIVE, cta, slot, x), &r->need);
    return all || knows(r->plan, r->s, plan_item(r->plan, which, cta, slot, 0), &r->need);
}

/* A contribution of the running instance: it knows the completion before. */
static void contribute(Run *r, guint cta, guint slot)
{
    SlotState *b = &r->s->slot[cta * r->plan->n_slots + slot];
    const guint x = 2 * r->agent + r->leader;
    const gboolean seen = !r->plan->unseen[r->op->barrier];
    gint64 turn, loose;
    if (r->op->turn && value_number(r->plan, r->s, r->i, r->op->turn, &turn, &loose)) {
        if (turn < 0)
            broken(r, "P-UNDEF", "a use that may be below 0");
        if (loose && !seen)
            refuse(r, "a use that follows a name, of a barrier that nobody waits for");
    }
    if (seen && !knows_completion(r, cta, slot, ITEM_LAST, b->gave))
        broken(r, "P-EARLY", "a contribution that may come before the phase it is for");
    if (seen && !means(r, b->phase))
        broken(r, "P-EARLY", "a contribution to another phase");
    if (cta != r->cta || r->op->kind == WS_OP_CP_ARRIVE || ws_op_flies(r->op->kind)) {
        b->gives |= OTHERS;
        return;
    }
    const Set by = set_of(1, (const guint[]){ holder(r->i, r->leader ? LEAD : DID) });
    happen(r->plan, r->s, plan_item(r->plan, ITEM_GIVE, cta, slot, x), &by, FALSE);
    b->gives |= (guint64)1 << x;
}

/* `count` arrivals have come. */
static void count_down(Run *r, guint cta, guint slot, gint64 count)
{
    SlotState *b = &r->s->slot[cta * r->plan->n_slots + slot];
    if (count < 1 || b->pending < count)
        broken(r, "P-COUNT", "more arrivals than the count");
    b->pending -= count;
    complete(r, cta, slot);
}

static void arrive(Run *r, guint cta, guint slot, gint64 count)
{
    contribute(r, cta, slot);
    if (cta != r->cta) {
        const Set by = set_of(1, (const guint[]){ holder(r->i, r->leader ? LEAD : DID) });
        happen(r->plan, r->s, plan_item(r->plan, ITEM_REMOTE, cta, 2 * r->i + r->leader, 0), &by,
               FALSE);
    }
    release(r, holder_slot(r->plan, cta * r->plan->n_slots + slot, ACC));
    count_down(r, cta, slot, count);
}

static void expect(Run *r, guint slot)
{
    SlotState *b = &r->s->slot[r->cta * r->plan->n_slots + slot];
    if (!r->leader || r->op->count < 0 || r->op->count > 1 || r->op->bytes < 0)
        refuse(r, "an expect of this form");
    b->tx += r->op->bytes;
    if (r->op->count) {
        arrive(r, r->cta, slot, 1);
        return;
    }
    contribute(r, r->cta, slot);
    b->expects |= (guint64)1 << r->agent;
    complete(r, r->cta, slot);
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

/* All lanes signal their gathers. Of stores to a peer every lane has a part if a whole tile is sent
 * that is dealt out evenly. */
static gboolean all_take_part(const Run *r)
{
    const WsAgent *a = &r->plan->p->agent[r->agent];
    const WsValueUse *u = &r->op->value[0];
    if (r->op->kind == WS_OP_CP_ARRIVE || r->leader || r->op->n_value != 1)
        return r->op->kind == WS_OP_CP_ARRIVE;
    const WsRegValue *v = &a->value[u->value];
    return u->rows == v->rows && u->cols == v->cols && v->cols >= 8 &&
           v->rows * v->cols % a->threads == 0 &&
           (v->layout == WS_LAYOUT_LINEAR || (v->rows % 64 == 0 && v->cols % 8 == 0));
}

/* What is done later comes after its issue, and so after what its issuers know, and did if each of
 * them has a part in it; what threads wrote travels with arrivals only. */
static void carry(Run *r, guint to)
{
    const gboolean each = all_take_part(r);
    const Set all = all_of(r->i), by = set_of(1, &to);
    for (guint item = 0; item < r->plan->n_items; item++) {
        const guint op = r->s->author[item].op;
        const gboolean thread = item % r->plan->per_cta < r->plan->n_cells &&
                                (!op || !is_async(r->plan->p->op[op - 1]));
        if (!thread &&
            (each ? knows_some(r->plan, r->s, item, &all) : knows(r->plan, r->s, item, &r->need)))
            make_known(r->plan, r->s, item, &by);
    }
}

/* A transfer into `cta` that counts on its slot. */
static void transfer(Run *r, guint cta, guint slot)
{
    const guint n = cta * r->plan->n_slots + slot;
    const guint acc = holder_slot(r->plan, n, ACC);
    const Set by = set_of(1, &acc);
    const guint last = r->op->n_access - 1;
    if (r->op->n_access != 1 + (r->op->kind == WS_OP_BULK_COPY) ||
        r->leader != (r->op->kind != WS_OP_ST_REMOTE) ||
        r->op->access[last].mode != WS_MODE_WRITE ||
        (last && r->op->access[0].mode != WS_MODE_READ))
        refuse(r, "a transfer of this form");
    contribute(r, cta, slot);
    carry(r, acc);
    if (last)
        touch(r, 0, r->cta, cta, &by, 0);
    touch(r, last, cta, cta, &by, 0);
    happen(r->plan, r->s, plan_item(r->plan, ITEM_TRANSFER, cta, slot, 0), &by, FALSE);
    r->s->slot[n].tx -= r->op->bytes;
    complete(r, cta, slot);
}

/* The arrivals of all lanes when their copies have landed. */
static void gathered(Run *r, guint slot)
{
    const guint acc = holder_slot(r->plan, r->cta * r->plan->n_slots + slot, ACC);
    const Set by = set_of(1, &acc);
    Queue *queue = &r->x->queue[WS_QUEUE_ROWS];
    const guint first = 1 + MAX_GROUPS * (WS_QUEUE_ROWS + WS_QUEUES * r->i);
    if (r->leader)
        refuse(r, "copies of the leader");
    contribute(r, r->cta, slot);
    carry(r, acc);
    for (guint item = 0; item < r->plan->n_items; item++)
        if (r->s->flight[item] >= first && r->s->flight[item] < first + queue->n) {
            make_known(r->plan, r->s, item, &by);
            if (queue->open && r->s->flight[item] == first + queue->n - 1)
                r->s->flight[item] = 0;
        }
    queue->n -= queue->open; /* from here on these copies are waited for at the slot */
    queue->open = FALSE;
    happen(r->plan, r->s, plan_item(r->plan, ITEM_TRANSFER, r->cta, slot, 0), &by, FALSE);
    count_down(r, r->cta, slot, r->op->count);
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
    if (!knows_completion(r, r->cta, slot, ITEM_BEFORE, b->gave_before))
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
        r->x->cluster_joined = r->s->name[at].generation;
        join(r, at, item, 1, r->plan->n_inst);
        return MOVED;
    }
    if (!r->x->cluster_arrived)
        broken(r, "P-CLUSTER", "a wait without an arrival");
    if (r->s->name[at].generation == r->x->cluster_joined)
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
    if (r->op->kind == WS_OP_MBAR_ARRIVE &&
        (r->op->per < 0 || r->op->per > 32 || (r->op->per == 0) != r->leader))
        refuse(r, "an arrival of this form");
    if (ws_op_expects(r->op->kind))
        expect(r, n);
    else if (r->op->kind == WS_OP_CP_ARRIVE)
        gathered(r, n);
    else
        for (guint cta = 0; cta < r->plan->p->cluster && !r->plan->reason; cta++)
            if (reaches(r, cta, rank)) {
                if (r->op->kind == WS_OP_MBAR_ARRIVE)
                    arrive(r, cta, n, r->op->count);
                else
                    transfer(r, cta, n);
            }
    return MOVED;
}
