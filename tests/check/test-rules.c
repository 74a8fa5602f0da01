/* The rule table: every rule says what goes wrong and what to do, and has an example: a design that
 * breaks it and one that nearly does. Both are read, elaborated and checked here. */
#include "check/check.h"
#include "check/examples.h"
#include "clock/clock.h"
#include "mend/fix.h"
#include "program/elaborate.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <string.h>

static const WsFinding *said(const WsFindings *findings, WsRuleId rule)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->rule == rule)
            return f;
    }
    return NULL;
}

/* Reads, elaborates, checks; what is found is in `findings`. */
static WsProgram *look(const char *text, WsFindings *findings)
{
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "example", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0)
        return NULL;
    g_autoptr(WsVerdict) v = ws_check(p, NULL, findings);
    ws_check_locate(design, findings);
    return g_steal_pointer(&p);
}

static void by_launch(WsRuleId rule, const WsProgram *p, const char *setting, WsFindings *findings)
{
    g_autofree char *name = g_strndup(setting, strcspn(setting, "="));
    const WsSize size = { name, g_ascii_strtoll(strchr(setting, '=') + 1, NULL, 10) };
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, &size, 1, FALSE, findings);
    if (rule != WS_RULE_F_CLOCK)
        return;
    g_assert_nonnull(v);
    g_autoptr(WsMachine) machine = ws_machine_load(NULL, NULL);
    g_autoptr(WsClockResult) result = ws_clock_run(p, v, machine, NULL, findings);
}

static void by_edit(const char *text, const char *edit, WsFindings *findings)
{
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "example", findings);
    g_autoptr(WsEdit) e = ws_edit_parse(edit, NULL);
    g_assert_nonnull(e);
    g_autoptr(WsDesign) edited = ws_design_apply(design, e, findings);
    g_assert_null(edited);
}

static void wrong(WsRuleId rule, const char *right, WsFindings *findings)
{
    const char *how = ws_rule_example_how(rule);
    g_autoptr(WsFindings) none = ws_findings_new();
    if (how && g_str_has_prefix(how, "file ")) {
        g_autoptr(WsDesign) design = ws_design_load(how + 5, findings);
        g_assert_null(design);
    } else if (how && g_str_has_prefix(how, "edit ")) {
        by_edit(right, how + 5, findings);
    } else if (how) {
        g_autoptr(WsProgram) p = look(right, none);
        g_assert_nonnull(p);
        by_launch(rule, p, how + 5, findings);
    } else {
        g_autofree char *text = ws_rule_example(rule, TRUE);
        if (!text)
            g_error("%s has no example in resources/rules/examples.txt", ws_rule(rule)->text);
        g_autoptr(WsProgram) p = look(text, findings);
        g_assert_cmpstr(text, !=, right);
    }
}

static void test_rule(gconstpointer data)
{
    const WsRuleId rule = (WsRuleId)GPOINTER_TO_UINT(data);
    const WsRule *r = ws_rule(rule);
    g_assert_cmpuint(strlen(r->title), >, 5);
    g_assert_cmpuint(strlen(r->explain), >, 40);
    g_assert_cmpuint(strlen(r->fix), >, 10);
    g_autofree char *right = ws_rule_example(rule, FALSE);
    if (right) {
        g_autoptr(WsFindings) none = ws_findings_new();
        g_autoptr(WsProgram) p = look(right, none);
        g_autofree char *text = ws_findings_print(none, NULL);
        g_test_message("right: %s", text);
        g_assert_null(said(none, rule));
        g_assert_cmpuint(ws_findings_count(none, WS_SEVERITY_WARNING), ==, 0);
        g_assert_nonnull(p);
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    wrong(rule, right, findings);
    g_autofree char *text = ws_findings_print(findings, NULL);
    g_test_message("wrong: %s", text);
    const WsFinding *f = said(findings, rule);
    g_assert_nonnull(f);
    g_assert_cmpint(f->severity, ==, r->severity);
    /* What a person reads: a sentence, and for the protocol what follows. */
    g_assert_cmpuint(strlen(f->message), >, 5);
    if (r->klass == WS_CLASS_P && rule != WS_RULE_P_TILE) {
        g_assert_nonnull(f->story);
        g_assert_cmpint(f->harm, !=, WS_HARM_NONE);
        g_assert_nonnull(f->agent);
    }
}

/* The difference shows the lines that matter and no more. */
static void difference(void)
{
    g_autofree char *text = ws_rule_example_difference(WS_RULE_P_RACE, 0);
    g_assert_cmpstr(text, ==,
                    "  …\n-           { \"wait\": \"full\", \"use\": \"k.total\" },\n  …\n");
    g_autoptr(GPtrArray) kinds = ws_fix_kinds(WS_RULE_P_RACE);
    g_assert_cmpuint(kinds->len, >, 5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/rules/difference", difference);
    for (WsRuleId id = 0; id < WS_RULE_COUNT; id++) {
        g_autofree char *path = g_strdup_printf("/check/rules/%s", ws_rule(id)->text);
        g_test_add_data_func(path, GUINT_TO_POINTER(id), test_rule);
    }
    return g_test_run();
}
