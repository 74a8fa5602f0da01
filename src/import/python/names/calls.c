#include "import/python/names/names.h"
#include "import/python/pyread_kernels.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* What is known of calls that are no functions of the file. What is in no table may change whatever
 * it is given. */

typedef struct {
    const char *name;
    PyCallKind kind;
} Row;

/* Functions of builtins. */
static const Row builtins[] = {
    { "int", PY_CALL_NEW },         { "len", PY_CALL_NEW },           { "range", PY_CALL_NEW },
    { "str", PY_CALL_NEW },         { "float", PY_CALL_NEW },         { "bool", PY_CALL_NEW },
    { "sum", PY_CALL_HOLD },        { "abs", PY_CALL_NEW },           { "print", PY_CALL_NEW },
    { "isinstance", PY_CALL_NEW },  { "issubclass", PY_CALL_NEW },    { "round", PY_CALL_NEW },
    { "hasattr", PY_CALL_NEW },     { "slice", PY_CALL_NEW },         { "any", PY_CALL_NEW },
    { "all", PY_CALL_NEW },         { "repr", PY_CALL_NEW },          { "id", PY_CALL_NEW },
    { "divmod", PY_CALL_NEW },      { "pow", PY_CALL_NEW },           { "hash", PY_CALL_NEW },
    { "ord", PY_CALL_NEW },         { "chr", PY_CALL_NEW },           { "format", PY_CALL_NEW },
    { "open", PY_CALL_NEW },        { "callable", PY_CALL_NEW },      { "super", PY_CALL_NEW },
    { "bytes", PY_CALL_NEW },       { "complex", PY_CALL_NEW },       { "hex", PY_CALL_NEW },
    { "bin", PY_CALL_NEW },         { "object", PY_CALL_NEW },        { "list", PY_CALL_HOLD },
    { "tuple", PY_CALL_HOLD },      { "dict", PY_CALL_HOLD },         { "set", PY_CALL_HOLD },
    { "frozenset", PY_CALL_HOLD },  { "zip", PY_CALL_HOLD },          { "sorted", PY_CALL_HOLD },
    { "reversed", PY_CALL_HOLD },   { "enumerate", PY_CALL_HOLD },    { "iter", PY_CALL_HOLD },
    { "next", PY_CALL_HOLD },       { "min", PY_CALL_HOLD },          { "max", PY_CALL_HOLD },
    { "map", PY_CALL_HOLD },        { "filter", PY_CALL_HOLD },       { "getattr", PY_CALL_HOLD },
    { "type", PY_CALL_HOLD },       { "staticmethod", PY_CALL_HOLD }, { "property", PY_CALL_HOLD },
    { "__import__", PY_CALL_HOLD },
};

/* Modules whose functions change nothing that they are given. */
static const Row modules[] = {
    { "torch", PY_CALL_NEW },        { "triton", PY_CALL_NEW },     { "math", PY_CALL_NEW },
    { "numpy", PY_CALL_NEW },        { "os", PY_CALL_NEW },         { "sys", PY_CALL_NEW },
    { "time", PY_CALL_NEW },         { "pathlib", PY_CALL_NEW },    { "json", PY_CALL_NEW },
    { "re", PY_CALL_NEW },           { "warnings", PY_CALL_NEW },   { "logging", PY_CALL_NEW },
    { "subprocess", PY_CALL_NEW },   { "tempfile", PY_CALL_NEW },   { "platform", PY_CALL_NEW },
    { "typing", PY_CALL_HOLD },      { "functools", PY_CALL_HOLD }, { "itertools", PY_CALL_HOLD },
    { "contextlib", PY_CALL_HOLD },  { "copy", PY_CALL_HOLD },      { "collections", PY_CALL_HOLD },
    { "dataclasses", PY_CALL_HOLD }, { "argparse", PY_CALL_HOLD },  { "pytest", PY_CALL_HOLD },
    { "enum", PY_CALL_HOLD },        { "importlib", PY_CALL_HOLD },
};

