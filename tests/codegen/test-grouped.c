/* The grouped GEMM: rehearsed where groups are ragged, empty or of no expert, and changes of it
 * that the check must refute or the rehearsal must find wrong. */
#include "../whole.h"
#include "check/check.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

#define GROUPED "projects/gemm-grouped/design.wstave"

static const char *const size_name[] = { "M", "N", "K", "NE" };

static WsProgram *with(const char *from, const char *to)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, GROUPED, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    GString *other = g_string_new(text);
    if (from)
        g_assert_cmpuint(g_string_replace(other, from, to, 0), >, 0);
    g_autofree char *now = g_string_free(other, FALSE);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(now, strlen(now), file, findings);
    WsProgram *p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    g_assert_cmpuint(ws_findings_count(findings, WS_SEVERITY_ERROR), ==, 0);
    return p;
}

static gboolean right(const WsProgram *p, const gint64 *size)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    WsRehearseOptions options = { .seed = 4, .size_name = size_name, .size = size, .n_size = 4 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    g_assert_no_error(error);
    gboolean ok = r->matches && !r->stuck && !r->first_violation && !r->first_race;
    ws_rehearse_result_free(r);
    return ok;
}

static void test_sizes(void)
{
    static const gint64 sizes[][4] = {
        { 1, 8, 8, 1 },        /* one row, one expert, most numbers are none */
        { 129, 264, 72, 7 },   /* ragged everywhere */
        { 700, 256, 192, 3 },  /* blocks of no expert among others */
        { 1500, 256, 64, 20 }, /* more experts than blocks: most are empty */
    };
    g_autoptr(WsProgram) p = with(NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        if (test_either(i))
            g_assert_true(right(p, sizes[i]));
}

static void test_wrong_expert(void)
{
    static const gint64 size[] = { 700, 256, 64, 7 };
    g_autoptr(WsProgram) p = with("\"e\": \"E[tm]\"", "\"e\": \"E[0]\"");
    g_assert_false(right(p, size));
}

static void test_refuted(void)
{
    static const struct {
        const char *from, *to, *rule;
    } wrong[] = {
        { "          { \"compute\": \"acc = 0\" },\n", "", "P-UNDEF" },
        { ", \"when\": \"rounds > 0\"", "", "P-UNDEF" },
        { "\"when\": \"rounds > 0\"", "\"when\": \"rounds > 3\"", "P-DL" },
        { "\"count\": \"rounds\", \"do\"", "\"count\": \"cdiv(K, BK)\", \"do\"", "P-EXIT" },
    };
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(WsProgram) p = with(wrong[i].from, wrong[i].to);
        g_autoptr(WsFindings) findings = ws_findings_new();
        g_autoptr(WsVerdict) verdict = ws_check(p, NULL, findings);
        g_autofree char *text = ws_findings_print(findings, "grouped");
        g_test_message("%u: %s", i, text);
        g_assert_cmpint(verdict->kind, ==, WS_VERDICT_REFUTED);
        g_assert_nonnull(strstr(text, wrong[i].rule));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/grouped/sizes", test_sizes);
    g_test_add_func("/grouped/wrong-expert", test_wrong_expert);
    g_test_add_func("/grouped/refuted", test_refuted);
    return g_test_run();
}
