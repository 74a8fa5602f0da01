/* Expressions of the program as polynomials over sizes, axes and what cannot be taken apart. */
#include "check/global/global.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"

enum { TENSOR_CALL = 1000 }; /* ids of elements lie behind those of functions */

void ws_terms_set(WsTerms *t, gint var, WsPoly value)
{
    if (var < 0)
        return;
    t->value[var] = value;
    t->known[var] = TRUE;
}

WsPoly ws_terms_unknown(WsTerms *t, const char *name)
{
    return ws_poly_leaf(t->ps, WS_ATOM_VALUE, -1 - t->next++, WS_ON_STEP, NULL, name);
}

void ws_terms_rank(WsTerms *t, gint64 rank)
{
    t->rank = rank;
    for (guint i = 0; i < t->p->n_vars; i++)
        if (t->p->var[i].kind != WS_VAR_SIZE && t->p->var[i].kind != WS_VAR_RUN)
            t->known[i] = FALSE;
}

static WsPoly axis(WsTerms *t, const WsVar *v)
{
    WsPoly extent = ws_terms_of(t, t->p->tiles->axis[v->axis].extent);
    gint64 n;
    if (ws_poly_is_int(extent, &n) && n == 1)
        return ws_poly_int(t->ps, 0);
    return ws_poly_leaf(t->ps, WS_ATOM_AXIS, v->axis, WS_ON_TILE, &extent, v->name);
}

static WsPoly variable(WsTerms *t, gint var)
{
    if (var < 0 || (guint)var >= t->p->n_vars)
        return ws_terms_unknown(t, "?");
    const WsVar *v = &t->p->var[var];
    if (t->known[var])
        return t->value[var];
    WsPoly x;
    switch (v->kind) {
    case WS_VAR_SIZE:
        x = ws_poly_leaf(t->ps, WS_ATOM_SIZE, var, 0, NULL, v->name);
        break;
    case WS_VAR_RUN:
    case WS_VAR_TILE:
        x = v->value && !v->real ? ws_terms_of(t, v->value) : ws_terms_unknown(t, v->name);
        break;
    case WS_VAR_AXIS:
        x = axis(t, v);
        break;
    case WS_VAR_CTA:
        x = ws_poly_int(t->ps, t->rank);
        break;
    case WS_VAR_COL:
    case WS_VAR_COUNTER:
    case WS_VAR_INDEX:
    case WS_VAR_LET:
    case WS_VAR_ROW:
    case WS_VAR_SCALAR:
    case WS_VAR_TOTAL:
    default:
        return ws_terms_unknown(t, v->name);
    }
    ws_terms_set(t, var, x);
    return x;
}

static WsPoly negate(WsTerms *t, WsPoly a)
{
    return ws_poly_add(t->ps, (WsPoly){ 0 }, -1, a);
}

static WsPoly opposite(WsTerms *t, WsPoly a)
{
    return ws_poly_add(t->ps, ws_poly_int(t->ps, 1), -1, a);
}

/* 1 where a != 0: 1 - (not a < 0 and a < 1). */
static WsPoly differs(WsTerms *t, WsPoly a)
{
    WsPoly below = ws_poly_negative(t->ps, a);
    WsPoly above = ws_poly_negative(t->ps, negate(t, a));
    return ws_poly_add(t->ps, below, 1, above);
}

static gboolean is_truth(const WsExpr *e)
{
    return e->op == WS_EXPR_TEXT_BOOL || (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR) ||
           e->op == WS_EXPR_NOT;
}

WsPoly ws_terms_truth(WsTerms *t, const WsExpr *e)
{
    WsPoly x = ws_terms_of(t, e);
    return is_truth(e) ? x : differs(t, x);
}

static WsPoly divide(WsTerms *t, const WsExpr *e, gboolean up, gboolean rest)
{
    WsPoly a = ws_terms_of(t, e->arg[0]), b = ws_terms_of(t, e->arg[1]);
    gint64 by;
    gboolean number = ws_poly_is_int(b, &by);
    if (number && by == 0)
        return ws_terms_unknown(t, "division by 0");
    if (up && number && by > 0)
        return ws_poly_div(t->ps, ws_poly_add(t->ps, a, 1, ws_poly_int(t->ps, by - 1)), b);
    if (up)
        return negate(t, ws_poly_div(t->ps, negate(t, a), b));
    WsPoly q = ws_poly_div(t->ps, a, b);
    return rest ? ws_poly_add(t->ps, a, -1, ws_poly_mul(t->ps, b, q)) : q;
}

