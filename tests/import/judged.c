#include "judged.h"
#include "judge/judge.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <string.h>

void judged_clear(Judged *j)
{
    g_clear_pointer(&j->verdict, ws_verdict_free);
    g_clear_pointer(&j->program, ws_program_unref);
    g_clear_pointer(&j->findings, ws_findings_free);
    g_clear_pointer(&j->import, ws_import_free);
}

Judged judge_kernel(const char *text, WsImportFrom language)
{
    const char *name = language == WS_IMPORT_PTX ? "kernel.ptx" : "kernel.py";
    g_autoptr(GError) error = NULL;
    Judged j = { .import = ws_import_text(text, strlen(text), name, language, &error) };
    g_assert_no_error(error);
    for (guint i = 0; i < j.import->unread->len; i++) {
        const WsUnread *u = g_ptr_array_index(j.import->unread, i);
        g_test_message("%u: not read: %s\n%s", u->line, u->what, u->source);
    }
    j.findings = ws_findings_new();
    j.program = ws_elaborate(j.import->design, NULL, 0, j.findings);
    if (!j.program) {
        g_autofree char *says = ws_findings_print(j.findings, name);
        g_test_message("%s", says);
    }
    g_assert_nonnull(j.program);
    const WsCheckOptions foreign = { .foreign =
                                         TRUE }; /* its import says what unread lines reach */
    j.verdict = ws_check(j.program, &foreign, j.findings);
    ws_import_locate(j.import->design, j.findings);
    return j;
}

static WsVerdictKind judged_by(const char *text, WsImportFrom language, const WsImportOptions *how)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsImport) import =
        ws_import_text_as(text, strlen(text), "kernel.py", language, how, &error);
    if (!import)
        return WS_VERDICT_OUTSIDE; /* refused, with its place */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(import->design, NULL, 0, findings);
    ws_judge_soften(findings);
    const WsCheckOptions options = { .verdict_only = TRUE, .foreign = TRUE };
    if (language == WS_IMPORT_PTX && p && !ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        /* the proof is asked of texts with unread lines, too, of which the product says no more
         * than that they have some */
        g_autoptr(WsVerdict) v = ws_check(p, &options, findings);
        g_autofree char *gap = ws_import_gap(import);
        ws_verdict_limit(v, findings, gap, ws_import_stands, import);
        return v->kind;
    }
    g_autoptr(WsVerdict) v = ws_judge_program(import, p, &options, findings);
    return v->kind;
}

/* Of one text a test asks several times: as it is before each change, by uses and by parity. */
WsVerdictKind verdict_by(const char *text, WsImportFrom language, const WsImportOptions *how)
{
    static GHashTable *known;
    if (how && (how->define || how->assume || how->kernel || how->named || how->cancel))
        return judged_by(text, language, how);
    if (!known)
        known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *key = g_strdup_printf("%d %d %s", language, how && how->by_parity, text);
    gpointer verdict;
    if (!g_hash_table_lookup_extended(known, key, NULL, &verdict)) {
        verdict = GUINT_TO_POINTER(judged_by(text, language, how));
        g_hash_table_insert(known, g_steal_pointer(&key), verdict);
    }
    return (WsVerdictKind)GPOINTER_TO_UINT(verdict);
}

WsVerdictKind verdict_of(const char *text, WsImportFrom language)
{
    return verdict_by(text, language, NULL);
}

gboolean is_proved(const char *text, WsImportFrom language)
{
    static const WsImportOptions by_parity = { .by_parity = TRUE };
    return verdict_of(text, language) == WS_VERDICT_PROVED ||
           verdict_by(text, language, &by_parity) == WS_VERDICT_PROVED;
}
