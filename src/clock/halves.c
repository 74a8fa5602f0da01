/* Operations of targets whose groups are two halves (gfx950): eight waves, one of each half on
 * every SIMD of a CU, over one set of units. A half issues in order; what it issues is waited for
 * where its result is used: reads of the LDS at the product or statement that takes the value, or
 * at a border that waits for them, loads to LDS at `s_waitcnt`, a product while its instructions
 * issue. */
#include "clock/play.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <math.h>

#define SLICE      64.0           /* cycles after which halves that share a unit take turns */
#define LANE_BYTES 16             /* that a lane reads or loads by one instruction at most */
#define TRANSPOSED 8              /* likewise by a read that transposes */
#define MFMA       (16 * 16 * 32) /* products of one instruction that the machine file times */

static double cost(const WsClockPlay *play, WsMachineValue v)
{
    return play->m->value[v];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static guint half_waves(const WsClockPlay *play)
{
    return MAX(play->p->hardware->half_warps, 1);
}

static double ready_of(const WsPlayer *a, const WsOp *op, guint i)
{
    return i < op->n_value ? a->ready[op->value[i].value] : 0;
}

/* --- turns ------------------------------------------------------------------------------------ */
/* A half of higher priority that is at the same unit goes first: this one looks again behind its
 * next slice. */
static gboolean yields(WsClockPlay *play, WsPlayer *a)
{
    for (guint i = 0; i < play->n_players; i++) {
        const WsPlayer *o = &play->player[i];
        if (o == a || o->cta != a->cta || o->state != WS_AGENT_RUNS || !o->has_op ||
            o->priority <= a->priority || o->step.op->kind != a->step.op->kind ||
            o->now > a->now + SLICE)
            continue;
        a->now = later(a->now, o->now) + 1;
        return TRUE;
    }
    return FALSE;
}

/* --- products --------------------------------------------------------------------------------- */
/* Cycles of a matrix unit for so many products of elements: 8-bit ones at twice the rate of 16-bit
 * ones, whatever block an instruction has (vendor: 2.5 and 5 Pflop/s). */
static double unit_cycles(const WsClockPlay *play, const WsMma *mma, double products)
{
    return products / MFMA * ws_dtype_bytes(mma->a_type) / 2 * cost(play, WS_MACHINE_MFMA_CYCLES);
}

/* Cycles of each matrix unit: the waves of a half share out the blocks of the accumulator. */
double ws_clock_half_product(const WsClockPlay *play, const WsMma *mma)
{
    return unit_cycles(play, mma, (double)mma->m * mma->n * mma->k) / half_waves(play);
}

/* From the issue of the last instruction to its result: by as many cycles later as it takes the
 * unit longer than the one of the machine file. */
static double latency(const WsClockPlay *play, const WsMma *mma)
{
    const double rows = (double)mma->m / MAX(mma->atoms, 1);
    return cost(play, WS_MACHINE_MFMA_LATENCY) - cost(play, WS_MACHINE_MFMA_CYCLES) +
           unit_cycles(play, mma, rows * rows * mma->inst_k);
}

static WsClockMove move_mfma(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    if (!op->mma || op->n_value < 3)
        return WS_MOVE_NEXT;
    a->now = later(a->now, later(ready_of(a, op, 1), ready_of(a, op, 2)));
    if (yields(play, a))
        return WS_MOVE_AGAIN;
    if (a->part == 0)
        a->start = a->now; /* it stood at its operands, and does not begin before them */
    const double all = ws_clock_half_product(play, op->mma);
    const double slices = CLAMP(ceil(all / SLICE), 1, 4096);
    a->now = ws_clock_serve(&a->sms[a->rank].tensor, a->now, all / slices);
    if (++a->part < slices)
        return WS_MOVE_AGAIN;
    a->ready[op->value[0].value] = a->now + latency(play, op->mma);
    return WS_MOVE_NEXT;
}

/* --- LDS -------------------------------------------------------------------------------------- */
/* How many waves of the half read the same bytes of a view: those that hold the same rows of the
 * value. Rows of a value that is shared out to halves lie in one of waves_m places. */
static guint readers(const WsClockPlay *play, const WsOp *op)
{
    const guint value = op->n_value ? op->value[0].value : G_MAXUINT;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *x = play->p->op[i];
        if (x->agent != op->agent || !x->mma || x->n_value < 3)
            continue;
        if (x->value[2].value == value)
            return play->waves_m;
        if (x->value[1].value == value)
            return play->waves_n;
    }
    return 1;
}

