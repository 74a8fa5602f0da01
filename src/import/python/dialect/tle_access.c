#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Loads and stores of TLE: of tensors by pointers and descriptors, of shared memory by local
 * pointers, under a mask or not. */

/* A copy that no barrier is told of: all threads go on when it is done, which is a load with a
 * barrier of its own and a wait. */
const Val *py_copy_at_once(PyRead *p, const Val **a, const WsPyNode *at)
{
    g_autofree char *site = py_site_of(p, at);
    g_autofree char *key = g_strconcat("copied ", site, NULL);
    const Val *own = g_hash_table_lookup(p->allocated, key);
    if (!p->group || (p->prologue && p->to == p->prologue))
        return py_wrong(p, at, "a copy without a barrier outside of the partitions");
    if (!own) {
        const char *hint = p->hint;
        const Val *one = py_literal(p, 1);
        p->hint = "copied";
        own = py_mean_ALLOCATE_BARRIER(p, &one, at);
        p->hint = hint;
        g_hash_table_insert(p->allocated, g_steal_pointer(&key), (gpointer)own);
    }
    if (own->kind != VAL_BARRIER)
        return own;
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, own->place.object);
    b->count[0] = 1;
    b->said = TRUE;
    py_mean_LOAD(p, (const Val *[]){ a[0], a[3], own, a[1], NULL }, at);
    WsReadStep *s = py_step(p, WS_READ_WAIT, at);
    s->barrier = own->place;
    s->own = TRUE;
    return py_none(p);
}

/* Whether one of them may be left out, which its barrier would have to know. */
gboolean py_copies_maybe(const GPtrArray *list, gboolean inside)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gboolean branch = inside || s->kind == WS_READ_IF;
        if ((inside && s->own) || py_copies_maybe(s->body, branch) ||
            py_copies_maybe(s->other, branch))
            return TRUE;
    }
    return FALSE;
}

/* The value that a step reads from its tensor. */
static const Val *loaded(PyRead *p, WsReadStep *s, gint64 rows, gint64 cols)
{
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->dtype = t->dtype ? t->dtype : "f32";
    g_autofree char *name = g_strconcat(p->frame->prefix, p->hint ? p->hint : "loaded", NULL);
    s->value = ws_source_value(p->r, p->group, name, t->dtype, rows, cols);
    Val *v = py_val(p, VAL_TILE);
    v->index = s->value;
    v->rows = rows;
    v->cols = cols;
    return v;
}

/* The value that is stored, computed before if it is a formula; -1: it has none. */
static gint held(PyRead *p, const Val *v, const WsPyNode *at)
{
    return !p->group || !v       ? -1
           : v->kind == VAL_TILE ? v->index
                                 : py_hold(p, "stored", v, at, 0, 0);
}

static const Val *stored(PyRead *p, WsReadStep *s, gint value, const Val *v)
{
    s->value = value;
    s->text = v->kind == VAL_TILE ? v->text : NULL;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->written = TRUE;
    if (!t->dtype)
        t->dtype = g_array_index(p->group->values, WsReadValue, value).dtype;
    return py_none(p);
}

/* The access that was just read, if it has a mask. */
static const Val *under_mask(PyRead *p, const Val *v, gboolean masked, WsReadKind kind,
                             const WsPyNode *at)
{
    for (guint i = p->to->len; masked && i-- > 0;) {
        WsReadStep *s = g_ptr_array_index(p->to, i);
        if (s->kind != kind || s->line != at->line)
            continue;
        ws_source_masked(p->r, s);
        return v;
    }
    return v;
}

const Val *py_mean_TLE_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 rows, cols;
    if (a[0] && a[0]->kind == VAL_BUFFER)
        return under_mask(p, py_mean_READ(p, a, at), a[1] && a[1]->kind != VAL_NONE, WS_READ_READ,
                          at);
    WsReadStep *s = py_pointed(p, WS_READ_READ, at, &rows, &cols);
    const Val *number = s ? NULL : py_loaded_number(p, a[0], at);
    if (number)
        return number;
    if (!s)
        return py_opaque(p);
    return loaded(p, s, rows, cols);
}

