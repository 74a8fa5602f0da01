#include "launch/process.h"

#include <errno.h>
#include <gio/gunixinputstream.h>
#include <unistd.h>

gboolean ws_process_run(const char *const *argv, gboolean quiet, char **output, int *status,
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

gboolean ws_process_follow(const char *const *argv, WsProcessOutput output, gpointer user,
                           gboolean (*interrupted)(void), int *status, GError **error)
{
    g_autoptr(GSubprocess) child = g_subprocess_newv(argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, error);
    if (!child) {
        g_prefix_error(error, "cannot start %s: ", argv[0]);
        return FALSE;
    }
    GInputStream *out = g_subprocess_get_stdout_pipe(child);
    const int fd = g_unix_input_stream_get_fd(G_UNIX_INPUT_STREAM(out));
    char data[4096];
    for (gssize n = 1; n > 0;) {
        GPollFD poll = { .fd = fd, .events = G_IO_IN };
        if (interrupted && interrupted())
            g_subprocess_force_exit(child);
        if (g_poll(&poll, 1, 200) <= 0)
            continue;
        n = read(fd, data, sizeof data);
        if (n > 0)
            output(data, (gsize)n, user);
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    if (!g_subprocess_wait(child, NULL, error))
        return FALSE;
    *status = g_subprocess_get_if_exited(child) ? g_subprocess_get_exit_status(child)
                                                : 128 + g_subprocess_get_term_sig(child);
    return TRUE;
}
