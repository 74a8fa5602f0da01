/* The expression tree: nodes, references, equality, hash. */
#include "expr/internal.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(ws - expr - error - quark, ws_expr_error)

const WsOperator ws_operators[] = {
    { WS_EXPR_OR, "||", " || ", WS_PREC_OR },  { WS_EXPR_AND, "&&", " && ", WS_PREC_AND },
    { WS_EXPR_LE, "<=", " <= ", WS_PREC_CMP }, { WS_EXPR_GE, ">=", " >= ", WS_PREC_CMP },
    { WS_EXPR_EQ, "==", " == ", WS_PREC_CMP }, { WS_EXPR_NE, "!=", " != ", WS_PREC_CMP },
    { WS_EXPR_LT, "<", " < ", WS_PREC_CMP },   { WS_EXPR_GT, ">", " > ", WS_PREC_CMP },
    { WS_EXPR_ADD, "+", " + ", WS_PREC_SUM },  { WS_EXPR_SUB, "-", " - ", WS_PREC_SUM },
    { WS_EXPR_MUL, "*", "*", WS_PREC_TERM },   { WS_EXPR_DIV, "/", "/", WS_PREC_TERM },
    { WS_EXPR_MOD, "%", " % ", WS_PREC_TERM }, { WS_EXPR_INT, NULL, NULL, 0 },
};

const WsFuncRow ws_funcs[WS_FUNC_COUNT] = {
#define WS_FUNC(id, text, min_args, max_args, where, help)                                         \
    { text, min_args, max_args, where, help },
#include "expr/func.def"
#undef WS_FUNC
};

const WsOperator *ws_operator_of(WsExprOp op)
{
    for (const WsOperator *o = ws_operators; o->text; o++)
        if (o->op == op)
            return o;
    return NULL;
}

WsFunc ws_func_find(const char *text)
{
    for (guint i = 0; i < WS_FUNC_COUNT; i++)
        if (strcmp(ws_funcs[i].text, text) == 0)
            return (WsFunc)i;
    return WS_FUNC_COUNT;
}

const char *ws_func_text(WsFunc func)
{
    return func < WS_FUNC_COUNT ? ws_funcs[func].text : "?";
}

const char *ws_func_where(WsFunc func)
{
    return func < WS_FUNC_COUNT ? ws_funcs[func].where : "";
}

gboolean ws_func_of_bits(WsFunc func)
{
    return strchr(ws_func_where(func), 'B') != NULL;
}

WsExpr *ws_expr_alloc(WsExprOp op, guint n_args)
{
    WsExpr *e = g_new0(WsExpr, 1);
    e->refs = 1;
    e->op = op;
    e->func = WS_FUNC_COUNT;
    e->var = -1;
    e->height = 1;
    e->n_args = n_args;
    e->arg = n_args ? g_new0(WsExpr *, n_args) : NULL;
    return e;
}

/* Recomputes `height` after the arguments were filled in; returns e. */
static WsExpr *expr_sealed(WsExpr *e)
{
    e->height = 1;
    for (guint i = 0; i < e->n_args; i++)
        e->height = MAX(e->height, e->arg[i]->height + 1);
    return e;
}

WsExpr *ws_expr_with_args(const WsExpr *e, WsExpr **arg)
{
    WsExpr *copy = ws_expr_alloc(e->op, e->n_args);
    copy->func = e->func;
    copy->var = e->var;
    copy->i = e->i;
    copy->r = e->r;
    copy->name = g_strdup(e->name);
    for (guint i = 0; i < e->n_args; i++)
        copy->arg[i] = arg[i];
    return expr_sealed(copy);
}

WsExpr *ws_expr_ref(const WsExpr *e)
{
    WsExpr *mutable = (WsExpr *)e;
    if (mutable)
        g_atomic_int_inc(&mutable->refs);
    return mutable;
}

void ws_expr_unref(WsExpr *e)
{
    if (!e || !g_atomic_int_dec_and_test(&e->refs))
        return;
    for (guint i = 0; i < e->n_args; i++)
        ws_expr_unref(e->arg[i]);
    g_free(e->arg);
    g_free(e->name);
    g_free(e);
}

WsExpr *ws_expr_int(gint64 value)
{
    WsExpr *e = ws_expr_alloc(WS_EXPR_INT, 0);
    e->i = value;
    return e;
}

