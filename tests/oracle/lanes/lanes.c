#include "lanes.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

#define MOST_EVENTS 20000

static void tensor_access(Lab *L, const Lanes *a, const WsOp *op)
{
    gboolean load =
        op->kind == WS_OP_TMA_LOAD || op->kind == WS_OP_CP_ROWS || op->kind == WS_OP_LD_GLOBAL;
    gboolean writes =
        op->kind == WS_OP_TMA_STORE || op->kind == WS_OP_ST_GLOBAL || op->kind == WS_OP_RED_GLOBAL;
    if (op->tensor < 0 || (!load && !writes))
        return;
    WsTensorAccess need = load                           ? WS_ACCESS_READ
                          : op->reduce != WS_REDUCE_NONE ? WS_ACCESS_REDUCE
                                                         : WS_ACCESS_WRITE;
    if (L->p->tensor[op->tensor].access != need)
        lanes_problem(L, ORACLE_ACCESS, a, op, NULL);
}

/* One operation; FALSE: it must wait. */
static gboolean perform(Lab *L, Lanes *a, const WsOp *op)
{
    tensor_access(L, a, op);
    lanes_outputs(L, a, op);
    switch (op->kind) {
    case WS_OP_MBAR_WAIT:
        return lanes_wait_passes(L, a, op);
    case WS_OP_MBAR_ARRIVE:
        lanes_arrivals(L, a, op);
        break;
    case WS_OP_MBAR_EXPECT:
        lanes_expects(L, a, op);
        break;
    case WS_OP_TMA_LOAD:
    case WS_OP_TMA_GET:
    case WS_OP_BULK_COPY:
    case WS_OP_ST_REMOTE:
        if (op->barrier < 0) {
            lanes_outside(L, "a transfer without signal");
            break;
        }
        lanes_values(L, a, op);
        lanes_transfer(L, a, op);
        break;
    case WS_OP_MMA:
        lanes_product(L, a, op);
        lanes_values(L, a, op);
        break;
    case WS_OP_MMA_WAIT:
        lanes_product_wait(L, a, op);
        break;
    case WS_OP_TMA_STORE:
    case WS_OP_TMA_PUT:
        lanes_store(L, a, op);
        break;
    case WS_OP_BULK_COMMIT:
        g_array_append_val(a->store_group, a->read_now);
        break;
    case WS_OP_BULK_WAIT:
        lanes_store_wait(L, a, op);
        break;
    case WS_OP_CP_ROWS:
        lanes_rows(L, a, op);
        break;
    case WS_OP_CP_ARRIVE:
        lanes_rows_arrive(L, a, op);
        break;
    case WS_OP_CP_COMMIT:
        g_array_append_val(a->row_group, a->row_now[0]);
        break;
    case WS_OP_CP_WAIT:
        lanes_rows_wait(a, op);
        break;
    case WS_OP_ST_SHARED:
    case WS_OP_RED_SHARED:
    case WS_OP_STMATRIX:
    case WS_OP_LD_SHARED:
    case WS_OP_LD_REMOTE:
    case WS_OP_ST_PEER:
    case WS_OP_LDMATRIX:
    case WS_OP_TRANSPOSE:
    case WS_OP_CLAIM:
    case WS_OP_TAKE:
    case WS_OP_PIPE_TELL:
    case WS_OP_PIPE_ASK: {
        guint step = lanes_step(a, op);
        for (guint l = 0; l < a->n_lanes; l += step)
            lanes_tick(a, l);
        lanes_values(L, a, op);
        lanes_generic(L, a, op);
        break;
    }
    case WS_OP_BAR_SYNC:
        return lanes_sync_passes(L, a, op);
    case WS_OP_BAR_ARRIVE:
        lanes_join(L, a, op, lanes_named(L, a, op), L->p->agent[a->agent].threads);
        break;
    case WS_OP_CLUSTER_ARRIVE:
        a->cluster_generation = lanes_named(L, a, op)->generation;
        if (a->clustered) /* undefined by the text of PTX, whatever else it knows */
            lanes_problem(L, ORACLE_PHASE, a, op, NULL);
        a->clustered = TRUE;
        lanes_join(L, a, op, lanes_named(L, a, op), 1);
        lanes_cluster_ended(L);
        break;
    case WS_OP_CLUSTER_WAIT:
        return lanes_cluster_passes(L, a, op);
    case WS_OP_WARP_SYNC:
        lanes_warp_sync(L, a);
        break;
    case WS_OP_FENCE_ASYNC:
        lanes_fence_async(L, a, op);
        break;
    case WS_OP_ADVANCE:
    case WS_OP_DEP_LAUNCH:
    case WS_OP_DEP_WAIT:
    case WS_OP_FENCE_CLUSTER:
    case WS_OP_FENCE_GPU:
    case WS_OP_FENCE_INIT:
    case WS_OP_LD_GLOBAL:
    case WS_OP_LET:
    case WS_OP_MARK:
    case WS_OP_PRIORITY:
    case WS_OP_MATH:
    case WS_OP_MFMA:
    case WS_OP_MBAR_INIT:
    case WS_OP_MMA_COMMIT:
    case WS_OP_MMA_FENCE:
    case WS_OP_PREFETCH_MAP:
    case WS_OP_PREFETCH:
    case WS_OP_RED_GLOBAL:
    case WS_OP_SETMAXNREG:
    case WS_OP_ST_GLOBAL:
        lanes_values(L, a, op);
        break;
    case WS_OP_FENCE_GLOBAL:
    case WS_OP_NOTIFY:
    case WS_OP_AWAIT:
    case WS_OP_QUEUE_IN:
    case WS_OP_QUEUE_OUT:
    case WS_OP_QUEUE_MOVE:
    case WS_OP_VECTOR:
    case WS_OP_CUBE:
    case WS_OP_KIND_COUNT:
    case WS_OP_RAW:
    default:
        lanes_outside(L, ws_op_kind_text(op->kind));
        break;
    }
    return TRUE;
}

