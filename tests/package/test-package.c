/* Packages: what their launchers ask of the driver is what the program says, in C (compiled against
 * a driver that only prints) and in Python; what cannot be packed is refused by name. */
#include "base/folder.h"
#include "launch/bundle.h"
#include "model/design.h"
#include "model/findings.h"
#include "package/package.h"
#include "package_test.h"
#include "program/elaborate.h"
#include "program/parts/dtype.h"
#include "program/parts/tensor.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <glib/gstdio.h>
#include <string.h>

enum { SMS = 132 };

static const struct {
    const char *design;
    WsSize size[6];
    const char *refused; /* by the launcher; NULL: it launches */
} cases[] = {
    { "projects/gemm-bf16/design.wstave", { { "M", 4096 }, { "N", 4096 }, { "K", 4096 } }, NULL },
    { "projects/gemm-bf16/design.wstave", { { "M", 1 }, { "N", 8 }, { "K", 8 } }, NULL },
    { "projects/gemm-bf16/design.wstave",
      { { "M", 64 }, { "N", 64 }, { "K", 63 } },
      "A: dimension 0 has a stride of 126 bytes; TMA needs a multiple of 16" },
    { "projects/gemm-bf16/design.wstave", { { "M", 0 }, { "N", 64 }, { "K", 64 } }, NULL },
    { "projects/gemm-bf16/design.wstave",
      { { "M", -1 }, { "N", 64 }, { "K", 64 } },
      "M must be 0 or more" },
    { "projects/gemm-bf16/design.wstave",
      { { "M", G_MAXINT64 }, { "N", 64 }, { "K", G_MAXINT64 / 4 } },
      "M must be at most 2147418111" },
    { "projects/gemm-bf16-cluster2/design.wstave",
      { { "M", 1000 }, { "N", 776 }, { "K", 520 } },
      NULL },
    { "projects/gemm-bf16-splitk/design.wstave",
      { { "M", 128 }, { "N", 8192 }, { "K", 8192 } },
      NULL },
    { "projects/gemm-fp8-block/design.wstave",
      { { "M", 4096 }, { "N", 4096 }, { "K", 4096 } },
      NULL },
    { "projects/attention-d128/design.wstave",
      { { "B", 2 }, { "HQ", 8 }, { "HKV", 2 }, { "SQ", 333 }, { "SK", 451 } },
      NULL },
    { "projects/attention-d128/design.wstave",
      { { "B", 2 }, { "HQ", 8 }, { "HKV", 3 }, { "SQ", 333 }, { "SK", 451 } },
      "HQ % HKV == 0 does not hold" },
    { "projects/attention-d128/design.wstave",
      { { "B", 2 }, { "HQ", 8 }, { "HKV", 0 }, { "SQ", 333 }, { "SK", 451 } },
      "HQ % HKV == 0 does not hold" },
};

static guint n_sizes(guint i)
{
    guint n = 0;
    while (n < G_N_ELEMENTS(cases[i].size) && cases[i].size[n].name)
        n++;
    return n;
}

