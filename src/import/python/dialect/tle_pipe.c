#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Pipes of TLE: buffers with the two barriers of a ring. What they do is read as the waits, loads
 * and arrivals that they stand for.
 *
 * VAL_PIPE: place.object the full barrier, index the empty one (-1: one_shot), at the capacity,
 * item the fields, each a TUPLE of name and buffer. VAL_END: a reader or a writer of it, depth 1
 * for a writer. VAL_SLOT: what acquire and wait return, e the slot. */

static gint new_barrier(PyRead *p, const char *name, gint64 slots, gboolean ready, gint64 count,
                        const WsPyNode *at)
{
    const char *hint = p->hint;
    const Val *number = py_literal(p, slots);
    p->hint = name;
    const Val *v = py_mean_ALLOCATE_BARRIER(p, &number, at);
    p->hint = hint;
    if (v->kind != VAL_BARRIER)
        return -1;
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, v->place.object);
    for (gint64 i = 0; i < slots; i++) {
        b->count[i] = count;
        b->ready[i] = ready;
    }
    b->said = TRUE;
    return v->place.object;
}

static gboolean is_option(const char *name)
{
    static const char *const own[] = { "capacity", "scope", "name", "readers", "one_shot" };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (!strcmp(own[i], name))
            return TRUE;
    return FALSE;
}

/* Keyword arguments that are no options are fields. */
static gboolean take_fields(PyRead *p, Val *pipe, const WsPyNode *at)
{
    pipe->item = g_new0(const Val *, at->n + 1);
    g_ptr_array_add(p->r->pool, pipe->item);
    for (guint i = 1; i < at->n; i++) {
        const WsPyNode *arg = at->kid[i];
        if (arg->kind != WS_PY_KEYWORD || is_option(arg->text))
            continue;
        const Val *buffer = py_eval(p, arg->kid[0]);
        if (buffer->kind != VAL_BUFFER)
            return FALSE;
        Val *field = py_val(p, VAL_BUFFER);
        *field = *buffer;
        field->text = arg->text;
        pipe->item[pipe->n++] = field;
    }
    return pipe->n > 0;
}

const Val *py_mean_TLE_PIPE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const gint64 capacity = py_number(a[0], 0);
    const gint64 readers = a[3] && a[3]->kind == VAL_TUPLE ? a[3]->n : 0;
    Val *v = py_val(p, VAL_PIPE);
    if (capacity < 1 || capacity > 4096 || (p->group && !p->prologue) || !take_fields(p, v, at))
        return py_wrong(p, at, "a pipe whose capacity or fields are not known");
    const char *name = v->text = p->hint ? p->hint : "pipe";
    v->at = capacity;
    v->place.object =
        new_barrier(p, ws_source_format(p->r, "%s_full", name), capacity, FALSE, 0, at);
    v->index = py_number(a[4], 0) ? -1
                                  : new_barrier(p, ws_source_format(p->r, "%s_empty", name),
                                                capacity, TRUE, readers, at);
    v->rows = readers; /* 0: whoever asks for one counts */
    g_ptr_array_add(p->pipes, v);
    return v;
}

static const Val *end_of(PyRead *p, const Val *pipe, gboolean writes, const WsPyNode *at)
{
    if (!pipe || pipe->kind != VAL_PIPE)
        return py_wrong(p, at, "an end of something that is no pipe");
    Val *v = py_val(p, VAL_END);
    *v = *pipe;
    v->kind = VAL_END;
    v->depth = writes;
    return v;
}

const Val *py_mean_TLE_WRITER(PyRead *p, const Val **a, const WsPyNode *at)
{
    return end_of(p, a[0], TRUE, at);
}

const Val *py_mean_TLE_READER(PyRead *p, const Val **a, const WsPyNode *at)
{
    if (a[0] && a[0]->kind == VAL_PIPE && !a[0]->rows && a[0]->index >= 0) {
        WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, a[0]->index);
        for (gint64 i = 0; i < b->copies; i++)
            b->count[i]++;
    }
    return end_of(p, a[0], FALSE, at);
}

/* --- windows -----------------------------------------------------------------------------------*/

static const Val *barrier_at(PyRead *p, gint object, const Val *pipe, const WsExpr *use)
{
    Val *v = py_val(p, VAL_BARRIER);
    v->place.object = object;
    v->place.index = ws_x_mod(p->r, use, pipe->at);
    v->place.use = use;
    return v;
}

/* How often the slot was used before, and whether the barrier starts ready: the parity tested. */
static const Val *parity(PyRead *p, const Val *pipe, const WsExpr *use, gboolean ready)
{
    const WsExpr *turn = ws_x_op(p->r, WS_EXPR_DIV, use, ws_x_int(p->r, pipe->at));
    return py_int(p, ws_x_mod(p->r, ws_x_op(p->r, WS_EXPR_ADD, turn, ws_x_int(p->r, ready)), 2));
}

