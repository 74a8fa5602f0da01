/* Values in accumulator layout to shared memory: stmatrix, or plain stores. */
#include "codegen/nvptx/emit.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/program.h"

typedef struct {
    const WsBuffer *b;
    const WsRegValue *v;
    guint value, first; /* first register */
    guint col0;         /* of the view in the buffer */
    LLVMValueRef base;  /* address of row 0 of the view for this lane, swizzled, column 0 */
} Target;

/* Address of column `col` (bytes below one span are XORed, chunks added) and row block `row`. */
static LLVMValueRef column_address(WsEmit *e, const Target *t, guint row, guint col)
{
    guint bytes = ws_dtype_bytes(t->b->dtype), c = t->col0 + col;
    guint inside = c % t->b->chunk_cols * bytes, chunk = c / t->b->chunk_cols * t->b->chunk_bytes;
    LLVMValueRef at = t->base;
    if (t->b->swizzle)
        at = inside ? LLVMBuildXor(e->b, at, ws_i32(e, inside), "") : at;
    else
        chunk += inside;
    return ws_add(e, at, (gint64)chunk + (gint64)row * t->b->row_bytes);
}

static gboolean known_u(WsEmit *e, const WsExpr *x, guint *out)
{
    WsUniform u = x ? ws_uniform(e, x) : ws_uniform_const(e, 0);
    gint64 v;
    if (!ws_uniform_known(&u, &v) || v < 0)
        return FALSE;
    *out = (guint)v;
    return TRUE;
}

/* Common to both forms. `lane_row`, `lane_bytes`: what this lane adds to row and column. */
static gboolean target_of(WsEmit *e, const WsOp *op, LLVMValueRef lane_row, LLVMValueRef lane_bytes,
                          Target *t)
{
    const WsAccess *a = &op->access[0];
    guint row, col, row0;
    t->b = &e->p->buffer[a->buffer];
    t->value = op->value[0].value;
    t->v = &e->agent->value[t->value];
    if (a->transposed || t->v->layout != WS_LAYOUT_ACCUMULATOR ||
        !known_u(e, op->value[0].row0, &row) || !known_u(e, op->value[0].col0, &col) ||
        !known_u(e, a->col0, &t->col0) || row % 64 || col % 8 || t->col0 % 8 ||
        op->value[0].rows % 64 || op->value[0].cols % 8 || t->v->cols < 8)
        return FALSE;
    guint per = ws_dtype_bytes(t->v->dtype) < 4 ? 4 : 2;
    t->first = row / 64 * (t->v->cols / per) + col / per;
    WsUniform r0 = a->row0 ? ws_uniform_use(e, a->row0) : ws_uniform_const(e, 0);
    if (known_u(e, a->row0, &row0) && row0 % 8)
        return FALSE;
    LLVMValueRef r = LLVMBuildShl(e->b, e->agent_warp, ws_i32(e, 4), "");
    r = LLVMBuildAdd(e->b, LLVMBuildAdd(e->b, r, lane_row, ""), r0.v, "");
    LLVMValueRef at = LLVMBuildMul(e->b, r, ws_i32(e, t->b->row_bytes), "");
    at = LLVMBuildAdd(e->b, at, lane_bytes, "");
    t->base = LLVMBuildAdd(e->b, ws_stage_address(e, a), ws_swizzled(e, t->b, at), "");
    return TRUE;
}

/* Register i of a group of packed pairs: converted, or as it is. */
static LLVMValueRef pair(WsEmit *e, const Target *t, guint at)
{
    if (t->v->dtype != WS_DTYPE_F32)
        return ws_reg_get(e, t->value, t->first + at / 2);
    LLVMValueRef lo = ws_reg_get(e, t->value, t->first + at);
    LLVMValueRef hi = ws_reg_get(e, t->value, t->first + at + 1);
    return ws_prim(e, t->b->dtype == WS_DTYPE_BF16 ? WS_PRIM_CVT_BF16X2 : WS_PRIM_CVT_F16X2, hi,
                   lo);
}

/* Columns of the value are rows of the tile: per 16 of them one x4 that transposes. Lane l gives
 * column l%8 + l/16*8 and the 8-row half of l/8. */
