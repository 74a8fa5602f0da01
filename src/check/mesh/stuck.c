/* Awaits end. A flag needs another one where one of its notifies may come behind an await of that
 * one; flags that need each other in no circle are all given, one after the other: all CTAs of all
 * devices run, and a CTA whose awaits end does not stand still (that is what its own proof shows).
 */
#include "check/mesh/mesh.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tiles.h"
#include "program/parts/tree.h"
#include "program/program.h"

/* Agents that feed the barrier of a wait. */
static guint64 feeders(const WsProgram *p, const WsOp *wait)
{
    guint64 agents = 0;
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent < 0 || op->agent >= 64)
            continue;
        if (ws_op_row(wait->kind)->waits == WS_WAITS_CLUSTER ||
            (op->barrier == wait->barrier && !ws_op_waits_phase(op->kind)))
            agents |= (guint64)1 << op->agent;
    }
    return agents;
}

/* Agents that what `agent` does may wait for: before `op`, or with NULL anywhere. */
static guint64 waited_for(const WsProgram *p, guint agent, const WsOp *op)
{
    guint64 agents = 0;
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->agent == (gint)agent && ws_op_waits_for_agents(p->op[i]->kind) &&
            (!op || ws_mesh_may_precede(p->op[i], op)))
            agents |= feeders(p, p->op[i]);
    return agents;
}

guint64 ws_mesh_behind(const WsProgram *p, const WsOp *op)
{
    if (p->n_agents > 64)
        return ~(guint64)0;
    const guint64 own = (guint64)1 << op->agent;
    guint64 others = waited_for(p, (guint)op->agent, op) & ~own;
    for (guint64 before = 0; before != others;) {
        before = others;
        for (guint a = 0; a < p->n_agents && a < 64; a++)
            if (before >> a & 1)
                others |= waited_for(p, a, NULL) & ~own;
    }
    return others;
}

/* Flags that must have come before `notify` does. */
static guint needs(const WsMeshCheck *M, const WsMeshSite *notify)
{
    const guint64 others = ws_mesh_behind(M->p, notify->op);
    guint flags = 0;
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_awaits(s->op->kind))
            continue;
        if (s->agent == notify->agent ? ws_mesh_may_precede(s->op, notify->op)
                                      : (others >> s->agent & 1) != 0)
            flags |= 1u << s->op->peer->flag;
    }
    return flags;
}

/* An await of the flag that stands in front of `notify`, whatever happens. */
static const WsMeshSite *await_before(WsMeshCheck *M, const WsMeshSite *notify, gboolean all)
{
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_awaits(s->op->kind) && s->agent == notify->agent &&
            s->op->peer->flag == notify->op->peer->flag && !s->conditional &&
            s->op->index < notify->op->index && (s->n_loops == 0 || ws_mesh_awaits_all(M, s)) &&
            ws_mesh_executed(M, s) &&
            (!all || ws_poly_equal(s->amount, ws_mesh_per_launch(M, s->op->peer->flag))))
            return s;
    }
    return NULL;
}

/* Nobody can be the first, or all are awaited by one of those who give them. */
static gboolean surely_stuck(WsMeshCheck *M, guint flag)
{
    const WsMeshSite *await = NULL, *of = NULL;
    gboolean each = TRUE;
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_notifies(s->op->kind) || s->op->peer->flag != (gint)flag)
            continue;
        const WsMeshSite *before = await_before(M, s, FALSE),
                         *full = ws_mesh_executed(M, s) ? await_before(M, s, TRUE) : NULL;
        each = each && before;
        if (full || (!await && before))
            await = full ? full : before, of = s;
        if (full)
            break;
    }
    if (!await || (!each && !(ws_mesh_executed(M, of) && await_before(M, of, TRUE))))
        return FALSE;
    WsFinding *f = ws_mesh_wrong(M, WS_RULE_P_MESH, await->op, WS_HARM_HANG,
                                 "%s never ends: %s, which it waits for, comes after it",
                                 await->op->label, of->op->label);
    ws_mesh_also(f, of->op);
    ws_finding_set_remedy(f, "Notify before the await.");
    return TRUE;
}

