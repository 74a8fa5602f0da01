#include "import/python/dialect/py_spot.h"
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
static const Val *loaded(PyRead *p, WsReadStep *s, gint64 rows, gint64 cols, const WsPyNode *at)
{
    const char *dtype = py_type_of(p, s->tensor, "f32", at);
    py_set(p, s, py_value_for(p, "loaded", at, dtype, rows, cols));
    Val *v = py_val(p, VAL_TILE);
    v->index = s->value;
    v->rows = rows;
    v->cols = cols;
    if (!strcmp(dtype, "i32") && rows == 1 && cols > 1) { /* which may pick rows */
        WsExpr *place[5];
        for (guint d = 0; d < s->n_coord; d++)
            place[d] = ws_expr_ref(d + 1 < s->n_coord ? s->coord[d]
                                                      : ws_x_op(p->r, WS_EXPR_ADD, s->coord[d],
                                                                ws_x_name(p->r, "col")));
        const char *name = g_array_index(p->r->tensors, WsReadTensor, s->tensor).name;
        py_note_elements(p, v->index, ws_x_own(p->r, ws_expr_index(name, -1, place, s->n_coord)));
    }
    return v;
}

/* The value that is stored, computed before if it is a formula; -1: it has none. */
static gint held(PyRead *p, const Val *v, const WsPyNode *at)
{
    return !p->group || !v       ? -1
           : v->kind == VAL_TILE ? v->index
                                 : py_hold(p, "stored", v, at, 0, 0);
}

