#include "import/python/dialect/py_sums.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"

#include <string.h>

/* Whether tiles lie in their tensors: by the grid, the rounds of loops, and what the host asserts.
 */

gboolean py_is_size(const PyRead *p, const char *name)
{
    for (guint i = 0; i < p->r->sizes->len; i++)
        if (!strcmp(p->r->sizes->pdata[i], name))
            return TRUE;
    return FALSE;
}

gboolean py_is_same(const WsExpr *a, const WsExpr *b)
{
    gint64 d;
    return a && b && (ws_expr_equal(a, b) || (ws_x_difference(a, b, &d) && !d));
}

static gboolean says_multiple(const WsExpr *e, const WsExpr *of, gint64 n)
{
    gint64 by, rest;
    if (e->op == WS_EXPR_AND)
        return says_multiple(e->arg[0], of, n) || says_multiple(e->arg[1], of, n);
    return e->op == WS_EXPR_EQ && ws_expr_is_int(e->arg[1], &rest) && !rest &&
           e->arg[0]->op == WS_EXPR_MOD && ws_expr_is_int(e->arg[0]->arg[1], &by) && by > 0 &&
           by % n == 0 && ws_expr_equal(e->arg[0]->arg[0], of);
}

static gboolean is_multiple(PyRead *p, const WsExpr *e, gint64 n)
{
    gint64 known;
    if (ws_x_is(e, &known))
        return known % n == 0;
    for (guint i = 0; i < p->r->assume->len; i++) {
        const WsExpr *a = ws_x_parsed(p->r, p->r->assume->pdata[i]);
        if (a && says_multiple(a, e, n))
            return TRUE;
    }
    return FALSE;
}

const WsExpr *py_count_of(PyRead *p, const char *name)
{
    static const char *const pid[] = { PY_PID, PY_PID "_1", PY_PID "_2" };
    for (guint i = 0; i < 3; i++)
        if (!strcmp(name, pid[i])) {
            const WsExpr *all = p->grid && p->grid->kind == VAL_TUPLE && i < p->grid->n
                                    ? py_as_int(p, p->grid->item[i])
                                    : NULL;
            return i == 0 ? py_mesh_clusters(p, all) : all;
        }
    if (p->mesh && !strcmp(name, "cta"))
        return ws_x_int(p->r, p->mesh->rows);
    for (guint i = 0; i < p->loops->len; i++) {
        const OpenLoop *l = &g_array_index(p->loops, OpenLoop, i);
        if (!strcmp(name, l->name))
            return l->count;
    }
    return NULL;
}

const WsExpr *py_of_few_programs(PyRead *p, const char *op, const WsExpr *a, const WsExpr *b)
{
    const gboolean rest = !strcmp(op, "%");
    gint64 all, n;
    if (!p->in_kernel || (!rest && strcmp(op, "//") != 0) || !a || a->op != WS_EXPR_NAME ||
        !g_str_has_prefix(a->name, PY_PID) || !ws_x_is(py_count_of(p, a->name), &all) ||
        !ws_x_is(b, &n) || n < 1 || all > n)
        return NULL;
    return rest ? a : ws_x_int(p->r, 0);
}

/* Of numbers that are none below 0: those of the launch, which is refused otherwise, the number of
 * a program and of a round, and what is made of them without taking anything away. Nothing is
 * divided by 0. */
gboolean py_is_from_zero(PyRead *p, const WsExpr *e)
{
    gint64 n;
    gboolean all = TRUE;
    if (ws_expr_is_int(e, &n))
        return n >= 0;
    if (e->op == WS_EXPR_NAME)
        return g_str_has_prefix(e->name, PY_PID)
                   ? py_count_of(p, e->name) != NULL
                   : py_is_size(p, e->name) || py_count_of(p, e->name);
    for (guint i = 0; i < e->n_args; i++)
        all = all && py_is_from_zero(p, e->arg[i]);
    return all && (e->op == WS_EXPR_ADD || e->op == WS_EXPR_MUL || e->op == WS_EXPR_DIV ||
                   e->op == WS_EXPR_MOD ||
                   (e->op == WS_EXPR_CALL &&
                    (e->func == WS_FUNC_CDIV || e->func == WS_FUNC_MIN || e->func == WS_FUNC_MAX)));
}

