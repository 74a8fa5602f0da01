/* What a move of the log needs, and where an operation stands in it. */
#include "check/witness/witness_private.h"

void ws_order_need(const WsReplay *m, guint8 *mark, guint node)
{
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(stack, node);
    while (stack->len) {
        guint at = g_array_index(stack, guint, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        if (mark[at])
            continue;
        mark[at] = 1;
        const WsLogNode *n = &g_array_index(m->log, WsLogNode, at);
        g_array_append_vals(stack, n->after->data, n->after->len);
    }
}

gint ws_order_find(const WsReplay *m, guint agent, guint event)
{
    for (guint i = 0; i < m->log->len; i++) {
        const WsLogNode *n = &g_array_index(m->log, WsLogNode, i);
        if (n->kind == WS_NODE_MOVE && n->agent == agent && n->event == event)
            return (gint)i;
    }
    return -1;
}

gint ws_order_find_landing(const WsReplay *m, guint transfer)
{
    for (guint i = 0; i < m->log->len; i++) {
        const WsLogNode *n = &g_array_index(m->log, WsLogNode, i);
        if (n->kind == WS_NODE_LAND && n->transfer == transfer)
            return (gint)i;
    }
    return -1;
}

gint ws_replay_find(const WsReplay *m, guint agent, const WsOp *op, guint n_rounds,
                    const gint64 *round)
{
    const GArray *events = m->agent[agent].event;
    for (guint i = 0; i < events->len; i++) {
        const WsReplayEvent *e = &g_array_index(events, WsReplayEvent, i);
        gboolean same = e->op == op && e->n_rounds == n_rounds;
        for (guint k = 0; same && k < n_rounds; k++)
            same = e->round[k] == round[k];
        if (same)
            return (gint)i;
    }
    return -1;
}

/* --- the state for people --------------------------------------------------------------------- */
static void reading(const WsReplay *m, WsStageState *stage, guint agent, const WsReplayEvent *e)
{
    for (guint q = 0; q < WS_QUEUE_ROWS; q++)
        for (guint i = e->lo[q]; i < e->hi[q]; i++) {
            guint at = g_array_index(m->agent[agent].queue[q], guint, i);
            const WsReplayEvent *x = &g_array_index(m->agent[agent].event, WsReplayEvent, at);
            for (guint k = 0; k < x->n_touches; k++) {
                WsStageState *s = &stage[x->touch[k].stage];
                if (x->touch[k].write)
                    continue;
                s->readers |= agent < 64 ? (guint64)1 << agent : 0;
                if (s->use != WS_STAGE_FILLING)
                    s->use = WS_STAGE_READING;
            }
        }
}

static void show_agent(const WsReplay *m, WsAgentState *out, guint agent)
{
    const WsReplayAgent *a = &m->agent[agent];
    const WsReplayEvent *e = NULL; /* the next one that can be seen */
    for (guint i = a->pc; i < a->event->len && !e; i++) {
        e = &g_array_index(a->event, WsReplayEvent, i);
        e = ws_move_silent(e->op) ? NULL : e;
    }
    const WsReplayEvent *at = ws_replay_at(m, agent);
    *out = (WsAgentState){ .mode = WS_AGENT_DONE, .barrier = -1, .named = -1 };
    out->mma = at->hi[WS_QUEUE_MMA] - at->lo[WS_QUEUE_MMA];
    out->stores = at->hi[WS_QUEUE_STORES] - at->lo[WS_QUEUE_STORES];
    out->gathers = at->hi[WS_QUEUE_ROWS] - at->lo[WS_QUEUE_ROWS];
    if (!e)
        return;
    out->mode = WS_AGENT_READY;
    out->op = e->op;
    out->n_rounds = e->n_rounds;
    for (guint i = 0; i < e->n_rounds; i++)
        out->round[i] = e->round[i];
    gint64 joined = e->op->kind == WS_OP_CLUSTER_WAIT ? a->clustered : a->joined;
    if (e->op->kind == WS_OP_MBAR_WAIT) {
        out->barrier = (gint)e->slot[0];
        if (m->slot[e->slot[0]].phase % 2 == e->parity)
            out->mode = WS_AGENT_WAITING;
    } else if (e->named >= 0 && joined >= 0 && m->named[e->named].generation <= joined) {
        out->named = e->named;
        out->mode = WS_AGENT_WAITING;
    }
}

void ws_replay_show(const WsReplay *m, WsMbarrierState *slot, WsNamedState *named,
                    WsStageState *stage, WsAgentState *agent)
{
    for (guint i = 0; i < m->n_slots; i++) {
        const WsReplaySlot *s = &m->slot[i];
        slot[i] = (WsMbarrierState){ s->phase, s->pending, s->count, s->tx };
    }
    for (guint i = 0; i < m->n_named; i++) {
        const WsReplayNamed *n = &m->named[i];
        named[i] = (WsNamedState){ n->generation, n->arrived, n->count };
    }
    for (guint i = 0; i < m->n_stages; i++)
        stage[i] = m->stage[i];
    for (guint i = 0; i < m->n_agents; i++) {
        show_agent(m, &agent[i], i);
        reading(m, stage, i, ws_replay_at(m, i));
    }
}
