/* Elements of values to and from shared memory, one by one or in neighbouring pairs: every form
 * that stmatrix and the plain stores of shared.c do not take. */
#include "codegen/facts.h"
#include "codegen/nvptx/fragment.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/program.h"

/* A view of a stage in shared memory, as elements (row, column) of the value see it. */
typedef struct {
    const WsBuffer *b;
    WsUniform row0, col0;
    LLVMValueRef stage;
    gboolean swap;          /* rows of the value are columns of the storage */
    gboolean peer;          /* `stage` is an address of the cluster */
    LLVMValueRef bar, rank; /* into CTA `rank` of the cluster, credited to `bar`; NULL: own */
} Spot;

static Spot spot_of(WsEmit *e, const WsOp *op)
{
    const WsAccess *a = &op->access[0];
    const WsValueUse *use = &op->value[0];
    WsUniform zero = ws_uniform_const(e, 0);
    Spot s = { .b = &e->p->buffer[a->buffer], .stage = ws_stage_address(e, a) };
    s.row0 = a->row0 ? ws_uniform_use(e, a->row0) : zero;
    s.col0 = a->col0 ? ws_uniform_use(e, a->col0) : zero;
    /* a rank-1 tile is one value per row or per column, whichever the value has */
    s.swap = s.b->rank == 1 ? use->rows > 1 : a->transposed;
    return s;
}

LLVMValueRef ws_swizzled(WsEmit *e, const WsBuffer *b, LLVMValueRef offset)
{
    guint bits = b->swizzle == 128 ? 7 : b->swizzle == 64 ? 3 : b->swizzle == 32 ? 1 : 0;
    if (!bits)
        return offset;
    LLVMValueRef x = LLVMBuildLShr(e->b, offset, ws_i32(e, 3), "");
    x = LLVMBuildAnd(e->b, x, ws_i32(e, (gint64)bits << 4), "");
    return LLVMBuildXor(e->b, offset, x, "");
}

LLVMValueRef ws_element_offset(WsEmit *e, const WsBuffer *b, LLVMValueRef row, LLVMValueRef col,
                               LLVMValueRef *plain)
{
    LLVMValueRef at = LLVMBuildMul(e->b, row, ws_i32(e, b->row_bytes), "");
    if (b->chunk_cols && b->chunk_cols < b->cols) {
        LLVMValueRef chunk = LLVMBuildUDiv(e->b, col, ws_i32(e, b->chunk_cols), "");
        chunk = LLVMBuildMul(e->b, chunk, ws_i32(e, b->chunk_bytes), "");
        at = LLVMBuildAdd(e->b, at, chunk, "");
        col = LLVMBuildURem(e->b, col, ws_i32(e, b->chunk_cols), "");
    }
    col = LLVMBuildMul(e->b, col, ws_i32(e, ws_dtype_bytes(b->dtype)), "");
    at = LLVMBuildAdd(e->b, at, col, "");
    if (plain)
        *plain = at;
    return ws_swizzled(e, b, at);
}

static LLVMValueRef address(WsEmit *e, const Spot *s, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef r = LLVMBuildAdd(e->b, s->row0.v, s->swap ? col : row, "");
    LLVMValueRef c = LLVMBuildAdd(e->b, s->col0.v, s->swap ? row : col, "");
    return LLVMBuildAdd(e->b, s->stage, ws_element_offset(e, s->b, r, c, NULL), "");
}

/* Elements 2i, 2i + 1 of the view are neighbours in one row of the storage, and aligned as a pair.
 */
static gboolean in_pairs(const Spot *s, const WsFragment *f)
{
    gint64 col;
    guint bytes = 2 * ws_dtype_bytes(s->b->dtype);
    gboolean even = ws_uniform_known(&s->col0, &col) && col % 2 == 0;
    if (f->shape == WS_FRAGMENT_COLUMNS && s->b->rank == 1)
        return even;
    return f->shape == WS_FRAGMENT_TILE && !s->swap && even && s->b->row_bytes % bytes == 0;
}

static LLVMValueRef bits_of(WsEmit *e, LLVMValueRef x)
{
    return LLVMTypeOf(x) == e->i32 ? x : LLVMBuildBitCast(e->b, x, e->i32, "");
}

static LLVMValueRef half(WsEmit *e, LLVMValueRef bits)
{
    return LLVMBuildTrunc(e->b, bits, e->i16, "");
}

static void at_peer(WsEmit *e, const WsOp *op, Spot *s)
{
    s->peer = ws_op_peeks(op->kind);
    if (s->peer)
        s->stage = ws_prim(e, WS_PRIM_MAPA, s->stage, ws_uniform_i32(e, op->ctas.expr));
}

