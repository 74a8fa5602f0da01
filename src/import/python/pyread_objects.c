#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Buffers, arrays of barriers, their views, and tensors with their descriptors. */

static const char *keep_name(PyRead *p, const char *otherwise)
{
    return ws_source_name(p->r, p->hint ? p->hint : otherwise);
}

/* Where an allocation stands: its node, the calls around it, the rounds of loops that are walked
 * one by one. A loop that is walked twice makes it once. */
char *py_site_of(const PyRead *p, const WsPyNode *at)
{
    GString *site = g_string_new(p->rounds->str);
    g_string_append_printf(site, "%p", (gconstpointer)at);
    for (const Frame *f = p->frame; f; f = f->up)
        g_string_append_printf(site, " %p", (gconstpointer)f->at);
    return g_string_free(site, FALSE);
}

static const Val *allocated(PyRead *p, const WsPyNode *at)
{
    g_autofree char *site = py_site_of(p, at);
    if (p->group && p->loops->len)
        ws_source_granted(p->r,
                          "no round reads what another one left in a buffer that it allocates");
    return p->group && !p->prologue ? g_hash_table_lookup(p->allocated, site) : NULL;
}

static const Val *keep(PyRead *p, const WsPyNode *at, const Val *v)
{
    if (p->group && !p->prologue)
        g_hash_table_insert(p->allocated, py_site_of(p, at), (gpointer)v);
    return v;
}

static const Val *new_barrier(PyRead *p, gint64 copies, const WsPyNode *at)
{
    const Val *known = allocated(p, at);
    if (known)
        return known;
    if (copies < 1 || copies > 4096)
        return py_wrong(p, at, "an array of barriers whose length is not a number");
    WsReadBarrier b = { .name = keep_name(p, "barrier"), .copies = copies, .line = at->line };
    b.count = g_new0(gint64, copies);
    b.ready = g_new0(gint, copies);
    g_array_append_val(p->r->barriers, b);
    Val *v = py_val(p, VAL_BARRIER);
    v->place.object = (gint)p->r->barriers->len - 1;
    return keep(p, at, v);
}

static const Val *allocate(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || a[0]->kind != VAL_NAME || !a[1] || a[1]->kind != VAL_TUPLE || !a[1]->n ||
        a[1]->n > 4)
        return py_wrong(p, at, "an allocation whose type or shape is not known");
    gint64 shape[5] = { 0 };
    for (guint i = 0; i < a[1]->n; i++)
        if ((shape[i] = py_number(a[1]->item[i], 0)) < 1)
            return py_wrong(p, at, "an allocation whose shape is no list of numbers");
    if (g_str_has_suffix(a[0]->text, "int64"))
        return new_barrier(p, shape[0], at);
    const Val *known = allocated(p, at);
    if (known)
        return known;
    WsReadBuffer b = { .name = keep_name(p, "buffer"),
                       .dtype = py_dtype(a[0]->text),
                       .rank = a[1]->n,
                       .line = at->line,
                       .made = p->r->steps->len,
                       .span = -1 };
    if (!b.dtype && g_str_has_prefix(a[0]->text, "unknown")) {
        b.dtype = "bf16"; /* as tensors of no known type */
        if (p->from == WS_IMPORT_TLE)
            py_law_value(p, at, "of which type the elements of a buffer are");
        else
            ws_source_granted(
                p->r,
                ws_source_format(p->r, "elements of `%s`, of no known type, have 16 bits", b.name));
    }
    if (!b.dtype)
        return py_wrong(p, at, "an allocation of an element type that designs do not have");
    memcpy(b.shape, shape, sizeof b.shape);
    g_array_append_val(p->r->buffers, b);
    Val *v = py_val(p, VAL_BUFFER);
    v->place.object = (gint)p->r->buffers->len - 1;
    v->place.views = "";
    return keep(p, at, v);
}

/* What it is made with is stored to it. */
void py_compilers(PyRead *p, const Val *v)
{
    const char *name = NULL;
    if (v->kind == VAL_BUFFER)
        name = g_array_index(p->r->buffers, WsReadBuffer, v->place.object).name;
    else if (v->kind == VAL_BARRIER)
        name = g_array_index(p->r->barriers, WsReadBarrier, v->place.object).name;
    if (name)
        g_hash_table_add(p->r->made, g_strdup(name));
}