static gboolean transposed_target(WsEmit *e, const WsOp *op, Target *t)
{
    const WsAccess *a = &op->access[0];
    const WsValueUse *use = &op->value[0];
    guint row, col, row0;
    t->b = &e->p->buffer[a->buffer];
    t->value = use->value;
    t->v = &e->agent->value[use->value];
    if (t->v->layout != WS_LAYOUT_ACCUMULATOR || ws_dtype_bytes(t->b->dtype) != 2 ||
        (t->v->dtype != WS_DTYPE_F32 && t->v->dtype != t->b->dtype) ||
        !known_u(e, use->row0, &row) || !known_u(e, use->col0, &col) ||
        !known_u(e, a->row0, &row0) || !known_u(e, a->col0, &t->col0) || row % 64 || col % 8 ||
        row0 % 8 || t->col0 % 64 || use->rows % 64 || use->cols % 16 || t->b->chunk_cols != 64)
        return FALSE;
    guint per = ws_dtype_bytes(t->v->dtype) < 4 ? 4 : 2;
    t->first = row / 64 * (t->v->cols / per) + col / per;
    LLVMValueRef r = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 7), "");
    LLVMValueRef high = LLVMBuildLShr(e->b, e->lane, ws_i32(e, 4), "");
    r = LLVMBuildOr(e->b, r, LLVMBuildShl(e->b, high, ws_i32(e, 3), ""), "");
    LLVMValueRef in = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 8), "");
    in = LLVMBuildOr(e->b, in, LLVMBuildShl(e->b, e->agent_warp, ws_i32(e, 4), ""), "");
    LLVMValueRef at = LLVMBuildMul(e->b, r, ws_i32(e, t->b->row_bytes), "");
    at = LLVMBuildAdd(e->b, at, LLVMBuildShl(e->b, in, ws_i32(e, 1), ""), "");
    t->base = LLVMBuildAdd(e->b, ws_stage_address(e, a), ws_swizzled(e, t->b, at), "");
    t->base = ws_add(e, t->base, (gint64)row0 * t->b->row_bytes);
    return TRUE;
}

static gboolean stmatrix_transposed(WsEmit *e, const WsOp *op)
{
    Target t;
    if (!transposed_target(e, op, &t))
        return FALSE;
    for (guint atom = 0; atom < op->value[0].rows / 64; atom++) {
        guint skip = atom * t.v->cols / 2; /* in f32 registers; pair() halves it */
        for (guint c = 0; c < op->value[0].cols; c += 16) {
            LLVMValueRef x[4];
            for (guint i = 0; i < 4; i++)
                x[i] = pair(e, &t, skip + c / 2 + 2 * i);
            ws_prim(e, WS_PRIM_STMATRIX_X4_T, column_address(e, &t, c, atom * 64), x[0], x[1], x[2],
                    x[3]);
        }
    }
    return TRUE;
}

/* Per 16 columns one x4: lane l gives row l%16 and the 8-column half l/16. */
void ws_shared_stmatrix(WsEmit *e, const WsOp *op)
{
    Target t;
    if (e->regs[op->value[0].value].quads) {
        ws_quads_move(e, op);
        return;
    }
    if (op->access[0].transposed && stmatrix_transposed(e, op))
        return;
    LLVMValueRef row = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 15), "");
    LLVMValueRef half = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 16), ""); /* 16 bytes */
    if (!target_of(e, op, row, half, &t) || ws_dtype_bytes(t.b->dtype) != 2 ||
        (t.v->dtype != WS_DTYPE_F32 && t.v->dtype != t.b->dtype)) {
        ws_spot_store(e, op);
        return;
    }
    guint rows = op->value[0].rows, cols = op->value[0].cols;
    for (guint atom = 0; atom < rows / 64; atom++) {
        guint skip = atom * t.v->cols / 2; /* in f32 registers; pair() halves it */
        for (guint c = 0; c + 16 <= cols; c += 16) {
            LLVMValueRef x[4];
            for (guint i = 0; i < 4; i++)
                x[i] = pair(e, &t, skip + c / 2 + 2 * i);
            ws_prim(e, WS_PRIM_STMATRIX_X4, column_address(e, &t, atom * 64, c), x[0], x[1], x[2],
                    x[3]);
        }
        if (cols % 16)
            ws_prim(e, WS_PRIM_STMATRIX_X2, column_address(e, &t, atom * 64, cols - 8),
                    pair(e, &t, skip + (cols - 8) / 2), pair(e, &t, skip + (cols - 8) / 2 + 2));
    }
}

