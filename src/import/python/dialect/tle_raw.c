#include "import/python/dialect/pyread_terms.h"

#include <stdio.h>
#include <string.h>

/* `raw.call(f, [x, y])` of a function of TLE-Raw whose text in CUDA C++ stands in the file: a raw
 * step of the design. One asm statement is text in PTX, which the check compares with what the step
 * declares; another body stays CUDA C++. Pointers to const are read, the others written. TLE's
 * compiler does not look into it: no barrier of the compiler stands around it, and its generic
 * accesses are ordered before copies by a fence of its own, or it is not read. */

typedef struct {
    PyRead *p;
    const WsPyNode *at;
    const Val *list;     /* what is handed over */
    GArray *operands;    /* WsReadOperand */
    GPtrArray *expected; /* char*: what each is in a list of asm; owned */
    GString *preamble;   /* of a body in CUDA C++, without blanks */
    const char *wrong;
} Raw;

static void refuse(Raw *r, const char *what)
{
    r->wrong = r->wrong ? r->wrong : what;
}

/* --- the text ----------------------------------------------------------------------------------*/

/* The class is only called: nothing else can have changed what it does. */
static gboolean stays(const WsPyNode *n, const char *class)
{
    for (guint i = 0; i < n->n; i++) {
        const gboolean is = n->kid[i]->kind == WS_PY_NAME && !strcmp(n->kid[i]->text, class);
        if (is ? n->kind != WS_PY_CALL || i : !stays(n->kid[i], class))
            return FALSE;
    }
    return TRUE;
}

/* class Source: what dialect() reads is what it was given. */
static gboolean is_source(PyRead *p, const WsPyNode *call)
{
    static const char *const is = "    def __init__(self, text):\n"
                                  "        self.text = text\n"
                                  "\n"
                                  "    def read_text(self):\n"
                                  "        return self.text";
    if (call->kind != WS_PY_CALL || call->n != 2 || call->kid[0]->kind != WS_PY_NAME ||
        call->kid[1]->kind != WS_PY_STRING)
        return FALSE;
    const Val *class = py_lookup(p, call->kid[0]->text);
    if (class->kind != VAL_CLASS || !p->py)
        return FALSE;
    g_autofree char *lines = ws_python_lines(p->py, class->node->line, class->node->end_line);
    const char *body = strchr(lines, '\n');
    if (!body || !g_str_has_prefix(body + 1, is) || class->node->n != 1 ||
        !stays(ws_python_module(p->py), class->node->text))
        return FALSE; /* bases and decorators stand beside its body */
    const char *rest = body + 1 + strlen(is);
    rest += strspn(rest, "\n"); /* the lines go on to where the next statement begins */
    return !*rest || (!g_ascii_isspace(*rest) && rest[-1] == '\n');
}

/* Between the quotes, as Python has it; NULL: an escape that is not known. Caller frees. */
static char *python_text(const char *quoted)
{
    GString *s = g_string_new(NULL);
    const char *end = quoted + strlen(quoted) - 1;
    for (const char *c = quoted + 1; c < end; c++) {
        if (*c != '\\') {
            g_string_append_c(s, *c);
            continue;
        }
        c++;
        if (c >= end || !strchr("\\\"'nt", *c)) {
            g_string_free(s, TRUE);
            return NULL;
        }
        g_string_append_c(s, *c == 'n' ? '\n' : *c == 't' ? '\t' : *c);
    }
    return g_string_free(s, FALSE);
}

/* What @dialect(name="cuda", file=…) compiles. NULL: it is not known. Caller frees. */
static char *text_of(Raw *r, const Val *function)
{
    PyRead *p = r->p;
    const WsPyNode *def = function && function->kind == VAL_FUNC ? function->node : NULL;
    if (!def || def->kind != WS_PY_DEF || def->n != 3 || def->kid[2]->kind != WS_PY_CALL) {
        refuse(r, "a raw function that is not made by dialect");
        return NULL;
    }
    const WsPyNode *made = def->kid[2];
    const Val *dialect =
        made->kid[0]->kind == WS_PY_NAME ? py_lookup(p, made->kid[0]->text) : py_opaque(p);
    if (dialect->kind != VAL_NAME || !g_str_has_suffix(dialect->text, ".tle.raw.dialect")) {
        refuse(r, "a raw function that is not made by dialect");
        return NULL;
    }
    const WsPyNode *file = NULL;
    for (guint i = 1; i < made->n; i++) {
        const WsPyNode *arg = made->kid[i];
        const gboolean named = arg->kind == WS_PY_KEYWORD;
        if (named && !strcmp(arg->text, "name") && arg->kid[0]->kind == WS_PY_STRING &&
            !strcmp(arg->kid[0]->text, "\"cuda\""))
            continue;
        if (named && !strcmp(arg->text, "file"))
            file = arg->kid[0];
        else
            refuse(r, "a dialect of raw text that is not known");
    }
    if (r->wrong)
        return NULL;
    char *text = file && is_source(p, file) ? python_text(file->kid[1]->text) : NULL;
    if (!text)
        refuse(r, "raw text that does not stand in this file");
    return text;
}

