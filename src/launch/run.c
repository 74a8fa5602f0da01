/* Finds the runner and runs it here; other hosts are remote.c's. */
#include "launch/run.h"

#include "launch/process.h"

#include "runner/manifest.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

char *ws_run_find_runner(void)
{
    static const char *const beside[] = { "warpstave-runner", "../runner/warpstave-runner",
                                          "../src/runner/warpstave-runner" };
    const char *named = g_getenv("WARPSTAVE_RUNNER");
    if (named && *named)
        return g_file_test(named, G_FILE_TEST_IS_EXECUTABLE) ? g_strdup(named) : NULL;
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
    for (guint i = 0; folder && i < G_N_ELEMENTS(beside); i++) {
        g_autofree char *path = g_build_filename(folder, beside[i], NULL);
        if (g_file_test(path, G_FILE_TEST_IS_EXECUTABLE) && !g_file_test(path, G_FILE_TEST_IS_DIR))
            return g_steal_pointer(&path);
    }
    return g_find_program_in_path("warpstave-runner");
}

static gboolean run_here(const char *dir, const char *runner, const WsRunSpec *spec, int *status,
                         GError **error)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)runner);
    g_ptr_array_add(argv, (gpointer)dir);
    for (guint i = 0; spec->arguments && spec->arguments[i]; i++)
        g_ptr_array_add(argv, (gpointer)spec->arguments[i]);
    g_ptr_array_add(argv, NULL);
    return ws_process_run((const char *const *)argv->pdata, spec->quiet, NULL, status, error);
}

/* Figures of an earlier run must not pass for those of this one. */
static void forget_results(const char *dir)
{
    g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        if (strcmp(name, "results.json") == 0 ||
            (g_str_has_prefix(name, "records") && g_str_has_suffix(name, ".bin")))
            g_unlink(path);
    }
}

gboolean ws_run_bundle(const char *dir, const WsRunSpec *spec, int *status, GError **error)
{
    g_autofree char *manifest = g_build_filename(dir, WS_MANIFEST_FILE, NULL);
    g_autofree char *found = spec->runner ? g_strdup(spec->runner) : ws_run_find_runner();
    g_autofree char *clean = g_canonicalize_filename(dir, NULL);
    *status = 0;
    if (!g_file_test(manifest, G_FILE_TEST_EXISTS)) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FORMAT, "%s is not a bundle: no %s",
                    dir, WS_MANIFEST_FILE);
        return FALSE;
    }
    forget_results(clean);
    if (!found) {
        g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT,
                    "warpstave-runner is not there; build it, or name it in WARPSTAVE_RUNNER");
        return FALSE;
    }
    return spec->host ? ws_run_remote(clean, found, spec, status, error)
                      : run_here(clean, found, spec, status, error);
}