const Val *py_mean_TLE_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean masked = a[0] && a[0]->kind == VAL_BUFFER && a[2] && a[2]->kind != VAL_NONE;
    if (masked && a[1] && a[1]->kind == VAL_CLAIM)
        return py_wrong(p, at, "a tile that is handed on under a mask");
    const Val *signal = a[0] ? py_tle_signal(p, a[0]) : NULL;
    const WsPyNode *from = at->n > 2 ? at->kid[2] : NULL; /* tl.load(pointers, …) */
    WsReadStep *gather = signal && from && from->kind == WS_PY_CALL && from->n > 1
                             ? py_gather(p, a[0], from->kid[1], at)
                             : NULL;
    if (gather) {
        gather->barrier = signal->place;
        return py_none(p);
    }
    if (a[0] && a[0]->kind == VAL_BUFFER)
        return under_mask(p, py_mean_WRITE(p, a, at), masked, WS_READ_WRITE, at);
    const gint value = held(p, a[1], at);
    gint64 rows, cols;
    WsReadStep *s = value >= 0 ? py_pointed(p, WS_READ_WRITE, at, &rows, &cols) : NULL;
    if (!s) {
        py_note_store(p, a[0], at);
        return py_store_away(p, a[1], at);
    }
    return stored(p, s, value, a[1]);
}

/* A tile of a tensor by its descriptor: copied through memory of the compiler's own, waited for at
 * once. NULL: coordinates are not known. */
static WsReadStep *described(PyRead *p, WsReadKind kind, const Val *desc, const Val *coord,
                             const WsPyNode *at)
{
    const gint tensor = p->group ? py_tensor(p, desc, 0, at->line) : -1;
    if (tensor < 0 || !coord || coord->kind != VAL_TUPLE || !coord->n || coord->n > 5)
        return NULL;
    const WsExpr *place[5];
    for (guint i = 0; i < coord->n; i++)
        if (!(place[i] = py_as_int(p, coord->item[i])))
            return NULL;
    return py_at_tensor(p, kind, tensor, place, coord->n, at);
}

/* Methods of buffers, all of which is loaded or stored, are called as those of descriptors. */
static gboolean is_whole(const PyRead *p, const Val *object)
{
    return p->from == WS_IMPORT_TLE && object && object->kind == VAL_BUFFER;
}

const Val *py_mean_DESC_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (is_whole(p, a[0]) && a[1] && !a[2])
        return py_mean_TLE_STORE(p, (const Val *[]){ a[0], a[1], NULL }, at);
    const gint value = held(p, a[2], at);
    WsReadStep *s = value >= 0 ? described(p, WS_READ_WRITE, a[0], a[1], at) : NULL;
    if (!s)
        return py_wrong(p, at, "a store whose descriptor, coordinates or tile are not known");
    return stored(p, s, value, a[2]);
}

const Val *py_mean_DESC_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 rows = 0, cols = 0;
    if (is_whole(p, a[0]) && !a[1])
        return py_mean_TLE_LOAD(p, (const Val *[]){ a[0], NULL, NULL }, at);
    if (a[0] && a[0]->kind == VAL_DESC && a[0]->n == 2) {
        rows = py_number(a[0]->item[0], 0);
        cols = py_number(a[0]->item[1], 0);
    }
    WsReadStep *s = rows > 0 && cols > 0 ? described(p, WS_READ_READ, a[0], a[1], at) : NULL;
    if (!s)
        return py_wrong(p, at, "a load whose descriptor, block or coordinates are not known");
    return loaded(p, s, rows, cols);
}

/* 0 .. n-1 along the columns until arithmetic turns it. */