/* --- the run */

/* Is there anything that lanes other than the leader do? */
static gboolean leader_alone(const WsTree *t)
{
    if (!t)
        return TRUE;
    /* who only arrives at a barrier goes on without the leader */
    const WsOpKind kind = t->op ? t->op->kind : WS_OP_LET;
    const gboolean alone = kind == WS_OP_BAR_SYNC || kind == WS_OP_CLUSTER_ARRIVE ||
                           kind == WS_OP_CLUSTER_WAIT || kind == WS_OP_SETMAXNREG ||
                           kind == WS_OP_LET || kind == WS_OP_ADVANCE || kind == WS_OP_MARK ||
                           kind == WS_OP_FENCE_ASYNC ||
                           (kind == WS_OP_MBAR_ARRIVE && t->op->per == 0);
    if (t->op && t->op->breadth != WS_BREADTH_LEADER && !alone)
        return FALSE;
    for (guint i = 0; i < t->n_kids; i++)
        if (!leader_alone(t->kid[i]))
            return FALSE;
    return TRUE;
}

static gboolean has_kind(const WsProgram *p, guint agent, WsOpKind kind)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == kind && p->op[i]->agent == (gint)agent)
            return TRUE;
    return FALSE;
}

static void layout(Lab *L)
{
    const WsProgram *p = L->p;
    guint at = 0;
    L->n_insts = p->n_agents * p->cluster;
    L->inst = g_new0(Lanes, L->n_insts + 1);
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        a->inst = i;
        a->agent = i % p->n_agents;
        a->rank = i / p->n_agents;
        a->n_lanes = leader_alone(p->agent[a->agent].body) ? 1 : p->agent[a->agent].threads;
        a->first = at;
        at += a->n_lanes;
        a->products = has_kind(p, a->agent, WS_OP_MMA) ? (gint)at++ : -1;
        a->reads = has_kind(p, a->agent, WS_OP_TMA_STORE) ? (gint)at++ : -1;
        a->rows = has_kind(p, a->agent, WS_OP_CP_ROWS) ? (gint)at : -1;
        at += a->rows >= 0 ? a->n_lanes : 0;
    }
    L->first_slot = g_new0(guint, p->n_barriers + 1);
    for (guint i = 0; i < p->n_barriers; i++) {
        L->first_slot[i] = L->slots_per_rank;
        if (p->barrier[i].kind == WS_BARRIER_MBARRIER)
            L->slots_per_rank += p->barrier[i].array * p->barrier[i].slots;
    }
    L->n_slots = L->slots_per_rank * p->cluster;
    L->slot = g_new0(Mbarrier, L->n_slots + 1);
    for (guint i = 0; i < L->n_slots; i++) {
        L->slot[i].clock = (gint)at++;
        L->slot[i].rows_for = L->slot[i].returned = -1;
    }
    L->width = (at + CLOCK_ROW - 1) / CLOCK_ROW * CLOCK_ROW;
}

static GArray *moments(void)
{
    return g_array_new(FALSE, FALSE, sizeof(Moment));
}

