#include "cli/check_files.h"

#include <string.h>

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void collect(const char *folder, const char *suffix, GPtrArray *out)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (*name != '.')
            g_ptr_array_add(names, g_build_filename(folder, name, NULL));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, by_text);
    for (guint i = 0; i < names->len; i++) {
        const char *path = g_ptr_array_index(names, i);
        if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
            if (g_str_has_suffix(path, suffix))
                g_ptr_array_add(out, g_strdup(path));
        } else if (!g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
            collect(path, suffix, out);
        }
    }
}

GPtrArray *ws_cli_check_files(char *const *arguments, guint n, const char *from, const char **empty)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < n; i++) {
        const guint before = out->len;
        if (!g_file_test(arguments[i], G_FILE_TEST_IS_DIR)) {
            g_ptr_array_add(out, g_strdup(arguments[i]));
            continue;
        }
        if (!from)
            collect(arguments[i], ".wstave", out);
        if (out->len == before)
            collect(arguments[i], from && !strcmp(from, "ptx") ? ".ptx" : ".py", out);
        if (out->len == before)
            *empty = arguments[i];
    }
    return out;
}