/* --- stores ------------------------------------------------------------------------------------*/

static void store_one(WsEmit *e, const Spot *s, LLVMValueRef at, LLVMValueRef x)
{
    WsDtype t = s->b->dtype;
    LLVMValueRef bits = ws_narrow(e, t, x);
    if (s->rank)
        ws_prim(e, WS_PRIM_ST_ASYNC, at, bits, s->bar, s->rank);
    else if (ws_dtype_bytes(t) == 4)
        ws_prim(e, s->peer ? WS_PRIM_ST_CLUSTER : WS_PRIM_ST_SHARED, at, bits);
    else if (ws_dtype_bytes(t) == 2)
        ws_prim(e, s->peer ? WS_PRIM_ST_CLUSTER_B16 : WS_PRIM_ST_SHARED_B16, at, half(e, bits));
    else
        ws_prim(e, s->peer ? WS_PRIM_ST_CLUSTER_B8 : WS_PRIM_ST_SHARED_B8, at, half(e, bits));
}

static void store_pair(WsEmit *e, const Spot *s, LLVMValueRef at, LLVMValueRef x, LLVMValueRef y)
{
    WsDtype t = s->b->dtype;
    if (s->rank && ws_dtype_bytes(t) == 4)
        ws_prim(e, WS_PRIM_ST_ASYNC_V2, at, bits_of(e, ws_narrow(e, t, x)),
                bits_of(e, ws_narrow(e, t, y)), s->bar, s->rank);
    else if (s->rank)
        ws_prim(e, WS_PRIM_ST_ASYNC, at, ws_narrow_pair(e, t, x, y), s->bar, s->rank);
    else if (ws_dtype_bytes(t) == 4)
        ws_prim(e, s->peer ? WS_PRIM_ST_CLUSTER_V2 : WS_PRIM_ST_SHARED_V2, at,
                bits_of(e, ws_narrow(e, t, x)), bits_of(e, ws_narrow(e, t, y)));
    else if (ws_dtype_bytes(t) == 2)
        ws_prim(e, s->peer ? WS_PRIM_ST_CLUSTER : WS_PRIM_ST_SHARED, at,
                ws_narrow_pair(e, t, x, y));
    else
        ws_prim(e, s->peer ? WS_PRIM_ST_CLUSTER_B16 : WS_PRIM_ST_SHARED_B16, at,
                half(e, ws_narrow_pair(e, t, x, y)));
}

static void store_all(WsEmit *e, const WsFragment *f, const Spot *s, guint by)
{
    LLVMBasicBlockRef after = f->owner ? ws_if(e, f->owner, "write") : NULL;
    for (guint i = 0; i < f->n; i += by) {
        WsFragmentPlace p = ws_fragment_place(e, f, i);
        LLVMBasicBlockRef skip = p.there ? ws_if(e, p.there, "write") : NULL;
        LLVMValueRef at = address(e, s, p.row, p.col), x = ws_fragment_get(e, f, i);
        if (by == 2)
            store_pair(e, s, at, x, ws_fragment_get(e, f, i + 1));
        else
            store_one(e, s, at, x);
        if (skip)
            ws_end_if(e, skip);
    }
    if (after)
        ws_end_if(e, after);
}

void ws_spot_store(WsEmit *e, const WsOp *op)
{
    WsFragment f;
    if (!ws_fragment(e, &op->value[0], &f)) {
        ws_emit_step_error(e, op, "a write of a view of this form");
        return;
    }
    Spot s = spot_of(e, op);
    at_peer(e, op, &s);
    store_all(e, &f, &s, in_pairs(&s, &f) ? 2 : 1);
}

/* The element of the view that `at` picks, counted along its rows. The result: it is one of it. */
static LLVMValueRef picked(WsEmit *e, const Spot *s, const WsAccess *a, LLVMValueRef at,
                           LLVMValueRef *row, LLVMValueRef *col)
{
    /* of a view of a view, rows and columns of the storage */
    const guint cols = a->transposed ? a->rows : a->cols;
    LLVMValueRef in = LLVMBuildICmp(e->b, LLVMIntULT, at, ws_i32(e, (gint64)a->rows * a->cols), "");
    at = LLVMBuildSelect(e->b, in, at, ws_i32(e, 0), "");
    *row = LLVMBuildUDiv(e->b, at, ws_i32(e, cols), "");
    *col = LLVMBuildURem(e->b, at, ws_i32(e, cols), "");
    if (s->b->rank == 1)
        *row = s->swap ? at : ws_i32(e, 0), *col = s->swap ? ws_i32(e, 0) : at;
    return in;
}

