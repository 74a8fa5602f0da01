#include "lanes.h"

#include <string.h>

#define MOST_EVENTS 20000

/* --- clocks --------------------------------------------------------------------------------------
 */

typedef gint16 Row __attribute__((vector_size(16), aligned(2)));
#define PER_ROW (sizeof(Row) / sizeof(Clock))

void clock_join(const Lab *L, Clock *into, const Clock *from)
{
    for (guint i = 0; i < L->width; i += PER_ROW) {
        Row x = *(const Row *)(into + i), y = *(const Row *)(from + i);
        *(Row *)(into + i) = (x & (x >= y)) | (y & (x < y));
    }
}

static void clock_meet(const Lab *L, Clock *into, const Clock *from)
{
    for (guint i = 0; i < L->width; i += PER_ROW) {
        Row x = *(const Row *)(into + i), y = *(const Row *)(from + i);
        *(Row *)(into + i) = (x & (x <= y)) | (y & (x > y));
    }
}

void clocks_join(const Lab *L, Clocks *into, const Clocks *from)
{
    for (guint k = 0; k < N_CLOCKS; k++)
        clock_join(L, into->of[k], from->of[k]);
}

Clocks clocks_new(const Lab *L)
{
    Clocks c;
    c.of[0] = g_new0(Clock, (gsize)L->width * N_CLOCKS);
    for (guint k = 1; k < N_CLOCKS; k++)
        c.of[k] = c.of[0] + (gsize)k * L->width;
    return c;
}

void clocks_free(Clocks *c)
{
    g_free(c->of[0]);
}

static void clocks_copy(const Lab *L, Clocks *into, const Clocks *from)
{
    memcpy(into->of[0], from->of[0], sizeof(Clock) * L->width * N_CLOCKS);
}

static void clocks_clear(const Lab *L, Clocks *c)
{
    memset(c->of[0], 0, sizeof(Clock) * L->width * N_CLOCKS);
}

/* --- common --------------------------------------------------------------------------------------
 */

void lanes_problem(Lab *L, guint flag, const Lanes *a, const WsOp *at, const WsOp *other)
{
    OracleResult *r = L->result;
    if (!(r->verdict & ORACLE_BAD)) {
        r->at = at;
        r->other = other;
        r->inst = a ? a->inst : 0;
    }
    r->verdict |= flag;
}

gint64 lanes_value(Lab *L, const Lanes *a, const WsExpr *e)
{
    g_autoptr(GError) error = NULL;
    gint64 v = 0;
    if (e && !ws_walker_eval(a->walker, e, &v, &error)) {
        L->result->reason = "an expression has no value";
        L->result->verdict |= ORACLE_OUTSIDE;
    }
    return v;
}

static void outside(Lab *L, const char *reason)
{
    L->result->reason = reason;
    L->result->verdict |= ORACLE_OUTSIDE;
}

/* Lane l does something that others may come to know. */
static Moment tick(Lanes *a, guint l)
{
    gint16 t = ++a->now[l];
    guint me = a->first + l;
    a->lane[l].of[ORDER][me] = a->lane[l].of[DATA][me] = t;
    return (Moment){ (gint16)me, t };
}

/* Lanes that execute an operation: 0, step, 2 step, … */
static guint step_of(const Lanes *a, const WsOp *op)
{
    return op->breadth == WS_BREADTH_LEADER ? a->n_lanes : op->breadth == WS_BREADTH_WARP ? 32 : 1;
}

static void reached(Lab *L, guint rank, const Lanes *a, Moment m, const WsOp *op)
{
    Remote r = { rank, m, op, a->inst };
    if (rank != a->rank)
        g_array_append_val(L->remote, r);
}

static guint targets(Lab *L, const Lanes *a, const WsCtas *ctas, guint *rank)
{
    guint n = 0, cluster = L->p->cluster;
    if (ctas->kind == WS_CTAS_OWN) {
        rank[n++] = a->rank;
    } else if (ctas->kind == WS_CTAS_EXPR) {
        gint64 r = lanes_value(L, a, ctas->expr);
        if (r < 0 || r >= cluster)
            outside(L, "a rank out of range");
        rank[n++] = (guint)CLAMP(r, 0, (gint64)cluster - 1);
    } else {
        for (guint r = 0; r < cluster; r++)
            if (ctas->kind == WS_CTAS_ALL || (ctas->mask >> r & 1))
                rank[n++] = r;
    }
    return n;
}

