/* What a check of the protocol does not ask of a design, but every command after it does: a
 * reference that can be evaluated, sizes that can be launched. */
#include "cli/check_report.h"
#include "model/finding.h"
#include "model/findings.h"
#include "program/formula.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/launchable.h"

#include <string.h>

static gboolean is_told(const WsFindings *findings, const WsFinding *other)
{
    for (guint i = 0; i < findings->list->len; i++) {
        const WsFinding *f = findings->list->pdata[i];
        if (f->rule == other->rule && !strcmp(f->message, other->message))
            return TRUE;
    }
    return FALSE;
}

/* The sizes stand in the design and can be given at the launch: no more than a warning. */
static void try_sizes(const WsProgram *p, gboolean rehearse, WsFindings *findings)
{
    g_autoptr(WsFindings) met = ws_findings_new();
    g_autoptr(WsLaunchValues) v = ws_launch_values(p, NULL, 0, rehearse, met);
    if (v)
        ws_launchable(p, v, ws_launch_grid(v, ws_launch_most(p)), met);
    for (guint i = 0; i < met->list->len; i++) {
        const WsFinding *f = met->list->pdata[i];
        if ((f->rule != WS_RULE_R_LAUNCH && f->rule != WS_RULE_R_ASSUME) || is_told(findings, f))
            continue;
        WsFinding *same = ws_findings_add(findings, f->rule, f->at, "%s", f->said);
        same->severity = WS_SEVERITY_WARNING;
        if (f->advised)
            ws_finding_set_remedy(same, "%s", f->advised);
    }
}

/* The first problem of what defines an output. An output that no statement defines is the author's
 * choice. */
static void try_reference(const WsProgram *p, WsFindings *findings)
{
    for (guint i = 0; i < p->n_tensors; i++) {
        gint at;
        gboolean missing;
        if (!ws_tensor_is_output(&p->tensor[i]))
            continue;
        g_autofree char *why = ws_formula_problem(p, i, &at, &missing);
        if (!why || missing)
            continue;
        g_autofree char *place =
            at < 0 ? g_strdup("reference") : g_strdup_printf("reference/%d", at);
        WsFinding *f = ws_findings_add(findings, WS_RULE_T_EXPR, place, "%s", why);
        ws_finding_set_remedy(f, "Write it as LANGUAGE.md section 5 says: X[i,j] = …, with helpers "
                                 "and sum(k < K, …).");
        return;
    }
}

void ws_cli_check_design(const WsProgram *p, WsFindings *findings)
{
    try_sizes(p, FALSE, findings);
    try_sizes(p, TRUE, findings);
    try_reference(p, findings);
}

WsVerdict *ws_cli_check_program(const WsCliInput *in, const WsCheckOptions *options)
{
    WsVerdict *verdict = ws_check(in->program, options, in->findings);
    ws_cli_check_design(in->program, in->findings);
    ws_check_locate(in->design, in->findings);
    return verdict;
}

int ws_cli_verdict_code(const WsVerdict *verdict, const WsFindings *findings, gboolean strict,
                        const char *require)
{
    int code = ws_findings_exit_code(findings, strict);
    if (verdict->kind == WS_VERDICT_REFUTED)
        return code == WS_EXIT_YES ? WS_EXIT_NO : code;
    gboolean enough = require && !strcmp(require, "played") && verdict->played->len > 0;
    if (verdict->kind == WS_VERDICT_OUTSIDE && code == WS_EXIT_YES && !enough)
        return WS_EXIT_OUTSIDE;
    return code;
}
