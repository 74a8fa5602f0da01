#include "import/python/names/names.h"
#include "import/python/pyread_kernels.h"

#include <string.h>

/* All forms in which Python binds a name, and what is known of names. */

gboolean py_several(const WsPyNode *target)
{
    return target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST || target->kind == WS_PY_STAR;
}

WsPyNode **py_targets(const WsPyNode *node, guint *n)
{
    *n = node->kind == WS_PY_ASSIGN ? node->n - 1
         : node->kind == WS_PY_AUGMENT || node->kind == WS_PY_FOR || node->kind == WS_PY_CLAUSE ? 1
         : node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "del") ? node->n
                                                                      : 0;
    return node->kid;
}

const char *py_import_name(const WsPyNode *word)
{
    return word->n ? word->kid[0]->text : word->text;
}

const WsPyNode *py_root(const WsPyNode *node)
{
    while (node->kind == WS_PY_ATTR || node->kind == WS_PY_INDEX)
        node = node->kid[0];
    return node;
}

static void bound_by_target(const WsPyNode *target, const WsPyNode *at, PyBound each, gpointer data)
{
    if (target->kind == WS_PY_NAME)
        each(target->text, at, data);
    for (guint i = 0; py_several(target) && i < target->n; i++)
        bound_by_target(target->kid[i], at, each, data);
}

void py_bound_names(const WsPyNode *node, PyBound each, gpointer data)
{
    guint n;
    WsPyNode **target = py_targets(node, &n);
    for (guint i = 0; node->kind != WS_PY_CLAUSE && i < n; i++)
        bound_by_target(target[i], node, each, data);
    if (node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS || node->kind == WS_PY_NAMED)
        each(node->text, node, data);
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++) {
        const char *name = py_import_name(node->kid[i]);
        g_autofree char *first = g_strndup(name, strcspn(name, "."));
        each(g_intern_string(first), node, data);
    }
    g_auto(GStrv) bound = (node->kind == WS_PY_WITH || node->kind == WS_PY_TRY) && node->text
                              ? g_strsplit(node->text, " ", -1)
                              : NULL;
    for (guint i = 0; bound && bound[i]; i++)
        each(g_intern_string(bound[i]), node, data);
    for (guint i = 0; i < node->n; i++) {
        const gboolean inner = (node->kind == WS_PY_DEF && i == 1) ||
                               (node->kind == WS_PY_CLASS && i == 0) ||
                               (node->kind == WS_PY_LAMBDA && i == 1);
        if (!inner && node->kind != WS_PY_IMPORT)
            py_bound_names(node->kid[i], each, data);
    }
}

static gboolean waits(const WsPyNode *node)
{
    static const char *const words[] = { "yield", "await", "async", NULL };
    if (node->kind == WS_PY_OTHER && node->text && g_strv_contains(words, node->text))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (node->kid[i]->kind != WS_PY_DEF && node->kid[i]->kind != WS_PY_CLASS &&
            node->kid[i]->kind != WS_PY_LAMBDA && waits(node->kid[i]))
            return TRUE;
    return FALSE;
}

gboolean py_is_generator(const WsPyNode *function)
{
    return waits(function->kid[1]);
}

/* --- what is known of them ---------------------------------------------------------------------*/

static void note_imports(PyNames *names, const WsPyNode *node)
{
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++) {
        const WsPyNode *word = node->kid[i];
        const char *as = py_import_name(word);
        g_autofree char *first = g_strndup(as, strcspn(as, "."));
        g_autofree char *dotted = *node->text ? g_strconcat(node->text, ".", word->text, NULL)
                                  : word->n   ? g_strdup(word->text)
                                              : g_strdup(first);
        const char *name = g_intern_string(first);
        const char *known = g_hash_table_lookup(names->imports, name);
        g_autofree char *lost = g_strconcat(name, "/", NULL);
        g_hash_table_insert(
            names->imports, (gpointer)name,
            (gpointer)g_intern_string(known && strcmp(known, dotted) ? lost : dotted));
    }
    for (guint i = 0; i < node->n; i++)
        note_imports(names, node->kid[i]);
}

static void bind_worst(PyNames *names, const char *name, PyBinding how)
{
    const PyBinding was = GPOINTER_TO_UINT(g_hash_table_lookup(names->bound, name));
    if (how > was)
        g_hash_table_insert(names->bound, (gpointer)name, GUINT_TO_POINTER(how));
}

static gboolean is_new_object(const PyNames *names, const WsPyNode *value)
{
    if (value->kind != WS_PY_CALL)
        return FALSE;
    const WsPyNode *f = value->kid[0];
    return (f->kind == WS_PY_NAME && g_hash_table_contains(names->classes, f->text)) ||
           (py_root(f)->kind == WS_PY_NAME &&
            g_hash_table_contains(names->imports, py_root(f)->text) &&
            py_call_kind(names, value) == PY_CALL_NEW);
}

