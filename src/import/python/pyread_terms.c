#include "import/python/pyread_terms.h"

#include <string.h>

/* What the words of a dialect mean. `a` holds the arguments by parameter, NULL where absent. */

const Val *py_none(PyRead *p)
{
    return py_val(p, VAL_NONE);
}

const Val *py_wrong(PyRead *p, const WsPyNode *at, const char *what)
{
    if (p->group)
        py_opaque_lines(p, at);
    py_unread(p, at, what);
    return py_none(p);
}

static const char *keep_name(PyRead *p, const char *otherwise)
{
    return ws_source_name(p->r, p->hint ? p->hint : otherwise);
}

gint64 py_number(const Val *v, gint64 otherwise)
{
    gint64 n;
    return v && py_known(v, &n) ? n : otherwise;
}

static const WsExpr *guard(PyRead *p, const Val *pred)
{
    gint64 known;
    if (!pred || pred->kind == VAL_NONE || (py_known(pred, &known) && known))
        return NULL;
    return py_as_int(p, pred);
}

/* --- objects
 * ------------------------------------------------------------------------------------------*/

/* Allocations in a loop that is walked twice are one. */
static const Val *allocated(PyRead *p, const WsPyNode *at)
{
    return p->group ? g_hash_table_lookup(p->allocated, at) : NULL;
}

static const Val *keep(PyRead *p, const WsPyNode *at, const Val *v)
{
    if (p->group)
        g_hash_table_insert(p->allocated, (gpointer)at, (gpointer)v);
    return v;
}

static const Val *new_barrier(PyRead *p, gint64 copies, const WsPyNode *at)
{
    const Val *known = allocated(p, at);
    if (known)
        return known;
    if (copies < 1 || copies > 4096)
        return py_wrong(p, at, "an array of barriers whose length is no number");
    WsReadBarrier b = { .name = keep_name(p, "barrier"), .copies = copies, .line = at->line };
    b.count = g_new0(gint64, copies);
    b.ready = g_new0(gint, copies);
    g_array_append_val(p->r->barriers, b);
    Val *v = py_val(p, VAL_BARRIER);
    v->place.object = (gint)p->r->barriers->len - 1;
    return keep(p, at, v);
}

const Val *py_mean_ALLOCATE(PyRead *p, const Val **a, const WsPyNode *at)
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
                       .span = -1 };
    if (!b.dtype)
        return py_wrong(p, at, "an allocation of an element type that designs do not have");
    memcpy(b.shape, shape, sizeof b.shape);
    g_array_append_val(p->r->buffers, b);
    Val *v = py_val(p, VAL_BUFFER);
    v->place.object = (gint)p->r->buffers->len - 1;
    v->place.views = "";
    return keep(p, at, v);
}

/* The storage of a buffer under another type and shape, from its first byte. */
const Val *py_mean_REINTERPRET(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || a[0]->kind != VAL_BUFFER || a[0]->place.index || *a[0]->place.views)
        return py_wrong(p, at, "another view of something that is no whole buffer");
    const Val *v = py_mean_ALLOCATE(p, (const Val *[]){ a[1], a[2], a[3], NULL }, at);
    if (v->kind == VAL_BUFFER)
        g_array_index(p->r->buffers, WsReadBuffer, v->place.object).over = a[0]->place.object + 1;
    return v;
}

const Val *py_mean_ALLOCATE_BARRIER(PyRead *p, const Val **a, const WsPyNode *at)
{
    return new_barrier(p, py_number(a[0], 1), at);
}

/* Extents of what a place shows. */
static void extents(PyRead *p, Val *v)
{
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
    const guint lead = (b->indexed ? 1 : 0) + (b->indexed_twice ? 1 : 0);
    v->rows = b->rank - lead == 2 ? b->shape[lead] : 1;
    v->cols = b->rank - lead >= 1 ? b->shape[b->rank - 1] : 1;
}

const Val *py_mean_INDEX(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *i = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!a[0] || (a[0]->kind != VAL_BUFFER && a[0]->kind != VAL_BARRIER) || !i)
        return py_wrong(p, at, "an index of something that is no ring, or that is no integer");
    Val *v = py_val(p, a[0]->kind);
    *v = *a[0];
    if (v->kind == VAL_BARRIER) {
        v->place.index = i;
        return v;
    }
    WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
    if (v->place.index && b->rank >= 3) { /* [copies, stages, …] */
        b->indexed_twice = TRUE;
        v->place.index =
            ws_x_op(p->r, WS_EXPR_ADD,
                    ws_x_op(p->r, WS_EXPR_MUL, v->place.index, ws_x_int(p->r, b->shape[1])), i);
    } else {
        b->indexed = TRUE;
        v->place.index = i;
    }
    extents(p, v);
    return v;
}

