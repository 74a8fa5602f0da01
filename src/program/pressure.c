/* Lifetimes of values over the operations of an agent in the order they are written: alive from the
 * first write to the last read; a value that a loop reads before it writes it is alive throughout
 * that loop. */
#include "program/pressure.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

#define WS_FIXED_CONSUMER 26 /* ptxas's own use in the shipped GEMMs beside their accumulators */
#define WS_FIXED_PRODUCER 20

typedef struct {
    guint first, last;
    gboolean used;
} Range;

typedef struct {
    const WsAgent *agent;
    GPtrArray *op; /* in order */
    Range *range;  /* per value */
} Life;

static void touch(Life *l, guint value, guint at)
{
    Range *r = &l->range[value];
    if (!r->used)
        *r = (Range){ at, at, TRUE };
    r->first = MIN(r->first, at);
    r->last = MAX(r->last, at);
}

static void read_value(const WsArray *a, gpointer data)
{
    Life *l = data;
    if (a->form == WS_ARRAY_VALUE)
        touch(l, a->index, l->op->len - 1);
}

static void visit_op(Life *l, const WsOp *op)
{
    g_ptr_array_add(l->op, (gpointer)op);
    guint at = l->op->len - 1;
    for (guint i = 0; i < op->n_value; i++)
        touch(l, op->value[i].value, at);
    for (guint i = 0; i < op->n_math; i++) {
        ws_array_visit(op->assign[i].array, read_value, l);
        if (op->assign[i].value >= 0)
            touch(l, (guint)op->assign[i].value, at);
    }
    ws_array_visit(op->unless, read_value, l);
}

/* The first thing that operations [from, to) do with a value is to overwrite all of it. */
static gboolean written_first(const Life *l, guint value, guint from, guint to)
{
    const WsRegValue *v = &l->agent->value[value];
    for (guint i = from; i < to; i++) {
        const WsOp *op = l->op->pdata[i];
        for (guint k = 0; k < op->n_value; k++) {
            const WsValueUse *u = &op->value[k];
            if (u->value != value)
                continue;
            gint64 always = 0;
            if (ws_op_is_product(op->kind) && k == 0)
                return op->mma->first && ws_expr_is_int(op->mma->first, &always) && always &&
                       u->rows == v->rows && u->cols == v->cols;
            return u->mode == WS_MODE_WRITE && u->rows == v->rows && u->cols == v->cols;
        }
        for (guint s = 0; s < op->n_math; s++) {
            const WsAssign *a = &op->assign[s];
            gboolean read = ws_array_reads(a->array, value);
            if (read || a->value == (gint)value)
                return !read;
        }
    }
    return TRUE;
}

static void carry(Life *l, guint from, guint to)
{
    for (guint v = 0; v < l->agent->n_values; v++) {
        Range *r = &l->range[v];
        if (!r->used || r->first >= to || r->last < from || written_first(l, v, from, to))
            continue;
        r->first = MIN(r->first, from);
        r->last = MAX(r->last, to - 1);
    }
}

static void visit(Life *l, const WsTree *t)
{
    if (t->kind == WS_TREE_OP) {
        visit_op(l, t->op);
        return;
    }
    guint from = l->op->len;
    for (guint i = 0; i < t->n_kids; i++) {
        if (t->kid[i])
            visit(l, t->kid[i]);
    }
    if (t->kind == WS_TREE_LOOP && l->op->len > from)
        carry(l, from, l->op->len);
}

/* Rows of temporaries, and what a step holds beside its values: a few registers each. */
static guint scratch_of(const WsOp *op)
{
    return MIN(2 * op->n_math + (ws_op_stores_shared(op->kind) ? 8 : 0), 16);
}

WsPressure ws_program_pressure(const WsProgram *p, guint agent)
{
    const WsAgent *a = &p->agent[agent];
    Life l = { .agent = a, .op = g_ptr_array_new(), .range = g_new0(Range, a->n_values + 1) };
    WsPressure r = { .fixed = a->n_values ? WS_FIXED_CONSUMER : WS_FIXED_PRODUCER,
                     .budget = a->registers ? a->registers : p->entry_registers };
    visit(&l, a->body);
    for (guint i = 0; i < l.op->len; i++) {
        guint alive = 0;
        for (guint v = 0; v < a->n_values; v++) {
            if (l.range[v].used && l.range[v].first <= i && i <= l.range[v].last)
                alive += a->value[v].registers;
        }
        if (alive > r.values) {
            r.values = alive;
            r.peak = l.op->pdata[i];
        }
        if (alive == r.values)
            r.scratch = MAX(r.scratch, scratch_of(l.op->pdata[i]));
    }
    g_ptr_array_unref(l.op);
    g_free(l.range);
    return r;
}

guint ws_pressure_total(const WsPressure *r)
{
    return r->values + r->scratch + r->fixed;
}

guint ws_program_group_registers(const WsProgram *p, guint warp_group)
{
    const guint n = p->hardware->group_warps;
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        if (a->warp0 < n * (warp_group + 1) && a->warp0 + a->warps > n * warp_group)
            return a->registers ? a->registers : p->entry_registers;
    }
    return p->entry_registers;
}

gint64 ws_program_planned_registers(const WsProgram *p)
{
    const guint threads = p->hardware->lanes * p->hardware->group_warps;
    gint64 sum = 0;
    for (guint w = 0; w < p->threads / threads; w++)
        sum += (gint64)threads * ws_program_group_registers(p, w);
    return sum;
}
