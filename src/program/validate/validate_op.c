#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/validate.h"
#include "target/target.h"

#define HOLDS(condition) ws_holds(v, condition, #condition)

/* --- operands ----------------------------------------------------------------------------------
 */

/* start .. start + count lies in 0 .. extent, as far as the start is known here. */
static gboolean inside(const WsExpr *start, gint64 count, gint64 extent)
{
    gint64 at;
    return count >= 1 && count <= extent &&
           (!ws_literal(start, &at) || (at >= 0 && at + count <= extent));
}

static void view(WsValidation *v, const WsAccess *a)
{
    gint64 row, col;
    if (!HOLDS(a->buffer < v->p->n_buffers))
        return;
    const WsBuffer *b = &v->p->buffer[a->buffer];
    HOLDS(a->element && a->stage && a->row0 && a->col0);
    HOLDS(inside(a->element, 1, b->array) && inside(a->stage, 1, b->stages));
    HOLDS(inside(a->row0, a->rows, b->rows) && inside(a->col0, a->cols, b->cols));
    HOLDS(a->mode && !(a->mode & ~(WS_MODE_READ | WS_MODE_WRITE)));
    HOLDS(a->proxy == WS_PROXY_GENERIC || a->proxy == WS_PROXY_ASYNC);
    if (ws_literal(a->row0, &row) && ws_literal(a->col0, &col))
        HOLDS(a->stage_offset == (gint64)ws_buffer_offset(b, (guint)row, (guint)col));
    else
        HOLDS(a->stage_offset == -1);
}

static void value(WsValidation *v, const WsValueUse *u)
{
    if (!HOLDS(v->agent && u->value < v->agent->n_values))
        return;
    const WsRegValue *of = &v->agent->value[u->value];
    HOLDS(u->row0 && u->col0 && inside(u->row0, u->rows, of->rows) &&
          inside(u->col0, u->cols, of->cols));
    HOLDS(u->mode && !(u->mode & ~(WS_MODE_READ | WS_MODE_WRITE)));
}

static void at_barrier(WsValidation *v, const WsOp *op)
{
    if (op->barrier < 0 || !HOLDS((guint)op->barrier < v->p->n_barriers))
        return;
    const WsBarrier *b = &v->p->barrier[op->barrier];
    gboolean named = ws_op_joins(op->kind);
    ws_holds(v, named == (b->kind == WS_BARRIER_NAMED), "a barrier of the other kind");
    HOLDS(inside(op->element, 1, b->array) && op->element);
    if (named)
        return;
    HOLDS(op->slot && inside(op->slot, 1, b->slots));
    HOLDS(!op->use == !op->turn || op->kind == WS_OP_MBAR_INIT);
    HOLDS((op->kind == WS_OP_MBAR_WAIT) == (op->parity != NULL));
}

static void targets(WsValidation *v, const WsCtas *c)
{
    HOLDS(c->kind != WS_CTAS_EXPR || c->expr);
    HOLDS(c->kind != WS_CTAS_MASK || (c->mask && !(c->mask >> v->p->cluster)));
}

/* --- kinds -------------------------------------------------------------------------------------
 */

static void needs_barrier(WsValidation *v, const WsOp *op)
{
    ws_holds(v, op->barrier >= 0, "no barrier");
}

static void box(WsValidation *v, const WsOp *op)
{
    const gboolean queue = v->agent && v->agent->queue >= 0, prefetch = op->kind == WS_OP_PREFETCH;
    gboolean load = ws_op_row(op->kind)->to == WS_DATA_AT_SHARED;
    if (!HOLDS(op->map >= 0 && (guint)op->map < v->p->n_maps))
        return;
    HOLDS((gint)v->p->map[op->map].tensor == op->tensor);
    HOLDS(op->n_coord == v->p->tensor[op->tensor].rank);
    if (prefetch || !HOLDS(op->n_access == 1))
        return;
    const WsAccess *a = &op->access[0];
    HOLDS(a->mode == (load ? WS_MODE_WRITE : WS_MODE_READ) &&
          a->proxy == (queue ? WS_PROXY_GENERIC : WS_PROXY_ASYNC));
    HOLDS(op->bytes == (gint64)a->rows * a->cols * ws_dtype_bytes(v->p->buffer[a->buffer].dtype));
    if (load && !queue)
        needs_barrier(v, op);
}

static void arrive(WsValidation *v, const WsOp *op)
{
    needs_barrier(v, op);
    HOLDS(op->count >= 1 && op->per >= 0 && op->per <= v->p->hardware->lanes);
}

static void expect(WsValidation *v, const WsOp *op)
{
    needs_barrier(v, op);
    HOLDS(op->bytes >= 0 && (op->count == 0 || op->count == 1));
}

static void join(WsValidation *v, const WsOp *op)
{
    HOLDS(op->count >= 1); /* what the author says; the check judges it */
}

