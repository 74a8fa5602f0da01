/* What the files of this folder share and nobody else sees: node construction, the operator table
 * and the parser's cursor. */
#pragma once

#include "expr/expr.h"

/* Binding strength, from the grammar of LANGUAGE section 25. */
enum {
    WS_PREC_OR = 1,
    WS_PREC_AND,
    WS_PREC_NOT,
    WS_PREC_CMP,
    WS_PREC_SUM,
    WS_PREC_TERM,
    WS_PREC_UNARY,
    WS_PREC_PRIMARY,
};

typedef struct {
    WsExprOp op;
    const char *text;  /* as typed */
    const char *print; /* with the canonical spaces */
    int prec;
} WsOperator;
/* Binary operators; longer texts before their prefixes. Ends with a NULL text. */
extern const WsOperator ws_operators[];
const WsOperator *ws_operator_of(WsExprOp op); /* NULL if not binary */

typedef struct {
    const char *text;
    guint min_args, max_args; /* max 0: any number */
    const char *where, *help;
} WsFuncRow;
extern const WsFuncRow ws_funcs[WS_FUNC_COUNT];

/* A new node with room for n_args (NULL) argument references. */
WsExpr *ws_expr_alloc(WsExprOp op, guint n_args);
/* A copy of `e` with other arguments; takes the references in `arg`. */
WsExpr *ws_expr_with_args(const WsExpr *e, WsExpr **arg);
gboolean ws_expr_is_boolean(const WsExpr *e); /* by its operator: always 0 or 1 */

/* --- parser ----------------------------------------------------------------------------------- */
typedef struct {
    const char *text, *at; /* `at`: next byte; never behind a space */
    guint depth;
    GError **error;
} WsParser;
void ws_parser_init(WsParser *p, const char *text, GError **error);
/* Skips `token` and the spaces after it if it comes next. */
gboolean ws_parser_take(WsParser *p, const char *token);
/* Same, or an error that it was expected. */
gboolean ws_parser_want(WsParser *p, const char *token);
char *ws_parser_name(WsParser *p, const char *what); /* NULL and error unless a name comes next */
WsExpr *ws_parser_expr(WsParser *p);
/* expr { "," expr } up to `close`, which is consumed. NULL on error. */
GPtrArray *ws_parser_args(WsParser *p, const char *close);
gboolean ws_parser_end(WsParser *p); /* error unless everything was read */
void ws_parser_expected(WsParser *p, const char *what);
