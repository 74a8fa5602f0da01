/* Texts that a host of their own launches refuse the sizes that a launch by the runner refuses
 * since kernels count in 32 bits: the functions that say so are run, those of Python by python3,
 * that of CUDA C++ by c++. */
#include "codegen/cuda/cuda.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"

#include <glib/gstdio.h>
#include <string.h>

/* M, N and K of a product of matrices, by tiles of 128 x 256. */
static const struct {
    gint64 size[3];
    gboolean fit;
} rows[] = {
    { { 8192, 8192, 8192 }, TRUE },
    { { 1, 1, 1 }, TRUE },
    { { 0, 8192, 8192 }, TRUE },
    { { 2147418111, 1, 8 }, TRUE },
    { { 2147418112, 1, 8 }, FALSE },
    { { 1, 1, G_GINT64_CONSTANT(1) << 31 }, FALSE },
    { { G_GINT64_CONSTANT(1) << 33, 8, 8 }, FALSE },
    { { -1, 8192, 8192 }, FALSE },
    { { 8388608, 4194304, 64 }, TRUE },  /* 2^30 tiles */
    { { 8388608, 8388608, 64 }, FALSE }, /* 2^31 */
    { { 2147418111, 2147418111, 8 }, FALSE },
};

/* A run name that is divided by 0 where nobody uses it, for which no launch is, and 40 of which
 * each is twice the one before: none is computed more than once. */
static const char named[] =
    "{ \"warpstave\": 1, \"name\": \"named\", \"target\": \"sm_90a\","
    "\"sizes\": { \"M\": 64, \"N\": 256, \"K\": 4 },"
    "\"let\": { \"d\": \"N/K\", \"w\": \"select(K == 0, M*M, d)\"%s },"
    "\"tensors\": [{ \"name\": \"A\", \"dtype\": \"f32\", \"shape\": [\"N\", 64] },"
    "{ \"name\": \"O\", \"dtype\": \"f32\", \"shape\": [\"N\", 64], \"access\": \"write\" }],"
    "\"tiles\": { \"axes\": { \"m\": \"cdiv(N, 64)\" }, \"launch\": \"single\" },"
    "\"groups\": [{ \"name\": \"g\", \"role\": \"worker\", \"warps\": 4, \"values\": ["
    "{ \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 64] }], \"body\": ["
    "{ \"read\": \"x\", \"from\": \"A\", \"at\": [\"m*64\", 0] },"
    "{ \"if\": \"%s > w\", \"then\": [{ \"compute\": \"x = x*1\" }] },"
    "{ \"write\": \"x\", \"to\": \"O\", \"at\": [\"m*64\", 0] }] }] }";

static const struct {
    guint names; /* each twice the one before, from 2 N on */
    gint64 size[3];
    gboolean fit;
} named_rows[] = {
    { 0, { 64, 256, 4 }, TRUE },     { 0, { 40000, 256, 0 }, FALSE },
    { 0, { 50000, 256, 0 }, FALSE }, { 0, { 50000, 256, 1 }, TRUE },
    { 20, { 64, 1023, 4 }, TRUE },   { 20, { 64, 2048, 4 }, FALSE },
    { 40, { 64, 256, 4 }, FALSE },   { 40, { 64, 0, 4 }, TRUE },
};

static WsProgram *gemm(void)
{
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "projects/gemm-bf16/design.wstave", NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

/* From `begin` to before `end`. Caller frees. */
static char *between(const char *text, const char *begin, const char *end)
{
    const char *from = strstr(text, begin), *to = from ? strstr(from, end) : NULL;
    g_assert_nonnull(to);
    return g_strndup(from, (gsize)(to - from));
}

static char *output_of(const char *const *argv)
{
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    int status;
    g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                               NULL, &status, &error));
    g_assert_true(g_spawn_check_wait_status(status, &error));
    return out;
}

static gboolean is_there(const char *tool)
{
    g_autofree char *path = g_find_program_in_path(tool);
    if (!path)
        g_test_skip(tool);
    return path != NULL;
}

/* What a launch by the runner says. */
static gboolean launches(const WsProgram *p, const gint64 *size)
{
    const WsSize given[] = { { "M", size[0] }, { "N", size[1] }, { "K", size[2] } };
    g_autoptr(WsFindings) refused = ws_findings_new();
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, given, G_N_ELEMENTS(given), FALSE, refused);
    if (v)
        ws_launchable(p, v, ws_launch_grid(v, ws_launch_most(p)), refused);
    return v && refused->list->len == 0;
}

static void compare(const char *answers)
{
    g_assert_cmpuint(strlen(answers), ==, G_N_ELEMENTS(rows));
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                       rows[i].size[0], rows[i].size[1], rows[i].size[2]);
        g_assert_cmpint(answers[i], ==, rows[i].fit ? '1' : '0');
    }
}

static void in_python(gconstpointer data)
{
    const char *dialect = data;
    if (!is_there("python3"))
        return;
    g_autoptr(GError) error = NULL;
    WsProgram *p = gemm();
    g_autofree char *text = !strcmp(dialect, "gluon") ? ws_generate_gluon(p, FALSE, NULL, &error)
                                                      : ws_generate_tle(p, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *function = between(text, "def counted(", "\n\n"),
                    *call = between(text, "    counted(", "\n    A_"),
                    *line = g_strndup(call, strcspn(call, "\n"));
    g_autoptr(GString) s =
        g_string_new("class triton:\n    cdiv = lambda a, b: -(-a // b)\nBN = 256\n");
    g_string_append_printf(s,
                           "%s\n\ndef fit(M, N, K):\n    n_tm = triton.cdiv(M, 128)\n"
                           "    n_tn = triton.cdiv(N, BN)\n    n_tiles = n_tm * n_tn\n"
                           "    try:\n    %s\n    except ValueError:\n        return 0\n"
                           "    return 1\n\n",
                           function, line);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        g_string_append_printf(s,
                               "print(fit(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                               ", %" G_GINT64_FORMAT "), end='')\n",
                               rows[i].size[0], rows[i].size[1], rows[i].size[2]);
    g_autofree char *answers = output_of((const char *[]){ "python3", "-c", s->str, NULL });
    compare(answers);
    ws_program_unref(p);
}