static void begin_objects(Lab *L)
{
    const WsProgram *p = L->p;
    for (guint r = 0; r < p->cluster; r++)
        for (guint i = 0; i < p->n_barriers; i++) {
            const WsBarrier *b = &p->barrier[i];
            for (guint k = 0; b->kind == WS_BARRIER_MBARRIER && k < b->array * b->slots; k++) {
                Mbarrier *s = &L->slot[r * L->slots_per_rank + L->first_slot[i] + k];
                s->count = b->arrivals[k / b->slots];
                s->pending = s->count;
            }
        }
    for (guint i = 0; i < L->n_slots; i++) {
        Mbarrier *s = &L->slot[i];
        s->now = clocks_new(L);
        s->before = clocks_new(L);
        s->part = moments();
        s->last = moments();
        s->older = moments();
        s->expects = moments();
        s->waited = moments();
    }
    L->n_named = 16 * p->cluster + 1;
    L->named = g_new0(Named, L->n_named);
    L->named[L->n_named - 1].count = L->n_insts;
    L->named[L->n_named - 1].waits = TRUE;
}

static WsWalker *walker_new(Lab *L, const Lanes *a, WsTilesStrided *tiles)
{
    WsWalker *w = ws_walker_new(L->p, L->data.v, a->agent, a->rank, ws_tiles_strided, tiles);
    ws_walker_set_element(w, oracle_element, &L->data);
    return w;
}

void lanes_look_for_waits(Lab *L)
{
    WsTilesStrided tiles = oracle_tiles(L->options);
    L->looked = TRUE;
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        WsWalker *own = a->walker;
        WsStep s;
        a->walker = walker_new(L, a, &tiles);
        for (guint n = 0; n < MOST_EVENTS && ws_walker_next(a->walker, &s, NULL); n++)
            if (s.op->kind == WS_OP_MBAR_WAIT)
                lanes_slot(L, a, s.op, a->rank)->waits = TRUE;
            else if (s.op->kind == WS_OP_BAR_SYNC)
                lanes_named(L, a, s.op)->waits = TRUE;
        ws_walker_free(a->walker);
        a->walker = own;
    }
}

static void begin_agents(Lab *L, WsTilesStrided *tiles)
{
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        lanes_know_nothing(L, a);
        a->now = g_new0(gint16, a->n_lanes);
        a->row_now = g_new0(gint16, a->n_lanes);
        a->store_group = g_array_new(FALSE, FALSE, sizeof(gint16));
        a->row_group = g_array_new(FALSE, FALSE, sizeof(gint16));
        a->issue = g_ptr_array_new();
        a->walker = walker_new(L, a, tiles);
        lanes_values_new(L->p, a);
        a->position = -1;
    }
}

static void end(Lab *L)
{
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        g_free(a->now);
        g_free(a->row_now);
        g_array_free(a->store_group, TRUE);
        g_array_free(a->row_group, TRUE);
        g_ptr_array_free(a->issue, TRUE);
        ws_walker_free(a->walker);
        lanes_values_free(L->p, a);
    }
    for (guint i = 0; i < L->n_slots; i++) {
        Mbarrier *s = &L->slot[i];
        g_array_free(s->part, TRUE);
        g_array_free(s->last, TRUE);
        g_array_free(s->older, TRUE);
        g_array_free(s->expects, TRUE);
        g_array_free(s->waited, TRUE);
    }
    for (guint i = 0; i < L->n_named; i++)
        if (L->named[i].met) {
            g_array_free(L->named[i].part, TRUE);
            g_array_free(L->named[i].last, TRUE);
        }
    g_free(L->named);
    g_free(L->inst);
    g_free(L->slot);
    g_free(L->first_slot);
    g_free(L->cell);
    g_free(L->fine);
    g_array_free(L->remote, TRUE);
    g_array_free(L->in_flight, TRUE);
    g_ptr_array_free(L->memory, TRUE);
}

/* Some lane of the CTA must know of it when it ends. */
static void must_be_known(Lab *L, const Remote *r)
{
    for (guint i = 0; i < L->n_insts; i++) {
        const Lanes *a = &L->inst[i];
        for (guint l = 0; a->rank == r->rank && l < a->n_lanes; l++)
            if (lane_knows(&a->lane[l], ORDER, r->what.who, r->what.when))
                return;
    }
    lanes_problem(L, ORACLE_EXIT, &L->inst[r->inst], r->op, NULL);
}

