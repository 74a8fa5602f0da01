/* Side conditions of the proof that elaboration keeps. They are not taken on trust: where one does
 * not hold there is no verdict. */
#include "check/proof/bits/bits.h"
#include "check/touch.h"
#include "program/op.h"
#include "program/parts/barrier.h"
#include "program/program.h"

/* L-ALL-LANES: made by all lanes or not at all. Arrivals say themselves who makes them. */
static gboolean by_all_lanes(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->check == WS_CHECK_RULE && o->breadth == WS_BREADTH_GROUP && !o->any &&
           kind != WS_OP_MBAR_ARRIVE;
}

/* L-LEADER: these belong to the queue of one thread. */
static gboolean by_one_thread(WsOpKind kind)
{
    const WsOpRow *o = ws_op_row(kind);
    return o->check == WS_CHECK_RULE && o->breadth == WS_BREADTH_LEADER;
}

/* L-NAMED-COUNT: what the instruction counts is what the barrier is said to count. */
static gboolean named_agrees(const WsBits *b, const WsBitOp *o)
{
    if (!ws_op_joins(o->op->kind) || o->op->barrier < 0)
        return TRUE;
    const WsBarrier *bar = &b->p->barrier[o->op->barrier];
    if (!bar->threads || !bar->hw_id)
        return FALSE;
    for (guint e = 0; e < MAX(bar->array, 1); e++) {
        if (bar->hw_id[e] < 0 || bar->hw_id[e] >= (gint)ws_named_ids(b->p))
            return FALSE;
        gboolean meant = !o->op->element || (o->element.constant && o->element.value == e);
        if (meant && bar->threads[e] != o->op->count)
            return FALSE;
    }
    return TRUE;
}

void ws_bit_check_form(WsBits *b, const WsBitOp *o)
{
    const WsOp *op = o->op;
    if (op->kind == WS_OP_MBAR_ARRIVE && op->per > 1 && !o->leader && !ws_follows_warp_sync(op))
        ws_bit_outside(b, "an arrival for several lanes that have not met"); /* L-WARP-ARRIVE */
    if (o->leader && by_all_lanes(op->kind))
        ws_bit_outside(b, "an operation of all threads that the leader makes alone");
    if (!o->leader && by_one_thread(op->kind))
        ws_bit_outside(b, "an operation of the leader that all threads make");
    if ((ws_op_loads(op->kind) || op->kind == WS_OP_MBAR_WAIT) &&
        (op->barrier < 0 || (op->kind == WS_OP_MBAR_WAIT && !op->parity)))
        ws_bit_outside(b, "a transfer or a wait without a barrier");
    if (!named_agrees(b, o))
        ws_bit_outside(b, "a named barrier whose threads or id are not said");
}

/* L-INIT: every slot is initialised to its count, that is published, and all threads that can reach
 * it meet, before any body begins. */
void ws_bit_check_prologue(WsBits *b)
{
    const WsProgram *p = b->p;
    guint slots = 0, inits = 0, last = 0, met = 0;
    gboolean published = FALSE, agrees = TRUE;
    for (guint k = 0; k < p->n_barriers; k++)
        if (p->barrier[k].kind == WS_BARRIER_MBARRIER)
            slots += MAX(p->barrier[k].array, 1) * MAX(p->barrier[k].slots, 1);
    for (guint i = 0; i < p->n_prologue; i++) {
        const WsOp *op = p->prologue[i];
        gint64 e = 0;
        if (op->kind == WS_OP_MBAR_INIT) {
            const WsBarrier *bar = &p->barrier[op->barrier];
            agrees &= ws_expr_is_int(op->element, &e) && bar->arrivals && op->n == bar->arrivals[e];
            inits++, last = i;
        }
        published |= op->kind == WS_OP_FENCE_INIT && inits == slots && i > last;
        if (op->kind == (b->ranks > 1 ? WS_OP_CLUSTER_WAIT : WS_OP_BAR_SYNC))
            met = i;
    }
    if (inits != slots || !agrees || (slots && !published) || (p->n_prologue && met < last))
        ws_bit_outside(b, "a prologue that does not initialise every mbarrier");
}

/* Is the barrier fed by arrivals of this CTA alone, each agent's all by its leader or all by its
 * lanes? Then the last arrival of an agent says that its earlier ones have happened. */
static gboolean fed_in_order(const WsBits *b, guint barrier)
{
    g_autofree guint8 *how = g_new0(guint8, b->n_agents + 1);
    for (guint i = 0; i < b->p->n_ops; i++) {
        const WsOp *op = b->p->op[i];
        if (op->agent < 0 || op->barrier != (gint)barrier || op->kind == WS_OP_MBAR_WAIT)
            continue;
        gboolean leader = op->breadth == WS_BREADTH_LEADER || op->tree->leader;
        if (op->kind != WS_OP_MBAR_ARRIVE || op->ctas.kind != WS_CTAS_OWN ||
            (!leader && (op->per < 1 || op->per > 32)))
            return FALSE;
        how[op->agent] |= leader ? 1 : 2;
        if (how[op->agent] == 3)
            return FALSE;
    }
    return TRUE;
}

/* L-KNOWN: items of the last arrivals on a slot of a barrier; returns how many. */
guint ws_bit_number_feeds(WsBits *b, guint barrier, guint first)
{
    guint n = 0;
    gboolean ordered = b->feeds && fed_in_order(b, barrier);
    for (guint a = 0; a < b->n_agents; a++) {
        gboolean feeds = FALSE;
        for (guint i = 0; ordered && i < b->p->n_ops; i++)
            feeds |= b->p->op[i]->agent == (gint)a && b->p->op[i]->barrier == (gint)barrier &&
                     b->p->op[i]->kind == WS_OP_MBAR_ARRIVE;
        b->agent[a].feed[barrier] = feeds ? (gint16)(first + n++) : -1;
    }
    return n;
}