static WsProgram *with_names(guint n)
{
    g_autoptr(GString) more = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        g_autofree char *of = i ? g_strdup_printf("q%u", i - 1) : g_strdup("N");
        g_string_append_printf(more, ", \"q%u\": \"%s + %s\"", i, of, of);
    }
    g_autofree char *last = n ? g_strdup_printf("q%u", n - 1) : g_strdup("N"),
                    *text = g_strdup_printf(named, more->str, last);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "named", findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    return p;
}

/* The text's function that says whether sizes are counted. Caller frees. */
static char *counted_of(const WsProgram *p)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_cuda(p, TRUE, &error);
    g_assert_no_error(error);
    return between(text, "// Numbers of 64 bits", "inline cudaError_t launch(");
}

/* What the lines of `main` print. Caller frees. */
static char *printed(const char *functions, const char *lines)
{
    g_autofree char *folder = g_dir_make_tmp("counted-XXXXXX", NULL),
                    *source = g_build_filename(folder, "counted.cc", NULL),
                    *program = g_build_filename(folder, "counted", NULL),
                    *text = g_strdup_printf("#include <cstdint>\n#include <cstdio>\n"
                                            "%s\nint main()\n{\n%s}\n",
                                            functions, lines);
    g_assert_true(g_file_set_contents(source, text, -1, NULL));
    g_free(output_of(
        (const char *[]){ "c++", "-std=c++17", "-Wall", "-Werror", source, "-o", program, NULL }));
    char *answers = output_of((const char *[]){ program, NULL });
    g_unlink(source);
    g_unlink(program);
    g_rmdir(folder);
    return answers;
}

static void ask(GString *lines, const char *space, const gint64 *size)
{
    g_string_append_printf(lines,
                           "    putchar('0' + %scounted(%sArguments{ %" G_GINT64_FORMAT
                           ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }));\n",
                           space, space, size[0], size[1], size[2]);
}

static const char arguments[] = "struct Arguments { int64_t M, N, K; };\n";

static void in_cuda(void)
{
    if (!is_there("c++"))
        return;
    WsProgram *p = gemm();
    g_autofree char *function = counted_of(p), *functions = g_strconcat(arguments, function, NULL);
    g_autoptr(GString) lines = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        ask(lines, "", rows[i].size);
    g_autofree char *answers = printed(functions, lines->str);
    compare(answers);
    ws_program_unref(p);
}

static void names_in_cuda(void)
{
    if (!is_there("c++"))
        return;
    g_autoptr(GString) functions = g_string_new(NULL), lines = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(named_rows); i++) {
        WsProgram *p = with_names(named_rows[i].names);
        g_autofree char *function = counted_of(p), *space = g_strdup_printf("of%u::", i);
        g_assert_cmpuint(strlen(function), <, 16384);
        g_string_append_printf(functions, "namespace of%u {\n%s%s}\n", i, arguments, function);
        ask(lines, space, named_rows[i].size);
        ws_program_unref(p);
    }
    g_autofree char *answers = printed(functions->str, lines->str);
    for (guint i = 0; i < G_N_ELEMENTS(named_rows); i++) {
        g_test_message("row %u", i);
        g_assert_cmpint(answers[i], ==, named_rows[i].fit ? '1' : '0');
        WsProgram *p = with_names(named_rows[i].names);
        g_assert_cmpint(launches(p, named_rows[i].size), ==, named_rows[i].fit);
        ws_program_unref(p);
    }
}

/* No launch for sizes that break what the design assumes, or for which a name has no value. */
static void assumed(void)
{
    static const struct {
        gint64 size[3];
        gboolean fit;
    } gemm_rows[] = { { { 128, 256, 64 }, TRUE }, { { 128, 256, 0 }, FALSE } };
    if (!is_there("c++"))
        return;
    WsProgram *p = gemm(), *of_names = with_names(0);
    g_autofree char *function = counted_of(p), *functions = g_strconcat(arguments, function, NULL);
    g_autoptr(GString) lines = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(gemm_rows); i++)
        ask(lines, "", gemm_rows[i].size);
    g_autofree char *answers = printed(functions, lines->str);
    for (guint i = 0; i < G_N_ELEMENTS(gemm_rows); i++) {
        g_assert_cmpint(answers[i], ==, gemm_rows[i].fit ? '1' : '0');
        g_assert_cmpint(launches(p, gemm_rows[i].size), ==, gemm_rows[i].fit);
    }
    g_autoptr(GError) error = NULL;
    g_autofree char *text = ws_generate_gluon(of_names, FALSE, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(text, "\n    d = N // K\n")); /* which raises for K = 0 */
    ws_program_unref(of_names);
    ws_program_unref(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/counted/gluon", "gluon", in_python);
    g_test_add_data_func("/counted/tle", "tle", in_python);
    g_test_add_func("/counted/cuda", in_cuda);
    g_test_add_func("/counted/cuda/names", names_in_cuda);
    g_test_add_func("/counted/assumed", assumed);
    return g_test_run();
}