const Val *py_tle_slot(PyRead *p, const Val *end, const WsExpr *use)
{
    Val *v = py_val(p, VAL_SLOT);
    *v = *end;
    v->kind = VAL_SLOT;
    v->e = ws_x_mod(p->r, use, end->at);
    v->place.use = use;
    return v;
}

static const Val *enter(PyRead *p, const Val **a, const WsPyNode *at, gboolean writes)
{
    const WsExpr *use = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!p->group || !a[0] || a[0]->kind != VAL_END || (a[0]->depth == 1) != writes || !use)
        return py_wrong(p, at, "a pipe or a count that is not known");
    const gint object = writes ? a[0]->index : a[0]->place.object;
    if (object >= 0) {
        const Val *b[] = { barrier_at(p, object, a[0], use), parity(p, a[0], use, writes), NULL,
                           NULL };
        py_mean_WAIT(p, b, at);
    }
    return py_tle_slot(p, a[0], use);
}

const Val *py_mean_TLE_ACQUIRE(PyRead *p, const Val **a, const WsPyNode *at)
{
    return enter(p, a, at, TRUE);
}

const Val *py_mean_TLE_READY(PyRead *p, const Val **a, const WsPyNode *at)
{
    return enter(p, a, at, FALSE);
}

static gboolean is_field(const Val *pipe, gint buffer)
{
    for (guint i = 0; i < pipe->n; i++)
        if (pipe->item[i]->place.object == buffer)
            return TRUE;
    return FALSE;
}

/* The hand-over orders what its own threads did before: no barrier of the group is needed. */
static WsReadStep *arrive(PyRead *p, gint object, const Val *pipe, const WsExpr *use,
                          const WsPyNode *at)
{
    p->dirty = FALSE;
    WsReadStep *s = py_step(p, WS_READ_ARRIVE, at);
    s->barrier = barrier_at(p, object, pipe, use)->place;
    s->n = 1;
    return s;
}

/* What fills the window that ends here: copies arrive by themselves, stores by an arrival. */
const Val *py_mean_TLE_COMMIT(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *use = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!p->group || !a[0] || a[0]->kind != VAL_END || !use)
        return py_wrong(p, at, "a pipe or a count that is not known");
    gboolean loads = FALSE, stores = FALSE, gathers = FALSE, other = FALSE, again = FALSE;
    for (guint i = p->to->len; i-- > 0;) {
        const WsReadStep *s = g_ptr_array_index(p->to, i);
        if (s->kind == WS_READ_WAIT && s->barrier.object == a[0]->index) {
            other |= s->barrier.use && !ws_expr_equal(s->barrier.use, use);
            break;
        }
        again |= s->kind == WS_READ_ADVANCE && s->off && s->n == a[0]->place.object + 1;
        other |= (s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER) &&
                 s->barrier.object == a[0]->place.object && s->barrier.use &&
                 !ws_expr_equal(s->barrier.use, use);
        loads |= s->kind == WS_READ_LOAD && s->barrier.object == a[0]->place.object;
        gathers |= s->kind == WS_READ_GATHER && s->barrier.object == a[0]->place.object;
        stores |= s->kind == WS_READ_WRITE && is_field(a[0], s->buffer.object);
    }
    const gint64 warps = p->group->warps, count = loads + gathers * warps * 32 + stores * warps;
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, a[0]->place.object);
    for (gint64 i = 0; i < b->copies; i++)
        b->count[i] = MAX(b->count[i], count);
    if (!count)
        return py_wrong(p, at, "a commit of nothing");
    if (other || again)
        return py_wrong(p, at, "a commit of another window than the one that is open");
    WsReadStep *mark = py_step(p, WS_READ_ADVANCE, at); /* never written: it ends the window */
    mark->off = TRUE;
    mark->n = a[0]->place.object + 1;
    mark->barrier = barrier_at(p, a[0]->place.object, a[0], use)->place;
    if (stores)
        arrive(p, a[0]->place.object, a[0], use, at)->all = TRUE;
    return py_none(p);
}

const Val *py_mean_TLE_RELEASE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *use = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!p->group || !a[0] || a[0]->kind != VAL_END || !use)
        return py_wrong(p, at, "a pipe or a count that is not known");
    if (a[0]->index >= 0)
        arrive(p, a[0]->index, a[0], use, at);
    return py_none(p);
}

const Val *py_mean_TLE_CLOSE(PyRead *p, const Val **a, const WsPyNode *at)
{
    const WsExpr *use = a[1] ? py_as_int(p, a[1]) : NULL;
    if (!p->group || !a[0] || a[0]->kind != VAL_END || !a[0]->depth || !use)
        return py_wrong(p, at, "a pipe or a count that is not known");
    if (a[0]->index < 0)
        return py_wrong(p, at, "the close of a pipe that is filled once");
    WsReadStep *s = py_step(p, WS_READ_PIPE, at);
    s->name = "close";
    s->barrier = barrier_at(p, a[0]->place.object, a[0], use)->place;
    return py_none(p);
}

