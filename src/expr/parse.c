/* Recursive descent over the expression grammar of LANGUAGE section 25. Every error names the
 * column (1-based, in characters) and what was expected there. */
#include "expr/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MAX_NAME 63

static gboolean name_start(char c)
{
    return g_ascii_isalpha(c) || c == '_';
}

static gboolean name_char(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

static void skip_space(WsParser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

void ws_parser_init(WsParser *p, const char *text, GError **error)
{
    *p = (WsParser){ .text = text ? text : "", .at = text ? text : "", .error = error };
    skip_space(p);
}

static guint parser_column(const WsParser *p, const char *at)
{
    guint column = 1;
    for (const char *c = p->text; c < at; c++)
        if (((guchar)*c & 0xc0) != 0x80)
            column++;
    return column;
}

static void fail(WsParser *p, WsExprError code, const char *at, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static void fail(WsParser *p, WsExprError code, const char *at, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *message = g_strdup_vprintf(format, list);
    va_end(list);
    if (p->error && *p->error)
        return;
    g_set_error(p->error, WS_EXPR_ERROR, code, "column %u: %s", parser_column(p, at), message);
}

/* What stands at the cursor, for an error message. Caller frees. */
static char *found(const WsParser *p)
{
    const char *c = p->at;
    if (!*c)
        return g_strdup("the end");
    if (name_char(*c)) {
        gsize n = 1;
        while (name_char(c[n]) && n < MAX_NAME)
            n++;
        return g_strdup_printf("'%.*s'", (int)n, c);
    }
    for (const WsOperator *o = ws_operators; o->text; o++)
        if (g_str_has_prefix(c, o->text))
            return g_strdup_printf("'%s'", o->text);
    if (g_utf8_get_char_validated(c, -1) < 0x110000 && (guchar)*c >= 0x20)
        return g_strdup_printf("'%.*s'", (int)(g_utf8_next_char(c) - c), c);
    return g_strdup_printf("byte 0x%02x", (guchar)*c);
}

void ws_parser_expected(WsParser *p, const char *what)
{
    g_autofree char *seen = found(p);
    fail(p, WS_EXPR_ERROR_SYNTAX, p->at, "expected %s, found %s", what, seen);
}

gboolean ws_parser_take(WsParser *p, const char *token)
{
    gsize n = strlen(token);
    if (strncmp(p->at, token, n) != 0 || (name_start(token[0]) && name_char(p->at[n])))
        return FALSE;
    p->at += n;
    skip_space(p);
    return TRUE;
}

gboolean ws_parser_want(WsParser *p, const char *token)
{
    if (ws_parser_take(p, token))
        return TRUE;
    g_autofree char *what = g_strdup_printf("'%s'", token);
    ws_parser_expected(p, what);
    return FALSE;
}

char *ws_parser_name(WsParser *p, const char *what)
{
    if (!name_start(*p->at)) {
        ws_parser_expected(p, what);
        return NULL;
    }
    const char *start = p->at;
    gsize n = 1;
    while (name_char(start[n]))
        n++;
    if (n > MAX_NAME) {
        fail(p, WS_EXPR_ERROR_SYNTAX, start, "name of %zu characters; at most %d are allowed", n,
             MAX_NAME);
        return NULL;
    }
    p->at += n;
    skip_space(p);
    return g_strndup(start, n);
}

gboolean ws_parser_end(WsParser *p)
{
    if (!*p->at)
        return TRUE;
    ws_parser_expected(p, "an operator or the end");
    return FALSE;
}

/* Consumes what was parsed unless the tree became too high. */
static WsExpr *checked(WsParser *p, WsExpr *e, const char *at)
{
    if (e->height <= WS_EXPR_MAX_HEIGHT)
        return e;
    fail(p, WS_EXPR_ERROR_DEPTH, at, "more than %d operators in a row", WS_EXPR_MAX_HEIGHT);
    ws_expr_unref(e);
    return NULL;
}

static gboolean enter(WsParser *p)
{
    if (++p->depth <= WS_EXPR_MAX_DEPTH)
        return TRUE;
    fail(p, WS_EXPR_ERROR_DEPTH, p->at, "nested deeper than %d levels", WS_EXPR_MAX_DEPTH);
    p->depth--;
    return FALSE;
}

/* number = digits | digits "." [ digits ] [ exp ] | digits exp. With `negative` the sign before it
 * belongs to it, so that the smallest 64-bit integer can be written. */
static WsExpr *parse_number(WsParser *p, gboolean negative)
{
    const char *start = p->at, *c = start;
    gboolean real = FALSE;
    while (g_ascii_isdigit(*c))
        c++;
    if (*c == '.') {
        real = TRUE;
        for (c++; g_ascii_isdigit(*c);)
            c++;
    }
    if (*c == 'e' || *c == 'E') {
        const char *digits = c[1] == '+' || c[1] == '-' ? c + 2 : c + 1;
        if (g_ascii_isdigit(*digits)) {
            real = TRUE;
            for (c = digits; g_ascii_isdigit(*c);)
                c++;
        }
    }
    g_autofree char *text = g_strndup(start, (gsize)(c - start));
    p->at = c;
    skip_space(p);
    if (real) {
        double r = g_ascii_strtod(text, NULL);
        if (isinf(r)) {
            fail(p, WS_EXPR_ERROR_OVERFLOW, start, "%s does not fit in a double", text);
            return NULL;
        }
        return ws_expr_real(negative ? -r : r);
    }
    errno = 0;
    guint64 value = g_ascii_strtoull(text, NULL, 10);
    guint64 limit = (guint64)G_MAXINT64 + (negative ? 1 : 0);
    if (errno == ERANGE || value > limit) {
        fail(p, WS_EXPR_ERROR_OVERFLOW, start, "%s%s does not fit in 64 bits", negative ? "-" : "",
             text);
        return NULL;
    }
    return ws_expr_int(negative ? (gint64)(0 - value) : (gint64)value);
}

GPtrArray *ws_parser_args(WsParser *p, const char *close)
{
    g_autoptr(GPtrArray) args = g_ptr_array_new_with_free_func((GDestroyNotify)ws_expr_unref);
    do {
        WsExpr *e = ws_parser_expr(p);
        if (!e)
            return NULL;
        g_ptr_array_add(args, e);
    } while (ws_parser_take(p, ","));
    if (!ws_parser_take(p, close)) {
        g_autofree char *what = g_strdup_printf("',' or '%s'", close);
        ws_parser_expected(p, what);
        return NULL;
    }
    return g_steal_pointer(&args);
}

/* Moves the references out of `args`, which is freed. */
static WsExpr **args_steal(GPtrArray *args, guint *n)
{
    *n = args->len;
    g_ptr_array_set_free_func(args, NULL);
    return (WsExpr **)g_ptr_array_free(args, FALSE);
}

/* What people write out of habit, and what it is called here. */
static const struct {
    const char *name, *instead;
} hints[] = {
    { "log", "ln(x), the natural logarithm, or log2(x)" },
    { "log10", "ln(x)*0.43429448190325" },
    { "pow", "exp2(y*log2(x)), for x > 0" },
    { "sigmoid", "rcp(1 + exp(-x))" },
    { "fma", "a*b + c: products and sums may be fused" },
    { "where", "select(c, a, b)" },
    { "ceildiv", "cdiv(a, b)" },
    { "ceil_div", "cdiv(a, b)" },
    { "fmax", "max(a, b)" },
    { "fmin", "min(a, b)" },
    { "maximum", "max(a, b)" },
    { "minimum", "min(a, b)" },
    { "clamp", "min(max(x, a), b)" },
    { "relu", "max(x, 0.0)" },
    { "silu", "x*rcp(1 + exp(-x))" },
    { "gelu", "0.5*x*(1 + erf(x*0.70710678))" },
    { "mean", "rowsum(x)/n" },
    { "float", "f32(x)" },
    { "int", "i32(x)" },
};

static void no_function(WsParser *p, const char *name, const char *at)
{
    for (guint i = 0; i < G_N_ELEMENTS(hints); i++)
        if (strcmp(hints[i].name, name) == 0) {
            fail(p, WS_EXPR_ERROR_NAME, at, "there is no function '%s': write %s", name,
                 hints[i].instead);
            return;
        }
    fail(p, WS_EXPR_ERROR_NAME, at, "there is no function '%s'", name);
}

static WsExpr *parse_call(WsParser *p, const char *name, const char *start)
{
    WsFunc func = ws_func_find(name);
    if (func == WS_FUNC_COUNT) {
        no_function(p, name, start);
        return NULL;
    }
    const WsFuncRow *row = &ws_funcs[func];
    GPtrArray *list = NULL;
    if (ws_parser_take(p, ")"))
        list = g_ptr_array_new();
    else
        list = ws_parser_args(p, ")");
    if (!list)
        return NULL;
    if (list->len < row->min_args || (row->max_args && list->len > row->max_args)) {
        const char *bound = row->max_args == row->min_args ? "" : "at least ";
        fail(p, WS_EXPR_ERROR_SYNTAX, start, "%s expects %s%u argument%s, found %u", name, bound,
             row->min_args, row->min_args == 1 ? "" : "s", list->len);
        g_ptr_array_unref(list);
        return NULL;
    }
    guint n = 0;
    g_autofree WsExpr **args = args_steal(list, &n);
    return checked(p, ws_expr_call(func, args, n), start);
}

static const struct {
    const char *text;
    WsExprOp op;
    gint64 i;
    double r;
} words[] = {
    { "true", WS_EXPR_TEXT_BOOL, 1, 0 },  { "false", WS_EXPR_TEXT_BOOL, 0, 0 },
    { "inf", WS_EXPR_REAL, 0, INFINITY }, { "log2e", WS_EXPR_REAL, 0, M_LOG2E },
    { "ln2", WS_EXPR_REAL, 0, M_LN2 },
};

static WsExpr *parse_word(const char *name)
{
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        if (strcmp(words[i].text, name) != 0)
            continue;
        WsExpr *e = ws_expr_alloc(words[i].op, 0);
        e->i = words[i].i;
        e->r = words[i].r;
        e->name = words[i].op == WS_EXPR_REAL ? g_strdup(name) : NULL;
        return e;
    }
    return ws_expr_name(name);
}

static WsExpr *parse_named(WsParser *p)
{
    const char *start = p->at;
    g_autofree char *name = ws_parser_name(p, "a name");
    if (!name)
        return NULL;
    if (ws_parser_take(p, "("))
        return parse_call(p, name, start);
    if (ws_parser_take(p, "[")) {
        GPtrArray *list = ws_parser_args(p, "]");
        if (!list)
            return NULL;
        guint n = 0;
        g_autofree WsExpr **args = args_steal(list, &n);
        return checked(p, ws_expr_index(name, -1, args, n), start);
    }
    if (ws_parser_take(p, ".")) {
        if (!ws_parser_want(p, "total"))
            return NULL;
        WsExpr *e = ws_expr_alloc(WS_EXPR_TOTAL, 0);
        e->name = g_steal_pointer(&name);
        return e;
    }
    return parse_word(name);
}

static WsExpr *parse_primary(WsParser *p)
{
    if (g_ascii_isdigit(*p->at))
        return parse_number(p, FALSE);
    if (name_start(*p->at))
        return parse_named(p);
    if (!ws_parser_take(p, "(")) {
        ws_parser_expected(p, "a number, a name or '('");
        return NULL;
    }
    WsExpr *e = ws_parser_expr(p);
    if (e && !ws_parser_take(p, ")")) {
        ws_parser_expected(p, "an operator or ')'");
        g_clear_pointer(&e, ws_expr_unref);
    }
    return e;
}

static WsExpr *parse_unary(WsParser *p)
{
    const char *start = p->at;
    if (!ws_parser_take(p, "-"))
        return parse_primary(p);
    if (g_ascii_isdigit(*p->at))
        return parse_number(p, TRUE);
    if (!enter(p))
        return NULL;
    WsExpr *e = parse_unary(p);
    p->depth--;
    return e ? checked(p, ws_expr_op(WS_EXPR_NEG, e, NULL), start) : NULL;
}

/* The operator at the cursor if it has this strength. */
static const WsOperator *operator_at(const WsParser *p, int prec)
{
    for (const WsOperator *o = ws_operators; o->text; o++)
        if (g_str_has_prefix(p->at, o->text))
            return o->prec == prec ? o : NULL;
    return NULL;
}

static WsExpr *parse_level(WsParser *p, int prec);

static WsExpr *parse_not(WsParser *p)
{
    const char *start = p->at;
    if (*p->at != '!' || p->at[1] == '=')
        return parse_level(p, WS_PREC_CMP);
    ws_parser_take(p, "!");
    if (!enter(p))
        return NULL;
    WsExpr *e = parse_not(p);
    p->depth--;
    return e ? checked(p, ws_expr_op(WS_EXPR_NOT, e, NULL), start) : NULL;
}

/* Everything that binds at least as strongly as `prec`. */
static WsExpr *parse_level(WsParser *p, int prec)
{
    if (prec == WS_PREC_NOT)
        return parse_not(p);
    if (prec == WS_PREC_UNARY)
        return parse_unary(p);
    WsExpr *left = parse_level(p, prec + 1);
    const WsOperator *o;
    while (left && (o = operator_at(p, prec))) {
        const char *at = p->at;
        ws_parser_take(p, o->text);
        WsExpr *right = parse_level(p, prec + 1);
        if (!right) {
            ws_expr_unref(left);
            return NULL;
        }
        left = checked(p, ws_expr_op(o->op, left, right), at);
        if (left && prec == WS_PREC_CMP && operator_at(p, prec)) {
            fail(p, WS_EXPR_ERROR_SYNTAX, p->at,
                 "comparisons do not chain; expected '&&', '||' or the end");
            g_clear_pointer(&left, ws_expr_unref);
        }
    }
    return left;
}

WsExpr *ws_parser_expr(WsParser *p)
{
    if (!enter(p))
        return NULL;
    WsExpr *e = parse_level(p, WS_PREC_OR);
    p->depth--;
    return e;
}

WsExpr *ws_expr_parse(const char *text, GError **error)
{
    g_autoptr(GError) problem = NULL;
    WsParser p;
    ws_parser_init(&p, text, &problem);
    WsExpr *e = ws_parser_expr(&p);
    if (e && !ws_parser_end(&p))
        g_clear_pointer(&e, ws_expr_unref);
    if (problem)
        g_propagate_error(error, g_steal_pointer(&problem));
    return e;
}