static void at_end(Lab *L)
{
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        if (a->flight->len)
            lanes_problem(L, ORACLE_EXIT, a, g_array_index(a->flight, Product, 0).op, NULL);
        if (a->reads >= 0 && !lane_knows(&a->lane[0], ORDER, (gint16)a->reads, a->read_now))
            lanes_problem(L, ORACLE_EXIT, a, NULL, NULL);
    }
    for (guint i = 0; i < L->n_insts; i++) { /* copies of gathers */
        const Lanes *a = &L->inst[i];
        for (guint l = 0; a->rows >= 0 && l < a->n_lanes; l++) {
            Remote r = { a->rank, { (gint16)(a->rows + (gint)l), a->row_now[l] }, NULL, i };
            must_be_known(L, &r);
        }
    }
    for (guint i = 0; i < L->remote->len; i++)
        must_be_known(L, &g_array_index(L->remote, Remote, i));
    for (guint i = 0; i < L->in_flight->len; i++)
        must_be_known(L, &g_array_index(L->in_flight, Remote, i));
    for (guint i = 0; i < L->n_slots; i++)
        if (L->slot[i].rows_for > L->slot[i].returned)
            lanes_problem(L, ORACLE_EXIT, L->slot[i].rows_by, L->slot[i].rows_op, NULL);
    for (guint i = 0; i < L->n_slots; i++)
        if (L->slot[i].tx != 0)
            lanes_problem(L, ORACLE_BYTES, NULL, NULL, NULL);
}

/* Of dynamic tiles every agent learns the next one once in each round. */
static void next_tile(Lab *L, Lanes *a, const WsOp *last)
{
    gint64 position = ws_walker_position(a->walker);
    if (position == a->position || L->p->tiles->launch != WS_LAUNCH_DYNAMIC)
        return;
    if (a->position >= 0 && a->taken != 1)
        lanes_problem(L, ORACLE_COUNT, a, last, NULL);
    a->position = position;
    a->taken = 0;
}

static void fetch(Lab *L, Lanes *a)
{
    const WsOp *last = a->op;
    WsStep s;
    g_autoptr(GError) error = NULL;
    a->op = ws_walker_next(a->walker, &s, &error) ? s.op : NULL;
    a->done = a->op == NULL;
    next_tile(L, a, last);
    a->taken += a->op && (a->op->kind == WS_OP_CLAIM || a->op->kind == WS_OP_TAKE);
    if (error)
        lanes_outside(L, "the walk does not end");
}

static void run(Lab *L)
{
    guint events = 0;
    for (guint i = 0; i < L->n_insts; i++)
        fetch(L, &L->inst[i]);
    for (gboolean moved = TRUE; moved;) {
        moved = FALSE;
        for (guint i = 0; i < L->n_insts; i++) {
            Lanes *a = &L->inst[i];
            while (!a->done && perform(L, a, a->op)) {
                fetch(L, a);
                if (a->done && L->p->cluster > 1)
                    lanes_cluster_ended(L);
                moved = TRUE;
                if (++events > MOST_EVENTS ||
                    ((L->result->verdict & ORACLE_BAD) && L->options->stop)) {
                    if (!L->result->verdict)
                        lanes_outside(L, "too many events");
                    return;
                }
            }
        }
    }
    if (L->result->verdict & ORACLE_OUTSIDE) /* who waits may wait for what was not gone through */
        return;
    for (guint i = 0; i < L->n_insts; i++)
        if (!L->inst[i].done) {
            lanes_problem(L, ORACLE_HANG, &L->inst[i], L->inst[i].op, NULL);
            return;
        }
    at_end(L);
    L->ended = TRUE;
    L->result->states = events;
}

OracleResult lanes_run(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    OracleResult result = { 0 };
    WsTilesStrided tiles = oracle_tiles(options);
    Lab L = { .p = p, .options = options, .result = &result };
    L.remote = g_array_new(FALSE, FALSE, sizeof(Remote));
    L.in_flight = g_array_new(FALSE, FALSE, sizeof(Remote));
    L.memory = g_ptr_array_new_with_free_func(g_free);
    L.data = (OracleData){ p, v, options };
    lanes_outputs_new(&L);
    layout(&L);
    begin_objects(&L);
    begin_agents(&L, &tiles);
    if (lanes_memory_new(&L) && L.width < 8000) {
        L.judged = lanes_alike(&L, options->alike);
        run(&L);
    } else {
        lanes_outside(&L, "too large for the oracle");
    }
    lanes_outputs_end(&L, L.ended);
    end(&L);
    return result;
}
