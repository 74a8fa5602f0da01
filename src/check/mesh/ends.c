/* What must be so once all paths are known. */
#include "check/mesh/order.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/program.h"

/* There is a notify that may come behind the put. `weak`: one that orders nothing. */
static gboolean notified_somehow(const WsMeshCheck *M, const WsOp *put, const WsOp **weak)
{
    gboolean proper = FALSE;
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_notifies(s->op->kind) || !ws_mesh_may_precede(put, s->op))
            continue;
        if (ws_mesh_weak(s))
            *weak = s->op;
        else
            proper = TRUE;
    }
    return proper;
}

void ws_mesh_unnotified(WsMeshCheck *M, const WsMeshPut *put, gboolean some, const char *agent)
{
    const WsOp *op = put->put->op, *weak = NULL;
    if (put->notify->len > 0 || some || notified_somehow(M, op, &weak) ||
        put->put->reach != WS_MESH_ELSEWHERE) {
        ws_mesh_open(M, op,
                     "it was not shown that on every path from %s to the end of %s its device is "
                     "notified",
                     op->label, agent);
        return;
    }
    if (weak) {
        ws_mesh_say_weak(M, weak);
        return;
    }
    WsFinding *f = ws_mesh_wrong(M, WS_RULE_P_PEER, op, WS_HARM_CORRUPTION,
                                 "%s is never notified: its device cannot know when it is complete",
                                 op->label);
    ws_finding_set_remedy(f, "Wait for it in full, and notify a flag of the same `device`.");
}

/* The await lets go once a launch has added all that it adds. */
static gboolean of_all(WsMeshCheck *M, const WsMeshSite *await)
{
    return ws_poly_equal(await->amount, ws_mesh_per_launch(M, await->op->peer->flag));
}

/* A notify of the flag may come behind the put. */
static gboolean notified_behind(const WsMeshCheck *M, const WsOp *put, gint flag)
{
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_notifies(s->op->kind) && s->op->peer->flag == flag &&
            ws_mesh_may_precede(put, s->op))
            return TRUE;
    }
    return FALSE;
}

void ws_mesh_awaited(WsMeshCheck *M, const WsMeshPut *put, const WsMeshSite *notify)
{
    const WsMeshSite *part = NULL, *weak = NULL;
    const gint flag = notify->op->peer->flag;
    WsPoly all = ws_mesh_per_launch(M, flag);
    const char *tensor = M->p->tensor[put->put->op->tensor].name;
    /* on some paths another one tells; it need not be told; it may never be made */
    gboolean open = put->notify->len > 1 || put->put->reach != WS_MESH_ELSEWHERE ||
                    !ws_mesh_executed(M, put->put);
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_awaits(s->op->kind))
            continue;
        if (s->op->peer->flag != flag) /* it may tell of the put by a notify behind it */
            open |= !ws_mesh_weak(s) && notified_behind(M, put->put->op, s->op->peer->flag);
        else if (ws_mesh_weak(s))
            weak = s;
        else if (!s->conditional && ws_mesh_awaits_all(M, s) && ws_poly_equal(s->amount, all))
            return;
        else if (ws_mesh_below_at(M, put->put, s->amount, all))
            part = s;
        else
            open = TRUE;
    }
    if (open) {
        ws_mesh_open(
            M, put->put->op,
            "it was not shown that the kernel of a device ends only when all is put into its %s: "
            "the form "
            "that is known is an await of all that a launch adds to the flag, outside of the tiles",
            tensor);
        return;
    }
    if (!part && weak) {
        ws_mesh_say_weak(M, weak->op);
        return;
    }
    const WsOp *at = part ? part->op : put->put->op;
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, at, WS_HARM_CORRUPTION,
        part ? "%s asks for less than a launch adds: the kernel of a device can end before all is "
               "put into its %s"
             : "%s is never awaited: the kernel of a device can end before all is put into its %s",
        part ? part->op->label : ws_mesh_flag(M, notify->op), tensor);
    ws_finding_set_remedy(f, "Await all that a launch adds to %s, before the group ends.",
                          ws_mesh_flag(M, notify->op));
}

