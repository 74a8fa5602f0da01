/* Any bytes: what elaborates is checked, proof included, and gets a verdict that fits its findings.
 * The check never crashes, hangs or takes more memory than a design of that size deserves; a state
 * space that is too large ends as "played" or "outside" with the reason. */
#include "mend/fix.h"
#include "program/elaborate.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(gboolean fact)
{
    if (!fact)
        abort();
}

static gboolean has_class(const WsFindings *findings, WsClass klass)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        if (f->severity == WS_SEVERITY_ERROR && ws_rule(f->rule)->klass == klass)
            return TRUE;
    }
    return FALSE;
}

/* What proposals make prints and reads back. */
static void try_fixes(const WsDesign *design, const WsFindings *findings)
{
    for (guint i = 0; i < findings->list->len && i < 3; i++) {
        g_autoptr(GPtrArray) fixes = ws_fixes_of(design, g_ptr_array_index(findings->list, i));
        for (guint k = 0; k < fixes->len && k < 12; k++) {
            const WsFix *fix = g_ptr_array_index(fixes, k);
            require(fix->draft->edits->len > 0 && g_utf8_validate(fix->title, -1, NULL));
            g_autofree char *text = ws_design_print(fix->draft->design);
            g_autoptr(WsFindings) why = ws_findings_new();
            g_autoptr(WsDesign) again = ws_design_parse(text, strlen(text), "x", why);
            require(again != NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *copy = g_memdup2(data, size); /* exact bounds for the sanitizer */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(copy != NULL ? copy : "", size, "x", findings);
    if (design == NULL)
        return 0;
    g_autoptr(WsProgram) program = ws_elaborate(design, NULL, 0, findings);
    if (program == NULL || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0) {
        try_fixes(design, findings);
        return 0;
    }
    /* Small limits: many designs per second matter more than deep ones. */
    const WsCheckOptions options = { .max_ops = 20000, .max_states = 400, .max_work = 4 << 20 };
    g_autoptr(WsVerdict) verdict = ws_check(program, &options, findings);
    ws_check_locate(design, findings);
    g_autofree char *all = ws_findings_print(findings, "x"), *text = ws_verdict_text(verdict);
    require(g_utf8_validate(all, -1, NULL) && g_utf8_validate(text, -1, NULL));
    try_fixes(design, findings);
    const int code = ws_findings_exit_code(findings, FALSE);
    switch (verdict->kind) {
    case WS_VERDICT_REFUTED:
        require(code == 1 && (has_class(findings, WS_CLASS_P) || has_class(findings, WS_CLASS_B) ||
                              has_class(findings, WS_CLASS_G) || has_class(findings, WS_CLASS_L)));
        break;
    case WS_VERDICT_OUTSIDE:
        require(verdict->reason && *verdict->reason);
        break;
    case WS_VERDICT_PLAYED:
    case WS_VERDICT_PROVED:
        require(code == 0);
        break;
    }
    return 0;
}