/* Those that do, or that call what they are given. */
static const char *const acting[] = { "reduce",    "starmap",     "accumulate", "takewhile",
                                      "dropwhile", "filterfalse", "groupby",    "reload",
                                      "shuffle",   NULL };

static const Row methods[] = {
    { "index", PY_CALL_NEW },        { "count", PY_CALL_NEW },
    { "format", PY_CALL_NEW },       { "join", PY_CALL_NEW },
    { "split", PY_CALL_NEW },        { "strip", PY_CALL_NEW },
    { "upper", PY_CALL_NEW },        { "lower", PY_CALL_NEW },
    { "startswith", PY_CALL_NEW },   { "endswith", PY_CALL_NEW },
    { "replace", PY_CALL_NEW },      { "rstrip", PY_CALL_NEW },
    { "lstrip", PY_CALL_NEW },       { "splitlines", PY_CALL_NEW },
    { "ljust", PY_CALL_NEW },        { "rjust", PY_CALL_NEW },
    { "stride", PY_CALL_NEW },       { "size", PY_CALL_NEW },
    { "dim", PY_CALL_NEW },          { "numel", PY_CALL_NEW },
    { "element_size", PY_CALL_NEW }, { "is_contiguous", PY_CALL_NEW },
    { "contiguous", PY_CALL_NEW },   { "data_ptr", PY_CALL_NEW },
    { "to", PY_CALL_NEW },           { "cuda", PY_CALL_NEW },
    { "cpu", PY_CALL_NEW },          { "half", PY_CALL_NEW },
    { "float", PY_CALL_NEW },        { "t", PY_CALL_NEW },
    { "transpose", PY_CALL_NEW },    { "view", PY_CALL_NEW },
    { "reshape", PY_CALL_NEW },      { "permute", PY_CALL_NEW },
    { "item", PY_CALL_NEW },         { "tolist", PY_CALL_NEW },
    { "info", PY_CALL_NEW },         { "debug", PY_CALL_NEW },
    { "warning", PY_CALL_NEW },      { "error", PY_CALL_NEW },
    { "write", PY_CALL_NEW },        { "add_argument", PY_CALL_NEW },
    { "warmup", PY_CALL_NEW },       { "cache_clear", PY_CALL_NEW },
    { "keys", PY_CALL_HOLD },        { "items", PY_CALL_HOLD },
    { "values", PY_CALL_HOLD },      { "get", PY_CALL_HOLD },
    { "copy", PY_CALL_HOLD },        { "append", PY_CALL_PUT },
    { "insert", PY_CALL_PUT },       { "extend", PY_CALL_PUT },
    { "add", PY_CALL_PUT },          { "update", PY_CALL_PUT },
    { "setdefault", PY_CALL_PUT },   { "appendleft", PY_CALL_PUT },
    { "pop", PY_CALL_TAKE },         { "remove", PY_CALL_TAKE },
    { "clear", PY_CALL_TAKE },       { "sort", PY_CALL_TAKE },
    { "reverse", PY_CALL_TAKE },
};

static PyCallKind found(const Row *row, guint n, const char *name)
{
    for (guint i = 0; i < n; i++)
        if (!strcmp(row[i].name, name))
            return row[i].kind;
    return PY_CALL_UNKNOWN;
}

static gboolean is_error(const char *name)
{
    return g_str_has_suffix(name, "Error") || g_str_has_suffix(name, "Exception") ||
           g_str_has_suffix(name, "Warning") || !strcmp(name, "SystemExit");
}

gboolean py_is_binder(const char *name)
{
    static const char *const binders[] = { "exec",       "eval",         "compile", "globals",
                                           "locals",     "vars",         "setattr", "delattr",
                                           "breakpoint", "__builtins__", NULL };
    return g_strv_contains(binders, name);
}