/* Addresses of the tensors in the test: 4096 times their number. */
static char *expected_c(const WsProgram *p, const WsLaunchValues *v)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "attribute 8 %" G_GUINT64_FORMAT "\n", p->shared_bytes);
    static const int type[WS_DTYPE_COUNT] = { [WS_DTYPE_F32] = 7,
                                              [WS_DTYPE_F16] = 6,
                                              [WS_DTYPE_BF16] = 9,
                                              [WS_DTYPE_TF32] = 11,
                                              [WS_DTYPE_I32] = 3 };
    if (ws_launch_tiles(v) == 0)
        return g_string_free(out, FALSE);
    for (guint m = 0; m < p->n_maps; m++) {
        const WsTensorMap *map = &p->map[m];
        const WsTensor *t = &p->tensor[map->tensor];
        const int swizzle = map->swizzle == 128 ? 3 : map->swizzle == 64 ? 2 : map->swizzle == 32;
        g_string_append_printf(out, "map %d %u %u %d :", type[t->dtype], map->rank,
                               (map->tensor + 1) * 4096, swizzle);
        for (guint d = map->rank; d-- > 0;)
            g_string_append_printf(out, " %" G_GINT64_FORMAT, ws_launch_shape(v, map->tensor, d));
        g_string_append(out, " :");
        for (guint d = map->rank - 1; d-- > 0;)
            g_string_append_printf(out, " %" G_GINT64_FORMAT,
                                   ws_launch_stride(v, map->tensor, d) * ws_dtype_bytes(t->dtype));
        g_string_append(out, " :");
        for (guint d = 0; d < map->rank; d++)
            g_string_append_printf(out, " %u", map->box[d]);
        g_string_append(out, "\n");
    }
    g_string_append_printf(out, "launch %" G_GINT64_FORMAT " %u %" G_GUINT64_FORMAT " %u :",
                           ws_launch_grid(v, SMS), p->threads, p->shared_bytes, MAX(p->cluster, 1));
    for (guint t = 0; t < p->n_tensors; t++)
        g_string_append_printf(out, " %u", (t + 1) * 4096);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            g_string_append_printf(out, " %" G_GINT64_FORMAT, ws_launch_var(v, (gint)i));
    g_string_append(out, "\n");
    return g_string_free(out, FALSE);
}

/* A program that launches twice with the case's sizes and prints what was refused. */
static char *main_of(const WsProgram *p, const WsSize *size, guint n)
{
    GString *s = g_string_new(
        "#include \"k.h\"\n#include <stdio.h>\nint main(void)\n{\n    k *kernel = NULL;\n"
        "    if (k_open_image(&kernel, \"\")) {\n        puts(k_error());\n        return 1;\n    "
        "}\n    k_arguments a = { ");
    for (guint t = 0; t < p->n_tensors; t++)
        g_string_append_printf(s, ".%s = %u, ", p->tensor[t].name, (t + 1) * 4096);
    for (guint i = 0; i < n; i++)
        g_string_append_printf(s, ".%s = INT64_C(%" G_GINT64_FORMAT "), ", size[i].name,
                               size[i].value);
    g_string_append(s, "};\n    for (int i = 0; i < 2; i++)\n        if (k_launch(kernel, &a, "
                       "NULL))\n            puts(k_error());\n"
                       "    k_close(kernel);\n    return 0;\n}\n");
    return g_string_free(s, FALSE);
}

/* The launcher alone, as older C and as C++. */
static const char *const dialects[][3] = { { "cc", "c", "-std=c99" },
                                           { "c++", "c++", "-std=c++11" },
                                           { "c++", "c++", "-std=c++20" } };

static void compile_dialects(const char *dir)
{
    g_autofree char *k_c = g_build_filename(dir, "k.c", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(dialects); i++) {
        const char *const argv[] = { dialects[i][0],
                                     "-x",
                                     dialects[i][1],
                                     dialects[i][2],
                                     "-Wall",
                                     "-Wextra",
                                     "-Wpedantic",
                                     "-Werror",
                                     "-fsyntax-only",
                                     "-isystem",
                                     WS_SOURCE_ROOT "/tests/package/stub",
                                     k_c,
                                     NULL };
        int status = 0;
        g_autofree char *said = package_run(argv, NULL, &status);
        if (said)
            g_assert_cmpint(status, ==, 0);
    }
}

