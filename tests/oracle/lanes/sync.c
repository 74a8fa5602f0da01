/* mbarriers, named barriers, the barrier of the cluster, fences. */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* --- mbarriers */

static gboolean known(const Clock *c, const GArray *moments)
{
    for (guint i = 0; i < moments->len; i++) {
        const Moment *m = &g_array_index(moments, Moment, i);
        if (c[m->who] < m->when)
            return FALSE;
    }
    return TRUE;
}

/* Where nobody waits, nobody looks which phase it is. */
static void other_phase(Lab *L, const Lanes *a, const WsOp *op, const gboolean *waits)
{
    if (!L->looked)
        lanes_look_for_waits(L);
    lanes_problem(L, *waits ? ORACLE_PHASE : ORACLE_UNSEEN, a, op, NULL);
}

gint64 lanes_turn(Lab *L, const Lanes *a, const WsOp *op)
{
    return op->turn ? lanes_value(L, a, op->turn) : -1;
}

/* A contribution by one that knows `by`: it must mean this phase, and know that the one before is
 * complete, or in another run it could hit that one. */
void lanes_contributes(Lab *L, const Lanes *a, const WsOp *op, gint64 turn, Mbarrier *b,
                       const Lane *by)
{
    if ((op->turn && turn != b->phase) ||
        (b->phase > 0 && !lane_knows_all(by, b->last, &b->knew_last)))
        other_phase(L, a, op, &b->waits);
}

