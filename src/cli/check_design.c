/* What a check of the protocol does not ask of a design, but every command after it does: a
 * reference that can be evaluated, sizes that can be launched. */
#include "cli/check_report.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#include "codegen/reference/reference.h"
#endif

/* The sizes stand in the design and can be given at the launch: no more than a warning. */
static void try_sizes(const WsProgram *p, gboolean rehearse, WsFindings *findings)
{
    g_autoptr(WsFindings) met = ws_findings_new();
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, rehearse, met);
    if (v)
        ws_launchable(p, v, ws_launch_grid(v, ws_launch_most(p)), met);
    for (guint i = 0; i < met->list->len; i++) {
        const WsFinding *f = met->list->pdata[i];
        if (f->rule != WS_RULE_R_LAUNCH)
            continue;
        WsFinding *same = ws_findings_add(findings, f->rule, f->at, "%s", f->said);
        same->severity = WS_SEVERITY_WARNING;
        if (f->advised)
            ws_finding_set_remedy(same, "%s", f->advised);
    }
}

void ws_cli_check_design(const WsProgram *p, WsFindings *findings)
{
    try_sizes(p, FALSE, findings);
    try_sizes(p, TRUE, findings);
#ifdef WS_HAVE_CODEGEN
    g_autoptr(GError) error = NULL;
    if (ws_reference_valid(p, &error))
        return;
    const WsRefusal *r = ws_generate_refusal(error);
    WsFinding *f = ws_findings_add(findings, WS_RULE_T_EXPR, r && r->step ? r->step : "reference",
                                   "%s", r ? r->why : error->message);
    if (r && r->remedy)
        ws_finding_set_remedy(f, "%s", r->remedy);
    else
        ws_finding_set_remedy(f, "Write it as LANGUAGE.md section 5 says: X[i,j] = …, with helpers "
                                 "and sum(k < K, …).");
#endif
}
