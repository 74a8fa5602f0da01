#include "import/python/amd/amd.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Words for layouts in Gluon for AMD, and which of them give each half of the warps what a design
 * gives it. */

enum { WARPS = 8 };

static PyLayout *made(PyRead *p, PyLayoutKind kind)
{
    PyLayout *l = g_new0(PyLayout, 1);
    g_ptr_array_add(p->r->pool, l);
    l->kind = kind;
    l->number = -1;
    return l;
}

static const Val *value(PyRead *p, const PyLayout *l)
{
    Val *v = py_val(p, VAL_LAYOUT);
    v->layout = l;
    if (l->kind == PY_LAYOUT_SLICE)
        v->index = (gint)l->number;
    return v;
}

static gboolean absent(const Val *v)
{
    return !v || v->kind == VAL_NONE || (v->kind == VAL_TUPLE && !v->n);
}

static gboolean pair(const Val *v, gint64 *to)
{
    if (!v || v->kind != VAL_TUPLE || v->n != 2)
        return FALSE;
    to[0] = py_number(v->item[0], -1);
    to[1] = py_number(v->item[1], -1);
    return to[0] >= 0 && to[1] >= 0;
}

const Val *py_mean_AMD_SUMS(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_MFMA);
    l->tiles[0] = l->tiles[1] = 1;
    l->transposed = py_number(a[2], -1) == 1;
    const Val *instruction = a[1];
    const gboolean fine = py_number(a[0], 0) == 4 && instruction &&
                          instruction->kind == VAL_TUPLE && instruction->n == 3 &&
                          py_number(a[2], -1) >= 0 && pair(a[3], l->warps) &&
                          (absent(a[4]) || (a[4]->kind == VAL_INT && py_number(a[4], 0) == 32)) &&
                          (absent(a[5]) || pair(a[5], l->tiles)) && absent(a[6]) &&
                          py_number(instruction->item[0], 0) == py_number(instruction->item[1], -1);
    l->block = fine ? py_number(instruction->item[0], 0) : 0;
    if (!fine)
        l->kind = PY_LAYOUT_UNKNOWN;
    return value(p, l);
}

const Val *py_mean_AMD_OPERAND(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_OPERAND);
    l->number = py_number(a[0], -1);
    l->parent = a[1] && a[1]->kind == VAL_LAYOUT ? a[1]->layout : NULL;
    l->width = py_number(a[2], 0);
    if ((l->number != 0 && l->number != 1) || !l->parent || l->parent->kind != PY_LAYOUT_MFMA ||
        l->width < 1)
        l->kind = PY_LAYOUT_UNKNOWN;
    return value(p, l);
}

const Val *py_mean_AMD_SLICE(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_SLICE);
    l->number = py_number(a[0], -1);
    l->parent = a[1] && a[1]->kind == VAL_LAYOUT ? a[1]->layout : NULL;
    if ((l->number != 0 && l->number != 1) || !l->parent || l->parent->kind == PY_LAYOUT_SLICE)
        l->kind = PY_LAYOUT_UNKNOWN;
    return value(p, l);
}

const Val *py_mean_AMD_BLOCKED(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_BLOCKED);
    if (!pair(a[0], l->tiles) || !pair(a[1], l->lanes) || !pair(a[2], l->warps) ||
        !pair(a[3], l->order) || !absent(a[4]))
        l->kind = PY_LAYOUT_UNKNOWN;
    return value(p, l);
}

static gboolean bases(const Val *v, PyLayout *l, guint in)
{
    if (!v || v->kind != VAL_TUPLE || v->n > PY_LAYOUT_MOST)
        return FALSE;
    for (guint i = 0; i < v->n; i++) {
        gint64 at[2];
        if (!pair(v->item[i], at))
            return FALSE;
        l->basis[in][l->n[in]++] = (PyBasis){ at[0], at[1] };
    }
    return TRUE;
}

const Val *py_mean_AMD_BASES(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_BASES);
    if (!bases(a[0], l, PY_REGISTERS) || !bases(a[1], l, PY_LANES) || !bases(a[2], l, PY_WARPS) ||
        !a[3] || !absent(a[3]) || !pair(a[4], l->shape))
        l->kind = PY_LAYOUT_UNKNOWN;
    return value(p, l);
}

