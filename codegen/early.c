#include "codegen/early.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

gboolean ws_launch_begins_early(const WsProgram *p)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (ws_op_row(p->op[i]->kind)->waits == WS_WAITS_KERNEL)
            return TRUE;
    return FALSE;
}
