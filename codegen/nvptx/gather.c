/* Gathered rows: cp.async of 16 bytes per thread. Eight lanes share a row where rows are long
 * enough, so that a row's coordinate is read once per row and lane and a warp takes four rows.
 * Coordinates that come from a tensor are read before the wait in front of the copies, where there
 * is one: a tensor that is read is written by nobody while the kernel runs. */
#include "codegen/ahead.h"
#include "codegen/nvptx/fragment.h"
#include "program/lanes.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

typedef struct {
    const WsExpr *coord;
    guint share, from; /* as the gather takes rows */
    LLVMValueRef v;
} Looked;

/* Registers that hold coordinates over a wait. */
#define MOST_LOOKED_UP 16

typedef struct {
    const WsBuffer *b;
    guint units, share;              /* 16-byte units of a row; lanes that share a row */
    guint at_once;                   /* rows that the agent takes at once */
    LLVMValueRef stage, first, lane; /* row and unit this thread begins with */
    gboolean by_chunks; /* a lane's units are at one place in chunks that follow each other */
    WsUniform row0, col0;
} Gather;

static void bind_row(WsEmit *e, LLVMValueRef row, guint rows)
{
    for (guint i = 0; i < e->p->n_vars; i++) {
        if (e->p->var[i].kind == WS_VAR_ROW)
            e->var[i] =
                row ? (WsBinding){ WS_BIND_VALUE, row, 0, (gint64)rows - 1 } : (WsBinding){ 0 };
    }
}

static LLVMValueRef minimum(WsEmit *e, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, a, b, ""), a, b, "");
}

/* Whether no lane's unit reaches beyond the last dimension, seen from constants alone. */
static gboolean whole_unit(const Gather *g, LLVMValueRef left, guint unit)
{
    return LLVMIsAConstantInt(left) &&
           LLVMConstIntGetSExtValue(left) >= (long long)(unit + g->share) * 16;
}

/* Where a lane's first unit of a row goes. A swizzle changes bits below a stage's alignment, so it
 * may come last: then further units lie at constant distances, and ptxas keeps the address in one
 * register. */
static LLVMValueRef first_unit(WsEmit *e, const Gather *g, LLVMValueRef row)
{
    guint unit = 16 / ws_dtype_bytes(g->b->dtype);
    LLVMValueRef col = LLVMBuildMul(e->b, g->lane, ws_i32(e, unit), "");
    col = LLVMBuildAdd(e->b, g->col0.v, col, "");
    LLVMValueRef plain, to = ws_element_offset(e, g->b, row, col, &plain);
    LLVMValueRef flips = LLVMBuildXor(e->b, to, plain, "");
    return LLVMBuildXor(e->b, LLVMBuildAdd(e->b, g->stage, plain, ""), flips, "");
}

static LLVMValueRef unit_address(WsEmit *e, const Gather *g, LLVMValueRef row, LLVMValueRef first,
                                 guint unit)
{
    if (g->by_chunks)
        return ws_add(e, first, unit / g->share * g->b->chunk_bytes);
    LLVMValueRef col = LLVMBuildMul(e->b, ws_add(e, g->lane, unit),
                                    ws_i32(e, 16 / ws_dtype_bytes(g->b->dtype)), "");
    col = LLVMBuildAdd(e->b, g->col0.v, col, "");
    return LLVMBuildAdd(e->b, g->stage, ws_element_offset(e, g->b, row, col, NULL), "");
}

/* One unit: `inside` is for the whole row, the last dimension is clipped to the byte. Where nothing
 * is to be clipped a unit is copied whole or not at all. */
static void copy_unit(WsEmit *e, const WsOp *op, const Gather *g, LLVMValueRef to,
                      LLVMValueRef source, LLVMValueRef inside, LLVMValueRef left, guint unit)
{
    LLVMValueRef at = LLVMBuildMul(e->b, ws_add(e, g->lane, unit), ws_i32(e, 16), "");
    LLVMValueRef from = LLVMBuildAdd(e->b, source, LLVMBuildZExt(e->b, at, e->i64, ""), "");
    LLVMValueRef zero = ws_i32(e, 0), sixteen = ws_i32(e, 16);
    if (whole_unit(g, left, unit)) {
        if (g->by_chunks && op->hint)
            ws_prim(e, WS_PRIM_CP_ASYNC_HINT, to, from, inside, ws_bulk_policy(e, op->hint));
        else
            ws_prim(e, WS_PRIM_CP_ASYNC, to, from,
                    LLVMBuildSelect(e->b, inside, sixteen, zero, ""));
        return;
    }
    LLVMValueRef n = LLVMBuildSub(e->b, left, at, "");
    n = minimum(e, n, sixteen);
    LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntSGT, n, zero, "");
    n = LLVMBuildSelect(e->b, LLVMBuildAnd(e->b, inside, some, ""), n, zero, "");
    LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, n, zero, "");
    from = LLVMBuildSelect(e->b, none, e->tensor[op->tensor], from, "");
    ws_prim(e, WS_PRIM_CP_ASYNC, to, from, n);
}

/* Bytes from the first column to the end of the last dimension. */
static LLVMValueRef bytes_left(WsEmit *e, const WsOp *op, LLVMValueRef last)
{
    const WsTensor *t = &e->p->tensor[op->tensor];
    LLVMValueRef extent = ws_uniform(e, t->shape[t->rank - 1]).v;
    LLVMValueRef n = minimum(e, LLVMBuildSub(e->b, extent, last, ""), ws_i32(e, 1 << 24));
    return LLVMBuildMul(e->b, n, ws_i32(e, ws_dtype_bytes(t->dtype)), "");
}

