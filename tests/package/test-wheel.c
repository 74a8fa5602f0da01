/* Wheels: what pip, pkg-config, CMake and the examples make of one (programs/wheel.py); without a
 * compiler they are refused. */
#include "package/package.h"
#include "package/zip.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static void wheel_of(const char *design, const char *name)
{
    g_autoptr(WsProgram) p = package_program(design, NULL);
    g_autoptr(GBytes) cubin = g_bytes_new_static("cubin", 5);
    g_autofree char *dir = package_folder(), *ptx = package_ptx(p);
    const WsPackageSpec spec = { .program = p,
                                 .name = name,
                                 .ptx = ptx,
                                 .cubin = cubin,
                                 .verdict = "proved",
                                 .outcome = "proved" };
    g_autoptr(GError) error = NULL;
    g_autofree char *wheel = ws_package_wheel(&spec, dir, &error);
    if (g_error_matches(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT)) {
        g_test_skip("there is no cc");
        package_remove(dir);
        return;
    }
    g_assert_no_error(error);
    g_assert_true(g_str_has_suffix(wheel, ".whl"));
    const char *const argv[] = { "python3", WS_SOURCE_ROOT "/tests/package/programs/wheel.py",
                                 wheel,     name,
                                 dir,       WS_SOURCE_ROOT "/tests/package/stub",
                                 NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    if (said) {
        g_test_message("%s", said);
        g_assert_true(g_str_has_suffix(said, "right\n"));
    } else {
        g_test_skip("there is no python3");
    }
    package_remove(dir);
}

static void test_wheel(void)
{
    wheel_of("projects/gemm-bf16/design.wstave", "k");
}

static void test_refused(void)
{
    g_autoptr(WsProgram) p = package_program("projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(GBytes) cubin = g_bytes_new_static("cubin", 5);
    g_autofree char *dir = package_folder(), *was = g_strdup(g_getenv("CC"));
    WsPackageSpec spec = { .program = p, .name = "k", .ptx = "", .cubin = cubin, .verdict = "" };
    g_autoptr(GError) error = NULL;
    g_setenv("CC", "/nowhere/cc", TRUE);
    g_assert_null(ws_package_wheel(&spec, dir, &error));
    g_assert_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT);
    g_assert_nonnull(strstr(error->message, "a wheel needs a C compiler"));
    g_clear_error(&error);
    g_setenv("CC", "false", TRUE);
    g_assert_null(ws_package_wheel(&spec, dir, &error));
    g_assert_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FAILED);
    if (was)
        g_setenv("CC", was, TRUE);
    else
        g_unsetenv("CC");
    package_remove(dir);
}

/* The sum of "123456789" by the ZIP format's polynomial, and one archive of one file, byte for byte
 * the same twice. */
static void test_zip(void)
{
    g_autoptr(GBytes) one = NULL;
    g_autoptr(GBytes) two = NULL;
    for (int round = 0; round < 2; round++) {
        WsZip *zip = ws_zip_new();
        ws_zip_add(zip, "a/b", "123456789", 9, FALSE);
        *(round ? &two : &one) = ws_zip_end(zip);
    }
    const guint8 *byte = g_bytes_get_data(one, NULL);
    static const guint8 sum[] = { 0x26, 0x39, 0xf4, 0xcb };
    g_assert_cmpmem(byte + 14, 4, sum, 4);
    g_assert_true(g_bytes_equal(one, two));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/wheel/installed", test_wheel);
    g_test_add_func("/package/wheel/refused", test_refused);
    g_test_add_func("/package/wheel/zip", test_zip);
    return g_test_run();
}
