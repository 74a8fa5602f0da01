/* An 8-bit tile to its transpose in shared memory: ldmatrix with .trans, byte permutes, stmatrix.
 *
 * A unit is 32 rows by 16 columns of the source. ldmatrix takes pairs of columns for elements of 16
 * bits: thread 4p + q gets of each 8x8 matrix columns 2p, 2p + 1 of two rows. The low bytes of two
 * matrices are four bytes of row 2p of the result, the high bytes of row 2p + 1: which four, the
 * rows say that the two matrices are given. Rows 0-7 and 8-15 make the order in which a register of
 * an 8-bit operand holds columns of an accumulator (k_order), rows 0, 1, 4, 5, … and 2, 3, 6, 7, …
 * the linear one. Even rows of the result lie in half of the banks of a swizzled tile, odd ones in
 * the other half, so each stmatrix takes four of both. */
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/program.h"

enum { ROWS = 32, COLS = 16, BATCH = 2 };

/* A view with its start, and what its addresses have of the lane. */
typedef struct {
    const WsAccess *a;
    const WsBuffer *b;
    guint row0, col0;
    LLVMValueRef base;
} Side;

static gboolean known(WsEmit *e, const WsExpr *x, guint unit, guint *out)
{
    WsUniform u = x ? ws_uniform(e, x) : ws_uniform_const(e, 0);
    gint64 v;
    if (!ws_uniform_known(&u, &v) || v < 0 || v > G_MAXINT32 || v % unit)
        return FALSE;
    *out = (guint)v;
    return TRUE;
}

static gboolean side(WsEmit *e, const WsAccess *a, guint rows, guint cols, Side *s)
{
    *s = (Side){ .a = a, .b = &e->p->buffer[a->buffer] };
    return !a->transposed && s->b->rank == 2 && a->rows % rows == 0 && a->cols % cols == 0 &&
           s->b->chunk_cols % cols == 0 && known(e, a->row0, rows, &s->row0) &&
           known(e, a->col0, cols, &s->col0);
}

/* Row and column of the lane, columns in bytes and below the unit of columns. */
static void lane_part(WsEmit *e, Side *s, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef at = LLVMBuildMul(e->b, row, ws_i32(e, s->b->row_bytes), "");
    at = ws_swizzled(e, s->b, LLVMBuildAdd(e->b, at, col, ""));
    s->base = LLVMBuildAdd(e->b, ws_stage_address(e, s->a), at, "");
}

static LLVMValueRef place(WsEmit *e, const Side *s, guint row, guint col)
{
    const guint c = s->col0 + col, inside = c % s->b->chunk_cols;
    gint64 more = (gint64)(c / s->b->chunk_cols) * s->b->chunk_bytes +
                  (gint64)(s->row0 + row) * s->b->row_bytes;
    if (!s->b->swizzle)
        return ws_add(e, s->base, more + inside);
    LLVMValueRef at = inside ? LLVMBuildXor(e->b, s->base, ws_i32(e, inside), "") : s->base;
    return ws_add(e, at, more);
}

static LLVMValueRef shifted(WsEmit *e, LLVMValueRef x, guint right, guint mask, guint left)
{
    x = LLVMBuildAnd(e->b, LLVMBuildLShr(e->b, x, ws_i32(e, right), ""), ws_i32(e, mask), "");
    return LLVMBuildShl(e->b, x, ws_i32(e, left), "");
}

/* Row of the unit that lane l gives to ldmatrix: row l % 8 of matrix l / 8. */
static LLVMValueRef source_row(WsEmit *e, gboolean accumulator)
{
    if (accumulator)
        return e->lane;
    LLVMValueRef row = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 17), ""); /* lowest and highest bit */
    row = LLVMBuildOr(e->b, row, shifted(e, e->lane, 3, 1, 1), "");    /* which matrix */
    return LLVMBuildOr(e->b, row, shifted(e, e->lane, 1, 3, 2), "");
}

/* Row that lane l gives to stmatrix: matrices 0, 2 have rows 0, 2, 4, 6, 9, 11, 13, 15, matrices 1,
 * 3 the others. */
static LLVMValueRef target_row(WsEmit *e)
{
    LLVMValueRef row = shifted(e, e->lane, 0, 7, 1);
    LLVMValueRef odd =
        LLVMBuildXor(e->b, shifted(e, e->lane, 2, 1, 0), shifted(e, e->lane, 3, 1, 0), "");
    return LLVMBuildOr(e->b, row, odd, "");
}

void ws_shared_transpose(WsEmit *e, const WsOp *op)
{
    const guint warps = e->agent->warps, wide = COLS * MAX(warps, 1);
    Side from, to;
    if ((warps & (warps - 1)) != 0 || !side(e, &op->access[0], ROWS, wide, &from) ||
        !side(e, &op->access[1], COLS, ROWS, &to)) {
        ws_emit_step_error(e, op, "a transposition of a view of this form by these warps");
        return;
    }
    LLVMValueRef first = LLVMBuildMul(e->b, e->agent_warp, ws_i32(e, COLS), "");
    lane_part(e, &from, source_row(e, to.b->k_permuted), first);
    lane_part(e, &to, LLVMBuildAdd(e->b, first, target_row(e), ""), shifted(e, e->lane, 4, 1, 4));
    LLVMValueRef low = LLVMBuildICmp(e->b, LLVMIntULT, e->lane, ws_i32(e, 16), "");
    LLVMValueRef even = ws_i32(e, 0x6420), odd = ws_i32(e, 0x7531);
    LLVMValueRef pick[2] = { LLVMBuildSelect(e->b, low, even, odd, ""),
                             LLVMBuildSelect(e->b, low, odd, even, "") };
    const guint down = from.a->rows / ROWS, units = down * (from.a->cols / wide);
    for (guint at = 0; at < units; at += BATCH) {
        LLVMValueRef got[BATCH];
        const guint n = MIN(BATCH, units - at);
        for (guint i = 0; i < n; i++)
            got[i] = ws_prim(e, WS_PRIM_LDMATRIX_X4_T,
                             place(e, &from, (at + i) % down * ROWS, (at + i) / down * wide));
        for (guint i = 0; i < n; i++) {
            LLVMValueRef x[4], r[4];
            for (guint k = 0; k < 4; k++)
                r[k] = LLVMBuildExtractValue(e->b, got[i], k, "");
            for (guint k = 0; k < 4; k++)
                x[k] = ws_prim(e, WS_PRIM_PRMT, r[k / 2 * 2], r[k / 2 * 2 + 1], pick[k % 2]);
            ws_prim(e, WS_PRIM_STMATRIX_X4,
                    place(e, &to, (at + i) / down * wide, (at + i) % down * ROWS), x[0], x[1], x[2],
                    x[3]);
        }
    }
}
