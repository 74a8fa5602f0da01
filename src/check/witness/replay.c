/* The replay: state, moves, and the log of what each move had to come after. */
#include "check/witness/replay.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#include <string.h>

/* --- building --------------------------------------------------------------------------------- */
static void layout(WsReplay *m)
{
    const WsProgram *p = m->p;
    m->first_slot = g_new0(guint, p->n_barriers + 1);
    m->first_stage = g_new0(guint, p->n_buffers + 1);
    for (guint i = 0; i < p->n_barriers; i++) {
        m->first_slot[i] = m->slots_per_rank;
        if (p->barrier[i].kind == WS_BARRIER_MBARRIER)
            m->slots_per_rank += MAX(p->barrier[i].array, 1) * MAX(p->barrier[i].slots, 1);
    }
    for (guint i = 0; i < p->n_buffers; i++) {
        m->first_stage[i] = m->stages_per_rank;
        m->stages_per_rank += MAX(p->buffer[i].array, 1) * MAX(p->buffer[i].stages, 1);
    }
    m->named_per_rank = ws_named_ids(p) + p->n_agents;
    m->n_slots = m->ranks * m->slots_per_rank;
    m->n_stages = m->ranks * m->stages_per_rank;
    m->n_named = m->ranks * m->named_per_rank + 1;
}

static GArray *numbers(void)
{
    return g_array_new(FALSE, FALSE, sizeof(guint));
}

static void node_clear(gpointer data)
{
    g_array_unref(((WsLogNode *)data)->after);
}

WsReplay *ws_replay_new(const WsProgram *p, const WsCase *c)
{
    WsReplay *m = g_new0(WsReplay, 1);
    m->p = p, m->c = c;
    m->ranks = MAX(p->cluster, 1);
    m->n_agents = m->ranks * p->n_agents;
    layout(m);
    m->agent = g_new0(WsReplayAgent, m->n_agents + 1);
    for (guint i = 0; i < m->n_agents; i++) {
        m->agent[i].event = g_array_new(FALSE, TRUE, sizeof(WsReplayEvent));
        for (guint q = 0; q < WS_QUEUES; q++)
            m->agent[i].queue[q] = numbers();
    }
    m->slot = g_new0(WsReplaySlot, m->n_slots + 1);
    for (guint i = 0; i < m->n_slots; i++)
        m->slot[i].feeds = numbers(), m->slot[i].completed = numbers();
    m->named = g_new0(WsReplayNamed, m->n_named);
    for (guint i = 0; i < m->n_named; i++)
        m->named[i].feeds = numbers(), m->named[i].completed = numbers(), m->named[i].barrier = -1;
    m->stage = g_new0(WsStageState, m->n_stages + 1);
    m->transfer = g_array_new(FALSE, TRUE, sizeof(WsReplayTransfer));
    m->log = g_array_new(FALSE, TRUE, sizeof(WsLogNode));
    g_array_set_clear_func(m->log, node_clear);
    ws_replay_events(m);
    ws_replay_reset(m);
    return m;
}

void ws_replay_free(WsReplay *m)
{
    if (!m)
        return;
    for (guint i = 0; i < m->n_agents; i++) {
        for (guint k = 0; k < m->agent[i].event->len; k++)
            g_free(g_array_index(m->agent[i].event, WsReplayEvent, k).touch);
        g_array_unref(m->agent[i].event);
        for (guint q = 0; q < WS_QUEUES; q++)
            g_array_unref(m->agent[i].queue[q]);
    }
    for (guint i = 0; i < m->n_slots; i++) {
        g_array_unref(m->slot[i].feeds);
        g_array_unref(m->slot[i].completed);
    }
    for (guint i = 0; i < m->n_named; i++) {
        g_array_unref(m->named[i].feeds);
        g_array_unref(m->named[i].completed);
    }
    for (guint i = 0; i < m->transfer->len; i++)
        g_free(g_array_index(m->transfer, WsReplayTransfer, i).touch);
    g_array_unref(m->transfer);
    g_array_unref(m->log);
    g_free(m->agent);
    g_free(m->slot);
    g_free(m->named);
    g_free(m->stage);
    g_free(m->first_slot);
    g_free(m->first_stage);
    g_free(m);
}

