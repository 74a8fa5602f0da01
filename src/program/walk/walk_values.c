/* What names are worth while an agent is walked. */
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk_state.h"

/* --- values -------------------------------------------------------------------------------------
 */
static gboolean make_tile_var(WsWalker *w, gint var, GError **error);

static WsLookup lookup(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    WsWalker *w = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= w->p->n_vars)
        return WS_LOOKUP_UNKNOWN;
    if (w->state[leaf->var] != WS_WALK_KNOWN) {
        if (w->p->var[leaf->var].kind != WS_VAR_TILE || w->position < 0)
            return WS_LOOKUP_UNKNOWN;
        if (!make_tile_var(w, leaf->var, error))
            return WS_LOOKUP_ERROR;
    }
    *value = w->value[leaf->var];
    return WS_LOOKUP_KNOWN;
}

static WsLookup lookup_real(gpointer data, const WsExpr *leaf, double *value, GError **error)
{
    WsWalker *w = data;
    if (leaf->op != WS_EXPR_VAR || leaf->var < 0 || (guint)leaf->var >= w->p->n_vars)
        return WS_LOOKUP_UNKNOWN;
    const WsVar *var = &w->p->var[leaf->var];
    if (var->kind != WS_VAR_SCALAR && !(var->kind == WS_VAR_RUN && var->real))
        return WS_LOOKUP_UNKNOWN;
    *value = ws_launch_var_real(w->v, leaf->var);
    return WS_LOOKUP_KNOWN;
}

static WsLookup lookup_element(gpointer data, const WsExpr *leaf, const gint64 *at, gint64 *value,
                               GError **error)
{
    WsWalker *w = data;
    *value = 0;
    if (leaf->var < 0 || (guint)leaf->var >= w->p->n_tensors)
        return WS_LOOKUP_UNKNOWN;
    for (guint d = 0; d < leaf->n_args && d < w->p->tensor[leaf->var].rank; d++)
        if (at[d] < 0 || at[d] >= ws_launch_shape(w->v, (guint)leaf->var, d))
            return WS_LOOKUP_KNOWN; /* outside its shape an element is 0 */
    if (!w->element) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME,
                    "what the elements of %s are is not known here", w->p->tensor[leaf->var].name);
        return WS_LOOKUP_ERROR;
    }
    if (!w->element(w->element_data, leaf->var, at, value))
        *value = 0;
    return WS_LOOKUP_KNOWN;
}

/* Sums, products and quotients of numbers and known names, which most expressions are. FALSE: it is
 * another one, or nothing that ws_expr_eval() would not have to say something about. */
static gboolean plain(const WsWalker *w, const WsExpr *e, gint64 *value)
{
    gint64 a, b;
    if (e->op == WS_EXPR_INT) {
        *value = e->i;
        return TRUE;
    }
    if (e->op == WS_EXPR_VAR) {
        if (e->var < 0 || (guint)e->var >= w->p->n_vars || w->state[e->var] != WS_WALK_KNOWN)
            return FALSE;
        *value = w->value[e->var];
        return TRUE;
    }
    const gboolean sum = e->op == WS_EXPR_ADD || e->op == WS_EXPR_SUB || e->op == WS_EXPR_MUL;
    const gboolean share = e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD;
    if ((!sum && !share) || e->n_args != 2 || !plain(w, e->arg[0], &a) || !plain(w, e->arg[1], &b))
        return FALSE;
    if (e->op == WS_EXPR_ADD)
        return !__builtin_add_overflow(a, b, value);
    if (e->op == WS_EXPR_SUB)
        return !__builtin_sub_overflow(a, b, value);
    if (e->op == WS_EXPR_MUL)
        return !__builtin_mul_overflow(a, b, value);
    if (a < 0 || b <= 0)
        return FALSE;
    *value = e->op == WS_EXPR_DIV ? a / b : a % b;
    return TRUE;
}

gboolean ws_walk_evaluate(WsWalker *w, const WsExpr *e, gint64 *value, GError **error)
{
    if (plain(w, e, value))
        return TRUE;
    WsExprEnv env = { lookup, lookup_real, lookup_element, w };
    return ws_expr_eval(e, &env, value, error);
}

gboolean ws_walk_evaluate_or(WsWalker *w, const WsExpr *e, gint64 otherwise, gint64 *value,
                             GError **error)
{
    *value = otherwise;
    return !e || ws_walk_evaluate(w, e, value, error);
}

static gboolean make_tile_var(WsWalker *w, gint var, GError **error)
{
    if (w->state[var] == WS_WALK_BUSY || !w->p->var[var].value) {
        g_set_error(error, WS_EXPR_ERROR, WS_EXPR_ERROR_NAME, "%s %s", w->p->var[var].name,
                    w->state[var] == WS_WALK_BUSY ? "is defined by itself" : "has no definition");
        return FALSE;
    }
    gint64 value = 0;
    w->state[var] = WS_WALK_BUSY;
    gboolean ok = ws_walk_evaluate(w, w->p->var[var].value, &value, error);
    w->state[var] = WS_WALK_UNSET;
    if (!ok)
        return FALSE;
    w->value[var] = value;
    w->state[var] = WS_WALK_KNOWN;
    return TRUE;
}

void ws_walk_set(WsWalker *w, gint var, gint64 value)
{
    if (var < 0)
        return;
    w->value[var] = value;
    w->state[var] = WS_WALK_KNOWN;
}

void ws_walk_open_tile(WsWalker *w, gint64 position, gint64 id)
{
    gint64 coord[G_N_ELEMENTS(w->p->tiles->axis)];
    ws_launch_tile(w->v, id, coord);
    for (guint a = 0; a < w->p->tiles->n_axes; a++)
        ws_walk_set(w, w->p->tiles->axis[a].var, coord[a]);
    for (guint i = 0; i < w->n_tile_vars; i++)
        w->state[w->tile_var[i]] = WS_WALK_UNSET;
    w->position = position;
}

void ws_walk_close_tile(WsWalker *w)
{
    for (guint a = 0; a < w->p->tiles->n_axes; a++)
        if (w->p->tiles->axis[a].var >= 0)
            w->state[w->p->tiles->axis[a].var] = WS_WALK_UNSET;
    for (guint i = 0; i < w->n_tile_vars; i++)
        w->state[w->tile_var[i]] = WS_WALK_UNSET;
    w->position = -1;
}
