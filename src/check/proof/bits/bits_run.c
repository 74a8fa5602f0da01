/* Running the proof from one question to the next, and what must hold at the end. */
#include "check/proof/bits/bits.h"
#include "program/op.h"
#include "program/parts/agent.h"

void ws_bit_alarm(WsBits *b, WsRuleId rule)
{
    if (!b->alarm)
        b->rule = rule;
    b->alarm = TRUE;
}

/* The lanes of each warp meet: what they did so far is ordered within the warp, and with one warp
 * for all. */
static void sync_warp(WsBits *b, guint i, const WsBitOp *o)
{
    guint agent = ws_bit_agent(b, i);
    if (o->leader)
        return;
    for (guint k = 0; k < b->n_touched; k++) {
        guint16 *by = ws_bit_author(b, ws_bit_rank(b, i), k), was = *by & WS_AUTHOR_NUMBER;
        if (was && was != WS_AUTHOR_MIXED && !(*by & WS_AUTHOR_FLIES) &&
            g_array_index(b->author, WsLanesAt, was - 1).op->agent == (gint)agent)
            *by |= WS_AUTHOR_MET;
    }
    if (b->agent[agent].a->warps != 1)
        return;
    ws_bit_join(b, &b->all[i], &b->know[i]);
}

static void fence_mma(WsBits *b, guint i)
{
    guint n = b->agent[ws_bit_agent(b, i)].a->n_values;
    guint64 *touched = ws_bit_raw(b) + b->defined0[i] + n;
    for (guint k = 0; k < n; k++)
        touched[k] = 0;
    ws_bit_inst(b, i)->open |= WS_SEEN_FENCE;
}

/* One operation; FALSE while the instance must wait. Kinds with a rule of their own stand here;
 * what is left touches what it lists, as op.def says, or is outside. */
gboolean ws_bit_execute(WsBits *b, guint i, const WsBitOp *o)
{
    switch ((WsOpKind)o->kind) {
    case WS_OP_MBAR_WAIT:
        return ws_bit_wait(b, i, o);
    case WS_OP_BAR_SYNC:
    case WS_OP_BAR_ARRIVE:
        return ws_bit_sync(b, i, o);
    case WS_OP_CLUSTER_ARRIVE:
    case WS_OP_CLUSTER_WAIT:
        return ws_bit_cluster(b, i, o);
    case WS_OP_MBAR_ARRIVE:
        ws_bit_arrive(b, i, o);
        break;
    case WS_OP_MBAR_EXPECT:
        ws_bit_expect(b, i, o);
        break;
    case WS_OP_TMA_LOAD:
    case WS_OP_TMA_GET: /* what it reads is judged by check/mesh */
    case WS_OP_BULK_COPY:
    case WS_OP_ST_REMOTE:
        ws_bit_load(b, i, o);
        break;
    case WS_OP_LD_REMOTE:
    case WS_OP_ST_PEER:
        ws_bit_peek(b, i, o);
        break;
    case WS_OP_CP_ROWS:
        ws_bit_rows(b, i, o);
        break;
    case WS_OP_CP_ARRIVE:
        ws_bit_cp_arrive(b, i, o);
        break;
    case WS_OP_TMA_STORE:
    case WS_OP_TMA_PUT: /* here it reads shared memory; what it writes is judged by check/mesh */
        ws_bit_store(b, i, o);
        break;
    case WS_OP_MMA:
        ws_bit_mma(b, i, o);
        break;
    case WS_OP_MMA_COMMIT:
    case WS_OP_BULK_COMMIT:
    case WS_OP_CP_COMMIT:
        ws_bit_commit(b, i, (guint)ws_op_queue(o->op->kind));
        break;
    case WS_OP_MMA_WAIT:
    case WS_OP_BULK_WAIT:
    case WS_OP_CP_WAIT:
        ws_bit_retire(b, i, (guint)ws_op_queue(o->op->kind), o->op->n);
        break;
    case WS_OP_MMA_FENCE:
        fence_mma(b, i);
        break;
    case WS_OP_FENCE_ASYNC:
        ws_bit_fence(b, i, o->leader);
        break;
    case WS_OP_WARP_SYNC:
        sync_warp(b, i, o);
        break;
#include "program/op_plain.def"
    case WS_OP_KIND_COUNT:
    default:
        if (ws_op_just_touches(o->op->kind))
            ws_bit_generic(b, i, o);
        else /* refused when it was compiled, or a rule that nobody has written */
            ws_bit_outside(b, "an operation that is not in the proof");
        if (b->claims && ws_op_hands_on(o->op->kind))
            ws_bit_claim(b, i, o);
        break;
    }
    return TRUE;
}