static void bound_somehow(const char *name, const WsPyNode *at, gpointer data)
{
    PyNames *names = data;
    const gboolean makes = at->kind == WS_PY_ASSIGN && at->n == 2 &&
                           at->kid[0]->kind == WS_PY_NAME && is_new_object(names, at->kid[1]);
    bind_worst(names, name,
               at->kind == WS_PY_IMPORT ? PY_BOUND_IMPORT
               : makes                  ? PY_BOUND_NEW
                                        : PY_BOUND_ANY);
}

/* In all scopes. */
static void note_bound(PyNames *names, const WsPyNode *node)
{
    if (node->kind == WS_PY_PARAM)
        bind_worst(names, node->text + strspn(node->text, "*"), PY_BOUND_ANY);
    if (node->kind == WS_PY_CLAUSE)
        bound_by_target(node->kid[0], node, bound_somehow, names);
    const gboolean outer = node->kind == WS_PY_BLOCK || node->kind == WS_PY_LAMBDA;
    for (guint i = 0; outer && i < node->n; i++)
        py_bound_names(node->kid[i], bound_somehow, names);
    for (guint i = 0; i < node->n; i++)
        note_bound(names, node->kid[i]);
}

/* What is imported and bound otherwise, too, is no module that is known. */
static void lose_imports(PyNames *names)
{
    GHashTableIter it;
    gpointer name;
    g_autoptr(GPtrArray) lost = g_ptr_array_new();
    g_hash_table_iter_init(&it, names->imports);
    while (g_hash_table_iter_next(&it, &name, NULL))
        if (GPOINTER_TO_UINT(g_hash_table_lookup(names->bound, name)) == PY_BOUND_ANY)
            g_ptr_array_add(lost, name);
    for (guint i = 0; i < lost->len; i++) {
        g_autofree char *text = g_strconcat(lost->pdata[i], "/", NULL);
        g_hash_table_insert(names->imports, lost->pdata[i], (gpointer)g_intern_string(text));
    }
}

static void note_function(PyNames *names, const char *name, const WsPyNode *function)
{
    const WsPyNode *other = g_hash_table_lookup(names->functions, name);
    if (other)
        g_hash_table_add(names->many, (gpointer)name);
    if (other && py_is_jit(other) != py_is_jit(function))
        g_hash_table_add(names->mixed, (gpointer)name);
    g_hash_table_insert(names->functions, (gpointer)name, (gpointer)function);
}

/* What is called by a name; of a class, __init__. */
static void note_functions(PyNames *names, const WsPyNode *node)
{
    if (node->kind == WS_PY_DEF)
        note_function(names, node->text, node);
    if (node->kind == WS_PY_ASSIGN && node->n == 2 && node->kid[0]->kind == WS_PY_NAME &&
        node->kid[1]->kind == WS_PY_LAMBDA)
        note_function(names, node->kid[0]->text, node->kid[1]);
    if (node->kind == WS_PY_CLASS) {
        if (g_hash_table_contains(names->classes, node->text))
            g_hash_table_add(names->many, (gpointer)node->text);
        g_hash_table_insert(names->classes, (gpointer)node->text, (gpointer)node);
    }
    for (guint i = 0; node->kind == WS_PY_CLASS && i < node->kid[0]->n; i++) {
        const WsPyNode *f = node->kid[0]->kid[i];
        if (f->kind == WS_PY_DEF && !strcmp(f->text, "__init__"))
            note_function(names, node->text, f);
    }
    for (guint i = 0; i < node->n; i++)
        note_functions(names, node->kid[i]);
}

static void note_by_class(PyNames *names, const WsPyNode *node)
{
    const WsPyNode *left = node->kind == WS_PY_ATTR ? node->kid[0] : node;
    if (left != node && left->kind == WS_PY_NAME &&
        g_hash_table_contains(names->classes, left->text))
        g_hash_table_add(names->by_class, g_strconcat(left->text, ".", node->text, NULL));
    for (guint i = 0; i < node->n; i++)
        note_by_class(names, node->kid[i]);
}

static void note_rebound(PyNames *names, const WsPyNode *node)
{
    const gboolean is = node->kind == WS_PY_OTHER && node->text &&
                        (!strcmp(node->text, "global") || !strcmp(node->text, "nonlocal"));
    for (guint i = 0; is && i < node->n; i++) {
        const WsPyNode *kid = node->kid[i];
        for (guint k = 0; k < MAX(kid->n, 1); k++)
            g_hash_table_insert(names->rebound, (gpointer)(kid->n ? kid->kid[k] : kid)->text,
                                GUINT_TO_POINTER(node->line));
    }
    for (guint i = 0; i < node->n; i++)
        note_rebound(names, node->kid[i]);
}