/* Shared memory: whichever way elements are swizzled or padded, each has bytes of its own. */
const Val *py_mean_AMD_SHARED(PyRead *p, const Val **a, const WsPyNode *at)
{
    return value(p, made(p, PY_LAYOUT_SHARED));
}

/* Bytes that stay free behind so many elements each; FALSE: they are not known. */
static gboolean padded(const Val *pairs, PyLayout *l)
{
    if (!pairs || pairs->kind != VAL_TUPLE || pairs->n > PY_PADDINGS)
        return FALSE;
    for (guint i = 0; i < pairs->n; i++) {
        gint64 *to = l->padding[i];
        if (!pair(pairs->item[i], to) || to[0] < 1 || to[0] & (to[0] - 1))
            return FALSE;
    }
    l->n_padding = pairs->n;
    return TRUE;
}

/* PaddedSharedLayout: what a design has no word for is some other order of the same elements. */
const Val *py_mean_AMD_PADDED(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_SHARED);
    if (!padded(a[0], l))
        l->kind = PY_LAYOUT_UNKNOWN;
    else if (l->n_padding == 1 && bases(a[1], l, 0) && pair(a[3], l->shape)) {
        l->every = l->padding[0][0];
        l->gap = l->padding[0][1];
    }
    return value(p, l);
}

/* The same, where rows follow each other. */
const Val *py_mean_AMD_PADDED_ROWS(PyRead *p, const Val **a, const WsPyNode *at)
{
    PyLayout *l = made(p, PY_LAYOUT_SHARED);
    if (!padded(a[0], l))
        l->kind = PY_LAYOUT_UNKNOWN;
    return value(p, l);
}

/* --- of types --------------------------------------------------------------------------------- */

static const Val *is_type(PyRead *p, const WsPyNode *at, const char *type)
{
    const WsPyNode *f = at->kid[0];
    const Val *v = f->kind == WS_PY_ATTR ? py_eval(p, f->kid[0]) : NULL;
    const char *is = v && v->kind == VAL_NAME ? py_dtype(v->text) : NULL;
    return is ? py_literal(p, !strcmp(is, type)) : py_opaque(p);
}

const Val *py_mean_AMD_IS_F16(PyRead *p, const Val **a, const WsPyNode *at)
{
    return is_type(p, at, "f16");
}

const Val *py_mean_AMD_IS_BF16(PyRead *p, const Val **a, const WsPyNode *at)
{
    return is_type(p, at, "bf16");
}

/* --- of tiles --------------------------------------------------------------------------------- */

const PyLayout *py_amd_layout(const PyRead *p, const Val *v)
{
    if (v->layout || v->kind != VAL_TILE || !p->group || v->index < 0)
        return v->layout;
    return g_array_index(p->group->values, WsReadValue, v->index).layout;
}

const PyLayout *py_amd_met(PyRead *p, const PyLayout *a, const PyLayout *b)
{
    if (!a || !b)
        return a ? a : b;
    if (py_layout_equal(a, b))
        return a;
    const PyLayout *x = a->kind == PY_LAYOUT_SLICE ? a->parent : a,
                   *y = b->kind == PY_LAYOUT_SLICE ? b->parent : b;
    return py_layout_equal(x, y) ? x : made(p, PY_LAYOUT_UNKNOWN);
}

gboolean py_amd_is_places(const Val *v)
{
    return v && v->kind == VAL_OPAQUE && v->layout && v->rows * v->cols > 1;
}

static const Val *places(PyRead *p, gint64 rows, gint64 cols, const PyLayout *l)
{
    Val *v = py_val(p, VAL_OPAQUE);
    v->depth = 1;
    v->rows = rows;
    v->cols = cols;
    v->layout = l;
    return v;
}

/* Rows, columns and numbers alone. */
static gboolean is_counted_out(const Val *v)
{
    return v->kind == VAL_MATH && v->layout && v->rows * v->cols > 1 &&
           !(v->reads && v->reads->len) && g_strcmp0(v->dtype, "b") != 0;
}

const Val *py_amd_unheld(PyRead *p, const Val *v)
{
    return is_counted_out(v) ? places(p, v->rows, v->cols, v->layout) : NULL;
}

