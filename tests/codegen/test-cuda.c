/* Designs -> CUDA C++: structure of the text, folding of copies, and nvcc's verdict where it is
 * installed: one small design always, every shipped design with `-m slow` (./dev soak). */
#include "codegen/cuda/cuda.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

static WsProgram *load(const char *path)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p) {
        g_autofree char *text = ws_findings_print(findings, file);
        g_test_message("%s", text);
    }
    return p;
}

static char *cuda_of(const WsProgram *p)
{
    g_autoptr(GError) error = NULL;
    char *text = ws_generate_cuda(p, TRUE, &error);
    g_assert_no_error(error);
    return text;
}

static guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *c = text; (c = strstr(c, what)); c += strlen(what))
        n++;
    return n;
}

/* Designs that CUDA C++ is not written of: of other targets, of several devices, and with a
 * transposition (test-transpose.c). */
static gboolean elsewhere(const char *name)
{
    static const char *const parts[] = { "gfx950",  "ascend",        "gemm-rs",  "gemm-ar",
                                         "ag-gemm", "attention-fp8", "transpose" };
    for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
        if (strstr(name, parts[i]))
            return TRUE;
    return FALSE;
}

static void list(const char *folder, gboolean nested, GPtrArray *out)
{
    g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, folder, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        if (g_str_has_suffix(name, ".wstave") && !elsewhere(name))
            g_ptr_array_add(out, g_build_filename(folder, name, NULL));
        else if (nested && !strchr(name, '.') && !elsewhere(name))
            g_ptr_array_add(out, g_build_filename(folder, name, "design.wstave", NULL));
    }
}

/* Paths of all designs for sm_90a that are shipped or serve as examples. */
static GPtrArray *shipped(void)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    list("projects", TRUE, all);
    list("tests/designs", FALSE, all);
    list("tests/designs/moves", FALSE, all);
    return all;
}

/* Under a condition that intervals may decide: then it is not in the text. */
static gboolean conditional(const WsOp *op)
{
    for (const WsTree *t = op->tree; t; t = t->parent) {
        if (t->kind == WS_TREE_BRANCH)
            return TRUE;
    }
    return FALSE;
}

/* --- text --------------------------------------------------------------------------------------*/

static void test_text(gconstpointer data)
{
    g_autoptr(WsProgram) p = load(data);
    g_assert_nonnull(p);
    g_autofree char *text = cuda_of(p);
    g_autofree char *again = cuda_of(p);
    g_assert_cmpstr(text, ==, again);
    g_assert_nonnull(strstr(text, p->design_hash));
    g_assert_true(g_str_is_ascii(text));
    g_assert_null(strchr(text, WS_FOLD_IMMEDIATE[0]));
    g_assert_null(strstr(text, " + 0)"));
    g_assert_cmpuint(count(text, "__global__"), ==, 1);
    g_assert_cmpuint(count(text, "const __grid_constant__ CUtensorMap"), ==, p->n_maps);
    g_assert_cmpuint(count(text, "__cluster_dims__"), ==, p->cluster > 1);
    g_assert_cmpuint(count(text, "{"), ==, count(text, "}"));
    for (guint i = 0; i < p->n_groups; i++) {
        g_autofree char *role = g_strdup_printf("// Role %s (", p->group_name[i]);
        g_assert_nonnull(strstr(text, role));
    }
    for (guint i = 0; i < p->n_ops; i++) { /* a comment names every step that does something */
        const WsOp *op = p->op[i];
        if (op->agent < 0 || !op->step || op->declared || conditional(op) ||
            op->kind == WS_OP_LET || op->kind == WS_OP_ADVANCE)
            continue;
        g_autofree char *place = g_strdup_printf("[%s]", op->step);
        if (!strstr(text, place))
            g_test_message("%s: %s is not in the text", (const char *)data, place);
        g_assert_nonnull(strstr(text, place));
    }
}

