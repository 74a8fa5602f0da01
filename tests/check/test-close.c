/* Pipes that are closed, and loops over them: one design and what is wrong beside it. Proved ones
 * are verified from their certificates; refuted ones name their line; the rest is refused by name.
 */
#include "check/check.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "verify/verify.h"

#include <string.h>

enum { PAIRS = 6 };
typedef enum { PROVED, BELIEVED, REFUTED, NO_PROGRAM } Ends;

static const struct {
    const char *name;
    Ends ends;
    const char *rule, *at;
    const char *pair[2 * PAIRS];
} rows[] = {
#define RIGHT(name, ...)               { name, PROVED, NULL, NULL, { __VA_ARGS__ } },
#define VALUES(name, ...)              { name, PROVED, NULL, NULL, { __VA_ARGS__ } },
#define GIVEN(name, ...)               { name, BELIEVED, NULL, NULL, { __VA_ARGS__ } },
#define BROKEN(name, rule, at, ...)    { name, REFUTED, rule, at, { __VA_ARGS__ } },
#define REFUSED(name, rule, says, ...) { name, NO_PROGRAM, rule, says, { __VA_ARGS__ } },
#include "close.def"
};

static char *text_of(guint i)
{
    g_autofree char *text = NULL;
    g_assert_true(
        g_file_get_contents(WS_SOURCE_ROOT "/tests/designs/pipe-close.wstave", &text, NULL, NULL));
    GString *s = g_string_new(text);
    for (guint k = 0; k < PAIRS && rows[i].pair[2 * k]; k++)
        g_assert_cmpuint(g_string_replace(s, rows[i].pair[2 * k], rows[i].pair[2 * k + 1], 1), ==,
                         1);
    return g_string_free(s, FALSE);
}

static void is_verified(const WsProgram *p, const char *certificate)
{
    g_assert_nonnull(certificate);
    g_autoptr(WsVerification) v = ws_verify(p, certificate);
    if (v->answer != WS_VERIFIED)
        g_test_message("%s", v->reason);
    g_assert_cmpint(v->answer, ==, WS_VERIFIED);
}

static void test_row(gconstpointer data)
{
    const guint i = GPOINTER_TO_UINT(data);
    g_autofree char *text = text_of(i);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(text, strlen(text), "close", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    const WsCheckOptions options = { .certificate = rows[i].ends == PROVED };
    g_autoptr(WsVerdict) v =
        p && rows[i].ends != NO_PROGRAM ? ws_check(p, &options, findings) : NULL;
    g_autofree char *all = ws_findings_print(findings, "close");
    g_autofree char *says = v ? ws_verdict_text(v) : NULL;
    g_test_message("%s%s", all, says ? says : "");
    if (rows[i].ends == PROVED || rows[i].ends == BELIEVED) {
        g_assert_nonnull(v);
        g_assert_cmpint(v->kind, ==, WS_VERDICT_PROVED);
        if (rows[i].ends == PROVED)
            is_verified(p, v->certificate);
        else
            g_assert_nonnull(strstr(says, "given that"));
        return;
    }
    gboolean found = FALSE;
    for (guint k = 0; k < findings->list->len && !found; k++) {
        const WsFinding *f = findings->list->pdata[k];
        if (f->severity != WS_SEVERITY_ERROR)
            continue;
        found = g_str_has_prefix(ws_rule(f->rule)->text, rows[i].rule) &&
                strstr(rows[i].ends == REFUTED ? f->at : f->message, rows[i].at);
    }
    g_assert_true(found);
    if (rows[i].ends == REFUTED)
        g_assert_cmpint(v->kind, ==, WS_VERDICT_REFUTED);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/check/close/%s", rows[i].name);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_row);
    }
    return g_test_run();
}
