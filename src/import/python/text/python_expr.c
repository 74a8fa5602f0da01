#include "import/python/text/python_private.h"

#include <string.h>

/* Expressions, by precedence climbing. */

static WsPyNode *ternary(WsPython *p);
static WsPyNode *binary(WsPython *p, guint level);

static const char *const keywords[] = {
    "and",    "as",   "assert", "async",  "await",  "break",   "class",    "continue",
    "def",    "del",  "elif",   "else",   "except", "finally", "for",      "from",
    "global", "if",   "import", "in",     "is",     "lambda",  "nonlocal", "not",
    "or",     "pass", "raise",  "return", "try",    "while",   "with",     "yield"
};

static gboolean is_keyword(const WsToken *t)
{
    for (guint i = 0; i < G_N_ELEMENTS(keywords); i++)
        if (t->length == strlen(keywords[i]) && !strncmp(t->start, keywords[i], t->length))
            return TRUE;
    return FALSE;
}

WsPyNode *ws_python_none(WsPython *p)
{
    return ws_python_node(p, WS_PY_CONST, ws_python_token(p), "None", p->scratch->len);
}

static WsPyNode *number(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    g_autofree char *raw = g_strndup(t->start, t->length);
    GString *digits = g_string_new(NULL);
    for (const char *c = raw; *c; c++)
        if (*c != '_')
            g_string_append_c(digits, *c);
    g_autofree char *text = g_string_free(digits, FALSE);
    guint base = 10;
    const char *start = text;
    if (*text == '0' && text[1] && strchr("xXoObB", text[1])) {
        base = strchr("xX", text[1]) ? 16 : strchr("oO", text[1]) ? 8 : 2;
        start += 2;
    }
    guint64 value = 0; /* an integer above 64 bits is kept as text, like a real */
    const gboolean real = (base == 10 && strpbrk(text, ".eEjJ")) ||
                          !g_ascii_string_to_unsigned(start, base, 0, G_MAXINT64, &value, NULL);
    p->at++;
    WsPyNode *node = ws_python_node(p, real ? WS_PY_FLOAT : WS_PY_INT, t,
                                    g_string_chunk_insert(p->strings, text), p->scratch->len);
    if (node)
        node->i = (gint64)value;
    return node;
}

/* `for` target `in` source [`if` condition] … */
static WsPyNode *clause(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    if (!ws_python_need(p, "for") || !ws_python_push(p, ws_python_targets(p)) ||
        !ws_python_need(p, "in") || !ws_python_push(p, binary(p, 0)))
        return NULL;
    while (ws_python_take(p, "if"))
        if (!ws_python_push(p, ws_python_at(p, "lambda") ? ternary(p) : binary(p, 0)))
            return NULL;
    return ws_python_node(p, WS_PY_CLAUSE, t, NULL, mark);
}

static WsPyNode *comprehension(WsPython *p, WsPyNode *element, const WsToken *at)
{
    const guint mark = p->scratch->len;
    ws_python_push(p, element);
    while (TRUE) {
        if (ws_python_at(p, "async"))
            return ws_python_unexpected(p, "a clause that is not asynchronous");
        if (!ws_python_at(p, "for"))
            return ws_python_node(p, WS_PY_COMP, at, NULL, mark);
        if (!ws_python_push(p, clause(p)))
            return NULL;
    }
}

static WsPyNode *item(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    for (guint i = 0; i < 2; i++) {
        const char *star = i ? "*" : "**";
        if (ws_python_take(p, star))
            return ws_python_push(p, ternary(p)) ? ws_python_node(p, WS_PY_STAR, t, star, mark)
                                                 : NULL;
    }
    WsPyNode *e = ternary(p);
    if (e && e->kind == WS_PY_NAME && ws_python_take(p, ":="))
        return ws_python_push(p, ternary(p)) ? ws_python_node(p, WS_PY_NAMED, t, e->text, mark)
                                             : NULL;
    return e;
}

/* Items up to the closing bracket; what stands behind a `:` in braces is an item too. */
static WsPyNode *bracketed(WsPython *p, const char *end, WsPyKind kind)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    gboolean comma = FALSE;
    p->at++;
    while (!ws_python_at(p, end)) {
        WsPyNode *e = item(p);
        if (!e)
            return NULL;
        if (ws_python_at(p, "for"))
            e = comprehension(p, e, t);
        if (!ws_python_push(p, e))
            return NULL;
        if (kind == WS_PY_DICT && ws_python_take(p, ":"))
            continue;
        if (!ws_python_take(p, ","))
            break;
        comma = TRUE;
    }
    if (!ws_python_need(p, end))
        return NULL;
    if (kind == WS_PY_TUPLE && !comma && p->scratch->len == mark + 1) { /* plain parentheses */
        WsPyNode *inner = g_ptr_array_index(p->scratch, mark);
        g_ptr_array_set_size(p->scratch, mark);
        return inner;
    }
    return ws_python_node(p, kind, t, NULL, mark);
}

