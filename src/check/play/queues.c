/* Asynchronous engines and registers in the play: commit groups of mma, bulk groups of stores,
 * gathers, loads, and the values they hold (LANGUAGE section 12). */
#include "check/play/play.h"
#include "check/touch.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

/* --- register values -------------------------------------------------------------------------- */
static const WsGrid *grid(const WsPlay *play, const WsInst *inst, guint value)
{
    return &play->grid[inst->agent][value];
}

/* Blocks of a value that a view covers. */
static guint64 blocks(WsPlay *play, WsInst *inst, const WsValueUse *u)
{
    gint64 r0 = 0, c0 = 0;
    if ((u->row0 && !ws_play_eval(play, inst, u->row0, &r0)) ||
        (u->col0 && !ws_play_eval(play, inst, u->col0, &c0)))
        return 0;
    gboolean exact;
    guint64 mask = ws_value_blocks(grid(play, inst, u->value), u, r0, c0, &exact);
    if (!exact)
        ws_outside(play, inst, WS_NO_BLOCKS);
    return mask;
}

static guint64 whole(const WsPlay *play, const WsInst *inst, guint value)
{
    const WsRegValue *v = &inst->a->value[value];
    WsValueUse all = { .rows = v->rows, .cols = v->cols };
    gboolean exact;
    return ws_value_blocks(grid(play, inst, value), &all, 0, 0, &exact);
}

/* An mma in flight that forbids this use of a value, or NULL. Operand a is free to other products
 * only (PTX ISA, wgmma.wait_group). */
static const WsBusy *busy(const WsInst *inst, guint value, guint64 mask, gboolean product)
{
    for (guint i = 0; i < inst->busy->len; i++) {
        const WsBusy *b = &g_array_index(inst->busy, WsBusy, i);
        if (b->value == value && (b->mask & mask) && (b->accumulator || !product))
            return b;
    }
    return NULL;
}

static void check_busy(WsPlay *play, WsInst *inst, guint value, guint64 mask, gboolean write,
                       gboolean product)
{
    const WsBusy *b = busy(inst, value, mask, product);
    if (!b)
        return;
    g_autofree char *other = ws_deed_event(play, b->event);
    const WsRegValue *v = &inst->a->value[value];
    gint64 newest = inst->mma_committed - 1;
    const gboolean both_read = !write && !b->accumulator;
    WsFinding *f =
        both_read
            ? ws_report(play, WS_RULE_P_ASYNC, inst, b->event,
                        "reads %s, operand a of %s, which may still be in flight", v->name, other)
            : ws_report(play, WS_RULE_P_ASYNC, inst, b->event, "%s %s while %s may still %s it",
                        write ? WS_WORD("assigns") : WS_WORD("reads"), v->name, other,
                        b->accumulator ? WS_WORD("accumulate into") : WS_WORD("read"));
    if (f)
        ws_report_queue(play, f, WS_WORD("commit groups"), inst->index);
    ws_tell_value(play, f, inst, b->event, v->name,
                  b->accumulator ? WS_WORD("accumulates into") : WS_WORD("reads"),
                  write ? WS_WORD("assigns") : WS_WORD("reads"), both_read);
    if (f && b->group > newest)
        ws_finding_set_remedy(f, "close the commit group and retire it with mma_wait first");
    else if (f)
        ws_finding_set_remedy(f, "put {\"mma_wait\": %" G_GINT64_FORMAT "} before it",
                              newest - b->group);
}

static void use_value(WsPlay *play, WsInst *inst, guint value, guint64 mask, guint mode)
{
    const gboolean product = inst->step.op->kind == WS_OP_MMA;
    if (mode & WS_MODE_READ) {
        check_busy(play, inst, value, mask, FALSE, product);
        if ((inst->defined[value] & mask) != mask) {
            WsFinding *f = ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                                     "reads %s, which no step before it has defined",
                                     inst->a->value[value].name);
            if (f) {
                f->object = g_strdup(inst->a->value[value].name);
                ws_finding_tell(f, WS_STORY_MISSING, "a step that assigns %s on every path here",
                                f->object);
                ws_finding_tell(f, WS_STORY_SO, "undefined: whatever the registers held is used");
                ws_remedy_undefined(play, f, inst, value);
            }
            inst->defined[value] |= mask;
        }
    }
    if (mode & WS_MODE_WRITE) {
        check_busy(play, inst, value, mask, TRUE, product);
        if (!inst->step.op->unless) /* L-UNLESS: who reads it later must find it defined */
            inst->defined[value] |= mask;
    }
    inst->touched[value] |= mask;
}

