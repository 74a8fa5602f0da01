/* One operation of the current role, and the operations that are one primitive or two. */
#include "codegen/cuda/cuda.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

static const char *prim(WsPrim id)
{
    return ws_cuda_prim_name(id);
}

/* --- mbarriers ---------------------------------------------------------------------------------*/

static void mbar_init(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(c, "%s(%s, %" G_GINT64_FORMAT ");", prim(WS_PRIM_MBAR_INIT),
                 ws_cuda_barrier(c, op), op->n);
}

/* Parities are "(use / slots) mod 2" in the program; slots by their name. */
static const char *parity_of(WsCuda *c, const WsOp *op)
{
    const WsBarrier *b = &c->p->barrier[op->barrier];
    c->terms.ring = b->slots;
    c->terms.ring_name = ws_cuda_count(c, b->slots_name, b->slots);
    const char *s = ws_cuda_use(c, op->parity).s;
    c->terms.ring_name = NULL;
    return s;
}

static void mbar_wait(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(
        c, "%s(%s, %s);",
        prim(op->scope == WS_SCOPE_CLUSTER ? WS_PRIM_MBAR_WAIT_CLUSTER : WS_PRIM_MBAR_WAIT),
        ws_cuda_barrier(c, op), parity_of(c, op));
}

static void arrive_remote(WsCuda *c, const char *bar, const char *rank, gint64 n)
{
    ws_cuda_line(
        c, "%s(%s, %s, %" G_GINT64_FORMAT ");",
        prim(ws_fact_publishes(c->p) ? WS_PRIM_MBAR_ARRIVE_PUBLISH : WS_PRIM_MBAR_ARRIVE_REMOTE),
        bar, rank, n);
}

static void arrive_at(WsCuda *c, const WsOp *op, const char *bar, gint64 n)
{
    if (op->ctas.kind == WS_CTAS_OWN) {
        if (n == 1)
            ws_cuda_line(c, "%s(%s);", prim(WS_PRIM_MBAR_ARRIVE), bar);
        else
            ws_cuda_line(c, "%s(%s, %" G_GINT64_FORMAT ");", prim(WS_PRIM_MBAR_ARRIVE_N), bar, n);
    } else if (op->ctas.kind == WS_CTAS_EXPR) {
        arrive_remote(c, bar, ws_cuda_int(c, op->ctas.expr), n);
    } else {
        for (guint i = 0; i < c->p->cluster; i++) {
            if (ws_fact_reaches(op, i))
                arrive_remote(c, bar, ws_cuda_format(c, "%u", i), n);
        }
    }
}

static void mbar_arrive(WsCuda *c, const WsOp *op)
{
    const char *bar = ws_cuda_barrier(c, op);
    if (op->per == 0) { /* the leader's guard is in place */
        arrive_at(c, op, bar, op->count);
        return;
    }
    gint64 lanes = c->agent->threads / op->per;
    if (lanes < 1 || op->count % lanes != 0) {
        ws_cuda_step_error(c, op, "arrivals that its lanes do not divide");
        return;
    }
    if (op->per > 1)
        ws_cuda_open(c, "if (thread %% %" G_GINT64_FORMAT " == 0)", op->per);
    arrive_at(c, op, bar, op->count / lanes);
    if (op->per > 1)
        ws_cuda_close(c);
}

static void mbar_expect(WsCuda *c, const WsOp *op)
{
    const char *bar = ws_cuda_barrier(c, op);
    ws_cuda_line(c, "%s(%s, %" G_GINT64_FORMAT ");",
                 prim(op->count == 1 ? WS_PRIM_MBAR_EXPECT : WS_PRIM_MBAR_EXPECT_ONLY), bar,
                 op->bytes);
    if (op->count > 1)
        ws_cuda_line(c, "%s(%s, %" G_GINT64_FORMAT ");", prim(WS_PRIM_MBAR_ARRIVE_N), bar,
                     op->count);
}

/* --- named barriers, fences, waits of groups -------------------------------------------------- */

static void one_immediate(WsCuda *c, WsPrim id, gint64 n)
{
    ws_cuda_line(c, "%s<" WS_FOLD_IMMEDIATE "%" G_GINT64_FORMAT ">();", prim(id), n);
}

static void bar(WsCuda *c, const WsOp *op)
{
    guint element = 0, id = 0;
    if (op->barrier >= 0) {
        const WsBarrier *b = &c->p->barrier[op->barrier];
        if (!ws_cuda_constant(c, op->element, &element) || element >= b->array) {
            ws_cuda_step_error(c, op, "a named barrier whose element is not constant");
            return;
        }
        id = (guint)b->hw_id[element];
    }
    ws_cuda_line(c, "%s<" WS_FOLD_IMMEDIATE "%u, " WS_FOLD_IMMEDIATE "%" G_GINT64_FORMAT ">();",
                 prim(op->kind == WS_OP_BAR_ARRIVE ? WS_PRIM_BAR_ARRIVE : WS_PRIM_BAR_SYNC), id,
                 op->count);
    const WsOp *wait = ws_fact_wait_again(c->p, op);
    if (wait)
        one_immediate(c, WS_PRIM_WGMMA_WAIT, wait->n);
    if (ws_fact_barrier_before_math(c->p, op))
        ws_cuda_line(c, "%s(n_tiles);", prim(WS_PRIM_STAY));
}

