/* What each kind of operation does to the units and to its agent's time. */
#include "program/parts/operation.h"
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "target/target.h"

double ws_clock_serve(WsUnit *u, double at, double cycles)
{
    u->free = MAX(u->free, at) + cycles;
    u->busy += cycles;
    return u->free;
}

/* MAX would serve twice. */
static double later(double a, double b)
{
    return a > b ? a : b;
}

static double cost(const WsClockPlay *play, WsMachineValue v)
{
    return play->m->value[v];
}

double ws_clock_own(const WsClockPlay *play, const WsPlayer *a, double cycles)
{
    return a->sms[a->rank].tensor.free > a->now ? cycles * cost(play, WS_MACHINE_ISSUE_BESIDE_MMA)
                                                : cycles;
}

/* --- queues of groups ---------------------------------------------------------------------------
 */
/* The event of a group; 0: it ended with the one before it. */
static void close_by(GArray *by, guint event)
{
    if (!event && by->len)
        event = g_array_index(by, guint, by->len - 1);
    g_array_append_val(by, event);
}

static void close_group(WsGroups *g)
{
    double last = g->done->len ? g_array_index(g->done, double, g->done->len - 1) : 0;
    double full = g->full->len ? g_array_index(g->full, double, g->full->len - 1) : 0;
    double done = MAX(last, g->open), written = MAX(full, g->open_full);
    g_array_append_val(g->done, done);
    g_array_append_val(g->full, written);
    close_by(g->done_by, g->open > last ? g->open_by : 0);
    close_by(g->full_by, g->open_full > full ? g->open_full_by : 0);
    g->open = g->open_full = 0;
    g->open_by = g->open_full_by = 0;
}

/* End of the newest group that may not stay when n may. */
static double groups_over(const WsGroups *g, gint64 n, gboolean full)
{
    gint64 last = (gint64)g->done->len - 1 - MAX(n, 0);
    if (last < 0)
        return 0;
    return g_array_index(full ? g->full : g->done, double, last);
}

WsClockMove ws_clock_wait_groups(WsClockPlay *play, WsPlayer *a, const WsGroups *g,
                                 WsMachineValue own)
{
    const WsOp *op = a->step.op;
    const gint64 last = (gint64)g->done->len - 1 - MAX(op->n, 0);
    const double over = groups_over(g, op->n, op->full);
    a->base = ws_clock_own(play, a, cost(play, own));
    ws_clock_because_order(play, a, a->now + a->base);
    if (last >= 0)
        ws_clock_because(play, WS_CAUSE_GROUP,
                         g_array_index(op->full ? g->full_by : g->done_by, guint, last), over);
    a->now = MAX(a->now + a->base, over);
    ws_clock_goes_on(play, a);
    return WS_MOVE_NEXT;
}

/* --- tensor pipe ------------------------------------------------------------------------------ */
static WsClockMove move_mma(WsClockPlay *play, WsPlayer *a)
{
    const WsMma *mma = a->step.op->mma;
    if (!mma || !mma->inst_k)
        return WS_MOVE_NEXT;
    WsSm *sm = &a->sms[a->rank];
    guint queue = (guint)MAX(cost(play, WS_MACHINE_MMA_QUEUE), 1);
    guint parts = MAX(mma->atoms, 1) * MAX(mma->k / mma->inst_k, 1);
    double smem = 0, cycles = ws_work_product(play, mma, &smem);
    /* So many of an agent are under way; the next is taken when the oldest is over. */
    guint *oldest_by = &a->mma_by[a->mma_issued % queue];
    double *oldest = &a->mma_end[a->mma_issued++ % queue];
    ws_clock_because_order(play, a, a->now + cost(play, WS_MACHINE_MMA_ISSUE));
    ws_clock_because(play, WS_CAUSE_QUEUE, *oldest_by, *oldest);
    a->now = MAX(a->now + cost(play, WS_MACHINE_MMA_ISSUE), *oldest);
    ws_clock_goes_on(play, a);
    double end = ws_clock_serve_for(play, a, &sm->tensor, WS_CAUSE_TENSOR, a->now, cycles);
    sm->smem.busy += smem;
    ws_port_product(&sm->port, end - cycles, end, MIN(smem / cycles, 1), sm->tensor.by);
    *oldest = end;
    *oldest_by = sm->tensor.by;
    a->mma.open_by = sm->tensor.by;
    a->done = end + cost(play, WS_MACHINE_MMA_LATENCY);
    a->mma.open = MAX(a->mma.open, a->done);
    return ++a->part < parts ? WS_MOVE_AGAIN : WS_MOVE_NEXT;
}

