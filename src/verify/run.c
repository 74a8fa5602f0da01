/* The canonical run: control, and what the operations do. docs/soundness.md sections 2 to 4, 8.4.
 */
#include "verify/know.h"
#include "verify/value.h"

#include <string.h>

typedef enum { STUCK, MOVED } Move;

typedef struct {
    Plan *plan;
    State *s;
    guint i, agent, cta; /* the running instance */
    Instance *x;
    const WsOp *op;
    gboolean leader;
    Set need;
} Run;

static void broken(Run *r, const char *rule, const char *what)
{
    plan_fail(r->plan, WS_VERIFY_REJECTED, "%s: %s (%s of CTA %u, %s)", rule, what,
              r->plan->p->agent[r->agent].name, r->cta, r->op ? r->op->id : "control");
}

static void refuse(Run *r, const char *what)
{
    plan_fail(r->plan, WS_VERIFY_REFUSED, "%s (%s)", what, r->op ? r->op->id : "control");
}

/* --- meeting ---------------------------------------------------------------------------------- */
static void meet_lanes(Run *r)
{
    const Set all = all_of(r->i);
    learn(r->plan, r->s, &all, &all, 2, (const guint[]){ holder(r->i, LEAD), holder(r->i, LANES) });
}

static void release(Run *r, guint to)
{
    const Set all = r->leader ? r->need : all_of(r->i);
    learn(r->plan, r->s, &all, &all, 1, &to);
}

static void acquire(Run *r, guint from)
{
    const Set done = set_of(1, &from);
    learn(r->plan, r->s, &done, &done, r->leader ? 1 : 2,
          (const guint[]){ holder(r->i, LEAD), holder(r->i, LANES) });
}

/* --- shared memory ---------------------------------------------------------------------------- */
static gboolean is_async(const Run *r)
{
    return ws_op_row(r->op->kind)->proxy == WS_PROXY_ASYNC;
}

/* Each byte is touched by one thread in both events, which knows what it did itself. */
static gboolean row_private(Run *r, guint item, const Author *me)
{
    const Author *other = &r->s->author[item];
    const WsOp *first = other->op ? r->plan->p->op[other->op - 1] : NULL;
    if (r->leader || is_async(r) || !first || !me->op || first->agent != r->op->agent ||
        op_by_leader(first) || first->n_access != 1 || r->op->n_access != 1 ||
        first->access[0].buffer != r->op->access[0].buffer || ws_op_flies(first->kind))
        return FALSE;
    return has_bit(r->s->k + (gsize)item * r->plan->words, holder(r->i, DID)) &&
           plan_same_lanes(r->plan, other, me);
}

static void touch_cell(Run *r, guint cta, guint cell, gboolean write, const Author *me)
{
    Plan *plan = r->plan;
    const guint w = plan_item(plan, ITEM_WRITE, cta, cell, 0);
    if (!knows(plan, r->s, w, &r->need) && (cta != r->cta || !row_private(r, w, me)))
        broken(r, "P-RACE", "the last write is not known");
    if (is_async(r) && !fenced(plan, r->s, w, &r->need))
        broken(r, "P-PROXY", "the last write is not fenced");
    if (!write && !r->s->written[cta * plan->n_cells + cell])
        broken(r, "P-UNDEF", "bytes that nobody has written");
    for (guint k = 0; write && k < plan->reader->len; k++) {
        const guint item = plan_item(plan, ITEM_READ, cta, cell, k);
        if (!knows(plan, r->s, item, &r->need) && (cta != r->cta || !row_private(r, item, me)))
            broken(r, "P-RACE", "a read is not known");
        if (is_async(r) && (plan->c->policy & 1) && !fenced(plan, r->s, item, &r->need))
            broken(r, "P-PROXY", "a read is not fenced");
    }
}

