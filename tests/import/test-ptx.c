/* Compiled PTX: kernels written by hand and compiled by nvcc, kernels of Triton 3.6, and mistakes
 * planted in the text. What our own generator makes: tests/codegen/test-ptx-import.c. */
#include "judge.h"
#include "judged.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

static char *text_of(const char *name)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/ptx", name, NULL);
    char *text;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    return text;
}

/* What was recovered, in one line: groups, mbarriers by slots x arrivals, rings by stages x bytes,
 * the bytes expected, operations by kind. */
static char *described(const Judged *j)
{
    static const WsOpKind kinds[] = { WS_OP_MBAR_WAIT, WS_OP_TMA_LOAD,  WS_OP_TMA_STORE,
                                      WS_OP_CP_ROWS,   WS_OP_CP_WAIT,   WS_OP_MMA,
                                      WS_OP_ST_SHARED, WS_OP_LD_SHARED, WS_OP_CLUSTER_ARRIVE,
                                      WS_OP_RAW };
    const WsProgram *p = j->program;
    GString *s = g_string_new(NULL);
    for (guint i = 0; i < p->n_agents; i++)
        g_string_append_printf(s, "%s%s %u", i ? ", " : "", p->agent[i].name, p->agent[i].threads);
    g_string_append(s, ";");
    for (guint i = 0; i < p->n_barriers; i++)
        if (p->barrier[i].kind == WS_BARRIER_MBARRIER)
            g_string_append_printf(s, " %ux%u%s", (guint)p->barrier[i].slots,
                                   (guint)p->barrier[i].arrivals[0],
                                   p->barrier[i].ready[0] ? " ready" : "");
    g_string_append(s, ";");
    for (guint i = 0; i < p->n_buffers; i++)
        g_string_append_printf(s, " %ux%u", (guint)p->buffer[i].stages,
                               (guint)p->buffer[i].stage_bytes);
    g_string_append(s, ";");
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MBAR_EXPECT)
            g_string_append_printf(s, " %d", (int)p->op[i]->bytes);
    g_string_append(s, ";");
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        guint n = 0;
        for (guint i = 0; i < p->n_ops; i++)
            n += p->op[i]->kind == kinds[k];
        if (n)
            g_string_append_printf(s, " %s %u", ws_op_kind_text(kinds[k]), n);
    }
    return g_string_free(s, FALSE);
}

/* A kernel, what of it is recovered, how many entries the list of what was not read has. */
static const struct {
    const char *file, *recovered;
    guint unread;
} kernels[] = {
    { "gemm.ptx",
      "load 128, mma 128, mma_2 128; 4x2 ready 4x1; 4x16384 4x16384; 32768; wait 3 tma_load 2 mma "
      "2",
      1 },
    { "gemm-cluster.ptx",
      "load 128, mma 128, mma_2 128; 4x4 ready 4x1; 4x16384 4x16384; 32768; wait 3 tma_load 2 mma "
      "2 cluster_arrive 4",
      1 },
    { "gemm-ampere.ptx", "work 128;; 3x4096 3x4096;; cp_rows 12 cp_wait 2 ld 2", 2 },
    { "attention.ptx",
      "load 128, mma 128; 1x1 2x1 ready 2x1; 2x8192 2x8192 1x8192; 8192 16384; wait 3 tma_load 3 "
      "mma 2",
      1 },
    { "triton-gluon.ptx",
      "mma 128, mma_2 128, load 128; 4x1 4x2 ready; 4x16384 4x16384 1x16384 1x16384; 32768; wait 3 "
      "tma_load 2 tma_store 4 mma 2 st 8",
      0 },
    { "triton-tma.ptx",
      "mma 128, mma_2 128; 3x1; 3x16384 3x16384; 32768 32768 32768; wait 2 tma_load 6 tma_store 2 "
      "mma 2 st 8",
      0 },
    { "triton-cpasync.ptx", "mma 128;; 3x16384 3x16384;; cp_rows 12 cp_wait 2 mma 2 st 8 ld 4", 2 },
};

static void test_kernel(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(kernels[i].file);
    g_auto(Judged) j = judge_kernel(text, WS_IMPORT_PTX);
    g_autofree char *says = ws_findings_print(j.findings, "kernel.ptx");
    g_autofree char *recovered = described(&j);
    if (j.verdict->kind != WS_VERDICT_PROVED)
        g_test_message("%s", says);
    g_assert_cmpstr(recovered, ==, kernels[i].recovered);
    g_assert_cmpuint(j.import->unread->len, ==, kernels[i].unread);
    g_assert_cmpuint(ws_findings_count(j.findings, WS_SEVERITY_ERROR), ==, 0);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_PROVED);
}

