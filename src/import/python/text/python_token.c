#include "import/python/text/python_private.h"

#include <string.h>

/* Text -> tokens, with INDENT and DEDENT as Python counts them. */

typedef struct {
    WsPython *p;
    const char *at, *end, *line_start, *counted;
    guint line, column;
    GArray *indent;   /* guint: columns of the open blocks */
    GByteArray *open; /* brackets */
    guint outer;      /* of those around a part of the text */
} Lexer;

/* Counted on from the last place that was asked for: lines may be long. */
static guint column_of(Lexer *l, const char *at)
{
    if (l->counted < l->line_start || l->counted > at) {
        l->counted = l->line_start;
        l->column = 1;
    }
    l->column += (guint)g_utf8_strlen(l->counted, at - l->counted);
    l->counted = at;
    return l->column;
}

static void add(Lexer *l, WsTokenKind kind, const char *start, gsize length)
{
    WsToken t = { kind, start, (guint)length, l->line, column_of(l, start) };
    g_array_append_val(l->p->tokens, t);
}

static void next_line(Lexer *l)
{
    l->at++;
    l->line++;
    l->line_start = l->at;
}

/* Indentation of a line that holds something; tabs go to the next multiple of eight. */
static gboolean indentation(Lexer *l, guint width)
{
    guint top = g_array_index(l->indent, guint, l->indent->len - 1);
    if (width > top) {
        if (l->indent->len >= WS_PYTHON_MAX_NESTING)
            return ws_python_fail(l->p, WS_PYTHON_ERROR_SIZE, l->line, 1, "Split the function.",
                                  "blocks nested deeper than %d", WS_PYTHON_MAX_NESTING);
        g_array_append_val(l->indent, width);
        add(l, WS_TOKEN_INDENT, l->at, 0);
        return TRUE;
    }
    while (width < top) {
        g_array_set_size(l->indent, l->indent->len - 1);
        top = g_array_index(l->indent, guint, l->indent->len - 1);
        add(l, WS_TOKEN_DEDENT, l->at, 0);
    }
    if (width != top)
        return ws_python_fail(l->p, WS_PYTHON_ERROR_SYNTAX, l->line, width + 1,
                              "Indent it as one of the blocks around it.",
                              "this line is indented like no block that is open");
    return TRUE;
}

static gboolean line_start(Lexer *l)
{
    guint width = 0;
    for (; l->at < l->end; l->at++) {
        if (*l->at == ' ')
            width++;
        else if (*l->at == '\t')
            width = (width / 8 + 1) * 8;
        else if (*l->at == '\f')
            width = 0;
        else
            break;
    }
    if (l->at == l->end || *l->at == '\n' || *l->at == '#' || *l->at == '\r')
        return TRUE; /* empty line */
    return indentation(l, width);
}

static gboolean string_prefix(const char *at, const char *end, gsize *length)
{
    gsize n = 0;
    while (n < 3 && at + n < end && strchr("rRbBuUfF", at[n]) && at[n])
        n++;
    *length = n;
    return at + n < end && (at[n] == '"' || at[n] == '\'');
}

static gboolean string(Lexer *l, gsize prefix)
{
    const char *start = l->at, *q = l->at + prefix;
    const guint line = l->line, column = column_of(l, start);
    const char quote = *q;
    const gboolean triple = l->end - q >= 3 && q[1] == quote && q[2] == quote;
    l->at = q + (triple ? 3 : 1);
    for (; l->at < l->end; l->at++) {
        if (*l->at == '\\' && l->at + 1 < l->end) {
            l->at++;
            if (*l->at == '\n') {
                l->line++;
                l->line_start = l->at + 1;
            }
        } else if (*l->at == '\n') {
            if (!triple)
                break;
            l->line++;
            l->line_start = l->at + 1;
        } else if (*l->at == quote && !triple) {
            l->at++;
            goto closed;
        } else if (*l->at == quote && l->end - l->at >= 3 && l->at[1] == quote &&
                   l->at[2] == quote) {
            l->at += 3;
            goto closed;
        }
    }
    return ws_python_fail(l->p, WS_PYTHON_ERROR_SYNTAX, line, column, "Close the string.",
                          "a string begins here and does not end");
closed:;
    WsToken t = { WS_TOKEN_STRING, start, (guint)(l->at - start), line, column };
    g_array_append_val(l->p->tokens, t);
    return TRUE;
}

static void number(Lexer *l)
{
    const char *start = l->at;
    const gboolean hex = l->end - start > 1 && *start == '0' && strchr("xXoObB", start[1]);
    while (l->at < l->end) {
        const char c = *l->at;
        const gboolean sign = !hex && (c == '+' || c == '-') && strchr("eE", l->at[-1]);
        if (!g_ascii_isalnum(c) && c != '_' && c != '.' && !sign)
            break;
        l->at++;
    }
    add(l, WS_TOKEN_NUMBER, start, l->at - start);
}

static gboolean is_name_byte(guchar c)
{
    return g_ascii_isalnum(c) || c == '_' || c >= 0x80;
}