/* The places of an operation that picks its elements, in step with its value. */
static gboolean places_of(WsEmit *e, const WsOp *op, const WsFragment *f, WsFragment *places)
{
    return ws_fragment_beside(e, op, op->places, f, places);
}

/* What a lane of several that hold an element got, for the others. FALSE: they are of several
 * warps. */
static gboolean shared_out(WsEmit *e, const WsFragment *f, LLVMValueRef *x)
{
    LLVMValueRef from;
    if (!f->owner)
        return TRUE;
    if (f->shape == WS_FRAGMENT_ROWS)
        from = LLVMBuildAnd(e->b, e->lane, ws_i32(e, ~(gint64)3), "");
    else if (e->agent->warps == 1)
        from = f->shape == WS_FRAGMENT_COLUMNS ? LLVMBuildAnd(e->b, e->lane, ws_i32(e, 3), "")
                                               : ws_i32(e, 0);
    else
        return FALSE;
    LLVMTypeRef type = LLVMTypeOf(*x);
    *x = ws_prim(e, WS_PRIM_SHFL_IDX, bits_of(e, *x), from);
    if (type == e->f32)
        *x = LLVMBuildBitCast(e->b, *x, e->f32, "");
    return TRUE;
}

/* One element of a write with `reduce`, or with places alone. What was there; NULL: not asked. */
static LLVMValueRef combine_one(WsEmit *e, const WsOp *op, WsPrim prim, WsDtype t, LLVMValueRef at,
                                LLVMValueRef x, LLVMValueRef expected, LLVMValueRef there)
{
    if (op->reduce == WS_REDUCE_STORE) {
        LLVMValueRef bits = bits_of(e, ws_narrow(e, t, x));
        ws_prim(e, prim, at, ws_dtype_bytes(t) == 4 ? bits : half(e, bits), there);
        return NULL;
    }
    if (op->reduce == WS_REDUCE_COMPARE)
        return ws_prim(e, prim, at, expected, x, there);
    if (op->reduce == WS_REDUCE_EXCHANGE)
        return ws_widen(e, t, ws_prim(e, prim, at, bits_of(e, x), there));
    return ws_prim(e, prim, at, x, there);
}

/* Element by element, where `places` says or at its own place; what lies outside is left out. */
void ws_shared_reduce(WsEmit *e, const WsOp *op)
{
    WsFragment f, places, expected, old;
    Spot s = spot_of(e, op);
    const WsAccess *a = &op->access[0];
    WsPrim prim = ws_fact_combination(s.b->dtype, op->reduce, op->old != 0);
    if (prim == 0 || !ws_fragment(e, &op->value[0], &f) || !places_of(e, op, &f, &places) ||
        !ws_fragment_beside(e, op, op->expected, &f, &expected) ||
        !ws_fragment_beside(e, op, op->old, &f, &old)) {
        ws_emit_step_error(e, op, "a write with `reduce` of this form");
        return;
    }
    LLVMBasicBlockRef after = f.owner && !op->old ? ws_if(e, f.owner, "reduce") : NULL;
    for (guint i = 0; i < f.n; i++) {
        WsFragmentPlace p = ws_fragment_place(e, &f, i);
        LLVMValueRef row = p.row, col = p.col;
        LLVMValueRef there = p.there ? p.there : LLVMConstInt(LLVMInt1TypeInContext(e->ctx), 1, 0);
        if (ws_op_picks(op)) {
            LLVMValueRef in = picked(e, &s, a, ws_fragment_get(e, &places, i), &row, &col);
            there = LLVMBuildAnd(e->b, there, in, "");
        }
        if (f.owner && op->old)
            there = LLVMBuildAnd(e->b, there, f.owner, "");
        LLVMValueRef was = combine_one(
            e, op, prim, s.b->dtype, address(e, &s, row, col), ws_fragment_get(e, &f, i),
            op->expected ? ws_fragment_get(e, &expected, i) : NULL, there);
        if (!op->old)
            continue;
        if (!shared_out(e, &f, &was)) {
            ws_emit_step_error(e, op, "what was there before, in a value that several warps hold");
            return;
        }
        ws_fragment_set_if(e, &old, i, was, p.there);
    }
    if (after)
        ws_end_if(e, after);
}

