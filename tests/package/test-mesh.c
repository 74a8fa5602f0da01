/* The package of a design of several devices: its module, called with a torch, a process group and
 * a driver that note what they are told (programs/mesh.py), and what has no such package. */
#include "base/folder.h"
#include "package/mesh.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

#define PULL "projects/ag-gemm/pull.wstave"

/* Beginnings of the lines that the program prints, of rank 1 of 2. */
static const char *const lines[] = {
    "RuntimeError k: torch.distributed has no process group yet",
    "TypeError k: there is no size Q to give; they are TM, N, K, SMS",
    "TypeError k: say the size N",
    "ValueError k: W = 3, and the process group has 2 ranks",
    "ValueError k: kt >= 4 does not hold for TM = 2, N = 520, K = 8, W = 2, SMS = 4, rank = 1",
    "ValueError k: 133 CTAs, and the GPU holds 132",
    "ValueError k: SMS >= 1 does not hold for",
    "RuntimeError k: rank 0 cannot: ValueError: no",
    "ValueError k: rank 1 has another design than rank 0",
    "ValueError k: rank 1 has another sizes than rank 0",
    "ValueError k: rank 1 has another host than rank 0",
    "ValueError k: rank 1 has the GPU of another rank",
    "launch 4 384 SHARED 2 1 15 number 0", /* a cooperative one, of 3 maps, 3 tensors, 6 sizes */
    "(512, 520) True [(256, 264), (520, 264), (512, 520)]", /* X is copied to where others get it */
    "True True", /* the maps of X on both devices, in the order of their numbers; none of B and C */
    "launch 4 384 SHARED 2 1 15 number 1",
    "two waits for one", /* launches of two streams are in order, as they share flags and buffers */
    "two uses maps",
    "two uses table",
    "launch 4 384 SHARED 2 1 15 number 2",
    "launch 4 384 SHARED 2 1 15 number 3",
    "one waits for two",
    "one uses maps",
    "one uses table",
    "TypeError k: B is read and was not given",
    "launch 4 384 SHARED 2 1 15 number 4",
    "ValueError k: X is another view of tensor(\"X\"), with strides (1, 256)",
    "TypeError k: B is read and was not given",
    "TypeError k: 3 inputs; there are X, B",
    "TypeError k: Z is given twice, or is no tensor or scalar of the kernel",
    "ValueError k: C has shape (256, 264); these sizes need (512, 520)",
    "ValueError k: B has shape (8, 264); these sizes need (520, 264)",
    "ValueError k: X is float16 on",
    "ValueError k: B has strides (272, 1); it must have (264, 1)",
    "KeyError k: B is no tensor that devices reach of each other",
    "NotImplementedError k: X requires a gradient",
    "RuntimeError k: a CUDA graph cannot hold it",
};

static void test_calls(void)
{
    g_autoptr(WsProgram) p = package_program(PULL, NULL);
    g_autofree char *dir = package_folder(), *ptx = package_ptx(p);
    const WsPackageSpec spec = { .program = p, .name = "k", .ptx = ptx, .verdict = "" };
    g_autoptr(GError) error = NULL;
    g_autofree char *module = ws_package_mesh_module(&spec, &error);
    g_assert_no_error(error);
    g_assert_true(ws_folder_put_text(dir, "k.py", module, &error) &&
                  ws_folder_put_text(dir, "kernel.cubin", "none", &error));
    const char *const argv[] = { "python3", WS_SOURCE_ROOT "/tests/package/programs/mesh.py", dir,
                                 "1", NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    package_remove(dir);
    if (!said) {
        g_test_skip("there is no python3");
        return;
    }
    g_test_message("%s", said);
    g_assert_cmpint(status, ==, 0);
    g_auto(GStrv) got = g_strsplit(g_strchomp(said), "\n", -1);
    g_assert_cmpuint(g_strv_length(got), ==, G_N_ELEMENTS(lines));
    g_autofree char *shared = g_strdup_printf("%" G_GUINT64_FORMAT, p->shared_bytes);
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(GString) want = g_string_new(lines[i]);
        g_string_replace(want, "SHARED", shared, 0);
        if (!g_str_has_prefix(got[i], want->str))
            g_error("line %u is '%s', not '%s'", i, got[i], want->str);
    }
}

