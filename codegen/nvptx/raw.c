/* raw steps: the author's PTX with %{name} replaced by operands of one inline asm. */
#include "program/parts/raw.h"
#include "base/phrase.h"
#include "codegen/facts.h"
#include "codegen/nvptx/emit.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

#include <string.h>

typedef struct {
    WsEmit *e;
    const WsOp *op;
    GString *constraints;
    GArray *arg;   /* LLVMValueRef, inputs */
    GArray *types; /* LLVMTypeRef, results */
    guint *first;  /* per operand: number of its first register in the asm */
    guint *n;      /* registers of the operand */
} Raw;

static void constraint(Raw *r, const char *text)
{
    g_string_append_printf(r->constraints, "%s%s", r->constraints->len ? "," : "", text);
}

static void input(Raw *r, guint i, const char *letter, LLVMValueRef v)
{
    constraint(r, letter);
    g_array_append_val(r->arg, v);
    r->n[i]++;
}

/* Registers of the operand's view of a value, as their numbers in the value. FALSE: not constant.
 */
static gboolean registers(Raw *r, const WsRawOperand *o, guint *from, guint *count)
{
    const WsValueUse *use = &r->op->value[o->index];
    const WsRegs *regs = &r->e->regs[use->value];
    const WsRegValue *v = &r->e->agent->value[use->value];
    *from = 0;
    *count = regs->n;
    if (use->rows == v->rows && use->cols == v->cols)
        return TRUE;
    ws_emit_step_error(r->e, r->op, "part of a value in a raw step");
    return FALSE;
}

static const char *letter_of(Raw *r, const WsRawOperand *o)
{
    return r->e->regs[r->op->value[o->index].value].type == r->e->f32 ? "f" : "r";
}

static void output(Raw *r, guint i)
{
    const WsRawOperand *o = &r->op->raw[i];
    guint from, count;
    if (o->kind != WS_RAW_VALUE || !registers(r, o, &from, &count))
        return;
    r->first[i] = r->types->len;
    for (guint k = 0; k < count; k++) {
        g_autofree char *text = g_strconcat("=", letter_of(r, o), NULL);
        constraint(r, text);
        g_array_append_val(r->types, r->e->regs[r->op->value[o->index].value].type);
        r->n[i]++;
    }
}

static void operand(Raw *r, guint i)
{
    WsEmit *e = r->e;
    const WsRawOperand *o = &r->op->raw[i];
    guint from, count;
    if (o->kind == WS_RAW_VALUE && o->out)
        return;
    r->first[i] = r->types->len + r->arg->len;
    switch (o->kind) {
    case WS_RAW_VALUE:
        if (registers(r, o, &from, &count))
            for (guint k = 0; k < count; k++)
                input(r, i, letter_of(r, o), ws_reg_get(e, r->op->value[o->index].value, from + k));
        break;
    case WS_RAW_BUFFER: {
        const WsAccess *a = &r->op->access[o->index];
        LLVMValueRef at =
            LLVMBuildAdd(e->b, ws_stage_address(e, a), ws_view_offset(e, a, 0, 0), "");
        input(r, i, "r", at);
        break;
    }
    case WS_RAW_BARRIER:
        input(r, i, "r", ws_barrier_address(e, o->barrier));
        break;
    case WS_RAW_TENSOR:
        input(r, i, "l", e->tensor[o->index]);
        break;
    case WS_RAW_EXPR:
        input(r, i, "r", ws_uniform_i32(e, o->expr));
        break;
    }
}

/* The text in LLVM's form: $n for operands, $$ for a dollar; local labels and registers of its own.
 */
static char *text_of(Raw *r)
{
    GString *s = g_string_new("{\n\t");
    for (const char *c = r->op->text; *c; c++) {
        if (c[0] != '%' || c[1] != '{') {
            g_string_append(s, *c == '$' ? "$$" : (char[]){ *c, 0 });
            continue;
        }
        const char *name = c + 2, *end = name + strcspn(name, ".}");
        guint part = *end == '.' ? (guint)strtoul(end + 1, NULL, 10) : 0;
        for (guint i = 0; i < r->op->n_raw; i++) {
            if (strlen(r->op->raw[i].name) != (gsize)(end - name) ||
                strncmp(r->op->raw[i].name, name, end - name) != 0)
                continue;
            if (part >= r->n[i])
                ws_emit_step_error(r->e, r->op, "a register that the operand does not have");
            else
                g_string_append_printf(s, "$%u", r->first[i] + part);
            break;
        }
        c = strchr(end, '}');
        if (!c) {
            ws_emit_step_error(r->e, r->op, "%{ without }");
            break;
        }
    }
    g_string_append(s, "\n\t}");
    return g_string_free(s, FALSE);
}

static void results(Raw *r, LLVMValueRef call)
{
    for (guint i = 0; i < r->op->n_raw; i++) {
        const WsRawOperand *o = &r->op->raw[i];
        if (o->kind != WS_RAW_VALUE || !o->out)
            continue;
        for (guint k = 0; k < r->n[i]; k++) {
            LLVMValueRef v = r->types->len == 1
                                 ? call
                                 : LLVMBuildExtractValue(r->e->b, call, r->first[i] + k, "");
            ws_reg_set(r->e, r->op->value[o->index].value, k, v);
        }
    }
}

void ws_raw_step(WsEmit *e, const WsOp *op)
{
    if (e->host) {
        ws_emit_step_error(e, op, "on the CPU");
        return;
    }
    if (op->dialect == WS_RAW_CUDA || op->dialect == WS_RAW_MLIR) {
        ws_emit_step_error(e, op,
                           op->dialect == WS_RAW_CUDA
                               ? WS_WORD("text in CUDA C++ (`--as cuda` has it)")
                               : WS_WORD("text in MLIR"));
        return;
    }
    if (op->unread) {
        ws_emit_step_error(e, op, ws_fact_unread);
        return;
    }
    Raw r = { .e = e, .op = op, .constraints = g_string_new(NULL) };
    r.arg = g_array_new(FALSE, FALSE, sizeof(LLVMValueRef));
    r.types = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    r.first = g_new0(guint, op->n_raw + 1);
    r.n = g_new0(guint, op->n_raw + 1);
    for (guint i = 0; i < op->n_raw; i++)
        if (op->raw[i].out)
            output(&r, i);
    for (guint i = 0; i < op->n_raw; i++)
        operand(&r, i);
    g_autofree char *text = text_of(&r);
    LLVMTypeRef type = e->none;
    if (r.types->len == 1)
        type = g_array_index(r.types, LLVMTypeRef, 0);
    else if (r.types->len > 1)
        type = LLVMStructTypeInContext(e->ctx, (LLVMTypeRef *)r.types->data, r.types->len, 0);
    g_autoptr(GArray) in = g_array_new(FALSE, FALSE, sizeof(LLVMTypeRef));
    for (guint i = 0; i < r.arg->len; i++) {
        LLVMTypeRef t = LLVMTypeOf(g_array_index(r.arg, LLVMValueRef, i));
        g_array_append_val(in, t);
    }
    LLVMTypeRef fn = LLVMFunctionType(type, (LLVMTypeRef *)in->data, in->len, 0);
    if (!e->error)
        results(&r, ws_prim_asm(e, fn, text, r.constraints->str, r.arg->len,
                                (LLVMValueRef *)r.arg->data));
    g_string_free(r.constraints, TRUE);
    g_array_unref(r.arg);
    g_array_unref(r.types);
    g_free(r.first);
    g_free(r.n);
}
