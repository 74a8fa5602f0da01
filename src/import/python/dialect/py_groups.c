#include "import/python/dialect/py_sums.h"
#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Tiles that are counted in groups of rows, as an L2 likes them: of n * m tiles number t is row
 * t/(g*m)*g + t % (g*m) % h and column t % (g*m) / h, where h = min(n - t/(g*m)*g, g) rows are in
 * its group. They lie in n rows and m columns, and h is never 0: t is below n*m, so t/(g*m)*g is
 * below n. */

typedef struct {
    const WsExpr *u, *h; /* t % (g*m); rows of its group */
    const WsExpr *t, *per, *rows, *columns;
    gint64 g;
} Grouped;

static const WsExpr *op(PyRead *p, WsExprOp o, const WsExpr *a, const WsExpr *b)
{
    return ws_x_op(p->r, o, a, b);
}

/* t/d*d*c of ids that go to d dies in turn, c next to each other on each: a permutation of whole
 * rounds of them, and the id itself beyond. */
static gboolean is_dealt(PyRead *p, const WsExpr *e, const WsExpr **id)
{
    gint64 round, again;
    if (e->op != WS_EXPR_CALL || e->func != WS_FUNC_SELECT || e->n_args != 3)
        return FALSE;
    const WsExpr *is = e->arg[0], *to = e->arg[1], *own = e->arg[2];
    if (is->op != WS_EXPR_LT || !ws_expr_equal(is->arg[0], own) || own->op != WS_EXPR_NAME ||
        is->arg[1]->op != WS_EXPR_MUL || is->arg[1]->arg[0]->op != WS_EXPR_DIV ||
        !ws_expr_is_int(is->arg[1]->arg[1], &round) ||
        !ws_expr_is_int(is->arg[1]->arg[0]->arg[1], &again) || round != again || round < 1 ||
        round > 1 << 16)
        return FALSE;
    const WsExpr *count = py_count_of(p, own->name);
    if (!count || !py_is_same(count, is->arg[1]->arg[0]->arg[0]))
        return FALSE;
    for (gint64 d = 1; d <= round; d++) {
        if (round % d)
            continue;
        const WsExpr *dies = ws_x_int(p->r, d), *each = ws_x_int(p->r, round / d);
        const WsExpr *turn = op(p, WS_EXPR_DIV, own, dies);
        const WsExpr *sum =
            op(p, WS_EXPR_ADD,
               op(p, WS_EXPR_ADD, op(p, WS_EXPR_MUL, op(p, WS_EXPR_MOD, own, dies), each),
                  op(p, WS_EXPR_MOD, turn, each)),
               op(p, WS_EXPR_MUL, op(p, WS_EXPR_DIV, turn, each), ws_x_int(p->r, round)));
        if (py_sums_equal(to, sum)) {
            *id = own;
            return TRUE;
        }
    }
    return FALSE;
}

/* How many values t takes, from 0 on. */
static const WsExpr *count_of(PyRead *p, const WsExpr *t)
{
    const WsExpr *id = t;
    if (t->op != WS_EXPR_NAME && !is_dealt(p, t, &id))
        return NULL;
    return py_count_of(p, id->name);
}

/* u / h and u % h, with all names of the kernel's own written out. */
static gboolean is_grouped(PyRead *p, const WsExpr *u, const WsExpr *h, Grouped *of)
{
    if (u->op != WS_EXPR_MOD || h->op != WS_EXPR_CALL || h->func != WS_FUNC_MIN || h->n_args != 2)
        return FALSE;
    *of = (Grouped){ .u = u, .h = h, .t = u->arg[0], .per = u->arg[1] };
    const guint last = ws_expr_is_int(h->arg[0], &of->g) ? 1 : 0;
    if ((last == 0 && !ws_expr_is_int(h->arg[1], &of->g)) || of->g < 1)
        return FALSE;
    const WsExpr *g = ws_x_int(p->r, of->g), *count = count_of(p, of->t);
    of->columns = py_ratio(p, of->per, g);
    if (!count || !of->columns)
        return FALSE;
    /* what the last group lacks, and what is before it, are all rows */
    const WsExpr *all =
        op(p, WS_EXPR_ADD, h->arg[last], op(p, WS_EXPR_MUL, op(p, WS_EXPR_DIV, of->t, of->per), g));
    of->rows = py_ratio(p, count, of->columns);
    return of->rows && py_sums_equal(all, of->rows) && py_is_from_zero(p, of->rows) &&
           py_is_from_zero(p, of->columns);
}

typedef struct {
    PyRead *p;
    const WsExpr *at, *shape;
    gint64 n;
    gboolean good;
} Look;

/* count*n <= shape */
static gboolean is_in(PyRead *p, const WsExpr *count, const WsExpr *n, const WsExpr *shape)
{
    gint64 left;
    return py_is_same(count, op(p, WS_EXPR_DIV, shape, n)) ||
           (py_sums_apart(shape, op(p, WS_EXPR_MUL, count, n), &left) && left >= 0);
}

/* What `atom` is multiplied by in e; 0: it is not there by itself. */
static gint64 factor_in(const WsExpr *e, const WsExpr *atom)
{
    gint64 factor = 0;
    g_autoptr(GArray) terms = py_new_terms();
    if (!py_write_out(e, 1, terms))
        return 0;
    for (guint i = 0; i < terms->len; i++) {
        const PyTerm *t = &g_array_index(terms, PyTerm, i);
        if (t->atom->len == 1 && ws_expr_equal(t->atom->pdata[0], atom))
            factor = t->factor;
    }
    return factor;
}

/* at is number*factor and not so much more that it leaves the factor's part of `count` of them. */
static gboolean is_part(Look *l, const WsExpr *number, const WsExpr *count, gint64 factor)
{
    gint64 more;
    const WsExpr *by = ws_x_int(l->p->r, factor);
    return factor > 0 && py_sums_apart(l->at, op(l->p, WS_EXPR_MUL, number, by), &more) &&
           more >= 0 && more <= factor - l->n && is_in(l->p, count, by, l->shape);
}

static void look(const WsExpr *node, gpointer data)
{
    Look *l = data;
    PyRead *p = l->p;
    Grouped of;
    if (l->good || (node->op != WS_EXPR_MOD && node->op != WS_EXPR_DIV))
        return;
    const gint64 factor = factor_in(l->at, node);
    if (node->op == WS_EXPR_MOD && py_is_from_zero(p, node->arg[0]))
        l->good = is_part(l, node, node->arg[1], factor); /* u % m is below m */
    if (l->good || !is_grouped(p, node->arg[0], node->arg[1], &of))
        return;
    const WsExpr *before =
        op(p, WS_EXPR_MUL, op(p, WS_EXPR_DIV, of.t, of.per), ws_x_int(p->r, of.g));
    l->good = node->op == WS_EXPR_MOD
                  ? is_part(l, op(p, WS_EXPR_ADD, before, node), of.rows, factor)
                  : is_part(l, node, of.columns, factor);
}

gboolean py_in_groups(PyRead *p, const WsExpr *at, gint64 n, const WsExpr *shape)
{
    Look l = { p, at, shape, n, FALSE };
    if (shape && n > 0)
        ws_expr_visit(at, look, &l);
    return l.good;
}
