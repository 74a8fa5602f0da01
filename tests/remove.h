/* Folders that a test made, with what is in them. */
#ifndef TESTS_REMOVE_H
#define TESTS_REMOVE_H

#include <glib.h>
#include <glib/gstdio.h>

static inline void remove_tree(const char *path)
{
    g_autoptr(GDir) dir =
        g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *inside = g_build_filename(path, name, NULL);
        remove_tree(inside);
    }
    g_remove(path);
}

#endif
