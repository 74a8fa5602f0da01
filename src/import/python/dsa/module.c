#include "import/python/dsa/read.h"
#include "import/python/pyread_host.h"

#include <string.h>

/* The file around the kernel: what names are imported, which values parameters have, the launch and
 * what its host asserts. */

gboolean py_uses_dsa(const WsPyNode *node)
{
    if ((node->kind == WS_PY_ATTR || node->kind == WS_PY_NAME) && node->text &&
        !strcmp(node->text, "dsa"))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (py_uses_dsa(node->kid[i]))
            return TRUE;
    return FALSE;
}

/* --- imports and constants -------------------------------------------------------------------- */

static gboolean is_in(const WsPyNode *target, const char *name)
{
    gboolean found = target->kind == WS_PY_NAME && !strcmp(target->text, name);
    for (guint i = 0; i < target->n && (target->kind == WS_PY_TUPLE || target->kind == WS_PY_LIST ||
                                        target->kind == WS_PY_STAR);
         i++)
        found |= is_in(target->kid[i], name);
    return found;
}

/* How often the file binds a name, in whatever scope but those of other functions. */
static guint times_set(const WsPyNode *node, const char *name)
{
    guint n = 0;
    if (node->kind == WS_PY_DEF || node->kind == WS_PY_CLASS)
        return node->text && !strcmp(node->text, name);
    for (guint i = 0; node->kind == WS_PY_IMPORT && i < node->n; i++) {
        const char *as = node->kid[i]->n ? node->kid[i]->kid[0]->text : node->kid[i]->text;
        const gsize length = strcspn(as, ".");
        n += strlen(name) == length && !strncmp(as, name, length);
    }
    const guint targets = node->kind == WS_PY_ASSIGN                               ? node->n - 1
                          : node->kind == WS_PY_AUGMENT || node->kind == WS_PY_FOR ? 1
                                                                                   : 0;
    for (guint i = 0; i < targets; i++)
        n += is_in(node->kid[i], name);
    if ((node->kind == WS_PY_WITH || node->kind == WS_PY_TRY) && node->text)
        n += strstr(node->text, name) != NULL;
    if (node->kind == WS_PY_NAMED)
        n += !strcmp(node->text, name);
    for (guint i = 0; node->kind != WS_PY_IMPORT && i < node->n; i++)
        n += times_set(node->kid[i], name);
    return n;
}

static void imports(PyDsa *d)
{
    for (guint i = 0; i < d->module->n; i++) {
        const WsPyNode *node = d->module->kid[i];
        for (guint k = 0; node->kind == WS_PY_IMPORT && k < node->n; k++) {
            const WsPyNode *word = node->kid[k];
            const char *as = word->n ? word->kid[0]->text : word->text;
            const char *name = ws_source_format(d->r, "%.*s", (int)strcspn(as, "."), as);
            const char *whole = *node->text
                                    ? ws_source_format(d->r, "%s.%s", node->text, word->text)
                                : word->n ? word->text
                                          : name;
            if (times_set(d->module, name) == 1) /* else it may be something else */
                g_hash_table_insert(d->imports, (gpointer)name, (gpointer)whole);
        }
    }
}

/* global and nonlocal: what a name is may change anywhere. */
static gboolean rebinds(const WsPyNode *node)
{
    if (node->kind == WS_PY_OTHER && node->text &&
        (!strcmp(node->text, "global") || !strcmp(node->text, "nonlocal")))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (rebinds(node->kid[i]))
            return TRUE;
    return FALSE;
}

static void constants(PyDsa *d)
{
    if (rebinds(d->module))
        return;
    for (guint i = 0; i < d->module->n; i++) {
        const WsPyNode *node = d->module->kid[i], *value;
        if (node->kind != WS_PY_ASSIGN || node->n != 2 || node->kid[0]->kind != WS_PY_NAME)
            continue;
        value = node->kid[1];
        g_autofree char *f = value->kind == WS_PY_CALL ? ws_python_dotted(value->kid[0]) : NULL;
        if (f && g_str_has_suffix(f, ".constexpr") && value->n == 2)
            value = value->kid[1];
        if (value->kind != WS_PY_INT || times_set(d->module, node->kid[0]->text) != 1)
            continue;
        PyDsaVal *v = py_dsa_val(d, DSA_INT);
        v->e = ws_x_int(d->r, value->i);
        py_dsa_set(d, node->kid[0]->text, v);
    }
}

