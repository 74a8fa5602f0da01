/* Values to and from tensors, clipped to their shape: predicated accesses, one element each. The
 * tile lies over the last dimensions of the tensor. Also `T[i, …]` in uniform expressions. */
#include "codegen/facts.h"
#include "codegen/nvptx/fragment.h"
#include "program/parts/tensor.h"
#include "program/program.h"

static LLVMValueRef wide(WsEmit *e, LLVMValueRef v)
{
    return LLVMBuildSExt(e->b, v, e->i64, "");
}

LLVMValueRef ws_global_address(WsEmit *e, guint tensor, const LLVMValueRef *coord,
                               LLVMValueRef *inside)
{
    const WsTensor *t = &e->p->tensor[tensor];
    gboolean outer = e->nonneg;
    e->nonneg = FALSE;
    LLVMValueRef at = LLVMConstInt(e->i64, 0, 0), in = NULL;
    for (guint d = 0; d < t->rank; d++) {
        LLVMValueRef stride = wide(e, ws_uniform(e, t->stride[d]).v);
        LLVMValueRef extent = ws_uniform(e, t->shape[d]).v;
        at = LLVMBuildAdd(e->b, at, LLVMBuildMul(e->b, wide(e, coord[d]), stride, ""), "");
        LLVMValueRef here = LLVMBuildICmp(e->b, LLVMIntULT, coord[d], extent, "");
        in = in ? LLVMBuildAnd(e->b, in, here, "") : here;
    }
    e->nonneg = outer;
    *inside = in ? in : LLVMConstInt(e->i1, 1, 0);
    LLVMValueRef bytes = LLVMConstInt(e->i64, ws_dtype_bytes(t->dtype), 0);
    return LLVMBuildAdd(e->b, e->tensor[tensor], LLVMBuildMul(e->b, at, bytes, ""), "");
}

/* f32 or i32; 0 where `inside` does not hold. */
static LLVMValueRef load(WsEmit *e, WsDtype t, LLVMValueRef at, LLVMValueRef inside)
{
    guint bytes = ws_dtype_bytes(t);
    if (bytes == 4)
        return ws_widen(e, t, ws_prim(e, WS_PRIM_LDG_B32, at, inside));
    LLVMValueRef h = ws_prim(e, bytes == 2 ? WS_PRIM_LDG_B16 : WS_PRIM_LDG_B8, at, inside);
    return ws_widen(e, t, LLVMBuildZExt(e->b, h, e->i32, ""));
}

/* --- one element of a value and its tensor element -------------------------------------------- */

typedef struct {
    WsFragment f, mask; /* mask: where it is not 0 */
    gboolean masked;
    guint tensor;
    LLVMValueRef origin[WS_MAX_RANK];
    LLVMValueRef limit; /* first row that is left out; NULL: none is */
} Walk;

static gboolean walk_of(WsEmit *e, const WsOp *op, Walk *w)
{
    if (!ws_fragment(e, &op->value[0], &w->f)) {
        ws_emit_step_error(e, op, "a view of this form");
        return FALSE;
    }
    w->masked = op->mask != 0;
    if (!ws_fragment_beside(e, op, op->mask, &w->f, &w->mask)) {
        ws_emit_step_error(e, op, "a mask of this form");
        return FALSE;
    }
    w->tensor = (guint)op->tensor;
    for (guint d = 0; d < op->n_coord; d++)
        w->origin[d] = ws_uniform_i32(e, op->coord[d]);
    w->limit = op->limit ? ws_uniform_i32(e, op->limit) : NULL;
    return TRUE;
}

static LLVMValueRef element(WsEmit *e, const Walk *w, guint i, const WsFragmentPlace *p,
                            LLVMValueRef *inside)
{
    guint rank = e->p->tensor[w->tensor].rank, at = rank;
    LLVMValueRef coord[WS_MAX_RANK];
    for (guint d = 0; d < rank; d++)
        coord[d] = w->origin[d];
    if (w->f.cols > 1 && at-- > 0)
        coord[at] = LLVMBuildAdd(e->b, coord[at], p->col, "");
    if (w->f.rows > 1 && at-- > 0)
        coord[at] = LLVMBuildAdd(e->b, coord[at], p->row, "");
    LLVMValueRef address = ws_global_address(e, w->tensor, coord, inside);
    if (p->there)
        *inside = LLVMBuildAnd(e->b, *inside, p->there, "");
    if (w->limit)
        *inside =
            LLVMBuildAnd(e->b, *inside, LLVMBuildICmp(e->b, LLVMIntSLT, p->row, w->limit, ""), "");
    if (w->f.owner)
        *inside = LLVMBuildAnd(e->b, *inside, w->f.owner, "");
    if (w->masked) {
        LLVMValueRef is =
            LLVMBuildICmp(e->b, LLVMIntNE, ws_fragment_get(e, &w->mask, i), ws_i32(e, 0), "");
        *inside = LLVMBuildAnd(e->b, *inside, is, "");
    }
    return address;
}