/* st.async carries 4 or 8 bytes: 32-bit elements, or pairs of 16 bit. */
void ws_spot_store_remote(WsEmit *e, const WsOp *op)
{
    WsFragment f;
    Spot s = spot_of(e, op);
    gboolean fits = ws_fragment(e, &op->value[0], &f) && op->barrier >= 0;
    guint by = fits && in_pairs(&s, &f) ? 2 : 1;
    if (!fits || by * ws_dtype_bytes(s.b->dtype) < 4) {
        ws_emit_step_error(e, op, "a remote write of this form");
        return;
    }
    s.bar = ws_barrier_address(e, op);
    if (op->ctas.kind == WS_CTAS_EXPR) {
        s.rank = ws_uniform_i32(e, op->ctas.expr);
        store_all(e, &f, &s, by);
        return;
    }
    for (guint c = 0; c < e->p->cluster; c++) {
        s.rank = ws_i32(e, c);
        if (ws_fact_reaches(op, c))
            store_all(e, &f, &s, by);
    }
}

/* --- loads -------------------------------------------------------------------------------------*/

static LLVMValueRef load_word(WsEmit *e, const Spot *s, guint bytes, LLVMValueRef at)
{
    if (bytes == 4)
        return ws_prim(e, s->peer ? WS_PRIM_LD_CLUSTER : WS_PRIM_LD_SHARED, at);
    const WsPrim two = s->peer ? WS_PRIM_LD_CLUSTER_B16 : WS_PRIM_LD_SHARED_B16;
    const WsPrim one = s->peer ? WS_PRIM_LD_CLUSTER_B8 : WS_PRIM_LD_SHARED_B8;
    return LLVMBuildZExt(e->b, ws_prim(e, bytes == 2 ? two : one, at), e->i32, "");
}

static void load_pair(WsEmit *e, const Spot *s, LLVMValueRef at, LLVMValueRef out[2])
{
    WsDtype t = s->b->dtype;
    guint bytes = ws_dtype_bytes(t);
    LLVMValueRef bits;
    if (bytes == 4) {
        LLVMValueRef both = ws_prim(e, s->peer ? WS_PRIM_LD_CLUSTER_V2 : WS_PRIM_LD_SHARED_V2, at);
        for (guint k = 0; k < 2; k++)
            out[k] = ws_widen(e, t, LLVMBuildExtractValue(e->b, both, k, ""));
        return;
    }
    bits = load_word(e, s, 2 * bytes, at);
    out[0] = ws_widen(e, t, bits);
    out[1] = ws_widen(e, t, LLVMBuildLShr(e->b, bits, ws_i32(e, 8 * bytes), ""));
}

/* Element by element, from where `places` says; 0 where that is none of the view. */
static void load_picked(WsEmit *e, const WsOp *op, const Spot *s, const WsFragment *f,
                        const WsFragment *places)
{
    const WsDtype t = s->b->dtype;
    for (guint i = 0; i < f->n; i++) {
        WsFragmentPlace p = ws_fragment_place(e, f, i);
        LLVMValueRef row, col;
        LLVMValueRef in = picked(e, s, &op->access[0], ws_fragment_get(e, places, i), &row, &col);
        LLVMValueRef word = load_word(e, s, ws_dtype_bytes(t), address(e, s, row, col));
        word = LLVMBuildSelect(e->b, in, word, ws_i32(e, 0), "");
        ws_fragment_set_if(e, f, i, ws_widen(e, t, word), p.there);
    }
}

/* 8-bit floats keep their bits: to widen and narrow each is what nobody would take out again. */
static gboolean as_they_are(const Spot *s, const WsFragment *f)
{
    WsDtype t = s->b->dtype;
    return f->v->dtype == t && f->shape == WS_FRAGMENT_TILE && ws_dtype_bytes(t) == 1 &&
           ws_dtype_real(t);
}

/* Such pairs from swizzled rows: one address of a lane, of which further 16 bytes of its row differ
 * by bits that are flipped, and all else by constants. FALSE: not from here. */
