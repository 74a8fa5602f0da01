/* Every design in tests/designs/epilogue: rehearsed right, assembled where ptxas is there,
 * written as CUDA C++ (compiled where nvcc is there) and in the languages of Python or refused by
 * name. */
#include "../whole.h"
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define FOLDER WS_SOURCE_ROOT "/tests/designs/epilogue"

static WsProgram *load(const char *file)
{
    g_autofree char *path = g_build_filename(FOLDER, file, NULL);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) d = ws_design_load(path, findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        g_autofree char *text = ws_findings_print(findings, path);
        g_error("%s", text);
    }
    return p;
}

static void test_right(gconstpointer data)
{
    g_autoptr(WsProgram) p = load(data);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseOptions options = { .seed = 1, .sms = 2 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    if (!r->matches)
        g_test_message("%s %s %s", r->first_wrong ? r->first_wrong : "", r->stuck ? r->stuck : "",
                       r->first_race ? r->first_race : "");
    g_assert_true(r->ran && r->matches);
    g_assert_cmpuint(r->elements, >, 0);
    ws_rehearse_result_free(r);
}

static void test_compiled(gconstpointer data)
{
    g_autoptr(WsProgram) p = load(data);
    g_autoptr(GError) error = NULL;
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *cuda = ws_generate_cuda(p, FALSE, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_available()) {
        g_test_skip("ptxas is not installed");
        return;
    }
    WsPtxasReport *r = ws_ptxas_run(ptx, NULL, &error);
    g_assert_no_error(error);
    if (!ws_ptxas_report_clean(r))
        g_test_message("%s", r->log);
    g_assert_true(ws_ptxas_report_clean(r));
    ws_ptxas_report_free(r);
    if (!ws_nvcc_available()) {
        g_test_skip("nvcc is not installed");
        return;
    }
    g_autofree char *text = g_strconcat("#undef WARPSTAVE_BUNDLE\n", cuda, NULL);
    r = ws_nvcc_run(text, NULL, &error);
    g_assert_no_error(error);
    g_assert_null(strstr(r->log, "warning"));
    ws_ptxas_report_free(r);
}

/* { design, what Gluon, TLE and TLX say; NULL: they write it }. */
static const struct {
    const char *file, *refused[3];
} designs[] = {
    { "gemm-bias-gelu.wstave", { NULL, NULL, NULL } },
    { "gemm-swiglu.wstave", { NULL, NULL, NULL } },
    { "gemm-rope.wstave", { NULL, NULL, NULL } },
    { "gemm-dropout.wstave", { NULL, NULL, NULL } },
    { "gemm-int4.wstave", { NULL, NULL, NULL } },
};

static void test_python(void)
{
    typedef char *(*Export)(const WsProgram *, gboolean, const WsPyJudge *, GError **);
    static const Export export[] = { ws_generate_gluon, ws_generate_tle, ws_generate_tlx };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autoptr(WsProgram) p = load(designs[i].file);
        for (guint k = 0; k < G_N_ELEMENTS(export); k++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *text = export[k](p, FALSE, NULL, &error);
            const char *refused = designs[i].refused[k];
            if ((text != NULL) != (refused == NULL) ||
                (refused && !strstr(error->message, refused)))
                g_error("%s in %u: %s", designs[i].file, k, error ? error->message : "written");
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_set_nonfatal_assertions();
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *a = g_strconcat("/epilogue/right/", designs[i].file, NULL);
        g_autofree char *b = g_strconcat("/epilogue/compiled/", designs[i].file, NULL);
        if (test_again(i, 2))
            g_test_add_data_func(a, designs[i].file, test_right);
        if (test_again(i + 1, 2))
            g_test_add_data_func(b, designs[i].file, test_compiled);
    }
    g_test_add_func("/epilogue/python", test_python);
    return g_test_run();
}
