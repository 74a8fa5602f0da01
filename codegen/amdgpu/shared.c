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
    at = ws_add(e, at, (gint64)(col / span) * b->chunk_bytes + (gint64)row * b->row_bytes);
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
    LLVMValueRef x = LLVMGetUndef(ws_amd_vector(e->i32, 4));
    for (guint i = 0; i < 4; i++)
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
    const guint width = ws_amd_run(v), n = width * r->bytes / 4, per_cell = 4 / n;
    LLVMValueRef col = LLVMBuildMul(e->b, e->amd->lane_group, ws_i32(e, width * r->bytes), "");
    LLVMValueRef at = LLVMBuildMul(e->b, ws_amd_row(e, v, 0), ws_i32(e, r->b->row_bytes), "");
    at = ws_swizzled(e, r->b, LLVMBuildAdd(e->b, at, col, ""));
    if (v->share == WS_AMD_BY_MN)
        at = LLVMBuildAdd(e->b, at, waves_apart(e, r, v->cols), "");
    for (guint block = 0; block < v->blocks; block++)
        for (guint cut = 0; cut < v->cuts; cut++) {
            LLVMValueRef word[4];
            for (guint i = 0; i < per_cell; i++) {
                const guint run = cut * per_cell + i;
                words(e,
                      behind(e, r, at, ((guint)r->col0 + run * 4 * width) * r->bytes,
                             block * WS_AMD_BLOCK),
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
        row = LLVMBuildAdd(e->b, row, LLVMBuildLShr(e->b, e->amd->lane_row, ws_i32(e, 2), ""), "");
        row = ws_add(e, row, i * (width == 4 ? 16 : 4));
        LLVMValueRef col = LLVMBuildAnd(e->b, e->amd->lane_row, ws_i32(e, 3), "");
        col = LLVMBuildShl(e->b, col, ws_i32(e, 3), "");
        at[i] = LLVMBuildMul(e->b, row, ws_i32(e, r->b->row_bytes), "");
        at[i] = ws_swizzled(e, r->b, LLVMBuildAdd(e->b, at[i], col, ""));
        if (v->share == WS_AMD_BY_N)
            at[i] = LLVMBuildAdd(e->b, at[i], waves_apart(e, r, v->rows), "");
    }
    for (guint block = 0; block < v->blocks; block++)
        for (guint cut = 0; cut < v->cuts; cut++) {
            LLVMValueRef word[4];
            for (guint i = 0; i < 2; i++)
                transposed(e,
                           behind(e, r, at[i], ((guint)r->col0 + block * WS_AMD_BLOCK) * r->bytes,
                                  cut * WS_AMD_K),
                           word + 2 * i);
            put(e, v, block, cut, word);
        }
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
        (a->transposed && !v->packed)) {
        ws_amd_refuse(e, op, WS_WORD("a read of this shape or dtype"),
                      WS_WORD("a tile of two dimensions of the buffer's dtype"));
        return;
    }
    const guint apart = a->transposed              ? (v->share == WS_AMD_BY_N ? v->rows : 0)
                        : v->share == WS_AMD_BY_MN ? v->cols
                                                   : 0;
    if (!ws_expr_is_int(a->row0, &row0) || !ws_expr_is_int(u->row0, &other) ||
        !ws_expr_is_int(a->col0, &col0) || !ws_expr_is_int(u->col0, &other_col) ||
        col0 != other_col || row0 % 8 || other % 8 || b->rows % 8 || col0 % 32 ||
        (a->transposed && v->share != WS_AMD_BY_N && e->amd->waves_m > 1) ||
        (e->amd->waves_n > 1 && b->swizzle && apart % b->chunk_cols)) {
        ws_amd_refuse(e, op, WS_WORD("a read of a part that waves cannot share"),
                      WS_WORD("whole buffers, and operand b alone transposed"));
        return;
    }
    Read r = { .b = b, .v = v, .bytes = ws_dtype_bytes(b->dtype), .col0 = col0 };
    LLVMValueRef first = LLVMBuildSelect(e->b, e->amd->is_upper, ws_i32(e, other * b->row_bytes),
                                         ws_i32(e, row0 * b->row_bytes), "");
    r.stage = LLVMBuildAdd(e->b, ws_stage_address(e, a), first, "");
    if (a->transposed)
        read_columns(e, &r);
    else
        read_rows(e, &r);
    ws_amd_schedule(e, WS_AMD_ARITHMETIC);
}
