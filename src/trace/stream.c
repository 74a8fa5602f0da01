/* Exports that are written as they are made: whole or not at all, as ws_file_write() does it. */
#include "trace/stream.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

typedef struct {
    const WsTrace *t;
    WsStreamBody body;
} Stream;

/* The file is the caller's: a stream over a copy of its number is closed here. */
static gboolean write_stream(int fd, gpointer data)
{
    const Stream *s = data;
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = own < 0 ? NULL : fdopen(own, "w");
    if (!f) {
        if (own >= 0)
            close(own);
        return FALSE;
    }
    errno = 0;
    s->body(f, s->t);
    int code = fflush(f) || ferror(f) ? (errno ? errno : EIO) : 0;
    if (fclose(f) && !code)
        code = errno;
    errno = code;
    return code == 0;
}

gboolean ws_stream_write(const char *file, const WsTrace *t, WsStreamBody body, GError **error)
{
    Stream stream = { t, body };
    if (strcmp(file, "-") != 0)
        return ws_file_write_by(file, write_stream, &stream, error);
    if (fflush(stdout) == 0 && write_stream(STDOUT_FILENO, &stream))
        return TRUE;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                "cannot write standard output: %s", g_strerror(errno));
    return FALSE;
}
