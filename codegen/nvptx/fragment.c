#include "codegen/nvptx/fragment.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

static gboolean constant(WsEmit *e, const WsExpr *x, guint *out)
{
    WsUniform u = x ? ws_uniform(e, x) : ws_uniform_const(e, 0);
    gint64 v;
    if (!ws_uniform_known(&u, &v) || v < 0 || v > G_MAXINT32)
        return FALSE;
    *out = (guint)v;
    return TRUE;
}

static WsFragmentShape shape_of(const WsRegValue *v)
{
    if (v->rows == 1 && v->cols == 1)
        return WS_FRAGMENT_SCALAR;
    if (v->layout == WS_LAYOUT_LINEAR)
        return WS_FRAGMENT_LINEAR;
    if (v->rows == 1)
        return WS_FRAGMENT_COLUMNS;
    return v->cols == 1 ? WS_FRAGMENT_ROWS : v->cols == 4 ? WS_FRAGMENT_PARTIAL : WS_FRAGMENT_TILE;
}

static LLVMValueRef is(WsEmit *e, LLVMValueRef v, gint64 value)
{
    return LLVMBuildICmp(e->b, LLVMIntEQ, v, ws_i32(e, value), "");
}

/* Lane parts of the accumulator shapes: row warp*16 + lane/4, column 2*(lane%4). */
static void lane_parts(WsEmit *e, WsFragment *f)
{
    LLVMValueRef quad = LLVMBuildLShr(e->b, e->lane, ws_i32(e, 2), "");
    LLVMValueRef in = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 3), "");
    LLVMValueRef warp = LLVMBuildShl(e->b, e->agent_warp, ws_i32(e, 4), "");
    f->row = LLVMBuildAdd(e->b, warp, quad, "");
    switch (f->shape) {
    case WS_FRAGMENT_TILE:
        f->col = LLVMBuildShl(e->b, in, ws_i32(e, 1), "");
        return;
    case WS_FRAGMENT_ROWS:
        f->owner = is(e, in, 0);
        return;
    case WS_FRAGMENT_PARTIAL:
        f->col = in;
        return;
    case WS_FRAGMENT_COLUMNS:
    case WS_FRAGMENT_LINEAR:
    case WS_FRAGMENT_SCALAR:
    default:
        f->col = LLVMBuildShl(e->b, in, ws_i32(e, 1), "");
        f->owner = LLVMBuildICmp(e->b, LLVMIntULT, e->agent_tid, ws_i32(e, 4), "");
        f->row = NULL;
    }
}

gboolean ws_fragment(WsEmit *e, const WsValueUse *use, WsFragment *f)
{
    const WsRegValue *v = &e->agent->value[use->value];
    *f = (WsFragment){ .v = v, .value = use->value, .rows = use->rows, .cols = use->cols };
    if (!constant(e, use->row0, &f->row0) || !constant(e, use->col0, &f->col0))
        return FALSE;
    f->shape = shape_of(v);
    guint unit = ws_dtype_bytes(v->dtype) == 1 ? 16 : 8;
    gboolean rows = f->row0 % 64 == 0 && f->rows % 64 == 0;
    switch (f->shape) {
    case WS_FRAGMENT_SCALAR:
        f->n = 1;
        f->owner = is(e, e->agent_tid, 0);
        return TRUE;
    case WS_FRAGMENT_LINEAR:
        f->n = v->registers;
        f->row = e->agent_tid; /* of element 0, counted through the whole value */
        return TRUE;
    case WS_FRAGMENT_TILE:
        f->n = f->rows / 64 * (f->cols / 2);
        rows = rows && f->col0 % unit == 0 && f->cols % unit == 0;
        break;
    case WS_FRAGMENT_COLUMNS:
        f->n = f->cols / 4;
        rows = f->col0 % 8 == 0 && f->cols % 8 == 0;
        break;
    case WS_FRAGMENT_PARTIAL:
    case WS_FRAGMENT_ROWS:
    default:
        f->n = f->rows / 32;
        rows = rows && f->col0 == 0 && f->cols == v->cols;
    }
    if (rows)
        lane_parts(e, f);
    return rows;
}

