#include "import/python/text/python_private.h"

#include <string.h>

/* Statements and blocks. */

static gboolean statement(WsPython *p); /* pushes one node, or several of one line */

WsPyNode *ws_python_params(WsPython *p, const char *end, gboolean annotated)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    while (!ws_python_at(p, end)) {
        const WsToken *at = ws_python_token(p);
        const guint inner = p->scratch->len;
        const char *star = ws_python_take(p, "**") ? "**" : ws_python_take(p, "*") ? "*" : "";
        const WsToken *name = ws_python_token(p);
        if (name->kind == WS_TOKEN_NAME)
            p->at++;
        else if (!*star && !ws_python_take(p, "/"))
            return ws_python_unexpected(p, "the name of a parameter");
        else if (!*star) { /* what stands before it has no name for callers */
            if (!ws_python_take(p, ","))
                break;
            continue;
        }
        WsPyNode *type =
            annotated && ws_python_take(p, ":") ? ws_python_expression(p) : ws_python_none(p);
        if (!ws_python_push(p, type))
            return NULL;
        WsPyNode *value = ws_python_take(p, "=") ? ws_python_expression(p) : ws_python_none(p);
        if (!ws_python_push(p, value))
            return NULL;
        const char *text = name->kind == WS_TOKEN_NAME ? ws_python_intern(p, name) : "";
        if (*star) {
            g_autofree char *starred = g_strconcat("*", text, NULL);
            text = g_string_chunk_insert(p->strings, starred);
        }
        if (!ws_python_push(p, ws_python_node(p, WS_PY_PARAM, at, text, inner)))
            return NULL;
        if (!ws_python_take(p, ","))
            break;
    }
    return ws_python_node(p, WS_PY_PARAMS, t, NULL, mark);
}

/* `:` and a block, on the same line or indented. */
static WsPyNode *block(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    if (!ws_python_need(p, ":") || !ws_python_enter(p))
        return NULL;
    if (ws_python_token(p)->kind != WS_TOKEN_NEWLINE) {
        if (!statement(p))
            return NULL;
    } else {
        p->at++;
        if (ws_python_token(p)->kind != WS_TOKEN_INDENT)
            return ws_python_unexpected(p, "an indented block");
        p->at++;
        while (ws_python_token(p)->kind != WS_TOKEN_DEDENT &&
               ws_python_token(p)->kind != WS_TOKEN_END)
            if (!statement(p))
                return NULL;
        if (ws_python_token(p)->kind == WS_TOKEN_DEDENT)
            p->at++;
    }
    ws_python_leave(p);
    return ws_python_node(p, WS_PY_BLOCK, t, NULL, mark);
}

/* Names of types, and lists of them: asking for them does nothing. */
static gboolean is_type(const WsPyNode *node)
{
    static const WsPyKind plain[] = { WS_PY_NAME,   WS_PY_ATTR,  WS_PY_CONST,
                                      WS_PY_INT,    WS_PY_INDEX, WS_PY_TUPLE,
                                      WS_PY_BINARY, WS_PY_LIST,  WS_PY_STRING };
    gboolean is = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(plain); i++)
        is |= node->kind == plain[i];
    for (guint i = 0; i < node->n && is; i++)
        is = is_type(node->kid[i]);
    return is;
}

static WsPyNode *definition(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    const WsToken *name = ws_python_token(p);
    if (name->kind != WS_TOKEN_NAME)
        return ws_python_unexpected(p, "the name of the function");
    p->at++;
    if (!ws_python_need(p, "(") || !ws_python_push(p, ws_python_params(p, ")", TRUE)) ||
        !ws_python_need(p, ")"))
        return NULL;
    const WsToken *arrow = ws_python_token(p);
    WsPyNode *result = NULL;
    if (ws_python_take(p, "->") && !(result = ws_python_expression(p)))
        return NULL;
    if (!ws_python_push(p, block(p)))
        return NULL;
    if (result && !is_type(result)) {
        const guint inner = p->scratch->len;
        ws_python_push(p, result);
        ws_python_push(p, ws_python_node(p, WS_PY_NOTED, arrow, NULL, inner));
    }
    return ws_python_node(p, WS_PY_DEF, t, ws_python_intern(p, name), mark);
}

/* What is called is not run then, but gives something that may be waited for. */
static WsPyNode *asynchronous(WsPython *p, const WsToken *t, WsPyNode *function)
{
    if (!function)
        return NULL;
    const guint mark = p->scratch->len;
    ws_python_push(p, ws_python_node(p, WS_PY_OTHER, t, "async", mark));
    WsPyNode *body = function->kid[1];
    for (guint i = 0; i < body->n; i++)
        ws_python_push(p, body->kid[i]);
    function->kid[1] = ws_python_node(p, WS_PY_BLOCK, t, NULL, mark);
    return function->kid[1] ? function : NULL;
}

