/* Which moves of a run show a finding: for an operation that comes too early or meets another only
 * what it needs (so everything else is held back), for a hang or a rest the whole run. */
#include "check/witness/witness_private.h"
#include "program/program.h"

#include <string.h>

typedef struct {
    const WsReplay *m;
    const WsReported *r;
    WsPlan *plan;
    guint8 *mark;
    GArray *last; /* WsPlanMove after the marked ones */
    gint event, node;
    const WsReplayEvent *e;
} Planning;

static const WsLogNode *log_node(const Planning *P, guint i)
{
    return &g_array_index(P->m->log, WsLogNode, i);
}

/* Marks what an agent did before an event, and all that needed. */
static void need_before(Planning *P, guint agent, guint event)
{
    for (guint i = P->m->log->len; i-- > 0;) {
        const WsLogNode *n = log_node(P, i);
        if (n->kind != WS_NODE_MOVE || n->agent != agent || n->event >= event)
            continue;
        ws_order_need(P->m, P->mark, i);
        return;
    }
}

static void need_completion(Planning *P, const GArray *completed, gint64 k)
{
    if (k >= 0 && k < completed->len)
        ws_order_need(P->m, P->mark, g_array_index(completed, guint, k));
}

static void need_all(Planning *P)
{
    memset(P->mark, 1, P->m->log->len);
}

static void finally(Planning *P, guint agent, guint event, gboolean collide)
{
    WsPlanMove move = { .agent = agent, .event = event, .collide = collide };
    g_array_append_val(P->last, move);
}

static void finally_land(Planning *P)
{
    for (guint i = 0; i < P->e->n_transfers; i++) {
        WsPlanMove move = { .land = TRUE,
                            .agent = P->r->inst,
                            .event = (guint)P->event,
                            .transfer = P->e->first_transfer + i };
        g_array_append_val(P->last, move);
    }
}

static void finally_self(Planning *P, gboolean collide)
{
    if (P->node < 0 || !P->mark[P->node])
        finally(P, P->r->inst, (guint)P->event, collide);
}

/* --- one way for each kind of finding --------------------------------------------------------- */
static gboolean lasts(const WsReplayEvent *e)
{
    return e->n_transfers > 0 || (ws_op_flies(e->op->kind) && ws_op_queue(e->op->kind) >= 0);
}

/* Both begin before either is over; nothing that follows the end of the first has happened. */
static gboolean collision(Planning *P)
{
    const WsReported *r = P->r;
    if (!r->other)
        return FALSE;
    gint at = ws_replay_find(P->m, r->other_inst, r->other, r->n_other, r->other_round);
    gint node = at < 0 ? -1 : ws_order_find(P->m, r->other_inst, (guint)at);
    if (node < 0)
        return FALSE;
    const WsReplayEvent *x =
        &g_array_index(P->m->agent[r->other_inst].event, WsReplayEvent, (guint)at);
    P->plan->end = WS_END_COLLISION;
    need_before(P, r->inst, (guint)P->event);
    if (lasts(x)) {
        ws_order_need(P->m, P->mark, (guint)node);
        P->plan->other_agent = (gint)r->other_inst, P->plan->other_event = at;
    } else {
        need_before(P, r->other_inst, (guint)at);
        if (!P->mark[node])
            finally(P, r->other_inst, (guint)at, TRUE);
    }
    finally_self(P, TRUE);
    return TRUE;
}

/* The completion that the operation met in the whole run. */
static gint64 met(const Planning *P)
{
    if (P->e->n_transfers) {
        gint landing = ws_order_find_landing(P->m, P->e->first_transfer);
        return landing < 0 ? G_MININT64 : log_node(P, (guint)landing)->met;
    }
    return P->node < 0 ? G_MININT64 : log_node(P, (guint)P->node)->met;
}

static gboolean too_early(Planning *P)
{
    if (!P->e->n_slots)
        return FALSE;
    gint64 now = met(P), means = P->e->turn != G_MININT64 ? P->e->turn : now;
    if (means == G_MININT64)
        return FALSE;
    P->plan->end = WS_END_PHASE;
    P->plan->means = means;
    need_before(P, P->r->inst, (guint)P->event);
    for (guint i = 0; i < P->e->n_slots; i++) {
        const GArray *completed = P->m->slot[P->e->slot[i]].completed;
        gboolean wait = P->e->op->kind == WS_OP_MBAR_WAIT;
        if (now != means)
            need_completion(P, completed, wait ? now : now - 1);
        else if (wait)
            need_completion(P, completed, means - 2);
    }
    finally_self(P, FALSE);
    finally_land(P);
    return TRUE;
}