static void reset_slot(WsReplay *m, guint i)
{
    WsReplaySlot *s = &m->slot[i];
    guint within = i % MAX(m->slots_per_rank, 1), b = 0;
    while (b + 1 < m->p->n_barriers && m->first_slot[b + 1] <= within)
        b++;
    const WsBarrier *barrier = &m->p->barrier[b];
    guint element = (within - m->first_slot[b]) / MAX(barrier->slots, 1);
    s->count = barrier->arrivals ? barrier->arrivals[element] : 1;
    s->phase = s->tx = 0;
    s->pending = s->count;
    g_array_set_size(s->feeds, 0);
    g_array_set_size(s->completed, 0);
}

void ws_replay_reset(WsReplay *m)
{
    for (guint i = 0; i < m->n_agents; i++) {
        m->agent[i].pc = m->agent[i].done = 0;
        m->agent[i].joined = m->agent[i].clustered = -1;
    }
    for (guint i = 0; i < m->n_slots; i++)
        reset_slot(m, i);
    for (guint i = 0; i < m->n_named; i++) {
        WsReplayNamed *n = &m->named[i];
        n->generation = n->arrived = n->count = 0;
        g_array_set_size(n->feeds, 0);
        g_array_set_size(n->completed, 0);
    }
    for (guint i = 0; i < m->n_stages; i++)
        m->stage[i] = (WsStageState){ .use = WS_STAGE_FREE, .writer = -1 };
    for (guint i = 0; i < m->transfer->len; i++) {
        WsReplayTransfer *t = &g_array_index(m->transfer, WsReplayTransfer, i);
        t->landed = FALSE, t->node = 0;
    }
    g_array_set_size(m->log, 0);
}

const WsReplayEvent *ws_replay_next(const WsReplay *m, guint agent)
{
    const WsReplayAgent *a = &m->agent[agent];
    return a->pc < a->event->len ? &g_array_index(a->event, WsReplayEvent, a->pc) : NULL;
}

const WsReplayEvent *ws_replay_at(const WsReplay *m, guint agent)
{
    const WsReplayEvent *e = ws_replay_next(m, agent);
    return e ? e : &m->agent[agent].end;
}

/* --- log -------------------------------------------------------------------------------------- */
static guint note(WsReplay *m, WsLogNode node)
{
    node.after = numbers();
    g_array_append_val(m->log, node);
    return m->log->len - 1;
}

static void needs(WsReplay *m, guint node, guint before)
{
    g_array_append_val(g_array_index(m->log, WsLogNode, node).after, before);
}

static void needs_all(WsReplay *m, guint node, const GArray *before)
{
    WsLogNode *n = &g_array_index(m->log, WsLogNode, node);
    g_array_append_vals(n->after, before->data, before->len);
}

/* A completion needs what contributed to it and the completion before. */
static void note_completion(WsReplay *m, GArray *feeds, GArray *completed)
{
    guint node = note(m, (WsLogNode){ .kind = WS_NODE_COMPLETION });
    needs_all(m, node, feeds);
    if (completed->len)
        needs(m, node, g_array_index(completed, guint, completed->len - 1));
    g_array_append_val(completed, node);
    g_array_set_size(feeds, 0);
}

static guint note_move(WsReplay *m, guint agent, gboolean pass)
{
    WsReplayAgent *a = &m->agent[agent];
    guint node =
        note(m, (WsLogNode){ .kind = WS_NODE_MOVE, .agent = agent, .event = a->pc, .pass = pass });
    if (a->done)
        needs(m, node, a->done - 1);
    a->done = node + 1;
    return node;
}

/* --- mbarriers -------------------------------------------------------------------------------- */
static void feed(WsReplay *m, guint slot, guint node, gint64 arrivals, gint64 bytes, gboolean lands)
{
    WsReplaySlot *s = &m->slot[slot];
    WsLogNode *n = &g_array_index(m->log, WsLogNode, node);
    n->met = s->phase;
    g_array_append_val(s->feeds, node);
    s->tx += bytes;
    s->pending -= MIN(arrivals, s->pending);
    if (s->pending != 0 || s->tx != 0 || (arrivals == 0 && !lands))
        return; /* an expect alone completes nothing */
    note_completion(m, s->feeds, s->completed);
    s->phase++;
    s->pending = s->count;
}

