#include "program/elaborate/elab.h"
#include "program/parts/agent.h"
#include "program/parts/transfer.h"
#include "program/program.h"

#include <string.h>

/* Transactions (LANGUAGE section 11.4): the loads, copies and remote writes of one step list with
 * the same barrier element, use, slot and run-time `when` share one derived expect. A slot that is
 * given decides by itself. */

void ws_list_begin(WsElab *E, WsList *list)
{
    static const WsList nothing;
    *list = nothing;
    list->number = ++E->agent->n_lists + (E->agent->index << 20);
    list->transactions = g_array_new(FALSE, TRUE, sizeof(WsTransactionBuild));
    list->first_let = E->agent->lets->len;
    list->window = -1;
}

guint16 ws_ctas_mask(WsElab *E, const WsCtas *ctas, guint sender)
{
    guint16 every = (guint16)((1u << E->p->cluster) - 1);
    gint64 rank;
    switch (ctas->kind) {
    case WS_CTAS_OWN:
        return (guint16)(1u << sender);
    case WS_CTAS_ALL:
        return every;
    case WS_CTAS_MASK:
        return ctas->mask & every;
    case WS_CTAS_EXPR:
        if (ws_elab_at_rank(E, ctas->expr, sender, &rank))
            return rank >= 0 && rank < E->p->cluster ? (guint16)(1u << rank) : 0;
        return every;
    }
    return 0;
}

gboolean ws_elab_changes_within(WsElab *E, const WsExpr *e, guint from, guint to)
{
    if (!e)
        return FALSE;
    for (guint i = from; i < to; i++) {
        const WsOp *op = g_ptr_array_index(E->ops, i);
        if (op->kind == WS_OP_ADVANCE && ws_expr_mentions_var(e, op->var))
            return TRUE;
    }
    for (guint i = 0; i < E->round_ends->len; i++) {
        const WsRoundEnd *end = &g_array_index(E->round_ends, WsRoundEnd, i);
        if (end->made > from && end->made <= to && ws_expr_mentions_var(e, end->var))
            return TRUE;
    }
    return FALSE;
}

gboolean ws_elab_changes(WsElab *E, const WsExpr *e, const WsOp *from, const WsOp *to)
{
    return ws_elab_changes_within(E, e, WS_BUILD(from)->made, WS_BUILD(to)->made);
}

static WsTransactionBuild *find(WsStepState *S, const WsOp *op)
{
    WsElab *E = S->E;
    WsTransactionBuild key = { .barrier = op->barrier,
                               .first = op,
                               .element = ws_elab_text(E, op->element),
                               .use = ws_elab_text(E, op->use),
                               .slot = ws_elab_text(E, op->slot),
                               .when = ws_elab_text(E, S->when) };
    GArray *list = S->list->transactions;
    for (guint i = 0; i < list->len; i++) {
        WsTransactionBuild *t = &g_array_index(list, WsTransactionBuild, i);
        if (t->barrier == key.barrier && strcmp(t->element, key.element) == 0 &&
            strcmp(t->use, key.use) == 0 && strcmp(t->slot, key.slot) == 0 &&
            strcmp(t->when, key.when) == 0 && !ws_elab_changes(E, op->element, t->first, op) &&
            !ws_elab_changes(E, op->use ? op->use : op->slot, t->first, op) &&
            !ws_elab_changes(E, S->when, t->first, op))
            return t;
    }
    g_array_append_val(list, key);
    return &g_array_index(list, WsTransactionBuild, list->len - 1);
}

static gboolean drawn(const WsElab *E, gint barrier)
{
    const WsNode *node = g_ptr_array_index(E->barrier_node, barrier);
    return node && E->drawn_expect[barrier];
}

static WsOp *make_expect(WsStepState *S, const WsOp *op)
{
    WsOp *expect = ws_step_op(S, WS_OP_MBAR_EXPECT, "expect");
    WsTree *leaf = expect->tree;
    expect->barrier = op->barrier;
    expect->element = op->element;
    expect->use = op->use;
    expect->slot = op->slot;
    expect->turn = op->turn;
    expect->count = 1;
    ws_op_label(S->E, expect, "expect %s",
                g_array_index(S->E->barriers, WsBarrier, op->barrier).name);
    /* before the load, which already stands at the end of the list */
    guint at = ws_tree_position(op->tree);
    memmove(&S->seq->kid[at + 1], &S->seq->kid[at], sizeof(WsTree *) * (S->seq->n_kids - 1 - at));
    S->seq->kid[at] = leaf;
    return expect;
}

