#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"
#include "import/python/pyread_types.h"

#include <string.h>

/* What runs along an axis: the largest, the smallest and the sum of a row, running sums. Designs
 * reduce rows alone, so which axis is meant, and whether it is a row, has to be known. */

typedef enum {
    ALONG_ROWS, /* each row to one value */
    ALONG_ALL,  /* the only row, to one number */
    ALONG_ELSE, /* something that designs have no word for, or that is not known */
} Along;

static gboolean is_two(const Val *v, const Val *m)
{
    return v->dims == 2 || (m->rows > 1 && m->cols > 1);
}

/* `axis`: NULL or None for all elements. */
static Along along(const Val *v, const Val *m, const Val *axis)
{
    const gboolean all = !py_given(axis);
    const gint64 n = py_number(axis, G_MAXINT32);
    if (!all && n != 1 && n != 0 && n != -1)
        return ALONG_ELSE;
    if (is_two(v, m))
        return !all && n != 0 ? ALONG_ROWS : all && m->rows == 1 ? ALONG_ALL : ALONG_ELSE;
    if (v->dims == 1)
        return m->rows == 1 && (all || n != 1) ? ALONG_ALL : ALONG_ELSE;
    return n == 1 || n == -1 ? ALONG_ROWS : all && m->rows == 1 ? ALONG_ALL : ALONG_ELSE;
}

/* Dimensions of what is left of each row. */
static const Val *shaped(PyRead *p, const Val *of, Along how, const Val *keep)
{
    const gboolean kept = py_given(keep) && py_number(keep, 1) != 0;
    return how == ALONG_ALL ? of : py_of_dimensions(p, of, kept ? 2 : 1);
}

static gboolean is_whole(const Val *m)
{
    return m->dtype && (*m->dtype == 'i' || *m->dtype == 'u');
}

/* tl.max(x, axis, return_indices, return_indices_tie_break_left, keep_dims): of f32 or i32, which
 * narrower types are widened to. */
static const Val *extreme(PyRead *p, const Val **a, gboolean largest, const WsPyNode *at)
{
    const Val *x = a[0];
    if (x && x->kind == VAL_TILE && x->rows == 1 && x->cols == 1 && x->step && py_given(a[1]))
        return x; /* gl.max(x.load(…), axis=0): how an integer is taken out of a tile of one */
    const Val *m = py_is_tile(x) ? py_formula(p, x) : NULL;
    if (!m)
        return py_opaque(p);
    if (py_given(a[2]) && py_number(a[2], 1) != 0)
        return py_lost(p, at, "where the largest or smallest elements are");
    const Along how = along(x, m, a[1]);
    if (how == ALONG_ELSE)
        return py_lost(p, at, "the largest or smallest of something else than rows");
    if (!g_strcmp0(m->dtype, "b"))
        m = py_function_tile(p, "select", (const Val *[]){ m, py_literal(p, 1), py_literal(p, 0) },
                             3, FALSE);
    const gboolean whole = is_whole(m);
    Val *of = py_val(p, VAL_MATH);
    *of = *m;
    if (!largest) /* designs have the largest alone; -x of i32 would run over */
        of->text = ws_source_format(p->r, whole ? "bitxor(%s, -1)" : "(-%s)", m->text);
    const Val *row = of;
    const Val *found = py_function_tile(p, "rowmax", &row, 1, TRUE);
    if (found->kind != VAL_MATH)
        return found;
    Val *own = (Val *)found;
    if (!largest)
        own->text = ws_source_format(p->r, whole ? "bitxor(%s, -1)" : "(-%s)", found->text);
    own->dtype = whole ? "i32" : NULL;
    return shaped(p, found, how, a[4]);
}

const Val *py_mean_ROW_MAX(PyRead *p, const Val **a, const WsPyNode *at)
{
    return extreme(p, a, TRUE, at);
}

const Val *py_mean_ROW_MIN(PyRead *p, const Val **a, const WsPyNode *at)
{
    return extreme(p, a, FALSE, at);
}

/* Each addition is rounded, in an order of the compiler's own. */
static void grant_sums(PyRead *p, const Val *of)
{
    ws_source_granted(p->r, ws_source_format(p->r,
                                             "sums of values of %s are added up in f32, where "
                                             "the kernel rounds each addition",
                                             of->dtype));
}

/* Columns of a lane, then those of its quad of columns. */
static const Val *lane_sum(PyRead *p, const Val *of)
{
    Val *v = py_val(p, VAL_LANES);
    *v = *of;
    v->depth++;
    if (v->depth < 2)
        return v;
    const Val *sum = py_function_tile(p, "lanesum", v->item, 1, FALSE);
    if (sum->kind == VAL_MATH)
        ((Val *)sum)->cols = 4;
    return sum;
}

