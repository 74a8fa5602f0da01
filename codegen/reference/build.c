/* The functions of the reference: one per statement, helpers included. */
#include "codegen/reference/internal.h"
#include "program/parts/variable.h"
#include "program/program.h"

RefBuilder *ws_ref_builder_new(const WsProgram *p, LLVMContextRef context, const char *module,
                               gboolean host)
{
    RefBuilder *r = g_new0(RefBuilder, 1);
    guint i, slot = p->n_tensors;
    r->p = p;
    r->host = host;
    r->context = context;
    r->module = LLVMModuleCreateWithNameInContext(module, context);
    r->b = LLVMCreateBuilderInContext(context);
    r->i1 = LLVMInt1TypeInContext(context);
    r->i8 = LLVMInt8TypeInContext(context);
    r->i16 = LLVMInt16TypeInContext(context);
    r->i32 = LLVMInt32TypeInContext(context);
    r->i64 = LLVMInt64TypeInContext(context);
    r->f32 = LLVMFloatTypeInContext(context);
    r->f64 = LLVMDoubleTypeInContext(context);
    r->ptr = LLVMPointerTypeInContext(context, 0);
    r->nothing = LLVMVoidTypeInContext(context);
    r->slot = g_new(guint, p->n_vars);
    for (i = 0; i < p->n_vars; i++)
        r->slot[i] = p->var[i].kind == WS_VAR_SIZE ? slot++ : G_MAXUINT;
    r->n_sizes = slot - p->n_tensors;
    for (i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SCALAR)
            r->slot[i] = slot++;
    r->n_scalars = slot - r->n_sizes - p->n_tensors;
    r->pitch_slot = slot;
    r->n_pitches = p->mesh ? p->n_tensors + 1 : 0;
    slot += r->n_pitches;
    r->flags_slot = slot;
    r->memo_slot = slot + 1;
    r->terms_slot = slot + 2;
    r->n_slots = slot + 3;
    r->function = g_new0(RefFunction, p->n_reference);
    return r;
}

void ws_ref_builder_free(RefBuilder *r)
{
    if (!r)
        return;
    LLVMDisposeBuilder(r->b);
    g_free(r->function);
    g_free(r->slot);
    g_free(r);
}

static LLVMAttributeRef attribute(RefBuilder *r, const char *name)
{
    return LLVMCreateEnumAttribute(r->context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   0);
}

/* The memo of a costly helper on the host: `found` leaves at once with a known value. */
static LLVMValueRef memo_key(RefBuilder *r, guint n)
{
    LLVMTypeRef array = LLVMArrayType2(r->i64, n);
    LLVMValueRef key = LLVMBuildAlloca(r->b, array, "key"), at;
    guint i;
    for (i = 0; i < n; i++) {
        LLVMValueRef place = ws_ref_int(r, i);
        at = LLVMBuildInBoundsGEP2(r->b, r->i64, key, &place, 1, "");
        LLVMBuildStore(r->b, LLVMGetParam(r->fn, i + 1), at);
    }
    return key;
}

static LLVMValueRef memo_call(RefBuilder *r, const char *name, guint statement, guint n,
                              LLVMValueRef key, LLVMValueRef value)
{
    LLVMTypeRef type[5] = { r->i64, r->i32, r->i32, r->ptr, value ? r->i64 : r->ptr };
    LLVMTypeRef fn_type = LLVMFunctionType(value ? r->nothing : r->ptr, type, value ? 5 : 4, FALSE);
    LLVMValueRef fn = LLVMGetNamedFunction(r->module, name), arg[5];
    if (!fn)
        fn = LLVMAddFunction(r->module, name, fn_type);
    arg[0] = ws_ref_slot(r, r->memo_slot, r->i64);
    arg[1] = LLVMConstInt(r->i32, statement, FALSE);
    arg[2] = LLVMConstInt(r->i32, n, FALSE);
    arg[3] = key;
    arg[4] = value;
    return LLVMBuildCall2(r->b, fn_type, fn, arg, value ? 5 : 4, "");
}

