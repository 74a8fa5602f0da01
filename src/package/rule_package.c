/* Packages with several builds and the rule that picks among them. */
#include "base/folder.h"
#include "package/launch_text.h"
#include "package/name.h"
#include "package/rule.h"
#include "package/tables.h"
#include "package/template.h"
#include "package/wheel.h"
#include "program/parts/variable.h"
#include "program/program.h"

#include <string.h>

#include "bench.inc"
#include "header.inc"
#include "licence.inc"
#include "module.inc"
#include "python.inc"
#include "rule.inc"
#include "rule_readme.inc"

/* --- builds that one function can be for ------------------------------------------------------ */
static void put_variables(GString *out, const WsProgram *p, WsVarKind kind)
{
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == kind)
            g_string_append_printf(out, " %s", p->var[i].name);
}

/* Tensors, sizes and scalars, as text that two builds must share. */
static char *interface_of(const WsProgram *p, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (guint t = 0; t < p->n_tensors; t++) {
        const WsTensor *x = &p->tensor[t];
        g_string_append_printf(out, "%s %s %s [", x->name, ws_package_dtype(x->dtype)->torch,
                               ws_package_access(x->access));
        for (guint d = 0; d < x->rank; d++) {
            if (!ws_launch_text(out, p, x->shape[d], WS_TEXT_PYTHON, error))
                return NULL;
            g_string_append(out, " by ");
            if (!ws_package_stride(out, p, t, d, TRUE, error))
                return NULL;
            g_string_append(out, d + 1 < x->rank ? ", " : "]; ");
        }
    }
    g_string_append(out, "sizes");
    put_variables(out, p, WS_VAR_SIZE);
    g_string_append(out, "; scalars");
    put_variables(out, p, WS_VAR_SCALAR);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static gboolean alike(const WsRulePackage *r, GError **error)
{
    g_autofree char *first = interface_of(r->build[0].program, error);
    if (!first)
        return FALSE;
    for (guint i = 1; i < r->n; i++) {
        g_autofree char *other = interface_of(r->build[i].program, error);
        if (!other)
            return FALSE;
        if (strcmp(first, other) == 0)
            continue;
        g_set_error(
            error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_RULE,
            "%s and %s are not called the same way, so that no one function is for both: %s | %s",
            r->label[0], r->label[i], first, other);
        return FALSE;
    }
    return TRUE;
}

/* --- texts
 * ----------------------------------------------------------------------------------------- */
static char *build_name(const WsRulePackage *r, guint i)
{
    return g_strdup_printf("%s_b%u", r->name, i);
}

/* Of everything that is in it: the designs and the rule. */
static char *hash_of(const WsRulePackage *r)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)r->rule_text, -1);
    for (guint i = 0; i < r->n; i++) {
        const char *hash = r->build[i].program->design_hash;
        g_checksum_update(sum, (const guchar *)(hash ? hash : "-"), -1);
    }
    return g_strdup(g_checksum_get_string(sum));
}

/* The first word of each outcome, once; the README says all of each. */
static char *outcome_of(const WsRulePackage *r)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < r->n; i++) {
        const char *whole = r->build[i].outcome ? r->build[i].outcome : "unknown";
        g_autofree char *one = g_strndup(whole, strcspn(whole, " "));
        if (!strstr(out->str, one))
            g_string_append_printf(out, "%s%s", out->len ? ", " : "", one);
    }
    return g_string_free(out, FALSE);
}

static void put_common(const WsRulePackage *r, GHashTable *words)
{
    g_autofree char *hash = hash_of(r), *outcome = outcome_of(r);
    ws_package_word(words, "HASH", g_strdup(hash));
    ws_package_word(words, "OUTCOME", g_strescape(outcome, NULL));
    ws_package_word(words, "RULE_FILE", g_strdup(r->file));
    ws_package_word(words, "BUILDS", g_strdup_printf("%u", r->n));
    if (!r->version)
        ws_package_word(words, "VERSION", g_strdup_printf("%s+%.8s", WARPSTAVE_VERSION, hash));
}

static WsPackageSpec first_of(const WsRulePackage *r)
{
    WsPackageSpec first = r->build[0];
    first.name = r->name;
    first.version = r->version;
    return first;
}