/* n - tile/(g*m)*g, where there are n * m tiles. */
static gboolean is_rest_of_group(PyRead *p, const WsExpr *e)
{
    g_autoptr(GArray) terms = py_new_terms();
    const WsExpr *n = NULL, *taken = NULL;
    if (!p->tile || !p->tiles || !py_write_out(e, 1, terms) || terms->len != 2)
        return FALSE;
    for (guint i = 0; i < 2; i++) {
        const PyTerm *t = &g_array_index(terms, PyTerm, i);
        const WsExpr *product = ws_x_int(p->r, ABS(t->factor));
        for (guint k = 0; k < t->atom->len; k++)
            product = ws_x_op(p->r, WS_EXPR_MUL, product, t->atom->pdata[k]);
        if (t->factor > 0)
            n = product;
        else
            taken = product;
    }
    for (guint i = 0; n && taken && i < 2; i++) {
        const PyTerm *t = &g_array_index(terms, PyTerm, i);
        for (guint k = 0; t->factor < 0 && k < t->atom->len; k++) {
            const WsExpr *q = t->atom->pdata[k];
            const WsExpr *g = q->op == WS_EXPR_DIV && q->arg[0]->op == WS_EXPR_NAME &&
                                      !strcmp(q->arg[0]->name, p->tile)
                                  ? py_ratio(p, taken, q)
                                  : NULL;
            if (g && py_sums_equal(ws_x_op(p->r, WS_EXPR_MUL, p->tiles, g),
                                   ws_x_op(p->r, WS_EXPR_MUL, n, q->arg[1])))
                return TRUE;
        }
    }
    return FALSE;
}

gboolean py_is_place(PyRead *p, const WsExpr *e)
{
    gboolean all = TRUE, any = FALSE;
    if (py_is_from_zero(p, e) || py_is_never_negative(p, e))
        return TRUE;
    if (e->op == WS_EXPR_NAME)
        return p->tile && !strcmp(e->name, p->tile);
    if (e->op == WS_EXPR_MOD) /* its sign is that of what is divided */
        return py_is_place(p, e->arg[0]);
    for (guint i = 0; i < e->n_args; i++) {
        const gboolean is = py_is_place(p, e->arg[i]);
        all = all && is;
        any = any || is;
    }
    if (e->op == WS_EXPR_CALL && e->func == WS_FUNC_MAX)
        return any;
    return (all &&
            (e->op == WS_EXPR_ADD || e->op == WS_EXPR_MUL || e->op == WS_EXPR_DIV ||
             (e->op == WS_EXPR_CALL && (e->func == WS_FUNC_CDIV || e->func == WS_FUNC_MIN)))) ||
           is_rest_of_group(p, e);
}

static gint64 least_of(const WsAffine *f)
{
    return MIN(f->factor[0], f->factor[1]);
}

/* (pid*C + cta)*n: the number of a program of a launch of clusters; how many there are. */
static const WsExpr *programs_of(PyRead *p, const WsAffine *f)
{
    if (!p->mesh || f->n != 2 || f->term[0]->op != WS_EXPR_NAME || f->term[1]->op != WS_EXPR_NAME)
        return NULL;
    const guint own = !strcmp(f->term[0]->name, "cta") ? 0 : 1;
    const WsExpr *clusters = py_count_of(p, PY_PID);
    return !strcmp(f->term[own]->name, "cta") && !strcmp(f->term[1 - own]->name, PY_PID) &&
                   f->factor[own] > 0 && f->factor[1 - own] == f->factor[own] * p->mesh->rows
               ? ws_x_op(p->r, WS_EXPR_MUL, clusters, ws_x_int(p->r, p->mesh->rows))
               : NULL;
}

/* What an assumption says that `shape` is not below; 0: nothing. */
static gint64 least_in(const WsExpr *a, const WsExpr *shape)
{
    gint64 n;
    if (a->op == WS_EXPR_AND)
        return MAX(least_in(a->arg[0], shape), least_in(a->arg[1], shape));
    return a->op == WS_EXPR_GE && ws_expr_equal(a->arg[0], shape) && ws_expr_is_int(a->arg[1], &n)
               ? n
               : 0;
}

static gint64 assumed_least(PyRead *p, const WsExpr *shape)
{
    gint64 least = 0;
    for (guint i = 0; shape && i < p->r->assume->len; i++) {
        const WsExpr *a = ws_x_parsed(p->r, p->r->assume->pdata[i]);
        least = a ? MAX(least, least_in(a, shape)) : least;
    }
    return least;
}

/* end <= e, by what is written. */
static gboolean ends_in(const WsExpr *end, const WsExpr *e)
{
    gint64 left;
    return py_sums_apart(e, end, &left) && left >= 0;
}

