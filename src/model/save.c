/* Saving: a temporary file beside the target, synced, then renamed over it. */
#include "model/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean fail(GError **error, const char *what, const char *file)
{
    const int code = errno;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "%s %s: %s", what, file,
                g_strerror(code));
    return FALSE;
}

static gboolean write_all(int fd, const char *text, gsize length)
{
    while (length > 0) {
        const gssize n = write(fd, text, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FALSE;
        text += n;
        length -= (gsize)n;
    }
    return TRUE;
}

/* Permissions of the file that is replaced, or those a new file gets. */
static mode_t mode_for(const char *file)
{
    struct stat st;
    if (stat(file, &st) == 0)
        return st.st_mode & 07777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static void sync_folder(const char *file)
{
    g_autofree char *folder = g_path_get_dirname(file);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!fsync(fd); /* the text is safe either way; the name may be the old one after a crash */
    close(fd);
}

static gboolean replace(const char *text, const char *file, GError **error)
{
    g_autofree char *temporary = g_strconcat(file, ".XXXXXX", NULL);
    const int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(error, "cannot write beside", file);
    const gboolean written =
        write_all(fd, text, strlen(text)) && fchmod(fd, mode_for(file)) == 0 && fsync(fd) == 0;
    int problem = errno;
    if (close(fd) != 0 && written)
        problem = errno;
    else if (written && g_rename(temporary, file) == 0) {
        sync_folder(file);
        return TRUE;
    } else if (written)
        problem = errno;
    g_unlink(temporary);
    errno = problem;
    return fail(error, "cannot save", file);
}

gboolean ws_design_save(const WsDesign *design, const char *file, GError **error)
{
    g_autofree char *text = ws_design_print(design);
    if (strlen(text) > WS_DESIGN_MAX_BYTES) { /* it could not be read back */
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "cannot save %s: the text would be longer than %d bytes", file,
                    WS_DESIGN_MAX_BYTES);
        return FALSE;
    }
    /* a link stays a link: what it points to is replaced */
    char *target = realpath(file, NULL);
    const gboolean ok = replace(text, target != NULL ? target : file, error);
    free(target);
    return ok;
}
