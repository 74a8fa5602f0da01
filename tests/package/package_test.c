/* Packages in a folder of the test, and the programs that use them. */
#include "package_test.h"
#include "base/folder.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

WsProgram *package_program(const char *file, const char *set)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(path, findings);
    WsSetting setting = { set, 1 };
    WsProgram *p = design ? ws_elaborate(design, &setting, set ? 1 : 0, findings) : NULL;
    g_assert_nonnull(p);
    return p;
}

char *package_run(const char *const *argv, char **environment, int *status)
{
    char *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    if (!g_spawn_sync(NULL, (char **)argv, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
                      status, &error)) {
        g_test_message("%s", error->message);
        return NULL;
    }
    if (err && *err)
        g_test_message("%s", err);
    g_free(err);
    return out;
}

char *package_folder(void)
{
    char *dir = g_dir_make_tmp("ws-package-XXXXXX", NULL);
    g_assert_nonnull(dir);
    return dir;
}

gboolean package_driver(const char *dir)
{
    g_autofree char *out = g_build_filename(dir, "libcuda.so.1", NULL);
    const char *const argv[] = {
        "cc", "-shared", "-fPIC", WS_SOURCE_ROOT "/tests/package/stub/driver.c", "-o", out, NULL
    };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    if (said)
        g_assert_cmpint(status, ==, 0);
    return said != NULL;
}

char *package_ptx(const WsProgram *p)
{
    GString *ptx = g_string_new(NULL);
    for (guint i = 0; i < p->n_maps + p->n_tensors; i++)
        g_string_append_printf(ptx, ".param warpstave_param_%u,\n", i);
    return g_string_free(ptx, FALSE);
}

void package_put(const char *dir, const WsPackageSpec *spec)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *header = ws_package_header(spec, &error),
                    *source = ws_package_launcher(spec, &error),
                    *kernel = ws_package_kernel(spec, "kernel.cubin");
    g_autofree char *h = g_strconcat(spec->name, ".h", NULL),
                    *c = g_strconcat(spec->name, ".c", NULL),
                    *image = g_strconcat(spec->name, "_kernel.c", NULL);
    g_assert_no_error(error);
    g_assert_true(ws_folder_put_text(dir, h, header, &error) &&
                  ws_folder_put_text(dir, c, source, &error) &&
                  ws_folder_put_text(dir, image, kernel, &error));
}

void package_remove(const char *dir)
{
    ws_folder_remove(dir);
}