static Mbarrier *slot_of(Lab *L, const Lanes *a, const WsOp *op, guint rank)
{
    const WsBarrier *b = &L->p->barrier[op->barrier];
    gint64 e = lanes_value(L, a, op->element), s = lanes_value(L, a, op->slot);
    if (e < 0 || e >= b->array || s < 0 || s >= b->slots) {
        outside(L, "a slot out of range");
        e = s = 0;
    }
    return &L->slot[rank * L->slots_per_rank + L->first_slot[op->barrier] + (guint)e * b->slots +
                    (guint)s];
}

/* --- mbarriers -----------------------------------------------------------------------------------
 */

static gboolean knows_all(const Clocks *c, const GArray *moments)
{
    for (guint i = 0; i < moments->len; i++) {
        const Moment *m = &g_array_index(moments, Moment, i);
        if (c->of[ORDER][m->who] < m->when)
            return FALSE;
    }
    return TRUE;
}

/* A contribution by one that knows `by`: it must mean this phase, and know that the one before is
 * complete, or in another run it could hit that one. */
static void contributes(Lab *L, const Lanes *a, const WsOp *op, Mbarrier *b, const Clocks *by)
{
    guint flag = b->waits ? ORACLE_PHASE : ORACLE_UNSEEN; /* whichever it hits, nobody looks */
    if (op->turn && lanes_value(L, a, op->turn) != b->phase)
        lanes_problem(L, flag, a, op, NULL);
    if (b->phase > 0 && !knows_all(by, b->last))
        lanes_problem(L, flag, a, op, NULL);
}

static void complete(Lab *L, const Lanes *a, const WsOp *op, Mbarrier *b)
{
    if (b->pending != 0 || b->tx != 0)
        return;
    /* who waits for the completion before must have returned, or it is lapped */
    if (!knows_all(&b->now, b->waited))
        lanes_problem(L, ORACLE_LAPPED, a, op, NULL);
    if (!knows_all(&b->now, b->expects)) /* it could complete without them */
        lanes_problem(L, ORACLE_BYTES, a, op, NULL);
    b->phase++;
    b->pending = b->count;
    clocks_copy(L, &b->before, &b->now);
    clocks_clear(L, &b->now);
    GArray *swap = b->older;
    b->older = b->last;
    b->last = b->part;
    b->part = swap;
    g_array_set_size(b->part, 0);
    g_array_set_size(b->waited, 0);
    g_array_set_size(b->expects, 0);
    for (guint k = 0; k < N_CLOCKS; k++) /* the transfers of the phase have landed */
        b->before.of[k][b->clock] = (Clock)b->phase;
}

static void arrive(Lab *L, Lanes *a, const WsOp *op, Mbarrier *b, guint lane, gint64 n,
                   gint64 bytes)
{
    contributes(L, a, op, b, &a->lane[lane]);
    Moment m = { (gint16)(a->first + lane), a->now[lane] };
    if (n > 0)
        clocks_join(L, &b->now, &a->lane[lane]);
    g_array_append_vals(n > 0 ? b->part : b->expects, &m, 1);
    reached(L, (guint)(b - L->slot) / L->slots_per_rank, a, m, op);
    b->tx += bytes;
    if (b->tx > (1 << 20) - 1)
        lanes_problem(L, ORACLE_BYTES, a, op, NULL);
    if (n == 0)
        return;
    if (b->pending < n) {
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
        n = b->pending;
    }
    b->pending -= n;
    complete(L, a, op, b);
}

static void arrivals(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = targets(L, a, &op->ctas, rank);
    guint step = op->per == 0 ? a->n_lanes : (guint)op->per, lanes = 0;
    for (guint l = 0; l < a->n_lanes; l += step)
        lanes++;
    for (guint l = 0; l < a->n_lanes; l += step)
        tick(a, l);
    for (guint k = 0; k < n; k++) {
        Mbarrier *b = slot_of(L, a, op, rank[k]);
        for (guint l = 0; l < a->n_lanes; l += step)
            arrive(L, a, op, b, l, op->count / lanes, 0);
    }
}

static void expects(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = targets(L, a, &op->ctas, rank);
    tick(a, 0);
    for (guint k = 0; k < n; k++)
        arrive(L, a, op, slot_of(L, a, op, rank[k]), 0, op->count, op->bytes);
}

