/* What may be below 0: kernels cut quotients towards it, expressions are rounded down. */
#include "import/fit.h"
#include "import/python/pyread_loop.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* What `x >= INTEGER` or `x > INTEGER` says of `e`. */
static gboolean says_least(const WsExpr *says, const WsExpr *e, gint64 *n)
{
    gint64 bound;
    if (!says || (says->op != WS_EXPR_GE && says->op != WS_EXPR_GT) ||
        !ws_expr_equal(says->arg[0], e) || !ws_x_is(says->arg[1], &bound) || bound > 1 << 30)
        return FALSE;
    *n = bound + (says->op == WS_EXPR_GT);
    return TRUE;
}

static gboolean assumed_least(const PyRead *p, const WsExpr *e, gint64 *n)
{
    for (guint i = 0; p->way.assume && p->way.assume[i]; i++)
        if (says_least(ws_x_parsed(p->r, p->way.assume[i]), e, n))
            return TRUE;
    for (guint i = 0; i < p->r->assume->len; i++)
        if (says_least(ws_x_parsed(p->r, g_ptr_array_index(p->r->assume, i)), e, n))
            return TRUE;
    return FALSE;
}

/* Names that are not below 0. */
static gboolean counts(const PyRead *p, const char *name)
{
    gboolean found = !strcmp(name, PY_GRID) || g_str_has_prefix(name, PY_PID);
    for (guint i = 0; i < p->r->sizes->len; i++)
        found |= !strcmp(g_ptr_array_index(p->r->sizes, i), name);
    for (guint i = 0; i < p->loops->len; i++)
        found |= !strcmp(g_array_index(p->loops, OpenLoop, i).name, name);
    return found;
}

gboolean py_least(const PyRead *p, const WsExpr *e, gint64 *n)
{
    WsAffine f;
    gint64 by, part, sum;
    if (assumed_least(p, e, n))
        return TRUE;
    if (e->op == WS_EXPR_NAME) {
        *n = 0;
        return counts(p, e->name);
    }
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_CDIV && ws_x_is(e->arg[1], &by) && by > 0) {
        if (!py_least(p, e->arg[0], n) || *n < 0)
            return FALSE;
        *n = *n / by + (*n % by != 0);
        return TRUE;
    }
    if ((e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD) && ws_x_is(e->arg[1], &by) && by > 0) {
        if (!py_least(p, e->arg[0], n) || *n < 0)
            return FALSE;
        *n = e->op == WS_EXPR_DIV ? *n / by : 0;
        return TRUE;
    }
    if (e->op == WS_EXPR_MUL && !ws_x_is(e->arg[0], &by) && !ws_x_is(e->arg[1], &by)) {
        const gboolean both =
            py_least(p, e->arg[0], &part) && part >= 0 && py_least(p, e->arg[1], &sum) && sum >= 0;
        *n = 0;
        return both;
    }
    if (e->op == WS_EXPR_CALL || !ws_expr_affine(e, &f))
        return FALSE;
    gboolean known = TRUE;
    sum = f.constant;
    for (guint i = 0; known && i < f.n; i++)
        known = f.factor[i] > 0 && f.factor[i] < 1 << 20 && !ws_expr_equal(f.term[i], e) &&
                py_least(p, f.term[i], &part) && part < 1 << 30 &&
                !__builtin_add_overflow(sum, part * f.factor[i], &sum);
    ws_affine_clear(&f);
    *n = sum;
    return known;
}

static void is_of_round(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    const PyRead *p = d[0];
    gboolean *found = d[1];
    *found |= node->op == WS_EXPR_TOTAL;
    if (node->op != WS_EXPR_NAME)
        return;
    *found |= g_str_has_prefix(node->name, "__");
    for (guint i = 0; i < p->loops->len; i++)
        *found |= !strcmp(g_array_index(p->loops, OpenLoop, i).name, node->name);
    for (guint i = 0; p->group && i < p->group->counters->len; i++)
        *found |= !strcmp(g_ptr_array_index(p->group->counters, i), node->name);
    *found |= p->tile && !strcmp(p->tile, node->name);
}

/* Something is taken away in it. */
static gboolean has_minus(const WsExpr *e)
{
    WsAffine f;
    gboolean any = FALSE;
    if (ws_expr_affine(e, &f)) {
        any = f.constant < 0;
        for (guint i = 0; i < f.n; i++) {
            any |= f.factor[i] < 0;
            for (guint k = 0; !any && !ws_expr_equal(f.term[i], e) && k < f.term[i]->n_args; k++)
                any = has_minus(f.term[i]->arg[k]);
        }
        const gboolean itself = f.n == 1 && ws_expr_equal(f.term[0], e);
        ws_affine_clear(&f);
        if (!itself)
            return any;
    }
    any |= e->op == WS_EXPR_SUB || e->op == WS_EXPR_NEG;
    for (guint i = 0; !any && i < e->n_args; i++)
        any = has_minus(e->arg[i]);
    return any;
}

