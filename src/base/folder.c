#include "base/folder.h"

#include "base/temporary.h"

#include <errno.h>
#include <glib/gstdio.h>
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

void ws_folder_remove(const char *dir)
{
    GDir *d = g_dir_open(dir, 0, NULL);
    const char *name;
    while (d && (name = g_dir_read_name(d))) {
        g_autofree char *path = g_build_filename(dir, name, NULL);
        g_unlink(path);
    }
    if (d)
        g_dir_close(d);
    g_rmdir(dir);
    ws_temporary_end(dir);
}

/* "a/b//" names the same folder as "a/b". */
static char *without_slashes(const char *dir)
{
    char *clean = g_strdup(dir);
    for (gsize n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
        clean[n - 1] = 0;
    return clean;
}

static gboolean may_replace(const char *dir, const char *marker, const char *what, GError **error)
{
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
        g_autofree char *next = g_build_filename(part, name, NULL);
        if (g_file_test(next, G_FILE_TEST_EXISTS))
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
