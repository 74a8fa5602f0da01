/* Text of the author as `tle_raw.call` of a function of TLE-Raw in CUDA C++: PTX is one asm
 * statement of it. A buffer is handed over as TLE does, by its pointer and what lies around it.
 * TLE's compiler does not look into such functions: they end with the fence of the async proxy, and
 * all threads of the partition meet behind them. */
#include "base/phrase.h"
#include "codegen/python/tle/tle.h"
#include "codegen/words.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/raw.h"
#include "program/parts/tensor.h"
#include "program/program.h"

#include <stdio.h>
#include <string.h>

#define SHARED "__attribute__((address_space(3))) "
#define GLOBAL "__attribute__((address_space(1))) "
#define MARK   "@author's function "

static const char *type_of(const WsTle *t, const WsOp *op, const WsRawOperand *o)
{
    const WsProgram *p = t->y->p;
    return ws_raw_element(o->kind == WS_RAW_BUFFER ? p->buffer[op->access[o->index].buffer].dtype
                                                   : p->tensor[o->index].dtype);
}

/* --- what is refused ---------------------------------------------------------------------------*/

static gboolean covers_stage(const WsTle *t, const WsAccess *a)
{
    const WsBuffer *b = &t->y->p->buffer[a->buffer];
    return a->stage_offset == 0 && a->rows == b->rows && a->cols == b->cols && !a->transposed &&
           !b->pad && !b->k_permuted;
}

static const char *operand_fault(const WsTle *t, const WsOp *op, const WsRawOperand *o)
{
    if (o->kind == WS_RAW_VALUE)
        return WS_WORD("a value in text of the author: TLE hands over memory");
    if (o->kind == WS_RAW_BARRIER)
        return WS_WORD("a barrier in text of the author");
    if (o->kind == WS_RAW_BUFFER && !covers_stage(t, &op->access[o->index]))
        return WS_WORD("a part of a stage, or one with padding, in text of the author");
    return NULL;
}

static const char *access_fault(const WsTle *t, const WsOp *op)
{
    guint named = 0;
    for (guint i = 0; i < op->n_raw; i++)
        named += op->raw[i].kind == WS_RAW_BUFFER;
    if (named != op->n_access || op->n_value)
        return WS_WORD("text of the author that touches what it does not name");
    for (guint i = 0; i < op->n_access; i++)
        if ((op->access[i].mode & WS_MODE_WRITE) && t->pipe_of[op->access[i].buffer] >= 0)
            return WS_WORD("text of the author that fills a pipe: TLE cannot count its commits");
    return NULL;
}

/* "%tid.x" is another number there; masked to the threads of the group it is the same. */
static gboolean masks_thread(const WsTle *t, const char *line, const char *next)
{
    const WsAgent *agent = t->y->agent;
    char to[33], from[33], left[33];
    guint mask = 0;
    gint end = 0, masked = 0;
    sscanf(line, " mov.u32 %32[A-Za-z0-9_], %%tid.x;%n", to, &end);
    sscanf(next, " and.b32 %32[A-Za-z0-9_], %32[A-Za-z0-9_], %u;%n", left, from, &mask, &masked);
    if (!end || !masked || line[end + (gint)strspn(line + end, " \t")])
        return FALSE; /* what else stands between the two may keep the number */
    const guint n = mask + 1;
    return !strcmp(to, from) && !strcmp(to, left) && n && !(n & mask) && n <= agent->threads &&
           (n == agent->threads || agent->warp0 * 32 % n == 0);
}

/* A register of the hardware that is another number in a partition of TLE. */
static const char *special(const WsTle *t, const char *text)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++)
        for (const char *c = strchr(line[i], '%'); c; c = strchr(c + 1, '%')) {
            const gboolean lane = g_str_has_prefix(c, "%laneid") || c[1] == '{';
            if (lane || (g_str_has_prefix(c, "%tid.x") && line[i + 1] &&
                         masks_thread(t, line[i], line[i + 1])))
                continue;
            return ws_py_phrase(t->y, "`%.*s` in text of the author, another number in TLE",
                                (int)strcspn(c, ", ;\t"), c);
        }
    return NULL;
}

