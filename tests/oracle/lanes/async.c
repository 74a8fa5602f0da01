/* What runs on after its step: transfers, products, stores, gathers. */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"

/* --- transfers */

static void land(Lab *L, Lanes *a, const WsOp *op, Mbarrier *b, gint64 bytes)
{
    b->tx -= bytes;
    lanes_complete(L, a, op, b);
}

/* Issued by the leader, or by all lanes (a remote write): the lane that knows least counts. */
void lanes_transfer(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = lanes_targets(L, a, &op->ctas, rank), step = lanes_step(a, op);
    const gint64 turn = lanes_turn(L, a, op);
    const gboolean alone = step >= a->n_lanes; /* then what it did itself before counts */
    for (guint l = alone ? 0 : step; l < a->n_lanes; l += step)
        lanes_tick(a, l);
    Lane common = lanes_common(L, a, step);
    const Lane by = alone ? a->lane[0] : common;
    if (!alone)
        lanes_tick(a, 0);
    for (guint k = 0; k < n; k++) {
        Mbarrier *b = lanes_slot(L, a, op, rank[k]);
        Moment m = { (gint16)b->clock, (gint16)(b->phase + 1) };
        lanes_contributes(L, a, op, turn, b, &by);
        lanes_any(L, a, step, ORDER, b->now.of[ORDER]);
        lanes_any(L, a, step, RETURNED, b->now.of[RETURNED]);
        g_array_append_val(b->part, m);
        lanes_reached(L, rank[k], a, m, op);
        for (guint i = 0; i < op->n_access; i++) {
            gboolean write = (op->access[i].mode & WS_MODE_WRITE) != 0;
            lanes_engine(L, a, op, &op->access[i], write ? rank[k] : a->rank, &by, m);
            if (!write && rank[k] != a->rank) { /* the source must live as long */
                Remote r = { a->rank, m, op, a->inst };
                g_array_append_val(L->remote, r);
            }
        }
        Remote own = { rank[k], m, op, a->inst };
        g_array_append_val(L->in_flight, own);
    }
    for (guint k = 0; k < n; k++)
        land(L, a, op, lanes_slot(L, a, op, rank[k]), op->bytes);
    lanes_common_free(L, &common);
}

/* --- queues */

void lanes_product(Lab *L, Lanes *a, const WsOp *op)
{
    for (guint l = 0; l < a->n_lanes; l++)
        lanes_tick(a, l);
    Lane by = lanes_common(L, a, 1);
    Clock *issue = lanes_alloc(L, sizeof(Clock) * L->width);
    lanes_any(L, a, 1, RETURNED, issue);
    g_ptr_array_add(a->issue, issue);
    Moment m = { (gint16)a->products, ++a->product_now };
    for (guint i = 0; i < op->n_access; i++)
        lanes_engine(L, a, op, &op->access[i], a->rank, &by, m);
    lanes_common_free(L, &by);
}

typedef struct {
    gint queue;
    gint16 over;
    const Clock *returned; /* NULL: nothing of it */
} Over;

static void is_over(const Lab *L, Clocks *c, gconstpointer data)
{
    const Over *o = data;
    for (guint k = 0; k < N_CLOCKS; k++)
        c->of[k][o->queue] = MAX(c->of[k][o->queue], o->over);
    if (o->returned)
        clock_join(L, c->of[RETURNED], o->returned);
}

/* What is over is known to all lanes; a product needs the issue of all of them, behind their waits.
 */
void lanes_product_wait(Lab *L, Lanes *a, const WsOp *op)
{
    guint before = a->flight->len;
    lanes_values(L, a, op);
    if (a->products < 0)
        return;
    Over o = { a->products, (gint16)(a->product_now - (gint16)a->flight->len), NULL };
    if (o.over > 0 && a->flight->len < before)
        o.returned = g_ptr_array_index(a->issue, o.over - 1);
    lanes_change(L, a, 0, a->n_lanes, 1, is_over, &o);
}

void lanes_store(Lab *L, Lanes *a, const WsOp *op)
{
    lanes_tick(a, 0);
    Moment m = { (gint16)a->reads, ++a->read_now };
    a->stores_open = a->read_now;
    for (guint i = 0; i < op->n_access; i++)
        lanes_engine(L, a, op, &op->access[i], a->rank, &a->lane[0], m);
}

static gint16 retired(GArray *groups, gint64 newest)
{
    gint64 last = (gint64)groups->len - newest - 1;
    return last >= 0 ? g_array_index(groups, gint16, last) : 0;
}

void lanes_store_wait(Lab *L, Lanes *a, const WsOp *op)
{
    Over o = { a->reads, retired(a->store_group, op->n), NULL };
    if (a->reads >= 0)
        lanes_change(L, a, 0, 1, 1, is_over, &o);
}

void lanes_rows(Lab *L, Lanes *a, const WsOp *op)
{
    for (guint l = 0; l < a->n_lanes; l++) {
        lanes_tick(a, l);
        a->row_now[l]++;
    }
    lanes_gather(L, a, op);
}

void lanes_rows_wait(Lanes *a, const WsOp *op)
{
    gint16 over = retired(a->row_group, op->n);
    for (guint l = 0; a->rows >= 0 && l < a->n_lanes; l++)
        for (guint k = 0; k < N_CLOCKS; k++)
            a->lane[l].own[1][k] = MAX(a->lane[l].own[1][k], over);
}

/* One arrival per lane, made by no lane: when all copies that it has issued so far are there (PTX
 * ISA, cp.async.mbarrier.arrive). It tells of these alone, and only its completion tells of it. */
void lanes_rows_arrive(Lab *L, Lanes *a, const WsOp *op)
{
    Mbarrier *b = lanes_slot(L, a, op, a->rank);
    const gint64 turn = lanes_turn(L, a, op);
    b->rows_for = b->phase;
    b->rows_op = op;
    b->rows_by = a;
    for (guint l = 0; l < a->n_lanes; l++) {
        Moment m = lanes_tick(a, l);
        gint n = 1;
        lanes_contributes(L, a, op, turn, b, &a->lane[l]);
        lane_joins(L, &a->lane[l], ORDER, b->now.of[ORDER]);
        lane_joins(L, &a->lane[l], RETURNED, b->now.of[RETURNED]);
        for (guint k = 0; k < N_CLOCKS; k++)
            b->now.of[k][a->rows + (gint)l] = a->row_now[l];
        g_array_append_val(b->part, m);
        if (b->pending < n) {
            lanes_problem(L, ORACLE_COUNT, a, op, NULL);
            n = (gint)b->pending;
        }
        b->pending -= n;
        lanes_complete(L, a, op, b);
    }
}
