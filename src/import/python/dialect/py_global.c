#include "import/python/dialect/pyread_terms.h"

#include <string.h>

/* Loads and stores through pointers that are not followed. In TLE a pointer may be one to shared
 * memory (`local_ptr`), so that what goes through it is a value of global memory only where the
 * text shows that nothing else is in it. */

#define MOST_NAMES 32

typedef struct {
    PyRead *p;
    const Frame *frame;
    GPtrArray *seen; /* const char*: names that are being asked for */
} Asked;

static gboolean is_global(Asked *a, const WsPyNode *e);

static gboolean is_named(const WsPyNode *e, const char *name)
{
    gboolean found = e->kind == WS_PY_NAME && !strcmp(e->text, name);
    for (guint i = 0; i < e->n && !found && (e->kind == WS_PY_TUPLE || e->kind == WS_PY_LIST); i++)
        found = is_named(e->kid[i], name);
    return found;
}

/* Bound by a loop, `with`, `:=` or in a tuple. */
static gboolean is_bound_otherwise(const WsPyNode *node, const char *name)
{
    if (node->kind == WS_PY_FOR)
        return is_named(node->kid[0], name);
    if (node->kind == WS_PY_NAMED || node->kind == WS_PY_WITH)
        return node->text && strstr(node->text, name);
    for (guint i = 0; node->kind == WS_PY_ASSIGN && i + 1 < node->n; i++)
        if (node->kid[i]->kind != WS_PY_NAME && is_named(node->kid[i], name))
            return TRUE;
    return FALSE;
}

/* Every value that the function binds to the name; FALSE: one is not global, or bound otherwise
 * than by an assignment. */
static gboolean bound_so(Asked *a, const WsPyNode *node, const char *name, gboolean *any)
{
    const gboolean sets = node->kind == WS_PY_ASSIGN || node->kind == WS_PY_AUGMENT;
    if (is_bound_otherwise(node, name))
        return FALSE;
    for (guint i = 0; sets && i + 1 < node->n; i++) {
        if (!is_named(node->kid[i], name))
            continue;
        *any = TRUE;
        if (!is_global(a, node->kid[node->n - 1]))
            return FALSE;
    }
    for (guint i = 0; i < node->n; i++)
        if (!bound_so(a, node->kid[i], name, any))
            return FALSE;
    return TRUE;
}

/* What the call hands over for the parameter; NULL: it is not written out, or another function is
 * called, as that which takes partitions. */
static const WsPyNode *given_for(const WsPyNode *function, const WsPyNode *call, const char *name)
{
    const WsPyNode *params = function->kid[0];
    if (!call || call->kind != WS_PY_CALL || call->kid[0]->kind != WS_PY_NAME ||
        strcmp(call->kid[0]->text, function->text) != 0)
        return NULL;
    for (guint i = 1; call && i < call->n; i++) {
        const WsPyNode *arg = call->kid[i];
        if (arg->kind == WS_PY_STAR)
            return NULL;
        if (arg->kind == WS_PY_KEYWORD ? !strcmp(arg->text, name)
                                       : i <= params->n && !strcmp(params->kid[i - 1]->text, name))
            return arg->kind == WS_PY_KEYWORD ? arg->kid[0] : arg;
    }
    return NULL;
}

static gboolean is_parameter(const WsPyNode *function, const char *name)
{
    for (guint i = 0; i < function->kid[0]->n; i++)
        if (!strcmp(function->kid[0]->kid[i]->text, name))
            return TRUE;
    return FALSE;
}