/* Plain stores: lane l holds rows l/4 and l/4 + 8, columns 2*(l%4) and the next, of every 8
 * columns: one 8-byte store of two 32-bit elements, or one 4-byte store of a converted pair. */
static void store_pair(WsEmit *e, const Target *t, guint row, guint col, guint at)
{
    LLVMValueRef address = column_address(e, t, row, col);
    if (ws_dtype_bytes(t->b->dtype) == 2) {
        ws_prim(e, WS_PRIM_ST_SHARED, address, pair(e, t, at));
        return;
    }
    LLVMValueRef x[2];
    for (guint i = 0; i < 2; i++)
        x[i] = LLVMBuildBitCast(e->b, ws_reg_get(e, t->value, t->first + at + i), e->i32, "");
    ws_prim(e, WS_PRIM_ST_SHARED_V2, address, x[0], x[1]);
}

/* 32-bit elements in rows of 128 bytes, swizzled: the 16 lanes that one 8-byte store serves at a
 * time have 32 bytes of each of four rows, and XOR leaves rows 2i and 2i + 1 the same 32: a
 * two-way bank conflict. Where a store has both halves of a row, odd rows take the other one. */
static gboolean rows_meet(const Target *t, guint cols)
{
    return ws_dtype_bytes(t->b->dtype) == 4 && t->b->swizzle == 128 && t->b->chunk_bytes &&
           t->b->chunk_cols == 32 && t->col0 % 32 == 0 && cols % 32 == 0;
}

static void store_halves(WsEmit *e, const Target *t, guint row, guint col, guint at)
{
    LLVMValueRef odd = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 4), "");
    Target other = *t;
    other.base = LLVMBuildXor(e->b, t->base, LLVMBuildShl(e->b, odd, ws_i32(e, 4), ""), "");
    odd = LLVMBuildICmp(e->b, LLVMIntNE, odd, ws_i32(e, 0), "");
    for (guint c = 0; c < 16; c += 8) {
        LLVMValueRef x[2][2];
        for (guint i = 0; i < 4; i++) {
            guint from = t->first + at + c / 2 + i / 2 * 8 + i % 2;
            LLVMValueRef v = ws_reg_get(e, t->value, from);
            x[i / 2][i % 2] = LLVMBuildBitCast(e->b, v, e->i32, "");
        }
        for (guint half = 0; half < 2; half++) {
            LLVMValueRef y[2];
            for (guint i = 0; i < 2; i++)
                y[i] = LLVMBuildSelect(e->b, odd, x[1 - half][i], x[half][i], "");
            LLVMValueRef address = column_address(e, &other, row, col + c + 16 * half);
            ws_prim(e, WS_PRIM_ST_SHARED_V2, address, y[0], y[1]);
        }
    }
}

void ws_shared_st(WsEmit *e, const WsOp *op)
{
    Target t;
    const WsBuffer *b = &e->p->buffer[op->access[0].buffer];
    guint bytes = ws_dtype_bytes(b->dtype);
    LLVMValueRef row = LLVMBuildLShr(e->b, e->lane, ws_i32(e, 2), "");
    LLVMValueRef in = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 3), "");
    in = LLVMBuildMul(e->b, in, ws_i32(e, 2 * bytes), "");
    gboolean fits = target_of(e, op, row, in, &t) &&
                    (t.v->dtype == b->dtype || (bytes == 2 && t.v->dtype == WS_DTYPE_F32));
    if (!fits || (bytes != 2 && bytes != 4)) {
        ws_spot_store(e, op);
        return;
    }
    guint rows = op->value[0].rows, cols = op->value[0].cols;
    for (guint atom = 0; atom < rows / 64; atom++) {
        guint skip = atom * t.v->cols / 2;
        if (rows_meet(&t, cols)) {
            for (guint c = 0; c < cols; c += 32) {
                for (guint half = 0; half < 2; half++)
                    store_halves(e, &t, atom * 64 + 8 * half, c, skip + c / 2 + 2 * half);
            }
            continue;
        }
        for (guint c = 0; c < cols; c += 8) {
            for (guint half = 0; half < 2; half++)
                store_pair(e, &t, atom * 64 + 8 * half, c, skip + c / 2 + 2 * half);
        }
    }
}
