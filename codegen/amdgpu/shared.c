/* Values from shared memory. Rows as they lie: 16 bytes a lane (8 where columns are in fours).
 * Transposed: ds_read_b64_tr_b16, in which 16 lanes read 4 rows of 16 columns, lane i 4 columns of
 * row i / 4, and lane i gets the 4 rows of column i (CDNA 4 ISA 11.4). */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/program.h"

#define MOST_WORDS 16 /* of a cell */
#define TURNED     16 /* lanes that read together, transposed */

typedef struct {
    const WsBuffer *b;
    const WsAmdValue *v;
    guint bytes;
    gint64 col0;
    LLVMValueRef stage; /* with the first row of the view */
} Read;

LLVMValueRef ws_amd_shared(WsEmit *e, LLVMValueRef offset)
{
    return LLVMBuildInBoundsGEP2(e->b, LLVMInt8TypeInContext(e->ctx), e->amd->lds, &offset, 1, "");
}

/* Byte offset of a row. With gaps all counts are powers of two (ws_amd_read), so that the offset of
 * a sum is the sum of the offsets where no bit carries. */
static LLVMValueRef row_offset(WsEmit *e, const WsBuffer *b, LLVMValueRef row)
{
    if (!b->gap)
        return LLVMBuildMul(e->b, row, ws_i32(e, b->row_bytes), "");
    LLVMValueRef share = ws_i32(e, b->share), pieces = ws_i32(e, b->pieces);
    LLVMValueRef in = LLVMBuildURem(e->b, row, share, "");
    LLVMValueRef piece = LLVMBuildMul(e->b, LLVMBuildUDiv(e->b, row, share, ""), pieces, "");
    piece = LLVMBuildAdd(e->b, piece, LLVMBuildURem(e->b, in, pieces, ""), "");
    LLVMValueRef deep = LLVMBuildUDiv(e->b, in, pieces, "");
    return LLVMBuildAdd(e->b, LLVMBuildMul(e->b, piece, ws_i32(e, WS_PIECE + b->gap), ""),
                        LLVMBuildMul(e->b, deep, ws_i32(e, b->row_bytes), ""), "");
}

/* Behind a swizzled place `at` of a lane: `col` bytes to the right, a multiple of what lanes differ
 * by, and `row` rows below, a multiple of 8. */
static LLVMValueRef behind(WsEmit *e, const Read *r, LLVMValueRef at, guint col, guint row)
{
    const WsBuffer *b = r->b;
    const guint span = MAX(b->chunk_cols, 1) * r->bytes;
    if (b->swizzle)
        at = col % span ? LLVMBuildXor(e->b, at, ws_i32(e, col % span), "") : at;
    else
        at = ws_add(e, at, col % span);
    at = ws_add(e, at, (gint64)(col / span) * b->chunk_bytes + (gint64)ws_buffer_offset(b, row, 0));
    return LLVMBuildAdd(e->b, r->stage, at, "");
}

/* Words of one lane. */
static void words(WsEmit *e, LLVMValueRef at, guint n, LLVMValueRef *out)
{
    if (e->host) {
        for (guint i = 0; i < n; i += 2) {
            LLVMValueRef two = ws_prim(e, WS_PRIM_LD_SHARED_V2, ws_add(e, at, 4 * i));
            out[i] = LLVMBuildExtractValue(e->b, two, 0, "");
            out[i + 1] = LLVMBuildExtractValue(e->b, two, 1, "");
        }
        return;
    }
    LLVMValueRef v = LLVMBuildLoad2(e->b, ws_amd_vector(e->i32, n), ws_amd_shared(e, at), "");
    LLVMSetAlignment(v, 4 * n);
    ws_amd_mark_read(e, v);
    for (guint i = 0; i < n; i++)
        out[i] = ws_amd_element(e, v, i);
}