void ws_mesh_needs(WsMeshCheck *M)
{
    const guint n = M->p->mesh->n_flags;
    for (guint f = 0; f < n && M->p->n_agents > 64; f++)
        M->needs[f] = ~0u;
    if (M->p->n_agents > 64)
        return; /* ws_mesh_stuck leaves it open */
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (ws_op_notifies(s->op->kind))
            M->needs[s->op->peer->flag] |= needs(M, s);
    }
    for (guint by = 0; by < n; by++) /* and what those need */
        for (guint f = 0; f < n; f++)
            if (M->needs[f] >> by & 1)
                M->needs[f] |= M->needs[by];
}

static void circles(WsMeshCheck *M)
{
    const guint n = M->p->mesh->n_flags;
    guint given = 0;
    for (guint before = 1; before != given;) {
        before = given;
        for (guint f = 0; f < n; f++)
            if (!(M->needs[f] & ~given))
                given |= 1u << f;
    }
    for (guint f = 0; f < n; f++)
        if (!(given >> f & 1) && !surely_stuck(M, f))
            ws_mesh_open(M, NULL,
                         "a notify of %s may come after an await that waits for it: it was not "
                         "shown that one of "
                         "them is first",
                         M->p->mesh->flag[f].name);
}

/* CTAs of one launch that a GPU of the target holds at once, at most: SMs of the largest one, times
 * what threads and shared memory leave room for (CUDA C++ Programming Guide, compute capabilities:
 * 32 CTAs and 2048 threads an SM, 228 KiB). */
static gint64 most_resident(const WsProgram *p)
{
    const guint64 by_threads = 2048 / MAX(p->threads, 1),
                  by_bytes = 233472 / MAX(p->shared_bytes, 1);
    return 144 * (gint64)MIN(32, MIN(by_threads, by_bytes));
}

/* A CTA for each tile: those that wait keep the SMs that others need to begin. */
static void resident(WsMeshCheck *M)
{
    const WsTiles *tiles = M->p->tiles;
    WsPoly n = ws_poly_int(M->g.ps, 1);
    gint64 known;
    if (tiles->launch != WS_LAUNCH_SINGLE)
        return;
    for (guint a = 0; a < tiles->n_axes; a++)
        n = ws_poly_mul(M->g.ps, n, ws_terms_of(&M->g.terms, tiles->axis[a].extent));
    for (guint i = 0; i < M->site->len; i++) {
        const WsMeshSite *s = M->site->pdata[i];
        if (!ws_op_awaits(s->op->kind))
            continue;
        const WsFlag *f = &M->p->mesh->flag[s->op->peer->flag];
        const gboolean of_all_ctas =
            !s->conditional && s->plain && !f->is_array && ws_mesh_executed(M, s) &&
            M->counted[s->op->peer->flag] &&
            ws_poly_equal(s->amount, ws_mesh_per_launch(M, s->op->peer->flag));
        if (!of_all_ctas || !ws_mesh_number(M, n, FALSE, &known) || known <= most_resident(M->p)) {
            ws_mesh_open(M, s->op,
                         "it was not shown that all CTAs that it waits for are resident, with a "
                         "CTA for each "
                         "tile");
            continue;
        }
        WsFinding *w = ws_mesh_wrong(
            M, WS_RULE_P_MESH, s->op, WS_HARM_HANG,
            "%s waits for every CTA of the launch, and with a CTA for each tile they are not "
            "all resident: those that wait keep the SMs that the others need",
            s->op->label);
        ws_finding_set_remedy(
            w, "Use \"launch\": \"persistent\" with a `grid` of CTAs that are all resident.");
    }
}

void ws_mesh_stuck(WsMeshCheck *M)
{
    if (M->p->n_agents > 64) {
        ws_mesh_open(M, NULL, "more than 64 agents");
        return;
    }
    circles(M);
    resident(M);
}
