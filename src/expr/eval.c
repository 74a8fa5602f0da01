/* Evaluation: exact in 64 bits where everything is an integer, in double where a real takes part.
 */
#include "expr/internal.h"

#include <math.h>
#include <string.h>

typedef struct {
    gboolean real;
    gint64 i;
    double r;
} Value;

static double as_real(const Value *v)
{
    return v->real ? v->r : (double)v->i;
}

static gboolean truth(const Value *v)
{
    return v->real ? v->r != 0 : v->i != 0;
}

static gboolean overflow(GError **error, WsExprOp op, gint64 a, gint64 b)
{
    const WsOperator *o = ws_operator_of(op);
    g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                "%" G_GINT64_FORMAT " %s %" G_GINT64_FORMAT " does not fit in 64 bits", a,
                o ? o->text : "?", b);
    return FALSE;
}

/* Floor division: the remainder has the sign of the divisor. */
static gboolean divide(gint64 a, gint64 b, gint64 *quotient, gint64 *rest, GError **error)
{
    if (b == 0) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_DIVIDE,
                    "division of %" G_GINT64_FORMAT " by zero", a);
        return FALSE;
    }
    if (b == -1) { /* the one quotient that can overflow */
        *rest = 0;
        return __builtin_sub_overflow((gint64)0, a, quotient) ? overflow(error, WS_EXPR_DIV, a, b)
                                                              : TRUE;
    }
    *quotient = a / b;
    *rest = a % b;
    if (*rest != 0 && (*rest < 0) != (b < 0)) {
        (*quotient)--;
        *rest += b;
    }
    return TRUE;
}

static gboolean int_binary(WsExprOp op, gint64 a, gint64 b, gint64 *out, GError **error)
{
    gint64 other = 0;
    if (op == WS_EXPR_ADD)
        return !__builtin_add_overflow(a, b, out) || overflow(error, op, a, b);
    if (op == WS_EXPR_SUB)
        return !__builtin_sub_overflow(a, b, out) || overflow(error, op, a, b);
    if (op == WS_EXPR_MUL)
        return !__builtin_mul_overflow(a, b, out) || overflow(error, op, a, b);
    if (op == WS_EXPR_DIV)
        return divide(a, b, out, &other, error);
    if (op == WS_EXPR_MOD) {
        if (b == -1) {
            *out = 0;
            return TRUE;
        }
        return divide(a, b, &other, out, error);
    }
    if (op == WS_EXPR_LT) {
        *out = a < b;
        return TRUE;
    }
    if (op == WS_EXPR_LE) {
        *out = a <= b;
        return TRUE;
    }
    if (op == WS_EXPR_GT) {
        *out = a > b;
        return TRUE;
    }
    if (op == WS_EXPR_GE) {
        *out = a >= b;
        return TRUE;
    }
    if (op == WS_EXPR_EQ) {
        *out = a == b;
        return TRUE;
    }
    if (op == WS_EXPR_NE) {
        *out = a != b;
        return TRUE;
    }
    g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE, "not an integer operator");
    return FALSE;
}

static gboolean real_binary(WsExprOp op, double a, double b, Value *out, GError **error)
{
    out->real = op < WS_EXPR_LT;
    if (op == WS_EXPR_ADD) {
        out->r = a + b;
        return TRUE;
    }
    if (op == WS_EXPR_SUB) {
        out->r = a - b;
        return TRUE;
    }
    if (op == WS_EXPR_MUL) {
        out->r = a * b;
        return TRUE;
    }
    if (op == WS_EXPR_DIV) {
        out->r = a / b;
        return TRUE;
    }
    if (op == WS_EXPR_LT) {
        out->i = a < b;
        return TRUE;
    }
    if (op == WS_EXPR_LE) {
        out->i = a <= b;
        return TRUE;
    }
    if (op == WS_EXPR_GT) {
        out->i = a > b;
        return TRUE;
    }
    if (op == WS_EXPR_GE) {
        out->i = a >= b;
        return TRUE;
    }
    if (op == WS_EXPR_EQ) {
        out->i = a == b;
        return TRUE;
    }
    if (op == WS_EXPR_NE) {
        out->i = a != b;
        return TRUE;
    }
    g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE, "%% needs integers");
    return FALSE;
}