static guint64 read_bytes(const WsClockPlay *play, const WsOp *op)
{
    guint64 bytes = 0;
    for (guint i = 0; i < op->n_access; i++)
        bytes += ws_access_bytes(play->p, &op->access[i]);
    return bytes * readers(play, op);
}

static double turns(WsClockPlay *play, const WsOp *op)
{
    double *kept = &play->work[op->index].smem;
    if (!play->work_known[op->index])
        *kept = ws_clock_bank_turns(play->p, play->m, op);
    play->work_known[op->index] = 1;
    return *kept;
}

static WsClockMove move_read(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    const gboolean transposed = op->n_access && op->access[0].transposed;
    const double bytes = (double)read_bytes(play, op), waves = half_waves(play);
    const double wave = (double)play->p->hardware->lanes * (transposed ? TRANSPOSED : LANE_BYTES);
    const double all = MAX(ceil(bytes / waves / wave), 1);
    const double each = bytes / cost(play, WS_MACHINE_SMEM_BYTES) / all * turns(play, op);
    const double under_way = MAX(cost(play, WS_MACHINE_LDS_QUEUE), 1);
    const double end = ws_clock_serve(&a->sms[a->rank].smem, a->now, each);
    /* So many of a wave are under way; the next is issued when the oldest is over. */
    a->now = later(a->now + cost(play, WS_MACHINE_LDS_ISSUE), end - under_way * each);
    a->done = end + cost(play, WS_MACHINE_SMEM_LATENCY);
    a->reads = later(a->reads, a->done);
    if (op->n_value)
        a->ready[op->value[0].value] = later(a->ready[op->value[0].value], a->done);
    return ++a->part < all ? WS_MOVE_AGAIN : WS_MOVE_NEXT;
}

/* A value is written to the LDS, or to a tensor, when it is there. */
static WsClockMove move_write(WsClockPlay *play, WsPlayer *a)
{
    a->now = later(a->now, ready_of(a, a->step.op, 0));
    return ws_op_stores_shared(a->step.op->kind) ? ws_clock_move_work(play, a)
                                                 : ws_clock_move_global(play, a);
}

/* --- loads ------------------------------------------------------------------------------------ */
static WsClockMove move_load(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    WsSm *sm = &a->sms[a->rank];
    const double bytes = (double)MAX(op->bytes, 0);
    const double each = (double)play->p->hardware->lanes * LANE_BYTES * half_waves(play);
    const WsShare share = ws_shares_get(play->shares, op->index, ws_walker_position(a->walker));
    ws_clock_note_bytes(play, a, (guint64)bytes);
    a->now += ceil(bytes / each) * cost(play, WS_MACHINE_LOAD_ISSUE);
    double end = ws_clock_serve(&sm->load, a->now, bytes / cost(play, WS_MACHINE_LOAD_PATH));
    end = later(end, ws_clock_serve_shared(&sm->l2, a->now, bytes / play->l2_rate));
    if (share.fetched)
        end = later(
            end, ws_clock_serve_shared(&sm->hbm, a->now, bytes / share.sharers / play->far_rate));
    /* They write the LDS: what others read passes more slowly. */
    ws_clock_serve(&sm->smem, a->now, bytes / cost(play, WS_MACHINE_SMEM_STORE));
    a->done =
        end + cost(play, share.fetched ? WS_MACHINE_LOAD_LATENCY_FAR : WS_MACHINE_LOAD_LATENCY);
    a->copies.open = later(a->copies.open, a->done);
    return WS_MOVE_NEXT;
}