static char *header(const WsRulePackage *r, GError **error)
{
    const WsPackageSpec first = first_of(r);
    g_autoptr(GHashTable) words = ws_package_words_c(&first, error);
    if (!words)
        return NULL;
    put_common(r, words);
    ws_package_word(words, "OPENS",
                    g_strdup_printf("/* Loads all builds into the current context. */\n"
                                    "%s_status %s_open_linked(%s **kernel);\n",
                                    r->name, r->name, r->name));
    ws_package_word(
        words, "CHOICE_H",
        g_strdup_printf("/* Which build a launch with these sizes takes, from 0; its name. */\n"
                        "int %s_choice(const %s_arguments *arguments);\n"
                        "const char *%s_choice_name(int choice);\n",
                        r->name, r->name, r->name));
    return ws_template_fill(header_h, words);
}

/* Lines of rule.c.in for each build: @ is the package's name, % the build's, $ its number. */
static char *each(const WsRulePackage *r, const char *form)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < r->n; i++) {
        g_autofree char *build = build_name(r, i);
        for (const char *c = form; *c; c++) {
            if (*c == '%')
                g_string_append(out, build);
            else if (*c == '@')
                g_string_append(out, r->name);
            else if (*c == '$')
                g_string_append_printf(out, "%u", i);
            else
                g_string_append_c(out, *c);
        }
    }
    return g_string_free(out, FALSE);
}

static const struct {
    const char *word, *form;
} per_build[] = {
    { "INCLUDES", "#include \"%.h\"\n" },
    { "HANDLES", "    % *b$;\n" },
    { "OPEN_ALL", "    if ((code = (int)%_open_linked(&k->b$)) != 0) {\n        const @_status "
                  "status = fail((@_status)code, %_error());\n"
                  "        @_close(k);\n        return status;\n    }\n" },
    { "CLOSE_ALL", "    %_close(k->b$);\n" },
    { "DESCRIBE_ALL",
      "    case $: {\n        %_arguments own;\n        %_layout l;\n        memcpy(&own, a, "
      "sizeof own);\n"
      "        status = (@_status)%_describe(&own, &l);\n        memcpy(layout, &l, sizeof l);\n"
      "        if (status)\n            fail(status, %_error());\n        break;\n    }\n" },
    { "LAUNCH_ALL",
      "    case $: {\n        %_arguments own;\n        %_layout l;\n        memcpy(&own, a, "
      "sizeof own);\n"
      "        if (layout)\n            memcpy(&l, layout, sizeof l);\n"
      "        status = (@_status)%_launch_strided(k->b$, &own, layout ? &l : NULL, stream);\n"
      "        if (status)\n            fail(status, %_error());\n        break;\n    }\n" },
};

static char *launcher(const WsRulePackage *r, GError **error)
{
    const WsPackageSpec first = first_of(r);
    g_autoptr(GHashTable) words = ws_package_words(&first);
    g_autoptr(GString) rule = g_string_new(NULL);
    g_autoptr(GString) names = g_string_new(NULL);
    if (!ws_shape_rule_text(rule, r->rule, first.program, r->fixed, error))
        return NULL;
    for (guint i = 0; i < r->n; i++) {
        g_autofree char *quoted = g_strescape(r->label[i], NULL);
        g_string_append_printf(names, "%s\"%s\"", i ? ", " : "", quoted);
    }
    put_common(r, words);
    for (guint i = 0; i < G_N_ELEMENTS(per_build); i++)
        ws_package_word(words, per_build[i].word, each(r, per_build[i].form));
    ws_package_word(words, "CHOICE_NAMES", g_strdup(names->str));
    ws_package_word(words, "RULE", g_strdup(rule->str));
    ws_package_word(words, "ARITHMETIC", g_strdup(ws_package_arithmetic()));
    return ws_template_fill(rule_c, words);
}