static gboolean type_error(GError **error, const WsExpr *e, const char *why)
{
    if (!error)
        return FALSE;
    g_autofree char *text = ws_expr_print(e);
    g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE, "%s: %s", text, why);
    return FALSE;
}

static gboolean eval(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                     GError **error);

static gboolean unknown(const WsExpr *e, GError **error)
{
    if (!error || *error)
        return FALSE;
    g_autofree char *text = ws_expr_print(e);
    g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME, "%s has no value here", text);
    return FALSE;
}

static gboolean eval_leaf(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                          GError **error)
{
    WsLookup found = WS_LOOKUP_UNKNOWN;
    out->real = FALSE;
    if (env && env->integer)
        found = env->integer(env->data, e, &out->i, error);
    if (found == WS_LOOKUP_UNKNOWN && reals && env && env->real) {
        out->real = TRUE;
        found = env->real(env->data, e, &out->r, error);
    }
    return found == WS_LOOKUP_KNOWN || unknown(e, error);
}

static gboolean eval_element(const WsExpr *e, const WsExprEnv *env, Value *out, GError **error)
{
    g_autofree gint64 *at = g_new0(gint64, e->n_args);
    out->real = FALSE;
    if (!env || !env->element)
        return unknown(e, error);
    for (guint i = 0; i < e->n_args; i++)
        if (!ws_expr_eval(e->arg[i], env, &at[i], error))
            return FALSE;
    return env->element(env->data, e, at, &out->i, error) == WS_LOOKUP_KNOWN || unknown(e, error);
}

static gboolean extreme(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                        GError **error)
{
    if (!eval(e->arg[0], env, reals, out, error))
        return FALSE;
    for (guint i = 1; i < e->n_args; i++) {
        Value v = { 0 };
        if (!eval(e->arg[i], env, reals, &v, error))
            return FALSE;
        gboolean less = v.real || out->real ? as_real(&v) < as_real(out) : v.i < out->i;
        gboolean more = v.real || out->real ? as_real(&v) > as_real(out) : v.i > out->i;
        gboolean real = v.real || out->real;
        if (e->func == WS_FUNC_MIN ? less : more)
            *out = v;
        if (real && !out->real)
            *out = (Value){ .real = TRUE, .r = (double)out->i };
    }
    return TRUE;
}

static gint64 pow2floor(gint64 n)
{
    return n < 1 ? 0 : (gint64)1 << (63 - __builtin_clzll((guint64)n));
}

static gboolean absolute(const WsExpr *e, const Value *x, Value *out, GError **error)
{
    *out = *x;
    if (x->real)
        out->r = fabs(x->r);
    else if (x->i == G_MININT64)
        return overflow(error, WS_EXPR_SUB, 0, x->i);
    else if (x->i < 0)
        out->i = -x->i;
    return TRUE;
}

