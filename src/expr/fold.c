/* Partial evaluation. */
#include "expr/internal.h"

#include <math.h>

static WsExpr *fold(const WsExpr *e, const WsExprEnv *env, GError **error);

/* A quotient by what may come to be 0 may have no value, whatever it is multiplied by. */
static gboolean divides_safely(const WsExpr *e)
{
    gint64 by;
    const gboolean divides = e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD ||
                             (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV);
    return !divides || (ws_expr_is_int(e->arg[1], &by) && by);
}

/* Every evaluation of e is an integer and none of its leaves is an array or a real: then e*0 is 0.
 */
static gboolean plain_integer(const WsExpr *e)
{
    if (!divides_safely(e))
        return FALSE;
    if (e->op == WS_EXPR_NAME || e->op == WS_EXPR_REAL || e->op == WS_EXPR_INDEX ||
        (e->op == WS_EXPR_CALL && ws_func_where(e->func)[0] != 'U'))
        return FALSE;
    for (guint i = 0; i < e->n_args; i++)
        if (!plain_integer(e->arg[i]))
            return FALSE;
    return TRUE;
}

/* e != 0 as 0 or 1. Takes e. */
static WsExpr *as_condition(WsExpr *e)
{
    gint64 v;
    if (ws_expr_is_int(e, &v)) {
        ws_expr_unref(e);
        return ws_expr_int(v != 0);
    }
    return ws_expr_is_boolean(e) ? e : ws_expr_op(WS_EXPR_NE, e, ws_expr_int(0));
}

static WsExpr *fold_leaf(const WsExpr *e, const WsExprEnv *env, GError **error)
{
    gint64 v = 0;
    double r = 0;
    WsLookup found = WS_LOOKUP_UNKNOWN;
    if (env && env->integer)
        found = env->integer(env->data, e, &v, error);
    if (found == WS_LOOKUP_KNOWN)
        return ws_expr_int(v);
    if (found == WS_LOOKUP_UNKNOWN && env && env->real)
        found = env->real(env->data, e, &r, error);
    if (found == WS_LOOKUP_KNOWN && !isnan(r))
        return ws_expr_real(r);
    return found == WS_LOOKUP_ERROR ? NULL : ws_expr_ref(e);
}

/* A branch that may never be evaluated: what cannot be folded stays. */
static WsExpr *fold_lazy(const WsExpr *e, const WsExprEnv *env)
{
    WsExpr *f = fold(e, env, NULL);
    return f ? f : ws_expr_ref(e);
}

static WsExpr *fold_logic(const WsExpr *e, const WsExprEnv *env, GError **error)
{
    gboolean neutral = e->op == WS_EXPR_AND; /* true && x = x, false || x = x */
    gint64 v;
    WsExpr *a = fold(e->arg[0], env, error);
    if (!a)
        return NULL;
    if (ws_expr_is_int(a, &v)) {
        ws_expr_unref(a);
        if ((v != 0) != neutral)
            return ws_expr_int(!neutral);
        WsExpr *b = fold(e->arg[1], env, error);
        return b ? as_condition(b) : NULL;
    }
    WsExpr *b = fold_lazy(e->arg[1], env);
    if (!ws_expr_is_int(b, &v))
        return ws_expr_op(e->op, a, b);
    ws_expr_unref(b);
    if ((v != 0) == neutral)
        return as_condition(a);
    ws_expr_unref(a);
    return ws_expr_int(!neutral);
}

static WsExpr *fold_select(const WsExpr *e, const WsExprEnv *env, GError **error)
{
    gint64 v;
    WsExpr *c = fold(e->arg[0], env, error);
    if (!c)
        return NULL;
    if (ws_expr_is_int(c, &v)) {
        ws_expr_unref(c);
        return fold(e->arg[v ? 1 : 2], env, error);
    }
    WsExpr *args[] = { c, fold_lazy(e->arg[1], env), fold_lazy(e->arg[2], env) };
    return ws_expr_call(WS_FUNC_SELECT, args, 3);
}