static void build_body(RefBuilder *r, guint statement, RefFunction *f, gboolean memo)
{
    const WsDefinition *d = &r->p->reference[statement];
    const guint n_index = d->statement->n_index;
    LLVMTypeRef type = f->kind == WS_FORMULA_REAL ? r->f64 : r->i64;
    LLVMValueRef key = NULL, known, word;
    RefValue v;
    LLVMPositionBuilderAtEnd(r->b, ws_ref_block(r, "entry"));
    if (memo) {
        LLVMBasicBlockRef hit = ws_ref_block(r, "hit"), miss = ws_ref_block(r, "miss");
        key = memo_key(r, n_index);
        known = memo_call(r, "ws_ref_memo_find", statement, n_index, key, NULL);
        LLVMBuildCondBr(r->b, LLVMBuildIsNull(r->b, known, ""), miss, hit);
        LLVMPositionBuilderAtEnd(r->b, hit);
        LLVMBuildRet(r->b, LLVMBuildLoad2(r->b, type, known, ""));
        LLVMPositionBuilderAtEnd(r->b, miss);
    }
    v = ws_ref_convert(r, ws_ref_emit(r, d->value), f->kind);
    if (memo) {
        word = f->kind == WS_FORMULA_REAL ? LLVMBuildBitCast(r->b, v.v, r->i64, "") : v.v;
        memo_call(r, "ws_ref_memo_store", statement, n_index, key, word);
    }
    LLVMBuildRet(r->b, v.v);
}

/* Whether evaluating `e` is worth remembering: it reduces, or calls what may. */
static gboolean reduces(const WsFormula *e)
{
    if (e->form == WS_FORMULA_REDUCTION || e->form == WS_FORMULA_HELPER)
        return TRUE;
    for (guint i = 0; i < e->n_arg; i++)
        if (reduces(e->arg[i]))
            return TRUE;
    return FALSE;
}

/* A helper is built from within what names it: WS_FORMULA_HEIGHT and WS_FORMULA_STATEMENTS bound
 * the recursion. */
RefFunction *ws_ref_function(RefBuilder *r, guint statement)
{
    const WsDefinition *d = &r->p->reference[statement];
    const WsStatement *s = d->statement;
    RefFunction *f = &r->function[statement];
    RefBuilder saved = *r;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b);
    LLVMTypeRef type[WS_FORMULA_INDICES + 1];
    guint i, n = s->n_index + 1;
    if (f->fn)
        return f;
    f->kind = d->kind;
    type[0] = r->ptr;
    for (i = 1; i < n; i++)
        type[i] = r->i64;
    f->type = LLVMFunctionType(f->kind == WS_FORMULA_REAL ? r->f64 : r->i64, type, n, FALSE);
    r->fn = f->fn = LLVMAddFunction(r->module, "ws_statement", f->type);
    LLVMSetLinkage(f->fn, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(f->fn, LLVMAttributeFunctionIndex, attribute(r, "nounwind"));
    if (!r->host)
        LLVMAddAttributeAtIndex(f->fn, LLVMAttributeFunctionIndex, attribute(r, "alwaysinline"));
    r->env = LLVMGetParam(f->fn, 0);
    r->scope = g_ptr_array_new();
    r->hoisted = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    r->hoist_order = g_ptr_array_new();
    for (i = 0; i < s->n_index; i++)
        g_ptr_array_add(r->scope, LLVMGetParam(f->fn, i + 1));
    build_body(r, statement, f, r->host && d->tensor < 0 && reduces(d->value));
    g_ptr_array_free(r->scope, TRUE);
    g_hash_table_destroy(r->hoisted);
    g_ptr_array_free(r->hoist_order, TRUE);
    r->fn = saved.fn;
    r->env = saved.env;
    r->scope = saved.scope;
    r->hoisted = saved.hoisted;
    r->hoist_order = saved.hoist_order;
    if (here)
        LLVMPositionBuilderAtEnd(r->b, here);
    return f;
}
