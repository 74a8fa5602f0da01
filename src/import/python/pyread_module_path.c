#include "import/python/pyread_module_path.h"

#include <string.h>

static gboolean is_file(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* The package's own file, which Python runs before what lies in it: blank lines and comments do
 * nothing. */
static gboolean does_nothing(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "__init__.py", NULL), *text = NULL;
    gsize bytes;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return TRUE;
    if (!g_file_get_contents(path, &text, &bytes, NULL) || strlen(text) != bytes)
        return FALSE;
    if (strchr(text, '\r') || strstr(text, "coding")) /* other lines, or another text */
        return FALSE;
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (guint i = 0; line[i]; i++) {
        const char *word = line[i] + strspn(line[i], " \t");
        if (*word && *word != '#')
            return FALSE;
    }
    return TRUE;
}

static char *run_before(const char *folder)
{
    g_autofree char *name = g_path_get_basename(folder);
    return does_nothing(folder) ? NULL : g_strdup_printf("%s/__init__.py is run before it", name);
}

/* A compiled module, which Python looks for before the text. */
static gboolean is_compiled(const char *folder, const char *name)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autofree char *first = g_strconcat(name, ".", NULL);
    for (const char *entry; dir && (entry = g_dir_read_name(dir));)
        if (g_str_has_prefix(entry, first) &&
            (g_str_has_suffix(entry, ".so") || g_str_has_suffix(entry, ".pyd")))
            return TRUE;
    return FALSE;
}

/* The file below `folder`, and whether anything else there has the name. */
static char *below(const char *folder, char *const *part, char **why)
{
    g_autofree char *at = g_strdup(folder);
    guint i = 0;
    for (; part[i + 1]; i++) {
        g_autofree char *file = g_strconcat(part[i], ".py", NULL);
        char *in = g_build_filename(at, part[i], NULL);
        if (is_file(at, file))
            *why = g_strdup_printf("%s is a file, too", file);
        else if (is_compiled(at, part[i]))
            *why = g_strdup_printf("%s is a compiled module, too", part[i]);
        g_free(at);
        at = in;
        if (!*why && g_file_test(at, G_FILE_TEST_IS_DIR))
            *why = run_before(at);
        if (*why)
            return NULL;
    }
    g_autofree char *name = g_strconcat(part[i], ".py", NULL);
    g_autofree char *package = g_build_filename(at, part[i], "__init__.py", NULL);
    char *path = g_build_filename(at, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        if (is_compiled(at, part[i]))
            *why = g_strdup_printf("%s is a compiled module, too", part[i]);
        else if (g_file_test(package, G_FILE_TEST_EXISTS))
            *why = g_strdup_printf("%s is a package, too", part[i]);
        else
            return path;
    }
    g_free(path);
    return NULL;
}

/* Python looks no further where it has found the first part. */
static gboolean ends_here(const char *folder, const char *first)
{
    g_autofree char *file = g_strconcat(first, ".py", NULL);
    g_autofree char *package = g_build_filename(first, "__init__.py", NULL);
    return is_file(folder, file) || is_file(folder, package);
}

static gboolean is_own(const char *name)
{
    static const char *const own[] = {
#define WS_PY_OWN(name) name,
#include "import/python/pyread_own_modules.def"
#undef WS_PY_OWN
    };
    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (!strcmp(own[i], name))
            return TRUE;
    return FALSE;
}

/* Folders without a file of their own are one package together, and come behind any other. */
static gboolean is_elsewhere(const char *root, char *const *folders, guint but, const char *first)
{
    g_autofree char *file = g_strconcat(first, ".py", NULL);
    for (guint i = 0; i == 0 || folders[i - 1]; i++) {
        const char *folder = i ? folders[i - 1] : root;
        if (i != but && (is_file(folder, first) || is_file(folder, file)))
            return TRUE;
    }
    return FALSE;
}

char *ws_py_module_path(const char *root, char *const *folders, const char *beside,
                        const char *module, char **why)
{
    const guint dots = (guint)strspn(module, ".");
    g_auto(GStrv) part = g_strsplit(module + dots, ".", -1);
    *why = NULL;
    if (!*module || !part[0] || !*part[0])
        return NULL;
    if (dots) {
        g_autofree char *up = g_strdup(beside);
        for (guint i = 1; i < dots && !*why; i++) {
            char *higher = g_path_get_dirname(up);
            *why = run_before(up);
            g_free(up);
            up = higher;
        }
        *why = *why ? *why : run_before(up);
        return *why ? NULL : below(up, part, why);
    }
    for (guint i = 0; i == 0 || folders[i - 1]; i++) {
        const char *folder = i ? folders[i - 1] : root;
        char *path = below(folder, part, why);
        const gboolean ends = ends_here(folder, part[0]);
        if (path && is_own(part[0]))
            *why = g_strdup_printf("Python has a module %s itself", part[0]);
        else if (path && part[1] && !ends && is_elsewhere(root, folders, i, part[0]))
            *why = g_strdup_printf("%s lies in more than one folder", part[0]);
        if (*why)
            g_clear_pointer(&path, g_free);
        if (path || *why || ends)
            return path;
    }
    return NULL;
}

gboolean ws_py_other_encoding(const char *text)
{
    g_auto(GStrv) line = g_strsplit_set(text, "\r\n", 4);
    for (guint i = 0; line[i] && i < 3; i++) {
        g_autofree char *low = g_ascii_strdown(line[i], -1);
        const char *at = strstr(low, "coding");
        if (at && !g_str_has_prefix(at, "coding: utf-8") && !g_str_has_prefix(at, "coding:utf-8") &&
            !g_str_has_prefix(at, "coding=utf-8"))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_py_is_main(const WsPyNode *statement)
{
    const WsPyNode *c = statement->kind == WS_PY_IF ? statement->kid[0] : NULL;
    return c && c->kind == WS_PY_BINARY && !strcmp(c->text, "==") &&
           c->kid[0]->kind == WS_PY_NAME && !strcmp(c->kid[0]->text, "__name__") &&
           c->kid[1]->kind == WS_PY_STRING && !strcmp(c->kid[1]->text, "\"__main__\"");
}

gboolean ws_py_is_script(const char *path, const WsPyNode *module)
{
    g_autofree char *folder = g_path_get_dirname(path);
    gboolean is = FALSE;
    for (guint i = 0; i < module->n; i++)
        is |= ws_py_is_main(module->kid[i]);
    return is && !is_file(folder, "__init__.py");
}

guint ws_py_packages(guint importer, const char *module)
{
    const guint dots = (guint)strspn(module, ".");
    guint inner = 0;
    for (const char *at = module + dots; (at = strchr(at, '.')); at++)
        inner++;
    return !dots ? inner : importer == G_MAXUINT ? G_MAXUINT : importer + 1 - dots + inner;
}
