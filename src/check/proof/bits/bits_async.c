/* Loads, stores, gathers and products in the proof: what is in flight, and which registers it
 * holds. */
#include "check/proof/bits/bits.h"
#include "check/proof/bits/bits_cells.h"
#include "check/touch.h"
#include "program/parts/agent.h"

enum { QUEUE_MMA, QUEUE_BULK, QUEUE_CP, MAX_TOUCHED = 512 };

/* --- groups ----------------------------------------------------------------------------------- */
static guint64 *sets(const WsBits *b, guint i, guint queue)
{
    return ws_bit_raw(b) + b->set0[queue][i];
}

static const guint8 open_bit[3] = { WS_OPEN_MMA, WS_OPEN_BULK, WS_OPEN_CP };

/* Closes the open group: every group is one older now; the oldest set holds all older ones. */
void ws_bit_commit(WsBits *b, guint i, guint queue)
{
    guint ages = b->agent[ws_bit_agent(b, i)].ages[queue], n = b->n_set;
    guint64 *set = sets(b, i, queue), *busy = ws_bit_raw(b) + b->busy0[i];
    ws_bit_inst(b, i)->open &= (guint8)~open_bit[queue];
    if (ages == 0)
        return;
    for (guint w = 0; w < n; w++) {
        set[(ages - 1) * n + w] |= set[(ages - 2) * n + w];
        for (guint a = ages - 2; a > 0; a--)
            set[a * n + w] = set[(a - 1) * n + w];
        set[w] = 0;
    }
    if (queue != QUEUE_MMA)
        return;
    busy[ages - 1] |= busy[ages - 2];
    for (guint a = ages - 2; a > 0; a--)
        busy[a] = busy[a - 1];
    busy[0] = 0;
}

/* What an operation makes asynchronous joins the open group and leaves older ones. */
static void add(WsBits *b, guint i, guint queue, const guint16 *touched, guint n)
{
    guint ages = b->agent[ws_bit_agent(b, i)].ages[queue];
    guint base = ws_bit_rank(b, i) * b->items_of_rank;
    guint64 *set = sets(b, i, queue);
    for (guint k = 0; k < n; k++) {
        guint item = touched[k] - base;
        for (guint a = 0; a < ages; a++)
            set[a * b->n_set + item / 64] &= ~(1ull << (item % 64));
        set[item / 64] |= 1ull << (item % 64);
        ws_bit_set(b, ws_bit_k(b, touched[k]), NULL);
    }
    ws_bit_inst(b, i)->open |= open_bit[queue];
}

/* L-MMA-MEETING: wgmma is aligned by warp, so that all warps have come by says only a product that
 * is retired: the returns that lanes know of go along with its group. */
static void add_returns(WsBits *b, guint i)
{
    const WsBitAgent *a = &b->agent[ws_bit_agent(b, i)];
    guint ages = a->ages[QUEUE_MMA], base = ws_bit_rank(b, i) * b->items_of_rank;
    guint64 *set = sets(b, i, QUEUE_MMA);
    for (guint k = 0; ages && k < a->n_returns; k++) {
        guint item = a->returns[k];
        const guint64 *row = ws_bit_k(b, base + item);
        gboolean old = ws_bit_knows(b, row, &b->know[i]), in = FALSE;
        for (guint g = 0; g < ages; g++)
            in |= set[g * b->n_set + item / 64] >> (item % 64) & 1;
        if (!old && !in && ws_bit_knows(b, row, &b->own_w[i]))
            set[item / 64] |= 1ull << (item % 64);
    }
}

/* A new return: what is in flight says nothing of it. */
void ws_bit_returned(WsBits *b, guint i, guint item)
{
    for (guint g = 0; g < b->agent[ws_bit_agent(b, i)].ages[QUEUE_MMA]; g++)
        sets(b, i, QUEUE_MMA)[g * b->n_set + item / 64] &= ~(1ull << (item % 64));
}

static void fence_row(WsBits *b, guint item, const WsMask *m)
{
    if (b->q_row[item] >= 0)
        ws_bit_set(b, ws_bit_q(b, (guint)b->q_row[item]), m);
}

static void fence_free(WsBits *b, guint item)
{
    if (b->q_row[item] >= 0)
        ws_bit_fill(b, ws_bit_q(b, (guint)b->q_row[item]), G_MAXUINT64);
}

/* What cp.async wrote is only looked at where the policy asks for it. */
static void fence_gathered(WsBits *b, guint item)
{
    if (b->policy & WS_POLICY_GATHER)
        fence_row(b, item, NULL);
    else
        fence_free(b, item);
}