/* A counter that wraps, less a number: below 0 where it has just wrapped. */
static gboolean wraps_below(PyRead *p, const WsExpr *e)
{
    WsAffine f;
    gboolean any = FALSE;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    for (guint i = 0; f.constant < 0 && i < f.n; i++) {
        gpointer data[] = { p, &any };
        if (f.term[i]->op == WS_EXPR_MOD)
            ws_expr_visit(f.term[i], is_of_round, data);
    }
    ws_affine_clear(&f);
    return any;
}

gboolean py_is_odd_below_zero(PyRead *p, const WsExpr *e)
{
    WsAffine f;
    gboolean takes = TRUE;
    if (ws_expr_affine(e, &f)) {
        takes = f.constant < 0;
        for (guint i = 0; i < f.n; i++)
            takes |= f.factor[i] < 0;
        ws_affine_clear(&f);
    }
    return takes && !p->probing && !p->indexing && !py_is_never_negative(p, e);
}

gboolean py_may_be_negative(PyRead *p, const WsExpr *e, gboolean rest)
{
    gboolean of_round = FALSE;
    gpointer data[] = { p, &of_round };
    gint64 n;
    ws_expr_visit(e, is_of_round, data);
    if (py_least(p, e, &n) && n >= 0)
        return FALSE;
    if (!of_round || (p->deciding && has_minus(e)) || (rest && wraps_below(p, e)))
        return TRUE;
    if (has_minus(e) && p->indexing && rest)
        p->floor_index = e;
    else if (has_minus(e) && p->phasing && !rest)
        p->floor_phase = e;
    return FALSE;
}

static void is_of_loop(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    const PyRead *p = d[0];
    gboolean *found = d[1];
    *found |= node->op == WS_EXPR_TOTAL;
    for (guint i = 0; node->op == WS_EXPR_NAME && i < p->loops->len; i++)
        *found |= !strcmp(g_array_index(p->loops, OpenLoop, i).name, node->name);
}

gboolean py_hides_negative(PyRead *p, const WsExpr *e)
{
    gboolean of_loop = FALSE;
    gpointer data[] = { p, &of_loop };
    gint64 n;
    const gboolean exact = e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT &&
                           e->arg[0]->op == WS_EXPR_GE && ws_x_is(e->arg[0]->arg[1], &n) && !n;
    const gboolean rounded = (e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD) &&
                             ws_x_is(e->arg[1], &n) && n > 0 && has_minus(e->arg[0]);
    if (exact) /* towards_zero made it */
        return py_hides_negative(p, e->arg[0]);
    if (rounded)
        ws_expr_visit(e->arg[0], is_of_loop, data);
    if (rounded && !py_is_never_negative(p, e->arg[0]))
        return TRUE;
    for (guint i = 0; i < e->n_args; i++)
        if (py_hides_negative(p, e->arg[i]))
            return TRUE;
    return FALSE;
}

gboolean py_phase_fits(const PyRead *p)
{
    WsAffine f;
    if (!p->floor_phase || p->floor_index)
        return !p->floor_phase || ws_expr_equal(p->floor_index, p->floor_phase);
    if (!ws_expr_affine(p->floor_phase, &f))
        return FALSE;
    const gint64 constant = f.constant; /* a whole turn less would be another use of the slot */
    ws_affine_clear(&f);
    return constant > -p->floor_by;
}

/* 0 or 1, whatever its names are. */
gboolean py_is_parity(const WsExpr *e)
{
    gint64 n;
    if (ws_x_is(e, &n))
        return n == 0 || n == 1;
    if (e->op == WS_EXPR_MOD)
        return (ws_x_is(e->arg[1], &n) && n == 2) || py_is_parity(e->arg[0]);
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_SELECT)
        return py_is_parity(e->arg[1]) && py_is_parity(e->arg[2]);
    if (e->op == WS_EXPR_SUB) /* 1 - x */
        return ws_x_is(e->arg[0], &n) && n == 1 && py_is_parity(e->arg[1]);
    if (e->op == WS_EXPR_ADD) /* -x + 1 */
        return ws_x_is(e->arg[1], &n) && n == 1 && e->arg[0]->op == WS_EXPR_NEG &&
               py_is_parity(e->arg[0]->arg[0]);
    if (e->op == WS_EXPR_MUL)
        return py_is_parity(e->arg[0]) && py_is_parity(e->arg[1]);
    return e->op == WS_EXPR_NOT || (e->op >= WS_EXPR_LT && e->op <= WS_EXPR_OR);
}
