/* What a package's launcher does over many launches, in C: tests/package/programs/launcher.c,
 * compiled against the stub of the driver. */
#include "base/folder.h"
#include "package/package.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "whole.h"

/* `name`.h, .c and _kernel.c; PTX that names no address, so that every tensor with a map may have
 * strides. */
static void put_package(const char *dir, const char *name, const char *design)
{
    g_autoptr(WsProgram) p = package_program(design, NULL);
    g_autoptr(GBytes) cubin = g_bytes_new_static("cubin", 5);
    g_autofree char *ptx = package_ptx(p);
    const WsPackageSpec spec = {
        .program = p, .name = name, .ptx = ptx, .cubin = cubin, .verdict = "", .outcome = "proved"
    };
    package_put(dir, &spec);
}

static void use(const char *const *options)
{
    g_autofree char *dir = package_folder(), *in = g_strconcat("-I", dir, NULL),
                    *out = g_build_filename(dir, "program", NULL);
    put_package(dir, "k", "projects/gemm-bf16/design.wstave");
    put_package(dir, "q", "projects/attention-d128/design.wstave");
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    static const char *const first[] = { "cc",    "-std=c11", "-O1",    "-g",
                                         "-Wall", "-Wextra",  "-Werror" };
    for (guint i = 0; i < G_N_ELEMENTS(first); i++)
        g_ptr_array_add(argv, g_strdup(first[i]));
    for (guint i = 0; options[i]; i++)
        g_ptr_array_add(argv, g_strdup(options[i]));
    g_ptr_array_add(argv, g_strdup(in));
    g_ptr_array_add(argv, g_strdup(WS_SOURCE_ROOT "/tests/package/programs/launcher.c"));
    static const char *const source[] = { "k.c", "k_kernel.c", "q.c", "q_kernel.c",
                                          "libcuda.so.1" };
    if (!package_driver(dir)) {
        g_test_skip("there is no cc");
        package_remove(dir);
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(source); i++)
        g_ptr_array_add(argv, g_build_filename(dir, source[i], NULL));
    static const char *const last[] = { "-pthread", "-o" };
    for (guint i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(argv, g_strdup(last[i]));
    g_ptr_array_add(argv, g_strdup(out));
    g_ptr_array_add(argv, NULL);
    int status = 0;
    g_free(package_run((const char *const *)argv->pdata, NULL, &status));
    if (status && *options) {
        g_test_skip("cc has no such sanitizer here");
        package_remove(dir);
        return;
    }
    g_assert_cmpint(status, ==, 0);
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LD_LIBRARY_PATH", dir, TRUE);
    environment = g_environ_setenv(environment, "STUB_QUIET", "1", TRUE);
    environment = g_environ_setenv(environment, "STUB_MAPS", "3", TRUE);
    const char *const start[] = { out, NULL };
    g_autofree char *said = package_run(start, environment, &status);
    g_assert_cmpstr(said, ==, "right\n");
    g_assert_cmpint(status, ==, 0);
    package_remove(dir);
}

static void test_launches(void)
{
    static const char *const none[] = { NULL };
    use(none);
}

static void test_memory(void)
{
    static const char *const options[] = { "-fsanitize=address,undefined", "-fno-sanitize-recover",
                                           NULL };
    use(options);
}

static void test_races(void)
{
    static const char *const options[] = { "-fsanitize=thread", NULL };
    use(options);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/launcher/launches", test_launches);
    if (!test_quick()) { /* the run under the sanitizers takes them */
        g_test_add_func("/package/launcher/memory", test_memory);
        g_test_add_func("/package/launcher/races", test_races);
    }
    return g_test_run();
}