/* A mistake put into the text, the rule that finds it and what stands on the line it is found at.
 */
static const struct {
    const char *title, *file, *from, *to, *rule, *source;
} planted[] = {
    { "producer-phase", "gemm.ptx", "mov.u32 \t%r141, 1;", "mov.u32 \t%r141, 0;", "P-DL",
      "try_wait" },
    { "empty-counts-one", "gemm.ptx", "], 2;\n", "], 1;\n", "P-CNT", "mbarrier.arrive" },
    { "no-mma-wait", "gemm.ptx", "wgmma.wait_group.sync.aligned 0;", "", "P-ASYNC", "st.global" },
    { "bytes", "gemm.ptx", "mov.u32 \t%r105, 32768;", "mov.u32 \t%r105, 16384;", "P-TX",
      "cp.async.bulk" },
    { "parity-of-consumer", "triton-gluon.ptx", "bfe.u32 \t%r135, %r139, 2, 1;",
      "bfe.u32 \t%r135, %r139, 3, 1;", "P-RACE", "wgmma.mma_async" },
    { "no-proxy-fence", "triton-gluon.ptx", "fence.proxy.async.shared::cta;", "", "P-PROXY",
      "cp.async.bulk.tensor.2d.global" },
    { "no-sync-before-store", "triton-tma.ptx", "fence.proxy.async.shared::cta;\n\tbar.sync \t0;\n",
      "fence.proxy.async.shared::cta;\n", "P-RACE", "cp.async.bulk.tensor.2d.global" },
    { "product-not-waited-for", "triton-tma.ptx", "wgmma.wait_group.sync.aligned 1;",
      "wgmma.wait_group.sync.aligned 2;", "P-ASYNC", "cp.async.bulk" },
    { "stage-behind", "triton-tma.ptx", "mov.b32 \t%r121, 1;", "mov.b32 \t%r121, 0;", "P-RACE",
      "cp.async.bulk" },
    { "peer-not-counted", "gemm-cluster.ptx", "], 4;\n", "], 2;\n", "P-CNT", "mbarrier.arrive" },
    { "no-cluster-exit", "gemm-cluster.ptx",
      "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;\n\tret;",
      "ret;", "P-CLU", "mbarrier.arrive" },
    { "second-remote-arrival-guarded", "gemm-cluster.ptx",
      "there, %r66, %r55;\n\tmbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];",
      "there, %r66, %r55;\n\tsetp.lt.s32 %zq, %r117, 3;\n\t"
      "@%zq mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];",
      "P-DL", "try_wait" },
    { "copies-not-waited-for", "gemm-ampere.ptx", "cp.async.wait_group 1;",
      "cp.async.wait_group 2;", "P-RACE", "ldmatrix" },
    { "no-sync-of-copies", "gemm-ampere.ptx", "bar.sync \t0;", "", "P-RACE", "ldmatrix" },
    { "registers-not-fenced", "attention.ptx", "wgmma.fence.sync.aligned;", "", "P-FENCE",
      "wgmma.mma_async" },
    { "left-operand-not-there", "attention.ptx",
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%r20], %r133;\n\t@!done bra again;\n", "",
      "P-EXIT", "cp.async.bulk" },
};

static void test_planted(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *right = text_of(planted[i].file);
    g_auto(GStrv) part = g_strsplit(right, planted[i].from, -1);
    g_assert_nonnull(part[1]);
    g_autofree char *text = g_strjoinv(planted[i].to, part); /* every occurrence */
    g_auto(Judged) j = judge_kernel(text, WS_IMPORT_PTX);
    const gboolean found = found_on_line(j.findings, text, planted[i].rule, planted[i].source);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_REFUTED);
    g_assert_true(found);
}

