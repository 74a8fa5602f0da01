/* Streaming exports into a temporary file that replaces the target when it is whole. */
#include "trace/stream.h"
#include "model/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean fail(GError **error, const char *file, int code)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "cannot write %s: %s", file,
                g_strerror(code));
    return FALSE;
}

/* A device or a pipe stays what it is. */
static gboolean write_into(const char *file, const WsTrace *t, WsStreamBody body, GError **error)
{
    FILE *f = fopen(file, "we");
    if (!f)
        return fail(error, file, errno);
    body(f, t);
    int code = fflush(f) || ferror(f) ? (errno ? errno : EIO) : 0;
    if (fclose(f) && !code)
        code = errno;
    return code ? fail(error, file, code) : TRUE;
}

gboolean ws_stream_write(const char *file, const WsTrace *t, WsStreamBody body, GError **error)
{
    if (strcmp(file, "-") == 0) {
        body(stdout, t);
        return fflush(stdout) == 0 || fail(error, "standard output", errno);
    }
    if (ws_file_is_special(file))
        return write_into(file, t, body, error);
    g_autofree char *temporary = g_strdup_printf("%s.XXXXXX", file);
    int fd = g_mkstemp_full(temporary, O_RDWR | O_CREAT | O_EXCL, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        int code = errno;
        if (fd >= 0) {
            close(fd);
            g_unlink(temporary);
        }
        return fail(error, file, code);
    }
    body(f, t);
    int code = fflush(f) || ferror(f) || fsync(fd) ? (errno ? errno : EIO) : 0;
    if (fclose(f) && !code)
        code = errno;
    if (!code && g_rename(temporary, file))
        code = errno;
    if (!code)
        return TRUE;
    g_unlink(temporary);
    return fail(error, file, code);
}
