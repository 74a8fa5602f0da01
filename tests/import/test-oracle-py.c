/* Kernels of tests/import and mutants of them, executed by Python (oracle_py): none that goes wrong
 * is proved. In full: ./dev soak. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void played(gconstpointer data)
{
    const char *language = data;
    g_autofree char *python = g_find_program_in_path("python3");
    const char *program = WS_BUILD_ROOT "/bin/warpstave";
    if (!python || !g_file_test(program, G_FILE_TEST_IS_EXECUTABLE)) {
        g_test_skip(python ? "bin/warpstave is not built" : "no python3");
        return;
    }
    g_autofree char *folder = g_dir_make_tmp("oracle-py-XXXXXX", NULL);
    g_autofree char *path = g_strconcat(WS_SOURCE_ROOT "/tests/import/", language, NULL);
    g_autoptr(GPtrArray) line = g_ptr_array_new_with_free_func(g_free);
    const char *const head[] = {
        python,    "-B",      WS_SOURCE_ROOT "/tests/import/oracle_py/drive.py",
        program,   "--out",   folder,
        "--brief", "--count", g_test_slow() ? "400" : "12"
    };
    for (gsize i = 0; i < G_N_ELEMENTS(head); i++)
        g_ptr_array_add(line, g_strdup(head[i]));
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_assert_nonnull(dir);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const char *name; (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".py") && strcmp(name, "subrings.py")) /* read for seconds */
            g_ptr_array_add(names, g_strdup_printf("%s:%s/%s", language, path, name));
    g_assert_cmpuint(names->len, >, 0);
    g_ptr_array_sort(names, by_name);
    g_ptr_array_extend_and_steal(line, g_steal_pointer(&names));
    g_ptr_array_add(line, NULL);
    g_autofree char *out = NULL;
    g_autofree char *err = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;
    gboolean ran = g_spawn_sync(NULL, (char **)line->pdata, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out,
                                &err, &status, &error);
    g_assert_no_error(error);
    g_assert_true(ran);
    g_test_message("%s%s", out, err);
    g_assert_true(g_spawn_check_wait_status(status, NULL));
    g_rmdir(folder); /* kept where something was found */
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/import/oracle-py/gluon", "gluon", played);
    g_test_add_data_func("/import/oracle-py/tle", "tle", played);
    g_test_add_data_func("/import/oracle-py/tlx", "tlx", played);
    return g_test_run();
}