static void transposed(WsEmit *e, LLVMValueRef at, LLVMValueRef out[2])
{
    LLVMValueRef v;
    if (e->host) {
        v = ws_prim(e, WS_PRIM_DS_READ_TR_B16, at);
        out[0] = LLVMBuildExtractValue(e->b, v, 0, "");
        out[1] = LLVMBuildExtractValue(e->b, v, 1, "");
        return;
    }
    LLVMTypeRef type = ws_amd_vector(e->i16, 4);
    LLVMValueRef from = ws_amd_shared(e, at);
    v = ws_amd_call(e, "llvm.amdgcn.ds.read.tr16.b64", 1, &type, 1, &from);
    ws_amd_mark_read(e, v);
    v = LLVMBuildBitCast(e->b, v, ws_amd_vector(e->i32, 2), "");
    out[0] = ws_amd_element(e, v, 0);
    out[1] = ws_amd_element(e, v, 1);
}

static void put(WsEmit *e, const WsAmdValue *v, guint block, guint cut, LLVMValueRef *word)
{
    LLVMValueRef x = LLVMGetUndef(ws_amd_vector(e->i32, v->words));
    for (guint i = 0; i < v->words; i++)
        x = ws_amd_with(e, x, i, word[i]);
    ws_amd_set(e, v, block, cut, LLVMBuildBitCast(e->b, x, v->type, ""));
}

/* `extra`: elements that the waves of a grid are apart along the columns of the storage. */
static LLVMValueRef waves_apart(WsEmit *e, const Read *r, guint extra)
{
    const WsBuffer *b = r->b;
    const guint bytes = b->swizzle ? extra / b->chunk_cols * b->chunk_bytes : extra * r->bytes;
    return LLVMBuildMul(e->b, e->amd->wave_n, ws_i32(e, bytes), "");
}

static void read_rows(WsEmit *e, const Read *r)
{
    const WsAmdValue *v = r->v;
    const guint width = ws_amd_run(v), n = ws_amd_run_words(v), per_cell = v->words / n;
    LLVMValueRef col = LLVMBuildMul(e->b, e->amd->lane_group, ws_i32(e, width * r->bytes), "");
    LLVMValueRef at = row_offset(e, r->b, ws_amd_row(e, v, 0));
    at = ws_swizzled(e, r->b, LLVMBuildAdd(e->b, at, col, ""));
    if (v->share == WS_AMD_BY_MN)
        at = LLVMBuildAdd(e->b, at, waves_apart(e, r, v->cols), "");
    for (guint block = 0; block < v->blocks; block++)
        for (guint cut = 0; cut < v->cuts; cut++) {
            LLVMValueRef word[MOST_WORDS];
            for (guint i = 0; i < per_cell; i++) {
                const guint run = cut * per_cell + i, more = run * e->amd->groups * width;
                words(e,
                      behind(e, r, at, ((guint)r->col0 + more) * r->bytes, block * e->amd->block),
                      n, word + i * n);
            }
            put(e, v, block, cut, word);
        }
}

static void read_columns(WsEmit *e, const Read *r)
{
    const WsAmdValue *v = r->v;
    LLVMValueRef at[2];
    for (guint i = 0; i < 2; i++) {
        const guint width = ws_amd_run(v);
        LLVMValueRef row = LLVMBuildMul(e->b, e->amd->lane_group, ws_i32(e, width), "");
        LLVMValueRef four = LLVMBuildAnd(e->b, e->amd->lane_row, ws_i32(e, TURNED - 1), "");
        row = LLVMBuildAdd(e->b, row, LLVMBuildLShr(e->b, four, ws_i32(e, 2), ""), "");
        row = ws_add(e, row, i * (width == 4 ? 4 * e->amd->groups : 4));
        LLVMValueRef col = LLVMBuildAnd(e->b, e->amd->lane_row, ws_i32(e, 3), "");
        col = LLVMBuildShl(e->b, col, ws_i32(e, 3), "");
        /* lanes of the upper 16 rows of a block of 32: 16 columns of the storage on */
        LLVMValueRef upper = LLVMBuildUDiv(e->b, e->amd->lane_row, ws_i32(e, TURNED), "");
        col = LLVMBuildAdd(e->b, col, LLVMBuildMul(e->b, upper, ws_i32(e, 2 * TURNED), ""), "");
        at[i] = row_offset(e, r->b, row);
        at[i] = ws_swizzled(e, r->b, LLVMBuildAdd(e->b, at[i], col, ""));
        if (v->share == WS_AMD_BY_N)
            at[i] = LLVMBuildAdd(e->b, at[i], waves_apart(e, r, v->rows), "");
    }
    for (guint block = 0; block < v->blocks; block++)
        for (guint cut = 0; cut < v->cuts; cut++) {
            LLVMValueRef word[4];
            for (guint i = 0; i < 2; i++)
                transposed(e,
                           behind(e, r, at[i], ((guint)r->col0 + block * e->amd->block) * r->bytes,
                                  cut * 8 * e->amd->groups),
                           word + 2 * i);
            put(e, v, block, cut, word);
        }
}

