/* Clocks of what is known, and what all files of the lanes share. */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <string.h>

typedef gint16 Row __attribute__((vector_size(2 * CLOCK_ROW), aligned(2)));

void clock_join(const Lab *L, Clock *into, const Clock *from)
{
    for (guint i = 0; i < L->width; i += CLOCK_ROW) {
        Row x = *(const Row *)(into + i), y = *(const Row *)(from + i);
        *(Row *)(into + i) = (x & (x >= y)) | (y & (x < y));
    }
}

void clocks_join(const Lab *L, Clocks *into, const Clocks *from)
{
    for (guint k = 0; k < N_CLOCKS; k++)
        clock_join(L, into->of[k], from->of[k]);
}

gpointer lanes_alloc(Lab *L, gsize bytes)
{
    enum { BLOCK = 1 << 16 };
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > L->block_left) {
        L->block_left = MAX(bytes, BLOCK);
        L->block = g_malloc0(L->block_left);
        g_ptr_array_add(L->memory, L->block);
    }
    gpointer at = L->block;
    L->block += bytes;
    L->block_left -= bytes;
    return at;
}

Clocks clocks_new(Lab *L)
{
    Clocks c;
    c.of[0] = lanes_alloc(L, sizeof(Clock) * L->width * N_CLOCKS);
    for (guint k = 1; k < N_CLOCKS; k++)
        c.of[k] = c.of[0] + (gsize)k * L->width;
    return c;
}

void clocks_copy(const Lab *L, Clocks *into, const Clocks *from)
{
    memcpy(into->of[0], from->of[0], sizeof(Clock) * L->width * N_CLOCKS);
}

void clocks_clear(const Lab *L, Clocks *c)
{
    memset(c->of[0], 0, sizeof(Clock) * L->width * N_CLOCKS);
}

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

void lanes_outside(Lab *L, const char *reason)
{
    L->result->reason = reason;
    L->result->verdict |= ORACLE_OUTSIDE;
}

/* Lane l does something that others may come to know. */
Moment lanes_tick(Lanes *a, guint l)
{
    gint16 t = ++a->now[l];
    Clock *own = a->lane[l].own[0];
    own[ORDER] = own[DATA] = own[RETURNED] = t;
    return (Moment){ (gint16)(a->first + l), t };
}

/* Lanes that execute an operation: 0, step, 2 step, … */
guint lanes_step(const Lanes *a, const WsOp *op)
{
    return op->breadth == WS_BREADTH_LEADER ? a->n_lanes : op->breadth == WS_BREADTH_WARP ? 32 : 1;
}

void lanes_reached(Lab *L, guint rank, const Lanes *a, Moment m, const WsOp *op)
{
    Remote r = { rank, m, op, a->inst };
    if (rank != a->rank)
        g_array_append_val(L->remote, r);
}

guint lanes_targets(Lab *L, const Lanes *a, const WsCtas *ctas, guint *rank)
{
    guint n = 0, cluster = L->p->cluster;
    if (ctas->kind == WS_CTAS_OWN) {
        rank[n++] = a->rank;
    } else if (ctas->kind == WS_CTAS_EXPR) {
        gint64 r = lanes_value(L, a, ctas->expr);
        if (r < 0 || r >= cluster)
            lanes_outside(L, "a rank out of range");
        rank[n++] = (guint)CLAMP(r, 0, (gint64)cluster - 1);
    } else {
        for (guint r = 0; r < cluster; r++)
            if (ctas->kind == WS_CTAS_ALL || (ctas->mask >> r & 1))
                rank[n++] = r;
    }
    return n;
}

Mbarrier *lanes_slot(Lab *L, const Lanes *a, const WsOp *op, guint rank)
{
    const WsBarrier *b = &L->p->barrier[op->barrier];
    if (op->use && lanes_value(L, a, op->use) < 0) /* there is none before the first */
        lanes_problem(L, ORACLE_UNDEFINED, a, op, NULL);
    gint64 e = lanes_value(L, a, op->element), s = lanes_value(L, a, op->slot);
    if (e < 0 || e >= b->array || s < 0 || s >= b->slots) {
        lanes_outside(L, "a slot out of range");
        e = s = 0;
    }
    return &L->slot[rank * L->slots_per_rank + L->first_slot[op->barrier] + (guint)e * b->slots +
                    (guint)s];
}