const Val *py_amd_places(PyRead *p, const Val *a, const Val *b)
{
    const gboolean x = py_amd_is_places(a) || is_counted_out(a),
                   y = py_amd_is_places(b) || is_counted_out(b);
    const gboolean number =
        a->kind == VAL_INT || b->kind == VAL_INT || a->kind == VAL_PARAM || b->kind == VAL_PARAM;
    if (!(x && y) && !((x || y) && number))
        return NULL;
    return places(p, MAX(x ? a->rows : 1, y ? b->rows : 1), MAX(x ? a->cols : 1, y ? b->cols : 1),
                  py_amd_met(p, x ? a->layout : NULL, y ? b->layout : NULL));
}

const Val *py_amd_moved(PyRead *p, const Val *a, const Val *b)
{
    if (!py_amd_is_places(a) && !py_amd_is_places(b))
        return NULL;
    const Val *v = py_amd_places(p, a, b);
    return v ? v : py_opaque(p);
}

gboolean py_amd_is_operand_b(const PyLayout *l)
{
    return l && l->kind == PY_LAYOUT_OPERAND && l->number == 1;
}

void py_amd_need_halves(PyRead *p, const PyLayout *l, gint64 rows, gint64 cols, const WsPyNode *at)
{
    guint64 by;
    const PyHalves halves = py_layout_halves(l, rows, cols, &by);
    const gboolean both = rows == 1 || py_amd_is_operand_b(l);
    if (halves == PY_HALVES_UNKNOWN)
        py_unread(p, at,
                  "a tile in a layout of which it is not known what each half of the eight "
                  "warps holds");
    else if (both && halves != PY_HALVES_BOTH)
        py_unread(p, at, "an operand of which each half of the warps holds but a part");
    else if (!both && halves == PY_HALVES_BOTH)
        py_unread(p, at, "a tile that both halves of the warps hold");
    else if (!both && halves != PY_HALVES_ROWS)
        py_unread(p, at, "a tile whose columns the halves of the warps share out");
}

/* Rows of a design's halves are the first and the second half of them. Other rows, or elements,
 * are these in another order, as long as it is one for all that is loaded to the buffer and all
 * that halves read of it. A tile that is read across has its rows along the others there, so that
 * either half reads what both have loaded, and so it has to be. */
void py_amd_share(PyRead *p, gint buffer, PyShare how, guint64 by, const WsPyNode *at)
{
    WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, buffer);
    if (p->probing || !by)
        return;
    const guint64 loaded = how == PY_SHARE_LOAD ? by : b->loaded_by,
                  read = how == PY_SHARE_READ ? by : b->read_by,
                  across = how == PY_SHARE_ACROSS ? by : b->across_by;
    const gboolean twice = (b->loaded_by && loaded != b->loaded_by) ||
                           (b->read_by && read != b->read_by) ||
                           (b->across_by && across != b->across_by);
    if (loaded && read && loaded != read)
        b->apart = TRUE; /* drawn with its columns as rows (turned.c) */
    if (twice || (loaded && across && loaded == across))
        py_unread(p, at,
                  how == PY_SHARE_LOAD
                      ? "a load of which the halves of the warps load other rows than another one "
                        "loads"
                      : "a read of which the halves of the warps hold other rows than another one "
                        "reads");
    b->loaded_by = loaded;
    b->read_by = read;
    b->across_by = across;
}

static const Val *laid(PyRead *p, const Val *v, const Val *layout, const WsPyNode *at)
{
    if (!py_is_tile(v) || !p->group)
        return v;
    const PyLayout *l = layout && layout->kind == VAL_LAYOUT ? layout->layout : NULL;
    Val *own = py_val(p, v->kind);
    *own = *v;
    own->layout = l ? l : made(p, PY_LAYOUT_UNKNOWN);
    if (v->rows * v->cols > 1)
        py_amd_need_halves(p, own->layout, v->rows, v->cols, at);
    if (py_amd_is_operand_b(l)) { /* a design has the columns of operand b as rows */
        own->rows = v->cols;
        own->cols = v->rows;
    }
    return own;
}

const Val *py_mean_AMD_ZEROS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return laid(p, py_mean_ZEROS(p, a, at), a[2], at);
}

const Val *py_mean_AMD_FULL(PyRead *p, const Val **a, const WsPyNode *at)
{
    return laid(p, py_mean_FULL(p, a, at), a[3], at);
}

/* Places of elements: who counts them shows where they are used. */
const Val *py_mean_AMD_ARANGE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *v = py_mean_ARANGE(p, a, at);
    if (v->kind == VAL_MATH)
        ((Val *)v)->layout = a[2]->layout ? a[2]->layout : made(p, PY_LAYOUT_UNKNOWN);
    return v;
}

