/* What every agent of every CTA executes in one case: operations with slots, turns, bytes and
 * stages worked out, and the window of its queues before each. */
#include "check/witness/replay.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/program.h"

#define MAX_EVENTS 50000

typedef struct {
    WsReplay *m;
    WsReplayAgent *a;
    guint agent, rank;
    const WsAgent *info;
    WsWalker *walker;
    guint committed[WS_QUEUES], lo[WS_QUEUES];
    GArray *group[WS_QUEUES]; /* of each issue */
} Walk;

static gint64 value(Walk *W, const WsExpr *e)
{
    g_autoptr(GError) error = NULL;
    gint64 v = 0;
    if (e && !ws_walker_eval(W->walker, e, &v, &error))
        W->m->trouble = "an expression has no value";
    return v;
}

static guint targets(Walk *W, const WsCtas *ctas, guint *rank)
{
    guint n = 0;
    if (ctas->kind == WS_CTAS_OWN)
        rank[n++] = W->rank;
    else if (ctas->kind == WS_CTAS_EXPR)
        rank[n++] = (guint)CLAMP(value(W, ctas->expr), 0, (gint64)W->m->ranks - 1);
    else
        for (guint r = 0; r < W->m->ranks && n < 16; r++)
            if (ctas->kind == WS_CTAS_ALL || (ctas->mask >> r & 1))
                rank[n++] = r;
    return n;
}

static guint slot_of(Walk *W, guint rank, const WsOp *op)
{
    const WsBarrier *b = &W->m->p->barrier[op->barrier];
    gint64 element = value(W, op->element), slot = value(W, op->slot), slots = MAX(b->slots, 1),
           array = MAX(b->array, 1);
    if (element < 0 || element >= array || slot < 0 || slot >= slots) {
        W->m->trouble = "an operation names a slot that does not exist";
        return 0;
    }
    return rank * W->m->slots_per_rank + W->m->first_slot[op->barrier] +
           (guint)(element * slots + slot);
}

/* Touches of the operation's accesses that have `modes`, in CTA `rank`, appended to `list`. */
static void touches(Walk *W, const WsOp *op, guint rank, guint modes, GArray *list)
{
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *x = &op->access[i];
        if (!(x->mode & modes))
            continue;
        const WsBuffer *b = &W->m->p->buffer[x->buffer];
        gint64 element = value(W, x->element), stage = value(W, x->stage),
               stages = MAX(b->stages, 1);
        if (element < 0 || element >= MAX(b->array, 1) || stage < 0 || stage >= stages)
            continue;
        WsTouch t = { rank * W->m->stages_per_rank + W->m->first_stage[x->buffer] +
                          (guint)(element * stages + stage),
                      (x->mode & WS_MODE_WRITE) != 0 };
        g_array_append_val(list, t);
    }
}

static void own_touches(Walk *W, WsReplayEvent *e, guint modes)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsTouch));
    touches(W, e->op, W->rank, modes, list);
    e->n_touches = list->len;
    e->touch = (WsTouch *)(gpointer)g_array_free(list, FALSE);
}

static void issue(Walk *W, WsQueue q)
{
    guint at = W->a->event->len;
    g_array_append_val(W->a->queue[q], at);
    g_array_append_val(W->group[q], W->committed[q]);
}

static void retire(Walk *W, WsQueue q, gint64 n)
{
    while (W->lo[q] < W->group[q]->len &&
           (gint64)g_array_index(W->group[q], guint, W->lo[q]) < (gint64)W->committed[q] - n)
        W->lo[q]++;
}

static void add_transfer(Walk *W, const WsReplayEvent *e, guint rank, guint slot, GArray *list)
{
    WsReplayTransfer t = { .agent = W->agent,
                           .event = W->a->event->len,
                           .slot = slot,
                           .rank = rank,
                           .bytes = e->bytes,
                           .arrivals = e->arrivals,
                           .n_touches = list->len };
    t.touch = (WsTouch *)(gpointer)g_array_free(list, FALSE);
    g_array_append_val(W->m->transfer, t);
}

