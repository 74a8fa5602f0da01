#include "import/python/dsa/read.h"

#include <string.h>

/* Where a copy lies in its tensor: places `at` to `at + n - 1` along each dimension, of which the
 * shape of the copy says how many there are: all n, or min(extent - at, n), or max(…, 0) of that.
 */

static const WsExpr *plus(PyDsa *d, const WsExpr *a, const WsExpr *b)
{
    return !a ? b : !b ? a : ws_x_op(d->r, WS_EXPR_ADD, a, b);
}

static gboolean is(const WsExpr *e, gint64 n)
{
    gint64 known;
    return e && ws_expr_is_int(e, &known) && known == n;
}

static gboolean same(const WsExpr *a, const WsExpr *b)
{
    gint64 by;
    return ws_expr_equal(a, b) || (ws_x_difference(a, b, &by) && !by);
}

/* The other argument of f(…), of which one is the number. */
static const WsExpr *beside(PyDsa *d, const WsExpr *e, WsFunc f, gint64 n)
{
    if (e->op != WS_EXPR_CALL || e->func != f || e->n_args != 2)
        return NULL;
    const WsExpr *other = is(e->arg[0], n) ? e->arg[1] : is(e->arg[1], n) ? e->arg[0] : NULL;
    return other ? ws_x_own(d->r, ws_expr_ref((WsExpr *)other)) : NULL;
}

/* How many values a name takes from 0 on, NULL: that is not known. */
static const WsExpr *count_of(const PyDsa *d, const char *name)
{
    static const char *const pid[] = { "pid", "pid_1", "pid_2" };
    for (guint i = 0; i < 3; i++)
        if (!strcmp(name, pid[i]))
            return d->grid[i];
    for (guint i = 0; i < d->loops->len; i++) {
        const PyDsaLoop *l = &g_array_index(d->loops, PyDsaLoop, i);
        if (!strcmp(name, l->name) && (!l->from || is(l->from, 0)) &&
            (!l->step->by || is(l->step->by, 1)))
            return l->count;
    }
    return NULL;
}

/* at is v*n of a name v that takes `count` values; NULL: it is none. */
static const WsExpr *counted(PyDsa *d, const WsExpr *at, gint64 n)
{
    WsAffine f;
    if (!ws_expr_affine(at, &f))
        return NULL;
    const gboolean fits =
        f.n == 1 && !f.constant && f.factor[0] == n && f.term[0]->op == WS_EXPR_NAME;
    const WsExpr *count = fits ? count_of(d, f.term[0]->name) : NULL;
    ws_affine_clear(&f);
    return count;
}

static gboolean take_shape(PyDsa *d, PyDsaTensor *t, guint k, const WsExpr *extent,
                           const WsPyNode *at)
{
    if (extent->op == WS_EXPR_ADD || extent->op == WS_EXPR_SUB)
        return py_dsa_refuse(d, at, "Begin the copy where its tail does: min(extent - start, N).",
                             "a tail that does not end where `%s` would: its start is another one "
                             "than the copy's",
                             t->name);
    if (!py_dsa_is_of_launch(d, extent))
        return py_dsa_refuse(d, at, "Write min(extent - start, N).",
                             "a tail whose extent the launch does not give");
    if (t->shape[k] && !same(t->shape[k], extent))
        return py_dsa_refuse(d, at, "Use one extent for a tensor.", "tails of `%s` by two extents",
                             t->name);
    t->shape[k] = extent;
    return TRUE;
}

/* One dimension. */
static gboolean tail(PyDsa *d, PyDsaTensor *t, guint k, const PyDsaAxis *axis, const WsPyNode *node)
{
    const WsExpr *e = py_dsa_int(d, node);
    if (!e)
        return FALSE;
    if (is(e, axis->n)) {
        const WsExpr *count = counted(d, axis->at, axis->n);
        const WsExpr *all = is(axis->at, 0) ? ws_x_int(d->r, axis->n)
                            : count ? ws_x_op(d->r, WS_EXPR_MUL, count, ws_x_int(d->r, axis->n))
                                    : NULL;
        if (all)
            return take_shape(d, t, k, all, node);
        return py_dsa_refuse(d, node, "Write tl.minimum(extent - start, N).",
                             "a copy that is not shown to lie in `%s`", t->name);
    }
    const WsExpr *most = beside(d, e, WS_FUNC_MAX, 0), *rest = most ? most : e;
    const WsExpr *left = beside(d, rest, WS_FUNC_MIN, axis->n);
    const WsExpr *extent = left ? plus(d, left, axis->at) : NULL;
    if (!extent)
        return py_dsa_refuse(d, node,
                             "Write tl.maximum(tl.minimum(extent - start, N), 0), or N itself.",
                             "the number of elements of a copy");
    if (!take_shape(d, t, k, extent, node))
        return FALSE;
    const WsExpr *count = counted(d, axis->at, axis->n);
    const WsExpr *parts = ws_x_call(d->r, WS_FUNC_CDIV, extent, ws_x_int(d->r, axis->n), NULL),
                 *whole = ws_x_op(d->r, WS_EXPR_DIV, extent, ws_x_int(d->r, axis->n));
    if (!most && !(count && ((parts && same(count, parts)) || (whole && same(count, whole)))))
        ws_source_granted(
            d->r, ws_source_format(d->r, "tails of copies of `%s` are never below 0", t->name));
    return TRUE;
}