/* A conversion to a type that is not known makes no other value, but another number of bytes. */
const Val *py_mean_AMD_CONVERT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *v = py_mean_CONVERT(p, a, at);
    const gboolean known = a[1] && a[1]->kind == VAL_NAME && py_dtype(a[1]->text);
    if (known || v != a[0] || !py_is_tile(v))
        return v;
    Val *own = py_val(p, v->kind);
    *own = *v;
    own->narrow = TRUE;
    return own;
}

/* At most: what is not known has 32 bits. */
static gint64 element_bytes(PyRead *p, const Val *v)
{
    if (v->narrow) {
        ws_source_granted(p->r, "what is converted to a type that is not known has 16 bits");
        return 2;
    }
    const char *dtype = v->kind == VAL_TILE && v->index >= 0 && p->group
                            ? g_array_index(p->group->values, WsReadValue, v->index).dtype
                            : v->dtype;
    const gint64 bytes = dtype ? py_dtype_bytes(dtype) : 0;
    return bytes > 0 ? bytes : 4;
}

/* Inside of a stage a barrier of the compiler would be one more that the halves meet at: what goes
 * from warp to warp goes through shared memory. */
const Val *py_mean_AMD_CHANGE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const PyLayout *from = a[0] ? py_amd_layout(p, a[0]) : NULL,
                   *to = a[1] && a[1]->kind == VAL_LAYOUT ? a[1]->layout : NULL;
    if (!a[0] || !py_is_tile(a[0]))
        return a[0] ? a[0] : py_none(p);
    if (!to || py_amd_is_operand_b(to) || py_amd_is_operand_b(from)) {
        py_unread(p, at, "a change of layout to or from one that is not known here");
        return py_opaque(p);
    }
    py_amd_need_halves(p, to, a[0]->rows, a[0]->cols, at);
    if (!py_layout_equal(from, to) && !py_layout_stays(from, to, a[0]->rows, a[0]->cols)) {
        py_amd_met_within(
            p, at,
            "a change of layout inside a stage that may go through shared memory: the "
            "compiler would put a barrier there");
        py_amd_take(p, a[0]->rows * a[0]->cols * element_bytes(p, a[0]), at);
    }
    Val *v = py_val(p, a[0]->kind);
    *v = *a[0];
    v->layout = to;
    return v;
}

static const Val *reduced(PyRead *p, const Val *of, const Val *v, const WsPyNode *at)
{
    const PyLayout *from = of ? py_amd_layout(p, of) : NULL;
    const gboolean tile = py_is_tile(of) && of->rows * of->cols > 1;
    if (tile && (v->kind != VAL_MATH || v->cols != 1)) { /* it is reduced some other way */
        py_amd_met_within(p, at,
                          "a reduction inside a stage that is not followed: the compiler may put "
                          "a barrier there");
        py_amd_take(p, of->rows * of->cols * 4, at);
    }
    if (v->kind != VAL_MATH || v->cols != 1 || !of || of->cols < 2)
        return v;
    if (!py_layout_row_in_warp(from, of->rows, of->cols)) {
        py_amd_met_within(
            p, at,
            "a sum or maximum inside a stage of rows that are not shown to lie in one warp "
            "each: the compiler would put a barrier there");
        py_amd_take(p, of->rows * MIN(of->cols, WARPS) * 4, at);
    }
    PyLayout *slice = made(p, from ? PY_LAYOUT_SLICE : PY_LAYOUT_UNKNOWN);
    slice->number = 1;
    slice->parent = from;
    Val *own = py_val(p, VAL_MATH);
    *own = *v;
    own->layout = slice;
    return own;
}

const Val *py_mean_AMD_SUM(PyRead *p, const Val **a, const WsPyNode *at)
{
    return reduced(p, a[0], py_mean_SUM(p, a, at), at);
}

const Val *py_mean_AMD_MAX(PyRead *p, const Val **a, const WsPyNode *at)
{
    return reduced(p, a[0], py_mean_ROW_MAX(p, a, at), at);
}

const Val *py_mean_AMD_MIN(PyRead *p, const Val **a, const WsPyNode *at)
{
    return reduced(p, a[0], py_mean_ROW_MIN(p, a, at), at);
}
