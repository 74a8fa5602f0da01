/* Reductions, tensor elements and helper functions of the reference notation. What a reduction's
 * body computes without its index (another reduction, a costly helper) is evaluated before the
 * loop, or once in it, so that an attention reference does not recompute its row maximum for every
 * column. */
#include "codegen/reference/internal.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <math.h>

/* --- helpers and tensors -----------------------------------------------------------------------
 */
/* An element of a stored tensor; outside its shape: flag, and 0 or NaN. */
static RefValue load_tensor(RefBuilder *r, guint tensor, LLVMValueRef *index)
{
    const WsTensor *t = &r->p->tensor[tensor];
    const WsFormulaShape *shape = &r->p->formula_shape[tensor];
    LLVMValueRef inside = LLVMConstInt(r->i1, 1, FALSE), offset = ws_ref_int(r, 0), address, phi;
    LLVMValueRef value[2];
    LLVMBasicBlockRef load, done, from[2];
    LLVMValueRef device = NULL;
    guint i;
    if (r->p->mesh) { /* the first index */
        LLVMValueRef devices = ws_ref_slot(r, r->pitch_slot + r->p->n_tensors, r->i64);
        LLVMValueRef low = LLVMBuildICmp(r->b, LLVMIntULT, index[0], devices, "");
        device = LLVMBuildMul(r->b, index[0], ws_ref_slot(r, r->pitch_slot + tensor, r->i64), "");
        inside = LLVMBuildAnd(r->b, inside, low, "");
        index++;
    }
    for (i = 0; i < t->rank; i++) {
        LLVMValueRef extent = ws_ref_convert(r, ws_ref_emit(r, shape->extent[i]), WS_FORMULA_INT).v;
        LLVMValueRef stride = ws_ref_convert(r, ws_ref_emit(r, shape->stride[i]), WS_FORMULA_INT).v;
        LLVMValueRef low = LLVMBuildICmp(r->b, LLVMIntULT, index[i], extent, "");
        inside = LLVMBuildAnd(r->b, inside, low, "");
        offset = LLVMBuildAdd(r->b, offset, LLVMBuildMul(r->b, index[i], stride, ""), "");
    }
    ws_ref_flag_if(r, LLVMBuildNot(r->b, inside, ""), WS_REF_OUTSIDE);
    load = ws_ref_block(r, "load");
    done = ws_ref_block(r, "loaded");
    from[0] = LLVMGetInsertBlock(r->b);
    LLVMBuildCondBr(r->b, inside, load, done);
    LLVMPositionBuilderAtEnd(r->b, load);
    offset = LLVMBuildMul(r->b, offset, ws_ref_int(r, ws_dtype_bytes(t->dtype)), "");
    address = LLVMBuildAdd(r->b, ws_ref_slot(r, tensor, r->i64), offset, "");
    if (device)
        address = LLVMBuildAdd(r->b, address, device, "");
    value[1] = ws_ref_load(r, t->dtype, address);
    from[1] = LLVMGetInsertBlock(r->b);
    LLVMBuildBr(r->b, done);
    LLVMPositionBuilderAtEnd(r->b, done);
    value[0] = LLVMTypeOf(value[1]) == r->f64 ? LLVMConstReal(r->f64, NAN) : ws_ref_int(r, 0);
    phi = LLVMBuildPhi(r->b, LLVMTypeOf(value[1]), "");
    LLVMAddIncoming(phi, value, from, 2);
    return (RefValue){ LLVMTypeOf(phi) == r->f64 ? WS_FORMULA_REAL : WS_FORMULA_INT, phi };
}

RefValue ws_ref_element(RefBuilder *r, const WsFormula *e)
{
    LLVMValueRef arg[WS_FORMULA_INDICES + 1];
    guint i;
    for (i = 0; i < e->n_arg; i++)
        arg[i + 1] = ws_ref_convert(r, ws_ref_emit(r, e->arg[i]), WS_FORMULA_INT).v;
    if (e->form == WS_FORMULA_ELEMENT)
        return load_tensor(r, e->index, arg + 1);
    RefFunction *f = ws_ref_function(r, e->index);
    arg[0] = r->env;
    return (RefValue){ f->kind, LLVMBuildCall2(r->b, f->type, f->fn, arg, e->n_arg + 1, "") };
}

/* --- what is computed before a loop -------------------------------------------------------------
 */
/* Every index of `e` means something before the loop: it is one of the first `known` ones, or bound
 * inside `whole`, which `e` is part of. */
static gboolean free_of(const WsFormula *e, guint known, const WsFormula *whole)
{
    if (e->form == WS_FORMULA_INDEX)
        return e->index < known || e->index >= whole->depth;
    if (e->form == WS_FORMULA_VARIABLE)
        return TRUE;
    for (guint i = 0; i < e->n_arg; i++)
        if (!free_of(e->arg[i], known, whole))
            return FALSE;
    return TRUE;
}