static gboolean wait_passes(Lab *L, Lanes *a, const WsOp *op)
{
    Mbarrier *b = slot_of(L, a, op, a->rank);
    if (b->phase % 2 == lanes_value(L, a, op->parity) % 2)
        return FALSE;
    gint64 turn = op->turn ? lanes_value(L, a, op->turn) : b->phase - 1;
    if (turn != b->phase - 1)
        lanes_problem(L, ORACLE_PHASE, a, op, NULL);
    guint step = step_of(a, op);
    for (guint l = 0; l < a->n_lanes; l += step) {
        if (turn > 0 && !knows_all(&a->lane[l], b->older)) /* it could pass two completions early */
            lanes_problem(L, ORACLE_PHASE, a, op, NULL);
        clocks_join(L, &a->lane[l], &b->before);
        Moment m = tick(a, l);
        g_array_append_val(b->waited, m);
    }
    return TRUE;
}

/* --- transfers -----------------------------------------------------------------------------------
 */

static void land(Lab *L, Lanes *a, const WsOp *op, Mbarrier *b, gint64 bytes)
{
    b->tx -= bytes;
    complete(L, a, op, b);
}

/* Issued by the leader, or by all lanes (a remote write): the lane that knows least counts. */
static void transfer(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8], n = targets(L, a, &op->ctas, rank), step = step_of(a, op);
    Clocks by = clocks_new(L), join = clocks_new(L);
    clocks_copy(L, &by, &a->lane[0]);
    for (guint l = 0; l < a->n_lanes; l += step) {
        tick(a, l);
        for (guint k = 0; k < N_CLOCKS; k++)
            clock_meet(L, by.of[k], a->lane[l].of[k]);
        clock_join(L, join.of[ORDER], a->lane[l].of[ORDER]);
    }
    if (step >= a->n_lanes) /* what it did itself before */
        clocks_copy(L, &by, &a->lane[0]);
    for (guint k = 0; k < n; k++) {
        Mbarrier *b = slot_of(L, a, op, rank[k]);
        Moment m = { (gint16)b->clock, (gint16)(b->phase + 1) };
        contributes(L, a, op, b, &by);
        clock_join(L, b->now.of[ORDER], join.of[ORDER]);
        g_array_append_val(b->part, m);
        reached(L, rank[k], a, m, op);
        for (guint i = 0; i < op->n_access; i++) {
            gboolean write = (op->access[i].mode & WS_MODE_WRITE) != 0;
            lanes_engine(L, a, op, &op->access[i], write ? rank[k] : a->rank, &by, m);
            if (!write && rank[k] != a->rank) { /* the source must live as long */
                Remote r = { a->rank, m, op, a->inst };
                g_array_append_val(L->remote, r);
            }
        }
        Remote own = { rank[k], m, op, a->inst };
        g_array_append_val(L->in_flight, own);
    }
    for (guint k = 0; k < n; k++)
        land(L, a, op, slot_of(L, a, op, rank[k]), op->bytes);
    clocks_free(&by);
    clocks_free(&join);
}

/* --- queues --------------------------------------------------------------------------------------
 */

static void product(Lab *L, Lanes *a, const WsOp *op)
{
    Clocks by = clocks_new(L);
    for (guint l = 0; l < a->n_lanes; l++)
        tick(a, l);
    clocks_copy(L, &by, &a->lane[0]);
    for (guint l = 0; l < a->n_lanes; l++)
        for (guint k = 0; k < N_CLOCKS; k++)
            clock_meet(L, by.of[k], a->lane[l].of[k]);
    Clock *issue = g_new0(Clock, L->width);
    for (guint l = 0; l < a->n_lanes; l++)
        clock_join(L, issue, a->lane[l].of[ORDER]);
    g_ptr_array_add(a->issue, issue);
    Moment m = { (gint16)a->products, ++a->product_now };
    for (guint i = 0; i < op->n_access; i++)
        lanes_engine(L, a, op, &op->access[i], a->rank, &by, m);
    clocks_free(&by);
}