/* One access in one CTA. `by`: who knows when it is over; `group`: else it is over with it. */
static void touch(Run *r, guint k, guint cta, const Set *by, Group *group, gboolean judge)
{
    const WsAccess *a = &r->op->access[k];
    View v = { a->buffer, a->rows, a->cols, 0, 0 };
    gint64 element, stage;
    if (!value_number(r->plan, r->s, r->i, a->element, &element, NULL) ||
        !value_number(r->plan, r->s, r->i, a->stage, &stage, NULL) ||
        !value_number(r->plan, r->s, r->i, a->row0, &v.row0, NULL))
        return;
    const gboolean rows = plan_whole_rows(r->plan, r->op, k);
    if (rows)
        v.cols = r->plan->p->buffer[a->buffer].cols;
    else if (!value_number(r->plan, r->s, r->i, a->col0, &v.col0, NULL))
        return;
    const Author me = { rows ? 0 : r->op->index + 1, v.row0, v.col0 };
    const GArray *cells = plan_cells(r->plan, &v, element, stage);
    const gboolean write = (a->mode & WS_MODE_WRITE) != 0;
    gint reader = plan_reader(r->plan, r->agent, ws_op_row(r->op->kind)->engine, r->leader);
    const gboolean generic = !is_async(r);
    for (guint n = 0; cells && n < cells->len && !r->plan->reason; n++) {
        const guint cell = g_array_index(cells, guint, n);
        if (judge) {
            touch_cell(r, cta, cell, write, &me);
            continue;
        }
        guint item = write ? plan_item(r->plan, ITEM_WRITE, cta, cell, 0)
                           : plan_item(r->plan, ITEM_READ, cta, cell, (guint)reader);
        Author *last = &r->s->author[item];
        const gboolean other = last->op != me.op || last->row0 != me.row0 || last->col0 != me.col0;
        const gboolean mixed = !write && other && !knows(r->plan, r->s, item, &r->need);
        happen(r->plan, r->s, item, by, generic);
        *last = mixed ? (Author){ 0 } : me;
        if (group)
            put_bit(group->item, item, TRUE);
        if (!write)
            continue;
        r->s->written[cta * r->plan->n_cells + cell] = 1;
        for (guint q = 0; q < r->plan->reader->len; q++) {
            item = plan_item(r->plan, ITEM_READ, cta, cell, q);
            const Set everybody = { { G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64,
                                      G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64 } };
            happen(r->plan, r->s, item, &everybody, FALSE);
        }
    }
}

/* All accesses of an operation by itself: judged before any of them has happened. */
static void touch_all(Run *r, const Set *by, Group *group)
{
    guint writes = 0;
    for (guint k = 0; k < r->op->n_access; k++)
        writes += (r->op->access[k].mode & WS_MODE_WRITE) != 0;
    if (writes && r->op->n_access > 1)
        refuse(r, "an operation that touches several views");
    for (guint k = 0; k < 2 * r->op->n_access; k++)
        touch(r, k % r->op->n_access, r->cta, by, group, k < r->op->n_access);
}

/* --- values ----------------------------------------------------------------------------------- */
static void touch_value(Run *r, guint64 cells, gboolean write)
{
    for (guint g = 0; g < r->x->queue[WS_QUEUE_MMA]->len; g++) {
        const Group *group = r->x->queue[WS_QUEUE_MMA]->pdata[g];
        if ((*group->acc & cells) || (write && (*group->operand & cells)))
            broken(r, "P-ASYNC", "registers of a product in flight");
    }
    if (!write && (cells & ~r->x->assigned))
        broken(r, "P-UNDEF", "a value that was not assigned");
    r->x->touched |= cells;
    if (write)
        r->x->assigned |= cells;
}

static guint64 cells_of_use(Run *r, const WsValueUse *u)
{
    gint64 row0 = 0, col0 = 0;
    if (!value_number(r->plan, r->s, r->i, u->row0, &row0, NULL) ||
        !value_number(r->plan, r->s, r->i, u->col0, &col0, NULL))
        refuse(r, "a view of a value that is not decided");
    return value_cells(r->plan, r->agent, u->value, row0, col0, u->rows, u->cols);
}

