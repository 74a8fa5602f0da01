#include "import/python/dialect/pyread_terms.h"
#include "import/python/names/names.h"
#include "import/python/pyread_host.h"

#include <string.h>

/* Names of a module, in the order of its statements. What is bound in a branch, a loop, `try` or
 * `with` is known only where nothing else binds it; what is bound twice only where no kernel and no
 * function of the file may have run in between. */

/* Modules whose names are what they seem. */
static gboolean is_known_module(const char *dotted)
{
    static const char *const roots[] = { "triton",    "torch",     "math",
                                         "typing",    "builtins",  "dataclasses",
                                         "functools", "itertools", "__future__" };
    const gsize n = strcspn(dotted, ".");
    for (guint i = 0; i < G_N_ELEMENTS(roots); i++)
        if (strlen(roots[i]) == n && !strncmp(roots[i], dotted, n))
            return TRUE;
    return FALSE;
}

/* No word of a dialect has a slash: what comes from elsewhere is not known by its name. */
static const char *dotted_of(PyRead *p, const WsPyNode *node, const WsPyNode *name)
{
    const char *dotted =
        *node->text ? ws_source_format(p->r, "%s.%s", node->text, name->text)
        : name->n   ? name->text
                    : ws_source_format(p->r, "%.*s", (int)strcspn(name->text, "."), name->text);
    const guint replaced = p->names ? p->names->modules : 0;
    const gboolean stored = p->names && (g_hash_table_contains(p->names->stored, name->text) ||
                                         (replaced && (p->frame || node->line > replaced)));
    return is_known_module(*node->text ? node->text : name->text) && !stored
               ? dotted
               : ws_source_format(p->r, "%s/", dotted);
}

void py_read_import(PyRead *p, const WsPyNode *node)
{
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *name = node->kid[i];
        const char *whole = py_import_name(name);
        const char *as = ws_source_format(p->r, "%.*s", (int)strcspn(whole, "."), whole);
        const char *dotted = dotted_of(p, node, name);
        if (!strcmp(name->text, "*"))
            ws_source_unread(p->r, node->line, node->column, node->line,
                             "all names of another module", "");
        if (p->in_kernel)
            py_unread(p, node, "an import in a kernel");
        if (p->frame) {
            Val *v = py_val(p, VAL_NAME);
            v->text = dotted;
            py_assign(p, as, v);
        } else {
            g_hash_table_remove(p->globals, as);
            g_hash_table_insert(p->aliases, (gpointer)as, (gpointer)dotted);
        }
    }
}

/* --- bindings of the module --------------------------------------------------------------------*/

typedef struct {
    guint n, nested; /* how often; in something that may be left out, or inside of an expression */
    guint first, last;
    const char *import; /* all of them are this import; NULL */
    gboolean value;     /* one of them is no function, class or import */
} Bound;

typedef struct {
    PyRead *p;
    GHashTable *bound; /* name -> Bound */
    const WsPyNode *statement;
    guint at;
} Module;

static gboolean is_straight(const WsPyNode *node)
{
    return node->kind == WS_PY_ASSIGN || node->kind == WS_PY_AUGMENT ||
           node->kind == WS_PY_IMPORT || node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS;
}

static gboolean defines(const WsPyNode *node)
{
    return node->kind == WS_PY_IMPORT || node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS;
}

static const char *import_of(PyRead *p, const WsPyNode *node, const char *name)
{
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++)
        if (!strncmp(py_import_name(node->kid[i]), name, strlen(name)))
            return dotted_of(p, node, node->kid[i]);
    return NULL;
}

static void note(const char *name, const WsPyNode *at, gpointer data)
{
    Module *m = data;
    Bound *b = g_hash_table_lookup(m->bound, name);
    if (!b) {
        b = g_new0(Bound, 1);
        b->first = m->at;
        b->import = import_of(m->p, at, name);
        g_hash_table_insert(m->bound, (gpointer)name, b);
    }
    const char *import = import_of(m->p, at, name);
    if (g_strcmp0(b->import, import))
        b->import = NULL;
    b->n++;
    b->nested += at != m->statement || !is_straight(at);
    b->last = m->at;
    b->value |= !defines(at);
}

/* Whether the statement may call a function of the file, or something that may. */
static gboolean may_run(const PyNames *names, const WsPyNode *node)
{
    const WsPyNode *f = node->kind == WS_PY_CALL ? node->kid[0] : NULL;
    const WsPyNode *root = f ? py_root(f) : NULL;
    const gboolean module =
        root && root->kind == WS_PY_NAME && g_hash_table_contains(names->imports, root->text);
    if (f && !module && !py_computes(names, f))
        return TRUE;
    for (guint k = 2; node->kind == WS_PY_DEF && k < node->n; k++)
        if (!py_known_decorator(names, node->kid[k]))
            return TRUE;
    if (f && py_call_kind(names, node) == PY_CALL_NEW)
        f = NULL;
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *kid = node->kid[i];
        const gboolean handed =
            f && kid->kind == WS_PY_NAME && i && g_hash_table_contains(names->functions, kid->text);
        if (handed || (!(node->kind == WS_PY_DEF && i == 1) && may_run(names, kid)))
            return TRUE;
    }
    return FALSE;
}

