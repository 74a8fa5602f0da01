/* The extension and the module of packages, on stand-ins of torch and of the driver:
 * programs/extension.py. */
#include "base/folder.h"
#include "package/package.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"

/* NAME.py and _NAME.abi3.so; FALSE where there is no cc. */
static gboolean put_module(const char *dir, const char *name, const char *design)
{
    g_autoptr(WsProgram) p = package_program(design, NULL);
    g_autofree char *ptx = package_ptx(p);
    g_autoptr(GBytes) cubin = g_bytes_new_static("cubin", 5);
    const WsPackageSpec spec = {
        .program = p, .name = name, .ptx = ptx, .cubin = cubin, .verdict = "", .outcome = "proved"
    };
    package_put(dir, &spec);
    g_autoptr(GError) error = NULL;
    g_autofree char *module = ws_package_module(&spec, &error),
                    *extension = ws_package_extension(&spec), *py = g_strconcat(name, ".py", NULL),
                    *c = g_strconcat(name, "_python.c", NULL),
                    *so = g_strdup_printf("%s/_%s.abi3.so", dir, name);
    g_assert_true(ws_folder_put_text(dir, py, module, &error) &&
                  ws_folder_put_text(dir, c, extension, &error));
    g_autofree char *one = g_strdup_printf("%s/%s.c", dir, name),
                    *two = g_strdup_printf("%s/%s_kernel.c", dir, name),
                    *three = g_strdup_printf("%s/%s", dir, c);
    const char *const argv[] = { "cc",      "-std=c11", "-O1",
                                 "-Wall",   "-Wextra",  "-Werror",
                                 "-shared", "-fPIC",    "-fvisibility=hidden",
                                 one,       two,        three,
                                 "-o",      so,         "-pthread",
                                 NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    g_assert_cmpint(said ? status : 0, ==, 0);
    return said != NULL;
}

static void test_extension(void)
{
    g_autofree char *dir = package_folder();
    if (!package_driver(dir) || !put_module(dir, "k", "projects/gemm-bf16/design.wstave") ||
        !put_module(dir, "q", "projects/attention-d128/design.wstave")) {
        g_test_skip("there is no cc");
        package_remove(dir);
        return;
    }
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LD_LIBRARY_PATH", dir, TRUE);
    environment = g_environ_setenv(environment, "STUB_QUIET", "1", TRUE);
    const char *const argv[] = { "python3", WS_SOURCE_ROOT "/tests/package/programs/extension.py",
                                 dir, WS_SOURCE_ROOT "/tests/package/stub", NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, environment, &status);
    if (said)
        g_assert_cmpstr(said, ==, "right\n");
    else
        g_test_skip("there is no python3");
    package_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/extension", test_extension);
    return g_test_run();
}
