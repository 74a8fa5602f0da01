#include "import/python/loops/pyread_loop.h"
#include "import/python/names/names.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_host.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* What a file may do that makes names, classes and defaults something else than what they say: it
 * is unread wherever it stands. */

/* Told even where constants are computed: what they are depends on it. */
static void odd(PyRead *p, const WsPyNode *at, const char *what)
{
    if (p->probing)
        return;
    g_autofree char *source = p->py ? ws_python_lines(p->py, at->line, at->end_line) : g_strdup("");
    ws_source_unread(p->r, at->line, at->column, at->end_line, what, source);
}

/* --- the file ----------------------------------------------------------------------------------*/

/* Settings of the compiler that do not change what it makes of a kernel's words. */
static gboolean is_knob(const char *dotted)
{
    return g_str_has_prefix(dotted, "triton.knobs.") && !strstr(dotted, "hook") &&
           !strstr(dotted, "override");
}

static char *full_name(const PyRead *p, const WsPyNode *node)
{
    const WsPyNode *root = py_root(node);
    const char *module =
        root->kind == WS_PY_NAME ? g_hash_table_lookup(p->names->imports, root->text) : NULL;
    g_autofree char *own = module ? ws_python_dotted(node) : NULL;
    return own ? g_strconcat(module, own + strlen(root->text), NULL) : g_strdup(module);
}

/* What is stored to a module of the compiler, or in its place. */
static void stored(PyRead *p, const WsPyNode *target)
{
    for (guint i = 0; py_several(target) && i < target->n; i++)
        stored(p, target->kid[i]);
    g_autofree char *full =
        target->kind == WS_PY_ATTR || target->kind == WS_PY_INDEX ? full_name(p, target) : NULL;
    const gboolean compiler = full && g_str_has_prefix(full, "triton") && !is_knob(full);
    if (compiler)
        odd(p, target,
            ws_source_format(p->r, "what `%s` is after it is stored",
                             target->kind == WS_PY_ATTR ? target->text : full));
}

static gboolean is_odd_attribute(const char *name)
{
    static const char *const known[] = { "__name__",    "__doc__",  "__file__",      "__init__",
                                         "__version__", "__len__",  "__qualname__",  "__module__",
                                         "__class__",   "__call__", "__post_init__", NULL };
    static const char *const frames[] = {
        "f_globals", "f_locals",          "f_builtins",
        "_getframe", "set_default_dtype", "set_default_tensor_type",
        NULL
    };
    return (g_str_has_prefix(name, "__") && g_str_has_suffix(name, "__") &&
            !g_strv_contains(known, name)) ||
           g_strv_contains(frames, name);
}

/* exec and the like, called, given away or imported, but for setattr(x, "name", v). */
static void binders(PyRead *p, const WsPyNode *node)
{
    g_autofree char *full = node->kind == WS_PY_ATTR ? full_name(p, node) : NULL;
    const gboolean of_module = full && g_str_has_prefix(full, "builtins");
    const char *word = node->kind == WS_PY_NAME || of_module ? node->text : "";
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++)
        if (py_is_binder(node->kid[i]->text) || is_odd_attribute(node->kid[i]->text))
            odd(p, node, ws_source_format(p->r, "what `%s` binds", node->kid[i]->text));
    if (py_is_binder(word) && !g_hash_table_contains(p->names->functions, word))
        odd(p, node, ws_source_format(p->r, "what `%s` binds", word));
}

static void plain_file(PyRead *p, const WsPyNode *node, const WsPyNode *function)
{
    guint n;
    WsPyNode **target = py_targets(node, &n);
    for (guint i = 0; i < n; i++)
        stored(p, target[i]);
    const gboolean kernel = function && py_is_jit(function);
    if (node->kind == WS_PY_NAMED && kernel)
        odd(p, node, "what `:=` binds");
    const gboolean waits = node->kind == WS_PY_OTHER && node->text &&
                           (!strcmp(node->text, "yield") || !strcmp(node->text, "await") ||
                            !strcmp(node->text, "async"));
    const gboolean binds = node->kind == WS_PY_OTHER && node->text &&
                           (!strcmp(node->text, "global") || !strcmp(node->text, "nonlocal"));
    if ((waits && (!function || kernel || py_leads_to_launch(p, function))) || (binds && kernel))
        odd(p, node, ws_source_format(p->r, "what `%s` does in the file", node->text));
    if (node->kind == WS_PY_ATTR && is_odd_attribute(node->text))
        odd(p, node, ws_source_format(p->r, "what is done with `%s`", node->text));
    g_autofree char *set = py_set_attribute(node);
    if (set && is_odd_attribute(set))
        odd(p, node, ws_source_format(p->r, "what is done with `%s`", set));
    if (!set)
        binders(p, node);
    for (guint i = 0; i < node->n; i++)
        if (!set || i)
            plain_file(p, node->kid[i], node->kind == WS_PY_DEF && i == 1 ? node : function);
}