/* --- stages ----------------------------------------------------------------------------------- */
static void touch(WsReplay *m, guint agent, const WsTouch *t, gboolean begin, gboolean end)
{
    WsStageState *s = &m->stage[t->stage];
    if (t->write && begin) {
        if (s->use != WS_STAGE_FILLING || s->writer != (gint)agent)
            s->fill++;
        s->use = WS_STAGE_FILLING, s->writer = (gint)agent;
    }
    if (t->write && end && s->use == WS_STAGE_FILLING)
        s->use = WS_STAGE_FULL;
    if (!t->write && s->use != WS_STAGE_FREE && s->use != WS_STAGE_FILLING)
        s->use = WS_STAGE_READ;
}

/* --- moves ------------------------------------------------------------------------------------ */
static gboolean wait(WsReplay *m, guint agent, const WsReplayEvent *e)
{
    const WsReplaySlot *s = &m->slot[e->slot[0]];
    if (s->phase % 2 == e->parity)
        return FALSE;
    guint node = note_move(m, agent, FALSE);
    g_array_index(m->log, WsLogNode, node).met = s->phase - 1;
    if (s->completed->len)
        needs(m, node, g_array_index(s->completed, guint, s->completed->len - 1));
    return TRUE;
}

static void over(WsReplay *m, WsReplayNamed *n)
{
    note_completion(m, n->feeds, n->completed);
    n->generation++;
    n->arrived = 0;
}

static void join(WsReplay *m, WsReplayNamed *n, guint node, gint64 count, gint64 threads)
{
    g_array_index(m->log, WsLogNode, node).met = n->generation;
    if (n->arrived == 0)
        n->count = count;
    n->arrived += threads;
    g_array_append_val(n->feeds, node);
    if (n->arrived >= n->count)
        over(m, n);
}

/* The cluster's barrier does not wait for agents that have ended. */
static void leave_cluster(WsReplay *m)
{
    WsReplayNamed *n = &m->named[m->n_named - 1];
    for (guint i = 0; i < m->n_agents; i++)
        if (m->agent[i].clustered != n->generation && ws_replay_next(m, i))
            return;
    if (n->arrived > 0)
        over(m, n);
}

/* Named and cluster barriers: join, and wait from then on. FALSE while it must wait. */
static gboolean barrier(WsReplay *m, guint agent, const WsReplayEvent *e)
{
    WsReplayAgent *a = &m->agent[agent];
    WsReplayNamed *n = &m->named[e->named];
    WsOpKind kind = e->op->kind;
    gboolean cluster = kind == WS_OP_CLUSTER_ARRIVE || kind == WS_OP_CLUSTER_WAIT;
    gint64 *joined = cluster ? &a->clustered : &a->joined;
    gint64 threads = cluster ? 1 : (gint64)m->p->agent[agent % m->p->n_agents].threads;
    if (kind != WS_OP_CLUSTER_WAIT && (kind == WS_OP_CLUSTER_ARRIVE || *joined < 0)) {
        guint node = note_move(m, agent, FALSE);
        *joined = n->generation;
        join(m, n, node, e->count, threads);
        if (kind == WS_OP_BAR_ARRIVE)
            *joined = -1;
        a->pc += kind != WS_OP_BAR_SYNC;
        if (cluster)
            leave_cluster(m);
        return TRUE;
    }
    if (n->generation <= *joined)
        return FALSE;
    guint node = note_move(m, agent, TRUE);
    if (*joined >= 0)
        needs(m, node, g_array_index(n->completed, guint, *joined));
    *joined = -1;
    a->pc++;
    return TRUE;
}

