/* Values of the design that one place of the source alone sets: of loads inside of expressions, of
 * calls of a function, of what is assigned to several variables at once. */
#include "import/python/pyread.h"

#include <string.h>

void py_added(PyRead *p, guint from)
{
    for (guint i = from; i < p->r->steps->len; i++) {
        WsReadStep *s = g_ptr_array_index(p->r->steps, i);
        s->added |= s->kind == WS_READ_COMPUTE;
    }
}

static WsReadValue *value_at(const PyRead *p, gint64 i)
{
    return i >= 0 && i < p->group->values->len ? &g_array_index(p->group->values, WsReadValue, i)
                                               : NULL;
}

gint py_value_at(PyRead *p, const char *name, gconstpointer site, const char *dtype, gint64 rows,
                 gint64 cols)
{
    g_autofree char *base = g_strconcat(p->frame->prefix, name, NULL);
    g_autoptr(GString) full = g_string_new(base);
    for (guint n = 2;; n++) {
        gint known = -1;
        const guint before = p->group->values->len;
        for (guint i = 0; i < before && known < 0; i++)
            if (!strcmp(value_at(p, i)->name, full->str))
                known = (gint)i;
        WsReadValue *held = value_at(p, known);
        if (held && held->site == site && held->rows == rows && held->cols == cols &&
            !strcmp(held->dtype, dtype))
            return known;
        if (!held) {
            const gint made = ws_source_value(p->r, p->group, full->str, dtype, rows, cols);
            held = value_at(p, made);
            if ((guint)made == before)
                held->site = site;
            if (held->site == site)
                return made;
        }
        g_string_printf(full, "%s_%u", base, n);
    }
}

gint py_value_for(PyRead *p, const char *otherwise, const WsPyNode *call, const char *dtype,
                  gint64 rows, gint64 cols)
{
    if (!p->hint || p->whole != call)
        return py_value_at(p, otherwise, call, dtype, rows, cols);
    g_autofree char *name = g_strconcat(p->frame->prefix, p->hint, NULL);
    return ws_source_value(p->r, p->group, name, dtype, rows, cols);
}

const char *py_prefix_of(PyRead *p, const WsPyNode *function, const WsPyNode *at)
{
    g_autofree char *key = g_strdup_printf("%p %s", (gpointer)p->group, function->text);
    g_autofree char *site = g_strdup_printf("%p %s", (gconstpointer)at, p->frame->prefix);
    GPtrArray *sites = g_hash_table_lookup(p->call_sites, key);
    guint n;
    if (!sites) {
        sites = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(p->call_sites, g_steal_pointer(&key), sites);
    }
    if (!g_ptr_array_find_with_equal_func(sites, site, g_str_equal, &n)) {
        n = sites->len;
        g_ptr_array_add(sites, g_steal_pointer(&site));
    }
    return n ? ws_source_format(p->r, "%s_%u_", function->text, n + 1)
             : ws_source_format(p->r, "%s_", function->text);
}

/* Whether an assignment to the variable `name` may set a value that `v` names. */
static gboolean is_made_of(PyRead *p, const Val *v, const char *name)
{
    g_autofree char *own = g_strconcat(p->frame->prefix, name, NULL);
    const Val *m = py_is_tile(v) ? py_itself(p, v) : NULL;
    for (guint i = 0; m && m->reads && i < m->reads->len; i++) {
        const char *value =
            g_array_index(p->group->values, WsReadValue, g_array_index(m->reads, gint64, i)).name;
        const gsize n = strlen(own);
        if (!strncmp(value, own, n) && (!value[n] || value[n] == '_'))
            return TRUE;
    }
    return FALSE;
}

const Val *py_at_once(PyRead *p, const WsPyNode *target, const Val *v, const WsPyNode *at)
{
    Val *all = NULL;
    for (guint i = 1; p->group && v->kind == VAL_TUPLE && v->n == target->n && i < v->n; i++) {
        const Val *one = v->item[i];
        gboolean clash = FALSE;
        for (guint k = 0; k < i && target->kid[i]->kind == WS_PY_NAME; k++)
            clash |= target->kid[k]->kind == WS_PY_NAME && py_is_tile(v->item[k]) &&
                     is_made_of(p, one, target->kid[k]->text);
        const WsReadValue *held = one->kind == VAL_TILE
                                      ? &g_array_index(p->group->values, WsReadValue, one->index)
                                      : NULL;
        const Val *m = clash && !(held && held->accumulator) ? py_itself(p, one) : NULL;
        if (!m || m->rows * m->cols <= 1 || !g_strcmp0(m->dtype, "b"))
            continue;
        if (!all) {
            all = py_val(p, VAL_TUPLE);
            all->n = v->n;
            all->item = g_new0(const Val *, v->n + 1);
            g_ptr_array_add(p->r->pool, all->item);
            memcpy(all->item, v->item, v->n * sizeof *v->item);
        }
        Val *formula = py_val(p, VAL_MATH), *tile = py_val(p, VAL_TILE);
        *formula = *m;
        formula->dtype = held ? held->dtype : m->dtype;
        tile->rows = m->rows;
        tile->cols = m->cols;
        tile->dims = m->dims;
        g_autofree char *name = g_strconcat(target->kid[i]->text, "_next", NULL);
        const guint before = p->r->steps->len;
        tile->index = py_hold_at(p, name, formula, at);
        if (held) /* a formula is the source's own step */
            py_added(p, before);
        tile->made = p->clock;
        if (tile->index >= 0)
            all->item[i] = tile;
    }
    return all ? all : v;
}
