/* Reductions over the columns of a row: first over what the thread holds, then, for the finished
 * ones, over the quad of lanes that shares the row. */
#include "codegen/nvptx/math_node.h"

#define WS_CHAINS 2 /* independent chains per row: half the latency for one register more */

static LLVMValueRef join(WsEmit *e, LLVMValueRef a, LLVMValueRef b, gboolean max)
{
    if (max)
        return ws_math_max(e, a, b, TRUE);
    if (LLVMTypeOf(a) == e->f32)
        return ws_math_contract(LLVMBuildFAdd(e->b, a, b, ""));
    return LLVMBuildAdd(e->b, a, b, "");
}

static LLVMValueRef shuffled(WsEmit *e, LLVMValueRef v, guint mask)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef bits = type == e->f32 ? LLVMBuildBitCast(e->b, v, e->i32, "") : v;
    bits = ws_prim(e, WS_PRIM_SHFL_BFLY, bits, ws_i32(e, mask));
    return type == e->f32 ? LLVMBuildBitCast(e->b, bits, e->f32, "") : bits;
}

static LLVMValueRef lanes_of_row(WsEmit *e, LLVMValueRef v, gboolean max)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    for (guint i = 0; i < 2 && !e->error; i++) {
        LLVMValueRef out[2];
        e->kind->across(e, LLVMBuildBitCast(e->b, v, e->i32, ""), i, out);
        v = join(e, LLVMBuildBitCast(e->b, out[0], type, ""),
                 LLVMBuildBitCast(e->b, out[1], type, ""), max);
    }
    return v;
}

LLVMValueRef ws_math_reduce(WsMath *m, WsMathNode *n, guint r)
{
    WsEmit *e = m->e;
    WsMathNode *a = n->arg[0];
    WsMathKind kind = n->is->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->is->kind;
    gboolean max = n->is->x->func == WS_FUNC_ROWMAX || n->is->x->func == WS_FUNC_LANEMAX;
    gboolean finish = n->is->x->func == WS_FUNC_ROWMAX || n->is->x->func == WS_FUNC_ROWSUM;
    if (m->linear) {
        ws_emit_step_error(e, m->op,
                           "a reduction of linear values (64*n rows and 8*n columns in a group of "
                           "4 warps are not linear)");
        return LLVMGetUndef(kind == WS_MATH_REAL ? e->f32 : e->i32);
    }
    if (a->is->cols == 1)
        return ws_math_as(m, a, r, 0, kind);
    LLVMValueRef part[WS_CHAINS] = { NULL };
    for (guint c = 0; c < a->n_col && !e->error; c++) {
        LLVMValueRef x = ws_math_as(m, a, r, c, kind), *p = &part[c % WS_CHAINS];
        *p = *p ? join(e, *p, x, max) : x;
    }
    LLVMValueRef v = part[0];
    for (guint i = 1; i < WS_CHAINS && part[i]; i++)
        v = join(e, v, part[i], max);
    if (e->kind)
        return lanes_of_row(e, v, max);
    for (guint mask = 2; finish && mask && !e->error; mask /= 2)
        v = join(e, v, shuffled(e, v, mask), max);
    return v;
}
