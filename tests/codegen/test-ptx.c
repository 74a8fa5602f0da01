/* Designs -> PTX: structure of the text, and a clean report of ptxas where it is installed. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef enum { TIMED = 0, TRACED = 1, DEBUG_WAITS = 2 } Build;

typedef struct {
    const char *name, *file;
    WsSetting set[3];
    guint wgmma; /* instructions in the text: per consumer, once peeled and once in the loop */
    guint accumulators, cluster;
} Case;

static const Case cases[] = {
    { "project", "projects/gemm-bf16/design.wstave", { { 0 } }, 16, 128, 1 },
    { "cooperative", "tests/designs/gemm-cooperative.wstave", { { 0 } }, 16, 128, 1 },
    { "cooperative-3-stages",
      "tests/designs/gemm-cooperative.wstave",
      { { "STAGES", 3 } },
      16,
      128,
      1 },
    { "cooperative-n128", "tests/designs/gemm-cooperative.wstave", { { "BN", 128 } }, 16, 64, 1 },
    { "cooperative-n192-k32",
      "tests/designs/gemm-cooperative.wstave",
      { { "BN", 192 }, { "BK", 32 }, { "STAGES", 5 } },
      8,
      96,
      1 },
    { "aliased", "tests/designs/gemm-aliased.wstave", { { 0 } }, 16, 128, 1 },
    { "pingpong", "tests/designs/gemm-pingpong.wstave", { { 0 } }, 32, 64, 1 },
    { "pingpong-3-stages", "tests/designs/gemm-pingpong.wstave", { { "STAGES", 3 } }, 32, 64, 1 },
    { "cluster", "tests/designs/gemm-cluster.wstave", { { 0 } }, 16, 128, 2 },
};

/* With arithmetic between products: what matters is that they stay asynchronous. The producer of
 * attention-fa3-causal has 24 registers, too few for the recorder. */
static const Case computing[] = {
    { "attention-tle", "tests/designs/attention-tle-pingpong.wstave", { { 0 } }, 0, 0, 1 },
    { "attention-fa3", "tests/designs/attention-fa3-causal.wstave", { { 0 } }, 0, 0, 1 },
    { "attention-dynamic", "tests/designs/attention-fa3-dynamic.wstave", { { 0 } }, 0, 0, 1 },
    { "attention-full", "tests/designs/attention-fa3-full.wstave", { { 0 } }, 0, 0, 1 },
    { "attention-full-d64",
      "tests/designs/attention-fa3-full.wstave",
      { { "D", 64 }, { "BN", 192 } },
      0,
      0,
      1 },
    { "attention-full-d256",
      "tests/designs/attention-fa3-full.wstave",
      { { "D", 256 }, { "BN", 80 } },
      0,
      0,
      1 },
    { "attention-causal-d256",
      "tests/designs/attention-fa3-dynamic.wstave",
      { { "D", 256 }, { "BN", 80 } },
      0,
      0,
      1 },
    { "gemm-fp8-block", "tests/designs/gemm-fp8-block.wstave", { { 0 } }, 0, 0, 1 },
    { "epilogue-choice", "projects/gemm-bf16-epilogue/design.wstave", { { 0 } }, 16, 128, 1 },
    { "epilogue-choice-all",
      "projects/gemm-bf16-epilogue/design.wstave",
      { { "ROWS", 1 }, { "ACT", 3 } },
      16,
      128,
      1 },
    { "grouped", "projects/gemm-grouped/design.wstave", { { 0 } }, 16, 128, 1 },
    { "d64", "projects/attention-d64/design.wstave", { { 0 } }, 0, 0, 1 },
    { "d64-causal", "projects/attention-d64/design.wstave", { { "CAUSAL", 1 } }, 0, 0, 1 },
    { "d64-causal-ordered",
      "projects/attention-d64/design.wstave",
      { { "CAUSAL", 1 }, { "LOCK", 1 }, { "BM", 128 } },
      0,
      0,
      1 },
    { "d128", "projects/attention-d128/design.wstave", { { 0 } }, 0, 0, 1 },
    { "d128-causal", "projects/attention-d128/design.wstave", { { "CAUSAL", 1 } }, 0, 0, 1 },
    { "d256", "projects/attention-d256/design.wstave", { { 0 } }, 0, 0, 1 },
    { "d256-causal", "projects/attention-d256/design.wstave", { { "CAUSAL", 1 } }, 0, 0, 1 },
    { "window", "projects/attention-window/design.wstave", { { 0 } }, 0, 0, 1 },
    { "window-cap-sinks",
      "projects/attention-window/design.wstave",
      { { "CAP", 1 }, { "SINKS", 1 } },
      0,
      0,
      1 },
};

