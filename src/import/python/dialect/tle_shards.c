#include "import/python/dialect/tle_shards.h"
#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Shardings over the CTAs of a cluster: what a tensor is over each axis of a mesh, what becomes of
 * it in a product, and which shardings are refused. */

#define BITS 4 /* of a PyShard in Val.at */

PyShard py_shard_of(const Val *sharding, guint axis)
{
    return (PyShard)(sharding->at >> (BITS * axis) & ((1 << BITS) - 1));
}

guint py_shards(const Val *sharding, PyShard state)
{
    guint axes = 0;
    for (guint i = 0; i < sharding->item[0]->n; i++)
        axes |= (guint)(py_shard_of(sharding, i) == state) << i;
    return axes;
}

gint64 py_shard_count(const Val *mesh, guint axes)
{
    gint64 n = 1;
    for (guint i = 0; i < mesh->n; i++)
        n *= axes >> i & 1 ? mesh->item[i]->rows : 1;
    return n;
}

const Val *py_mean_TLE_AXIS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return a[0] ? a[0] : py_opaque(p);
}

static Val *with_items(PyRead *p, ValKind kind, const Val *first, const Val *second)
{
    Val *v = py_val(p, kind);
    v->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, v->item);
    v->item[0] = first;
    v->item[1] = second;
    v->n = second ? 2 : 1;
    return v;
}

const Val *py_sharded(PyRead *p, const Val *handle, const Val *sharding)
{
    return with_items(p, VAL_SHARDED, handle, sharding);
}

const Val *py_sharding(PyRead *p, const Val *mesh, const guint axes[4])
{
    Val *v = with_items(p, VAL_SHARDING, mesh, NULL);
    for (guint i = 0; i < mesh->n; i++)
        for (guint state = PY_SHARD_PARTIAL; state <= PY_SHARD_COLS; state++)
            v->at |= axes[state] >> i & 1 ? (gint64)state << (BITS * i) : 0;
    return v;
}

/* Axes that an item names; those of one dimension in the order of the mesh. FALSE: not known. */
static gboolean axes_in(const Val *item, const Val *mesh, guint *axes)
{
    if (!py_given(item) || (item->kind == VAL_NAME && g_str_has_suffix(item->text, ".B")))
        return TRUE;
    if (item->kind == VAL_STRING) {
        const gint axis = mesh->at ? -1 : py_mesh_axis(mesh, item);
        if (axis < 0 || *axes >> axis)
            return FALSE;
        *axes |= 1u << axis;
        return TRUE;
    }
    gboolean known = item->kind == VAL_TUPLE;
    for (guint i = 0; known && i < item->n; i++)
        known = axes_in(item->item[i], mesh, axes);
    return known;
}

/* The same of `partial`, whose axes have no order. */
static gboolean partial_in(const Val *item, const Val *mesh, guint *axes)
{
    gboolean known = TRUE;
    if (!py_given(item) || item->kind != VAL_TUPLE) {
        guint own = 0;
        known = axes_in(item, mesh, &own) && !(*axes & own);
        *axes |= own;
    }
    for (guint i = 0; known && py_given(item) && item->kind == VAL_TUPLE && i < item->n; i++)
        known = partial_in(item->item[i], mesh, axes);
    return known;
}

const Val *py_mean_TLE_SHARDING(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean mesh = a[0] && a[0]->kind == VAL_MESH;
    if (!mesh || a[0]->dtype)
        return py_wrong(p, at, mesh ? a[0]->dtype : "a mesh that is not known");
    guint axes[4] = { 0 }, all = 0;
    gboolean known = !py_given(a[1]) || a[1]->kind == VAL_TUPLE;
    known = known && partial_in(a[2], a[0], &axes[PY_SHARD_PARTIAL]);
    all = axes[PY_SHARD_PARTIAL];
    for (guint i = 0; known && py_given(a[1]) && i < a[1]->n; i++) {
        guint own = 0;
        known = axes_in(a[1]->item[i], a[0], &own) && !(all & own) && (i < 2 || !own);
        all |= own;
        if (i < 2)
            axes[PY_SHARD_ROWS + i] = own;
    }
    return known ? py_sharding(p, a[0], axes)
                 : py_wrong(p, at, "a sharding whose axes are not those of its mesh");
}

/* Zeros that no variable of their own stands for. */
static const Val *stored(PyRead *p, const Val *zeros, const WsPyNode *at)
{
    Val *v = py_val(p, VAL_TILE);
    v->index = p->group ? py_hold_at(p, p->hint ? p->hint : "sharded", zeros, at) : -1;
    v->rows = zeros->rows;
    v->cols = zeros->cols;
    v->dims = zeros->dims;
    v->made = p->clock;
    return v->index < 0 ? zeros : v;
}

