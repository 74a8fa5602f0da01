/* Any bytes: a design that elaborates is launched at small sizes and played by the clock. It never
 * crashes or hangs, whatever findings elaboration had; no play ends without a result or a finding.
 */
#include "clock/clock.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static WsLaunchValues *small_launch(const WsProgram *p, WsFindings *findings)
{
    g_autofree WsSize *sizes = g_new0(WsSize, p->n_vars + 1);
    guint n = 0;
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_SIZE)
            sizes[n++] = (WsSize){ p->var[i].name, CLAMP(p->var[i].preset, 0, 700) };
    return ws_launch_values(p, sizes, n, FALSE, findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static WsMachine *machine;
    if (!machine)
        machine = ws_machine_load(NULL, NULL);
    g_autofree char *copy = g_memdup2(data, size);
    g_autoptr(WsFindings) findings = ws_findings_new();
    g_autoptr(WsDesign) design = ws_design_parse(copy ? copy : "", size, "x", findings);
    g_autoptr(WsProgram) p = design ? ws_elaborate(design, NULL, 0, findings) : NULL;
    if (!p)
        return 0;
    g_autoptr(WsFindings) own = ws_findings_new();
    g_autoptr(WsLaunchValues) v = small_launch(p, own);
    if (v) {
        const WsClockOptions options = { .max_steps = 20000, .gains = size % 4 == 0 };
        g_autoptr(WsClockResult) r = ws_clock_run(p, v, machine, &options, own);
        if (r) {
            g_autofree char *text = ws_clock_result_text(r, p);
            if (r->cycles < 0 || !*text)
                abort();
        } else if (own->list->len == 0) {
            abort();
        }
    } else if (own->list->len == 0) {
        abort();
    }
    return 0;
}