static WsClockMove move_load_wait(WsClockPlay *play, WsPlayer *a)
{
    return ws_clock_wait_groups(play, a, &a->copies, WS_MACHINE_LOAD_WAIT);
}

/* Rows of a tensor into registers: by the same path, and one counter waits for all that was loaded
 * before. */
static WsClockMove move_tensor_read(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    WsSm *sm = &a->sms[a->rank];
    const guint size = op->tensor >= 0 ? ws_dtype_bytes(play->p->tensor[op->tensor].dtype) : 4;
    const double bytes = op->n_value ? (double)op->value[0].rows * op->value[0].cols * size : 0;
    const GArray *done = a->copies.done;
    ws_clock_note_bytes(play, a, (guint64)bytes);
    double end = ws_clock_serve(&sm->load, a->now, bytes / cost(play, WS_MACHINE_GLOBAL_LOAD));
    end = later(end, ws_clock_serve_shared(&sm->l2, a->now, bytes / play->l2_rate));
    a->now = end + cost(play, WS_MACHINE_GLOBAL_LATENCY);
    if (done->len)
        a->now = later(a->now, g_array_index(done, double, done->len - 1));
    a->done = a->now;
    return WS_MOVE_NEXT;
}

/* --- statements ------------------------------------------------------------------------------- */
static void note_value(const WsArray *node, gpointer data)
{
    WsPlayer *a = data;
    if (node->form == WS_ARRAY_VALUE)
        a->now = later(a->now, a->ready[node->index]);
}

static WsClockMove move_math(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    for (guint i = 0; a->part == 0 && i < op->n_math; i++)
        if (op->assign[i].array)
            ws_array_visit(op->assign[i].array, note_value, a);
    return yields(play, a) ? WS_MOVE_AGAIN : ws_clock_move_work(play, a);
}

/* --- borders ---------------------------------------------------------------------------------- */
/* A plain border does not wait for LDS operations of its half; every other barrier does. */
static WsClockMove move_barrier(WsClockPlay *play, WsPlayer *a)
{
    const double stored = a->stored;
    a->stored =
        a->step.op->border == WS_BORDER_PLAIN ? 0 : later(later(stored, a->reads), a->start);
    const WsClockMove move = ws_clock_play_named(play, a);
    a->stored = stored;
    return move;
}

static WsClockMove move_priority(WsClockPlay *play, WsPlayer *a)
{
    a->priority = a->step.op->n;
    a->now += cost(play, WS_MACHINE_PRIORITY);
    return WS_MOVE_NEXT;
}

static WsClockMove move_fence(WsClockPlay *play, WsPlayer *a)
{
    a->now += cost(play, WS_MACHINE_FENCE_GPU);
    return WS_MOVE_NEXT;
}

static WsClockMove move_nothing(WsClockPlay *play, WsPlayer *a)
{
    return WS_MOVE_NEXT;
}

/* --- the table: what is not here is not in the clock -------------------------------------------
 */
static const WsClockMoves moves[WS_OP_KIND_COUNT] = {
    [WS_OP_CP_ROWS] = move_load,
    [WS_OP_CP_COMMIT] = ws_clock_move_commit,
    [WS_OP_CP_WAIT] = move_load_wait,
    [WS_OP_MFMA] = move_mfma,
    [WS_OP_LD_SHARED] = move_read,
    [WS_OP_ST_SHARED] = move_write,
    [WS_OP_ST_GLOBAL] = move_write,
    [WS_OP_LD_GLOBAL] = move_tensor_read,
    [WS_OP_MATH] = move_math,
    [WS_OP_BAR_SYNC] = move_barrier,
    [WS_OP_PRIORITY] = move_priority,
    [WS_OP_FENCE_GPU] = move_fence,
    [WS_OP_LET] = ws_clock_move_let,
    [WS_OP_ADVANCE] = move_nothing,
    [WS_OP_MARK] = move_nothing,
    [WS_OP_RAW] = move_nothing, /* as the note of the result says */
};

WsClockMove ws_clock_half_move(WsClockPlay *play, WsPlayer *a)
{
    return ws_clock_move_by(play, a, moves);
}