static const char *fault_of(const WsTle *t, const WsOp *op)
{
    const char *fault = NULL;
    for (guint i = 0; i < op->n_raw && !fault; i++)
        fault = operand_fault(t, op, &op->raw[i]);
    fault = fault ? fault : access_fault(t, op);
    if (op->breadth != WS_BREADTH_GROUP && !fault)
        fault = WS_WORD("text that not all threads of the group execute");
    if (op->proxy == WS_PROXY_ASYNC && !fault)
        fault = WS_WORD("asynchronous text of the author");
    if (op->dialect != WS_RAW_PTX && op->dialect != WS_RAW_CUDA && !fault)
        fault = WS_WORD("text that is neither PTX nor CUDA C++");
    if (strstr(op->text, "\"\"\"") && !fault)
        fault = WS_WORD("quotes of Python in text of the author");
    for (const char *c = op->text; *c && !fault; c++)
        if (*c != '\n' && !g_ascii_isprint(*c))
            fault = WS_WORD("a sign in text of the author that is not ASCII");
    return fault || op->dialect != WS_RAW_PTX ? fault : special(t, op->text);
}

/* --- the function ------------------------------------------------------------------------------*/

static void parameter(const WsTle *t, const WsOp *op, const WsRawOperand *o, GString *s)
{
    const char *fixed = o->out ? "" : "const ";
    g_string_append(s, s->len ? ",\n    " : "    ");
    if (o->kind == WS_RAW_EXPR) {
        g_string_append_printf(s, "const int %s", o->name);
        return;
    }
    if (o->kind == WS_RAW_TENSOR) {
        g_string_append_printf(s, GLOBAL "const %s *%s", type_of(t, op, o), o->name);
        return;
    }
    const guint rank = t->y->p->buffer[op->access[o->index].buffer].rank;
    const char *type = type_of(t, op, o);
    g_string_append_printf(s, SHARED "%s%s *%s_allocated,\n    ", fixed, type, o->name);
    g_string_append_printf(s, SHARED "%s%s *%s_aligned, const int64_t %s_offset", fixed, type,
                           o->name, o->name);
    g_string_append(s, ",\n    ");
    for (guint d = 0; d < 2 * rank; d++)
        g_string_append_printf(s, "%sconst int64_t %s_%s%u", d ? ", " : "", o->name,
                               d < rank ? "size" : "stride", d % rank);
}

/* As a string of C++, with the number of each operand for its name. */
static void asm_text(WsTle *t, const WsOp *op, GString *s)
{
    for (const char *c = op->text; *c; c++) {
        guint i = 0;
        const char *end = c + 2;
        if (c[0] == '%' && c[1] == '{') {
            end = strchr(c, '}');
            while (end && i < op->n_raw &&
                   (strlen(op->raw[i].name) != (gsize)(end - c - 2) ||
                    strncmp(op->raw[i].name, c + 2, end - c - 2)))
                i++;
            if (!end || i == op->n_raw) {
                ws_py_refuse(t->y, op, "a register of an operand", "name the operand alone");
                return;
            }
            g_string_append_printf(s, "%%%u", i);
            c = end;
        } else if (*c == '\n') {
            g_string_append(s, "\\n\\t\"\n      \"");
        } else {
            g_string_append_printf(s,
                                   *c == '%'                 ? "%%%%"
                                   : *c == '"' || *c == '\\' ? "\\%c"
                                                             : "%c",
                                   *c);
        }
    }
}

static void body_of_ptx(WsTle *t, const WsOp *op, GString *s)
{
    g_string_append(s, "  asm volatile(\n      \"{\\n\\t\"\n      \"");
    asm_text(t, op, s);
    g_string_append(s, "\\n\\t\"\n      \"}\"\n      :\n      : ");
    for (guint i = 0; i < op->n_raw; i++) {
        const WsRawOperand *o = &op->raw[i];
        const char *name = o->name;
        g_string_append(s, i ? ",\n        " : "");
        if (o->kind == WS_RAW_EXPR)
            g_string_append_printf(s, "\"r\"(%s)", name);
        else if (o->kind == WS_RAW_TENSOR)
            g_string_append_printf(s, "\"l\"((uint64_t)%s)", name);
        else
            g_string_append_printf(s, "\"r\"((uint32_t)(uint64_t)(%s_aligned + %s_offset))", name,
                                   name);
    }
    g_string_append(s, "\n      : \"memory\");\n");
}