const Val *py_mean_SLICE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *start = a[1] ? py_as_int(p, a[1]) : NULL;
    const gint64 length = py_number(a[2], 0), dim = py_number(a[3], 0);
    if (!a[0] || a[0]->kind != VAL_BUFFER || !start || length < 1)
        return py_wrong(p, at, "a slice of something that is no buffer");
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    if (!v->rows)
        extents(p, v);
    g_autofree char *text = ws_x_text(start);
    const gboolean rows = (dim == 0) != (v->place.transposed != 0);
    v->place.views = ws_source_format(p->r, "%s.%s(%s, %" G_GINT64_FORMAT ")", v->place.views,
                                      rows ? "rows" : "cols", text, length);
    *(rows ? &v->rows : &v->cols) = length;
    return v;
}

const Val *py_mean_PERMUTE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[0] && a[0]->kind == VAL_TILE && a[0]->n == 2) /* on its way from `reshape` to `split` */
        return a[0];
    if (!a[0] || a[0]->kind != VAL_BUFFER || !a[1] || a[1]->kind != VAL_TUPLE || a[1]->n != 2)
        return py_wrong(p, at, "a permutation of something that is no buffer of two dimensions");
    Val *v = py_val(p, VAL_BUFFER);
    *v = *a[0];
    if (py_number(a[1]->item[0], 0) == 1)
        v->place.transposed = !v->place.transposed;
    return v;
}

/* A buffer with extents of 1 added or left out; or a tile as [rows, 2, half], to be split. */
const Val *py_mean_RESHAPE(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 elements = 1, kept[2] = { 1, 1 };
    guint n = 0;
    if (!a[0] || !a[1] || a[1]->kind != VAL_TUPLE)
        return py_opaque(p);
    for (guint i = 0; i < a[1]->n; i++) {
        const gint64 extent = py_number(a[1]->item[i], 0);
        elements *= CLAMP(extent, 0, 1 << 20);
        if (extent != 1 && n < 2)
            kept[n++] = extent;
    }
    if (a[0]->kind == VAL_TILE && a[1]->n == 3 && py_number(a[1]->item[1], 0) == 2) {
        Val *v = py_val(p, VAL_TILE);
        *v = *a[0];
        v->n = 2;
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
        extents(p, &full);
    if (elements != full.rows * full.cols ||
        (n == 2 && (kept[0] != full.rows || kept[1] != full.cols)))
        return py_wrong(p, at, "a buffer under another shape");
    return a[0];
}

/* The left and the right half of the columns of a tile. */
const Val *py_mean_SPLIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    (void)at;
    if (!a[0] || a[0]->kind != VAL_TILE || a[0]->n != 2)
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
            return (gint)i;
    WsReadTensor t = { .name = ws_source_name(p->r, v->text), .rank = rank, .line = line };
    if (strcmp(t.name, v->text)) { /* the name is taken: still one tensor per parameter */
        for (guint i = 0; i < p->r->tensors->len; i++)
            if (g_str_has_prefix(g_array_index(p->r->tensors, WsReadTensor, i).name, v->text))
                return (gint)i;
    }
    g_array_append_val(p->r->tensors, t);
    return (gint)p->r->tensors->len - 1;
}

static const Val *describe(PyRead *p, gint tensor, const Val *block, const Val *layout)
{
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
    for (guint i = 0; a[1] && a[1]->kind == VAL_TUPLE && i < MIN(a[1]->n, 5); i++) {
        const WsExpr *e = py_as_int(p, a[1]->item[i]);
        if (e && !t->shape[i])
            t->shape[i] = e;
        t->rank = MAX(t->rank, i + 1);
    }
    return describe(p, tensor, a[3], a[4]);
}

/* --- barriers
 * -----------------------------------------------------------------------------------------*/

static gboolean is_barrier(const Val *v)
{
    return v && v->kind == VAL_BARRIER;
}

const Val *py_mean_INIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 count = py_number(a[1], 1);
    gint64 i = 0;
    if (!is_barrier(a[0]))
        return py_wrong(p, at, "the initialisation of something that is no barrier");
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, a[0]->place.object);
    if (a[0]->place.index && (!ws_x_is(a[0]->place.index, &i) || i < 0 || i >= b->copies))
        return py_wrong(p, at, "the initialisation of a barrier that does not exist");
    b->count[i] = count;
    return py_none(p);
}

