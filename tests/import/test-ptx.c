/* Compiled PTX: a GEMM written by hand and compiled by nvcc, one compiled by Triton 3.6, and
 * mistakes planted in the text. */
#include "check/check.h"
#include "import/import.h"
#include "judge.h"

#include <string.h>

typedef struct {
    WsImport *import;
    WsProgram *program;
    WsFindings *findings;
    WsVerdict *verdict;
} Judged;

static void judged_clear(Judged *j)
{
    g_clear_pointer(&j->verdict, ws_verdict_free);
    g_clear_pointer(&j->program, ws_program_unref);
    g_clear_pointer(&j->findings, ws_findings_free);
    g_clear_pointer(&j->import, ws_import_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Judged, judged_clear)

static char *text_of(const char *name)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, "tests/import/ptx", name, NULL);
    char *text;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    return text;
}

static Judged judge(const char *text)
{
    g_autoptr(GError) error = NULL;
    Judged j = { ws_import_text(text, strlen(text), "kernel.ptx", WS_IMPORT_PTX, &error) };
    g_assert_no_error(error);
    j.findings = ws_findings_new();
    j.program = ws_elaborate(j.import->design, NULL, 0, j.findings);
    if (!j.program) {
        g_autofree char *says = ws_findings_print(j.findings, "kernel.ptx");
        g_test_message("%s", says);
    }
    g_assert_nonnull(j.program);
    j.verdict = ws_check(j.program, NULL, j.findings);
    ws_import_locate(j.import->design, j.findings);
    return j;
}

static guint count_ops(const WsProgram *p, WsOpKind kind)
{
    guint n = 0;
    for (guint i = 0; i < p->n_ops; i++)
        n += p->op[i]->kind == kind;
    return n;
}

static void test_nvcc(void)
{
    g_autofree char *text = text_of("gemm.ptx");
    g_auto(Judged) j = judge(text);
    g_autofree char *says = ws_findings_print(j.findings, "kernel.ptx");
    if (j.verdict->kind != WS_VERDICT_PROVED)
        g_test_message("%s", says);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_PROVED);
    g_assert_cmpuint(j.program->n_agents, ==, 3);
    g_assert_cmpuint(j.program->threads, ==, 384);
    g_assert_cmpuint(j.program->agent[0].registers, ==, 40);
    g_assert_cmpuint(j.program->agent[1].registers, ==, 232);
    g_assert_cmpuint(count_ops(j.program, WS_OP_TMA_LOAD), ==, 2);
    g_assert_cmpuint(count_ops(j.program, WS_OP_MMA), ==, 2);
    guint rings = 0;
    for (guint i = 0; i < j.program->n_barriers; i++) {
        const WsBarrier *b = &j.program->barrier[i];
        if (b->kind != WS_BARRIER_MBARRIER)
            continue;
        rings++;
        g_assert_cmpuint(b->slots, ==, 4);
        g_assert_cmpuint(b->arrivals[0], ==, b->ready[0] ? 2 : 1);
    }
    g_assert_cmpuint(rings, ==, 2);
    g_assert_cmpuint(j.program->n_buffers, ==, 2);
    for (guint i = 0; i < 2; i++) {
        g_assert_cmpuint(j.program->buffer[i].stages, ==, 4);
        g_assert_cmpuint(j.program->buffer[i].stage_bytes, ==, 16384);
    }
}

static void test_triton(void)
{
    g_autofree char *text = text_of("triton-gluon.ptx");
    g_auto(Judged) j = judge(text);
    g_assert_cmpint(j.verdict->kind, ==, WS_VERDICT_PROVED);
    g_assert_cmpuint(ws_findings_count(j.findings, WS_SEVERITY_WARNING), ==, 0);
    g_assert_cmpuint(j.program->n_agents, ==, 3);
    g_assert_cmpuint(count_ops(j.program, WS_OP_TMA_LOAD), ==, 2);
    g_assert_cmpuint(count_ops(j.program, WS_OP_TMA_STORE), ==, 4);
    g_assert_cmpuint(count_ops(j.program, WS_OP_MMA), ==, 2);
    g_assert_cmpuint(count_ops(j.program, WS_OP_RAW), ==, 0);
    g_assert_cmpuint(j.import->unread->len, ==, 0);
}

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
};

static void test_planted(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *right = text_of(planted[i].file);
    g_auto(GStrv) part = g_strsplit(right, planted[i].from, -1);
    g_assert_nonnull(part[1]);
    g_autofree char *text = g_strjoinv(planted[i].to, part); /* every occurrence */
    g_auto(Judged) j = judge(text);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/ptx/nvcc", test_nvcc);
    g_test_add_func("/import/ptx/triton", test_triton);
    for (guint i = 0; i < G_N_ELEMENTS(planted); i++) {
        g_autofree char *path = g_strdup_printf("/import/ptx/planted/%s", planted[i].title);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_planted);
    }
    g_test_add_func("/import/ptx/bad", test_bad);
    return g_test_run();
}