static WsProgram *load(const Case *c)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, c->file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    guint n = 0;
    while (n < G_N_ELEMENTS(c->set) && c->set[n].name)
        n++;
    WsProgram *p = design ? ws_elaborate(design, c->set, n, findings) : NULL;
    if (!p) {
        g_autofree char *text = ws_findings_print(findings, file);
        g_test_message("%s", text);
    }
    g_assert_nonnull(p);
    return p;
}

static char *make(const WsProgram *p, guint build)
{
    const guint ctas[] = { 0, 1 };
    WsRecordChoice choice = { .rounds = 64, .tiles = 4, .n_ctas = 2, .cta = ctas };
    g_autoptr(WsRecorder) recorder = build & TRACED ? ws_recorder_new(p, &choice) : NULL;
    WsGenerateOptions options = { recorder, (build & DEBUG_WAITS) != 0 };
    g_autoptr(GError) error = NULL;
    char *ptx = ws_generate_ptx(p, &options, &error);
    g_assert_no_error(error);
    return ptx;
}

/* Two cases look at the timed text of a design: made once. Caller frees. */
static char *generate(const Case *c, const WsProgram *p, guint build)
{
    static GHashTable *timed;
    if (build != TIMED)
        return make(p, build);
    if (!timed)
        timed = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    if (!g_hash_table_contains(timed, c->name))
        g_hash_table_insert(timed, (gpointer)c->name, make(p, build));
    return g_strdup(g_hash_table_lookup(timed, c->name));
}

static guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *c = text; (c = strstr(c, what)); c += strlen(what))
        n++;
    return n;
}

/* Accumulator lists "{%r1, …}" of all wgmma: one list per consumer and atom, never another. */
static guint different_lists(const char *ptx, guint registers)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (const char *c = ptx; (c = strstr(c, "wgmma.mma_async")); c++) {
        const char *open = strchr(c, '{'), *close = strchr(c, '}');
        g_assert_true(open && close && open < close);
        char *list = g_strndup(open, close - open);
        g_assert_cmpuint(count(list, "%"), ==, registers);
        g_hash_table_add(seen, list);
    }
    return g_hash_table_size(seen);
}

static void test_structure(gconstpointer data)
{
    const Case *c = data;
    WsProgram *p = load(c);
    g_autofree char *ptx = generate(c, p, TIMED);
    g_assert_true(g_str_has_prefix(ptx, "// generated by: warpstave"));
    g_assert_nonnull(strstr(ptx, p->design_hash));
    g_assert_cmpuint(count(ptx, ".entry"), ==, 1);
    g_assert_nonnull(strstr(ptx, ".visible .entry warpstave("));
    g_assert_nonnull(strstr(ptx, ".maxntid 384, 1, 1"));
    g_assert_nonnull(strstr(ptx, ".minnctapersm 1"));
    g_assert_null(strstr(ptx, ".local"));
    g_assert_null(strstr(ptx, "call"));
    g_assert_cmpuint(count(ptx, ".reqnctapercluster"), ==, c->cluster > 1);
    g_assert_cmpuint(count(ptx, "multicast::cluster"), >=, c->cluster > 1);
    g_assert_cmpuint(count(ptx, "wgmma.mma_async"), ==, c->wgmma);
    /* two consumers; ping-pong has two atoms of 64 rows in each */
    guint atoms = strstr(c->name, "pingpong") ? 2 : 1;
    g_assert_cmpuint(different_lists(ptx, c->accumulators), ==, 2 * atoms);
    g_assert_cmpuint(count(ptx, "setmaxnreg.dec"), ==, 1);
    g_assert_cmpuint(count(ptx, "setmaxnreg.inc"), ==, 2);
    g_assert_cmpuint(count(ptx, ".param .align 64 .b8"), ==, p->n_maps);
    ws_program_unref(p);
}

