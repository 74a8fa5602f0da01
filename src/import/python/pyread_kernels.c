#include "import/python/pyread_kernels.h"

#include <string.h>

/* Kernels of a file. */

char *py_decorator(const WsPyNode *node)
{
    return ws_python_dotted(node->kind == WS_PY_CALL ? node->kid[0] : node);
}

gboolean py_is_jit(const WsPyNode *function)
{
    for (guint k = 2; function->kind == WS_PY_DEF && k < function->n; k++) {
        g_autofree char *name = py_decorator(function->kid[k]);
        if (name && (!strcmp(name, "jit") || g_str_has_suffix(name, ".jit")))
            return TRUE;
    }
    return FALSE;
}

static const char *called(const WsPyNode *call)
{
    const WsPyNode *f = call->kid[0];
    return f->kind == WS_PY_ATTR || f->kind == WS_PY_NAME ? f->text : NULL;
}

static gboolean calls(const WsPyNode *node, const char *name)
{
    if (node->kind == WS_PY_CALL && !g_strcmp0(called(node), name))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (calls(node->kid[i], name))
            return TRUE;
    return FALSE;
}

static gboolean is_of(const WsPyNode *node, const char *kernel)
{
    return node->kind == WS_PY_INDEX && node->kid[0]->kind == WS_PY_NAME &&
           !strcmp(node->kid[0]->text, kernel);
}

/* kernel[…] that is not called where it stands: what it is given is not read. NULL: there is none.
 */
static const WsPyNode *handed_on(const WsPyNode *node, const char *kernel)
{
    if (is_of(node, kernel))
        return node;
    const WsPyNode *found = NULL;
    for (guint i = 0; i < node->n && !found; i++) {
        const WsPyNode *kid = node->kid[i];
        const gboolean called = !i && node->kind == WS_PY_CALL && is_of(kid, kernel);
        found = handed_on(called ? kid->kid[1] : kid, kernel);
    }
    return found;
}

static guint count_launches(const WsPyNode *node, const char *kernel)
{
    guint n = node->kind == WS_PY_CALL && is_of(node->kid[0], kernel);
    for (guint i = 0; i < node->n; i++)
        n += count_launches(node->kid[i], kernel);
    if (n && (node->kind == WS_PY_FOR || node->kind == WS_PY_WHILE))
        n += PY_LAUNCHES_MANY;
    return n;
}

gboolean py_launches(const WsPyNode *node, const char *kernel)
{
    return count_launches(node, kernel) > 0;
}

/* Every function of the tree, with the function of the module that it stands in. */
static void collect(const WsPyNode *node, const WsPyNode *host, GArray *all)
{
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *kid = node->kid[i];
        if (kid->kind == WS_PY_CLASS)
            continue;
        if (kid->kind == WS_PY_DEF) {
            const PyKernel k = { .node = kid, .host = host };
            g_array_append_val(all, k);
            collect(kid->kid[1], host ? host : kid, all);
        } else {
            collect(kid, host, all);
        }
    }
}

/* Whether `node`, or a function of the file that it names, calls warp_specialize. */
static gboolean specializes(const WsPyNode *node, const GArray *all, guint depth)
{
    if (calls(node, "warp_specialize") || calls(node, "async_tasks"))
        return TRUE;
    for (guint i = 0; depth < 4 && i < all->len; i++) {
        const PyKernel *k = &g_array_index(all, PyKernel, i);
        if (k->node->kid[1] != node && calls(node, k->node->text) &&
            specializes(k->node->kid[1], all, depth + 1))
            return TRUE;
    }
    return FALSE;
}

static gboolean is_name(const WsPyNode *node, const char *name)
{
    return node->kind == WS_PY_NAME && !strcmp(node->text, name);
}

