#include "judged.h"
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
    j.verdict = ws_check(j.program, NULL, j.findings);
    ws_import_locate(j.import->design, j.findings);
    return j;
}