/* --- bulk copies ------------------------------------------------------------------------------ */
guint64 ws_clock_moved_bytes(const WsClockPlay *play, const WsOp *op)
{
    return op->bytes > 0  ? (guint64)op->bytes
           : op->n_access ? ws_access_bytes(play->p, &op->access[0])
                          : 0;
}

void ws_clock_note_bytes(WsClockPlay *play, const WsPlayer *a, guint64 bytes)
{
    if (a->cta == 0 && a->step.op->tensor >= 0)
        play->tensor_bytes[a->step.op->tensor] += (gint64)bytes;
}

double ws_clock_box_cycles(const WsClockPlay *play, const WsOp *op, guint64 bytes)
{
    double row = play->p->hardware->bulk.line;
    if (op->map >= 0)
        row = MIN(row, (double)play->p->map[op->map].box[0] *
                           ws_dtype_bytes(play->p->tensor[op->tensor].dtype));
    return cost(play, WS_MACHINE_TMA_BOX) +
           later((double)bytes / cost(play, WS_MACHINE_TMA_BYTES),
                 (double)bytes / MAX(row, 1) * cost(play, WS_MACHINE_TMA_ROW));
}

WsClockMove ws_clock_move_load(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    guint64 bytes = ws_clock_moved_bytes(play, op);
    guint mask;
    if (!ws_clock_play_targets(play, a, &mask))
        return WS_MOVE_FAILED;
    a->now += cost(play, WS_MACHINE_TMA_ISSUE);
    ws_clock_note_bytes(play, a, bytes);
    /* A multicast leaves L2 once and enters every SM. */
    WsShare share = ws_shares_get(play->shares, op->index, ws_walker_position(a->walker));
    WsFetch fetch;
    if (!ws_clock_fetch(play, a, bytes, share, &fetch))
        return WS_MOVE_FAILED;
    for (guint c = 0; c < play->n_sms; c++) {
        if (!(mask & (1u << c)))
            continue;
        WsSm *sm = &a->sms[c];
        gboolean cold = sm->first_load == 0 || a->now < sm->first_load;
        double end = ws_clock_serve_for(play, a, &sm->load, WS_CAUSE_LOADS, a->now,
                                        ws_clock_box_cycles(play, op, bytes));
        double latency = cost(play, cold        ? WS_MACHINE_TMA_LATENCY_COLD
                                    : fetch.far ? WS_MACHINE_TMA_LATENCY_HBM
                                                : WS_MACHINE_TMA_LATENCY);
        if (mask & (mask - 1))
            latency += cost(play, WS_MACHINE_TMA_MULTICAST);
        ws_clock_because(play, WS_CAUSE_LOADS, sm->load.by, end + latency);
        ws_clock_because_fetched(play, a, &fetch, latency);
        end = MAX(end, fetch.end);
        end += latency;
        const guint by = ws_clock_ends(play, a, WS_CLOCK_LANDED + c, end);
        if (sm->first_load == 0)
            sm->first_load = end;
        a->done = MAX(a->done, end);
        WsClockMove move = ws_clock_play_credit(play, a, c, (gint64)bytes, end, by);
        if (move != WS_MOVE_NEXT)
            return move;
    }
    return WS_MOVE_NEXT;
}

/* Shared memory of this CTA to that of others, by copy or st.async. */
static WsClockMove move_copy(WsClockPlay *play, WsPlayer *a)
{
    guint64 bytes = ws_clock_moved_bytes(play, a->step.op);
    guint mask;
    if (!ws_clock_play_targets(play, a, &mask))
        return WS_MOVE_FAILED;
    a->now += cost(play, WS_MACHINE_TMA_ISSUE);
    for (guint c = 0; c < play->n_sms; c++) {
        if (!(mask & (1u << c)))
            continue;
        double end = ws_clock_serve_for(play, a, &a->sms[c].load, WS_CAUSE_LOADS, a->now,
                                        (double)bytes / cost(play, WS_MACHINE_TMA_BYTES));
        end += cost(play, WS_MACHINE_MBAR_REMOTE);
        a->done = MAX(a->done, end);
        WsClockMove move = ws_clock_play_credit(play, a, c, (gint64)bytes, end, a->sms[c].load.by);
        if (move != WS_MOVE_NEXT)
            return move;
    }
    return WS_MOVE_NEXT;
}