void lanes_complete(Lab *L, const Lanes *a, const WsOp *op, Mbarrier *b)
{
    if (b->pending != 0 || b->tx != 0)
        return;
    /* who waits for the completion before must have returned, or it is lapped */
    if (!known(b->now.of[RETURNED], b->waited))
        lanes_problem(L, ORACLE_LAPPED, a, op, NULL);
    if (!known(b->now.of[ORDER], b->expects)) /* it could complete without them */
        lanes_problem(L, ORACLE_BYTES, a, op, NULL);
    b->phase++;
    b->pending = b->count;
    clocks_copy(L, &b->before, &b->now);
    clocks_clear(L, &b->now);
    b->joined = b->knew_last = 0;
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

static void arrive(Lab *L, Lanes *a, const WsOp *op, gint64 turn, Mbarrier *b, guint lane, gint64 n,
                   gint64 bytes)
{
    lanes_contributes(L, a, op, turn, b, &a->lane[lane]);
    Moment m = { (gint16)(a->first + lane), a->now[lane] };
    if (n > 0)
        lane_joins_all(L, &a->lane[lane], &b->now, &b->joined);
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
    const gint64 turn = lanes_turn(L, a, op);
    for (guint l = 0; l < a->n_lanes; l += step)
        lanes++;
    for (guint k = 0; k < n; k++) { /* one CTA after the other: who sees one has not seen all */
        Mbarrier *b = lanes_slot(L, a, op, rank[k]);
        for (guint l = 0; l < a->n_lanes; l += step)
            lanes_tick(a, l);
        for (guint l = 0; l < a->n_lanes; l += step)
            arrive(L, a, op, turn, b, l, op->count / lanes, 0);
    }
}

void lanes_expects(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = lanes_targets(L, a, &op->ctas, rank);
    const gint64 turn = lanes_turn(L, a, op);
    for (guint k = 0; k < n; k++) {
        lanes_tick(a, 0);
        arrive(L, a, op, turn, lanes_slot(L, a, op, rank[k]), 0, op->count, op->bytes);
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
    guint64 knew = 0;
    for (guint l = 0; l < a->n_lanes; l += step)
        if (turn > 0 &&
            !lane_knows_all(&a->lane[l], b->older, &knew)) /* could pass two completions early */
            lanes_problem(L, ORACLE_PHASE, a, op, NULL);
    b->returned = MAX(b->returned, b->phase - 1);
    lanes_learn(L, a, 0, a->n_lanes, step, &b->before);
    for (guint l = 0; l < a->n_lanes; l += step) {
        Moment m = lanes_tick(a, l);
        g_array_append_val(b->waited, m);
    }
    return TRUE;
}

/* --- named barriers, cluster */

static Named *meet(Lab *L, guint number)
{
    Named *b = &L->named[number];
    if (b->met)
        return b;
    b->met = TRUE;
    b->now = clocks_new(L);
    b->before = clocks_new(L);
    b->part = g_array_new(FALSE, FALSE, sizeof(Moment));
    b->last = g_array_new(FALSE, FALSE, sizeof(Moment));
    return b;
}

Named *lanes_named(Lab *L, const Lanes *a, const WsOp *op)
{
    if (op->kind == WS_OP_CLUSTER_ARRIVE || op->kind == WS_OP_CLUSTER_WAIT)
        return meet(L, L->n_named - 1);
    guint id = 0;
    if (op->barrier >= 0) {
        gint64 e = lanes_value(L, a, op->element);
        if (e < 0 || e >= L->p->barrier[op->barrier].array) {
            lanes_outside(L, "an element out of range");
            e = 0;
        }
        id = (guint)L->p->barrier[op->barrier].hw_id[e];
    }
    return meet(L, a->rank * 16 + id);
}

static void complete(Lab *L, Named *b)
{
    b->arrived = 0;
    b->generation++;
    clocks_copy(L, &b->before, &b->now);
    clocks_clear(L, &b->now);
    b->joined = b->knew_last = 0;
    GArray *swap = b->last;
    b->last = b->part;
    b->part = swap;
    g_array_set_size(b->part, 0);
}

/* The barrier of the cluster waits for no threads that have ended (PTX 9.7.13.3). */
void lanes_cluster_ended(Lab *L)
{
    Named *b = meet(L, L->n_named - 1);
    if (b->arrived == 0)
        return;
    for (guint i = 0; i < L->n_insts; i++) {
        const Lanes *a = &L->inst[i];
        if (!a->done && !(a->clustered && a->cluster_generation == b->generation))
            return;
    }
    complete(L, b);
}

void lanes_join(Lab *L, Lanes *a, const WsOp *op, Named *b, guint threads)
{
    if (b->arrived == 0)
        b->count = op->kind == WS_OP_CLUSTER_ARRIVE ? b->count : (guint)op->count;
    else if (op->kind != WS_OP_CLUSTER_ARRIVE && b->count != (guint)op->count)
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
    for (guint l = 0; l < a->n_lanes; l++) {
        Moment m = lanes_tick(a, l);
        if (b->generation > 0 && !lane_knows_all(&a->lane[l], b->last, &b->knew_last))
            other_phase(L, a, op, &b->waits);
        lane_joins_all(L, &a->lane[l], &b->now, &b->joined);
        g_array_append_val(b->part, m);
    }
    b->arrived += threads;
    if (b->arrived > b->count)
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
    if (b->arrived >= b->count)
        complete(L, b);
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
    lanes_learn(L, a, 0, a->n_lanes, 1, &b->before);
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
    lanes_learn(L, a, 0, a->n_lanes, 1, &b->before);
    return TRUE;
}

void lanes_warp_sync(Lab *L, Lanes *a)
{
    Lane any = lanes_common(L, a, a->n_lanes); /* for its room */
    for (guint w = 0; w < a->n_lanes; w += 32) {
        const guint end = MIN(w + 32, a->n_lanes);
        guint64 joined = 0;
        clocks_clear(L, &any.base->c);
        for (guint l = w; l < end; l++) {
            lanes_tick(a, l);
            lane_joins_all(L, &a->lane[l], &any.base->c, &joined);
        }
        lanes_learn(L, a, w, end, 1, &any.base->c);
    }
    lanes_common_free(L, &any);
}

static void see(const Lab *L, Clocks *c, gconstpointer data)
{
    memcpy(c->of[PROXY], c->of[DATA], sizeof(Clock) * L->width);
}

void lanes_fence_async(Lab *L, Lanes *a, const WsOp *op)
{
    guint step = lanes_step(a, op);
    lanes_change(L, a, 0, a->n_lanes, step, see, NULL);
    for (guint l = 0; l < a->n_lanes; l += step)
        for (guint i = 0; i < 2; i++)
            a->lane[l].own[i][PROXY] = a->lane[l].own[i][DATA];
}
