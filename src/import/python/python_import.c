#include "import/python/pyread_loop.h"
#include "import/python/pyread_terms.h"

#include <string.h>

/* A Python file -> a design: its kernel is the function that calls warp_specialize, entered through
 * the launch that the file holds, or with its parameters open. */

static const WsPyNode *find_call(const WsPyNode *node, const char *last)
{
    if (node->kind == WS_PY_CALL) {
        const WsPyNode *f = node->kid[0];
        if ((f->kind == WS_PY_ATTR || f->kind == WS_PY_NAME) && !strcmp(f->text, last))
            return node;
    }
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *found = find_call(node->kid[i], last);
        if (found)
            return found;
    }
    return NULL;
}

static gboolean launches(const WsPyNode *node, const char *kernel)
{
    if (node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_INDEX &&
        node->kid[0]->kid[0]->kind == WS_PY_NAME && !strcmp(node->kid[0]->kid[0]->text, kernel))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (launches(node->kid[i], kernel))
            return TRUE;
    return FALSE;
}

static void read_import(PyRead *p, const WsPyNode *node)
{
    for (guint i = 0; i < node->n; i++) {
        const WsPyNode *name = node->kid[i];
        const char *as = name->n && name->kid[0]->kind == WS_PY_NAME ? name->kid[0]->text : NULL;
        const char *dotted =
            *node->text ? ws_source_format(p->r, "%s.%s", node->text, name->text) : name->text;
        if (!as) {
            as = ws_source_format(p->r, "%.*s", (int)strcspn(name->text, "."), name->text);
            if (!*node->text)
                dotted = as;
        }
        g_hash_table_insert(p->aliases, (gpointer)as, (gpointer)dotted);
    }
}

static const WsPyNode *specializes(const WsPyNode *module)
{
    for (guint i = 0; i < module->n; i++)
        if (module->kid[i]->kind == WS_PY_DEF &&
            find_call(module->kid[i]->kid[1], "warp_specialize"))
            return module->kid[i];
    return NULL;
}

/* A file without warp_specialize: the first of its jit functions that it launches is a kernel of
 * one group. */
static const WsPyNode *launched(const WsPyNode *module)
{
    for (guint i = 0; i < module->n; i++) {
        const WsPyNode *f = module->kid[i];
        gboolean jit = FALSE;
        for (guint k = 2; f->kind == WS_PY_DEF && k < f->n; k++) {
            g_autofree char *name = ws_python_dotted(f->kid[k]);
            jit |= name && (!strcmp(name, "jit") || g_str_has_suffix(name, ".jit"));
        }
        if (jit && launches(module, f->text))
            return f;
    }
    return NULL;
}

static void read_module(PyRead *p, const WsPyNode *module)
{
    for (guint i = 0; i < module->n; i++) {
        const WsPyNode *node = module->kid[i];
        if (node->kind == WS_PY_IMPORT)
            read_import(p, node);
        if (node->kind == WS_PY_CLASS) {
            Val *class = py_val(p, VAL_CLASS);
            class->node = node;
            py_assign(p, node->text, class);
        }
        if (node->kind == WS_PY_DEF) {
            Val *f = py_val(p, VAL_FUNC);
            f->node = node;
            py_assign(p, node->text, f);
        }
    }
    p->kernel = specializes(module);
    if (!p->kernel)
        p->kernel = p->alone = launched(module);
    for (guint i = 0; i < module->n; i++) {
        const WsPyNode *node = module->kid[i];
        if (node->kind != WS_PY_ASSIGN || node->kid[0]->kind != WS_PY_NAME)
            continue;
        const Val *v = py_eval(p, node->kid[node->n - 1]);
        py_assign(p, node->kid[0]->text, v);
        py_named_constant(p, node, v);
    }
}

static gboolean is_constexpr(const WsPyNode *param)
{
    g_autofree char *type = ws_python_dotted(param->kid[0]);
    return type && g_str_has_suffix(type, "constexpr");
}