/* Lanes read another CTA, or write there: its bytes leave as those of a copy do, there and back. No
 * figure of its own has been measured. */
static WsClockMove move_peek(WsClockPlay *play, WsPlayer *a)
{
    guint mask;
    if (!ws_clock_play_targets(play, a, &mask))
        return WS_MOVE_FAILED;
    double end = a->now;
    for (guint c = 0; c < play->n_sms; c++)
        if (mask & (1u << c))
            end = ws_clock_serve_for(play, a, &a->sms[c].load, WS_CAUSE_LOADS, a->now,
                                     (double)ws_clock_moved_bytes(play, a->step.op) /
                                         cost(play, WS_MACHINE_TMA_BYTES));
    ws_clock_because_order(play, a, a->now + 2 * cost(play, WS_MACHINE_MBAR_REMOTE));
    for (guint c = 0; c < play->n_sms; c++) /* the last of them decides */
        if ((mask & (1u << c)) && a->sms[c].load.free >= end)
            ws_clock_because(play, WS_CAUSE_LOADS, a->sms[c].load.by,
                             end + 2 * cost(play, WS_MACHINE_MBAR_REMOTE));
    a->now = end + 2 * cost(play, WS_MACHINE_MBAR_REMOTE);
    ws_clock_goes_on(play, a);
    return WS_MOVE_NEXT;
}

WsClockMove ws_clock_move_store(WsClockPlay *play, WsPlayer *a)
{
    guint64 bytes = ws_clock_moved_bytes(play, a->step.op);
    a->now += cost(play, WS_MACHINE_TMA_ISSUE);
    ws_clock_note_bytes(play, a, bytes);
    WsUnit *stores = &a->sms[a->rank].store;
    double end = ws_clock_serve_for(play, a, stores, WS_CAUSE_STORES, a->now,
                                    (double)bytes / cost(play, WS_MACHINE_STORE_BYTES));
    a->bulk.open_by = a->bulk.open_full_by = stores->by;
    /* Loads that are issued after it wait for these bytes at L2. */
    ws_clock_pass(play, a, &a->sms[a->rank].l2, WS_CAUSE_L2, (double)bytes / play->write_rate);
    a->done = end + cost(play, WS_MACHINE_STORE_READ);
    a->bulk.open = MAX(a->bulk.open, a->done);
    a->bulk.open_full = MAX(a->bulk.open_full, a->done + cost(play, WS_MACHINE_STORE_WRITE));
    play->end = MAX(play->end, a->bulk.open_full);
    return WS_MOVE_NEXT;
}

static void note_element(const WsExpr *node, gpointer data)
{
    if (node->op == WS_EXPR_INDEX)
        *(gboolean *)data = TRUE;
}

/* Which rows it takes is read before the waits in front of it, once for gathers that follow each
 * other. */
static void look_up_rows(WsClockPlay *play, WsPlayer *a)
{
    gboolean reads = FALSE;
    for (guint d = 0; d < a->step.op->n_coord; d++)
        ws_expr_visit(a->step.op->coord[d], note_element, &reads);
    if (reads)
        a->now = later(a->now, a->rows_from + cost(play, WS_MACHINE_GLOBAL_LATENCY));
}

static WsClockMove move_gather(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    WsSm *sm = &a->sms[a->rank];
    look_up_rows(play, a);
    guint64 bytes = op->n_access ? ws_access_bytes(play->p, &op->access[0]) : 0;
    ws_clock_note_bytes(play, a, bytes);
    a->now = ws_clock_serve_for(play, a, &sm->lsu, WS_CAUSE_LSU, a->now,
                                (double)bytes / cost(play, WS_MACHINE_GATHER_BYTES));
    ws_clock_because(play, WS_CAUSE_LSU, sm->lsu.by, a->now);
    ws_clock_goes_on(play, a);
    const gboolean far =
        ws_rows_are_far(play->p, play->v, cost(play, WS_MACHINE_L2_CAPACITY), (guint)op->tensor);
    const double latency = cost(play, far ? WS_MACHINE_TMA_LATENCY_HBM : WS_MACHINE_GLOBAL_LATENCY);
    double end = ws_clock_serve_for(play, a, &sm->load, WS_CAUSE_LOADS, a->now,
                                    (double)bytes / cost(play, WS_MACHINE_TMA_BYTES));
    WsFetch fetch;
    if (!ws_clock_fetch(play, a, bytes, (WsShare){ FALSE, 1, FALSE }, &fetch))
        return WS_MOVE_FAILED;
    ws_clock_because(play, WS_CAUSE_LOADS, sm->load.by, end + latency);
    ws_clock_because_fetched(play, a, &fetch, latency);
    end = later(end, fetch.end);
    a->done = end + latency;
    const guint by = ws_clock_ends(play, a, WS_CLOCK_LANDED, a->done);
    a->copied_by = a->done >= a->copied ? by : a->copied_by;
    a->copied = MAX(a->copied, a->done);
    a->copies.open_by = a->done >= a->copies.open ? by : a->copies.open_by;
    a->copies.open = MAX(a->copies.open, a->done);
    return WS_MOVE_NEXT;
}