/* What the text of gemm-bf16 is made of: names of the design, one function for both consumers. */
static void test_reads_like_the_design(void)
{
    g_autoptr(WsProgram) p = load("tests/designs/gemm-cooperative.wstave");
    g_assert_nonnull(p);
    g_autofree char *text = cuda_of(p);
    static const char *const lines[] = {
        "constexpr int STAGES = 4;",
        "__device__ __forceinline__ void load_role() const",
        "    template <int replica>\n    __device__ __forceinline__ void mma_role() const",
        "for (int k = 0; k < cdiv(K, BK); ++k) {",
        "// wait full use k.total  <- full (load)",
        "mbar_wait(smem.empty(mod(k_total, STAGES)), mod(quot(k_total, STAGES) + 1, 2));",
        "mbar_expect(smem.full(mod(k_total, STAGES)), 49152);",
        "setmaxnreg_dec<40>();",
        "setmaxnreg_inc<232>();",
        "wgmma_m64n256k16_f32_bf16_bf16_first(acc, a_desc, b_desc);",
        "wgmma_m64n256k16_f32_bf16_bf16(acc, a_desc + 2 * ks, b_desc + 2 * ks);",
        "for (int s = 0; s < 4; ++s) {",
        "bar_sync<(1 + replica), 128>();",
        "k.mma_role<1>();",
        "__launch_bounds__(THREADS, 1)",
        "cudaLaunchKernelEx(&config, warpstave, A_map, B_map, C_map",
    };
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        if (!strstr(text, lines[i]))
            g_test_message("missing: %s", lines[i]);
        g_assert_nonnull(strstr(text, lines[i]));
    }
    g_assert_cmpuint(count(text, "wgmma.mma_async"), ==, 2); /* one text per form, not per call */
}

/* A run name that is made from another one reads it where it lies: in the kernel's members. */
static void test_run_names(void)
{
    g_autoptr(WsProgram) p = load("projects/attention-window/design.wstave");
    g_assert_nonnull(p);
    g_autofree char *text = cuda_of(p);
    g_assert_nonnull(strstr(text, "    k.c = k.unit_ * 1.44269502f;\n"));
}

/* Rows that a tensor names are read before the first copy of a gather; a partial sum that has no
 * second place begins at 0 in one that nobody can know, behind sums that stay in front of it. */
static void test_order(void)
{
    static const struct {
        const char *design, *line[3]; /* in this order */
    } says[] = {
        { "projects/sparse-mla-prefill/design.wstave",
          { "rows_0[n] = I__at(here.t, 2 * i * BT + line);", "mbar_wait(smem.k0_free(0)",
            "cp_async_hint(swizzle<128>(smem.k(0) + " } },
        { "tests/designs/moves/gather-twice.wstave", /* names that a scope has once each */
          { "rows_0[n] = I__at(first_ + line);", "mbar_wait(smem.free_(0)",
            "rows_1[n] = I__at(second + line);" } },
        { "projects/gemm-fp8-block-pair/design.wstave",
          { "keep(d0);", "const int scale_d = mov32(0);", "_if(t, a_desc, b_desc, scale_d);" } },
        { "tests/designs/moves/gather-groups.wstave",
          { "for (int n = 0; n < ", "const int line = thread / 8 + n * ", "cp_async(" } },
    };
    for (guint i = 0; i < G_N_ELEMENTS(says); i++) {
        g_autoptr(WsProgram) p = load(says[i].design);
        g_assert_nonnull(p);
        g_autofree char *text = cuda_of(p);
        const char *at = text;
        for (guint k = 0; k < G_N_ELEMENTS(says[i].line); k++) {
            at = strstr(at, says[i].line[k]);
            if (!at)
                g_error("%s: no '%s' after the last", says[i].design, says[i].line[k]);
        }
    }
}

/* --- folding -----------------------------------------------------------------------------------*/

typedef struct {
    const char *copy[4], *folded; /* NULL: they do not fold */
    gboolean immediates;
} Fold;
static const Fold folds[] = {
    { { "f(0);", "f(1);" }, "f(i);", FALSE },
    { { "f(4 + 0);", "f(4 + 64);", "f(4 + 128);" }, "f(4 + (i * 64));", FALSE },
    { { "x[8]", "x[6]", "x[4]" }, "x[(8 + i * (-2))]", FALSE },
    { { "same", "same" }, "same", FALSE },
    { { "f(0);", "f(1);", "f(3);" }, NULL, FALSE },
    { { "f(0);", "g(0);" }, NULL, FALSE },
    { { "f(0);", "f(0);\n" }, NULL, FALSE },
    { { "f(0.5f);", "f(1.5f);" }, NULL, FALSE },
    { { "b<\x01"
        "1>()",
        "b<\x01"
        "2>()" },
      NULL,
      FALSE },
    { { "b<\x01"
        "1>()",
        "b<\x01"
        "2>()" },
      "b<\x01(1 + i)>()",
      TRUE },
};