/* Ends all groups of a queue but the n newest. */
void ws_bit_retire(WsBits *b, guint i, guint queue, gint64 n)
{
    const WsBitAgent *agent = &b->agent[ws_bit_agent(b, i)];
    guint ages = agent->ages[queue], base = ws_bit_rank(b, i) * b->items_of_rank;
    if (queue == QUEUE_MMA) {
        if (ws_bit_inst(b, i)->open & WS_OPEN_MMA)
            ws_bit_alarm(b, WS_RULE_P_ASYNC);
    }
    const WsMask *who = queue == QUEUE_MMA    ? &b->know[i]
                        : queue == QUEUE_BULK ? &b->lead[i]
                                              : &b->own_o[i];
    for (guint a = (guint)n + 1; a < ages; a++)
        for (guint w = 0; w < b->n_set; w++) {
            guint64 *set = &sets(b, i, queue)[a * b->n_set + w];
            for (; *set; *set &= *set - 1) {
                guint item = w * 64 + (guint)__builtin_ctzll(*set);
                if (item >= b->n_touched)
                    ws_bit_add(b, ws_bit_k(b, base + item), who);
                else
                    ws_bit_set(b, ws_bit_k(b, base + item), who);
                if (queue == QUEUE_CP)
                    *ws_bit_author(b, ws_bit_rank(b, i), item) &= (guint16)~WS_AUTHOR_FLIES;
            }
        }
    if (queue == QUEUE_MMA)
        for (guint a = (guint)n + 1; a < ages; a++)
            ws_bit_raw(b)[b->busy0[i] + a] = 0;
}

/* --- register values -------------------------------------------------------------------------- */
static guint64 *defined(const WsBits *b, guint i)
{
    return ws_bit_raw(b) + b->defined0[i];
}

static guint64 *touched_of(const WsBits *b, guint i)
{
    return defined(b, i) + b->agent[ws_bit_agent(b, i)].a->n_values;
}

/* Number of an mma operand among those met: one bit of the busy sets. */
static guint busy_number(WsBits *b, guint i, const WsBusyKey *key)
{
    GArray *list = b->agent[ws_bit_agent(b, i)].busy;
    for (guint k = 0; k < list->len; k++) {
        const WsBusyKey *x = &g_array_index(list, WsBusyKey, k);
        if (x->value == key->value && x->mask == key->mask && x->n == key->n &&
            x->accumulator == key->accumulator)
            return k;
    }
    if (list->len == 64) {
        ws_bit_outside(b, "too many different operands in registers");
        return 0;
    }
    g_array_append_vals(list, key, 1);
    return list->len - 1;
}

static guint64 all_busy(const WsBits *b, guint i)
{
    guint64 all = 0;
    for (guint a = 0; a < b->agent[ws_bit_agent(b, i)].ages[QUEUE_MMA]; a++)
        all |= ws_bit_raw(b)[b->busy0[i] + a];
    return all;
}

/* PTX ISA, wgmma.wait_group: neither the accumulator nor operand a is accessed before it, be it to
 * read; another product may read the same a. */
static void check_busy(WsBits *b, guint i, guint value, guint64 mask, gboolean product)
{
    const GArray *list = b->agent[ws_bit_agent(b, i)].busy;
    for (guint64 all = all_busy(b, i); all; all &= all - 1) {
        const WsBusyKey *x = &g_array_index(list, WsBusyKey, (guint)__builtin_ctzll(all));
        if (x->value == value && (x->mask & mask) && (x->accumulator || !product))
            ws_bit_alarm(b, WS_RULE_P_ASYNC);
    }
}

static void read_value(WsBits *b, guint i, guint value, guint64 mask, gboolean product)
{
    check_busy(b, i, value, mask, product);
    if ((defined(b, i)[value] & mask) != mask)
        ws_bit_alarm(b, WS_RULE_P_UNDEF);
}

static void use_value(WsBits *b, guint i, guint value, guint64 mask, guint mode)
{
    if (mode & WS_MODE_READ)
        read_value(b, i, value, mask, FALSE);
    if (mode & WS_MODE_WRITE) {
        check_busy(b, i, value, mask, FALSE);
        defined(b, i)[value] |= mask;
    }
    touched_of(b, i)[value] |= mask;
}