static guint64 whole_value(Run *r, const char *name)
{
    const WsAgent *a = &r->plan->p->agent[r->agent];
    for (guint v = 0; v < a->n_values; v++)
        if (!strcmp(a->value[v].name, name))
            return value_cells(r->plan, r->agent, v, 0, 0, a->value[v].rows, a->value[v].cols);
    return 0;
}

static void read_names(Run *r, const WsExpr *e)
{
    if (e->op == WS_EXPR_NAME)
        touch_value(r, whole_value(r, e->name), FALSE);
    for (guint i = 0; i < e->n_args; i++)
        read_names(r, e->arg[i]);
}

static void math(Run *r)
{
    if (r->op->skip)
        read_names(r, r->op->skip);
    for (guint n = 0; n < r->op->n_math; n++) {
        read_names(r, r->op->math[n]->value);
        const guint64 cells = whole_value(r, r->op->math[n]->name);
        if (r->op->skip)
            touch_value(r, cells, FALSE);
        touch_value(r, cells, TRUE);
    }
}

static void touch_values(Run *r)
{
    for (guint k = 0; k < r->op->n_value; k++) {
        const guint64 cells = cells_of_use(r, &r->op->value[k]);
        if (r->op->value[k].mode & WS_MODE_READ)
            touch_value(r, cells, FALSE);
        if (r->op->value[k].mode & WS_MODE_WRITE)
            touch_value(r, cells, TRUE);
    }
}

/* --- groups ----------------------------------------------------------------------------------- */
static Group *open_group(Run *r, WsQueue q)
{
    if (!r->x->open[q])
        g_ptr_array_add(r->x->queue[q], group_new(r->plan, NULL));
    r->x->open[q] = TRUE;
    return r->x->queue[q]->pdata[r->x->queue[q]->len - 1];
}

/* Ages far beyond the longest wait are one. */
static void close_group(Run *r, WsQueue q)
{
    GPtrArray *queue = r->x->queue[q];
    open_group(r, q); /* an empty group counts */
    r->x->open[q] = FALSE;
    if (queue->len <= r->plan->agent[r->agent].longest[q] + 4)
        return;
    const Group *old = queue->pdata[0];
    Group *next = queue->pdata[1];
    for (guint w = 0; w < (r->plan->n_items + 63) / 64; w++)
        next->item[w] |= old->item[w];
    if (next->shape && old->shape && (*old->acc & *next->acc) == 0 && *old->acc)
        refuse(r, "products of several accumulators that nobody waits for");
    *next->acc |= *old->acc;
    *next->operand |= *old->operand;
    next->shape = next->shape ? next->shape : old->shape;
    g_ptr_array_remove_index(queue, 0);
}

static void retire(Run *r, WsQueue q)
{
    GPtrArray *queue = r->x->queue[q];
    if (r->x->open[q])
        broken(r, "P-ASYNC", "a group that was not closed");
    while (!r->plan->reason && (gint64)queue->len > r->op->n) {
        Group *g = g_ptr_array_steal_index(queue, 0);
        const Set to = q == WS_QUEUE_STORES ? know_of(r->i, TRUE) : know_of(r->i, FALSE);
        for (guint item = 0; item < r->plan->n_items; item++)
            if (has_bit(g->item, item))
                make_known(r->plan, r->s, item, &to);
        group_free(g);
    }
}

