#include "base/folder.h"

#include "base/temporary.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes one file into a folder begun; NULL data writes nothing. */
static gboolean folder_put(const char *part, const char *name, const void *data, gsize length,
                           GError **error)
{
    g_autofree char *path = g_build_filename(part, name, NULL);
    return !data || g_file_set_contents(path, data, (gssize)length, error);
}

gboolean ws_folder_put_text(const char *part, const char *name, const char *text, GError **error)
{
    return folder_put(part, name, text, text ? strlen(text) : 0, error);
}

gboolean ws_folder_put_bytes(const char *part, const char *name, GBytes *bytes, GError **error)
{
    gsize n = 0;
    const void *data = bytes ? g_bytes_get_data(bytes, &n) : NULL;
    return folder_put(part, name, data, n, error);
}

/* What Python keeps of modules that it loaded (or NULL): it makes it again. `dir`/`name` is a
 * folder and holds such files alone. */
static char *kept_by_python(const char *dir, const char *name)
{
    if (strcmp(name, "__pycache__") != 0)
        return NULL;
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autoptr(GDir) d =
        g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    const char *file;
    gboolean own = d != NULL;
    while (own && (file = g_dir_read_name(d))) {
        g_autofree char *whole = g_build_filename(path, file, NULL);
        own = g_str_has_suffix(file, ".pyc") && g_file_test(whole, G_FILE_TEST_IS_REGULAR);
    }
    return own ? g_steal_pointer(&path) : NULL;
}

void ws_folder_remove(const char *dir)
{
    GDir *d = g_dir_open(dir, 0, NULL);
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, name, NULL),
                        *kept = kept_by_python(dir, name);
        if (kept)
            ws_folder_remove(kept);
        else
            g_unlink(path);
    }
    if (d)
        g_dir_close(d);
    g_rmdir(dir);
    ws_temporary_end(dir);
}

/* "a/b//" names the same folder as "a/b", and a link to a folder names that folder. */
static char *without_slashes(const char *dir)
{
    char *clean = g_strdup(dir);
    for (gsize n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
        clean[n - 1] = 0;
    char *target = g_file_test(clean, G_FILE_TEST_IS_SYMLINK) ? realpath(clean, NULL) : NULL;
    if (target) {
        g_free(clean);
        clean = g_strdup(target);
        free(target);
    }
    return clean;
}

/* The folder that a shell stands in cannot be replaced under it. */
static gboolean is_here(const char *dir)
{
    GStatBuf here, there;
    return g_stat(".", &here) == 0 && g_stat(dir, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

static gboolean may_replace(const char *dir, const char *marker, const char *what, GError **error)
{
    if (!*dir || is_here(dir)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "'%s' is the folder you are in, which cannot be replaced by %s; name another",
                    dir, what);
        return FALSE;
    }
    if (!g_file_test(dir, G_FILE_TEST_EXISTS))
        return TRUE;
    g_autofree char *mark = g_build_filename(dir, marker, NULL);
    g_autoptr(GDir) d = g_dir_open(dir, 0, error);
    if (!d)
        return FALSE;
    if (!g_dir_read_name(d) || g_file_test(mark, G_FILE_TEST_EXISTS))
        return TRUE;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                "%s exists and is not %s; choose another folder", dir, what);
    return FALSE;
}

gboolean ws_folder_check(const char *dir, const char *marker, const char *what, GError **error)
{
    g_autofree char *clean = without_slashes(dir);
    g_autofree char *whole = g_canonicalize_filename(clean, NULL),
                    *parent = g_path_get_dirname(whole);
    if (!may_replace(clean, marker, what, error))
        return FALSE;
    const int code = !g_file_test(parent, G_FILE_TEST_EXISTS)   ? ENOENT
                     : !g_file_test(parent, G_FILE_TEST_IS_DIR) ? ENOTDIR
                     : g_access(parent, W_OK | X_OK) != 0       ? errno
                                                                : 0;
    if (code)
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                    "cannot make a folder beside %s: %s: %s", clean, parent, g_strerror(code));
    return code == 0;
}

gboolean ws_folder_is_free(const char *dir, GError **error)
{
    g_autofree char *at = g_canonicalize_filename(dir, NULL);
    const gboolean is_there = *dir && g_file_test(at, G_FILE_TEST_EXISTS);
    g_autoptr(GDir) d = is_there ? g_dir_open(at, 0, NULL) : NULL;
    if (!*dir || (is_there && (!d || g_dir_read_name(d)))) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "'%s' is no empty folder; name another", dir);
        return FALSE;
    }
    while (!g_file_test(at, G_FILE_TEST_EXISTS)) { /* which of those that lead to it is there */
        char *parent = g_path_get_dirname(at);
        g_free(at);
        at = parent;
    }
    const int code = !g_file_test(at, G_FILE_TEST_IS_DIR) ? ENOTDIR
                     : g_access(at, W_OK | X_OK) != 0     ? errno
                                                          : 0;
    if (code)
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "cannot make %s: %s: %s",
                    dir, at, g_strerror(code));
    return code == 0;
}

char *ws_folder_begin(const char *dir, const char *marker, const char *what, GError **error)
{
    g_autofree char *clean = without_slashes(dir);
    if (!may_replace(clean, marker, what, error))
        return NULL;
    g_autofree char *part = g_strdup_printf("%s.part-XXXXXX", clean);
    if (g_mkdtemp_full(part, 0755)) {
        ws_temporary_begin(part);
        return g_steal_pointer(&part);
    }
    int code = errno;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                "cannot make a folder beside %s: %s", clean, g_strerror(code));
    return NULL;
}

static gboolean fail_rename(const char *dir, GError **error)
{
    int code = errno;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "cannot write %s: %s", dir,
                g_strerror(code));
    return FALSE;
}

/* What stands in `old` and has no successor would be lost: results of a run, files of others. */
static gboolean nothing_lost(const char *old, const char *part, const char *what, GError **error)
{
    g_autoptr(GDir) d = g_dir_open(old, 0, error);
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *next = g_build_filename(part, name, NULL),
                        *kept = kept_by_python(old, name);
        if (kept || g_file_test(next, G_FILE_TEST_EXISTS))
            continue;
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                    "%s holds %s, which %s written there would delete; choose another folder, or "
                    "move it away",
                    old, name, what);
        return FALSE;
    }
    return d != NULL;
}

gboolean ws_folder_commit(const char *part, const char *dir, const char *what, GError **error)
{
    g_autofree char *clean = without_slashes(dir);
    if (!g_file_test(clean, G_FILE_TEST_EXISTS) || g_rmdir(clean) == 0) {
        const gboolean done = g_rename(part, clean) == 0;
        if (done)
            ws_temporary_end(part);
        return done || fail_rename(clean, error);
    }
    if (!nothing_lost(clean, part, what, error))
        return FALSE;
    g_autofree char *old = g_strconcat(part, ".old", NULL);
    if (g_rename(clean, old) != 0)
        return fail_rename(clean, error);
    if (g_rename(part, clean) != 0) {
        gboolean failed = fail_rename(clean, error);
        if (g_rename(old, clean) != 0)
            g_prefix_error(error, "what stood there is now %s; ", old);
        return failed;
    }
    ws_temporary_end(part);
    ws_folder_remove(old);
    return TRUE;
}