const Val *py_mean_ALLOCATE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *v = allocate(p, a, at);
    if (a[3] && a[3]->kind != VAL_NONE && v->kind != VAL_OPAQUE)
        py_mean_WRITE(p, (const Val *[]){ v, a[3], NULL }, at);
    return v;
}

#define ELEMENTS 2 /* depth: a line as so many lines of one */

/* A stage that is a line, as lines of one element each; NULL: something else. */
static const Val *as_elements(PyRead *p, const Val **a)
{
    if (!a[0] || a[0]->kind != VAL_BUFFER || !a[0]->place.index || *a[0]->place.views ||
        a[0]->place.transposed || a[0]->depth || !a[2] || a[2]->kind != VAL_TUPLE || a[2]->n != 2)
        return NULL;
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, a[0]->place.object);
    const char *dtype = a[1] && a[1]->kind == VAL_NAME ? py_dtype(a[1]->text) : NULL;
    if (b->rank != 2 || b->indexed_twice || !b->dtype || g_strcmp0(dtype, b->dtype) != 0 ||
        py_number(a[2]->item[0], 0) != b->shape[1] || py_number(a[2]->item[1], 0) != 1)
        return NULL;
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    v->depth = ELEMENTS;
    return v;
}

/* The storage of a buffer under another type and shape, from its first byte. */
const Val *py_mean_REINTERPRET(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *elements = as_elements(p, a);
    if (elements)
        return elements;
    if (!a[0] || a[0]->kind != VAL_BUFFER || a[0]->place.index || *a[0]->place.views)
        return py_wrong(p, at, "another view of something that is no whole buffer");
    const Val *v = allocate(p, (const Val *[]){ a[1], a[2], a[3], NULL }, at);
    if (v->kind == VAL_BUFFER)
        g_array_index(p->r->buffers, WsReadBuffer, v->place.object).over = a[0]->place.object + 1;
    return v;
}

const Val *py_mean_ALLOCATE_BARRIER(PyRead *p, const Val **a, const WsPyNode *at)
{
    return new_barrier(p, a[0] && a[0]->kind != VAL_NONE ? py_number(a[0], -1) : 1, at);
}

static guint dimensions_in_front(const WsReadBuffer *b)
{
    return (b->indexed ? 1 : 0) + (b->indexed_twice ? 1 : 0);
}

void py_extents(PyRead *p, Val *v)
{
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
    const guint lead = dimensions_in_front(b);
    v->rows = b->rank - lead == 2 ? b->shape[lead] : 1;
    v->cols = b->rank - lead >= 1 ? b->shape[b->rank - 1] : 1;
}

const Val *py_element(PyRead *p, const Val *line, const Val *at_element, const WsPyNode *at)
{
    Val whole = *line;
    whole.depth = 0;
    py_extents(p, &whole);
    py_need_within(p, py_as_int(p, at_element), whole.cols, at);
    return py_mean_SLICE(
        p, (const Val *[]){ &whole, at_element, py_literal(p, 1), py_literal(p, 1) }, at);
}

const Val *py_mean_INDEX(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *i = a[1] ? py_as_int(p, a[1]) : NULL;
    if (a[0] && a[0]->kind == VAL_BUFFER && a[0]->depth == ELEMENTS && i)
        return py_element(p, a[0], a[1], at);
    if (!a[0] || (a[0]->kind != VAL_BUFFER && a[0]->kind != VAL_BARRIER) || !i ||
        (a[0]->kind == VAL_BUFFER && a[0]->depth))
        return py_wrong(p, at, "an index of something that is no ring, or that is no integer");
    Val *v = py_val(p, a[0]->kind);
    *v = *a[0];
    if (v->kind == VAL_BARRIER) {
        py_need_within(p, i, g_array_index(p->r->barriers, WsReadBarrier, v->place.object).copies,
                       at);
        v->place.index = i;
        return v;
    }
    WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
    const gboolean twice = v->place.index && b->rank >= 3; /* [copies, stages, …] */
    py_need_within(p, i, b->shape[twice], at);
    if (twice) {
        b->indexed_twice = TRUE;
        v->place.index =
            ws_x_op(p->r, WS_EXPR_ADD,
                    ws_x_op(p->r, WS_EXPR_MUL, v->place.index, ws_x_int(p->r, b->shape[1])), i);
    } else {
        b->indexed = TRUE;
        v->place.index = i;
    }
    py_extents(p, v);
    return v;
}

