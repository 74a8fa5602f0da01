/* How much arithmetic does the reference ask for? What a kernel may do once, or leave out, where
 * the reference writes it for every element is not known, and no figure is made of it. */
#include "launch/bundle.h"
#include "program/formula.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

typedef struct {
    const WsProgram *p;
    const WsLaunchValues *v;
    gboolean known;
    guint within;     /* reductions around this expression */
    GHashTable *seen; /* char*: reductions that were counted */
} Count;

/* The value of an integer that is the same in all elements. */
static gboolean integer(const Count *c, const WsFormula *f, gint64 *value)
{
    if (f->kind == WS_FORMULA_REAL)
        return FALSE;
    if (f->form == WS_FORMULA_NUMBER)
        *value = f->x->i;
    else if (f->form == WS_FORMULA_VARIABLE)
        *value = ws_launch_var(c->v, (gint)f->index);
    else if (f->form != WS_FORMULA_OPERATION)
        return FALSE;
    if (f->form != WS_FORMULA_OPERATION)
        return TRUE;
    g_autofree WsExpr **arg = g_new0(WsExpr *, MAX(f->n_arg, 2));
    gboolean known = TRUE;
    for (guint i = 0; i < f->n_arg; i++) {
        gint64 x = 0;
        known = integer(c, f->arg[i], &x) && known;
        arg[i] = ws_expr_int(x);
    }
    g_autoptr(WsExpr) e = f->x->op == WS_EXPR_CALL ? ws_expr_call(f->x->func, arg, f->n_arg)
                                                   : ws_expr_op(f->x->op, arg[0], arg[1]);
    return known && ws_expr_eval(e, NULL, value, NULL);
}

static double cost(Count *c, const WsFormula *f);

/* An element of a tensor, an output that another statement defines included. */
static gboolean is_stored(const Count *c, const WsFormula *f)
{
    return f->form == WS_FORMULA_ELEMENT ||
           (f->form == WS_FORMULA_HELPER && c->p->reference[f->index].tensor >= 0);
}

static gboolean divides(const WsFormula *f)
{
    if (f->form == WS_FORMULA_OPERATION && f->x->op == WS_EXPR_DIV)
        return TRUE;
    for (guint i = 0; i < f->n_arg && f->form != WS_FORMULA_VARIABLE; i++)
        if (divides(f->arg[i]))
            return TRUE;
    return FALSE;
}

/* T[.., k/128, ..]: a scale shared by a block of terms. By convention a scaled product counts as
 * the product without its scales. */
static gboolean is_block_scale(const Count *c, const WsFormula *f)
{
    for (guint i = 0; i < f->n_arg && is_stored(c, f); i++)
        if (divides(f->arg[i]))
            return TRUE;
    return FALSE;
}

/* sum(i < n, …, body): n·…·(cost of body + 1). */
static double reduction(Count *c, const WsFormula *f)
{
    double times = 1;
    char *text = ws_expr_print(f->x);
    if (c->within > 0)
        c->known = FALSE; /* a kernel need not do the inner one again in every term */
    if (!g_hash_table_add(c->seen, text))
        return 0;
    for (guint i = 0; i + 1 < f->n_arg; i++) {
        gint64 n;
        if (!integer(c, f->arg[i], &n)) {
            c->known = FALSE;
            return 0;
        }
        times *= (double)MAX(n, 0);
    }
    c->within++;
    times *= cost(c, f->arg[f->n_arg - 1]) + 1;
    c->within--;
    return times;
}

/* A mask: of what it hides (the upper half of causal attention) a kernel does some or nothing. */
static double choice(Count *c, const WsFormula *f)
{
    const double condition = cost(c, f->arg[0]);
    const guint before = g_hash_table_size(c->seen);
    const double yes = cost(c, f->arg[1]), no = cost(c, f->arg[2]);
    if (g_hash_table_size(c->seen) != before || (c->within > 0 && yes != no))
        c->known = FALSE;
    return 1 + condition + MAX(yes, no);
}

static double operation(Count *c, const WsFormula *f)
{
    double n = 1;
    if (f->x->op == WS_EXPR_CALL && f->x->func == WS_FUNC_SELECT)
        return choice(c, f);
    if (f->x->op == WS_EXPR_MUL && (is_block_scale(c, f->arg[0]) || is_block_scale(c, f->arg[1])))
        n = 0;
    for (guint i = 0; i < f->n_arg; i++)
        n += cost(c, f->arg[i]);
    return n;
}

static double cost(Count *c, const WsFormula *f)
{
    switch (f->form) {
    case WS_FORMULA_HELPER:
    case WS_FORMULA_ELEMENT: /* addresses are not counted */
        c->known = c->known && is_stored(c, f);
        return 0;
    case WS_FORMULA_REDUCTION:
        return reduction(c, f);
    case WS_FORMULA_OPERATION:
        return operation(c, f);
    case WS_FORMULA_INDEX:
    case WS_FORMULA_NUMBER:
    case WS_FORMULA_VARIABLE:
    default:
        return 0;
    }
}

double ws_launch_flops(const WsProgram *p, const WsLaunchValues *v)
{
    if (p->mesh) /* which device does what of a sum over all of them, the reference does not say */
        return 0;
    double total = 0;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Count c = { p, v, TRUE, 0, seen };
    for (guint s = 0; s < p->n_reference && c.known; s++) {
        const WsDefinition *d = &p->reference[s];
        if (d->tensor < 0 || d->value == NULL || d->any)
            return 0; /* a helper: how often it is evaluated depends on its users; `any`: nobody
                         says of how many elements */
        double elements = 1;
        for (guint i = 0; i < p->tensor[d->tensor].rank; i++)
            elements *= (double)ws_launch_shape(v, (guint)d->tensor, i);
        total += elements * cost(&c, d->value);
    }
    return c.known ? total : 0;
}