/* What is over is known to all lanes; a product needs the issue of all of them. */
static void product_wait(Lab *L, Lanes *a, const WsOp *op)
{
    guint before = a->flight->len;
    lanes_values(L, a, op);
    if (a->products < 0)
        return;
    gint16 over = (gint16)(a->product_now - (gint16)a->flight->len);
    for (guint l = 0; l < a->n_lanes; l++) {
        for (guint k = 0; k < N_CLOCKS; k++)
            a->lane[l].of[k][a->products] = MAX(a->lane[l].of[k][a->products], over);
        if (over > 0 && a->flight->len < before)
            clock_join(L, a->lane[l].of[ORDER], g_ptr_array_index(a->issue, over - 1));
    }
}

static void store(Lab *L, Lanes *a, const WsOp *op)
{
    tick(a, 0);
    Moment m = { (gint16)a->reads, ++a->read_now };
    a->stores_open = a->read_now;
    for (guint i = 0; i < op->n_access; i++)
        lanes_engine(L, a, op, &op->access[i], a->rank, &a->lane[0], m);
}

static gint16 retired(GArray *groups, gint64 newest)
{
    gint64 last = (gint64)groups->len - newest - 1;
    return last >= 0 ? g_array_index(groups, gint16, last) : 0;
}

static void store_wait(Lanes *a, const WsOp *op)
{
    gint16 over = retired(a->store_group, op->n);
    for (guint k = 0; a->reads >= 0 && k < N_CLOCKS; k++)
        a->lane[0].of[k][a->reads] = MAX(a->lane[0].of[k][a->reads], over);
}

static void rows(Lab *L, Lanes *a, const WsOp *op)
{
    for (guint l = 0; l < a->n_lanes; l++) {
        tick(a, l);
        a->row_now[l]++;
    }
    lanes_gather(L, a, op);
}

static void rows_wait(Lanes *a, const WsOp *op)
{
    gint16 over = retired(a->row_group, op->n);
    for (guint l = 0; a->rows >= 0 && l < a->n_lanes; l++)
        for (guint k = 0; k < N_CLOCKS; k++)
            a->lane[l].of[k][a->rows + (gint)l] = MAX(a->lane[l].of[k][a->rows + (gint)l], over);
}

/* One arrival per lane, made when its copies are there. It tells of these alone. */
static void rows_arrive(Lab *L, Lanes *a, const WsOp *op)
{
    Mbarrier *b = slot_of(L, a, op, a->rank);
    for (guint l = 0; l < a->n_lanes; l++) {
        Moment m = tick(a, l);
        gint n = 1;
        contributes(L, a, op, b, &a->lane[l]);
        clock_join(L, b->now.of[ORDER], a->lane[l].of[ORDER]);
        for (guint k = 0; k < N_CLOCKS; k++)
            b->now.of[k][a->rows + (gint)l] = a->row_now[l];
        g_array_append_val(b->part, m);
        if (b->pending < n) {
            lanes_problem(L, ORACLE_COUNT, a, op, NULL);
            n = (gint)b->pending;
        }
        b->pending -= n;
        complete(L, a, op, b);
    }
}

/* --- named barriers, cluster ---------------------------------------------------------------------
 */

static Named *named_of(Lab *L, const Lanes *a, const WsOp *op)
{
    if (op->kind == WS_OP_CLUSTER_ARRIVE || op->kind == WS_OP_CLUSTER_WAIT)
        return &L->named[L->n_named - 1];
    guint id = 0;
    if (op->barrier >= 0) {
        gint64 e = lanes_value(L, a, op->element);
        if (e < 0 || e >= L->p->barrier[op->barrier].array) {
            outside(L, "an element out of range");
            e = 0;
        }
        id = (guint)L->p->barrier[op->barrier].hw_id[e];
    }
    return &L->named[a->rank * 16 + id];
}

static void join(Lab *L, Lanes *a, const WsOp *op, Named *b, guint threads)
{
    if (b->arrived == 0)
        b->count = op->kind == WS_OP_CLUSTER_ARRIVE ? b->count : (guint)op->count;
    else if (op->kind != WS_OP_CLUSTER_ARRIVE && b->count != (guint)op->count)
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
    for (guint l = 0; l < a->n_lanes; l++) {
        Moment m = tick(a, l);
        if (b->generation > 0 && !knows_all(&a->lane[l], b->last))
            lanes_problem(L, ORACLE_PHASE, a, op, NULL);
        clocks_join(L, &b->now, &a->lane[l]);
        g_array_append_val(b->part, m);
    }
    b->arrived += threads;
    if (b->arrived > b->count)
        lanes_problem(L, ORACLE_COUNT, a, op, NULL);
    if (b->arrived < b->count)
        return;
    b->arrived = 0;
    b->generation++;
    clocks_copy(L, &b->before, &b->now);
    clocks_clear(L, &b->now);
    GArray *swap = b->last;
    b->last = b->part;
    b->part = swap;
    g_array_set_size(b->part, 0);
}