void ws_global_load(WsEmit *e, const WsOp *op)
{
    Walk w;
    if (!walk_of(e, op, &w))
        return;
    w.f.owner = NULL; /* all that hold an element read it */
    WsDtype t = e->p->tensor[w.tensor].dtype;
    for (guint i = 0; i < w.f.n; i++) {
        LLVMValueRef inside;
        WsFragmentPlace p = ws_fragment_place(e, &w.f, i);
        LLVMValueRef at = element(e, &w, i, &p, &inside);
        ws_fragment_set_if(e, &w.f, i, load(e, t, at, inside), p.there);
    }
}

void ws_global_store(WsEmit *e, const WsOp *op)
{
    Walk w;
    if (!walk_of(e, op, &w))
        return;
    WsDtype t = e->p->tensor[w.tensor].dtype;
    guint bytes = ws_dtype_bytes(t);
    for (guint i = 0; i < w.f.n; i++) {
        LLVMValueRef inside;
        WsFragmentPlace p = ws_fragment_place(e, &w.f, i);
        LLVMValueRef at = element(e, &w, i, &p, &inside);
        LLVMValueRef bits = ws_narrow(e, t, ws_fragment_get(e, &w.f, i));
        if (bytes == 4)
            ws_prim(e, WS_PRIM_STG_B32, at, bits, inside);
        else
            ws_prim(e, bytes == 2 ? WS_PRIM_STG_B16 : WS_PRIM_STG_B8, at,
                    LLVMBuildTrunc(e->b, bits, e->i16, ""), inside);
    }
}

void ws_global_reduce(WsEmit *e, const WsOp *op)
{
    Walk w;
    WsDtype t = e->p->tensor[op->tensor].dtype;
    WsPrim add = ws_fact_reduction(t, op->reduce);
    if (add == 0) {
        ws_emit_step_error(e, op, "a reduction of this kind and dtype");
        return;
    }
    if (!walk_of(e, op, &w))
        return;
    for (guint i = 0; i < w.f.n; i++) {
        LLVMValueRef inside;
        WsFragmentPlace p = ws_fragment_place(e, &w.f, i);
        LLVMValueRef at = element(e, &w, i, &p, &inside);
        LLVMValueRef x = ws_fragment_get(e, &w.f, i);
        if (ws_dtype_bytes(t) == 2)
            x = LLVMBuildTrunc(e->b, ws_narrow(e, t, x), e->i16, "");
        ws_prim(e, add, at, x, inside);
    }
}

/* --- uniform reads -----------------------------------------------------------------------------*/

WsUniform ws_global_element(WsEmit *e, const WsExpr *x)
{
    WsUniform none = ws_uniform_const(e, 0);
    if (x->var < 0 || (guint)x->var >= e->p->n_tensors || x->n_args != e->p->tensor[x->var].rank) {
        ws_emit_internal_error(e, "%s in a uniform expression is no tensor", x->name);
        return none;
    }
    const WsTensor *t = &e->p->tensor[x->var];
    LLVMValueRef coord[WS_MAX_RANK], inside;
    gboolean outer = e->nonneg;
    e->nonneg = FALSE;
    for (guint d = 0; d < t->rank; d++)
        coord[d] = ws_uniform_i32(e, x->arg[d]);
    e->nonneg = outer;
    LLVMValueRef at = ws_global_address(e, (guint)x->var, coord, &inside);
    LLVMValueRef v = load(e, t->dtype, at, inside);
    if (LLVMTypeOf(v) != e->i32) {
        ws_emit_step_error(e, e->op, "a float tensor in a uniform expression");
        return none;
    }
    /* through a shuffle, so that ptxas sees a uniform value */
    if (!e->in_leader && !e->per_thread)
        v = ws_prim(e, WS_PRIM_SHFL_IDX, v, ws_i32(e, 0));
    gint64 lo = t->dtype == WS_DTYPE_I8 ? -128 : t->dtype == WS_DTYPE_U8 ? 0 : G_MININT32;
    gint64 hi = t->dtype == WS_DTYPE_I8 ? 127 : t->dtype == WS_DTYPE_U8 ? 255 : G_MAXINT32;
    return ws_uniform_value(v, lo, hi);
}
