/* Pairs: what their Python does with the gradients it is given, on a stand-in of torch
 * (programs/pair.py); that the files of each launch are there. cli/pair has what is refused. */
#include "package/pair.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

enum { LAUNCHES = 3 };
static const char *const designs[LAUNCHES] = {
    "projects/attention-d128/design.wstave", "projects/attention-backward-d128-dq/design.wstave",
    "projects/attention-backward-d128-dkv/design.wstave"
};

static void test_python(void)
{
    g_autofree char *dir = package_folder(), *folder = g_build_filename(dir, "pair", NULL);
    g_autoptr(GBytes) cubin = g_bytes_new_static("cubin", 5);
    g_autoptr(GError) error = NULL;
    WsProgram *program[LAUNCHES];
    char *ptx[LAUNCHES];
    WsPackageSpec spec[LAUNCHES];
    for (guint i = 0; i < LAUNCHES; i++) {
        program[i] = package_program(designs[i], NULL);
        ptx[i] = package_ptx(program[i]);
        spec[i] = (WsPackageSpec){
            .program = program[i], .ptx = ptx[i], .cubin = cubin, .verdict = "", .outcome = "proved"
        };
    }
    const WsPair pair = { .name = "pair", .launch = spec, .label = designs, .n = LAUNCHES };
    ws_pair_write(&pair, folder, &error);
    g_assert_no_error(error);
    g_autofree char *readme = g_build_filename(folder, "README.md", NULL), *text = NULL;
    g_assert_true(g_file_get_contents(readme, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "O, LSE = pair(Q, K, V)"));
    g_assert_nonnull(strstr(text, "NOT checked")); /* nobody tried the gradient here */
    g_assert_null(strchr(text, '@'));
    const char *const argv[] = { "python3", WS_SOURCE_ROOT "/tests/package/programs/pair.py", dir,
                                 WS_SOURCE_ROOT "/tests/package/stub", NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    package_remove(folder);
    package_remove(dir);
    for (guint i = 0; i < LAUNCHES; i++) {
        ws_program_unref(program[i]);
        g_free(ptx[i]);
    }
    if (!said) {
        g_test_skip("there is no python3");
        return;
    }
    g_test_message("%s", said);
    g_assert_true(g_str_has_suffix(said, "right\n"));
}

/* Names of sizes that no launch could find, forward designs without their gradient. */
static void test_refused(void)
{
    g_autoptr(WsProgram) forward = package_program(designs[0], NULL);
    g_autoptr(GError) error = NULL;
    const WsPackageSpec spec[] = { { .program = forward, .verdict = "" },
                                   { .program = forward, .verdict = "" } };
    WsPair pair = { .name = "pair", .launch = spec, .label = designs, .n = 1 };
    g_assert_false(ws_pair_check(&pair, &error));
    g_assert_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_PAIR);
    g_clear_error(&error);
    pair.n = 2; /* a forward as its own gradient */
    g_assert_false(ws_pair_check(&pair, &error));
    g_assert_nonnull(strstr(error->message, "writes O, a tensor of"));
    g_clear_error(&error);
    pair.name = "a-b";
    g_assert_false(ws_pair_check(&pair, &error));
    g_assert_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_NAME);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/pair/python", test_python);
    g_test_add_func("/package/pair/refused", test_refused);
    return g_test_run();
}