void py_plain_file(PyRead *p, const WsPyNode *module)
{
    plain_file(p, module, NULL);
}

/* --- classes -----------------------------------------------------------------------------------*/

gboolean py_plain_decorator(const PyRead *p, const WsPyNode *node)
{
    g_autofree char *name = py_decorator(node);
    g_autofree char *root = name ? g_strndup(name, strcspn(name, ".")) : NULL;
    const char *alias = root ? g_hash_table_lookup(p->aliases, root) : NULL;
    g_autofree char *full =
        g_strconcat(alias ? alias : "", name ? name + (alias ? strlen(root) : 0) : NULL, NULL);
    return name && py_law_harmless(PY_HARMLESS_DECORATOR, full) &&
           !g_hash_table_contains(p->globals, root);
}

static gboolean has_method(const WsPyNode *class, const char *name)
{
    for (guint i = 0; i < class->kid[0]->n; i++)
        if (class->kid[0]->kid[i]->kind == WS_PY_DEF && !strcmp(class->kid[0]->kid[i]->text, name))
            return TRUE;
    return FALSE;
}

/* A call of nothing: what stands in parentheses behind the name of a class. */
static gboolean plain_base(const WsPyNode *node)
{
    for (guint i = 1; i < node->n; i++) {
        g_autofree char *name = ws_python_dotted(node->kid[i]);
        if (!name || (strcmp(name, "object") && !py_ends_in(name, "NamedTuple")))
            return FALSE;
    }
    return TRUE;
}

/* In a branch or a loop: which way is taken is not followed there. */
static gboolean stores_inside(const WsPyNode *node, gboolean inside)
{
    const guint targets = node->kind == WS_PY_ASSIGN    ? node->n - 1
                          : node->kind == WS_PY_AUGMENT ? 1
                                                        : 0;
    for (guint i = 0; inside && i < targets; i++)
        if (node->kid[i]->kind != WS_PY_NAME)
            return TRUE;
    if (inside && node->kind == WS_PY_RETURN)
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (stores_inside(node->kid[i], inside || node->kind == WS_PY_IF ||
                                            node->kind == WS_PY_FOR || node->kind == WS_PY_WHILE ||
                                            node->kind == WS_PY_WITH || node->kind == WS_PY_TRY))
            return TRUE;
    return FALSE;
}

static gboolean plain_method(const PyRead *p, const WsPyNode *body, const WsPyNode *f)
{
    guint n = 0;
    for (guint i = 0; i < body->n; i++)
        n += body->kid[i]->kind == WS_PY_DEF && !strcmp(body->kid[i]->text, f->text);
    for (guint k = 2; k < f->n; k++)
        if (!py_plain_decorator(p, f->kid[k]))
            return FALSE;
    const gboolean init = !strcmp(f->text, "__init__");
    return n == 1 && (init || !g_str_has_prefix(f->text, "__")) &&
           !(init && stores_inside(f->kid[1], FALSE));
}

static gboolean plain_member(const PyRead *p, const WsPyNode *class, const WsPyNode *node)
{
    if (node->kind == WS_PY_DEF)
        return plain_method(p, class->kid[0], node);
    if (node->kind == WS_PY_PASS)
        return TRUE;
    if (node->kind == WS_PY_EXPR) /* a field with its type, or a text */
        return node->kid[0]->kind == WS_PY_NAME || node->kid[0]->kind == WS_PY_STRING ||
               !strcmp(node->kid[0]->text ? node->kid[0]->text : "", "...");
    if (node->kind == WS_PY_ASSIGN)
        return node->n == 2 && node->kid[0]->kind == WS_PY_NAME &&
               !has_method(class, node->kid[0]->text) &&
               !g_hash_table_contains(p->names->any, node->kid[0]->text);
    return FALSE;
}