/* --- registers and memory --------------------------------------------------------------------- */
WsClockMove ws_clock_move_global(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    WsSm *sm = &a->sms[a->rank];
    guint size = op->tensor >= 0 ? ws_dtype_bytes(play->p->tensor[op->tensor].dtype) : 4;
    double bytes = op->n_value ? (double)op->value[0].rows * op->value[0].cols * size : 0;
    ws_clock_note_bytes(play, a, (guint64)bytes);
    if (op->kind == WS_OP_LD_GLOBAL) {
        a->now = ws_clock_serve_for(play, a, &sm->lsu, WS_CAUSE_LSU, a->now,
                                    bytes / cost(play, WS_MACHINE_GLOBAL_LOAD)) +
                 cost(play, WS_MACHINE_GLOBAL_LATENCY);
        a->done = a->now;
        ws_clock_because(play, WS_CAUSE_LSU, sm->lsu.by, a->now);
        ws_clock_goes_on(play, a);
        return WS_MOVE_NEXT;
    }
    gboolean reduces = op->kind == WS_OP_RED_GLOBAL;
    double rate = cost(play, reduces ? WS_MACHINE_ATOMIC_BYTES : WS_MACHINE_GLOBAL_STORE);
    a->now = ws_clock_serve_for(play, a, &sm->lsu, WS_CAUSE_LSU, a->now, bytes / rate);
    ws_clock_because(play, WS_CAUSE_LSU, sm->lsu.by, a->now);
    ws_clock_goes_on(play, a);
    a->done = a->now + cost(play, WS_MACHINE_STORE_WRITE);
    play->end = MAX(play->end, a->done);
    return WS_MOVE_NEXT;
}

static WsClockMove move_fence(WsClockPlay *play, WsPlayer *a)
{
    const double own = cost(play, WS_MACHINE_FENCE);
    ws_clock_because_order(play, a, a->now + own);
    ws_clock_because(play, WS_CAUSE_WRITTEN, a->stored_by, a->stored + own);
    a->now = later(a->now, a->stored) + own;
    ws_clock_goes_on(play, a);
    return WS_MOVE_NEXT;
}

WsClockMove ws_clock_move_let(WsClockPlay *play, WsPlayer *a)
{
    gboolean reads = FALSE;
    ws_expr_visit(a->step.op->set, note_element, &reads);
    if (reads)
        a->now += cost(play, WS_MACHINE_GLOBAL_LATENCY);
    return WS_MOVE_NEXT;
}

/* --- the table -------------------------------------------------------------------------------- */
static WsClockMove move_mma_wait(WsClockPlay *play, WsPlayer *a)
{
    return ws_clock_wait_groups(play, a, &a->mma, WS_MACHINE_MMA_WAIT);
}

static WsClockMove move_bulk_wait(WsClockPlay *play, WsPlayer *a)
{
    return ws_clock_wait_groups(play, a, &a->bulk, WS_MACHINE_BULK_WAIT);
}

static WsClockMove move_cp_wait(WsClockPlay *play, WsPlayer *a)
{
    return ws_clock_wait_groups(play, a, &a->copies, WS_MACHINE_BULK_WAIT);
}

WsClockMove ws_clock_move_commit(WsClockPlay *play, WsPlayer *a)
{
    WsGroups *const queue[WS_QUEUES] = { &a->mma, &a->bulk, &a->copies };
    close_group(queue[ws_op_queue(a->step.op->kind)]);
    return WS_MOVE_NEXT;
}

