/* raw steps: the author's PTX as one asm statement; operands are counted as raw.c counts them. */
#include "program/parts/raw.h"
#include "base/phrase.h"
#include "codegen/cuda/cuda.h"
#include "codegen/words.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

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

/* --- text in CUDA C++ ---------------------------------------------------------------------------

 * It stands in a function of its own without captures: what it names are its operands, `thread` and
 * what the file includes, and nothing of the kernel around it. */

static void give(WsCuda *c, GString *taken, GString *given, const char *parameter, const char *x)
{
    g_string_append_printf(taken, "%s%s", taken->len ? ", " : "", parameter);
    g_string_append_printf(given, "%s%s", given->len ? ", " : "", x);
    (void)c;
}

static void give_operand(WsCuda *c, const WsOp *op, const WsRawOperand *o, GString *taken,
                         GString *given)
{
    const char *fixed = o->out ? "" : "const ";
    const char *to = NULL, *x = NULL;
    switch (o->kind) {
    case WS_RAW_VALUE: {
        const WsValueUse *use = &op->value[o->index];
        const WsRegValue *v = &c->agent->value[use->value];
        const char *type = ws_cuda_register_type(v);
        if (use->rows != v->rows || use->cols != v->cols)
            ws_cuda_step_error(c, op, "part of a value in a raw step");
        to = ws_cuda_shape(v) == WS_PLACE_SCALAR
                 ? ws_cuda_format(c, "%s%s &%s", fixed, type, o->name)
                 : ws_cuda_format(c, "%s%s (&%s)[%u]", fixed, type, o->name, v->registers);
        x = c->value[use->value];
        break;
    }
    case WS_RAW_BUFFER: {
        const WsAccess *a = &op->access[o->index];
        const char *type = ws_raw_element(c->p->buffer[a->buffer].dtype);
        WsTerm at = ws_cuda_view_offset(c, a, 0, 0);
        to = ws_cuda_format(c, "%s%s *const %s", fixed, type, o->name);
        x = ws_cuda_format(c, "static_cast<%s *>(__cvta_shared_to_generic(%s + %s))", type,
                           ws_cuda_stage(c, a), ws_term_in(&c->terms, at, WS_PREC_SUM));
        break;
    }
    case WS_RAW_BARRIER:
        to = ws_cuda_format(c, "const uint32_t %s", o->name);
        x = ws_cuda_barrier(c, o->barrier);
        break;
    case WS_RAW_TENSOR: {
        const char *type = ws_raw_element(c->p->tensor[o->index].dtype);
        to = ws_cuda_format(c, "const %s *const %s", type, o->name);
        x = ws_cuda_format(c, "reinterpret_cast<const %s *>(%s)", type, c->tensor[o->index]);
        break;
    }
    case WS_RAW_EXPR:
        to = ws_cuda_format(c, "const int %s", o->name);
        x = ws_cuda_int(c, o->expr);
        break;
    }
    if (to && x)
        give(c, taken, given, to, x);
}

#define MARK "@author's text "

/* The number of the operation in letters: copies of a loop are folded by their digits. */
static char *mark_of(const WsOp *op)
{
    g_autofree char *number = g_strdup_printf("%u", op->index);
    for (char *x = number; *x; x++)
        *x = (char)(*x - '0' + 'a');
    return g_strconcat(MARK, number, "@", NULL);
}

char *ws_cuda_put_raw(const WsProgram *p, const char *text)
{
    GString *all = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        const gsize indent = strspn(line[i], " ");
        const WsOp *found = NULL;
        for (guint k = 0; g_str_has_prefix(line[i] + indent, MARK) && !found && k < p->n_ops; k++) {
            g_autofree char *mark = mark_of(p->op[k]);
            found = p->op[k]->dialect == WS_RAW_CUDA && !strcmp(mark, line[i] + indent) ? p->op[k]
                                                                                        : NULL;
        }
        g_auto(GStrv) own = g_strsplit(found ? found->text : line[i], "\n", -1);
        for (guint k = 0; own[k]; k++)
            g_string_append_printf(all, "%s%*s%s", i + k ? "\n" : "", found ? (int)indent : 0, "",
                                   own[k]);
    }
    return g_string_free(all, FALSE);
}

static void text_of_cuda(WsCuda *c, const WsOp *op)
{
    GString *taken = g_string_new(NULL), *given = g_string_new(NULL);
    give(c, taken, given, "[[maybe_unused]] const int thread", "thread");
    for (guint i = 0; i < op->n_raw && !c->error; i++)
        give_operand(c, op, &op->raw[i], taken, given);
    ws_cuda_line(c, "[](%s) {", taken->str);
    c->depth++;
    g_autofree char *mark = mark_of(op);
    ws_cuda_line(c, "%s", mark); /* what is printed is folded and wrapped, and this must not be */
    c->depth--;
    ws_cuda_line(c, "}(%s);", given->str);
    g_string_free(taken, TRUE);
    g_string_free(given, TRUE);
}

void ws_cuda_raw(WsCuda *c, const WsOp *op)
{
    if (op->dialect == WS_RAW_MLIR) {
        ws_cuda_step_error(c, op, WS_WORD("text in MLIR"));
        return;
    }
    if (op->dialect == WS_RAW_CUDA) {
        text_of_cuda(c, op);
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
