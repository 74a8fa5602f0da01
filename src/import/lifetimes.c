#include "import/recognise.h"

/* Triton places buffers over each other where the statements that name them end before those of
 * the other begin. What is still in flight then is named by no statement: it must have been waited
 * for, or the later buffer may lie under a copy or a product. */

typedef struct {
    WsRead *r;
    gint buffer;     /* the earlier one */
    guint last;      /* of the steps that name it */
    guint end;       /* of the loops around the step that is looked at, 0 outside */
    guint mark;      /* where the later one is made */
    guint flight[3]; /* last store, product, load of it */
    gboolean loose;  /* one of them is not waited for */
} Life;

enum { FLIGHT_STORE, FLIGHT_MMA, FLIGHT_LOAD };

static gboolean names(const WsPlace *p, gint buffer)
{
    return p->object == buffer && !p->in_value;
}

static guint end_of(const WsReadStep *s)
{
    guint end = s->number;
    for (guint side = 0; side < 2; side++) {
        const GPtrArray *list = side ? s->other : s->body;
        for (guint i = 0; list && i < list->len; i++)
            end = MAX(end, end_of(g_ptr_array_index(list, i)));
    }
    return end;
}

/* Where the buffer is named last: to the end of loops that begin behind where it is made. */
static void find_last(Life *l, const GPtrArray *list)
{
    const guint made = g_array_index(l->r->buffers, WsReadBuffer, l->buffer).made;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        const guint at = s->number, outer = l->end;
        if (s->off)
            continue;
        if (s->kind == WS_READ_FOR && at > made && !l->end)
            l->end = end_of(s);
        gboolean here =
            names(&s->buffer, l->buffer) || names(&s->a, l->buffer) || names(&s->b, l->buffer);
        for (guint k = 0; s->places && k < s->places->len; k++)
            here |= names(&g_array_index(s->places, WsPlace, k), l->buffer);
        if (here)
            l->last = MAX(l->last, MAX(at, l->end));
        find_last(l, s->body);
        find_last(l, s->other);
        l->end = outer;
    }
}

/* Where the buffer is named first; G_MAXUINT nowhere. */
static guint first_of(const GPtrArray *list, gint buffer)
{
    guint first = G_MAXUINT;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (!s->off && (names(&s->buffer, buffer) || names(&s->a, buffer) || names(&s->b, buffer)))
            first = MIN(first, s->number);
        first = MIN(first, first_of(s->body, buffer));
        first = MIN(first, first_of(s->other, buffer));
    }
    return first;
}

/* A round of a pipe is waited for, too. */
static gboolean waits(const WsReadStep *s)
{
    return s->kind == WS_READ_WAIT || s->kind == WS_READ_FOR ||
           (s->kind == WS_READ_PIPE && !strcmp(s->name, "wait"));
}

static gboolean waited_for(const Life *l, const GPtrArray *list, gint barrier)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if ((!s->off && s->number <= l->mark && waits(s) && s->barrier.object == barrier) ||
            waited_for(l, s->body, barrier) || waited_for(l, s->other, barrier))
            return TRUE;
    }
    return FALSE;
}

static gboolean waited_anywhere(const Life *l, gint barrier)
{
    for (guint g = 0; g < l->r->groups->len; g++)
        if (waited_for(l, ((WsReadGroup *)g_ptr_array_index(l->r->groups, g))->body, barrier))
            return TRUE;
    return FALSE;
}

/* In the order of the steps of one group: what is begun with the buffer, and what is waited for
 * before the later one is made. */
static void follow(Life *l, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = g_ptr_array_index(list, i);
        if (s->off || s->number > l->mark)
            continue;
        if (s->kind == WS_READ_STORE && names(&s->buffer, l->buffer))
            l->flight[FLIGHT_STORE] = 1;
        if (s->kind == WS_READ_MMA && (names(&s->a, l->buffer) || names(&s->b, l->buffer)))
            l->flight[FLIGHT_MMA] = 1;
        if (s->kind == WS_READ_GATHER && names(&s->buffer, l->buffer))
            l->flight[FLIGHT_LOAD] = 1;
        /* that every load is waited for in the end is proved; here somebody has to wait before */
        if (s->kind == WS_READ_LOAD && names(&s->buffer, l->buffer) &&
            !waited_anywhere(l, s->barrier.object))
            l->loose = TRUE;
        if (s->kind == WS_READ_STORE_WAIT && !s->n)
            l->flight[FLIGHT_STORE] = 0;
        if (s->kind == WS_READ_MMA_WAIT && !s->n)
            l->flight[FLIGHT_MMA] = 0;
        if (s->kind == WS_READ_LOAD_WAIT && !s->n)
            l->flight[FLIGHT_LOAD] = 0;
        follow(l, s->body);
        follow(l, s->other);
    }
}

guint ws_source_last_use(WsRead *r, gint buffer)
{
    Life l = { .r = r, .buffer = buffer };
    for (guint g = 0; g < r->groups->len; g++)
        find_last(&l, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body);
    return l.last;
}

void ws_source_lifetimes(WsRead *r)
{
    for (guint a = 0; a < r->buffers->len; a++) {
        Life l = { .r = r, .buffer = (gint)a, .last = ws_source_last_use(r, (gint)a) };
        for (guint b = 0; b < r->buffers->len; b++) {
            const WsReadBuffer *later = &g_array_index(r->buffers, WsReadBuffer, b);
            l.mark = later->made;
            if (b == a || later->over || !l.last || !l.mark || l.mark < l.last)
                continue;
            guint used = G_MAXUINT; /* what is in flight may end until then */
            for (guint g = 0; g < r->groups->len; g++)
                used =
                    MIN(used, first_of(((WsReadGroup *)g_ptr_array_index(r->groups, g))->body, b));
            l.mark = used;
            l.loose = FALSE;
            for (guint g = 0; g < r->groups->len; g++) {
                l.flight[0] = l.flight[1] = l.flight[2] = 0;
                follow(&l, ((WsReadGroup *)g_ptr_array_index(r->groups, g))->body);
                l.loose |= l.flight[0] || l.flight[1] || l.flight[2];
            }
            if (l.loose)
                ws_source_unread(
                    r, later->line, 1, later->line,
                    ws_source_format(r, "whether `%s` lies over `%s`, which may be in flight",
                                     later->name, g_array_index(r->buffers, WsReadBuffer, a).name),
                    later->line <= r->n_lines && later->line ? r->line[later->line - 1] : "");
        }
    }
}
