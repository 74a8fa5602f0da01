#include "ui/timeline/stream.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/parts/value.h"
#include "program/program.h"

typedef struct {
    guint from, to;   /* WsOp.index: `to` cannot go on before `from` */
    gboolean carried; /* from one round to a later one */
} Link;

typedef struct {
    const WsProgram *p;
    GArray *link; /* Link */
} Links;

static void add(Links *l, const WsOp *from, const WsOp *to, gboolean carried)
{
    Link link = { from->index, to->index, carried };
    if (from != to && from->agent >= 0 && to->agent >= 0 && from->step && to->step)
        g_array_append_val(l->link, link);
}

/* --- barriers ------------------------------------------------------------------------------------
 */

static gboolean is_signal(const WsOp *op)
{
    return op->barrier >= 0 && ws_op_row(op->kind)->gives != WS_GIVES_NONE;
}

/* A barrier that is born complete tells a writer that a stage is free again: what arrives at it
 * lets a later round go. */
static gboolean gives_back(const WsBarrier *b, const WsOp *wait)
{
    gint64 element = 0;
    if (!b->ready || (wait->element && !ws_expr_is_int(wait->element, &element)))
        element = 0;
    return b->ready && element >= 0 && element < (gint64)MAX(b->array, 1) && b->ready[element];
}

static void add_barriers(Links *l)
{
    for (guint i = 0; i < l->p->n_ops; i++) {
        const WsOp *wait = l->p->op[i];
        if (wait->barrier < 0 || wait->agent < 0 || !ws_op_waits_at_barrier(wait->kind))
            continue;
        gboolean back = gives_back(&l->p->barrier[wait->barrier], wait);
        for (guint k = 0; k < l->p->n_ops; k++) {
            const WsOp *op = l->p->op[k];
            if (op->barrier == wait->barrier && is_signal(op))
                add(l, op, wait, back);
        }
    }
}

/* --- data ----------------------------------------------------------------------------------------
 */

static gboolean touches_buffer(const WsOp *op, guint buffer, WsMode mode)
{
    for (guint i = 0; i < op->n_access; i++)
        if (op->access[i].buffer == buffer && op->access[i].mode & mode)
            return TRUE;
    return FALSE;
}

typedef struct {
    const char *name;
    gboolean found;
} Name;

static void see_name(const WsExpr *e, gpointer data)
{
    Name *n = data;
    n->found |= e->op == WS_EXPR_NAME && !g_strcmp0(e->name, n->name);
}

/* Statements name the values of their agent. */
static gboolean names_value(const WsOp *op, const char *name, WsMode mode)
{
    Name n = { name, FALSE };
    for (guint i = 0; i < op->n_math; i++) {
        n.found |= mode == WS_MODE_WRITE && !g_strcmp0(op->math[i]->name, name);
        if (mode == WS_MODE_READ)
            ws_expr_visit(op->math[i]->value, see_name, &n);
    }
    return n.found;
}

static gboolean touches_value(const WsProgram *p, const WsOp *op, guint value, WsMode mode)
{
    for (guint i = 0; i < op->n_value; i++)
        if (op->value[i].value == value && op->value[i].mode & mode)
            return TRUE;
    return op->n_math && names_value(op, p->agent[op->agent].value[value].name, mode);
}

static gboolean passes_value(const WsProgram *p, const WsOp *from, const WsOp *to)
{
    for (guint v = 0; v < p->agent[to->agent].n_values; v++)
        if (touches_value(p, from, v, WS_MODE_WRITE) && touches_value(p, to, v, WS_MODE_READ))
            return TRUE;
    return FALSE;
}

static gboolean passes_buffer(const WsOp *from, const WsOp *to)
{
    for (guint a = 0; a < to->n_access; a++)
        if (to->access[a].mode & WS_MODE_READ &&
            touches_buffer(from, to->access[a].buffer, WS_MODE_WRITE))
            return TRUE;
    return FALSE;
}

static gboolean holds_data(const WsOp *op)
{
    return op->n_access || op->n_value || op->n_math;
}

/* Written earlier in an agent's program: in this round; later: in the one before. */
static void add_data(Links *l)
{
    for (guint i = 0; i < l->p->n_ops; i++) {
        const WsOp *to = l->p->op[i];
        if (to->agent < 0 || !holds_data(to))
            continue;
        for (guint k = 0; k < l->p->n_ops; k++) {
            const WsOp *from = l->p->op[k];
            gboolean same = from->agent == to->agent;
            if (holds_data(from) &&
                (passes_buffer(from, to) || (same && passes_value(l->p, from, to))))
                add(l, from, to, same && from->index >= to->index);
        }
    }
}

