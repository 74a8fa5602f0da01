/* What operations touch: shared memory, values, groups in flight. docs/soundness.md sections 2
 * to 4. */
#include "verify/step.h"
#include "verify/value.h"

#include <string.h>

void broken(Run *r, const char *rule, const char *what)
{
    plan_fail(r->plan, WS_VERIFY_REJECTED, "%s: %s (%s of CTA %u, %s)", rule, what,
              r->plan->p->agent[r->agent].name, r->cta, r->op ? r->op->id : "control");
}

void refuse(Run *r, const char *what)
{
    plan_fail(r->plan, WS_VERIFY_REFUSED, "%s (%s)", what, r->op ? r->op->id : "control");
}

/* --- meeting ---------------------------------------------------------------------------------- */
void meet_lanes(Run *r)
{
    const Set all = all_of(r->i);
    learn(r->plan, r->s, &all, &all, 2, (const guint[]){ holder(r->i, LEAD), holder(r->i, LANES) });
}

void release(Run *r, guint to)
{
    const Set all = r->leader ? r->need : all_of(r->i);
    learn(r->plan, r->s, &all, &all, 1, &to);
}

void acquire(Run *r, guint from)
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
void touch(Run *r, guint k, guint cta, const Set *by, Group *group, gboolean judge)
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
void touch_all(Run *r, const Set *by, Group *group)
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

void math(Run *r)
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

void touch_values(Run *r)
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
Group *open_group(Run *r, WsQueue q)
{
    if (!r->x->open[q])
        g_ptr_array_add(r->x->queue[q], group_new(r->plan, NULL));
    r->x->open[q] = TRUE;
    return r->x->queue[q]->pdata[r->x->queue[q]->len - 1];
}

/* Ages far beyond the longest wait are one. */
void close_group(Run *r, WsQueue q)
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

void retire(Run *r, WsQueue q)
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

Move product(Run *r)
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