static WsOpInfo *math_info(WsPlay *play, WsInst *inst, const WsOp *op)
{
    WsOpInfo *info = &play->info[op->index];
    if (info->known)
        return info;
    GArray *read = g_array_new(FALSE, FALSE, sizeof(guint));
    GArray *write = g_array_new(FALSE, FALSE, sizeof(guint));
    ws_math_values(op, FALSE, read, write);
    info->n_reads = read->len, info->n_writes = write->len;
    info->read = (guint *)(void *)g_array_free(read, FALSE);
    info->write = (guint *)(void *)g_array_free(write, FALSE);
    info->known = TRUE;
    return info;
}

static void ws_do_values(WsPlay *play, WsInst *inst)
{
    const WsOp *op = inst->step.op;
    if (op->kind == WS_OP_MATH) {
        WsOpInfo *info = math_info(play, inst, op);
        for (guint i = 0; i < info->n_reads; i++)
            use_value(play, inst, info->read[i], whole(play, inst, info->read[i]), WS_MODE_READ);
        for (guint i = 0; i < info->n_writes; i++)
            use_value(play, inst, info->write[i], whole(play, inst, info->write[i]), WS_MODE_WRITE);
        return;
    }
    for (guint i = 0; i < op->n_value; i++)
        if (op->value[i].value < inst->a->n_values)
            use_value(play, inst, op->value[i].value, blocks(play, inst, &op->value[i]),
                      op->value[i].mode);
}

static void touch_now(WsPlay *play, WsInst *inst, guint rank)
{
    gboolean leader = ws_by_leader(inst);
    WsEvent *e = ws_play_event(play, inst);
    e->comp = leader ? inst->comp_l : inst->comp_o;
    e->epoch = leader ? ++inst->l : ++inst->o;
    if (leader)
        inst->lead[inst->comp_l] = inst->l;
    ws_do_access(play, inst, rank, e, WS_MODE_READ | WS_MODE_WRITE);
}

void ws_do_generic(WsPlay *play, WsInst *inst)
{
    const WsOp *op = inst->step.op;
    if (op->n_value || op->n_math)
        ws_do_values(play, inst);
    if (op->n_access)
        touch_now(play, inst, inst->rank);
}

/* What lanes read of another CTA, or write there. */
void ws_do_peek(WsPlay *play, WsInst *inst)
{
    guint rank[16];
    ws_do_values(play, inst);
    if (ws_targets(play, inst, &inst->step.op->ctas, rank) != 1)
        return;
    touch_now(play, inst, rank[0]);
    if (rank[0] != inst->rank)
        ws_note_reach(play, inst, !ws_by_leader(inst), rank[0]);
}

/* --- mma -------------------------------------------------------------------------------------- */
static void check_accumulator(WsPlay *play, WsInst *inst, guint value, guint64 mask, gint64 first)
{
    const WsOp *op = inst->step.op;
    const WsRegValue *v = &inst->a->value[value];
    for (guint i = 0; i < inst->busy->len; i++) {
        const WsBusy *b = &g_array_index(inst->busy, WsBusy, i);
        if (b->value != value || !(b->mask & mask) ||
            (b->accumulator && b->n == ws_mma_shape(op->mma)))
            continue;
        g_autofree char *other = ws_deed_event(play, b->event);
        WsFinding *f = ws_report(
            play, WS_RULE_P_ASYNC, inst, b->event,
            b->accumulator ? "accumulates into %s with another shape than %s, which may still "
                             "be in flight"
                           : "accumulates into %s while %s may still read it",
            v->name, other);
        if (f)
            ws_report_queue(play, f, WS_WORD("commit groups"), inst->index);
        ws_tell_value(play, f, inst, b->event, v->name,
                      b->accumulator ? WS_WORD("accumulates, in another shape, into")
                                     : WS_WORD("reads"),
                      WS_WORD("accumulates into"), FALSE);
        if (f)
            ws_finding_set_remedy(f, "put {\"mma_wait\": 0} before it");
    }
    if (!first && (inst->defined[value] & mask) != mask) {
        WsFinding *f = ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                                 "adds to %s, which no step before it has defined", v->name);
        if (f) {
            f->object = g_strdup(v->name);
            ws_finding_tell(f, WS_STORY_WHO,
                            "`first` is false here, so the mma adds to the contents of %s",
                            v->name);
            ws_finding_tell(f, WS_STORY_MISSING,
                            "a step before it that assigns %s or starts its sum", v->name);
            ws_finding_tell(f, WS_STORY_SO,
                            "undefined: the sum starts from whatever the registers held");
            ws_finding_set_remedy(f, "let `first` be true in the round that starts the sum");
        }
    }
    inst->defined[value] |= mask;
}