static void test_fold(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(folds); i++) {
        guint n = 0;
        while (n < 4 && folds[i].copy[n])
            n++;
        g_autofree char *text = ws_fold_text(folds[i].copy, n, "i", folds[i].immediates);
        g_assert_cmpstr(text, ==, folds[i].folded);
    }
}

static void test_tidy(void)
{
    g_autofree char *text = ws_cuda_tidy("a + 0;\nb(x + 0, y + 0 * z, w + 01, v + 0x1)\n");
    g_assert_cmpstr(text, ==, "a;\nb(x, y + 0 * z, w + 01, v + 0x1)\n");
}

/* --- nvcc --------------------------------------------------------------------------------------*/

/* The whole design under one compiler: nothing to warn of, nothing spilled, nothing serialised.
 * linear-types holds 80 values of three tensors at once and is allowed its 255 registers. */
static void test_nvcc(gconstpointer data)
{
    if (!ws_nvcc_available()) {
        g_test_skip("nvcc is not installed");
        return;
    }
    g_autoptr(WsProgram) p = load(data);
    g_assert_nonnull(p);
    g_autofree char *text = cuda_of(p);
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) cubin = NULL;
    WsPtxasReport *r = ws_nvcc_run(text, &cubin, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_bytes_get_size(cubin), >, 1000);
    if (!ws_ptxas_report_clean(r) && !strstr(data, "linear-types"))
        g_test_message("%s", r->log);
    g_assert_true(ws_ptxas_report_clean(r) || strstr(data, "linear-types"));
    g_assert_cmpuint(r->diagnostics->len, ==, 0);
    ws_ptxas_report_free(r);
}

/* Text of the author is written as it is: not folded, not wrapped, and other generators refuse it.
 */
static void test_author(void)
{
    static const char line[] =
        "// a comment that is longer than a line of this file may be: what is "
        "behind its hundredth column is no code";
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/raw-cuda.wstave", &text, NULL, NULL));
    GString *s = g_string_new(text);
    g_string_replace(s, "z[e] = x[e] + y[e];", "z[e] = x[e + 0] + y[e] + 0;", 1);
    g_autofree char *more = g_strdup_printf("\"%s\",\n            \"for (int e", line);
    g_string_replace(s, "\"for (int e", more, 1);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_parse(s->str, s->len, NULL, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    g_autofree char *cuda = cuda_of(p);
    g_assert_nonnull(strstr(cuda, line));
    g_assert_nonnull(strstr(cuda, "z[e] = x[e + 0] + y[e] + 0;"));
    g_assert_null(strstr(cuda, "@author"));
    g_string_free(s, TRUE);
}

/* Numbers of the text come from its constants: a reader who changes one alone is told so. */
static void test_edited(void)
{
    static const struct {
        const char *is, *edited;
    } edits[] = {
        { "constexpr int STAGES = 4;", "constexpr int STAGES = 2;" },
        { "constexpr int BN = 256;", "constexpr int BN = 128;" },
        { "constexpr int THREADS = 384;", "constexpr int THREADS = 256;" },
        { "constexpr int SHARED_BYTES = ", "constexpr int SHARED_BYTES = 1 + " },
    };
    g_autoptr(WsProgram) p = load("tests/designs/gemm-cooperative.wstave");
    g_autofree char *text = cuda_of(p);
    g_assert_nonnull(strstr(text, "static_assert(BM == 128 && BN == 256 && BK == 64 && "));
    for (guint i = 0; i < G_N_ELEMENTS(edits) && ws_nvcc_available(); i++) {
        g_autoptr(GString) other = g_string_new(text);
        g_autoptr(GError) error = NULL;
        g_autoptr(GBytes) cubin = NULL;
        g_assert_cmpuint(g_string_replace(other, edits[i].is, edits[i].edited, 0), ==, 1);
        WsPtxasReport *r = ws_nvcc_run(other->str, &cubin, &error);
        g_assert_null(r);
        g_assert_nonnull(strstr(error->message, "generate it again"));
    }
    if (!ws_nvcc_available())
        g_test_skip("nvcc is not installed");
}

/* A launch may begin before the one in front of it has ended only where the kernel waits for that
 * one: what only lets the next one start would touch what is still written. */
static void test_early(void)
{
    static const struct {
        const char *without;
        gboolean early;
    } cases[] = {
        { NULL, TRUE },
        { "{ \"griddepcontrol\": \"launch_dependents\" },", TRUE },
        { "{ \"griddepcontrol\": \"wait\" },", FALSE },
    };
    g_autofree char *text = NULL,
                    *file = g_build_filename(WS_SOURCE_ROOT,
                                             "tests/designs/moves/gemm-prefetch.wstave", NULL);
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) s = g_string_new(text);
        if (cases[i].without)
            g_assert_cmpuint(g_string_replace(s, cases[i].without, "", 0), >, 0);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(s->str, s->len, "early", findings);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_autofree char *cuda = cuda_of(p);
        g_assert_true((strstr(cuda, "cudaLaunchAttributeProgrammatic") != NULL) == cases[i].early);
        g_autoptr(GError) error = NULL;
        g_autofree char *gluon = ws_generate_gluon(p, FALSE, NULL, &error);
        g_assert_no_error(error);
        g_assert_true((strstr(gluon, "launch_pdl=True") != NULL) == cases[i].early);
    }
}