static void product(WsValidation *v, const WsOp *op)
{
    const WsMma *m = op->mma;
    if (!HOLDS(m && m->first && op->n_value == (m->a.in_registers ? 2u : 1u)))
        return;
    HOLDS(op->n_access == (m->a.in_registers ? 1u : 2u));
    HOLDS(op->value[0].mode == (WS_MODE_READ | WS_MODE_WRITE));
    HOLDS(v->agent->value[op->value[0].value].layout == WS_LAYOUT_ACCUMULATOR);
    HOLDS(v->agent->value[op->value[0].value].dtype == m->acc_type);
    HOLDS(!m->a.in_registers || (op->value[1].mode == WS_MODE_READ &&
                                 v->agent->value[op->value[1].value].dtype == m->a_type));
    HOLDS(m->m == op->value[0].rows && m->n == op->value[0].cols &&
          m->m == m->atoms * v->p->hardware->matrix.m);
    HOLDS(m->inst_k && m->k == m->inst_k * m->b.n_k && m->a.n_k == m->b.n_k);
    HOLDS(m->b.k_offset && (m->a.in_registers || m->a.k_offset));
}

static void of_values(WsValidation *v, const WsOp *op)
{
    const WsMma *m = op->mma;
    if (!HOLDS(m && m->first && op->n_value == 3 && op->n_access == 0))
        return;
    HOLDS((op->value[0].mode & WS_MODE_WRITE) && op->value[1].mode == WS_MODE_READ &&
          op->value[2].mode == WS_MODE_READ);
    HOLDS(v->agent->value[op->value[0].value].dtype == m->acc_type &&
          v->agent->value[op->value[1].value].dtype == m->a_type &&
          v->agent->value[op->value[2].value].dtype == m->b_type);
    HOLDS(m->m == op->value[0].rows && m->n == op->value[0].cols && m->k == op->value[1].cols);
}

static void assign(WsValidation *v, const WsOp *op)
{
    if (!HOLDS(op->var >= 0 && (guint)op->var < v->p->n_vars && op->set))
        return;
    HOLDS(v->p->var[op->var].kind == (op->kind == WS_OP_LET ? WS_VAR_LET : WS_VAR_COUNTER));
}

static void registers(WsValidation *v, const WsOp *op)
{
    const WsTargetRegisters *r = &v->p->hardware->registers;
    HOLDS(op->n >= r->least && op->n <= r->most && op->n % r->step == 0);
}

static void global(WsValidation *v, const WsOp *op)
{
    HOLDS(op->tensor >= 0 && op->n_value == 1u + !!op->mask && op->mask <= 1);
    HOLDS(v->what || !op->mask ||
          (ws_op_stores_global(op->kind) && op->value[1].mode == WS_MODE_READ));
}

static void shared(WsValidation *v, const WsOp *op)
{
    gboolean load = ws_op_loads_shared(op->kind);
    const guint most = op->kind == WS_OP_LD_SHARED ? 2 : 1; /* places */
    if (HOLDS(op->n_access == 1 && op->n_value >= 1 && op->n_value <= most)) {
        HOLDS(op->n_value == 1 || (op->places == 1 && op->value[1].mode == WS_MODE_READ));
        HOLDS(op->access[0].mode == (load ? WS_MODE_READ : WS_MODE_WRITE));
        HOLDS(op->value[0].mode == (load ? WS_MODE_WRITE : WS_MODE_READ));
    }
}

static void combined(WsValidation *v, const WsOp *op)
{
    const guint n = op->n_value;
    if (!HOLDS(op->n_access == 1 && n == 1u + !!op->places + !!op->expected + !!op->old))
        return;
    HOLDS(op->places < n && op->expected < n && op->old < n);
    HOLDS(op->access[0].mode == (WS_MODE_READ | WS_MODE_WRITE));
    HOLDS(op->reduce > WS_REDUCE_NONE && op->reduce < WS_REDUCE_COUNT);
    HOLDS((op->expected != 0) == (op->reduce == WS_REDUCE_COMPARE));
    HOLDS(op->reduce != WS_REDUCE_STORE || (op->places && !op->old));
    for (guint i = 0; i < n && !v->what; i++)
        HOLDS(op->value[i].mode == (i && i == op->old ? WS_MODE_WRITE : WS_MODE_READ));
}

/* Steps of a core: an agent that is a queue. `into`: which access is written. */
static void of_queue(WsValidation *v, const WsOp *op, guint n, guint into)
{
    if (!HOLDS(v->agent && v->agent->queue >= 0 && op->n_access == n && op->n_value == 0))
        return;
    HOLDS(op->access[into].mode & WS_MODE_WRITE);
    for (guint i = 0; i < n; i++)
        HOLDS(i == into || op->access[i].mode == WS_MODE_READ);
}

static void move_of_queue(WsValidation *v, const WsOp *op)
{
    of_queue(v, op, 2, 1);
}

static void vector(WsValidation *v, const WsOp *op)
{
    of_queue(v, op, 3, 0);
    HOLDS(op->math_name != NULL);
}

static void cube(WsValidation *v, const WsOp *op)
{
    of_queue(v, op, 3, 0);
    HOLDS(v->what || op->restart == !(op->access[0].mode & WS_MODE_READ));
}

