/* Builds with random delays: sleeps before what synchronises, other ones for another seed, and a
 * build without them is as if there were none. Assembled where ptxas is. */
#include "../whole.h"
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

static WsProgram *program(const char *name)
{
    g_autofree char *file = g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, name);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_assert_nonnull(design);
    WsProgram *p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return p;
}

static char *ptx(const WsProgram *p, guint32 seed)
{
    const WsGenerateOptions options = { .delays = seed };
    g_autoptr(GError) error = NULL;
    char *text = ws_generate_ptx(p, &options, &error);
    g_assert_no_error(error);
    return text;
}

static guint count(const char *text, const char *word)
{
    guint n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static void seeds(gconstpointer data)
{
    g_autoptr(WsProgram) p = program(data);
    g_autoptr(GError) error = NULL;
    g_autofree char *none = ptx(p, 0), *plain = ws_generate_ptx(p, NULL, &error), *one = ptx(p, 1),
                    *again = ptx(p, 1), *two = ptx(p, 2);
    g_assert_no_error(error);
    g_assert_cmpstr(none, ==, plain);
    g_assert_cmpuint(count(none, "nanosleep"), ==, 0);
    g_assert_cmpstr(one, ==, again);
    g_assert_cmpstr(one, !=, two);
    g_assert_nonnull(strstr(one, "// random delays, seed 1"));
    /* One before every wait at least: none of them is forgotten. */
    g_assert_cmpuint(count(one, "nanosleep"), >=, count(one, "mbarrier.try_wait"));
    g_assert_cmpuint(count(one, "nanosleep"), ==, count(two, "nanosleep"));
    g_assert_cmpuint(count(one, "mbarrier.try_wait"), ==, count(none, "mbarrier.try_wait"));
    if (!ws_ptxas_available())
        return;
    WsPtxasReport *report = ws_ptxas_run(one, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(ws_ptxas_report_clean(report));
    ws_ptxas_report_free(report);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    static const char *const designs[] = { "gemm-cooperative", "gemm-cluster",
                                           "attention-fa3-causal" };
    for (guint i = 0; i < G_N_ELEMENTS(designs); i++) {
        g_autofree char *path = g_strconcat("/codegen/delays/", designs[i], NULL);
        if (test_again(i, 3))
            g_test_add_data_func(path, designs[i], seeds);
    }
    return g_test_run();
}