static gboolean load_pairs(WsEmit *e, const Spot *s, const WsFragment *f)
{
    const WsBuffer *b = s->b;
    gint64 row0, col0;
    if (!as_they_are(s, f) || !in_pairs(s, f) || s->peer || !b->swizzle || !b->chunk_cols ||
        !ws_uniform_known(&s->row0, &row0) || !ws_uniform_known(&s->col0, &col0) || row0 % 8 ||
        col0 % 8)
        return FALSE;
    LLVMValueRef lane = LLVMBuildMul(e->b, f->row, ws_i32(e, b->row_bytes), "");
    lane = ws_swizzled(e, b, LLVMBuildAdd(e->b, lane, f->col, ""));
    lane = LLVMBuildAdd(e->b, s->stage, lane, "");
    for (guint i = 0; i < f->n; i += 2) {
        const WsElement x = ws_fragment_element(f, i);
        const gint64 col = col0 + x.col, inside = col % b->chunk_cols;
        LLVMValueRef at = lane;
        if (inside / 16)
            at = LLVMBuildXor(e->b, at, ws_i32(e, inside / 16 * 16), "");
        at = ws_add(e, at,
                    inside % 16 + col / b->chunk_cols * b->chunk_bytes +
                        (row0 + x.row) * b->row_bytes);
        ws_fragment_set_pair(e, f, i, load_word(e, s, 2, at));
    }
    return TRUE;
}

void ws_spot_load(WsEmit *e, const WsOp *op)
{
    WsFragment f, places;
    if (e->regs[op->value[0].value].quads) {
        ws_quads_move(e, op);
        return;
    }
    if (!ws_fragment(e, &op->value[0], &f) || !places_of(e, op, &f, &places)) {
        ws_emit_step_error(e, op, "a read of a view of this form");
        return;
    }
    Spot s = spot_of(e, op);
    if (ws_op_picks(op)) {
        load_picked(e, op, &s, &f, &places);
        return;
    }
    at_peer(e, op, &s);
    if (load_pairs(e, &s, &f))
        return;
    guint by = in_pairs(&s, &f) ? 2 : 1;
    for (guint i = 0; i < f.n; i += by) {
        WsFragmentPlace p = ws_fragment_place(e, &f, i);
        LLVMValueRef x[2];
        if (p.there) { /* the others read the first element, and drop it */
            p.row = LLVMBuildSelect(e->b, p.there, p.row, ws_i32(e, 0), "");
            p.col = LLVMBuildSelect(e->b, p.there, p.col, ws_i32(e, 0), "");
        }
        LLVMValueRef at = address(e, &s, p.row, p.col);
        if (by == 2 && as_they_are(&s, &f)) {
            ws_fragment_set_pair(e, &f, i, load_word(e, &s, 2, at));
            continue;
        }
        if (by == 2)
            load_pair(e, &s, at, x);
        else
            x[0] = ws_widen(e, s.b->dtype, load_word(e, &s, ws_dtype_bytes(s.b->dtype), at));
        for (guint k = 0; k < by; k++)
            ws_fragment_set_if(e, &f, i + k, x[k], p.there);
    }
}

/* --- ldmatrix ----------------------------------------------------------------------------------*/

/* 16 rows x 16 columns of a warp per x4. Lane l gives the address of row l%8 of matrix l/8; matrix
 * order is (rows 0-7, columns 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15): the order of the
 * registers. Transposed, a row of a matrix is a column of the value. */
void ws_spot_ldmatrix(WsEmit *e, const WsOp *op)
{
    WsFragment f;
    Spot s = spot_of(e, op);
    if (!ws_fragment(e, &op->value[0], &f) || f.shape != WS_FRAGMENT_TILE ||
        ws_dtype_bytes(f.v->dtype) != 2 || f.cols % 16 || s.b->rank != 2) {
        ws_spot_load(e, op);
        return;
    }
    LLVMValueRef in = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 7), "");
    LLVMValueRef low = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 8), "");
    LLVMValueRef high = LLVMBuildLShr(e->b, e->lane, ws_i32(e, 4), "");
    high = LLVMBuildShl(e->b, high, ws_i32(e, 3), "");
    LLVMValueRef row = LLVMBuildAdd(e->b, LLVMBuildShl(e->b, e->agent_warp, ws_i32(e, 4), ""), low,
                                    ""),
                 col = high;
    if (s.swap)
        col = LLVMBuildAdd(e->b, col, in, "");
    else
        row = LLVMBuildAdd(e->b, row, in, "");
    for (guint atom = 0; atom < f.rows / 64; atom++) {
        for (guint c = 0; c < f.cols; c += 16) {
            LLVMValueRef at = address(e, &s, ws_add(e, row, (gint64)atom * 64), ws_add(e, col, c));
            LLVMValueRef all = ws_prim(e, s.swap ? WS_PRIM_LDMATRIX_X4_T : WS_PRIM_LDMATRIX_X4, at);
            guint first = ws_fragment_element(&f, atom * f.cols / 2 + c / 2).reg;
            for (guint i = 0; i < 4; i++)
                ws_reg_set(e, f.value, first + i, LLVMBuildExtractValue(e->b, all, i, ""));
        }
    }
}
