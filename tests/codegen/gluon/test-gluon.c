/* Designs -> Gluon: what is written keeps the rules of Triton 3.6 (judge.py, where there is a
 * Python) and compiles (../compile/gluon.py, where WARPSTAVE_TRITON names a Python that has
 * Triton); what cannot be said is refused with the step, the reason and what to change. */
#include "../../whole.h"
#include "../group_work.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <glib/gstdio.h>
#include <string.h>

static char *path_of(const char *design)
{
    return g_str_has_prefix(design, "projects/")
               ? g_strdup_printf("%s/%s/design.wstave", WS_SOURCE_ROOT, design)
               : g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, design);
}

/* Every text that can be written; whether a constant may have a value is tests/codegen/parameters'.
 */
static gboolean on_trust(const WsProgram *p, gpointer unused)
{
    (void)p, (void)unused;
    return TRUE;
}

static const WsPyJudge any = { on_trust, NULL };

static char *export_of(const char *path, const WsPyJudge *judge, GError **error)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(path, findings);
    g_autoptr(WsProgram) p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p)
        g_error("%s is no program", path);
    return ws_generate_gluon(p, FALSE, judge, error);
}

/* --- refused -----------------------------------------------------------------------------------*/

static const struct {
    const char *design, *at, *why;
} refused[] = {
    { "projects/gemm-bf16-balanced", "design", "lies over" },
    { "projects/gemm-bf16-cluster2", "step load at groups/load/", "multicast" },
    { "projects/gemm-bf16-splitk", "step cluster at groups/load/", "cluster barrier" },
    { "projects/gemm-fp16", "design", "lies over" },
    { "projects/gemm-fp8", "design", "lies over" },
    { "gemm-fp8-block", "step read at groups/math/", "one element" },
    { "gemm-cluster", "step load at groups/load/", "multicast" },
    { "raw-steps", "step raw at " WORK, "inline PTX" },
    { "sparse-mla-seesaw", "step gather at groups/gather/", "64 rows of 320 columns" },
    { "cluster-allreduce", "step cluster at " WORK, "cluster barrier" },
    { "moves/cluster-copy", "step copy at " WORK, "between shared memories" },
    { "moves/cluster-send", "step write at " WORK, "into another CTA" },
    { "moves/gemm-hilbert", "design", "order hilbert" },
    { "moves/gemm-nn-cluster", "step load at groups/load/", "places that vary" },
};

static void test_refused(gconstpointer data)
{
    guint i = GPOINTER_TO_UINT(data);
    g_autofree char *path = path_of(refused[i].design);
    g_autoptr(GError) error = NULL;
    g_autofree char *text = export_of(path, &any, &error);
    g_assert_null(text);
    g_test_message("%s", error->message);
    g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
    g_assert_true(g_str_has_prefix(error->message, refused[i].at));
    g_assert_nonnull(strstr(error->message, "not supported by gluon: "));
    g_assert_nonnull(strstr(error->message, refused[i].why));
    g_assert_nonnull(strstr(error->message, "; ")); /* what to change */
}

/* --- written -----------------------------------------------------------------------------------*/

static const char *const written[] = {
    "projects/gemm-bf16",
    "projects/gemm-bf16-pingpong",
    "projects/gemm-bf16-deferred",
    "projects/gemm-bf16-epilogue",
    "projects/gemm-grouped",
    "projects/attention-d64",
    "projects/attention-d128",
    "projects/attention-d128-full",
    "projects/attention-window",
    "projects/attention-d256", /* tiles of 80 columns, in parts */
    "attention-fa3-full",      /* of 176 */
    "moves/tensor-read",       /* of 80 */
    "projects/gemm-fp8-block", /* of 192, and elements of lines */
    "moves/linear-copy",
    "gemm-cooperative",
    "gemm-one-consumer",
    "gemm-pingpong",
    "gemm-aliased",
    "gemm-tle",
    "attention-straight",
    "attention-ahead",
    "attention-tle-pingpong",
    "attention-fa3-causal",
    "attention-fa3-dynamic",
    "sparse-mla-pipes",
    "consan/gemm-correct",
    "moves/gather-groups",
    "moves/gemm-column-halves",
    "moves/gemm-dynamic",
    "moves/gemm-global-reduce",
    "moves/gemm-prefetch",
    "moves/gemm-reduce",
    "moves/gemm-scales",
    "attack/more-slots-than-stages-two-rounds",
    "attack/sum-read-in-every-round",
    "attack/two-products-two-left",
};

static void judged(const char *python, const char *script, char **file, guint n)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autofree char *judge = g_strdup_printf("%s/tests/codegen/%s", WS_SOURCE_ROOT, script);
    g_autofree char *out = NULL, *errors = NULL;
    g_autoptr(GError) error = NULL;
    int status = 0;
    g_ptr_array_add(argv, (gpointer)python);
    g_ptr_array_add(argv, (gpointer) "-B");
    g_ptr_array_add(argv, judge);
    for (guint i = 0; i < n; i++)
        g_ptr_array_add(argv, file[i]);
    g_ptr_array_add(argv, NULL);
    g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &errors,
                 &status, &error);
    g_assert_no_error(error);
    g_test_message("%s%s", out, errors);
    g_assert_null(strstr(out, "not ok"));
    g_assert_cmpint(status, ==, 0);
    g_assert_nonnull(strstr(out, "1.."));
}

