#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Pipes that their writer closes, or that a loop goes over, are pipes of the design: what was read
 * of them as waits and arrivals becomes the steps of section 15. A loop over a pipe waits before
 * its first round and at the end of each, and gives the slot of the close back; what the source
 * does in another order is not read. */

typedef struct {
    PyRead *p;
    const Val *pipe;
} Closed;

static gboolean is_on(const WsReadStep *s, WsReadKind kind, gint barrier)
{
    return !s->off && s->kind == kind && s->barrier.object == barrier;
}

static gboolean is_over(const WsReadStep *s, const Val *pipe)
{
    return is_on(s, WS_READ_FOR, pipe->place.object);
}

static gboolean is_stream(const GPtrArray *list, const Val *pipe)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (is_over(s, pipe) || is_on(s, WS_READ_PIPE, pipe->place.object) ||
            is_stream(s->body, pipe) || is_stream(s->other, pipe))
            return TRUE;
    }
    return FALSE;
}

/* It neither waits nor touches memory. */
static gboolean is_of_registers(const WsReadStep *s)
{
    return s->off || s->kind == WS_READ_COMPUTE || s->kind == WS_READ_LET ||
           s->kind == WS_READ_ADVANCE;
}

/* From `at` on, forwards or backwards, beyond steps that do not matter: what stands there goes
 * into the loop. FALSE: it is something else. */
static gboolean take(const GPtrArray *list, gint at, gint by, WsReadKind kind, gint barrier,
                     const WsExpr *use)
{
    for (; list && at >= 0 && (guint)at < list->len; at += by) {
        WsReadStep *s = g_ptr_array_index(list, (guint)at);
        if (is_on(s, kind, barrier) && use && s->barrier.use &&
            ws_expr_equal(s->barrier.use, use)) {
            s->off = TRUE;
            return TRUE;
        }
        if (!is_of_registers(s))
            return FALSE;
    }
    return FALSE;
}

static void wrong(const Closed *c, const WsReadStep *s, const char *what)
{
    WsRead *r = c->p->r;
    ws_source_unread(r, s->line, s->column, s->line, what,
                     s->line && s->line <= r->n_lines ? r->line[s->line - 1] : "");
}

static void over(const Closed *c, const GPtrArray *list, guint at)
{
    const Val *pipe = c->pipe;
    const gint full = pipe->place.object;
    const WsReadStep *s = g_ptr_array_index(list, at);
    if (!take(list, (gint)at - 1, -1, WS_READ_WAIT, full, s->a.use))
        wrong(c, s, "a loop over a pipe that its first wait does not stand before");
    if (!take(s->body, (gint)s->body->len - 1, -1, WS_READ_WAIT, full, s->b.use))
        wrong(c, s, "a loop over a pipe whose rounds do not end with the next wait");
    if (!take(list, (gint)at + 1, 1, WS_READ_ARRIVE, pipe->index, s->parity))
        wrong(c, s, "a loop over a pipe that does not release the slot of the close after it");
}

static void loops(const Closed *c, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (is_over(s, c->pipe))
            over(c, list, i);
        loops(c, s->body);
        loops(c, s->other);
    }
}

static void say(WsReadStep *s, const char *word)
{
    s->kind = WS_READ_PIPE;
    s->name = word;
    s->off = FALSE;
}

static void convert(const Closed *c, const GPtrArray *list)
{
    const gint full = c->pipe->place.object, empty = c->pipe->index;
    for (guint i = 0; list && i < list->len; i++) {
        WsReadStep *s = g_ptr_array_index(list, i);
        if (s->kind == WS_READ_ADVANCE && s->off && s->n == full + 1)
            say(s, "commit");
        else if (is_on(s, WS_READ_ARRIVE, full)) /* by the commit before it */
            s->off = TRUE;
        else if (is_on(s, WS_READ_WAIT, empty))
            say(s, "acquire");
        else if (is_on(s, WS_READ_WAIT, full))
            say(s, "wait");
        else if (is_on(s, WS_READ_ARRIVE, empty))
            say(s, "release");
        convert(c, s->body);
        convert(c, s->other);
    }
}

typedef struct {
    guint loops, closes;
    const WsReadStep *beyond; /* close `most` in the order of the text */
    guint most;
} Count;

static void count(Count *n, const GPtrArray *list, const Val *pipe)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        n->loops += is_over(s, pipe);
        if (is_on(s, WS_READ_PIPE, pipe->place.object) && !strcmp(s->name, "close") &&
            n->closes++ == n->most)
            n->beyond = s;
        count(n, s->body, pipe);
        count(n, s->other, pipe);
    }
}

/* Each loop of a reader ends at a close of its own. */
static void closes_too_often(const Closed *c)
{
    const GPtrArray *groups = c->p->r->groups;
    guint most = 0;
    for (guint g = 0; g < groups->len; g++) {
        Count n = { 0 };
        count(&n, ((WsReadGroup *)groups->pdata[g])->body, c->pipe);
        most = MAX(most, n.loops);
    }
    for (guint g = 0; most && g < groups->len; g++) {
        Count n = { .most = most };
        count(&n, ((WsReadGroup *)groups->pdata[g])->body, c->pipe);
        if (n.beyond)
            wrong(c, n.beyond, "a close of a pipe at which no loop over it ends");
    }
}

static void declare(PyRead *p, const Val *pipe)
{
    WsReadBarrier *full = &g_array_index(p->r->barriers, WsReadBarrier, pipe->place.object);
    WsReadBarrier *empty = &g_array_index(p->r->barriers, WsReadBarrier, pipe->index);
    const char *name = pipe->text ? pipe->text : "pipe";
    WsReadPipe own = { ws_source_name(p->r, name), pipe->at,
                       g_array_new(FALSE, FALSE, sizeof(gint)), full->line };
    for (guint i = 0; i < pipe->n; i++) {
        const gint buffer = pipe->item[i]->place.object;
        const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, buffer);
        if (b->rank < 1 || b->shape[0] != pipe->at)
            ws_source_unread(p->r, full->line, 1, full->line,
                             "a pipe whose fields have another number of stages", b->name);
        g_array_append_val(own.fields, buffer);
    }
    g_array_append_val(p->r->pipes, own);
    full->pipe = empty->pipe = p->r->pipes->len;
}

void py_tle_close(PyRead *p, const Val *pipe)
{
    gboolean any = FALSE;
    for (guint g = 0; g < p->r->groups->len; g++)
        any |= is_stream(((WsReadGroup *)g_ptr_array_index(p->r->groups, g))->body, pipe);
    if (!any || pipe->index < 0)
        return;
    const Closed c = { p, pipe };
    for (guint g = 0; g < p->r->groups->len; g++)
        loops(&c, ((WsReadGroup *)g_ptr_array_index(p->r->groups, g))->body);
    closes_too_often(&c);
    for (guint g = 0; g < p->r->groups->len; g++)
        convert(&c, ((WsReadGroup *)g_ptr_array_index(p->r->groups, g))->body);
    declare(p, pipe);
}