/* wgmma.fence: before the first mma, and after ordinary code touched its registers. */
static void check_mma_fence(WsPlay *play, WsInst *inst, guint value, guint64 mask)
{
    if (inst->fence_seen && !(inst->touched[value] & mask))
        return;
    WsFinding *f = ws_report(
        play, WS_RULE_P_FENCE, inst, NULL,
        inst->fence_seen ? "uses %s, which ordinary code has touched since the last mma fence"
                         : "is the first to use %s, and no mma fence precedes it",
        inst->a->value[value].name);
    if (f) {
        f->object = g_strdup(inst->a->value[value].name);
        ws_finding_tell(f, WS_STORY_MISSING,
                        "a wgmma.fence between the last ordinary use of the registers of %s and "
                        "this mma",
                        f->object);
        ws_finding_tell(f, WS_STORY_SO, "undefined: the mma may start before they are written");
        ws_finding_set_remedy(f, "{\"fence\": \"mma\"} directly before it");
    }
}

void ws_do_mma(WsPlay *play, WsInst *inst)
{
    const WsOp *op = inst->step.op;
    gint64 first = 0;
    if (op->mma && op->mma->first && !ws_play_eval(play, inst, op->mma->first, &first))
        return;
    WsEvent *e = ws_play_event(play, inst);
    ws_do_access(play, inst, inst->rank, e, WS_MODE_READ | WS_MODE_WRITE);
    e->comp = inst->comp_w;
    e->issue = ++inst->w;
    e->pending = TRUE;
    e->group = inst->mma_committed;
    e->back = inst->b;
    e->made = inst->o;
    ws_groups_known(play, inst);
    g_ptr_array_add(inst->mma, e);
    inst->mma_open = TRUE;
    for (guint i = 0; i < op->n_value && i < 2; i++) {
        guint value = op->value[i].value;
        guint64 mask = blocks(play, inst, &op->value[i]);
        check_mma_fence(play, inst, value, mask);
        if (i == 0) {
            check_accumulator(play, inst, value, mask, first);
        } else {
            guint64 touched = inst->touched[value];
            use_value(play, inst, value, mask, WS_MODE_READ);
            inst->touched[value] = touched;
        }
        WsBusy b = { value, mask, i == 0, e->group, ws_mma_shape(op->mma), e };
        g_array_append_val(inst->busy, b);
    }
}

void ws_do_mma_wait(WsPlay *play, WsInst *inst, gint64 n)
{
    if (inst->mma_open) {
        WsFinding *f =
            ws_report(play, WS_RULE_P_ASYNC, inst, NULL,
                      "waits while a commit group is open: what is in it is not waited for");
        ws_finding_tell(f, WS_STORY_SO,
                        "corruption: what follows uses sums and releases stages "
                        "while the mma is at work");
        if (f)
            ws_finding_set_remedy(f, "drop \"open\" from the last mma before the wait");
    }
    gint64 limit = inst->mma_committed - n;
    inst->w++;
    ws_groups_known(play, inst);
    guint done = 0;
    while (done < inst->mma->len && ((WsEvent *)inst->mma->pdata[done])->group < limit) {
        WsEvent *e = inst->mma->pdata[done++];
        ws_came_by(play, inst, e->back, e->made);
        e->pending = FALSE;
        e->epoch = inst->w;
    }
    if (done)
        g_ptr_array_remove_range(inst->mma, 0, done);
    for (guint i = inst->busy->len; i-- > 0;)
        if (g_array_index(inst->busy, WsBusy, i).group < limit)
            g_array_remove_index(inst->busy, i);
}

/* --- stores ----------------------------------------------------------------------------------- */
void ws_do_store(WsPlay *play, WsInst *inst)
{
    WsEvent *e = ws_play_event(play, inst);
    ws_do_access(play, inst, inst->rank, e, WS_MODE_READ);
    e->comp = inst->comp_l;
    e->issue = inst->lead[inst->comp_l] = ++inst->l;
    e->pending = TRUE;
    e->group = inst->bulk_committed;
    g_ptr_array_add(inst->bulk, e);
    inst->bulk_open = TRUE;
}

void ws_do_bulk_wait(WsPlay *play, WsInst *inst, gint64 n)
{
    gint64 limit = inst->bulk_committed - n;
    inst->lead[inst->comp_l] = ++inst->l;
    guint done = 0;
    while (done < inst->bulk->len && ((WsEvent *)inst->bulk->pdata[done])->group < limit) {
        WsEvent *e = inst->bulk->pdata[done++];
        e->pending = FALSE;
        e->epoch = inst->l;
    }
    if (done)
        g_ptr_array_remove_range(inst->bulk, 0, done);
}

