/* Reading files up to a bound, and writing them whole: a temporary file beside the target, synced,
 * then renamed over it. */
#include "base/file.h"

#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean fail(GError **error, const char *what, const char *file)
{
    const int code = errno;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "%s %s: %s", what, file,
                g_strerror(code));
    errno = code;
    return FALSE;
}

/* --- what this process has read and written ----------------------------------------------------
 */

typedef struct {
    dev_t device;
    ino_t node;
    gboolean written;
} Known;

static GMutex lock;
static GArray *known; /* Known; NULL: nothing is kept */

void ws_file_keep_inputs(void)
{
    g_mutex_lock(&lock);
    if (!known)
        known = g_array_new(FALSE, FALSE, sizeof(Known));
    g_mutex_unlock(&lock);
}

static void remember(int fd, gboolean written)
{
    struct stat st;
    g_mutex_lock(&lock);
    if (known && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        const Known k = { st.st_dev, st.st_ino, written };
        g_array_append_val(known, k);
    }
    g_mutex_unlock(&lock);
}

void ws_file_was_read(int fd)
{
    remember(fd, FALSE);
}

/* An input is not an output, under whatever name or link it comes. */
static gboolean may_take(const char *file, GError **error)
{
    struct stat st;
    const Known *met = NULL;
    g_mutex_lock(&lock);
    if (known && stat(file, &st) == 0)
        for (guint i = 0; i < known->len && !met; i++) {
            const Known *k = &g_array_index(known, Known, i);
            met = k->device == st.st_dev && k->node == st.st_ino ? k : NULL;
        }
    const gboolean written = met && met->written;
    g_mutex_unlock(&lock);
    if (met)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    written ? "%s was written by this very command; name another file for each "
                              "output"
                            : "%s is what this command reads; write to another file",
                    file);
    return !met;
}

gboolean ws_file_read_some(const char *file, gsize most, char **data, gsize *length, GError **error)
{
    *data = NULL;
    *length = 0;
    const int fd = strcmp(file, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "cannot read", file);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    guint8 block[1 << 16];
    gssize n = 1;
    while (n != 0 && bytes->len < most) {
        n = read(fd, block, MIN(sizeof block, most - bytes->len));
        if (n < 0 && errno != EINTR)
            break;
        g_byte_array_append(bytes, block, (guint)MAX(n, 0));
    }
    const int problem = errno;
    ws_file_was_read(fd);
    close(fd);
    errno = problem;
    if (n < 0)
        return fail(error, "cannot read", file);
    *length = bytes->len;
    g_byte_array_append(bytes, (const guint8 *)"", 1);
    *data = (char *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
    return TRUE;
}

gboolean ws_file_read(const char *file, gsize most, char **data, gsize *length, GError **error)
{
    if (!ws_file_read_some(file, most + 1, data, length, error))
        return FALSE;
    if (*length <= most)
        return TRUE;
    g_clear_pointer(data, g_free);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s is larger than the %" G_GSIZE_FORMAT " bytes that are read of such a file",
                file, most);
    return FALSE;
}

/* --- writing ------------------------------------------------------------------------------------
 */

gboolean ws_file_write_all(int fd, const char *data, gsize length)
{
    while (length > 0) {
        const gssize n = write(fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FALSE;
        data += n;
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

/* Has `body` write a file beside `file`, which then takes its place. */
static gboolean replace(const char *file, WsFileBody body, gpointer data, GError **error)
{
    g_autofree char *temporary = g_strconcat(file, ".XXXXXX", NULL);
    const int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(error, "cannot write beside", file);
    ws_temporary_begin(temporary);
    const gboolean written = body(fd, data) && fchmod(fd, mode_for(file)) == 0 && fsync(fd) == 0;
    int problem = errno;
    remember(fd, TRUE);
    if (close(fd) != 0 && written)
        problem = errno;
    else if (written && g_rename(temporary, file) == 0) {
        ws_temporary_end(temporary);
        sync_folder(file);
        return TRUE;
    } else if (written)
        problem = errno;
    g_unlink(temporary);
    ws_temporary_end(temporary);
    errno = problem;
    return fail(error, "cannot save", file);
}

/* A device or a pipe is written to; renaming over it would put a file in its place. */
static gboolean write_into(const char *file, WsFileBody body, gpointer data, GError **error)
{
    const int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, "cannot open", file);
    const gboolean written = body(fd, data);
    int problem = errno;
    if (close(fd) != 0 && written)
        problem = errno;
    else if (written)
        return TRUE;
    errno = problem;
    return fail(error, "cannot write", file);
}

gboolean ws_file_is_special(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A file that may not be written is not replaced either, though its folder would let us. */
static gboolean may_write(const char *file, GError **error)
{
    const int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == ENOENT || fail(error, "cannot write", file);
}

gboolean ws_file_check(const char *file, const char *input, GError **error)
{
    struct stat a, b;
    if (!may_take(file, error))
        return FALSE;
    if (input && stat(file, &a) == 0 && stat(input, &b) == 0 && S_ISREG(a.st_mode) &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s is what this command reads; write to another file", file);
        return FALSE;
    }
    if (ws_file_is_special(file))
        return g_access(file, W_OK) == 0 || fail(error, "cannot write", file);
    if (!may_write(file, error))
        return FALSE;
    char *target = realpath(file, NULL);
    g_autofree char *folder = g_path_get_dirname(target ? target : file);
    free(target);
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        errno = g_file_test(folder, G_FILE_TEST_EXISTS) ? ENOTDIR : ENOENT;
    else if (g_access(folder, W_OK | X_OK) == 0)
        return TRUE;
    return fail(error, "cannot write beside", file);
}

static gboolean write_by(const char *file, WsFileBody body, gpointer data, GError **error)
{
    if (ws_file_is_special(file))
        return write_into(file, body, data, error);
    if (!may_write(file, error))
        return FALSE;
    /* a link stays a link: what it points to is replaced */
    char *target = realpath(file, NULL);
    const gboolean ok = replace(target != NULL ? target : file, body, data, error);
    free(target);
    return ok;
}

gboolean ws_file_write_by(const char *file, WsFileBody body, gpointer data, GError **error)
{
    return may_take(file, error) && write_by(file, body, data, error);
}

typedef struct {
    const char *data;
    gsize length;
} Text;

static gboolean write_text(int fd, gpointer data)
{
    const Text *text = data;
    return ws_file_write_all(fd, text->data, text->length);
}

gboolean ws_file_write(const char *file, const char *data, gsize length, GError **error)
{
    Text text = { data, length };
    return ws_file_write_by(file, write_text, &text, error);
}

gboolean ws_file_rewrite(const char *file, const char *data, gsize length, GError **error)
{
    Text text = { data, length };
    return write_by(file, write_text, &text, error);
}