static gboolean compile(const char *dir, const WsProgram *p, const WsSize *size, guint n)
{
    g_autofree char *text = main_of(p, size, n);
    g_autoptr(GError) error = NULL;
    g_assert_true(ws_folder_put_text(dir, "main.c", text, &error));
    g_autofree char *main_c = g_build_filename(dir, "main.c", NULL),
                    *k_c = g_build_filename(dir, "k.c", NULL),
                    *out = g_build_filename(dir, "program", NULL),
                    *in = g_strconcat("-I", dir, NULL);
    const char *const argv[] = { "cc",
                                 "-std=c11",
                                 "-Wall",
                                 "-Wextra",
                                 "-Werror",
                                 in,
                                 "-I" WS_SOURCE_ROOT "/tests/package/stub",
                                 main_c,
                                 k_c,
                                 "-o",
                                 out,
                                 "-pthread",
                                 NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    if (said)
        g_assert_cmpint(status, ==, 0);
    return said && package_driver(dir);
}

static guint count_values(const WsProgram *p)
{
    guint n = p->n_tensors;
    for (guint i = 0; i < p->n_vars; i++)
        n += p->var[i].kind == WS_VAR_SIZE;
    return n;
}

static char *launch(const char *dir, const WsProgram *p)
{
    g_autofree char *program = g_build_filename(dir, "program", NULL);
    g_auto(GStrv) environment = g_get_environ();
    g_autofree char *maps = g_strdup_printf("%u", p->n_maps),
                    *values = g_strdup_printf("%u", count_values(p));
    environment = g_environ_setenv(environment, "LD_LIBRARY_PATH", dir, TRUE);
    environment = g_environ_setenv(environment, "STUB_MAPS", maps, TRUE);
    environment = g_environ_setenv(environment, "STUB_VALUES", values, TRUE);
    const char *const argv[] = { program, NULL };
    int status = 0;
    char *out = package_run(argv, environment, &status);
    g_assert_cmpint(status, ==, 0);
    return out;
}

static void test_launcher(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsProgram) p = package_program(cases[i].design, NULL);
        g_autofree char *dir = package_folder(), *header = NULL, *source = NULL;
        const WsPackageSpec spec = { .program = p, .name = "k", .verdict = "" };
        g_autoptr(GError) error = NULL;
        header = ws_package_header(&spec, &error), source = ws_package_launcher(&spec, &error);
        g_assert_no_error(error);
        g_assert_true(ws_folder_put_text(dir, "k.h", header, &error) &&
                      ws_folder_put_text(dir, "k.c", source, &error));
        if (i == 0 || strcmp(cases[i].design, cases[i - 1].design) != 0)
            compile_dialects(dir);
        if (!compile(dir, p, cases[i].size, n_sizes(i))) {
            g_test_skip("there is no cc");
            package_remove(dir);
            return;
        }
        g_autofree char *said = launch(dir, p);
        if (cases[i].refused) {
            g_autofree char *both = g_strdup_printf("%s\n%s\n", cases[i].refused, cases[i].refused);
            if (!g_str_has_suffix(said, both))
                g_error("case %u says %s", i, said);
            g_assert_null(strstr(said, "launch"));
        } else {
            g_autoptr(WsLaunchValues) v =
                ws_launch_values(p, cases[i].size, n_sizes(i), FALSE, NULL);
            g_assert_nonnull(v);
            g_autofree char *once = expected_c(p, v);
            /* the second launch makes no maps: nothing changed */
            const char *last = strstr(once, "launch");
            g_autofree char *expected = g_strconcat(once, last, NULL);
            g_assert_cmpstr(said, ==, expected);
        }
        package_remove(dir);
    }
}

static void put_tuple(GString *s, const WsLaunchValues *v, guint t, guint rank, gboolean strides)
{
    g_string_append(s, t ? ", (" : "(");
    for (guint d = 0; d < rank; d++)
        g_string_append_printf(s, "%s%" G_GINT64_FORMAT, d ? ", " : "",
                               strides ? ws_launch_stride(v, t, d) : ws_launch_shape(v, t, d));
    g_string_append(s, rank == 1 ? ",)" : ")");
}

static char *expected_python(const WsProgram *p, const WsLaunchValues *v)
{
    GString *s = g_string_new(NULL);
    for (int strides = 0; strides < 2; strides++) {
        g_string_append(s, "[");
        for (guint t = 0; t < p->n_tensors; t++)
            put_tuple(s, v, t, p->tensor[t].rank, strides);
        g_string_append(s, "]\n");
    }
    g_string_append_printf(s, "%" G_GINT64_FORMAT, ws_launch_tiles(v));
    if (ws_launch_tiles(v) > 0)
        g_string_append_printf(s, " %" G_GINT64_FORMAT, ws_launch_grid(v, SMS));
    g_string_append(s, "\n");
    return g_string_free(s, FALSE);
}

