/* mbarriers, named barriers, the barrier of the cluster, fences. */
#include "lanes.h"

#include <string.h>

/* --- mbarriers */

static gboolean knows(const Clock *c, const GArray *moments)
{
    for (guint i = 0; i < moments->len; i++) {
        const Moment *m = &g_array_index(moments, Moment, i);
        if (c[m->who] < m->when)
            return FALSE;
    }
    return TRUE;
}

gboolean lanes_knows_all(const Clocks *c, const GArray *moments)
{
    return knows(c->of[ORDER], moments);
}

/* Where nobody waits, nobody looks which phase it is. */
static void other_phase(Lab *L, const Lanes *a, const WsOp *op, const gboolean *waits)
{
    if (!L->looked)
        lanes_look_for_waits(L);
    lanes_problem(L, *waits ? ORACLE_PHASE : ORACLE_UNSEEN, a, op, NULL);
}

/* A contribution by one that knows `by`: it must mean this phase, and know that the one before is
 * complete, or in another run it could hit that one. */
void lanes_contributes(Lab *L, const Lanes *a, const WsOp *op, Mbarrier *b, const Clocks *by)
{
    if ((op->turn && lanes_value(L, a, op->turn) != b->phase) ||
        (b->phase > 0 && !lanes_knows_all(by, b->last)))
        other_phase(L, a, op, &b->waits);
}

void lanes_complete(Lab *L, const Lanes *a, const WsOp *op, Mbarrier *b)
{
    if (b->pending != 0 || b->tx != 0)
        return;
    /* who waits for the completion before must have returned, or it is lapped */
    if (!knows(b->now.of[RETURNED], b->waited))
        lanes_problem(L, ORACLE_LAPPED, a, op, NULL);
    if (!lanes_knows_all(&b->now, b->expects)) /* it could complete without them */
        lanes_problem(L, ORACLE_BYTES, a, op, NULL);
    b->phase++;
    b->pending = b->count;
    clocks_copy(L, &b->before, &b->now);
    clocks_clear(L, &b->now);
    GArray *swap = b->older;
    b->older = b->last;
    b->last = b->part;
    b->part = swap;
    g_array_set_size(b->part, 0);
    g_array_set_size(b->waited, 0);
    g_array_set_size(b->expects, 0);
    for (guint k = 0; k < N_CLOCKS; k++) /* the transfers of the phase have landed */
        if (k != PROXY)
            b->before.of[k][b->clock] = (Clock)b->phase;
}

static void arrive(Lab *L, Lanes *a, const WsOp *op, Mbarrier *b, guint lane, gint64 n,
                   gint64 bytes)
{
    lanes_contributes(L, a, op, b, &a->lane[lane]);
    Moment m = { (gint16)(a->first + lane), a->now[lane] };
    if (n > 0)
        clocks_join(L, &b->now, &a->lane[lane]);
    g_array_append_vals(n > 0 ? b->part : b->expects, &m, 1);
    lanes_reached(L, (guint)(b - L->slot) / L->slots_per_rank, a, m, op);
    b->tx += bytes;
    if (b->tx > (1 << 20) - 1)
        lanes_problem(L, ORACLE_BYTES, a, op, NULL);
    if (n == 0)
        return;
    if (b->pending < n) {
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
        n = b->pending;
    }
    b->pending -= n;
    lanes_complete(L, a, op, b);
}

void lanes_arrivals(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = lanes_targets(L, a, &op->ctas, rank);
    guint step = op->per == 0 ? a->n_lanes : (guint)op->per, lanes = 0;
    for (guint l = 0; l < a->n_lanes; l += step)
        lanes++;
    for (guint k = 0; k < n; k++) { /* one CTA after the other: who sees one has not seen all */
        Mbarrier *b = lanes_slot(L, a, op, rank[k]);
        for (guint l = 0; l < a->n_lanes; l += step)
            lanes_tick(a, l);
        for (guint l = 0; l < a->n_lanes; l += step)
            arrive(L, a, op, b, l, op->count / lanes, 0);
    }
}

void lanes_expects(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = lanes_targets(L, a, &op->ctas, rank);
    for (guint k = 0; k < n; k++) {
        lanes_tick(a, 0);
        arrive(L, a, op, lanes_slot(L, a, op, rank[k]), 0, op->count, op->bytes);
    }
}