/* --- loads ------------------------------------------------------------------------------------ */
static WsTransfer *new_transfer(WsPlay *play, WsInst *inst, gboolean leader)
{
    if (play->transfers_used == play->transfers->len) {
        WsTransfer *t = g_new0(WsTransfer, 1);
        t->clock = g_new0(WsEpoch, WS_CLOCK_PARTS * play->n_comps);
        g_ptr_array_add(play->transfers, t);
    }
    WsTransfer *t = play->transfers->pdata[play->transfers_used++];
    memset(t->clock, 0, WS_CLOCK_PARTS * play->n_comps * sizeof(WsEpoch));
    if (leader)
        ws_release_leader(play, inst, t->clock);
    else
        ws_release_all(play, inst, t->clock);
    t->event = NULL, t->slot = NULL;
    t->bytes = t->arrivals = 0;
    t->turn = G_MININT64;
    return t;
}

static gboolean target(WsPlay *play, WsInst *inst, guint rank, WsTransfer *t)
{
    const WsOp *op = inst->step.op;
    gint64 element = 0, slot = 0;
    if ((op->element && !ws_play_eval(play, inst, op->element, &element)) ||
        (op->slot && !ws_play_eval(play, inst, op->slot, &slot)) ||
        (op->turn && !ws_play_eval(play, inst, op->turn, &t->turn)))
        return FALSE;
    t->slot = ws_slot_of(play, rank, (guint)op->barrier, element, slot);
    if (!t->slot)
        ws_report(play, WS_RULE_P_UNDEF, inst, NULL, "signals a slot of %s that does not exist",
                  play->p->barrier[op->barrier].name);
    return t->slot != NULL;
}

void ws_do_load(WsPlay *play, WsInst *inst)
{
    const WsOp *op = inst->step.op;
    gboolean leader = ws_by_leader(inst);
    if (op->n_value)
        ws_do_values(play, inst);
    if (op->barrier < 0) {
        ws_do_rows(play, inst);
        return;
    }
    guint rank[16], n = ws_targets(play, inst, &op->ctas, rank);
    gboolean generic = ws_is_generic(op); /* L-REMOTE-PROXY: fences so far cover none of it */
    if (generic)
        inst->o++;
    for (guint i = 0; i < n; i++) {
        WsTransfer *t = new_transfer(play, inst, leader);
        if (!target(play, inst, rank[i], t))
            return;
        ws_contribution(play, inst, t->slot, t->turn);
        WsEvent *e = t->event = ws_play_event(play, inst);
        e->pending = TRUE;
        e->slot = t->slot;
        if (generic)
            e->cover_comp = inst->comp_o, e->cover = inst->o;
        if (op->kind == WS_OP_BULK_COPY)
            ws_do_access(play, inst, inst->rank, e, WS_MODE_READ);
        ws_do_access(play, inst, rank[i], e, WS_MODE_WRITE);
        t->bytes = op->bytes;
        g_ptr_array_add(play->flight, t);
    }
}

void ws_do_rows(WsPlay *play, WsInst *inst)
{
    WsEvent *e = ws_play_event(play, inst);
    e->pending = TRUE;
    e->group = inst->cp_committed;
    ws_do_access(play, inst, inst->rank, e, WS_MODE_WRITE);
    g_ptr_array_add(inst->cp, e);
}

/* Every thread arrives once its copies so far are done. */
void ws_do_cp_arrive(WsPlay *play, WsInst *inst)
{
    inst->o++; /* before it is released: fences so far cover none of the copies */
    WsTransfer *t = new_transfer(play, inst, FALSE);
    if (!target(play, inst, inst->rank, t))
        return;
    ws_contribution(play, inst, t->slot, t->turn);
    t->arrivals = inst->step.op->count;
    WsEvent *e = t->event = ws_play_event(play, inst);
    e->pending = TRUE;
    e->slot = t->slot;
    if (inst->cp_arrival)
        inst->cp_arrival->later = e;
    inst->cp_arrival = e;
    for (guint i = 0; i < inst->cp->len; i++) {
        WsEvent *copy = inst->cp->pdata[i];
        copy->arrival = e;
        copy->next = e->next;
        e->next = copy;
        copy->cover_comp = inst->comp_o;
        copy->cover = inst->o;
    }
    g_ptr_array_set_size(inst->cp, 0);
    g_ptr_array_add(play->flight, t);
}

void ws_do_cp_wait(WsPlay *play, WsInst *inst, gint64 n)
{
    gint64 limit = inst->cp_committed - n;
    inst->o++;
    guint done = 0;
    while (done < inst->cp->len && ((WsEvent *)inst->cp->pdata[done])->group < limit) {
        WsEvent *e = inst->cp->pdata[done++];
        if (!e->pending)
            continue;
        e->pending = FALSE;
        e->comp = inst->comp_o;
        e->epoch = inst->o;
    }
    if (done)
        g_ptr_array_remove_range(inst->cp, 0, done);
}
