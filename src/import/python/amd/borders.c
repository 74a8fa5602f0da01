#include "import/python/amd/amd.h"
#include "model/design.h"
#include "model/findings.h"
#include "program/elaborate.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"

#include <string.h>

/* Borders of the design that was read, compared with what Triton's lowering makes of them: a border
 * that waits for reads of shared memory where the compiler's does not would prove too much. */

static const WsTree *loop_of(const WsOp *op)
{
    const WsTree *t = op->tree;
    while (t && t->kind != WS_TREE_LOOP)
        t = t->parent;
    return t;
}

static gboolean is_inside(const WsOp *op, const WsTree *loop)
{
    const WsTree *t = op->tree;
    while (t && t != loop)
        t = t->parent;
    return t != NULL;
}

/* Reads or writes of shared memory that no border has waited for since: those of the round, and of
 * the end of the one before. Stages begin with a barrier that waits. */
static gboolean has_pending(const WsProgram *program, const WsOp *border)
{
    const WsTree *loop = loop_of(border);
    g_autoptr(GPtrArray) round = g_ptr_array_new();
    guint own = 0;
    for (guint i = 0; i < program->n_ops; i++) {
        WsOp *op = program->op[i];
        if (op->agent != border->agent || (loop && !is_inside(op, loop)))
            continue;
        own = op == border ? round->len : own;
        g_ptr_array_add(round, op);
    }
    for (guint k = 1; k < round->len; k++) {
        const WsOp *op = round->pdata[(own + round->len - k) % round->len];
        if (op->border == WS_BORDER_LOCAL)
            return FALSE;
        if (op->engine == WS_ENGINE_NONE && op->n_access > 0)
            return TRUE;
    }
    return FALSE;
}

GArray *py_amd_weak_borders(const WsDesign *design)
{
    g_autoptr(WsFindings) findings = ws_findings_new();
    WsProgram *program = ws_elaborate(design, NULL, 0, findings);
    GArray *lines = NULL;
    for (guint i = 0; program && i < program->n_ops; i++) {
        const WsOp *op = program->op[i];
        if (op->border != WS_BORDER_LOCAL || op->lowered != WS_BORDER_PLAIN ||
            !has_pending(program, op))
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