static WsPyNode *class_(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    const WsToken *name = ws_python_token(p);
    if (name->kind != WS_TOKEN_NAME)
        return ws_python_unexpected(p, "the name of the class");
    p->at++;
    WsPyNode *bases = NULL;
    if (ws_python_take(p, "(") && !(bases = ws_python_arguments(p, ws_python_none(p), t)))
        return NULL;
    if (!ws_python_push(p, block(p)))
        return NULL;
    if (bases)
        ws_python_push(p, bases);
    return ws_python_node(p, WS_PY_CLASS, t, ws_python_intern(p, name), mark);
}

/* Decorators become the last kids of the definition they stand before. */
static WsPyNode *decorated(WsPython *p)
{
    const guint mark = p->scratch->len;
    while (ws_python_take(p, "@")) {
        if (!ws_python_push(p, ws_python_expression(p)))
            return NULL;
        if (ws_python_token(p)->kind != WS_TOKEN_NEWLINE)
            return ws_python_unexpected(p, "the end of the line");
        p->at++;
    }
    const WsToken *t = ws_python_token(p);
    WsPyNode *node = ws_python_take(p, "def")     ? definition(p, t)
                     : ws_python_take(p, "class") ? class_(p, t)
                                                  : ws_python_unexpected(p, "a definition");
    if (!node)
        return NULL;
    const guint n = p->scratch->len - mark;
    node->kid = g_renew(WsPyNode *, node->kid, node->n + n);
    for (guint i = 0; i < n; i++)
        node->kid[node->n++] = g_ptr_array_index(p->scratch, mark + i);
    g_ptr_array_set_size(p->scratch, mark);
    return node;
}

static WsPyNode *if_(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    if (!ws_python_enter(p) || !ws_python_push(p, ws_python_expression(p)) ||
        !ws_python_push(p, block(p)))
        return NULL;
    const WsToken *next = ws_python_token(p);
    WsPyNode *otherwise = NULL;
    if (ws_python_take(p, "elif")) {
        const guint inner = p->scratch->len;
        if (!ws_python_push(p, if_(p, next)))
            return NULL;
        otherwise = ws_python_node(p, WS_PY_BLOCK, next, NULL, inner);
    } else if (ws_python_take(p, "else") && !(otherwise = block(p))) {
        return NULL;
    }
    if (otherwise)
        ws_python_push(p, otherwise);
    ws_python_leave(p);
    return ws_python_node(p, WS_PY_IF, t, NULL, mark);
}

static WsPyNode *loop(WsPython *p, const WsToken *t, WsPyKind kind)
{
    const guint mark = p->scratch->len;
    if (kind == WS_PY_FOR) {
        if (!ws_python_push(p, ws_python_targets(p)) || !ws_python_need(p, "in") ||
            !ws_python_push(p, ws_python_expressions(p)))
            return NULL;
    } else if (!ws_python_push(p, ws_python_expression(p))) {
        return NULL;
    }
    if (!ws_python_push(p, block(p)))
        return NULL;
    if (ws_python_take(p, "else") && !ws_python_push(p, block(p)))
        return NULL;
    return ws_python_node(p, kind, t, NULL, mark);
}

/* The names of the target behind those in `sofar`. */
static const char *bound(WsPython *p, const char *sofar, const WsPyNode *target)
{
    if (target->kind == WS_PY_NAME) {
        g_autofree char *all = g_strjoin(sofar ? " " : "", sofar ? sofar : "", target->text, NULL);
        sofar = g_string_chunk_insert(p->strings, all);
    }
    const gboolean several =
        target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST || target->kind == WS_PY_STAR;
    for (guint i = 0; several && i < target->n; i++)
        sofar = bound(p, sofar, target->kid[i]);
    return sofar;
}

/* Whether all that the target binds are names. */
static gboolean only_names(const WsPyNode *target)
{
    const gboolean several = target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST;
    for (guint i = 0; several && i < target->n; i++)
        if (!only_names(target->kid[i]))
            return FALSE;
    return several || target->kind == WS_PY_NAME;
}

