/* Every design in tests/designs/moves, the fp8 projects and the designs that need reads, gathers or
 * dynamic tiles: rehearsed right (in two orders with -m slow), assembled without
 * spills where ptxas is there. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define MOVES WS_SOURCE_ROOT "/tests/designs/moves"

static const char *const others[] = {
    "projects/gemm-bf16-balanced/design.wstave", "projects/gemm-bf16-deferred/design.wstave",
    "projects/gemm-bf16-single/design.wstave",   "projects/gemm-bf16-splitk/design.wstave",
    "projects/gemm-fp16/design.wstave",          "projects/gemm-fp8/design.wstave",
    "projects/gemm-fp8-block/design.wstave",     "tests/designs/attention-fa3-dynamic.wstave",
    "projects/sparse-mla-prefill/design.wstave", "tests/designs/sparse-mla-seesaw.wstave",
    "tests/designs/sparse-mla-pipes.wstave",
};

static void rehearse(const WsProgram *p, guint64 seed)
{
    WsRehearseOptions options = { .seed = seed, .sms = seed == 1 ? 2 : 5 };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    g_assert_nonnull(r);
    if (!r->matches)
        g_test_message("%s %s %s %s", r->first_wrong ? r->first_wrong : "",
                       r->stuck ? r->stuck : "", r->first_race ? r->first_race : "",
                       r->first_violation ? r->first_violation : "");
    g_assert_true(r->ran);
    g_assert_true(r->matches);
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
}

static void assemble(const WsProgram *p)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_available())
        return;
    WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_report_clean(r))
        g_test_message("%s", r->log);
    g_assert_true(ws_ptxas_report_clean(r));
    ws_ptxas_report_free(r);
}

static void test_design(gconstpointer data)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(data, findings);
    /* designs that deal tiles to a stated number of SMs: few, so that every CTA has several */
    const WsSetting few = { "SMS", 2 };
    guint n_set = strstr(data, "balanced") || strstr(data, "gemm-fp16") ||
                  g_str_has_suffix(data, "gemm-fp8/design.wstave");
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, &few, n_set, findings) : NULL;
    if (ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *text = ws_findings_print(findings, data);
        g_test_message("%s", text);
    }
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    rehearse(p, 1);
    if (g_test_slow()) /* ./dev soak: another order */
        rehearse(p, 2);
    assemble(p);
}

/* A raw step is taken into the asm as it is written, and no CPU can run it. */
static void test_raw(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_load(WS_SOURCE_ROOT "/tests/designs/raw-steps.wstave", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(ptx, "cvt.rn.f32.s32 n, %r"));
    g_assert_nonnull(strstr(ptx, "mbarrier.arrive.shared::cta.b64 _, [%r"));
    g_assert_null(strstr(ptx, "%{"));
    assemble(p);
    WsRehearseOptions options = { .seed = 1, .sms = 2 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_null(r);
    g_assert_nonnull(strstr(error->message, "raw"));
}

/* What a raw step may not say, each with the words that tell why. */
static void test_raw_refused(void)
{
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        { "%{n}", "%{size}", "%{size} is not an operand" },
        { "\"out\": \"y\"", "\"out\": \"N\"", "defines values and writes buffers only" },
        { "\"by\": \"thread\"", "\"out\": { \"q\": \"y\" }, \"by\": \"thread\"",
          "one thread cannot define" },
        { "\"in\": { \"x\"", "\"proxy\": \"async\", \"in\": { \"x\"", "names the barrier" },
        { "\"ptx\"", "\"llvm\"", "LLVM IR" },
    };
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/raw-steps.wstave", &text, NULL, NULL));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *at = strstr(text, cases[i].from);
        g_assert_nonnull(at);
        g_autofree char *head = g_strndup(text, at - text);
        g_autofree char *bad = g_strconcat(head, cases[i].to, at + strlen(cases[i].from), NULL);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsDesign) design = ws_design_parse(bad, strlen(bad), "raw", findings);
        g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
        g_autofree char *said = ws_findings_print(findings, "raw");
        if (!strstr(said, cases[i].says))
            g_test_message("case %u: %s", i, said);
        g_assert_nonnull(strstr(said, cases[i].says));
    }
}

static void add(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *dir = g_path_get_dirname(path);
    g_autofree char *folder = g_path_get_basename(dir);
    gboolean project = strcmp(base, "design.wstave") == 0;
    g_autofree char *name = g_strconcat("/codegen/moves/", project ? folder : base, NULL);
    g_test_add_data_func_full(name, g_strdup(path), test_design, g_free);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GDir) dir = g_dir_open(MOVES, 0, NULL);
    g_assert_nonnull(dir);
    g_autoptr(GPtrArray) moves = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".wstave"))
            g_ptr_array_add(moves, g_build_filename(MOVES, name, NULL));
    g_ptr_array_sort(moves, by_name);
    for (guint i = 0; i < moves->len; i++)
        if (test_either(i))
            add(moves->pdata[i]);
    g_test_add_func("/codegen/raw", test_raw);
    g_test_add_func("/codegen/raw/refused", test_raw_refused);
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        if (!test_takes(i, G_N_ELEMENTS(others), 3))
            continue;
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, others[i], NULL);
        add(path);
    }
    return g_test_run();
}