static const Val *stored(PyRead *p, WsReadStep *s, gint value, const Val *v, const WsPyNode *at)
{
    s->value = value;
    s->text = v->kind == VAL_TILE ? v->text : NULL;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    t->written = TRUE;
    py_type_stored(p, t,
                   p->converted ? p->converted
                                : g_array_index(p->group->values, WsReadValue, value).dtype);
    py_convert_for(p, t->dtype, at);
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

/* Rows copied through pointers into a buffer, 16 bytes at a time. NULL: as py_through(). */
static WsReadStep *start_rows(PyRead *p, const Val *pointer, const Val *mask, gboolean *more,
                              const Val *buffer, const WsPyNode *at)
{
    if (pointer->rows < 2) {
        py_wrong(p, at, "an asynchronous copy of what is no tile of rows and columns");
        return NULL;
    }
    WsReadStep *s = py_through(p, WS_READ_GATHER, pointer, mask, at, more);
    if (!s)
        return NULL;
    const guint rows = s->n_coord - 2;
    s->coord[rows] = ws_x_op(p->r, WS_EXPR_ADD, s->coord[rows], ws_x_name(p->r, "row"));
    s->buffer = buffer->place;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    if (!t->dtype)
        t->dtype = g_array_index(p->r->buffers, WsReadBuffer, buffer->place.object).dtype;
    return s;
}

/* All threads wait for the rows that they copied. */
void py_wait_for_rows(PyRead *p, const WsPyNode *at)
{
    py_step(p, WS_READ_LOAD_WAIT, at)->n = 0;
    p->copied_at = p->probing ? p->copied_at : at;
}

static gboolean copy_rows(PyRead *p, const Val *pointer, const Val *mask, gboolean *more,
                          const Val *buffer, const WsPyNode *at)
{
    if (!start_rows(p, pointer, mask, more, buffer, at))
        return FALSE;
    py_wait_for_rows(p, at);
    py_mean_SYNC(p, NULL, at);
    return TRUE;
}

/* An asynchronous load is copied to memory of the compiler's own, 16 bytes at a time, waited for
 * and read there by all threads. */
static const Val *copied(PyRead *p, const Val *pointer, const Val *mask, gboolean *more,
                         const WsPyNode *at)
{
    const gint tensor = py_tensor(p, pointer->item[0], 0, at->line);
    const char *dtype = tensor < 0 ? NULL : py_type_of(p, tensor, "bf16", at);
    Val *shape = py_val(p, VAL_TUPLE), *type = py_val(p, VAL_NAME);
    const char *hint = p->hint;
    shape->item = g_new0(const Val *, 3);
    g_ptr_array_add(p->r->pool, shape->item);
    shape->item[0] = py_literal(p, pointer->rows);
    shape->item[1] = py_literal(p, pointer->cols);
    shape->n = 2;
    type->text = dtype ? py_dtype_name(dtype) : "unknown";
    p->hint = "copied";
    const Val *buffer = py_mean_ALLOCATE(p, (const Val *[]){ type, shape, NULL, NULL }, at);
    p->hint = hint;
    if (buffer->kind != VAL_BUFFER)
        return buffer;
    py_compilers(p, buffer);
    py_meet_before(p, buffer->place.object, TRUE, at);
    if (!copy_rows(p, pointer, mask, more, buffer, at))
        return py_opaque(p);
    return py_mean_READ(p, &buffer, at);
}

/* A tile of a tensor through pointers. */
static const Val *through(PyRead *p, const Val **a, gboolean async, const WsPyNode *at)
{
    gboolean more = FALSE;
    const Val *v = NULL;
    if (async) {
        v = copied(p, a[0], a[1], &more, at);
    } else {
        WsReadStep *s = py_through(p, WS_READ_READ, a[0], a[1], at, &more);
        v = s ? loaded(p, s, a[0]->rows, a[0]->cols, at) : NULL;
        v = v ? py_of_dimensions(p, v, a[0]->dims) : NULL;
        if (v && v->dims == 1 && v->rows == 1 && v->cols > 1) /* runs along the tensor either way */
            g_array_index(p->group->values, WsReadValue, v->index).line = TRUE;
    }
    if (!v || v->kind != VAL_TILE)
        py_note_fetch(p, a[0], at);
    return v && v->kind == VAL_TILE ? py_masked_value(p, v, a[1], a[2], more) : py_opaque(p);
}

/* Of a gather that an export wrote; its store reads it. */
static gboolean is_gathered(PyRead *p, const WsPyNode *at)
{
    const WsPyNode *list = NULL;
    g_autoptr(WsPython) tree = p->group ? py_said(p, at, "# gather: ", &list) : NULL;
    return list != NULL;
}

const Val *py_mean_TLE_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 rows, cols;
    if (a[0] && a[0]->kind == VAL_PLACES)
        return py_load_places(p, a, at);
    if (a[0] && a[0]->kind == VAL_BUFFER)
        return under_mask(p, py_mean_READ(p, a, at), a[1] && a[1]->kind != VAL_NONE, WS_READ_READ,
                          at);
    if (a[0] && a[0]->kind == VAL_REMOTE)
        return py_given(a[1]) || (py_given(a[3]) && py_number(a[3], 1) != 0)
                   ? py_wrong(p, at, "a load from another CTA under a mask, or asynchronous")
                   : py_read_remote(p, a[0], at);
    WsReadStep *s = py_pointed(p, WS_READ_READ, at, &rows, &cols);
    if (!s && a[0] && a[0]->kind == VAL_POINTER && (py_stages_of(p, at) || py_stages_maybe(p, at)))
        return py_staged_pointers(p, a[0], a[1], a[2], at);
    if (!s && a[0] && a[0]->kind == VAL_POINTER)
        return through(p, a, py_given(a[3]) && py_number(a[3], 0) != 0, at);
    if (py_given(a[3]) && py_number(a[3], 1) != 0 && is_gathered(p, at))
        return py_opaque(p);
    if (py_given(a[3]) && py_number(a[3], 1) != 0)
        return py_wrong(p, at, "an asynchronous load of what is no tile of a tensor");
    const Val *number = s ? NULL : py_loaded_number(p, a[0], at);
    if (number)
        return number;
    if (!s && py_may_be_shared(p, a[0], at))
        return py_wrong(p, at, "a load through a pointer that is not followed");
    if (!s) {
        py_note_fetch(p, a[0], at);
        return py_opaque(p);
    }
    return loaded(p, s, rows, cols, at);
}

