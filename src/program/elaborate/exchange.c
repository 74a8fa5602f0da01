/* What lanes and warps of one agent hand each other through shared memory. */
#include "base/phrase.h"
#include "program/array.h"
#include "program/elaborate/elab.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

/* bar.warp.sync around exchanges inside a warp (LANGUAGE section 13): lanes of one agent may write
 * shared memory and read it back without a `sync` if no byte passes from one warp to another (the
 * check asks lanes.h); the lanes of the warp must still meet between the two. Placed before the
 * read that follows a write of the same bytes, and before the write that follows a read, unless the
 * agent met anyway. */

typedef struct {
    GPtrArray *written, *read; /* WsOp* since the last meeting */
} Pending;

typedef struct {
    WsElab *E;
    gboolean emit;
} Exchange;

static Pending pending_new(void)
{
    return (Pending){ g_ptr_array_new(), g_ptr_array_new() };
}

static void pending_free(Pending *p)
{
    g_ptr_array_free(p->written, TRUE);
    g_ptr_array_free(p->read, TRUE);
}

static void pending_clear(Pending *p)
{
    g_ptr_array_set_size(p->written, 0);
    g_ptr_array_set_size(p->read, 0);
}

static void pending_join(Pending *p, const Pending *other)
{
    for (guint i = 0; i < other->written->len; i++)
        if (!g_ptr_array_find(p->written, other->written->pdata[i], NULL))
            g_ptr_array_add(p->written, other->written->pdata[i]);
    for (guint i = 0; i < other->read->len; i++)
        if (!g_ptr_array_find(p->read, other->read->pdata[i], NULL))
            g_ptr_array_add(p->read, other->read->pdata[i]);
}

static Pending pending_copy(const Pending *p)
{
    Pending copy = pending_new();
    pending_join(&copy, p);
    return copy;
}

static gboolean is_generic(const WsOp *op)
{
    return op->breadth == WS_BREADTH_GROUP && op->kind != WS_OP_CP_ROWS && !ws_op_peeks(op->kind);
}

static gboolean overlap(WsElab *E, const WsOp *a, WsMode mode_a, const WsOp *b, WsMode mode_b)
{
    gboolean met = FALSE;
    for (guint i = 0; i < a->n_access && !met; i++)
        for (guint k = 0; k < b->n_access && !met; k++)
            if ((a->access[i].mode & mode_a) && (b->access[k].mode & mode_b) &&
                a->access[i].proxy == WS_PROXY_GENERIC && b->access[k].proxy == WS_PROXY_GENERIC)
                met = ws_accesses_overlap(E, &a->access[i], &b->access[k]);
    return met;
}

static gboolean needs_meeting(WsElab *E, const Pending *p, const WsOp *op)
{
    for (guint i = 0; i < p->written->len; i++)
        if (overlap(E, op, WS_MODE_READ, p->written->pdata[i], WS_MODE_WRITE))
            return TRUE;
    for (guint i = 0; i < p->read->len; i++)
        if (overlap(E, op, WS_MODE_WRITE, p->read->pdata[i], WS_MODE_READ))
            return TRUE;
    return FALSE;
}

static void meeting(Exchange *X, WsTree *seq, guint at, const WsOp *before)
{
    WsElab *E = X->E;
    WsOp *op =
        ws_op_new(E, WS_OP_WARP_SYNC, ws_arena_printf(E->arena, "%s#warp_sync", before->step),
                  before->step, before->step_kind);
    op->agent = before->agent;
    op->derived = TRUE;
    ws_op_label(E, op, "warp sync");
    ws_tree_insert(E, seq, at, ws_tree_op(E, op));
}

static void flow(Exchange *X, WsTree *t, Pending *p);

static guint flow_op(Exchange *X, WsTree *seq, guint at, Pending *p)
{
    WsOp *op = seq->kid[at]->op;
    guint before = 0;
    if (op->kind == WS_OP_WARP_SYNC || ws_op_waits_join(op->kind))
        pending_clear(p);
    if (!is_generic(op) || op->n_access == 0)
        return 0;
    if (needs_meeting(X->E, p, op)) {
        pending_clear(p);
        if (X->emit) {
            meeting(X, seq, at, op);
            before = 1;
        }
    }
    for (guint i = 0; i < op->n_access; i++) {
        if (op->access[i].proxy != WS_PROXY_GENERIC)
            continue;
        if (op->access[i].mode & WS_MODE_WRITE)
            g_ptr_array_add(p->written, op);
        if (op->access[i].mode & WS_MODE_READ)
            g_ptr_array_add(p->read, op);
    }
    return before;
}

