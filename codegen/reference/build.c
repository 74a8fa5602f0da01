/* The functions of the reference: one per statement, helpers included. */
#include "codegen/reference/internal.h"
#include "program/parts/tensor.h"
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
    r->flags_slot = slot;
    r->memo_slot = slot + 1;
    r->terms_slot = slot + 2;
    r->n_slots = slot + 3;
    r->function = g_new0(RefFunction, p->n_reference);
    for (i = 0; i < p->n_reference; i++)
        r->function[i].costly = -1;
    r->scope = g_array_new(FALSE, FALSE, sizeof(RefIndex));
    return r;
}

void ws_ref_builder_free(RefBuilder *r)
{
    if (!r)
        return;
    LLVMDisposeBuilder(r->b);
    g_array_free(r->scope, TRUE);
    g_clear_error(&r->error);
    g_free(r->function);
    g_free(r->slot);
    g_free(r);
}

void ws_ref_refuse(const RefBuilder *r, GError **error, const char *why)
{
    g_autofree char *place = g_strdup_printf("reference/%u", r->statement);
    ws_generate_refuse(error, "reference", NULL, place, why, NULL);
}

void ws_ref_fail(RefBuilder *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *why = ws_phrase_v(format, list);
    va_end(list);
    ws_ref_refuse(r, &r->error, why);
}

gint ws_ref_find(const WsProgram *p, const char *name)
{
    guint i;
    for (i = 0; i < p->n_reference; i++)
        if (strcmp(p->reference[i]->name, name) == 0)
            return (gint)i;
    return -1;
}

gint ws_ref_var(const WsProgram *p, const char *name)
{
    guint i;
    for (i = 0; i < p->n_vars; i++)
        if ((p->var[i].kind == WS_VAR_SIZE || p->var[i].kind == WS_VAR_SCALAR ||
             p->var[i].kind == WS_VAR_RUN) &&
            strcmp(p->var[i].name, name) == 0)
            return (gint)i;
    return -1;
}

RefKind ws_ref_statement_kind(RefBuilder *r, guint statement)
{
    RefFunction *f = &r->function[statement];
    const WsStatement *s = r->p->reference[statement];
    guint depth = r->scope->len, i;
    if (f->kind_state == REF_OPEN)
        ws_ref_fail(r, "\"%s\" is defined by itself", s->name);
    if (f->kind_state != REF_UNSEEN)
        return f->kind;
    f->kind_state = REF_OPEN;
    for (i = 0; i < s->n_index; i++) {
        RefIndex index = { s->index[i], NULL };
        g_array_append_val(r->scope, index);
    }
    f->kind = MAX(REF_INT, ws_ref_kind(r, s->value));
    g_array_set_size(r->scope, depth);
    f->kind_state = REF_DONE;
    return f->kind;
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
    const WsStatement *s = r->p->reference[statement];
    LLVMTypeRef type = f->kind == REF_REAL ? r->f64 : r->i64;
    LLVMValueRef key = NULL, known, word;
    RefValue v;
    LLVMPositionBuilderAtEnd(r->b, ws_ref_block(r, "entry"));
    if (memo) {
        LLVMBasicBlockRef hit = ws_ref_block(r, "hit"), miss = ws_ref_block(r, "miss");
        key = memo_key(r, s->n_index);
        known = memo_call(r, "ws_ref_memo_find", statement, s->n_index, key, NULL);
        LLVMBuildCondBr(r->b, LLVMBuildIsNull(r->b, known, ""), miss, hit);
        LLVMPositionBuilderAtEnd(r->b, hit);
        LLVMBuildRet(r->b, LLVMBuildLoad2(r->b, type, known, ""));
        LLVMPositionBuilderAtEnd(r->b, miss);
    }
    v = ws_ref_convert(r, ws_ref_emit(r, s->value), f->kind);
    if (memo) {
        word = f->kind == REF_REAL ? LLVMBuildBitCast(r->b, v.v, r->i64, "") : v.v;
        memo_call(r, "ws_ref_memo_store", statement, s->n_index, key, word);
    }
    LLVMBuildRet(r->b, v.v);
}

static gboolean is_output(const WsProgram *p, const char *name)
{
    guint i;
    for (i = 0; i < p->n_tensors; i++)
        if (strcmp(p->tensor[i].name, name) == 0)
            return TRUE;
    return FALSE;
}

/* Whether evaluating `e` is worth remembering: it reduces, or calls what does. */
static gboolean reduces(RefBuilder *r, const WsExpr *e)
{
    guint i;
    if (e->op == WS_EXPR_CALL && ws_ref_reduction(r, e))
        return TRUE;
    if (e->op == WS_EXPR_INDEX && ws_ref_find(r->p, e->name) >= 0)
        return TRUE;
    for (i = 0; i < e->n_args; i++)
        if (reduces(r, e->arg[i]))
            return TRUE;
    return FALSE;
}

RefFunction *ws_ref_function(RefBuilder *r, guint statement)
{
    const WsStatement *s = r->p->reference[statement];
    RefFunction *f = &r->function[statement];
    RefBuilder saved = *r;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b);
    LLVMTypeRef type[64];
    guint i, n = s->n_index + 1;
    if (f->state == REF_OPEN)
        ws_ref_fail(r, "\"%s\" is defined by itself", s->name);
    if (f->state == REF_DONE)
        return f;
    if (f->state == REF_OPEN || n > G_N_ELEMENTS(type) || r->error)
        return NULL;
    f->state = REF_OPEN;
    r->statement = statement;
    ws_ref_statement_kind(r, statement);
    type[0] = r->ptr;
    for (i = 1; i < n; i++)
        type[i] = r->i64;
    f->type = LLVMFunctionType(f->kind == REF_REAL ? r->f64 : r->i64, type, n, FALSE);
    r->fn = f->fn = LLVMAddFunction(r->module, "ws_statement", f->type);
    LLVMSetLinkage(f->fn, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(f->fn, LLVMAttributeFunctionIndex, attribute(r, "nounwind"));
    if (!r->host)
        LLVMAddAttributeAtIndex(f->fn, LLVMAttributeFunctionIndex, attribute(r, "alwaysinline"));
    r->env = LLVMGetParam(f->fn, 0);
    r->scope = g_array_new(FALSE, FALSE, sizeof(RefIndex));
    r->hoisted = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    r->hoist_order = g_ptr_array_new();
    for (i = 0; i < s->n_index; i++) {
        RefIndex index = { s->index[i], LLVMGetParam(f->fn, i + 1) };
        g_array_append_val(r->scope, index);
    }
    build_body(r, statement, f, r->host && !is_output(r->p, s->name) && reduces(r, s->value));
    g_array_free(r->scope, TRUE);
    g_hash_table_destroy(r->hoisted);
    g_ptr_array_free(r->hoist_order, TRUE);
    r->statement = saved.statement;
    r->fn = saved.fn;
    r->env = saved.env;
    r->scope = saved.scope;
    r->hoisted = saved.hoisted;
    r->hoist_order = saved.hoist_order;
    if (here)
        LLVMPositionBuilderAtEnd(r->b, here);
    f->state = REF_DONE;
    return f;
}
