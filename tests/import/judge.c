#include "judge.h"
#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include "codegen/python/python.h"

#include <string.h>

WsLaunchValues *same_launch(const WsProgram *p, const WsLaunchValues *from, const WsProgram *a)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GArray) size = g_array_new(FALSE, FALSE, sizeof(WsSize));
    for (guint i = 0; i < a->n_vars; i++) {
        WsSize s = { a->var[i].name, 0 };
        if (a->var[i].kind != WS_VAR_SIZE || ws_program_find_var(p, s.name) < 0)
            continue;
        s.value = ws_launch_var(from, (gint)i);
        g_array_append_val(size, s);
    }
    WsLaunchValues *v =
        ws_launch_values(p, (const WsSize *)(gpointer)size->data, size->len, FALSE, findings);
    g_autofree char *says = ws_findings_print(findings, "import");
    if (!v)
        g_test_message("%s", says);
    g_assert_nonnull(v);
    return v;
}

gboolean found_on_line(const WsFindings *findings, const char *text, const char *rule,
                       const char *source)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    gboolean found = FALSE;
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = g_ptr_array_index(findings->list, i);
        const char *at = f->line && f->line <= g_strv_length(line) ? line[f->line - 1] : "";
        if (f->severity == WS_SEVERITY_HINT)
            continue;
        g_test_message("%s at line %u: %s\n%s", ws_rule(f->rule)->text, f->line, f->message, at);
        found |= f->line && f->severity == WS_SEVERITY_ERROR &&
                 g_str_has_prefix(ws_rule(f->rule)->text, rule) && strstr(at, source);
    }
    return found;
}

/* Names for numbers wherever the writer can: mistakes are planted in them, too. */
static gboolean on_trust(const WsProgram *p, gpointer unused)
{
    (void)p, (void)unused;
    return TRUE;
}

char *kernel_of(const char *path, WsImportFrom language)
{
    g_autofree char *file = g_build_filename(WS_SOURCE_ROOT, path, NULL);
    char *text = NULL;
    if (g_str_has_suffix(path, ".py")) {
        g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
        return text;
    }
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_load(file, findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    g_assert_nonnull(p);
    const WsPyJudge any = { on_trust, NULL };
    return language == WS_IMPORT_GLUON ? ws_generate_gluon(p, FALSE, &any, NULL)
                                       : ws_generate_tle(p, FALSE, &any, NULL);
}
