/* Statements on the ALU and the MUFU, and moves of registers that are no reads or writes alone. */
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "target/target.h"

#include <math.h>

#define SLICE 64.0 /* cycles after which agents that share a pipe take turns */

/* Takes the unit for longer than its work is: it is busy for the work alone. */
static double serve_slower(WsClockPlay *play, const WsPlayer *a, WsUnit *u, WsCauseKind unit,
                           double cycles, double taken)
{
    if (taken <= 0)
        return a->now;
    u->busy -= taken - cycles;
    return ws_clock_serve_for(play, a, u, unit, a->now, taken);
}

/* One slice of so much at full rate. wgmma reads and writes the register file too: beside it every
 * result takes longer, and the MUFU stands while its group issues other arithmetic. */
static void move_slice(WsClockPlay *play, WsPlayer *a, double alu, double half, double mufu,
                       double smem)
{
    WsSm *sm = &a->sms[a->rank];
    const double *m = play->m->value;
    double alu_taken = alu, mufu_taken = mufu, smem_taken = smem;
    if (sm->tensor.free > a->now) {
        alu_taken =
            m[WS_MACHINE_ALU_BESIDE_MMA] * (alu - half) + m[WS_MACHINE_HALF_BESIDE_MMA] * half;
        mufu_taken = m[WS_MACHINE_MUFU_BESIDE_MMA] * mufu;
        if (mufu > 0 && !play->p->hardware->halves)
            mufu_taken += alu_taken;
        smem_taken = m[WS_MACHINE_MUFU_BESIDE_MMA] * smem;
    }
    const double ends[] = {
        serve_slower(play, a, &sm->alu, WS_CAUSE_ALU, alu, alu_taken),
        serve_slower(play, a, &sm->mufu, WS_CAUSE_MUFU, mufu, mufu_taken),
        serve_slower(play, a, &sm->smem, WS_CAUSE_SHARED, smem, smem_taken),
    };
    ws_clock_because_order(play, a, a->now);
    if (alu > 0)
        ws_clock_because(play, WS_CAUSE_ALU, sm->alu.by, ends[0]);
    if (mufu > 0)
        ws_clock_because(play, WS_CAUSE_MUFU, sm->mufu.by, ends[1]);
    if (smem > 0)
        ws_clock_because(play, WS_CAUSE_SHARED, sm->smem.by, ends[2]);
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++)
        a->now = MAX(a->now, ends[i]);
    ws_clock_goes_on(play, a);
}

static guint slices_of(double longest)
{
    return (guint)CLAMP(ceil(longest / SLICE), 1, 1000);
}

static WsClockMove move_phase(WsClockPlay *play, WsPlayer *a, const WsWork *w)
{
    const WsWorkPhase *x = &w->phase[a->phase];
    const guint slices = slices_of(MAX(x->alu, x->mufu));
    move_slice(play, a, x->alu / slices, x->half / slices, x->mufu / slices, 0);
    if (++a->part < slices)
        return WS_MOVE_AGAIN;
    a->now += ws_clock_own(play, a, x->latency);
    a->part = 0;
    return ++a->phase < w->n_phases ? WS_MOVE_AGAIN : WS_MOVE_NEXT;
}

const WsWork *ws_clock_work(WsClockPlay *play, const WsOp *op)
{
    if (!play->work_known[op->index]) {
        play->work[op->index] = ws_work_of(play, op);
        play->work_known[op->index] = TRUE;
    }
    return &play->work[op->index];
}

WsClockMove ws_clock_move_work(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    const WsWork *w = ws_clock_work(play, op);
    if (ws_op_stores_shared(op->kind))
        return ws_port_store(play, a, w);
    if (ws_op_loads_shared(op->kind))
        return ws_port_load(play, a, w);
    if (w->n_phases)
        return move_phase(play, a, w);
    const guint slices = slices_of(MAX(w->alu, w->smem));
    move_slice(play, a, w->alu / slices, 0, 0, w->smem / slices);
    if (++a->part < slices)
        return WS_MOVE_AGAIN;
    a->now += ws_clock_own(play, a, w->latency);
    return WS_MOVE_NEXT;
}