void ws_bit_values(WsBits *b, guint i, const WsBitOp *o)
{
    if (o->kind == WS_OP_MATH) {
        for (guint k = 0; k < o->n_reads; k++)
            use_value(b, i, o->reads[k].value, o->reads[k].mask, WS_MODE_READ);
        for (guint k = 0; k < o->n_writes; k++)
            use_value(b, i, o->writes[k].value, o->writes[k].mask, WS_MODE_WRITE);
        return;
    }
    for (guint k = 0; k < o->n_value; k++)
        use_value(b, i, o->value[k].value, ws_bit_blocks(b, i, &o->value[k]),
                  o->value[k].use->mode);
}

/* --- plain accesses --------------------------------------------------------------------------- */
/* L-LAST-READ: an item holds the last read of its class. Where lanes read the same bytes by
 * different threads and nothing ordered the two, neither speaks for the other. */
static guint16 author_after(const WsBits *b, guint i, guint item, guint16 old, guint16 author)
{
    gboolean read = item >= b->n_cells;
    guint16 number = old & WS_AUTHOR_NUMBER;
    if (!read || number == 0 || number == author || !author)
        return author;
    const guint64 *row = ws_bit_k(b, ws_bit_rank(b, i) * b->items_of_rank + item);
    return ws_bit_knows(b, row, &b->know[i]) ? author : WS_AUTHOR_MIXED;
}

void ws_bit_generic(WsBits *b, guint i, const WsBitOp *o)
{
    guint16 touched[MAX_TOUCHED];
    guint n = 0, rank = ws_bit_rank(b, i), base = rank * b->items_of_rank;
    ws_bit_values(b, i, o);
    if (o->n_access == 0)
        return;
    ws_bit_touch(b, i, o, rank, WS_MODE_READ | WS_MODE_WRITE, touched, &n, MAX_TOUCHED);
    guint16 author = n == 0 ? 0 : ws_bit_author_of(b, o->op, b->last);
    gboolean generic = o->op->proxy == WS_PROXY_GENERIC;
    for (guint k = 0; k < n; k++) {
        guint16 *by = ws_bit_author(b, rank, touched[k] - base);
        *by = author_after(b, i, touched[k] - base, *by, author);
        ws_bit_set(b, ws_bit_k(b, touched[k]), o->leader ? &b->lead[i] : &b->own_o[i]);
        if (generic)
            fence_row(b, touched[k], NULL);
        else
            fence_free(b, touched[k]);
    }
}

/* What lanes read of another CTA, or write there: that CTA may not end before it, and its bytes are
 * private to nobody. */
void ws_bit_peek(WsBits *b, guint i, const WsBitOp *o)
{
    guint16 touched[MAX_TOUCHED];
    guint rank[16], n = 0;
    ws_bit_values(b, i, o);
    if (ws_bit_targets(b, i, o, rank) != 1)
        return;
    const guint base = rank[0] * b->items_of_rank;
    b->target = ws_bit_rank(b, i);
    ws_bit_touch(b, i, o, rank[0], WS_MODE_READ | WS_MODE_WRITE, touched, &n, MAX_TOUCHED);
    for (guint k = 0; k < n; k++) {
        *ws_bit_author(b, rank[0], touched[k] - base) = 0;
        ws_bit_set(b, ws_bit_k(b, touched[k]), o->leader ? &b->lead[i] : &b->own_o[i]);
        fence_row(b, touched[k], NULL);
    }
    if (rank[0] != ws_bit_rank(b, i))
        ws_bit_reach(b, i, !o->leader, rank[0]);
}

/* --- products --------------------------------------------------------------------------------- */
static void check_accumulator(WsBits *b, guint i, const WsBitOp *o, guint value, guint64 mask)
{
    const GArray *list = b->agent[ws_bit_agent(b, i)].busy;
    for (guint64 all = all_busy(b, i); all; all &= all - 1) {
        const WsBusyKey *x = &g_array_index(list, WsBusyKey, (guint)__builtin_ctzll(all));
        if (x->value == value && (x->mask & mask) &&
            !(x->accumulator && x->n == ws_mma_shape(o->op->mma)))
            ws_bit_alarm(b, WS_RULE_P_ASYNC);
    }
    if (!ws_bit_inst(b, i)->parity && (defined(b, i)[value] & mask) != mask)
        ws_bit_alarm(b, WS_RULE_P_UNDEF);
    defined(b, i)[value] |= mask;
}