static GHashTable *table(void)
{
    return g_hash_table_new(g_str_hash, g_str_equal);
}

PyNames *py_names_new(const WsPyNode *module)
{
    PyNames *names = g_new0(PyNames, 1);
    names->module = module;
    names->imports = table();
    names->changed = table();
    names->patched = table();
    names->stored = table();
    names->fields = table();
    names->any = table();
    names->rebound = table();
    names->bound = table();
    names->classes = table();
    names->functions = table();
    names->many = table();
    names->mixed = table();
    names->by_class = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    note_functions(names, module);
    note_imports(names, module);
    note_bound(names, module);
    lose_imports(names);
    note_by_class(names, module);
    note_rebound(names, module);
    py_find_stored(names, module);
    py_find_changed(names, module);
    return names;
}

void py_names_free(PyNames *names)
{
    if (!names)
        return;
    g_hash_table_unref(names->imports);
    g_hash_table_unref(names->changed);
    g_hash_table_unref(names->patched);
    g_hash_table_unref(names->stored);
    g_hash_table_unref(names->fields);
    g_hash_table_unref(names->any);
    g_hash_table_unref(names->rebound);
    g_hash_table_unref(names->bound);
    g_hash_table_unref(names->classes);
    g_hash_table_unref(names->functions);
    g_hash_table_unref(names->many);
    g_hash_table_unref(names->mixed);
    g_hash_table_unref(names->by_class);
    g_free(names);
}

gboolean py_is_changed(const PyRead *p, const char *name, const Val *v)
{
    const gboolean own = p->in_kernel && p->frame && g_hash_table_contains(p->frame->vars, name);
    if (!p->names)
        return FALSE;
    if (v->kind == VAL_FUNC || v->kind == VAL_CLASS || v->kind == VAL_NAME || v->kind == VAL_DESC)
        return !own && g_hash_table_contains(p->names->patched, name);
    if (v->kind != VAL_TUPLE && v->kind != VAL_OBJECT)
        return FALSE;
    const gboolean changed = p->names->all || g_hash_table_contains(p->names->changed, name);
    return changed && !(own && (!p->computing || v->kind == VAL_OBJECT));
}

const Val *py_unknown_name(PyRead *p, const char *name)
{
    Val *v = py_val(p, VAL_NAME);
    v->text = ws_source_format(p->r, "%s/", name);
    return v;
}

/* In the module, or outside of the file. */
static const Val *global(PyRead *p, const char *name)
{
    const Val *v = g_hash_table_lookup(p->globals, name);
    const gboolean lost = p->names && (g_hash_table_contains(p->names->stored, name) ||
                                       (v && g_hash_table_contains(p->names->rebound, name)));
    if (lost) /* it may be an attribute that is stored to this module */
        return v && v->kind != VAL_FUNC && v->kind != VAL_CLASS ? py_open(p, name)
                                                                : py_unknown_name(p, name);
    if (v)
        return v;
    const char *dotted = g_hash_table_lookup(p->aliases, name);
    Val *outside = py_val(p, VAL_NAME);
    outside->text = dotted ? dotted : ws_source_format(p->r, "%s", name);
    return outside;
}

static void add_local(const char *name, const WsPyNode *at, gpointer data)
{
    (void)at;
    g_hash_table_add(data, (gpointer)name);
}

gboolean py_is_unbound(PyRead *p, const char *name)
{
    const Frame *f = p->frame;
    if (!p->in_kernel || !f || !f->function || f->function->kind != WS_PY_DEF ||
        g_hash_table_contains(f->vars, name) ||
        (f->closure && g_hash_table_contains(f->closure, name)) ||
        (p->names && g_hash_table_contains(p->names->rebound, name)))
        return FALSE;
    GHashTable *locals = g_hash_table_lookup(p->locals, f->function);
    if (!locals) {
        locals = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < f->function->n; i++)
            if (f->function->kid[i]->kind == WS_PY_BLOCK)
                py_bound_names(f->function->kid[i], add_local, locals);
        g_hash_table_insert(p->locals, (gpointer)f->function, locals);
    }
    return g_hash_table_contains(locals, name);
}

const Val *py_lookup(PyRead *p, const char *name)
{
    if (p->names && !p->in_kernel && g_hash_table_contains(p->names->rebound, name))
        return py_open(p, name); /* each time it may be another */
    const Val *v = p->frame ? g_hash_table_lookup(p->frame->vars, name) : NULL;
    if (!v && p->frame && p->frame->closure)
        v = g_hash_table_lookup(p->frame->closure, name);
    return v ? v : global(p, name);
}
