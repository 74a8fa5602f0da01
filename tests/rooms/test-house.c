/* Rules of the house for every folder with C: files that are read in one sitting, rooms in which a
 * file is found, and a paragraph that says what each room is for. */
#include "../tree.h"

enum { LINES = 600, BESIDE = 40 };

static const char *const roots[] = { "src", "codegen", "ui", "bin", "tests" };

static guint lines(const char *text)
{
    guint n = 0;
    for (const char *c = text; (c = strchr(c, '\n')); c++)
        n++;
    return n;
}

/* --- files ------------------------------------------------------------------------------------ */

static void see_lines(const char *path, const char *text, gpointer data)
{
    ++*(guint *)data;
    if (lines(text) <= LINES)
        return;
    g_test_message("%s has %u lines, and may have %d: it does more than one job", path, lines(text),
                   LINES);
    g_test_fail();
}

static void test_lines(void)
{
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(roots); i++)
        tree_visit(roots[i], ".c .h", see_lines, &n);
    g_assert_cmpuint(n, >, 1000);
    g_assert_cmpuint(lines("a\nb\n"), ==, 2);
}

/* --- folders ---------------------------------------------------------------------------------- */

static void see_folder(const char *path, const char *text, gpointer data)
{
    (void)text;
    char *folder = g_path_get_dirname(path);
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(data, folder)) + 1;
    g_hash_table_replace(data, folder, GUINT_TO_POINTER(n));
}

static GHashTable *folders(void)
{
    GHashTable *sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(roots); i++)
        tree_visit(roots[i], ".c .h", see_folder, sources);
    return sources;
}

static void test_beside(void)
{
    g_autoptr(GHashTable) all = folders();
    GHashTableIter at;
    gpointer folder, n;
    g_hash_table_iter_init(&at, all);
    while (g_hash_table_iter_next(&at, &folder, &n)) {
        if (GPOINTER_TO_UINT(n) <= BESIDE)
            continue;
        g_test_message("%s has %u files side by side, and may have %d: a room is missing in it",
                       (char *)folder, GPOINTER_TO_UINT(n), BESIDE);
        g_test_fail();
    }
    g_assert_cmpuint(GPOINTER_TO_UINT(g_hash_table_lookup(all, "tests/rooms")), ==, 2);
    g_assert_cmpuint(g_hash_table_size(all), >, 80);
}

/* --- what a folder is for --------------------------------------------------------------------- */

/* `folder`, or `folder/file` */
static gboolean says(const char *readme, const char *folder)
{
    g_autofree char *alone = g_strdup_printf("`%s`", folder);
    g_autofree char *with = g_strdup_printf("`%s/", folder);
    return strstr(readme, alone) || strstr(readme, with);
}

/* Its own README.md, or one above that names it. */
static gboolean explained(const char *folder)
{
    g_autofree char *own = g_build_filename(WS_SOURCE_ROOT, folder, "README.md", NULL);
    if (g_file_test(own, G_FILE_TEST_EXISTS))
        return TRUE;
    for (const char *below = folder + strlen(folder); below > folder; below--) {
        if (*below != '/')
            continue;
        g_autofree char *above = g_strndup(folder, (gsize)(below - folder)), *text = NULL;
        g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, above, "README.md", NULL);
        if (g_file_get_contents(file, &text, NULL, NULL) && says(text, below + 1))
            return TRUE;
    }
    return FALSE;
}

static void test_explained(void)
{
    g_autoptr(GHashTable) all = folders();
    GHashTableIter at;
    gpointer folder;
    g_hash_table_iter_init(&at, all);
    while (g_hash_table_iter_next(&at, &folder, NULL)) {
        if (explained(folder))
            continue;
        g_test_message("no README.md says what %s is for", (char *)folder);
        g_test_fail();
    }
    g_assert_true(explained("src/check"));
    g_assert_false(explained("src/nothing"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    g_test_add_func("/rooms/house/lines", test_lines);
    g_test_add_func("/rooms/house/beside", test_beside);
    g_test_add_func("/rooms/house/explained", test_explained);
    return g_test_run();
}
