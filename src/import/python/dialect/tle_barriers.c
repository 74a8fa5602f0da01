#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Barriers of TLE as they are made, and what exports say of them: which are parts of one, and which
 * are elements of one array. Both are taken only where nothing that the lines say is against it. */

/* Exports of designs say which barriers are parts of one: "# part of: full". A Val of a part has
 * n = 1; `at` is what a copy into it expects. */
static const char *whole_of(PyRead *p, const WsPyNode *at)
{
    const char *line = at->end_line <= p->r->n_lines ? p->r->line[at->end_line - 1] : "";
    const char *name = strstr(line, "# part of: ");
    return name ? ws_source_format(p->r, "%s", name + strlen("# part of: ")) : NULL;
}

static const Val *part_of(PyRead *p, const char *whole, gint64 copies, gint64 bytes)
{
    for (guint i = 0; whole && i < p->r->barriers->len; i++) {
        WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, i);
        if (!b->said || !b->parts || strcmp(b->name, whole) || b->copies != copies)
            continue;
        Val *v = py_val(p, VAL_BARRIER);
        v->place.object = (gint)i;
        v->at = bytes;
        v->n = 1;
        v->rows = b->parts;
        b->parts++;
        return v;
    }
    return NULL;
}

/* Parts of one barrier count alike and begin alike. */
static void need_alike(PyRead *p, const Val *part, gint64 count, gboolean ready, gboolean each,
                       const WsPyNode *at)
{
    const WsReadBarrier *b = py_barrier_of(p, part);
    gboolean alike = !each && !b->each;
    for (gint64 i = 0; i < b->copies; i++)
        alike = alike && b->count[i] == count && b->ready[i] == ready;
    if (!alike)
        py_unread(p, at, "a part of a barrier that counts or begins otherwise than the others");
}

/* … and which are elements of one array: "# element of: turn, 1 of 2". A Val of an element has in
 * `cols` the slots before it. */
typedef struct {
    const char *array; /* NULL: none */
    gint64 number, of;
} Element;

static Element element_of(PyRead *p, const WsPyNode *at)
{
    const char *line = at->end_line <= p->r->n_lines ? p->r->line[at->end_line - 1] : "";
    const char *text = strstr(line, "# element of: "), *comma = text ? strchr(text, ',') : NULL;
    Element e = { NULL, 0, 1 };
    if (!comma)
        return e;
    text += strlen("# element of: ");
    e.array = ws_source_format(p->r, "%.*s", (int)(comma - text), text);
    e.number = g_ascii_strtoll(comma + 1, (char **)&text, 10);
    e.of = g_str_has_prefix(text, " of ") ? g_ascii_strtoll(text + 4, NULL, 10) : 0;
    if (e.number < 0 || e.of <= e.number || e.of > 4096)
        e = (Element){ NULL, 0, 1 };
    return e;
}

/* The array that the element is of; -1: none was made so far. */
static gint array_of(const PyRead *p, const Element *e)
{
    for (guint i = 0; e->array && i < p->r->barriers->len; i++) {
        const WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, i);
        if (b->said && !strcmp(b->name, e->array))
            return (gint)i;
    }
    return -1;
}

/* Elements of an array are of one kind, and each is made once. FALSE, and listed: they are not. */
static gboolean is_next_element(PyRead *p, gint array, const Element *e, gint64 slots, gint64 bytes,
                                gboolean each, const WsPyNode *at)
{
    const WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, array);
    g_autofree char *site = py_site_of(p, at);
    g_autofree char *key = g_strdup_printf("element %d %" G_GINT64_FORMAT, array, e->number);
    const Val *made = g_hash_table_lookup(p->allocated, key);
    if (b->elements == e->of && b->copies == slots * e->of && b->bytes == bytes &&
        b->each == each && (!made || !strcmp(made->text, site))) {
        Val *v = py_val(p, VAL_STRING);
        v->text = ws_source_format(p->r, "%s", site);
        g_hash_table_insert(p->allocated, g_steal_pointer(&key), v);
        return TRUE;
    }
    py_unread(p, at,
              "an element of an array that has it already, or that is one of other barriers");
    return FALSE;
}

