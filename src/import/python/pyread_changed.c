#include "import/python/pyread_host.h"

#include <string.h>

/* Lists and objects that the host changes where they are (`x[0] = 1`, `x.append(1)`): what names
 * hold that may be one of them is not known. Followed from the change back to the names it came
 * through, by names alone, in the whole file and in any order; a name of two functions is one. */

typedef enum { KEPT, SHALLOW, DEEP } Depth; /* SHALLOW: itself; DEEP: what it holds, too */

/* If `from` is changed as deep as `least`, `to` is as deep as `then`. */
typedef struct {
    const char *from, *to;
    Depth least, then;
} Rule;

typedef struct {
    const PyRead *p;
    GHashTable *functions; /* name -> DEF */
    GArray *rules;         /* Rule */
} Changes;

static void rule(Changes *c, const char *from, Depth least, const char *to, Depth then)
{
    const Rule r = { from, to, least, then };
    g_array_append_val(c->rules, r);
}

static const char *more_of(const char *name)
{
    g_autofree char *text = g_strconcat(name, "+=", NULL);
    return g_intern_string(text);
}

/* `name` is `other`: what changes it changes the other one. `x += …` changes those that x was. */
static void same(Changes *c, const char *name, const char *other)
{
    for (Depth d = SHALLOW; d <= DEEP; d++)
        rule(c, name, d, other, d);
    rule(c, more_of(name), SHALLOW, other, SHALLOW);
}

static const WsPyNode *root_of(const WsPyNode *node)
{
    while (node->kind == WS_PY_ATTR || node->kind == WS_PY_INDEX)
        node = node->kid[0];
    return node;
}

/* What modules that are known compute is new, and so is what is no list. */
static gboolean is_new(const Changes *c, const WsPyNode *call)
{
    static const char *const plain[] = { "int",   "len",     "range", "str",   "float",
                                         "bool",  "sum",     "abs",   "print", "isinstance",
                                         "round", "hasattr", "slice", NULL };
    static const char *const known[] = { "torch", "triton", "math", "numpy", "os", "sys" };
    const WsPyNode *root = root_of(call->kid[0]);
    const char *module =
        root->kind == WS_PY_NAME ? g_hash_table_lookup(c->p->aliases, root->text) : NULL;
    gboolean computes = FALSE;
    for (guint i = 0; module && i < G_N_ELEMENTS(known); i++)
        computes |= g_str_has_prefix(module, known[i]) && !strchr(module, '/');
    return computes ||
           (call->kid[0]->kind == WS_PY_NAME && g_strv_contains(plain, call->kid[0]->text));
}

static void bind(Changes *c, const WsPyNode *target, const WsPyNode *value, gboolean element);

/* `name` may be anything that `v` mentions, or lie in it; without a name all of that is changed. */
static void reach(Changes *c, const char *name, const WsPyNode *v)
{
    if (v->kind == WS_PY_CALL && is_new(c, v))
        return;
    if (v->kind == WS_PY_NAME)
        rule(c, name, name ? SHALLOW : KEPT, v->text, DEEP);
    for (guint i = 0; i < v->n; i++)
        reach(c, name, v->kid[i]);
}

/* `name` is bound to the value, or to something that holds it. */
static void holds(Changes *c, const char *name, const WsPyNode *v, gboolean inside)
{
    const gboolean list =
        v->kind == WS_PY_TUPLE || v->kind == WS_PY_LIST || v->kind == WS_PY_DICT ||
        v->kind == WS_PY_STAR ||
        (v->kind == WS_PY_BINARY && strcmp(v->text, "and") && strcmp(v->text, "or"));
    const WsPyNode *root = root_of(v);
    if (v->kind == WS_PY_NAME && inside) {
        rule(c, name, DEEP, v->text, DEEP);
    } else if (v->kind == WS_PY_NAME) {
        same(c, name, v->text);
    } else if ((v->kind == WS_PY_ATTR || v->kind == WS_PY_INDEX) && root->kind == WS_PY_NAME) {
        rule(c, name, inside ? DEEP : SHALLOW, root->text, DEEP);
        rule(c, more_of(name), SHALLOW, root->text, DEEP);
    } else if (v->kind == WS_PY_COMP) {
        holds(c, name, v->kid[0], TRUE);
    } else if (v->kind == WS_PY_CALL && is_new(c, v)) {
        return;
    } else if (v->kind == WS_PY_CALL && v->kid[0]->kind == WS_PY_NAME &&
               g_hash_table_contains(c->functions, v->kid[0]->text)) {
        holds(c, name, v->kid[0], inside); /* what it gives */
        const WsPyNode *f = g_hash_table_lookup(c->functions, v->kid[0]->text);
        for (guint i = 1; strcmp(f->text, v->kid[0]->text) && i < v->n; i++)
            holds(c, name, v->kid[i], TRUE); /* an object of a class */
    } else if (list || v->kind == WS_PY_BINARY || v->kind == WS_PY_TERNARY) {
        for (guint i = v->kind == WS_PY_TERNARY; i < v->n; i++)
            holds(c, name, v->kid[i], inside || list);
    } else if (v->kind == WS_PY_CALL) {
        reach(c, name, v);
    } else {
        for (guint i = 0; i < v->n; i++)
            holds(c, name, v->kid[i], TRUE);
    }
}

