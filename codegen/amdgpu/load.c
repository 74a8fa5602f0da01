/* Loads straight to shared memory (buffer_load_dwordx4 … lds): an instruction of a wave fills 1024
 * bytes that follow each other, a lane 16 of them. So the swizzle of a buffer is one of the global
 * addresses: a lane fetches the 16 bytes that belong where its own go. Gaps stand between such
 * pieces, and rows are dealt to them in turn. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "target/target.h"

#define UNIT  16
#define PIECE (WS_AMD_LANES * UNIT)
G_STATIC_ASSERT(PIECE == WS_PIECE);

guint ws_amd_load_instructions(const WsEmit *e, gint64 bytes)
{
    const gint64 all = (gint64)PIECE * e->p->hardware->half_warps;
    return bytes % all == 0 ? (guint)(bytes / all) : 0;
}

typedef struct {
    const WsBuffer *b;
    guint per_chunk; /* pieces of the rows of the half in a chunk */
    guint n;         /* instructions of a wave */
    gint64 row0, upper_row0, chunk0;
} Shape;

/* All pieces of a half, with all columns. */
static gboolean is_share(const WsBuffer *b, const WsAccess *a, const Shape *s)
{
    return a->rows == b->share && a->cols == b->cols && s->row0 % b->share == 0 &&
           s->upper_row0 % b->share == 0;
}

static gboolean shape_of(WsEmit *e, const WsOp *op, Shape *s)
{
    const WsAccess *a = &op->access[0], *u = &e->amd->partner->access[0];
    gint64 col0 = 0, other = 0;
    *s = (Shape){ .b = &e->p->buffer[a->buffer] };
    const WsBuffer *b = s->b;
    const guint chunk_cols = MAX(b->chunk_cols, 1), run = a->rows * b->row_bytes;
    if (op->n_access != 1 || b->rank != 2 || a->transposed || !ws_expr_is_int(a->row0, &s->row0) ||
        !ws_expr_is_int(u->row0, &s->upper_row0) || !ws_expr_is_int(a->col0, &col0) ||
        !ws_expr_is_int(u->col0, &other) || col0 != other) {
        ws_amd_refuse(e, op, WS_WORD("a load into a part of a buffer that depends on a loop"),
                      NULL);
        return FALSE;
    }
    s->chunk0 = col0 / chunk_cols;
    s->n = ws_amd_load_instructions(e, op->bytes);
    if (b->pad || col0 % chunk_cols || a->cols % chunk_cols || b->rows % 8 || s->row0 % 8 ||
        s->upper_row0 % 8 || run % PIECE || s->n == 0 || (b->gap && !is_share(b, a, s)) ||
        (gint64)a->cols / chunk_cols * run != op->bytes) {
        ws_amd_refuse(
            e, op,
            WS_WORD("a wave fills 1024 bytes of shared memory that follow each other; the rows of "
                    "a half do not make 4 times that, or a multiple"),
            WS_WORD("whole rows without `pad`, 4096 bytes or a multiple for each half"));
        return FALSE;
    }
    s->per_chunk = run / PIECE;
    return TRUE;
}

