/* Raw steps: the author's PTX compared with what the step declares. Right ones are proved, with
 * what is believed of them in the verdict; what the text does besides, and what is not understood
 * in it, leaves them undecided by name; broken protocols around them are refuted. */
#include "check/check.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

#define ADD   "raw-add"
#define STEPS "raw-steps"
#define CUDA  "raw-cuda"
#define SUM   "\"add.rn.f32 a, a, b;\","
#define BAR   "\"mbarrier.arrive.shared::cta.b64 _, [%{bar}];\""
#define FMA   "\"fma.rn.f32 %{out}, %{x}"

static const struct {
    const char *name, *design, *find, *by, *says; /* in the verdict, or the rule that refutes it */
    WsVerdictKind kind;
} rows[] = {
#define RIGHT(name, design, find, by, says)  { name, design, find, by, says, WS_VERDICT_PROVED },
#define BROKEN(name, design, find, by, rule) { name, design, find, by, rule, WS_VERDICT_REFUTED },
#define OPEN(name, design, find, by, says)   { name, design, find, by, says, WS_VERDICT_OUTSIDE },
#include "raw.def"
};

static char *text_of(guint i)
{
    g_autofree char *path =
        g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, rows[i].design);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    GString *s = g_string_new(text);
    g_assert_cmpuint(g_string_replace(s, rows[i].find, rows[i].by, 1), ==, 1);
    return g_string_free(s, FALSE);
}

static void test_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(i);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "raw", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_autofree char *all = ws_findings_print(findings, "raw");
    if (!p)
        g_test_message("%s", all);
    g_assert_nonnull(p);
    const WsCheckOptions options = { 0 };
    g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
    g_autofree char *says = ws_verdict_text(v);
    g_test_message("%s", says);
    gboolean found = rows[i].kind != WS_VERDICT_REFUTED && strstr(says, rows[i].says);
    for (guint k = 0; rows[i].kind == WS_VERDICT_REFUTED && k < findings->list->len; k++) {
        const WsFinding *f = findings->list->pdata[k];
        found |= f->severity == WS_SEVERITY_ERROR && !strcmp(ws_rule(f->rule)->text, rows[i].says);
    }
    g_assert_cmpint(v->kind, ==, rows[i].kind);
    g_assert_true(found);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/raw/%s", rows[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
