#include "cli/shown.h"
#include "check/check.h"
#include "model/findings.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#endif

struct WsCliShown {
#ifdef WS_HAVE_CODEGEN
    WsReferenceValues *values;
#else
    char nothing;
#endif
};

WsCliShown *ws_cli_shown_new(void)
{
    WsCliShown *s = g_new0(WsCliShown, 1);
#ifdef WS_HAVE_CODEGEN
    s->values = ws_reference_values_new();
#endif
    return s;
}

void ws_cli_shown_free(WsCliShown *s)
{
#ifdef WS_HAVE_CODEGEN
    if (s)
        ws_reference_values_free(s->values);
#endif
    g_free(s);
}

#ifdef WS_HAVE_CODEGEN
/* The numbers, at the sizes that the design names for it. */
static gboolean rehearsed(const WsProgram *p, const WsCliShown *s)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions options = { .seed = 1, .sms = 2, .values = s->values };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    const gboolean right = r && r->matches && r->elements > 0;
    if (r)
        ws_rehearse_result_free(r);
    return right;
}
#else
static gboolean rehearsed(const WsProgram *p, const WsCliShown *s)
{
    return FALSE;
}
#endif

gboolean ws_cli_proved(const WsProgram *p, gpointer unused)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    const WsCheckOptions options = { .verdict_only = TRUE };
    g_autoptr(WsVerdict) verdict = ws_check(p, &options, findings);
    return verdict->kind == WS_VERDICT_PROVED &&
           ws_findings_count(findings, WS_SEVERITY_ERROR) == 0;
}

gboolean ws_cli_shown(const WsProgram *p, gpointer shown)
{
    return ws_cli_proved(p, NULL) && rehearsed(p, shown);
}
