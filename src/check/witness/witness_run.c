/* A plan carried out move by move, the state kept at every position, and whether the end is the one
 * that was planned. */
#include "check/witness/witness_private.h"
#include "program/program.h"

#include <string.h>

/* --- carrying out a plan ---------------------------------------------------------------------- */
typedef struct {
    WsWitness *w;
    WsReplay *m;
    const WsPlan *plan;
    gint *used;
    GArray *move;
    GArray *barrier, *named, *stage, *agent; /* states */
    gint64 met;                              /* by the last move */
} Run;

static void keep_state(Run *R)
{
    const WsReplay *m = R->m;
    guint b = R->barrier->len, n = R->named->len, s = R->stage->len, a = R->agent->len;
    g_autofree WsNamedState *all = g_new0(WsNamedState, m->n_named);
    g_array_set_size(R->barrier, b + m->n_slots);
    g_array_set_size(R->stage, s + m->n_stages);
    g_array_set_size(R->agent, a + m->n_agents);
    ws_replay_show(m, (WsMbarrierState *)(gpointer)R->barrier->data + b, all,
                   (WsStageState *)(gpointer)R->stage->data + s,
                   (WsAgentState *)(gpointer)R->agent->data + a);
    for (guint i = 0; i < m->n_named; i++)
        if (R->used[i] >= 0)
            g_array_append_val(R->named, all[i]);
    for (guint i = 0; i < m->n_agents; i++) {
        WsAgentState *x = &g_array_index(R->agent, WsAgentState, a + i);
        x->named = x->named >= 0 ? R->used[x->named] : -1;
    }
    g_assert(R->named->len == n + R->w->n_named);
}

static void keep_move(Run *R, const WsPlanMove *p, const WsReplayEvent *e)
{
    WsMove move = { .kind = p->land ? WS_MOVE_LAND : WS_MOVE_STEP,
                    .agent = p->agent,
                    .op = e->op,
                    .n_rounds = e->n_rounds,
                    .barrier = e->n_slots && !e->n_transfers ? (gint)e->slot[0] : -1,
                    .named = e->named >= 0 ? R->used[e->named] : -1,
                    .rank = p->agent / R->m->p->n_agents,
                    .collide = p->collide };
    if (!p->land && (p->pass || e->op->kind == WS_OP_CLUSTER_WAIT))
        move.kind = WS_MOVE_PASS;
    if (p->land) {
        const WsReplayTransfer *t = &g_array_index(R->m->transfer, WsReplayTransfer, p->transfer);
        move.rank = t->rank, move.barrier = (gint)t->slot;
    }
    memcpy(move.round, e->round, sizeof move.round);
    g_array_append_val(R->move, move);
    keep_state(R);
}

/* One move of the plan; FALSE if the hardware does not allow it here. */
static gboolean carry_out(Run *R, const WsPlanMove *p)
{
    WsReplay *m = R->m;
    const WsReplayEvent *e = &g_array_index(m->agent[p->agent].event, WsReplayEvent, p->event);
    if (p->land) {
        if (!ws_replay_in_flight(m, p->transfer))
            return FALSE;
        R->met = m->slot[g_array_index(m->transfer, WsReplayTransfer, p->transfer).slot].phase;
        ws_replay_land(m, p->transfer);
    } else {
        if (m->agent[p->agent].pc != p->event || !ws_replay_move(m, p->agent))
            return FALSE;
        R->met = g_array_index(m->log, WsLogNode, m->log->len - 1).met;
        for (guint i = m->log->len; i-- > 0;) { /* completions follow the move in the log */
            const WsLogNode *n = &g_array_index(m->log, WsLogNode, i);
            if (n->kind == WS_NODE_COMPLETION)
                continue;
            R->met = n->met;
            break;
        }
    }
    if (!ws_move_silent(e->op) || p->collide)
        keep_move(R, p, e);
    return TRUE;
}

