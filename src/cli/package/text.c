#include "cli/package/text.h"
#include "cli/cli.h"
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

int ws_cli_package_failure(const GError *error, const char *dir)
{
    if (error->domain == G_SPAWN_ERROR && error->code != G_SPAWN_ERROR_FAILED)
        return ws_cli_fail(WS_EXIT_ABSENT, "%s; %s is written and needs none", error->message, dir);
    const gboolean outside = g_error_matches(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS);
    return ws_cli_fail_with(outside ? WS_EXIT_OUTSIDE : WS_EXIT_USAGE, error);
}
