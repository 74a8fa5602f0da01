#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_shards.h"

#include <string.h>

/* From one sharding to another: each CTA lays down its part, all meet, each reads what it needs of
 * the others, all meet again. The steps are made here and proved as if they were drawn. */

typedef struct {
    PyRead *p;
    const WsPyNode *at, *whole; /* `whole`: where memory for all parts is made */
    const Val *mesh, *from, *to;
    const char *dtype;
    gint64 size[2];         /* of a part as it was */
    gint64 taken[2];        /* of what is read of one */
    gint64 extent[2];       /* of what it becomes */
    const WsExpr *start[2]; /* of what is read; NULL: 0 */
    guint placed[2];        /* axes whose CTAs have parts that are put beside each other */
    guint summed;           /* those whose parts are added up */
    const WsExpr *coordinate[PY_MESH_AXES]; /* of the CTA that is read; NULL: this one's own */
    gboolean moves;                         /* something of another CTA is read */
} Way;

static gint64 size_of(const Way *w, guint axis)
{
    return w->mesh->item[axis]->rows;
}

/* --- which part of which CTA -------------------------------------------------------------------*/

/* The number of this CTA along the axes together, the last one fastest. */
static const WsExpr *own_index(const Way *w, guint axes)
{
    WsRead *r = w->p->r;
    const WsExpr *e = ws_x_int(r, 0);
    for (guint i = 0; i < w->mesh->n; i++)
        if (axes >> i & 1)
            e = ws_x_op(r, WS_EXPR_ADD, ws_x_op(r, WS_EXPR_MUL, e, ws_x_int(r, size_of(w, i))),
                        py_mesh_coordinate(w->p, w->mesh, i));
    return e;
}

/* Each axis of `first` counts slower than those of `then`. */
static gboolean leads(guint first, guint then)
{
    return !first || !then || g_bit_nth_msf(first, -1) < g_bit_nth_lsf(then, -1);
}

/* The part of number `index` lies in that CTA along the axes. */
static void of_index(Way *w, guint axes, const WsExpr *index)
{
    for (gint i = (gint)w->mesh->n - 1; i >= 0; i--) {
        if (!(axes >> i & 1))
            continue;
        axes &= ~(1u << i);
        w->coordinate[i] = axes ? ws_x_mod(w->p->r, index, size_of(w, (guint)i)) : index;
        index = ws_x_op(w->p->r, WS_EXPR_DIV, index, ws_x_int(w->p->r, size_of(w, (guint)i)));
    }
    w->moves = TRUE;
}

static const char *along(Way *w, guint d)
{
    const guint from = py_shards(w->from, PY_SHARD_ROWS + d);
    const guint to = py_shards(w->to, PY_SHARD_ROWS + d);
    const guint gone = from & ~to, come = to & ~from;
    const gint64 n = py_shard_count(w->mesh, come);
    if (come && !gone && leads(from, come)) {
        if (w->size[d] % n)
            return ws_source_format(w->p->r,
                                    "a reshard of %" G_GINT64_FORMAT " %s into %" G_GINT64_FORMAT
                                    " parts of equal size",
                                    w->size[d], d ? "columns" : "rows", n);
        w->taken[d] = w->extent[d] = w->size[d] / n;
        w->start[d] =
            ws_x_op(w->p->r, WS_EXPR_MUL, own_index(w, come), ws_x_int(w->p->r, w->taken[d]));
    } else if (gone && !come && leads(to, gone)) {
        w->placed[d] = gone;
        w->extent[d] *= py_shard_count(w->mesh, gone);
        w->moves = TRUE;
    } else if (gone && come && py_shard_count(w->mesh, from) == py_shard_count(w->mesh, to)) {
        of_index(w, from, own_index(w, to));
    } else if (gone || come) {
        return "a reshard between splits of which none is a part of the other";
    }
    return NULL;
}

