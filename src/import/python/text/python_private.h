/* Tokens and the state of the reader, for the python_*.c files. */
#pragma once

#include "import/python/text/python.h"

G_BEGIN_DECLS

typedef enum {
    WS_TOKEN_NAME,
    WS_TOKEN_NUMBER,
    WS_TOKEN_STRING,
    WS_TOKEN_OP,
    WS_TOKEN_NEWLINE,
    WS_TOKEN_INDENT,
    WS_TOKEN_DEDENT,
    WS_TOKEN_END,
} WsTokenKind;

typedef struct {
    WsTokenKind kind;
    const char *start; /* in the text */
    guint length, line, column;
} WsToken;

struct WsPython {
    char *text, *file;
    gsize length;
    GArray *tokens; /* WsToken */
    GStringChunk *strings;
    GPtrArray *nodes; /* WsPyNode*, owned */
    guint at, depth;
    GPtrArray *scratch; /* kids under construction */
    GPtrArray *noted;   /* WsPyNode*: annotations of the line */
    const WsPyNode *module;
    GError **error;
};

gboolean ws_python_tokenize(WsPython *p);
/* The tokens of a part of the text, as if it stood in brackets on the line of `t`. */
gboolean ws_python_tokenize_part(WsPython *p, const WsToken *t, const char *from, const char *to);
/* Says FILE:LINE:COLUMN and stops the reader; always FALSE / NULL for the caller. */
gboolean ws_python_fail(WsPython *p, WsPythonError code, guint line, guint column,
                        const char *remedy, const char *format, ...) G_GNUC_PRINTF(6, 7);

const WsToken *ws_python_token(const WsPython *p);
gboolean ws_python_at(const WsPython *p, const char *text); /* operator or keyword */
gboolean ws_python_take(WsPython *p, const char *text);
gboolean ws_python_need(WsPython *p, const char *text);
WsPyNode *ws_python_unexpected(WsPython *p, const char *wanted);
char *ws_python_intern(WsPython *p, const WsToken *t);
/* A node at token `t`; the kids pushed on scratch since `mark` become its own. */
WsPyNode *ws_python_node(WsPython *p, WsPyKind kind, const WsToken *t, const char *text,
                         guint mark);
/* Pushes a kid; FALSE if it is NULL (an error was reported). */
gboolean ws_python_push(WsPython *p, WsPyNode *kid);
gboolean ws_python_enter(WsPython *p); /* one level deeper; FALSE: too deep */
void ws_python_leave(WsPython *p);

/* Pushes what an f-string puts in between `from` and `to`. */
gboolean ws_python_fields(WsPython *p, const WsToken *t, const char *from, const char *to,
                          gboolean raw);
WsPyNode *ws_python_expression(WsPython *p);  /* one, without commas */
WsPyNode *ws_python_expressions(WsPython *p); /* with commas: a TUPLE */
WsPyNode *ws_python_targets(WsPython *p);     /* targets of `for`, up to `in` */
WsPyNode *ws_python_params(WsPython *p, const char *end, gboolean annotated);
WsPyNode *ws_python_arguments(WsPython *p, WsPyNode *function, const WsToken *at);
WsPyNode *ws_python_none(WsPython *p);
WsPyNode *ws_python_suite(WsPython *p);

G_END_DECLS
