/* Values to and from tensors, the neighbouring columns of a lane at once as far as they are known
 * to lie in the tensor together. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "program/parts/agent.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

/* --- one access: up to 16 bytes as words, or one of 2 bytes ------------------------------------*/

static LLVMTypeRef access_type(WsEmit *e, guint bytes)
{
    return bytes == 2 ? e->i16 : bytes == 4 ? e->i32 : ws_amd_vector(e->i32, bytes / 4);
}

static LLVMValueRef host_address(WsEmit *e, const WsAmdPlace *q, LLVMValueRef at, guint more)
{
    return LLVMBuildAdd(e->b, q->base, LLVMBuildZExt(e->b, ws_add(e, at, more), e->i64, ""), "");
}

static LLVMValueRef distance(WsEmit *e, LLVMValueRef at, LLVMValueRef inside)
{
    return LLVMBuildSelect(e->b, inside, at, ws_i32(e, WS_AMD_OUTSIDE), "");
}

static void fetch(WsEmit *e, const WsAmdPlace *q, LLVMValueRef at, LLVMValueRef inside, guint bytes,
                  LLVMValueRef *word)
{
    if (e->host) {
        for (guint i = 0; i < MAX(bytes / 4, 1); i++) {
            LLVMValueRef from = host_address(e, q, at, 4 * i);
            word[i] = bytes == 2 ? LLVMBuildZExt(e->b, ws_prim(e, WS_PRIM_LDG_B16, from, inside),
                                                 e->i32, "")
                                 : ws_prim(e, WS_PRIM_LDG_B32, from, inside);
        }
        return;
    }
    LLVMTypeRef type = access_type(e, bytes);
    LLVMValueRef zero = ws_i32(e, 0);
    LLVMValueRef v = ws_amd_call(e, "llvm.amdgcn.raw.ptr.buffer.load", 1, &type, 4,
                                 (LLVMValueRef[]){ q->rsrc, distance(e, at, inside), zero, zero });
    if (bytes <= 4)
        word[0] = bytes == 2 ? LLVMBuildZExt(e->b, v, e->i32, "") : v;
    for (guint i = 0; bytes > 4 && i < bytes / 4; i++)
        word[i] = ws_amd_element(e, v, i);
}

static void store(WsEmit *e, const WsAmdPlace *q, LLVMValueRef at, LLVMValueRef inside, guint bytes,
                  LLVMValueRef *word)
{
    if (e->host) {
        for (guint i = 0; i < MAX(bytes / 4, 1); i++) {
            LLVMValueRef to = host_address(e, q, at, 4 * i);
            if (bytes == 2)
                ws_prim(e, WS_PRIM_STG_B16, to, LLVMBuildTrunc(e->b, word[i], e->i16, ""), inside);
            else
                ws_prim(e, WS_PRIM_STG_B32, to, word[i], inside);
        }
        return;
    }
    LLVMTypeRef type = access_type(e, bytes);
    LLVMValueRef zero = ws_i32(e, 0), v = bytes == 2   ? LLVMBuildTrunc(e->b, word[0], e->i16, "")
                                          : bytes == 4 ? word[0]
                                                       : LLVMGetUndef(type);
    for (guint i = 0; bytes > 4 && i < bytes / 4; i++)
        v = ws_amd_with(e, v, i, word[i]);
    ws_amd_call(e, "llvm.amdgcn.raw.ptr.buffer.store", 1, &type, 5,
                (LLVMValueRef[]){ v, q->rsrc, distance(e, at, inside), zero, zero });
}

/* --- values -----------------------------------------------------------------------------------*/

static WsAmdValue *tile_of(WsEmit *e, const WsOp *op)
{
    WsAmdValue *v = ws_amd_value(e, op, 0);
    if (v && v->shape == WS_AMD_TILE)
        return v;
    if (v)
        ws_amd_refuse(e, op, WS_WORD("a value of one column or one element"),
                      WS_WORD("a tile of two dimensions"));
    return NULL;
}

/* Bytes of one access, for elements of `bytes`. */
static guint step_of(const WsAmdPlace *q, const WsAmdValue *v)
{
    return MIN(MIN(q->run, ws_amd_run(v)) * q->bytes, 16);
}