static void body_of_cuda(WsTle *t, const WsOp *op, GString *s)
{
    g_string_append_printf(s, "  const int thread = threadIdx.x %% %u;\n", t->y->agent->threads);
    for (guint i = 0; i < op->n_raw; i++) {
        const WsRawOperand *o = &op->raw[i];
        const char *fixed = o->out ? "" : "const ",
                   *type = o->kind == WS_RAW_BUFFER ? type_of(t, op, o) : NULL;
        if (type)
            g_string_append_printf(s, "  %s%s *const %s = (%s%s *)(%s_aligned + %s_offset);\n",
                                   fixed, type, o->name, fixed, type, o->name, o->name);
    }
    g_auto(GStrv) line = g_strsplit(op->text, "\n", -1);
    for (guint i = 0; line[i]; i++)
        g_string_append_printf(s, "  %s\n", line[i]);
}

/* Everything but the name. Caller frees. */
static char *function_of(WsTle *t, const WsOp *op)
{
    GString *s = g_string_new(NULL), *taken = g_string_new(NULL);
    for (guint i = 0; i < op->n_raw; i++)
        parameter(t, op, &op->raw[i], taken);
    g_string_append_printf(s, "(\n%s) {\n", taken->str);
    if (op->dialect == WS_RAW_PTX)
        body_of_ptx(t, op, s);
    else
        body_of_cuda(t, op, s);
    g_string_append(s, "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n}\n");
    g_string_free(taken, TRUE);
    return g_string_free(s, FALSE);
}

void ws_tle_raw(WsTle *t, const WsOp *op)
{
    WsPy *y = t->y;
    const char *fault = fault_of(t, op);
    if (fault) {
        ws_py_refuse(y, op, fault, "use the steps of the language");
        return;
    }
    char *text = function_of(t, op);
    guint i = 0;
    while (i < t->raw->len && strcmp(t->raw->pdata[i], text))
        i++;
    if (i == t->raw->len)
        g_ptr_array_add(t->raw, text);
    else
        g_free(text);
    GString *given = g_string_new(NULL);
    for (guint k = 0; k < op->n_raw; k++) {
        const WsRawOperand *o = &op->raw[k];
        const WsAccess *a = o->kind == WS_RAW_BUFFER ? &op->access[o->index] : NULL;
        g_string_append_printf(given, "%s%s", k ? ", " : "",
                               a                          ? ws_tle_view(t, op, a, a->rows, a->cols)
                               : o->kind == WS_RAW_TENSOR ? y->tensor[o->index]
                                                          : ws_py_text(y, o->expr));
    }
    ws_py_line(y, "tle_raw.call(author_text_%u, [%s])", i + 1, given->str);
    ws_py_line(y, "tl.debug_barrier()");
    g_string_free(given, TRUE);
}

void ws_tle_raw_functions(WsPy *y)
{
    const WsTle *t = y->role;
    if (!t->raw->len)
        return;
    g_string_append(y->out, "import triton.experimental.tle.language.raw as tle_raw\n"
                            "from triton.experimental.tle.raw import dialect\n"
                            "\n\n"
                            "class Source:  # what dialect() asks of the path of a file\n"
                            "    def __init__(self, text):\n"
                            "        self.text = text\n"
                            "\n"
                            "    def read_text(self):\n"
                            "        return self.text\n"
                            "\n\n");
    for (guint i = 0; i < t->raw->len; i++)
        g_string_append_printf(y->out, MARK "%u@\n\n\n", i);
}

/* What is printed is wrapped and tidied, and the author's text must not be. */
char *ws_tle_put_raw(const GPtrArray *raw, char *text)
{
    GString *s = g_string_new(text);
    for (guint i = 0; i < raw->len; i++) {
        g_autofree char *mark = g_strdup_printf(MARK "%u@", i);
        g_autofree char *whole = g_strdup_printf("@dialect(name=\"cuda\", file=Source(r\"\"\"\n"
                                                 "#include <stdint.h>\n"
                                                 "\n"
                                                 "__device__ void author_text_%u%s\"\"\"))\n"
                                                 "def author_text_%u(*args, **kwargs):\n"
                                                 "    ...",
                                                 i + 1, (const char *)raw->pdata[i], i + 1);
        g_string_replace(s, mark, whole, 1);
    }
    g_free(text);
    return g_string_free(s, FALSE);
}