static void bulk_wait(WsCuda *c, const WsOp *op)
{
    one_immediate(c, op->full ? WS_PRIM_BULK_WAIT : WS_PRIM_BULK_WAIT_READ, op->n);
}

static void cp_wait(WsCuda *c, const WsOp *op)
{
    one_immediate(c, WS_PRIM_CP_WAIT, op->n);
}

static void cp_arrive(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(c, "%s(%s);", prim(WS_PRIM_CP_ARRIVE), ws_cuda_barrier(c, op));
}

/* In shared warp groups the role switch has done it for all warps together. */
static void setmaxnreg(WsCuda *c, const WsOp *op)
{
    if (!c->agent || c->whole_group)
        one_immediate(c, op->increase ? WS_PRIM_SETMAXNREG_INC : WS_PRIM_SETMAXNREG_DEC, op->n);
}

static void plain(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(c, "%s();", prim(ws_fact_plain(op->kind)));
}

static void fence_async(WsCuda *c, const WsOp *op)
{
    (void)op;
    ws_cuda_line(c, "%s();",
                 prim(ws_fact_peeks(c->p) ? WS_PRIM_FENCE_ASYNC_CLUSTER : WS_PRIM_FENCE_ASYNC));
}

static void prefetch_map(WsCuda *c, const WsOp *op)
{
    if (op->map >= 0)
        ws_cuda_line(c, "%s(%s);", prim(WS_PRIM_PREFETCH_MAP), c->map[op->map]);
}

/* --- variables ---------------------------------------------------------------------------------*/

static void let(WsCuda *c, const WsOp *op)
{
    WsTerm t = ws_cuda_uniform(c, op->set);
    ws_cuda_line(c, "%s = %s;", c->var[op->var].s, t.s);
    c->var[op->var].in = t.in;
    gint64 v; /* the interval may become one value, but it is a variable all the same */
    if (ws_term_known(t, &v))
        c->var[op->var].in = ws_interval(v, v);
}

static void advance(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(c, "%s += %s;", c->var[op->var].s, ws_cuda_uniform(c, op->set).s);
}

/* --- dynamic launches --------------------------------------------------------------------------*/

static const char *slot(WsCuda *c, const WsOp *op)
{
    WsTerm at = ws_cuda_view_offset(c, &op->access[0], 0, 0);
    return ws_cuda_format(c, "%s + %s", ws_cuda_stage(c, &op->access[0]), at.s);
}

static void claim(WsCuda *c, const WsOp *op)
{
    if (ws_fact_shared_tiles(op) || !c->next_tile) {
        ws_cuda_step_error(c, op, "a claim in a loop that more than the leader runs");
        return;
    }
    ws_cuda_line(c, "%s = n_clusters + int(%s(counter, n_tiles - 1));", c->next_tile,
                 prim(WS_PRIM_COUNT_UP));
    ws_cuda_line(c, "%s(%s, %s);", prim(WS_PRIM_ST_SHARED), slot(c, op), c->next_tile);
}

static void take(WsCuda *c, const WsOp *op)
{
    if (!c->next_tile) {
        ws_cuda_step_error(c, op, "a take outside of a loop over tiles");
        return;
    }
    ws_cuda_line(c, c->in_leader ? "%s = int(%s(%s));" : "%s = uniform(int(%s(%s)));", c->next_tile,
                 prim(WS_PRIM_LD_SHARED), slot(c, op));
}

/* --- pipes that are closed: a word in each slot, 0 a round, 1 the end */

static void tell(WsCuda *c, const WsOp *op)
{
    ws_cuda_line(c, "%s(%s, %d);", prim(WS_PRIM_ST_SHARED), slot(c, op), op->n != 0);
}

static void ask(WsCuda *c, const WsOp *op)
{
    (void)c, (void)op; /* the test of the loop: ws_cuda_goes_on */
}

const char *ws_cuda_goes_on(WsCuda *c, const WsOp *ask)
{
    return ws_cuda_format(c, c->in_leader ? "int(%s(%s)) == 0" : "uniform(int(%s(%s))) == 0",
                          prim(WS_PRIM_LD_SHARED), slot(c, ask));
}

static void mark(WsCuda *c, const WsOp *op)
{
    (void)c, (void)op; /* for recorders */
}

typedef void (*Print)(WsCuda *c, const WsOp *op);
#define UNKNOWN                             NULL
#define PLAIN                               plain
#define WS_LOWER(id, prim, llvm, cuda, ...) [WS_OP_##id] = cuda,
static const Print print[WS_OP_KIND_COUNT] = {
#include "codegen/lower.def"
};

void ws_cuda_op(WsCuda *c, const WsOp *op)
{
    if (c->error)
        return;
    ws_account_written(&c->account, op); /* declared: its text has it */
    if (op->declared)
        return;
    c->op = op;
    c->temporaries = 0;
    if (!print[op->kind]) {
        ws_cuda_step_error(c, op, NULL);
        return;
    }
    if (op->agent >= 0)
        ws_cuda_step_comment(c, op);
    print[op->kind](c, op);
}