/* Where the boxes of a put and a load meet, the notify and the await are of one element: along some
 * dimension both begin at a multiple of the element, and are no longer than that. */
static gboolean same_element(WsMeshCheck *M, const WsMeshSite *put, const WsMeshSite *notify,
                             const WsMeshSite *load, const WsMeshSite *await)
{
    const WsFlag *f = &M->p->mesh->flag[await->op->peer->flag];
    WsPolys *ps = M->g.ps;
    if (ws_poly_equal(ws_terms_of(&M->g.terms, f->array), ws_poly_int(ps, 1)))
        return TRUE;
    for (guint d = 0; d < load->op->n_coord && d < put->op->n_coord; d++) {
        const gint64 of_load = ws_mesh_box(M->p, load->op, d),
                     of_put = ws_mesh_box(M->p, put->op, d);
        WsPoly wide = ws_poly_int(ps, MAX(of_load, of_put));
        if (ws_poly_equal(put->at[d], ws_poly_mul(ps, notify->element, wide)) &&
            ws_poly_equal(load->at[d], ws_poly_mul(ps, await->element, wide)))
            return TRUE;
    }
    return FALSE;
}

/* Awaits of the flag that may come before the load, and are not among those that surely do. */
static gboolean awaits_besides(const WsMeshCheck *M, const WsMeshLoad *load, gint flag)
{
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        gboolean known = FALSE;
        for (guint k = 0; k < load->n_known; k++)
            known |= load->known[k].await == s;
        if (ws_op_awaits(s->op->kind) && s->op->peer->flag == flag && !known && !ws_mesh_weak(s) &&
            (s->agent != load->load->agent || ws_mesh_may_precede(s->op, load->load->op)))
            return TRUE;
    }
    return FALSE;
}

static void no_fence(WsMeshCheck *M, const WsMeshLoad *load, const WsOp *await)
{
    WsFinding *f = ws_mesh_wrong(M, WS_RULE_P_PEER, load->load->op, WS_HARM_CORRUPTION,
                                 "no fence async_global stands between %s, which the async proxy "
                                 "makes, and the await of %s",
                                 load->load->op->label, ws_mesh_flag(M, await));
    ws_finding_set_remedy(f, "Add { \"fence\": \"async_global\" } after the await.");
}

/* An await of another flag, which a notify behind the put adds to, may come before the load. */
static gboolean told_otherwise(const WsMeshCheck *M, const WsMeshLoad *load, const WsMeshPut *put)
{
    const gint flag = ((const WsMeshSite *)put->notify->pdata[0])->op->peer->flag;
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_awaits(s->op->kind) && s->op->peer->flag != flag && !ws_mesh_weak(s) &&
            ws_mesh_may_precede(s->op, load->load->op) &&
            notified_behind(M, put->put->op, s->op->peer->flag))
            return TRUE;
    }
    return FALSE;
}

/* It may read what is put into another device than its own. */
static gboolean reads_elsewhere(const WsMeshLoad *load)
{
    return ws_op_gets(load->load->op->kind) && load->load->reach != WS_MESH_OWN;
}

/* An await of all of the element that is notified, and a fence, are in front of the load; what it
 * gets from another device all devices are told of. */
static gboolean awaits_all_of(WsMeshCheck *M, const WsMeshLoad *load, const WsMeshPut *put)
{
    const WsMeshSite *notify = put->notify->pdata[0];
    if (reads_elsewhere(load) && !notify->of_all)
        return FALSE;
    for (guint i = 0; i < load->n_known; i++) {
        const WsMeshSite *await = load->known[i].await;
        if (await->op->peer->flag == notify->op->peer->flag && !ws_mesh_weak(await) &&
            of_all(M, await) && load->known[i].fenced &&
            same_element(M, put->put, notify, load->load, await))
            return TRUE;
    }
    return FALSE;
}