/* The names that functions of the file ask for, when they are called. */
static void note_asked(const WsPyNode *node, gboolean inside, GHashTable *asked)
{
    if (inside && node->kind == WS_PY_NAME)
        g_hash_table_add(asked, (gpointer)node->text);
    for (guint i = 0; i < node->n; i++) {
        const gboolean body = node->kind == WS_PY_LAMBDA || (node->kind == WS_PY_DEF && i < 2);
        note_asked(node->kid[i], inside || body, asked);
    }
}

static void leave(PyRead *p, const char *name, const Bound *b)
{
    const Val *said = py_defined(p, name);
    g_hash_table_remove(p->aliases, name);
    py_assign(p, name, said ? said : b->value ? py_open(p, name) : py_unknown_name(p, name));
}

static void define(PyRead *p, const WsPyNode *node)
{
    for (guint k = 2; node->kind == WS_PY_DEF && k < node->n; k++)
        py_note_cases(p, node->kid[k]);
    Val *v = py_val(p, node->kind == WS_PY_CLASS ? VAL_CLASS : VAL_FUNC);
    v->node = node;
    py_assign(p, node->text, v);
}

/* What a branch or the like binds: the only binding of a function is one. */
static void define_inside(Module *m, const WsPyNode *node)
{
    const Bound *b = node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS
                         ? g_hash_table_lookup(m->bound, node->text)
                         : NULL;
    if (b && b->n == 1)
        define(m->p, node);
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++) {
        WsPyNode one = *node;
        one.n = 1;
        one.kid = node->kid + i;
        const char *whole = py_import_name(node->kid[i]);
        g_autofree char *name = g_strndup(whole, strcspn(whole, "."));
        b = g_hash_table_lookup(m->bound, name);
        if (b && (b->n == 1 || b->import))
            py_read_import(m->p, &one);
    }
    for (guint i = 0; i < node->n && node->kind != WS_PY_DEF && node->kind != WS_PY_CLASS; i++)
        define_inside(m, node->kid[i]);
}

static void leave_nested(const char *name, const WsPyNode *at, gpointer data)
{
    Module *m = data;
    const Bound *b = g_hash_table_lookup(m->bound, name);
    if (strcmp(name, "*") && !(defines(at) && (b->n == 1 || b->import)) &&
        !(at == m->statement && is_straight(at)))
        leave(m->p, name, b);
}

static void assign(PyRead *p, const WsPyNode *node)
{
    if (node->kind == WS_PY_AUGMENT || node->n != 2 || node->kid[0]->kind != WS_PY_NAME) {
        py_statement(p, node);
        return;
    }
    const Val *said = py_defined(p, node->kid[0]->text);
    p->hint = node->kid[0]->text;
    const Val *v = said ? said : py_eval(p, node->kid[node->n - 1]);
    p->hint = NULL;
    py_assign(p, node->kid[0]->text, v);
    py_named_constant(p, node, v);
}

static void read_statement(Module *m, const WsPyNode *node)
{
    PyRead *p = m->p;
    m->statement = node;
    if (node->kind == WS_PY_IMPORT)
        py_read_import(p, node);
    else if (node->kind == WS_PY_ASSIGN || node->kind == WS_PY_AUGMENT)
        assign(p, node);
    else if (node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS)
        define(p, node);
    else
        define_inside(m, node);
    py_bound_names(node, leave_nested, m);
}

void py_read_module(PyRead *p, const WsPyNode *module)
{
    g_autoptr(GHashTable) bound = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    Module m = { .p = p, .bound = bound };
    for (m.at = 0; m.at < module->n; m.at++) {
        m.statement = module->kid[m.at];
        py_bound_names(m.statement, note, &m);
    }
    for (guint i = 0; i < module->n; i++)
        read_statement(&m, module->kid[i]);
    g_autofree guint *runs =
        g_new0(guint, module->n + 1); /* statements before it that may run some */
    for (guint i = 0; i < module->n; i++)
        runs[i + 1] = runs[i] + may_run(p->names, module->kid[i]);
    g_autoptr(GHashTable) asked = g_hash_table_new(g_str_hash, g_str_equal);
    note_asked(module, FALSE, asked);
    GHashTableIter it;
    gpointer name, value;
    g_hash_table_iter_init(&it, bound);
    while (g_hash_table_iter_next(&it, &name, &value)) {
        const Bound *b = value;
        const gboolean again = b->n > 1 && !b->import && strcmp(name, "*");
        if (again && (b->nested ||
                      (runs[b->last + 1] > runs[b->first] && g_hash_table_contains(asked, name))))
            leave(p, name, b);
    }
}
