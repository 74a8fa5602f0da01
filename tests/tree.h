/* The files below a folder of the source tree, for tests that read the tree itself. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <glib.h>
#include <string.h>

/* A file: its path from the root, and what it holds. */
typedef void (*TreeSee)(const char *path, const char *text, gpointer data);

/* `endings` apart by blanks; "" is every one. */
static inline gboolean tree_ends(const char *name, const char *endings)
{
    g_auto(GStrv) list = g_strsplit(endings, " ", -1);
    for (guint i = 0; list[i]; i++)
        if (g_str_has_suffix(name, list[i]))
            return TRUE;
    return !*endings;
}

/* Files with one of these endings below `folder`, "" for the root; what git does not keep is left
 * out. */
static inline void tree_visit(const char *folder, const char *endings, TreeSee see, gpointer data)
{
    g_autofree char *at = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(at, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = *folder ? g_build_filename(folder, name, NULL) : g_strdup(name);
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL), *text = NULL;
        if (*name == '.' || (!*folder && g_str_has_prefix(name, "build")) ||
            strcmp(name, "__pycache__") == 0)
            continue;
        if (g_file_test(file, G_FILE_TEST_IS_DIR))
            tree_visit(path, endings, see, data);
        else if (tree_ends(name, endings) && g_file_get_contents(file, &text, NULL, NULL))
            see(path, text, data);
    }
}

#endif