static void load(Walk *W, WsReplayEvent *e)
{
    const WsOp *op = e->op;
    guint rank[16], n = targets(W, &op->ctas, rank);
    e->bytes = op->bytes;
    e->first_transfer = W->m->transfer->len;
    e->n_transfers = n;
    if (op->kind == WS_OP_BULK_COPY)
        own_touches(W, e, WS_MODE_READ);
    for (guint i = 0; i < n; i++) {
        GArray *list = g_array_new(FALSE, FALSE, sizeof(WsTouch));
        touches(W, op, rank[i], WS_MODE_WRITE, list);
        if (op->kind == WS_OP_BULK_COPY)
            touches(W, op, W->rank, WS_MODE_READ, list);
        e->slot[e->n_slots++] = slot_of(W, rank[i], op);
        add_transfer(W, e, rank[i], e->slot[i], list);
    }
}

static void peek(Walk *W, WsReplayEvent *e)
{
    guint rank[16];
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsTouch));
    if (targets(W, &e->op->ctas, rank) == 1)
        touches(W, e->op, rank[0], WS_MODE_READ | WS_MODE_WRITE, list);
    e->n_touches = list->len;
    e->touch = (WsTouch *)(gpointer)g_array_free(list, FALSE);
}

/* Rows that are on their way arrive as one. */
static void rows_arrive(Walk *W, WsReplayEvent *e)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsTouch));
    for (guint i = W->lo[WS_QUEUE_ROWS]; i < W->a->queue[WS_QUEUE_ROWS]->len; i++) {
        guint at = g_array_index(W->a->queue[WS_QUEUE_ROWS], guint, i);
        const WsReplayEvent *rows = &g_array_index(W->a->event, WsReplayEvent, at);
        g_array_append_vals(list, rows->touch, rows->n_touches);
    }
    e->first_transfer = W->m->transfer->len;
    e->n_transfers = 1;
    e->arrivals = e->op->count;
    e->slot[e->n_slots++] = slot_of(W, W->rank, e->op);
    add_transfer(W, e, W->rank, e->slot[0], list);
}

static void contribution(Walk *W, WsReplayEvent *e)
{
    guint rank[16], n = 1;
    if (e->op->kind == WS_OP_MBAR_ARRIVE)
        n = targets(W, &e->op->ctas, rank);
    else
        rank[0] = W->rank, e->bytes = e->op->bytes;
    e->arrivals = e->op->count;
    for (guint i = 0; i < n; i++)
        e->slot[e->n_slots++] = slot_of(W, rank[i], e->op);
}

static void named(Walk *W, WsReplayEvent *e)
{
    const WsOp *op = e->op;
    guint first = W->rank * W->m->named_per_rank, own = W->agent % W->m->p->n_agents;
    e->count = MAX(op->count, W->info->threads);
    if (op->barrier < 0) {
        e->named =
            (gint)(op->count > W->info->threads ? first : first + ws_named_ids(W->m->p) + own);
        return;
    }
    const WsBarrier *b = &W->m->p->barrier[op->barrier];
    gint64 element = CLAMP(value(W, op->element), 0, (gint64)MAX(b->array, 1) - 1);
    e->named = (gint)(first + ws_named_id(W->m->p, b, (guint)element));
    if (b->threads && b->threads[element])
        e->count = b->threads[element];
    WsReplayNamed *n = &W->m->named[e->named];
    n->barrier = op->barrier, n->element = (gint)element;
}

