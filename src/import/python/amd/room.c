#include "import/python/amd/amd.h"
#include "import/python/pyread_law.h"
#include "target/target.h"

#include <string.h>

/* The shared memory of a kernel, as Triton gives it out: buffers with their padding, and at some
 * statements memory of the compiler's own. What is named no more lends its bytes to what comes
 * later, though a load may still be on its way to them. */

enum { ALIGN = 128 }; /* at least what Triton aligns to */

/* A place in the order of the source where the compiler takes shared memory. */
typedef struct {
    const WsPyNode *at;
    guint after; /* the number of the step before it, as the source was walked */
    gint64 bytes;
    gboolean met; /* in the order of the steps that are left */
    guint last;   /* the step before it that is left */
    gboolean loose;
} Place;

typedef struct {
    PyRead *p;
    Place *place;
    guint n, latest;
    gboolean *flight; /* [buffers]: a load to it may be on its way */
} Walk;

void py_amd_take(PyRead *p, gint64 bytes, const WsPyNode *at)
{
    const Place place = { .at = at, .after = p->r->steps->len, .bytes = bytes };
    if (p->probing)
        return;
    if (!p->taken)
        p->taken = g_array_new(FALSE, TRUE, sizeof(Place));
    g_array_append_val(p->taken, place);
}

static void find_last(Walk *w, const GPtrArray *list)
{
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = list->pdata[i];
        for (guint k = 0; k < w->n && !s->off; k++)
            if (s->number <= w->place[k].after)
                w->place[k].last = MAX(w->place[k].last, s->number);
        find_last(w, s->body);
        find_last(w, s->other);
    }
}

static gboolean lives(const Walk *w, guint buffer, const Place *place)
{
    return g_array_index(w->p->r->buffers, WsReadBuffer, buffer).made <= place->after &&
           ws_source_last_use(w->p->r, (gint)buffer) > place->after;
}

/* What is on its way wherever one of the places may be: behind the step before it, and behind the
 * blocks that end with that one. */
static void look(Walk *w)
{
    for (guint k = 0; k < w->n; k++)
        for (guint b = 0; b < w->p->r->buffers->len && w->place[k].last == w->latest; b++)
            w->place[k].loose |= w->flight[b] && !lives(w, b, &w->place[k]);
}

static void walk(Walk *w, const GPtrArray *list);

static void walk_beside(Walk *w, const GPtrArray *list, gboolean *out, const gboolean *in)
{
    const guint n = w->p->r->buffers->len;
    gboolean *was = w->flight;
    w->flight = g_memdup2(in, sizeof *in * (n + 1));
    walk(w, list);
    for (guint b = 0; b < n; b++)
        out[b] |= w->flight[b];
    g_free(w->flight);
    w->flight = was;
}

static void walk(Walk *w, const GPtrArray *list)
{
    const guint n = w->p->r->buffers->len;
    for (guint i = 0; list && i < list->len; i++) {
        const WsReadStep *s = list->pdata[i];
        if (s->off)
            continue;
        w->latest = s->number;
        if (s->kind == WS_READ_LOAD && s->buffer.object >= 0)
            w->flight[s->buffer.object] = TRUE;
        for (guint b = 0; b < n && s->kind == WS_READ_LOAD_WAIT && s->n == 0; b++)
            w->flight[b] = FALSE;
        if (s->kind == WS_READ_STAGE) { /* always runs */
            walk(w, s->body);
        } else if (s->body || s->other) {
            g_autofree gboolean *out = g_memdup2(w->flight, sizeof *out * (n + 1)),
                                *in = g_memdup2(w->flight, sizeof *in * (n + 1));
            walk_beside(w, s->body, out, in);
            if (s->kind == WS_READ_FOR) { /* once more, after a round */
                memcpy(in, out, sizeof *in * (n + 1));
                walk_beside(w, s->body, out, in);
            }
            walk_beside(w, s->other, out, in);
            memcpy(w->flight, out, sizeof *out * (n + 1));
        }
        look(w);
    }
}

static gint64 bytes_of(const WsReadBuffer *b)
{
    gint64 bytes = b->dtype ? py_dtype_bytes(b->dtype) : 2;
    for (guint d = 0; d < b->rank; d++)
        bytes *= b->shape[d];
    return (bytes + b->spare + ALIGN - 1) / ALIGN * ALIGN;
}

/* Of all buffers beside each other, views of others within those. */
static gint64 bytes_of_all(const PyRead *p)
{
    gint64 sum = 0;
    for (guint i = 0; i < p->r->buffers->len; i++) {
        gint64 most = 0;
        if (g_array_index(p->r->buffers, WsReadBuffer, i).over)
            continue;
        for (guint k = 0; k < p->r->buffers->len; k++) {
            const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, k);
            gint64 at = 0;
            guint root = k;
            for (; g_array_index(p->r->buffers, WsReadBuffer, root).over;
                 root = (guint)g_array_index(p->r->buffers, WsReadBuffer, root).over - 1)
                at += g_array_index(p->r->buffers, WsReadBuffer, root).over_at;
            if (root == i)
                most = MAX(most, at + bytes_of(b));
        }
        sum += most;
    }
    return sum;
}

static void need(PyRead *p, gint64 bytes, const char *with, guint line)
{
    const gint64 most = ws_target_gfx950.shared.bytes;
    if (bytes > most)
        ws_source_unread(p->r, line, 1, line,
                         ws_source_format(p->r,
                                          "shared memory of up to %" G_GINT64_FORMAT " bytes%s, "
                                          "where a workgroup has %" G_GINT64_FORMAT,
                                          bytes, with, most),
                         "");
}

void py_amd_room(PyRead *p)
{
    const gint64 all = bytes_of_all(p);
    gboolean padded = FALSE;
    guint line = p->kernel->line;
    for (guint i = 0; i < p->r->buffers->len; i++) {
        const WsReadBuffer *b = &g_array_index(p->r->buffers, WsReadBuffer, i);
        padded |= b->spare > 0;
        line = b->line ? b->line : line;
    }
    need(p, all, padded ? " with its padding" : "", line);
    Walk w = { .p = p,
               .place = p->taken ? (Place *)p->taken->data : NULL,
               .n = p->taken ? p->taken->len : 0,
               .flight = g_new0(gboolean, p->r->buffers->len + 1) };
    for (guint g = 0; w.n && g < p->r->groups->len; g++)
        find_last(&w, ((WsReadGroup *)p->r->groups->pdata[g])->body);
    for (guint g = 0; w.n && g < p->r->groups->len; g++)
        walk(&w, ((WsReadGroup *)p->r->groups->pdata[g])->body);
    for (guint k = 0; k < w.n; k++) {
        gboolean any = FALSE;
        for (guint b = 0; b < p->r->buffers->len; b++)
            any |= lives(&w, b, &w.place[k]);
        if (w.place[k].bytes && all <= (gint64)ws_target_gfx950.shared.bytes)
            need(p, any ? all + w.place[k].bytes : w.place[k].bytes,
                 " with what the compiler takes here", w.place[k].at->line);
        if (w.place[k].loose)
            py_unread(p, w.place[k].at,
                      "shared memory that the compiler may take from a buffer to which loads are "
                      "on their way");
    }
    g_free(w.flight);
}