/* --- pointers --------------------------------------------------------------------------------- */

static void find_assigned(const WsPyNode *node, const char *name, GPtrArray *values)
{
    if (node->kind == WS_PY_ASSIGN && node->n == 2 && node->kid[0]->kind == WS_PY_NAME &&
        !strcmp(node->kid[0]->text, name))
        g_ptr_array_add(values, node->kid[1]);
    for (guint i = 0; i < node->n; i++)
        find_assigned(node->kid[i], name, values);
}

/* The names that a sum of places is added to. */
static void leftmost(PyDsa *d, const WsPyNode *e, guint depth)
{
    while (e->kind == WS_PY_BINARY && e->n == 2 && *e->text == '+')
        e = e->kid[0];
    if (e->kind != WS_PY_NAME || depth > 20)
        return;
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    find_assigned(d->function->kid[1], e->text, values);
    for (guint i = 0; i < values->len; i++)
        leftmost(d, values->pdata[i], depth + 1);
    if (!values->len)
        g_hash_table_add(d->pointers, (gpointer)e->text);
}

static void pointers(PyDsa *d, const WsPyNode *node)
{
    const gboolean copy = node->kind == WS_PY_CALL && node->n > 2 &&
                          node->kid[0]->kind == WS_PY_ATTR && !strcmp(node->kid[0]->text, "copy");
    for (guint i = 1; copy && i < 3; i++)
        leftmost(d, node->kid[i]->kind == WS_PY_KEYWORD ? node->kid[i]->kid[0] : node->kid[i], 0);
    for (guint i = 0; i < node->n; i++)
        pointers(d, node->kid[i]);
}

/* --- the launch ------------------------------------------------------------------------------- */

typedef struct {
    const char *kernel;
    const WsPyNode *call, *host; /* host: the function around it, NULL: the module */
    guint n;
} Launch;

static void find_launch(const WsPyNode *node, const WsPyNode *host, Launch *l)
{
    if (node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_INDEX &&
        node->kid[0]->kid[0]->kind == WS_PY_NAME &&
        !strcmp(node->kid[0]->kid[0]->text, l->kernel)) {
        l->call = node;
        l->host = host;
        l->n++;
    }
    for (guint i = 0; i < node->n; i++)
        find_launch(node->kid[i], node->kind == WS_PY_DEF ? node : host, l);
}

typedef struct {
    PyDsa *d;
    const WsPyNode *host, *body, *call;
    const WsPyNode *meta; /* parameter of `lambda meta:`, or NULL */
    GHashTable *given;    /* name of the host -> parameter of the kernel */
    guint depth;
} Host;

/* A parameter of the function that it never sets, or a variable that it sets once. */
static gboolean is_set_once(const WsPyNode *host, const char *name)
{
    guint n = times_set(host->kid[1], name);
    for (guint i = 0; i < host->kid[0]->n; i++)
        n += !strcmp(host->kid[0]->kid[i]->text, name);
    return n == 1;
}

static const WsExpr *host_int(Host *h, const WsPyNode *node);

static const WsExpr *of_parameter(Host *h, const char *name)
{
    const PyDsaVar *v = py_dsa_find(h->d, name);
    return v && v->value->kind == DSA_INT ? v->value->e : NULL;
}

static const WsExpr *host_name(Host *h, const char *name)
{
    const char *parameter = g_hash_table_lookup(h->given, name);
    const WsExpr *e = parameter ? of_parameter(h, parameter) : NULL;
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    if (e || h->depth > 20)
        return e;
    find_assigned(h->body, name, values);
    if (values->len != 1 || !is_set_once(h->host, name))
        return NULL;
    h->depth++;
    e = host_int(h, values->pdata[0]);
    h->depth--;
    return e;
}