static const Val *enter(PyRead *p, const Val **args, const WsPyNode *at)
{
    const WsPyNode *params = p->kernel->kid[0];
    for (guint i = 0; i < params->n; i++) {
        const WsPyNode *param = params->kid[i], *value = param->kid[1];
        if (is_constexpr(param) && (!args[i] || args[i]->kind == VAL_PARAM) &&
            value->kind == WS_PY_CONST && !strcmp(value->text, "None") &&
            !g_hash_table_contains(p->globals, param->text))
            ws_source_fail(p->r, param->line, param->column,
                           "Give it a default, or let the file launch the kernel with numbers.",
                           "the constexpr parameter `%s` has no value", param->text);
    }
    if (*p->r->error)
        return py_opaque(p);
    return p->alone ? py_one_group(p, args, at) : py_call(p, p->kernel, args, at);
}

const Val *py_launch(PyRead *p, const WsPyNode *node)
{
    const WsPyNode *f = node->kid[0];
    if (p->group || f->kind != WS_PY_INDEX || f->kid[0]->kind != WS_PY_NAME || p->specialized ||
        strcmp(f->kid[0]->text, p->kernel->text))
        return NULL;
    const WsPyNode *params = p->kernel->kid[0];
    g_autofree const Val **args = g_new0(const Val *, params->n + 1);
    guint at = 0;
    for (guint i = 1; i < node->n; i++) {
        const WsPyNode *arg = node->kid[i];
        gint64 n;
        if (arg->kind != WS_PY_KEYWORD) {
            if (at < params->n && arg->kind != WS_PY_STAR)
                args[at++] = py_eval(p, arg);
            continue;
        }
        const Val *v = py_eval(p, arg->kid[0]);
        for (guint k = 0; k < params->n; k++)
            if (!strcmp(params->kid[k]->text, arg->text))
                args[k] = v;
        static const char *const numbers[] = { "num_warps", "num_ctas", "maxnreg" };
        for (guint k = 0; k < G_N_ELEMENTS(numbers); k++)
            if (!strcmp(arg->text, numbers[k]) && v->kind != VAL_NONE && !py_known(v, &n))
                py_unread(p, arg, ws_source_format(p->r, "what %s is", numbers[k]));
        if (!strcmp(arg->text, "num_warps") && py_known(v, &n) && n >= 1 && n <= 16)
            p->num_warps = n;
        if (!strcmp(arg->text, "maxnreg") && py_known(v, &n) && n >= 16 && n <= 255)
            p->maxnreg = n;
        if (!strcmp(arg->text, "num_ctas") && py_known(v, &n) && n >= 1 && n <= 8)
            p->r->cluster = n;
    }
    p->grid = py_eval(p, f->kid[1]);
    for (guint k = 0; k < params->n; k++) /* what the host computed in ways not followed */
        if (args[k] && args[k]->kind == VAL_OPAQUE) {
            Val *open = py_val(p, VAL_PARAM);
            open->text = params->kid[k]->text;
            args[k] = open;
        }
    return enter(p, args, node);
}

/* The value of `param` where it is left out, as far as it is an integer that a caller may change.
 */
static gboolean has_example(const WsPyNode *param, gint64 *value)
{
    const WsPyNode *v = param->kid[1];
    *value = v->i;
    return !is_constexpr(param) && v->kind == WS_PY_INT;
}

/* Arguments of a call from outside the file: sizes where `open` says so, else the defaults. */
static const Val **from_outside(PyRead *p, const WsPyNode *function, guint64 open)
{
    const WsPyNode *params = function->kid[0];
    const Val **args = g_new0(const Val *, params->n + 1);
    gint64 example;
    for (guint i = 0; i < MIN(params->n, 64); i++)
        if ((open >> i & 1) && has_example(params->kid[i], &example))
            args[i] = py_int(
                p, ws_x_name(p->r, ws_source_size(p->r, params->kid[i]->text, MAX(example, 0))));
    return args;
}

static const WsPyNode *host_of(const WsPyNode *module, const char *kernel, guint *from)
{
    for (; *from < module->n; ++*from) {
        const WsPyNode *f = module->kid[*from];
        if (f->kind == WS_PY_DEF && launches(f->kid[1], kernel))
            return f;
    }
    return NULL;
}

