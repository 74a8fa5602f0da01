/* What a variable stood for, once what it is made from is another value. Formulas, aliases, places
 * and conditions name values of the design; a later assignment, load or product writes such a value
 * in place. So each setting of a value has a time, and what was made before it is a former value:
 * it is not read. */
#include "import/python/pyread.h"
#include "import/python/pyread_law.h"

#include <string.h>

#define MOST_DEPTH 12

static WsReadValue *value_of(const PyRead *p, gint64 i)
{
    return i >= 0 && i < p->group->values->len ? &g_array_index(p->group->values, WsReadValue, i)
                                               : NULL;
}

static void note_set(PyRead *p, const WsReadStep *s, gint value)
{
    WsReadValue *held = value_of(p, value);
    if (!held)
        return;
    held->set = ++p->clock;
    held->set_line = s->line;
    held->element = NULL;
}

/* When it was set is now `set`: what it was set to may be another one. */
static void set_at(WsReadValue *held, guint set)
{
    held->element = held->set == set ? held->element : NULL;
    held->set = set;
}

void py_set(PyRead *p, WsReadStep *s, gint value)
{
    s->value = value;
    note_set(p, s, value);
}

void py_set_old(PyRead *p, WsReadStep *s, gint value)
{
    s->old = value + 1;
    note_set(p, s, value);
}

/* When value `i` was set, by `times` where they are given. */
static guint time_of(const PyRead *p, gint64 i, const GArray *times)
{
    if (times && i < times->len)
        return g_array_index(times, guint, i);
    const WsReadValue *held = value_of(p, i);
    return times ? 0 : held ? held->set : G_MAXUINT;
}

static guint items_of(const Val *v)
{
    return !v->item ? 0 : v->kind == VAL_OBJECT ? 2 * v->n : v->n;
}

/* The value that was set after `v` was made of it; -1: none was. */
static gint64 set_since(const PyRead *p, const Val *v, const GArray *times, guint depth)
{
    if (!v || !p->group)
        return -1;
    if (v->kind == VAL_TILE && v->index >= 0 && time_of(p, v->index, times) > v->made)
        return v->index;
    for (guint i = 0; v->reads && i < v->reads->len; i++)
        if (time_of(p, g_array_index(v->reads, gint64, i), times) > v->made)
            return g_array_index(v->reads, gint64, i);
    for (guint i = 0; i < items_of(v); i++) {
        const gint64 of = depth < MOST_DEPTH ? set_since(p, v->item[i], times, depth + 1) : -1;
        if (of >= 0)
            return of;
    }
    return -1;
}

gboolean py_is_former(const PyRead *p, const Val *v)
{
    return set_since(p, v, NULL, 0) >= 0;
}

guint py_made_of(const PyRead *p, const Val *a, const Val *b)
{
    return py_is_former(p, a) || (b && py_is_former(p, b)) ? 0 : p->clock;
}

const Val *py_current(PyRead *p, const Val *v, const WsPyNode *at)
{
    const gint64 of = p->in_kernel ? set_since(p, v, NULL, 0) : -1;
    if (of < 0)
        return v;
    const WsReadValue *held = value_of(p, of);
    const char *what = held ? ws_source_format(p->r, "a former value: `%s` is set again in line %u",
                                               held->name, held->set_line)
                            : "a value of another place";
    if (!held || held->accumulator) /* products may still write it */
        py_unread(p, at, what);
    else
        py_law_value(p, at, what);
    Val *lost = py_val(p, VAL_OPAQUE);
    lost->rows = v->rows;
    lost->cols = v->cols;
    lost->dtype = v->dtype;
    return lost;
}

/* --- ways that meet ----------------------------------------------------------------------------*/

GArray *py_times(const PyRead *p)
{
    GArray *times = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < p->group->values->len; i++)
        g_array_append_val(times, value_of(p, i)->set);
    return times;
}

guint py_times_of(const PyRead *p, gint value)
{
    return time_of(p, value, NULL);
}

void py_times_back(PyRead *p, const GArray *times)
{
    for (guint i = 0; i < times->len && i < p->group->values->len; i++)
        set_at(value_of(p, i), g_array_index(times, guint, i));
}

void py_times_met(PyRead *p, const GArray *a, const GArray *b, gboolean both)
{
    p->clock++;
    for (guint i = 0; i < p->group->values->len; i++) {
        const guint x = time_of(p, i, a), y = time_of(p, i, b);
        set_at(value_of(p, i), x == y || !both ? MAX(x, y) : p->clock);
    }
}

gboolean py_was_former(const PyRead *p, const Val *v, const GArray *times)
{
    return set_since(p, v, times, 0) >= 0;
}

/* `v` with each tile of it made now, if `times` (NULL: always) says that it was current. */
static const Val *renewed(PyRead *p, const Val *v, const GArray *times, guint depth)
{
    if (!v || depth > MOST_DEPTH || !py_is_former(p, v) ||
        (times && set_since(p, v, times, 0) >= 0 && !v->item))
        return v;
    Val *own = py_val(p, v->kind);
    *own = *v;
    own->counted = NULL;
    if (!v->item) {
        own->made = times || v->kind == VAL_TILE ? p->clock : v->made;
        return own;
    }
    own->item = g_new0(const Val *, items_of(v) + 1);
    g_ptr_array_add(p->r->pool, own->item);
    for (guint i = 0; i < items_of(v); i++)
        own->item[i] = renewed(p, v->item[i], times, depth + 1);
    return own;
}

const Val *py_still(PyRead *p, const Val *v, const GArray *own)
{
    return renewed(p, v, own, 0);
}

const Val *py_renewed(PyRead *p, const Val *v)
{
    return renewed(p, v, NULL, 0);
}