static void bind(Changes *c, const WsPyNode *target, const WsPyNode *value, gboolean element)
{
    const gboolean several =
        target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST || target->kind == WS_PY_STAR;
    const gboolean pairs = several && !element && value->kind == WS_PY_TUPLE &&
                           value->n == target->n && target->kind != WS_PY_STAR;
    for (guint i = 0; several && i < target->n; i++)
        bind(c, target->kid[i], pairs ? value->kid[i] : value, element || !pairs);
    const WsPyNode *root = root_of(target);
    if (several || root->kind != WS_PY_NAME)
        return;
    if (element && root == target && root_of(value)->kind == WS_PY_NAME) {
        rule(c, root->text, SHALLOW, root_of(value)->text, DEEP);
    } else if (element) {
        const gboolean list = value->kind == WS_PY_TUPLE || value->kind == WS_PY_LIST;
        for (guint i = 0; list && i < value->n; i++)
            holds(c, root->text, value->kid[i], root != target);
        if (!list)
            reach(c, root->text, value);
    } else {
        holds(c, root->text, value, root != target);
    }
}

/* Calls by a name that is neither a function of the file nor one of these may change what they are
 * given: a lambda, map(f, x), getattr(x, "insert")(0, 1). */
static gboolean keeps(const Changes *c, const WsPyNode *call)
{
    static const char *const names[] = {
        "list",         "tuple",          "dict",      "set",    "zip", "sorted", "min",
        "max",          "reversed",       "enumerate", "any",    "all", "next",   "iter",
        "type",         "repr",           "id",        "divmod", "pow", "super",  "ValueError",
        "RuntimeError", "AssertionError", NULL
    };
    return call->kid[0]->kind != WS_PY_NAME || is_new(c, call) ||
           g_strv_contains(names, call->kid[0]->text);
}

/* Arguments are what the parameters of a function of the file are; other calls may keep them. */
static void call(Changes *c, const WsPyNode *node)
{
    const WsPyNode *callee = node->kid[0];
    const WsPyNode *f = callee->kind == WS_PY_NAME || callee->kind == WS_PY_ATTR
                            ? g_hash_table_lookup(c->functions, callee->text)
                            : NULL;
    const WsPyNode *root = root_of(callee);
    if (!f && callee->kind == WS_PY_ATTR && root->kind == WS_PY_NAME && !is_new(c, node))
        for (guint i = 1; i < node->n; i++)
            holds(c, root->text, node->kid[i], TRUE);
    for (guint i = 1; !f && !keeps(c, node) && i < node->n; i++)
        reach(c, NULL, node->kid[i]);
    for (guint i = 1; f && i < node->n; i++) {
        const WsPyNode *arg = node->kid[i], *params = f->kid[0];
        gboolean taken = FALSE;
        for (guint k = 0; k < params->n; k++) {
            const gboolean named = arg->kind == WS_PY_KEYWORD;
            if (!strcmp(params->kid[k]->text, "*")) /* whose name the parser does not keep */
                continue;
            if (named ? strcmp(arg->text, params->kid[k]->text) != 0
                      : k + 1 != i && callee->kind != WS_PY_ATTR && arg->kind != WS_PY_STAR &&
                            !strcmp(f->text, callee->text)) /* self is not written */
                continue;
            holds(c, params->kid[k]->text, named ? arg->kid[0] : arg, FALSE);
            taken = TRUE;
        }
        if (!taken) /* *a, **k */
            reach(c, NULL, arg);
    }
}

static void change(Changes *c, const WsPyNode *node, gboolean inside)
{
    const WsPyNode *root = root_of(node);
    if (root->kind == WS_PY_NAME)
        rule(c, NULL, KEPT, root->text, inside || root != node ? DEEP : SHALLOW);
    for (guint i = 0; root->kind != WS_PY_NAME && i < root->n; i++)
        change(c, root->kid[i], TRUE);
}

static void change_target(Changes *c, const WsPyNode *target)
{
    const gboolean several =
        target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST || target->kind == WS_PY_STAR;
    for (guint i = 0; several && i < target->n; i++)
        change_target(c, target->kid[i]);
    if (target->kind == WS_PY_INDEX)
        change(c, target->kid[0], FALSE);
}