void ws_bit_mma(WsBits *b, guint i, const WsBitOp *o)
{
    guint16 touched[MAX_TOUCHED];
    guint n = 0;
    WsBitInst *in = ws_bit_inst(b, i);
    ws_bit_touch(b, i, o, ws_bit_rank(b, i), WS_MODE_READ | WS_MODE_WRITE, touched, &n,
                 MAX_TOUCHED);
    add(b, i, QUEUE_MMA, touched, n);
    add_returns(b, i);
    for (guint k = 0; k < o->n_value && k < 2 && !b->alarm; k++) {
        guint value = o->value[k].value;
        guint64 mask = ws_bit_blocks(b, i, &o->value[k]), *seen = &touched_of(b, i)[value];
        if (!(in->open & WS_SEEN_FENCE) || *seen & mask) /* wgmma.fence */
            ws_bit_alarm(b, WS_RULE_P_FENCE);
        if (k == 0)
            check_accumulator(b, i, o, value, mask);
        else
            read_value(b, i, value, mask, TRUE);
        WsBusyKey key = { value, ws_mma_shape(o->op->mma), mask, k == 0 };
        guint64 bit = 1ull << busy_number(b, i, &key);
        guint64 *busy = ws_bit_raw(b) + b->busy0[i];
        for (guint a = 0; a < b->agent[ws_bit_agent(b, i)].ages[QUEUE_MMA]; a++)
            busy[a] &= ~bit;
        busy[0] |= bit;
    }
    in->parity = 0;
}

/* --- stores ----------------------------------------------------------------------------------- */
void ws_bit_store(WsBits *b, guint i, const WsBitOp *o)
{
    guint16 touched[MAX_TOUCHED];
    guint n = 0;
    ws_bit_touch(b, i, o, ws_bit_rank(b, i), WS_MODE_READ, touched, &n, MAX_TOUCHED);
    add(b, i, QUEUE_BULK, touched, n);
}

/* --- loads ------------------------------------------------------------------------------------ */
static guint64 *transfer_row(const WsBits *b, guint s)
{
    return ws_bit_k(b, s / b->n_slots * b->items_of_rank + b->slot_item[s % b->n_slots] +
                           WS_ITEM_TRANSFER);
}

static guint64 meets_mask(const WsBits *b, const guint64 *row, const WsMask *m)
{
    guint64 x = 0;
    for (guint w = 0; w < b->nw; w++)
        x |= row[w] & m->w[w];
    return x;
}

static void drop(const WsBits *b, guint64 *row, const WsMask *m)
{
    for (guint w = 0; w < b->nw; w++)
        row[w] &= ~m->w[w];
}

/* An item that was written by plain stores or atomics, and that those of `from` have heard of. */
static void keep_stored(WsBits *b, guint rank, guint item, const WsMask *from, const WsMask *to,
                        guint *n)
{
    guint at = rank * b->items_of_rank + item;
    const guint64 *row = ws_bit_k(b, at);
    if (*ws_bit_author(b, rank, item) && !meets_mask(b, row, to) && meets_mask(b, row, from))
        b->kept[(*n)++] = at;
}

/* L-TX-DATA: bytes that land publish themselves and the order of what came before their issue, but
 * not what threads wrote by plain stores: that takes an arrival (PTX ISA: complete_tx is ordered
 * with its own copy alone). */
static void release_transfer(WsBits *b, guint i, const WsBitOp *o, guint s)
{
    const WsMask *to = &b->acc[s], *from = o->leader ? &b->lead[i] : &b->all[i];
    if (o->leader && b->handed == ((guint64)(i + 1) << 32 | s))
        return; /* nothing has been learned since its leader arrived there */
    guint n = 0;
    const guint32 *kept = b->kept;
    for (guint r = 0; r < b->ranks; r++)
        for (guint c = 0; c < b->n_cells; c++) {
            const WsBitCell *cell = &b->cell[c];
            keep_stored(b, r, c, from, to, &n);
            for (guint64 left = cell->readers & b->atomics[0]; left; left &= left - 1)
                keep_stored(b, r, ws_bit_item_of(cell, (guint)__builtin_ctzll(left)), from, to, &n);
        }
    ws_bit_join(b, from, to);
    for (guint k = 0; k < n; k++) {
        drop(b, ws_bit_k(b, kept[k]), to);
        if (b->q_row[kept[k]] >= 0)
            drop(b, ws_bit_q(b, (guint)b->q_row[kept[k]]), to);
    }
    b->handed = o->leader && n == 0 ? (guint64)(i + 1) << 32 | s : 0;
}

/* L-LAST-READ: the same copy again, and the one before is not known to have ended: only who knows
 * both ends knows the end of the last. */
static void keep(const WsBits *b, guint64 *row, const WsMask *m)
{
    for (guint w = 0; w < b->nw; w++)
        row[w] &= m->w[w];
}