/* A size that is no extent of a tensor. */
static gboolean handed(gconstpointer data, const WsExpr *e)
{
    const PyDsa *d = data;
    gboolean is = e->op == WS_EXPR_NAME && py_dsa_is_of_launch(d, e);
    for (guint i = 0; is && i < d->tensors->len; i++)
        for (guint k = 0; k < 2; k++) {
            const WsExpr *of = g_array_index(d->tensors, PyDsaTensor, i).shape[k];
            is = is && !(of && ws_expr_mentions(of, e->name));
        }
    return is;
}

/* Strides that the tensor has anyway are none. */
static gboolean take_strides(PyDsa *d, PyDsaTensor *t, const PyDsaVal *v, gboolean written,
                             const WsPyNode *at)
{
    const WsExpr *stride[2] = { v->axis[0].stride, v->axis[1].stride };
    const guint first = 2 - v->rank;
    const gboolean plain =
        is(stride[1], 1) && (v->rank == 1 || (t->shape[1] && same(stride[0], t->shape[1])));
    for (guint k = first; k < 2; k++) {
        const WsExpr *own = plain ? NULL : stride[k], *was = t->stride[k];
        if (!py_dsa_is_of_launch(d, stride[k]))
            return py_dsa_refuse(d, at, "Use a size.", "a stride that the launch does not give");
        if (t->known && (own ? !was || !same(own, was) : was != NULL))
            return py_dsa_refuse(d, at, "Use one order of its elements.",
                                 "copies of `%s` with two strides", t->name);
        t->stride[k] = own;
    }
    t->known = TRUE;
    if (!plain && written && v->rank == 2 && !ws_x_strides_part(d->r, t->shape, stride, handed, d))
        return py_dsa_refuse(d, at, "Use the extents of the tensor, or strides of the launch.",
                             "strides of `%s` that do not follow from its shape: elements may "
                             "overlap",
                             t->name);
    if (!plain)
        ws_source_granted(d->r, ws_source_format(d->r,
                                                 "elements of `%s` do not overlap, as its strides "
                                                 "say where they lie",
                                                 t->name));
    return TRUE;
}

gboolean py_dsa_place(PyDsa *d, PyDsaStep *s, const PyDsaVal *pointer, const PyDsaBuffer *b,
                      const WsPyNode *shape)
{
    PyDsaTensor *t = py_dsa_tensor(d, s->tensor);
    PyDsaVal v = *pointer;
    const gint64 want[] = { b->rows, b->cols };
    const guint first = 2 - b->rank;
    if (v.rank != b->rank || (t->rank && t->rank != v.rank))
        return py_dsa_refuse(d, shape, "Use tiles of places with as many dimensions.",
                             "a copy of places and a buffer of other many dimensions");
    t->rank = v.rank;
    for (guint k = first; k < 2; k++)
        if (v.axis[k].n != want[k])
            return py_dsa_refuse(d, shape, "Use a tile of places as large as the buffer.",
                                 "a copy of places and a buffer of two shapes");
    if (v.e && !is(v.e, 0)) {
        if (v.rank == 2 || !is(v.axis[1].stride, 1))
            return py_dsa_refuse(d, shape, "Add the start to tl.arange(0, N).",
                                 "places that begin at a sum");
        v.axis[1].at = plus(d, v.axis[1].at, v.e);
    }
    if ((shape->kind != WS_PY_LIST && shape->kind != WS_PY_TUPLE) || shape->n != v.rank)
        return py_dsa_refuse(d, shape, "Write as many numbers as dimensions.",
                             "the shape of a copy");
    for (guint k = first; k < 2; k++) {
        if (!py_dsa_is_from_zero(d, v.axis[k].at))
            return py_dsa_refuse(d, shape, "Begin at 0 or later.", "a place that may be below 0");
        if (!tail(d, t, k, &v.axis[k], shape->kid[k - first]))
            return FALSE;
        s->at[k] = v.axis[k].at;
    }
    return take_strides(d, t, &v, s->kind == DSA_OUT, shape);
}