static void leave(Lab *L, Lanes *a, const Named *b)
{
    for (guint l = 0; l < a->n_lanes; l++)
        clocks_join(L, &a->lane[l], &b->before);
}

static gboolean sync_passes(Lab *L, Lanes *a, const WsOp *op)
{
    Named *b = named_of(L, a, op);
    if (!a->joined) {
        a->named_generation = b->generation;
        join(L, a, op, b, L->p->agent[a->agent].threads);
        a->joined = TRUE;
    }
    if (b->generation == a->named_generation)
        return FALSE;
    a->joined = FALSE;
    leave(L, a, b);
    return TRUE;
}

static gboolean cluster_passes(Lab *L, Lanes *a, const WsOp *op)
{
    Named *b = named_of(L, a, op);
    if (!a->clustered)
        lanes_problem(L, ORACLE_HANG, a, op, NULL);
    if (b->generation == a->cluster_generation)
        return FALSE;
    a->clustered = FALSE;
    leave(L, a, b);
    return TRUE;
}

static void warp_sync(Lab *L, Lanes *a)
{
    Clocks all = clocks_new(L);
    for (guint w = 0; w < a->n_lanes; w += 32) {
        clocks_clear(L, &all);
        for (guint l = w; l < MIN(w + 32, a->n_lanes); l++) {
            tick(a, l);
            clocks_join(L, &all, &a->lane[l]);
        }
        for (guint l = w; l < MIN(w + 32, a->n_lanes); l++)
            clocks_join(L, &a->lane[l], &all);
    }
    clocks_free(&all);
}

static void fence_async(Lab *L, Lanes *a, const WsOp *op)
{
    guint step = step_of(a, op);
    for (guint l = 0; l < a->n_lanes; l += step)
        memcpy(a->lane[l].of[PROXY], a->lane[l].of[DATA], sizeof(Clock) * L->width);
}

/* --- operations ----------------------------------------------------------------------------------
 */

static void tensor_access(Lab *L, const Lanes *a, const WsOp *op)
{
    gboolean load =
        op->kind == WS_OP_TMA_LOAD || op->kind == WS_OP_CP_ROWS || op->kind == WS_OP_LD_GLOBAL;
    gboolean writes =
        op->kind == WS_OP_TMA_STORE || op->kind == WS_OP_ST_GLOBAL || op->kind == WS_OP_RED_GLOBAL;
    if (op->tensor < 0 || (!load && !writes))
        return;
    WsTensorAccess need = load                           ? WS_ACCESS_READ
                          : op->reduce != WS_REDUCE_NONE ? WS_ACCESS_REDUCE
                                                         : WS_ACCESS_WRITE;
    if (L->p->tensor[op->tensor].access != need)
        lanes_problem(L, ORACLE_ACCESS, a, op, NULL);
}