gboolean ws_fragment_beside(WsEmit *e, const WsOp *op, guint number, const WsFragment *f,
                            WsFragment *out)
{
    if (number == 0)
        return TRUE;
    if (!ws_fragment(e, &op->value[number], out) || out->n != f->n || out->shape != f->shape)
        return FALSE;
    return f->shape != WS_FRAGMENT_LINEAR ||
           (out->row0 == f->row0 && out->col0 == f->col0 && out->v->rows == f->v->rows &&
            out->v->cols == f->v->cols);
}

static WsElement tile_element(const WsFragment *f, guint i)
{
    guint per_atom = f->cols / 2, atom = i / per_atom, k = i % per_atom;
    guint half = k / 2 % 2, j = k % 2, block = (f->col0 / 8) + k / 4;
    guint bytes = ws_dtype_bytes(f->v->dtype), first = f->row0 / 64 + atom;
    WsElement x = { .row = atom * 64 + half * 8, .col = k / 4 * 8 + j };
    if (bytes == 4) {
        x.reg = first * (f->v->cols / 2) + block * 4 + half * 2 + j;
    } else if (bytes == 2) {
        x.reg = first * (f->v->cols / 4) + block * 2 + half;
        x.part = j;
    } else { /* one row per register, columns 2q, 2q + 1 and 8 + 2q, 8 + 2q + 1 of every 16 */
        x.reg = first * (f->v->cols / 8) + block / 2 * 2 + half;
        x.part = block % 2 * 2 + j;
    }
    return x;
}

WsElement ws_fragment_element(const WsFragment *f, guint i)
{
    switch (f->shape) {
    case WS_FRAGMENT_TILE:
        return tile_element(f, i);
    case WS_FRAGMENT_ROWS:
    case WS_FRAGMENT_PARTIAL:
        return (WsElement){ .reg = f->row0 / 32 + i, .row = i / 2 * 64 + i % 2 * 8 };
    case WS_FRAGMENT_COLUMNS:
        return (WsElement){ .reg = f->col0 / 4 + i, .col = i / 2 * 8 + i % 2 };
    case WS_FRAGMENT_LINEAR:
    case WS_FRAGMENT_SCALAR:
    default:
        return (WsElement){ .reg = i };
    }
}

/* Element i*threads + tid of the whole value, if it lies inside of the view. */
static WsFragmentPlace linear_place(WsEmit *e, const WsFragment *f, guint i)
{
    guint threads = e->agent->threads, all = f->v->rows * f->v->cols, cols = f->v->cols;
    WsFragmentPlace p = { .row = ws_i32(e, 0), .col = ws_add(e, f->row, (gint64)i * threads) };
    if ((i + 1) * threads > all)
        p.there = LLVMBuildICmp(e->b, LLVMIntULT, p.col, ws_i32(e, all), "");
    if (f->v->rows > 1) {
        p.row = LLVMBuildUDiv(e->b, p.col, ws_i32(e, cols), "");
        p.col = LLVMBuildURem(e->b, p.col, ws_i32(e, cols), "");
    }
    p.row = ws_add(e, p.row, -(gint64)f->row0);
    p.col = ws_add(e, p.col, -(gint64)f->col0);
    if (f->rows < f->v->rows || f->cols < cols) {
        LLVMValueRef r = LLVMBuildICmp(e->b, LLVMIntULT, p.row, ws_i32(e, f->rows), "");
        LLVMValueRef c = LLVMBuildICmp(e->b, LLVMIntULT, p.col, ws_i32(e, f->cols), "");
        LLVMValueRef in = LLVMBuildAnd(e->b, r, c, "");
        p.there = p.there ? LLVMBuildAnd(e->b, p.there, in, "") : in;
    }
    return p;
}