WsExpr *ws_expr_constant(gint64 value, const char *name)
{
    WsExpr *e = ws_expr_int(value);
    e->name = g_strdup(name);
    return e;
}

WsExpr *ws_expr_real(double value)
{
    WsExpr *e = ws_expr_alloc(WS_EXPR_REAL, 0);
    gboolean infinite = isinf(value);
    e->r = infinite ? INFINITY : value;
    if (infinite)
        e->name = g_strdup("inf");
    return infinite && value < 0 ? ws_expr_op(WS_EXPR_NEG, e, NULL) : e;
}

WsExpr *ws_expr_name(const char *name)
{
    WsExpr *e = ws_expr_alloc(WS_EXPR_NAME, 0);
    e->name = g_strdup(name);
    return e;
}

WsExpr *ws_expr_var(gint var, const char *name)
{
    WsExpr *e = ws_expr_alloc(WS_EXPR_VAR, 0);
    e->var = var;
    e->name = g_strdup(name);
    return e;
}

WsExpr *ws_expr_op(WsExprOp op, WsExpr *a, WsExpr *b)
{
    if (op == WS_EXPR_NEG) {
        WsExpr *literal = NULL;
        if (a->op == WS_EXPR_INT && a->i >= 0)
            literal = ws_expr_int(-a->i);
        else if (a->op == WS_EXPR_REAL && !a->name && !signbit(a->r))
            literal = ws_expr_real(-a->r);
        if (literal) {
            ws_expr_unref(a);
            return literal;
        }
    }
    WsExpr *e = ws_expr_alloc(op, b ? 2 : 1);
    e->arg[0] = a;
    if (b)
        e->arg[1] = b;
    return expr_sealed(e);
}

static WsExpr *with_list(WsExprOp op, WsExpr **args, guint n_args)
{
    WsExpr *e = ws_expr_alloc(op, n_args);
    for (guint i = 0; i < n_args; i++)
        e->arg[i] = args[i];
    return expr_sealed(e);
}

WsExpr *ws_expr_call(WsFunc func, WsExpr **args, guint n_args)
{
    WsExpr *e = with_list(WS_EXPR_CALL, args, n_args);
    e->func = func;
    return e;
}

WsExpr *ws_expr_index(const char *name, gint var, WsExpr **args, guint n_args)
{
    WsExpr *e = with_list(WS_EXPR_INDEX, args, n_args);
    e->name = g_strdup(name);
    e->var = var;
    return e;
}

/* Names identify unbound leaves; a bound one is its variable, whatever it is called. */
static gboolean named(const WsExpr *e)
{
    return e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL || e->op == WS_EXPR_INDEX ||
           e->op == WS_EXPR_REAL;
}

gboolean ws_expr_equal(const WsExpr *a, const WsExpr *b)
{
    if (a == b)
        return TRUE;
    if (!a || !b || a->op != b->op || a->n_args != b->n_args || a->height != b->height ||
        a->func != b->func || a->var != b->var || a->i != b->i)
        return FALSE;
    if (a->op == WS_EXPR_REAL && memcmp(&a->r, &b->r, sizeof a->r) != 0)
        return FALSE;
    if (named(a) && g_strcmp0(a->name, b->name) != 0)
        return FALSE;
    for (guint i = 0; i < a->n_args; i++)
        if (!ws_expr_equal(a->arg[i], b->arg[i]))
            return FALSE;
    return TRUE;
}

gboolean ws_expr_is_int(const WsExpr *e, gint64 *value)
{
    if (!e || (e->op != WS_EXPR_INT && e->op != WS_EXPR_TEXT_BOOL))
        return FALSE;
    *value = e->i;
    return TRUE;
}

guint ws_expr_n_bounds(const WsExpr *e)
{
    guint n = 0;
    if (e->op != WS_EXPR_CALL ||
        (e->func != WS_FUNC_SUM && e->func != WS_FUNC_MIN && e->func != WS_FUNC_MAX))
        return 0;
    while (n + 1 < e->n_args && e->arg[n]->op == WS_EXPR_LT &&
           e->arg[n]->arg[0]->op == WS_EXPR_NAME)
        n++;
    return n + 1 == e->n_args ? n : 0;
}

gboolean ws_expr_is_boolean(const WsExpr *e)
{
    return e->op == WS_EXPR_TEXT_BOOL || e->op == WS_EXPR_NOT ||
           (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR);
}
