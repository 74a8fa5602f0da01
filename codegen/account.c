#include "codegen/account.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"

WsAccount ws_account_new(const WsProgram *p)
{
    return (WsAccount){ p, g_new0(const char *, p->n_ops + 1) };
}

void ws_account_clear(WsAccount *a)
{
    g_clear_pointer(&a->how, g_free);
}

void ws_account_written(WsAccount *a, const WsOp *op)
{
    a->how[op->index] = "written";
}

void ws_account_implied(WsAccount *a, const WsOp *op, const char *how)
{
    if (!a->how[op->index])
        a->how[op->index] = how;
}

void ws_account_never(WsAccount *a, const WsTree *t)
{
    if (!t)
        return;
    if (t->op)
        ws_account_implied(a, t->op, "never");
    for (guint i = 0; i < t->n_kids; i++)
        ws_account_never(a, t->kid[i]);
}

const WsOp *ws_account_missing(const WsAccount *a)
{
    for (guint i = 0; i < a->p->n_ops; i++) {
        if (!a->how[i])
            return a->p->op[i];
    }
    return NULL;
}