static void one(WsEmit *e, const Shape *s, const WsAmdPlace *q, LLVMValueRef stage, guint i)
{
    const WsBuffer *b = s->b;
    const guint waves = e->p->hardware->half_warps;
    LLVMValueRef piece = ws_add(e, e->amd->wave, (gint64)i * waves);
    LLVMValueRef chunk = LLVMBuildUDiv(e->b, piece, ws_i32(e, s->per_chunk), "");
    piece = LLVMBuildURem(e->b, piece, ws_i32(e, s->per_chunk), "");
    /* where it goes: the same in all lanes of a wave but for 16 bytes from lane to lane */
    LLVMValueRef to =
        LLVMBuildMul(e->b, ws_add(e, chunk, s->chunk0), ws_i32(e, b->chunk_bytes), "");
    to = LLVMBuildAdd(e->b, to, LLVMBuildMul(e->b, piece, ws_i32(e, PIECE + b->gap), ""), "");
    LLVMValueRef row0 = LLVMBuildSelect(
        e->b, e->amd->is_upper, ws_i32(e, (gint64)ws_buffer_offset(b, (guint)s->upper_row0, 0)),
        ws_i32(e, (gint64)ws_buffer_offset(b, (guint)s->row0, 0)), "");
    to = LLVMBuildAdd(e->b, stage, LLVMBuildAdd(e->b, to, row0, ""), "");
    /* what belongs there: pieces begin where the pattern of the swizzle does */
    LLVMValueRef lane = LLVMBuildMul(e->b, e->lane, ws_i32(e, UNIT), "");
    LLVMValueRef in = ws_swizzled(e, b, lane);
    if (!b->gap)
        in = LLVMBuildAdd(e->b, in, LLVMBuildMul(e->b, piece, ws_i32(e, PIECE), ""), "");
    LLVMValueRef row = LLVMBuildUDiv(e->b, in, ws_i32(e, b->row_bytes), "");
    if (b->gap) /* rows are dealt to the pieces */
        row = LLVMBuildAdd(e->b, LLVMBuildMul(e->b, row, ws_i32(e, b->pieces), ""), piece, "");
    LLVMValueRef col = LLVMBuildURem(e->b, in, ws_i32(e, b->row_bytes), "");
    col = LLVMBuildUDiv(e->b, col, ws_i32(e, q->bytes), "");
    col = LLVMBuildAdd(e->b, col, LLVMBuildMul(e->b, chunk, ws_i32(e, b->chunk_cols), ""), "");
    LLVMValueRef inside = ws_amd_inside(e, q, row, col), at = ws_amd_offset(e, q, row, col);
    if (e->host) {
        LLVMValueRef zero = ws_i32(e, 0);
        at = LLVMBuildZExt(e->b, LLVMBuildSelect(e->b, inside, at, zero, ""), e->i64, "");
        LLVMValueRef from = LLVMBuildSelect(e->b, inside, LLVMBuildAdd(e->b, q->base, at, ""),
                                            LLVMConstInt(e->i64, 0, 0), "");
        ws_prim(e, WS_PRIM_CP_ASYNC, LLVMBuildAdd(e->b, to, lane, ""), from,
                LLVMBuildSelect(e->b, inside, ws_i32(e, UNIT), zero, ""));
        ws_prim0(e, WS_PRIM_CP_COMMIT); /* vmcnt counts instructions */
        return;
    }
    at = LLVMBuildSelect(e->b, inside, at, ws_i32(e, WS_AMD_OUTSIDE), "");
    LLVMValueRef zero = ws_i32(e, 0);
    ws_amd_mark_load(e, ws_amd_call(e, "llvm.amdgcn.raw.ptr.buffer.load.lds", 0, NULL, 7,
                                    (LLVMValueRef[]){ q->rsrc, ws_amd_shared(e, to),
                                                      ws_i32(e, UNIT), at, zero, zero, zero }));
}

void ws_amd_load(WsEmit *e, const WsOp *op)
{
    Shape s;
    WsAmdPlace q;
    if (!shape_of(e, op, &s) || !ws_amd_place(e, op, &q))
        return;
    if (q.run * q.bytes < UNIT) {
        ws_amd_refuse(
            e, op,
            WS_WORD("a lane takes 16 bytes of a row, and nothing says that rows begin and "
                    "end at multiples of them"),
            WS_WORD("assume that the sizes are multiples of the tile"));
        return;
    }
    LLVMValueRef stage = ws_stage_address(e, &op->access[0]);
    for (guint i = 0; i < s.n && !e->error; i++)
        one(e, &s, &q, stage, i);
    ws_amd_schedule(e, WS_AMD_ARITHMETIC);
}
