#include "import/python/pyread_host.h"
#include "import/python/amd/amd.h"
#include "import/python/dialect/pyread_terms.h"
#include "import/python/dialect/tle_mesh.h"
#include "import/python/pyread_law.h"

#include <string.h>

/* Launches: which values of the host reach the kernel. The host is not the kernel: what is not
 * followed there leaves a value open, which the verdict then holds for all of. */

const Val *py_defined(PyRead *p, const char *name)
{
    return g_hash_table_lookup(p->defined, name);
}

static gboolean is_constexpr(const WsPyNode *param)
{
    g_autofree char *type = ws_python_dotted(param->kid[0]);
    return type && g_str_has_suffix(type, "constexpr");
}

static gboolean is_none(const WsPyNode *node)
{
    return node->kind == WS_PY_CONST && !strcmp(node->text, "None");
}

static void note_constant(const WsExpr *node, gpointer data)
{
    if (node->op == WS_EXPR_NAME)
        g_hash_table_add(data, g_strdup(node->name));
}

/* FALSE: constexpr parameters have no value; p->missing says which. */
static gboolean enter(PyRead *p, const Val **args, const WsPyNode *at)
{
    const WsPyNode *params = p->kernel->kid[0];
    py_leave_chosen(p, args);
    g_ptr_array_set_size(p->missing, 0);
    for (guint i = 0; i < params->n; i++) {
        const WsPyNode *param = params->kid[i];
        const Val *said = py_defined(p, param->text);
        if (said)
            args[i] = said;
        const gboolean open = args[i] && args[i]->kind == VAL_PARAM;
        if (is_constexpr(param) && (open || (!args[i] && is_none(param->kid[1]))) &&
            !g_hash_table_contains(p->globals, param->text))
            g_ptr_array_add(p->missing, (gpointer)param);
    }
    if (p->missing->len)
        return FALSE;
    for (guint i = 0; i < params->n; i++) {
        const Val *v = is_constexpr(params->kid[i]) ? args[i] : NULL;
        if (v && v->kind == VAL_INT)
            ws_expr_visit(v->e, note_constant, p->constants);
    }
    py_mesh_ahead(p, args);
    p->args = args;
    p->in_kernel = TRUE;
    py_law_decorators(p, p->kernel);
    if (p->alone)
        py_one_group(p, args, at);
    else
        py_with_partitions(p, args, at);
    p->args = NULL;
    p->in_kernel = FALSE;
    p->entered = TRUE;
    return TRUE;
}

/* Options of a launch: those that are read, and those that change nothing of what is judged. */
static void option(PyRead *p, const WsPyNode *arg, const Val *v)
{
    static const char *const numbers[] = { "num_warps", "num_ctas", "maxnreg" };
    gint64 n;
    gboolean read = FALSE;
    for (guint k = 0; k < G_N_ELEMENTS(numbers); k++) {
        if (strcmp(arg->text, numbers[k]))
            continue;
        read = TRUE;
        if (v->kind != VAL_NONE && !py_known(v, &n))
            py_unread(p, arg, ws_source_format(p->r, "what %s is", numbers[k]));
    }
    if (!strcmp(arg->text, "num_warps") && py_known(v, &n) && n >= 1 && n <= 16)
        p->num_warps = n;
    if (!strcmp(arg->text, "maxnreg") && py_known(v, &n) && n >= 16 && n <= 255)
        p->maxnreg = n;
    if (!strcmp(arg->text, "num_ctas") && py_known(v, &n) && n >= 1 && n <= 8)
        p->r->cluster = n;
    if (!strcmp(arg->text, "num_ctas") && p->r->cluster > 1)
        py_unread(p, arg, "how the CTAs of a program share its tiles");
    read |= p->amd && py_amd_option(arg->text, v);
    if (!read && !py_law_option(arg->text))
        py_unread(p, arg, ws_source_format(p->r, "the launch option `%s`", arg->text));
}

static void take_keyword(PyRead *p, const WsPyNode *arg, const Val **args)
{
    const WsPyNode *params = p->kernel->kid[0];
    const Val *v = py_eval(p, arg->kid[0]);
    for (guint k = 0; k < params->n; k++)
        if (!strcmp(params->kid[k]->text, arg->text)) {
            args[k] = v;
            return;
        }
    option(p, arg, v);
}

