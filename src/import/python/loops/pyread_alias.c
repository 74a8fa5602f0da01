#include "import/python/loops/pyread_loop.h"
#include "import/python/pyread_object.h"

#include <string.h>

/* Variables of a function that are one value when a loop begins, of which a round may set one. */

/* Another variable of the function that is made of the value; NULL: none is. */
static const char *other_name(const PyRead *p, const char *name, gint value)
{
    GHashTableIter it;
    gpointer key, held;
    const char *found = NULL;
    g_hash_table_iter_init(&it, p->frame->vars);
    while (g_hash_table_iter_next(&it, &key, &held)) {
        const Val *v = held;
        gboolean names = v->kind == VAL_TILE && v->index == value && !v->text;
        for (guint i = 0; v->reads && i < v->reads->len; i++)
            names |= g_array_index(v->reads, gint64, i) == value;
        if (names && strcmp(key, name) != 0 && !py_is_former(p, v) &&
            (!found || strcmp(key, found) < 0))
            found = key;
    }
    return found;
}

/* The tile in a value that the variable alone is. NULL: it is none that can be put there. */
static const Val *copy_for(PyRead *p, const char *name, const Val *v, const WsPyNode *at,
                           GArray *copies)
{
    if (v->kind != VAL_TILE || v->text || v->depth || py_is_former(p, v))
        return NULL;
    const WsReadValue *held = &g_array_index(p->group->values, WsReadValue, v->index);
    if (held->accumulator)
        return NULL; /* it may be in flight: renew_heads lists it if a round sets it */
    const Val *copy = py_copy_of(p, v);
    Val *own = py_val(p, VAL_TILE);
    own->dims = v->dims;
    own->rows = v->rows;
    own->cols = v->cols;
    const guint before = p->r->steps->len;
    own->index = py_hold_at(p, name, copy, at);
    py_added(p, before);
    own->made = p->clock;
    if (own->index < 0)
        return NULL;
    const PyCopy made = { name, v, own, g_ptr_array_index(p->to, p->to->len - 1) };
    g_array_append_val(copies, made);
    return own;
}

void py_own_value(PyRead *p, PyLoop *l, PyCarry *c, GArray *copies)
{
    const char *other = c->entry->kind == VAL_TILE ? other_name(p, c->name, c->entry->index) : NULL;
    if (!other)
        return;
    g_autofree char *full = g_strconcat(p->frame->prefix, c->name, NULL);
    const char *value = g_array_index(p->group->values, WsReadValue, c->entry->index).name;
    if (strcmp(value, full) != 0) {
        const Val *own = copy_for(p, c->name, c->entry, l->node, copies);
        c->entry = own ? own : c->entry;
        py_set_path(p, c->name, c->entry);
        return;
    }
    for (const Val *own; other; other = own ? other_name(p, c->name, c->entry->index) : NULL)
        if ((own = copy_for(p, other, g_hash_table_lookup(p->frame->vars, other), l->node, copies)))
            py_assign(p, other, own);
}

/* Whether a round leaves every variable that is `v` when it begins in `v`. */
static gboolean stays(const GArray *carries, const Val *v)
{
    for (guint i = 0; i < carries->len; i++) {
        const PyCarry *c = &g_array_index(carries, PyCarry, i);
        const gboolean entered = c->entry->kind == VAL_TILE && c->entry->index == v->index;
        if (entered &&
            !(c->end && c->end->kind == VAL_TILE && c->end->index == v->index && !c->end->text))
            return FALSE;
    }
    return TRUE;
}

gboolean py_drop_copies(PyRead *p, const PyLoop *l, GArray *carries, const GArray *copies)
{
    gboolean any = FALSE;
    for (guint i = copies->len; i-- > 0;) {
        const PyCopy *copy = &g_array_index(copies, PyCopy, i);
        if (py_value_in(l->set, copy->shared->index) || py_value_in(l->set, copy->own->index) ||
            !stays(carries, copy->shared) || !stays(carries, copy->own))
            continue;
        any = TRUE;
        copy->step->off = TRUE;
        for (guint k = 0; k < carries->len; k++) {
            PyCarry *c = &g_array_index(carries, PyCarry, k);
            c->entry = c->entry == copy->own ? copy->shared : c->entry;
        }
        py_set_path(p, copy->name, copy->shared);
        if ((guint)copy->own->index + 1 == p->group->values->len)
            g_array_set_size(p->group->values, p->group->values->len - 1);
    }
    return any;
}