/* One operation; FALSE: it must wait. */
static gboolean perform(Lab *L, Lanes *a, const WsOp *op)
{
    tensor_access(L, a, op);
    switch (op->kind) {
    case WS_OP_MBAR_WAIT:
        return wait_passes(L, a, op);
    case WS_OP_MBAR_ARRIVE:
        arrivals(L, a, op);
        break;
    case WS_OP_MBAR_EXPECT:
        expects(L, a, op);
        break;
    case WS_OP_TMA_LOAD:
    case WS_OP_BULK_COPY:
    case WS_OP_ST_REMOTE:
        if (op->barrier < 0) {
            outside(L, "a transfer without signal");
            break;
        }
        lanes_values(L, a, op);
        transfer(L, a, op);
        break;
    case WS_OP_MMA:
        product(L, a, op);
        lanes_values(L, a, op);
        break;
    case WS_OP_MMA_WAIT:
        product_wait(L, a, op);
        break;
    case WS_OP_TMA_STORE:
        store(L, a, op);
        break;
    case WS_OP_BULK_COMMIT:
        g_array_append_val(a->store_group, a->read_now);
        break;
    case WS_OP_BULK_WAIT:
        store_wait(a, op);
        break;
    case WS_OP_CP_ROWS:
        rows(L, a, op);
        break;
    case WS_OP_CP_ARRIVE:
        rows_arrive(L, a, op);
        break;
    case WS_OP_CP_COMMIT:
        g_array_append_val(a->row_group, a->row_now[0]);
        break;
    case WS_OP_CP_WAIT:
        rows_wait(a, op);
        break;
    case WS_OP_ST_SHARED:
    case WS_OP_STMATRIX:
    case WS_OP_LD_SHARED:
    case WS_OP_LDMATRIX:
    case WS_OP_TRANSPOSE:
    case WS_OP_CLAIM:
    case WS_OP_TAKE: {
        guint step = step_of(a, op);
        for (guint l = 0; l < a->n_lanes; l += step)
            tick(a, l);
        lanes_values(L, a, op);
        lanes_generic(L, a, op);
        break;
    }
    case WS_OP_BAR_SYNC:
        return sync_passes(L, a, op);
    case WS_OP_BAR_ARRIVE:
        join(L, a, op, named_of(L, a, op), L->p->agent[a->agent].threads);
        break;
    case WS_OP_CLUSTER_ARRIVE:
        a->cluster_generation = named_of(L, a, op)->generation;
        a->clustered = TRUE;
        join(L, a, op, named_of(L, a, op), 1);
        break;
    case WS_OP_CLUSTER_WAIT:
        return cluster_passes(L, a, op);
    case WS_OP_WARP_SYNC:
        warp_sync(L, a);
        break;
    case WS_OP_FENCE_ASYNC:
        fence_async(L, a, op);
        break;
    case WS_OP_RAW:
        outside(L, "a raw step");
        break;
    default:
        lanes_values(L, a, op);
        break;
    }
    return TRUE;
}

/* --- the run -------------------------------------------------------------------------------------
 */

/* Is there anything that lanes other than the leader do? */
static gboolean leader_alone(const WsTree *t)
{
    if (!t)
        return TRUE;
    if (t->op && t->op->breadth != WS_BREADTH_LEADER)
        switch (t->op->kind) {
        case WS_OP_BAR_SYNC:
        case WS_OP_BAR_ARRIVE:
        case WS_OP_CLUSTER_ARRIVE:
        case WS_OP_CLUSTER_WAIT:
        case WS_OP_SETMAXNREG:
        case WS_OP_LET:
        case WS_OP_ADVANCE:
        case WS_OP_MARK:
        case WS_OP_FENCE_ASYNC:
            break;
        case WS_OP_MBAR_ARRIVE:
            if (t->op->per != 0)
                return FALSE;
            break;
        default:
            return FALSE;
        }
    for (guint i = 0; i < t->n_kids; i++)
        if (!leader_alone(t->kid[i]))
            return FALSE;
    return TRUE;
}

static gboolean has_kind(const WsProgram *p, guint agent, WsOpKind kind)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == kind && p->op[i]->agent == (gint)agent)
            return TRUE;
    return FALSE;
}

static void layout(Lab *L)
{
    const WsProgram *p = L->p;
    guint at = 0;
    L->n_insts = p->n_agents * p->cluster;
    L->inst = g_new0(Lanes, L->n_insts + 1);
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        a->inst = i;
        a->agent = i % p->n_agents;
        a->rank = i / p->n_agents;
        a->n_lanes = leader_alone(p->agent[a->agent].body) ? 1 : p->agent[a->agent].threads;
        a->first = at;
        at += a->n_lanes;
        a->products = has_kind(p, a->agent, WS_OP_MMA) ? (gint)at++ : -1;
        a->reads = has_kind(p, a->agent, WS_OP_TMA_STORE) ? (gint)at++ : -1;
        a->rows = has_kind(p, a->agent, WS_OP_CP_ROWS) ? (gint)at : -1;
        at += a->rows >= 0 ? a->n_lanes : 0;
    }
    L->first_slot = g_new0(guint, p->n_barriers + 1);
    for (guint i = 0; i < p->n_barriers; i++) {
        L->first_slot[i] = L->slots_per_rank;
        if (p->barrier[i].kind == WS_BARRIER_MBARRIER)
            L->slots_per_rank += p->barrier[i].array * p->barrier[i].slots;
    }
    L->n_slots = L->slots_per_rank * p->cluster;
    L->slot = g_new0(Mbarrier, L->n_slots + 1);
    for (guint i = 0; i < L->n_slots; i++)
        L->slot[i].clock = (gint)at++;
    L->width = (at + (guint)PER_ROW - 1) / (guint)PER_ROW * (guint)PER_ROW;
}

