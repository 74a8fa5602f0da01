/* Writes a package: texts from templates and tables, then one folder. */
#include "package/package.h"
#include "base/folder.h"
#include "package/launch_text.h"
#include "package/name.h"
#include "package/tables.h"
#include "package/template.h"
#include "package/wheel.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include "bench.inc"
#include "header.inc"
#include "launcher.inc"
#include "licence.inc"
#include "module.inc"
#include "python.inc"

#include <string.h>

char *ws_package_header(const WsPackageSpec *spec, GError **error)
{
    g_autoptr(GHashTable) words = ws_package_words_c(spec, error);
    return words ? ws_template_fill(header_h, words) : NULL;
}

char *ws_package_launcher(const WsPackageSpec *spec, GError **error)
{
    g_autoptr(GHashTable) words = ws_package_words_c(spec, error);
    return words ? ws_template_fill(launcher_c, words) : NULL;
}

char *ws_package_module(const WsPackageSpec *spec, GError **error)
{
    g_autoptr(GHashTable) words = ws_package_words_python(spec, error);
    return words ? ws_template_fill(module_py, words) : NULL;
}

char *ws_package_extension(const WsPackageSpec *spec)
{
    g_autoptr(GHashTable) words = ws_package_words_extension(spec);
    return ws_template_fill(python_c, words);
}

char *ws_package_bench(const WsPackageSpec *spec)
{
    g_autoptr(GHashTable) words = ws_package_words_wheel(spec);
    return ws_template_fill(bench_py, words);
}

void ws_package_put_image(GString *out, const char *name, GBytes *image)
{
    gsize n = 0;
    const guint8 *byte = image ? g_bytes_get_data(image, &n) : NULL;
    g_string_append_printf(out, "static const unsigned char %s[] = {", name);
    for (gsize i = 0; i < n; i++)
        g_string_append_printf(out, "%s%u,", i % 32 ? "" : "\n    ", byte[i]);
    g_string_append(out, "\n    0,\n};\n");
}

char *ws_package_kernel(const WsPackageSpec *spec, const char *file)
{
    GString *out = g_string_new(NULL);
    const char *name = spec->name;
    g_string_append_printf(out, "/* %s: %s. Made by warpstave package. */\n#include \"%s.h\"\n\n",
                           name, file, name);
    ws_package_put_image(out, "image", spec->cubin);
    g_string_append_printf(out,
                           "\n%s_status %s_open_linked(%s **kernel)\n{\n    return "
                           "%s_open_image(kernel, image);\n}\n",
                           name, name, name, name);
    return g_string_free(out, FALSE);
}

gboolean ws_package_check_form(const WsPackageSpec *spec, GError **error)
{
    const WsProgram *p = spec->program;
    if (!ws_package_name_check(spec->name, error))
        return FALSE;
    if (p->tiles->order == WS_ORDER_HILBERT) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                    "tiles: order hilbert needs a table in memory and is not supported by the "
                    "package; use grouped(AXIS, N)");
        return FALSE;
    }
    for (guint m = 0; m < p->n_maps; m++)
        if (p->map[m].rank != p->tensor[p->map[m].tensor].rank) {
            g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                        "tensor map of %s covers %u of %u dimensions: not supported by the package",
                        p->tensor[p->map[m].tensor].name, p->map[m].rank,
                        p->tensor[p->map[m].tensor].rank);
            return FALSE;
        }
    return TRUE;
}

gboolean ws_package_check(const WsPackageSpec *spec, GError **error)
{
    if (!ws_package_check_form(spec, error))
        return FALSE;
    if (!spec->program->mesh)
        return TRUE;
    g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                "devices: not supported by this form of package (its launcher launches on one "
                "device); a folder without a wheel has a module for a process group");
    return FALSE;
}

typedef struct {
    char *header, *launcher, *kernel, *extension, *bench, *module, *readme, *mark;
} Texts;

static void texts_clear(Texts *t)
{
    g_free(t->header);
    g_free(t->launcher);
    g_free(t->kernel);
    g_free(t->extension);
    g_free(t->bench);
    g_free(t->module);
    g_free(t->readme);
    g_free(t->mark);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Texts, texts_clear)