/* A barrier array without index is its first slot. */
static WsPlace slot_of(PyRead *p, const Val *v)
{
    WsPlace place = v->place;
    if (!place.index && g_array_index(p->r->barriers, WsReadBarrier, place.object).copies > 1)
        place.index = ws_x_int(p->r, 0);
    return place;
}

/* Accesses of all threads before what one thread does: the compiler puts a barrier between. */
static void settle_group(PyRead *p, const WsPyNode *at, gboolean also_waits)
{
    if (!p->group || !(p->dirty || (also_waits && p->waited)))
        return;
    p->dirty = p->waited = FALSE;
    py_step(p, WS_READ_SYNC, at)->name = "group";
}

static WsReadStep *at_barrier(PyRead *p, WsReadKind kind, const Val *barrier, const Val *pred,
                              const WsPyNode *at)
{
    WsReadStep *s = py_step(p, kind, at);
    s->barrier = slot_of(p, barrier);
    s->when = guard(p, pred);
    s->n = 1;
    return s;
}

const Val *py_mean_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group)
        return py_none(p);
    const WsExpr *phase = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!is_barrier(a[0]) || !phase)
        return py_wrong(p, at, "a wait whose barrier or phase is not known");
    WsReadStep *s = at_barrier(p, WS_READ_WAIT, a[0], a[2], at);
    s->parity = phase;
    return py_none(p);
}

const Val *py_mean_EXPECT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 bytes = py_number(a[1], -1);
    if (!p->group || !is_barrier(a[0]) || bytes < 0)
        return py_wrong(p, at, "an expect whose barrier or number of bytes is not known");
    at_barrier(p, WS_READ_EXPECT, a[0], a[2], at)->n = bytes;
    return py_none(p);
}

/* Triton lets the warps of a partition meet before its first thread arrives, so an arrival that
 * counts for all threads orders what each of them did, as an arrival of each of them would. */
static void count_arrivals(const PyRead *p, WsReadStep *s, gint64 n)
{
    const gint64 threads = 32 * MAX(p->group->warps, 1);
    s->flag = threads > 32 && n >= threads && n % threads == 0;
    s->n = s->flag ? n / threads : MAX(n, 1);
}

const Val *py_mean_ARRIVE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || !is_barrier(a[0]))
        return py_wrong(p, at, "an arrival on something that is no barrier");
    settle_group(p, at, FALSE);
    count_arrivals(p, at_barrier(p, WS_READ_ARRIVE, a[0], a[2], at), py_number(a[1], 1));
    return py_none(p);
}

const Val *py_mean_SYNC(PyRead *p, const Val **a, const WsPyNode *at)
{
    (void)a;
    p->dirty = TRUE;
    settle_group(p, at, TRUE);
    return py_none(p);
}

/* Fences between the generic and the asynchronous proxy are the author's in Gluon; those of
 * products and those before memory that was read is loaded into again are the compiler's. */
const Val *py_mean_FENCE(PyRead *p, const Val **a, const WsPyNode *at)
{
    (void)a;
    if (p->group)
        py_step(p, WS_READ_FENCE, at)->name = "async";
    return py_none(p);
}

/* --- copies
 * -------------------------------------------------------------------------------------------*/

static gboolean coordinates(PyRead *p, WsReadStep *s, const Val *coord)
{
    if (!coord || coord->kind != VAL_TUPLE || coord->n > 5)
        return FALSE;
    s->n_coord = coord->n;
    for (guint i = 0; i < coord->n; i++)
        if (!(s->coord[i] = py_as_int(p, coord->item[i])))
            return FALSE;
    return TRUE;
}

static WsReadStep *transfer(PyRead *p, WsReadKind kind, const Val *desc, const Val *coord,
                            const Val *buffer, const WsPyNode *at)
{
    const gint tensor = py_tensor(p, desc, 0, at->line);
    if (!p->group || tensor < 0 || !buffer || buffer->kind != VAL_BUFFER)
        return NULL;
    WsReadStep *s = py_step(p, kind, at);
    s->tensor = tensor;
    s->buffer = buffer->place;
    if (!coordinates(p, s, coord)) {
        s->off = TRUE;
        return NULL;
    }
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, tensor);
    t->rank = MAX(t->rank, s->n_coord);
    if (!t->dtype)
        t->dtype = g_array_index(p->r->buffers, WsReadBuffer, buffer->place.object).dtype;
    return s;
}

