/* Costs of generic operations: what the statements of a compute step and the moves between
 * registers and memory need of the ALU, the MUFU and the shared-memory port. */
#include "clock/count.h"
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "program/waves.h"
#include "target/target.h"

#include <string.h>

guint64 ws_access_bytes(const WsProgram *p, const WsAccess *a)
{
    return (guint64)a->rows * a->cols * ws_dtype_bytes(p->buffer[a->buffer].dtype);
}

/* Lanes of `per_sm` that the warps of one agent can use: a warp stays in its quarter of the SM. */
static double usable(const WsTarget *hw, double per_sm, guint warps)
{
    return per_sm * MIN(warps, hw->group_warps) / hw->group_warps;
}

/* What is being gathered of a compute step. */
typedef struct {
    const WsOp *op;
    WsWork *w;
    WsWorkPhase now, apart; /* of the phase: what hangs together, and what stands by itself */
    gboolean *made;         /* [n_math] wide, in this phase */
    gboolean follows;       /* the statement takes something of these */
    gboolean completes;     /* it makes something of whole rows */
} Phases;

static void note_follows(const WsArray *node, gpointer data)
{
    Phases *p = data;
    for (guint i = 0; i < p->op->n_math; i++)
        if (p->made[i] && ((node->form == WS_ARRAY_TEMPORARY && node->index == i) ||
                           (node->form == WS_ARRAY_VALUE && p->op->assign[i].value >= 0 &&
                            node->index == (guint)p->op->assign[i].value)))
            p->follows = TRUE;
    if (node->form == WS_ARRAY_REDUCTION &&
        (node->x->func == WS_FUNC_ROWMAX || node->x->func == WS_FUNC_ROWSUM))
        p->completes = TRUE;
}

static void add(WsWorkPhase *to, const WsWorkPhase *more)
{
    to->alu += more->alu;
    to->half += more->half;
    to->mufu += more->mufu;
    to->latency += more->latency;
}

static void end_phase(Phases *p)
{
    WsWorkPhase *const part[] = { &p->now, &p->apart };
    for (guint i = 0; i < G_N_ELEMENTS(part); i++) {
        if (part[i]->alu > 0 || part[i]->mufu > 0 || part[i]->latency > 0) {
            if (p->w->n_phases < WS_WORK_PHASES)
                p->w->n_phases++;
            add(&p->w->phase[p->w->n_phases - 1], part[i]);
        }
        *part[i] = (WsWorkPhase){ 0 };
    }
    memset(p->made, 0, p->op->n_math * sizeof(gboolean));
}

/* Arithmetic hides behind ex2 and its like where it works on what these make; behind a row that is
 * made complete all begins again, and what neither takes nor gives waits until the rest is issued
 * (in SASS of attention: scaling the accumulator comes last). */
static void note_statement(Phases *p, guint i, WsWorkPhase cost, gboolean wide)
{
    const WsAssign *s = &p->op->assign[i];
    p->follows = p->completes = FALSE;
    if (s->array)
        ws_array_visit(s->array, note_follows, p);
    add(cost.mufu > 0 || p->follows || !wide ? &p->now : &p->apart, &cost);
    p->made[i] = wide && (cost.mufu > 0 || p->follows);
    if (p->completes)
        end_phase(p);
}

static WsWorkPhase taken(const WsClockPlay *play, const WsAgent *agent, const WsCount *c)
{
    const double *m = play->m->value;
    const WsTarget *hw = play->p->hardware;
    const double alu = usable(hw, m[WS_MACHINE_ALU_LANES], agent->warps);
    const double convert = c->convert / usable(hw, m[WS_MACHINE_CONVERT_LANES], agent->warps);
    return (WsWorkPhase){ .alu = c->alu / alu + convert,
                          .half = c->half / alu + convert,
                          .mufu = c->mufu / usable(hw, m[WS_MACHINE_MUFU_LANES], agent->warps),
                          .latency = c->shuffles * m[WS_MACHINE_SHUFFLE] };
}

