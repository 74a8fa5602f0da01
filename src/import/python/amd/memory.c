#include "import/python/amd/amd.h"
#include "import/python/pyread_law.h"
#include "program/parts/buffer.h"

#include <string.h>

/* Loads straight to shared memory, reads of it, products and waits in Gluon for AMD. */

/* --- loads ------------------------------------------------------------------------------------ */

/* The argument of the call at place `i`, or by its keyword. NULL: there is none. */
static const WsPyNode *argument(const WsPyNode *call, guint i, const char *name)
{
    for (guint k = 1; k < call->n; k++)
        if (call->kid[k]->kind == WS_PY_KEYWORD && !strcmp(call->kid[k]->text, name))
            return call->kid[k]->kid[0];
    return i < call->n && call->kid[i]->kind != WS_PY_KEYWORD && call->kid[i]->kind != WS_PY_STAR
               ? call->kid[i]
               : NULL;
}

/* Rows of a tensor of which nothing says where they lie, which does not matter to what is judged.
 */
static WsReadStep *somewhere(PyRead *p, const Val *to, const WsPyNode *at)
{
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, to->place.object);
    Val source = { .kind = VAL_PARAM, .text = ws_source_format(p->r, "%s_source", b->name) };
    const gint tensor = py_tensor(p, &source, 2, at->line);
    const WsExpr *zero[] = { ws_x_int(p->r, 0), ws_x_int(p->r, 0) };
    return tensor < 0 ? NULL : py_at_tensor(p, WS_READ_LOAD, tensor, zero, 2, at);
}

/* Each half of the warps loads half of the elements, each of them once. */
static void need_shares(PyRead *p, gint buffer, const PyLayout *l, gint64 rows, gint64 cols,
                        const WsPyNode *at)
{
    guint64 by;
    l = l && l->kind == PY_LAYOUT_SLICE ? l->parent : l;
    const PyHalves halves = py_layout_halves(l, rows, cols, &by);
    if (halves == PY_HALVES_UNKNOWN)
        py_unread(p, at, "which half of the warps loads which rows");
    else if (halves == PY_HALVES_BOTH || !py_layout_once(l, rows, cols))
        py_unread(p, at, "a load of elements that several threads load");
    else
        py_amd_share(p, buffer, PY_SHARE_LOAD, by, at);
}

/* `pointer` and `offsets` as one tile of pointers. */
static const Val *sum_of(PyRead *p, const Val *pointer, const Val *offsets)
{
    const gboolean base =
        pointer->kind == VAL_POINTER || pointer->kind == VAL_PARAM || pointer->kind == VAL_TENSOR;
    if (!base || offsets->kind != VAL_MATH || g_strcmp0(offsets->dtype, "i32") ||
        (offsets->reads && offsets->reads->len))
        return NULL;
    Val *v = py_val(p, VAL_POINTER);
    v->item = g_new0(const Val *, 2);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[0] = pointer->kind == VAL_POINTER ? pointer->item[0] : pointer;
    v->n = 1;
    v->rows = offsets->rows;
    v->cols = offsets->cols;
    v->text = pointer->kind == VAL_POINTER
                  ? ws_source_format(p->r, "(%s + %s)", pointer->text, offsets->text)
                  : offsets->text;
    return v;
}

static const Val *load(PyRead *p, const Val *to, const Val *pointers, const WsPyNode *base,
                       const PyLayout *layout, gint64 rows, gint64 cols, const WsPyNode *at)
{
    if (!p->group || !to || to->kind != VAL_BUFFER || to->place.transposed || *to->place.views ||
        to->depth)
        return py_wrong(p, at, "a load to something that is no whole tile of a buffer");
    Val whole = *to;
    if (!whole.rows)
        py_extents(p, &whole);
    if (rows != whole.rows || cols != whole.cols || rows < 2)
        return py_wrong(p, at, "a load whose tile is not one of the buffer's rows and columns");
    need_shares(p, to->place.object, layout, rows, cols, at);
    py_amd_meet(p);
    gint64 said_rows = 0, said_cols = 0;
    WsReadStep *s = base ? py_pointed_by(p, WS_READ_LOAD, base, at, &said_rows, &said_cols) : NULL;
    if (s && (said_rows != rows || said_cols != cols)) {
        s->off = TRUE;
        s = NULL;
        py_law_value(p, at, "a remark that names another tile than its line");
    }
    if (!s && pointers)
        s = py_through(p, WS_READ_LOAD, pointers, NULL, at, NULL);
    else if (!s)
        py_law_value(p, at, "which rows of global memory are loaded");
    if (!s) {
        py_note_fetch(p, pointers, at);
        s = somewhere(p, to, at);
    }
    if (!s)
        return py_wrong(p, at, "a load of a tensor that is not known");
    s->buffer = to->place;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->dtype = g_array_index(p->r->buffers, WsReadBuffer, to->place.object).dtype;
    g_ptr_array_add(p->open_gathers, s);
    return py_none(p);
}