/* Imports the module with a torch that does nothing and prints its arithmetic for these sizes. */
static char *ask_python(const char *dir, guint i)
{
    g_autoptr(GString) s = g_string_new("import sys; sys.dont_write_bytecode = True; sys.path[:0] "
                                        "= sys.argv[1:]; import k; n = k._Sizes()\n");
    for (guint j = 0; j < n_sizes(i); j++)
        g_string_append_printf(s, "n.%s = %" G_GINT64_FORMAT "\n", cases[i].size[j].name,
                               cases[i].size[j].value);
    g_string_append_printf(
        s,
        "try: bad = [text for holds, text in k._assumed(n) if not holds]\n"
        "except ZeroDivisionError: bad = ['zero']\n"
        "print(bad) if bad else print(k._shapes(n), k._strides(n), *([k._tiles(n)] + "
        "([k._ctas(n, k._tiles(n), %d)] if k._tiles(n) else [])), sep='\\n' if 0 else '|')\n",
        SMS);
    const char *const argv[] = { "python3", "-c", s->str, dir, WS_SOURCE_ROOT "/tests/package/stub",
                                 NULL };
    int status = 0;
    char *out = package_run(argv, NULL, &status);
    if (out)
        g_assert_cmpint(status, ==, 0);
    return out;
}

static void test_module(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(WsProgram) p = package_program(cases[i].design, NULL);
        g_autofree char *dir = package_folder();
        const WsPackageSpec spec = { .program = p, .name = "k", .verdict = "" };
        g_autoptr(GError) error = NULL;
        g_autofree char *module = ws_package_module(&spec, &error);
        g_assert_no_error(error);
        g_assert_true(ws_folder_put_text(dir, "k.py", module, &error));
        g_autofree char *said = ask_python(dir, i);
        package_remove(dir);
        if (!said) {
            g_test_skip("there is no python3");
            return;
        }
        g_autoptr(WsLaunchValues) v = ws_launch_values(p, cases[i].size, n_sizes(i), FALSE, NULL);
        if (!v && strstr(cases[i].refused, "at most"))
            continue; /* only sizes that the tensors say are tried here; _take refuses this one */
        if (!v) {
            g_assert_true(said[0] == '[' && said[1] == '\'');
            continue;
        }
        g_autofree char *expected = expected_python(p, v);
        g_strdelimit(said, "|", '\n');
        g_autofree char *lines = g_strdup(expected);
        for (char *c = strrchr(lines, ' '); c && c > strrchr(lines, ']'); c = NULL)
            *c = '\n';
        g_assert_cmpstr(said, ==, lines);
    }
}