static gboolean is_linear(const WsAgent *agent, gint value)
{
    return value >= 0 && agent->value[value].layout == WS_LAYOUT_LINEAR;
}

/* What a statement leaves is dealt out as the value that the step makes of it. */
static gboolean makes_linear(const WsAgent *agent, const WsOp *op, guint statement)
{
    for (guint i = statement; i < op->n_math; i++)
        if (op->assign[i].value >= 0)
            return is_linear(agent, op->assign[i].value);
    return FALSE;
}

static WsWork math_work(const WsClockPlay *play, const WsOp *op)
{
    const WsAgent *agent = &play->p->agent[op->agent];
    g_autofree WsShape *temporary = g_new0(WsShape, op->n_math + 1);
    g_autofree gboolean *made = g_new0(gboolean, op->n_math + 1);
    const WsCount none = { .hw = play->p->hardware,
                           .agent = agent,
                           /* blocks of 16 or 32 lanes of halves hold columns of the same rows */
                           .quad = play->p->hardware->halves
                                       ? play->p->hardware->lanes / agent->mma_rows *
                                             MAX(play->waves_n, 1)
                                       : play->p->hardware->matrix.quad,
                           .temporary = temporary };
    WsWork w = { 0 };
    Phases phases = { .op = op, .w = &w, .made = made };
    if (op->unless) { /* taken to be skipped: only the question costs */
        WsCount c = none;
        ws_count(&c, op->unless);
        phases.now = taken(play, agent, &c);
    }
    for (guint i = 0; !op->unless && i < op->n_math; i++) {
        const WsAssign *s = &op->assign[i];
        WsCount c = none;
        guint tile;
        c.linear = makes_linear(agent, op, i);
        WsShape shape = { 0, 0 };
        if (s->value >= 0 && !c.hw->halves &&
            ws_array_half(agent, s->array, (guint)s->value, &tile)) {
            ws_count_half(&c, tile);
            shape = (WsShape){ agent->value[tile].rows, agent->value[tile].cols };
        } else if (s->array) {
            shape = temporary[i] = ws_count(&c, s->array);
        }
        WsWorkPhase cost = taken(play, agent, &c);
        w.instructions += (c.alu - c.half / 2 + c.mufu + c.convert / 2) / agent->threads;
        cost.latency += play->m->value[WS_MACHINE_MATH_START];
        if (c.hw->halves)
            add(&phases.now, &cost);
        else
            note_statement(&phases, i, cost, shape.cols > c.quad);
    }
    end_phase(&phases);
    for (guint i = 0; i < w.n_phases; i++) {
        w.alu += w.phase[i].alu;
        w.mufu += w.phase[i].mufu;
    }
    return w;
}

static double value_elements(const WsOp *op)
{
    return op->n_value ? (double)op->value[0].rows * op->value[0].cols : 0;
}

/* A read of two columns of 4 bytes in each lane: under a swizzle of 128 bytes rows 2i and 2i + 1
 * lie in the same banks, and both are in the half of a warp that is served at a time. In a write
 * odd rows begin with the other half of their columns. */
static gboolean meets_itself(const WsProgram *p, const WsOp *op)
{
    if (!ws_op_loads_shared(op->kind) || !op->n_access || !op->n_value || op->value[0].rows < 2 ||
        p->hardware->halves)
        return FALSE;
    const WsBuffer *b = &p->buffer[op->access[0].buffer];
    return b->swizzle == 128 && ws_dtype_bytes(b->dtype) == 4;
}