/* What is put into a device, and what devices exchange, is made by the Mesh. */
static void test_reached(void)
{
    static const struct {
        const char *design, *reached, *call;
    } of[] = {
        { PULL, "_REACHED = {0}", "run(X, B)" },
        { "projects/ag-gemm/design.wstave", "_REACHED = {1}", "run(X, B)" },
        { "projects/ag-gemm/gather.wstave", "_REACHED = {0, 1}", "run(X, B)" },
        { "projects/gemm-rs/design.wstave", "_REACHED = {2}", "run(A, B)" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(of); i++) {
        g_autoptr(WsProgram) p = package_program(of[i].design, NULL);
        g_autofree char *ptx = package_ptx(p);
        const WsPackageSpec spec = { .program = p, .name = "k", .ptx = ptx, .verdict = "" };
        g_autoptr(GError) error = NULL;
        g_autofree char *module = ws_package_mesh_module(&spec, &error);
        g_assert_no_error(error);
        g_assert_nonnull(strstr(module, of[i].reached));
        g_assert_nonnull(strstr(module, of[i].call));
        if (strstr(module, "(_has_value("))
            g_assert_nonnull(strstr(module, "\ndef _has_value("));
        g_assert_nonnull(strstr(module, "SMS >= 1"));
        g_assert_false(g_regex_match_simple("@[A-Z_]+@", module, 0, 0));
    }
}

/* A launcher in C of one device would leave out what the kernel is told of the others. */
static void test_others(void)
{
    g_autoptr(WsProgram) p = package_program("tests/designs/mesh/gemm-rs.wstave", NULL);
    g_autofree char *dir = package_folder();
    g_autofree char *into = g_build_filename(dir, "k", NULL);
    g_autoptr(GError) error = NULL;
    const WsPackageSpec spec = { .program = p, .name = "k", .ptx = "", .verdict = "" };
    g_assert_false(ws_package_write(&spec, into, &error));
    g_assert_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_LENS);
    g_assert_nonnull(strstr(error->message, "devices: not supported by this form of package"));
    g_assert_false(g_file_test(into, G_FILE_TEST_EXISTS));
    package_remove(dir);
}

/* The folder: the module and what it reads. */
static void test_folder(void)
{
    g_autoptr(WsProgram) p = package_program(PULL, NULL);
    g_autofree char *dir = package_folder(), *ptx = package_ptx(p);
    g_autofree char *into = g_build_filename(dir, "k", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) cubin = g_bytes_new("none", 4);
    const WsPackageSpec spec = {
        .program = p, .name = "k", .ptx = ptx, .cubin = cubin, .verdict = "It is so."
    };
    g_assert_true(ws_package_mesh_write(&spec, into, &error));
    g_assert_no_error(error);
    static const char *const files[] = { "k.py",          "README.md",  "LICENSE",
                                         "design.wstave", "kernel.ptx", "kernel.cubin",
                                         "package.txt" };
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *at = g_build_filename(into, files[i], NULL);
        g_assert_true(g_file_test(at, G_FILE_TEST_IS_REGULAR));
    }
    g_autofree char *at = g_build_filename(into, "README.md", NULL), *text = NULL;
    g_assert_true(g_file_get_contents(at, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "It is so."));
    g_assert_nonnull(strstr(text, "| `C` | bfloat16 | `[W*TM*128, N]` | write |"));
    g_assert_null(strchr(text, '@'));
    ws_folder_remove(into);
    package_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/mesh/calls", test_calls);
    g_test_add_func("/package/mesh/reached", test_reached);
    g_test_add_func("/package/mesh/others", test_others);
    g_test_add_func("/package/mesh/folder", test_folder);
    return g_test_run();
}