static gboolean put_all(const WsPackageSpec *spec, const Texts *t, const char *dir, GError **error)
{
    g_autofree char *header = g_strconcat(spec->name, ".h", NULL);
    g_autofree char *launcher = g_strconcat(spec->name, ".c", NULL);
    g_autofree char *kernel = g_strconcat(spec->name, "_kernel.c", NULL);
    g_autofree char *extension = g_strconcat(spec->name, "_python.c", NULL);
    g_autofree char *module = g_strconcat(spec->name, ".py", NULL);
    return ws_folder_put_text(dir, header, t->header, error) &&
           ws_folder_put_text(dir, launcher, t->launcher, error) &&
           ws_folder_put_text(dir, kernel, t->kernel, error) &&
           ws_folder_put_text(dir, extension, t->extension, error) &&
           ws_folder_put_text(dir, "bench.py", t->bench, error) &&
           ws_folder_put_text(dir, module, t->module, error) &&
           ws_folder_put_text(dir, "README.md", t->readme, error) &&
           ws_folder_put_text(dir, "LICENSE", spec->licence ? spec->licence : licence_text,
                              error) &&
           ws_folder_put_text(dir, "design.wstave", spec->program->design_text, error) &&
           ws_folder_put_text(dir, "kernel.ptx", spec->ptx, error) &&
           ws_folder_put_bytes(dir, "kernel.cubin", spec->cubin, error) &&
           ws_folder_put_text(dir, WS_PACKAGE_MARK, t->mark, error);
}

static gboolean make_texts(const WsPackageSpec *spec, Texts *t, GError **error)
{
    if (!ws_package_check(spec, error) || !(t->header = ws_package_header(spec, error)) ||
        !(t->launcher = ws_package_launcher(spec, error)) ||
        !(t->module = ws_package_module(spec, error)) ||
        !(t->readme = ws_package_readme(spec, error)))
        return FALSE;
    t->kernel = ws_package_kernel(spec, "kernel.cubin");
    t->extension = ws_package_extension(spec);
    t->bench = ws_package_bench(spec);
    t->mark = g_strdup_printf(
        "warpstave-package 1\nname %s\nhash %s\nmade-by warpstave %s\n", spec->name,
        spec->program->design_hash ? spec->program->design_hash : "-", WARPSTAVE_VERSION);
    return TRUE;
}

static void add_text(GPtrArray *files, const char *name, const char *text)
{
    g_ptr_array_add(files, ws_wheel_file(name, g_bytes_new(text, strlen(text))));
}

char *ws_package_wheel(const WsPackageSpec *spec, const char *wheels, GError **error)
{
    g_auto(Texts) t = { 0 };
    if (!make_texts(spec, &t, error))
        return NULL;
    g_autoptr(GHashTable) words = ws_package_words_wheel(spec);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(ws_wheel_file_free);
    add_text(files, "__init__.py", t.module);
    add_text(files, "bench.py", t.bench);
    add_text(files, "README.md", t.readme);
    add_text(files, "design.wstave", spec->program->design_text);
    g_ptr_array_add(files, ws_wheel_file("kernel.cubin", g_bytes_ref(spec->cubin)));
    g_autofree char *launcher = g_strconcat(spec->name, ".c", NULL),
                    *kernel = g_strconcat(spec->name, "_kernel.c", NULL);
    const char *const source[] = { launcher, t.launcher, kernel, t.kernel, NULL };
    const WsWheel wheel = { .name = spec->name,
                            .version = g_hash_table_lookup(words, "VERSION"),
                            .words = words,
                            .readme = t.readme,
                            .header = t.header,
                            .source = source,
                            .extension = t.extension,
                            .file = files };
    return ws_wheel_write(&wheel, wheels, error);
}

gboolean ws_package_write(const WsPackageSpec *spec, const char *dir, GError **error)
{
    g_auto(Texts) t = { 0 };
    if (!make_texts(spec, &t, error))
        return FALSE;
    g_autofree char *part = ws_folder_begin(dir, WS_PACKAGE_MARK, "a package", error);
    if (!part)
        return FALSE;
    if (put_all(spec, &t, part, error) && ws_folder_commit(part, dir, "a package", error))
        return TRUE;
    ws_folder_remove(part);
    return FALSE;
}