const Val *py_mean_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    settle_group(p, at, FALSE); /* what all threads read before is not overwritten under them */
    WsReadStep *s = is_barrier(a[2]) ? transfer(p, WS_READ_LOAD, a[0], a[1], a[3], at) : NULL;
    if (!s)
        return py_wrong(p, at, "a copy whose tensor, coordinates, barrier or buffer is not known");
    g_array_index(p->r->tensors, WsReadTensor, s->tensor).fills = s->buffer.object + 1;
    s->barrier = slot_of(p, a[2]);
    s->when = guard(p, a[4]);
    return py_none(p);
}

const Val *py_mean_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    settle_group(p, at, FALSE);
    WsReadStep *s = transfer(p, WS_READ_STORE, a[0], a[1], a[2], at);
    if (!s)
        return py_wrong(p, at, "a store whose tensor, coordinates or buffer is not known");
    g_array_index(p->r->tensors, WsReadTensor, s->tensor).written = TRUE;
    return py_none(p);
}

const Val *py_mean_STORE_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (p->group)
        py_step(p, WS_READ_STORE_WAIT, at)->n = py_number(a[0], 0);
    p->waited = TRUE;
    return py_none(p);
}

const Val *py_mean_WRITE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || !a[0] || a[0]->kind != VAL_BUFFER || !a[1])
        return py_wrong(p, at, "a store to something that is no buffer");
    if (a[1]->kind == VAL_CLAIM)
        return py_claim_store(p, a[0], a[1], at);
    Val to = *a[0];
    if (!to.rows)
        extents(p, &to);
    if (p->waited)
        settle_group(p, at, TRUE);
    gint value = a[1]->kind == VAL_TILE ? a[1]->index : -1;
    if (value < 0)
        value = py_hold(p, "stored", a[1], at, to.rows, to.cols);
    if (value < 0)
        return py_wrong(p, at, "a store of something that is no tile");
    WsReadStep *s = py_step(p, WS_READ_WRITE, at);
    s->value = value;
    s->text = a[1]->kind == VAL_TILE ? a[1]->text : NULL;
    s->buffer = to.place;
    p->dirty = TRUE;
    return py_none(p);
}

const Val *py_mean_READ(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group || !a[0] || a[0]->kind != VAL_BUFFER)
        return py_opaque(p);
    Val from = *a[0];
    if (!from.rows)
        extents(p, &from);
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, from.place.object);
    g_autofree char *name = g_strconcat(p->frame->prefix, p->hint ? p->hint : "loaded", NULL);
    const Val *old = p->hint ? g_hash_table_lookup(p->frame->vars, p->hint) : NULL;
    const gboolean line = from.rows == 1 && from.cols > 1;
    if (line && old && (old->kind == VAL_TILE || old->kind == VAL_ZERO) && old->rows == from.cols &&
        old->cols == 1) { /* the variable holds one value per row */
        from.rows = from.cols;
        from.cols = 1;
    }
    const gint value = ws_source_value(p->r, p->group, name, b->dtype, from.rows, from.cols);
    g_array_index(p->group->values, WsReadValue, value).line = line;
    WsReadStep *s = py_step(p, WS_READ_READ, at);
    s->value = value;
    s->buffer = from.place;
    if (p->from == WS_IMPORT_GLUON)
        py_step(p, WS_READ_FENCE, at)->name = "async";
    p->dirty = TRUE;
    Val *v = py_val(p, VAL_TILE);
    v->step = s;
    v->index = value;
    v->rows = from.rows;
    v->cols = from.cols;
    return v;
}

/* --- matrix
 * -------------------------------------------------------------------------------------------*/

static gboolean operand(PyRead *p, const Val *v, WsPlace *place, gint64 *rows, gint64 *cols)
{
    if (v && v->kind == VAL_BUFFER) {
        Val full = *v;
        if (!full.rows)
            extents(p, &full);
        *place = full.place;
        *rows = full.place.transposed ? full.cols : full.rows;
        *cols = full.place.transposed ? full.rows : full.cols;
        return TRUE;
    }
    if (!v || v->kind != VAL_TILE)
        return FALSE;
    *place = (WsPlace){ .object = v->index, .views = v->text, .in_value = TRUE };
    *rows = v->rows;
    *cols = v->cols;
    return TRUE;
}

/* Products take float32 in shared memory as tf32: there are no others. */
static void as_tf32(PyRead *p, const Val *operand)
{
    if (!operand || operand->kind != VAL_BUFFER)
        return;
    WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, operand->place.object);
    if (strcmp(b->dtype, "f32"))
        return;
    for (guint i = 0; i < p->r->tensors->len; i++) {
        WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, i);
        if (t->fills == operand->place.object + 1)
            t->dtype = "tf32";
    }
    b->dtype = "tf32";
}

