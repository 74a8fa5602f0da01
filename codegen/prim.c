/* The only way to an asm call or a host call. */
#include "codegen/nvptx/emit.h"

#include <string.h>

static const WsPrimRow row[] = {
#define WS_PRIM(id, name, ptx, constraints, flags)                                                 \
    { "wsh_" name, ptx, constraints, WS_PRIM_##flags },
#include "codegen/prim.def"
#undef WS_PRIM
};

const WsPrimRow *ws_prim_row(WsPrim id)
{
    return (guint)id < G_N_ELEMENTS(row) ? &row[id] : NULL;
}

static LLVMTypeRef type_of(WsEmit *e, char letter)
{
    switch (letter) {
    case 'l':
        return e->i64;
    case 'f':
        return e->f32;
    case 'h':
        return e->i16;
    case 'b':
        return e->host ? e->i32 : e->i1;
    default:
        return e->i32;
    }
}

/* Splits "=r,r,l" into result and operand types. */
static void types_of(WsEmit *e, const char *constraints, GArray *result, GArray *operand)
{
    for (const char *c = constraints; *c;) {
        gboolean out = *c == '=';
        LLVMTypeRef t = type_of(e, c[out]);
        g_array_append_val(out ? result : operand, t);
        c += 1 + out;
        c += *c == ',';
    }
}

/* An identifier of the document, safe inside an asm text. */
static void append_comment(GString *s, const char *id)
{
    g_string_append(s, "// ");
    for (; id && *id; id++)
        g_string_append_c(s, g_ascii_isalnum(*id) || strchr("_/.#@-", *id) ? *id : '?');
    g_string_append(s, "\n\t");
}

static char *asm_text(WsEmit *e, const char *ptx, WsPrimFlags flags, guint n_imm,
                      const guint32 *imm)
{
    GString *s = g_string_new(NULL);
    if (flags >= WS_PRIM_VOLATILE && e->op)
        append_comment(s, e->op->id);
    for (const char *c = ptx; *c; c++) {
        if (*c == '@' && g_ascii_isdigit(c[1]) && (guint)(c[1] - '0') < n_imm) {
            g_string_append_printf(s, "%u", imm[c[1] - '0']);
            c++;
        } else {
            g_string_append_c(s, *c);
        }
    }
    return g_string_free(s, FALSE);
}

static LLVMValueRef asm_call(WsEmit *e, LLVMTypeRef type, const char *text, const char *constraints,
                             WsPrimFlags flags, guint n, LLVMValueRef *arg)
{
    g_autofree char *all = NULL;
    if (flags == WS_PRIM_EFFECT)
        all = g_strconcat(constraints, *constraints ? "," : "", "~{memory}", NULL);
    else
        all = g_strdup(constraints);
    LLVMValueRef callee =
        LLVMGetInlineAsm(type, text, strlen(text), all, strlen(all), flags >= WS_PRIM_VOLATILE, 0,
                         LLVMInlineAsmDialectATT, 0);
    LLVMValueRef call = LLVMBuildCall2(e->b, type, callee, arg, n, "");
    ws_llvm_mark_asm(e, call, flags);
    return call;
}

LLVMValueRef ws_prim_asm(WsEmit *e, LLVMTypeRef type, const char *text, const char *constraints,
                         guint n, LLVMValueRef *arg)
{
    g_autofree char *with = asm_text(e, text, WS_PRIM_EFFECT, 0, NULL);
    return asm_call(e, type, with, constraints, WS_PRIM_EFFECT, n, arg);
}

/* Host form: operands, then the literals, by an external function. Predicates travel as i32. */
static LLVMValueRef host_call(WsEmit *e, const WsPrimRow *r, GArray *result, GArray *operand,
                              LLVMValueRef *arg, guint n_imm, const guint32 *imm)
{
    g_autoptr(GArray) types = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    g_autoptr(GArray) args = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    LLVMValueRef out = NULL;
    if (result->len > 1) {
        LLVMTypeRef array = LLVMArrayType2(g_array_index(result, LLVMTypeRef, 0), result->len);
        out = ws_cell(e, array, "results");
        g_array_append_val(types, e->ptr);
        g_array_append_val(args, out);
    }
    for (guint i = 0; i < operand->len; i++) {
        LLVMTypeRef t = g_array_index(operand, LLVMTypeRef, i);
        LLVMValueRef v = arg[i];
        if (LLVMTypeOf(v) == e->i1)
            v = LLVMBuildZExt(e->b, v, e->i32, "");
        g_array_append_val(types, t);
        g_array_append_val(args, v);
    }
    for (guint i = 0; i < n_imm; i++) {
        LLVMValueRef v = ws_i32(e, imm[i]);
        g_array_append_val(types, e->i32);
        g_array_append_val(args, v);
    }
    LLVMTypeRef returns = result->len == 1 ? g_array_index(result, LLVMTypeRef, 0) : e->none;
    LLVMTypeRef type = LLVMFunctionType(returns, (LLVMTypeRef *)types->data, types->len, 0);
    LLVMValueRef fn = LLVMGetNamedFunction(e->module, r->name);
    if (!fn)
        fn = LLVMAddFunction(e->module, r->name, type);
    LLVMValueRef call = LLVMBuildCall2(e->b, type, fn, (LLVMValueRef *)args->data, args->len, "");
    if (result->len == 1 && strstr(r->constraints, "=b"))
        return LLVMBuildICmp(e->b, LLVMIntNE, call, ws_i32(e, 0), "");
    if (!out)
        return call;
    LLVMTypeRef array = LLVMArrayType2(g_array_index(result, LLVMTypeRef, 0), result->len);
    return LLVMBuildLoad2(e->b, array, out, "");
}

LLVMValueRef ws_prim_call(WsEmit *e, WsPrim id, guint n, LLVMValueRef *arg, guint n_imm,
                          const guint32 *imm)
{
    const WsPrimRow *r = &row[id];
    g_autoptr(GArray) result = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    g_autoptr(GArray) operand = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    types_of(e, r->constraints, result, operand);
    if (operand->len != n) {
        ws_emit_internal_error(e, "primitive %s takes %u operands, got %u", r->name, operand->len,
                               n);
        return LLVMGetUndef(e->i32);
    }
    if (e->host)
        return host_call(e, r, result, operand, arg, n_imm, imm);
    if (e->kind)
        return e->kind->prim(e, id, arg);
    if (!r->ptx) {
        ws_emit_internal_error(e, "primitive %s exists on the host only", r->name);
        return LLVMGetUndef(e->i32);
    }
    LLVMTypeRef returns = e->none;
    if (result->len == 1)
        returns = g_array_index(result, LLVMTypeRef, 0);
    else if (result->len > 1)
        returns = LLVMStructTypeInContext(e->ctx, (LLVMTypeRef *)result->data, result->len, 0);
    LLVMTypeRef type = LLVMFunctionType(returns, (LLVMTypeRef *)operand->data, n, 0);
    g_autofree char *text = asm_text(e, r->ptx, r->flags, n_imm, imm);
    return asm_call(e, type, text, r->constraints, r->flags, n, arg);
}