/* --- C++ ---------------------------------------------------------------------------------------*/

/* Without blanks, which mean nothing where it is compared. Caller frees. */
static char *dense(const char *text, gsize n)
{
    GString *s = g_string_new(NULL);
    for (gsize i = 0; i < n; i++)
        if (!g_ascii_isspace(text[i]))
            g_string_append_c(s, text[i]);
    return g_string_free(s, FALSE);
}

static const char *skip(const char *c)
{
    while (g_ascii_isspace(*c))
        c++;
    return c;
}

/* Behind the word, or NULL. */
static const char *past(const char *c, const char *word)
{
    c = c ? skip(c) : NULL;
    return c && g_str_has_prefix(c, word) ? c + strlen(word) : NULL;
}

/* Behind the bracket that closes the one at `c`; NULL: there is none. */
static const char *closing(const char *c)
{
    guint depth = 0;
    for (; *c; c++) {
        if (*c == '"')
            for (c++; *c && *c != '"'; c++)
                c += *c == '\\' && c[1];
        depth += *c == '(' || *c == '{' || *c == '[';
        if ((*c == ')' || *c == '}' || *c == ']') && --depth == 0)
            return c + 1;
        if (!*c)
            break;
    }
    return NULL;
}

/* Between commas in no brackets; the caller unrefs. */
static GPtrArray *parted(const char *from, const char *end)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    guint depth = 0;
    for (const char *c = from; c <= end; c++) {
        depth += c < end && (*c == '(' || *c == '[');
        depth -= depth && c < end && (*c == ')' || *c == ']');
        if (c < end && (*c != ',' || depth))
            continue;
        g_ptr_array_add(list, g_strstrip(g_strndup(from, c - from)));
        from = c + 1;
    }
    return list;
}

typedef struct {
    gboolean fixed, pointer;
    guint space;
    char type[24], name[64];
} Parameter;

static gboolean read_parameter(const char *text, Parameter *out)
{
    *out = (Parameter){ 0 };
    const char *c = past(text, "__attribute__((address_space(");
    if (c) {
        out->space = (guint)g_ascii_digit_value(*c);
        c = past(c + 1, ")))");
    } else {
        c = skip(text);
    }
    if (!c)
        return FALSE;
    const char *fixed = past(c, "const ");
    out->fixed = fixed != NULL;
    c = skip(fixed ? fixed : c);
    static const char *const types[] = { "unsigned short", "unsigned char", "signed char",
                                         "float",          "int64_t",       "int" };
    for (guint i = 0; i < G_N_ELEMENTS(types) && !*out->type; i++)
        if (g_str_has_prefix(c, types[i])) {
            g_strlcpy(out->type, types[i], sizeof out->type);
            c += strlen(types[i]);
        }
    if (!*out->type || (*c != ' ' && *c != '*'))
        return FALSE;
    c = skip(c);
    out->pointer = *c == '*';
    c = skip(c + out->pointer);
    gsize n = 0;
    while (g_ascii_isalnum(c[n]) || c[n] == '_')
        n++;
    if (!n || n >= sizeof out->name || c[n] || g_ascii_isdigit(*c))
        return FALSE;
    memcpy(out->name, c, n);
    return TRUE;
}

static gint64 bytes_of(const char *type)
{
    return strstr(type, "char") ? 1 : strstr(type, "short") ? 2 : 4;
}

/* "x_aligned" -> "x". */
static const char *stem(Raw *r, const char *name)
{
    const char *end = g_strrstr(name, "_aligned");
    return end && !end[8] && end > name ? ws_source_format(r->p->r, "%.*s", (int)(end - name), name)
                                        : ws_source_format(r->p->r, "%s", name);
}