/* e + n <= shape, whatever the launch. */
static gboolean fits(PyRead *p, const WsExpr *e, gint64 n, const WsExpr *shape)
{
    gint64 left;
    WsAffine f;
    const WsExpr *one = ws_x_op(p->r, WS_EXPR_ADD, e, ws_x_int(p->r, n));
    if (!shape || !one)
        return FALSE;
    if (ws_x_difference(one, shape, &left))
        return left >= 0;
    if (!ws_expr_affine(e, &f))
        return FALSE;
    const WsExpr *programs = programs_of(p, &f);
    gboolean good = (programs || (f.n == 1 && f.term[0]->op == WS_EXPR_NAME)) && f.constant >= 0;
    const gint64 factor = !good ? 0 : programs ? least_of(&f) : f.factor[0];
    const gint64 beyond = f.constant + n - factor; /* of the last one's end */
    good = good && factor > 0 && (beyond <= 0 || !programs);
    const WsExpr *count = !good ? NULL : programs ? programs : py_count_of(p, f.term[0]->name);
    const WsExpr *by = good ? ws_x_int(p->r, factor) : NULL;
    const gboolean whole = good && is_multiple(p, shape, factor);
    ws_affine_clear(&f);
    if (!count)
        return FALSE;
    const WsExpr *all = ws_x_op(p->r, WS_EXPR_MUL, count, by);
    const WsExpr *end = beyond > 0 ? ws_x_op(p->r, WS_EXPR_ADD, all, ws_x_int(p->r, beyond)) : NULL;
    if (beyond > 0) /* shape/by*by is no more than shape */
        return (ws_x_is(end, &left) && left <= assumed_least(p, shape)) || ends_in(end, shape) ||
               ends_in(end, ws_x_op(p->r, WS_EXPR_MUL, ws_x_op(p->r, WS_EXPR_DIV, shape, by), by));
    return (whole && py_is_same(count, ws_x_call(p->r, WS_FUNC_CDIV, shape, by, NULL))) ||
           py_is_same(count, ws_x_op(p->r, WS_EXPR_DIV, shape, by)) ||
           (all && ws_x_difference(all, shape, &left) && left >= 0);
}

typedef struct {
    const PyRead *p;
    gboolean all;
} Sizes;

static void only_sizes(const WsExpr *node, gpointer data)
{
    Sizes *d = data;
    d->all &= node->op != WS_EXPR_TOTAL && node->op != WS_EXPR_INDEX &&
              (node->op != WS_EXPR_NAME || py_is_size(d->p, node->name));
}

/* The extent of a tensor: one number of the launch. */
gboolean py_is_extent(const PyRead *p, const WsExpr *e)
{
    Sizes d = { p, TRUE };
    ws_expr_visit(e, only_sizes, &d);
    return d.all;
}

gboolean py_is_handed(const PyRead *p, const WsExpr *e)
{
    gboolean extent = FALSE;
    if (!e || e->op != WS_EXPR_NAME || !py_is_extent(p, e))
        return FALSE;
    for (guint i = 0; i < p->r->tensors->len; i++)
        for (guint d = 0; d < 5; d++) {
            const WsExpr *of = g_array_index(p->r->tensors, WsReadTensor, i).shape[d];
            extent |= of && ws_expr_mentions(of, e->name);
        }
    return !extent;
}

/* What an assumption says that `shape` is equal to; NULL: nothing. */
static const WsExpr *equal_in(PyRead *p, const WsExpr *a, const WsExpr *shape)
{
    const WsExpr *found = NULL;
    if (a->op == WS_EXPR_AND)
        return (found = equal_in(p, a->arg[0], shape)) ? found : equal_in(p, a->arg[1], shape);
    for (guint i = 0; a->op == WS_EXPR_EQ && i < 2 && !found; i++)
        if (ws_expr_equal(a->arg[i], shape))
            found = ws_x_own(p->r, ws_expr_ref(a->arg[1 - i]));
    return found;
}

static const WsExpr *assumed_equal(PyRead *p, guint assumption, const WsExpr *shape)
{
    const WsExpr *a = ws_x_parsed(p->r, p->r->assume->pdata[assumption]);
    return a && shape ? equal_in(p, a, shape) : NULL;
}

typedef struct {
    PyRead *p;
    const WsExpr *end, *shape;
    gboolean good;
} Whole;

/* shape/n*n is no more than shape. */
static void look_at_quotient(const WsExpr *node, gpointer data)
{
    Whole *w = data;
    gint64 n;
    if (node->op == WS_EXPR_DIV && ws_expr_is_int(node->arg[1], &n) && n > 0 &&
        ws_expr_equal(node->arg[0], w->shape))
        w->good |= ends_in(w->end, ws_x_op(w->p->r, WS_EXPR_MUL, node, node->arg[1]));
}

static gboolean fits_whole(PyRead *p, const WsExpr *e, gint64 n, const WsExpr *shape)
{
    Whole w = { p, ws_x_op(p->r, WS_EXPR_ADD, e, ws_x_int(p->r, n)), shape, FALSE };
    if (shape && w.end)
        ws_expr_visit(e, look_at_quotient, &w);
    return w.good;
}

gboolean py_fits(PyRead *p, const WsExpr *e, gint64 n, const WsExpr *shape)
{
    gint64 at;
    gboolean good = fits(p, e, n, shape) || fits_whole(p, e, n, shape) ||
                    (ws_x_is(e, &at) && at >= 0 && n >= 0 && n <= assumed_least(p, shape) - at);
    for (guint i = 0; i < p->r->assume->len && !good; i++)
        good = fits(p, e, n, assumed_equal(p, i, shape));
    return good;
}

gboolean py_is_bound(PyRead *p, const WsExpr *bound, const WsExpr *shape)
{
    gboolean good = py_is_same(bound, shape);
    for (guint i = 0; i < p->r->assume->len && !good; i++)
        good = py_is_same(bound, assumed_equal(p, i, shape));
    return good;
}