static void run_host(PyRead *p, const WsPyNode *module)
{
    guint at = 0;
    guint64 open = p->way.open;
    const WsPyNode *f = host_of(module, p->kernel->text, &at);
    const gboolean hosted = f != NULL;
    for (; f && !p->specialized; at++, f = host_of(module, p->kernel->text, &at)) {
        g_autofree const Val **args = from_outside(p, f, open);
        open = 0; /* of the first of them */
        py_call(p, f, args, f);
    }
    if (!p->specialized && !*p->r->error) {
        g_autofree const Val **args = from_outside(p, p->kernel, hosted ? 0 : open);
        enter(p, args, p->kernel);
    }
}

/* The function that is called from outside the file; NULL: there is no kernel. */
static const WsPyNode *entered(const WsPyNode *module, const WsPyNode **kernel)
{
    guint at = 0;
    *kernel = specializes(module);
    if (!*kernel)
        *kernel = launched(module);
    const WsPyNode *host = *kernel ? host_of(module, (*kernel)->text, &at) : NULL;
    return host ? host : *kernel;
}

guint64 ws_import_python_defaults(const WsPython *py)
{
    const WsPyNode *kernel, *f = entered(ws_python_module(py), &kernel);
    guint64 found = 0;
    gint64 example;
    for (guint i = 0; f && i < MIN(f->kid[0]->n, 64); i++)
        if (has_example(f->kid[0]->kid[i], &example))
            found |= (guint64)1 << i;
    return found;
}

static guint count_launches(const WsPyNode *node, const char *kernel)
{
    guint n = node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_INDEX &&
              node->kid[0]->kid[0]->kind == WS_PY_NAME &&
              !strcmp(node->kid[0]->kid[0]->text, kernel);
    for (guint i = 0; i < node->n; i++)
        n += count_launches(node->kid[i], kernel);
    return n;
}

char *ws_import_python_given(const WsPython *py, guint64 open)
{
    const WsPyNode *module = ws_python_module(py), *kernel, *f = entered(module, &kernel);
    GString *s = g_string_new(NULL);
    gint64 example;
    for (guint i = 0; f && i < f->kid[0]->n; i++) {
        const WsPyNode *param = f->kid[0]->kid[i], *v = param->kid[1];
        const gboolean number = has_example(param, &example) && !(i < 64 && (open >> i & 1));
        const gboolean flag = v->kind == WS_PY_CONST && strcmp(v->text, "None") &&
                              strcmp(v->text, "...") && !is_constexpr(param);
        if (number)
            g_string_append_printf(s, "%s%s = %" G_GINT64_FORMAT, s->len ? ", " : "", param->text,
                                   example);
        else if (flag)
            g_string_append_printf(s, "%s%s = %s", s->len ? ", " : "", param->text, v->text);
    }
    const guint launches_of = kernel ? count_launches(module, kernel->text) : 0;
    if (launches_of > 1)
        g_string_append_printf(s, "%sthe first of its %u launches", s->len ? "; " : "",
                               launches_of);
    return g_string_free(s, !s->len);
}

/* A persistent kernel that works on tiles outside of its loop over them: its number is a size then,
 * for whose every value the check holds; a design has no word for it. */
static void open_number(PyRead *p, const char *name)
{
    WsRead *r = p->r;
    gboolean used = FALSE;
    for (guint i = 0; i < r->groups->len; i++) {
        const WsReadGroup *g = g_ptr_array_index(r->groups, i);
        used |= py_steps_mention(g->body, name);
        for (guint k = 0; k < g->starts->len; k++)
            used |= ws_x_mentions(g_ptr_array_index(g->starts, k), name);
    }
    if (!used)
        return;
    const gint64 preset = strcmp(name, PY_GRID) ? 0 : 132;
    g_ptr_array_add(r->sizes, (gpointer)name);
    g_array_append_val(r->presets, preset);
    ws_source_unread(r, p->kernel->line, p->kernel->column, p->kernel->line,
                     "which tile is worked on outside of the loop over tiles", name);
}