void ws_amd_global_load(WsEmit *e, const WsOp *op)
{
    WsAmdValue *v = tile_of(e, op);
    WsAmdPlace q;
    if (!v || !ws_amd_place(e, op, &q))
        return;
    if (e->p->tensor[op->tensor].dtype != e->p->agent[0].value[op->value[0].value].dtype) {
        ws_amd_refuse(e, op, WS_WORD("a conversion on the way"),
                      WS_WORD("read it into a value of its own dtype"));
        return;
    }
    const guint step = step_of(&q, v), width = ws_amd_run(v);
    const guint per_run = ws_amd_run_words(v), per_cell = v->words / per_run; /* words, runs */
    if (step < 2) {
        ws_amd_refuse(e, op, WS_WORD("8-bit elements that nothing shows to lie in pairs"),
                      WS_WORD("assume that the sizes are multiples of the tile"));
        return;
    }
    for (guint block = 0; block < v->blocks; block++)
        for (guint cut = 0; cut < v->cuts; cut++) {
            LLVMValueRef x = LLVMGetUndef(ws_amd_vector(e->i32, v->words)),
                         row = ws_amd_row(e, v, block);
            for (guint i = 0; i < per_cell; i++)
                for (guint part = 0; part < width * q.bytes; part += step) {
                    LLVMValueRef word[4],
                        col = ws_add(e, ws_amd_col(e, v, cut * per_cell + i), part / q.bytes);
                    fetch(e, &q, ws_amd_offset(e, &q, row, col), ws_amd_inside(e, &q, row, col),
                          step, word);
                    const guint at = i * per_run + part / 4;
                    if (part % 4) {
                        LLVMValueRef up = LLVMBuildShl(e->b, word[0], ws_i32(e, 16), "");
                        word[0] = LLVMBuildOr(e->b, ws_amd_element(e, x, at), up, "");
                    }
                    for (guint k = 0; k < MAX(step / 4, 1); k++)
                        x = ws_amd_with(e, x, at + k, word[k]);
                }
            ws_amd_set(e, v, block, cut, LLVMBuildBitCast(e->b, x, v->type, ""));
        }
    ws_amd_settle(e);
}

/* Run `run` of a row block as elements of the tensor, in words. */
static void run_of(WsEmit *e, const WsAmdValue *v, WsDtype to, guint block, guint run,
                   LLVMValueRef *word)
{
    const guint n = ws_amd_run_words(v), per_cell = v->words / n, first = run % per_cell * n;
    LLVMValueRef cell = ws_amd_get(e, v, block, run / per_cell);
    if (v->bytes < 4 || ws_dtype_bytes(to) == 4) {
        for (guint i = 0; i < n; i++)
            word[i] = LLVMBuildBitCast(e->b, ws_amd_element(e, cell, first + i), e->i32, "");
        return;
    }
    for (guint i = 0; i < 2; i++)
        word[i] = ws_prim(e, to == WS_DTYPE_BF16 ? WS_PRIM_CVT_BF16X2 : WS_PRIM_CVT_F16X2,
                          ws_amd_element(e, cell, first + 2 * i + 1),
                          ws_amd_element(e, cell, first + 2 * i));
}

void ws_amd_global_store(WsEmit *e, const WsOp *op)
{
    WsAmdValue *v = tile_of(e, op);
    WsAmdPlace q;
    if (!v || !ws_amd_place(e, op, &q))
        return;
    if (op->limit) {
        ws_amd_refuse(e, op, WS_WORD("a write that leaves out rows"),
                      WS_WORD("write the whole tile"));
        return;
    }
    const WsDtype from = e->p->agent[0].value[op->value[0].value].dtype,
                  to = e->p->tensor[op->tensor].dtype;
    if (from != to && (from != WS_DTYPE_F32 || (to != WS_DTYPE_F16 && to != WS_DTYPE_BF16))) {
        ws_amd_refuse(e, op, WS_WORD("a conversion on the way"),
                      WS_WORD("convert it by a statement first"));
        return;
    }
    const guint step = step_of(&q, v), width = ws_amd_run(v);
    for (guint block = 0; block < v->blocks && step > 1; block++)
        for (guint run = 0; run < ws_amd_runs(e, v); run++) {
            LLVMValueRef word[4], row = ws_amd_row(e, v, block);
            run_of(e, v, to, block, run, word);
            for (guint part = 0; part < width * q.bytes; part += step) {
                LLVMValueRef col = ws_add(e, ws_amd_col(e, v, run), part / q.bytes);
                LLVMValueRef up = word[part / 4];
                if (part % 4)
                    up = LLVMBuildLShr(e->b, up, ws_i32(e, 16), "");
                store(e, &q, ws_amd_offset(e, &q, row, col), ws_amd_inside(e, &q, row, col), step,
                      part % 4 ? &up : word + part / 4);
            }
        }
}
