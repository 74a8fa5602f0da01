/* Which elements a mask lets through is data: that each is written once is stated, or nothing is
 * shown. */
#include "design.h"

#define STATED ", \"covers\": \"an element is above 0, or it is not\""

static WsVerdict *verdict_of(const Edit *edit, WsFindings *findings)
{
    char *own = NULL;
    g_assert_true(g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/moves/masked-store.wstave",
                                      &own, NULL, NULL));
    g_autofree char *text = edited(own, "masked-store", edit, 1);
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "masked", findings);
    g_assert_nonnull(design);
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    g_assert_nonnull(p);
    return ws_check(p, NULL, findings);
}

static void test_stated(void)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = verdict_of(NULL, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
    g_autofree char *words = ws_verdict_text(v);
    g_assert_nonnull(strstr(words, "every element of Y is written once (an element is above 0"));
}

static void test_open(void)
{
    static const Edit bare = { STATED, "" };
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsVerdict) v = verdict_of(&bare, findings);
    g_assert_cmpint(v->kind, ==, WS_VERDICT_OUTSIDE);
    g_autofree char *said = ws_findings_print(findings, "masked");
    g_assert_nonnull(strstr(said, "a mask says which elements"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/mask/stated", test_stated);
    g_test_add_func("/check/mask/open", test_open);
    return g_test_run();
}