/* The recorder and the debug form leave no trace in a timed build. */
static void test_timed_is_timed(void)
{
    WsProgram *p = load(&cases[1]);
    g_autofree char *plain = make(p, TIMED);
    g_autofree char *traced = make(p, TRACED);
    g_autofree char *debug = make(p, DEBUG_WAITS);
    g_autofree char *again = make(p, TIMED);
    g_assert_cmpstr(plain, ==, again);
    g_assert_null(strstr(plain, "%clock"));
    g_assert_null(strstr(plain, "st.global"));
    g_assert_null(strstr(plain, "trap"));
    g_assert_nonnull(strstr(traced, "mov.u32"));
    g_assert_cmpuint(count(traced, ", %clock;"), >, 8);
    g_assert_cmpuint(count(traced, "st.global.v4.b32"), >, 3);
    /* one round in 16: the inner loops once more, without clocks */
    const guint cta = 0;
    WsRecordChoice choice = { .rounds = 64, .tiles = 4, .n_ctas = 1, .cta = &cta, .every = 16 };
    g_autofree char *first_turn = NULL;
    g_autoptr(WsRecorder) recorder = ws_recorder_new(p, &choice);
    g_autofree char *sampled =
        ws_generate_ptx(p, &(WsGenerateOptions){ .recorder = recorder }, NULL);
    g_assert_nonnull(sampled);
    g_assert_cmpuint(count(sampled, "wgmma.mma_async"), >, count(traced, "wgmma.mma_async"));
    g_assert_cmpuint(count(sampled, ", %clock;"), ==, count(traced, ", %clock;"));
    /* launches that take turns: the same code, the rounds of each by a parameter */
    choice.launches = 16;
    for (guint i = 0; i < 2; i++) {
        choice.launch = 3 * i;
        g_autoptr(WsRecorder) turn = ws_recorder_new(p, &choice);
        g_autofree char *turns = ws_generate_ptx(p, &(WsGenerateOptions){ .recorder = turn }, NULL);
        g_assert_cmpuint(count(turns, "wgmma.mma_async"), ==, count(sampled, "wgmma.mma_async"));
        g_assert_cmpuint(count(turns, ".param .u32"), ==, count(sampled, ".param .u32") + 1);
        g_assert_true(i == 0 || g_str_equal(turns, first_turn));
        g_free(first_turn);
        first_turn = g_steal_pointer(&turns);
    }
    /* no round: clocks of the tiles alone; the last CTA is found when the kernel runs, CTAs from
     * the first on by their number */
    const guint last = WS_RECORD_LAST_CTA;
    choice = (WsRecordChoice){ .tiles = 4, .n_ctas = 1, .cta = &last };
    g_autoptr(WsRecorder) tiles = ws_recorder_new(p, &choice);
    g_autofree char *outside = ws_generate_ptx(p, &(WsGenerateOptions){ .recorder = tiles }, NULL);
    g_assert_cmpuint(count(outside, ", %clock;"), <, count(traced, ", %clock;"));
    g_assert_cmpuint(count(outside, "%nctaid.x"), >=, 1);
    guint all[64];
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        all[i] = i;
    choice = (WsRecordChoice){ .tiles = 4, .n_ctas = G_N_ELEMENTS(all), .cta = all };
    g_autoptr(WsRecorder) many = ws_recorder_new(p, &choice);
    g_autofree char *waves = ws_generate_ptx(p, &(WsGenerateOptions){ .recorder = many }, NULL);
    g_assert_cmpuint(count(waves, "selp"), <, count(plain, "selp") + 32);
    g_assert_null(strstr(traced, "trap"));
    g_assert_cmpuint(count(debug, "trap;"), ==, count(plain, "mbarrier.try_wait"));
    ws_program_unref(p);
}

