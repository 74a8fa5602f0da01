#include "import/python/loops/pyread_loop.h"
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

/* --- attributes that are stored ----------------------------------------------------------------*/

static gboolean has_method(const WsPyNode *node, const char *name)
{
    for (guint i = 0; node->kind == WS_PY_CLASS && i < node->kid[0]->n; i++) {
        const WsPyNode *f = node->kid[0]->kid[i];
        if (f->kind == WS_PY_DEF && !strcmp(f->text, name))
            return TRUE;
    }
    for (guint i = 0; i < node->n; i++)
        if (has_method(node->kid[i], name))
            return TRUE;
    return FALSE;
}

/* Of a class, a function, or a module of the dialect: they are something else afterwards. */
static void stored(PyRead *p, const WsPyNode *target)
{
    const gboolean several =
        target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST || target->kind == WS_PY_STAR;
    for (guint i = 0; several && i < target->n; i++)
        stored(p, target->kid[i]);
    if (target->kind != WS_PY_ATTR)
        return;
    const WsPyNode *root = target;
    while (root->kind == WS_PY_ATTR)
        root = root->kid[0];
    const char *name = root->kind == WS_PY_NAME ? root->text : "";
    const Val *own = g_hash_table_lookup(p->globals, name);
    const char *dotted = g_hash_table_lookup(p->aliases, name);
    g_autofree char *own_text = ws_python_dotted(target);
    g_autofree char *full =
        dotted && own_text ? g_strconcat(dotted, own_text + strlen(name), NULL) : NULL;
    const gboolean is_knob = full &&
                             g_str_has_prefix(full, "triton.knobs.") && /* of the compiler */
                             !strstr(full, "hook") && !strstr(full, "override");
    if (has_method(ws_python_module(p->py), target->text) ||
        (own && (own->kind == VAL_CLASS || own->kind == VAL_FUNC)) ||
        (dotted && g_str_has_prefix(dotted, "triton") && !is_knob))
        odd(p, target, ws_source_format(p->r, "what `%s` is after it is stored", target->text));
}

/* --- the file ----------------------------------------------------------------------------------*/

static void statement(PyRead *p, const WsPyNode *node)
{
    static const char *const words[] = { "global", "nonlocal", "yield", "await", "async" };
    const guint targets = node->kind == WS_PY_ASSIGN                                   ? node->n - 1
                          : node->kind == WS_PY_AUGMENT || node->kind == WS_PY_FOR     ? 1
                          : node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "del") ? node->n
                                                                                       : 0;
    for (guint i = 0; i < targets; i++)
        stored(p, node->kid[i]);
    for (guint i = 0; node->kind == WS_PY_OTHER && node->text && i < G_N_ELEMENTS(words); i++)
        if (!strcmp(node->text, words[i]))
            odd(p, node, ws_source_format(p->r, "what `%s` does in the file", words[i]));
}

void py_plain_file(PyRead *p, const WsPyNode *node)
{
    static const char *const binders[] = { "exec",    "globals", "locals", "vars",
                                           "setattr", "delattr", NULL };
    static const char *const inner[] = { "__dict__", "__class__", "__setattr__", "__delattr__",
                                         NULL };
    statement(p, node);
    if (node->kind == WS_PY_NAMED)
        odd(p, node, "what `:=` binds");
    if (node->kind == WS_PY_ATTR && g_strv_contains(inner, node->text))
        odd(p, node, ws_source_format(p->r, "what is done with `%s`", node->text));
    const char *callee =
        node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_NAME ? node->kid[0]->text : NULL;
    if (callee && g_strv_contains(binders, callee))
        odd(p, node, ws_source_format(p->r, "what `%s` binds", callee));
    for (guint i = 0; i < node->n; i++)
        py_plain_file(p, node->kid[i]);
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
    switch (node->kind) {
    case WS_PY_DEF:
        return plain_method(p, class->kid[0], node);
    case WS_PY_PASS:
        return TRUE;
    case WS_PY_EXPR: /* a field with its type, or a text */
        return node->kid[0]->kind == WS_PY_NAME || node->kid[0]->kind == WS_PY_STRING ||
               !strcmp(node->kid[0]->text ? node->kid[0]->text : "", "...");
    case WS_PY_ASSIGN:
        return node->n == 2 && node->kid[0]->kind == WS_PY_NAME &&
               !has_method(class, node->kid[0]->text);
    default:
        return FALSE;
    }
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
    if (object != p->making)
        odd(p, at, "an attribute that is stored outside of __init__");
    return object == p->making;
}

/* --- defaults of parameters --------------------------------------------------------------------*/

static guint target_binds(const WsPyNode *target, const char *name)
{
    guint n = target->kind == WS_PY_NAME && !strcmp(target->text, name);
    const gboolean several =
        target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST || target->kind == WS_PY_STAR;
    for (guint i = 0; several && i < target->n; i++)
        n += target_binds(target->kid[i], name);
    return n;
}

/* How often something other than an import binds the name, anywhere. */
static guint binds(const WsPyNode *node, const char *name)
{
    const guint targets = node->kind == WS_PY_ASSIGN                               ? node->n - 1
                          : node->kind == WS_PY_AUGMENT || node->kind == WS_PY_FOR ? 1
                                                                                   : 0;
    guint n = 0;
    for (guint i = 0; i < targets; i++)
        n += target_binds(node->kid[i], name);
    if (node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS || node->kind == WS_PY_PARAM ||
        node->kind == WS_PY_NAMED)
        n += !strcmp(node->text, name);
    if ((node->kind == WS_PY_WITH || node->kind == WS_PY_TRY) && node->text) {
        g_auto(GStrv) word = g_strsplit(node->text, " ", -1);
        n += g_strv_contains((const char *const *)word, name);
    }
    for (guint i = 0; i < node->n; i++)
        n += binds(node->kid[i], name);
    return n;
}

/* How often the block binds the name, not counting functions in it; in a loop, twice. */
static guint scope_binds(const WsPyNode *node, const char *name)
{
    const guint targets = node->kind == WS_PY_ASSIGN                                   ? node->n - 1
                          : node->kind == WS_PY_AUGMENT || node->kind == WS_PY_FOR     ? 1
                          : node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "del") ? node->n
                                                                                       : 0;
    guint n = 0;
    for (guint i = 0; i < targets; i++)
        n += target_binds(node->kid[i], name);
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++) {
        const WsPyNode *word = node->kid[i]->n ? node->kid[i]->kid[0] : node->kid[i];
        n += !strcmp(word->text, name);
    }
    if ((node->kind == WS_PY_WITH || node->kind == WS_PY_TRY) && node->text) {
        g_auto(GStrv) word = g_strsplit(node->text, " ", -1);
        n += g_strv_contains((const char *const *)word, name);
    }
    if (node->kind == WS_PY_NAMED || node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS)
        n += !strcmp(node->text, name);
    for (guint i = 0; node->kind != WS_PY_DEF && node->kind != WS_PY_CLASS && i < node->n; i++)
        n += scope_binds(node->kid[i], name);
    return node->kind == WS_PY_FOR || node->kind == WS_PY_WHILE ? 2 * n : n;
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
        guint n = scope_binds(f->kid[1], name);
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
    if (n > 1)
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
