#include "oracle.h"
#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

#include <string.h>

/* A design without data-dependent control makes every agent do one fixed sequence of events. */

typedef struct {
    Events *E;
    Thread *t;
    guint inst;
    WsWalker *w;
    guint mma_open, mma_committed, store_open, store_committed; /* group numbers */
    GArray *mma_group, *store_group;                            /* of each issue */
    guint mma_lo, store_lo, rows_lo;
    guint rows_committed;
    GArray *rows_group;
} Build;

static gint64 value(Build *B, const WsExpr *e)
{
    g_autoptr(GError) error = NULL;
    gint64 v = 0;
    if (e && !ws_walker_eval(B->w, e, &v, &error))
        B->E->outside = "an expression has no value";
    return v;
}

static guint slot_number(Build *B, guint rank, const WsOp *op)
{
    Events *E = B->E;
    const WsBarrier *b = &E->p->barrier[op->barrier];
    gint64 e = value(B, op->element), s = value(B, op->slot);
    if (e < 0 || e >= b->array || s < 0 || s >= b->slots) {
        E->outside = "a slot out of range";
        return 0;
    }
    return rank * E->slots_per_rank + E->first_slot[op->barrier] + (guint)e * b->slots + (guint)s;
}

static guint targets(Build *B, const WsCtas *ctas, guint *rank)
{
    guint n = 0, cluster = B->E->p->cluster;
    if (ctas->kind == WS_CTAS_OWN) {
        rank[n++] = B->t->rank;
    } else if (ctas->kind == WS_CTAS_EXPR) {
        rank[n++] = (guint)CLAMP(value(B, ctas->expr), 0, cluster - 1);
    } else {
        for (guint r = 0; r < cluster; r++)
            if (ctas->kind == WS_CTAS_ALL || (ctas->mask >> r & 1))
                rank[n++] = r;
    }
    return n;
}

static void add_bytes(Build *B, Event *e, const WsAccess *a, guint rank)
{
    Events *E = B->E;
    const WsBuffer *b = &E->p->buffer[a->buffer];
    gint64 row = value(B, a->row0), col = value(B, a->col0), stage = value(B, a->stage),
           element = value(B, a->element);
    if (row < 0 || col < 0 || row + a->rows > b->rows || col + a->cols > b->cols || stage < 0 ||
        stage >= b->stages || element < 0 || element >= b->array) {
        E->outside = "a view out of range";
        return;
    }
    WsRange r[256];
    guint n = ws_buffer_ranges(b, (guint)row, a->rows, (guint)col, a->cols, r, 256);
    n = MIN(n, 256);
    guint64 base = b->offset + (guint64)element * b->array_pitch + (guint64)stage * b->stage_pitch;
    Bytes *list = g_new(Bytes, e->n_bytes + n);
    if (e->n_bytes)
        memcpy(list, e->range, sizeof(Bytes) * e->n_bytes);
    for (guint i = 0; i < n; i++)
        list[e->n_bytes + i] = (Bytes){ rank, base + r[i].offset, base + r[i].offset + r[i].bytes,
                                        (a->mode & WS_MODE_WRITE) != 0 };
    g_ptr_array_add(E->memory, list);
    e->range = list;
    e->n_bytes += n;
}

static void all_bytes(Build *B, Event *e, const WsOp *op)
{
    for (guint i = 0; i < op->n_access; i++)
        add_bytes(B, e, &op->access[i], B->t->rank);
}

static void push(Build *B, Event e)
{
    e.mma_lo = B->mma_lo;
    e.mma_hi = B->t->mma->len;
    e.store_lo = B->store_lo;
    e.store_hi = B->t->store->len;
    e.rows_lo = B->rows_lo;
    e.rows_hi = B->t->rows->len;
    g_array_append_val(B->t->events, e);
}

typedef enum { QUEUE_MMA, QUEUE_STORE, QUEUE_ROWS } Queue;

static GArray *issues(Build *B, Queue q)
{
    return q == QUEUE_MMA ? B->t->mma : q == QUEUE_STORE ? B->t->store : B->t->rows;
}