static void test_ptxas(gconstpointer data)
{
    const Case *c = data;
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    WsProgram *p = load(c);
    /* ptxas takes seconds for each build of an attention: all of one here, all with -m slow (./dev
     * soak) */
    const gboolean every = c < computing || c >= computing + G_N_ELEMENTS(computing) ||
                           strcmp(c->name, "d128") == 0 || g_test_slow();
    for (guint build = TIMED; build <= (every ? DEBUG_WAITS : TIMED); build++) {
        g_autofree char *ptx = generate(c, p, build);
        g_autoptr(GError) error = NULL;
        GBytes *cubin = NULL;
        if (strstr(c->file, "fa3") && (build == TRACED || (build && c->set[0].name)))
            continue;
        WsPtxasReport *r = ws_ptxas_run(ptx, build == TIMED ? &cubin : NULL, &error);
        g_assert_no_error(error);
        if (!ws_ptxas_report_clean(r))
            g_test_message("build %u: %s", build, r->log);
        /* Debug builds are not timed: their waits report much, and groups with 24 registers spill.
         */
        g_assert_true(build == DEBUG_WAITS ? r->diagnostics->len == 0 : ws_ptxas_report_clean(r));
        g_assert_cmpuint(r->registers, >, 0);
        g_assert_cmpuint(r->registers, <=, p->entry_registers);
        g_assert_cmpuint(cubin ? g_bytes_get_size(cubin) : 0, >=, build == TIMED ? 1000 : 0);
        g_clear_pointer(&cubin, g_bytes_unref);
        ws_ptxas_report_free(r);
    }
    ws_program_unref(p);
}

/* A text that is not PTX is refused, and one that spills is not clean. */
static void test_ptxas_refuses(void)
{
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(ws_ptxas_run(".version 8.0\n.target sm_90a\nnonsense;", NULL, &error));
    g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_PTXAS);
    const char *local = ".version 8.0\n.target sm_90a\n.address_size 64\n"
                        ".visible .entry k(.param .u64 p)\n{\n.local .b8 x[64];\n.reg .b64 a, b;\n"
                        ".reg .b32 v;\nld.param.u64 a, [p];\nmov.u64 b, x;\nadd.u64 b, b, a;\n"
                        "mov.u32 v, 1;\nst.local.u32 [b], v;\nld.local.u32 v, [b+4];\n"
                        "st.global.u32 [a], v;\nret;\n}\n";
    g_clear_error(&error);
    WsPtxasReport *r = ws_ptxas_run(local, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(r->stack, ==, 64);
    g_assert_false(ws_ptxas_report_clean(r));
    ws_ptxas_report_free(r);
}

/* Text with the first place of `from` changed; frees `text`. */
static char *changed(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    g_assert_nonnull(at);
    char *out = g_strdup_printf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    g_free(text);
    return out;
}

/* What no lens with registers can lower is refused by name: one element of a thread is another of
 * the value beside it, of a temporary, too. */
static const struct {
    const char *compute, *why;
} refused[] = {
    { "\"w = 0\", \"v = rowsum(w)\"", "a reduction of linear values (" },
    { "\"w = 1\", \"v = 2\", \"w = w * v\"",
      "linear values of different shapes in one statement (" },
    { "\"w = 1\", \"v = 2\" ] }, { \"compute\": [ \"x = v * 2\", \"w = w * x\"",
      "linear values of different shapes in one statement (" },
};

static void test_step_error(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "tests/designs/gemm-cooperative.wstave", NULL);
    g_autofree char *step =
        g_strdup_printf("{ \"mma_wait\": 1 }, { \"compute\": [ %s ] },", refused[i].compute);
    g_autoptr(WsFindings) findings = ws_findings_new();
    char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    text = changed(text, "\"values\": [",
                   "\"values\": [ { \"name\": \"w\", \"dtype\": \"f32\", \"tile\": [48, 8] },"
                   "{ \"name\": \"v\", \"dtype\": \"f32\", \"tile\": [48, 1] },");
    text = changed(text, "{ \"mma_wait\": 1 },", step);
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), file, findings);
    g_free(text);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    for (guint cuda = 0; cuda < 2; cuda++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *out =
            cuda ? ws_generate_cuda(p, FALSE, &error) : ws_generate_ptx(p, NULL, &error);
        g_assert_null(out);
        g_assert_error(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP);
        g_assert_true(
            g_str_has_prefix(error->message, "step compute at groups/mma/body/0/do/0/do/"));
        g_assert_nonnull(strstr(error->message, refused[i].why));
    }
}