/* tl.sum(x, axis, keep_dims, dtype): in the type of what is summed up, or in `dtype`. */
const Val *py_mean_SUM(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *x = a[0];
    if (x && x->kind == VAL_LANES && py_number(a[1], 0) == (x->depth ? 1 : 3))
        return lane_sum(p, x);
    const Val *m = py_is_tile(x) ? py_formula(p, x) : NULL;
    if (!m)
        return py_opaque(p);
    const Along how = along(x, m, a[1]);
    if (how == ALONG_ELSE)
        return py_lost(p, at, "the sum of something else than rows");
    const char *own = m->dtype ? m->dtype : "f32", *type = !py_given(a[3]) ? own
                                                           : a[3]->kind == VAL_NAME
                                                               ? py_dtype(a[3]->text)
                                                               : NULL;
    const gboolean widened = !g_strcmp0(type, "f32") && py_is_sixteen(m);
    if (g_strcmp0(type, own) != 0 && !widened)
        return py_lost(p, at, "a sum in another type than that of its values");
    if (!strcmp(own, "b") || *own == 'u' || *own == 'e')
        return py_lost(p, at, "a sum of conditions, of integers without a sign, or of fp8");
    const Val *row = widened ? py_function_tile(p, "f32", &m, 1, FALSE) : m;
    const Val *sum = py_function_tile(p, "rowsum", &row, 1, TRUE);
    if (sum->kind != VAL_MATH)
        return sum;
    ((Val *)sum)->dtype = is_whole(m) ? "i32" : NULL;
    if (py_is_sixteen(m) && !widened) {
        grant_sums(p, m);
        ((Val *)sum)->text = ws_source_format(p->r, "%s(%s)", m->dtype, sum->text);
        ((Val *)sum)->dtype = m->dtype;
    }
    return shaped(p, sum, how, a[2]);
}

/* What is summed up is converted before; NULL: to a type that sums are not known in. */
static const Val *as_summed(PyRead *p, const Val **a, const WsPyNode *at)
{
    const char *dtype = a[3]->kind == VAL_NAME ? py_dtype(a[3]->text) : NULL;
    const Val *x = py_is_tile(a[0]) ? py_formula(p, a[0]) : NULL;
    if (!x || !dtype || (strcmp(dtype, "f32") && strcmp(dtype, "i32")))
        return NULL;
    const gboolean converting = p->converting; /* this is no conversion of what is stored */
    p->converting = FALSE;
    const Val *sum = py_mean_CONVERT(p, (const Val *[]){ x, a[3], NULL, NULL }, at);
    p->converting = converting;
    if (sum->kind != VAL_MATH)
        return NULL;
    Val *v = py_val(p, VAL_MATH);
    *v = *sum;
    v->dims = a[0]->dims;
    return v;
}

/* Running sums along the only dimension, or along the columns; what is another one is not known. */
static const Val *running(PyRead *p, const Val **a, gboolean exclusive, const WsPyNode *at)
{
    const Val *of = py_given(a[3]) && py_is_tile(a[0]) ? as_summed(p, a, at) : a[0];
    if (a[0] && !of)
        return py_lost(p, at, "a running sum in another type than float32 and int32");
    const Val *x = of && py_is_tile(of) ? py_formula(p, of) : NULL;
    const gint64 axis = py_given(a[1]) ? py_number(a[1], -2) : 0,
                 reverse = py_given(a[2]) ? py_number(a[2], -1) : 0;
    const gboolean one = x && (of->dims == 1 || (of->dims == 0 && x->rows == 1));
    if (x && (!g_strcmp0(x->dtype, "b") || (is_whole(x) && strcmp(x->dtype, "i32"))))
        return py_lost(p, at, "a running sum of conditions, or of narrow integers");
    if (x && !one && x->rows > 1 && axis == 0)
        return py_lost(p, at, "a running sum along columns: those of designs run along rows");
    if (!x || x->cols < 2 || (one && x->rows > 1) || (axis != -1 && axis != (one ? 0 : 1)) ||
        (reverse != 0 && reverse != 1))
        return py_opaque(p);
    const Val *arg[] = { x, py_literal(p, exclusive), py_literal(p, reverse) };
    const Val *sum = py_function_tile(p, "cumsum", arg, reverse ? 3 : exclusive ? 2 : 1, FALSE);
    if (sum->kind == VAL_MATH)
        ((Val *)sum)->dtype = g_strcmp0(x->dtype, "bf16") ? x->dtype : NULL; /* summed in f32 */
    if (!g_strcmp0(x->dtype, "f16"))
        grant_sums(p, x);
    return py_of_dimensions(p, sum, of->dims);
}

const Val *py_mean_CUMSUM(PyRead *p, const Val **a, const WsPyNode *at)
{
    return running(p, a, FALSE, at);
}

/* tle.cumsum of one dimension: what stands before each element, and the sum of all. */
const Val *py_mean_TLE_CUMSUM(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[0] && py_is_tile(a[0]) && a[0]->rows > 1 && a[0]->cols > 1)
        return py_wrong(p, at, "a running sum of two dimensions, which upstream refuses");
    Val *v = py_val(p, VAL_TUPLE);
    v->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, v->item);
    v->n = 2;
    const gboolean one = a[0] && py_is_tile(a[0]) && a[0]->dims == 1;
    v->item[0] = one ? running(p, a, TRUE, at) : py_opaque(p);
    const Val *of = v->item[0]->kind == VAL_MATH && py_given(a[3]) ? as_summed(p, a, at) : a[0];
    v->item[1] =
        v->item[0]->kind == VAL_MATH ? py_function_tile(p, "rowsum", &of, 1, TRUE) : py_opaque(p);
    if (v->item[1]->kind == VAL_MATH)
        ((Val *)v->item[1])->dtype = v->item[0]->dtype;
    return v;
}