static guint *committed(Build *B, Queue q)
{
    return q == QUEUE_MMA     ? &B->mma_committed
           : q == QUEUE_STORE ? &B->store_committed
                              : &B->rows_committed;
}

static void issue(Build *B, const WsOp *op, Queue q)
{
    Event e = { .kind = EVENT_ISSUE, .op = op };
    all_bytes(B, &e, op);
    push(B, e);
    guint index = B->t->events->len - 1;
    g_array_append_val(issues(B, q), index);
    GArray *group = q == QUEUE_MMA     ? B->mma_group
                    : q == QUEUE_STORE ? B->store_group
                                       : B->rows_group;
    g_array_append_val(group, *committed(B, q));
}

/* All but the n newest committed groups are over after this event. */
static void retire(Build *B, const WsOp *op, Queue q)
{
    Event e = { .kind = EVENT_RETIRE, .op = op };
    push(B, e);
    GArray *group = q == QUEUE_MMA     ? B->mma_group
                    : q == QUEUE_STORE ? B->store_group
                                       : B->rows_group;
    guint *lo = q == QUEUE_MMA ? &B->mma_lo : q == QUEUE_STORE ? &B->store_lo : &B->rows_lo;
    while (*lo < group->len &&
           (gint64)g_array_index(group, guint, *lo) < (gint64)*committed(B, q) - op->n)
        ++*lo;
}

/* cp.async arrivals: from here on the rows are on their way as one transfer, which arrives when it
 * lands. */
static guint slot_number(Build *B, guint rank, const WsOp *op);
static void arrive_later(Build *B, const WsOp *op)
{
    Events *E = B->E;
    GArray *bytes = g_array_new(FALSE, FALSE, sizeof(Bytes));
    for (guint i = B->rows_lo; i < B->t->rows->len; i++) {
        const Event *e = &g_array_index(B->t->events, Event, g_array_index(B->t->rows, guint, i));
        g_array_append_vals(bytes, e->range, e->n_bytes);
    }
    Transfer t = { .inst = B->inst,
                   .event = B->t->events->len,
                   .slot = slot_number(B, B->t->rank, op),
                   .arrivals = op->count,
                   .n_bytes = bytes->len };
    t.range = (Bytes *)(gpointer)g_array_free(bytes, FALSE);
    g_ptr_array_add(E->memory, (gpointer)t.range);
    Event e = { .kind = EVENT_LOAD,
                .op = op,
                .n_slots = 1,
                .slot = { t.slot },
                .first_transfer = E->transfers->len,
                .has_turn = op->turn != NULL,
                .turn = value(B, op->turn) };
    g_array_append_val(E->transfers, t);
    push(B, e);
    B->rows_lo = B->t->rows->len;
}

static void transfer(Build *B, const WsOp *op)
{
    Events *E = B->E;
    guint rank[8], n = targets(B, &op->ctas, rank);
    Event e = { .kind = EVENT_LOAD,
                .op = op,
                .n_slots = n,
                .first_transfer = E->transfers->len,
                .bytes = op->bytes };
    e.has_turn = op->turn != NULL;
    e.turn = value(B, op->turn);
    for (guint i = 0; i < op->n_access; i++) { /* copy: its source is read here, the rest there */
        if (op->access[i].mode & WS_MODE_WRITE)
            continue;
        add_bytes(B, &e, &op->access[i], B->t->rank);
    }
    for (guint k = 0; k < n; k++) {
        Event part = { 0 };
        if (e.n_bytes) {
            part.range = e.range;
            part.n_bytes = e.n_bytes;
        }
        for (guint i = 0; i < op->n_access; i++)
            if (op->access[i].mode & WS_MODE_WRITE)
                add_bytes(B, &part, &op->access[i], rank[k]);
        e.slot[k] = slot_number(B, rank[k], op);
        Transfer t = { .inst = B->inst,
                       .event = B->t->events->len,
                       .slot = e.slot[k],
                       .bytes = op->bytes,
                       .n_bytes = part.n_bytes,
                       .range = part.range };
        g_array_append_val(E->transfers, t);
    }
    push(B, e);
}

