/* A bundle of gfx950 from the design to results.json, on a stand-in of HIP that executes nothing of
 * its code (fake_hip.c): what is loaded, launched, judged and told. No GPU is asked. */
#include "remove.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#define RUNNER WS_BUILD_ROOT "/bin/warpstave-runner"
#define WARP   WS_BUILD_ROOT "/bin/warpstave"
#define FAKE   WS_BUILD_ROOT "/tests/runner/libfakehip.so"
#define DESIGN WS_SOURCE_ROOT "/tests/designs/gemm-gfx950.wstave"

typedef struct {
    char *out, *err, *log, *json;
    int status;
} Run;

static void clear(Run *r)
{
    g_free(r->out);
    g_free(r->err);
    g_free(r->log);
    g_free(r->json);
}

static char *get(const char *dir, const char *name)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

static int spawn(const char *const *argv, GStrv env, char **out, char **err)
{
    int status;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, env, 0, NULL, NULL, out, err, &status, NULL));
    g_assert_true(status % 256 == 0);
    return status / 256;
}

static char *bundle(void)
{
    char *dir = g_dir_make_tmp("warpstave-hip-XXXXXX", NULL);
    g_autofree char *out = NULL, *err = NULL;
    const char *argv[] = { WARP,    "bundle",      DESIGN,  "-o",     dir,    "--size",
                           "M=256", "--size",      "N=256", "--size", "K=64", "--runs",
                           "2",     "--sustained", "0",     NULL };
    const int status = spawn(argv, NULL, &out, &err);
    if (status)
        g_error("%s%s", out, err);
    g_assert_nonnull(strstr(err, "untested on a GPU until one is available"));
    g_assert_nonnull(strstr(out, "then warpstave collect "));
    g_assert_null(strstr(out, ".wtrace")); /* there is no trace to write */
    return dir;
}

static Run run(const char *dir, const char *mode, const char *library)
{
    Run r = { 0 };
    g_autofree char *log = g_build_filename(dir, "calls.log", NULL);
    g_auto(GStrv) env = g_environ_setenv(g_get_environ(), "WARPSTAVE_LIBHIP", library, TRUE);
    env = g_environ_setenv(env, "WARPSTAVE_LIBCUDA", "/nowhere", TRUE);
    env = g_environ_setenv(env, "FAKE_HIP", mode, TRUE);
    env = g_environ_setenv(env, "FAKE_HIP_LOG", log, TRUE);
    g_remove(log);
    const char *argv[] = { RUNNER, dir, "--samples", "300", NULL };
    r.status = spawn(argv, env, &r.out, &r.err);
    r.log = get(dir, "calls.log");
    r.json = get(dir, "results.json");
    return r;
}

static void holds(const char *text, const char *what)
{
    if (!text || !strstr(text, what))
        g_error("no '%s' in: %s", what, text ? text : "(nothing)");
}

static void test_right(void)
{
    g_autofree char *dir = bundle();
    Run r = run(dir, "", FAKE);
    if (r.status)
        g_error("%s%s", r.out, r.err);
    holds(r.out, "on Fake MI355X, 256 CUs, driver 7.1, clock and power unknown");
    holds(r.out, "HIP: untested on a GPU until one is available");
    holds(r.out, "M=256,N=256,K=64: right, 1 CTAs, 1 tiles");
    holds(r.out, "300 of 65536 elements agree");
    holds(r.out, "second run bit-identical");
    holds(r.out, "timed build: 250 registers, 0 bytes of local memory");
    holds(r.json, "\"median_us\": 100");
    holds(r.log, "load ELF for machine 224, flags 0x54f\n");
    holds(r.log, "launch warpstave 1 1 1 of 512 1 1 shared 0\n");
    holds(r.log, "launch warpstave_reference 1 1 1 of 64 1 1 shared 0\n"); /* 64 samples first */
    holds(r.log, "launch warpstave_reference 4 1 1 of 64 1 1 shared 0\n"); /* 236 more */
    holds(r.log, "flush 268435456 of 0\n");
    g_assert_null(strstr(r.log, "ws_")); /* no kernel of CUDA */
    clear(&r);
    remove_tree(dir);
}

static void test_trouble(void)
{
    static const struct {
        const char *mode, *library;
        int status;
        const char *says;
    } rows[] = {
        { "wrong", FAKE, 1, "1 of 300 samples wrong, first C[255, 255] = " },
        { "unwritten", FAKE, 1, "1 elements are not finite or were never written (first: 3)" },
        { "unsteady", FAKE, 1, "second run DIFFERS" },
        { "no-device", FAKE, 4, "no GPU on this machine (hipGetDeviceCount: HIP_ERROR_NO_DEVICE)" },
        { "no-binary", FAKE, 4,
          "hipModuleLoadData: hipErrorNoBinaryForGpu (no kernel image is available for execution "
          "on the device)" },
        { "", "/nowhere/libamdhip64.so", 4, "no HIP here, install ROCm or choose another host" },
        { "", WS_BUILD_ROOT "/tests/runner/libfakecuda.so", 4,
          "libamdhip64.so has no hipGetErrorName: too old (needs ROCm 6)" },
    };
    g_autofree char *dir = bundle();
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Run r = run(dir, rows[i].mode, rows[i].library);
        g_autofree char *all = g_strconcat(r.out, r.err, NULL);
        g_test_message("%s: %s", rows[i].mode, all);
        g_assert_cmpint(r.status, ==, rows[i].status);
        holds(all, rows[i].says);
        clear(&r);
    }
    remove_tree(dir);
}

