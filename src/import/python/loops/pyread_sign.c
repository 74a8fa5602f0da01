/* What may be below 0: kernels cut quotients towards it, expressions are rounded down. */
#include "import/fit.h"
#include "import/python/loops/pyread_loop.h"
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
    if (found || !g_hash_table_contains(p->rising, name))
        return found;
    g_hash_table_insert(p->rising, (gpointer)name, (gpointer)name); /* it has to hold, now */
    return TRUE;
}

gboolean py_least(const PyRead *p, const WsExpr *e, gint64 *n)
{
    WsAffine f;
    gint64 by, part, sum;
    if (assumed_least(p, e, n))
        return TRUE;
    if (e->op == WS_EXPR_NAME || e->op == WS_EXPR_TOTAL) { /* a total counts rounds */
        *n = 0;
        return e->op == WS_EXPR_TOTAL || counts(p, e->name);
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

gboolean py_only_adds(const PyRead *p, const WsExpr *e)
{
    WsAffine f;
    gint64 n;
    if (!e || !ws_expr_affine(e, &f))
        return FALSE;
    gboolean adds = f.constant >= 0;
    for (guint i = 0; i < f.n; i++) {
        const WsExpr *t = f.term[i]; /* __n_: rounds of a loop inside */
        const gboolean rounds = t->op == WS_EXPR_NAME && g_str_has_prefix(t->name, "__n_");
        adds = adds && f.factor[i] > 0 && (rounds || (py_least(p, t, &n) && n >= 0));
    }
    ws_affine_clear(&f);
    return adds || (py_least(p, e, &n) && n >= 0);
}

static void is_of_loop(const WsExpr *node, gpointer data)
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
}

/* The same, or the number of the tile. */
static void is_of_round(const WsExpr *node, gpointer data)
{
    gpointer *d = data;
    const PyRead *p = d[0];
    gboolean *found = d[1];
    is_of_loop(node, data);
    *found |= node->op == WS_EXPR_NAME && p->tile && !strcmp(p->tile, node->name);
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

/* Of a tile's number and of numbers alone, less a number. What other names add is taken to be
 * enough: rows from the last, as orders of tiles are written. */
static gboolean takes_from_tile(const PyRead *p, const WsExpr *e)
{
    WsAffine f;
    if (!p->tile || !ws_expr_affine(e, &f))
        return FALSE;
    gboolean tile = FALSE, others = FALSE;
    for (guint i = 0; i < f.n; i++) {
        tile |= ws_expr_mentions(f.term[i], p->tile);
        others |= f.factor[i] > 0 && !ws_expr_mentions(f.term[i], p->tile);
    }
    const gboolean less = f.constant < 0;
    ws_affine_clear(&f);
    return tile && less && !others;
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
    if (rounded && (of_loop || takes_from_tile(p, e->arg[0])) &&
        !py_is_never_negative(p, e->arg[0]))
        return TRUE;
    for (guint i = 0; i < e->n_args; i++)
        if (py_hides_negative(p, e->arg[i]))
            return TRUE;
    return FALSE;
}

/* Numbers with which a sum may leave 32 bits, where a kernel's integers begin anew below 0. */
#define MOST_IN_SUMS ((gint64)1 << 28)

static void is_far(const WsExpr *node, gpointer data)
{
    gboolean *far = data;
    WsAffine f;
    gint64 n;
    *far |= ws_expr_is_int(node, &n) && (n >= MOST_IN_SUMS || n <= -MOST_IN_SUMS);
    if (!node->n_args || !ws_expr_affine(node, &f))
        return;
    *far |= f.constant >= MOST_IN_SUMS || f.constant <= -MOST_IN_SUMS;
    for (guint i = 0; i < f.n; i++)
        *far |= f.factor[i] >= MOST_IN_SUMS || f.factor[i] <= -MOST_IN_SUMS;
    ws_affine_clear(&f);
}

gboolean py_may_leave_32_bits(const WsExpr *e)
{
    gboolean far = FALSE;
    if (e && e->n_args)
        ws_expr_visit(e, is_far, &far);
    return far;
}

static gboolean only_adds(const WsExpr *e)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    gboolean adds = f.constant >= 0;
    for (guint i = 0; i < f.n; i++)
        adds = adds && f.factor[i] > 0 && (ws_expr_equal(f.term[i], e) || !has_minus(f.term[i]));
    ws_affine_clear(&f);
    return adds;
}

/* (x + y) / n - x / n: what a loop inside adds to a count of turns. */
static gboolean is_made_up_for(const WsAffine *f, guint less)
{
    const WsExpr *x = f->term[less];
    for (guint i = 0; x->op == WS_EXPR_DIV && i < f->n; i++) {
        const WsExpr *y = f->term[i];
        if (f->factor[i] < -f->factor[less] || y->op != WS_EXPR_DIV ||
            !ws_expr_equal(x->arg[1], y->arg[1]))
            continue;
        WsExpr *more = ws_expr_op(WS_EXPR_SUB, ws_expr_ref(y->arg[0]), ws_expr_ref(x->arg[0]));
        const gboolean adds = only_adds(more);
        ws_expr_unref(more);
        if (adds)
            return TRUE;
    }
    return FALSE;
}

/* Nothing is taken away but what is there. */
static gboolean stays_above(const WsExpr *e)
{
    WsAffine f;
    if (!ws_expr_affine(e, &f))
        return !has_minus(e);
    gboolean above = f.constant >= 0;
    guint less = 0;
    for (guint i = 0; i < f.n; i++) {
        less += f.factor[i] < 0;
        above = above && (f.factor[i] > 0 ? ws_expr_equal(f.term[i], e) || !has_minus(f.term[i])
                                          : is_made_up_for(&f, i));
    }
    ws_affine_clear(&f);
    return above && less <= 1; /* two may be made up for by one */
}

gboolean py_rests_are_plain(const WsExpr *e)
{
    gint64 n;
    if ((e->op == WS_EXPR_DIV || e->op == WS_EXPR_MOD) &&
        (!ws_x_is(e->arg[1], &n) || n <= 0 || !stays_above(e->arg[0])))
        return FALSE;
    for (guint i = 0; i < e->n_args; i++)
        if (!py_rests_are_plain(e->arg[i]))
            return FALSE;
    return TRUE;
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