static char *extension(const WsRulePackage *r)
{
    static const char choice[] =
        "/* choice(sizes): the build's name. */\n"
        "static PyObject *choice(PyObject *self, PyObject *const *given, Py_ssize_t n)\n{\n    "
        "(void)self;\n"
        "    @_arguments a;\n    memset(&a, 0, sizeof a);\n"
        "    if (n != 1 || PyTuple_Size(given[0]) != SIZES)\n"
        "        return PyErr_Format(PyExc_TypeError, \"@: choice(sizes)\");\n"
        "    for (int s = 0; s < SIZES; s++) {\n"
        "        const int64_t value = PyLong_AsLongLong(PyTuple_GetItem(given[0], s));\n"
        "        memcpy((char *)&a + size[s].at, &value, sizeof value);\n    }\n"
        "    return PyErr_Occurred() ? NULL : "
        "PyUnicode_FromString(@_choice_name(@_choice(&a)));\n}\n\n";
    const WsPackageSpec first = first_of(r);
    WsRulePackage one = *r;
    one.n = 1;
    g_autoptr(GHashTable) words = ws_package_words_extension(&first);
    g_autoptr(GString) sources = g_string_new(NULL);
    put_common(r, words);
    g_string_append_printf(sources, "%s.c %s_b?.c %s_b*_kernel.c %s_python.c", r->name, r->name,
                           r->name, r->name);
    ws_package_word(words, "SOURCES", g_strdup(sources->str));
    ws_package_word(words, "CHOICE_C", each(&one, choice));
    ws_package_word(
        words, "CHOICE_METHOD",
        g_strdup(
            "                                 { \"choice\", choice, METH_FASTCALL, NULL },\n"));
    return ws_template_fill(python_c, words);
}

static char *module(const WsRulePackage *r, GError **error)
{
    static const char choice[] =
        "if _extension is None:\n"
        "    raise ImportError(\"@: _@.abi3.so is not beside this file; build it as the head of "
        "@_python.c says\")\n\n\n"
        "def choice(**sizes):\n"
        "    \"\"\"The build that the rule picks for these sizes: its design and settings.\"\"\"\n"
        "    return _extension.choice(tuple(operator.index(sizes[name]) for name in _SIZES))\n\n\n";
    const WsPackageSpec first = first_of(r);
    WsRulePackage one = *r;
    one.n = 1;
    g_autoptr(GHashTable) words = ws_package_words_python(&first, error);
    if (!words)
        return NULL;
    put_common(r, words);
    /* what is assumed differs from build to build: the launcher of the one that is picked looks */
    ws_package_word(words, "CHECKS", g_strdup(""));
    ws_package_word(words, "CHOICE_PY", each(&one, choice));
    return ws_template_fill(module_py, words);
}

static char *readme(const WsRulePackage *r)
{
    const WsPackageSpec first = first_of(r);
    const WsProgram *p = first.program;
    g_autoptr(GHashTable) words = ws_package_words(&first);
    g_autoptr(GString) rows = g_string_new(NULL);
    g_autoptr(GString) in = g_string_new(NULL);
    for (guint i = 0; i < r->n; i++) {
        g_string_append(rows, "| `");
        ws_package_cell(rows, r->label[i]);
        g_string_append(rows, "` | ");
        ws_package_cell(rows, r->build[i].outcome ? r->build[i].outcome : "unknown");
        g_string_append(rows, " |\n");
    }
    for (guint t = 0; t < p->n_tensors; t++)
        if (p->tensor[t].access == WS_ACCESS_READ) {
            g_autofree char *name = ws_launch_ident(p->tensor[t].name);
            g_string_append_printf(in, "%s%s", in->len ? ", " : "", name);
        }
    put_common(r, words);
    ws_package_word(words, "BUILD_ROWS", g_strdup(rows->str));
    ws_package_word(words, "EXAMPLE_PYTHON", g_strdup_printf("result = %s(%s)", r->name, in->str));
    return ws_template_fill(rule_readme, words);
}

/* --- files
 * ----------------------------------------------------------------------------------------- */
typedef struct {
    GPtrArray *name, *text; /* in pairs */
} Files;

static void files_clear(Files *f)
{
    g_clear_pointer(&f->name, g_ptr_array_unref);
    g_clear_pointer(&f->text, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Files, files_clear)

static gboolean add(Files *f, char *name, char *text)
{
    if (!text) {
        g_free(name);
        return FALSE;
    }
    g_ptr_array_add(f->name, name);
    g_ptr_array_add(f->text, text);
    return TRUE;
}

/* The C of all builds and of the rule. */
static gboolean add_sources(Files *f, const WsRulePackage *r, GError **error)
{
    for (guint i = 0; i < r->n; i++) {
        g_autofree char *name = build_name(r, i);
        WsPackageSpec one = r->build[i];
        one.name = name;
        if (!ws_package_check(&one, error) ||
            !add(f, g_strconcat(name, ".h", NULL), ws_package_header(&one, error)) ||
            !add(f, g_strconcat(name, ".c", NULL), ws_package_launcher(&one, error)) ||
            !add(f, g_strconcat(name, "_kernel.c", NULL), ws_package_kernel(&one, "kernel.cubin")))
            return FALSE;
    }
    return add(f, g_strconcat(r->name, ".c", NULL), launcher(r, error));
}

static gboolean make(Files *f, const WsRulePackage *r, GError **error)
{
    const WsPackageSpec first = first_of(r);
    f->name = g_ptr_array_new_with_free_func(g_free);
    f->text = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) rule =
        g_string_new(NULL); /* a name that is missing tells more than builds that differ by it */
    return ws_package_check(&first, error) &&
           ws_shape_rule_text(rule, r->rule, first.program, r->fixed, error) && alike(r, error) &&
           add_sources(f, r, error);
}