/* A shape that is said is that of the parts put together. */
const Val *py_mean_TLE_SHARDED(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (!a[0] || !a[1] || a[1]->kind != VAL_SHARDING)
        return py_wrong(p, at, "a tensor whose sharding is not known");
    const Val *mesh = a[1]->item[0];
    gint64 own[2] = { a[0]->rows, a[0]->cols };
    if (a[0]->kind == VAL_BUFFER) {
        Val whole = *a[0];
        if (!whole.rows)
            py_extents(p, &whole);
        own[0] = whole.rows;
        own[1] = whole.cols;
    }
    if (py_given(a[2]) && (py_is_tile(a[0]) || a[0]->kind == VAL_BUFFER)) {
        gboolean fits = a[2]->kind == VAL_TUPLE && a[2]->n == 2;
        for (guint i = 0; fits && i < 2; i++)
            fits = py_number(a[2]->item[i], -1) ==
                   own[i] * py_shard_count(mesh, py_shards(a[1], PY_SHARD_ROWS + i));
        if (!fits)
            return py_wrong(p, at, "a tensor whose shape is not that of its parts");
    }
    return py_sharded(p, a[0]->kind == VAL_ZERO ? stored(p, a[0], at) : a[0], a[1]);
}

static gboolean is_sharded(const Val *v)
{
    return v && v->kind == VAL_SHARDED;
}

const Val *py_mean_TLE_RESHARD(PyRead *p, const Val **a, const WsPyNode *at)
{
    p->meshed = TRUE;
    if (!p->group || !is_sharded(a[0]) || !a[1] || a[1]->kind != VAL_SHARDING)
        return py_wrong(p, at, "a reshard of what has no sharding, or to what is none");
    const Val *from = a[0]->item[1];
    const char *why = py_no_mesh_part(p, from->item[0]);
    why = why ? why : py_no_mesh_part(p, a[1]->item[0]);
    if (why)
        return py_wrong(p, at, why);
    const Val *own = py_resharded(p, a[0]->item[0], from, a[1], FALSE, at, at->kid[0]);
    return own ? py_sharded(p, own, a[1]) : py_opaque(p);
}

/* --- products --------------------------------------------------------------------------------- */

/* How the right side has to lie: split along the contraction as the left one is, and whole along
 * the axes over which the left one is split. */
static const Val *right_of(PyRead *p, const Val *left, const Val *right)
{
    const guint sum = py_shards(left, PY_SHARD_COLS), rows = py_shards(left, PY_SHARD_ROWS);
    const guint axes[4] = { 0, 0, sum, py_shards(right, PY_SHARD_COLS) & ~(rows | sum) };
    return py_sharding(p, right->item[0], axes);
}

static const Val *product_of(PyRead *p, const Val *left, const Val *right)
{
    const guint axes[4] = { 0, py_shards(left, PY_SHARD_COLS), py_shards(left, PY_SHARD_ROWS),
                            py_shards(right, PY_SHARD_COLS) };
    return py_sharding(p, left->item[0], axes);
}

/* a @ b + c: what is missing of b comes from the other CTAs; sums over a split contraction stay
 * parts of a sum. */
const Val *py_mean_TLE_SHARED_DOT(PyRead *p, const Val **a, const WsPyNode *at)
{
    p->meshed = TRUE;
    if (!p->group || !is_sharded(a[0]) || !is_sharded(a[1]) || at->n < 3)
        return py_wrong(p, at, "a product over a cluster of what has no sharding");
    const Val *left = a[0]->item[1], *right = a[1]->item[1];
    const char *why = py_no_mesh(p, left->item[0]);
    why = why ? why : py_no_mesh(p, right->item[0]);
    if (!why && !py_mesh_same(left->item[0], right->item[0]))
        why = "a product over two meshes";
    if (!why && (py_shards(left, PY_SHARD_PARTIAL) || py_shards(right, PY_SHARD_PARTIAL)))
        why = "a product over a cluster of parts of a sum";
    if (why)
        return py_wrong(p, at, why);
    const Val *need = right_of(p, left, right), *sum = product_of(p, left, need);
    if (py_given(a[2]) && (!is_sharded(a[2]) || a[2]->item[1]->at != sum->at ||
                           !py_mesh_same(a[2]->item[1]->item[0], left->item[0])))
        return py_wrong(p, at,
                        "a product over a cluster that is added to what is sharded otherwise");
    const Val *b = py_resharded(p, a[1]->item[0], right, need, TRUE, at->kid[2], at->kid[1]);
    if (!b)
        return py_opaque(p);
    const Val *of[] = { a[0]->item[0], b, py_given(a[2]) ? a[2]->item[0] : NULL, NULL, NULL, NULL };
    const Val *acc = py_mean_TLE_DOT(p, of, at);
    return acc->kind == VAL_TILE ? py_sharded(p, acc, sum) : acc;
}
