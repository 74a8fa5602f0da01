#include "ui/document/document_names.h"

#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* A step has several operations where it is also an arrival: the one that has words is its own. */
static const WsOp *op_of(const WsProgram *p, const char *step)
{
    const WsOp *found = NULL;
    for (guint i = 0; p && step && i < p->n_ops; i++)
        if (!g_strcmp0(p->op[i]->step, step) && (!found || (!found->label && p->op[i]->label)))
            found = p->op[i];
    return found;
}

char *ws_label_of_step(const WsProgram *p, const char *step)
{
    const WsOp *op = op_of(p, step);
    return g_strdup(!op ? step : op->label ? op->label : ws_op_kind_text(op->kind));
}

char *ws_name_of_step(const WsProgram *p, const char *step)
{
    g_autofree char *words = ws_label_of_step(p, step);
    if (!words || !g_str_has_prefix(step, "groups/"))
        return g_steal_pointer(&words);
    const char *group = step + strlen("groups/");
    return g_strdup_printf("%s, %.*s", words, (int)strcspn(group, "/"), group);
}