/* An integer of the host in the sizes of the kernel. NULL: it is not followed. */
static const WsExpr *host_int(Host *h, const WsPyNode *node)
{
    static const struct {
        const char *text;
        WsExprOp op;
    } ops[] = { { "+", WS_EXPR_ADD }, { "*", WS_EXPR_MUL }, { "//", WS_EXPR_DIV },
                { "%", WS_EXPR_MOD }, { "-", WS_EXPR_SUB }, { "<", WS_EXPR_LT },
                { "<=", WS_EXPR_LE }, { ">", WS_EXPR_GT },  { ">=", WS_EXPR_GE },
                { "==", WS_EXPR_EQ }, { "!=", WS_EXPR_NE }, { "and", WS_EXPR_AND } };
    WsRead *r = h->d->r;
    if (node->kind == WS_PY_INT)
        return ws_x_int(r, node->i);
    if (node->kind == WS_PY_NAME)
        return host_name(h, node->text);
    if (node->kind == WS_PY_INDEX && h->meta && node->kid[0]->kind == WS_PY_NAME &&
        !strcmp(node->kid[0]->text, h->meta->text) && node->kid[1]->kind == WS_PY_STRING) {
        g_autofree char *text = g_strdup(node->kid[1]->text); /* meta['BLOCK'] */
        g_strdelimit(text, "\"'", ' ');
        return of_parameter(h, ws_source_format(r, "%s", g_strstrip(text)));
    }
    g_autofree char *f = node->kind == WS_PY_CALL ? ws_python_dotted(node->kid[0]) : NULL;
    if (f && g_str_has_suffix(f, "cdiv") && node->n == 3) {
        const WsExpr *a = host_int(h, node->kid[1]), *b = host_int(h, node->kid[2]);
        return a && b ? ws_x_call(r, WS_FUNC_CDIV, a, b, NULL) : NULL;
    }
    for (guint i = 0; node->kind == WS_PY_BINARY && i < G_N_ELEMENTS(ops); i++)
        if (!strcmp(node->text, ops[i].text)) {
            const WsExpr *a = host_int(h, node->kid[0]), *b = host_int(h, node->kid[1]);
            return a && b ? ws_x_op(r, ops[i].op, a, b) : NULL;
        }
    return NULL;
}

static void grid_of(Host *h, const WsPyNode *grid)
{
    if (grid->kind == WS_PY_NAME) {
        g_autoptr(GPtrArray) values = g_ptr_array_new();
        find_assigned(h->body, grid->text, values);
        if (values->len != 1 || !is_set_once(h->host, grid->text))
            return;
        grid = values->pdata[0];
    }
    if (grid->kind == WS_PY_LAMBDA) {
        const WsPyNode *parameters = grid->kid[0];
        h->meta = parameters->n == 1 ? parameters->kid[0] : NULL;
        grid = grid->kid[1];
    }
    if (grid->kind != WS_PY_TUPLE && grid->kind != WS_PY_LIST) {
        h->d->grid[0] = host_int(h, grid);
        return;
    }
    for (guint i = 0; i < MIN(grid->n, 3u); i++)
        h->d->grid[i] = host_int(h, grid->kid[i]);
}

/* Parameter i of the kernel in the call; NULL: it is not given. */
static const WsPyNode *argument(const WsPyNode *call, const char *name, guint i)
{
    const gboolean plain = i + 1 < call->n && call->kid[i + 1]->kind != WS_PY_KEYWORD &&
                           call->kid[i + 1]->kind != WS_PY_STAR;
    for (guint k = 1; k < call->n; k++)
        if (call->kid[k]->kind == WS_PY_KEYWORD && !strcmp(call->kid[k]->text, name))
            return call->kid[k]->kid[0];
    return plain ? call->kid[i + 1] : NULL;
}

static gboolean has_star(const WsPyNode *call)
{
    for (guint i = 1; i < call->n; i++)
        if (call->kid[i]->kind == WS_PY_STAR)
            return TRUE;
    return FALSE;
}

/* `assert c` and `if not c: raise …`: c; NULL: the statement asks for nothing. */
static const WsPyNode *asked_by(const WsPyNode *node)
{
    if (node->kind == WS_PY_ASSERT)
        return node->kid[0]->kind == WS_PY_TUPLE ? NULL : node->kid[0];
    const gboolean raises = node->kind == WS_PY_IF && node->n == 2 && node->kid[1]->n == 1 &&
                            node->kid[1]->kid[0]->kind == WS_PY_OTHER &&
                            !g_strcmp0(node->kid[1]->kid[0]->text, "raise");
    const WsPyNode *c = raises ? node->kid[0] : NULL;
    return c && c->kind == WS_PY_UNARY && !g_strcmp0(c->text, "not") ? c->kid[0] : NULL;
}