WsFragmentPlace ws_fragment_place(WsEmit *e, const WsFragment *f, guint i)
{
    if (f->shape == WS_FRAGMENT_LINEAR)
        return linear_place(e, f, i);
    WsElement x = ws_fragment_element(f, i);
    return (WsFragmentPlace){ .row = f->row ? ws_add(e, f->row, x.row) : ws_i32(e, x.row),
                              .col = f->col ? ws_add(e, f->col, x.col) : ws_i32(e, x.col) };
}

static LLVMValueRef bits_of(WsEmit *e, const WsFragment *f, guint reg)
{
    LLVMValueRef r = ws_reg_get(e, f->value, reg);
    return LLVMTypeOf(r) == e->i32 ? r : LLVMBuildBitCast(e->b, r, e->i32, "");
}

LLVMValueRef ws_fragment_get(WsEmit *e, const WsFragment *f, guint i)
{
    WsElement x = ws_fragment_element(f, i);
    if (ws_dtype_bytes(f->v->dtype) == 4)
        return ws_reg_get(e, f->value, x.reg);
    guint shift = x.part * 8 * ws_dtype_bytes(f->v->dtype);
    LLVMValueRef bits = bits_of(e, f, x.reg);
    /* the upper half of a bf16 pair is a float but for its lower half */
    if (f->v->dtype == WS_DTYPE_BF16 && shift == 16) {
        bits = LLVMBuildAnd(e->b, bits, ws_i32(e, 0xffff0000), "");
        return LLVMBuildBitCast(e->b, bits, e->f32, "");
    }
    /* two 8-bit floats are widened together, and LLVM keeps one conversion of the two */
    if (ws_dtype_bytes(f->v->dtype) == 1 && ws_dtype_real(f->v->dtype)) {
        if (x.part / 2)
            bits = LLVMBuildLShr(e->b, bits, ws_i32(e, 16), "");
        return ws_widen_half(e, f->v->dtype, bits, x.part % 2);
    }
    if (shift)
        bits = LLVMBuildLShr(e->b, bits, ws_i32(e, shift), "");
    return ws_widen(e, f->v->dtype, bits);
}

void ws_fragment_set_pair(WsEmit *e, const WsFragment *f, guint i, LLVMValueRef bits)
{
    WsElement x = ws_fragment_element(f, i);
    gint64 keep = x.part ? 0xffff : ~(gint64)0xffff;
    LLVMValueRef rest = LLVMBuildAnd(e->b, bits_of(e, f, x.reg), ws_i32(e, keep), "");
    if (x.part)
        bits = LLVMBuildShl(e->b, bits, ws_i32(e, 16), "");
    ws_reg_set(e, f->value, x.reg, LLVMBuildOr(e->b, rest, bits, ""));
}

void ws_fragment_set(WsEmit *e, const WsFragment *f, guint i, LLVMValueRef v)
{
    WsElement x = ws_fragment_element(f, i);
    guint bytes = ws_dtype_bytes(f->v->dtype), shift = x.part * 8 * bytes;
    LLVMValueRef bits = ws_narrow(e, f->v->dtype, v);
    if (bytes < 4 && f->shape == WS_FRAGMENT_TILE) {
        gint64 mask = (bytes == 2 ? 0xffff : 0xff);
        LLVMValueRef rest =
            LLVMBuildAnd(e->b, bits_of(e, f, x.reg), ws_i32(e, ~(mask << shift)), "");
        bits = LLVMBuildOr(e->b, rest, LLVMBuildShl(e->b, bits, ws_i32(e, shift), ""), "");
    }
    if (e->regs[f->value].type == e->f32)
        bits = LLVMBuildBitCast(e->b, bits, e->f32, "");
    ws_reg_set(e, f->value, x.reg, bits);
}

void ws_fragment_set_if(WsEmit *e, const WsFragment *f, guint i, LLVMValueRef x, LLVMValueRef there)
{
    if (there)
        x = LLVMBuildSelect(e->b, there, x, ws_fragment_get(e, f, i), "");
    ws_fragment_set(e, f, i, x);
}