/* Whether the group takes something out of a field by plain loads. */
static gboolean takes(const GPtrArray *list, const Val *pipe)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((s->kind == WS_READ_READ && !s->off && s->tensor < 0 &&
             is_field(pipe, s->buffer.object)) ||
            takes(s->body, pipe) || takes(s->other, pipe))
            return TRUE;
    }
    return FALSE;
}

/* Every warp of a reader frees the slot, if some reader takes something out by plain loads. */
static gboolean free_by_warps(GPtrArray *list, gint barrier)
{
    gboolean any = FALSE;
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_ARRIVE && s->barrier.object == barrier)
            any = s->all = TRUE;
        any = free_by_warps(s->body, barrier) || any;
        any = free_by_warps(s->other, barrier) || any;
    }
    return any;
}

static gboolean waits_for(const GPtrArray *list, gint barrier)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((!s->off && s->kind == WS_READ_WAIT && s->barrier.object == barrier) ||
            waits_for(s->body, barrier) || waits_for(s->other, barrier))
            return TRUE;
    }
    return FALSE;
}

static void not_known(PyRead *p, const WsReadBarrier *b, const char *what)
{
    ws_source_unread(p->r, b->line, 1, b->line, what, "");
}

/* Whether something fills a field after the commit of its window. */
static gboolean filled_late(const GPtrArray *list, const Val *pipe, gboolean *closed)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const gint full = pipe->place.object;
        if (s->kind == WS_READ_ADVANCE && s->off && s->n == full + 1)
            *closed = TRUE;
        if (s->kind == WS_READ_WAIT && pipe->index >= 0 && s->barrier.object == pipe->index)
            *closed = FALSE;
        const gboolean fills = (s->kind == WS_READ_LOAD || s->kind == WS_READ_GATHER) &&
                               s->barrier.object == full; /* stores are judged by the check */
        if ((fills && *closed) || filled_late(s->body, pipe, closed) ||
            filled_late(s->other, pipe, closed))
            return TRUE;
    }
    return FALSE;
}

/* A slot is free when each of the pipe's readers has given it back, whether it does so or not. */
void py_tle_pipes(PyRead *p)
{
    for (guint i = 0; i < p->pipes->len; i++) {
        const Val *pipe = g_ptr_array_index(p->pipes, i);
        const WsReadBarrier *full =
            &g_array_index(p->r->barriers, WsReadBarrier, pipe->place.object);
        gboolean plain = FALSE;
        gint64 count = 0, readers = 0;
        for (guint g = 0; g < p->r->groups->len; g++) {
            const WsReadGroup *group = g_ptr_array_index(p->r->groups, g);
            gboolean closed = FALSE;
            plain |= takes(group->body, pipe);
            if (filled_late(group->body, pipe, &closed))
                not_known(p, full, "who waits for what is filled after a commit");
            if (!waits_for(group->body, pipe->place.object))
                continue;
            readers++;
            count += group->warps;
        }
        if (readers && !full->count[0])
            not_known(p, full, "who commits what is read from a pipe");
        if (pipe->index < 0)
            continue;
        WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, pipe->index);
        if (readers != b->count[0])
            not_known(p, b, "which groups the readers of a pipe are");
        for (guint g = 0; plain && g < p->r->groups->len; g++)
            free_by_warps(((WsReadGroup *)g_ptr_array_index(p->r->groups, g))->body, pipe->index);
        for (gint64 k = 0; plain && count && k < b->copies; k++)
            b->count[k] = count;
        py_tle_close(p, pipe);
    }
}

/* slot.a, wait(…).slot; NULL: no such field. */
const Val *py_tle_field(PyRead *p, const Val *slot, const WsPyNode *at)
{
    const char *name = at->text;
    if (!strcmp(name, "slot"))
        return slot;
    if (!strcmp(name, "is_closed"))
        return py_wrong(p, at, "is_closed outside of the condition of a while loop");
    for (guint i = 0; i < slot->n; i++) {
        if (strcmp(slot->item[i]->text, name))
            continue;
        const Val *index[] = { slot->item[i], py_int(p, slot->e) };
        Val *v = py_val(p, VAL_BUFFER);
        *v = *py_mean_INDEX(p, index, at);
        v->place.use = slot->place.use;
        v->text = NULL;
        v->item = g_new0(const Val *, 2);
        g_ptr_array_add(p->r->pool, v->item);
        v->item[0] = slot; /* copies into it signal the pipe */
        v->n = 1;
        return v;
    }
    return NULL;
}

/* The full barrier of the window that a field belongs to; NULL: it is no field. */
const Val *py_tle_signal(PyRead *p, const Val *buffer)
{
    if (!buffer || buffer->kind != VAL_BUFFER || buffer->n != 1 || !buffer->item ||
        buffer->item[0]->kind != VAL_SLOT)
        return NULL;
    Val *v = py_val(p, VAL_BARRIER);
    v->place.object = buffer->item[0]->place.object;
    v->place.index = buffer->item[0]->e;
    v->place.use = buffer->item[0]->place.use;
    return v;
}
