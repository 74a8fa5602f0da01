#include "cli/package/text.h"
#include "base/folder.h"
#include "base/json_out.h"
#include "cli/cli.h"
#include "package/name.h"
#include "package/package.h"

#include <string.h>

char *ws_cli_package_name(const char *file)
{
    g_autofree char *base = g_path_get_basename(file);
    if (g_str_equal(base, "design.wstave")) {
        g_autofree char *absolute = g_canonicalize_filename(file, NULL);
        g_autofree char *folder = g_path_get_dirname(absolute);
        g_free(g_steal_pointer(&base));
        base = g_path_get_basename(folder);
    }
    char *dot = strrchr(base, '.');
    if (dot)
        *dot = 0;
    g_strcanon(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", '_');
    return g_strdup(base);
}

char *ws_cli_package_outcome(const char *verdict)
{
    char *outcome = g_strdup(verdict), *time = strstr(outcome, " ms)");
    char *effort = time ? g_strrstr_len(outcome, time - outcome, " (") : NULL;
    if (effort)
        memmove(effort, time + strlen(" ms)"), strlen(time + strlen(" ms)")) + 1);
    return outcome;
}

int ws_cli_package_ready(const char *name, const char *dir, const char *wheels)
{
    g_autoptr(GError) error = NULL;
    if (!ws_package_name_check(name, &error) ||
        !ws_folder_check(dir, WS_PACKAGE_MARK, "a package", &error))
        return ws_cli_package_failure(error, dir);
    if (wheels && g_file_test(wheels, G_FILE_TEST_EXISTS) &&
        !g_file_test(wheels, G_FILE_TEST_IS_DIR))
        return ws_cli_fail(WS_EXIT_USAGE, "--wheel %s is not a folder", wheels);
    return WS_EXIT_YES;
}

int ws_cli_package_failure(const GError *error, const char *dir)
{
    if (error->domain == G_SPAWN_ERROR && error->code != G_SPAWN_ERROR_FAILED)
        return ws_cli_fail(WS_EXIT_ABSENT, "%s; %s is written and needs none", error->message, dir);
    const gboolean outside = g_error_matches(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS);
    return ws_cli_fail_with(outside ? WS_EXIT_OUTSIDE : WS_EXIT_USAGE, error);
}

void ws_cli_package_json(const char *file, const char *dir, const char *name, const char *verdict,
                         const GPtrArray *files, const char *wheel)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) folder = files ? NULL : g_dir_open(dir, 0, NULL);
    const char *one;
    while (folder && (one = g_dir_read_name(folder)))
        g_ptr_array_add(all, g_strdup(one));
    WsJsonOut j;
    ws_cli_json_begin(&j);
    ws_json_out_text(&j, "file", file);
    ws_json_out_text(&j, "folder", dir);
    ws_json_out_text(&j, "name", name);
    ws_json_out_text(&j, "verdict", verdict);
    ws_json_out_texts(&j, "files", files ? files : all);
    if (wheel)
        ws_json_out_text(&j, "wheel", wheel);
    ws_cli_json_end(&j);
}
