#include "import/python/amd/amd.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* Borders of the design that was read, compared with what Triton's lowering makes of them: a border
 * that waits for reads of shared memory where the compiler's does not would prove too much. */

GArray *py_amd_weak_borders(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(design, NULL, 0, findings);
    GArray *lines = NULL;
    for (guint i = 0; program && i < program->n_ops; i++) {
        const WsOp *op = program->op[i];
        if (op->border != WS_BORDER_LOCAL || op->lowered != WS_BORDER_PLAIN)
            continue;
        const WsNode *node = ws_design_find(design, op->step);
        guint line = 0, column;
        if (!node || !ws_import_place(node, &line, &column, NULL))
            line = 0;
        lines = lines ? lines : g_array_new(FALSE, FALSE, sizeof(guint));
        g_array_append_val(lines, line);
    }
    if (program)
        ws_program_unref(program);
    return lines;
}