static gboolean waits_for(const WsProgram *p, gint barrier)
{
    for (guint i = 0; i < p->n_ops; i++)
        if (p->op[i]->kind == WS_OP_MBAR_WAIT && p->op[i]->barrier == barrier)
            return TRUE;
    return FALSE;
}

static GArray *moments(void)
{
    return g_array_new(FALSE, FALSE, sizeof(Moment));
}

static void begin_objects(Lab *L)
{
    const WsProgram *p = L->p;
    for (guint r = 0; r < p->cluster; r++)
        for (guint i = 0; i < p->n_barriers; i++) {
            const WsBarrier *b = &p->barrier[i];
            for (guint k = 0; b->kind == WS_BARRIER_MBARRIER && k < b->array * b->slots; k++) {
                Mbarrier *s = &L->slot[r * L->slots_per_rank + L->first_slot[i] + k];
                s->count = b->arrivals[k / b->slots];
                s->pending = s->count;
                s->waits = waits_for(p, (gint)i);
            }
        }
    for (guint i = 0; i < L->n_slots; i++) {
        Mbarrier *s = &L->slot[i];
        s->now = clocks_new(L);
        s->before = clocks_new(L);
        s->part = moments();
        s->last = moments();
        s->older = moments();
        s->expects = moments();
        s->waited = moments();
    }
    L->n_named = 16 * p->cluster + 1;
    L->named = g_new0(Named, L->n_named);
    for (guint i = 0; i < L->n_named; i++) {
        Named *b = &L->named[i];
        b->now = clocks_new(L);
        b->before = clocks_new(L);
        b->part = moments();
        b->last = moments();
    }
    L->named[L->n_named - 1].count = L->n_insts;
}

static gboolean element_is(gpointer data, gint tensor, const gint64 *at, gint64 *v)
{
    const OracleOptions *options = data;
    (void)tensor;
    *v = options->element + (at[0] % 2 ? options->element_step : 0);
    return TRUE;
}

static void begin_agents(Lab *L, const WsLaunchValues *v, WsTilesStrided *tiles)
{
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        a->lane = g_new(Clocks, a->n_lanes);
        for (guint l = 0; l < a->n_lanes; l++)
            a->lane[l] = clocks_new(L);
        a->now = g_new0(gint16, a->n_lanes);
        a->row_now = g_new0(gint16, a->n_lanes);
        a->store_group = g_array_new(FALSE, FALSE, sizeof(gint16));
        a->row_group = g_array_new(FALSE, FALSE, sizeof(gint16));
        a->issue = g_ptr_array_new_with_free_func(g_free);
        a->walker = ws_walker_new(L->p, v, a->agent, a->rank, ws_tiles_strided, tiles);
        ws_walker_set_element(a->walker, element_is, (gpointer)L->options);
        lanes_values_new(L->p, a);
        a->position = -1;
    }
}

static void end(Lab *L)
{
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        for (guint l = 0; l < a->n_lanes; l++)
            clocks_free(&a->lane[l]);
        g_free(a->lane);
        g_free(a->now);
        g_free(a->row_now);
        g_array_free(a->store_group, TRUE);
        g_array_free(a->row_group, TRUE);
        g_ptr_array_free(a->issue, TRUE);
        ws_walker_free(a->walker);
        lanes_values_free(L->p, a);
    }
    for (guint i = 0; i < L->n_slots; i++) {
        Mbarrier *s = &L->slot[i];
        clocks_free(&s->now);
        clocks_free(&s->before);
        g_array_free(s->part, TRUE);
        g_array_free(s->last, TRUE);
        g_array_free(s->older, TRUE);
        g_array_free(s->expects, TRUE);
        g_array_free(s->waited, TRUE);
    }
    for (guint i = 0; i < L->n_named; i++) {
        clocks_free(&L->named[i].now);
        clocks_free(&L->named[i].before);
        g_array_free(L->named[i].part, TRUE);
        g_array_free(L->named[i].last, TRUE);
    }
    g_free(L->named);
    g_free(L->inst);
    g_free(L->slot);
    g_free(L->first_slot);
    g_free(L->cell);
    g_free(L->fine);
    g_array_free(L->remote, TRUE);
    g_array_free(L->in_flight, TRUE);
    g_ptr_array_free(L->memory, TRUE);
}