static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "kernel.ptx:1:1: the file holds no .entry" },
        { ".version 8.0\n.visible .entry k()\n{\n ret;\n", "the text ends inside the kernel" },
        { "\n.visible .entry k()\n{\n}\n", "kernel.ptx:2:1: the kernel is empty" },
        { ".visible .entry k()\n{\n ret;\n}\n", "does not say how many threads" },
        { ".visible .entry k()\n.maxntid 128\n{\n ret;\n}\n", "no warp of `k` waits" },
        { ".visible .entry k()", "the kernel has no body" },
        { ".visible .entry k()\n.maxntid 128\n{\n cp.async.cg.shared.global;\n mbarrier.init;\n "
          "ret;\n}\n",
          "no warp of `k` waits" },
        { "\n\n.visible .entry k()\n.maxntid 128\n.reqnctapercluster 3, 1, 1\n{\n ret;\n}\n",
          "kernel.ptx:3:1: the kernel wants clusters of 3 CTAs" },
        { ".version 8.7\n.target sm_100a\n.visible .entry k()\n{\n ret;\n}\n",
          "kernel.ptx:2:9: the text is for `sm_100a`. Import PTX for sm_80 to sm_90a." },
        { ".target\tgfx950\n.visible .entry k()\n{\n ret;\n}\n",
          "kernel.ptx:1:9: the text is for" },
        { "\x7f"
          "ELF\x02\xff",
          "the file is no text" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        WsImport *import =
            ws_import_text(bad[i].text, strlen(bad[i].text), "kernel.ptx", WS_IMPORT_PTX, &error);
        g_assert_null(import);
        if (!strstr(error->message, bad[i].says))
            g_test_message("%s", error->message);
        g_assert_nonnull(strstr(error->message, bad[i].says));
    }
}

/* Numbers of the launch that the text of gemm.ptx does not say, or says otherwise. */
static const struct {
    const char *title, *bounds, *define, *refused;
    WsVerdictKind verdict;
} launches[] = {
    { "threads-given", "", "NTID=384", NULL, WS_VERDICT_PROVED },
    { "threads-given-and-said", ".maxntid 384, 1, 1\n", "NTID=384", NULL, WS_VERDICT_PROVED },
    { "fewer-threads", "", "NTID=256", NULL,
      WS_VERDICT_REFUTED }, /* one consumer: two free a slot */
    { "threads-not-given", "", NULL, "Say --define NTID=N", 0 },
    { "no-number", "", "NTID=many", "NTID is not a number of threads", 0 },
    { "no-threads", "", "NTID=0", "NTID is not a number of threads", 0 },
    { "too-many", "", "NTID=2048", "NTID is not a number of threads", 0 },
    { "half-a-warp", "", "NTID=368", "no whole warps", 0 },
    { "more-than-said", ".maxntid 384, 1, 1\n", "NTID=416", "at most 384 threads", 0 },
    { "other-than-said", ".reqntid 384, 1, 1\n", "NTID=256", "wants 384 threads", 0 },
    { "cluster-no-number", ".maxntid 384, 1, 1\n", "cluster=two", "not a number of CTAs", 0 },
    { "cluster-other-than-said", ".maxntid 384, 1, 1\n.reqnctapercluster 2, 1, 1\n", "cluster=4",
      "clusters of 2 CTAs, not 4", 0 },
    { "unknown-name", ".maxntid 384, 1, 1\n", "BM=128", "nothing that PTX leaves open", 0 },
};

static void test_launch(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *right = text_of("gemm.ptx");
    g_auto(GStrv) part = g_strsplit(right, ".maxntid 384, 1, 1\n", 2);
    g_autofree char *text = g_strjoinv(launches[i].bounds, part);
    char *define[] = { (char *)launches[i].define, NULL };
    const WsImportOptions options = { .define = define };
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text_as(text, strlen(text), "kernel.ptx", WS_IMPORT_PTX, &options, &error);
    g_assert_true(!import == !!launches[i].refused);
    if (!import) {
        g_assert_nonnull(strstr(error->message, launches[i].refused));
        return;
    }
    g_assert_true(g_ptr_array_find_with_equal_func(
                      import->granted, "a CTA is launched with 384 threads", g_str_equal, NULL) ==
                  !strcmp(launches[i].define, "NTID=384"));
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) program = ws_elaborate(import->design, NULL, 0, findings);
    g_assert_nonnull(program);
    g_autoptr(WsVerdict) verdict = ws_check(program, NULL, findings);
    g_assert_cmpint(verdict->kind, ==, launches[i].verdict);
}

/* gemm.ptx with `n` times a text in front of its first barrier; the error, NULL: it is read. */
static char *error_of(const char *repeated, guint n, const gint *cancel)
{
    g_autofree char *right = text_of("gemm.ptx");
    g_auto(GStrv) part = g_strsplit(right, "\tbar.sync \t0;", 2);
    g_autoptr(GString) text = g_string_new(part[0]);
    for (guint i = 0; i < n; i++)
        g_string_append(text, repeated);
    g_string_append(text, "\tbar.sync \t0;");
    g_string_append(text, part[1]);
    const WsImportOptions options = { .cancel = cancel };
    GError *error = NULL;
    WsImport *import =
        ws_import_text_as(text->str, text->len, "kernel.ptx", WS_IMPORT_PTX, &options, &error);
    g_assert_true(!import == !!error);
    ws_import_free(import);
    char *message = error ? g_strdup(error->message) : NULL;
    g_clear_error(&error);
    return message;
}

