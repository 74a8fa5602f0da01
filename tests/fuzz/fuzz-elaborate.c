/* Any bytes: what the reader accepts, elaboration turns into a program that prints, or into
 * findings. It never crashes, hangs or takes more memory than a design of that size deserves. */
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *copy = g_memdup2(data, size);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(copy != NULL ? copy : "", size, "x", findings);
    if (design == NULL)
        return 0;
    g_autoptr(WsProgram) program = ws_elaborate(design, NULL, 0, findings);
    g_autofree char *all = ws_findings_print(findings, "x");
    if (program == NULL && ws_findings_count(findings, WS_SEVERITY_ERROR) == 0)
        abort();
    if (program != NULL) {
        g_autofree char *text = ws_program_print(program);
        if (*text == '\0')
            abort();
    }
    return 0;
}