/* Neighbours are joined. What stands between the quotes is written as in "…"; an `f` that puts
 * something in and a `b` are kept before them, and what is put in is read. */
static WsPyNode *strings(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    g_autoptr(GString) inner = g_string_new(NULL);
    gboolean filled = FALSE, bytes = FALSE;
    for (; ws_python_token(p)->kind == WS_TOKEN_STRING; p->at++) {
        const WsToken *own = ws_python_token(p);
        gsize prefix = 0;
        gboolean raw = FALSE, format = FALSE;
        for (char c; !strchr("\"'", c = own->start[prefix]); prefix++) {
            raw |= strchr("rR", c) != NULL;
            format |= strchr("fF", c) != NULL;
            bytes |= strchr("bB", c) != NULL;
        }
        const char *quote = own->start + prefix, *end = own->start + own->length;
        const gsize n = end - quote >= 6 && quote[1] == *quote && quote[2] == *quote ? 3 : 1;
        if (format && !ws_python_fields(p, own, quote + n, end - n, raw))
            return NULL;
        for (const char *c = quote + n; c < end - n; c++) {
            filled |= format && (*c == '{' || *c == '}');
            if (raw && *c == '\\')
                g_string_append_c(inner, '\\');
            g_string_append_c(inner, *c);
        }
    }
    g_string_prepend(inner, filled ? "f\"" : bytes ? "b\"" : "\"");
    g_string_append_c(inner, '"');
    return ws_python_node(p, WS_PY_STRING, t, g_string_chunk_insert(p->strings, inner->str), mark);
}

static WsPyNode *lambda(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    p->at++;
    if (!ws_python_push(p, ws_python_params(p, ":", FALSE)) || !ws_python_need(p, ":") ||
        !ws_python_push(p, ternary(p)))
        return NULL;
    return ws_python_node(p, WS_PY_LAMBDA, t, NULL, mark);
}

static WsPyNode *yield(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    p->at++;
    ws_python_take(p, "from");
    const WsToken *next = ws_python_token(p);
    if (next->kind != WS_TOKEN_NEWLINE && !ws_python_at(p, ")") &&
        !ws_python_push(p, ws_python_expressions(p)))
        return NULL;
    return ws_python_node(p, WS_PY_OTHER, t, "yield", mark);
}

static WsPyNode *atom(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    switch (t->kind) {
    case WS_TOKEN_NUMBER:
        return number(p);
    case WS_TOKEN_STRING:
        return strings(p);
    case WS_TOKEN_NAME:
        if (is_keyword(t))
            return ws_python_unexpected(p, "an expression");
        p->at++;
        if ((t->length == 4 && (!strncmp(t->start, "True", 4) || !strncmp(t->start, "None", 4))) ||
            (t->length == 5 && !strncmp(t->start, "False", 5)))
            return ws_python_node(p, WS_PY_CONST, t, ws_python_intern(p, t), p->scratch->len);
        return ws_python_node(p, WS_PY_NAME, t, ws_python_intern(p, t), p->scratch->len);
    case WS_TOKEN_DEDENT:
    case WS_TOKEN_END:
    case WS_TOKEN_INDENT:
    case WS_TOKEN_NEWLINE:
    case WS_TOKEN_OP:
    default:
        break;
    }
    if (ws_python_at(p, "("))
        return bracketed(p, ")", WS_PY_TUPLE);
    if (ws_python_at(p, "["))
        return bracketed(p, "]", WS_PY_LIST);
    if (ws_python_at(p, "{"))
        return bracketed(p, "}", WS_PY_DICT);
    if (ws_python_take(p, "..."))
        return ws_python_node(p, WS_PY_CONST, t, "...", p->scratch->len);
    return ws_python_unexpected(p, "an expression");
}

static WsPyNode *argument(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    WsPyNode *e = item(p);
    if (e && e->kind == WS_PY_NAME && ws_python_take(p, "="))
        return ws_python_push(p, ternary(p)) ? ws_python_node(p, WS_PY_KEYWORD, t, e->text, mark)
                                             : NULL;
    if (e && ws_python_at(p, "for"))
        return comprehension(p, e, t);
    return e;
}

