/* Reductions, tensor elements and helper functions of the reference notation. What a reduction's
 * body computes without its index (another reduction, a costly helper) is evaluated before the
 * loop, or once in it, so that an attention reference does not recompute its row maximum for every
 * column. */
#include "codegen/reference/internal.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <math.h>

/* --- helpers and tensors -----------------------------------------------------------------------
 */
static gint find_tensor(const WsProgram *p, const char *name)
{
    guint i;
    for (i = 0; i < p->n_tensors; i++)
        if (strcmp(p->tensor[i].name, name) == 0)
            return (gint)i;
    return -1;
}

static RefValue nothing(RefBuilder *r)
{
    return (RefValue){ REF_REAL, LLVMConstReal(r->f64, 0) };
}

/* An element of a stored tensor; outside its shape: flag, and 0 or NaN. */
static RefValue load_tensor(RefBuilder *r, guint tensor, LLVMValueRef *index)
{
    const WsTensor *t = &r->p->tensor[tensor];
    LLVMValueRef inside = LLVMConstInt(r->i1, 1, FALSE), offset = ws_ref_int(r, 0), address, phi;
    LLVMValueRef value[2];
    LLVMBasicBlockRef load, done, from[2];
    guint i;
    for (i = 0; i < t->rank; i++) {
        LLVMValueRef extent = ws_ref_convert(r, ws_ref_emit(r, t->shape[i]), REF_INT).v;
        LLVMValueRef stride = ws_ref_convert(r, ws_ref_emit(r, t->stride[i]), REF_INT).v;
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
    value[1] = ws_ref_load(r, t->dtype, address);
    from[1] = LLVMGetInsertBlock(r->b);
    LLVMBuildBr(r->b, done);
    LLVMPositionBuilderAtEnd(r->b, done);
    value[0] = LLVMTypeOf(value[1]) == r->f64 ? LLVMConstReal(r->f64, NAN) : ws_ref_int(r, 0);
    phi = LLVMBuildPhi(r->b, LLVMTypeOf(value[1]), "");
    LLVMAddIncoming(phi, value, from, 2);
    return (RefValue){ LLVMTypeOf(phi) == r->f64 ? REF_REAL : REF_INT, phi };
}

RefValue ws_ref_element(RefBuilder *r, const WsExpr *e)
{
    gint statement = ws_ref_find(r->p, e->name), tensor = find_tensor(r->p, e->name);
    guint rank = statement >= 0 ? r->p->reference[statement]->n_index
                 : tensor >= 0  ? r->p->tensor[tensor].rank
                                : 0;
    LLVMValueRef arg[64];
    guint i;
    if (statement < 0 && tensor < 0) {
        ws_ref_fail(r, "unknown tensor or helper \"%s\"", e->name);
        return nothing(r);
    }
    if (rank != e->n_args || rank > G_N_ELEMENTS(arg) - 1) {
        ws_ref_fail(r, "\"%s\" takes %u indices, not %u", e->name, rank, e->n_args);
        return nothing(r);
    }
    for (i = 0; i < rank; i++) {
        RefValue v = ws_ref_emit(r, e->arg[i]);
        if (v.kind == REF_REAL && !r->error)
            ws_ref_fail(r, "index %u of \"%s\" is not an integer", i, e->name);
        arg[i + 1] = ws_ref_convert(r, v, REF_INT).v;
    }
    if (statement < 0)
        return load_tensor(r, (guint)tensor, arg + 1);
    RefFunction *f = ws_ref_function(r, (guint)statement);
    if (!f)
        return nothing(r);
    arg[0] = r->env;
    return (RefValue){ f->kind, LLVMBuildCall2(r->b, f->type, f->fn, arg, rank + 1, "") };
}

/* --- shape of reductions ------------------------------------------------------------------------
 */
guint ws_ref_reduction(RefBuilder *r, const WsExpr *e)
{
    const guint n = ws_expr_n_bounds(e);
    for (guint i = 0; i < n; i++) {
        const char *index = e->arg[i]->arg[0]->name;
        if (ws_ref_scope_find(r, index) || ws_ref_var(r->p, index) >= 0)
            return 0;
    }
    return n;
}

RefKind ws_ref_kind(RefBuilder *r, const WsExpr *e)
{
    RefKind kind = REF_BOOL;
    gint at;
    guint i;
    switch (e->op) {
    case WS_EXPR_INT:
        return REF_INT;
    case WS_EXPR_REAL:
        return REF_REAL;
    case WS_EXPR_NAME:
    case WS_EXPR_VAR:
        if (e->op == WS_EXPR_NAME && ws_ref_scope_find(r, e->name))
            return REF_INT;
        at = e->op == WS_EXPR_VAR ? e->var : ws_ref_var(r->p, e->name);
        if (at < 0 || (guint)at >= r->p->n_vars)
            return REF_INT;
        return r->p->var[at].kind == WS_VAR_SCALAR || r->p->var[at].real ? REF_REAL : REF_INT;
    case WS_EXPR_NEG:
    case WS_EXPR_ADD:
    case WS_EXPR_SUB:
    case WS_EXPR_MUL:
    case WS_EXPR_DIV:
    case WS_EXPR_MOD:
        kind = REF_INT;
        for (i = 0; i < e->n_args; i++)
            kind = MAX(kind, ws_ref_kind(r, e->arg[i]));
        return kind;
    case WS_EXPR_CALL:
        if (ws_expr_n_bounds(e))
            return MAX(REF_INT, ws_ref_kind(r, e->arg[e->n_args - 1]));
        if (e->func == WS_FUNC_CDIV || e->func == WS_FUNC_POW2FLOOR || ws_func_of_bits(e->func) ||
            e->func == WS_FUNC_BITS)
            return REF_INT;
        if (e->func == WS_FUNC_SELECT)
            return MAX(ws_ref_kind(r, e->arg[1]), ws_ref_kind(r, e->arg[2]));
        if (e->func != WS_FUNC_MIN && e->func != WS_FUNC_MAX && e->func != WS_FUNC_ABS)
            return REF_REAL;
        for (i = 0, kind = REF_INT; i < e->n_args; i++)
            kind = MAX(kind, ws_ref_kind(r, e->arg[i]));
        return kind;
    case WS_EXPR_INDEX:
        at = ws_ref_find(r->p, e->name);
        if (at >= 0)
            return ws_ref_statement_kind(r, (guint)at);
        at = find_tensor(r->p, e->name);
        if (at < 0)
            return REF_REAL;
        return r->p->tensor[at].dtype >= WS_DTYPE_I8 ? REF_INT : REF_REAL;
    default:
        return REF_BOOL;
    }
}

static gboolean costly(RefBuilder *r, const WsExpr *e);

static gboolean statement_costly(RefBuilder *r, guint statement)
{
    RefFunction *f = &r->function[statement];
    if (f->costly < 0) {
        f->costly = 0; /* a cycle is reported elsewhere */
        f->costly = costly(r, r->p->reference[statement]->value);
    }
    return f->costly;
}

static gboolean costly(RefBuilder *r, const WsExpr *e)
{
    guint i;
    gint at = e->op == WS_EXPR_INDEX ? ws_ref_find(r->p, e->name) : -1;
    if (ws_expr_n_bounds(e) || (at >= 0 && statement_costly(r, (guint)at)))
        return TRUE;
    for (i = 0; i < e->n_args; i++)
        if (costly(r, e->arg[i]))
            return TRUE;
    return FALSE;
}

/* Every name of `e` means something before the loop: an index in scope, an index bound inside `e`
 * itself, or no index at all. */
static gboolean free_of(RefBuilder *r, const WsExpr *e, const GPtrArray *bound)
{
    guint i, n = ws_expr_n_bounds(e);
    gboolean fine = TRUE;
    if (e->op == WS_EXPR_NAME) {
        for (i = 0; i < bound->len; i++)
            if (strcmp(bound->pdata[i], e->name) == 0)
                return TRUE;
        return ws_ref_scope_find(r, e->name) || ws_ref_var(r->p, e->name) >= 0;
    }
    if (n) {
        g_autoptr(GPtrArray) inner = g_ptr_array_new();
        for (i = 0; i < bound->len; i++)
            g_ptr_array_add(inner, bound->pdata[i]);
        for (i = 0; i < n && fine; i++) {
            fine = free_of(r, e->arg[i]->arg[1], inner);
            g_ptr_array_add(inner, e->arg[i]->arg[0]->name);
        }
        return fine && free_of(r, e->arg[n], inner);
    }
    for (i = 0; i < e->n_args && fine; i++)
        fine = free_of(r, e->arg[i], bound);
    return fine;
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
    at = LLVMBuildAlloca(r->b, type, "");
    LLVMPositionBuilderAtEnd(r->b, here);
    return at;
}

RefValue ws_ref_hoisted(RefBuilder *r, const WsExpr *e, const RefHoist *h)
{
    LLVMBasicBlockRef compute, done;
    LLVMTypeRef type = h->ready.kind == REF_REAL ? r->f64 : r->i64;
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
static void hoist(RefBuilder *r, const WsExpr *e, gboolean lazy)
{
    g_autoptr(GPtrArray) bound = g_ptr_array_new();
    gboolean call = e->op == WS_EXPR_CALL || e->op == WS_EXPR_INDEX;
    guint i, n = e->n_args;
    if (!costly(r, e) || g_hash_table_contains(r->hoisted, e))
        return;
    if (call && free_of(r, e, bound)) {
        RefHoist *h = g_new0(RefHoist, 1);
        if (lazy) {
            h->ready.kind = MAX(REF_INT, ws_ref_kind(r, e));
            h->known = cell(r, r->i1);
            h->value = cell(r, h->ready.kind == REF_REAL ? r->f64 : r->i64);
            LLVMBuildStore(r->b, LLVMConstInt(r->i1, 0, FALSE), h->known);
        } else {
            h->ready = ws_ref_emit(r, e);
        }
        g_hash_table_insert(r->hoisted, (gpointer)e, h);
        g_ptr_array_add(r->hoist_order, (gpointer)e);
        return;
    }
    if (ws_expr_n_bounds(e)) /* its rounds may be none: it hoists for itself */
        return;
    if ((e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT) || e->op == WS_EXPR_AND ||
        e->op == WS_EXPR_OR)
        n = 1;
    for (i = 0; i < n; i++)
        hoist(r, e->arg[i], lazy);
    for (; i < e->n_args; i++)
        hoist(r, e->arg[i], TRUE);
}

static RefValue combine(RefBuilder *r, WsFunc func, RefKind kind, LLVMValueRef acc, LLVMValueRef v)
{
    LLVMValueRef take;
    if (func == WS_FUNC_SUM)
        return (RefValue){ kind, kind == REF_REAL ? LLVMBuildFAdd(r->b, acc, v, "")
                                                  : LLVMBuildAdd(r->b, acc, v, "") };
    if (kind == REF_REAL) /* unordered: a NaN wins and stays */
        take = LLVMBuildFCmp(r->b, func == WS_FUNC_MAX ? LLVMRealUGT : LLVMRealULT, v, acc, "");
    else
        take = LLVMBuildICmp(r->b, func == WS_FUNC_MAX ? LLVMIntSGT : LLVMIntSLT, v, acc, "");
    if (kind == REF_REAL) {
        LLVMValueRef lost = LLVMBuildFCmp(r->b, LLVMRealUNO, acc, acc, "");
        take = LLVMBuildAnd(r->b, take, LLVMBuildNot(r->b, lost, ""), "");
    }
    return (RefValue){ kind, LLVMBuildSelect(r->b, take, v, acc, "") };
}

static LLVMValueRef neutral(RefBuilder *r, WsFunc func, RefKind kind)
{
    if (func == WS_FUNC_SUM)
        return kind == REF_REAL ? LLVMConstReal(r->f64, 0) : ws_ref_int(r, 0);
    if (kind == REF_REAL)
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
RefValue ws_ref_reduce(RefBuilder *r, const WsExpr *e, guint level)
{
    const WsExpr *body = e->arg[e->n_args - 1];
    gboolean last = level + 2 == e->n_args;
    LLVMValueRef bound = ws_ref_convert(r, ws_ref_emit(r, e->arg[level]->arg[1]), REF_INT).v;
    LLVMBasicBlockRef before, first = ws_ref_block(r, "enter"), loop = ws_ref_block(r, "loop");
    LLVMBasicBlockRef done = ws_ref_block(r, "reduced"), end;
    LLVMValueRef i, acc, next, start, result;
    RefIndex index = { e->arg[level]->arg[0]->name, NULL };
    RefValue v;
    RefKind kind;
    guint hoisted = r->hoist_order->len;
    g_array_append_val(r->scope, index); /* for the kind only */
    kind = MAX(REF_INT, ws_ref_kind(r, body));
    g_array_set_size(r->scope, r->scope->len - 1);
    start = neutral(r, e->func, kind);
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
    index.v = i;
    g_array_append_val(r->scope, index);
    v = last ? ws_ref_emit(r, body) : ws_ref_reduce(r, e, level + 1);
    g_array_set_size(r->scope, r->scope->len - 1);
    v = combine(r, e->func, kind, acc, ws_ref_convert(r, v, kind).v);
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