/* --- is the end what the plan promises? ------------------------------------------------------- */
static gboolean can_move(const WsReplay *m, guint agent)
{
    const WsReplayEvent *e = ws_replay_next(m, agent);
    if (!e)
        return FALSE;
    if (e->op->kind == WS_OP_MBAR_WAIT)
        return m->slot[e->slot[0]].phase % 2 != e->parity;
    if (e->named < 0)
        return TRUE;
    gint64 joined =
        e->op->kind == WS_OP_CLUSTER_WAIT ? m->agent[agent].clustered : m->agent[agent].joined;
    if (e->op->kind == WS_OP_CLUSTER_WAIT)
        return m->named[e->named].generation > joined;
    return joined < 0 || m->named[e->named].generation > joined;
}

static gboolean hangs(const WsReplay *m)
{
    gboolean left = FALSE;
    for (guint i = 0; i < m->n_agents; i++) {
        left |= ws_replay_next(m, i) != NULL;
        if (can_move(m, i))
            return FALSE;
    }
    for (guint i = 0; i < m->transfer->len; i++)
        if (ws_replay_in_flight(m, i))
            return FALSE;
    return left;
}

static gboolean leaves(const WsReplay *m)
{
    gboolean something = FALSE;
    for (guint i = 0; i < m->n_agents; i++) {
        const WsReplayEvent *at = ws_replay_at(m, i);
        if (at->op)
            return FALSE;
        for (guint q = 0; q < WS_QUEUES; q++)
            something |= at->lo[q] < at->hi[q];
    }
    for (guint i = 0; i < m->transfer->len; i++)
        something |= ws_replay_in_flight(m, i);
    for (guint i = 0; i < m->n_slots; i++)
        something |= m->slot[i].tx != 0;
    return something;
}

static gboolean running(const WsReplay *m, guint agent, guint event);

/* All agents of its CTA have ended, and what it sends is on its way. */
static gboolean sender_ended(const WsReplay *m, const WsPlan *plan)
{
    const guint own = m->p->n_agents, rank = plan->agent / own;
    for (guint a = rank * own; a < (rank + 1) * own; a++)
        if (ws_replay_at(m, a)->op)
            return FALSE;
    return running(m, plan->agent, plan->event);
}

/* Is an asynchronous operation still running? */
static gboolean running(const WsReplay *m, guint agent, guint event)
{
    const WsReplayEvent *e = &g_array_index(m->agent[agent].event, WsReplayEvent, event);
    for (guint i = 0; i < e->n_transfers; i++)
        if (ws_replay_in_flight(m, e->first_transfer + i))
            return TRUE;
    const WsReplayEvent *at = ws_replay_at(m, agent);
    for (guint q = 0; q < WS_QUEUES; q++)
        for (guint i = at->lo[q]; i < at->hi[q]; i++)
            if (g_array_index(m->agent[agent].queue[q], guint, i) == event)
                return TRUE;
    for (guint i = 0; i < m->transfer->len; i++) { /* rows that a later arrival took over */
        const WsReplayTransfer *t = &g_array_index(m->transfer, WsReplayTransfer, i);
        if (e->op->kind == WS_OP_CP_ROWS && t->agent == agent && t->event > event &&
            ws_replay_in_flight(m, i))
            return TRUE;
    }
    return FALSE;
}

static gboolean overfull(const Run *R, guint before)
{
    const WsReplay *m = R->m;
    const WsPlan *plan = R->plan;
    const WsReplayEvent *e =
        &g_array_index(m->agent[plan->agent].event, WsReplayEvent, plan->event);
    const WsMbarrierState *was = &g_array_index(R->barrier, WsMbarrierState, before * m->n_slots);
    if (e->named >= 0)
        return m->named[e->named].arrived > m->named[e->named].count || R->met != plan->means ||
               TRUE;
    for (guint i = 0; i < e->n_slots; i++) {
        const WsMbarrierState *s = &was[e->slot[i]];
        if (e->arrivals > s->pending || s->phase != (e->turn != G_MININT64 ? e->turn : s->phase))
            return TRUE;
    }
    return FALSE;
}

