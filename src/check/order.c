/* What depends on the order in which atomics happen. No order among them is asked for (L-ATOMIC),
 * so that such values are not determined by a design; a proof says which they may be. */
#include "check/order.h"
#include "base/phrase.h"
#include "program/array.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/value.h"
#include "program/program.h"

typedef struct {
    const WsProgram *p;
    gboolean **value; /* of each agent */
    gboolean *buffer, *tensor;
    gboolean changed;
} Order;

typedef struct {
    const gboolean *value;
    gboolean any;
} Reads;

static void see_array(const WsArray *node, gpointer data)
{
    Reads *r = data;
    r->any = r->any || (node->form == WS_ARRAY_VALUE && r->value[node->index]);
}

/* It, or another one that lies over it. */
static gboolean open_bytes(const Order *o, guint buffer)
{
    const WsBuffer *b = &o->p->buffer[buffer];
    for (guint i = 0; i < o->p->n_buffers; i++) {
        const WsBuffer *x = &o->p->buffer[i];
        if (o->buffer[i] && x->offset < b->offset + b->bytes && b->offset < x->offset + x->bytes)
            return TRUE;
    }
    return FALSE;
}

static gboolean reads_open(const Order *o, const WsOp *op)
{
    Reads r = { op->agent >= 0 ? o->value[op->agent] : NULL, FALSE };
    for (guint i = 0; i < op->n_access; i++)
        r.any =
            r.any || ((op->access[i].mode & WS_MODE_READ) && open_bytes(o, op->access[i].buffer));
    if (op->tensor >= 0 && ws_op_row(op->kind)->from == WS_DATA_AT_TENSOR)
        r.any = r.any || o->tensor[op->tensor];
    if (!r.value)
        return r.any;
    for (guint i = 0; i < op->n_value; i++)
        r.any = r.any || ((op->value[i].mode & WS_MODE_READ) && r.value[op->value[i].value]);
    for (guint i = 0; i < op->n_math; i++)
        ws_array_visit(op->assign[i].array, see_array, &r);
    ws_array_visit(op->unless, see_array, &r);
    return r.any;
}

static void set(Order *o, gboolean *what)
{
    o->changed = o->changed || !*what;
    *what = TRUE;
}

/* An operation of open inputs: whatever it writes is open, too. Temporaries of its statements are
 * not told apart. */
static void spread(Order *o, const WsOp *op)
{
    gboolean *value = op->agent >= 0 ? o->value[op->agent] : NULL;
    for (guint i = 0; i < op->n_access; i++)
        if (op->access[i].mode & WS_MODE_WRITE)
            set(o, &o->buffer[op->access[i].buffer]);
    if (op->tensor >= 0 && ws_op_row(op->kind)->from != WS_DATA_AT_TENSOR)
        set(o, &o->tensor[op->tensor]);
    for (guint i = 0; value && i < op->n_value; i++)
        if (op->value[i].mode & WS_MODE_WRITE)
            set(o, &value[op->value[i].value]);
    for (guint i = 0; value && i < op->n_math; i++)
        if (op->assign[i].value >= 0)
            set(o, &value[op->assign[i].value]);
}

/* What `op` gives hangs on its place among atomics of the same bytes. */
static gboolean in_order(const WsOp *op)
{
    return ws_op_is_atomic(op->kind) && (op->reduce >= WS_REDUCE_EXCHANGE || op->old);
}

static void start(Order *o)
{
    for (guint i = 0; i < o->p->n_ops; i++) {
        const WsOp *op = o->p->op[i];
        if (!in_order(op))
            continue;
        if (op->old)
            set(o, &o->value[op->agent][op->value[op->old].value]);
        if (op->reduce >= WS_REDUCE_EXCHANGE)
            set(o, &o->buffer[op->access[0].buffer]);
    }
}

static void tell(const char *name, gboolean open, GPtrArray *out)
{
    for (guint i = 0; open && i < out->len; i++)
        open = g_strcmp0(out->pdata[i], name) != 0;
    if (open)
        g_ptr_array_add(out, g_strdup(name));
}

void ws_check_order(const WsProgram *p, GPtrArray *out)
{
    Order o = { .p = p };
    o.value = g_new0(gboolean *, p->n_agents + 1);
    o.buffer = g_new0(gboolean, p->n_buffers + 1);
    o.tensor = g_new0(gboolean, p->n_tensors + 1);
    for (guint a = 0; a < p->n_agents; a++)
        o.value[a] = g_new0(gboolean, p->agent[a].n_values + 1);
    start(&o);
    while (o.changed) {
        o.changed = FALSE;
        for (guint i = 0; i < p->n_ops; i++)
            if (reads_open(&o, p->op[i]))
                spread(&o, p->op[i]);
    }
    for (guint i = 0; i < p->n_buffers; i++)
        tell(p->buffer[i].name, open_bytes(&o, i), out);
    for (guint a = 0; a < p->n_agents; a++)
        for (guint v = 0; v < p->agent[a].n_values; v++)
            tell(p->agent[a].value[v].name, o.value[a][v], out);
    for (guint i = 0; i < p->n_tensors; i++)
        tell(p->tensor[i].name, o.tensor[i], out);
    for (guint a = 0; a < p->n_agents; a++)
        g_free(o.value[a]);
    g_free(o.value);
    g_free(o.buffer);
    g_free(o.tensor);
}