static void mark_accumulator(PyRead *p, gint value)
{
    g_array_index(p->group->values, WsReadValue, value).accumulator = TRUE;
}

const Val *py_mean_MMA(PyRead *p, const Val **a, const WsPyNode *at)
{
    WsPlace left, right;
    gint64 m, n, k, k2, first;
    if (!p->group || !operand(p, a[0], &left, &m, &k) || !operand(p, a[1], &right, &k2, &n))
        return py_wrong(p, at, "a product whose operands are not known");
    as_tf32(p, a[0]);
    as_tf32(p, a[1]);
    const WsExpr *use = a[3] ? py_as_int(p, a[3]) : ws_x_int(p->r, 1);
    const Val *acc = a[2];
    gint value = acc && (acc->kind == VAL_TILE || acc->kind == VAL_ZERO) ? acc->index : -1;
    gboolean zero = acc && acc->kind == VAL_ZERO;
    if (value < 0) {
        g_autofree char *name = g_strconcat(p->frame->prefix, p->hint ? p->hint : "acc", NULL);
        value = ws_source_value(p->r, p->group, name, "f32", m, n);
        zero = zero || !acc || acc->kind != VAL_OPAQUE;
    }
    mark_accumulator(p, value);
    if (p->from == WS_IMPORT_GLUON)
        py_step(p, WS_READ_FENCE, at)->name = "mma";
    WsReadStep *s = py_step(p, WS_READ_MMA, at);
    s->value = value;
    s->a = left;
    s->b = right;
    s->b.transposed = !right.transposed; /* the design writes b with the contraction last */
    s->e = use ? ws_x_op(p->r, WS_EXPR_NOT, use, NULL) : NULL;
    if (s->e && s->e->op == WS_EXPR_NOT && s->e->arg[0]->n_args == 2) { /* !(k > 0) */
        static const WsExprOp other[][2] = {
            { WS_EXPR_GT, WS_EXPR_LE }, { WS_EXPR_NE, WS_EXPR_EQ }, { WS_EXPR_GE, WS_EXPR_LT },
            { WS_EXPR_EQ, WS_EXPR_NE }, { WS_EXPR_LT, WS_EXPR_GE }, { WS_EXPR_LE, WS_EXPR_GT }
        };
        for (guint i = 0; i < G_N_ELEMENTS(other); i++)
            if (s->e->arg[0]->op == other[i][0]) {
                const WsExpr *c = s->e->arg[0];
                s->e = ws_x_op(p->r, other[i][1], ws_x_own(p->r, ws_expr_ref(c->arg[0])),
                               ws_x_own(p->r, ws_expr_ref(c->arg[1])));
                break;
            }
    }
    if (zero && ws_x_is(s->e, &first) && !first && acc && acc->step) {
        if (acc->depth == p->loops->len)
            s->e = ws_x_int(p->r, 1); /* the first product after the zeros */
        else
            acc->step->off = FALSE;
    }
    gint64 async;
    if (!(a[6] && py_known(a[6], &async) && async))
        py_step(p, WS_READ_MMA_WAIT, at)->n = 0;
    Val *v = py_val(p, VAL_TILE);
    v->index = value;
    v->rows = m;
    v->cols = n;
    return v;
}

#define WGMMA_MOST 7

const Val *py_mean_MMA_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group)
        return py_none(p);
    if (py_number(a[0], 0) < WGMMA_MOST) /* the instruction leaves no more in flight: no wait */
        py_step(p, WS_READ_MMA_WAIT, at)->n = MAX(py_number(a[0], 0), 0);
    if (a[1] && a[1]->kind == VAL_TUPLE && a[1]->n == 1)
        return a[1]->item[0];
    return a[1] ? a[1] : py_none(p);
}

const Val *py_store_away(PyRead *p, const Val *value, const WsPyNode *at)
{
    const Val *m = p->group && value ? py_formula(p, value) : NULL;
    if (m && m->cols > 1) /* reads all of it and holds little */
        m = py_function_tile(p, "rowmax", &m, 1, TRUE);
    if (!m || m->rows * m->cols <= 1 || py_hold(p, "stored", m, at, 0, 0) < 0)
        return py_wrong(p, at, "a store through pointers");
    py_unread(p, at, "where a store through pointers goes in global memory");
    return py_none(p);
}