/* A buffer is two pointers, an offset, sizes and strides. Returns how many it takes; 0: it does not
 * fit. */
static guint take_buffer(Raw *r, const Val *v, const GPtrArray *list, guint at)
{
    const WsReadBuffer *b = &g_array_index(r->p->r->buffers, WsReadBuffer, v->place.object);
    const guint rank = b->rank - (b->indexed ? 1 : 0) - (b->indexed_twice ? 1 : 0);
    Parameter one, two, number;
    if (at + 3 + 2 * rank > list->len || v->depth || (v->place.views && *v->place.views) ||
        v->place.transposed || (b->indexed && !v->place.index))
        return 0;
    if (!read_parameter(list->pdata[at], &one) || !read_parameter(list->pdata[at + 1], &two) ||
        one.space != 3 || two.space != 3 || !one.pointer || !two.pointer ||
        one.fixed != two.fixed || strcmp(one.type, two.type) ||
        bytes_of(two.type) != py_dtype_bytes(b->dtype))
        return 0;
    char offset[64] = "";
    for (guint i = 0; i < 1 + 2 * rank; i++) {
        if (!read_parameter(list->pdata[at + 2 + i], &number) || number.pointer || number.space ||
            strcmp(number.type, "int64_t"))
            return 0;
        if (!i)
            g_strlcpy(offset, number.name, sizeof offset);
    }
    const WsReadOperand o = {
        .name = stem(r, two.name), .place = v->place, .tensor = -1, .out = !two.fixed
    };
    g_array_append_val(r->operands, o);
    g_ptr_array_add(r->expected,
                    g_strdup_printf("\"r\"((uint32_t)(uint64_t)(%s+%s))", two.name, offset));
    g_autofree char *type = dense(two.type, strlen(two.type));
    const char *fixed = two.fixed ? "const" : "";
    g_string_append_printf(r->preamble, "%s%s*const%s=(%s%s*)(%s+%s);", fixed, type, o.name, fixed,
                           type, two.name, offset);
    return 3 + 2 * rank;
}

static guint take_other(Raw *r, const Val *v, const char *text)
{
    Parameter one;
    if (!read_parameter(text, &one))
        return 0;
    WsReadOperand o = { .name = ws_source_format(r->p->r, "%s", one.name), .tensor = -1 };
    o.place.object = -1;
    if (one.space == 1 && one.pointer && one.fixed &&
        (v->kind == VAL_PARAM || v->kind == VAL_TENSOR)) {
        o.tensor = py_tensor(r->p, v, 0, r->at->line);
        const char *dtype =
            o.tensor < 0 ? NULL : g_array_index(r->p->r->tensors, WsReadTensor, o.tensor).dtype;
        if (!dtype || py_dtype_bytes(dtype) != bytes_of(one.type))
            return 0;
        g_ptr_array_add(r->expected, g_strdup_printf("\"l\"((uint64_t)%s)", one.name));
    } else if (!one.space && !one.pointer && !strcmp(one.type, "int") && py_as_int(r->p, v)) {
        o.e = py_as_int(r->p, v);
        g_ptr_array_add(r->expected, g_strdup_printf("\"r\"(%s)", one.name));
    } else {
        return 0;
    }
    g_array_append_val(r->operands, o);
    return 1;
}

/* Behind the parameters; NULL: they are not those of what is handed over. */
static const char *parameters(Raw *r, const char *text)
{
    const char *c = skip(text);
    while (g_str_has_prefix(c, "#include <") && strchr(c, '\n'))
        c = skip(strchr(c, '\n'));
    c = past(past(c, "__device__"), "void ");
    if (!c)
        return NULL;
    c = skip(c);
    while (g_ascii_isalnum(*c) || *c == '_')
        c++;
    const char *end = *c == '(' ? closing(c) : NULL;
    if (!end)
        return NULL;
    const char *from = skip(c + 1);
    g_autoptr(GPtrArray) list = parted(from, end - 1);
    guint at = 0;
    const guint n = from < end - 1 ? list->len : 0;
    for (guint i = 0; i < r->list->n; i++) {
        const Val *v = r->list->item[i];
        const guint taken = at >= n                 ? 0
                            : v->kind == VAL_BUFFER ? take_buffer(r, v, list, at)
                                                    : take_other(r, v, list->pdata[at]);
        if (!taken)
            return NULL;
        at += taken;
    }
    return at == n ? end : NULL;
}

