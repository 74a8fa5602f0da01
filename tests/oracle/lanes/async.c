/* What runs on after its step: transfers, products, stores, gathers. */
#include "lanes.h"

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
    Clocks by = clocks_new(L), join = clocks_new(L);
    clocks_copy(L, &by, &a->lane[0]);
    for (guint l = 0; l < a->n_lanes; l += step) {
        lanes_tick(a, l);
        for (guint k = 0; k < N_CLOCKS; k++)
            clock_meet(L, by.of[k], a->lane[l].of[k]);
        clock_join(L, join.of[ORDER], a->lane[l].of[ORDER]);
        clock_join(L, join.of[RETURNED], a->lane[l].of[RETURNED]);
    }
    if (step >= a->n_lanes) /* what it did itself before */
        clocks_copy(L, &by, &a->lane[0]);
    for (guint k = 0; k < n; k++) {
        Mbarrier *b = lanes_slot(L, a, op, rank[k]);
        Moment m = { (gint16)b->clock, (gint16)(b->phase + 1) };
        lanes_contributes(L, a, op, b, &by);
        clock_join(L, b->now.of[ORDER], join.of[ORDER]);
        clock_join(L, b->now.of[RETURNED], join.of[RETURNED]);
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
    clocks_free(&by);
    clocks_free(&join);
}

/* --- queues */

void lanes_product(Lab *L, Lanes *a, const WsOp *op)
{
    Clocks by = clocks_new(L);
    for (guint l = 0; l < a->n_lanes; l++)
        lanes_tick(a, l);
    clocks_copy(L, &by, &a->lane[0]);
    for (guint l = 0; l < a->n_lanes; l++)
        for (guint k = 0; k < N_CLOCKS; k++)
            clock_meet(L, by.of[k], a->lane[l].of[k]);
    Clock *issue = g_new0(Clock, L->width);
    for (guint l = 0; l < a->n_lanes; l++)
        clock_join(L, issue, a->lane[l].of[RETURNED]);
    g_ptr_array_add(a->issue, issue);
    Moment m = { (gint16)a->products, ++a->product_now };
    for (guint i = 0; i < op->n_access; i++)
        lanes_engine(L, a, op, &op->access[i], a->rank, &by, m);
    clocks_free(&by);
}

/* What is over is known to all lanes; a product needs the issue of all of them, behind their waits.
 */
void lanes_product_wait(Lab *L, Lanes *a, const WsOp *op)
{
    guint before = a->flight->len;
    lanes_values(L, a, op);
    if (a->products < 0)
        return;
    gint16 over = (gint16)(a->product_now - (gint16)a->flight->len);
    for (guint l = 0; l < a->n_lanes; l++) {
        for (guint k = 0; k < N_CLOCKS; k++)
            a->lane[l].of[k][a->products] = MAX(a->lane[l].of[k][a->products], over);
        if (over > 0 && a->flight->len < before)
            clock_join(L, a->lane[l].of[RETURNED], g_ptr_array_index(a->issue, over - 1));
    }
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

void lanes_store_wait(Lanes *a, const WsOp *op)
{
    gint16 over = retired(a->store_group, op->n);
    for (guint k = 0; a->reads >= 0 && k < N_CLOCKS; k++)
        a->lane[0].of[k][a->reads] = MAX(a->lane[0].of[k][a->reads], over);
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
            a->lane[l].of[k][a->rows + (gint)l] = MAX(a->lane[l].of[k][a->rows + (gint)l], over);
}

/* One arrival per lane, made when its copies are there. It tells of these alone. */
void lanes_rows_arrive(Lab *L, Lanes *a, const WsOp *op)
{
    Mbarrier *b = lanes_slot(L, a, op, a->rank);
    for (guint l = 0; l < a->n_lanes; l++) {
        Moment m = lanes_tick(a, l);
        gint n = 1;
        lanes_contributes(L, a, op, b, &a->lane[l]);
        clock_join(L, b->now.of[ORDER], a->lane[l].of[ORDER]);
        clock_join(L, b->now.of[RETURNED], a->lane[l].of[RETURNED]);
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