/* A target that is more than names is stored to at the head of the body. */
static WsPyNode *with(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    const char *binds = NULL;
    g_autoptr(GPtrArray) stores = g_ptr_array_new();
    do {
        if (!ws_python_push(p, ws_python_expression(p)))
            return NULL;
        if (!ws_python_take(p, "as"))
            continue;
        WsPyNode *target = ws_python_expression(p);
        if (!target)
            return NULL;
        binds = bound(p, binds, target);
        const guint inner = p->scratch->len;
        WsPyNode *value = ws_python_node(p, WS_PY_DICT, t, NULL, inner); /* not known */
        if (only_names(target) || !ws_python_push(p, target) || !ws_python_push(p, value))
            continue;
        g_ptr_array_add(stores, ws_python_node(p, WS_PY_ASSIGN, t, NULL, inner));
    } while (ws_python_take(p, ","));
    WsPyNode *body = block(p);
    if (body && stores->len) {
        const guint at = p->scratch->len;
        g_ptr_array_extend(p->scratch, stores, NULL, NULL);
        for (guint i = 0; i < body->n; i++)
            ws_python_push(p, body->kid[i]);
        body = ws_python_node(p, WS_PY_BLOCK, t, NULL, at);
    }
    return ws_python_push(p, body) ? ws_python_node(p, WS_PY_WITH, t, binds, mark) : NULL;
}

static WsPyNode *try_(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    const char *binds = NULL;
    if (!ws_python_push(p, block(p)))
        return NULL;
    while (TRUE) {
        if (ws_python_take(p, "except")) {
            ws_python_take(p, "*");
            if (!ws_python_at(p, ":") && !ws_python_push(p, ws_python_expressions(p)))
                return NULL;
            if (ws_python_take(p, "as")) {
                const WsPyNode *target = ws_python_expression(p);
                if (!target)
                    return NULL;
                binds = bound(p, binds, target);
            }
        } else if (!ws_python_take(p, "else") && !ws_python_take(p, "finally")) {
            return ws_python_node(p, WS_PY_TRY, t, binds, mark);
        }
        if (!ws_python_push(p, block(p)))
            return NULL;
    }
}

/* import a.b as c, d | from a import b as c, (d, e) */
static WsPyNode *import(WsPython *p, const WsToken *t, gboolean from)
{
    const guint mark = p->scratch->len;
    g_autoptr(GString) module = g_string_new(NULL);
    while (from && !ws_python_at(p, "import")) {
        const WsToken *word = ws_python_token(p);
        if (word->kind != WS_TOKEN_NAME && !ws_python_at(p, ".") && !ws_python_at(p, "..."))
            return ws_python_unexpected(p, "'import'");
        g_string_append_len(module, word->start, word->length);
        p->at++;
    }
    if (from)
        p->at++;
    const gboolean paren = from && ws_python_take(p, "(");
    do {
        const WsToken *at = ws_python_token(p);
        if (paren && ws_python_at(p, ")"))
            break;
        g_autoptr(GString) name = g_string_new(NULL);
        do {
            const WsToken *word = ws_python_token(p);
            if (word->kind != WS_TOKEN_NAME && !ws_python_at(p, "*"))
                return ws_python_unexpected(p, "a name");
            g_string_append_printf(name, "%s%.*s", name->len ? "." : "", (int)word->length,
                                   word->start);
            p->at++;
        } while (ws_python_take(p, "."));
        const guint inner = p->scratch->len;
        if (ws_python_take(p, "as") && !ws_python_push(p, ws_python_expression(p)))
            return NULL;
        if (!ws_python_push(p, ws_python_node(p, WS_PY_NAME, at,
                                              g_string_chunk_insert(p->strings, name->str), inner)))
            return NULL;
    } while (ws_python_take(p, ","));
    if (paren && !ws_python_need(p, ")"))
        return NULL;
    return ws_python_node(p, WS_PY_IMPORT, t, g_string_chunk_insert(p->strings, module->str), mark);
}

static WsPyNode *other(WsPython *p, const WsToken *t, const char *word)
{
    const guint mark = p->scratch->len;
    if (ws_python_token(p)->kind != WS_TOKEN_NEWLINE && !ws_python_at(p, ";")) {
        if (!ws_python_push(p, ws_python_expressions(p)))
            return NULL;
        if (ws_python_take(p, "from") && !ws_python_push(p, ws_python_expression(p)))
            return NULL;
    }
    return ws_python_node(p, WS_PY_OTHER, t, word, mark);
}