static Move product(Run *r)
{
    gint64 none;
    int first = r->op->mma->first ? value_truth(r->plan, r->s, r->i, r->op->mma->first) : 0;
    if (first < 0)
        return STUCK;
    (void)none;
    const guint64 acc = cells_of_use(r, &r->op->value[0]);
    const guint64 a = r->op->n_value > 1 ? cells_of_use(r, &r->op->value[1]) : 0;
    if (r->leader)
        refuse(r, "a product of the leader");
    if ((acc | a) & r->x->touched)
        broken(r, "P-FENCE", "no mma_fence since registers were touched");
    if ((a & ~r->x->assigned) || (!first && (acc & ~r->x->assigned)) || (a & acc))
        broken(r, "P-UNDEF", "an operand that was not assigned");
    for (guint g = 0; g < r->x->queue[WS_QUEUE_MMA]->len; g++) {
        const Group *other = r->x->queue[WS_QUEUE_MMA]->pdata[g];
        const WsMma *m = r->op->mma, *o = other->shape ? other->shape->mma : NULL;
        if ((*other->acc & a) || (*other->operand & acc) ||
            (o && (*other->acc & acc) &&
             (m->m != o->m || m->n != o->n || m->acc_type != o->acc_type)))
            broken(r, "P-ASYNC", "registers of another product in flight");
    }
    touch_all(r, NULL, NULL); /* judges, and says that nobody knows it over */
    Group *group = open_group(r, WS_QUEUE_MMA);
    if (group->shape &&
        (group->shape->mma->n != r->op->mma->n || group->shape->mma->m != r->op->mma->m))
        refuse(r, "products of several shapes in a group");
    for (guint k = 0; k < r->op->n_access; k++)
        touch(r, k, r->cta, NULL, group, FALSE);
    for (guint slot = 0; slot < r->plan->n_slots; slot++) {
        const guint item = plan_item(r->plan, ITEM_RETURN, r->cta, slot, r->agent);
        if (has_bit(r->s->k + (gsize)item * r->plan->words, holder(r->i, BACK)))
            put_bit(group->item, item, TRUE);
    }
    group->shape = r->op;
    *group->acc |= acc;
    *group->operand |= a;
    r->x->assigned |= acc;
    return MOVED;
}

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
}

static Move named(Run *r)
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
    r->x->status = WAIT;
    if (b->generation == r->x->joined)
        return STUCK;
    r->x->status = RUN;
    acquire(r, holder_name(r->plan, at, DONE));
    meet_lanes(r);
    return MOVED;
}

static Move cluster(Run *r)
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

/* --- operations ------------------------------------------------------------------------------- */
static void note_undecided(gpointer data, const WsTree *t, const WsExpr *e, Ask ask)
{
    Run *r = data;
    gint64 value, loose;
    const gboolean set = ask == ASK_LET || ask == ASK_ADVANCE;
    if (ask == ASK_TRUTH || ask == ASK_COUNT || (set && !r->plan->relevant[t->op->var]))
        return;
    if (!value_number(r->plan, r->s, r->i, e, &value, &loose))
        r->leader = TRUE + 1; /* undecided */
}

static gboolean decided(Run *r, const WsTree *t)
{
    const gboolean leader = r->leader;
    r->leader = FALSE;
    plan_visit(r->plan, t, note_undecided, r);
    const gboolean undecided = r->leader != FALSE;
    r->leader = leader;
    return !undecided;
}

static void assign(Run *r)
{
    gint64 value = 1, loose = 0;
    if (r->op->var < 0 || !r->plan->relevant[r->op->var])
        return;
    if (r->op->set)
        value_number(r->plan, r->s, r->i, r->op->set, &value, &loose);
    if (r->op->kind == WS_OP_ADVANCE) {
        if (__builtin_add_overflow(value, r->x->var[r->op->var], &value))
            broken(r, "P-COUNT", "an overflow");
        loose = range_gcd(loose, r->x->loose[r->op->var]);
    }
    r->x->var[r->op->var] = value;
    r->x->loose[r->op->var] = loose;
}

static Move at_slots(Run *r)
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

