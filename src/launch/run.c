/* Spawns the runner; remote hosts are reached by the user's own ssh and scp ($WARPSTAVE_SSH and
 * $WARPSTAVE_SCP name others), so that keys, agents and proxies just work. */
#include "launch/run.h"

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

/* Runs a command; output goes where ours goes, is dropped, or is returned in *output. */
static gboolean run(const char *const *argv, gboolean quiet, char **output, int *status,
                    GError **error)
{
    GSubprocessFlags flags = output  ? G_SUBPROCESS_FLAGS_STDOUT_PIPE
                             : quiet ? G_SUBPROCESS_FLAGS_STDOUT_SILENCE
                                     : G_SUBPROCESS_FLAGS_NONE;
    g_autoptr(GSubprocess) child = g_subprocess_newv(argv, flags, error);
    if (!child) {
        g_prefix_error(error, "cannot start %s: ", argv[0]);
        return FALSE;
    }
    gboolean ok = output ? g_subprocess_communicate_utf8(child, NULL, NULL, output, NULL, error)
                         : g_subprocess_wait(child, NULL, error);
    if (!ok)
        return FALSE;
    *status = g_subprocess_get_if_exited(child) ? g_subprocess_get_exit_status(child)
                                                : 128 + g_subprocess_get_term_sig(child);
    return TRUE;
}

static gboolean absent(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean absent(GError **error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    g_autofree char *text = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error_literal(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_ABSENT, text);
    return FALSE;
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
    return run((const char *const *)argv->pdata, spec->quiet, NULL, status, error);
}

/* --- remote ------------------------------------------------------------------------------------
 */

static const char *tool(const char *variable, const char *otherwise)
{
    const char *named = g_getenv(variable);
    return named && *named ? named : otherwise;
}

static gboolean ssh(const char *host, const char *command, gboolean quiet, char **output,
                    int *status, GError **error)
{
    const char *argv[] = {
        tool("WARPSTAVE_SSH", "ssh"), "-o", "BatchMode=yes", host, command, NULL
    };
    return run(argv, quiet, output, status, error);
}

static gboolean copy(GPtrArray *argv, GError **error)
{
    int status = 0;
    g_ptr_array_add(argv, NULL);
    if (!run((const char *const *)argv->pdata, FALSE, NULL, &status, error))
        return FALSE;
    if (status == 0)
        return TRUE;
    g_set_error(error, WS_BUNDLE_ERROR, WS_BUNDLE_ERROR_FAILED, "%s ended with status %d",
                (char *)argv->pdata[0], status);
    return FALSE;
}

static GPtrArray *scp_command(void)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup(tool("WARPSTAVE_SCP", "scp")));
    g_ptr_array_add(argv, g_strdup("-q"));
    g_ptr_array_add(argv, g_strdup("-o"));
    g_ptr_array_add(argv, g_strdup("BatchMode=yes"));
    return argv;
}

/* Copies one file or folder to HOST:THERE/NAME. */
static gboolean send(const char *what, const char *host, const char *there, const char *name,
                     GError **error)
{
    g_autoptr(GPtrArray) argv = scp_command();
    g_ptr_array_add(argv, g_strdup("-r"));
    g_ptr_array_add(argv, g_strdup(what));
    g_ptr_array_add(argv, g_strdup_printf("%s:%s/%s", host, there, name));
    return copy(argv, error);
}

/* Results, and the records that the manifest and the number of cases make possible. */
static gboolean fetch(const char *dir, const char *host, const char *there, GError **error)
{
    g_autoptr(GPtrArray) argv = scp_command();
    g_autofree char *list = NULL;
    g_autofree char *command = g_strdup_printf("cd %s/bundle && ls", there);
    int status = 0;
    if (!ssh(host, command, FALSE, &list, &status, error))
        return FALSE;
    g_auto(GStrv) names = g_strsplit(list ? list : "", "\n", -1);
    guint found = 0;
    for (guint i = 0; names[i]; i++) {
        gboolean wanted = strcmp(names[i], "results.json") == 0 ||
                          (g_str_has_prefix(names[i], "records") &&
                           g_str_has_suffix(names[i], ".bin") && !strchr(names[i], '/'));
        if (!wanted)
            continue;
        g_ptr_array_add(argv, g_strdup_printf("%s:%s/bundle/%s", host, there, names[i]));
        found++;
    }
    if (!found)
        return TRUE; /* the runner's own status says why there are none */
    g_ptr_array_add(argv, g_strdup(dir));
    return copy(argv, error);
}

static gboolean safe_host(const char *host)
{
    return host[0] != '-' && host[0] != 0 && !strpbrk(host, " \t\n'\"\\$`;&|<>(){}*?");
}

/* A folder name the remote shell may see unquoted; made by mktemp, but a host can say anything. */
static gboolean safe_path(const char *path)
{
    return path[0] == '/' && path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                                               "YZ0123456789/._-")] == 0;
}

static gboolean run_there(const char *dir, const char *runner, const WsRunSpec *spec,
                          const char *there, int *status, GError **error)
{
    g_autoptr(GString) command = g_string_new(NULL);
    g_string_printf(command, "cd %s && ./warpstave-runner bundle", there);
    for (guint i = 0; spec->arguments && spec->arguments[i]; i++) {
        g_autofree char *argument = g_shell_quote(spec->arguments[i]);
        g_string_append_printf(command, " %s", argument);
    }
    if (!send(runner, spec->host, there, "warpstave-runner", error) ||
        !send(dir, spec->host, there, "bundle", error))
        return FALSE;
    return ssh(spec->host, command->str, spec->quiet, NULL, status, error) &&
           fetch(dir, spec->host, there, error);
}

static gboolean run_remote(const char *dir, const char *runner, const WsRunSpec *spec, int *status,
                           GError **error)
{
    if (!safe_host(spec->host))
        return absent(error, "'%s' is not a host name", spec->host);
    g_autofree char *there = NULL;
    int made = 0;
    if (!ssh(spec->host, "mktemp -d /tmp/warpstave.XXXXXX", FALSE, &there, &made, error))
        return FALSE;
    if (there)
        g_strstrip(there);
    if (made != 0 || !there || !safe_path(there))
        return absent(error, "host %s cannot be reached by ssh (status %d)", spec->host, made);
    gboolean ok = run_there(dir, runner, spec, there, status, error);
    g_autofree char *clean = g_strdup_printf("rm -rf %s", there);
    int ignored;
    ssh(spec->host, clean, TRUE, NULL, &ignored, NULL);
    return ok;
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
    if (!found)
        return absent(error, "warpstave-runner is not there; build it, or name it in "
                             "WARPSTAVE_RUNNER");
    return spec->host ? run_remote(clean, found, spec, status, error)
                      : run_here(clean, found, spec, status, error);
}