static void contribution(Build *B, const WsOp *op, gint64 count, gint64 bytes)
{
    Events *E = B->E;
    guint rank[8], n = targets(B, &op->ctas, rank);
    Event e = { .kind = EVENT_ARRIVE, .op = op, .n_slots = n, .count = count, .bytes = bytes };
    guint threads = E->p->agent[B->t->agent].threads;
    if (op->kind == WS_OP_MBAR_ARRIVE && op->per > 0) {
        e.parts = (threads + (guint)op->per - 1) / (guint)op->per;
        e.count = count / e.parts;
    }
    e.has_turn = op->turn != NULL;
    e.turn = value(B, op->turn);
    for (guint k = 0; k < n; k++)
        e.slot[k] = slot_number(B, rank[k], op);
    push(B, e);
}

static void barrier(Build *B, const WsOp *op, EventKind kind)
{
    Events *E = B->E;
    guint number = B->t->rank * 16, count = E->p->agent[B->t->agent].threads / 32;
    if (op->barrier >= 0)
        number += (guint)E->p->barrier[op->barrier].hw_id[value(B, op->element)];
    Event e = { .kind = kind, .op = op, .n_slots = 1, .count = count };
    e.slot[0] = number;
    E->named_count[number] = (guint)op->count / 32;
    push(B, e);
}

static void cluster(Build *B, const WsOp *op, gboolean arrive)
{
    Event e = {
        .kind = arrive ? EVENT_JOIN : EVENT_SYNC, .op = op, .n_slots = 1, .count = arrive ? 1 : 0
    };
    e.slot[0] = B->E->n_named - 1;
    push(B, e);
}

