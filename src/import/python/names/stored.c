#include "import/python/names/names.h"
#include "import/python/pyread_kernels.h"

#include <string.h>

/* Attributes that the host stores: x.a = …, in whatever form, setattr(x, "a", …), del x.a. Of an
 * object that is new, or `self`, they change that object; of anything else they may change a
 * module, a class or a function, and what is asked for by that name is no longer known. */

typedef struct {
    PyNames *names;
    const WsPyNode *class, *function; /* that it stands in directly */
} Place;

char *py_set_attribute(const WsPyNode *call)
{
    const WsPyNode *f = call->kind == WS_PY_CALL ? call->kid[0] : call;
    if (f == call || f->kind != WS_PY_NAME || call->n < 3 || call->kid[2]->kind != WS_PY_STRING ||
        (strcmp(f->text, "setattr") && strcmp(f->text, "delattr")))
        return NULL;
    const char *text = call->kid[2]->text;
    const gsize n = strlen(text);
    return *text == '"' && n > 2 && !strchr(text, '\\') ? g_strndup(text + 1, n - 2) : NULL;
}

gboolean py_is_method(const PyNames *names, const WsPyNode *class, const WsPyNode *function)
{
    if (!class || !function->kid[0]->n || *function->kid[0]->kid[0]->text == '*')
        return FALSE;
    for (guint k = 2; k < function->n; k++) {
        g_autofree char *name = py_decorator(function->kid[k]);
        if (!py_known_decorator(names, function->kid[k]) || !strcmp(name, "staticmethod") ||
            !strcmp(name, "classmethod"))
            return FALSE;
    }
    g_autofree char *by_class = g_strconcat(class->text, ".", function->text, NULL);
    return !g_hash_table_contains(names->by_class, by_class);
}

static void note(GHashTable *table, const char *name, guint line)
{
    if (!g_hash_table_contains(table, name))
        g_hash_table_insert(table, (gpointer)name, GUINT_TO_POINTER(line));
}

static void stored(const Place *at, const WsPyNode *object, const char *name, guint line,
                   gboolean called)
{
    PyNames *names = at->names;
    const gboolean self = object->kind == WS_PY_NAME && at->function &&
                          py_is_method(names, at->class, at->function) &&
                          !strcmp(at->function->kid[0]->kid[0]->text, object->text);
    const gboolean fresh =
        object->kind == WS_PY_NAME &&
        GPOINTER_TO_UINT(g_hash_table_lookup(names->bound, object->text)) == PY_BOUND_NEW;
    note(names->any, name, line);
    if (!self || called || strcmp(at->function->text, "__init__"))
        note(names->fields, name, line);
    if (!self && !fresh)
        note(names->stored, name, line);
}

static void stored_by(const Place *at, const WsPyNode *target, guint line)
{
    for (guint i = 0; py_several(target) && i < target->n; i++)
        stored_by(at, target->kid[i], line);
    if (target->kind == WS_PY_ATTR)
        stored(at, target->kid[0], target->text, line, FALSE);
    const WsPyNode *list = target->kind == WS_PY_INDEX ? target->kid[0] : NULL;
    if (list && list->kind == WS_PY_ATTR && !strcmp(list->text, "modules") && !at->names->modules)
        at->names->modules = line;
}

static void find(const Place *at, const WsPyNode *node)
{
    guint n;
    WsPyNode **target = py_targets(node, &n);
    for (guint i = 0; i < n; i++)
        stored_by(at, target[i], node->line);
    g_autofree char *set = py_set_attribute(node);
    if (set)
        stored(at, node->kid[1], g_intern_string(set), node->line, TRUE);
    const gboolean jit = py_is_jit(node);
    for (guint i = 0; i < node->n; i++) {
        Place inner = *at;
        if (node->kind == WS_PY_CLASS && !i) {
            inner.class = node;
            inner.function = NULL;
        } else if (node->kind == WS_PY_DEF && i == 1) {
            inner.class = at->function ? NULL : at->class;
            inner.function = node;
        }
        if (!jit || i != 1) /* what kernels store is met where they are walked */
            find(&inner, node->kid[i]);
    }
}

void py_find_stored(PyNames *names, const WsPyNode *module)
{
    const Place at = { .names = names };
    find(&at, module);
}
