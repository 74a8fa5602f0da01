/* Own shared memory to shared memory of a CTA of the cluster, credited to its barrier: one bulk
 * copy per run of bytes that is contiguous in both views. */
#include "codegen/facts.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/access.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#define MOST_RANGES 512

static guint ranges_of(WsEmit *e, const WsAccess *a, WsRange *out)
{
    WsUniform zero = ws_uniform_const(e, 0);
    WsUniform r = a->row0 ? ws_uniform(e, a->row0) : zero;
    WsUniform c = a->col0 ? ws_uniform(e, a->col0) : zero;
    gint64 row, col;
    if (a->transposed || !ws_uniform_known(&r, &row) || !ws_uniform_known(&c, &col) || row < 0 ||
        col < 0)
        return 0;
    return ws_buffer_ranges(&e->p->buffer[a->buffer], (guint)row, a->rows, (guint)col, a->cols, out,
                            MOST_RANGES);
}

static void copy_to(WsEmit *e, const WsOp *op, const WsRange *from, const WsRange *to, guint n,
                    LLVMValueRef rank)
{
    LLVMValueRef source = ws_stage_address(e, &op->access[0]);
    LLVMValueRef into = ws_stage_address(e, &op->access[1]), bar = ws_barrier_address(e, op);
    for (guint i = 0; i < n; i++)
        ws_prim(e, WS_PRIM_BULK_COPY, ws_add(e, into, (gint64)to[i].offset),
                ws_add(e, source, (gint64)from[i].offset), ws_i32(e, (gint64)from[i].bytes), bar,
                rank);
}

void ws_bulk_copy(WsEmit *e, const WsOp *op)
{
    WsRange from[MOST_RANGES], to[MOST_RANGES];
    guint n = ranges_of(e, &op->access[0], from), m = ranges_of(e, &op->access[1], to);
    if (!n || n != m || n > MOST_RANGES || !ws_fact_copy_fits(e->p, op, from, to, n) ||
        op->barrier < 0) {
        ws_emit_step_error(e, op, "a copy between views of this form");
        return;
    }
    if (op->ctas.kind == WS_CTAS_EXPR) {
        copy_to(e, op, from, to, n, ws_uniform_i32(e, op->ctas.expr));
        return;
    }
    for (guint c = 0; c < e->p->cluster; c++) {
        if (ws_fact_reaches(op, c))
            copy_to(e, op, from, to, n, ws_i32(e, c));
    }
    if (op->ctas.kind == WS_CTAS_OWN)
        copy_to(e, op, from, to, n, e->cta_rank.v);
}