static WsPoly call(WsTerms *t, const WsExpr *e)
{
    WsPoly arg[8];
    if (e->func == WS_FUNC_CDIV)
        return divide(t, e, TRUE, FALSE);
    if (e->func == WS_FUNC_SELECT) {
        WsPoly c = ws_terms_truth(t, e->arg[0]);
        gint64 known;
        if (ws_poly_is_int(c, &known))
            return ws_terms_of(t, e->arg[known ? 1 : 2]);
        WsPoly a = ws_terms_of(t, e->arg[1]), b = ws_terms_of(t, e->arg[2]);
        return ws_poly_add(t->ps, b, 1, ws_poly_mul(t->ps, c, ws_poly_add(t->ps, a, -1, b)));
    }
    if (e->n_args == 0 || e->n_args > G_N_ELEMENTS(arg))
        return ws_terms_unknown(t, ws_func_text(e->func));
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = ws_terms_of(t, e->arg[i]);
    gint64 n;
    if (e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX) {
        for (guint i = 1; i < e->n_args; i++)
            arg[0] = ws_poly_least(t->ps, e->func == WS_FUNC_MAX, arg[0], arg[i]);
        return arg[0];
    }
    if (e->func == WS_FUNC_ABS) {
        if (ws_poly_is_int(arg[0], &n) && n > G_MININT64)
            return ws_poly_int(t->ps, ABS(n));
        return ws_poly_call(t->ps, WS_FUNC_ABS, 0, "abs", 1, arg);
    }
    if (e->func == WS_FUNC_POW2FLOOR)
        return ws_poly_call(t->ps, WS_FUNC_POW2FLOOR, 0, "pow2floor", 1, arg);
    return ws_terms_unknown(t, ws_func_text(e->func));
}

static WsPoly element(WsTerms *t, const WsExpr *e)
{
    WsPoly arg[WS_MAX_RANK];
    if (e->var < 0 || e->n_args == 0 || e->n_args > WS_MAX_RANK)
        return ws_terms_unknown(t, e->name);
    for (guint i = 0; i < e->n_args; i++)
        arg[i] = ws_terms_of(t, e->arg[i]);
    return ws_poly_call(t->ps, TENSOR_CALL + e->var, WS_ON_DATA, e->name, e->n_args, arg);
}

WsPoly ws_terms_of(WsTerms *t, const WsExpr *e)
{
    WsPolys *ps = t->ps;
    if (!e || ws_polys_broken(ps))
        return ws_terms_unknown(t, "?");
    WsPoly a = { 0 }, b = { 0 };
    gboolean sum = e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_MUL ||
                   (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_NE);
    if (sum || e->op == WS_EXPR_NEG)
        a = ws_terms_of(t, e->arg[0]);
    if (sum)
        b = ws_terms_of(t, e->arg[1]);
    switch (e->op) {
    case WS_EXPR_INT:
    case WS_EXPR_TEXT_BOOL:
        return ws_poly_int(ps, e->i);
    case WS_EXPR_VAR:
        return variable(t, e->var);
    case WS_EXPR_NEG:
        return negate(t, a);
    case WS_EXPR_ADD:
        return ws_poly_add(ps, a, 1, b);
    case WS_EXPR_SUB:
        return ws_poly_add(ps, a, -1, b);
    case WS_EXPR_MUL:
        return ws_poly_mul(ps, a, b);
    case WS_EXPR_DIV:
        return divide(t, e, FALSE, FALSE);
    case WS_EXPR_MOD:
        return divide(t, e, FALSE, TRUE);
    case WS_EXPR_LT:
        return ws_poly_negative(ps, ws_poly_add(ps, a, -1, b));
    case WS_EXPR_GT:
        return ws_poly_negative(ps, ws_poly_add(ps, b, -1, a));
    case WS_EXPR_LE:
        return opposite(t, ws_poly_negative(ps, ws_poly_add(ps, b, -1, a)));
    case WS_EXPR_GE:
        return opposite(t, ws_poly_negative(ps, ws_poly_add(ps, a, -1, b)));
    case WS_EXPR_NE:
        return differs(t, ws_poly_add(ps, a, -1, b));
    case WS_EXPR_EQ:
        return opposite(t, differs(t, ws_poly_add(ps, a, -1, b)));
    case WS_EXPR_NOT:
        return opposite(t, ws_terms_truth(t, e->arg[0]));
    case WS_EXPR_AND:
    case WS_EXPR_OR:
        a = ws_terms_truth(t, e->arg[0]), b = ws_terms_truth(t, e->arg[1]);
        if (e->op == WS_EXPR_AND)
            return ws_poly_mul(ps, a, b);
        return ws_poly_add(ps, ws_poly_add(ps, a, 1, b), -1, ws_poly_mul(ps, a, b));
    case WS_EXPR_CALL:
        return call(t, e);
    case WS_EXPR_INDEX:
        return element(t, e);
    case WS_EXPR_NAME:
    case WS_EXPR_REAL:
    case WS_EXPR_TOTAL:
    default:
        return ws_terms_unknown(t, e->name ? e->name : "?");
    }
}
