/* Any bytes: what elaborates is lowered to PTX and to CUDA C++, refuted or not (generate --force).
 * Either there is a text, or an error that names what this lens does not do; LLVM's fatal errors,
 * which end the process, and our own "internal error" are never reached. */
#include "codegen/generate.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(gboolean fact)
{
    if (!fact)
        abort();
}

static void judge(const char *text, const GError *error)
{
    require((text != NULL) != (error != NULL));
    if (error && !g_error_matches(error, WS_GENERATE_ERROR, WS_GENERATE_ERROR_STEP)) {
        g_printerr("%s\n", error->message);
        abort();
    }
}

/* Work grows with unrolled rounds and registers: more than this says nothing new. */
static gboolean small(const WsProgram *p)
{
    guint registers = 0;
    for (guint a = 0; a < p->n_agents; a++) {
        for (guint v = 0; v < p->agent[a].n_values; v++)
            registers += MIN(p->agent[a].value[v].registers, 4096);
    }
    return p->n_ops <= 600 && registers <= 2048 && p->n_agents <= 16;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *copy = g_memdup2(data, size); /* exact bounds for the sanitizer */
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(copy != NULL ? copy : "", size, "x", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p || ws_findings_count(findings, WS_SEVERITY_ERROR) > 0 || !small(p))
        return 0;
    GError *error = NULL;
    g_autofree char *cuda = ws_generate_cuda(p, FALSE, &error);
    judge(cuda, error);
    g_clear_error(&error);
    g_autofree char *ptx = ws_generate_ptx(p, NULL, &error);
    judge(ptx, error);
    g_clear_error(&error);
    return 0;
}
