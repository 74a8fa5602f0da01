/* Designs of ascend with changes of their text. */
#pragma once

#include "model/design.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const char *from, *to; /* the first place of `from` in the text */
} AscendChange;

static inline char *ascend_text(const char *design, const AscendChange *change, guint n)
{
    g_autofree char *file =
        g_strdup_printf("%s/tests/designs/ascend/%s.wstave", WS_SOURCE_ROOT, design);
    char *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    for (guint i = 0; i < n && change[i].from; i++) {
        GString *s = g_string_new(text);
        if (g_string_replace(s, change[i].from, change[i].to, 1) == 0)
            g_error("%s has no %s", design, change[i].from);
        g_free(text);
        text = g_string_free(s, FALSE);
    }
    return text;
}

/* NULL where the text has errors, told in `findings`. */
static inline WsProgram *ascend_program(const char *text, WsFindings *findings)
{
    g_autoptr(WsDesign) d = ws_design_parse(text, strlen(text), NULL, findings);
    WsProgram *p = d ? ws_elaborate(d, NULL, 0, findings) : NULL;
    if (p && ws_findings_count(findings, WS_SEVERITY_ERROR) > 0)
        g_clear_pointer(&p, ws_program_unref);
    return p;
}