/* Under a mask an instruction may be left out, and waits count instructions. */
static gboolean masked(PyRead *p, const Val *mask, const Val *other, const WsPyNode *at)
{
    if (!py_given(mask) && !py_given(other))
        return FALSE;
    py_wrong(p, at, "a load to shared memory under a mask, which waits may count or not");
    return TRUE;
}

const Val *py_mean_AMD_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[1] || !a[2] || (!py_is_tile(a[2]) && !py_amd_is_places(a[2])))
        return py_wrong(p, at, "a load to shared memory whose pointer or offsets are not known");
    if (masked(p, a[3], a[4], at))
        return py_none(p);
    const WsPyNode *base = argument(at, 2, "ptr"), *offsets = argument(at, 3, "offsets");
    WsPyNode *both[] = { (WsPyNode *)base, (WsPyNode *)offsets };
    const WsPyNode sum = {
        .kind = WS_PY_BINARY, .line = at->line, .text = "+", .n = 2, .kid = both
    };
    return load(p, a[0], sum_of(p, a[1], a[2]), base && offsets ? &sum : NULL,
                py_amd_layout(p, a[2]), a[2]->rows, a[2]->cols, at);
}

const Val *py_mean_AMD_LOAD_AT(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[1] || a[1]->kind != VAL_POINTER)
        return py_wrong(p, at, "a load to shared memory through pointers that are not known");
    if (masked(p, a[2], a[3], at))
        return py_none(p);
    return load(p, a[0], a[1], argument(at, 2, "ptr"), a[1]->layout, a[1]->rows, a[1]->cols, at);
}

/* Load groups of a design are one load each. */
const Val *py_mean_AMD_COMMIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    return py_mean_CP_COMMIT(p, a, at);
}

const Val *py_mean_AMD_WAIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 n = a[0] ? py_number(a[0], -1) : 0;
    if (!p->group || n < 0)
        return py_wrong(p, at, "a wait for a number of loads that is not known");
    if (p->open_gathers->len)
        py_wrong(p, at, "a wait after loads that no group holds");
    py_amd_at_border(p, at);
    py_step(p, WS_READ_LOAD_WAIT, at)->n = n;
    if (!p->probing)
        p->due = p->stage ? NULL : p->to;
    return py_none(p);
}

const Val *py_mean_AMD_BARRIER(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!p->group)
        return py_wrong(p, at, "a barrier outside of the kernel");
    py_amd_at_border(p, at);
    if (!p->probing)
        p->due = NULL;
    py_step(p, WS_READ_SYNC, at)->name = "group";
    return py_none(p);
}

/* --- reads ------------------------------------------------------------------------------------ */