/* --- an agent's own program ----------------------------------------------------------------------
 */

static const WsTree *sequence_of(const WsOp *op)
{
    const WsTree *t = op->tree;
    while (t && t->kind != WS_TREE_SEQ)
        t = t->parent;
    return t;
}

/* `a` has been passed whenever `b` is reached: its sequence holds the one of b. */
static gboolean dominates(const WsOp *a, const WsOp *b)
{
    const WsTree *outer = sequence_of(a);
    for (const WsTree *t = b->tree; outer && t; t = t->parent)
        if (t == outer)
            return TRUE;
    return FALSE;
}

static const WsTree *loop_of(const WsOp *op)
{
    const WsTree *t = op->tree;
    while (t && t->kind != WS_TREE_LOOP)
        t = t->parent;
    return t;
}

/* The newest group that has to be over when the wait ends lies `n` commits before it; where the
 * text holds fewer, it is of the round before. */
static void add_group(Links *l, const WsOp *wait)
{
    const WsEngine engine = ws_op_row(wait->kind)->engine;
    gint64 left = wait->n;
    gboolean found = FALSE;
    for (guint i = wait->index; i-- > 0 && !found;) {
        const WsOp *op = l->p->op[i];
        if (op->agent != wait->agent)
            break;
        if (ws_op_closes(op->kind) && op->engine == engine) {
            left--;
            for (guint k = i; left < 0 && k-- > 0; found = TRUE) {
                const WsOp *member = l->p->op[k];
                if (member->agent != wait->agent ||
                    (ws_op_closes(member->kind) && member->engine == engine))
                    break;
                if (member->engine == engine)
                    add(l, member, wait, FALSE);
            }
        }
    }
    for (guint i = 0; !found && i < l->p->n_ops; i++) {
        const WsOp *op = l->p->op[i];
        if (op->agent == wait->agent && op->engine == engine && loop_of(op) == loop_of(wait))
            add(l, op, wait, TRUE);
    }
}

/* Each operation stands behind the last wait before it; an arrival publishes what was done since
 * then. */
static void add_order(Links *l)
{
    for (guint i = 0; i < l->p->n_ops; i++) {
        const WsOp *op = l->p->op[i];
        const WsGives gives = ws_op_row(op->kind)->gives;
        gboolean publishes =
            gives == WS_GIVES_ARRIVALS || gives == WS_GIVES_JOIN || gives == WS_GIVES_CLUSTER;
        if (op->agent < 0)
            continue;
        for (guint k = i; k-- > 0 && l->p->op[k]->agent == op->agent;) {
            const WsOp *before = l->p->op[k];
            if (ws_op_waits(before->kind) && dominates(before, op)) {
                add(l, before, op, FALSE);
                break;
            }
            if (publishes && holds_data(before) && dominates(before, op))
                add(l, before, op, FALSE);
        }
        if (ws_op_retires(op->kind))
            add_group(l, op);
    }
}

/* --- walking them --------------------------------------------------------------------------------
 */

/* One pass over all links from what is known; TRUE if it found more. */
static gboolean spread(const Links *l, GHashTable *known, GPtrArray *found, gboolean downstream,
                       gboolean carried)
{
    guint before = found->len;
    for (guint i = 0; i < l->link->len; i++) {
        const Link *link = &g_array_index(l->link, Link, i);
        const char *from = l->p->op[link->from]->step, *to = l->p->op[link->to]->step;
        const char *here = downstream ? from : to, *there = downstream ? to : from;
        if (link->carried != carried || !g_hash_table_contains(known, here) ||
            g_hash_table_contains(known, there))
            continue;
        if (!carried) /* what one round more brings is one round, not all of them */
            g_hash_table_add(known, (gpointer)there);
        g_ptr_array_add(found, (gpointer)there);
    }
    for (guint i = before; i < found->len; i++)
        g_hash_table_add(known, found->pdata[i]);
    return found->len > before;
}

GPtrArray *ws_stream_of(const WsProgram *p, const GPtrArray *steps, gboolean downstream)
{
    g_autoptr(GArray) link = g_array_new(FALSE, FALSE, sizeof(Link));
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) listed = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    Links l = { p, link };
    add_barriers(&l);
    add_data(&l);
    add_order(&l);
    for (guint i = 0; i < steps->len; i++)
        g_hash_table_add(known, steps->pdata[i]);
    if (!spread(&l, known, found, downstream, FALSE))
        spread(&l, known, found, downstream, TRUE);
    while (spread(&l, known, found, downstream, FALSE))
        ;
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; i < found->len; i++)
        if (g_hash_table_add(listed, found->pdata[i]))
            g_ptr_array_add(all, found->pdata[i]);
    return all;
}
