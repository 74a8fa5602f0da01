/* The machine of this folder against the import: what is proved goes right under every schedule
 * tried, what the machine breaks is not proved. `test-import-oracle-ptx machine FILE …` is the
 * machine. */
#include "../../whole.h"
#include "../judged.h"
#include "machine.h"

#include <string.h>

/* Launches: -p parameters, -b boxes of tensor maps, -g CTAs of the grid. */
#define GEMM  "-p 4=2 -p 6=256 -b 0=16384 -b 1=16384 -g 2 "
#define GLUON "-p 16=2 -b 0=16384 -b 5=16384 -b 10=8192 -g 2 "
static const struct {
    const char *file, *launch;
} right[] = {
    { "gemm", GEMM "-p 3=5 -p 5=6" },
    { "gemm", GEMM "-p 3=9 -p 5=1" },
    { "gemm", GEMM "-p 3=2 -p 5=0" },
    { "gemm-cluster", "-p 3=2 -p 4=6 -p 5=256 -b 0=16384 -b 1=8192 -g 2" },
    { "attention", "-p 4=6 -b 0=8192 -b 1=8192 -b 2=8192" },
    { "gemm-ampere", "-p 3=64 -p 4=64 -p 5=6" },
    { "triton-gluon", GLUON "-p 15=5 -p 17=300" },
    { "triton-tma", "-p 15=128 -p 16=128 -p 17=300 -b 0=16384 -b 5=16384 -b 10=16384" },
    { "triton-cpasync", "-p 3=512 -p 4=512 -p 5=300 -p 6=512 -p 7=512 -p 8=512" },
    { "flow/register-of-an-inner-scope-refuted", GEMM "-p 3=5 -p 5=6" },
};

/* Broken texts that the import does not follow: each goes wrong at this launch. */
static const struct {
    const char *file, *launch, *says;
} broken[] = {
    { "elect-in-a-branch", GEMM "-p 3=3 -p 5=6", "hang" },
    { "shfl-in-a-data-branch", GEMM "-p 3=3 -p 5=6", "hang" },
    { "vote-in-a-data-branch", GEMM "-p 3=3 -p 5=6", "hang" },
    { "two-lanes-arrive", GEMM "-p 3=3 -p 5=9", "race" },
    { "two-lanes-initialise", GEMM "-p 3=3 -p 5=1", "lives already" },
    { "two-lanes-load", GEMM "-p 3=3 -p 5=6", "more arrivals" },
    { "init-of-zero", GEMM "-p 3=3 -p 5=1", "counts 0" },
    { "parity-reset-per-tile", GEMM "-p 3=9 -p 5=1", "hang" },
    { "parity-reset-per-tile-of-the-producer", GEMM "-p 3=9 -p 5=1", "more arrivals" },
    { "register-of-an-inner-scope", GEMM "-p 3=3 -p 5=6", "hang" },
    { "tile-loop-until-equal", GEMM "-p 3=3 -p 5=1", "hang" },
    { "loop-that-never-ends", GEMM "-p 3=1 -p 5=1 -l 20000", "long" },
    { "remote-arrival-of-cta-scope", "-p 3=2 -p 4=9 -p 5=256 -b 0=16384 -b 1=8192 -g 2", "race" },
};

static char *path_of(const char *file)
{
    return g_strdup_printf("%s/tests/import/ptx/%s.ptx", WS_SOURCE_ROOT, file);
}

/* What the machine says of eight schedules. */
static char *played(const char *path, const char *launch)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *command = g_strdup_printf("%s machine %s %s -n 8", self, path, launch);
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    g_spawn_command_line_sync(command, &out, NULL, NULL, &error);
    g_assert_no_error(error);
    return out;
}

static void test_right(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *path = path_of(right[i].file);
    g_autofree char *said = played(path, right[i].launch);
    if (!g_str_has_prefix(said, "right"))
        g_test_message("%s", said);
    g_assert_true(g_str_has_prefix(said, "right"));
}

static void test_broken(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *name = g_strconcat("flow/", broken[i].file, NULL);
    g_autofree char *path = path_of(name);
    g_autofree char *said = played(path, broken[i].launch);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    if (!strstr(said, broken[i].says))
        g_test_message("%s", said);
    g_assert_nonnull(strstr(said, broken[i].says));
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), !=, WS_VERDICT_PROVED);
}

/* A few changed kernels: what is proved goes right. More of them: ./dev soak. */
static void test_changed(void)
{
    g_autofree char *warpstave = g_build_filename(WS_BUILD_ROOT, "bin/warpstave", NULL);
    g_autofree char *python = g_find_program_in_path("python3");
    if (!python || !g_file_test(warpstave, G_FILE_TEST_IS_EXECUTABLE)) {
        g_test_skip(python ? "bin/warpstave is not built" : "python3 is not here");
        return;
    }
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *out = NULL;
    g_autoptr(GError) error = NULL;
    int status;
    g_autofree char *command = g_strdup_printf(
        "%s %s/tests/import/oracle_ptx/oracle.py %s --machine %s --kernels gemm --mutants %d "
        "--launches 3 --seed 5",
        python, WS_SOURCE_ROOT, warpstave, self,
        g_test_slow()      ? 2000
        : test_sanitized() ? 3
                           : 10);
    g_spawn_command_line_sync(command, &out, NULL, &status, &error);
    g_assert_no_error(error);
    if (status)
        g_test_message("%s", out);
    g_assert_cmpint(status, ==, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "machine"))
        return machine_main(argc - 1, argv + 1);
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(right); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/oracle-ptx/right/%s/%u", right[i].file, i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_right);
    }
    for (guint i = 0; i < G_N_ELEMENTS(broken); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/import/oracle-ptx/broken/%s", broken[i].file);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_broken);
    }
    g_test_add_func("/import/oracle-ptx/changed", test_changed);
    return g_test_run();
}
