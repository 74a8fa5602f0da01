#include "import/python/text/python_private.h"

#include <string.h>

/* What f-strings put in: {expression[=][!r][:format]}, where the format may put something in, too.
 */

/* The first of `ends` outside of brackets and quotes; `to` if there is none. */
static const char *until(const char *from, const char *to, const char *ends)
{
    guint depth = 0;
    for (const char *c = from; c < to; c++) {
        if (*c == '\'' || *c == '"') {
            const char *close = memchr(c + 1, *c, to - c - 1);
            c = close ? close : to - 1;
        } else if (!depth && strchr(ends, *c)) {
            const gboolean compares = c + 1 < to && c[1] == '=' && strchr("!=", *c);
            const gboolean ordered = *c == '=' && c > from && strchr("<>!=", c[-1]);
            if (!compares && !ordered)
                return c;
        } else if (strchr("([{", *c)) {
            depth++;
        } else if (strchr(")]}", *c) && depth) {
            depth--;
        }
    }
    return to;
}

static gboolean expression(WsPython *p, const WsToken *t, const char *from, const char *to)
{
    GArray *outer = p->tokens;
    const guint at = p->at;
    p->tokens = g_array_new(FALSE, FALSE, sizeof(WsToken));
    p->at = 0;
    WsPyNode *e = NULL;
    if (ws_python_tokenize_part(p, t, from, to)) {
        e = ws_python_expressions(p);
        if (e && ws_python_token(p)->kind != WS_TOKEN_END)
            e = ws_python_unexpected(p, "the end of what the f-string puts in");
    }
    g_array_unref(p->tokens);
    p->tokens = outer;
    p->at = at;
    return ws_python_push(p, e);
}

gboolean ws_python_fields(WsPython *p, const WsToken *t, const char *from, const char *to,
                          gboolean raw)
{
    if (!ws_python_enter(p))
        return FALSE;
    for (const char *c = from; c < to; c++) {
        if (!raw && *c == '\\' && c + 1 < to) {
            const char *name =
                c[1] == 'N' && c + 2 < to && c[2] == '{' ? memchr(c, '}', to - c) : NULL;
            c = name ? name : c + 1; /* \N{…} is a letter */
            continue;
        }
        if (*c != '{')
            continue;
        if (c + 1 < to && c[1] == '{') {
            c++;
            continue;
        }
        const char *end = until(c + 1, to, "}:!=");
        if (!expression(p, t, c + 1, end))
            return FALSE;
        const char *close = end;
        while (close < to && *close != '}' && *close != ':')
            close++;
        if (close < to && *close == ':') {
            const char *format = close + 1;
            for (guint depth = 0; close < to && (depth || *close != '}'); close++)
                depth += *close == '{' ? 1u : *close == '}' ? -1u : 0u;
            if (!ws_python_fields(p, t, format, close, raw))
                return FALSE;
        }
        c = close;
    }
    ws_python_leave(p);
    return TRUE;
}
