#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"

#include <string.h>

/* Shardings over the CTAs of a cluster, and what turns one into another: steps that are made here
 * and proved as if they were drawn. */

typedef enum { WHOLE, SPLIT, PARTIAL } State;

const Val *py_mean_TLE_AXIS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return a[0] ? a[0] : py_opaque(p);
}

/* 1: the axis of the mesh; 0: none; -1: it is not known. */
static gint axis_in(const Val *item, const Val *mesh)
{
    if (!py_given(item) || (item->kind == VAL_NAME && g_str_has_suffix(item->text, ".B")))
        return 0;
    if (item->kind == VAL_STRING)
        return strcmp(item->text, mesh->text) ? -1 : 1;
    if (item->kind != VAL_TUPLE || item->n > 1)
        return -1;
    return item->n ? axis_in(item->item[0], mesh) : 0;
}

static Val *with_items(PyRead *p, ValKind kind, const Val *first, const Val *second)
{
    Val *v = py_val(p, kind);
    v->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[0] = first;
    v->item[1] = second;
    v->n = 2;
    return v;
}

const Val *py_mean_TLE_SHARDING(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean mesh = a[0] && a[0]->kind == VAL_MESH;
    if (!mesh || a[0]->dtype)
        return py_wrong(p, at, mesh ? a[0]->dtype : "a mesh that is not known");
    Val *v = with_items(p, VAL_SHARDING, a[0], NULL);
    const gint partial = axis_in(a[2], a[0]);
    gboolean known = partial >= 0 && (!py_given(a[1]) || a[1]->kind == VAL_TUPLE);
    v->index = partial > 0 ? PARTIAL : WHOLE;
    for (guint i = 0; known && py_given(a[1]) && i < a[1]->n; i++) {
        const gint axis = axis_in(a[1]->item[i], a[0]);
        known = axis == 0 || (axis == 1 && v->index == WHOLE);
        if (axis == 1) {
            v->index = SPLIT;
            v->at = i;
        }
    }
    return known ? v : py_wrong(p, at, "a sharding whose axes are not those of its mesh");
}

const Val *py_mean_TLE_SHARDED(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1] || a[1]->kind != VAL_SHARDING)
        return py_wrong(p, at, "a tensor whose sharding is not known");
    return with_items(p, VAL_SHARDED, a[0], a[1]);
}

/* --- resharding ------------------------------------------------------------------------------- */

static const Val *tile_of(PyRead *p, gint value, gint64 rows, gint64 cols)
{
    Val *v = py_val(p, VAL_TILE);
    v->index = value;
    v->rows = rows;
    v->cols = cols;
    v->made = p->clock;
    return v;
}

static const char *dtype_of(const PyRead *p, const Val *buffer)
{
    return g_array_index(p->r->buffers, WsReadBuffer, buffer->place.object).dtype;
}

/* The part of CTA `rank`, read into a value. */
static void read_part(PyRead *p, const Val *buffer, gint value, gint64 rank, const WsPyNode *at)
{
    WsReadStep *s = py_step(p, WS_READ_READ, at);
    py_set(p, s, value);
    s->buffer = buffer->place;
    s->cta = ws_x_int(p->r, rank);
    p->dirty = TRUE;
}

static const char *name_of(const PyRead *p, gint value)
{
    return g_array_index(p->group->values, WsReadValue, value).name;
}

/* [P] -> [B]: each CTA adds up the parts of all, in one order. */
static const Val *reduced(PyRead *p, const Val *buffer, const Val *tile, const WsPyNode *at)
{
    const char *dtype = dtype_of(p, buffer);
    const gint sum = py_value_at(p, "reduced", at->kid[0], dtype, tile->rows, tile->cols);
    const gint part = py_value_at(p, "shard_part", at, dtype, tile->rows, tile->cols);
    read_part(p, buffer, sum, 0, at);
    for (gint64 r = 1; r < p->mesh->rows; r++) {
        read_part(p, buffer, part, r, at);
        WsReadStep *s = py_step(p, WS_READ_COMPUTE, at);
        py_set(p, s, sum);
        s->text = ws_source_format(p->r, "%s = %s + %s", name_of(p, sum), name_of(p, sum),
                                   name_of(p, part));
    }
    return tile_of(p, sum, tile->rows, tile->cols);
}

/* Tensors of one axis: the state of both is known, and the handle is a tile in registers. */
const Val *py_mean_TLE_RESHARD(PyRead *p, const Val **a, const WsPyNode *at)
{
    p->meshed = TRUE;
    if (!p->group || !a[0] || a[0]->kind != VAL_SHARDED || !a[1] || a[1]->kind != VAL_SHARDING)
        return py_wrong(p, at, "a reshard of what has no sharding, or to what is none");
    const Val *tile = a[0]->item[0], *from = a[0]->item[1];
    const char *why = py_no_mesh(p, from->item[0]);
    why = why ? why : py_no_mesh(p, a[1]->item[0]);
    if (why)
        return py_wrong(p, at, why);
    const gboolean same = from->index == a[1]->index && from->at == a[1]->at;
    if (same)
        return with_items(p, VAL_SHARDED, tile, a[1]);
    if (from->index != PARTIAL || a[1]->index != WHOLE)
        return py_wrong(p, at, "a reshard that is no all-reduce");
    if (!py_is_tile(tile) || tile->rows < 2 || tile->cols < 2)
        return py_wrong(p, at, "a reshard of what is no tile in registers");
    const Val *buffer = py_laid_down(p, tile, at);
    if (!buffer)
        return py_wrong(p, at, "a reshard of what is no tile in registers");
    py_mesh_meet(p, at);
    const Val *sum = reduced(p, buffer, tile, at);
    py_mesh_meet(p, at); /* before the parts are overwritten, or a CTA ends */
    return with_items(p, VAL_SHARDED, sum, a[1]);
}