WsPyNode *ws_python_arguments(WsPython *p, WsPyNode *function, const WsToken *at)
{
    const guint mark = p->scratch->len;
    ws_python_push(p, function);
    while (!ws_python_at(p, ")")) {
        if (!ws_python_push(p, argument(p)))
            return NULL;
        if (!ws_python_take(p, ","))
            break;
    }
    return ws_python_need(p, ")") ? ws_python_node(p, WS_PY_CALL, at, NULL, mark) : NULL;
}

static WsPyNode *one_index(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    guint parts = 0;
    gboolean slice = FALSE;
    while (parts < 3 && !ws_python_at(p, "]") && !ws_python_at(p, ",")) {
        if (ws_python_at(p, ":")) {
            if (!ws_python_push(p, ws_python_none(p)))
                return NULL;
        } else if (!ws_python_push(p, item(p))) {
            return NULL;
        }
        parts++;
        if (!ws_python_take(p, ":"))
            break;
        slice = TRUE;
    }
    if (!slice) {
        WsPyNode *e = parts ? g_ptr_array_index(p->scratch, mark) : NULL;
        g_ptr_array_set_size(p->scratch, mark);
        return e ? e : ws_python_unexpected(p, "an index");
    }
    for (; parts < 3; parts++)
        if (!ws_python_push(p, ws_python_none(p)))
            return NULL;
    return ws_python_node(p, WS_PY_SLICE, t, NULL, mark);
}

static WsPyNode *subscript(WsPython *p, WsPyNode *object, const WsToken *at)
{
    const guint outer = p->scratch->len;
    ws_python_push(p, object);
    const guint mark = p->scratch->len;
    const WsToken *t = ws_python_token(p);
    gboolean comma = FALSE;
    do {
        if (comma && ws_python_at(p, "]"))
            break;
        if (!ws_python_push(p, one_index(p)))
            return NULL;
    } while (ws_python_take(p, ",") && (comma = TRUE));
    if (!ws_python_need(p, "]"))
        return NULL;
    if (comma && !ws_python_push(p, ws_python_node(p, WS_PY_TUPLE, t, NULL, mark)))
        return NULL;
    return ws_python_node(p, WS_PY_INDEX, at, NULL, outer);
}

static WsPyNode *postfix(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    WsPyNode *e = atom(p);
    /* a chain of calls is as deep a tree as one of brackets: the limit holds for both */
    for (guint links = 0; e && links <= WS_PYTHON_MAX_NESTING; links++) {
        const guint mark = p->scratch->len;
        if (ws_python_take(p, "(")) {
            e = ws_python_arguments(p, e, t);
        } else if (ws_python_take(p, "[")) {
            e = subscript(p, e, t);
        } else if (ws_python_take(p, ".")) {
            const WsToken *name = ws_python_token(p);
            if (name->kind != WS_TOKEN_NAME)
                return ws_python_unexpected(p, "the name of an attribute");
            p->at++;
            ws_python_push(p, e);
            e = ws_python_node(p, WS_PY_ATTR, t, ws_python_intern(p, name), mark);
        } else {
            return e;
        }
    }
    if (e)
        ws_python_fail(p, WS_PYTHON_ERROR_SIZE, t->line, t->column, "Split the expression.",
                       "more than %d calls, indices and attributes in a row",
                       WS_PYTHON_MAX_NESTING);
    return NULL;
}

/* Operators by rising precedence; `**` is left out of the ladder because a sign binds weaker. */
static const char *const ladder[][11] = {
    { "or" },       { "and" },    { "<", ">", "==", ">=", "<=", "!=", "in", "is" },
    { "|" },        { "^" },      { "&" },
    { "<<", ">>" }, { "+", "-" }, { "*", "/", "//", "%", "@" },
};

static WsPyNode *unary(WsPython *p)
{
    if (ws_python_at(p, "await")) {
        const WsToken *word = ws_python_token(p);
        const guint from = p->scratch->len;
        p->at++;
        return ws_python_push(p, unary(p)) ? ws_python_node(p, WS_PY_OTHER, word, "await", from)
                                           : NULL;
    }
    static const char *const signs[] = { "+", "-", "~" };
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    for (guint i = 0; i < G_N_ELEMENTS(signs); i++)
        if (ws_python_at(p, signs[i])) {
            if (!ws_python_enter(p))
                return NULL;
            p->at++;
            WsPyNode *e = unary(p);
            ws_python_leave(p);
            return ws_python_push(p, e) ? ws_python_node(p, WS_PY_UNARY, t, signs[i], mark) : NULL;
        }
    WsPyNode *e = postfix(p);
    if (!e || !ws_python_take(p, "**"))
        return e;
    ws_python_push(p, e);
    if (!ws_python_enter(p))
        return NULL;
    WsPyNode *power = unary(p);
    ws_python_leave(p);
    return ws_python_push(p, power) ? ws_python_node(p, WS_PY_BINARY, t, "**", mark) : NULL;
}