static void step(Build *B, const WsOp *op)
{
    switch (op->kind) {
    case WS_OP_MBAR_WAIT: {
        Event e = { .kind = EVENT_WAIT, .op = op, .n_slots = 1, .parity = value(B, op->parity) };
        e.has_turn = op->turn != NULL;
        e.turn = value(B, op->turn);
        e.slot[0] = slot_number(B, B->t->rank, op);
        push(B, e);
        break;
    }
    case WS_OP_MBAR_ARRIVE:
        contribution(B, op, op->count, 0);
        break;
    case WS_OP_MBAR_EXPECT:
        contribution(B, op, op->count, op->bytes);
        break;
    case WS_OP_TMA_LOAD:
    case WS_OP_TMA_GET:
    case WS_OP_BULK_COPY:
    case WS_OP_ST_REMOTE:
        if (op->barrier < 0)
            B->E->outside = "a transfer without signal";
        else
            transfer(B, op);
        break;
    case WS_OP_MMA:
        issue(B, op, QUEUE_MMA);
        break;
    case WS_OP_TMA_STORE:
    case WS_OP_TMA_PUT:
        issue(B, op, QUEUE_STORE);
        break;
    case WS_OP_MMA_COMMIT:
        B->mma_committed++;
        break;
    case WS_OP_BULK_COMMIT:
        B->store_committed++;
        break;
    case WS_OP_MMA_WAIT:
        retire(B, op, QUEUE_MMA);
        break;
    case WS_OP_BULK_WAIT:
        retire(B, op, QUEUE_STORE);
        break;
    case WS_OP_ST_SHARED:
    case WS_OP_STMATRIX:
    case WS_OP_LD_SHARED:
    case WS_OP_LDMATRIX:
    case WS_OP_CLAIM: /* the ids themselves come from the walker: all agents get the right one */
    case WS_OP_TAKE:
    case WS_OP_PIPE_TELL:
    case WS_OP_PIPE_ASK:
    case WS_OP_TRANSPOSE: {
        Event e = { .kind = EVENT_ACCESS, .op = op };
        all_bytes(B, &e, op);
        push(B, e);
        break;
    }
    case WS_OP_ST_PEER:
    case WS_OP_LD_REMOTE: { /* of another CTA */
        Event e = { .kind = EVENT_ACCESS, .op = op };
        guint rank[8];
        if (targets(B, &op->ctas, rank) == 1)
            add_bytes(B, &e, &op->access[0], rank[0]);
        push(B, e);
        break;
    }
    case WS_OP_BAR_SYNC:
        barrier(B, op, EVENT_SYNC);
        break;
    case WS_OP_BAR_ARRIVE:
        barrier(B, op, EVENT_JOIN);
        break;
    case WS_OP_CLUSTER_ARRIVE:
    case WS_OP_CLUSTER_WAIT:
        cluster(B, op, op->kind == WS_OP_CLUSTER_ARRIVE);
        break;
    case WS_OP_CP_ROWS:
        issue(B, op, QUEUE_ROWS);
        break;
    case WS_OP_CP_ARRIVE:
        arrive_later(B, op);
        break;
    case WS_OP_CP_COMMIT:
        B->rows_committed++;
        break;
    case WS_OP_CP_WAIT:
        retire(B, op, QUEUE_ROWS);
        break;
    case WS_OP_ADVANCE:
    case WS_OP_DEP_LAUNCH:
    case WS_OP_DEP_WAIT:
    case WS_OP_FENCE_ASYNC:
    case WS_OP_FENCE_CLUSTER:
    case WS_OP_FENCE_GPU:
    case WS_OP_FENCE_INIT:
    case WS_OP_LD_GLOBAL:
    case WS_OP_LET:
    case WS_OP_MARK:
    case WS_OP_PRIORITY:
    case WS_OP_MATH:
    case WS_OP_MFMA:
    case WS_OP_MBAR_INIT:
    case WS_OP_MMA_FENCE:
    case WS_OP_PREFETCH_MAP:
    case WS_OP_PREFETCH:
    case WS_OP_RED_GLOBAL:
    case WS_OP_SETMAXNREG:
    case WS_OP_ST_GLOBAL:
    case WS_OP_WARP_SYNC: /* private: registers, fences, names, global memory */
        break;
    case WS_OP_RED_SHARED: /* two of them of the same bytes are no race here */
    case WS_OP_FENCE_GLOBAL:
    case WS_OP_NOTIFY:
    case WS_OP_AWAIT:
    case WS_OP_QUEUE_IN:
    case WS_OP_QUEUE_OUT:
    case WS_OP_QUEUE_MOVE:
    case WS_OP_VECTOR:
    case WS_OP_CUBE:
    case WS_OP_KIND_COUNT:
    case WS_OP_RAW:
    default:
        B->E->outside = ws_op_kind_text(op->kind);
        break;
    }
}

gboolean oracle_element(gpointer data, gint tensor, const gint64 *at, gint64 *v)
{
    const OracleData *d = data;
    const WsTensor *t = &d->p->tensor[tensor];
    gint64 low = 0, high = G_MAXINT32;
    const GArray *chosen = d->options->chosen;
    for (guint i = 0; chosen && i < chosen->len; i++) {
        const OracleElement *x = &g_array_index(chosen, OracleElement, i);
        *v = x->value;
        if (x->tensor == tensor && !memcmp(x->at, at, t->rank * sizeof *at))
            return TRUE;
    }
    *v = d->options->element + (at[0] % 2 ? d->options->element_step : 0);
    if (!d->options->ranged)
        return TRUE;
    WsExprEnv env = ws_launch_env(d->v);
    if (t->data == WS_DATA_INTEGERS && ((t->data_a && !ws_expr_eval(t->data_a, &env, &low, NULL)) ||
                                        (t->data_b && !ws_expr_eval(t->data_b, &env, &high, NULL))))
        return FALSE;
    if (t->data == WS_DATA_OFFSETS && !ws_expr_eval(t->data_a, &env, &high, NULL))
        return FALSE;
    *v = t->data == WS_DATA_OFFSETS ? CLAMP(*v, 0, MAX(high, 0))
                                    : CLAMP(*v, low, MAX(high - 1, low));
    return TRUE;
}

WsTilesStrided oracle_tiles(const OracleOptions *o)
{
    const gint64 stride = o->stride ? o->stride : 1;
    return (WsTilesStrided){ o->first, stride, o->first + stride * o->tiles };
}

