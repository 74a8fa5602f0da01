/* Where the ways of a branch come together again: a variable that either may have set is one value
 * behind it. What one way alone has made cannot be read on the other one. */
#include "import/python/amd/amd.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_types.h"

#include <string.h>

static guint dims_of(const Val *v)
{
    return v->rows > 1 && v->cols > 1 ? 2 : v->dims;
}

/* How many variables are the tile. */
static guint named_so(GHashTable *vars, const Val *tile)
{
    GHashTableIter it;
    gpointer held;
    guint n = 0;
    g_hash_table_iter_init(&it, vars);
    while (g_hash_table_iter_next(&it, NULL, &held))
        n += ((const Val *)held)->kind == VAL_TILE && ((const Val *)held)->index == tile->index;
    return n;
}

const Val *py_perhaps(PyRead *p, const Val *v)
{
    if (!v || v->kind != VAL_TILE || v->perhaps)
        return v;
    Val *tile = py_val(p, VAL_TILE);
    *tile = *v;
    tile->perhaps = TRUE;
    return tile;
}

/* A tile that one way has made, where the other one keeps a tile from before: there it is put into
 * the same value, which has one on both ways then. `vars`: of the way that made it; `first`: of the
 * values that the branch has made. NULL: it is not that. */
static const Val *on_both(PyRead *p, guint first, GPtrArray *to, const Val *made, GHashTable *vars,
                          const Val *kept, const WsPyNode *at)
{
    if (!p->group || !made || !kept || made->kind != VAL_TILE || kept->kind != VAL_TILE ||
        made->text || kept->text || made->depth || kept->depth || (guint)made->index < first ||
        made->perhaps || kept->perhaps || (guint)kept->index >= first ||
        named_so(vars, made) != 1 || py_is_former(p, kept) || py_is_former(p, made))
        return NULL;
    const WsReadValue *own = &g_array_index(p->group->values, WsReadValue, made->index),
                      *other = &g_array_index(p->group->values, WsReadValue, kept->index);
    if ((p->amd && (own->accumulator || other->accumulator)) || own->rows != other->rows ||
        own->cols != other->cols || strcmp(own->dtype, other->dtype) ||
        dims_of(made) != dims_of(kept))
        return NULL;
    GPtrArray *before = p->to;
    p->to = to;
    WsReadStep *s = py_step(p, WS_READ_COMPUTE, at);
    s->added = TRUE;
    const Val *copy = py_copy_of(p, kept);
    s->text = ws_source_format(p->r, "%s = %s", own->name, copy->text);
    py_line_of(p, made->index, copy);
    py_set(p, s, made->index);
    p->to = before;
    Val *v = py_val(p, VAL_TILE);
    *v = *made;
    v->made = p->clock;
    return v;
}

/* Whether it is made of a value that this way has set: `times` are those before it. */
static gboolean is_set(const Val *m, const GArray *times, const GArray *after)
{
    for (guint i = 0; m && m->reads && i < m->reads->len; i++) {
        const gint64 value = g_array_index(m->reads, gint64, i);
        if (value >= times->len || (value < after->len && g_array_index(times, guint, value) !=
                                                              g_array_index(after, guint, value)))
            return TRUE;
    }
    return FALSE;
}

static void put_at_end(PyRead *p, GPtrArray *to, gint value, const Val *v, const Val *m,
                       const WsPyNode *at)
{
    GPtrArray *before = p->to;
    p->to = to;
    const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, value);
    WsReadStep *s = py_step(p, WS_READ_COMPUTE, at);
    s->added = v->kind != VAL_MATH;
    s->text = ws_source_format(p->r, "%s = %s", held->name, py_as_type(p, held->dtype, m->text));
    py_set(p, s, value);
    py_line_of(p, value, m);
    p->to = before;
}

/* What each way gives is put into one value at its end, where one of them cannot be read behind the
 * other. NULL: it is not that, or not of one shape and type. */
static const Val *on_each(PyRead *p, const PyWays *ways, const char *name, const Val *a,
                          const Val *b, const WsPyNode *at)
{
    if (!p->group || p->amd || !py_is_tile(a) || !py_is_tile(b) || a->depth || b->depth ||
        a->perhaps || b->perhaps || py_is_former(p, a) || py_is_former(p, b) || py_is_index(a) ||
        py_is_index(b))
        return NULL;
    if (a->kind != VAL_MATH && b->kind != VAL_MATH && a->index == b->index)
        return NULL; /* one tile, or the zeros that it begins with */
    const Val *x = py_formula(p, a), *y = py_formula(p, b);
    if (!x || !y || !py_side_by_side(p, &x, &y) ||
        !(is_set(x, ways->before, ways->after_then) ||
          is_set(y, ways->before, ways->after_other)) ||
        x->rows != y->rows || x->cols != y->cols || x->rows * x->cols <= 1 ||
        g_strcmp0(x->dtype, y->dtype) || !g_strcmp0(x->dtype, "b") || dims_of(a) != dims_of(b))
        return NULL;
    g_autofree char *met = g_strconcat(name, "_met", NULL);
    const gint value = py_value_at(p, met, at, x->dtype ? x->dtype : "f32", x->rows, x->cols);
    put_at_end(p, ways->step->body, value, a, x, at);
    put_at_end(p, ways->step->other, value, b, y, at);
    Val *v = py_val(p, VAL_TILE);
    v->index = value;
    v->rows = x->rows;
    v->cols = x->cols;
    v->dims = dims_of(a);
    v->made = p->clock;
    return v;
}

const Val *py_met(PyRead *p, const PyWays *ways, const char *name, const Val *a, const Val *b,
                  const WsPyNode *at)
{
    const Val *met = on_both(p, ways->first, ways->step->other, a, ways->then, b, at);
    met = met ? met : on_both(p, ways->first, ways->step->body, b, ways->other, a, at);
    return met ? met : on_each(p, ways, name, a, b, at);
}

static GArray *copy_of(const GArray *list)
{
    return list ? g_array_copy((GArray *)list) : NULL;
}

PyShared py_shared_now(const PyRead *p)
{
    return (PyShared){ p->dirty, p->waited, copy_of(p->waited_on), copy_of(p->generic) };
}

void py_shared_set(PyRead *p, const PyShared *shared)
{
    if (p->waited_on)
        g_array_set_size(p->waited_on, 0);
    if (p->generic)
        g_array_set_size(p->generic, 0);
    p->dirty = p->waited = FALSE;
    py_shared_join(p, shared);
}

void py_shared_join(PyRead *p, const PyShared *shared)
{
    p->dirty |= shared->dirty;
    p->waited |= shared->waited;
    if (p->waited_on)
        g_array_append_vals(p->waited_on, shared->waited_on->data, shared->waited_on->len);
    if (p->generic)
        g_array_append_vals(p->generic, shared->generic->data, shared->generic->len);
}

void py_shared_clear(PyShared *shared)
{
    g_clear_pointer(&shared->waited_on, g_array_unref);
    g_clear_pointer(&shared->generic, g_array_unref);
}
