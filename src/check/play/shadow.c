/* Shared memory of a CTA in the play, cut into classes of bytes that every access so far has
 * touched wholly or not at all: what holds of one byte of a class holds of all. Parts of rows make
 * many ranges and few classes. */
#include "check/play/play.h"
#include "program/parts/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VIEWS = 4096, UNIT = 16 };

/* --- cells: ranges of bytes, each of one class ------------------------------------------------ */
/* The cell that holds the byte at `at`. */
static guint find_cell(const WsShadow *s, guint64 at)
{
    guint lo = 0, hi = s->n;
    while (hi - lo > 1) {
        guint mid = (lo + hi) / 2;
        if (s->cell[mid].from <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static guint add_class(WsShadow *s, WsBytes like)
{
    if (s->n_classes == s->cap_classes) {
        s->cap_classes = MAX(16, 2 * s->cap_classes);
        s->class = g_renew(WsBytes, s->class, s->cap_classes);
    }
    like.read = g_memdup2(like.read, like.cap_reads * sizeof(WsEvent *));
    s->class[s->n_classes] = like;
    return s->n_classes++;
}

/* Begins and ends of the spans, ascending, an end before a begin at the same byte. */
static inline guint64 bound(const WsShadow *s, guint i)
{
    const WsByteSpan *x = &s->span[i / 2];
    return i % 2 ? x->to : x->from;
}

/* Makes cells begin and end where the spans do; the first cell of the first span. */
static guint cut(WsShadow *s)
{
    const guint first = find_cell(s, bound(s, 0)), n = 2 * s->n_spans;
    guint last = first, missing = 0;
    for (guint i = 0; i < n; i++) {
        const guint64 at = bound(s, i);
        while (last + 1 < s->n && s->cell[last + 1].from <= at)
            last++;
        missing += s->cell[last].from != at && (i == 0 || bound(s, i - 1) != at);
    }
    if (missing) {
        if (s->n + missing > s->cap) {
            s->cap = 2 * (s->n + missing);
            s->cell = g_renew(WsCell, s->cell, s->cap);
        }
        memmove(&s->cell[last + 1 + missing], &s->cell[last + 1],
                (s->n - last - 1) * sizeof(WsCell));
        s->n += missing;
        guint from = last, to = last + missing;
        for (guint i = n; i-- > 0 && to > from;) {
            const guint64 at = bound(s, i);
            while (s->cell[from].from > at)
                s->cell[to--] = s->cell[from--];
            if (s->cell[from].from == at || (i + 1 < n && bound(s, i + 1) == at))
                continue;
            s->cell[to--] = (WsCell){ at, s->cell[from].class };
            s->class[s->cell[from].class].cells++;
        }
    }
    return s->cell[first].from == bound(s, 0) ? first : first + 1;
}

/* --- views ------------------------------------------------------------------------------------ */
/* Classes of the cells within the spans, in the order in which they are met. */
static void meet(WsShadow *s, guint cell, GArray *met)
{
    for (guint k = 0; k < s->n_spans; k++) {
        const WsByteSpan *x = &s->span[k];
        while (s->cell[cell].from < x->from)
            cell++;
        for (; cell < s->n && s->cell[cell].from < x->to; cell++) {
            const guint class = s->cell[cell].class;
            WsBytes *c = &s->class[class];
            if (c->stamp != s->stamp) {
                c->stamp = s->stamp, c->inside = 0;
                g_array_append_val(met, class);
            }
            c->inside++;
        }
    }
}

/* Of a class that the view cuts through, what lies inside becomes a class of its own. */
static void split(WsShadow *s, guint cell)
{
    for (guint k = 0; k < s->n_spans; k++) {
        const WsByteSpan *x = &s->span[k];
        while (s->cell[cell].from < x->from)
            cell++;
        for (; cell < s->n && s->cell[cell].from < x->to; cell++) {
            const guint class = s->cell[cell].class;
            if (s->class[class].inside == s->class[class].cells)
                continue;
            if (s->class[class].parted_at != s->version) {
                const guint fresh = add_class(s, s->class[class]);
                s->class[fresh].cells = s->class[class].inside;
                s->class[class].twin = fresh, s->class[class].parted_at = s->version;
            }
            s->cell[cell].class = s->class[class].twin;
        }
    }
}

/* L-SWIZZLE: byte ranges are those before the swizzle, which is right where all that lies over the
 * bytes is swizzled alike. Elsewhere every 16 bytes are taken where they lie. */
static guint64 swizzled(const WsBuffer *b, guint64 at)
{
    /* CUTLASS Swizzle<3, 4, 3>, <2, 4, 3>, <1, 4, 3> */
    const guint units = b->swizzle / 16;
    return units > 1 ? at ^ ((at >> 7 & (units - 1)) << 4) : at;
}

static int by_place(const void *a, const void *b)
{
    const WsByteSpan *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static inline void add_span(WsShadow *s, guint64 from, guint64 to)
{
    if (s->n_spans && s->span[s->n_spans - 1].to == from) {
        s->span[s->n_spans - 1].to = to;
        return;
    }
    if (s->n_spans == s->cap_spans) {
        s->cap_spans = MAX(256, 2 * s->cap_spans);
        s->span = g_renew(WsByteSpan, s->span, s->cap_spans);
    }
    s->span[s->n_spans] = (WsByteSpan){ from, to };
    s->n_spans += from < to;
}

/* A range of a tangled buffer: a swizzle moves 16 bytes within lines of its width only. */
static void add_swizzled(WsShadow *s, const WsBuffer *b, guint64 from, guint64 to)
{
    const guint64 line = MAX(b->swizzle, UNIT);
    for (guint64 at = from; at < to;) {
        const guint64 whole = to - to % line;
        if (at % line == 0 && whole > at) {
            add_span(s, at, whole);
            at = whole;
            continue;
        }
        const guint64 unit = at - at % UNIT, end = MIN(unit + UNIT, to), lies = swizzled(b, unit);
        add_span(s, lies + (at - unit), lies + (end - unit));
        at = end;
    }
}

/* The spans of a view. */
static void find_spans(WsShadow *s, const WsShadowPlace *at)
{
    s->n_spans = 0;
    for (guint k = 0; k < at->n; k++) {
        const guint64 from = at->base + at->range[k].offset, to = from + at->range[k].bytes;
        if (at->tangled)
            add_swizzled(s, at->buffer, from, to);
        else
            add_span(s, from, to);
    }
    gboolean ascending = TRUE;
    for (guint k = 1; k < s->n_spans && ascending; k++)
        ascending = bound(s, 2 * k - 1) <= bound(s, 2 * k);
    if (!ascending)
        qsort(s->span, s->n_spans, sizeof *s->span, by_place);
}

static void find_classes(WsShadow *s, WsTouched *v, const WsShadowPlace *at)
{
    GArray *met = s->met;
    g_array_set_size(met, 0);
    find_spans(s, at);
    const guint first = s->n_spans ? cut(s) : 0;
    s->stamp++;
    meet(s, first, met);
    gboolean through = FALSE;
    for (guint i = 0; i < met->len; i++) {
        const WsBytes *c = &s->class[g_array_index(met, guint, i)];
        through |= c->inside < c->cells;
    }
    if (through) {
        s->version++;
        split(s, first);
    }
    for (guint i = 0; through && i < met->len; i++) {
        WsBytes *c = &s->class[g_array_index(met, guint, i)];
        if (c->parted_at == s->version) {
            c->cells -= c->inside;
            g_array_index(met, guint, i) = c->twin;
        }
    }
    v->n = met->len, v->version = s->version;
    if (v->n > v->cap)
        v->class = g_renew(guint, v->class, v->cap = v->n);
    if (v->n)
        memcpy(v->class, met->data, v->n * sizeof(guint));
}

static guint view_hash(gconstpointer key)
{
    const WsTouched *v = key;
    guint64 h = (guint64)(gsize)v->access * 0x9e3779b97f4a7c15u;
    h = (h ^ v->base) * 0x9e3779b97f4a7c15u;
    h = (h ^ (guint64)v->row0 ^ (guint64)v->col0 << 20) * 0x9e3779b97f4a7c15u;
    return (guint)(h >> 32);
}

static gboolean view_equal(gconstpointer a, gconstpointer b)
{
    const WsTouched *v = a, *w = b;
    return v->access == w->access && v->base == w->base && v->row0 == w->row0 && v->col0 == w->col0;
}

static void view_free(gpointer data)
{
    g_free(((WsTouched *)data)->class);
    g_free(data);
}

const WsTouched *ws_shadow_known(WsShadow *s, const WsTouched *key)
{
    const WsTouched *v = s->views ? g_hash_table_lookup(s->views, key) : NULL;
    for (guint i = 0; v && i < v->n; i++)
        if (s->class[v->class[i]].parted_at > v->version)
            return NULL;
    return v;
}

const WsTouched *ws_shadow_view(WsShadow *s, const WsTouched *key, const WsShadowPlace *at)
{
    if (!s->views) {
        s->views = g_hash_table_new_full(view_hash, view_equal, view_free, NULL);
        s->met = g_array_new(FALSE, FALSE, sizeof(guint));
        s->cap = 64, s->n = 1, s->version = 1;
        s->cell = g_new(WsCell, s->cap);
        s->cell[0] = (WsCell){ 0, add_class(s, (WsBytes){ .cells = 1 }) };
    }
    WsTouched *v = g_hash_table_lookup(s->views, key);
    if (!v) {
        if (g_hash_table_size(s->views) >= MOST_VIEWS)
            g_hash_table_remove_all(s->views);
        v = g_new(WsTouched, 1);
        *v = *key, v->class = NULL, v->cap = 0;
        g_hash_table_add(s->views, v);
    }
    find_classes(s, v, at);
    return v;
}

/* --- the whole -------------------------------------------------------------------------------- */
void ws_shadow_clear(WsShadow *s)
{
    for (guint i = 0; i < s->n_classes; i++)
        s->class[i].write = NULL, s->class[i].n_reads = 0;
}

void ws_shadow_free(WsShadow *s)
{
    for (guint i = 0; i < s->n_classes; i++)
        g_free(s->class[i].read);
    g_free(s->class);
    g_free(s->cell);
    g_free(s->span);
    g_clear_pointer(&s->met, g_array_unref);
    g_clear_pointer(&s->views, g_hash_table_unref);
}
