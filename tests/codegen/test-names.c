/* Names that other languages have taken: a design may have them, and its texts still compile. */
#include "codegen/cuda/cuda.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "model/reserved.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <glib/gstdio.h>
#include <string.h>

#define GEMM WS_SOURCE_ROOT "/projects/gemm-bf16/design.wstave"

/* Names of the design, and what they become, once each way. */
static const char *const was[] = { "BM", "BN", "BK", "STAGES", "SLAB", "M",    "N",
                                   "K",  "A",  "B",  "C",      "full", "empty" };
static const char *const taken[][G_N_ELEMENTS(was)] = {
    { "int", "int_", "lambda", "nullptr", "class", "printf", "NULL", "None", "this", "yield",
      "fmaf", "INT_MAX", "bool" },
    { "double", "requires", "memcpy", "co_await", "std", "with", "True", "assert", "uint32_t",
      "threadIdx", "char8_t", "exp2f", "import" },
    { "range", "print", "smem", "THREADS", "Kernel", "x", "lane", "size_t", "float4", "del",
      "signbit", "errno", "main" },
    { "slice", "object", "pow", "tl", "gl", "torch", "isnan", "NAN", "linux", "stdin", "triton",
      "asm", "operator" },
};

/* Whole words only; "full" is also how a loop is unrolled. */
static char *renamed(const char *text, const char *const *to)
{
    GString *s = g_string_new(NULL);
    while (*text) {
        gsize n = 0;
        while (g_ascii_isalnum(text[n]) || text[n] == '_')
            n++;
        guint i = 0;
        while (i < G_N_ELEMENTS(was) && (strlen(was[i]) != n || strncmp(text, was[i], n) != 0))
            i++;
        if (n && i < G_N_ELEMENTS(was) && !g_str_has_suffix(s->str, "\"unroll\": \""))
            g_string_append(s, to[i]);
        else
            g_string_append_len(s, text, (gssize)MAX(n, 1));
        text += MAX(n, 1);
    }
    return g_string_free(s, FALSE);
}

static WsProgram *program_of(const char *const *to)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(GEMM, &text, NULL, NULL));
    g_autofree char *other = renamed(text, to);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(other, strlen(other), "names.wstave", findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *why = ws_findings_print(findings, "names.wstave");
        g_test_message("%s", why);
    }
    g_assert_nonnull(p);
    return p;
}

static void test_cuda(gconstpointer data)
{
    g_autoptr(WsProgram) p = program_of(data);
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) cubin = NULL;
    g_autofree char *text = ws_generate_cuda(p, TRUE, &error);
    g_assert_no_error(error);
    if (!ws_nvcc_available()) {
        g_test_skip("nvcc is not installed");
        return;
    }
    WsPtxasReport *r = ws_nvcc_run(text, &cubin, &error);
    g_assert_no_error(error);
    ws_ptxas_report_free(r);
}

/* Python's own parser, and that no name is given twice in one list of parameters. */
static void test_python(gconstpointer data)
{
    g_autoptr(WsProgram) p = program_of(data);
    char *(*const write[])(const WsProgram *, gboolean, const WsPyJudge *,
                           GError **) = { ws_generate_gluon, ws_generate_tle };
    for (guint i = 0; i < G_N_ELEMENTS(write); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = write[i](p, FALSE, NULL, &error), *file = NULL, *said = NULL;
        g_assert_no_error(error);
        const int fd = g_file_open_tmp("warpstave-names-XXXXXX.py", &file, &error);
        g_assert_no_error(error);
        g_close(fd, NULL);
        g_assert_true(g_file_set_contents(file, text, -1, NULL));
        const char *const argv[] = { "python3", "-c",
                                     "import sys; compile(open(sys.argv[1]).read(), 'names', "
                                     "'exec')",
                                     file, NULL };
        int status = 0;
        const gboolean ran = g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
                                          NULL, NULL, &said, &status, NULL);
        g_unlink(file);
        if (!ran) {
            g_test_skip("python3 is not installed");
            return;
        }
        g_test_message("%s", said);
        g_assert_cmpint(status, ==, 0);
    }
}

static void test_reserved(void)
{
    static const struct {
        guint in;
        const char *name;
        gboolean is;
    } row[] = {
        { WS_RESERVED_C, "int", TRUE },       { WS_RESERVED_C, "class", FALSE },
        { WS_RESERVED_CXX, "class", TRUE },   { WS_RESERVED_C, "int_", TRUE },
        { WS_RESERVED_C, "int__", TRUE },     { WS_RESERVED_C, "_int", FALSE },
        { WS_RESERVED_C, "in", FALSE },       { WS_RESERVED_PYTHON, "in", TRUE },
        { WS_RESERVED_C, "_", FALSE },        { WS_RESERVED_C, "", FALSE },
        { WS_RESERVED_PYTHON, "None", TRUE }, { WS_RESERVED_C | WS_RESERVED_PYTHON, "BM", FALSE },
        { WS_RESERVED_CUDA, "printf", TRUE }, { 0, "int", FALSE },
    };
    for (guint i = 0; i < G_N_ELEMENTS(row); i++)
        g_assert_true(ws_reserved(row[i].in, row[i].name) == row[i].is);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/names/reserved", test_reserved);
    for (guint i = 0; i < G_N_ELEMENTS(taken); i++) {
        g_autofree char *cuda = g_strdup_printf("/names/cuda/%u", i);
        g_autofree char *python = g_strdup_printf("/names/python/%u", i);
        g_test_add_data_func(python, taken[i], test_python);
        if (i == 0 || g_test_slow()) /* nvcc takes its time */
            g_test_add_data_func(cuda, taken[i], test_cuda);
    }
    return g_test_run();
}