static gboolean confirmed(const Run *R)
{
    const WsPlan *plan = R->plan;
    const WsReplay *m = R->m;
    switch (plan->end) {
    case WS_END_HANG:
        return hangs(m);
    case WS_END_LEFT:
        return plan->sender ? sender_ended(m, plan) : leaves(m);
    case WS_END_COLLISION:
        return plan->other_agent < 0 ||
               running(m, (guint)plan->other_agent, (guint)plan->other_event);
    case WS_END_PHASE:
        if (plan->lapped) {
            const WsReplayEvent *e = ws_replay_next(m, plan->agent);
            return e && m->agent[plan->agent].pc == plan->event &&
                   m->slot[e->slot[0]].phase == plan->means + 2;
        }
        return R->met != plan->means;
    case WS_END_COUNT:
        return R->move->len > 0 && overfull(R, R->move->len - 1);
    case WS_END_STEP:
        return TRUE;
    }
    return FALSE;
}

/* Everybody goes on as far as he can. */
static void go_on(Run *R)
{
    WsReplay *m = R->m;
    for (gboolean moved = TRUE; moved && R->move->len < 4000;) {
        moved = FALSE;
        for (guint i = 0; i < m->n_agents; i++)
            while (can_move(m, i) && R->move->len < 4000) {
                WsPlanMove move = { .agent = i, .event = m->agent[i].pc };
                move.pass = m->agent[i].joined >= 0;
                moved |= carry_out(R, &move);
            }
        for (guint t = 0; t < m->transfer->len && !moved; t++) {
            const WsReplayTransfer *x = &g_array_index(m->transfer, WsReplayTransfer, t);
            WsPlanMove move = { .land = TRUE, .agent = x->agent, .event = x->event };
            move.transfer = t;
            if (ws_replay_in_flight(m, t))
                moved = carry_out(R, &move);
        }
    }
}

/* A wait that has been lapped shows when everybody else goes on: it stays there. If it does not (a
 * later completion frees it), the run ends where it was lapped. */
static gboolean ends_in_a_hang(Run *R)
{
    guint n = R->move->len;
    go_on(R);
    if (hangs(R->m))
        return TRUE;
    g_array_set_size(R->move, n);
    g_array_set_size(R->barrier, (n + 1) * R->w->n_barriers);
    g_array_set_size(R->named, (n + 1) * R->w->n_named);
    g_array_set_size(R->stage, (n + 1) * R->w->n_stages);
    g_array_set_size(R->agent, (n + 1) * R->w->n_agents);
    return FALSE;
}

/* --- all of it -------------------------------------------------------------------------------- */
void ws_witness_forget(WsWitness *w)
{
    for (guint i = 0; i < w->n_moves; i++)
        g_free(w->move[i].words);
    g_clear_pointer(&w->move, g_free);
    g_clear_pointer(&w->barrier_state, g_free);
    g_clear_pointer(&w->named_state, g_free);
    g_clear_pointer(&w->stage_state, g_free);
    g_clear_pointer(&w->agent_state, g_free);
    w->n_moves = 0;
}

static gpointer states(GArray *a)
{
    return g_array_free(a, FALSE);
}

gboolean ws_witness_run(WsWitness *w, WsReplay *m, const WsPlan *plan, gint *used)
{
    Run R = { .w = w,
              .m = m,
              .plan = plan,
              .used = used,
              .move = g_array_new(FALSE, TRUE, sizeof(WsMove)),
              .barrier = g_array_new(FALSE, TRUE, sizeof(WsMbarrierState)),
              .named = g_array_new(FALSE, TRUE, sizeof(WsNamedState)),
              .stage = g_array_new(FALSE, TRUE, sizeof(WsStageState)),
              .agent = g_array_new(FALSE, TRUE, sizeof(WsAgentState)) };
    ws_replay_reset(m);
    keep_state(&R);
    gboolean ok = TRUE;
    for (guint i = 0; i < plan->move->len && ok; i++)
        ok = carry_out(&R, &g_array_index(plan->move, WsPlanMove, i));
    w->confirmed = ok && confirmed(&R);
    w->end = plan->end;
    if (w->confirmed && plan->lapped && ends_in_a_hang(&R))
        w->end = WS_END_HANG;
    w->n_moves = R.move->len;
    w->move = states(R.move);
    w->barrier_state = states(R.barrier);
    w->named_state = states(R.named);
    w->stage_state = states(R.stage);
    w->agent_state = states(R.agent);
    return w->confirmed;
}