/* `--` would change what it stands before. */
static void test_negatives(void)
{
    static const char *const when[] = { "-(0 - k) < 2",     "-(-k) < 2",       "0 - (0 - k) < K",
                                        "-(0 - K) + k < 2", "k - (0 - k) < K", "-(-(-k)) < 2" };
    for (guint i = 0; i < G_N_ELEMENTS(when); i++) {
        g_autofree char *text = g_strdup_printf(
            "{ \"warpstave\": 1, \"name\": \"negatives\", \"target\": \"sm_90a\","
            "\"sizes\": { \"N\": 256, \"K\": 5 }, \"tensors\": ["
            "{ \"name\": \"A\", \"dtype\": \"f32\", \"shape\": [\"N\", 64] },"
            "{ \"name\": \"O\", \"dtype\": \"f32\", \"shape\": [\"N\", 64], \"access\": \"write\" "
            "}],"
            "\"tiles\": { \"axes\": { \"m\": \"cdiv(N, 64)\" }, \"launch\": \"single\" },"
            "\"groups\": [{ \"name\": \"w\", \"role\": \"worker\", \"warps\": 4, \"values\": ["
            "{ \"name\": \"x\", \"dtype\": \"f32\", \"tile\": [64, 64] }], \"body\": ["
            "{ \"read\": \"x\", \"from\": \"A\", \"at\": [\"m*64\", 0] },"
            "{ \"for\": \"k\", \"count\": 4, \"do\": ["
            "{ \"compute\": \"x = x + 1\", \"when\": \"%s\" }] },"
            "{ \"write\": \"x\", \"to\": \"O\", \"at\": [\"m*64\", 0] }] }] }",
            when[i]);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "negatives", findings);
        g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
        g_autofree char *cuda = cuda_of(p);
        g_test_message("%s", when[i]);
        for (const char *at = cuda; (at = strstr(at, "if (")); at++)
            g_assert_false(strstr(at, "--") && strstr(at, "--") < strchr(at, '\n'));
    }
}

static void test_foreign_target(void)
{
    g_autoptr(GError) error = NULL;
    WsProgram fake = { .target = (char *)"gfx950" };
    g_assert_null(ws_generate_cuda(&fake, TRUE, &error));
    g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GPtrArray) all = shipped();
    g_assert_cmpuint(all->len, >, 20);
    for (guint i = 0; i < all->len; i++) {
        g_autofree char *name = g_strdup_printf("/cuda/text/%s", (char *)all->pdata[i]);
        g_autofree char *slow = g_strdup_printf("/cuda/nvcc/%s", (char *)all->pdata[i]);
        g_test_add_data_func(name, all->pdata[i], test_text);
        if (g_test_slow() || strstr(all->pdata[i], "gemm-cooperative"))
            g_test_add_data_func(slow, all->pdata[i], test_nvcc);
    }
    g_test_add_func("/cuda/reads-like-the-design", test_reads_like_the_design);
    g_test_add_func("/cuda/run-names", test_run_names);
    g_test_add_func("/cuda/order", test_order);
    g_test_add_func("/cuda/fold", test_fold);
    g_test_add_func("/cuda/tidy", test_tidy);
    g_test_add_func("/cuda/author", test_author);
    g_test_add_func("/cuda/edited", test_edited);
    g_test_add_func("/cuda/early", test_early);
    g_test_add_func("/cuda/negatives", test_negatives);
    g_test_add_func("/cuda/foreign-target", test_foreign_target);
    return g_test_run();
}