static gboolean is_global_name(Asked *a, const char *name)
{
    const WsPyNode *own = a->frame ? a->frame->function : NULL,
                   *function = own ? own : a->p->kernel;
    const Val *v = a->frame ? g_hash_table_lookup(a->frame->vars, name) : NULL;
    gboolean any = FALSE;
    if (v && (v->kind == VAL_INT || v->kind == VAL_REAL || v->kind == VAL_PARAM ||
              v->kind == VAL_TENSOR || v->kind == VAL_POINTER || v->kind == VAL_NAME ||
              v->kind == VAL_STRING || v->kind == VAL_NONE || py_is_tile(v)))
        return TRUE;
    if (!v)
        v = py_lookup(a->p, name);
    if (v && v->kind == VAL_NAME)
        return TRUE;
    if (!v || v->kind != VAL_OPAQUE || !function || a->seen->len > MOST_NAMES)
        return FALSE;
    if (g_ptr_array_find_with_equal_func(a->seen, name, g_str_equal, NULL))
        return TRUE; /* a sum onto itself */
    g_ptr_array_add(a->seen, (gpointer)name);
    const WsPyNode *from = own ? given_for(function, a->frame->at, name) : NULL;
    any = function == a->p->kernel && is_parameter(function, name); /* of the host */
    if (from && !any) {
        g_autoptr(GPtrArray) seen = g_ptr_array_new();
        Asked up = { a->p, a->frame->up, seen };
        if (!up.frame || !is_global(&up, from))
            return FALSE;
        any = TRUE;
    }
    return bound_so(a, function, name, &any) && any;
}

/* Numbers and tiles of them are no pointers to shared memory, whatever computes them; what triton
 * makes of pointers alone are pointers to the same memory. */
static gboolean is_global_call(Asked *a, const WsPyNode *call)
{
    const WsPyNode *f = call->kid[0];
    const char *word = f->kind == WS_PY_ATTR || f->kind == WS_PY_NAME ? f->text : "";
    static const char *const numbers[] = { "arange", "program_id", "num_programs", "cdiv", "zeros",
                                           "full",   "range",      "load",         NULL };
    static const char *const same[] = {
        "where", "broadcast_to", "expand_dims",    "reshape", "view",    "cast",
        "to",    "multiple_of",  "max_contiguous", "maximum", "minimum", "max_constancy",
        "floor", "abs",          "broadcast",      "trans",   NULL
    };
    if (g_strv_contains(numbers, word))
        return TRUE;
    if (!g_strv_contains(same, word))
        return FALSE;
    const WsPyNode *on = f->kind == WS_PY_ATTR ? f->kid[0] : NULL;
    if (on && !is_global(a, on))
        return FALSE;
    for (guint i = 1; i < call->n; i++)
        if (!is_global(a,
                       call->kid[i]->kind == WS_PY_KEYWORD ? call->kid[i]->kid[0] : call->kid[i]))
            return FALSE;
    return TRUE;
}

static gboolean is_global(Asked *a, const WsPyNode *e)
{
    if (e->kind == WS_PY_INT || e->kind == WS_PY_FLOAT || e->kind == WS_PY_STRING ||
        e->kind == WS_PY_CONST)
        return TRUE;
    if (e->kind == WS_PY_NAME)
        return is_global_name(a, e->text);
    if (e->kind == WS_PY_CALL)
        return is_global_call(a, e);
    if (e->kind == WS_PY_INDEX || e->kind == WS_PY_ATTR)
        return is_global(a, e->kid[0]);
    if (e->kind != WS_PY_BINARY && e->kind != WS_PY_UNARY && e->kind != WS_PY_TERNARY &&
        e->kind != WS_PY_TUPLE && e->kind != WS_PY_LIST)
        return FALSE;
    for (guint i = 0; i < e->n; i++)
        if (!is_global(a, e->kid[i]))
            return FALSE;
    return TRUE;
}

/* The first argument of the call, by its place or its name. */
static const WsPyNode *pointer_of(const WsPyNode *call)
{
    const WsPyNode *first = call->kind == WS_PY_CALL && call->n > 1 ? call->kid[1] : NULL;
    if (first && first->kind != WS_PY_KEYWORD && first->kind != WS_PY_STAR)
        return first;
    for (guint i = 1; first && i < call->n; i++)
        if (call->kid[i]->kind == WS_PY_KEYWORD && !strcmp(call->kid[i]->text, "pointer"))
            return call->kid[i]->kid[0];
    return NULL;
}

gboolean py_may_be_shared(PyRead *p, const Val *pointer, const WsPyNode *call)
{
    if (p->from != WS_IMPORT_TLE || !p->in_kernel ||
        (pointer && (pointer->kind == VAL_POINTER || pointer->kind == VAL_PARAM ||
                     pointer->kind == VAL_TENSOR)))
        return FALSE;
    g_autoptr(GPtrArray) seen = g_ptr_array_new();
    Asked a = { p, p->frame, seen };
    const WsPyNode *e = pointer_of(call);
    return !e || !is_global(&a, e);
}
