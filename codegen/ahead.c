#include "codegen/ahead.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/parts/tree.h"
#include "program/program.h"
#include "program/visit.h"

/* What could change a coordinate: a loop (its index, the count of its rounds), and all that does
 * more than wait, arrive and copy. */
static void bars(const WsTree *t, gpointer data)
{
    *(gboolean *)data |=
        t->kind == WS_TREE_LOOP || (t->kind == WS_TREE_OP && ws_op_just_touches(t->op->kind));
}

static void depends(const WsTree *t, gpointer data)
{
    *(gboolean *)data |= t->kind == WS_TREE_OP && ws_op_between_kernels(t->op->kind);
}

/* The agent of `seq` has itself waited for the kernel before, in front of what holds `seq`. */
static gboolean has_waited(const WsProgram *p, const WsTree *seq)
{
    for (guint a = 0; a < p->n_agents; a++) {
        const WsTree *body = p->agent[a].body;
        gboolean waited = FALSE;
        for (guint i = 0; body != seq && body->kind == WS_TREE_SEQ && i < body->n_kids; i++) {
            const WsTree *t = body->kid[i];
            if (ws_tree_is_within(seq, t))
                return waited;
            waited |= t->kind == WS_TREE_OP && ws_op_row(t->op->kind)->waits == WS_WAITS_KERNEL;
        }
    }
    return FALSE;
}

guint ws_ahead_gathers(const WsProgram *p, const WsTree *seq, guint i,
                       void (*see)(const WsOp *op, gpointer data), gpointer data)
{
    const WsTree *wait = seq->kid[i];
    gboolean bar = FALSE;
    if (wait->kind != WS_TREE_OP || !ws_op_waits_phase(wait->op->kind))
        return 0;
    for (guint a = 0; a < p->n_agents && !bar; a++)
        ws_tree_each(p->agent[a].body, depends, &bar);
    if (bar && !has_waited(p, seq))
        return 0;
    bar = FALSE;
    for (guint k = i + 1; k < seq->n_kids; k++) {
        const WsTree *t = seq->kid[k];
        ws_tree_each(t, bars, &bar);
        if (bar)
            return k;
        if (t->kind == WS_TREE_OP && ws_op_issues(t->op->kind, WS_QUEUE_ROWS))
            see(t->op, data);
    }
    return seq->n_kids;
}

gboolean ws_ahead_reads(const WsExpr *x)
{
    gboolean reads = x->op == WS_EXPR_INDEX;
    for (guint i = 0; i < x->n_args && !reads; i++)
        reads = ws_ahead_reads(x->arg[i]);
    return reads;
}