static gboolean is_power(guint n)
{
    return n && !(n & (n - 1));
}

void ws_amd_read(WsEmit *e, const WsOp *op)
{
    const WsAccess *a = &op->access[0], *u = &e->amd->partner->access[0];
    const WsBuffer *b = &e->p->buffer[a->buffer];
    gint64 row0 = 0, other = 0, col0 = 0, other_col = 0;
    WsAmdValue *v = ws_amd_value(e, op, 0);
    if (!v)
        return;
    if (v->shape != WS_AMD_TILE || b->rank != 2 || b->k_permuted ||
        b->dtype != e->p->agent[0].value[op->value[0].value].dtype ||
        (a->transposed && v->bytes != 2)) {
        ws_amd_refuse(e, op, WS_WORD("a read of this shape or dtype"),
                      WS_WORD("a tile of two dimensions of the buffer's dtype"));
        return;
    }
    const guint apart = a->transposed              ? (v->share == WS_AMD_BY_N ? v->rows : 0)
                        : v->share == WS_AMD_BY_MN ? v->cols
                                                   : 0;
    if (!ws_expr_is_int(a->row0, &row0) || !ws_expr_is_int(u->row0, &other) ||
        !ws_expr_is_int(a->col0, &col0) || !ws_expr_is_int(u->col0, &other_col) ||
        col0 != other_col || row0 % 8 || other % 8 || b->rows % 8 || col0 * (gint64)v->bytes % 64 ||
        (a->transposed && v->share != WS_AMD_BY_N && e->amd->waves_m > 1) ||
        (e->amd->waves_n > 1 && b->swizzle && apart % b->chunk_cols)) {
        ws_amd_refuse(e, op, WS_WORD("a read of a part that waves cannot share"),
                      WS_WORD("whole buffers, and operand b alone transposed"));
        return;
    }
    const guint whole = a->transposed ? b->share : a->rows; /* rows behind row0 carry nothing */
    if (b->gap && (!is_power(b->share) || !is_power(b->rows) || !is_power(v->rows) ||
                   !is_power(v->cols) || !is_power(whole) || row0 % whole || other % whole)) {
        ws_amd_refuse(e, op, WS_WORD("a read of a part of rows with gaps between them"),
                      WS_WORD("whole tiles of 2^n rows"));
        return;
    }
    Read r = { .b = b, .v = v, .bytes = ws_dtype_bytes(b->dtype), .col0 = col0 };
    LLVMValueRef first = LLVMBuildSelect(
        e->b, e->amd->is_upper, ws_i32(e, (gint64)ws_buffer_offset(b, (guint)other, 0)),
        ws_i32(e, (gint64)ws_buffer_offset(b, (guint)row0, 0)), "");
    r.stage = LLVMBuildAdd(e->b, ws_stage_address(e, a), first, "");
    if (a->transposed)
        read_columns(e, &r);
    else
        read_rows(e, &r);
    ws_amd_schedule(e, WS_AMD_ARITHMETIC);
}
