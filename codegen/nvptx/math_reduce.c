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
    for (guint i = 0; i < e->exchanges && !e->error; i++) {
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
    if (m->linear && finish && a->is->rows == 1 && a->is->cols > 1)
        return ws_math_reduce_line(m, n, kind, join, max);
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

/* --- running sums ------------------------------------------------------------------------------*/

static LLVMValueRef plus(WsEmit *e, LLVMValueRef a, LLVMValueRef b)
{
    if (!a)
        return b;
    return LLVMTypeOf(a) == e->f32 ? LLVMBuildFAdd(e->b, a, b, "") : LLVMBuildAdd(e->b, a, b, "");
}

static LLVMValueRef nought(WsEmit *e, LLVMValueRef like)
{
    return LLVMTypeOf(like) == e->f32 ? LLVMConstReal(e->f32, 0) : ws_i32(e, 0);
}

/* `v` of lane `place` of the quad. */
static LLVMValueRef of_lane(WsEmit *e, LLVMValueRef v, LLVMValueRef place)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMValueRef from = LLVMBuildAnd(e->b, e->lane, ws_i32(e, ~(gint64)3), "");
    from = LLVMBuildOr(e->b, from, place, "");
    v = ws_prim(e, WS_PRIM_SHFL_IDX, LLVMBuildBitCast(e->b, v, e->i32, ""), from);
    return LLVMBuildBitCast(e->b, v, type, "");
}

/* The sum of `v` over the lanes of the quad that come before, and `all` of them. */
static LLVMValueRef before(WsEmit *e, LLVMValueRef v, gboolean reverse, LLVMValueRef *all)
{
    LLVMValueRef own = LLVMBuildAnd(e->b, e->lane, ws_i32(e, 3), ""), sum = NULL;
    for (guint back = 3; back > 0; back--) {
        LLVMValueRef at = ws_add(e, own, reverse ? back : -(gint64)back);
        LLVMValueRef there = LLVMBuildICmp(e->b, LLVMIntULT, at, ws_i32(e, 4), "");
        LLVMValueRef x = of_lane(e, v, LLVMBuildAnd(e->b, at, ws_i32(e, 3), ""));
        sum = plus(e, sum, LLVMBuildSelect(e->b, there, x, nought(e, v), ""));
    }
    *all = of_lane(e, plus(e, sum, v), ws_i32(e, reverse ? 0 : 3));
    return sum;
}

/* A lane holds two neighbouring columns of every 8. */
void ws_math_scan(WsMath *m, WsMathNode *n, guint r)
{
    WsEmit *e = m->e;
    WsMathKind kind = n->is->kind == WS_MATH_LITERAL ? WS_MATH_INT : n->is->kind;
    gboolean exclusive, reverse;
    ws_array_scan(n->is, &exclusive, &reverse);
    LLVMValueRef carry = NULL, *row = n->made + (gsize)r * n->n_col;
    if (m->linear && !e->kind) {
        ws_math_scan_line(m, n, kind);
        return;
    }
    if (e->kind) {
        ws_emit_step_error(e, m->op, "a running sum");
        for (guint c = 0; c < n->n_col; c++)
            row[c] = LLVMGetUndef(kind == WS_MATH_REAL ? e->f32 : e->i32);
        return;
    }
    for (guint i = 0; i < n->n_col && !e->error; i += 2) {
        const guint first = reverse ? n->n_col - 1 - i : i,
                    second = reverse ? first - 1 : first + 1;
        LLVMValueRef a = ws_math_as(m, n->arg[0], r, first, kind), all;
        LLVMValueRef b = plus(e, a, ws_math_as(m, n->arg[0], r, second, kind));
        LLVMValueRef base = plus(e, carry, before(e, b, reverse, &all));
        row[first] = exclusive ? base : plus(e, base, a);
        row[second] = plus(e, base, exclusive ? a : b);
        carry = plus(e, carry, all);
    }
}
