/* Inputs that other devices get: the kernel of a device does not end, so that what comes behind it
 * overwrites them, before all that is got from it has come. Behind the gets of a group stands a
 * notify that says of their buffers that they have `got`, which its CTA's proof takes for a read of
 * all of them; and somebody of every device awaits all such notifies before its kernel ends. */
#include "check/mesh/order.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tree.h"
#include "program/program.h"

gboolean ws_mesh_is_got(const WsMeshCheck *M, gint tensor)
{
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_gets(s->op->kind) && s->op->tensor == tensor && s->reach != WS_MESH_OWN)
            return TRUE;
    }
    return FALSE;
}

static gboolean has_got(const WsMeshSite *notify, const WsMeshSite *get)
{
    for (guint i = 0; i < notify->op->n_access; i++)
        if (notify->op->access[i].buffer == get->op->access[0].buffer)
            return TRUE;
    return FALSE;
}

/* It stands behind all executions of the get in its CTA, once, or once for each device. */
static gboolean behind(const WsMeshSite *notify, const WsMeshSite *get)
{
    for (guint i = 0; i < notify->n_loops; i++)
        for (guint k = 0; k < get->n_loops; k++)
            if (notify->loop[i] == get->loop[k])
                return FALSE;
    const gboolean each = notify->n_loops == 1 && notify->plain && notify->device_var >= 0 &&
                          notify->loop[0]->over == WS_OVER_COUNT;
    return notify->agent == get->agent && notify->op->index > get->op->index &&
           !notify->conditional && (notify->n_loops == 0 || each);
}

static gboolean tells(const WsMeshSite *notify, const WsMeshSite *get)
{
    return notify->of_all || notify->device_var >= 0 || ws_poly_equal(notify->device, get->device);
}

/* Of the awaits of a flag: one lets the kernel end only when all has been notified; else one that
 * asks for less, one that orders nothing. */
typedef struct {
    gboolean full, open;
    const WsMeshSite *part, *weak;
} Exits;

static Exits exits_of(WsMeshCheck *M, gint flag, const WsMeshSite *get)
{
    Exits x = { 0 };
    WsPoly all = ws_mesh_per_launch(M, flag);
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_awaits(s->op->kind) || s->op->peer->flag != flag)
            continue;
        if (ws_mesh_weak(s))
            x.weak = s;
        else if (!s->conditional && ws_mesh_awaits_all(M, s) && ws_poly_equal(s->amount, all))
            x.full = TRUE;
        else if (ws_mesh_below_at(M, get, s->amount, all))
            x.part = s;
        else
            x.open = TRUE;
    }
    return x;
}

static void remedy(WsFinding *f)
{
    ws_finding_set_remedy(
        f,
        "After all gets of the group say { \"notify\": …, \"device\": \"all\", \"got\": [ … ] }, "
        "and await all that a launch adds to the flag before the kernel ends.");
}

/* `notify` is all that tells of the get. */
static void told_by(WsMeshCheck *M, const WsMeshSite *get, const WsMeshSite *notify)
{
    const char *tensor = M->p->tensor[get->op->tensor].name;
    if (!has_got(notify, get)) {
        ws_mesh_open(M, get->op,
                     "it was not shown that what it gets has come before %s: name its buffer in "
                     "`got` there",
                     notify->op->label);
        return;
    }
    const Exits x = exits_of(M, notify->op->peer->flag, get);
    if (x.full)
        return;
    if (x.open || !ws_mesh_executed(M, get) || get->reach != WS_MESH_ELSEWHERE) {
        ws_mesh_open(M, get->op,
                     "it was not shown that the kernel of a device ends only when all that is got "
                     "from its %s has come: the form that is known is an await of all that a "
                     "launch adds to the flag, outside of the tiles",
                     tensor);
        return;
    }
    if (!x.part && x.weak) {
        ws_mesh_say_weak(M, x.weak->op);
        return;
    }
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, x.part ? x.part->op : get->op, WS_HARM_CORRUPTION,
        x.part ? "%s asks for less than a launch adds: the kernel of a device can end, and its %s "
                 "be overwritten, before another device has read it"
               : "%s is never awaited: the kernel of a device can end, and its %s be overwritten, "
                 "before another device has read it",
        x.part ? x.part->op->label : ws_mesh_flag(M, notify->op), tensor);
    remedy(f);
}

void ws_mesh_kept(WsMeshCheck *M, const WsMeshSite *get)
{
    const WsMeshSite *best = NULL, *weak = NULL;
    gboolean perhaps = FALSE;
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_notifies(s->op->kind))
            continue;
        const gboolean fits = behind(s, get) && tells(s, get);
        if (ws_mesh_weak(s))
            weak = fits ? s : weak;
        else if (fits && (!best || has_got(s, get)))
            best = s;
        else if (s->agent == get->agent
                     ? ws_mesh_may_precede(get->op, s->op)
                     : (ws_mesh_behind(M->p, s->op) >> (get->agent & 63) & 1) != 0)
            perhaps = TRUE;
    }
    if (best) {
        told_by(M, get, best);
        return;
    }
    if (perhaps || !ws_mesh_executed(M, get) || get->reach != WS_MESH_ELSEWHERE) {
        ws_mesh_open(M, get->op,
                     "it was not shown that the device is notified once this has come: the form "
                     "that is known is a notify with `got` in this group, after all of its gets");
        return;
    }
    if (weak) {
        ws_mesh_say_weak(M, weak->op);
        return;
    }
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, get->op, WS_HARM_CORRUPTION,
        "no notify says to the device that %s has come: its kernel can end, and its %s be overwritten, "
        "before that",
        get->op->label, M->p->tensor[get->op->tensor].name);
    remedy(f);
}