static const Val *read_tile(PyRead *p, const Val **a, gboolean relaxed, const WsPyNode *at)
{
    const PyLayout *l = a[1] && a[1]->kind == VAL_LAYOUT ? a[1]->layout : NULL;
    if (!p->group || !a[0] || a[0]->kind != VAL_BUFFER || a[0]->depth || *a[0]->place.views)
        return py_wrong(p, at, "a read of something that is no whole tile of a buffer");
    if (p->stage && !relaxed)
        return py_wrong(p, at,
                        "a plain load of shared memory inside a stage: the compiler may put waits "
                        "and a barrier before it");
    Val from = *a[0];
    if (!from.rows)
        py_extents(p, &from);
    const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, from.place.object);
    const gboolean across = from.place.transposed;
    guint64 by = 0;
    const gint64 rows = across ? from.cols : from.rows, cols = across ? from.rows : from.cols;
    if (rows < 2 || cols < 2)
        return py_wrong(p, at, "a read of a line of shared memory");
    py_amd_need_halves(p, l, rows, cols, at);
    py_amd_meet(p);
    const gboolean second = py_amd_is_operand_b(l);
    if (!second && py_layout_halves(l, rows, cols, &by) == PY_HALVES_ROWS) {
        if (across) /* rows of the tile are columns of the buffer */
            by /= (guint64)cols;
        py_amd_share(p, from.place.object, across ? PY_SHARE_ACROSS : PY_SHARE_READ, by, at);
    }
    Val *v = py_val(p, VAL_TILE);
    v->rows = second ? cols : rows;
    v->cols = second ? rows : cols;
    v->layout = l;
    v->index = py_value_for(p, "loaded", at, b->dtype, v->rows, v->cols);
    WsReadStep *s = py_step(p, WS_READ_READ, at);
    py_set(p, s, v->index);
    v->made = p->clock;
    g_array_index(p->group->values, WsReadValue, v->index).layout = l;
    s->buffer = from.place;
    s->buffer.transposed = across != second;
    v->step = s;
    if (!relaxed) /* waits of the compiler's own may stand before it */
        ws_source_masked(p->r, s);
    return v;
}

const Val *py_mean_AMD_RELAXED(PyRead *p, const Val **a, const WsPyNode *at)
{
    return read_tile(p, a, TRUE, at);
}

const Val *py_mean_AMD_READ(PyRead *p, const Val **a, const WsPyNode *at)
{
    return read_tile(p, a, FALSE, at);
}

/* Pointer and offsets apart, as one pointer; NULL: they are not followed. */
const Val *py_mean_AMD_BUFFER_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *to = a[1] && a[2] ? sum_of(p, a[1], a[2]) : NULL;
    return py_mean_TLE_STORE(p, (const Val *[]){ to ? to : py_opaque(p), a[0], a[3] }, at);
}

const Val *py_mean_AMD_BUFFER_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *from = a[0] && a[1] ? sum_of(p, a[0], a[1]) : NULL;
    if (!from) {
        py_note_fetch(p, NULL, at);
        return py_opaque(p);
    }
    ((Val *)from)->layout = py_amd_layout(p, a[1]);
    return py_mean_AMD_GLOBAL(p, (const Val *[]){ from, a[2], a[3], NULL }, at);
}

/* From global memory to registers. */
const Val *py_mean_AMD_GLOBAL(PyRead *p, const Val **a, const WsPyNode *at)
{
    const Val *v = py_mean_TLE_LOAD(p, a, at);
    const PyLayout *l = a[0] && a[0]->kind == VAL_POINTER ? a[0]->layout : NULL;
    if (v->kind != VAL_TILE || !p->group)
        return v;
    l = l && l->kind == PY_LAYOUT_SLICE && v->rows > 1 && v->cols > 1 ? l->parent : l;
    py_amd_need_halves(p, l, v->rows, v->cols, at);
    ((Val *)v)->layout = l;
    g_array_index(p->group->values, WsReadValue, v->index).layout = l;
    return v;
}

/* Triton counts the padding over all slots, without the last of each. */
static gint64 padding_of(const WsReadBuffer *b, const PyLayout *l)
{
    gint64 all = 1, spare = 0;
    for (guint d = 0; d < b->rank; d++)
        all *= b->shape[d];
    for (guint i = 0; i < l->n_padding; i++)
        spare += (all / l->padding[i][0] - (all % l->padding[i][0] == 0)) * l->padding[i][1];
    return spare * (b->dtype ? py_dtype_bytes(b->dtype) : 2);
}

/* 64 lanes of at least four bytes load to bytes that follow each other. */
static gboolean is_too_dense(const WsReadBuffer *b, const PyLayout *l)
{
    for (guint i = 0; i < l->n_padding; i++)
        if (l->padding[i][0] * (b->dtype ? py_dtype_bytes(b->dtype) : 2) < 64 * 4)
            return TRUE;
    return FALSE;
}