/* Strings of C++ side by side, until `*c` is something else; NULL: an escape that is not known.
 * Caller frees. */
static char *joined(const char **c)
{
    GString *s = g_string_new(NULL);
    for (*c = skip(*c); **c == '"'; *c = skip(*c)) {
        for (++*c; **c && **c != '"'; ++*c) {
            if (**c != '\\') {
                g_string_append_c(s, **c);
                continue;
            }
            ++*c;
            if (!**c || !strchr("\\\"nt", **c)) {
                g_string_free(s, TRUE);
                return NULL;
            }
            g_string_append_c(s, **c == 'n' ? '\n' : **c == 't' ? '\t' : **c);
        }
        if (!**c) {
            g_string_free(s, TRUE);
            return NULL;
        }
        ++*c;
    }
    return g_string_free(s, FALSE);
}

/* %0 -> %{x}, %% -> %. NULL: something else stands behind a %. Caller frees. */
static char *named(const Raw *r, const char *text)
{
    GString *s = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        char *end = NULL;
        const guint64 i =
            *c == '%' && g_ascii_isdigit(c[1]) ? g_ascii_strtoull(c + 1, &end, 10) : G_MAXUINT64;
        if (*c != '%') {
            g_string_append_c(s, *c);
        } else if (c[1] == '%' && c[2] != '{') {
            g_string_append_c(s, *c++);
        } else if (i < r->operands->len) {
            g_string_append_printf(s, "%%{%s}", g_array_index(r->operands, WsReadOperand, i).name);
            c = end - 1;
        } else {
            g_string_free(s, TRUE);
            return NULL;
        }
    }
    return g_string_free(s, FALSE);
}

/* Lines without the braces around all of it, and without what stands in front of them all. */
static char *unbraced(const char *text)
{
    g_autofree char *own = g_strstrip(g_strdup(text));
    const gsize n = strlen(own);
    if (n < 2 || *own != '{' || own[n - 1] != '}' || closing(own) != own + n)
        return NULL;
    own[n - 1] = 0;
    g_auto(GStrv) line = g_strsplit(own + 1, "\n", -1);
    GString *s = g_string_new(NULL);
    for (guint i = 0; line[i]; i++)
        if (*g_strstrip(line[i]))
            g_string_append_printf(s, "%s%s", s->len ? "\n" : "", line[i]);
    return g_string_free(s, FALSE);
}

/* Where a partition of TLE stands is not where the group of a design does: the number of a thread
 * in its CTA may be asked for if only that in its group, or in its warp, is left of it. */
static gboolean is_masked(const char *line, const char *next, guint threads)
{
    char to[33], from[33], left[33];
    guint mask = 0;
    gint end = 0, masked = 0;
    sscanf(line, " mov.u32 %32[A-Za-z0-9_], %%tid.x;%n", to, &end);
    sscanf(next, " and.b32 %32[A-Za-z0-9_], %32[A-Za-z0-9_], %u;%n", left, from, &mask, &masked);
    if (!end || !masked || line[end + (gint)strspn(line + end, " \t")])
        return FALSE; /* what else stands between the two may keep the number */
    return !strcmp(to, from) && !strcmp(to, left) && (mask + 1 == threads || mask == 31);
}

static gboolean asks_for_place(const Raw *r, const char *text)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const guint threads = (guint)r->p->group->warps * 32;
    for (guint i = 0; line[i]; i++)
        for (const char *c = strchr(line[i], '%'); c; c = strchr(c + 1, '%')) {
            if (c[1] == '{' || g_str_has_prefix(c, "%laneid"))
                continue;
            if (!line[i + 1] || !is_masked(line[i], line[i + 1], threads))
                return TRUE;
        }
    return FALSE;
}

/* asm volatile("…" : : "r"(…) : "memory"); -> text in PTX. NULL: it is something else; `*behind` is
 * what follows. Caller frees. */
static char *ptx_of(Raw *r, const char *body, const char **behind)
{
    const char *c = past(past(body, "asm volatile"), "(");
    if (!c)
        return NULL;
    g_autofree char *inside = joined(&c);
    const char *in = past(past(c, ":"), ":");
    const char *end = closing(strchr(body, '('));
    if (!inside || !in || !end)
        return NULL;
    GString *expected = g_string_new(NULL);
    for (guint i = 0; i < r->expected->len; i++)
        g_string_append_printf(expected, "%s%s", i ? "," : "", (const char *)r->expected->pdata[i]);
    g_string_append(expected, ":\"memory\")");
    g_autofree char *given = dense(in, (gsize)(end - in));
    const gboolean same = !strcmp(given, expected->str);
    g_string_free(expected, TRUE);
    *behind = past(end, ";");
    if (!same || !*behind)
        return NULL;
    g_autofree char *names = named(r, inside);
    return names ? unbraced(names) : NULL;
}