static const char *plan(Way *w)
{
    const char *why = NULL;
    const guint sums = py_shards(w->from, PY_SHARD_PARTIAL);
    const guint still = py_shards(w->to, PY_SHARD_PARTIAL);
    if (still & ~sums)
        return "a reshard into parts of a sum, of which nothing says how it is parted";
    w->summed = sums & ~still;
    w->moves = w->summed != 0;
    for (guint i = 0; i < w->mesh->n && w->from->item[0]->at; i++) {
        const gint64 rank = w->from->item[0]->at - 1, stride = py_mesh_stride(w->mesh, i);
        w->coordinate[i] = ws_x_int(w->p->r, rank / stride % size_of(w, i));
        w->moves = TRUE;
    }
    for (guint d = 0; d < 2 && !why; d++)
        why = along(w, d);
    return why;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The CTA whose part is number `of` of those put beside each other, and number `term` of the sum.
 */
static const WsExpr *rank_of(const Way *w, guint of, guint term)
{
    WsRead *r = w->p->r;
    const guint placed = w->placed[0] | w->placed[1];
    const WsExpr *rank = ws_x_int(r, 0);
    gboolean own = TRUE;
    for (guint i = w->mesh->n; i-- > 0;) {
        const WsExpr *e = w->coordinate[i];
        guint *digits = placed >> i & 1 ? &of : w->summed >> i & 1 ? &term : NULL;
        if (digits) {
            e = ws_x_int(r, *digits % size_of(w, i));
            *digits /= (guint)size_of(w, i);
        }
        own = own && !e;
        e = e ? e : py_mesh_coordinate(w->p, w->mesh, i);
        rank = ws_x_op(r, WS_EXPR_ADD, rank,
                       ws_x_op(r, WS_EXPR_MUL, e, ws_x_int(r, py_mesh_stride(w->mesh, i))));
    }
    return own ? ws_x_name(r, "cta") : rank;
}

/* Where part `of` begins in the whole along dimension d. */
static gint64 offset_of(const Way *w, guint of, guint d)
{
    const guint placed = w->placed[0] | w->placed[1];
    gint64 index = 0, by = 1;
    for (guint i = w->mesh->n; i-- > 0;) {
        if (!(placed >> i & 1))
            continue;
        if (w->placed[d] >> i & 1) {
            index += of % size_of(w, i) * by;
            by *= size_of(w, i);
        }
        of /= (guint)size_of(w, i);
    }
    return index * w->taken[d];
}

static const Val *part_of(Way *w, const Val *buffer, const WsExpr *const start[2],
                          const gint64 size[2])
{
    const Val *v = buffer;
    for (guint d = 0; d < 2 && v->kind == VAL_BUFFER; d++) {
        const Val *from = start[d] ? py_int(w->p, start[d]) : NULL;
        const Val *of[] = { v, from, py_literal(w->p, size[d]), py_literal(w->p, d) };
        v = from ? py_mean_SLICE(w->p, of, w->at) : v;
    }
    return v;
}

static void read_part(Way *w, const Val *buffer, gint value, const WsExpr *rank)
{
    WsReadStep *s = py_step(w->p, WS_READ_READ, w->at);
    py_set(w->p, s, value);
    s->buffer = part_of(w, buffer, w->start, w->taken)->place;
    s->cta = rank;
    w->p->dirty = TRUE;
}

static const char *name_of(const PyRead *p, gint value)
{
    return g_array_index(p->group->values, WsReadValue, value).name;
}

/* Part `of`, or the sum of all of its terms in one order. */
static gint gathered(Way *w, const Val *buffer, guint of)
{
    PyRead *p = w->p;
    const gint64 terms = py_shard_count(w->mesh, w->summed);
    const gint sum = py_value_at(p, "resharded", w->at, w->dtype, w->taken[0], w->taken[1]);
    read_part(w, buffer, sum, rank_of(w, of, 0));
    for (guint k = 1; k < terms; k++) {
        const gint term = py_value_at(p, "shard_part", w->at, w->dtype, w->taken[0], w->taken[1]);
        read_part(w, buffer, term, rank_of(w, of, k));
        WsReadStep *s = py_step(p, WS_READ_COMPUTE, w->at);
        py_set(p, s, sum);
        s->text = ws_source_format(p->r, "%s = %s + %s", name_of(p, sum), name_of(p, sum),
                                   name_of(p, term));
    }
    return sum;
}

static const Val *tile_of(PyRead *p, gint value, const gint64 size[2])
{
    Val *v = py_val(p, VAL_TILE);
    v->index = value;
    v->rows = size[0];
    v->cols = size[1];
    v->dims = 2;
    v->made = p->clock;
    return v;
}

static const Val *new_whole(Way *w)
{
    PyRead *p = w->p;
    Val *shape = py_val(p, VAL_TUPLE), *type = py_val(p, VAL_NAME);
    shape->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, shape->item);
    shape->item[shape->n++] = py_literal(p, w->extent[0]);
    shape->item[shape->n++] = py_literal(p, w->extent[1]);
    type->text = py_dtype_name(w->dtype);
    const char *hint = p->hint;
    p->hint = "gathered";
    const Val *of[] = { type, shape, NULL, NULL };
    const Val *whole = py_mean_ALLOCATE(p, of, w->whole);
    p->hint = hint;
    py_compilers(p, whole);
    return whole;
}