const Val *py_launch(PyRead *p, const WsPyNode *node)
{
    const WsPyNode *f = node->kid[0];
    if (p->in_kernel || f->kind != WS_PY_INDEX || f->kid[0]->kind != WS_PY_NAME || p->entered)
        return NULL;
    const Val *who = py_lookup(p, f->kid[0]->text);
    if (who->kind != VAL_FUNC || who->node != p->kernel)
        return NULL;
    const WsPyNode *params = p->kernel->kid[0];
    g_autofree const Val **args = g_new0(const Val *, params->n + 1);
    guint at = 0;
    p->closure = NULL;
    for (guint i = 1; i < node->n; i++) {
        const WsPyNode *arg = node->kid[i];
        if (arg->kind == WS_PY_KEYWORD) {
            take_keyword(p, arg, args);
        } else if (arg->kind == WS_PY_STAR) {
            const Val *all = py_eval(p, arg->kid[0]);
            if (strcmp(arg->text, "*") || all->kind != VAL_TUPLE)
                py_unread(p, arg, "arguments of the launch that are not written out");
            for (guint k = 0; all->kind == VAL_TUPLE && k < all->n && at < params->n; k++)
                args[at++] = all->item[k];
        } else if (at < params->n) {
            args[at++] = py_eval(p, arg);
        } else {
            py_unread(p, arg, "an argument of the launch that the kernel has no parameter for");
        }
    }
    p->grid = py_eval(p, f->kid[1]);
    for (guint k = 0; k < params->n; k++) /* what the host computed in ways not followed */
        if (args[k] && args[k]->kind == VAL_OPAQUE) {
            args[k] = py_open(p, params->kid[k]->text);
        }
    p->closure = who->closure;
    enter(p, args, node);
    p->closure = NULL;
    return py_none(p);
}

/* --- functions of the host ---------------------------------------------------------------------*/

/* The value of `param` where it is left out, as far as it is an integer that a caller may change.
 */
static gboolean has_example(const WsPyNode *param, gint64 *value)
{
    const WsPyNode *v = param->kid[1];
    *value = v->i;
    return !is_constexpr(param) && v->kind == WS_PY_INT;
}

static gboolean is_cases(const WsPyNode *d)
{
    g_autofree char *name = py_decorator(d);
    return name && g_str_has_suffix(name, "parametrize") && d->kind == WS_PY_CALL && d->n >= 3 &&
           d->kid[1]->kind == WS_PY_STRING;
}

void py_note_cases(PyRead *p, const WsPyNode *decorator)
{
    if (is_cases(decorator))
        g_hash_table_insert(p->cases, (gpointer)decorator, (gpointer)py_eval(p, decorator->kid[2]));
}

/* The first case of @pytest.mark.parametrize("a, b", [(1, 2), …]) that names the parameter. */
static const Val *first_case(PyRead *p, const WsPyNode *function, const char *param)
{
    for (guint k = 2; k < function->n; k++) {
        const WsPyNode *d = function->kid[k];
        if (!is_cases(d))
            continue;
        g_autofree char *names = g_strdup(d->kid[1]->text);
        g_strdelimit(names, "\"' ", ',');
        g_auto(GStrv) word = g_strsplit(names, ",", -1);
        const Val *noted = g_hash_table_lookup(p->cases, d);
        const Val *cases = noted ? noted : py_eval(p, d->kid[2]);
        const Val *one = cases->kind == VAL_TUPLE && cases->n ? cases->item[0] : NULL;
        guint n = 0, at = G_MAXUINT;
        for (guint i = 0; word[i]; i++) {
            if (!strcmp(word[i], param))
                at = n;
            n += *word[i] != '\0';
        }
        if (at == G_MAXUINT || !one)
            continue;
        return n == 1 ? one : one->kind == VAL_TUPLE && at < one->n ? one->item[at] : NULL;
    }
    return NULL;
}

/* Arguments of a call from outside the file: what is defined, cases of tests, sizes where `open`
 * says so, else the defaults. */
