#include "codegen/array.h"

static gboolean uniform_call(WsFunc f)
{
    return f == WS_FUNC_CDIV || f == WS_FUNC_MIN || f == WS_FUNC_MAX || f == WS_FUNC_ABS ||
           f == WS_FUNC_SELECT || f == WS_FUNC_POW2FLOOR;
}

gboolean ws_array_uniform(const WsProgram *p, const WsExpr *x)
{
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &p->var[x->var];
        return !v->real && v->kind != WS_VAR_ROW && v->kind != WS_VAR_COL;
    }
    if (x->op == WS_EXPR_REAL || x->op == WS_EXPR_NAME || x->op == WS_EXPR_TOTAL ||
        x->op == WS_EXPR_INDEX || (x->op == WS_EXPR_CALL && !uniform_call(x->func)))
        return FALSE;
    for (guint i = 0; i < x->n_args; i++) {
        if (!ws_array_uniform(p, x->arg[i]))
            return FALSE;
    }
    return TRUE;
}

static gboolean has_var(const WsExpr *x)
{
    gboolean any = x->op == WS_EXPR_VAR;
    for (guint i = 0; i < x->n_args; i++)
        any = any || has_var(x->arg[i]);
    return any;
}

static gboolean condition(const WsExpr *x)
{
    return x->op == WS_EXPR_TEXT_BOOL || x->op == WS_EXPR_NOT ||
           (x->op >= WS_EXPR_LT && x->op <= WS_EXPR_OR) ||
           (x->op == WS_EXPR_CALL && x->func == WS_FUNC_SELECT && condition(x->arg[1]));
}

WsMathKind ws_array_uniform_kind(const WsExpr *x)
{
    return condition(x) ? WS_MATH_BOOL : has_var(x) ? WS_MATH_INT : WS_MATH_LITERAL;
}

const WsExpr *ws_array_chosen(const WsProgram *p, const WsExpr *x)
{
    for (guint i = 0; x->op == WS_EXPR_MUL && i < 2; i++) {
        const WsExpr *factor = x->arg[i], *index = x->arg[1 - i];
        if (factor->op == WS_EXPR_INT && (factor->i == 0 || factor->i == 1) &&
            index->op == WS_EXPR_VAR && !p->var[index->var].real)
            return factor->i ? index : factor;
    }
    return x;
}

gboolean ws_array_reduction(const WsExpr *x)
{
    return x->op == WS_EXPR_CALL && (x->func == WS_FUNC_ROWMAX || x->func == WS_FUNC_ROWSUM ||
                                     x->func == WS_FUNC_LANEMAX || x->func == WS_FUNC_LANESUM);
}

WsArrayForm ws_array_form(const WsProgram *p, const WsExpr *x, WsMathKind *kind)
{
    *kind = WS_MATH_REAL;
    if (ws_array_uniform(p, x)) {
        *kind = ws_array_uniform_kind(x);
        return WS_ARRAY_UNIFORM;
    }
    if (x->op == WS_EXPR_REAL)
        return WS_ARRAY_NUMBER;
    if (x->op == WS_EXPR_NAME)
        return WS_ARRAY_VALUE;
    if (x->op == WS_EXPR_VAR) {
        const WsVar *v = &p->var[x->var];
        if (v->real)
            return WS_ARRAY_SCALAR;
        *kind = WS_MATH_INT;
        return v->kind == WS_VAR_ROW ? WS_ARRAY_ROW : WS_ARRAY_COL;
    }
    if (!x->n_args || x->op == WS_EXPR_INDEX)
        return WS_ARRAY_OTHER;
    return ws_array_reduction(x) ? WS_ARRAY_REDUCTION : WS_ARRAY_OPERATION;
}

static WsMathKind common(WsMathKind a, WsMathKind b)
{
    if (a == WS_MATH_BOOL || b == WS_MATH_BOOL)
        return WS_MATH_BOOL;
    if (a == WS_MATH_REAL || b == WS_MATH_REAL)
        return WS_MATH_REAL;
    return a == WS_MATH_INT || b == WS_MATH_INT ? WS_MATH_INT : WS_MATH_LITERAL;
}

static WsMathKind call_kind(const WsExpr *x, const WsMathKind *operand, guint n)
{
    WsMathKind kind = operand[0];
    switch (x->func) {
    case WS_FUNC_SELECT:
        return common(operand[1], operand[2]);
    case WS_FUNC_CDIV:
    case WS_FUNC_MIN:
    case WS_FUNC_MAX:
        for (guint i = 1; i < n; i++)
            kind = common(kind, operand[i]);
        return kind;
    case WS_FUNC_ABS:
    case WS_FUNC_ROWMAX:
    case WS_FUNC_ROWSUM:
    case WS_FUNC_LANEMAX:
    case WS_FUNC_LANESUM:
        return kind;
    case WS_FUNC_I32:
    case WS_FUNC_I8:
    case WS_FUNC_U8:
        return WS_MATH_INT;
    default:
        return WS_MATH_REAL;
    }
}

WsMathKind ws_array_kind(const WsExpr *x, const WsMathKind *operand, guint n)
{
    if (x->op == WS_EXPR_CALL)
        return call_kind(x, operand, n);
    if (x->op == WS_EXPR_NOT || (x->op >= WS_EXPR_LT && x->op <= WS_EXPR_OR))
        return WS_MATH_BOOL;
    return n > 1 ? common(operand[0], operand[1]) : operand[0];
}

gboolean ws_array_meet(guint a, guint b, guint *out)
{
    if (a == b || b == 1 || (b == 0 && a != 1))
        *out = a;
    else if (a == 1 || a == 0)
        *out = b;
    else
        return FALSE;
    return TRUE;
}

guint ws_array_slots(guint extent, guint per)
{
    return extent <= 4 ? 1 : extent / per;
}

gboolean ws_array_calls(const WsExpr *x, WsFunc a, WsFunc b)
{
    gboolean any = x->op == WS_EXPR_CALL && (x->func == a || x->func == b);
    for (guint i = 0; i < x->n_args; i++)
        any = any || ws_array_calls(x->arg[i], a, b);
    return any;
}
