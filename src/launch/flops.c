/* How much arithmetic does the reference ask for? What a kernel may do once, or leave out, where
 * the reference writes it for every element is not known, and no figure is made of it. */
#include "launch/bundle.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <string.h>

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    gboolean known;
    guint within;     /* reductions around this expression */
    GHashTable *seen; /* char*: reductions that were counted */
} Count;

static WsLookup integer(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    const Count *c = data;
    gint var = leaf->op == WS_EXPR_VAR    ? leaf->var
               : leaf->op == WS_EXPR_NAME ? ws_program_find_var(c->p, leaf->name)
                                          : -1;
    if (var < 0 || (guint)var >= c->p->n_vars)
        return WS_LOOKUP_UNKNOWN;
    WsVarKind kind = c->p->var[var].kind;
    if (kind != WS_VAR_SIZE && (kind != WS_VAR_RUN || c->p->var[var].real))
        return WS_LOOKUP_UNKNOWN;
    *value = ws_launch_var(c->v, var);
    return WS_LOOKUP_KNOWN;
}

static gboolean is_tensor(const WsProgram *p, const char *name)
{
    for (guint t = 0; t < p->n_tensors; t++)
        if (g_strcmp0(p->tensor[t].name, name) == 0)
            return TRUE;
    return FALSE;
}

static double cost(Count *c, const WsExpr *e);

static void find_division(const WsExpr *e, gpointer data)
{
    if (e->op == WS_EXPR_DIV)
        *(gboolean *)data = TRUE;
}

/* T[.., k/128, ..]: a scale shared by a block of terms. By convention a scaled product counts as
 * the product without its scales. */
static gboolean is_block_scale(const Count *c, const WsExpr *e)
{
    gboolean divided = FALSE;
    if (e->op != WS_EXPR_INDEX || !is_tensor(c->p, e->name))
        return FALSE;
    for (guint i = 0; i < e->n_args; i++)
        ws_expr_visit(e->arg[i], find_division, &divided);
    return divided;
}

/* sum(i < n, …, body): n·…·(cost of body + 1). */
static double reduction(Count *c, const WsExpr *e)
{
    double times = 1;
    char *text = ws_expr_print(e);
    if (c->within > 0)
        c->known = FALSE; /* a kernel need not do the inner one again in every term */
    if (!g_hash_table_add(c->seen, text))
        return 0;
    WsExprEnv env = { integer, NULL, NULL, c };
    for (guint i = 0; i + 1 < e->n_args; i++) {
        gint64 n;
        if (e->arg[i]->op != WS_EXPR_LT || !ws_expr_eval(e->arg[i]->arg[1], &env, &n, NULL)) {
            c->known = FALSE;
            return 0;
        }
        times *= (double)MAX(n, 0);
    }
    c->within++;
    times *= cost(c, e->arg[e->n_args - 1]) + 1;
    c->within--;
    return times;
}

/* A mask: of what it hides (the upper half of causal attention) a kernel does some or nothing. */
static double choice(Count *c, const WsExpr *e)
{
    const double condition = cost(c, e->arg[0]);
    const guint before = g_hash_table_size(c->seen);
    const double yes = cost(c, e->arg[1]), no = cost(c, e->arg[2]);
    if (g_hash_table_size(c->seen) != before || (c->within > 0 && yes != no))
        c->known = FALSE;
    return 1 + condition + MAX(yes, no);
}

static double cost(Count *c, const WsExpr *e)
{
    if (e->op == WS_EXPR_INDEX) {
        if (!is_tensor(c->p, e->name))
            c->known = FALSE;
        return 0; /* addresses are not counted */
    }
    gboolean reduces = e->op == WS_EXPR_CALL && e->n_args > 1 && e->arg[0]->op == WS_EXPR_LT &&
                       (e->func == WS_FUNC_SUM || e->func == WS_FUNC_MAX || e->func == WS_FUNC_MIN);
    if (reduces)
        return reduction(c, e);
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT)
        return choice(c, e);
    double n = e->n_args > 0 ? 1 : 0;
    if (e->op == WS_EXPR_MUL && (is_block_scale(c, e->arg[0]) || is_block_scale(c, e->arg[1])))
        n = 0;
    for (guint i = 0; i < e->n_args; i++)
        n += cost(c, e->arg[i]);
    return n;
}

double ws_launch_flops(const WsProgram *p, const WsLaunchValues *v)
{
    double total = 0;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Count c = { p, v, TRUE, 0, seen };
    for (guint s = 0; s < p->n_reference && c.known; s++) {
        guint t = 0;
        while (t < p->n_tensors && strcmp(p->tensor[t].name, p->reference[s]->name) != 0)
            t++;
        if (t == p->n_tensors)
            return 0; /* a helper: how often it is evaluated depends on its users */
        double elements = 1;
        for (guint d = 0; d < p->tensor[t].rank; d++)
            elements *= (double)ws_launch_shape(v, t, d);
        total += elements * cost(&c, p->reference[s]->value);
    }
    return c.known ? total : 0;
}
