#include "run.h"

#include <gio/gio.h>

static int run_with(const char *const *arguments, GSubprocessFlags errors, char **output)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    g_ptr_array_add(argv, WS_BUILD_ROOT "/bin/warpstave");
    for (; *arguments; arguments++)
        g_ptr_array_add(argv, (gpointer)*arguments);
    g_ptr_array_add(argv, NULL);
    g_autoptr(GSubprocess) process = g_subprocess_newv(
        (const char *const *)argv->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE | errors, &error);
    g_assert_no_error(error);
    g_autoptr(GBytes) bytes = NULL;
    g_subprocess_communicate(process, NULL, NULL, &bytes, NULL, &error);
    g_assert_no_error(error);
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    *output = g_strndup(data ? data : "", size);
    g_test_message("%s", *output);
    g_assert_true(g_subprocess_get_if_exited(process));
    return g_subprocess_get_exit_status(process);
}

int run(const char *const *arguments, char **output)
{
    return run_with(arguments, G_SUBPROCESS_FLAGS_STDERR_MERGE, output);
}

int run_for_output(const char *const *arguments, char **output)
{
    return run_with(arguments, G_SUBPROCESS_FLAGS_STDERR_SILENCE, output);
}
