/* Every design in tests/designs/moves, the fp8 projects and the designs that need reads, gathers or
 * dynamic tiles: rehearsed right in several orders, assembled without
 * spills where ptxas is there. */
#include "codegen/generate.h"

#include <string.h>

#define MOVES WS_SOURCE_ROOT "/tests/designs/moves"

static const char *const others[] = {
    "projects/gemm-fp8/design.wstave",
    "projects/gemm-fp8-block/design.wstave",
    "tests/designs/attention-fa3-dynamic.wstave",
    "tests/designs/sparse-mla-seesaw.wstave",
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
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *text = ws_findings_print(findings, data);
        g_test_message("%s", text);
    }
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    rehearse(p, 1);
    if (!strstr(data, "sparse-mla")) /* its many copies take a while */
        rehearse(p, 2);
    assemble(p);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GDir) dir = g_dir_open(MOVES, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(MOVES, name, NULL);
        if (g_str_has_suffix(name, ".wstave"))
            add(path);
    }
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autofree char *path = g_build_filename(WS_SOURCE_ROOT, others[i], NULL);
        add(path);
    }
    return g_test_run();
}