/* Gaps as a design has them; of others each element has bytes of its own all the same. */
static void take_gap(WsReadBuffer *b, const PyLayout *l)
{
    const gint64 bytes = b->dtype ? py_dtype_bytes(b->dtype) : 0;
    if (b->rank >= 2 && bytes > 0 && l->gap > 0 && l->gap * bytes % 16 == 0 &&
        py_layout_deals(l, b->shape[b->rank - 2], b->shape[b->rank - 1], WS_PIECE / bytes))
        b->gap = l->gap * bytes;
}

const Val *py_mean_AMD_ALLOCATE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[2] || a[2]->kind != VAL_LAYOUT || !a[2]->layout ||
        a[2]->layout->kind != PY_LAYOUT_SHARED)
        py_unread(p, at, "the layout of shared memory");
    if (py_given(a[3]))
        return py_wrong(p, at, "shared memory that is made with a value");
    const Val *v = py_mean_ALLOCATE(p, a, at);
    if (v->kind != VAL_BUFFER)
        return v;
    WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, v->place.object);
    if (a[2] && a[2]->kind == VAL_LAYOUT && a[2]->layout) {
        take_gap(b, a[2]->layout);
        b->spare = padding_of(b, a[2]->layout);
        if (is_too_dense(b, a[2]->layout))
            py_unread(p, at, "padding inside of what an instruction of a wave loads");
    }
    if (b->made)
        py_amd_take(p, 0, at);
    return v;
}

/* --- products --------------------------------------------------------------------------------- */

static gboolean is_operand(const PyLayout *l, gint64 number, const PyLayout *sum, gint64 width)
{
    return l && l->kind == PY_LAYOUT_OPERAND && l->number == number &&
           py_layout_equal(l->parent, sum) && (!width || l->width == width);
}

const Val *py_mean_AMD_MFMA(PyRead *p, const Val **a, const WsPyNode *at)
{
    const PyLayout *left = a[0] ? py_amd_layout(p, a[0]) : NULL,
                   *right = a[1] ? py_amd_layout(p, a[1]) : NULL,
                   *sum = a[2] ? py_amd_layout(p, a[2]) : NULL;
    if (!p->group || !a[0] || a[0]->kind != VAL_TILE || !a[1] || a[1]->kind != VAL_TILE || !a[2] ||
        !py_is_tile(a[2]))
        return py_wrong(p, at, "a product whose operands are not known");
    if (!sum || sum->kind != PY_LAYOUT_MFMA || !is_operand(left, 0, sum, 0) ||
        !is_operand(right, 1, sum, left->width))
        return py_wrong(p, at, "a product of tiles whose layouts are not those of its sum");
    if (p->group->mma_rows && p->group->mma_rows != sum->block)
        py_law_value(p, at, "a matrix instruction of other rows than another product's");
    else
        p->group->mma_rows = sum->block;
    const Val *v = py_mean_MMA(p, (const Val *[]){ a[0], a[1], a[2], NULL, NULL, NULL, NULL }, at);
    if (v->kind == VAL_TILE) {
        ((Val *)v)->layout = sum;
        g_array_index(p->group->values, WsReadValue, v->index).layout = sum;
    }
    return v;
}

/* The format is what the tile holds: "e5m2". */
static gboolean is_format(const PyRead *p, const Val *tile, const Val *format)
{
    const char *type = tile && tile->kind == VAL_TILE && tile->index >= 0 && p->group
                           ? g_array_index(p->group->values, WsReadValue, tile->index).dtype
                           : NULL;
    return type && format && format->kind == VAL_STRING && strstr(format->text, type) &&
           strlen(format->text) <= strlen(type) + 2; /* and quotes */
}

/* Scales are of blocks of 32 elements, for which designs have no word. */
const Val *py_mean_AMD_UNSCALED(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (py_given(a[1]) || py_given(a[4]))
        return py_wrong(p, at, "a product with scales");
    if (!is_format(p, a[0], a[2]) || !is_format(p, a[3], a[5]))
        return py_wrong(p, at, "a product whose formats are not those of its tiles");
    return py_mean_AMD_MFMA(p, (const Val *[]){ a[0], a[3], a[6] }, at);
}
