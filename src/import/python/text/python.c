#include "import/python/text/python_private.h"

#include <string.h>

/* What the files of the reader share: nodes, tokens under the cursor, errors, printing. */

G_DEFINE_QUARK(ws - python - error - quark, ws_python_error)

const char *ws_python_kind_text(WsPyKind kind)
{
    static const char *const text[] = {
#define WS_PY(id, text) text,
#include "import/python/text/python.def"
#undef WS_PY
    };
    return text[kind];
}

gboolean ws_python_fail(WsPython *p, WsPythonError code, guint line, guint column,
                        const char *remedy, const char *format, ...)
{
    if (p->error && *p->error)
        return FALSE;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(p->error, WS_PYTHON_ERROR, code, "%s:%u:%u: %s. %s", p->file, line, column, what,
                remedy);
    return FALSE;
}

const WsToken *ws_python_token(const WsPython *p)
{
    return &g_array_index(p->tokens, WsToken, p->at);
}

gboolean ws_python_at(const WsPython *p, const char *text)
{
    const WsToken *t = ws_python_token(p);
    return (t->kind == WS_TOKEN_OP || t->kind == WS_TOKEN_NAME) && t->length == strlen(text) &&
           !strncmp(t->start, text, t->length);
}

gboolean ws_python_take(WsPython *p, const char *text)
{
    if (!ws_python_at(p, text))
        return FALSE;
    p->at++;
    return TRUE;
}

WsPyNode *ws_python_unexpected(WsPython *p, const char *wanted)
{
    const WsToken *t = ws_python_token(p);
    g_autofree char *word = g_strndup(t->start, MIN(t->length, 40));
    const char *what = t->kind == WS_TOKEN_NEWLINE  ? "the line ends"
                       : t->kind == WS_TOKEN_INDENT ? "a block begins"
                       : t->kind == WS_TOKEN_DEDENT ? "the block ends"
                       : t->kind == WS_TOKEN_END    ? "the file ends"
                                                    : NULL;
    if (what)
        ws_python_fail(p, WS_PYTHON_ERROR_SYNTAX, t->line, t->column, "Correct the line.",
                       "%s where %s is expected", what, wanted);
    else
        ws_python_fail(p, WS_PYTHON_ERROR_SYNTAX, t->line, t->column, "Correct the line.",
                       "'%s' where %s is expected", word, wanted);
    return NULL;
}

gboolean ws_python_need(WsPython *p, const char *text)
{
    if (ws_python_take(p, text))
        return TRUE;
    g_autofree char *quoted = g_strdup_printf("'%s'", text);
    ws_python_unexpected(p, quoted);
    return FALSE;
}

char *ws_python_intern(WsPython *p, const WsToken *t)
{
    return g_string_chunk_insert_len(p->strings, t->start, t->length);
}

static void free_node(gpointer data)
{
    WsPyNode *node = data;
    g_free(node->kid);
    g_free(node);
}

WsPyNode *ws_python_node(WsPython *p, WsPyKind kind, const WsToken *t, const char *text, guint mark)
{
    if (p->nodes->len >= WS_PYTHON_MAX_NODES) {
        ws_python_fail(p, WS_PYTHON_ERROR_SIZE, t->line, t->column,
                       "Import the kernel from a file of its own.", "more than %d parts",
                       WS_PYTHON_MAX_NODES);
        return NULL;
    }
    WsPyNode *node = g_new0(WsPyNode, 1);
    g_ptr_array_add(p->nodes, node);
    node->kind = kind;
    node->line = t->line;
    node->column = t->column;
    node->text = text;
    node->n = p->scratch->len - mark;
    if (node->n) {
        node->kid = g_memdup2(p->scratch->pdata + mark, node->n * sizeof(gpointer));
        g_ptr_array_set_size(p->scratch, mark);
    }
    const guint last = p->at > 0 ? p->at - 1 : 0;
    node->end_line = MAX(node->line, g_array_index(p->tokens, WsToken, last).line);
    for (guint i = 0; i < node->n; i++)
        node->end_line = MAX(node->end_line, node->kid[i]->end_line);
    return node;
}

gboolean ws_python_push(WsPython *p, WsPyNode *kid)
{
    if (kid)
        g_ptr_array_add(p->scratch, kid);
    return kid != NULL;
}

