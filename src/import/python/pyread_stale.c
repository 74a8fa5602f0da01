/* What a variable stood for, once what it is made from is another value. Formulas, aliases, places
 * and conditions name values of the design; a later assignment writes such a value in place. */
#include "import/python/pyread.h"

#include <string.h>

static gboolean is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

static gboolean names(const char *text, const char *value)
{
    const gsize n = strlen(value);
    for (const char *at = text; at && (at = strstr(at, value)); at++)
        if ((at == text || (!is_word(at[-1]) && at[-1] != '.')) && !is_word(at[n]))
            return TRUE;
    return FALSE;
}

static gboolean made_of(const Val *v, gint value, const char *name, guint depth)
{
    if (!v || depth > 8)
        return v != NULL;
    if (v->kind == VAL_TILE && v->index == value)
        return TRUE;
    if (v->kind != VAL_NAME && v->kind != VAL_PARAM && v->text && names(v->text, name))
        return TRUE;
    for (guint i = 0; v->item && i < v->n; i++)
        if (made_of(v->item[i], value, name, depth + 1))
            return TRUE;
    return FALSE;
}

void py_stale(PyRead *p, gint value, const char *assigned)
{
    const char *name = g_array_index(p->group->values, WsReadValue, value).name;
    for (Frame *f = p->frame; f; f = f->up) {
        GHashTableIter it;
        gpointer key, held;
        g_hash_table_iter_init(&it, f->vars);
        while (g_hash_table_iter_next(&it, &key, &held)) {
            const Val *v = held;
            const gboolean own = f == p->frame && !strcmp(key, assigned);
            if (!own && made_of(v, value, name, 0))
                g_hash_table_iter_replace(&it, (gpointer)py_opaque(p));
        }
    }
}