const Val *py_mean_SLICE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *start = a[1] ? py_as_int(p, a[1]) : NULL;
    const gint64 length = py_number(a[2], 0), dim = a[3] ? py_number(a[3], -1) : 0;
    if (!a[0] || a[0]->kind != VAL_BUFFER || !start || length < 1 || dim < 0 || dim > 1 ||
        a[0]->depth)
        return py_wrong(p, at, "a slice of something that is no buffer");
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    if (!v->rows)
        py_extents(p, v);
    g_autofree char *text = ws_x_text(start);
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
    const gboolean line = b->rank - dimensions_in_front(b) == 1; /* whose views count rows */
    const gboolean rows = line || (dim == 0) != (v->place.transposed != 0);
    v->place.views = ws_source_format(p->r, "%s.%s(%s, %" G_GINT64_FORMAT ")", v->place.views,
                                      rows ? "rows" : "cols", text, length);
    *(rows && !line ? &v->rows : &v->cols) = length;
    return v;
}

/* `start` and `shape` as lists: all but rows and columns begin at 0 and are 1 long. */
const Val *py_box(PyRead *p, const Val **a, const WsPyNode *at)
{
    const guint n = a[1] && a[1]->kind == VAL_TUPLE ? a[1]->n : 0;
    gboolean plain = a[0] && a[2] && a[2]->kind == VAL_TUPLE && a[2]->n == n && n >= 2;
    for (guint i = 0; plain && i + 2 < n; i++)
        plain = py_number(a[1]->item[i], -1) == 0 && py_number(a[2]->item[i], 0) == 1;
    if (!plain)
        return py_wrong(p, at, "a part of a buffer that is not one of rows and columns");
    const Val *v = a[0];
    for (guint i = 0; i < 2 && v; i++) {
        const Val *line[] = { v, a[1]->item[n - 2 + i], a[2]->item[n - 2 + i], py_literal(p, i),
                              NULL };
        v = py_mean_SLICE(p, line, at);
    }
    return v;
}

/* What a tile is on its way from `reshape([rows, 2, half])` over `permute(0, 2, 1)` to `split`. */
enum { TILE_HALVES = 2, TILE_PAIRS = 3 };

/* Whether the order is `first, second, third`, in a tuple or as arguments of its own. */
static gboolean is_order(const Val *const *a, gint64 first, gint64 second, gint64 third)
{
    const gboolean tuple = a[0] && a[0]->kind == VAL_TUPLE;
    const Val *const *item = tuple ? a[0]->item : a;
    if (tuple ? a[0]->n != 3 || a[1] : !a[0] || !a[1] || !a[2] || a[3])
        return FALSE;
    return py_number(item[0], -1) == first && py_number(item[1], -1) == second &&
           py_number(item[2], -1) == third;
}

const Val *py_mean_PERMUTE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[0] && a[0]->kind == VAL_TILE && a[0]->n == TILE_HALVES && is_order(a + 1, 0, 2, 1)) {
        Val *v = py_val(p, VAL_TILE);
        *v = *a[0];
        v->n = TILE_PAIRS;
        return v;
    }
    if (!a[0] || a[0]->kind != VAL_BUFFER || a[0]->depth || !a[1] || a[1]->kind != VAL_TUPLE ||
        a[1]->n != 2 || a[2])
        return py_wrong(p, at, "a permutation of something that is no buffer of two dimensions");
    const gint64 first = py_number(a[1]->item[0], -1), second = py_number(a[1]->item[1], -1);
    if (first + second != 1 || (first != 0 && first != 1))
        return py_wrong(p, at, "a permutation whose order is not known");
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    if (first == 1)
        v->place.transposed = !v->place.transposed;
    return v;
}