gboolean ws_python_enter(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    if (++p->depth <= WS_PYTHON_MAX_NESTING * 2)
        return TRUE;
    return ws_python_fail(p, WS_PYTHON_ERROR_SIZE, t->line, t->column, "Split it.",
                          "nested deeper than %d", WS_PYTHON_MAX_NESTING * 2);
}

void ws_python_leave(WsPython *p)
{
    p->depth--;
}

static const char *lone_return(const char *text, gsize length)
{
    for (const char *c = text; c < text + length; c++)
        if (*c == '\r' && (c + 1 == text + length || c[1] != '\n'))
            return c;
    return NULL;
}

WsPython *ws_python_parse(const char *text, gsize length, const char *file, GError **error)
{
    g_autoptr(WsPython) p = g_new0(WsPython, 1);
    p->file = g_strdup(file);
    GError *own = NULL;
    p->error = &own;
    p->tokens = g_array_new(FALSE, FALSE, sizeof(WsToken));
    p->strings = g_string_chunk_new(4096);
    p->nodes = g_ptr_array_new_with_free_func(free_node);
    p->scratch = g_ptr_array_new();
    p->noted = g_ptr_array_new();
    const char *bad = NULL;
    if (length > WS_PYTHON_MAX_BYTES) {
        ws_python_fail(p, WS_PYTHON_ERROR_SIZE, 1, 1, "Import the kernel from a file of its own.",
                       "%zu bytes; at most %d are read", length, WS_PYTHON_MAX_BYTES);
    } else if (!g_utf8_validate(text, (gssize)length, &bad)) {
        guint line = 1;
        for (const char *c = text; c < bad; c++)
            line += *c == '\n';
        ws_python_fail(p, WS_PYTHON_ERROR_SYNTAX, line, 1, "Save the file as UTF-8.",
                       "the line holds bytes that are not UTF-8 text");
    } else if ((bad = lone_return(text, length))) {
        guint line = 1;
        for (const char *c = text; c < bad; c++)
            line += *c == '\n';
        ws_python_fail(p, WS_PYTHON_ERROR_SYNTAX, line, 1, "End lines with a line feed.",
                       "the line holds a carriage return, at which Python begins another one");
    } else {
        p->text = g_strndup(text, length);
        p->length = length;
        if (ws_python_tokenize(p))
            p->module = ws_python_suite(p);
    }
    p->error = NULL;
    if (!p->module || own) {
        g_propagate_error(error, own);
        return NULL;
    }
    return g_steal_pointer(&p);
}

void ws_python_free(WsPython *p)
{
    if (!p)
        return;
    g_array_unref(p->tokens);
    g_string_chunk_free(p->strings);
    g_ptr_array_unref(p->nodes);
    g_ptr_array_unref(p->scratch);
    g_ptr_array_unref(p->noted);
    g_free(p->text);
    g_free(p->file);
    g_free(p);
}

const WsPyNode *ws_python_module(const WsPython *p)
{
    return p->module;
}

char *ws_python_lines(const WsPython *p, guint first, guint last)
{
    GString *out = g_string_new(NULL);
    g_auto(GStrv) line = g_strsplit(p->text, "\n", (gint)last + 1);
    gsize common = G_MAXSIZE;
    const guint n = g_strv_length(line);
    for (guint i = first - 1; i < MIN(last, n); i++)
        if (line[i][strspn(line[i], " \t")])
            common = MIN(common, strspn(line[i], " \t"));
    for (guint i = first - 1; i < MIN(last, n); i++) {
        const gsize skip = MIN(common == G_MAXSIZE ? 0 : common, strlen(line[i]));
        g_string_append_printf(out, "%s%s", i + 1 > first ? "\n" : "", line[i] + skip);
    }
    return g_string_free(out, FALSE);
}

char *ws_python_dotted(const WsPyNode *node)
{
    if (node->kind == WS_PY_NAME)
        return g_strdup(node->text);
    if (node->kind != WS_PY_ATTR)
        return NULL;
    g_autofree char *left = ws_python_dotted(node->kid[0]);
    return left ? g_strdup_printf("%s.%s", left, node->text) : NULL;
}

gboolean ws_python_mentions(const WsPyNode *node, const char *name)
{
    if (node->kind == WS_PY_NAME && !strcmp(node->text, name))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (ws_python_mentions(node->kid[i], name))
            return TRUE;
    return FALSE;
}