static Move operate(Run *r, const WsTree *t)
{
    r->op = t->op;
    r->leader = op_by_leader(t->op);
    r->need = know_of(r->i, r->leader);
    const Set did = set_of(1, (const guint[]){ holder(r->i, r->leader ? LEAD : DID) });
    if (!decided(r, t))
        return STUCK;
    switch (t->op->kind) {
    case WS_OP_MBAR_WAIT:
    case WS_OP_MBAR_ARRIVE:
    case WS_OP_MBAR_EXPECT:
    case WS_OP_TMA_LOAD:
        return at_slots(r);
    case WS_OP_BULK_COMMIT:
        close_group(r, WS_QUEUE_STORES);
        return MOVED;
    case WS_OP_BULK_WAIT:
        retire(r, WS_QUEUE_STORES);
        return MOVED;
    case WS_OP_TMA_STORE:
        if (!r->leader)
            refuse(r, "a store by lanes");
        touch_all(r, NULL, open_group(r, WS_QUEUE_STORES));
        return MOVED;
    case WS_OP_MMA:
        return product(r);
    case WS_OP_MMA_FENCE:
        r->x->touched = 0;
        return MOVED;
    case WS_OP_MMA_COMMIT:
        close_group(r, WS_QUEUE_MMA);
        return MOVED;
    case WS_OP_MMA_WAIT:
        retire(r, WS_QUEUE_MMA);
        return MOVED;
    case WS_OP_ST_SHARED:
    case WS_OP_STMATRIX:
    case WS_OP_LD_SHARED:
    case WS_OP_LDMATRIX:
        touch_values(r);
        touch_all(r, &did, NULL);
        return MOVED;
    case WS_OP_ST_GLOBAL:
    case WS_OP_RED_GLOBAL:
    case WS_OP_LD_GLOBAL:
        touch_values(r);
        return MOVED;
    case WS_OP_MATH:
        math(r);
        return MOVED;
    case WS_OP_BAR_SYNC:
    case WS_OP_BAR_ARRIVE:
        return named(r);
    case WS_OP_CLUSTER_ARRIVE:
    case WS_OP_CLUSTER_WAIT:
        return cluster(r);
    case WS_OP_WARP_SYNC:
        if (r->plan->p->agent[r->agent].warps == 1)
            meet_lanes(r);
        return MOVED;
    case WS_OP_FENCE_ASYNC:
        fence_proxy(r->plan, r->s, r->i, r->leader);
        return MOVED;
    case WS_OP_LET:
    case WS_OP_ADVANCE:
        assign(r);
        return MOVED;
    case WS_OP_FENCE_CLUSTER:
    case WS_OP_FENCE_GPU:
    case WS_OP_PREFETCH:
    case WS_OP_PREFETCH_MAP:
    case WS_OP_DEP_WAIT:
    case WS_OP_DEP_LAUNCH:
    case WS_OP_MARK:
    case WS_OP_SETMAXNREG:
        return MOVED;
    default:
        refuse(r, ws_op_kind_text(t->op->kind));
        return STUCK;
    }
}

/* --- control ---------------------------------------------------------------------------------- */
static void go(Run *r, const WsTree *t)
{
    if (!t)
        r->x->status = ENDED;
    r->x->place = t ? GPOINTER_TO_INT(g_hash_table_lookup(r->plan->agent[r->agent].number, t)) : 0;
}

/* Behind `t`: the next statement, the loop again, or the end. */
static void leave(Run *r, const WsTree *t)
{
    for (const WsTree *up = t->parent; up; t = up, up = up->parent) {
        if (up->kind == WS_TREE_LOOP) {
            if (up->total_var >= 0)
                r->x->var[up->total_var]++;
            go(r, up);
            return;
        }
        for (guint i = 0; up->kind == WS_TREE_SEQ && i + 1 < up->n_kids; i++)
            if (up->kid[i] == t) {
                go(r, up->kid[i + 1]);
                return;
            }
    }
    go(r, NULL);
}

static void note_times(Run *r, const WsExpr *e)
{
    guint symbol = e->op == WS_EXPR_INT ? 0 : plan_symbol(r->plan, e, FALSE);
    if (symbol)
        r->x->times[symbol]++;
    for (guint i = 0; !symbol && i < e->n_args; i++)
        note_times(r, e->arg[i]);
}

/* A count that names counters or totals is worked out on entry. */
static gboolean count_moves(const Plan *plan, const WsExpr *e)
{
    gboolean moves =
        e->op == WS_EXPR_VAR && e->var >= 0 &&
        (plan->p->var[e->var].kind == WS_VAR_TOTAL || plan->p->var[e->var].kind == WS_VAR_COUNTER ||
         plan->p->var[e->var].kind == WS_VAR_LET);
    for (guint i = 0; i < e->n_args; i++)
        moves |= count_moves(plan, e->arg[i]);
    return moves;
}

