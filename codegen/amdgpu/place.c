/* Where a tile lies in a tensor: one 64-bit address of a half's first element, 32-bit distances
 * behind it. What lies outside of the tensor's shape is asked for at a distance that no buffer has,
 * so that it reads as 0 and is not written. */
#include "base/phrase.h"
#include "codegen/amdgpu/amd.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

/* n if the design assumes size % n == 0, the largest power of two in it. */
static guint assumed(const WsProgram *p, gint var)
{
    guint most = 1;
    for (guint i = 0; i < p->n_assume; i++) {
        const WsExpr *x = p->assume[i];
        gint64 zero, n;
        if (x->op != WS_EXPR_EQ || x->arg[0]->op != WS_EXPR_MOD ||
            x->arg[0]->arg[0]->op != WS_EXPR_VAR || x->arg[0]->arg[0]->var != var ||
            !ws_expr_is_int(x->arg[0]->arg[1], &n) || !ws_expr_is_int(x->arg[1], &zero) ||
            zero != 0 || n <= 0)
            continue;
        most = MAX(most, (guint)MIN(n & -n, 4096));
    }
    return most;
}

guint ws_amd_alignment(const WsProgram *p, const WsExpr *x)
{
    if (x->op == WS_EXPR_INT)
        return x->i == 0 ? 4096 : (guint)MIN((guint64)(x->i & -x->i), 4096);
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &p->var[x->var];
        if (v->kind == WS_VAR_SIZE)
            return assumed(p, x->var);
        const gboolean defined = (v->kind == WS_VAR_TILE || v->kind == WS_VAR_RUN) && !v->real;
        return defined && v->value ? ws_amd_alignment(p, v->value) : 1;
    }
    if (x->op == WS_EXPR_MUL)
        return MIN(ws_amd_alignment(p, x->arg[0]) * ws_amd_alignment(p, x->arg[1]), 4096);
    if (x->op == WS_EXPR_ADD || x->op == WS_EXPR_SUB)
        return MIN(ws_amd_alignment(p, x->arg[0]), ws_amd_alignment(p, x->arg[1]));
    return 1;
}

static LLVMValueRef wide(WsEmit *e, LLVMValueRef v)
{
    return LLVMBuildSExt(e->b, v, e->i64, "");
}

/* `row` stands alone in the coordinate of a load's rows: it is left to the lanes. */
static void bind_row(WsEmit *e, gboolean bound)
{
    for (guint i = 0; i < e->p->n_vars; i++)
        if (e->p->var[i].kind == WS_VAR_ROW)
            e->var[i] = bound ? (WsBinding){ WS_BIND_VALUE, ws_i32(e, 0), 0, 0 } : (WsBinding){ 0 };
}

static LLVMValueRef buffer(WsEmit *e, LLVMValueRef base)
{
    LLVMTypeRef global = LLVMPointerTypeInContext(e->ctx, 1);
    LLVMTypeRef type[] = { LLVMPointerTypeInContext(e->ctx, 8), global };
    return ws_amd_call(
        e, "llvm.amdgcn.make.buffer.rsrc", 2, type, 4,
        (LLVMValueRef[]){ LLVMBuildIntToPtr(e->b, base, global, ""), LLVMConstInt(e->i16, 0, 0),
                          LLVMConstInt(e->i64, WS_AMD_RECORDS, 0), ws_i32(e, WS_AMD_RSRC) });
}

gboolean ws_amd_place(WsEmit *e, const WsOp *op, WsAmdPlace *q)
{
    const WsTensor *t = &e->p->tensor[op->tensor];
    const WsOp *upper = e->amd->partner;
    gint64 one = 0;
    *q = (WsAmdPlace){ .bytes = ws_dtype_bytes(t->dtype) };
    if (t->rank < 2 || op->n_coord != t->rank || !ws_expr_is_int(t->stride[t->rank - 1], &one) ||
        one != 1) {
        ws_amd_refuse(e, op, WS_WORD("a tensor whose last dimension does not lie in a row"),
                      WS_WORD("declare it so that its last dimension has stride 1"));
        return FALSE;
    }
    const guint r = t->rank - 2, c = t->rank - 1;
    q->run = MIN(ws_amd_alignment(e->p, t->shape[c]), ws_amd_alignment(e->p, t->stride[r]));
    q->run = MIN(
        q->run, MIN(ws_amd_alignment(e->p, op->coord[c]), ws_amd_alignment(e->p, upper->coord[c])));
    for (guint d = 0; d < r; d++)
        q->run = MIN(q->run, ws_amd_alignment(e->p, t->stride[d]));
    LLVMValueRef at = LLVMConstInt(e->i64, 0, 0);
    bind_row(e, TRUE);
    for (guint d = 0; d < t->rank; d++) {
        LLVMValueRef coord = ws_amd_i32(e, op->coord[d], upper->coord[d]);
        LLVMValueRef extent = ws_uniform_i32(e, t->shape[d]);
        LLVMValueRef stride = ws_uniform_i32(e, t->stride[d]);
        at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, wide(e, coord), wide(e, stride), ""), "");
        if (d == r) {
            q->row0 = coord;
            q->rows = extent;
            q->row_bytes = LLVMBuildMul(e->b, stride, ws_i32(e, q->bytes), "");
        } else if (d == c) {
            q->col0 = coord;
            q->cols = extent;
        } else {
            LLVMValueRef in = LLVMBuildICmp(e->b, LLVMIntULT, coord, extent, "");
            q->inside = q->inside ? LLVMBuildAnd(e->b, q->inside, in, "") : in;
        }
    }
    bind_row(e, FALSE);
    at = LLVMBuildMul(e->b, at, LLVMConstInt(e->i64, q->bytes, 0), "");
    q->base = LLVMBuildAdd(e->b, e->tensor[op->tensor], at, "");
    if (!e->host)
        q->rsrc = buffer(e, q->base);
    return !e->error;
}

LLVMValueRef ws_amd_inside(WsEmit *e, const WsAmdPlace *q, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef r =
        LLVMBuildICmp(e->b, LLVMIntULT, LLVMBuildAdd(e->b, q->row0, row, ""), q->rows, "");
    LLVMValueRef c =
        LLVMBuildICmp(e->b, LLVMIntULT, LLVMBuildAdd(e->b, q->col0, col, ""), q->cols, "");
    LLVMValueRef in = LLVMBuildAnd(e->b, r, c, "");
    return q->inside ? LLVMBuildAnd(e->b, in, q->inside, "") : in;
}

LLVMValueRef ws_amd_offset(WsEmit *e, const WsAmdPlace *q, LLVMValueRef row, LLVMValueRef col)
{
    LLVMValueRef at = LLVMBuildMul(e->b, row, q->row_bytes, "");
    return LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, col, ws_i32(e, q->bytes), ""), "");
}