static void at_device(WsValidation *v, const WsOp *op)
{
    box(v, op);
    HOLDS(op->peer && op->peer->device && op->peer->flag < 0);
}

static gboolean at_flag(WsValidation *v, const WsOp *op)
{
    return HOLDS(v->p->mesh && op->peer && op->peer->element && op->peer->amount) &&
           HOLDS(op->peer->flag >= 0 && (guint)op->peer->flag < v->p->mesh->n_flags);
}

static void notify(WsValidation *v, const WsOp *op)
{
    if (at_flag(v, op))
        HOLDS(!op->peer->equals);
}

static void await(WsValidation *v, const WsOp *op)
{
    if (at_flag(v, op))
        HOLDS(!op->peer->device);
}

static void text(WsValidation *v, const WsOp *op)
{
    HOLDS(op->text != NULL);
}

static void (*const kind[WS_OP_KIND_COUNT])(WsValidation *v, const WsOp *op) = {
    [WS_OP_MBAR_INIT] = needs_barrier,
    [WS_OP_MBAR_WAIT] = needs_barrier,
    [WS_OP_MBAR_ARRIVE] = arrive,
    [WS_OP_MBAR_EXPECT] = expect,
    [WS_OP_TMA_LOAD] = box,
    [WS_OP_TMA_STORE] = box,
    [WS_OP_TMA_PUT] = at_device,
    [WS_OP_TMA_GET] = at_device,
    [WS_OP_NOTIFY] = notify,
    [WS_OP_AWAIT] = await,
    [WS_OP_PREFETCH] = box,
    [WS_OP_QUEUE_IN] = box,
    [WS_OP_QUEUE_OUT] = box,
    [WS_OP_QUEUE_MOVE] = move_of_queue,
    [WS_OP_VECTOR] = vector,
    [WS_OP_CUBE] = cube,
    [WS_OP_BULK_COPY] = needs_barrier,
    [WS_OP_CP_ARRIVE] = needs_barrier,
    [WS_OP_BULK_WAIT] = ws_validate_wait,
    [WS_OP_CP_WAIT] = ws_validate_wait,
    [WS_OP_MMA_WAIT] = ws_validate_wait,
    [WS_OP_MMA] = product,
    [WS_OP_MFMA] = of_values,
    [WS_OP_ST_SHARED] = shared,
    [WS_OP_RED_SHARED] = combined,
    [WS_OP_STMATRIX] = shared,
    [WS_OP_LD_SHARED] = shared,
    [WS_OP_LD_REMOTE] = shared,
    [WS_OP_ST_PEER] = shared,
    [WS_OP_LDMATRIX] = shared,
    [WS_OP_ST_GLOBAL] = global,
    [WS_OP_RED_GLOBAL] = global,
    [WS_OP_LD_GLOBAL] = global,
    [WS_OP_BAR_SYNC] = join,
    [WS_OP_BAR_ARRIVE] = join,
    [WS_OP_MATH] = ws_validate_math,
    [WS_OP_LET] = assign,
    [WS_OP_ADVANCE] = assign,
    [WS_OP_SETMAXNREG] = registers,
    [WS_OP_MARK] = text,
    [WS_OP_RAW] = text,
};

void ws_validate_op(WsValidation *v, const WsOp *op)
{
    if (!HOLDS(op->kind < WS_OP_KIND_COUNT))
        return;
    const WsOpRow *row = ws_op_row(op->kind);
    HOLDS(op->engine == WS_ENGINE_NONE || op->engine == row->engine);
    HOLDS((op->peer != NULL) == (ws_op_puts(op->kind) || ws_op_gets(op->kind) ||
                                 ws_op_notifies(op->kind) || ws_op_awaits(op->kind)));
    HOLDS((op->mma != NULL) == (op->kind == WS_OP_MMA || op->kind == WS_OP_MFMA));
    HOLDS((!op->expected && !op->old) || ws_op_is_atomic(op->kind));
    HOLDS(!op->mask || ws_op_stores_global(op->kind));
    HOLDS(!op->places || ws_op_is_atomic(op->kind) || op->kind == WS_OP_LD_SHARED);
    HOLDS(op->border == WS_BORDER_NONE || op->kind == WS_OP_BAR_SYNC);
    HOLDS((op->wait != NULL) == (row->deed == WS_DEED_RETIRE));
    HOLDS(op->tensor < (gint)v->p->n_tensors && op->map < (gint)v->p->n_maps);
    HOLDS(!op->limit || ws_op_stores_global(op->kind));
    HOLDS(op->n_value <= G_N_ELEMENTS(op->value) && op->n_coord <= WS_MAX_RANK);
    for (guint i = 0; i < op->n_coord; i++)
        HOLDS(op->coord[i] != NULL);
    for (guint i = 0; i < op->n_access && !v->what; i++)
        view(v, &op->access[i]);
    for (guint i = 0; i < op->n_value && !v->what; i++)
        value(v, &op->value[i]);
    at_barrier(v, op);
    targets(v, &op->ctas);
    if (!v->what && kind[op->kind])
        kind[op->kind](v, op);
    if (!v->what)
        ws_validate_queue(v, op);
}