gboolean py_computes(const PyNames *names, const WsPyNode *callee)
{
    return callee->kind == WS_PY_NAME && !g_hash_table_contains(names->bound, callee->text) &&
           found(builtins, G_N_ELEMENTS(builtins), callee->text) != PY_CALL_UNKNOWN;
}

gboolean py_known_decorator(const PyNames *names, const WsPyNode *decorator)
{
    static const char *const own[] = { "staticmethod", "classmethod", "property", NULL };
    g_autofree char *name = py_decorator(decorator);
    g_autofree char *root = name ? g_strndup(name, strcspn(name, ".")) : NULL;
    const char *module = root ? g_hash_table_lookup(names->imports, root) : NULL;
    g_autofree char *full = module ? g_strconcat(module, name + strlen(root), NULL) : NULL;
    return name && ((full && (py_law_harmless(PY_HARMLESS_DECORATOR, full) ||
                              py_law_harmless(PY_HARMLESS_AROUND, full))) ||
                    (g_strv_contains(own, name) && !g_hash_table_contains(names->bound, name)));
}

static PyCallKind of_module(const char *dotted)
{
    g_autofree char *root = g_strndup(dotted, strcspn(dotted, "./"));
    const char *last = strrchr(dotted, '.');
    return strchr(dotted, '/') || (last && g_strv_contains(acting, last + 1))
               ? PY_CALL_UNKNOWN
               : found(modules, G_N_ELEMENTS(modules), root);
}

PyCallKind py_call_kind(const PyNames *names, const WsPyNode *call)
{
    const WsPyNode *f = call->kid[0], *root = py_root(f);
    const char *module =
        root->kind == WS_PY_NAME ? g_hash_table_lookup(names->imports, root->text) : NULL;
    if ((f->kind == WS_PY_NAME || f->kind == WS_PY_ATTR) &&
        g_hash_table_contains(names->many, f->text))
        return PY_CALL_UNKNOWN;
    g_autofree char *own = module ? ws_python_dotted(f) : NULL;
    if (own) {
        g_autofree char *dotted = g_strconcat(module, own + strlen(root->text), NULL);
        return of_module(dotted);
    }
    if (f->kind == WS_PY_CALL && py_known_decorator(names, f))
        return PY_CALL_HOLD; /* triton.autotune(…)(kernel) */
    if (f->kind == WS_PY_NAME) {
        const gboolean makes = !strcmp(f->text, "type") && call->n != 2;
        return makes || g_hash_table_contains(names->bound, f->text) ? PY_CALL_UNKNOWN
               : is_error(f->text)                                   ? PY_CALL_HOLD
                                   : found(builtins, G_N_ELEMENTS(builtins), f->text);
    }
    const WsPyNode *kernel = f->kind == WS_PY_INDEX && root == f->kid[0] &&
                                     root->kind == WS_PY_NAME &&
                                     !g_hash_table_contains(names->mixed, root->text)
                                 ? g_hash_table_lookup(names->functions, root->text)
                                 : NULL;
    if (kernel && py_is_jit(kernel))
        return PY_CALL_NEW; /* a launch */
    const gboolean of_type = f->kind == WS_PY_ATTR && f->kid[0]->kind == WS_PY_NAME &&
                             found(builtins, G_N_ELEMENTS(builtins), f->kid[0]->text) !=
                                 PY_CALL_UNKNOWN; /* list.append(x, 1) */
    const PyCallKind kind = f->kind == WS_PY_ATTR && !of_type
                                ? found(methods, G_N_ELEMENTS(methods), f->text)
                                : PY_CALL_UNKNOWN;
    static const char *const of_two[] = { "insert", "setdefault", NULL };
    const guint most = kind == PY_CALL_TAKE                                          ? 0
                       : g_strv_contains(of_two, kind == PY_CALL_PUT ? f->text : "") ? 2
                                                                                     : 1;
    const gboolean changes = kind == PY_CALL_PUT || kind == PY_CALL_TAKE;
    return changes && call->n - 1 > most ? PY_CALL_UNKNOWN : kind; /* list.append by another name */
}
