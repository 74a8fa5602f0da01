/* The same design with another value of a constant. */
#include "model/design.h"
#include "model/finding.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <string.h>

WsProgram *ws_program_with(const WsProgram *p, const char *constant, gint64 value)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design =
        ws_design_parse(p->design_text, strlen(p->design_text), p->file, findings);
    const WsSetting set = { constant, value };
    WsProgram *made = design ? ws_elaborate(design, &set, 1, findings) : NULL;
    if (made && ws_findings_count(findings, WS_SEVERITY_ERROR)) {
        ws_program_unref(made);
        made = NULL;
    }
    return made;
}
