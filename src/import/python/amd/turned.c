#include "import/python/amd/amd.h"
#include "import/python/pyread_law.h"

/* Buffers of which the halves of the warps load other rows than they read. A design has the same
 * rows for both, unless a tile is read across: then each half reads of what either has loaded. So
 * such a buffer, and the tensor that is loaded to it, are drawn with their columns as rows. Which
 * elements a half loads, and which it reads, are two independent bits of a place here and there:
 * the elements are those of the design in another order. */

static void of_step(PyRead *p, const GPtrArray *list,
                    void (*f)(PyRead *p, WsReadStep *s, gpointer data), gpointer data)
{
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = list->pdata[i];
        f(p, s, data);
        of_step(p, s->body, f, data);
        of_step(p, s->other, f, data);
    }
}

static void of_all(PyRead *p, void (*f)(PyRead *p, WsReadStep *s, gpointer data), gpointer data)
{
    for (guint g = 0; g < p->r->groups->len; g++)
        of_step(p, ((WsReadGroup *)p->r->groups->pdata[g])->body, f, data);
}

static WsReadBuffer *apart(PyRead *p, const WsPlace *place)
{
    WsReadBuffer *b =
        place->object >= 0 && !place->in_value && (guint)place->object < p->r->buffers->len
            ? &g_array_index(p->r->buffers, WsReadBuffer, place->object)
            : NULL;
    return b && b->apart ? b : NULL;
}

static gboolean moves(const WsReadStep *s)
{
    return s->kind == WS_READ_LOAD || s->kind == WS_READ_READ;
}

/* What a buffer that is turned, or its tensor, is used for besides. */
static void look(PyRead *p, WsReadStep *s, gpointer tensors)
{
    WsReadBuffer *b = s->off ? NULL : apart(p, &s->buffer);
    guint8 *other = tensors;
    if (b && (!moves(s) || *s->buffer.views || b->across_by))
        b->split = TRUE;
    if (b && s->kind == WS_READ_LOAD && s->tensor >= 0 && s->n_coord < 2)
        b->split = TRUE;
    if (!s->off && s->tensor >= 0 && (!b || s->kind != WS_READ_LOAD))
        other[s->tensor] = TRUE;
}

static void look_at_tensors(PyRead *p, WsReadStep *s, gpointer tensors)
{
    WsReadBuffer *b = s->off ? NULL : apart(p, &s->buffer);
    const guint8 *other = tensors;
    if (b && s->tensor >= 0 && other[s->tensor])
        b->split = TRUE;
}

static void turn(PyRead *p, WsReadStep *s, gpointer turned)
{
    WsReadBuffer *b = apart(p, &s->buffer);
    guint8 *done = turned;
    if (!b || b->split || s->off)
        return;
    if (s->kind == WS_READ_READ) {
        s->buffer.transposed = !s->buffer.transposed;
        return;
    }
    const guint n = s->n_coord;
    const WsExpr *row = s->coord[n - 2];
    s->coord[n - 2] = s->coord[n - 1];
    s->coord[n - 1] = row;
    if (done[s->tensor])
        return;
    done[s->tensor] = TRUE;
    WsReadTensor *t = &g_array_index(p->r->tensors, WsReadTensor, s->tensor);
    const WsExpr *extent = t->shape[n - 2], *stride = t->stride[n - 2];
    if (!t->stride[0] && t->strided && n == 2) { /* contiguous rows, of as many elements */
        t->stride[0] = t->stride[1] = ws_x_int(p->r, 1);
        t->stride[1] = t->shape[1];
    } else {
        t->stride[n - 2] = t->stride[n - 1];
        t->stride[n - 1] = stride;
    }
    t->shape[n - 2] = t->shape[n - 1];
    t->shape[n - 1] = extent;
}

void py_amd_turn(PyRead *p)
{
    const guint n = p->r->tensors->len;
    gboolean any = FALSE;
    for (guint i = 0; i < p->r->buffers->len; i++)
        any |= g_array_index(p->r->buffers, WsReadBuffer, i).apart;
    if (!any)
        return;
    g_autofree guint8 *other = g_new0(guint8, n + 1), *done = g_new0(guint8, n + 1);
    of_all(p, look, other);
    of_all(p, look_at_tensors, other);
    of_all(p, turn, done);
    for (guint i = 0; i < p->r->buffers->len; i++) {
        WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, i);
        if (b->apart && b->split) {
            ws_source_unread(p->r, b->line, 1, b->line,
                             "a buffer of which the halves of the warps load other rows than they "
                             "read, and that is used otherwise, too",
                             b->name);
            continue;
        }
        if (b->apart && b->rank >= 2) {
            const gint64 rows = b->shape[b->rank - 2];
            b->shape[b->rank - 2] = b->shape[b->rank - 1];
            b->shape[b->rank - 1] = rows;
            b->gap = 0;
        }
    }
}
