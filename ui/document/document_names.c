#include "ui/document/document_names.h"

#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

/* A step has several operations where something is derived of it ("expect full" of "load A -> a"),
 * or it is also an arrival: its own is the one that the author wrote, with words. */
static guint rank(const WsOp *op)
{
    return !op ? 0 : 1 + 2 * !op->derived + (op->label != NULL);
}

static const WsOp *op_of(const WsProgram *p, const char *step)
{
    const WsOp *found = NULL;
    for (guint i = 0; p && step && i < p->n_ops; i++)
        if (!g_strcmp0(p->op[i]->step, step) && rank(p->op[i]) > rank(found))
            found = p->op[i];
    return found;
}

char *ws_label_of_step(const WsProgram *p, const char *step)
{
    const WsOp *op = op_of(p, step);
    return g_strdup(!op ? step : op->label ? op->label : ws_op_kind_text(op->kind));
}

/* A field of a step ("…/body/0/use") is the step's; what lies in none stays as it is. */
static char *step_with(const WsProgram *p, const char *place)
{
    if (op_of(p, place))
        return g_strdup(place);
    for (g_autofree char *at = g_strdup(place); strstr(at, "/body/");) {
        if (op_of(p, at))
            return g_steal_pointer(&at);
        *strrchr(at, '/') = '\0';
    }
    return NULL;
}

char *ws_name_of_step(const WsProgram *p, const char *step)
{
    g_autofree char *at = step ? step_with(p, step) : NULL;
    if (!at || !g_str_has_prefix(at, "groups/"))
        return g_strdup(step);
    g_autofree char *words = ws_label_of_step(p, at);
    const char *group = at + strlen("groups/");
    return g_strdup_printf("%s, %.*s", words, (int)strcspn(group, "/"), group);
}

gboolean ws_nothing_happens(const WsProgram *p)
{
    for (guint i = 0; p && i < p->n_ops; i++)
        if (p->op[i]->step && p->op[i]->agent >= 0)
            return FALSE;
    return p != NULL;
}