/* That there is a program: a launch of none does nothing. */
static gboolean is_of_grid(const Host *h, const WsPyNode *asked)
{
    const WsPyNode *grid = h->call->kid[0]->kid[1];
    if (grid->kind == WS_PY_TUPLE && grid->n == 1)
        grid = grid->kid[0];
    return grid->kind == WS_PY_NAME && asked->kind == WS_PY_BINARY &&
           !g_strcmp0(asked->text, ">=") && asked->kid[0]->kind == WS_PY_NAME &&
           !strcmp(asked->kid[0]->text, grid->text) && asked->kid[1]->kind == WS_PY_INT &&
           asked->kid[1]->i == 1;
}

/* What the host asks for in its own list of statements, in front of the launch, of names that it
 * never sets. */
static void asserted(Host *h)
{
    g_autoptr(GArray) passed = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < h->body->n; i++) {
        const WsPyNode *node = h->body->kid[i], *asked = asked_by(node);
        if (node->line >= h->call->line)
            continue;
        const WsExpr *e = asked ? host_int(h, asked) : NULL;
        g_autofree char *text = e && py_dsa_is_of_launch(h->d, e) ? ws_x_text(e) : NULL;
        gint64 known;
        if (text && !ws_expr_is_int(e, &known))
            g_ptr_array_add(h->d->r->assume, (gpointer)ws_source_format(h->d->r, "%s", text));
        else if (!(text && known) &&
                 !(asked && (py_is_of_tensors(asked) || is_of_grid(h, asked))) &&
                 py_may_end(h->d->imports, TRUE, node))
            g_array_append_val(passed, node->line);
    }
    py_passed_granted(h->d->r, passed);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const PyDsaVal *defined(PyDsa *d, const char *name, char **define)
{
    for (guint i = 0; define && define[i]; i++) {
        const char *sign = strchr(define[i], '=');
        char *end = NULL;
        if (!sign || strlen(name) != (gsize)(sign - define[i]) ||
            strncmp(define[i], name, strlen(name)))
            continue;
        const gint64 n = g_ascii_strtoll(sign + 1, &end, 10);
        if (!end || *end || end == sign + 1) {
            py_dsa_refuse(d, d->function, "Write NAME=NUMBER.", "the definition %s", define[i]);
            return NULL;
        }
        PyDsaVal *v = py_dsa_val(d, DSA_INT);
        v->e = ws_x_int(d->r, n);
        return v;
    }
    return NULL;
}

static gboolean is_constexpr(const WsPyNode *parameter)
{
    g_autofree char *type = parameter->n ? ws_python_dotted(parameter->kid[0]) : NULL;
    return type && g_str_has_suffix(type, "constexpr");
}

static void parameter(PyDsa *d, guint i, const WsPyNode *call, char **define)
{
    const WsPyNode *p = d->function->kid[0]->kid[i];
    const WsPyNode *given = call ? argument(call, p->text, i) : NULL;
    const PyDsaVal *v = defined(d, p->text, define);
    PyDsaVal *own = py_dsa_val(d, DSA_INT);
    if (*p->text == '*') {
        py_dsa_refuse(d, p, "Write the parameters out.", "a parameter with a star");
        return;
    }
    const gboolean pointer = g_hash_table_contains(d->pointers, p->text);
    if (v && !pointer) {
        py_dsa_set(d, p->text, v);
        return;
    }
    if (pointer) {
        const char *name = p->text; /* X of X_ptr */
        g_autofree char *plain =
            g_str_has_suffix(name, "_ptr") ? g_strndup(name, strlen(name) - 4) : g_strdup(name);
        const PyDsaTensor t = { .name = ws_source_name(d->r, plain), .line = p->line };
        own->kind = DSA_POINTER;
        own->object = (gint)d->tensors->len;
        g_array_append_val(d->tensors, t);
    } else if (given && given->kind == WS_PY_INT) {
        own->e = ws_x_int(d->r, given->i);
    } else if (!given && p->n > 1 && p->kid[1]->kind == WS_PY_INT) {
        own->e = ws_x_int(d->r, p->kid[1]->i);
        ws_source_granted(d->r, ws_source_format(d->r, "`%s` has its default value", p->text));
    } else if (is_constexpr(p)) {
        const PyDsaVar *constant =
            given && given->kind == WS_PY_NAME ? py_dsa_find(d, given->text) : NULL;
        if (constant && constant->value->kind == DSA_INT) {
            py_dsa_set(d, p->text, constant->value);
            return;
        }
        own->e = ws_x_name(d->r, ws_source_size(d->r, p->text, 1024));
    } else {
        own->e = ws_x_name(d->r, ws_source_size(d->r, p->text, 1024));
    }
    py_dsa_set(d, p->text, own);
}

