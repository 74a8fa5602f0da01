/* Instructions that an SM does not hold. What its agents issued last stays, the rest is fetched for
 * all of them at so many bytes a cycle. Each agent has code of its own. */
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/program.h"

#define BYTES  16.0 /* of an instruction */
#define ANY    6    /* instructions of what nothing else is known of */
#define MATRIX 3    /* of one product, with its descriptors */

/* What it holds: operations from the last one that was issued to the first, a ring through `none`.
 */
struct WsCode {
    guint none; /* n_ops */
    guint *next, *last;
    double *bytes; /* by operation; 0: not held */
    double all;
};

WsCode *ws_code_new(guint n_ops)
{
    WsCode *c = g_new0(WsCode, 1);
    c->none = n_ops;
    c->next = g_new(guint, n_ops + 1);
    c->last = g_new(guint, n_ops + 1);
    c->bytes = g_new0(double, n_ops + 1);
    c->next[n_ops] = c->last[n_ops] = n_ops;
    return c;
}

void ws_code_free(WsCode *c)
{
    if (!c)
        return;
    g_free(c->next);
    g_free(c->last);
    g_free(c->bytes);
    g_free(c);
}

static void take_out(WsCode *c, guint op)
{
    c->next[c->last[op]] = c->next[op];
    c->last[c->next[op]] = c->last[op];
}

static void put_first(WsCode *c, guint op)
{
    c->next[op] = c->next[c->none];
    c->last[op] = c->none;
    c->last[c->next[op]] = op;
    c->next[c->none] = op;
}

static double bytes_of(WsClockPlay *play, const WsOp *op)
{
    double n = ANY;
    if (op->n_math)
        n += ws_clock_work(play, op)->instructions;
    else if (op->mma && op->mma->inst_k)
        n += MATRIX * (double)MAX(op->mma->atoms, 1) * MAX(op->mma->k / op->mma->inst_k, 1);
    else if (op->n_value && op->agent >= 0)
        n += (double)op->value[0].rows * op->value[0].cols / play->p->agent[op->agent].threads;
    return n * BYTES;
}

/* TRUE: it has to be fetched. */
static gboolean issue(WsCode *c, guint op, double bytes, double most)
{
    const gboolean missing = c->bytes[op] <= 0;
    if (missing)
        c->all += c->bytes[op] = bytes;
    else
        take_out(c, op);
    put_first(c, op);
    while (c->all > most && c->last[c->none] != op) {
        const guint first = c->last[c->none];
        take_out(c, first);
        c->all -= c->bytes[first];
        c->bytes[first] = 0;
    }
    return missing;
}

void ws_clock_fetch_code(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    WsSm *sm = &a->sms[a->rank];
    const double rate = play->m->value[WS_MACHINE_CODE_RATE];
    a->code = 0;
    if (rate <= 0)
        return;
    if (!sm->held)
        sm->held = ws_code_new(play->p->n_ops);
    const double bytes =
        sm->held->bytes[op->index] > 0 ? sm->held->bytes[op->index] : bytes_of(play, op);
    if (!issue(sm->held, op->index, bytes, play->m->value[WS_MACHINE_CODE_HELD]))
        return;
    a->code = ws_clock_serve_for(play, a, &sm->code, WS_CAUSE_CODE, a->now, bytes / rate);
    a->code_by = sm->code.by;
    if (!op->n_math) /* arithmetic goes on while the rest of it comes */
        ws_clock_await_code(play, a);
}

void ws_clock_await_code(WsClockPlay *play, WsPlayer *a)
{
    if (a->code <= a->now)
        return;
    ws_clock_because_order(play, a, a->now);
    ws_clock_because(play, WS_CAUSE_CODE, a->code_by, a->code);
    a->now = a->code;
    a->code = 0;
    ws_clock_goes_on(play, a);
}