/* Coordinate d of the row that the builder is at. */
static LLVMValueRef coordinate(WsEmit *e, const WsOp *op, const Gather *g, guint from, guint d)
{
    for (guint i = 0; e->looked_up && i < e->looked_up->len; i++) {
        const Looked *l = &g_array_index(e->looked_up, Looked, i);
        if (l->share == g->share && l->from == from && ws_expr_equal(l->coord, op->coord[d]))
            return l->v;
    }
    return ws_uniform_i32(e, op->coord[d]);
}

static void gather_rows(WsEmit *e, const WsOp *op, const Gather *g, guint from)
{
    const WsAccess *a = &op->access[0];
    LLVMValueRef row = ws_add(e, g->first, from), coord[WS_MAX_RANK], inside;
    LLVMBasicBlockRef after = NULL;
    if (from + g->at_once > a->rows)
        after = ws_if(e, LLVMBuildICmp(e->b, LLVMIntULT, row, ws_i32(e, a->rows), ""), "rows");
    bind_row(e, row, a->rows);
    for (guint d = 0; d < op->n_coord; d++)
        coord[d] = coordinate(e, op, g, from, d);
    bind_row(e, NULL, 0);
    LLVMValueRef source = ws_global_address(e, (guint)op->tensor, coord, &inside);
    LLVMValueRef left = bytes_left(e, op, coord[op->n_coord - 1]);
    source = LLVMBuildSelect(e->b, inside, source, e->tensor[op->tensor], "");
    row = LLVMBuildAdd(e->b, g->row0.v, row, "");
    LLVMValueRef first = g->by_chunks ? first_unit(e, g, row) : NULL;
    for (guint u = 0; u < g->units; u += g->share)
        copy_unit(e, op, g, unit_address(e, g, row, first, u), source, inside, left, u);
    if (after)
        ws_end_if(e, after);
}

/* How the threads of the agent share the rows. */
static Gather shared_rows(WsEmit *e, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    Gather g = { .b = &e->p->buffer[a->buffer] };
    g.units = a->cols * ws_dtype_bytes(g.b->dtype) / 16;
    g.share = g.units ? ws_gather_lanes(g.units) : 1;
    g.at_once = e->agent->threads / g.share;
    g.first = LLVMBuildUDiv(e->b, e->agent_tid, ws_i32(e, g.share), "");
    g.lane = LLVMBuildURem(e->b, e->agent_tid, ws_i32(e, g.share), "");
    return g;
}

void ws_gather_rows(WsEmit *e, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    Gather g = shared_rows(e, op);
    guint bytes = a->cols * ws_dtype_bytes(g.b->dtype);
    guint unit = 16 / ws_dtype_bytes(g.b->dtype);
    gint64 col;
    g.col0 = a->col0 ? ws_uniform_use(e, a->col0) : ws_uniform_const(e, 0);
    if (a->transposed || g.b->rank != 2 || bytes % 16 || g.b->row_bytes % 16 ||
        (ws_uniform_known(&g.col0, &col) && col % unit)) {
        ws_emit_step_error(e, op, "a gather into a view of this form");
        return;
    }
    g.by_chunks = g.b->chunk_cols && g.b->chunk_cols == g.share * unit && g.b->swizzle &&
                  ws_uniform_known(&g.col0, &col) && col % g.b->chunk_cols == 0;
    g.row0 = a->row0 ? ws_uniform_use(e, a->row0) : ws_uniform_const(e, 0);
    g.stage = ws_stage_address(e, a);
    e->per_thread = TRUE;
    for (guint row = 0; row < a->rows && !e->error; row += g.at_once)
        gather_rows(e, op, &g, row);
    e->per_thread = FALSE;
}

/* --- before the wait --------------------------------------------------------------------------*/

static void look_up(const WsOp *op, gpointer data)
{
    WsEmit *e = data;
    const WsAccess *a = &op->access[0];
    Gather g = shared_rows(e, op);
    if (a->rows % g.at_once)
        return;
    if (!e->looked_up)
        e->looked_up = g_array_new(FALSE, FALSE, sizeof(Looked));
    e->per_thread = TRUE;
    for (guint from = 0; from < a->rows; from += g.at_once) {
        bind_row(e, ws_add(e, g.first, from), a->rows);
        for (guint d = 0; d < op->n_coord && e->looked_up->len < MOST_LOOKED_UP; d++) {
            guint had = e->looked_up->len;
            if (!ws_ahead_reads(op->coord[d]))
                continue;
            Looked l = { op->coord[d], g.share, from, coordinate(e, op, &g, from, d) };
            for (guint i = 0; i < had && l.v; i++) {
                if (g_array_index(e->looked_up, Looked, i).v == l.v)
                    l.v = NULL;
            }
            if (l.v)
                g_array_append_val(e->looked_up, l);
        }
        bind_row(e, NULL, 0);
    }
    e->per_thread = FALSE;
}

guint ws_gather_look_up(WsEmit *e, const WsTree *seq, guint i)
{
    guint end = e->in_leader ? 0 : ws_ahead_gathers(e->p, seq, i, look_up, e);
    return e->looked_up ? end : 0;
}

/* --- completion -------------------------------------------------------------------------------*/

void ws_gather_arrive(WsEmit *e, const WsOp *op)
{
    ws_prim(e, WS_PRIM_CP_ARRIVE, ws_barrier_address(e, op));
}

void ws_gather_commit(WsEmit *e, const WsOp *op)
{
    ws_prim0(e, WS_PRIM_CP_COMMIT);
}

void ws_gather_wait(WsEmit *e, const WsOp *op)
{
    ws_prim_call(e, WS_PRIM_CP_WAIT, 0, NULL, 1, (guint32[]){ (guint32)op->n });
}