/* x+0, 0+x, x-0, x*1, 1*x, x/1, x*0, 0*x, x%1 of folded operands; NULL: none of these. */
static WsExpr *identity(WsExprOp op, const WsExpr *a, const WsExpr *b)
{
    gint64 u = 0, v = 0;
    gboolean left = ws_expr_is_int(a, &u), right = ws_expr_is_int(b, &v);
    if (right && ((v == 0 && (op == WS_EXPR_ADD || op == WS_EXPR_SUB)) ||
                  (v == 1 && (op == WS_EXPR_MUL || op == WS_EXPR_DIV))))
        return ws_expr_ref(a);
    if (left && ((u == 0 && op == WS_EXPR_ADD) || (u == 1 && op == WS_EXPR_MUL)))
        return ws_expr_ref(b);
    if (op == WS_EXPR_MUL &&
        ((left && u == 0 && plain_integer(b)) || (right && v == 0 && plain_integer(a))))
        return ws_expr_int(0);
    if (op == WS_EXPR_MOD && right && v == 1 && plain_integer(a))
        return ws_expr_int(0);
    return NULL;
}

/* Known once every argument is a literal; sums over indices and array functions never are. */
static gboolean constant_call(const WsExpr *e)
{
    gint64 v;
    if (e->op == WS_EXPR_INDEX || (e->op == WS_EXPR_CALL && ws_func_where(e->func)[0] != 'U'))
        return FALSE;
    for (guint i = 0; i < e->n_args; i++)
        if (!ws_expr_is_int(e->arg[i], &v))
            return FALSE;
    return TRUE;
}

static WsExpr *fold_element(WsExpr *e, const WsExprEnv *env, GError **error)
{
    gint64 v;
    g_autofree gint64 *at = g_new0(gint64, e->n_args);
    for (guint i = 0; i < e->n_args; i++)
        if (!ws_expr_is_int(e->arg[i], &at[i]))
            return e;
    if (!env || !env->element)
        return e;
    WsLookup found = env->element(env->data, e, at, &v, error);
    if (found == WS_LOOKUP_UNKNOWN)
        return e;
    ws_expr_unref(e);
    return found == WS_LOOKUP_KNOWN ? ws_expr_int(v) : NULL;
}

/* The smallest and largest of only some known arguments stay as they are: order is the author's. */
static WsExpr *fold_node(const WsExpr *e, const WsExprEnv *env, GError **error)
{
    g_autofree WsExpr **arg = g_new0(WsExpr *, e->n_args);
    gboolean same = TRUE;
    for (guint i = 0; i < e->n_args; i++) {
        arg[i] = fold(e->arg[i], env, error);
        if (!arg[i]) {
            while (i-- > 0)
                ws_expr_unref(arg[i]);
            return NULL;
        }
        same = same && arg[i] == e->arg[i];
    }
    WsExpr *node;
    if (same) {
        node = ws_expr_ref(e);
        for (guint i = 0; i < e->n_args; i++)
            ws_expr_unref(arg[i]);
    } else if (e->op == WS_EXPR_NEG) {
        node = ws_expr_op(WS_EXPR_NEG, arg[0], NULL);
    } else {
        node = ws_expr_with_args(e, arg);
    }
    if (node->op == WS_EXPR_INDEX)
        return fold_element(node, env, error);
    WsExpr *better = NULL;
    if (node->n_args && constant_call(node)) {
        gint64 v;
        if (!ws_expr_eval(node, NULL, &v, error)) {
            ws_expr_unref(node);
            return NULL;
        }
        better = ws_expr_int(v);
    } else if (ws_operator_of(node->op)) {
        better = identity(node->op, node->arg[0], node->arg[1]);
    }
    if (!better)
        return node;
    ws_expr_unref(node);
    return better;
}

static WsExpr *fold(const WsExpr *e, const WsExprEnv *env, GError **error)
{
    if (e->op == WS_EXPR_INT || e->op == WS_EXPR_REAL || e->op == WS_EXPR_TEXT_BOOL)
        return ws_expr_ref(e);
    if (e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL || e->op == WS_EXPR_VAR)
        return fold_leaf(e, env, error);
    if (e->op == WS_EXPR_AND || e->op == WS_EXPR_OR)
        return fold_logic(e, env, error);
    if (e->op == WS_EXPR_CALL) {
        if (e->func == WS_FUNC_SELECT)
            return fold_select(e, env, error);
        return fold_node(e, env, error);
    }
    return fold_node(e, env, error);
}

WsExpr *ws_expr_fold(const WsExpr *e, const WsExprEnv *env, GError **error)
{
    return fold(e, env, error);
}
