/* Notifies and awaits that order nothing, where order is needed. */
#include "check/mesh/order.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

/* A relaxed notify or await, or one of this device alone, where order is needed. */
void ws_mesh_say_weak(WsMeshCheck *M, const WsOp *op)
{
    const gboolean notify = ws_op_notifies(op->kind);
    if (op->peer->relaxed) {
        WsFinding *f = ws_mesh_wrong(
            M, WS_RULE_P_PEER, op, WS_HARM_CORRUPTION,
            notify ? "%s is relaxed: who awaits it does not get what this device did before"
                   : "%s is relaxed: what other devices did before they notified it need not be "
                     "seen after it",
            op->label);
        ws_finding_set_remedy(f,
                              notify ? "Notify with order release." : "Await with order acquire.");
    }
    if (op->peer->gpu) {
        WsFinding *f = ws_mesh_wrong(M, WS_RULE_P_PEER, op, WS_HARM_CORRUPTION,
                                     "the scope of %s is this device, and other devices take part: "
                                     "it does not order what they do",
                                     op->label);
        ws_finding_set_remedy(f, "Give it scope sys.");
    }
}

/* The notify that makes a flag order nothing: all of them are weak. NULL: not so. */
static const WsMeshSite *weak_notify(const WsMeshCheck *M, gint flag)
{
    const WsMeshSite *weak = NULL;
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_notifies(s->op->kind) || s->op->peer->flag != flag)
            continue;
        if (!ws_mesh_weak(s))
            return NULL;
        weak = s;
    }
    return weak;
}

/* There is an await of the flag (-1: of any) that may come before `op`: in another group that this
 * one waits for, or in front of it. One that orders leaves it open; one that does not is what is
 * wrong. */
gboolean ws_mesh_ordered_somehow(WsMeshCheck *M, const WsOp *op, gint flag, const char *open)
{
    const WsOp *weak = NULL;
    const guint64 others = ws_mesh_behind(M->p, op);
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_awaits(s->op->kind) || (flag >= 0 && s->op->peer->flag != flag) ||
            (s->agent == (guint)op->agent ? s->op->index > op->index
                                          : !(others >> (s->agent & 63) & 1)))
            continue;
        const WsMeshSite *notify = weak_notify(M, s->op->peer->flag);
        if (!ws_mesh_weak(s) && !notify) {
            ws_mesh_open(M, op, "%s", open);
            return TRUE;
        }
        weak = ws_mesh_weak(s) ? s->op : notify->op;
    }
    if (weak)
        ws_mesh_say_weak(M, weak);
    return weak != NULL;
}
