/* What operations touch: shared memory, values, groups in flight. docs/soundness.md sections 2
 * to 4. */
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
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

/* Each lane learns what the lanes of its warp did. */
Move meet_warps(Run *r)
{
    const guint did = holder(r->i, DID), warp = holder(r->i, WARP);
    const Set own = set_of(1, &did);
    if (!r->leader && r->plan->p->agent[r->agent].warps == 1)
        meet_lanes(r);
    else if (!r->leader)
        learn(r->plan, r->s, &own, &own, 1, &warp);
    return MOVED;
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
/* Through the asynchronous proxy; stores to a peer are none of it. */
gboolean is_async(const WsOp *op)
{
    return ws_op_row(op->kind)->proxy == WS_PROXY_ASYNC && op->kind != WS_OP_ST_REMOTE;
}

/* `places` says which lane touches what. */
static gboolean scattered(const WsOp *op)
{
    return op->places != 0;
}

/* Each byte is touched by one thread in both events, which knows what it did itself, or by threads
 * of one warp that has met since. */
static gboolean row_private(Run *r, guint item, const Author *me)
{
    const Author *other = &r->s->author[item];
    const WsOp *first = other->op ? r->plan->p->op[other->op - 1] : NULL;
    if (scattered(r->op) || (first && scattered(first)))
        return FALSE;
    if (r->leader || is_async(r->op) || !first || !me->op || first->agent != r->op->agent ||
        op_by_leader(first) || first->n_access != 1 || r->op->n_access != 1 ||
        first->access[0].buffer != r->op->access[0].buffer || is_async(first) ||
        first->kind == WS_OP_ST_REMOTE || r->op->kind == WS_OP_ST_REMOTE ||
        ws_op_peeks(first->kind) || ws_op_peeks(r->op->kind))
        return FALSE;
    const guint64 *k = r->s->k + (gsize)item * r->plan->words;
    if (!has_bit(k, holder(r->i, DID)))
        return FALSE;
    const WsLanesMeet meet = plan_lanes(r->plan, other, me);
    return meet == WS_LANES_SAME || (meet == WS_LANES_WARP && has_bit(k, holder(r->i, WARP)));
}

static void touch_cell(Run *r, guint cta, guint cell, gboolean write, const Author *me)
{
    Plan *plan = r->plan;
    const guint w = plan_item(plan, ITEM_WRITE, cta, cell, 0);
    if (!knows(plan, r->s, w, &r->need) && (cta != r->cta || !row_private(r, w, me)))
        broken(r, "P-RACE", "the last write is not known");
    if (is_async(r->op) && !fenced(plan, r->s, w, &r->need))
        broken(r, "P-PROXY", "the last write is not fenced");
    if (!write && !r->s->written[cta * plan->n_cells + cell])
        broken(r, "P-UNDEF", "bytes that nobody has written");
    const Reader *all = (const Reader *)(gconstpointer)plan->reader->data;
    const Reader *mine = write ? NULL : &all[plan_reader(plan, r->op, 0)];
    for (guint k = 0; k < plan->reader->len; k++) {
        const WsReduce theirs = all[k].combines;
        if (mine && theirs == mine->combines && all[k].elements == mine->elements)
            continue; /* reads among themselves, atomics that do the same */
        const guint item = plan_item(plan, ITEM_READ, cta, cell, k);
        if (!knows(plan, r->s, item, &r->need) && (cta != r->cta || !row_private(r, item, me)))
            broken(r, "P-RACE", "a read is not known");
        if (is_async(r->op) && (theirs || (plan->c->policy & 1)) &&
            !fenced(plan, r->s, item, &r->need))
            broken(r, "P-PROXY", "a read is not fenced");
    }
}

/* What a read leaves of its class: the last one, if it came after the one before or ends after it.
 * The same copy does neither. */
static void note_read(Run *r, guint item, const Set *by, const Author *me)
{
    Author *last = &r->s->author[item];
    const gboolean known = knows(r->plan, r->s, item, &r->need);
    const gboolean other = last->op != me->op || last->row0 != me->row0 || last->col0 != me->col0;
    Set both = by ? *by : (Set){ 0 };
    for (guint w = 0; r->op->kind == WS_OP_BULK_COPY && !known && w < r->plan->words; w++)
        both.bit[w] &= r->s->k[(gsize)item * r->plan->words + w];
    happen(r->plan, r->s, item, &both, !is_async(r->op));
    *last = other && !known ? (Author){ 0 } : *me;
}

static void note_write(Run *r, guint cta, guint cell, const Set *by, const Author *me)
{
    static const Set everybody = { { G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64,
                                     G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64 } };
    const guint item = plan_item(r->plan, ITEM_WRITE, cta, cell, 0);
    const gboolean gather = r->op->kind == WS_OP_CP_ROWS;
    happen(r->plan, r->s, item, by, gather ? (r->plan->c->policy & 2) != 0 : !is_async(r->op));
    r->s->author[item] = *me;
    r->s->written[cta * r->plan->n_cells + cell] = 1;
    for (guint q = 0; q < r->plan->reader->len; q++)
        happen(r->plan, r->s, plan_item(r->plan, ITEM_READ, cta, cell, q), &everybody, FALSE);
}

/* The slot of a claim holds the tile of its round: who takes it must be in that round. */
static void take_tile(Run *r, guint cell)
{
    const Author *a = &r->s->author[plan_item(r->plan, ITEM_WRITE, r->cta, cell, 0)];
    if (!a->op || r->plan->p->op[a->op - 1]->kind != WS_OP_CLAIM || a->tile != r->x->tile)
        broken(r, "P-TILE", "takes a tile that was not claimed in its round");
}

/* A slot of a pipe says what the loop over it takes it for. */
static void ask_slot(Run *r, guint cell)
{
    const Author *a = &r->s->author[plan_item(r->plan, ITEM_WRITE, r->cta, cell, 0)];
    const WsOp *by = a->op ? r->plan->p->op[a->op - 1] : NULL;
    if (!by || !ws_op_tells(by->kind) || by->n != r->op->n)
        broken(r, "P-CLOSE", "a slot of a pipe that says something else");
}

void touch(Run *r, guint k, guint cta, guint to, const Set *by, guint16 flight)
{
    const WsAccess *a = &r->op->access[k];
    View v = { a->buffer, a->rows, a->cols, 0, 0 };
    gint64 element, stage, use = 0;
    if (a->use && r->plan->p->buffer[a->buffer].stages > 1 &&
        !value_least(r->plan, r->s, r->i, a->use, &use))
        return;
    if (use < 0)
        broken(r, "P-UNDEF", "a use that may be below 0");
    if (!value_number(r->plan, r->s, r->i, a->element, &element, NULL) ||
        !value_number(r->plan, r->s, r->i, a->stage, &stage, NULL) ||
        !value_number(r->plan, r->s, r->i, a->row0, &v.row0, NULL))
        return;
    const gboolean rows = plan_whole_rows(r->plan, r->op, k);
    if (rows)
        v.cols = r->plan->p->buffer[a->buffer].cols;
    else if (!value_number(r->plan, r->s, r->i, a->col0, &v.col0, NULL))
        return;
    const Author me = { rows ? 0 : r->op->index + 1, v.row0, v.col0,
                        r->op->kind == WS_OP_CLAIM ? r->x->tile : 0 };
    const GArray *cells = plan_cells(r->plan, &v, element, stage);
    const gboolean write = (a->mode & WS_MODE_WRITE) && !ws_op_is_atomic(r->op->kind);
    const guint reader = write ? 0 : (guint)plan_reader(r->plan, r->op, to);
    for (guint n = 0; cells && n < cells->len && !r->plan->reason; n++)
        touch_cell(r, cta, g_array_index(cells, guint, n), write, &me);
    for (guint n = 0; cells && n < cells->len && !r->plan->reason; n++) {
        const guint cell = g_array_index(cells, guint, n);
        if (r->op->kind == WS_OP_TAKE)
            take_tile(r, cell);
        if (ws_op_asks(r->op->kind))
            ask_slot(r, cell);
        const guint item = plan_item(r->plan, write ? ITEM_WRITE : ITEM_READ, cta, cell, reader);
        if (write)
            note_write(r, cta, cell, by, &me);
        else
            note_read(r, item, by, &me);
        r->s->flight[item] = flight;
    }
}

/* All accesses of an operation by itself, reads first: what it writes of what it reads is a race.
 */
void touch_all(Run *r, const Set *by, guint16 flight)
{
    for (guint k = 0; k < 2 * r->op->n_access; k++) {
        const guint n = k % r->op->n_access;
        const gboolean write = (r->op->access[n].mode & WS_MODE_WRITE) != 0;
        if (write && (r->op->access[n].mode & WS_MODE_READ) && !ws_op_is_atomic(r->op->kind))
            refuse(r, "an access that reads and writes");
        if (write == (k >= r->op->n_access))
            touch(r, n, r->cta, 0, by, flight);
    }
}

/* --- values ----------------------------------------------------------------------------------- */
static void touch_value(Run *r, guint64 cells, gboolean write)
{
    const Queue *products = &r->x->queue[WS_QUEUE_MMA];
    for (guint g = 0; g < products->n; g++) {
        const Group *group = &products->group[g];
        if ((group->acc | group->operand) & cells)
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

Move math(Run *r)
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
    return MOVED;
}

Move touch_values(Run *r)
{
    for (guint k = 0; k < r->op->n_value; k++) {
        const guint64 cells = cells_of_use(r, &r->op->value[k]);
        if (r->op->value[k].mode & WS_MODE_READ)
            touch_value(r, cells, FALSE);
        if (r->op->value[k].mode & WS_MODE_WRITE)
            touch_value(r, cells, TRUE);
    }
    return MOVED;
}

/* --- groups ----------------------------------------------------------------------------------- */
guint16 open_group(Run *r, WsQueue q)
{
    Queue *queue = &r->x->queue[q];
    if (!queue->open)
        queue->group[queue->n++] = (Group){ 0 };
    queue->open = TRUE;
    return (guint16)(queue->n + MAX_GROUPS * (q + WS_QUEUES * r->i));
}

void end_groups(Run *r, WsQueue q, guint n, const Set *to)
{
    Queue *queue = &r->x->queue[q];
    const guint first = 1 + MAX_GROUPS * (q + WS_QUEUES * r->i), end = first + queue->n;
    for (guint item = 0; item < r->plan->n_items; item++) {
        guint16 *flight = &r->s->flight[item];
        if (*flight < first || *flight >= end)
            continue;
        if (*flight < first + n)
            make_known(r->plan, r->s, item, to);
        *flight = *flight < first + n ? 0 : (guint16)(*flight - n);
    }
    queue->n -= n;
    memmove(queue->group, queue->group + n, queue->n * sizeof(Group));
}

/* What stands for the products of a group that are of several shapes. */
static const WsOp several;

gboolean same_product(const WsOp *a, const WsOp *b)
{
    if (a == &several || b == &several)
        return !a || !b || a == b;
    return !a || !b ||
           (a->mma->m == b->mma->m && a->mma->n == b->mma->n &&
            a->mma->acc_type == b->mma->acc_type);
}

/* Ages beyond the longest wait are one. */
Move commit(Run *r)
{
    const WsQueue q = (WsQueue)ws_op_queue(r->op->kind);
    Queue *queue = &r->x->queue[q];
    open_group(r, q); /* an empty group counts */
    queue->open = FALSE;
    if (queue->n <= r->plan->agent[r->agent].longest[q] + 1)
        return MOVED;
    const Group old = queue->group[0];
    Group *next = &queue->group[1];
    const WsOp *either = next->shape ? next->shape : old.shape;
    next->shape = same_product(next->shape, old.shape) ? either : &several;
    next->acc |= old.acc;
    next->operand |= old.operand;
    const guint16 first = (guint16)(1 + MAX_GROUPS * (q + WS_QUEUES * r->i));
    for (guint item = 0; item < r->plan->n_items; item++)
        r->s->flight[item] += r->s->flight[item] == first; /* then all move up */
    end_groups(r, q, 1, NULL);
    return MOVED;
}

Move retire(Run *r)
{
    const WsQueue q = (WsQueue)ws_op_queue(r->op->kind);
    const Queue *queue = &r->x->queue[q];
    const guint own = holder(r->i, DID), closed = queue->n - queue->open;
    const Set to = q == WS_QUEUE_ROWS ? set_of(1, &own) : know_of(r->i, q == WS_QUEUE_STORES);
    if (queue->open && q == WS_QUEUE_MMA)
        broken(r, "P-ASYNC", "a group that was not closed");
    if (closed > r->op->n)
        end_groups(r, q, closed - (guint)r->op->n, &to);
    return MOVED;
}

Move product(Run *r)
{
    int first = r->op->mma->first ? value_truth(r->plan, r->s, r->i, r->op->mma->first) : 0;
    if (first < 0)
        return STUCK;
    const guint64 acc = cells_of_use(r, &r->op->value[0]);
    const guint64 a = r->op->n_value > 1 ? cells_of_use(r, &r->op->value[1]) : 0;
    if (r->leader)
        refuse(r, "a product of the leader");
    if ((acc | a) & r->x->touched)
        broken(r, "P-FENCE", "no mma_fence since registers were touched");
    if ((a & ~r->x->assigned) || (!first && (acc & ~r->x->assigned)) || (a & acc))
        broken(r, "P-UNDEF", "an operand that was not assigned");
    const Queue *queue = &r->x->queue[WS_QUEUE_MMA];
    for (guint g = 0; g < queue->n; g++) {
        const Group *other = &queue->group[g];
        if ((other->acc & acc) && other->shape == &several)
            refuse(r, "a product onto several that are in flight, of several shapes");
        if ((other->acc & a) || (other->operand & acc) ||
            ((other->acc & acc) && !same_product(r->op, other->shape)))
            broken(r, "P-ASYNC", "registers of another product in flight");
    }
    const guint16 flight = open_group(r, WS_QUEUE_MMA);
    Group *group = &r->x->queue[WS_QUEUE_MMA].group[queue->n - 1];
    if (group->shape &&
        (group->shape->mma->n != r->op->mma->n || group->shape->mma->m != r->op->mma->m))
        refuse(r, "products of several shapes in a group");
    touch_all(r, NULL, flight);
    for (guint slot = 0; slot < r->plan->n_slots; slot++) {
        const guint item = plan_item(r->plan, ITEM_RETURN, r->cta, slot, r->agent);
        if (has_bit(r->s->k + (gsize)item * r->plan->words, holder(r->i, BACK)) &&
            !r->s->flight[item])
            r->s->flight[item] = flight;
    }
    group->shape = r->op;
    group->acc |= acc;
    group->operand |= a;
    r->x->assigned |= acc;
    return MOVED;
}
