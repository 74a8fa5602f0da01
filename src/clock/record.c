/* What the play writes down: trace records, rounds of loops, exposed waits. */
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <math.h>

static gint64 whole(double cycles)
{
    return (gint64)llrint(cycles);
}

void ws_clock_play_close_record(WsClockPlay *play, WsPlayer *a)
{
    if (a->record_step && play->trace)
        ws_trace_add(play->trace, &a->record);
    a->record_step = NULL;
}

/* Further boxes of a load, fragments of a write: one record per execution of a step. */
static gboolean continues(const WsPlayer *a, const WsOp *op, gint64 round)
{
    if (!a->record_step || ws_op_waits(op->kind))
        return FALSE;
    return op->index > a->record_last && a->record_round == round &&
           a->record_rounds == a->step.n_rounds && g_strcmp0(a->record_step, op->step) == 0;
}

/* The innermost loop's total; the position of the tile where that is it. */
static gint32 round_of(const WsPlayer *a)
{
    const guint n = a->step.n_rounds;
    const gboolean tile = n && a->step.loop[n - 1]->over == WS_OVER_TILES;
    return (gint32)(tile ? ws_walker_position(a->walker) : n ? a->step.round[n - 1] : 0);
}

WsTraceSpot ws_clock_spot(const WsPlayer *a)
{
    return (WsTraceSpot){ a->cta, a->agent, a->step.op->index, round_of(a) };
}

static void write_record(WsClockPlay *play, WsPlayer *a, gint64 issued, gint64 done)
{
    const WsOp *op = a->step.op;
    gint64 round = a->step.n_rounds ? a->step.round[a->step.n_rounds - 1] : 0;
    if (continues(a, op, round) && play->p->op[a->record.op]->kind == op->kind) {
        a->record.issued = issued;
        a->record.done = MAX(a->record.done, done);
        a->record_last = op->index;
        return;
    }
    ws_clock_play_close_record(play, a);
    a->record = (WsTraceRecord){
        .op = op->index,
        .agent = (guint16)a->agent,
        .cta = (guint16)a->cta,
        .tile = (gint32)ws_walker_position(a->walker),
        .round = round_of(a),
        .start = whole(a->start),
        .issued = issued,
        .done = done,
    };
    a->record_step = op->step ? op->step : op->id;
    a->record_last = op->index;
    a->record_rounds = a->step.n_rounds;
    a->record_round = round;
}

void ws_clock_play_note_op(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    if (ws_op_waits(op->kind) && a->cta == 0) {
        WsWaitSum *sum = &play->wait[op->index];
        sum->count++;
        sum->exposed += MAX(a->now - a->start - a->base, 0);
    }
    play->end = MAX(play->end, a->now);
    if (!play->trace || a->cluster >= play->n_devices || !ws_op_predicted(op->kind))
        return;
    gint64 issued = whole(a->now);
    gint64 done = ws_op_flies(op->kind) ? MAX(issued, whole(a->done)) : issued;
    write_record(play, a, issued, done);
}

static WsLoopTrack *track_of(WsClockPlay *play, guint agent, const WsTree *loop)
{
    for (guint i = 0; i < play->loops->len; i++) {
        WsLoopTrack *t = &g_array_index(play->loops, WsLoopTrack, i);
        if (t->agent == agent && t->loop == loop)
            return t;
    }
    WsLoopTrack fresh = { agent, loop, 0, g_array_new(FALSE, FALSE, sizeof(double)) };
    g_array_append_val(play->loops, fresh);
    return &g_array_index(play->loops, WsLoopTrack, play->loops->len - 1);
}

static void note_tile(WsClockPlay *play, WsPlayer *a)
{
    gint64 position = ws_walker_position(a->walker);
    if (position < 0 || position > 1 << 20)
        return;
    if (play->tile_start->len <= (guint)position)
        g_array_set_size(play->tile_start, (guint)position + 1);
    WsSnapshot *s = &g_array_index(play->tile_start, WsSnapshot, position);
    const WsSm *sm = &play->sm[0];
    if (a->now >= s->at)
        *s = (WsSnapshot){ a->now,         sm->tensor.busy, MAX(sm->load.busy, sm->l2.busy),
                           sm->store.busy, sm->smem.busy,   sm->alu.busy,
                           sm->mufu.busy };
}

/* A loop whose round differs from that of the operation before begins a round here. */
void ws_clock_play_note_rounds(WsClockPlay *play, WsPlayer *a)
{
    const WsStep *now = &a->step, *before = &a->last;
    guint d = 0;
    while (d < now->n_rounds && d < before->n_rounds && now->loop[d] == before->loop[d] &&
           now->round[d] == before->round[d])
        d++;
    if (d == now->n_rounds)
        return;
    a->now += ws_clock_own(play, a, play->m->value[WS_MACHINE_LOOP]);
    a->rows_from = a->now;
    if (now->loop[d]->over == WS_OVER_TILES && play->reads_for_tiles)
        a->now += play->m->value[WS_MACHINE_GLOBAL_LATENCY];
    if (a->cta != 0)
        return;
    if (now->loop[d]->over == WS_OVER_TILES)
        note_tile(play, a);
    gboolean same_loop = d < before->n_rounds && now->loop[d] == before->loop[d];
    for (guint i = d; i < now->n_rounds; i++) {
        WsLoopTrack *t = track_of(play, a->agent, now->loop[i]);
        double distance = a->now - t->start;
        if (play->events) {
            const WsEventRound begun = { a->agent, now->loop[i], a->now, i == d && same_loop };
            g_array_append_val(play->events->round, begun);
        }
        if (i == d && same_loop)
            g_array_append_val(t->distance, distance);
        t->start = a->now;
    }
}