static const Val **from_outside(PyRead *p, const WsPyNode *function, guint64 open)
{
    const WsPyNode *params = function->kid[0];
    const Val **args = g_new0(const Val *, params->n + 1);
    gint64 example;
    for (guint i = 0; i < MIN(params->n, 64); i++) {
        const WsPyNode *param = params->kid[i];
        args[i] = py_defined(p, param->text);
        if (!args[i] && is_none(param->kid[1]))
            args[i] = first_case(p, function, param->text);
        if (!args[i] && (open >> i & 1) && has_example(param, &example)) {
            g_autofree char *owner = g_strdup_printf("parameter %s", param->text);
            args[i] = py_int(
                p, ws_x_name(p->r, ws_source_size_of(p->r, owner, param->text, MAX(example, 0))));
        }
    }
    return args;
}

static gboolean calls_by_name(const WsPyNode *node, const char *name)
{
    if (node->kind == WS_PY_CALL && node->kid[0]->kind == WS_PY_NAME &&
        !strcmp(node->kid[0]->text, name))
        return TRUE;
    for (guint i = 0; i < node->n; i++)
        if (calls_by_name(node->kid[i], name))
            return TRUE;
    return FALSE;
}

typedef struct {
    const char *name;
    gboolean again;
} Hidden;

static void note_hidden(const char *name, const WsPyNode *at, gpointer data)
{
    Hidden *h = data;
    h->again |= at->kind == WS_PY_DEF && !strcmp(name, h->name);
}

/* Another function of the module takes its name. */
static gboolean is_hidden(const WsPyNode *module, guint at)
{
    Hidden h = { module->kid[at]->text, FALSE };
    for (guint i = at + 1; i < module->n; i++)
        py_bound_names(module->kid[i], note_hidden, &h);
    return h.again;
}

#define MOST_HOSTS 32

/* Functions of the module that lead to the launch: those that hold it, then who calls them; none
 * that runs on the GPU, as a kernel that names itself. */
static GPtrArray *hosts_of(const WsPyNode *module, const PyKernel *kernel)
{
    GPtrArray *hosts = g_ptr_array_new();
    if (kernel->host)
        g_ptr_array_add(hosts, (gpointer)kernel->host);
    for (guint i = 0; !kernel->host && i < module->n; i++)
        if (module->kid[i]->kind == WS_PY_DEF && hosts->len < MOST_HOSTS &&
            module->kid[i] != kernel->node && !py_is_jit(module->kid[i]) &&
            py_launches(module->kid[i]->kid[1], kernel->node->text) && !is_hidden(module, i))
            g_ptr_array_add(hosts, module->kid[i]);
    for (guint at = 0; at < hosts->len && hosts->len < MOST_HOSTS; at++) {
        const WsPyNode *callee = g_ptr_array_index(hosts, at);
        for (guint i = 0; i < module->n; i++) {
            const WsPyNode *f = module->kid[i];
            if (f->kind == WS_PY_DEF && f != callee && f != kernel->node && !py_is_jit(f) &&
                calls_by_name(f->kid[1], callee->text) && !g_ptr_array_find(hosts, f, NULL) &&
                !is_hidden(module, i))
                g_ptr_array_add(hosts, (gpointer)f);
        }
    }
    return hosts;
}

gboolean py_leads_to_launch(const PyRead *p, const WsPyNode *node)
{
    if (py_launches(node, p->kernel->text))
        return TRUE;
    for (guint i = 0; p->hosts && i < p->hosts->len; i++)
        if (calls_by_name(node, ((const WsPyNode *)g_ptr_array_index(p->hosts, i))->text))
            return TRUE;
    return FALSE;
}

/* A name in the kernel, or in functions of the file that it names, that comes from a module with
 * `part` in its name; NULL: there is none. */
static const char *word_from(const PyRead *p, const WsPyNode *node, const char *part, guint depth)
{
    const char *dotted =
        node->kind == WS_PY_NAME ? g_hash_table_lookup(p->aliases, node->text) : NULL;
    if (dotted && strstr(dotted, part))
        return node->text;
    const Val *own =
        node->kind == WS_PY_NAME && depth < 6 ? g_hash_table_lookup(p->globals, node->text) : NULL;
    const char *word = own && own->kind == VAL_FUNC && own->node != node
                           ? word_from(p, own->node->kid[1], part, depth + 1)
                           : NULL;
    for (guint i = 0; !word && i < node->n; i++)
        word = word_from(p, node->kid[i], part, depth);
    return word;
}

