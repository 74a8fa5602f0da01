/* A package for gfx950: its launcher, compiled by cc, against a stand-in of HIP that says what it
 * is called with. No GPU is asked. */
#include "base/folder.h"
#include "package/hip.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

static const struct {
    const char *name, *design, *arguments, *parameters, *fails;
    const char *says[8]; /* lines, in order */
} rows[] = {
    { "gemm",
      "tests/designs/gemm-gfx950.wstave",
      ".A = 0x1000, .B = 0x2000, .C = 0x3000, .M = 512, .N = 768, .K = 96",
      "pppiii",
      NULL,
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "0",
        "launch it 6 1 1 of 512 1 1 shared 0 stream 77: 0x1000 0x2000 0x3000 512 768 96", "0",
        "unload it" } },
    { "attention",
      "tests/designs/attention-gfx950.wstave",
      ".Q = 1, .K = 2, .V = 3, .O = 4, .Z = 2, .H = 3, .N_CTX = 512, .scale = 0.5f",
      "ppppiiif",
      NULL,
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "0",
        "launch it 12 1 1 of 512 1 1 shared 0 stream 77: 0x1 0x2 0x3 0x4 2 3 512 0.5", "0",
        "unload it" } },
    { "no tile, no launch",
      "tests/designs/gemm-gfx950.wstave",
      ".M = 0, .N = 768, .K = 96",
      "",
      NULL,
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "0", "0",
        "unload it" } },
    { "a size that tiles do not divide",
      "tests/designs/gemm-gfx950.wstave",
      ".M = 500, .N = 768, .K = 96",
      "",
      NULL,
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "0",
        "1 M % BM == 0 does not hold", "unload it" } },
    { "a size below 0",
      "tests/designs/gemm-gfx950.wstave",
      ".M = -256, .N = 768, .K = 96",
      "",
      NULL,
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "0",
        "1 M must be 0 or more", "unload it" } },
    { "more workgroups than there are",
      "tests/designs/gemm-gfx950.wstave",
      ".M = 2147418112 - 256, .N = 2147418112 - 256, .K = 96",
      "",
      NULL,
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "0",
        "1 M/256*(N/256) must fit in 32 bits", "unload it" } },
    { "another device",
      "tests/designs/gemm-gfx950.wstave",
      ".M = 256, .N = 256, .K = 96",
      "",
      "hipModuleLoadData",
      { "load ELF for machine 224, flags 0x54f",
        "3 hipModuleLoadData: no kernel image is available for execution on the device" } },
    { "no such function",
      "tests/designs/gemm-gfx950.wstave",
      ".M = 256, .N = 256, .K = 96",
      "",
      "hipModuleGetFunction",
      { "load ELF for machine 224, flags 0x54f", "function warpstave of it", "unload it",
        "3 hipModuleGetFunction: no kernel image is available for execution on the device" } },
};

/* An ELF header: machine and flags are all that the stand-in looks at. */
static GBytes *object(void)
{
    guint8 head[64] = "\177ELF";
    head[18] = 224;
    head[48] = 0x4f;
    head[49] = 0x05;
    return g_bytes_new(head, sizeof head);
}

static void compile(const char *const *argv)
{
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    g_assert_nonnull(said);
    g_assert_cmpint(status, ==, 0);
}

static void test_calls(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *cc = g_find_program_in_path("cc");
    if (!cc) {
        g_test_skip("there is no cc");
        return;
    }
    g_autoptr(WsProgram) p = package_program(rows[i].design, NULL);
    g_autoptr(GBytes) image = object();
    g_autoptr(GError) error = NULL;
    const WsPackageSpec spec = {
        .program = p, .name = "k", .cubin = image, .verdict = "", .outcome = "proved"
    };
    g_autofree char *base = package_folder(), *dir = g_build_filename(base, "k", NULL);
    g_assert_true(ws_package_hip_write(&spec, dir, &error));
    g_autofree char *main_c = g_strdup_printf(
        "#include \"k.h\"\n#include <stdio.h>\n"
        "int main(void)\n{\n    k *h;\n    const k_arguments a = { %s };\n"
        "    int s = k_open_linked(&h);\n    if (s)\n        return printf(\"%%d %%s\\n\", s, "
        "k_error()), 0;\n    printf(\"%%d\\n\", s);\n    s = k_launch(h, &a, (void *)0x77);\n"
        "    printf(s ? \"%%d %%s\\n\" : \"%%d\\n\", s, k_error());\n    k_close(h);\n    return "
        "0;\n}\n",
        rows[i].arguments);
    g_assert_true(ws_folder_put_text(dir, "main.c", main_c, &error));
    g_autofree char *library = g_build_filename(dir, "libamdhip64.so", NULL),
                    *program = g_build_filename(dir, "program", NULL),
                    *m = g_build_filename(dir, "main.c", NULL),
                    *c = g_build_filename(dir, "k.c", NULL),
                    *kernel = g_build_filename(dir, "k_kernel.c", NULL);
    compile((const char *const[]){ "cc", "-shared", "-fPIC",
                                   WS_SOURCE_ROOT "/tests/package/stub/hip.c", "-o", library,
                                   NULL });
    compile((const char *const[]){ "cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror",
                                   "-Wno-format-security", "-Wno-format-extra-args", m, c, kernel,
                                   "-ldl", "-pthread", "-o", program, NULL });
    g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "LD_LIBRARY_PATH", dir, TRUE);
    environment = g_environ_setenv(environment, "STUB_PARAMETERS", rows[i].parameters, TRUE);
    if (rows[i].fails)
        environment = g_environ_setenv(environment, "STUB_FAIL", rows[i].fails, TRUE);
    int status = 0;
    g_autofree char *said =
        package_run((const char *const[]){ program, NULL }, environment, &status);
    g_assert_cmpint(status, ==, 0);
    g_auto(GStrv) line = g_strsplit(g_strchomp(said), "\n", -1);
    for (guint k = 0; rows[i].says[k] || line[k]; k++)
        g_assert_cmpstr(line[k], ==, rows[i].says[k]);
    package_remove(base);
}

/* What is not packed says so. */
static void test_refused(void)
{
    g_autoptr(WsProgram) p = package_program("projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(GBytes) image = object();
    g_autoptr(GError) error = NULL;
    const WsPackageSpec spec = { .program = p, .name = "k", .cubin = image };
    g_autofree char *text = ws_package_hip_launcher(&spec, &error);
    g_assert_null(text);
    g_assert_nonnull(strstr(error->message, "not supported by the package for HIP"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/package/hip/%s", rows[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_calls);
    }
    g_test_add_func("/package/hip/refused", test_refused);
    return g_test_run();
}