static WsWork shared_work(const WsClockPlay *play, const WsOp *op)
{
    const double *m = play->m->value;
    const WsAgent *agent = &play->p->agent[op->agent];
    WsWork w = { 0 };
    guint64 bytes = 0;
    for (guint i = 0; i < op->n_access; i++)
        bytes += ws_access_bytes(play->p, &op->access[i]);
    gboolean stores = ws_op_stores_shared(op->kind);
    w.smem = (double)bytes / m[stores ? WS_MACHINE_SMEM_STORE : WS_MACHINE_SMEM_BYTES];
    if (meets_itself(play->p, op))
        w.smem *= 2;
    gboolean loads = ws_op_loads_shared(op->kind);
    if (loads && ws_op_picks(op)) /* lanes that meet in a bank are not counted */
        w.smem = value_elements(op) * ws_dtype_bytes(play->p->buffer[op->access[0].buffer].dtype) /
                 m[WS_MACHINE_SMEM_BYTES];
    /* Every warp reads a row that all of them hold, and takes the port once for two columns of a
     * lane. */
    if (loads && op->n_value && op->value[0].rows == 1 && !play->p->hardware->halves &&
        !is_linear(agent, (gint)op->value[0].value))
        w.smem = MAX(w.smem, (double)agent->warps * op->value[0].cols /
                                 (2 * play->p->hardware->matrix.quad));
    if (loads || op->kind == WS_OP_TRANSPOSE)
        w.latency = m[WS_MACHINE_SMEM_LATENCY];
    if (op->kind == WS_OP_TRANSPOSE) /* byte permutes, two per 32-bit word */
        w.alu =
            (double)bytes / 4 / usable(play->p->hardware, m[WS_MACHINE_ALU_LANES], agent->warps);
    if (!loads && op->n_value && op->n_access) {
        guint from = ws_dtype_bytes(agent->value[op->value[0].value].dtype);
        guint to = ws_dtype_bytes(play->p->buffer[op->access[0].buffer].dtype);
        if (from != to)
            w.alu += value_elements(op) /
                     usable(play->p->hardware, m[WS_MACHINE_CONVERT_LANES], agent->warps);
    }
    return w;
}

WsWork ws_work_of(const WsClockPlay *play, const WsOp *op)
{
    if (op->kind == WS_OP_MATH)
        return math_work(play, op);
    return shared_work(play, op);
}

double *ws_clock_special_cycles(const WsProgram *p, const WsMachine *m)
{
    WsClockPlay play = { .p = p, .m = m };
    ws_waves_grid(p, &play.waves_m, &play.waves_n);
    double *cycles = g_new0(double, MAX(p->n_ops, 1));
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MATH && p->op[i]->agent >= 0)
            /* of the whole unit: fewer than four warps reach a part of it only */
            cycles[i] = usable(p->hardware, math_work(&play, p->op[i]).mufu,
                               p->agent[p->op[i]->agent].warps);
    return cycles;
}

/* Cycles of one instruction: N/2 by the pipe, or what its operands take through the port. */
double ws_work_product(const WsClockPlay *play, const WsMma *mma, double *smem)
{
    const double *m = play->m->value;
    double a = mma->a.in_registers ? 0
                                   : (double)play->p->hardware->matrix.m * mma->inst_k *
                                         ws_dtype_bytes(mma->a_type);
    double b = (double)mma->n * mma->inst_k * ws_dtype_bytes(mma->b_type);
    *smem = (a + b) / m[WS_MACHINE_SMEM_BYTES];
    return MAX(mma->n / m[WS_MACHINE_MMA_COLUMNS], *smem);
}

double *ws_clock_product_cycles(const WsProgram *p, const WsMachine *m)
{
    const WsClockPlay play = { .p = p, .m = m };
    double *cycles = g_new0(double, MAX(p->n_ops, 1)), smem;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsMma *mma = p->op[i]->mma;
        if (mma && p->hardware->halves)
            cycles[i] = ws_clock_half_product(&play, mma);
        else if (ws_op_is_product(p->op[i]->kind) && mma && mma->inst_k)
            cycles[i] = ws_work_product(&play, mma, &smem) * MAX(mma->atoms, 1) *
                        MAX(mma->k / mma->inst_k, 1);
    }
    return cycles;
}