/* A cell of the function: allocated once, at its entry, however often the loop is entered. */
static LLVMValueRef cell(RefBuilder *r, LLVMTypeRef type)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b), entry = LLVMGetEntryBasicBlock(r->fn);
    LLVMValueRef first = LLVMGetFirstInstruction(entry), at;
    if (first)
        LLVMPositionBuilderBefore(r->b, first);
    else
        LLVMPositionBuilderAtEnd(r->b, entry);
    at = ws_ref_memory(r, type, "");
    LLVMPositionBuilderAtEnd(r->b, here);
    return at;
}

RefValue ws_ref_hoisted(RefBuilder *r, const WsFormula *e, const RefHoist *h)
{
    LLVMBasicBlockRef compute, done;
    LLVMTypeRef type = h->ready.kind == WS_FORMULA_REAL ? r->f64 : r->i64;
    RefValue v;
    if (!h->known)
        return h->ready;
    compute = ws_ref_block(r, "compute");
    done = ws_ref_block(r, "known");
    LLVMBuildCondBr(r->b, LLVMBuildLoad2(r->b, r->i1, h->known, ""), done, compute);
    LLVMPositionBuilderAtEnd(r->b, compute);
    v = ws_ref_convert(r, ws_ref_evaluate(r, e), h->ready.kind);
    LLVMBuildStore(r->b, v.v, h->value);
    LLVMBuildStore(r->b, LLVMConstInt(r->i1, 1, FALSE), h->known);
    LLVMBuildBr(r->b, done);
    LLVMPositionBuilderAtEnd(r->b, done);
    return (RefValue){ h->ready.kind, LLVMBuildLoad2(r->b, type, h->value, "") };
}

/* Evaluates here what is costly, certain to be evaluated, and free of indices not yet in scope;
 * what is only likely to be (`lazy`) gets a cell for the first round that needs it. */
static void hoist(RefBuilder *r, const WsFormula *e, gboolean lazy)
{
    const gboolean operator= e->form == WS_FORMULA_OPERATION && e->x->op != WS_EXPR_CALL;
    guint i, n = e->n_arg;
    if (!e->costly || g_hash_table_contains(r->hoisted, e))
        return;
    if (!operator&& free_of(e, r->scope->len, e)) {
        RefHoist *h = g_new0(RefHoist, 1);
        if (lazy) {
            h->ready.kind = MAX(WS_FORMULA_INT, e->kind);
            h->known = cell(r, r->i1);
            h->value = cell(r, h->ready.kind == WS_FORMULA_REAL ? r->f64 : r->i64);
            LLVMBuildStore(r->b, LLVMConstInt(r->i1, 0, FALSE), h->known);
        } else {
            h->ready = ws_ref_emit(r, e);
        }
        g_hash_table_insert(r->hoisted, (gpointer)e, h);
        g_ptr_array_add(r->hoist_order, (gpointer)e);
        return;
    }
    if (e->form == WS_FORMULA_REDUCTION) /* its rounds may be none: it hoists for itself */
        return;
    if (e->form == WS_FORMULA_OPERATION &&
        (e->x->op == WS_EXPR_AND || e->x->op == WS_EXPR_OR ||
         (e->x->op == WS_EXPR_CALL && e->x->func == WS_FUNC_SELECT)))
        n = 1;
    for (i = 0; i < n; i++)
        hoist(r, e->arg[i], lazy);
    for (; i < e->n_arg; i++)
        hoist(r, e->arg[i], TRUE);
}

static RefValue combine(RefBuilder *r, WsFunc func, WsFormulaKind kind, LLVMValueRef acc,
                        LLVMValueRef v)
{
    LLVMValueRef take;
    if (func == WS_FUNC_SUM)
        return (RefValue){ kind, kind == WS_FORMULA_REAL ? LLVMBuildFAdd(r->b, acc, v, "")
                                                         : LLVMBuildAdd(r->b, acc, v, "") };
    if (kind == WS_FORMULA_REAL) /* unordered: a NaN wins and stays */
        take = LLVMBuildFCmp(r->b, func == WS_FUNC_MAX ? LLVMRealUGT : LLVMRealULT, v, acc, "");
    else
        take = LLVMBuildICmp(r->b, func == WS_FUNC_MAX ? LLVMIntSGT : LLVMIntSLT, v, acc, "");
    if (kind == WS_FORMULA_REAL) {
        LLVMValueRef lost = LLVMBuildFCmp(r->b, LLVMRealUNO, acc, acc, "");
        take = LLVMBuildAnd(r->b, take, LLVMBuildNot(r->b, lost, ""), "");
    }
    return (RefValue){ kind, LLVMBuildSelect(r->b, take, v, acc, "") };
}