static Move enter(Run *r, const WsTree *t, LoopState *l)
{
    const gboolean tiles = t->over == WS_OVER_TILES;
    gint64 from = 0, step = 1, count = NO_LOW;
    if ((t->from && !value_number(r->plan, r->s, r->i, t->from, &from, NULL)) ||
        (t->step_by && !value_number(r->plan, r->s, r->i, t->step_by, &step, NULL)))
        return STUCK;
    if (tiles && (from < 0 || step < 1 || from > 1 << 20 || step > 1 << 20))
        refuse(r, "a loop over tiles of this form");
    if (!tiles && count_moves(r->plan, t->count) &&
        !value_number(r->plan, r->s, r->i, t->count, &count, NULL))
        return STUCK;
    *l = (LoopState){ TRUE, FALSE, 0, from, step, from, count };
    if (!tiles)
        note_times(r, t->count);
    return MOVED;
}

static int more_rounds(Run *r, const WsTree *t, const LoopState *l)
{
    if (l->count != NO_LOW)
        return l->rounds < l->count;
    if (t->over != WS_OVER_TILES)
        return value_more(r->plan, r->s, r->i, l->rounds, t->count);
    const gint64 next = l->from + l->step * l->rounds;
    if (r->plan->p->tiles.launch == WS_LAUNCH_SINGLE)
        return next < 1;
    const Fact f = instance_fact(r->plan, r->s, r->i, 0);
    return f.low > next ? 1 : f.high <= next ? 0 : -1;
}

static Move loop(Run *r, const WsTree *t, LoopState *l)
{
    if (!l->entered && enter(r, t, l) == STUCK)
        return STUCK;
    int more = more_rounds(r, t, l);
    if (more < 0)
        return STUCK;
    const gboolean tiles = t->over == WS_OVER_TILES;
    if (!more) {
        l->entered = l->running = FALSE;
        if (tiles && r->plan->p->tiles.launch != WS_LAUNCH_SINGLE)
            r->x->tile = TILE_AFTER;
        leave(r, t);
        return MOVED;
    }
    gint64 ahead;
    if (__builtin_mul_overflow(l->step, l->rounds, &ahead) ||
        __builtin_add_overflow(l->from, ahead, &l->index))
        broken(r, "P-COUNT", "an overflow");
    l->running = TRUE;
    l->rounds++;
    if (t->index_var >= 0)
        r->x->var[t->index_var] = l->index;
    if (tiles) {
        r->x->tile = l->index;
        memset(r->x->times, 0, r->plan->c->symbol->len * 8);
    }
    go(r, t->kid[0]);
    return MOVED;
}

/* Both sides from what is assigned before; afterwards what both assign, or either touches. */
static void private_part(Run *r, const WsTree *t)
{
    if (t->kind == WS_TREE_OP) {
        if (t->op->kind != WS_OP_LET)
            operate(r, t);
        return;
    }
    guint64 assigned = r->x->assigned, both = G_MAXUINT64;
    for (guint i = 0; i < MAX(t->n_kids, 2); i++) {
        const WsTree *kid = i < t->n_kids ? t->kid[i] : NULL;
        if (t->kind == WS_TREE_BRANCH)
            r->x->assigned = assigned;
        if (kid)
            private_part(r, kid);
        both &= r->x->assigned;
    }
    if (t->kind == WS_TREE_BRANCH)
        r->x->assigned = both;
}