static const char *operator_at(WsPython *p, guint level)
{
    for (guint i = 0; ladder[level][i]; i++)
        if (ws_python_take(p, ladder[level][i])) {
            if (!strcmp(ladder[level][i], "is") && ws_python_take(p, "not"))
                return "is not";
            return ladder[level][i];
        }
    if (level == 2 && ws_python_at(p, "not")) {
        p->at++;
        if (ws_python_need(p, "in"))
            return "not in";
    }
    return NULL;
}

static WsPyNode *join(WsPython *p, const WsToken *t, const char *op, WsPyNode *a, WsPyNode *b)
{
    const guint mark = p->scratch->len;
    ws_python_push(p, a);
    ws_python_push(p, b);
    return ws_python_node(p, WS_PY_BINARY, t, op, mark);
}

static WsPyNode *binary(WsPython *p, guint level)
{
    if (level == G_N_ELEMENTS(ladder))
        return unary(p);
    const WsToken *t = ws_python_token(p);
    if (level == 2 && ws_python_at(p, "not")) {
        const guint mark = p->scratch->len;
        if (!ws_python_enter(p))
            return NULL;
        p->at++;
        WsPyNode *e = binary(p, 2);
        ws_python_leave(p);
        return ws_python_push(p, e) ? ws_python_node(p, WS_PY_UNARY, t, "not", mark) : NULL;
    }
    WsPyNode *e = binary(p, level + 1), *last = e;
    const char *op;
    guint n = 0;
    while (e && (op = operator_at(p, level))) {
        if (++n > WS_PYTHON_MAX_NESTING) {
            ws_python_fail(p, WS_PYTHON_ERROR_SIZE, t->line, t->column, "Split the expression.",
                           "more than %d operators in a row", WS_PYTHON_MAX_NESTING);
            return NULL;
        }
        WsPyNode *right = binary(p, level + 1);
        if (!right)
            return NULL;
        if (level == 2 && n > 1) /* a < b < c: both hold */
            e = join(p, t, "and", e, join(p, t, op, last, right));
        else
            e = join(p, t, op, e, right);
        last = right;
    }
    return e;
}

static WsPyNode *ternary(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    if (!ws_python_enter(p))
        return NULL;
    WsPyNode *e = ws_python_at(p, "lambda")  ? lambda(p, t)
                  : ws_python_at(p, "yield") ? yield(p, t)
                                             : binary(p, 0);
    if (e && e->kind != WS_PY_LAMBDA && ws_python_take(p, "if")) {
        const guint mark = p->scratch->len;
        WsPyNode *condition = binary(p, 0);
        WsPyNode *otherwise = condition && ws_python_need(p, "else") ? ternary(p) : NULL;
        if (!otherwise)
            return NULL;
        ws_python_push(p, condition);
        ws_python_push(p, e);
        ws_python_push(p, otherwise);
        e = ws_python_node(p, WS_PY_TERNARY, t, NULL, mark);
    }
    ws_python_leave(p);
    return e;
}

WsPyNode *ws_python_expression(WsPython *p)
{
    return item(p);
}

static WsPyNode *list_until(WsPython *p, WsPyNode *(*one)(WsPython *))
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    WsPyNode *e = one(p);
    if (!e || !ws_python_at(p, ","))
        return e;
    ws_python_push(p, e);
    while (ws_python_take(p, ",")) {
        const WsToken *next = ws_python_token(p);
        if (next->kind == WS_TOKEN_NEWLINE || next->kind == WS_TOKEN_END || ws_python_at(p, "=") ||
            ws_python_at(p, "in"))
            break;
        if (!ws_python_push(p, one(p)))
            return NULL;
    }
    return ws_python_node(p, WS_PY_TUPLE, t, NULL, mark);
}

WsPyNode *ws_python_expressions(WsPython *p)
{
    return list_until(p, item);
}

static WsPyNode *target(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    if (ws_python_take(p, "*"))
        return ws_python_push(p, postfix(p)) ? ws_python_node(p, WS_PY_STAR, t, "*", mark) : NULL;
    return postfix(p);
}

WsPyNode *ws_python_targets(WsPython *p)
{
    return list_until(p, target);
}