/* Kernels of other languages and of other machines are refused by name. */
static gboolean refused(PyRead *p, const WsPyNode *kernel, gboolean missing)
{
    for (guint from = 0; from < WS_IMPORT_FROM_COUNT; from++) {
        const char *mark = from == p->from ? NULL : ws_import_from_mark((WsImportFrom)from);
        const char *word = mark ? word_from(p, kernel->kid[1], mark, 0) : NULL;
        if (!word)
            continue;
        const char *name = ws_import_from_text((WsImportFrom)from);
        g_autofree char *language = g_ascii_strup(name, -1);
        const char *own = ws_import_from_mark(p->from); /* read as that, it stands in the way */
        const gboolean both = own && word_from(p, kernel->kid[1], own, 0);
        return !ws_source_fail(p->r, kernel->line, kernel->column,
                               both ? "Import a kernel of one language."
                                    : ws_source_format(p->r, "Say --from %s.", name),
                               "`%s` is written in %s (`%s`)", kernel->text, language, word);
    }
    static const char *const words[] = { ".blackwell.tcgen05", ".blackwell.TensorMemory",
                                         ".blackwell.allocate_tensor_memory", ".blackwell.clc" };
    const char *blackwell = NULL;
    for (guint i = 0; missing && !blackwell && i < G_N_ELEMENTS(words); i++)
        blackwell = word_from(p, kernel->kid[1], words[i], 0);
    if (blackwell)
        return !ws_source_fail(p->r, kernel->line, kernel->column, "Import the kernel for Hopper.",
                               "`%s` is a kernel for Blackwell (`%s`); kernels are read for Hopper",
                               kernel->text, blackwell);
    return FALSE;
}

void py_never_behind(PyRead *p, const WsPyNode *node)
{
    if (!p->in_kernel && !p->entered && !p->unsure && !p->probing && !p->never)
        p->never = node;
}

static void say_missing(PyRead *p, const GPtrArray *missing)
{
    const WsPyNode *first = missing->pdata[0];
    g_autoptr(GString) names = g_string_new(NULL), say = g_string_new("Say");
    for (guint i = 0; i < missing->len; i++) {
        const char *name = ((const WsPyNode *)missing->pdata[i])->text;
        g_string_append_printf(names, "%s`%s`",
                               !i                     ? ""
                               : i + 1 < missing->len ? ", "
                                                      : " and ",
                               name);
        g_string_append_printf(say, " --define %s=…", name);
    }
    g_string_append(say, ", or let the file launch the kernel with numbers.");
    const gboolean one = missing->len == 1;
    ws_source_fail(p->r, first->line, first->column, say->str,
                   "the constexpr parameter%s %s %s no value", one ? "" : "s", names->str,
                   one ? "has" : "have");
}

void py_run_host(PyRead *p, const PyKernel *kernel)
{
    if (refused(p, kernel->node, FALSE))
        return;
    g_autoptr(GPtrArray) hosts = hosts_of(ws_python_module(p->py), kernel);
    guint64 open = p->way.open;
    py_plain_file(p, ws_python_module(p->py));
    py_plain_kernel(p, kernel->node);
    p->hosts = hosts;
    for (guint i = p->way.host; i < hosts->len && !p->entered && !*p->r->error; i++) {
        const WsPyNode *f = g_ptr_array_index(hosts, i);
        g_autofree const Val **args = from_outside(p, f, open);
        open = 0; /* of the first of them */
        const guint assumed = p->r->assume->len;
        p->never = NULL;
        py_call(p, f, args, f);
        if (!p->entered) { /* another one leads to the launch */
            g_ptr_array_set_size(p->r->assume, (gint)assumed);
            g_array_set_size(p->passed, 0);
            g_hash_table_remove_all(p->r->opened);
        }
    }
    p->hosts = NULL;
    const WsPyNode *never = p->entered ? p->never : p->ended;
    if (never && !*p->r->error) {
        const gboolean in_kernel = p->in_kernel;
        p->in_kernel = FALSE;
        py_unread(p, never, "the launch after this line, which the host never passes");
        p->in_kernel = in_kernel;
    }
    if (p->entered)
        py_passed_granted(p->r, p->passed);
    g_autoptr(GPtrArray) missing = g_ptr_array_copy(p->missing, NULL, NULL); /* by a host */
    if (!p->entered && !*p->r->error) {
        g_autofree const Val **args = from_outside(p, kernel->node, hosts->len ? 0 : open);
        if (!enter(p, args, kernel->node) && !refused(p, kernel->node, TRUE))
            say_missing(p, missing->len ? missing : p->missing);
    }
}