/* A gather's hint becomes a policy where a unit is copied whole or not at all (its count a choice
 * between 16 and 0), and is dropped where the row may end inside a unit. */
static void test_gather_policy(void)
{
    static const char policy[] = "cp.async.cg.shared.global.L2::cache_hint.L2::256B";
    g_autofree char *file =
        g_build_filename(WS_SOURCE_ROOT, "tests/designs/sparse-mla-seesaw.wstave", NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, &error));
    for (guint known = 0; known < 2; known++) {
        char *now = g_strdup(text);
        if (!known) { /* rows of the tensor end where a size of the launch says */
            now = changed(now, "\"shape\": [\"SKV\", \"DQK\"]", "\"shape\": [\"SKV\", \"HQ\"]");
        }
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(now, strlen(now), file, findings);
        g_free(now);
        WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_assert_nonnull(p);
        g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(count(ptx, policy), ==, known ? count(ptx, "cp.async.cg") : 0);
        g_assert_cmpuint(count(ptx, "cp.async.cg"), >, 0);
        for (const char *c = ptx; (c = strstr(c, policy)); c++) {
            char **operand = g_strsplit(c, ",", 5);
            g_autofree char *chosen = g_strdup_printf("%s, 16, 0, ", g_strstrip(operand[3]));
            g_assert_nonnull(strstr(ptx, chosen));
            g_strfreev(operand);
        }
        ws_program_unref(p);
    }
}

/* Names of the document reach comments only, and only as ASCII on one line. */
static void test_foreign_name(void)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, cases[1].file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) plain = ws_design_load(file, findings);
    g_autoptr(GError) error = NULL;
    static const char *const lines[] = {
        "set . name \"caf\\u00e9 \\u2014 {$0} */ \\n.version 1.0\"",
        "set groups/mma/body/0/do/0/do/1 id \"k$1{p}\"",
    };
    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(WsEdit) edit = ws_edit_parse(lines[i], &error);
        g_assert_no_error(error);
        WsDesign *next = ws_design_apply(plain, edit, findings);
        if (!next)
            continue; /* the reader refuses it: nothing reaches the generator */
        ws_design_unref(plain);
        plain = next;
    }
    WsProgram *p = ws_elaborate(plain, NULL, 0, findings);
    g_assert_nonnull(p);
    g_autofree char *ptx = make(p, TIMED);
    for (const char *c = ptx; *c; c++)
        g_assert_true(g_ascii_isprint(*c) || *c == '\n' || *c == '\t');
    g_assert_cmpuint(count(ptx, "\n.version"), ==, 1);
    if (ws_ptxas_available()) {
        WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
        g_assert_no_error(error);
        g_assert_true(ws_ptxas_report_clean(r));
        ws_ptxas_report_free(r);
    }
    ws_program_unref(p);
}

static void test_llvm_text(void)
{
    WsProgram *p = load(&cases[1]);
    g_autoptr(GError) error = NULL;
    g_autofree char *ir = ws_generate_llvm(p, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(ir, "define ptx_kernel void @warpstave("));
    g_assert_nonnull(strstr(ir, "convergent"));
    ws_program_unref(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *a = g_strconcat("/codegen/structure/", cases[i].name, NULL);
        g_autofree char *b = g_strconcat("/codegen/ptxas/", cases[i].name, NULL);
        g_test_add_data_func(a, &cases[i], test_structure);
        if (test_again(i, 3))
            g_test_add_data_func(b, &cases[i], test_ptxas);
    }
    for (guint i = 0; i < G_N_ELEMENTS(computing); i++) {
        if (!test_takes(i, 3, 3))
            continue;
        g_autofree char *a = g_strconcat("/codegen/ptxas/", computing[i].name, NULL);
        g_test_add_data_func(a, &computing[i], test_ptxas);
    }
    g_test_add_func("/codegen/timed", test_timed_is_timed);
    g_test_add_func("/codegen/ptxas-refuses", test_ptxas_refuses);
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *path = g_strdup_printf("/codegen/step-error/%u", i);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_step_error);
    }
    g_test_add_func("/codegen/gather-policy", test_gather_policy);
    g_test_add_func("/codegen/foreign-name", test_foreign_name);
    g_test_add_func("/codegen/llvm", test_llvm_text);
    return g_test_run();
}