gboolean lanes_wait_passes(Lab *L, Lanes *a, const WsOp *op)
{
    Mbarrier *b = lanes_slot(L, a, op, a->rank);
    if (b->phase % 2 == lanes_value(L, a, op->parity) % 2)
        return FALSE;
    gint64 turn = op->turn ? lanes_value(L, a, op->turn) : b->phase - 1;
    if (turn != b->phase - 1)
        lanes_problem(L, ORACLE_PHASE, a, op, NULL);
    guint step = lanes_step(a, op);
    for (guint l = 0; l < a->n_lanes; l += step) {
        if (turn > 0 &&
            !lanes_knows_all(&a->lane[l], b->older)) /* it could pass two completions early */
            lanes_problem(L, ORACLE_PHASE, a, op, NULL);
        clocks_join(L, &a->lane[l], &b->before);
        Moment m = lanes_tick(a, l);
        g_array_append_val(b->waited, m);
    }
    return TRUE;
}

/* --- named barriers, cluster */

Named *lanes_named(Lab *L, const Lanes *a, const WsOp *op)
{
    if (op->kind == WS_OP_CLUSTER_ARRIVE || op->kind == WS_OP_CLUSTER_WAIT)
        return &L->named[L->n_named - 1];
    guint id = 0;
    if (op->barrier >= 0) {
        gint64 e = lanes_value(L, a, op->element);
        if (e < 0 || e >= L->p->barrier[op->barrier].array) {
            lanes_outside(L, "an element out of range");
            e = 0;
        }
        id = (guint)L->p->barrier[op->barrier].hw_id[e];
    }
    return &L->named[a->rank * 16 + id];
}

void lanes_join(Lab *L, Lanes *a, const WsOp *op, Named *b, guint threads)
{
    if (b->arrived == 0)
        b->count = op->kind == WS_OP_CLUSTER_ARRIVE ? b->count : (guint)op->count;
    else if (op->kind != WS_OP_CLUSTER_ARRIVE && b->count != (guint)op->count)
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
    for (guint l = 0; l < a->n_lanes; l++) {
        Moment m = lanes_tick(a, l);
        if (b->generation > 0 && !lanes_knows_all(&a->lane[l], b->last))
            other_phase(L, a, op, &b->waits);
        clocks_join(L, &b->now, &a->lane[l]);
        g_array_append_val(b->part, m);
    }
    b->arrived += threads;
    if (b->arrived > b->count)
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
    if (b->arrived < b->count)
        return;
    b->arrived = 0;
    b->generation++;
    clocks_copy(L, &b->before, &b->now);
    clocks_clear(L, &b->now);
    GArray *swap = b->last;
    b->last = b->part;
    b->part = swap;
    g_array_set_size(b->part, 0);
}

static void leave(Lab *L, Lanes *a, const Named *b)
{
    for (guint l = 0; l < a->n_lanes; l++)
        clocks_join(L, &a->lane[l], &b->before);
}

gboolean lanes_sync_passes(Lab *L, Lanes *a, const WsOp *op)
{
    Named *b = lanes_named(L, a, op);
    if (!a->joined) {
        a->named_generation = b->generation;
        lanes_join(L, a, op, b, L->p->agent[a->agent].threads);
        a->joined = TRUE;
    }
    if (b->generation == a->named_generation)
        return FALSE;
    a->joined = FALSE;
    leave(L, a, b);
    return TRUE;
}

gboolean lanes_cluster_passes(Lab *L, Lanes *a, const WsOp *op)
{
    Named *b = lanes_named(L, a, op);
    if (!a->clustered)
        lanes_problem(L, ORACLE_HANG, a, op, NULL);
    if (b->generation == a->cluster_generation)
        return FALSE;
    a->clustered = FALSE;
    leave(L, a, b);
    return TRUE;
}

void lanes_warp_sync(Lab *L, Lanes *a)
{
    Clocks all = clocks_new(L);
    for (guint w = 0; w < a->n_lanes; w += 32) {
        clocks_clear(L, &all);
        for (guint l = w; l < MIN(w + 32, a->n_lanes); l++) {
            lanes_tick(a, l);
            clocks_join(L, &all, &a->lane[l]);
        }
        for (guint l = w; l < MIN(w + 32, a->n_lanes); l++)
            clocks_join(L, &a->lane[l], &all);
    }
    clocks_free(&all);
}

void lanes_fence_async(Lab *L, Lanes *a, const WsOp *op)
{
    guint step = lanes_step(a, op);
    for (guint l = 0; l < a->n_lanes; l += step)
        memcpy(a->lane[l].of[PROXY], a->lane[l].of[DATA], sizeof(Clock) * L->width);
}