/* const int thread = …; pointers by their names; the text. Caller frees. */
static char *cuda_of(Raw *r, const char *body)
{
    g_autofree char *head = g_strdup_printf("constintthread=threadIdx.x%%%u;%s",
                                            (guint)r->p->group->warps * 32, r->preamble->str);
    const char *c = body;
    for (const char *h = head; *h; c++) {
        if (g_ascii_isspace(*c))
            continue;
        if (*c != *h++)
            return NULL;
    }
    GString *s = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(c, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        const char *own = g_str_has_prefix(line[i], "  ") ? line[i] + 2 : line[i];
        if (*g_strchomp(line[i]))
            g_string_append_printf(s, "%s%s", s->len ? "\n" : "", own);
    }
    return g_string_free(s, FALSE);
}

/* --- the step ----------------------------------------------------------------------------------*/

/* FALSE: a name of the design cannot be one of the text, or two are one. */
static gboolean names_fit(const Raw *r)
{
    for (guint i = 0; i < r->operands->len; i++)
        for (guint k = 0; k < i; k++)
            if (!strcmp(g_array_index(r->operands, WsReadOperand, i).name,
                        g_array_index(r->operands, WsReadOperand, k).name))
                return FALSE;
    return TRUE;
}

static void emit(Raw *r, const char *dialect, const char *text)
{
    ws_source_granted(r->p->r,
                      "TLE leaves a call of raw text where it stands, between the barriers "
                      "and the waits for stores around it");
    WsReadStep *s = py_step(r->p, WS_READ_RAW, r->at);
    s->name = dialect;
    s->text = ws_source_format(r->p->r, "%s", text);
    s->operands = g_array_ref(r->operands);
    s->places = g_array_new(FALSE, FALSE, sizeof(WsPlace));
    for (guint i = 0; i < r->operands->len; i++)
        if (g_array_index(r->operands, WsReadOperand, i).place.object >= 0)
            g_array_append_val(s->places, g_array_index(r->operands, WsReadOperand, i).place);
}

static void read_call(Raw *r, const char *text)
{
    static const char *const fence = "asm volatile(\"fence.proxy.async.shared::cta;\" ::: "
                                     "\"memory\");";
    const char *c = past(parameters(r, text), "{");
    if (!c || !names_fit(r)) {
        refuse(r, "a raw function whose parameters are not those of what it is handed");
        return;
    }
    g_autofree char *body = g_strchomp(g_strdup(c));
    char *last = g_strrstr(body, fence);
    const gboolean ends = last && !strcmp(skip(last + strlen(fence)), "}");
    if (!ends) {
        refuse(r, "a raw function that does not end with a fence of the async proxy");
        return;
    }
    *last = 0;
    const char *behind = NULL;
    g_autofree char *ptx = ptx_of(r, body, &behind);
    if (ptx && !*skip(behind)) {
        if (asks_for_place(r, ptx))
            refuse(r, "raw text that asks where its partition stands");
        else
            emit(r, "ptx", ptx);
        return;
    }
    g_autofree char *cuda = cuda_of(r, body);
    if (cuda)
        emit(r, "cuda", cuda);
    else
        refuse(r, "a raw function whose text has another form");
}

const Val *py_mean_TLE_RAW(PyRead *p, const Val **a, const WsPyNode *at)
{
    Raw r = { .p = p, .at = at, .list = a[1] };
    if (!p->group || !a[1] || a[1]->kind != VAL_TUPLE)
        return py_wrong(p, at, "a call of raw text whose arguments are no list");
    r.operands = g_array_new(FALSE, TRUE, sizeof(WsReadOperand));
    r.expected = g_ptr_array_new_with_free_func(g_free);
    r.preamble = g_string_new(NULL);
    g_autofree char *text = text_of(&r, a[0]);
    if (text)
        read_call(&r, text);
    g_array_unref(r.operands);
    g_ptr_array_unref(r.expected);
    g_string_free(r.preamble, TRUE);
    return r.wrong ? py_wrong(p, at, r.wrong) : py_none(p);
}