/* A buffer with extents of 1 added or left out; or a tile as [rows, 2, half], to be split. */
const Val *py_mean_RESHAPE(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 elements = 1, kept[2] = { 1, 1 };
    guint n = 0;
    if (!a[0] || !a[1] || a[1]->kind != VAL_TUPLE || a[2])
        return py_opaque(p);
    for (guint i = 0; i < a[1]->n; i++) {
        const gint64 extent = py_number(a[1]->item[i], 0);
        elements *= CLAMP(extent, 0, 1 << 20);
        if (extent != 1 && n < 2)
            kept[n++] = extent;
    }
    if (a[0]->kind == VAL_TILE && !a[0]->n && a[1]->n == 3 &&
        py_number(a[1]->item[0], 0) == a[0]->rows && py_number(a[1]->item[1], 0) == 2 &&
        elements == a[0]->rows * a[0]->cols) {
        Val *v = py_val(p, VAL_TILE);
        *v = *a[0];
        v->n = TILE_HALVES;
        return v;
    }
    if ((a[0]->kind == VAL_TILE || a[0]->kind == VAL_MATH) && a[1]->n == 4 &&
        elements == a[0]->rows * a[0]->cols && kept[0] == a[0]->rows &&
        py_number(a[1]->item[2], 0) == 4 && py_number(a[1]->item[3], 0) == 2) {
        Val *v = py_val(p, VAL_LANES);
        v->item = g_new0(const Val *, 2);
        g_ptr_array_add(p->r->pool, v->item);
        v->item[0] = a[0];
        v->n = 1;
        return v;
    }
    if (a[0]->kind != VAL_BUFFER)
        return py_opaque(p);
    Val full = *a[0];
    if (!full.rows)
        py_extents(p, &full);
    const gboolean line = full.rows == 1 || full.cols == 1;
    if (elements != full.rows * full.cols || (n < 2 && !line) ||
        (n == 2 && (kept[0] != full.rows || kept[1] != full.cols)))
        return py_wrong(p, at, "a buffer under another shape");
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    v->depth = a[1]->n != 2 && !(a[1]->n == 1 && line); /* no part of it is asked for as such */
    return v;
}

/* The left and the right half of the columns of a tile. */
const Val *py_mean_SPLIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || a[0]->kind != VAL_TILE || a[0]->n != TILE_PAIRS)
        return py_opaque(p);
    Val *pair = py_val(p, VAL_TUPLE);
    pair->n = 2;
    pair->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, pair->item);
    for (guint i = 0; i < 2; i++) {
        Val *v = py_val(p, VAL_TILE);
        *v = *a[0];
        v->n = 0;
        v->cols = a[0]->cols / 2;
        v->at = a[0]->at + i * v->cols;
        v->text = ws_source_format(p->r, ".cols(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ")", v->at,
                                   v->cols);
        pair->item[i] = v;
    }
    return pair;
}

/* What the host says of its elements. */
static gint with_type(PyRead *p, gint tensor, const Val *v)
{
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->contiguous = t->contiguous || v->dense;
    const gboolean other = v->dtype && !py_is_dtype(v->dtype);
    if (other) /* the host makes it so */
        ws_source_unread(
            p->r, t->line, 1, t->line,
            ws_source_format(p->r, "a tensor of %s, a type that designs do not have", v->dtype),
            "");
    t->dtype = t->dtype || other ? t->dtype : v->dtype;
    return tensor;
}

const char *py_type_of(PyRead *p, gint tensor, const char *otherwise, const WsPyNode *at)
{
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->guessed = t->guessed || !t->dtype;
    if (t->guessed)
        py_law_value(p, at,
                     ws_source_format(p->r, "of which type the elements of `%s` are", t->name));
    return t->dtype ? t->dtype : otherwise;
}

void py_type_stored(PyRead *p, WsReadTensor *t, const char *dtype)
{
    if (t->dtype)
        return;
    t->dtype = dtype;
    ws_source_granted(
        p->r,
        ws_source_format(p->r, "elements of `%s` are %s, as what is stored there", t->name, dtype));
}

void py_convert_for(PyRead *p, const char *dtype, const WsPyNode *at)
{
    if (p->converted && strcmp(p->converted, dtype))
        py_law_value(p, at,
                     "a tile that is converted to another type than what it is stored to has");
    p->converted = NULL;
}

