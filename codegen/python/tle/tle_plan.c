/* The plan of an export: descriptors, transactions, parts of barriers, pipes, partitions. */
#include "codegen/python/tle/tle.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/pipe.h"
#include "program/parts/transfer.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* --- transactions ------------------------------------------------------------------------------*/

static void transaction_clear(gpointer data)
{
    g_array_unref(((WsTleTransaction *)data)->load);
}

static void add_transactions(WsTle *t)
{
    const WsProgram *p = t->y->p;
    for (guint i = 0; i < p->n_transactions; i++) {
        const WsTransaction *from = p->transaction[i];
        WsTleTransaction x = { from->barrier, g_array_new(FALSE, FALSE, sizeof(const WsOp *)) };
        for (guint k = 0; k < from->n; k++) {
            if (from->op[k]->transfer && ws_py_first_box(from->op[k]))
                g_array_append_val(x.load, from->op[k]);
        }
        if (x.load->len && t->barrier[x.barrier].pipe < 0)
            g_array_append_val(t->transaction, x);
        else
            g_array_unref(x.load);
    }
}

static const WsOp *load_of(const WsTleTransaction *x, guint i)
{
    return g_array_index(x->load, const WsOp *, i);
}

guint ws_tle_part(const WsTle *t, const WsOp *load)
{
    for (guint i = 0; i < t->transaction->len; i++) {
        const WsTleTransaction *x = &g_array_index(t->transaction, WsTleTransaction, i);
        for (guint k = 0; k < x->load->len; k++) {
            if (load_of(x, k) == load)
                return k;
        }
    }
    return 0;
}

/* Names of parts: the barrier's own, or with the buffer that it fills. */
static void parts_of(WsTle *t, guint barrier)
{
    WsTleBarrier *b = &t->barrier[barrier];
    const char *name = t->y->barrier[barrier];
    b->n_parts = 1;
    const WsTleTransaction *most = NULL;
    for (guint i = 0; i < t->transaction->len; i++) {
        const WsTleTransaction *x = &g_array_index(t->transaction, WsTleTransaction, i);
        if (x->barrier == (gint)barrier && (!most || x->load->len > most->load->len))
            most = x;
    }
    b->n_parts = most ? most->load->len : 1;
    b->part = g_new0(WsTlePart, b->n_parts);
    for (guint i = 0; i < b->n_parts; i++) {
        const WsOp *load = most ? load_of(most, i) : NULL;
        b->part[i].name = name;
        if (b->n_parts > 1)
            b->part[i].name =
                ws_py_format(t->y, "%s_%s", name, t->y->buffer[load->access[0].buffer]);
        for (guint k = 0; k < i; k++) {
            if (!strcmp(b->part[k].name, b->part[i].name))
                b->part[i].name = ws_py_format(t->y, "%s_%u", b->part[i].name, i);
        }
        b->part[i].expect = load ? load->transfer->bytes : 0;
    }
    const WsBarrier *of = &t->y->p->barrier[barrier];
    for (guint i = 1; i < of->array && of->kind == WS_BARRIER_MBARRIER; i++)
        b->per_element =
            b->per_element || of->ready[i] != of->ready[0] || of->arrivals[i] != of->arrivals[0];
    for (guint i = 1; i < of->array && of->kind == WS_BARRIER_NAMED; i++)
        b->per_element = b->per_element || of->threads[i] != of->threads[0];
}

/* --- pipes -------------------------------------------------------------------------------------*/

WsTlePipe *ws_tle_pipe(const WsTle *t, gint pipe)
{
    return &g_array_index(t->pipe, WsTlePipe, pipe);
}

static void add_pipes(WsTle *t)
{
    const WsProgram *p = t->y->p;
    for (guint i = 0; i < p->n_pipes; i++) {
        const WsPipe *is = &p->pipe[i];
        WsTlePipe pipe = { .name = ws_py_ident(t->y, is->name), .is = is };
        for (guint k = 0; k < is->n_fields; k++)
            t->pipe_of[is->field[k]] = (gint)i;
        if (is->told >= 0)
            t->told_of[is->told] = (gint)i;
        t->barrier[is->full].pipe = (gint)i;
        if (is->empty >= 0)
            t->barrier[is->empty].pipe = (gint)i;
        g_array_append_val(t->pipe, pipe);
    }
}

/* --- partitions --------------------------------------------------------------------------------*/

static gint default_agent(const WsProgram *p, gboolean producer)
{
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        if (a->warps % p->hardware->group_warps == 0 &&
            (!producer || (a->role == WS_ROLE_PRODUCER && a->replicas == 1)))
            return (gint)i;
    }
    return -1;
}

/* The default partition runs with the warps of the launch, a multiple of 4, and takes the registers
 * that are left: the producer if it can. */
static void partitions(WsTle *t)
{
    const WsProgram *p = t->y->p;
    gint first = default_agent(p, TRUE);
    if (first < 0)
        first = default_agent(p, FALSE);
    t->no_default = first < 0;
    first = MAX(first, 0);
    t->order = g_new0(guint, p->n_agents + 1);
    guint n = 0;
    t->order[n++] = (guint)first;
    for (guint i = 0; i < p->n_agents; i++) {
        if (i != (guint)first)
            t->order[n++] = i;
    }
    g_autofree guint *warps = g_new0(guint, n), *request = g_new0(guint, n);
    for (guint i = 1; i < n; i++) {
        const WsAgent *a = &p->agent[t->order[i]];
        warps[i - 1] = a->warps;
        request[i - 1] = a->registers ? a->registers : p->entry_registers;
    }
    t->registers =
        ws_partition_registers(p->hardware, p->agent[first].warps, n - 1, warps, request, 0);
}

void ws_tle_plan(WsTle *t, WsPy *y)
{
    const WsProgram *p = y->p;
    *t = (WsTle){ .y = y };
    ws_py_boxes(y);
    t->transaction = g_array_new(FALSE, FALSE, sizeof(WsTleTransaction));
    g_array_set_clear_func(t->transaction, transaction_clear);
    t->pipe = g_array_new(FALSE, FALSE, sizeof(WsTlePipe));
    t->raw = g_ptr_array_new_with_free_func(g_free);
    t->barrier = g_new0(WsTleBarrier, p->n_barriers + 1);
    t->pipe_of = g_new0(gint, p->n_buffers + 1);
    t->told_of = g_new0(gint, p->n_buffers + 1);
    for (guint i = 0; i < p->n_buffers; i++)
        t->pipe_of[i] = t->told_of[i] = -1;
    for (guint i = 0; i < p->n_barriers; i++)
        t->barrier[i].pipe = -1;
    add_pipes(t);
    add_transactions(t);
    for (guint i = 0; i < p->n_barriers; i++) {
        const WsBarrier *b = &p->barrier[i];
        t->barrier[i].skipped = b->derived && b->kind == WS_BARRIER_NAMED;
        parts_of(t, i);
    }
    t->window = g_new0(const WsExpr *, t->pipe->len + 1);
    partitions(t);
}

void ws_tle_clear(WsTle *t)
{
    for (guint i = 0; i < t->y->p->n_barriers; i++)
        g_free(t->barrier[i].part);
    g_array_unref(t->transaction);
    g_array_unref(t->pipe);
    g_ptr_array_unref(t->raw);
    g_free(t->barrier);
    g_free(t->pipe_of);
    g_free(t->told_of);
    g_free(t->staged);
    g_free(t->order);
    g_free(t->window);
}
