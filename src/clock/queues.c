/* Steps of the queues of a core (ascend). A queue works on one step after the other; a copy takes a
 * latency besides, in which the next one begins. A flag is up when all that its queue was given
 * before is over; the queue itself goes on. */
#include "clock/play.h"

#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"

static double cost(const WsClockPlay *play, WsMachineValue v)
{
    return play->m->value[v];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* The queue works until `end`; what it does is over `latency` later. */
static WsClockMove works(WsPlayer *a, double end, double latency)
{
    a->now = end;
    a->done = end + latency;
    a->stored = later(a->stored, a->done);
    return WS_MOVE_NEXT;
}

static WsClockMove copy(WsClockPlay *play, WsPlayer *a, WsUnit *unit, WsMachineValue rate,
                        WsMachineValue latency)
{
    const double bytes = (double)MAX(a->step.op->bytes, 0);
    ws_clock_note_bytes(play, a, (guint64)bytes);
    const double begin = a->now + cost(play, WS_MACHINE_QUEUE_START);
    const double end = ws_clock_serve(unit, begin, bytes / cost(play, rate)),
                 memory =
                     ws_clock_serve_shared(&a->sms[a->rank].hbm, begin, bytes / play->hbm_rate);
    return works(a, later(end, memory), cost(play, latency));
}

static WsClockMove move_in(WsClockPlay *play, WsPlayer *a)
{
    return copy(play, a, &a->sms[a->rank].load, WS_MACHINE_COPY_IN, WS_MACHINE_COPY_IN_LATENCY);
}

static WsClockMove move_out(WsClockPlay *play, WsPlayer *a)
{
    return copy(play, a, &a->sms[a->rank].store, WS_MACHINE_COPY_OUT, WS_MACHINE_COPY_OUT_LATENCY);
}

static WsClockMove on_core(WsClockPlay *play, WsPlayer *a, WsUnit *unit, double cycles)
{
    return works(a, ws_clock_serve(unit, a->now + cost(play, WS_MACHINE_QUEUE_START), cycles), 0);
}

static WsClockMove move_between(WsClockPlay *play, WsPlayer *a)
{
    return on_core(play, a, &a->sms[a->rank].smem,
                   (double)a->step.op->bytes / cost(play, WS_MACHINE_MOVE_BYTES));
}

static WsClockMove move_vector(WsClockPlay *play, WsPlayer *a)
{
    return on_core(play, a, &a->sms[a->rank].alu,
                   (double)a->step.op->bytes / cost(play, WS_MACHINE_VECTOR_BYTES));
}

static WsClockMove move_cube(WsClockPlay *play, WsPlayer *a)
{
    const WsAccess *sums = &a->step.op->access[0], *left = &a->step.op->access[1];
    return on_core(play, a, &a->sms[a->rank].tensor,
                   (double)sums->rows * sums->cols * left->cols / cost(play, WS_MACHINE_CUBE_MACS));
}

static WsClockMove move_set(WsClockPlay *play, WsPlayer *a)
{
    const double now = a->now;
    a->now = later(now, a->stored);
    const WsClockMove move = ws_clock_play_mbar(play, a);
    a->now = now + cost(play, WS_MACHINE_FLAG_SET);
    return move;
}

static WsClockMove move_wait(WsClockPlay *play, WsPlayer *a)
{
    const WsClockMove move = ws_clock_play_mbar(play, a);
    if (move == WS_MOVE_NEXT && a->now > a->start)
        a->now += cost(play, WS_MACHINE_FLAG_WAKE);
    return move;
}

static WsClockMove move_barrier(WsClockPlay *play, WsPlayer *a)
{
    a->now = later(a->now, a->stored) + cost(play, WS_MACHINE_QUEUE_BARRIER);
    return WS_MOVE_NEXT;
}

static WsClockMove move_all(WsClockPlay *play, WsPlayer *a)
{
    a->now = later(a->now, a->stored);
    return ws_clock_play_named(play, a);
}

static WsClockMove move_nothing(WsClockPlay *play, WsPlayer *a)
{
    return WS_MOVE_NEXT;
}

/* What is not here is not in the clock. */
static const WsClockMoves moves[WS_OP_KIND_COUNT] = {
    [WS_OP_QUEUE_IN] = move_in,        [WS_OP_QUEUE_OUT] = move_out,
    [WS_OP_QUEUE_MOVE] = move_between, [WS_OP_VECTOR] = move_vector,
    [WS_OP_CUBE] = move_cube,          [WS_OP_MBAR_ARRIVE] = move_set,
    [WS_OP_MBAR_WAIT] = move_wait,     [WS_OP_WARP_SYNC] = move_barrier,
    [WS_OP_BAR_SYNC] = move_all,       [WS_OP_LET] = ws_clock_move_let,
    [WS_OP_ADVANCE] = move_nothing,    [WS_OP_MARK] = move_nothing,
};

WsClockMove ws_clock_queue_move(WsClockPlay *play, WsPlayer *a)
{
    return ws_clock_move_by(play, a, moves);
}
