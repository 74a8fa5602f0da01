#include "cli/shown.h"
#include "check/check.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#endif

#ifdef WS_HAVE_CODEGEN
/* The numbers, at the sizes that the design names for it. */
static gboolean rehearsed(const WsProgram *p)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions options = { .seed = 1, .sms = 2 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    const gboolean right = r && r->matches && r->elements > 0;
    if (r)
        ws_rehearse_result_free(r);
    return right;
}
#else
static gboolean rehearsed(const WsProgram *p)
{
    (void)p;
    return FALSE;
}
#endif

gboolean ws_cli_proved(const WsProgram *p, gpointer unused)
{
    (void)unused;
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions options = { .verdict_only = TRUE };
    g_autoptr(WsVerdict) verdict = ws_check(p, &options, findings);
    return verdict->kind == WS_VERDICT_PROVED &&
           ws_findings_count(findings, WS_SEVERITY_ERROR) == 0;
}

gboolean ws_cli_shown(const WsProgram *p, gpointer unused)
{
    return ws_cli_proved(p, unused) && rehearsed(p);
}
