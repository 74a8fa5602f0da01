/* The package of a design for gfx950. The words are those of the launcher on CUDA; addresses are
 * plain integers here. */
#include "package/hip.h"
#include "base/folder.h"
#include "package/tables.h"
#include "package/template.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include "hip_c.inc"
#include "hip_h.inc"
#include "hip_md.inc"
#include "licence.inc"

static char *filled(const WsPackageSpec *spec, const char *text, GError **error)
{
    if (spec->program->tiles->launch != WS_LAUNCH_SINGLE) {
        g_set_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS,
                    "tiles: a launch other than single is not supported by the package for HIP");
        return NULL;
    }
    g_autoptr(GHashTable) words = ws_package_words_c(spec, error);
    if (!words)
        return NULL;
    g_autoptr(GString) fields = g_string_new(g_hash_table_lookup(words, "FIELDS"));
    g_string_replace(fields, "CUdeviceptr", "uint64_t", 0);
    ws_package_word(words, "FIELDS", g_strdup(fields->str));
    ws_package_word(words, "SAID", g_strdup(spec->verdict ? spec->verdict : ""));
    return ws_template_fill(text, words);
}

char *ws_package_hip_header(const WsPackageSpec *spec, GError **error)
{
    return filled(spec, hip_h, error);
}

char *ws_package_hip_launcher(const WsPackageSpec *spec, GError **error)
{
    return filled(spec, hip_c, error);
}

static gboolean put_all(const WsPackageSpec *spec, const char *dir, GError **error)
{
    g_autofree char *header = ws_package_hip_header(spec, error);
    g_autofree char *launcher = header ? ws_package_hip_launcher(spec, error) : NULL;
    g_autofree char *readme = launcher ? filled(spec, hip_md, error) : NULL;
    if (!readme)
        return FALSE;
    const char *name = spec->name;
    g_autofree char *kernel = ws_package_kernel(spec, "kernel.hsaco");
    g_autofree char *h = g_strconcat(name, ".h", NULL), *c = g_strconcat(name, ".c", NULL),
                    *image = g_strconcat(name, "_kernel.c", NULL);
    g_autofree char *mark = g_strdup_printf(
        "warpstave-package 1\nname %s\nhash %s\nmade-by warpstave %s\n", name,
        spec->program->design_hash ? spec->program->design_hash : "-", WARPSTAVE_VERSION);
    return ws_folder_put_text(dir, h, header, error) &&
           ws_folder_put_text(dir, c, launcher, error) &&
           ws_folder_put_text(dir, image, kernel, error) &&
           ws_folder_put_text(dir, "README.md", readme, error) &&
           ws_folder_put_text(dir, "LICENSE", spec->licence ? spec->licence : licence_text,
                              error) &&
           ws_folder_put_text(dir, "design.wstave", spec->program->design_text, error) &&
           ws_folder_put_bytes(dir, "kernel.hsaco", spec->cubin, error) &&
           ws_folder_put_text(dir, WS_PACKAGE_MARK, mark, error);
}

gboolean ws_package_hip_write(const WsPackageSpec *spec, const char *dir, GError **error)
{
    if (!ws_package_check(spec, error))
        return FALSE;
    g_autofree char *part = ws_folder_begin(dir, WS_PACKAGE_MARK, "a package", error);
    if (!part)
        return FALSE;
    if (put_all(spec, part, error) && ws_folder_commit(part, dir, "a package", error))
        return TRUE;
    ws_folder_remove(part);
    return FALSE;
}