/* --- what a reading holds for ------------------------------------------------------------------*/

static const PyKernel *chosen(const GArray *kernels, const WsPythonWay *way)
{
    return way->kernel < kernels->len ? &g_array_index(kernels, PyKernel, way->kernel) : NULL;
}

guint ws_import_python_hosts(const WsPython *py, const WsPythonWay *way)
{
    g_autoptr(GArray) kernels = py_kernels(ws_python_module(py));
    const PyKernel *kernel = chosen(kernels, way);
    g_autoptr(GPtrArray) hosts = kernel ? hosts_of(ws_python_module(py), kernel) : NULL;
    return hosts ? hosts->len : 0;
}

/* The function that is called from outside the file; NULL: there is no kernel. */
static const WsPyNode *entered(const WsPyNode *module, const PyKernel *kernel, guint host)
{
    g_autoptr(GPtrArray) hosts = kernel ? hosts_of(module, kernel) : NULL;
    return !kernel ? NULL : host < hosts->len ? g_ptr_array_index(hosts, host) : kernel->node;
}

guint64 ws_import_python_defaults(const WsPython *py, const WsPythonWay *way)
{
    const WsPyNode *module = ws_python_module(py);
    g_autoptr(GArray) kernels = py_kernels(module);
    const WsPyNode *f = entered(module, chosen(kernels, way), way->host);
    guint64 found = 0;
    gint64 example;
    for (guint i = 0; f && i < MIN(f->kid[0]->n, 64); i++)
        if (has_example(f->kid[0]->kid[i], &example))
            found |= (guint64)1 << i;
    return found;
}

char *ws_import_python_given(const WsPython *py, const WsPythonWay *way)
{
    const WsPyNode *module = ws_python_module(py);
    g_autoptr(GArray) kernels = py_kernels(module);
    const PyKernel *kernel = chosen(kernels, way);
    const WsPyNode *f = entered(module, kernel, way->host);
    GString *s = g_string_new(NULL);
    gint64 example;
    for (guint i = 0; way->define && way->define[i]; i++)
        g_string_append_printf(s, "%s%s", s->len ? ", " : "", way->define[i]);
    for (guint i = 0; f && i < f->kid[0]->n; i++) {
        const WsPyNode *param = f->kid[0]->kid[i], *v = param->kid[1];
        const gboolean number = has_example(param, &example) && !(i < 64 && (way->open >> i & 1));
        const gboolean flag =
            v->kind == WS_PY_CONST && !is_none(v) && strcmp(v->text, "...") && !is_constexpr(param);
        if (number)
            g_string_append_printf(s, "%s%s = %" G_GINT64_FORMAT, s->len ? ", " : "", param->text,
                                   example);
        else if (flag)
            g_string_append_printf(s, "%s%s = %s", s->len ? ", " : "", param->text, v->text);
    }
    if (kernel && kernel->launches >= PY_LAUNCHES_MANY)
        g_string_append_printf(s, "%sthe first of its launches in a loop", s->len ? "; " : "");
    else if (kernel && kernel->launches > 1)
        g_string_append_printf(s, "%sthe first of its %u launches", s->len ? "; " : "",
                               kernel->launches);
    if (kernel && kernel->handed_on)
        g_string_append_printf(s, "%sthe launches by %s[…] of line %u left out", s->len ? "; " : "",
                               kernel->node->text, kernel->handed_on->line);
    return g_string_free(s, !s->len);
}