static const char *augment_at(WsPython *p)
{
    static const char *const ops[][2] = {
        { "+=", "+" },   { "-=", "-" },   { "*=", "*" }, { "/=", "/" }, { "//=", "//" },
        { "%=", "%" },   { "&=", "&" },   { "|=", "|" }, { "^=", "^" }, { ">>=", ">>" },
        { "<<=", "<<" }, { "**=", "**" }, { "@=", "@" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
        if (ws_python_take(p, ops[i][0]))
            return ops[i][1];
    return NULL;
}

static WsPyNode *expression_statement(WsPython *p, const WsToken *t)
{
    const guint mark = p->scratch->len;
    if (!ws_python_push(p, ws_python_expressions(p)))
        return NULL;
    const char *op = augment_at(p);
    if (op)
        return ws_python_push(p, ws_python_expressions(p))
                   ? ws_python_node(p, WS_PY_AUGMENT, t, op, mark)
                   : NULL;
    if (ws_python_take(p, ":")) { /* annotated */
        WsPyNode *type = ws_python_expression(p);
        if (!type)
            return NULL;
        if (!is_type(type)) { /* a statement of its own, behind the line */
            const guint inner = p->scratch->len;
            ws_python_push(p, type);
            g_ptr_array_add(p->noted, ws_python_node(p, WS_PY_NOTED, t, NULL, inner));
        }
        if (!ws_python_at(p, "="))
            return ws_python_node(p, WS_PY_EXPR, t, NULL, mark);
    }
    if (!ws_python_at(p, "="))
        return ws_python_node(p, WS_PY_EXPR, t, NULL, mark);
    while (ws_python_take(p, "="))
        if (!ws_python_push(p, ws_python_expressions(p)))
            return NULL;
    return ws_python_node(p, WS_PY_ASSIGN, t, NULL, mark);
}

static WsPyNode *simple(WsPython *p)
{
    static const char *const others[] = { "global", "nonlocal", "del", "raise" };
    const WsToken *t = ws_python_token(p);
    const guint mark = p->scratch->len;
    if (ws_python_take(p, "return")) {
        if (ws_python_token(p)->kind != WS_TOKEN_NEWLINE && !ws_python_at(p, ";") &&
            !ws_python_push(p, ws_python_expressions(p)))
            return NULL;
        return ws_python_node(p, WS_PY_RETURN, t, NULL, mark);
    }
    if (ws_python_take(p, "pass"))
        return ws_python_node(p, WS_PY_PASS, t, NULL, mark);
    if (ws_python_take(p, "break"))
        return ws_python_node(p, WS_PY_BREAK, t, NULL, mark);
    if (ws_python_take(p, "continue"))
        return ws_python_node(p, WS_PY_CONTINUE, t, NULL, mark);
    if (ws_python_take(p, "assert")) { /* condition, message */
        const gboolean read =
            ws_python_push(p, ws_python_expression(p)) &&
            (!ws_python_take(p, ",") || ws_python_push(p, ws_python_expression(p)));
        return read ? ws_python_node(p, WS_PY_ASSERT, t, NULL, mark) : NULL;
    }
    if (ws_python_take(p, "import"))
        return import(p, t, FALSE);
    if (ws_python_take(p, "from"))
        return import(p, t, TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        if (ws_python_take(p, others[i]))
            return other(p, t, others[i]);
    return expression_statement(p, t);
}

static gboolean simple_line(WsPython *p)
{
    do {
        if (ws_python_token(p)->kind == WS_TOKEN_NEWLINE)
            break;
        if (!ws_python_push(p, simple(p)))
            return FALSE;
        for (guint i = 0; i < p->noted->len; i++)
            if (!ws_python_push(p, p->noted->pdata[i]))
                return FALSE;
        g_ptr_array_set_size(p->noted, 0);
    } while (ws_python_take(p, ";"));
    if (ws_python_token(p)->kind == WS_TOKEN_END)
        return TRUE;
    if (ws_python_token(p)->kind != WS_TOKEN_NEWLINE) {
        ws_python_unexpected(p, "the end of the line");
        return FALSE;
    }
    p->at++;
    return TRUE;
}

static gboolean statement(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    if (t->kind == WS_TOKEN_NEWLINE) {
        p->at++;
        return TRUE;
    }
    if (ws_python_take(p, "async")) {
        if (ws_python_take(p, "def"))
            return ws_python_push(p, asynchronous(p, t, definition(p, t)));
        if (!ws_python_push(p, ws_python_node(p, WS_PY_OTHER, t, "async", p->scratch->len)))
            return FALSE;
    }
    if (ws_python_at(p, "@"))
        return ws_python_push(p, decorated(p));
    if (ws_python_take(p, "def"))
        return ws_python_push(p, definition(p, t));
    if (ws_python_take(p, "class"))
        return ws_python_push(p, class_(p, t));
    if (ws_python_take(p, "for"))
        return ws_python_push(p, loop(p, t, WS_PY_FOR));
    if (ws_python_take(p, "while"))
        return ws_python_push(p, loop(p, t, WS_PY_WHILE));
    if (ws_python_take(p, "if"))
        return ws_python_push(p, if_(p, t));
    if (ws_python_take(p, "with"))
        return ws_python_push(p, with(p, t));
    if (ws_python_take(p, "try"))
        return ws_python_push(p, try_(p, t));
    return simple_line(p);
}

WsPyNode *ws_python_suite(WsPython *p)
{
    const WsToken *t = ws_python_token(p);
    while (ws_python_token(p)->kind != WS_TOKEN_END)
        if (!statement(p))
            return NULL;
    return ws_python_node(p, WS_PY_BLOCK, t, NULL, 0);
}