/* tle.load(…, is_async=True) */
static gboolean is_async(const WsPyNode *call)
{
    for (guint i = 1; call->kind == WS_PY_CALL && i < call->n; i++)
        if (call->kid[i]->kind == WS_PY_KEYWORD && !strcmp(call->kid[i]->text, "is_async"))
            return TRUE;
    return FALSE;
}

const Val *py_mean_TLE_STORE(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[0] && a[0]->kind == VAL_PLACES)
        return py_store_places(p, a, at);
    if (a[0] && a[0]->kind == VAL_REMOTE && (py_given(a[2]) || !p->begun))
        return py_wrong(p, at,
                        p->begun ? "a store to another CTA under a mask"
                                 : "a store to another CTA before the cluster has met, which may "
                                   "not have started");
    if (a[0] && a[0]->kind == VAL_REMOTE)
        return py_mean_WRITE(p, a, at);
    const gboolean masked = a[0] && a[0]->kind == VAL_BUFFER && a[2] && a[2]->kind != VAL_NONE;
    if (masked && a[1] && a[1]->kind == VAL_CLAIM)
        return py_wrong(p, at, "a tile that is handed on under a mask");
    const Val *signal = a[0] ? py_tle_signal(p, a[0]) : NULL;
    const WsPyNode *from = at->n > 2 ? at->kid[2] : NULL; /* tl.load(pointers, …) */
    const gboolean alone = !signal && a[0] && a[0]->kind == VAL_BUFFER && from;
    WsReadStep *gather = (signal || alone) && from ? py_gathered(p, a[0], from, at) : NULL;
    if (gather) {
        if (signal)
            gather->barrier = signal->place;
        else if (!is_async(from)) /* which stores what was loaded */
            py_wait_for_rows(p, at);
        else
            p->copied_at = p->probing ? p->copied_at : at;
        return py_none(p);
    }
    if (a[0] && a[0]->kind == VAL_BUFFER)
        return under_mask(p, py_mean_WRITE(p, a, at), masked, WS_READ_WRITE, at);
    const gint value = held(p, a[1], at);
    gint64 rows, cols;
    WsReadStep *s = value >= 0 ? py_pointed(p, WS_READ_WRITE, at, &rows, &cols) : NULL;
    gboolean more = FALSE;
    if (!s && value >= 0 && a[0] && a[0]->kind == VAL_POINTER)
        s = py_through(p, WS_READ_WRITE, a[0], a[2], at, &more);
    if (s && more && !py_store_masked(p, s, a[2], a[0]->rows, a[0]->cols, at))
        return py_wrong(p, at, "a mask of a store that is no condition on tiles");
    if (!s) {
        if (py_may_be_shared(p, a[0], at))
            return py_wrong(p, at, "a store through a pointer that is not followed");
        py_note_store(p, a[0], at);
        if (value < 0 || !a[0] || a[0]->kind != VAL_POINTER)
            return py_store_away(p, a[1], at);
        py_look(p, a[1], at); /* py_through says why it is not known */
        return py_none(p);
    }
    return stored(p, s, value, a[1], at);
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
    return stored(p, s, value, a[2], at);
}

const Val *py_mean_DESC_LOAD(PyRead *p, const Val **a, const WsPyNode *at)
{
    gint64 rows = 0, cols = 0;
    if (is_whole(p, a[0]) && !a[1])
        return py_mean_TLE_LOAD(p, (const Val *[]){ a[0], NULL, NULL, NULL }, at);
    if (a[0] && a[0]->kind == VAL_DESC && py_stages_of(p, at))
        return py_staged_desc(p, a[0], a[1], at);
    if (a[0] && a[0]->kind == VAL_DESC && a[0]->n == 2) {
        rows = py_number(a[0]->item[0], 0);
        cols = py_number(a[0]->item[1], 0);
    }
    WsReadStep *s = rows > 0 && cols > 0 ? described(p, WS_READ_READ, a[0], a[1], at) : NULL;
    if (!s)
        return py_wrong(p, at, "a load whose descriptor, block or coordinates are not known");
    return loaded(p, s, rows, cols, at);
}

/* --- copies through pointers ------------------------------------------------------------------ */