static LLVMValueRef neutral(RefBuilder *r, WsFunc func, WsFormulaKind kind)
{
    if (func == WS_FUNC_SUM)
        return kind == WS_FORMULA_REAL ? LLVMConstReal(r->f64, 0) : ws_ref_int(r, 0);
    if (kind == WS_FORMULA_REAL)
        return LLVMConstReal(r->f64, func == WS_FUNC_MAX ? -INFINITY : INFINITY);
    return ws_ref_int(r, func == WS_FUNC_MAX ? G_MININT64 : G_MAXINT64);
}

/* On the host: the bound, or 0 once all sums together have had WS_REFERENCE_TERMS terms, so that
 * what a design asks for ends. */
static LLVMValueRef affordable(RefBuilder *r, LLVMValueRef bound)
{
    LLVMValueRef address = ws_ref_slot_address(r, r->terms_slot), none = ws_ref_int(r, 0);
    LLVMValueRef left = LLVMBuildLoad2(r->b, r->i64, address, ""), too_long;
    LLVMValueRef some = LLVMBuildICmp(r->b, LLVMIntSGT, bound, none, "");
    bound = LLVMBuildSelect(r->b, some, bound, none, "");
    too_long = LLVMBuildICmp(r->b, LLVMIntSGT, bound, left, "");
    ws_ref_flag_if(r, too_long, WS_REF_LONG);
    bound = LLVMBuildSelect(r->b, too_long, none, bound, "");
    left = LLVMBuildSelect(r->b, too_long, none, LLVMBuildSub(r->b, left, bound, ""), "");
    LLVMBuildStore(r->b, left, address);
    return bound;
}

/* sum(i < n, j < m, body) is sum(i < n, sum(j < m, body)); `level` is the index to loop over. */
RefValue ws_ref_reduce(RefBuilder *r, const WsFormula *e, guint level)
{
    const WsFormula *body = e->arg[e->n_arg - 1];
    const WsFunc func = e->x->func;
    const WsFormulaKind kind = e->kind;
    gboolean last = level + 2 == e->n_arg;
    LLVMValueRef bound = ws_ref_convert(r, ws_ref_emit(r, e->arg[level]), WS_FORMULA_INT).v;
    LLVMBasicBlockRef before, first = ws_ref_block(r, "enter"), loop = ws_ref_block(r, "loop");
    LLVMBasicBlockRef done = ws_ref_block(r, "reduced"), end;
    LLVMValueRef i, acc, next, start, result;
    RefValue v;
    guint hoisted = r->hoist_order->len, known = r->scope->len;
    start = neutral(r, func, kind);
    if (r->host)
        bound = affordable(r, bound);
    before = LLVMGetInsertBlock(r->b);
    LLVMBuildCondBr(r->b, LLVMBuildICmp(r->b, LLVMIntSGT, bound, ws_ref_int(r, 0), ""), first,
                    done);
    LLVMPositionBuilderAtEnd(r->b, first);
    hoist(r, body, FALSE);
    first = LLVMGetInsertBlock(r->b);
    LLVMBuildBr(r->b, loop);
    LLVMPositionBuilderAtEnd(r->b, loop);
    i = LLVMBuildPhi(r->b, r->i64, "");
    acc = LLVMBuildPhi(r->b, LLVMTypeOf(start), "");
    g_ptr_array_set_size(r->scope, (gint)(e->depth + level)); /* more, where it is hoisted */
    g_ptr_array_add(r->scope, i);
    v = last ? ws_ref_emit(r, body) : ws_ref_reduce(r, e, level + 1);
    g_ptr_array_set_size(r->scope, (gint)known);
    v = combine(r, func, kind, acc, ws_ref_convert(r, v, kind).v);
    next = LLVMBuildNSWAdd(r->b, i, ws_ref_int(r, 1), "");
    end = LLVMGetInsertBlock(r->b);
    LLVMBuildCondBr(r->b, LLVMBuildICmp(r->b, LLVMIntSLT, next, bound, ""), loop, done);
    LLVMAddIncoming(i, (LLVMValueRef[]){ ws_ref_int(r, 0), next },
                    (LLVMBasicBlockRef[]){ first, end }, 2);
    LLVMAddIncoming(acc, (LLVMValueRef[]){ start, v.v }, (LLVMBasicBlockRef[]){ first, end }, 2);
    while (r->hoist_order->len > hoisted) {
        g_hash_table_remove(r->hoisted, r->hoist_order->pdata[r->hoist_order->len - 1]);
        g_ptr_array_set_size(r->hoist_order, (gint)r->hoist_order->len - 1);
    }
    LLVMPositionBuilderAtEnd(r->b, done);
    result = LLVMBuildPhi(r->b, LLVMTypeOf(start), "");
    LLVMAddIncoming(result, (LLVMValueRef[]){ start, v.v }, (LLVMBasicBlockRef[]){ before, end },
                    2);
    return (RefValue){ kind, result };
}