/* Calls that would give wrong numbers are refused; `said` of each line is what Python prints. */
static void test_calls(void)
{
    static const char script[] =
        "import sys; sys.dont_write_bytecode = True; sys.path[:0] = sys.argv[1:]\n"
        "import types; import k; from torch import Tensor as T\n"
        "def call(*a, **n):\n"
        "    try: print('runs' if k.k(*a, **n) else '')\n"
        "    except Exception as e: print(type(e).__name__, e)\n"
        "A, B, C = T(64, 64), T(64, 64), T(64, 64)\n"
        "call(A, None, C)\n"
        "call(A, B, C, K=64.5)\n"
        "call(A, B, C, K=1 << 70)\n"
        "call(A, B, C, K=65)\n"
        "k._kernels = {0: types.SimpleNamespace(sms=132, encode=lambda *a: [], function=0)}\n"
        "k._ctas = lambda n, tiles, sms: (1 << 32) + 132\n"
        "call(A, B, C)\n"
        "k._tiles = lambda n: 0\n"
        "call(A, B)\n"
        "call(A, B, C)\n";
    g_autoptr(WsProgram) p = package_program("projects/gemm-bf16/design.wstave", NULL);
    g_autofree char *dir = package_folder();
    const WsPackageSpec spec = { .program = p, .name = "k", .verdict = "" };
    g_autoptr(GError) error = NULL;
    g_autofree char *module = ws_package_module(&spec, &error);
    g_assert_true(ws_folder_put_text(dir, "k.py", module, &error));
    const char *const argv[] = { "python3", "-c", script, dir, WS_SOURCE_ROOT "/tests/package/stub",
                                 NULL };
    int status = 0;
    g_autofree char *said = package_run(argv, NULL, &status);
    package_remove(dir);
    if (!said) {
        g_test_skip("there is no python3");
        return;
    }
    g_auto(GStrv) line = g_strsplit(said, "\n", -1);
    static const char *const expected[] = { "TypeError k: B is read and was not given",
                                            "TypeError 'float' object cannot be",
                                            "ValueError k: K = 1180591620717411303424 is too large",
                                            "ValueError k: A has shape (64, 64)",
                                            "ValueError k: these sizes need 4294967428 CTAs",
                                            "ValueError k: these sizes have no tile, and nobody "
                                            "would write C",
                                            "runs" };
    g_test_message("%s", said);
    g_assert_cmpint(status, ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_true(g_str_has_prefix(line[i], expected[i]));
}

/* The README claims no check that the launcher does not make, and no digits that are not. */
static void test_readme(void)
{
    g_autoptr(WsProgram) p = package_program("projects/attention-d128/design.wstave", NULL);
    const WsPackageSpec spec = { .program = p, .name = "k", .verdict = "" };
    g_autoptr(GError) error = NULL;
    guint scalars = 0, total = 0;
    for (guint i = 0; i < p->n_vars; i++) {
        if (p->var[i].kind == WS_VAR_SCALAR) {
            p->var[i].preset_real = scalars++ ? 1 : 0.08838834764831845;
        } else if (p->var[i].kind == WS_VAR_TOTAL) {
            total = i;
        }
    }
    g_assert_cmpuint(scalars, >, 0);
    g_autofree char *before = ws_package_readme(&spec, &error);
    g_assert_nonnull(strstr(before, "= (float)0.0883883476"));
    g_assert_null(strstr(before, "NOT CHECKED"));
    WsExpr *leaf = p->assume[0];
    while (leaf->n_args)
        leaf = leaf->arg[0];
    g_assert_cmpint(leaf->op, ==, WS_EXPR_VAR);
    const gint was = leaf->var;
    leaf->var = (gint)total; /* now it is assumed of tiles */
    g_autofree char *after = ws_package_readme(&spec, &error);
    g_autofree char *trusted =
        g_strdup_printf("NOT CHECKED, yet the proof builds on it: `%s`.", p->assume_text[0]);
    g_assert_nonnull(strstr(after, trusted));
    leaf->var = was;
}

/* A folder of packages is replaced, another one is left alone; names must be names. */
static void test_folder(void)
{
    g_autoptr(WsProgram) p = package_program("projects/gemm-bf16/design.wstave", NULL);
    g_autofree char *dir = package_folder(), *mine = g_build_filename(dir, "mine.txt", NULL),
                    *readme = g_build_filename(dir, "README.md", NULL), *text = NULL;
    g_autoptr(GBytes) cubin = g_bytes_new_static("cubin", 5);
    WsPackageSpec spec = { .program = p,
                           .name = "k",
                           .ptx = "// ptx\n",
                           .cubin = cubin,
                           .verdict = "proved",
                           .figures = "| 4096 | 1 us |" };
    g_autoptr(GError) error = NULL;
    for (int round = 0; round < 2; round++)
        g_assert_true(ws_package_write(&spec, dir, &error));
    g_assert_true(g_file_get_contents(readme, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, p->design_hash));
    g_assert_nonnull(strstr(text, "| 4096 | 1 us |"));
    g_assert_null(strchr(text, '@'));
    package_remove(dir);
    g_assert_cmpint(g_mkdir(dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(mine, "mine", -1, NULL));
    g_assert_false(ws_package_write(&spec, dir, &error));
    g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST);
    g_clear_error(&error);
    static const char *const names[] = { "", "1k", "a-b", "for", "a b" };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        spec.name = names[i];
        g_assert_false(ws_package_write(&spec, dir, &error));
        g_assert_error(error, WS_PACKAGE_ERROR, WS_PACKAGE_ERROR_NAME);
        g_clear_error(&error);
    }
    package_remove(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/package/launcher", test_launcher);
    g_test_add_func("/package/module", test_module);
    g_test_add_func("/package/calls", test_calls);
    g_test_add_func("/package/readme", test_readme);
    g_test_add_func("/package/folder", test_folder);
    return g_test_run();
}