void ws_mesh_covered(WsMeshCheck *M, const WsMeshLoad *load, const WsMeshPut *put)
{
    const char *label = load->load->op->label;
    if (put->notify->len == 0)
        return; /* said of the put */
    if (put->late || put->notify->len != 1) {
        ws_mesh_open(M, put->put->op, "%s is notified in more than one place, and %s reads it",
                     put->put->op->label, label);
        return;
    }
    if (awaits_all_of(M, load, put))
        return;
    if (told_otherwise(M, load, put)) {
        ws_mesh_open(M, load->load->op, "several flags are notified after %s, and %s reads it",
                     put->put->op->label, label);
        return;
    }
    const gboolean elsewhere =
        put->put->reach == WS_MESH_ELSEWHERE ||
        (ws_op_gets(load->load->op->kind) && load->load->reach == WS_MESH_ELSEWHERE);
    if (reads_elsewhere(load) && !((const WsMeshSite *)put->notify->pdata[0])->of_all) {
        ws_mesh_open(M, load->load->op,
                     "it gets what is put into another device, and %s does not tell all devices",
                     ((const WsMeshSite *)put->notify->pdata[0])->op->label);
        return;
    }
    if (!elsewhere || !ws_mesh_executed(M, put->put) || !ws_mesh_executed(M, load->load)) {
        ws_mesh_open(
            M, load->load->op,
            "no await of all of %s with a fence stands in front of it, and it was not shown "
            "that it is executed, or that another device puts what it reads",
            ws_mesh_flag(M, ((const WsMeshSite *)put->notify->pdata[0])->op));
        return;
    }
    const WsMeshSite *notify = put->notify->pdata[0], *seen = NULL, *other = NULL;
    const WsOp *weak = NULL; /* an await that orders nothing, and no fence behind it */
    for (guint i = 0; i < load->n_known; i++) {
        const WsMeshSite *await = load->known[i].await;
        if (await->op->peer->flag != notify->op->peer->flag)
            continue;
        if (!same_element(M, put->put, notify, load->load, await)) {
            other = await;
            continue;
        }
        if (ws_mesh_weak(await)) {
            weak = load->known[i].fenced ? weak : await->op;
            continue;
        }
        if (!seen || of_all(M, await))
            seen = await;
    }
    const gint flag = notify->op->peer->flag;
    if (other && !seen) {
        ws_mesh_open(M, load->load->op,
                     "it was not shown that %s awaits the element that is notified after %s",
                     other->op->label, put->put->op->label);
        return;
    }
    if (!seen && ws_mesh_ordered_somehow(M, load->load->op, flag,
                                         "the await of what it reads stands in another group, or "
                                         "under a condition: that is not followed")) {
        if (weak)
            no_fence(M, load, weak);
        return;
    }
    if (seen && !of_all(M, seen) && !ws_mesh_below(M, seen->amount, ws_mesh_per_launch(M, flag))) {
        ws_mesh_open(M, seen->op, "it was not shown that this awaits all that a launch adds");
        return;
    }
    if (seen && awaits_besides(M, load, flag)) {
        ws_mesh_open(M, load->load->op, "several awaits of %s may order it",
                     ws_mesh_flag(M, notify->op));
        return;
    }
    if (seen && of_all(M, seen)) {
        no_fence(M, load, seen->op);
        return;
    }
    WsFinding *f = ws_mesh_wrong(
        M, WS_RULE_P_PEER, load->load->op, WS_HARM_CORRUPTION,
        seen ? "%s reads what devices put, and the await of %s in front of it lets go before all "
               "of it has come"
             : "%s reads what devices put, and no await of %s stands in front of it",
        label, ws_mesh_flag(M, notify->op));
    ws_finding_set_remedy(f, "Await all that a launch adds to the flag before it.");
}
