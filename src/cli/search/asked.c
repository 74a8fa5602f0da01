/* What is found is assembled and rehearsed before it is told. */
#include "cli/search/asked.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"
#ifdef WS_HAVE_CODEGEN
#include "codegen/generate.h"
#include "codegen/nvptx/ptxas/ptxas_kept.h"
#endif

/* --- values -------------------------------------------------------------------------------------
 */

typedef enum { SAME, DIFFER, NOT_COMPARED } Values;

static Values compare_values(const WsProgram *p)
{
#ifdef WS_HAVE_CODEGEN
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(GError) error = NULL;
    const WsRehearseOptions options = { 0 };
    WsRehearseResult *r = ws_rehearse(p, &options, findings, &error);
    if (!r)
        return NOT_COMPARED;
    const Values values = r->matches ? SAME : DIFFER;
    ws_rehearse_result_free(r);
    return values;
#else
    (void)p;
    return NOT_COMPARED;
#endif
}

/* --- code ---------------------------------------------------------------------------------------
 */

gboolean ws_asked_can_build(void)
{
#ifdef WS_HAVE_CODEGEN
    return ws_ptxas_available();
#else
    return FALSE;
#endif
}

/* Whether ptxas makes of the program what it says; TRUE where it cannot be asked. */
static gboolean builds(const WsProgram *p)
{
#ifdef WS_HAVE_CODEGEN
    g_autoptr(GError) error = NULL;
    gboolean clean = TRUE;
    g_autofree char *ptx = ws_asked_can_build() ? ws_generate_ptx(p, NULL, &error) : NULL;
    if (ptx && !ws_ptxas_ask(ptx, &clean, &error))
        return TRUE;
    return clean;
#else
    (void)p;
    return TRUE;
#endif
}

gboolean ws_asked_builds(const WsProgram *p, gpointer data)
{
    (void)data;
    ws_cli_progress("assembling an order of steps not seen before");
    return builds(p);
}

gboolean ws_asked_values(const WsDesign *design, gpointer data)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(design, NULL, 0, findings);
    (void)data;
    ws_cli_progress("rehearsing other constants");
    return p && compare_values(p) != DIFFER;
}

gboolean ws_asked_accept(const WsFound *f, gpointer data)
{
    WsSearchAsked *a = data;
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsProgram) p = ws_elaborate(f->design, NULL, 0, findings);
    if (!p)
        return FALSE;
    ws_cli_progress("assembling what was found: %" G_GINT64_FORMAT " cycles", f->cycles);
    if (!builds(p)) {
        a->unbuilt++;
        return FALSE;
    }
    ws_cli_progress("rehearsing what was found: %" G_GINT64_FORMAT " cycles", f->cycles);
    const Values values = compare_values(p);
    if (values == SAME)
        g_hash_table_add(a->same, f->design);
    return values == SAME || (values == NOT_COMPARED && !f->reorders);
}