gint py_tensor(PyRead *p, const Val *v, guint rank, guint line)
{
    if (!v)
        return -1;
    if (v->kind == VAL_TENSOR || v->kind == VAL_DESC)
        return v->index;
    if (v->kind != VAL_PARAM)
        return -1;
    for (guint i = 0; i < p->r->tensors->len; i++)
        if (!strcmp(g_array_index(p->r->tensors, WsReadTensor, i).name, v->text))
            return with_type(p, (gint)i, v);
    WsReadTensor t = { .name = ws_source_name(p->r, v->text), .rank = rank, .line = line };
    if (strcmp(t.name, v->text)) { /* the name is taken: still one tensor per parameter */
        for (guint i = 0; i < p->r->tensors->len; i++)
            if (g_str_has_prefix(g_array_index(p->r->tensors, WsReadTensor, i).name, v->text))
                return with_type(p, (gint)i, v);
    }
    t.rank = MAX(t.rank, MIN(v->n, 5));
    for (guint i = 0; i < MIN(v->n, 5); i++)
        t.shape[i] = py_as_int(p, v->item[i]);
    g_array_append_val(p->r->tensors, t);
    return with_type(p, (gint)p->r->tensors->len - 1, v);
}

/* x.shape as the list that it is, as far as it is known. */
static const Val *written_out(PyRead *p, const Val *shape)
{
    if (!shape || shape->kind != VAL_SHAPE)
        return shape;
    const WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, shape->index);
    Val *v = py_val(p, VAL_TUPLE);
    v->item = g_new0(const Val *, 6);
    g_ptr_array_add(p->r->pool, v->item);
    while (v->n < t->rank) {
        v->item[v->n] = py_int(p, t->shape[v->n]);
        v->n++;
    }
    return v;
}

static const Val *describe(PyRead *p, gint tensor, const Val *block, const Val *layout)
{
    block = written_out(p, block);
    if (tensor < 0)
        return py_opaque(p);
    Val *v = py_val(p, VAL_DESC);
    v->index = tensor;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (block && block->kind == VAL_TUPLE) {
        t->rank = MAX(t->rank, MIN(block->n, 5));
        v->item = block->item;
        v->n = block->n;
    }
    if (layout && layout->kind == VAL_LAYOUT && layout->dtype && !t->dtype)
        t->dtype = layout->dtype;
    return v;
}

const Val *py_mean_DESCRIBE(PyRead *p, const Val **a, const WsPyNode *at)
{
    return describe(p, py_tensor(p, a[0], 0, at->line), a[1], a[2]);
}

const Val *py_mean_DESCRIBE_SHAPE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint tensor = py_tensor(p, a[0], 0, at->line);
    if (tensor < 0)
        return py_opaque(p);
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    if (a[1] && a[1]->kind == VAL_TUPLE && a[1]->n && a[1]->n <= 5 && a[1]->n != t->rank) {
        memset(t->shape, 0, sizeof t->shape); /* described as one of another rank */
        t->rank = a[1]->n;
    }
    for (guint i = 0; a[1] && a[1]->kind == VAL_TUPLE && i < MIN(a[1]->n, 5); i++) {
        const WsExpr *e = py_as_int(p, a[1]->item[i]);
        if (e && !t->shape[i])
            t->shape[i] = e;
        t->rank = MAX(t->rank, i + 1);
    }
    return describe(p, tensor, a[3], a[4]);
}

/* A descriptor whose copies pick rows of pixels: its blocks have fewer dimensions than the tensor,
 * so they are blocks of another one, as far as a design is concerned. */
const Val *py_mean_DESCRIBE_PIXELS(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1] || a[1]->kind != VAL_TUPLE)
        return py_opaque(p);
    const gboolean named = a[0]->kind == VAL_PARAM;
    Val source = { .kind = VAL_PARAM,
                   .text = ws_source_format(p->r, "%s_pixels", named ? a[0]->text : "input") };
    const gint tensor = py_tensor(p, &source, a[1]->n, at->line);
    if (tensor >= 0 && named && a[0]->dtype)
        g_array_index(p->r->tensors, WsReadTensor, tensor).dtype = a[0]->dtype;
    return describe(p, tensor, a[1], a[2]);
}