static void test_written(void)
{
    const guint n = G_N_ELEMENTS(written);
    g_autofree char *dir = g_dir_make_tmp("warpstave-gluon-XXXXXX", NULL);
    g_auto(GStrv) file = g_new0(char *, n + 1);
    for (guint i = 0; i < n; i++) {
        g_autofree char *path = path_of(written[i]);
        g_autoptr(GError) error = NULL;
        g_autofree char *text = export_of(path, &any, &error);
        g_assert_no_error(error);
        g_autofree char *again = export_of(path, &any, NULL);
        g_assert_cmpstr(text, ==, again);
        g_assert_nonnull(strstr(text, "if __name__ == \"__main__\":"));
        const char *name = strrchr(written[i], '/') ? strrchr(written[i], '/') + 1 : written[i];
        file[i] = g_strdup_printf("%s/%s.py", dir, name);
        g_assert_true(g_file_set_contents(file[i], text, -1, NULL));
    }
    g_autofree char *python = g_find_program_in_path("python3");
    const char *triton = g_getenv("WARPSTAVE_TRITON");
    if (python)
        judged(python, "gluon/judge.py", file, n);
    if (triton)
        judged(triton, "compile/gluon.py", file, n);
    for (guint i = 0; i < n; i++)
        g_unlink(file[i]);
    g_rmdir(dir);
    if (!python)
        g_test_skip("no python3");
}

/* What an export says of a step: one line of the text that stands for it. */
static const struct {
    const char *design, *line;
} says[] = {
    { "projects/gemm-bf16", "mbarrier.wait(empty.index(k_total % STAGES), "
                            "(k_total // STAGES + 1) % 2)" },
    { "projects/gemm-bf16",
      "mbarrier.expect(full.index(k_total % STAGES), A_desc.block_type.nbytes" },
    { "projects/gemm-bf16", "use_acc=k != 0, is_async=True)" },
    { "projects/gemm-bf16", "], [1, 4], [40, 232])" },
    { "projects/gemm-bf16", "registers: default partition 232" },
    { "projects/gemm-bf16", "if not (K >= 1):" },
    { "projects/gemm-bf16", "A_strides = spaced(\"A\", A, (M, K), (K, 1), torch.bfloat16)" },
    { "projects/gemm-bf16", ",)),  # 4 warps in the design" },
    { "projects/gemm-bf16", "\"\"\"C[m, n] = sum(k < K, A[m, k]*B[n, k])" },
    { "catalogue/B04-consumer-starts-a-phase-early",
      "print(\"C: nothing to compare with; two launches\"" },
    { "projects/gemm-bf16-deferred", "# waits for nothing: what goes round is a tensor" },
    { "projects/attention-d128",
      "turn = gl.constexpr(14)  # named in the design: 256,256 threads" },
    { "projects/attention-d128", "gl.static_assert(turn == 14, " },
    { "projects/attention-d128", "named_sync(turn + replica, 256)" },
    { "projects/attention-d128", "named_arrive(turn + (1 - replica), 256)" },
    { "projects/attention-d128", "l = l * gl.convert_layout(alpha, gl.SliceLayout(1, quad_64))"
                                 "[:, None] + lanesum(s)" },
    { "projects/attention-d128", "gl.where(at_most((nb - 1) * BN," },
    { "projects/attention-d128", "at_row = m * BM + (replica * 64) + gl.arange(0, 64, " },
    { "projects/attention-d128",
      "s, o, p_operand = warpgroup_mma_wait(1, deps=[s, o, p_operand])" },
    { "projects/attention-d128", "gl.atomic_add(counter, 1, sem=\"relaxed\")" },
    { "projects/attention-d64", "], [4, 4, 4], [32, 160, 160])" },
    { "projects/attention-d64", "for part in gl.static_range(3):" },
    { "gemm-aliased", "c = a._reinterpret(gl.bfloat16, [1, 128, 256]," },
    { "gemm-pingpong", "2 * gl.num_programs(0)" },
    { "moves/gemm-reduce", "async_add_shared_to_global(C_desc, " },
    { "moves/gemm-column-halves", "gl.convert_layout(columns(x_, 64, 64), mma_layout_2).to(" },
    { "moves/gemm-global-reduce", "gl.atomic_add(C + at_row * N + at_col, acc, " },
    { "moves/gemm-prefetch", "gdc_launch_dependents()" },
    { "moves/gemm-prefetch", "launch_pdl=True)" },
    { "moves/gather-groups", "async_copy.wait_group(1)" },
    { "attack/more-slots-than-stages-two-rounds", "def check(N=2, " }, /* N <= 2 */
    { "attack/waits-for-every-second-use", "def check(N=2, " },        /* N % 2 == 0 */
    { "attack/two-products-two-left", "acc2 = gl.zeros([64, 64], gl.float32, mma_layout)\n"
                                      "    for k in range(kt):" },
    { "attack/sum-read-in-every-round", "acc = gl.zeros([64, 64], gl.float32, mma_layout)\n"
                                        "    for k in range(kt):" },
    { "sparse-mla-pipes", "async_copy.mbarrier_arrive(sparse_mla_kv_full.index(half_total % 2)," },
    { "sparse-mla-pipes",
      "mask=((at_row >= 0) & (at_row < SKV))[:, None])  # gather: [b, at_row, 0]" },
};

static void test_says(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(says); i++) {
        g_autofree char *path = path_of(says[i].design);
        g_autofree char *text = export_of(path, NULL, NULL);
        if (!strstr(text, says[i].line))
            g_error("%s does not say '%s'", says[i].design, says[i].line);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        if (!test_either(i))
            continue;
        g_autofree char *path = g_strdup_printf("/gluon/refused/%s", refused[i].design);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_refused);
    }
    g_test_add_func("/gluon/written", test_written);
    g_test_add_func("/gluon/says", test_says);
    return g_test_run();
}