/* A name of the function's own is bound somewhere in it. */
static gboolean binds(const WsPyNode *node, const char *name)
{
    gboolean found = (node->kind == WS_PY_NAMED || node->kind == WS_PY_WITH) && node->text &&
                     strstr(node->text, name);
    for (guint i = 0; node->kind == WS_PY_ASSIGN && i + 1 < node->n; i++)
        found |= ws_python_mentions(node->kid[i], name);
    found |= node->kind == WS_PY_FOR && ws_python_mentions(node->kid[0], name);
    for (guint i = 0; i < node->n && !found; i++)
        found = binds(node->kid[i], name);
    return found;
}

static gboolean has_parameter(const WsPyNode *function, const char *name)
{
    const WsPyNode *params = function->kid[0];
    for (guint i = 0; i < params->n; i++)
        if (!g_strcmp0(params->kid[i]->text, name))
            return TRUE;
    return FALSE;
}

/* A function is handed to a call: what a reduction combines with. */
static gboolean hands(const WsPyNode *node, const char *name)
{
    for (guint i = 1; node->kind == WS_PY_CALL && i < node->n; i++) {
        const WsPyNode *arg = node->kid[i];
        if (is_name(arg->kind == WS_PY_KEYWORD && arg->n ? arg->kid[0] : arg, name))
            return TRUE;
    }
    for (guint i = 0; i < node->n; i++)
        if (hands(node->kid[i], name))
            return TRUE;
    return FALSE;
}

static gboolean is_used(const GArray *all, const WsPyNode *function)
{
    for (guint i = 0; i < all->len; i++) {
        const WsPyNode *other = g_array_index(all, PyKernel, i).node;
        const char *name = function->text;
        if (other == function || !py_is_jit(other))
            continue;
        if (calls(other->kid[1], name) ||
            (hands(other->kid[1], name) && !has_parameter(other, name) &&
             !binds(other->kid[1], name)))
            return TRUE;
    }
    return FALSE;
}

/* A kernel gives nothing back. */
static gboolean gives_back(const WsPyNode *node)
{
    if (node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS)
        return FALSE;
    const gboolean none =
        node->n && node->kid[0]->kind == WS_PY_CONST && !g_strcmp0(node->kid[0]->text, "None");
    gboolean found = node->kind == WS_PY_RETURN && node->n && !none;
    for (guint i = 0; i < node->n && !found; i++)
        found = gives_back(node->kid[i]);
    return found;
}

static void clear(gpointer data)
{
    g_free(((PyKernel *)data)->name);
}

/* Those of the text itself before those of files that it imports from. */
static gint by_line(gconstpointer a, gconstpointer b)
{
    const guint x = ((const PyKernel *)a)->node->line, y = ((const PyKernel *)b)->node->line;
    return x < y ? -1 : x > y;
}

GArray *py_kernels(const WsPyNode *module)
{
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(PyKernel));
    GArray *found = g_array_new(FALSE, TRUE, sizeof(PyKernel));
    g_array_set_clear_func(found, clear);
    collect(module, NULL, all);
    for (guint pass = 0; pass < 2 && !found->len; pass++)
        for (guint i = 0; i < all->len; i++) {
            PyKernel k = g_array_index(all, PyKernel, i);
            const gboolean jit = py_is_jit(k.node);
            const WsPyNode *const from = k.host ? k.host->kid[1] : module;
            k.launches = count_launches(from, k.node->text);
            k.handed_on = handed_on(from, k.node->text);
            const gboolean is =
                pass ? jit && !is_used(all, k.node) && !gives_back(k.node->kid[1])
                     : (jit && k.launches) || ((calls(k.node->kid[1], "warp_specialize") ||
                                                calls(k.node->kid[1], "async_tasks")) &&
                                               (jit || !k.host) && !is_used(all, k.node));
            if (!is)
                continue;
            k.specialized = specializes(k.node->kid[1], all, 0);
            k.name = k.host ? g_strdup_printf("%s.%s", k.host->text, k.node->text)
                            : g_strdup(k.node->text);
            g_array_append_val(found, k);
        }
    g_array_sort(found, by_line);
    return found;
}