/* Kinds whose cost is OWN. */
static const WsClockMoves moves[WS_OP_KIND_COUNT] = {
    [WS_OP_MBAR_WAIT] = ws_clock_play_mbar,
    [WS_OP_MBAR_ARRIVE] = ws_clock_play_mbar,
    [WS_OP_MBAR_EXPECT] = ws_clock_play_mbar,
    [WS_OP_CP_ARRIVE] = ws_clock_play_mbar,
    [WS_OP_BAR_SYNC] = ws_clock_play_named,
    [WS_OP_BAR_ARRIVE] = ws_clock_play_named,
    [WS_OP_CLUSTER_ARRIVE] = ws_clock_play_cluster,
    [WS_OP_CLUSTER_WAIT] = ws_clock_play_cluster,
    [WS_OP_TMA_LOAD] = ws_clock_move_load,
    [WS_OP_TMA_GET] = ws_clock_move_get,
    [WS_OP_BULK_COPY] = move_copy,
    [WS_OP_ST_REMOTE] = move_copy,
    [WS_OP_LD_REMOTE] = move_peek,
    [WS_OP_ST_PEER] = move_peek,
    [WS_OP_TMA_STORE] = ws_clock_move_store,
    [WS_OP_TMA_PUT] = ws_clock_move_put,
    [WS_OP_NOTIFY] = ws_clock_move_notify,
    [WS_OP_AWAIT] = ws_clock_move_await,
    [WS_OP_BULK_COMMIT] = ws_clock_move_commit,
    [WS_OP_BULK_WAIT] = move_bulk_wait,
    [WS_OP_CP_ROWS] = move_gather,
    [WS_OP_CP_COMMIT] = ws_clock_move_commit,
    [WS_OP_CP_WAIT] = move_cp_wait,
    [WS_OP_MMA] = move_mma,
    [WS_OP_MMA_COMMIT] = ws_clock_move_commit,
    [WS_OP_MMA_WAIT] = move_mma_wait,
    [WS_OP_ST_SHARED] = ws_clock_move_work,
    [WS_OP_RED_SHARED] =
        ws_clock_move_work, /* as a store; lanes that meet at a place are not counted */
    [WS_OP_STMATRIX] = ws_clock_move_work,
    [WS_OP_LD_SHARED] = ws_clock_move_work,
    [WS_OP_LDMATRIX] = ws_clock_move_work,
    [WS_OP_TRANSPOSE] = ws_clock_move_work,
    [WS_OP_MATH] = ws_clock_move_work,
    [WS_OP_ST_GLOBAL] = ws_clock_move_global,
    [WS_OP_RED_GLOBAL] = ws_clock_move_global,
    [WS_OP_LD_GLOBAL] = ws_clock_move_global,
    [WS_OP_LET] = ws_clock_move_let,
    [WS_OP_FENCE_ASYNC] = move_fence,
};

/* What the others take of an agent's time: op.def says which parameter of the machine. */
enum { WS_MACHINE_UNKNOWN = 0, WS_MACHINE_OWN = 0, WS_MACHINE_FREE = WS_MACHINE_VALUE_COUNT };
G_STATIC_ASSERT(WS_MACHINE_SMS == 0); /* nobody's cost */
static const guint8 fixed[WS_OP_KIND_COUNT] = {
#define WS_OP(id, text, proxy, breadth, engine, deed, waits, gives, orders, from, to, record,      \
              score, check, cost, help)                                                            \
    [WS_OP_##id] = WS_MACHINE_##cost,
#include "program/op.def"
#undef WS_OP
};

WsClockMove ws_clock_move_by(WsClockPlay *play, WsPlayer *a, const WsClockMoves *moves_of)
{
    const WsOp *op = a->step.op;
    if (moves_of[op->kind])
        return moves_of[op->kind](play, a);
    g_set_error(&play->error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE, "step %s at %s: not in the clock",
                ws_op_kind_text(op->kind), op->id);
    return WS_MOVE_FAILED;
}

WsClockMove ws_clock_play_move(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    if (play->free_op >= 0 && op->index == (guint)play->free_op && ws_op_waits(op->kind))
        return WS_MOVE_NEXT;
    if (op->kind == WS_OP_RAW)
        play->has_raw = TRUE;
    if (op->kind == WS_OP_MATH && op->skip)
        play->has_unless = TRUE;
    if (play->p->hardware->halves)
        return ws_clock_half_move(play, a);
    if (play->p->hardware->core)
        return ws_clock_queue_move(play, a);
    if (moves[op->kind] || fixed[op->kind] == WS_MACHINE_UNKNOWN)
        return ws_clock_move_by(play, a, moves);
    if (fixed[op->kind] != WS_MACHINE_FREE)
        a->now += cost(play, (WsMachineValue)fixed[op->kind]);
    return WS_MOVE_NEXT;
}