static void flow_seq(Exchange *X, WsTree *seq, Pending *p)
{
    for (guint i = 0; i < seq->n_kids; i++) {
        if (!seq->kid[i] || seq->kid[i]->leader)
            continue;
        if (seq->kid[i]->op)
            i += flow_op(X, seq, i, p);
        else
            flow(X, seq->kid[i], p);
    }
}

static void flow(Exchange *X, WsTree *t, Pending *p)
{
    if (t->kind == WS_TREE_SEQ) {
        flow_seq(X, t, p);
        return;
    }
    Pending other = pending_copy(p);
    gboolean emit = X->emit;
    if (t->kind == WS_TREE_LOOP) {
        X->emit = FALSE; /* what a round leaves behind meets the next one */
        flow_seq(X, t->kid[0], &other);
        X->emit = emit;
        pending_join(p, &other);
        flow_seq(X, t->kid[0], p);
    } else {
        flow_seq(X, t->kid[0], p);
        if (t->kid[1])
            flow_seq(X, t->kid[1], &other);
        pending_join(p, &other);
    }
    pending_free(&other);
}

void ws_elab_exchanges(WsElab *E)
{
    Exchange X = { .E = E, .emit = TRUE };
    for (guint a = 0; a < E->p->n_agents; a++) {
        if (E->p->agent[a].queue >= 0) /* barriers of a queue are drawn */
            continue;
        Pending p = pending_new();
        flow(&X, E->p->agent[a].body, &p);
        pending_free(&p);
    }
}

/* --- sums between warps -----------------------------------------------------------------------*/

/* Sums along the columns of linear values: elements of a row lie in lanes of all warps of the agent
 * (element i * threads + thread). What the warps hand each other for that lies behind the buffers
 * and barriers of shared memory, and they meet at the agent's own barrier: before it is written, so
 * that none still reads what was there, and before it is read. Nothing else touches these bytes. */

typedef struct {
    const WsAgent *agent;
    gboolean *linear; /* of the temporaries so far */
    gboolean is_linear, sums;
    guint elements; /* of the largest value that is summed along */
} Line;

static gboolean lies_linear(const WsAgent *a, guint value)
{
    const WsRegValue *v = &a->value[value];
    return v->layout == WS_LAYOUT_LINEAR && (v->rows > 1 || v->cols > 1);
}

static void look(Line *l, const WsArray *a)
{
    if (a->form == WS_ARRAY_VALUE)
        l->is_linear |= lies_linear(l->agent, a->index);
    if (a->form == WS_ARRAY_TEMPORARY)
        l->is_linear |= l->linear[a->index];
    const gboolean one = a->form == WS_ARRAY_REDUCTION && a->arg[0]->rows == 1 &&
                         (a->x->func == WS_FUNC_ROWSUM || a->x->func == WS_FUNC_ROWMAX);
    if (a->form == WS_ARRAY_SCAN || one) {
        l->sums = TRUE;
        l->elements = MAX(l->elements, a->arg[0]->rows * a->arg[0]->cols);
    }
    for (guint i = 0; i < a->n_arg; i++)
        look(l, a->arg[i]);
}

void ws_elab_lines(WsStepState *S, WsOp *op)
{
    WsElab *E = S->E;
    const WsAgent *a = E->agent->out;
    guint elements = 0;
    if (E->errors > 0 || E->hw->matrix.values || a->warps < 2)
        return;
    g_autofree gboolean *linear = g_new0(gboolean, op->n_math + 1);
    for (guint i = 0; i < op->n_math; i++) {
        const WsAssign *s = &op->assign[i];
        Line l = { .agent = a, .linear = linear };
        if (!s->array)
            continue;
        look(&l, s->array);
        linear[i] = l.is_linear || (s->value >= 0 && lies_linear(a, (guint)s->value));
        if (l.sums && linear[i])
            elements = MAX(elements, l.elements);
    }
    if (elements == 0)
        return;
    if (op->skip || a->one_code) {
        ws_elab_error(E, WS_RULE_L_LENS, S->id,
                      op->skip ? WS_WORD("Take `unless` away.") : WS_WORD("Take `one_code` away."),
                      op->skip
                          ? "%s: the warps of %s meet for this sum of linear values, and with "
                            "`unless` one may stay away"
                          : "%s: a sum of linear values in %s, whose replicas run one code, but "
                            "have bytes and a barrier of their own for it",
                      S->id, a->name);
        return;
    }
    const guint rounds = (elements + a->threads - 1) / a->threads;
    op->line_at = (E->p->shared_bytes + 3) / 4 * 4;
    op->line_barrier = ws_barrier_group(E);
    E->p->shared_bytes = op->line_at + (guint64)4 * rounds * a->warps;
}