/* `is_async` of a copy; TRUE and listed where it is not known. */
gboolean py_copies_async(PyRead *p, const Val *flag, const WsPyNode *at)
{
    gint64 n = 1;
    if (py_given(flag) && !py_known(flag, &n))
        py_unread(p, at, "a copy of which it is not known whether it is asynchronous");
    return py_given(flag) && n;
}

/* A copy that a group holds (async_commit_group) and a wait for groups ends. */
const Val *py_start_copy(PyRead *p, const Val **a, const WsPyNode *at)
{
    Val own = *a[1], *buffer = &own;
    if (!own.rows)
        py_extents(p, &own);
    py_need_block(p, a[2], buffer, at);
    py_meet_before(p, buffer->place.object, TRUE, at);
    WsReadStep *s = py_gather(p, buffer, py_argument(at, 0, "src"), py_argument(at, 5, "mask"), at);
    if (!s && (a[0]->kind != VAL_POINTER || buffer->rows != a[0]->rows ||
               buffer->cols != a[0]->cols || py_given(a[3]) || py_given(a[4])))
        return py_wrong(p, at, "a copy of pointers and a buffer that are not of one shape");
    if (!s && py_asks_more(p, a[0], a[5], at))
        return py_wrong(p, at,
                        "an asynchronous copy under a mask that asks for more than the bounds of "
                        "its tensor");
    s = s ? s : start_rows(p, a[0], a[5], NULL, buffer, at);
    if (!s)
        return py_wrong(p, at, "a copy through pointers that is not shown to lie in its tensor");
    g_ptr_array_add(p->open_gathers, s);
    return py_none(p);
}

/* Upstream knows up to 7. */
const Val *py_mean_TLE_WAIT_GROUP(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 n = py_number(a[0], -1);
    return n < 0 || n > 7
               ? py_wrong(p, at, "a wait that leaves another number of groups than 0 to 7")
               : py_mean_CP_WAIT(p, a, at);
}

/* Between pointers and a buffer: all threads go on when it is done, or a pipe is told of it. */
const Val *py_copy_through(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gboolean in = a[1] && a[1]->kind == VAL_BUFFER;
    const Val *pointer = a[in ? 0 : 1], *pipe = in ? py_tle_signal(p, a[1]) : NULL;
    Val buffer = *a[in ? 1 : 0];
    if (!buffer.rows)
        py_extents(p, &buffer);
    if (py_given(a[3]) || py_given(a[4]) || buffer.rows != pointer->rows ||
        buffer.cols != pointer->cols)
        return py_wrong(p, at, "a copy of pointers and a buffer that are not of one shape");
    py_need_block(p, a[2], &buffer, at);
    if (!in) {
        const char *hint = p->hint;
        p->hint = "copied";
        const Val *part[] = { &buffer, NULL };
        const Val *tile = py_mean_READ(p, part, at);
        p->hint = hint;
        return py_mean_TLE_STORE(p, (const Val *[]){ pointer, tile, a[5] }, at);
    }
    if (!pipe && py_asks_more(p, pointer, a[5], at)) { /* of elements: through registers */
        const Val *tile = through(p, (const Val *[]){ pointer, a[5], py_literal(p, 0) }, FALSE, at);
        if (tile->kind == VAL_OPAQUE)
            return py_wrong(p, at,
                            "a copy through pointers that is not shown to lie in its tensor");
        py_mean_WRITE(p, (const Val *[]){ &buffer, tile }, at);
        return py_mean_SYNC(p, NULL, at);
    }
    py_meet_before(p, buffer.place.object, TRUE, at);
    gboolean more = FALSE;
    const guint before = p->to->len;
    if (!copy_rows(p, pointer, a[5], &more, &buffer, at) || more)
        return py_wrong(p, at, "a copy through pointers that is not shown to lie in its tensor");
    if (pipe) { /* each thread tells it of its copies */
        ((WsReadStep *)g_ptr_array_index(p->to, before))->barrier = pipe->place;
        for (guint i = before + 1; i < p->to->len; i++)
            ((WsReadStep *)g_ptr_array_index(p->to, i))->off = TRUE;
    }
    return py_none(p);
}