/* What a bundle may hold for CUDA and the runner does not do on HIP, by name. */
static void test_lacks(void)
{
    static const struct {
        const char *from, *to, *says, *also, *as; /* a second change */
    } rows[] = {
        { "module timed kernel.hsaco\n",
          "module timed kernel.hsaco\nmodule traced kernel.hsaco\nrecords 64 0 1 0 1\nctas 0\n",
          "does not do on HIP: a traced build" },
        { "module timed kernel.hsaco\n", "module timed kernel.hsaco\nmodule debug kernel.hsaco\n",
          "does not do on HIP: a debug build" },
        { "reference 2 ", "map 2 0 64 64\nreference 2 ", "does not do on HIP: tensor maps" },
        { "block 512 1 0", "block 512 2 0", "does not do on HIP: clusters", " ctas 1 ",
          " ctas 2 " },
        { "reference 2 ", "counter\nreference 2 ",
          "does not do on HIP: tiles of a dynamic launch" },
    };
    g_autofree char *dir = bundle(), *path = g_build_filename(dir, "bundle.txt", NULL);
    g_autofree char *was = get(dir, "bundle.txt");
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) text = g_string_new(was);
        g_assert_cmpuint(g_string_replace(text, rows[i].from, rows[i].to, 1), ==, 1);
        if (rows[i].also)
            g_assert_cmpuint(g_string_replace(text, rows[i].also, rows[i].as, 1), ==, 1);
        g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
        Run r = run(dir, "", FAKE);
        g_assert_cmpint(r.status, ==, 2);
        holds(r.err, rows[i].says);
        g_assert_null(r.log); /* nothing was asked of the library */
        clear(&r);
    }
    remove_tree(dir);
}

/* Options that have no code for gfx950. */
static void test_options(void)
{
    static const char *const option[] = { "--traced", "--debug-waits", "--delays=3", "--cubin",
                                          "--from-cuda" };
    g_autofree char *dir = g_dir_make_tmp("warpstave-hip-XXXXXX", NULL);
    g_autofree char *to = g_build_filename(dir, "x", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(option); i++) {
        g_autofree char *out = NULL, *err = NULL;
        const char *argv[] = { WARP, "bundle", DESIGN, "-o", to, option[i], NULL };
        g_assert_cmpint(spawn(argv, NULL, &out, &err), ==, 3);
        g_autofree char *name = g_strndup(option[i], strcspn(option[i], "="));
        holds(err, "not in the bundle for gfx950: ");
        holds(err, name);
    }
    g_rmdir(dir); /* nothing was written */
}

/* The numbers that are passed on, by the headers of a ROCm. */
static void test_numbers(void)
{
    static const struct {
        const char *enumerator;
        int number;
    } rows[] = {
#define WS_HIP_NUMBER(name, number, enumerator) { #enumerator, number },
#include "runner/hip_number.def"
#undef WS_HIP_NUMBER
    };
    const char *folder = g_getenv("WARPSTAVE_HIP_INCLUDE");
    if (!folder) {
        g_test_skip("WARPSTAVE_HIP_INCLUDE names no folder with hip/hip_runtime_api.h");
        return;
    }
    for (int off = 0; off < 2; off++) { /* a compiler that takes anything would show nothing */
        g_autoptr(GString) text = g_string_new("#include <hip/hip_runtime_api.h>\n");
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
            g_string_append_printf(text, "_Static_assert(%s == %d, \"\");\n", rows[i].enumerator,
                                   rows[i].number + off);
        g_autofree char *dir = g_dir_make_tmp("warpstave-hip-XXXXXX", NULL);
        g_autofree char *file = g_build_filename(dir, "numbers.c", NULL), *err = NULL;
        g_autofree char *include = g_strconcat("-I", folder, NULL);
        g_assert_true(g_file_set_contents(file, text->str, -1, NULL));
        const char *argv[] = {
            "cc", "-fsyntax-only", "-D__HIP_PLATFORM_AMD__", include, file, NULL
        };
        int status;
        g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                                   &err, &status, NULL));
        g_test_message("%s", err);
        g_assert_true((status != 0) == off);
        g_assert_true(!off || strstr(err, rows[0].enumerator));
        remove_tree(dir);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runner/hip/right", test_right);
    g_test_add_func("/runner/hip/trouble", test_trouble);
    g_test_add_func("/runner/hip/lacks", test_lacks);
    g_test_add_func("/runner/hip/options", test_options);
    g_test_add_func("/runner/hip/numbers", test_numbers);
    return g_test_run();
}