static char *bench(const WsRulePackage *r)
{
    const WsPackageSpec first = first_of(r);
    g_autoptr(GHashTable) words = ws_package_words_wheel(&first);
    return ws_template_fill(bench_py, words);
}

gboolean ws_package_rule_write(const WsRulePackage *r, const char *dir, GError **error)
{
    g_auto(Files) f = { 0 };
    g_autofree char *hash = hash_of(r);
    if (!make(&f, r, error) || !add(&f, g_strconcat(r->name, ".h", NULL), header(r, error)) ||
        !add(&f, g_strconcat(r->name, ".py", NULL), module(r, error)))
        return FALSE;
    add(&f, g_strconcat(r->name, "_python.c", NULL), extension(r));
    add(&f, g_strconcat(r->name, ".pick", NULL), g_strdup(r->rule_text));
    add(&f, g_strdup("README.md"), readme(r));
    add(&f, g_strdup("LICENSE"), g_strdup(licence_text));
    add(&f, g_strdup("bench.py"), bench(r));
    for (guint i = 0; i < r->n; i++)
        add(&f, g_strdup_printf("design_b%u.wstave", i),
            g_strdup(r->build[i].program->design_text));
    add(&f, g_strdup(WS_PACKAGE_MARK),
        g_strdup_printf("warpstave-package 1\nname %s\nhash %s\nmade-by warpstave %s\n", r->name,
                        hash, WARPSTAVE_VERSION));
    g_autofree char *part = ws_folder_begin(dir, WS_PACKAGE_MARK, "a package", error);
    gboolean ok = part != NULL;
    for (guint i = 0; ok && i < f.name->len; i++)
        ok = ws_folder_put_text(part, f.name->pdata[i], f.text->pdata[i], error);
    if (ok && ws_folder_commit(part, dir, "a package", error))
        return TRUE;
    if (part)
        ws_folder_remove(part);
    return FALSE;
}

static void add_text(GPtrArray *files, const char *name, char *text)
{
    g_ptr_array_add(files, ws_wheel_file(name, g_bytes_new_take(text, strlen(text))));
}

char *ws_package_rule_wheel(const WsRulePackage *r, const char *wheels, GError **error)
{
    g_auto(Files) f = { 0 };
    const WsPackageSpec first = first_of(r);
    g_autofree char *head = NULL, *python = NULL, *c = NULL, *about = NULL;
    if (!make(&f, r, error) || !(head = header(r, error)) || !(python = module(r, error)))
        return NULL;
    c = extension(r), about = readme(r);
    g_autoptr(GHashTable) words = ws_package_words_wheel(&first);
    g_autoptr(GPtrArray) source = g_ptr_array_new();
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(ws_wheel_file_free);
    put_common(r, words);
    for (guint i = 0; i < f.name->len; i++) {
        g_ptr_array_add(source, f.name->pdata[i]);
        g_ptr_array_add(source, f.text->pdata[i]);
    }
    g_ptr_array_add(source, NULL);
    g_autofree char *pick = g_strconcat(r->name, ".pick", NULL);
    add_text(files, "__init__.py", g_steal_pointer(&python));
    add_text(files, "bench.py", bench(r));
    add_text(files, "README.md", g_strdup(about));
    add_text(files, pick, g_strdup(r->rule_text));
    const WsWheel wheel = { .name = r->name,
                            .version = g_hash_table_lookup(words, "VERSION"),
                            .words = words,
                            .readme = about,
                            .header = head,
                            .source = (const char *const *)source->pdata,
                            .extension = c,
                            .file = files };
    return ws_wheel_write(&wheel, wheels, error);
}