/* Tiles: the range a persistent loop runs over, or the grid. */
static void finish_tiles(PyRead *p)
{
    WsRead *r = p->r;
    if (p->tile) {
        if (strcmp(r->launch, "dynamic"))
            r->launch = "persistent";
        g_ptr_array_add(r->axes, (gpointer)p->tile);
        g_autofree char *text = ws_x_text(p->tiles);
        g_ptr_array_add(r->axes, (gpointer)ws_source_format(r, "%s", p->tiles ? text : "1"));
        open_number(p, PY_PID);
        open_number(p, PY_GRID);
        return;
    }
    static const char *const pid[] = { PY_PID "_2", PY_PID "_1", PY_PID }; /* x is fastest */
    for (guint i = 0; i < 3; i++) {
        const guint axis = 2 - i;
        const WsExpr *e = p->grid && p->grid->kind == VAL_TUPLE && axis < p->grid->n
                              ? py_as_int(p, p->grid->item[axis])
                          : axis == 0 ? NULL
                                      : ws_x_int(r, 1);
        if (axis == 0 && p->counts_programs) { /* num_programs is a size of its own there */
            g_ptr_array_add(r->sizes, (gpointer)PY_GRID);
            const gint64 preset = 132;
            g_array_append_val(r->presets, preset);
            e = ws_x_name(r, PY_GRID);
        }
        if (!e)
            e = ws_x_name(r, ws_source_size(r, "grid", 132));
        g_autofree char *text = ws_x_text(e);
        g_ptr_array_add(r->axes, (gpointer)pid[i]);
        g_ptr_array_add(r->axes, (gpointer)ws_source_format(r, "%s", text));
    }
}

static void finish_tensors(WsRead *r)
{
    for (guint i = 0; i < r->tensors->len; i++) {
        WsReadTensor *t = &g_array_index(r->tensors, WsReadTensor, i);
        t->rank = CLAMP(t->rank, 1, 5);
        for (guint d = 0; d < t->rank; d++)
            if (!t->shape[d])
                t->shape[d] =
                    ws_x_name(r, ws_source_size(r, ws_source_format(r, "%s_%u", t->name, d), 1024));
    }
}

WsDesign *ws_import_python(WsRead *r, const WsPython *py, const char *file, WsImportFrom from,
                           WsPythonWay way)
{
    PyRead p = { .r = r, .py = py, .file = file, .from = from, .num_warps = 4, .way = way };
    p.globals = g_hash_table_new(g_str_hash, g_str_equal);
    p.aliases = g_hash_table_new(g_str_hash, g_str_equal);
    p.loops = g_array_new(FALSE, TRUE, sizeof(OpenLoop));
    p.loop_names = g_ptr_array_new();
    p.handed = g_ptr_array_new();
    p.pipes = g_ptr_array_new();
    p.open_gathers = g_ptr_array_new();
    p.allocated = g_hash_table_new(NULL, NULL);
    p.closures = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    static const char *const own[] = { PY_PID, PY_PID "_1", PY_PID "_2", PY_GRID };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        g_hash_table_add(r->names, (gpointer)own[i]);
    read_module(&p, ws_python_module(py));
    WsDesign *design = NULL;
    if (!p.kernel)
        ws_source_fail(r, 1, 1, "Import the file that holds the kernel.",
                       "no function of the file calls warp_specialize");
    else
        run_host(&p, ws_python_module(py));
    if (!*r->error && !r->groups->len)
        ws_source_fail(r, p.kernel->line, p.kernel->column,
                       "Call warp_specialize in the body of the kernel itself.",
                       "the call of warp_specialize in `%s` was not reached", p.kernel->text);
    if (!*r->error) {
        r->title = ws_source_format(r, "%s of %s", p.kernel->text, r->file);
        finish_tiles(&p);
        finish_tensors(r);
        if (from == WS_IMPORT_TLE)
            py_tle_finish(&p);
        r->fences = from == WS_IMPORT_GLUON ? "drawn" : NULL;
        ws_source_parts(r);
        design = ws_source_write(r);
    }
    g_hash_table_unref(p.globals);
    g_hash_table_unref(p.aliases);
    g_array_unref(p.loops);
    g_ptr_array_unref(p.loop_names);
    g_ptr_array_unref(p.handed);
    g_ptr_array_unref(p.pipes);
    g_ptr_array_unref(p.open_gathers);
    g_hash_table_unref(p.allocated);
    g_ptr_array_unref(p.closures);
    return design;
}
