/* Designs of gfx950 with changes of their text. */
#pragma once

#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const char *from,
        *to; /* the first place of `from` in the text; "all " before it: every place */
} AmdChange;

static inline char *amd_text(const char *design, const AmdChange *change, guint n)
{
    g_autofree char *file = g_strdup_printf("%s/tests/designs/%s.wstave", WS_SOURCE_ROOT, design);
    char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    for (guint i = 0; i < n && change[i].from; i++) {
        GString *s = g_string_new(text);
        const gboolean all = g_str_has_prefix(change[i].from, "all ");
        const char *from = change[i].from + (all ? 4 : 0);
        if (g_string_replace(s, from, change[i].to, all ? 0 : 1) == 0)
            g_error("%s has no %s", design, from);
        g_free(text);
        text = g_string_free(s, FALSE);
    }
    return text;
}

/* NULL where the text has errors, told in `findings`. */
static inline WsProgram *amd_program(const char *text, const WsSetting *set, guint n_set,
                                     WsFindings *findings)
{
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    WsProgram *p = d ? ws_elaborate(d, set, n_set, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR) > 0)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}

static inline WsProgram *amd_load(const char *design, const AmdChange *change, guint n,
                                  const WsSetting *set, guint n_set)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autofree char *text = amd_text(design, change, n);
    WsProgram *p = amd_program(text, set, n_set, findings);
    if (!p) {
        g_autofree char *what = ws_findings_print(findings, design);
        g_error("%s", what);
    }
    return p;
}
