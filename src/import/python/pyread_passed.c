/* Whether the host comes to its launch: ways out before it that hang on what is not followed. What
 * is said of the kernel is said of a launch, and such a file may never make it. */
#include "import/python/names/names.h"
#include "import/python/pyread_branch.h"
#include "import/python/pyread_host.h"

#include <string.h>

enum { MOST_TOLD = 4 }; /* lines */

/* Calls that end the program, or the test that holds the launch. */
static const char *const exits[] = { "sys.exit",    "exit",        "quit",
                                     "os._exit",    "os.abort",    "os.kill",
                                     "pytest.skip", "pytest.fail", "pytest.exit" };

static gboolean is_exit(GHashTable *aliases, const WsPyNode *node)
{
    g_autofree char *name = node->kind == WS_PY_CALL ? ws_python_dotted(node->kid[0]) : NULL;
    if (!name)
        return FALSE;
    const char *dot = strchr(name, '.');
    g_autofree char *first = g_strndup(name, dot ? (gsize)(dot - name) : strlen(name));
    const char *alias = g_hash_table_lookup(aliases, first);
    g_autofree char *whole = g_strconcat(alias ? alias : first, dot ? dot : "", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(exits); i++)
        if (!strcmp(whole, exits[i]))
            return TRUE;
    return FALSE;
}

/* The same by another name, perhaps. */
static gboolean may_exit(GHashTable *aliases, const WsPyNode *node)
{
    static const char *const last[] = { "exit", "_exit", "abort", "quit", "skip", NULL };
    return is_exit(aliases, node) ||
           (node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_ATTR &&
            g_strv_contains(last, node->kid[0]->text));
}

gboolean py_may_end(GHashTable *aliases, gboolean returns, const WsPyNode *node)
{
    if (node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS || node->kind == WS_PY_LAMBDA)
        return FALSE;
    if ((returns && node->kind == WS_PY_RETURN) || node->kind == WS_PY_ASSERT ||
        node->kind == WS_PY_WHILE || may_exit(aliases, node) ||
        (node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "raise")))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (py_may_end(aliases, returns, node->kid[i]))
            return TRUE;
    return FALSE;
}

static gboolean before_launch(const PyRead *p)
{
    return !p->in_kernel && !p->entered && p->frame && !p->probing;
}

void py_passed(PyRead *p, const WsPyNode *node)
{
    if (!before_launch(p))
        return;
    for (guint i = 0; i < p->passed->len; i++)
        if (g_array_index(p->passed, guint, i) == node->line)
            return;
    g_array_append_val(p->passed, node->line);
}

void py_passed_if_it_ends(PyRead *p, const WsPyNode *node)
{
    if (before_launch(p) && py_may_end(p->aliases, !p->frame->helper, node))
        py_passed(p, node);
}

/* A statement whose blocks are not walked one way or the other: a branch looks at its own. */
void py_passed_statement(PyRead *p, const WsPyNode *node)
{
    if (!before_launch(p))
        return;
    const gboolean around = py_leads_to_launch(p, node);
    switch ((int)node->kind) {
    case WS_PY_EXPR:
        if (is_exit(p->aliases, node->kid[0]) && !p->unsure)
            py_never_behind(p, node);
        else
            py_passed_if_it_ends(p, node);
        break;
    case WS_PY_WHILE:
        py_passed(p, node);
        break;
    case WS_PY_FOR:
    case WS_PY_TRY:
        if (!around)
            py_passed_if_it_ends(p, node);
        break;
    case WS_PY_RETURN:
        if (!p->frame->helper && !p->ended)
            p->ended = node;
        break;
    case WS_PY_OTHER:
        if (p->unsure)
            py_passed_if_it_ends(p, node);
        break;
    default:
        break;
    }
}

/* --- guards
 * --------------------------------------------------------------------------------------*/

/* Of the tensors that a caller gives: a guard about them refuses others. */
static const char *const of_tensors[] = {
    "dtype",  "shape", "device", "is_cuda",      "ndim",     "dim",        "is_contiguous",
    "stride", "numel", "size",   "element_size", "data_ptr", "get_device", "is_floating_point",
    NULL
};

static gboolean is_of_tensor(const WsPyNode *node)
{
    return node->kind == WS_PY_ATTR && node->text && g_strv_contains(of_tensors, node->text);
}

static gboolean asks_others(const WsPyNode *node)
{
    static const char *const plain[] = { "len", "tuple", "list", "all", "any", "isinstance",
                                         "min", "max",   "abs",  "zip", NULL };
    const WsPyNode *f = node->kind == WS_PY_CALL ? node->kid[0] : NULL;
    if (f && !is_of_tensor(f) && !(f->kind == WS_PY_NAME && g_strv_contains(plain, f->text)))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (asks_others(node->kid[i]))
            return TRUE;
    return FALSE;
}

static gboolean names_tensor(const WsPyNode *node)
{
    const gboolean here = is_of_tensor(node) || (node->kind == WS_PY_NAME && node->text &&
                                                 !strcmp(node->text, "isinstance"));
    for (guint i = 0; !here && i < node->n; i++)
        if (names_tensor(node->kid[i]))
            return TRUE;
    return here;
}

gboolean py_is_of_tensors(const WsPyNode *condition)
{
    return names_tensor(condition) && !asks_others(condition);
}

/* A name of the module that is no number: what it is may hang on anything. */
static gboolean names_others(const PyRead *p, const WsPyNode *node)
{
    const Val *global =
        node->kind == WS_PY_NAME && !g_hash_table_contains(p->frame->vars, node->text)
            ? g_hash_table_lookup(p->globals, node->text)
            : NULL;
    if (global && global->kind != VAL_INT)
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (names_others(p, node->kid[i]))
            return TRUE;
    return FALSE;
}

gboolean py_is_guard(const PyRead *p, const WsPyNode *condition)
{
    const gboolean of_arguments =
        p->frame && p->frame->helper && !asks_others(condition) && !names_others(p, condition);
    return of_arguments || py_is_of_tensors(condition);
}

/* --- what is said of it
 * --------------------------------------------------------------------------*/

void py_passed_granted(WsRead *r, const GArray *passed)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    if (!passed->len)
        return;
    ws_source_say_lines(r, passed, MOST_TOLD, lines);
    ws_source_granted(r, ws_source_format(r, "its host comes to the launch past %s", lines->str));
}