gboolean py_plain_class(PyRead *p, const WsPyNode *class, const WsPyNode *at)
{
    gboolean plain = TRUE;
    for (guint i = 0; i < class->kid[0]->n; i++)
        plain &= plain_member(p, class, class->kid[0]->kid[i]);
    for (guint k = 1; k < class->n; k++) {
        const WsPyNode *kid = class->kid[k];
        const gboolean bases = kid->kind == WS_PY_CALL && kid->kid[0]->kind == WS_PY_CONST;
        plain &= bases ? plain_base(kid) : py_plain_decorator(p, kid);
    }
    if (!plain && p->in_kernel) /* the host's values stay open */
        odd(p, at, ws_source_format(p->r, "the class `%s`", class->text));
    return plain;
}

gboolean py_plain_store(PyRead *p, const Val *object, const WsPyNode *at)
{
    if (object != p->making && p->in_kernel)
        odd(p, at, "an attribute that is stored outside of __init__");
    return object == p->making;
}

/* --- defaults of parameters --------------------------------------------------------------------*/

typedef struct {
    const char *name;
    guint n;
} Count;

static void count(const char *name, const WsPyNode *at, gpointer data)
{
    Count *c = data;
    c->n += !strcmp(name, c->name);
}

/* How often the block binds the name, not counting functions in it; in a loop, twice. */
static guint scope_binds(const WsPyNode *node, const char *name)
{
    Count c = { name, 0 };
    py_bound_names(node, count, &c);
    return node->kind == WS_PY_FOR || node->kind == WS_PY_WHILE ? 2 * c.n : c.n;
}

/* How often the name is bound, in any scope. */
static guint binds(const WsPyNode *node, const char *name)
{
    guint n = node->kind == WS_PY_PARAM && !strcmp(node->text, name);
    for (guint i = 0; node->kind == WS_PY_BLOCK && i < node->n; i++)
        n += scope_binds(node->kid[i], name);
    for (guint i = 0; i < node->n; i++)
        n += binds(node->kid[i], name);
    return n;
}

GHashTable *py_closure(PyRead *p)
{
    GHashTable *all = p->frame->closure ? py_copy_vars(p->frame->closure)
                                        : g_hash_table_new(g_str_hash, g_str_equal);
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, p->frame->vars);
    while (g_hash_table_iter_next(&it, &key, &value))
        g_hash_table_insert(all, key, value);
    const WsPyNode *f = p->frame->function;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    py_assigned_names(f->kid[1], names);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        guint n = 0;
        for (guint k = 0; k < f->kid[1]->n; k++)
            n += scope_binds(f->kid[1]->kid[k], name);
        for (guint k = 0; k < f->kid[0]->n; k++)
            n += !strcmp(f->kid[0]->kid[k]->text, name);
        if (n > 1 || !g_hash_table_contains(p->frame->vars, name))
            g_hash_table_insert(all, (gpointer)name, (gpointer)py_open(p, name));
    }
    return all;
}

/* The block that the function stands in: of the module or of another function. */
static const WsPyNode *scope_of(const WsPyNode *node, const WsPyNode *scope, const WsPyNode *f)
{
    const WsPyNode *found = node == f ? scope : NULL;
    const gboolean inner = node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS;
    for (guint i = 0; i < node->n && !found; i++)
        found = scope_of(node->kid[i], inner ? node : scope, f);
    return found;
}

void py_plain_kernel(PyRead *p, const WsPyNode *kernel)
{
    const WsPyNode *module = ws_python_module(p->py), *scope = scope_of(module, module, kernel);
    guint n = 0;
    for (guint i = 0; scope && i < scope->n; i++)
        n += scope_binds(scope->kid[i], kernel->text);
    const Val function = { .kind = VAL_FUNC };
    if (n > 1 || py_is_changed(p, kernel->text, &function))
        odd(p, kernel, ws_source_format(p->r, "which function `%s` is", kernel->text));
}

/* Python takes it when the function is defined, the reader when it is called. */
gboolean py_plain_default(PyRead *p, const WsPyNode *value)
{
    if (value->kind == WS_PY_NAME && p->py) {
        const guint n = binds(ws_python_module(p->py), value->text);
        if (n > 1 || (n && g_hash_table_contains(p->aliases, value->text))) {
            odd(p, value,
                ws_source_format(p->r, "a default value by the name `%s`, which is bound again",
                                 value->text));
            return FALSE;
        }
    }
    for (guint i = 0; i < value->n; i++)
        if (!py_plain_default(p, value->kid[i]))
            return FALSE;
    return TRUE;
}
