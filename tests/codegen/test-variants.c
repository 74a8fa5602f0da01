/* Variants of the shipped GEMMs made by edits: each is rehearsed on the CPU against its reference,
 * and assembled where ptxas is installed. They cover forms no shipped design has: other dtypes,
 * transposed operands, several atoms, every swizzle, plain stores, reductions, other launches. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const char *name, *design;
    WsSetting set[4];
    const char *edit[12];
} Variant;

#define COOPERATIVE "tests/designs/gemm-cooperative.wstave"
#define CLUSTER     "tests/designs/gemm-cluster.wstave"
#define LOOP        "groups/mma/body/0/do/0"
#define SLABS       "groups/mma/body/0/do/3"

static const Variant variants[] = {
    { "f16",
      COOPERATIVE,
      { { 0 } },
      { "set tensors/A dtype \"f16\"", "set tensors/B dtype \"f16\"", "set tensors/C dtype \"f16\"",
        "set buffers/a dtype \"f16\"", "set buffers/b dtype \"f16\"",
        "set buffers/c dtype \"f16\"" } },
    { "f32-out",
      COOPERATIVE,
      { { "SLAB", 32 } },
      { "set tensors/C dtype \"f32\"", "set buffers/c dtype \"f32\"" } },
    { "reduce",
      COOPERATIVE,
      { { "SLAB", 32 } },
      { "set tensors/C dtype \"f32\"", "set tensors/C access \"reduce\"",
        "set buffers/c dtype \"f32\"", "set " SLABS "/do/4 reduce \"add\"" } },
    { "two-chunks", COOPERATIVE, { { "BK", 128 }, { "STAGES", 2 } }, { NULL } },
    { "swizzle-64", COOPERATIVE, { { "BK", 32 }, { "STAGES", 5 }, { "SLAB", 32 } }, { NULL } },
    { "swizzle-32", COOPERATIVE, { { "BK", 16 }, { "STAGES", 7 }, { "SLAB", 16 } }, { NULL } },
    { "two-atoms",
      COOPERATIVE,
      { { "BM", 256 }, { "WM", 128 }, { "BN", 128 }, { "STAGES", 3 } },
      { NULL } },
    { "plain-stores", COOPERATIVE, { { "BN", 40 }, { "SLAB", 8 } }, { NULL } },
    { "b-transposed",
      COOPERATIVE,
      { { 0 } },
      { "set . reference \"C[m,n] = sum(k < K, A[m,k]*B[k,n])\"",
        "set tensors/B shape [\"K\", \"N\"]", "set buffers/b tile [\"BK\", \"BN\"]",
        "set groups/load/body/0/do/0/do/2 at [\"k*BK\", \"tn*BN\"]",
        "set " LOOP "/do/1 b \"b.t\"" } },
    { "a-transposed",
      COOPERATIVE,
      { { 0 } },
      { "set . reference \"C[m,n] = sum(k < K, A[k,m]*B[n,k])\"",
        "set tensors/A shape [\"K\", \"M\"]", "set buffers/a tile [\"BK\", \"BM\"]",
        "set groups/load/body/0/do/0/do/1 at [\"k*BK\", \"tm*BM\"]",
        "set " LOOP "/do/1 a \"a.cols(replica*WM, WM).t\"" } },
    { "unpeeled", COOPERATIVE, { { 0 } }, { "unset " LOOP " split" } },
    { "unrolled",
      COOPERATIVE,
      { { 0 } },
      { "set " LOOP " unroll 2", "set " LOOP " split [1, 3]" } },
    { "by-warp",
      COOPERATIVE,
      { { 0 } },
      { "set " LOOP "/do/3 by \"warp\"", "set groups/mma/body/0/do/2 by \"warp\"" } },
    { "one-warp", COOPERATIVE, { { 0 } }, { "set groups/load warps 1" } },
    { "single", COOPERATIVE, { { 0 } }, { "set tiles launch \"single\"" } },
    { "linear-reverse",
      COOPERATIVE,
      { { 0 } },
      { "set tiles order \"linear\"", "set tiles reverse [\"tm\"]" } },
    { "hints",
      COOPERATIVE,
      { { 0 } },
      { "set groups/load/body/0/do/0/do/1 hint \"evict_first\"",
        "set groups/load/body/0/do/0/do/2 hint \"evict_last\"",
        "set " SLABS "/do/4 hint \"evict_first\"" } },
    { "cluster-4", CLUSTER, { { "STAGES", 3 } }, { "set . cluster 4" } },
};

static WsProgram *build(const Variant *v)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, v->design, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    for (guint i = 0; design && i < G_N_ELEMENTS(v->edit) && v->edit[i]; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(WsEdit) edit = ws_edit_parse(v->edit[i], &error);
        g_assert_no_error(error);
        WsDesign *next = ws_design_apply(design, edit, findings);
        ws_design_unref(design);
        design = next;
    }
    guint n = 0;
    while (n < G_N_ELEMENTS(v->set) && v->set[n].name)
        n++;
    WsProgram *p = design ? ws_elaborate(design, v->set, n, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *text = ws_findings_print(findings, file);
        g_test_message("%s", text);
        g_test_fail();
    }
    return p;
}

static void rehearse(WsRehearsal *s, const WsProgram *p, guint64 seed)
{
    static const char *const name[] = { "M", "N", "K" };
    static const gint64 size[] = { 136, 264, 72 }; /* ragged in every axis */
    WsRehearseOptions options = { .seed = seed, .sms = 4 };
    if (p->cluster == 1 && seed > 1) {
        options.size_name = name;
        options.size = size;
        options.n_size = 3;
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearsal_run(s, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_nonnull(r);
    if (!r->matches)
        g_test_message("%s %s", r->first_wrong ? r->first_wrong : "", r->stuck ? r->stuck : "");
    g_assert_true(r->ran);
    g_assert_true(r->matches);
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
}

static void test_variant(gconstpointer data)
{
    WsProgram *p = build(data);
    if (!p)
        return;
    g_autoptr(WsRehearsal) rehearsal = ws_rehearsal_new(p);
    rehearse(rehearsal, p, 1);
    rehearse(rehearsal, p, 2);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    if (ws_ptxas_available()) {
        WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
        g_assert_no_error(error);
        if (!ws_ptxas_report_clean(r))
            g_test_message("%s", r->log);
        g_assert_true(ws_ptxas_report_clean(r));
        ws_ptxas_report_free(r);
    }
    ws_program_unref(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(variants); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strconcat("/codegen/variants/", variants[i].name, NULL);
        g_test_add_data_func(path, &variants[i], test_variant);
    }
    return g_test_run();
}