/* The waiter stands still before its wait until the barrier has gone two phases on. */
static gboolean lapped(Planning *P)
{
    gint64 now = met(P);
    if (P->e->op->kind != WS_OP_MBAR_WAIT || now == G_MININT64)
        return FALSE;
    if (P->e->turn != G_MININT64 && P->e->turn != now)
        return too_early(P);
    P->plan->end = WS_END_PHASE;
    P->plan->lapped = TRUE;
    P->plan->means = now;
    need_before(P, P->r->inst, (guint)P->event);
    need_completion(P, P->m->slot[P->e->slot[0]].completed, now + 1);
    return !P->mark[P->node];
}

/* Everything that came to the same barrier before it. */
static gboolean too_many(Planning *P)
{
    P->plan->end = WS_END_COUNT;
    need_before(P, P->r->inst, (guint)P->event);
    guint end = P->m->log->len;
    gint landing = P->e->n_transfers ? ws_order_find_landing(P->m, P->e->first_transfer) : -1;
    if (landing >= 0)
        end = (guint)landing;
    else if (P->node >= 0)
        end = (guint)P->node;
    for (guint i = 0; i < end; i++) {
        const WsLogNode *n = log_node(P, i);
        if (n->kind == WS_NODE_COMPLETION)
            continue;
        const WsReplayEvent *x =
            &g_array_index(P->m->agent[n->agent].event, WsReplayEvent, n->event);
        gboolean same = x->named >= 0 && x->named == P->e->named && !n->pass;
        for (guint k = 0; k < x->n_slots && x->op->kind != WS_OP_MBAR_WAIT; k++)
            for (guint j = 0; j < P->e->n_slots; j++)
                same |= x->slot[k] == P->e->slot[j];
        if (same && (n->kind == WS_NODE_LAND || x->n_transfers == 0))
            ws_order_need(P->m, P->mark, i);
    }
    finally_self(P, FALSE);
    finally_land(P);
    return TRUE;
}

static gboolean wrong_generation(Planning *P)
{
    if (P->e->named < 0 || P->node < 0)
        return FALSE;
    P->plan->end = WS_END_PHASE;
    P->plan->means = log_node(P, (guint)P->node)->met;
    need_before(P, P->r->inst, (guint)P->event);
    finally_self(P, FALSE);
    return TRUE;
}

/* All agents end, and what is in flight stays there. */
static gboolean left_over(Planning *P)
{
    P->plan->end = WS_END_LEFT;
    need_all(P);
    for (guint i = 0; i < P->e->n_transfers; i++) {
        gint landing = ws_order_find_landing(P->m, P->e->first_transfer + i);
        if (landing >= 0)
            P->mark[landing] = 0;
    }
    for (guint i = 0; i < P->m->log->len; i++) /* and nothing that came after it */
        for (guint k = 0; k < log_node(P, i)->after->len; k++)
            P->mark[i] &= P->mark[g_array_index(log_node(P, i)->after, guint, k)];
    return TRUE;
}

/* The CTA that a copy reads from ends while it is on its way. */
static gboolean sender_ends(Planning *P)
{
    const guint own = P->m->p->n_agents, rank = P->r->inst / own;
    if (P->e->op->kind != WS_OP_BULK_COPY || P->node < 0)
        return FALSE;
    P->plan->end = WS_END_LEFT;
    P->plan->sender = TRUE;
    for (guint a = rank * own; a < (rank + 1) * own; a++)
        need_before(P, a, G_MAXUINT);
    for (guint i = 0; i < P->e->n_transfers; i++) {
        gint landing = ws_order_find_landing(P->m, P->e->first_transfer + i);
        if (landing >= 0 && P->mark[landing])
            return FALSE;
    }
    return P->mark[P->node];
}

/* A whole CTA ends before the operation reaches it. */
static gboolean dead_peer(Planning *P)
{
    guint own = P->m->p->n_agents;
    P->plan->end = WS_END_STEP;
    if (P->e->op->kind == WS_OP_CLUSTER_WAIT) /* without an arrival: it reaches nobody */
        return FALSE;
    for (guint r = 0; r < P->m->ranks; r++) {
        if (r == P->r->inst / own)
            continue;
        memset(P->mark, 0, P->m->log->len);
        for (guint a = r * own; a < (r + 1) * own; a++)
            need_before(P, a, G_MAXUINT);
        if (P->node < 0 || P->mark[P->node])
            continue;
        need_before(P, P->r->inst, (guint)P->event);
        finally_self(P, FALSE);
        return TRUE;
    }
    return FALSE;
}