static void collect(Changes *c, const WsPyNode *node, const WsPyNode *function)
{
    static const char *const methods[] = { "append",      "insert",      "extend",   "pop",
                                           "remove",      "clear",       "sort",     "reverse",
                                           "__setitem__", "__delitem__", "__iadd__", NULL };
    if (py_is_jit(node)) /* what kernels hold is never changed */
        return;
    const guint targets = node->kind == WS_PY_ASSIGN                                   ? node->n - 1
                          : node->kind == WS_PY_FOR                                    ? 1
                          : node->kind == WS_PY_OTHER && !g_strcmp0(node->text, "del") ? node->n
                                                                                       : 0;
    for (guint i = 0; i < targets; i++) {
        change_target(c, node->kid[i]);
        if (node->kind != WS_PY_OTHER)
            bind(c, node->kid[i], node->kid[node->kind == WS_PY_FOR ? 1 : node->n - 1],
                 node->kind == WS_PY_FOR);
    }
    for (guint i = 0; node->kind == WS_PY_ASSIGN && i < targets; i++)
        for (guint k = 0; k < targets; k++)
            if (i != k && node->kid[i]->kind == WS_PY_NAME && node->kid[k]->kind == WS_PY_NAME)
                same(c, node->kid[i]->text, node->kid[k]->text);
    if (node->kind == WS_PY_AUGMENT && node->kid[0]->kind == WS_PY_NAME &&
        strchr("+*", *node->text))
        rule(c, NULL, KEPT, more_of(node->kid[0]->text), SHALLOW);
    else if (node->kind == WS_PY_AUGMENT)
        change(c, node->kid[0], FALSE);
    const gboolean method = node->kind == WS_PY_ATTR && g_strv_contains(methods, node->text);
    if (method)
        change(c, node->kid[0], FALSE);
    if (node->kind == WS_PY_COMP && node->n > 2)
        bind(c, node->kid[1], node->kid[2], TRUE);
    if (node->kind == WS_PY_CALL) {
        const WsPyNode *root = root_of(node->kid[0]);
        const char *module =
            root->kind == WS_PY_NAME ? g_hash_table_lookup(c->p->aliases, root->text) : NULL;
        /* list.append(x, 1); functions of modules that nobody knows */
        const gboolean changes =
            (module && strchr(module, '/')) ||
            (root->kind == WS_PY_NAME && !strcmp(root->text, "list") && root != node->kid[0]);
        for (guint i = 1; changes && i < node->n; i++)
            if (node->kid[i]->kind == WS_PY_NAME)
                change(c, node->kid[i], FALSE);
        call(c, node);
    }
    if (node->kind == WS_PY_PARAM)
        holds(c, node->text, node->kid[1], FALSE);
    if (node->kind == WS_PY_RETURN && node->n && function)
        holds(c, function->text, node->kid[0], FALSE);
    g_auto(GStrv) bound =
        node->kind == WS_PY_WITH && node->text ? g_strsplit(node->text, " ", -1) : NULL;
    for (guint i = 0; bound && bound[i]; i++)
        for (guint k = 0; k + 1 < node->n; k++)
            holds(c, g_intern_string(bound[i]), node->kid[k], FALSE);
    const guint n = node->kind == WS_PY_DEF ? 2 : node->n; /* decorators take lists as they are */
    for (guint i = 0; i < n; i++)
        collect(c, node->kid[i], node->kind == WS_PY_DEF ? node : function);
}

/* What is called by a name; of a class, __init__. */
static void find_functions(const WsPyNode *node, GHashTable *functions)
{
    if (node->kind == WS_PY_DEF)
        g_hash_table_insert(functions, (gpointer)node->text, (gpointer)node);
    for (guint i = 0; node->kind == WS_PY_CLASS && i < node->kid[0]->n; i++) {
        const WsPyNode *f = node->kid[0]->kid[i];
        if (f->kind == WS_PY_DEF && !strcmp(f->text, "__init__"))
            g_hash_table_insert(functions, (gpointer)node->text, (gpointer)f);
    }
    for (guint i = 0; i < node->n; i++)
        find_functions(node->kid[i], functions);
}

void py_find_changed(PyRead *p)
{
    const WsPyNode *module = ws_python_module(p->py);
    g_autoptr(GHashTable) functions = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) rules = g_array_new(FALSE, FALSE, sizeof(Rule));
    find_functions(module, functions);
    Changes c = { p, functions, rules };
    collect(&c, module, NULL);
    for (gboolean more = TRUE; more;) {
        more = FALSE;
        for (guint i = 0; i < rules->len; i++) {
            const Rule *r = &g_array_index(rules, Rule, i);
            const Depth from =
                r->from ? GPOINTER_TO_UINT(g_hash_table_lookup(p->changed, r->from)) : KEPT;
            const Depth to = GPOINTER_TO_UINT(g_hash_table_lookup(p->changed, r->to));
            if (from < r->least || to >= r->then)
                continue;
            g_hash_table_insert(p->changed, (gpointer)r->to, GUINT_TO_POINTER(r->then));
            more = TRUE;
        }
    }
}

gboolean py_is_changed(const PyRead *p, const char *name, const Val *v)
{
    const gboolean own = p->in_kernel && p->frame && g_hash_table_contains(p->frame->vars, name);
    return (v->kind == VAL_TUPLE || v->kind == VAL_OBJECT) &&
           g_hash_table_contains(p->changed, name) &&
           !(own && (!p->computing || v->kind == VAL_OBJECT));
}