/* Bytes land at once: whoever knows the completion they belong to knows them. */
void ws_bit_load(WsBits *b, guint i, const WsBitOp *o)
{
    guint16 touched[MAX_TOUCHED];
    if (o->n_value)
        ws_bit_values(b, i, o);
    if (o->barrier < 0) {
        ws_bit_rows(b, i, o);
        return;
    }
    guint rank[16], n_ranks = ws_bit_targets(b, i, o, rank);
    for (guint k = 0; k < n_ranks && !b->alarm; k++) {
        gint64 turn;
        gint found = ws_bit_resolve(b, i, o, rank[k], &turn);
        if (found < 0)
            return;
        guint s = (guint)found, n = 0;
        WsBitSlot *slot = ws_bit_slot(b, s);
        ws_bit_contribute(b, i, o, s, turn);
        b->serial++;
        b->target = rank[k];
        if (o->kind == WS_OP_BULK_COPY)
            ws_bit_touch(b, i, o, ws_bit_rank(b, i), WS_MODE_READ, touched, &n, MAX_TOUCHED);
        guint n_read = n;
        ws_bit_touch(b, i, o, rank[k], WS_MODE_WRITE, touched, &n, MAX_TOUCHED);
        for (guint t = 0; t < n; t++) {
            if (t < n_read && !ws_bit_knows(b, ws_bit_k(b, touched[t]), &b->lead[i]))
                keep(b, ws_bit_k(b, touched[t]), &b->acc[s]);
            else
                ws_bit_set(b, ws_bit_k(b, touched[t]), &b->acc[s]);
            if (ws_is_generic(o->op))
                fence_row(b, touched[t], NULL);
            else
                fence_free(b, touched[t]);
            guint r = touched[t] / b->items_of_rank;
            *ws_bit_author(b, r, touched[t] % b->items_of_rank) = 0;
        }
        release_transfer(b, i, o, s);
        ws_bit_set(b, transfer_row(b, s), &b->acc[s]);
        slot->signalled = 1;
        slot->tx -= o->op->bytes;
        slot->moved |= o->op->bytes != 0;
        slot->now |= 1ull << i;
        ws_bit_complete(b, s);
    }
}

void ws_bit_rows(WsBits *b, guint i, const WsBitOp *o)
{
    guint16 touched[MAX_TOUCHED];
    guint n = 0, rank = ws_bit_rank(b, i), base = rank * b->items_of_rank;
    ws_bit_touch(b, i, o, rank, WS_MODE_WRITE, touched, &n, MAX_TOUCHED);
    add(b, i, QUEUE_CP, touched, n);
    guint16 author = n ? ws_bit_author_of(b, o->op, b->last) : 0;
    for (guint k = 0; k < n; k++) {
        *ws_bit_author(b, rank, touched[k] - base) = author | WS_AUTHOR_FLIES;
        fence_gathered(b, touched[k]);
    }
}

/* Every thread arrives once its copies so far are done. */
void ws_bit_cp_arrive(WsBits *b, guint i, const WsBitOp *o)
{
    guint rank = ws_bit_rank(b, i), base = rank * b->items_of_rank;
    gint64 turn;
    gint found = ws_bit_resolve(b, i, o, rank, &turn);
    if (found < 0)
        return;
    guint s = (guint)found;
    WsBitSlot *slot = ws_bit_slot(b, s);
    ws_bit_contribute(b, i, o, s, turn);
    for (guint w = 0; w < b->agent[ws_bit_agent(b, i)].ages[QUEUE_CP] * b->n_set; w++) {
        guint64 *set = &sets(b, i, QUEUE_CP)[w];
        for (; *set; *set &= *set - 1) {
            guint item = w % b->n_set * 64 + (guint)__builtin_ctzll(*set);
            ws_bit_set(b, ws_bit_k(b, base + item), &b->acc[s]);
            fence_gathered(b, base + item); /* a fence after the wait covers it, the barrier not */
            *ws_bit_author(b, rank, item) = 0;
        }
    }
    ws_bit_inst(b, i)->open &= (guint8)~WS_OPEN_CP;
    release_transfer(b, i, o, s);
    ws_bit_set(b, transfer_row(b, s), &b->acc[s]);
    slot->signalled = slot->lanes_now = 1;
    if (o->op->count > slot->pend) {
        ws_bit_alarm(b, WS_RULE_P_COUNT);
        return;
    }
    slot->pend -= (gint32)o->op->count;
    slot->now |= 1ull << i;
    ws_bit_complete(b, s);
}
