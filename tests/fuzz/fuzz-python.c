/* Any bytes: what elaborates is written as Gluon, TLE and TLX, refuted or not. Either there is a
 * text, or an error that names what the language does not say; our own "internal error" is never
 * reached. */
#include "codegen/generate.h"
#include "codegen/python/python.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/program.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(const char *text, const GError *error)
{
    if ((text != NULL) == (error != NULL))
        abort();
    if (error && !g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP)) {
        g_printerr("%s\n", error->message);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *copy = g_memdup2(data, size); /* exact bounds for the sanitizer */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(copy != NULL ? copy : "", size, "x", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0 || p->n_ops > 600 ||
        p->n_agents > 16)
        return 0;
    GError *error = NULL;
    g_autofree char *gluon = ws_generate_gluon(p, FALSE, NULL, &error);
    judge(gluon, error);
    g_clear_error(&error);
    g_autofree char *tle = ws_generate_tle(p, FALSE, NULL, &error);
    judge(tle, error);
    g_clear_error(&error);
    g_autofree char *tlx = ws_generate_tlx(p, FALSE, NULL, &error);
    judge(tlx, error);
    g_clear_error(&error);
    return 0;
}