static Move step(Run *r)
{
    const Place *at = &r->plan->agent[r->agent].place[r->x->place];
    const WsTree *t = at->tree;
    r->op = NULL;
    if (t->kind == WS_TREE_OP) {
        if (operate(r, t) == STUCK || r->plan->reason)
            return STUCK;
        leave(r, t);
        return MOVED;
    }
    if (t->kind == WS_TREE_LOOP)
        return loop(r, t, &r->x->loop[at->loop]);
    if (t->kind == WS_TREE_SEQ) {
        if (t->n_kids)
            go(r, t->kid[0]);
        else
            leave(r, t);
        return MOVED;
    }
    if (plan_private(r->plan, t)) {
        private_part(r, t);
        leave(r, t);
        return MOVED;
    }
    int cond = value_truth(r->plan, r->s, r->i, t->cond);
    if (cond < 0)
        return STUCK;
    const WsTree *kid = cond ? t->kid[0] : t->n_kids > 1 ? t->kid[1] : NULL;
    if (kid)
        go(r, kid);
    else
        leave(r, t);
    return MOVED;
}

static gboolean begin(Run *r)
{
    for (guint v = 0; v < r->plan->p->n_vars; v++) {
        const WsVar *var = &r->plan->p->var[v];
        if (var->kind == WS_VAR_COUNTER && var->agent == (gint)r->agent && var->value &&
            r->plan->relevant[v] &&
            !value_number(r->plan, r->s, r->i, var->value, &r->x->var[v], &r->x->loose[v]))
            return FALSE;
    }
    return TRUE;
}

gboolean state_run(Plan *plan, State *s)
{
    guint steps = 0;
    for (gboolean moved = TRUE; moved && !plan->reason;) {
        moved = FALSE;
        for (guint i = 0; i < plan->n_inst; i++) {
            Run r = { .plan = plan, .s = s, .i = i, .agent = i % plan->p->n_agents };
            r.cta = i / plan->p->n_agents;
            r.x = &s->inst[i];
            if (r.x->place == 0 && r.x->status == RUN) {
                if (!begin(&r))
                    continue;
                r.x->place = 1;
            }
            while (r.x->status != ENDED && !plan->reason && step(&r) == MOVED) {
                moved = TRUE;
                if (++steps > 1000000)
                    refuse(&r, "more than 1000000 operations between two questions");
            }
        }
    }
    return steps > 0;
}

gboolean state_ended(const Plan *plan, const State *s)
{
    for (guint i = 0; i < plan->n_inst; i++)
        if (s->inst[i].status != ENDED)
            return FALSE;
    return TRUE;
}

/* Somebody of the CTA knows it. */
static gboolean known_in(const Plan *plan, const State *s, guint cta, guint item)
{
    const guint64 *k = s->k + (gsize)item * plan->words;
    for (guint i = cta * plan->p->n_agents; i < (cta + 1) * plan->p->n_agents; i++)
        if (has_bit(k, holder(i, LEAD)) || has_bit(k, holder(i, LANES)))
            return TRUE;
    return FALSE;
}

void state_exit(Plan *plan, const State *s)
{
    for (guint i = 0; i < plan->n_inst; i++)
        for (guint q = 0; q < WS_QUEUES; q++)
            if (s->inst[i].queue[q]->len)
                plan_fail(plan, WS_VERIFY_REJECTED, "P-EXIT: a group in flight at the end");
    for (guint n = 0; n < plan->p->cluster * plan->n_slots; n++) {
        const guint cta = n / plan->n_slots;
        if (s->slot[n].tx != 0 || s->slot[n].expects)
            plan_fail(plan, WS_VERIFY_REJECTED, "P-TX: bytes expected at the end");
        if (!known_in(plan, s, cta, plan_item(plan, ITEM_TRANSFER, cta, n % plan->n_slots, 0)))
            plan_fail(plan, WS_VERIFY_REJECTED, "P-EXIT: a transfer that nobody waited for");
    }
    for (guint cta = 0; cta < plan->p->cluster; cta++)
        for (guint i = 0; i < 2 * plan->n_inst; i++)
            if (!known_in(plan, s, cta, plan_item(plan, ITEM_REMOTE, cta, i, 0)))
                plan_fail(plan, WS_VERIFY_REJECTED,
                          "P-CLUSTER: an arrival from a peer that may be gone");
}