/* A text that makes the reader work without end is refused, and any can be given up. */
static void test_bounds(void)
{
    static const gint cancelled = 1, goes_on = 0;
    g_autofree char *right = error_of("", 0, &goes_on), *given_up = error_of("", 0, &cancelled),
                    *steps = error_of("\tst.shared.u32 [%r46], %r33;\n", 4200, NULL),
                    *few = error_of("\tst.shared.u32 [%r46], %r33;\n", 20, NULL);
    g_assert_null(right);
    g_assert_null(few);
    g_assert_nonnull(strstr(given_up, "cancelled"));
    g_assert_nonnull(strstr(steps, "more than 4000 steps in a row. Import a smaller kernel."));
}

/* Something put into gemm.ptx, and what becomes of it. */
#define AT_END_OF_ROUND "$L__BB0_9:\n"
#define ON_DATA                                                                                    \
    "\tld.global.u32 \t%r500, [%rd19];\n\tsetp.eq.s32 \t%p20, %r500, 0;\n\t@%p20 bra \t$QUIET;\n"
static const struct {
    const char *title, *before, *text;
    WsVerdictKind verdict;
} inserted[] = {
    { "computes-on-data", AT_END_OF_ROUND,
      ON_DATA "\tadd.s32 \t%r501, %r500, 1;\n\tst.global.u32 \t[%rd19], %r501;\n$QUIET:\n",
      WS_VERDICT_PROVED },
    { "arrives-on-data", AT_END_OF_ROUND,
      ON_DATA "\tmbarrier.arrive.shared::cta.b64 _, [%r72];\n$QUIET:\n", WS_VERDICT_OUTSIDE },
    { "waits-on-data", AT_END_OF_ROUND, ON_DATA "\tbar.sync \t0;\n$QUIET:\n", WS_VERDICT_OUTSIDE },
    { "ends-on-data", AT_END_OF_ROUND, ON_DATA "\tret;\n$QUIET:\n", WS_VERDICT_OUTSIDE },
    { "turns-on-data", AT_END_OF_ROUND,
      ON_DATA "$AGAIN:\n\tld.global.u32 \t%r500, [%rd19];\n\tsetp.eq.s32 \t%p21, %r500, 0;\n"
              "\t@%p21 bra \t$AGAIN;\n$QUIET:\n",
      WS_VERDICT_OUTSIDE },
    { "goes-nowhere", AT_END_OF_ROUND, "\tbra.uni \t$NOWHERE;\n", WS_VERDICT_OUTSIDE },
    { "slot-by-data", AT_END_OF_ROUND, ON_DATA "\tadd.s32 \t%r131, %r131, 1;\n$QUIET:\n",
      WS_VERDICT_OUTSIDE },
    { "writes-on-a-barrier", "\tcvta.to.global.u64 \t%rd19, %rd5;\n",
      "\tst.shared.u32 \t[%r38], %r33;\n", WS_VERDICT_OUTSIDE },
};

static void test_inserted(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *right = text_of("gemm.ptx");
    char *at = strstr(right, inserted[i].before);
    g_assert_nonnull(at);
    if (!strcmp(inserted[i].before, AT_END_OF_ROUND)) /* behind the label */
        at += strlen(AT_END_OF_ROUND);
    g_autofree char *head = g_strndup(right, (gsize)(at - right));
    g_autofree char *text = g_strconcat(head, inserted[i].text, at, NULL);
    g_assert_cmpint(verdict_of(text, WS_IMPORT_PTX), ==, inserted[i].verdict);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(inserted); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx/inserted/%s", inserted[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_inserted);
    }
    for (guint i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx/kernel/%s", kernels[i].file);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_kernel);
    }
    for (guint i = 0; i < G_N_ELEMENTS(planted); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx/planted/%s", planted[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_planted);
    }
    for (guint i = 0; i < G_N_ELEMENTS(launches); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx/launch/%s", launches[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_launch);
    }
    g_test_add_func("/import/ptx/bad", test_bad);
    g_test_add_func("/import/ptx/bounds", test_bounds);
    return g_test_run();
}
