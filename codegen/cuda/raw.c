/* raw steps: the author's PTX as one asm statement; operands are counted as raw.c counts them. */
#include "program/parts/raw.h"
#include "base/phrase.h"
#include "codegen/cuda/cuda.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"

#include <string.h>

typedef struct {
    WsCuda *c;
    const WsOp *op;
    GString *out, *in;
    guint count;
    guint *first, *n; /* per operand: number of its first register, and how many */
} Raw;

static void operand(Raw *r, guint i, GString *list, const char *letter, const char *x)
{
    g_string_append_printf(list, "%s\"%s\"(%s)", list->len ? ", " : "", letter, x);
    if (r->n[i]++ == 0)
        r->first[i] = r->count;
    r->count++;
}

static void value(Raw *r, guint i)
{
    const WsRawOperand *o = &r->op->raw[i];
    const WsValueUse *use = &r->op->value[o->index];
    const WsRegValue *v = &r->c->agent->value[use->value];
    const char *name = r->c->value[use->value], *type = ws_cuda_register_type(v);
    if (use->rows != v->rows || use->cols != v->cols) {
        ws_cuda_step_error(r->c, r->op, "part of a value in a raw step");
        return;
    }
    const char *letter = !strcmp(type, "float") ? o->out ? "=f" : "f" : o->out ? "=r" : "r";
    for (guint k = 0; k < v->registers; k++)
        operand(r, i, o->out ? r->out : r->in, letter,
                ws_cuda_shape(v) == WS_PLACE_SCALAR ? name
                                                    : ws_cuda_format(r->c, "%s[%u]", name, k));
}

static void input(Raw *r, guint i)
{
    WsCuda *c = r->c;
    const WsRawOperand *o = &r->op->raw[i];
    switch (o->kind) {
    case WS_RAW_VALUE:
        value(r, i);
        return;
    case WS_RAW_BUFFER: {
        const WsAccess *a = &r->op->access[o->index];
        WsTerm at = ws_cuda_view_offset(c, a, 0, 0);
        operand(r, i, r->in, "r",
                ws_cuda_format(c, "%s + %s", ws_cuda_stage(c, a),
                               ws_term_in(&c->terms, at, WS_PREC_SUM)));
        return;
    }
    case WS_RAW_BARRIER:
        operand(r, i, r->in, "r", ws_cuda_barrier(c, o->barrier));
        return;
    case WS_RAW_TENSOR:
        operand(r, i, r->in, "l", c->tensor[o->index]);
        return;
    case WS_RAW_EXPR:
        operand(r, i, r->in, "r", ws_cuda_int(c, o->expr));
        return;
    }
}

static void append_char(GString *s, char x)
{
    if (x == '%')
        g_string_append(s, "%%");
    else if (x == '\n')
        g_string_append(s, "\\n\\t");
    else if (x == '"' || x == '\\')
        g_string_append_printf(s, "\\%c", x);
    else
        g_string_append_c(s, g_ascii_isprint(x) ? x : ' ');
}

/* %{name} and %{name.3} become operand numbers; the rest is text of a C++ string. */
static void text_of(Raw *r, GString *s)
{
    for (const char *c = r->op->text; *c; c++) {
        if (c[0] != '%' || c[1] != '{') {
            append_char(s, *c);
            continue;
        }
        const char *name = c + 2, *end = name + strcspn(name, ".}");
        guint part = *end == '.' ? (guint)strtoul(end + 1, NULL, 10) : 0;
        for (guint i = 0; i < r->op->n_raw; i++) {
            if (strlen(r->op->raw[i].name) != (gsize)(end - name) ||
                strncmp(r->op->raw[i].name, name, (gsize)(end - name)) != 0)
                continue;
            if (part >= r->n[i])
                ws_cuda_step_error(r->c, r->op, "a register that the operand does not have");
            g_string_append_printf(s, "%%%u", r->first[i] + part);
            break;
        }
        c = strchr(end, '}');
        if (!c) {
            ws_cuda_step_error(r->c, r->op, "%{ without }");
            return;
        }
    }
}

void ws_cuda_raw(WsCuda *c, const WsOp *op)
{
    if (op->dialect == WS_RAW_CUDA || op->dialect == WS_RAW_MLIR) {
        ws_cuda_step_error(c, op,
                           op->dialect == WS_RAW_MLIR ? WS_WORD("text in MLIR")
                                                      : WS_WORD("text in CUDA C++"));
        return;
    }
    if (op->unread) {
        ws_cuda_step_error(c, op, ws_fact_unread);
        return;
    }
    Raw r = { .c = c, .op = op, .out = g_string_new(NULL), .in = g_string_new(NULL) };
    GString *text = g_string_new(NULL);
    r.first = g_new0(guint, op->n_raw + 1);
    r.n = g_new0(guint, op->n_raw + 1);
    for (guint i = 0; i < op->n_raw; i++)
        if (op->raw[i].kind == WS_RAW_VALUE && op->raw[i].out)
            value(&r, i);
    for (guint i = 0; i < op->n_raw; i++)
        if (op->raw[i].kind != WS_RAW_VALUE || !op->raw[i].out)
            input(&r, i);
    text_of(&r, text);
    ws_cuda_line(c, "asm volatile(\"{\\n\\t%s\\n\\t}\"", text->str);
    ws_cuda_line(c, "             : %s", r.out->str);
    ws_cuda_line(c, "             : %s", r.in->str);
    ws_cuda_line(c, "             : \"memory\");");
    g_string_free(text, TRUE);
    g_string_free(r.out, TRUE);
    g_string_free(r.in, TRUE);
    g_free(r.first);
    g_free(r.n);
}