/* All parts beside each other, in a buffer. */
static void put_together(Way *w, const Val *buffer, const Val *whole)
{
    const gint64 parts = py_shard_count(w->mesh, w->placed[0] | w->placed[1]);
    for (guint of = 0; of < parts; of++) {
        const gint value = gathered(w, buffer, of);
        const WsExpr *start[2] = { NULL, NULL };
        for (guint d = 0; d < 2; d++)
            if (w->placed[d])
                start[d] = ws_x_int(w->p->r, offset_of(w, of, d));
        WsReadStep *s = py_step(w->p, WS_READ_WRITE, w->at);
        s->value = value; /* nobody meets between them: no two parts have a byte in common */
        s->buffer = part_of(w, whole, start, w->taken)->place;
    }
    w->p->dirty = TRUE;
    py_touched(w->p, whole->place.object);
}

/* Where it goes to one CTA alone, that one reads. */
static WsReadStep *if_it_is(Way *w)
{
    if (!w->to->item[0]->at)
        return NULL;
    WsReadStep *s = py_step(w->p, WS_READ_IF, w->at);
    s->e = ws_x_op(w->p->r, WS_EXPR_EQ, ws_x_name(w->p->r, "cta"),
                   ws_x_int(w->p->r, w->to->item[0]->at - 1));
    return s;
}

static const Val *moved(Way *w, const Val *buffer, gboolean stays)
{
    PyRead *p = w->p;
    const gboolean whole = w->placed[0] || w->placed[1];
    const Val *into = whole ? new_whole(w) : NULL, *v = NULL;
    if (whole && into->kind != VAL_BUFFER)
        return NULL;
    py_mesh_meet(p, w->at);
    WsReadStep *one = if_it_is(w);
    GPtrArray *to = p->to;
    p->to = one ? one->body : to;
    if (whole)
        put_together(w, buffer, into);
    else
        v = tile_of(p, gathered(w, buffer, 0), w->extent);
    if (one && whole) { /* in its branch, behind a barrier of its threads */
        py_mean_SYNC(p, NULL, w->at);
        v = py_mean_READ(p, &into, w->at);
    }
    p->to = to;
    py_mesh_meet(p, w->at); /* before the parts are overwritten, or a CTA ends */
    return v ? v : stays ? into : py_mean_READ(p, &into, w->at);
}

const Val *py_resharded(PyRead *p, const Val *handle, const Val *from, const Val *to,
                        gboolean stays, const WsPyNode *at, const WsPyNode *whole)
{
    const Val *const mesh = from->item[0];
    const gboolean held = handle->kind == VAL_BUFFER;
    if (from->at == to->at && mesh->at == to->item[0]->at && py_mesh_same(mesh, to->item[0]))
        return handle;
    Val own = *handle;
    if (held && !own.rows)
        py_extents(p, &own);
    const gboolean part = handle->kind == VAL_TILE && (handle->text || handle->n || handle->depth);
    const gboolean turned = held && (own.place.transposed || own.depth);
    if (!py_mesh_same(mesh, to->item[0])) {
        py_wrong(p, at, "a reshard from one mesh to another");
        return NULL;
    }
    if ((!held && !py_is_tile(handle)) || own.rows < 2 || own.cols < 2 || part || turned) {
        py_wrong(p, at, "a reshard of what is no tile");
        return NULL;
    }
    Way w = { .p = p,
              .at = at,
              .whole = whole,
              .mesh = mesh,
              .from = from,
              .to = to,
              .size = { own.rows, own.cols },
              .taken = { own.rows, own.cols },
              .extent = { own.rows, own.cols } };
    const char *why = plan(&w);
    const Val *buffer = why ? NULL : held ? handle : py_laid_down(p, handle, at);
    if (!buffer) {
        py_wrong(p, at, why ? why : "a reshard of what is no tile");
        return NULL;
    }
    w.dtype = g_array_index(p->r->buffers, WsReadBuffer, buffer->place.object).dtype;
    if (w.moves)
        return moved(&w, buffer, stays);
    const Val *view = part_of(&w, buffer, w.start, w.taken);
    if (!stays)
        return py_mean_READ(p, &view, at);
    py_meet_before(p, buffer->place.object, FALSE, at);
    return view;
}