static void see(Walk *W, const WsStep *s)
{
    const WsOp *op = s->op;
    WsReplayEvent e = { .op = op, .turn = G_MININT64, .named = -1 };
    e.n_rounds = MIN(s->n_rounds, G_N_ELEMENTS(e.round));
    for (guint i = 0; i < e.n_rounds; i++)
        e.round[i] = s->round[i];
    for (guint q = 0; q < WS_QUEUES; q++)
        e.lo[q] = W->lo[q], e.hi[q] = W->a->queue[q]->len;
    if (op->turn)
        e.turn = value(W, op->turn);
    switch (op->kind) {
    case WS_OP_MBAR_WAIT:
        e.parity = value(W, op->parity) & 1;
        e.slot[e.n_slots++] = slot_of(W, W->rank, op);
        break;
    case WS_OP_MBAR_ARRIVE:
    case WS_OP_MBAR_EXPECT:
        contribution(W, &e);
        break;
    case WS_OP_TMA_LOAD:
    case WS_OP_TMA_GET:
    case WS_OP_BULK_COPY:
    case WS_OP_ST_REMOTE:
    case WS_OP_CP_ROWS:
        if (op->barrier >= 0 && op->kind != WS_OP_CP_ROWS) {
            load(W, &e);
        } else {
            own_touches(W, &e, WS_MODE_READ | WS_MODE_WRITE);
            issue(W, WS_QUEUE_ROWS);
        }
        break;
    case WS_OP_LD_REMOTE:
    case WS_OP_ST_PEER:
        peek(W, &e);
        break;
    case WS_OP_CP_ARRIVE:
        rows_arrive(W, &e);
        W->lo[WS_QUEUE_ROWS] = W->a->queue[WS_QUEUE_ROWS]->len;
        break;
    case WS_OP_MMA:
        own_touches(W, &e, WS_MODE_READ | WS_MODE_WRITE);
        issue(W, WS_QUEUE_MMA);
        break;
    case WS_OP_TMA_STORE:
    case WS_OP_TMA_PUT:
        own_touches(W, &e, WS_MODE_READ);
        issue(W, WS_QUEUE_STORES);
        break;
    case WS_OP_MMA_COMMIT:
    case WS_OP_BULK_COMMIT:
    case WS_OP_CP_COMMIT:
        W->committed[ws_op_queue(op->kind)]++;
        break;
    case WS_OP_MMA_WAIT:
    case WS_OP_BULK_WAIT:
    case WS_OP_CP_WAIT:
        retire(W, (WsQueue)ws_op_queue(op->kind), op->n);
        break;
    case WS_OP_BAR_SYNC:
    case WS_OP_BAR_ARRIVE:
        named(W, &e);
        break;
    case WS_OP_CLUSTER_ARRIVE:
    case WS_OP_CLUSTER_WAIT:
        e.named = (gint)W->m->n_named - 1;
        e.count = W->m->n_agents;
        break;
    case WS_OP_MMA_FENCE: /* what they order is no question of moments */
    case WS_OP_FENCE_ASYNC:
    case WS_OP_WARP_SYNC:
        break;
#include "program/op_plain.def"
    case WS_OP_KIND_COUNT:
    default:
        if (!ws_op_just_touches(op->kind))
            W->m->trouble = "an operation that the replay does not know";
        own_touches(W, &e, WS_MODE_READ | WS_MODE_WRITE);
        break;
    }
    g_array_append_val(W->a->event, e);
}

void ws_replay_events(WsReplay *m)
{
    for (guint i = 0; i < m->n_agents && !m->trouble; i++) {
        Walk W = { .m = m,
                   .a = &m->agent[i],
                   .agent = i,
                   .rank = i / m->p->n_agents,
                   .info = &m->p->agent[i % m->p->n_agents] };
        for (guint q = 0; q < WS_QUEUES; q++)
            W.group[q] = g_array_new(FALSE, FALSE, sizeof(guint));
        WsCaseSource source = { m->p, m->c };
        W.walker = ws_walker_new(m->p, m->c->values, i % m->p->n_agents, W.rank,
                                 ws_case_source_tile, &source);
        ws_walker_set_element(W.walker, ws_case_source_element, &source);
        WsStep s;
        g_autoptr(GError) error = NULL;
        while (!m->trouble && W.a->event->len < MAX_EVENTS && ws_walker_next(W.walker, &s, &error))
            see(&W, &s);
        for (guint q = 0; q < WS_QUEUES; q++)
            W.a->end.lo[q] = W.lo[q], W.a->end.hi[q] = W.a->queue[q]->len;
        if (error || W.a->event->len >= MAX_EVENTS)
            m->trouble = "an agent cannot be followed to its end";
        ws_walker_free(W.walker);
        for (guint q = 0; q < WS_QUEUES; q++)
            g_array_unref(W.group[q]);
    }
}