/* Who waits for what: of this launch, as far as each agent gets by itself. */
static void look_for_waits(Events *E)
{
    for (guint i = 0; i < E->n_threads; i++)
        for (guint k = 0; k < E->thread[i].events->len; k++) {
            const Event *e = &g_array_index(E->thread[i].events, Event, k);
            if (e->kind == EVENT_WAIT)
                E->waits[e->slot[0]] = TRUE;
            if (e->kind == EVENT_SYNC)
                E->named_waits[e->slot[0]] = TRUE;
        }
}

static void thread_events(Events *E, const WsLaunchValues *v, guint inst,
                          const OracleOptions *options)
{
    Thread *t = &E->thread[inst];
    WsTilesStrided source = oracle_tiles(options);
    Build B = { .E = E,
                .t = t,
                .inst = inst,
                .mma_group = g_array_new(FALSE, FALSE, sizeof(guint)),
                .store_group = g_array_new(FALSE, FALSE, sizeof(guint)),
                .rows_group = g_array_new(FALSE, FALSE, sizeof(guint)) };
    t->events = g_array_new(FALSE, TRUE, sizeof(Event));
    t->mma = g_array_new(FALSE, FALSE, sizeof(guint));
    t->store = g_array_new(FALSE, FALSE, sizeof(guint));
    t->rows = g_array_new(FALSE, FALSE, sizeof(guint));
    B.w = ws_walker_new(E->p, v, t->agent, t->rank, ws_tiles_strided, &source);
    OracleData data = { E->p, v, options };
    ws_walker_set_element(B.w, oracle_element, &data);
    WsStep s;
    g_autoptr(GError) error = NULL;
    while (!E->outside && t->events->len < 2000 && ws_walker_next(B.w, &s, &error))
        step(&B, s.op);
    if (error || t->events->len >= 2000)
        E->outside = "the walk does not end";
    Event last = { .kind = EVENT_ACCESS };
    push(&B, last);
    ws_walker_free(B.w);
    g_array_free(B.mma_group, TRUE);
    g_array_free(B.store_group, TRUE);
    g_array_free(B.rows_group, TRUE);
}

Events *events_new(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    Events *E = g_new0(Events, 1);
    E->p = p;
    E->memory = g_ptr_array_new_with_free_func(g_free);
    E->transfers = g_array_new(FALSE, TRUE, sizeof(Transfer));
    E->first_slot = g_new0(guint, p->n_barriers + 1);
    for (guint i = 0; i < p->n_barriers; i++) {
        E->first_slot[i] = E->slots_per_rank;
        if (p->barrier[i].kind == WS_BARRIER_MBARRIER)
            E->slots_per_rank += p->barrier[i].array * p->barrier[i].slots;
    }
    E->n_slots = E->slots_per_rank * p->cluster;
    E->waits = g_new0(gboolean, E->n_slots + 1);
    E->n_named = 16 * p->cluster + 1;
    E->named_waits = g_new0(gboolean, E->n_named);
    E->named_count = g_new0(guint, E->n_named);
    E->named_count[E->n_named - 1] = p->n_agents * p->cluster;
    E->n_threads = p->n_agents * p->cluster;
    E->thread = g_new0(Thread, E->n_threads);
    for (guint i = 0; i < E->n_threads; i++) {
        E->thread[i].agent = i % p->n_agents;
        E->thread[i].rank = i / p->n_agents;
        thread_events(E, v, i, options);
    }
    look_for_waits(E);
    return E;
}

void events_free(Events *E)
{
    for (guint i = 0; i < E->n_threads; i++) {
        g_array_free(E->thread[i].events, TRUE);
        g_array_free(E->thread[i].mma, TRUE);
        g_array_free(E->thread[i].store, TRUE);
        g_array_free(E->thread[i].rows, TRUE);
    }
    g_array_free(E->transfers, TRUE);
    g_ptr_array_free(E->memory, TRUE);
    g_free(E->first_slot);
    g_free(E->waits);
    g_free(E->named_waits);
    g_free(E->named_count);
    g_free(E->thread);
    g_free(E);
}
