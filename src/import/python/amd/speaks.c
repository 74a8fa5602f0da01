#include "import/python/amd/amd.h"

#include <string.h>

/* Whether a kernel is one of AMD: it, or a function that it calls, names triton's module `amd`. */

typedef struct {
    PyRead *p;
    const WsPyNode *module;
    GPtrArray *seen; /* functions and classes */
    gboolean found;
} Search;

static gboolean is_amd(const char *dotted)
{
    return dotted && strstr(dotted, "triton") && strstr(dotted, "language.amd");
}

static void visit(Search *s, const WsPyNode *node);

static void follow(Search *s, const char *name)
{
    for (guint i = 0; i < s->module->n; i++) {
        const WsPyNode *node = s->module->kid[i];
        if ((node->kind != WS_PY_DEF && node->kind != WS_PY_CLASS) || strcmp(node->text, name) ||
            g_ptr_array_find(s->seen, node, NULL))
            continue;
        g_ptr_array_add(s->seen, (gpointer)node);
        visit(s, node);
    }
}

static void visit(Search *s, const WsPyNode *node)
{
    if (s->found)
        return;
    if (node->kind == WS_PY_NAME || node->kind == WS_PY_ATTR) {
        g_autofree char *dotted = ws_python_dotted(node);
        const gsize n = dotted ? strcspn(dotted, ".") : 0;
        g_autofree char *first = g_strndup(dotted ? dotted : "", n);
        const Val *alias = g_hash_table_lookup(s->p->globals, first);
        const char *meant = g_hash_table_lookup(s->p->aliases, first);
        if (!meant && alias && alias->kind == VAL_NAME)
            meant = alias->text;
        g_autofree char *full = meant ? g_strconcat(meant, dotted + n, NULL) : NULL;
        s->found |= is_amd(full);
        if (node->kind == WS_PY_NAME)
            follow(s, node->text);
    }
    for (guint i = 0; i < node->n; i++)
        visit(s, node->kid[i]);
}

gboolean py_is_amd(PyRead *p, const WsPyNode *module)
{
    Search s = { .p = p, .module = module, .seen = g_ptr_array_new() };
    g_ptr_array_add(s.seen, (gpointer)p->kernel);
    visit(&s, p->kernel);
    g_ptr_array_unref(s.seen);
    return s.found;
}

/* llvm_fn_attrs=(("amdgpu-agpr-alloc", "0,0"),): which registers LLVM takes. */
gboolean py_amd_option(const char *name, const Val *v)
{
    gboolean good = !strcmp(name, "llvm_fn_attrs") && v->kind == VAL_TUPLE;
    for (guint i = 0; good && i < v->n; i++) {
        const Val *pair = v->item[i];
        good = pair->kind == VAL_TUPLE && pair->n == 2 && pair->item[0]->kind == VAL_STRING &&
               pair->item[0]->text && strstr(pair->item[0]->text, "amdgpu-agpr-alloc");
    }
    return good;
}