static gboolean alone(Planning *P)
{
    P->plan->end = WS_END_STEP;
    need_before(P, P->r->inst, (guint)P->event);
    finally_self(P, FALSE);
    return TRUE;
}

static gboolean stands_still(Planning *P)
{
    P->plan->end = WS_END_HANG;
    need_all(P);
    return TRUE;
}

static gboolean bytes_wrong(Planning *P)
{
    if (P->e->op->kind == WS_OP_MBAR_WAIT)
        return stands_still(P);
    if (P->e->n_transfers && P->e->turn != G_MININT64 && met(P) != P->e->turn)
        return too_many(P);
    return left_over(P);
}

typedef gboolean (*Way)(Planning *P);
static const struct {
    WsRuleId rule;
    Way way[2];
} ways[] = {
    { WS_RULE_P_DEADLOCK, { stands_still } },
    { WS_RULE_P_RACE, { collision, alone } },
    { WS_RULE_P_ASYNC, { collision, alone } },
    { WS_RULE_P_EARLY, { too_early, too_many } },
    { WS_RULE_P_ABA, { lapped } },
    { WS_RULE_P_COUNT, { too_many } },
    { WS_RULE_P_TX, { bytes_wrong, stands_still } },
    { WS_RULE_P_NAMED, { wrong_generation, too_many } },
    { WS_RULE_P_EXIT, { left_over, sender_ends } },
    { WS_RULE_P_CLUSTER, { dead_peer, alone } },
};

/* --- the plan --------------------------------------------------------------------------------- */
static gboolean whole_run(Planning *P)
{
    guint n = P->node < 0 ? P->m->log->len : (guint)P->node + 1;
    P->plan->end = P->node < 0 ? WS_END_HANG : WS_END_STEP;
    for (guint i = 0; i < n; i++)
        P->mark[i] = 1;
    return TRUE;
}

static Way way_of(WsRuleId rule, guint attempt)
{
    for (guint i = 0; i < G_N_ELEMENTS(ways); i++)
        if (ways[i].rule == rule)
            return attempt < 2 ? ways[i].way[attempt] : NULL;
    return attempt == 0 ? alone : NULL;
}

static void list_moves(Planning *P)
{
    for (guint i = 0; i < P->m->log->len; i++) {
        const WsLogNode *n = log_node(P, i);
        if (!P->mark[i] || n->kind == WS_NODE_COMPLETION)
            continue;
        WsPlanMove move = { .land = n->kind == WS_NODE_LAND,
                            .agent = n->agent,
                            .event = n->event,
                            .transfer = n->transfer,
                            .pass = n->pass };
        move.collide = P->plan->end == WS_END_COLLISION && !move.land && !move.pass &&
                       (gint)n->agent == P->plan->other_agent &&
                       (gint)n->event == P->plan->other_event;
        g_array_append_val(P->plan->move, move);
    }
    g_array_append_vals(P->plan->move, P->last->data, P->last->len);
}

WsPlan *ws_plan_new(const WsReplay *m, const WsReported *r, guint attempt)
{
    if (attempt > 2)
        return NULL;
    Planning P = { .m = m, .r = r, .node = -1 };
    P.event = ws_replay_find(m, r->inst, r->op, r->n_rounds, r->round);
    if (P.event < 0)
        return NULL;
    P.node = ws_order_find(m, r->inst, (guint)P.event);
    P.e = &g_array_index(m->agent[r->inst].event, WsReplayEvent, (guint)P.event);
    P.plan = g_new0(WsPlan, 1);
    P.plan->move = g_array_new(FALSE, TRUE, sizeof(WsPlanMove));
    P.plan->agent = r->inst, P.plan->event = (guint)P.event;
    P.plan->other_agent = P.plan->other_event = -1;
    P.plan->means = G_MININT64;
    P.mark = g_new0(guint8, m->log->len + 1);
    P.last = g_array_new(FALSE, TRUE, sizeof(WsPlanMove));
    Way way = attempt < 2 ? way_of(r->rule, attempt) : whole_run;
    if (way && way(&P))
        list_moves(&P);
    else
        g_array_set_size(P.plan->move, 0), P.plan->agent = G_MAXUINT;
    g_free(P.mark);
    g_array_unref(P.last);
    return P.plan;
}

void ws_plan_free(WsPlan *plan)
{
    if (!plan)
        return;
    g_array_unref(plan->move);
    g_free(plan);
}
