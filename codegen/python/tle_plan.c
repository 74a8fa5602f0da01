/* The plan of an export: descriptors, transactions, parts of barriers, pipes, partitions. */
#include "codegen/python/tle.h"

#include <string.h>

static gboolean same(const WsExpr *a, const WsExpr *b)
{
    return a == b || (a && b && ws_expr_equal(a, b));
}

/* --- transactions ------------------------------------------------------------------------------*/

static void transaction_clear(gpointer data)
{
    g_array_unref(((WsTleTransaction *)data)->load);
}

static void add_load(WsTle *t, const WsOp *op)
{
    for (guint i = 0; i < t->transaction->len; i++) {
        WsTleTransaction *x = &g_array_index(t->transaction, WsTleTransaction, i);
        if (x->barrier == op->barrier && same(x->element, op->element) &&
            x->list == op->tree->parent && same(x->use, op->use)) {
            g_array_append_val(x->load, op);
            return;
        }
    }
    WsTleTransaction x = { op->barrier, op->element, op->tree->parent, op->use,
                           g_array_new(FALSE, FALSE, sizeof(const WsOp *)) };
    g_array_append_val(x.load, op);
    g_array_append_val(t->transaction, x);
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
        b->part[i].expect = load ? ws_py_step_bytes(t->y, load) : 0;
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

static gint barrier_named(const WsProgram *p, const char *pipe, const char *which)
{
    g_autofree char *name = g_strdup_printf("%s.%s", pipe, which);
    for (guint i = 0; i < p->n_barriers; i++) {
        if (p->barrier[i].derived && !strcmp(p->barrier[i].name, name))
            return (gint)i;
    }
    return -1;
}

static void pipe_fields(WsTle *t, WsTlePipe *pipe, gint number)
{
    const WsProgram *p = t->y->p;
    const WsValue *fields = ws_node_get(pipe->node, WS_F_fields);
    pipe->field = g_new0(guint, fields->n + 1);
    for (guint i = 0; i < fields->n; i++) {
        for (guint k = 0; k < p->n_buffers; k++) {
            if (g_strcmp0(fields->item[i].text, p->buffer[k].name) != 0)
                continue;
            pipe->field[pipe->n_fields++] = k;
            pipe->capacity = p->buffer[k].stages;
            t->pipe_of[k] = number;
        }
    }
}

/* The writer fills it; readers wait for it. */
static void pipe_agents(WsTle *t, WsTlePipe *pipe)
{
    const WsProgram *p = t->y->p;
    pipe->writer = -1;
    pipe->reader = g_new0(guint, p->n_agents);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent < 0 || op->barrier < 0 || op->barrier != pipe->full)
            continue;
        if (op->kind != WS_OP_MBAR_WAIT) {
            pipe->writer = op->agent;
            continue;
        }
        gboolean known = FALSE;
        for (guint k = 0; k < pipe->n_readers; k++)
            known = known || pipe->reader[k] == (guint)op->agent;
        if (!known)
            pipe->reader[pipe->n_readers++] = (guint)op->agent;
    }
}

static void add_pipes(WsTle *t)
{
    const WsNode *root = t->y->design ? ws_design_root(t->y->design) : NULL;
    for (guint i = 0; root && i < ws_node_n_children(root, WS_F_pipes); i++) {
        const WsNode *node = ws_node_child(root, WS_F_pipes, i);
        WsTlePipe pipe = { .name = ws_py_ident(t->y, ws_node_name(node)), .node = node };
        pipe.capacity = 1;
        pipe.one_shot = ws_node_bool(node, WS_F_one_shot, FALSE);
        pipe.full = barrier_named(t->y->p, ws_node_name(node), "full");
        pipe.empty = barrier_named(t->y->p, ws_node_name(node), "empty");
        pipe_fields(t, &pipe, (gint)t->pipe->len);
        pipe_agents(t, &pipe);
        if (pipe.full >= 0)
            t->barrier[pipe.full].pipe = (gint)t->pipe->len;
        if (pipe.empty >= 0)
            t->barrier[pipe.empty].pipe = (gint)t->pipe->len;
        g_array_append_val(t->pipe, pipe);
    }
}

static void pipe_clear(gpointer data)
{
    WsTlePipe *pipe = data;
    g_free(pipe->field);
    g_free(pipe->reader);
}

/* --- partitions --------------------------------------------------------------------------------*/

static gint default_agent(const WsProgram *p, gboolean producer)
{
    for (guint i = 0; i < p->n_agents; i++) {
        const WsAgent *a = &p->agent[i];
        if (a->warps % 4 == 0 && (!producer || (a->role == WS_ROLE_PRODUCER && a->replicas == 1)))
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
    t->registers = ws_partition_registers(p->agent[first].warps, n - 1, warps, request, 0);
}

void ws_tle_plan(WsTle *t, WsPy *y)
{
    const WsProgram *p = y->p;
    *t = (WsTle){ .y = y };
    t->boxes = ws_py_boxes(y);
    t->transaction = g_array_new(FALSE, FALSE, sizeof(WsTleTransaction));
    g_array_set_clear_func(t->transaction, transaction_clear);
    t->pipe = g_array_new(FALSE, FALSE, sizeof(WsTlePipe));
    g_array_set_clear_func(t->pipe, pipe_clear);
    t->barrier = g_new0(WsTleBarrier, p->n_barriers + 1);
    t->pipe_of = g_new0(gint, p->n_buffers + 1);
    t->first = g_new0(const WsTree *, p->n_ops + 1);
    for (guint i = 0; i < p->n_buffers; i++)
        t->pipe_of[i] = -1;
    for (guint i = 0; i < p->n_barriers; i++)
        t->barrier[i].pipe = -1;
    add_pipes(t);
    for (guint i = 0; i < p->n_ops; i++) {
        const WsOp *op = p->op[i];
        if (op->agent >= 0 && !op->declared && op->kind == WS_OP_TMA_LOAD &&
            t->barrier[op->barrier].pipe < 0 && ws_py_box(y, t->boxes, op))
            add_load(t, op);
    }
    for (guint i = 0; i < p->n_barriers; i++) {
        const WsBarrier *b = &p->barrier[i];
        t->barrier[i].skipped = b->derived && b->kind == WS_BARRIER_NAMED;
        parts_of(t, i);
    }
    t->window = g_new0(const WsExpr *, t->pipe->len + 1);
    partitions(t);
    ws_tle_products(t);
}

void ws_tle_clear(WsTle *t)
{
    for (guint i = 0; i < t->y->p->n_barriers; i++)
        g_free(t->barrier[i].part);
    g_array_unref(t->boxes);
    g_array_unref(t->transaction);
    g_array_unref(t->pipe);
    g_free(t->barrier);
    g_free(t->pipe_of);
    g_free(t->first);
    g_free(t->order);
    g_free(t->window);
}