void py_dsa_module(PyDsa *d, char **define)
{
    const WsPyNode *parameters = d->function->kid[0];
    Launch l = { .kernel = d->function->text };
    imports(d);
    constants(d);
    d->plain = !times_set(d->module, "range") && !times_set(d->module, "min") &&
               !times_set(d->module, "max");
    pointers(d, d->function->kid[1]);
    find_launch(d->module, NULL, &l);
    if (l.n > 1) {
        py_dsa_refuse(d, l.call, "Keep the launch that is meant.", "a second launch of `%s`",
                      l.kernel);
        return;
    }
    if (l.call && has_star(l.call)) {
        py_dsa_refuse(d, l.call, "Write the arguments out.", "a launch by a star");
        return;
    }
    for (guint i = 0; i < parameters->n; i++) {
        parameter(d, i, l.call, define);
    }
    if (!l.call || !l.host || py_dsa_failed(d))
        return;
    g_autoptr(GHashTable) given = g_hash_table_new(g_str_hash, g_str_equal);
    Host h = { .d = d, .host = l.host, .body = l.host->kid[1], .call = l.call, .given = given };
    if (rebinds(d->module))
        return;
    for (guint i = 0; i < parameters->n; i++) {
        const char *name = parameters->kid[i]->text;
        const WsPyNode *a = argument(l.call, name, i);
        if (a && a->kind == WS_PY_NAME && is_set_once(l.host, a->text))
            g_hash_table_insert(given, (gpointer)a->text, (gpointer)name);
    }
    asserted(&h);
    grid_of(&h, l.call->kid[0]->kid[1]);
}

/* --- the door --------------------------------------------------------------------------------- */

WsDesign *py_import_dsa(WsRead *r, const WsPython *py, const WsPyNode *function, char **define)
{
    static const char *const own[] = { "pid", "pid_1", "pid_2", "core" };
    PyDsa d = { .r = r,
                .module = ws_python_module(py),
                .function = function,
                .core = ws_target_find("ascend")->core };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        g_hash_table_add(r->names, (gpointer)own[i]);
    d.imports = g_hash_table_new(g_str_hash, g_str_equal);
    d.pointers = g_hash_table_new(g_str_hash, g_str_equal);
    d.vars = g_array_new(FALSE, TRUE, sizeof(PyDsaVar));
    d.tensors = g_array_new(FALSE, TRUE, sizeof(PyDsaTensor));
    d.buffers = g_array_new(FALSE, TRUE, sizeof(PyDsaBuffer));
    d.flags = g_array_new(FALSE, TRUE, sizeof(PyDsaFlag));
    d.loops = g_array_new(FALSE, TRUE, sizeof(PyDsaLoop));
    d.owned = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    GPtrArray *stream = d.to = py_dsa_list(&d);
    py_dsa_module(&d, define);
    if (!py_dsa_failed(&d))
        py_dsa_statements(&d, function->kid[1]);
    if (!py_dsa_failed(&d) && !stream->len)
        py_dsa_refuse(&d, function, "Import the kernel that copies.", "a kernel without a step");
    WsDesign *design = NULL;
    if (!py_dsa_failed(&d)) {
        py_dsa_order(&d, stream);
        ws_source_granted(r, "the compiler of TLE-DSA orders queues as the derived flags do");
        design = py_dsa_write(&d, stream);
    }
    g_hash_table_unref(d.imports);
    g_hash_table_unref(d.pointers);
    g_array_unref(d.vars);
    g_array_unref(d.tensors);
    g_array_unref(d.buffers);
    g_array_unref(d.flags);
    g_array_unref(d.loops);
    g_ptr_array_unref(d.owned);
    return design;
}