static void join(WsElab *E, WsTransactionBuild *t, const WsOp *op)
{
    if (!t->kept) {
        t->kept = ws_arena_new0(E->arena, WsTransaction, 1);
        *t->kept =
            (WsTransaction){ .barrier = op->barrier, .element = op->element, .use = op->use };
        t->op = g_ptr_array_new();
        g_ptr_array_add(E->transactions, t->kept);
    }
    g_ptr_array_add(t->op, (gpointer)op);
}

void ws_transaction_credit(WsStepState *S, const WsOp *op, gint64 bytes, const WsCtas *ctas)
{
    WsElab *E = S->E;
    if (op->barrier < 0)
        return;
    WsTransactionBuild *t = find(S, op);
    join(E, t, op);
    if (drawn(E, op->barrier))
        return;
    if (!t->expect)
        t->expect = make_expect(S, op);
    for (guint sender = 0; sender < E->p->cluster; sender++) {
        if (!(WS_BUILD(op)->ranks >> sender & 1))
            continue;
        guint16 mask = ws_ctas_mask(E, ctas, sender);
        for (guint rank = 0; rank < E->p->cluster; rank++)
            if (mask >> rank & 1)
                WS_BUILD(t->expect)->rank_bytes[rank] += bytes;
    }
}

void ws_transaction_gather(WsStepState *S, WsOp *op)
{
    find(S, op)->last = op;
}

static void keep(WsElab *E, const WsTransactionBuild *t)
{
    WsTransaction *x = t->kept;
    x->expect = t->expect;
    x->n = t->op->len;
    x->op = ws_arena_new0(E->arena, const WsOp *, x->n);
    for (guint i = 0; i < x->n; i++)
        x->op[i] = t->op->pdata[i];
    g_ptr_array_free(t->op, TRUE);
}

static void finish_expect(WsElab *E, const WsTransactionBuild *t)
{
    WsOpBuild *build = WS_BUILD(t->expect);
    for (guint c = 0; c < E->p->cluster; c++)
        t->expect->bytes = MAX(t->expect->bytes, build->rank_bytes[c]);
    for (guint c = 0; c < E->p->cluster; c++)
        if (build->rank_bytes[c] != t->expect->bytes && (build->ranks >> c & 1))
            ws_elab_note(E, WS_RULE_L_EXPECT, t->expect->step,
                         "Let every step bring all CTAs the same bytes: loads by `multicast` to "
                         "all that wait, a write or copy in one step with a computed `cta` instead "
                         "of a branch per rank; or write an `expect` step per rank.",
                         "CTA %u receives %" G_GINT64_FORMAT " bytes by this transaction, others "
                         "%" G_GINT64_FORMAT,
                         c, build->rank_bytes[c], t->expect->bytes);
}

/* After the last gather of a transaction every thread makes one arrival. */
static void finish_gather(WsElab *E, const WsTransactionBuild *t)
{
    const WsOp *last = t->last;
    WsOp *op = ws_op_new(E, WS_OP_CP_ARRIVE, ws_arena_printf(E->arena, "%s#arrive", last->step),
                         last->step, last->step_kind);
    op->derived = TRUE;
    WS_BUILD(op)->list = WS_BUILD(last)->list;
    WS_BUILD(op)->ranks = WS_BUILD(last)->ranks;
    op->barrier = last->barrier;
    op->element = last->element;
    op->use = last->use;
    op->slot = last->slot;
    op->turn = last->turn;
    op->count = E->agent->out->threads;
    op->per = 1;
    ws_op_label(E, op, "arrive %s", g_array_index(E->barriers, WsBarrier, op->barrier).name);
    ws_tree_insert(E, last->tree->parent, ws_tree_position(last->tree) + 1, ws_tree_op(E, op));
}

void ws_list_end(WsElab *E, WsList *list)
{
    for (guint i = 0; i < list->transactions->len; i++) {
        const WsTransactionBuild *t = &g_array_index(list->transactions, WsTransactionBuild, i);
        if (t->kept)
            keep(E, t);
        if (t->expect)
            finish_expect(E, t);
        if (t->last)
            finish_gather(E, t);
    }
    g_array_free(list->transactions, TRUE);
    if (list->open_mma)
        ws_elab_note(E, WS_RULE_L_OPEN, list->open_mma->step, "Drop \"open\" from the last one.",
                     "the commit group left open here is closed by no later mma of this list");
    if (list->open_store)
        ws_elab_note(E, WS_RULE_L_OPEN, list->open_store->step, "Drop \"open\" from the last one.",
                     "the bulk group left open here is closed by no later store of this list");
    g_ptr_array_set_size(E->agent->lets, (gint)list->first_let);
}