/* Some lane of the CTA must know of it when it ends. */
static void must_be_known(Lab *L, const Remote *r)
{
    for (guint i = 0; i < L->n_insts; i++) {
        const Lanes *a = &L->inst[i];
        for (guint l = 0; a->rank == r->rank && l < a->n_lanes; l++)
            if (a->lane[l].of[ORDER][r->what.who] >= r->what.when)
                return;
    }
    lanes_problem(L, ORACLE_EXIT, &L->inst[r->inst], r->op, NULL);
}

static void at_end(Lab *L)
{
    for (guint i = 0; i < L->n_insts; i++) {
        Lanes *a = &L->inst[i];
        if (a->flight->len)
            lanes_problem(L, ORACLE_EXIT, a, g_array_index(a->flight, Product, 0).op, NULL);
        if (a->reads >= 0 && a->lane[0].of[ORDER][a->reads] < a->read_now)
            lanes_problem(L, ORACLE_EXIT, a, NULL, NULL);
    }
    for (guint i = 0; i < L->remote->len; i++)
        must_be_known(L, &g_array_index(L->remote, Remote, i));
    for (guint i = 0; i < L->in_flight->len; i++)
        must_be_known(L, &g_array_index(L->in_flight, Remote, i));
    for (guint i = 0; i < L->n_slots; i++)
        if (L->slot[i].tx != 0)
            lanes_problem(L, ORACLE_BYTES, NULL, NULL, NULL);
}

/* Of dynamic tiles every agent learns the next one once in each round. */
static void next_tile(Lab *L, Lanes *a, const WsOp *last)
{
    gint64 position = ws_walker_position(a->walker);
    if (position == a->position || L->p->tiles.launch != WS_LAUNCH_DYNAMIC)
        return;
    if (a->position >= 0 && a->taken != 1)
        lanes_problem(L, ORACLE_COUNT, a, last, NULL);
    a->position = position;
    a->taken = 0;
}

static void fetch(Lab *L, Lanes *a)
{
    const WsOp *last = a->op;
    WsStep s;
    g_autoptr(GError) error = NULL;
    a->op = ws_walker_next(a->walker, &s, &error) ? s.op : NULL;
    a->done = a->op == NULL;
    next_tile(L, a, last);
    a->taken += a->op && (a->op->kind == WS_OP_CLAIM || a->op->kind == WS_OP_TAKE);
    if (error)
        outside(L, "the walk does not end");
}

static void run(Lab *L)
{
    guint events = 0;
    for (guint i = 0; i < L->n_insts; i++)
        fetch(L, &L->inst[i]);
    for (gboolean moved = TRUE; moved;) {
        moved = FALSE;
        for (guint i = 0; i < L->n_insts; i++) {
            Lanes *a = &L->inst[i];
            while (!a->done && perform(L, a, a->op)) {
                fetch(L, a);
                moved = TRUE;
                if (++events > MOST_EVENTS ||
                    ((L->result->verdict & ORACLE_BAD) && L->options->stop)) {
                    if (!L->result->verdict)
                        outside(L, "too many events");
                    return;
                }
            }
        }
    }
    for (guint i = 0; i < L->n_insts; i++)
        if (!L->inst[i].done) {
            lanes_problem(L, ORACLE_HANG, &L->inst[i], L->inst[i].op, NULL);
            return;
        }
    at_end(L);
    L->result->states = events;
}

OracleResult lanes_run(const WsProgram *p, const WsLaunchValues *v, const OracleOptions *options)
{
    OracleResult result = { 0 };
    WsTilesStrided tiles = { .first = 0, .stride = 1, .count = options->tiles };
    Lab L = { .p = p, .options = options, .result = &result };
    L.remote = g_array_new(FALSE, FALSE, sizeof(Remote));
    L.in_flight = g_array_new(FALSE, FALSE, sizeof(Remote));
    L.memory = g_ptr_array_new_with_free_func(g_free);
    layout(&L);
    begin_objects(&L);
    begin_agents(&L, v, &tiles);
    if (lanes_memory_new(&L) && L.width < 8000)
        run(&L);
    else
        outside(&L, "too large for the oracle");
    end(&L);
    return result;
}