static const Val *allocated(PyRead *p, const char *name, gint64 copies, const WsPyNode *at)
{
    const char *hint = p->hint;
    const Val *number = py_literal(p, copies);
    p->hint = name ? name : hint;
    const Val *v = py_mean_ALLOCATE_BARRIER(p, &number, at);
    p->hint = hint;
    if (v->kind == VAL_BARRIER)
        py_barrier_of(p, v)->said = TRUE;
    return v;
}

static const Val *barriers(PyRead *p, const Val *number, const Val **a, const WsPyNode *at)
{
    const gint64 count = py_given(a[0]) ? py_number(a[0], -1) : 1;
    const gint64 bytes = py_given(a[2]) ? py_number(a[2], -1) : 0, slots = py_number(number, 0);
    Element e = element_of(p, at);
    const char *whole = bytes > 0 ? whole_of(p, at) : NULL;
    const Val *known = part_of(p, whole, slots, bytes);
    const gboolean ready = py_is_named(a[1], "READY");
    if (known && count >= 1)
        need_alike(p, known, count, ready,
                   py_given(a[3]) && !(a[3]->kind == VAL_STRING && strstr(a[3]->text, "elected")),
                   at);
    if (known && count >= 1)
        return known;
    if (count < 1 || bytes < 0 || slots < 1 || slots > 4096)
        return py_wrong(p, at, "a barrier whose number, count or bytes are no positive numbers");
    const gboolean each =
        py_given(a[3]) && a[3]->kind == VAL_STRING && strstr(a[3]->text, "participant");
    if (py_given(a[3]) && !each && !(a[3]->kind == VAL_STRING && strstr(a[3]->text, "elected")))
        py_unread(p, at, "a mode of arrival that is not known");
    if (each && (bytes || whole || e.array))
        py_unread(p, at, "arrivals of each thread on a barrier of copies or on one of several");
    gint array = array_of(p, &e);
    const gboolean first = array < 0;
    const Val *v = first ? allocated(p, e.array ? e.array : whole, slots * e.of, at) : NULL;
    if (v && !py_is_barrier(v))
        return v;
    array = v ? v->place.object : array;
    if (e.array && first) {
        WsReadBarrier *made = &g_array_index(p->r->barriers, WsReadBarrier, array);
        made->elements = e.of;
        made->bytes = bytes;
        made->each = each;
    }
    if (e.array && !is_next_element(p, array, &e, slots, bytes, each, at)) {
        e = (Element){ NULL, 0, 1 };
        v = allocated(p, NULL, slots, at);
        if (!py_is_barrier(v))
            return v;
        array = v->place.object;
    }
    WsReadBarrier *b = &g_array_index(p->r->barriers, WsReadBarrier, array);
    for (gint64 i = 0; i < slots; i++)
        b->count[e.number * slots + i] = count;
    for (gint64 i = 0; i < (e.array ? 1 : slots); i++)
        b->ready[e.number + i] = ready; /* of elements, once rings are known */
    b->bytes = bytes;
    b->each = each;
    b->parts = whole ? 1 : 0;
    Val *own = py_val(p, VAL_BARRIER);
    own->place.object = array;
    own->at = bytes;
    own->n = whole != NULL;
    own->rows = 0;
    own->cols = e.number * slots;
    own->depth = e.array ? (guint)slots : 0;
    if (own->cols) /* without an index it is its first slot */
        own->place.index = ws_x_int(p->r, own->cols);
    own->index = ready;
    return own;
}

const Val *py_mean_TLE_BARRIERS(PyRead *p, const Val **a, const WsPyNode *at)
{
    return barriers(p, a[0], a + 1, at);
}

const Val *py_mean_TLE_BARRIER(PyRead *p, const Val **a, const WsPyNode *at)
{
    return barriers(p, py_literal(p, 1), a, at);
}