static gboolean ceil_divide(const Value *a, const Value *b, Value *out, GError **error)
{
    gint64 rest = 0;
    out->real = FALSE;
    if (!divide(a->i, b->i, &out->i, &rest, error))
        return FALSE;
    out->i += rest != 0; /* a quotient with a rest is below the largest integer */
    return TRUE;
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static const struct {
    WsFunc func;
    double (*apply)(double);
} real_funcs[] = {
    { WS_FUNC_EXP2, exp2 }, { WS_FUNC_LOG2, log2 },   { WS_FUNC_EXP, exp },
    { WS_FUNC_LN, log },    { WS_FUNC_SQRT, sqrt },   { WS_FUNC_TANH, tanh },
    { WS_FUNC_ERF, erf },   { WS_FUNC_RSQRT, rsqrt }, { WS_FUNC_SIN, sin },
    { WS_FUNC_COS, cos },   { WS_FUNC_FLOOR, floor }, { WS_FUNC_CEIL, ceil },
};

static gboolean eval_call(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                          GError **error)
{
    if (e->func == WS_FUNC_SELECT) {
        Value c = { 0 };
        if (!eval(e->arg[0], env, reals, &c, error))
            return FALSE;
        return eval(e->arg[truth(&c) ? 1 : 2], env, reals, out, error);
    }
    if (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX)
        return extreme(e, env, reals, out, error);
    if (!strchr(ws_func_where(e->func), 'U') && !reals)
        return type_error(error, e, "not a function of integers");
    Value x = { 0 }, y = { 0 };
    if (!eval(e->arg[0], env, reals, &x, error) ||
        (e->n_args > 1 && !eval(e->arg[1], env, reals, &y, error)))
        return FALSE;
    if (e->func == WS_FUNC_ABS)
        return absolute(e, &x, out, error);
    if (e->func == WS_FUNC_CDIV || e->func == WS_FUNC_POW2FLOOR) {
        if (x.real || y.real)
            return type_error(error, e, "needs integers");
        if (e->func == WS_FUNC_CDIV)
            return ceil_divide(&x, &y, out, error);
        *out = (Value){ .i = pow2floor(x.i) };
        return TRUE;
    }
    *out = (Value){ .real = TRUE };
    if (e->func == WS_FUNC_RCP || e->func == WS_FUNC_F32) {
        out->r = e->func == WS_FUNC_RCP ? 1 / as_real(&x) : (double)(float)as_real(&x);
        return TRUE;
    }
    for (guint i = 0; i < G_N_ELEMENTS(real_funcs); i++)
        if (real_funcs[i].func == e->func) {
            out->r = real_funcs[i].apply(as_real(&x));
            return TRUE;
        }
    return type_error(error, e, "has no uniform value");
}

static gboolean eval_lazy(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                          GError **error)
{
    Value v = { 0 };
    if (!eval(e->arg[0], env, reals, &v, error))
        return FALSE;
    gboolean decides = e->op == WS_EXPR_AND ? !truth(&v) : truth(&v);
    if (!decides && !eval(e->arg[1], env, reals, &v, error))
        return FALSE;
    *out = (Value){ .i = truth(&v) };
    return TRUE;
}

static gboolean eval_negative(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                              GError **error)
{
    if (!eval(e->arg[0], env, reals, out, error))
        return FALSE;
    if (out->real)
        out->r = -out->r;
    else if (__builtin_sub_overflow((gint64)0, out->i, &out->i))
        return overflow(error, WS_EXPR_SUB, 0, G_MININT64);
    return TRUE;
}

static gboolean eval(const WsExpr *e, const WsExprEnv *env, gboolean reals, Value *out,
                     GError **error)
{
    Value a = { 0 }, b = { 0 };
    switch (e->op) {
    case WS_EXPR_INT:
    case WS_EXPR_TEXT_BOOL:
        *out = (Value){ .i = e->i };
        return TRUE;
    case WS_EXPR_REAL:
        *out = (Value){ .real = TRUE, .r = e->r };
        return reals || type_error(error, e, "an integer is needed here");
    case WS_EXPR_NAME:
    case WS_EXPR_TOTAL:
    case WS_EXPR_VAR:
        return eval_leaf(e, env, reals, out, error);
    case WS_EXPR_INDEX:
        return eval_element(e, env, out, error);
    case WS_EXPR_CALL:
        return eval_call(e, env, reals, out, error);
    case WS_EXPR_NEG:
        return eval_negative(e, env, reals, out, error);
    case WS_EXPR_NOT:
        if (!eval(e->arg[0], env, reals, &a, error))
            return FALSE;
        *out = (Value){ .i = !truth(&a) };
        return TRUE;
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        return eval_lazy(e, env, reals, out, error);
    case WS_EXPR_ARITHMETIC:
    case WS_EXPR_COMPARISON:
    default:
        break;
    }
    if (!eval(e->arg[0], env, reals, &a, error) || !eval(e->arg[1], env, reals, &b, error))
        return FALSE;
    if (a.real || b.real)
        return real_binary(e->op, as_real(&a), as_real(&b), out, error);
    out->real = FALSE;
    return int_binary(e->op, a.i, b.i, &out->i, error);
}

gboolean ws_expr_eval(const WsExpr *e, const WsExprEnv *env, gint64 *value, GError **error)
{
    /* The common shapes of inner loops, without the detour over Value. */
    if (e->op == WS_EXPR_INT) {
        *value = e->i;
        return TRUE;
    }
    Value v = { 0 };
    if (!eval(e, env, FALSE, &v, error))
        return FALSE;
    *value = v.i;
    return TRUE;
}

gboolean ws_expr_eval_real(const WsExpr *e, const WsExprEnv *env, double *value, GError **error)
{
    Value v = { 0 };
    if (!eval(e, env, TRUE, &v, error))
        return FALSE;
    *value = as_real(&v);
    return TRUE;
}
