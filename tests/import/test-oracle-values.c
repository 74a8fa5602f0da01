/* Lines of TLE drawn at random, run by Python as Triton has them and as the design that is made of
 * them (oracle_values): what is read whole computes the same. In full: ./dev soak. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static void drawn(gconstpointer data)
{
    const char *const *what = data; /* program, kernel and seed */
    g_autofree char *python = g_find_program_in_path("python3");
    const char *program = WS_BUILD_ROOT "/bin/warpstave";
    if (!python || !g_file_test(program, G_FILE_TEST_IS_EXECUTABLE)) {
        g_test_skip(python ? "bin/warpstave is not built" : "no python3");
        return;
    }
    g_autofree char *seed = g_strdup_printf("%u", g_random_int_range(0, 1 << 20));
    const gboolean sanitized = g_getenv("WARPSTAVE_SANITIZERS") != NULL;
    const char *const line[] = { python,
                                 "-B",
                                 what[0],
                                 program,
                                 what[1],
                                 "--seed",
                                 g_test_slow() ? seed
                                 : sanitized   ? "11"
                                               : what[2],
                                 "--count",
                                 g_test_slow() ? "2000" : "16",
                                 NULL };
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;
    const gboolean ran = g_spawn_sync(NULL, (char **)line, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out,
                                      &err, &status, &error);
    g_assert_no_error(error);
    g_assert_true(ran);
    g_test_message("%s%s", out, err);
    g_assert_true(g_spawn_check_wait_status(status, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    static const char *const lines[] = { WS_SOURCE_ROOT "/tests/import/oracle_values/draw.py",
                                         WS_SOURCE_ROOT "/tests/import/tle/names/scale.py", "3" },
                             *const ways[] = { WS_SOURCE_ROOT "/tests/import/oracle_values/ways.py",
                                               WS_SOURCE_ROOT "/tests/import/tle/turned.txt", "5" };
    g_test_add_data_func("/import/oracle-values/drawn", lines, drawn);
    g_test_add_data_func("/import/oracle-values/ways", ways, drawn);
    return g_test_run();
}