static gboolean advance(WsBits *b, guint i)
{
    WsBitInst *in = ws_bit_inst(b, i);
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    gboolean moved = FALSE;
    while (in->state != WS_INST_DONE && !b->alarm && !b->c->outside) {
        const WsBitOp *o = in->have ? a->code[in->at].op : ws_bit_next(b, i);
        if (!o)
            return moved || in->state == WS_INST_DONE;
        b->serial++;
        b->op = o->op, b->runs = i;
        if (!ws_op_brings(o->op->kind))
            b->handed = 0;
        if (!ws_bit_execute(b, i, o)) {
            in->state = WS_INST_STUCK;
            return moved;
        }
        if (b->in_step)
            sync_warp(b, i, o);
        in->state = WS_INST_RUN;
        in->at++;
        moved = TRUE;
        if (++b->ops > 200000) {
            ws_bit_outside(b, "too many operations between two questions");
            return moved;
        }
    }
    return moved;
}

void ws_bit_settle(WsBits *b)
{
    gboolean moved = TRUE;
    b->ops = b->steps = b->handed = 0;
    ws_bit_pay_all(b);
    while (moved && !b->alarm && !b->c->outside) {
        moved = FALSE;
        for (guint i = 0; i < b->n_inst; i++)
            if (ws_bit_inst(b, i)->state != WS_INST_DONE)
                moved |= advance(b, i);
    }
}

/* --- the end ---------------------------------------------------------------------------------- */
/* Does anybody of the CTA know it when the CTA ends? */
static gboolean known_at_end(const WsBits *b, guint rank, const guint64 *row)
{
    for (guint a = 0; a < b->n_agents; a++)
        for (guint w = 0; w < b->nw; w++)
            if (row[w] & b->know[rank * b->n_agents + a].w[w])
                return TRUE;
    return FALSE;
}

static void check_slots(WsBits *b)
{
    for (guint s = 0; s < b->ranks * b->n_slots; s++) {
        const WsBitSlot *slot = ws_bit_slot(b, s);
        guint rank = s / b->n_slots;
        if (slot->tx != 0) /* also where no transfer ever came */
            ws_bit_alarm(b, WS_RULE_P_TX);
        if (slot->up) /* a flag that nobody has waited for */
            ws_bit_alarm(b, WS_RULE_P_FLAG);
        if (!slot->signalled)
            continue;
        if (!known_at_end(b, rank,
                          ws_bit_k(b, rank * b->items_of_rank + b->slot_item[s % b->n_slots] +
                                          WS_ITEM_TRANSFER)))
            ws_bit_alarm(b, WS_RULE_P_EXIT);
    }
}

static void check_remote(WsBits *b)
{
    for (guint r = 0; b->ranks > 1 && r < b->ranks; r++)
        for (guint k = 0; k < 2 * b->n_agents; k++)
            for (guint to = 0; to < b->ranks; to++)
                if (!known_at_end(
                        b, to,
                        ws_bit_k(b, r * b->items_of_rank + b->item_remote + k * b->ranks + to)))
                    ws_bit_alarm(b, WS_RULE_P_CLUSTER);
}

/* L-COPY-SOURCE: a CTA does not end before it knows that the copies out of it have been made. */
static void check_copies(WsBits *b)
{
    for (guint r = 0; b->copies && r < b->ranks; r++)
        for (guint c = 0; c < b->n_cells; c++) {
            guint item = b->cell[c].first;
            for (guint64 left = b->cell[c].readers; left; left &= left - 1, item++)
                if (b->copies & (left & -left) &&
                    !known_at_end(b, r, ws_bit_k(b, r * b->items_of_rank + item)))
                    ws_bit_alarm(b, WS_RULE_P_EXIT);
        }
}

/* Nothing can move any more and nobody asks. */
void ws_bit_conclude(WsBits *b)
{
    b->op = NULL;
    for (guint i = 0; i < b->n_inst; i++) {
        const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
        const WsBitInst *in = ws_bit_inst(b, i);
        if (in->state != WS_INST_DONE) {
            b->op = in->have ? a->code[in->at].op->op : NULL;
            b->runs = i;
            ws_bit_alarm(b, WS_RULE_P_DEADLOCK);
            return;
        }
        for (guint q = 0; q < 3; q++)
            for (guint w = 0; w < a->ages[q] * b->n_set; w++)
                if (ws_bit_raw(b)[b->set0[q][i] + w])
                    ws_bit_alarm(b, WS_RULE_P_EXIT);
    }
    check_slots(b);
    check_remote(b);
    check_copies(b);
}