static gsize operator_length(const char *at, const char *end)
{
    static const char *const ops[] = { "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>",
                                       "<<",  "<=",  ">=",  "==",  "!=",  "->", "+=", "-=",
                                       "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "@=", ":=" };
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
        if ((gsize)(end - at) >= strlen(ops[i]) && !strncmp(at, ops[i], strlen(ops[i])))
            return strlen(ops[i]);
    return strchr("+-*/%@&|^~<>()[]{},:.;=", *at) && *at ? 1 : 0;
}

static gboolean bracket(Lexer *l, char c)
{
    static const char opening[] = "([{", closing[] = ")]}";
    if (strchr(opening, c)) {
        if (l->open->len >= WS_PYTHON_MAX_NESTING)
            return ws_python_fail(l->p, WS_PYTHON_ERROR_SIZE, l->line, column_of(l, l->at),
                                  "Split the expression.", "brackets nested deeper than %d",
                                  WS_PYTHON_MAX_NESTING);
        g_byte_array_append(l->open, (const guint8 *)&c, 1);
        return TRUE;
    }
    const char *which = strchr(closing, c);
    if (!which)
        return TRUE;
    if (l->open->len <= l->outer ||
        (char)l->open->data[l->open->len - 1] != opening[which - closing])
        return ws_python_fail(l->p, WS_PYTHON_ERROR_SYNTAX, l->line, column_of(l, l->at),
                              "Match the brackets.", "'%c' closes no bracket of its kind", c);
    g_byte_array_set_size(l->open, l->open->len - 1);
    return TRUE;
}

static gboolean token(Lexer *l)
{
    const char c = *l->at;
    gsize n;
    if (string_prefix(l->at, l->end, &n))
        return string(l, n);
    if (g_ascii_isdigit(c) || (c == '.' && l->end - l->at > 1 && g_ascii_isdigit(l->at[1]))) {
        number(l);
        return TRUE;
    }
    if (is_name_byte((guchar)c)) {
        const char *start = l->at;
        while (l->at < l->end && is_name_byte((guchar)*l->at))
            l->at++;
        for (const char *b = start; b < l->at; b++)
            if ((guchar)*b >= 0x80) /* Python takes names that look alike for one */
                return ws_python_fail(l->p, WS_PYTHON_ERROR_SYNTAX, l->line, column_of(l, start),
                                      "Write names in ASCII.", "a name that is not ASCII");
        add(l, WS_TOKEN_NAME, start, l->at - start);
        return TRUE;
    }
    n = operator_length(l->at, l->end);
    if (!n)
        return ws_python_fail(l->p, WS_PYTHON_ERROR_SYNTAX, l->line, column_of(l, l->at),
                              "Remove it.", "the character 0x%02x is no Python", (guchar)c);
    if (n == 1 && !bracket(l, c))
        return FALSE;
    add(l, WS_TOKEN_OP, l->at, n);
    l->at += n;
    return TRUE;
}

static gboolean end_of_line(Lexer *l)
{
    const GArray *t = l->p->tokens;
    const WsTokenKind last = t->len ? g_array_index(t, WsToken, t->len - 1).kind : WS_TOKEN_NEWLINE;
    const gboolean empty =
        last == WS_TOKEN_NEWLINE || last == WS_TOKEN_INDENT || last == WS_TOKEN_DEDENT;
    if (!l->open->len && !empty)
        add(l, WS_TOKEN_NEWLINE, l->at, 0);
    if (l->at < l->end)
        next_line(l);
    return l->open->len || l->at == l->end || line_start(l);
}

static gboolean run(Lexer *l)
{
    if (l->end - l->at >= 3 && !memcmp(l->at, "\xef\xbb\xbf", 3))
        l->line_start = l->at += 3;
    if (!l->outer && !line_start(l))
        return FALSE;
    while (l->at < l->end) {
        const char c = *l->at;
        if (l->p->tokens->len > WS_PYTHON_MAX_NODES)
            return ws_python_fail(l->p, WS_PYTHON_ERROR_SIZE, l->line, 1,
                                  "Import the kernel from a file of its own.", "more than %d words",
                                  WS_PYTHON_MAX_NODES);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            l->at++;
        } else if (c == '#') {
            while (l->at < l->end && *l->at != '\n')
                l->at++;
        } else if (c == '\\' && l->end - l->at > 1 && l->at[1] == '\n') {
            l->at++;
            next_line(l);
        } else if (c == '\n') {
            if (!end_of_line(l))
                return FALSE;
        } else if (!token(l)) {
            return FALSE;
        }
    }
    if (l->open->len > l->outer)
        return ws_python_fail(l->p, WS_PYTHON_ERROR_SYNTAX, l->line, column_of(l, l->at),
                              "Close it.", "the file ends inside a bracket '%c'",
                              l->open->data[l->open->len - 1]);
    if (!l->outer && (!end_of_line(l) || !indentation(l, 0)))
        return FALSE;
    add(l, WS_TOKEN_END, l->at, 0);
    return TRUE;
}

static gboolean tokenize(Lexer *l)
{
    const guint zero = 0;
    l->indent = g_array_new(FALSE, FALSE, sizeof(guint));
    l->open = g_byte_array_new();
    g_array_append_val(l->indent, zero);
    if (l->outer)
        g_byte_array_append(l->open, (const guint8 *)"(", 1);
    const gboolean good = run(l);
    g_array_unref(l->indent);
    g_byte_array_unref(l->open);
    return good;
}

gboolean ws_python_tokenize(WsPython *p)
{
    Lexer l = {
        .p = p, .at = p->text, .end = p->text + p->length, .line_start = p->text, .line = 1
    };
    return tokenize(&l);
}

gboolean ws_python_tokenize_part(WsPython *p, const WsToken *t, const char *from, const char *to)
{
    Lexer l = { .p = p, .at = from, .end = to, .line_start = from, .line = t->line, .outer = 1 };
    return tokenize(&l);
}