static gboolean move(WsReplay *m, guint agent, const WsReplayEvent *e)
{
    if (e->named >= 0)
        return barrier(m, agent, e);
    if (e->op->kind == WS_OP_MBAR_WAIT) {
        if (!wait(m, agent, e))
            return FALSE;
        m->agent[agent].pc++;
        return TRUE;
    }
    guint node = note_move(m, agent, FALSE);
    if (e->n_transfers) {
        for (guint i = 0; i < e->n_transfers; i++) {
            WsReplayTransfer *t =
                &g_array_index(m->transfer, WsReplayTransfer, e->first_transfer + i);
            t->node = node + 1;
            for (guint k = 0; k < t->n_touches; k++)
                touch(m, agent, &t->touch[k], TRUE, FALSE);
        }
    } else {
        for (guint i = 0; i < e->n_slots; i++)
            feed(m, e->slot[i], node, e->arrivals, e->bytes, FALSE);
    }
    gboolean rows = e->op->kind == WS_OP_CP_ROWS;
    for (guint i = 0; i < e->n_touches; i++)
        touch(m, agent, &e->touch[i], TRUE, !rows);
    m->agent[agent].pc++;
    if (e->op->kind == WS_OP_CP_WAIT) { /* rows of the retired groups are there */
        guint upto = ws_replay_at(m, agent)->lo[WS_QUEUE_ROWS];
        for (guint i = e->lo[WS_QUEUE_ROWS]; i < upto; i++) {
            guint at = g_array_index(m->agent[agent].queue[WS_QUEUE_ROWS], guint, i);
            const WsReplayEvent *r = &g_array_index(m->agent[agent].event, WsReplayEvent, at);
            for (guint k = 0; k < r->n_touches; k++)
                touch(m, agent, &r->touch[k], FALSE, TRUE);
        }
    }
    return TRUE;
}

gboolean ws_replay_move(WsReplay *m, guint agent)
{
    const WsReplayEvent *e = ws_replay_next(m, agent);
    if (!e || !move(m, agent, e))
        return FALSE;
    if (!ws_replay_next(m, agent))
        leave_cluster(m);
    return TRUE;
}

gboolean ws_replay_in_flight(const WsReplay *m, guint transfer)
{
    const WsReplayTransfer *t = &g_array_index(m->transfer, WsReplayTransfer, transfer);
    return m->agent[t->agent].pc > t->event && !t->landed;
}

void ws_replay_land(WsReplay *m, guint transfer)
{
    WsReplayTransfer *t = &g_array_index(m->transfer, WsReplayTransfer, transfer);
    t->landed = TRUE;
    guint node = note(
        m, (WsLogNode){
               .kind = WS_NODE_LAND, .agent = t->agent, .event = t->event, .transfer = transfer });
    needs(m, node, t->node - 1);
    for (guint i = 0; i < t->n_touches; i++)
        touch(m, t->agent, &t->touch[i], FALSE, TRUE);
    feed(m, t->slot, node, t->arrivals, -t->bytes, TRUE);
}

/* --- schedules of the play -------------------------------------------------------------------- */
static gboolean land_one(WsReplay *m, GArray *flight, gboolean newest)
{
    if (flight->len == 0)
        return FALSE;
    guint at = newest ? flight->len - 1 : 0, t = g_array_index(flight, guint, at);
    g_array_remove_index(flight, at);
    ws_replay_land(m, t);
    return TRUE;
}

static gboolean advance(WsReplay *m, guint agent, gboolean one, GArray *flight)
{
    gboolean moved = FALSE;
    for (;;) {
        const WsReplayEvent *e = ws_replay_next(m, agent);
        guint before = m->agent[agent].pc;
        if (!e || !ws_replay_move(m, agent))
            return moved;
        moved = TRUE;
        for (guint i = 0; i < e->n_transfers; i++) {
            guint t = e->first_transfer + i;
            g_array_append_val(flight, t);
        }
        if (one && m->agent[agent].pc != before)
            return TRUE;
    }
}

void ws_replay_run(WsReplay *m, WsSchedule schedule)
{
    gboolean eager = schedule == WS_SCHEDULE_EAGER, backward = schedule == WS_SCHEDULE_BACKWARD;
    g_autoptr(GArray) flight = numbers();
    for (gboolean moved = TRUE; moved;) {
        moved = FALSE;
        for (guint i = 0; i < m->n_agents; i++) {
            guint at = backward ? m->n_agents - 1 - i : i;
            moved |= advance(m, at, eager || schedule == WS_SCHEDULE_MIXED, flight);
            while (eager && land_one(m, flight, FALSE))
                moved = TRUE;
        }
        if (!moved)
            moved = land_one(m, flight, backward);
    }
}
