/* Remedies of accesses: bytes used while they are written, overwritten while they are used, read
 * before anything is there. */
#include "check/play/remedy.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* It reads another use than its agent has waited for: the release is that of the awaited one. */
static gboolean other_use(const WsPlay *play, WsFinding *f, const WsOp *op, guint data)
{
    const WsOp *wait = ws_first_on(play, op->agent, data, ws_is_wait);
    g_autofree char *awaited =
        wait && ws_loop_of(wait) == ws_loop_of(op) ? ws_use_text(wait) : NULL;
    for (guint i = 0; awaited && i < op->n_access; i++) {
        g_autofree char *use = op->access[i].use ? ws_expr_print(op->access[i].use) : NULL;
        if (!use || strcmp(use, awaited) == 0 || ws_use_is_named(play, data, ws_is_wait, use))
            continue;
        ws_finding_set_remedy(f,
                              "let `%s` read the use that it has waited for: it says %s, `%s` says "
                              "%s",
                              ws_op_name(op), use, ws_op_name(wait), awaited);
        return TRUE;
    }
    return FALSE;
}

/* The bytes are used up by `p` before they are overwritten: who says so, and who asks? */
static void give_back(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p,
                      gint data)
{
    const WsOp *by = NULL, *here = inst->step.op;
    const gint agent = (gint)play->inst[p->inst].agent;
    const char *user = play->p->agent[agent].name;
    gint room = data < 0 ? -1 : ws_room_of(play, (guint)data, inst->agent, &by);
    const gboolean loaded = room >= 0;
    for (guint i = 0; !loaded && i < play->p->n_ops; i++) {
        /* bytes that are written and not loaded: a barrier of the user for which the writer waits,
         * or nobody; the first behind the use, else the last before it */
        const WsOp *op = play->p->op[i];
        if (op->agent == agent && ws_is_arrival(op) && !(by && by->index > p->op->index) &&
            (ws_first_on(play, (gint)inst->agent, (guint)op->barrier, ws_is_wait) ||
             !ws_first_on(play, -1, (guint)op->barrier, ws_is_wait)))
            room = op->barrier, by = op;
    }
    if (room < 0) {
        ws_finding_set_remedy(f,
                              "let %s arrive on a barrier after `%s`, and wait for it before `%s`",
                              user, ws_op_name(p->op), ws_op_name(here));
        return;
    }
    const char *name = play->p->barrier[room].name;
    const WsOp *arrive = ws_first_on(play, agent, (guint)room, ws_is_arrival);
    const WsOp *wait = ws_first_on(play, (gint)inst->agent, (guint)room, ws_is_wait);
    g_autofree char *given = arrive ? ws_use_text(arrive) : NULL,
                    *taken = wait ? ws_use_text(wait) : NULL;
    if (!wait)
        ws_finding_set_remedy(f,
                              "wait for %s before `%s`: %s arrives there when it has used the slot",
                              name, ws_op_name(here), ws_op_agent(play, by));
    else if (!arrive)
        ws_finding_set_remedy(f, "let %s arrive on %s, too, after `%s`", user, name,
                              ws_op_name(p->op));
    else if (play->inst[p->inst].rank != inst->rank && arrive->ctas.kind == WS_CTAS_OWN)
        ws_finding_set_remedy(
            f,
            "let `%s` of %s reach the CTA that overwrites the bytes, too: \"cta\": "
            "\"all\"",
            ws_op_name(arrive), user);
    else if (wait->index > here->index)
        ws_finding_set_remedy(f, "wait for %s before `%s`: `%s` comes after it", name,
                              ws_op_name(here), ws_op_name(wait));
    else if (p->op->engine == WS_ENGINE_MMA && data >= 0 && other_use(play, f, p->op, (guint)data))
        return;
    else if (p->op->engine == WS_ENGINE_MMA)
        ws_finding_set_remedy(f,
                              "release the bytes after the mma_wait that retires this mma: `%s` of "
                              "%s comes too early",
                              ws_op_name(arrive), user);
    else if (p->op->engine == WS_ENGINE_TMA_STORE)
        ws_finding_set_remedy(f, "let %s arrive on %s only after a store_wait that retires `%s`",
                              user, name, ws_op_name(p->op));
    else if (arrive->index < p->op->index)
        ws_finding_set_remedy(f, "let `%s` of %s come after `%s`", ws_op_name(arrive), user,
                              ws_op_name(p->op));
    else if (given && taken && strcmp(given, taken) != 0)
        ws_finding_set_remedy(f, "let `%s` of %s and `%s` name the same use: they say %s and %s",
                              ws_op_name(arrive), user, ws_op_name(wait), given, taken);
    else
        ws_finding_set_remedy(f,
                              "wait for %s before `%s` in every round, with the use of the slot "
                              "that is overwritten",
                              name, ws_op_name(here));
}

/* The first arrival of the writer behind what it writes, in the same list, and on what nobody of
 * the reader waits: what tells of it. A named barrier that both name is one, too. NULL. */
static const WsOp *told_by(const WsPlay *play, const WsOp *write, guint reader)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == write->agent && ws_is_arrival(op) && op->index > write->index &&
            op->tree->parent == write->tree->parent &&
            !ws_first_on(play, (gint)reader, (guint)op->barrier, ws_is_wait) &&
            ws_first_on(play, -1, (guint)op->barrier, ws_is_wait))
            return op;
    }
    return NULL;
}

/* A named barrier on which the writer arrives in its list before it writes, and where the reader
 * waits. */
static const WsOp *too_early(const WsPlay *play, const WsOp *write, const WsOp *read)
{
    const WsOp *found = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != write->agent || !ws_is_join(op) || ws_is_sync(op) ||
            op->index > write->index || op->tree->parent != write->tree->parent)
            continue;
        for (guint k = 0; k < play->p->n_ops; k++) {
            const WsOp *sync = play->p->op[k];
            if (sync->agent == read->agent && ws_is_sync(sync) && sync->barrier == op->barrier &&
                sync->index < read->index && sync->tree->parent == read->tree->parent)
                found = op;
        }
    }
    return found;
}

/* The writer's first wait for the readers stands behind its write: NULL if not. */
static const WsOp *asks_late(const WsPlay *play, const WsOp *write, const WsOp *read)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == write->agent && ws_is_wait(op) && op->index > write->index &&
            op->tree->parent == write->tree->parent && op->agent != read->agent &&
            ws_first_on(play, read->agent, (guint)op->barrier, ws_is_arrival) &&
            ws_first_on(play, write->agent, (guint)op->barrier, ws_is_wait) == op)
            return op;
    }
    return NULL;
}

/* What `p` writes is read before it is there: who says so, and who asks? */
static void hand_over(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const gint agent = (gint)play->inst[p->inst].agent;
    const char *writer = play->p->agent[agent].name, *name = NULL;
    const WsOp *arrive = NULL, *wait = NULL, *told = told_by(play, p->op, inst->agent),
               *early = too_early(play, p->op, inst->step.op);
    for (guint i = 0; i < play->p->n_ops && !wait; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != agent || !ws_is_arrival(op))
            continue;
        arrive = op;
        name = play->p->barrier[op->barrier].name;
        wait = ws_first_on(play, (gint)inst->agent, (guint)op->barrier, ws_is_wait);
    }
    const WsOp *late = asks_late(play, p->op, inst->step.op);
    if (ws_remedy_alone(play, f, p->op, inst->step.op))
        return;
    if (late)
        ws_finding_set_remedy(f, "wait for %s before `%s`: `%s` comes after it",
                              play->p->barrier[late->barrier].name, ws_op_name(p->op),
                              ws_op_name(late));
    else if (early)
        ws_finding_set_remedy(f, "let `%s` of %s come after `%s`", ws_op_name(early), writer,
                              ws_op_name(p->op));
    else if (told)
        ws_finding_set_remedy(f, "wait for %s before `%s`: `%s` of %s comes there after `%s`",
                              play->p->barrier[told->barrier].name, ws_op_name(inst->step.op),
                              ws_op_name(told), writer, ws_op_name(p->op));
    else if (wait && arrive->index < p->op->index)
        ws_finding_set_remedy(f, "let `%s` of %s come after `%s`", ws_op_name(arrive), writer,
                              ws_op_name(p->op));
    else if (wait)
        ws_finding_set_remedy(f, "wait for %s before `%s`, with the use that is read", name,
                              ws_op_name(inst->step.op));
    else
        ws_finding_set_remedy(f,
                              "let %s arrive on a barrier after `%s`, and wait for it before `%s`; "
                              "or let both sync on a named barrier",
                              writer, ws_op_name(p->op), ws_op_name(inst->step.op));
}

void ws_remedy_refilled(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const WsOp *by = NULL;
    const gint room =
        p->op->barrier < 0 ? -1 : ws_room_of(play, (guint)p->op->barrier, inst->agent, &by);
    if (p->op == inst->step.op && play->inst[p->inst].rank != inst->rank)
        ws_finding_set_remedy(f,
                              "let each CTA send a part of its own: `%s` of CTA %u and of CTA %u "
                              "fill the same rows; let the view name `cta`",
                              ws_op_name(p->op), play->inst[p->inst].rank, inst->rank);
    else if (p->op->kind == inst->step.op->kind && p->op->n_access > 1 &&
             play->inst[p->inst].rank != inst->rank) /* it reads as well: a copy */
        ws_finding_set_remedy(f,
                              "`%s` of CTA %u and `%s` of CTA %u fill the same bytes of one CTA: "
                              "let each name the CTA that it is for",
                              ws_op_name(p->op), play->inst[p->inst].rank,
                              ws_op_name(inst->step.op), inst->rank);
    else if (room < 0)
        ws_finding_set_remedy(f,
                              "before `%s` overwrites the bytes, wait for a barrier on which their "
                              "readers arrive",
                              ws_op_name(inst->step.op));
    else if (!ws_first_on(play, (gint)inst->agent, (guint)room, ws_is_wait))
        ws_finding_set_remedy(
            f, "wait for %s before `%s`: %s arrives there when it has used the slot",
            play->p->barrier[room].name, ws_op_name(inst->step.op), ws_op_agent(play, by));
    else
        ws_finding_set_remedy(
            f,
            "wait for %s before `%s` in every round, with the use of the slot that "
            "is overwritten",
            play->p->barrier[room].name, ws_op_name(inst->step.op));
}

/* A gather of a later use than the one that is read comes too early; else it is not waited for: by
 * its barrier, or by a load_wait of its threads and what they arrive on then. */
void ws_remedy_gathered(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                        const WsEvent *p)
{
    const WsOp *gather = p->op, *by = NULL, *arrive = NULL;
    const gint agent = (gint)play->inst[p->inst].agent;
    gint data = gather->barrier;
    for (guint i = 0; data < 0 && i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == agent && ws_is_arrival(op) &&
            ws_first_on(play, (gint)inst->agent, (guint)op->barrier, ws_is_wait))
            data = op->barrier, arrive = op;
    }
    const gint room = data < 0 ? -1 : ws_room_of(play, (guint)data, (guint)agent, &by);
    const WsOp *wait = room < 0 ? NULL : ws_first_on(play, agent, (guint)room, ws_is_wait);
    if (!writes && inst->index != p->inst && wait && wait->index > gather->index)
        ws_finding_set_remedy(f, "wait for %s before `%s`: `%s` comes after it",
                              play->p->barrier[room].name, ws_op_name(gather), ws_op_name(wait));
    else if (inst->index == p->inst && writes && gather != inst->step.op && gather->barrier >= 0 &&
             inst->step.op->engine == gather->engine && inst->step.op->barrier >= 0 &&
             inst->step.op->barrier != gather->barrier)
        ws_finding_set_remedy(f,
                              "let the two gathers fill different bytes of %s: one signals %s, the "
                              "other %s, and both fill the same ones",
                              play->p->buffer[p->buffer].name,
                              play->p->barrier[gather->barrier].name,
                              play->p->barrier[inst->step.op->barrier].name);
    else if (inst->index == p->inst)
        ws_finding_set_remedy(f, "put a load_wait that retires `%s` before `%s`",
                              ws_op_name(gather), ws_op_name(inst->step.op));
    else if (arrive)
        ws_finding_set_remedy(f, "let `%s` of %s come after a load_wait that retires `%s`",
                              ws_op_name(arrive), ws_op_agent(play, arrive), ws_op_name(gather));
    else if (!writes && ws_remedy_overtaken(play, f, inst, p))
        return;
    else if (data >= 0)
        ws_finding_set_remedy(f, "wait for %s before it, with the use that is read",
                              play->p->barrier[data].name);
    else if (play->p->hardware->halves)
        ws_finding_set_remedy(f,
                              "put a load_wait that retires `%s` of %s at a border, or before a "
                              "`sync`, that both halves pass before `%s`",
                              ws_op_name(gather), ws_op_agent(play, gather),
                              ws_op_name(inst->step.op));
    else
        ws_finding_set_remedy(f,
                              "let %s retire `%s` by a load_wait and arrive on a barrier then, and "
                              "wait for it before `%s`",
                              ws_op_agent(play, gather), ws_op_name(gather),
                              ws_op_name(inst->step.op));
}

void ws_remedy_order(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                     const WsEvent *p)
{
    if (p->inst == inst->index)
        ws_finding_set_remedy(f, "put {\"sync\": \"group\"} between `%s` and `%s`",
                              ws_op_name(p->op), ws_op_name(inst->step.op));
    else if (play->p->hardware->halves)
        ws_finding_set_remedy(f, "let both halves pass a border or a `sync` between `%s` and `%s`",
                              ws_op_name(p->op), ws_op_name(inst->step.op));
    else if (writes)
        give_back(play, f, inst, p, inst->step.op->barrier);
    else
        hand_over(play, f, inst, p);
}

void ws_remedy_loaded(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p,
                      gint64 seen, gint64 due)
{
    const WsBarrier *b = &play->p->barrier[p->slot->barrier];
    const WsWaited *last = p->slot->rank == inst->rank ? &p->slot->waited[inst->agent] : NULL;
    const WsOp *wait = last && last->phase > -2
                           ? last->event.op
                           : ws_first_on(play, (gint)inst->agent, p->slot->barrier, ws_is_wait);
    g_autofree char *slot = ws_slot_name(play, p->slot), *use = wait ? ws_use_text(wait) : NULL,
                    *filled = ws_use_text(p->op);
    if (seen >= 0 && seen == due)
        ws_finding_set_remedy(
            f, "expect the bytes of this load on %s; without `expect` they are derived", slot);
    else if (!wait)
        ws_finding_set_remedy(f, "wait for %s before it, with the use that is read", b->name);
    else if (b->is_array && last && last->phase <= -2)
        ws_finding_set_remedy(f,
                              "let `%s` of %s signal the element of %s that is waited for: it "
                              "signals %s, for which %s never waits",
                              ws_op_name(p->op), ws_op_agent(play, p->op), b->name, slot,
                              inst->a->name);
    else if (wait->index > inst->step.op->index)
        ws_finding_set_remedy(f,
                              "wait for %s before it, with the use that is read: `%s` comes after "
                              "it",
                              b->name, ws_op_name(wait));
    else if (seen < 0 && b->ready && b->ready[p->slot->element])
        ws_finding_set_remedy(f,
                              "let %s begin pending: `init` ready lets its first wait pass before "
                              "anything has been loaded",
                              b->name);
    else if (!use)
        ws_finding_set_remedy(f,
                              "`%s` names slot and parity by hand: give it the `use` that is read "
                              "instead of `slot` and `phase`",
                              ws_op_name(wait));
    else if (filled && strcmp(use, filled) != 0 && ws_loop_of(wait) != ws_loop_of(inst->step.op) &&
             ws_loop_of(inst->step.op))
        ws_finding_set_remedy(f,
                              "wait for %s in every round of %s before it, with the use that is "
                              "read: `%s` outside of that loop is for %s, `%s` of %s fills %s",
                              b->name, ws_loop_of(inst->step.op)->name, ws_op_name(wait), use,
                              ws_op_name(p->op), ws_op_agent(play, p->op), filled);
    else if (filled && strcmp(use, filled) != 0)
        ws_finding_set_remedy(
            f, "let `%s` name the use that is read: it says %s, `%s` of %s fills %s",
            ws_op_name(wait), use, ws_op_name(p->op), ws_op_agent(play, p->op), filled);
    else if (seen < due && seen >= 0 && ws_remedy_overtaken(play, f, inst, p))
        return;
    else
        ws_finding_set_remedy(f,
                              "wait for %s before it in every round, with the use that is read: "
                              "`%s` has waited for another one",
                              b->name, ws_op_name(wait));
}

/* It fills a part of the buffer's tile, which part is a matter of the CTA. */
static gboolean is_part_of(const WsPlay *play, const WsOp *op, guint buffer)
{
    for (guint k = 0; k < op->n_access; k++) {
        const WsAccess *a = &op->access[k];
        gint64 at;
        if (a->buffer == buffer && a->mode & WS_MODE_WRITE &&
            a->rows * a->cols < play->p->buffer[buffer].rows * play->p->buffer[buffer].cols &&
            (!ws_expr_is_int(a->row0, &at) || !ws_expr_is_int(a->col0, &at)))
            return TRUE;
    }
    return FALSE;
}

/* Does the writer fill fewer elements than are read, and is it the only one? */
static gboolean fills_less(const WsPlay *play, const WsOp *writer, const WsOp *reader, guint buffer)
{
    guint64 filled = 0, read = 0;
    for (guint i = 0; i < play->p->n_ops; i++)
        for (guint k = 0; k < play->p->op[i]->n_access; k++) {
            const WsAccess *a = &play->p->op[i]->access[k];
            if (a->buffer != buffer)
                continue;
            if (a->mode & WS_MODE_WRITE && play->p->op[i] != writer)
                return FALSE;
            filled += a->mode & WS_MODE_WRITE ? (guint64)a->rows * a->cols : 0;
            read += play->p->op[i] == reader ? (guint64)a->rows * a->cols : 0;
        }
    return filled < read;
}

void ws_remedy_unwritten(const WsPlay *play, WsFinding *f, const WsInst *inst, guint buffer)
{
    const WsOp *writer = NULL;
    for (guint i = 0; i < play->p->n_ops && !writer; i++) {
        const WsOp *op = play->p->op[i];
        for (guint k = 0; op->agent >= 0 && k < op->n_access; k++)
            if (op->access[k].buffer == buffer && op->access[k].mode & WS_MODE_WRITE)
                writer = op;
    }
    const char *name = play->p->buffer[buffer].name;
    if (!writer) {
        ws_finding_set_remedy(f, "let a load, gather or write fill %s first", name);
        return;
    }
    if (writer->agent == (gint)inst->agent && writer->index < inst->step.op->index &&
        ws_loop_of(writer) == ws_loop_of(inst->step.op) &&
        fills_less(play, writer, inst->step.op, buffer)) {
        ws_finding_set_remedy(f, "fill all that `%s` reads: `%s` fills a part of %s alone",
                              ws_op_name(inst->step.op), ws_op_name(writer), name);
        return;
    }
    if (play->ranks > 1 && writer->barrier >= 0 && writer->ctas.kind == WS_CTAS_OWN &&
        is_part_of(play, writer, buffer)) {
        ws_finding_set_remedy(
            f,
            "let `%s` of %s reach all CTAs (\"multicast\": \"all\"): each loads a "
            "part of %s, and `%s` reads the whole",
            ws_op_name(writer), ws_op_agent(play, writer), name, ws_op_name(inst->step.op));
        return;
    }
    if (ws_remedy_alone(play, f, writer, inst->step.op))
        return;
    const WsOp *told = NULL; /* on what the writer arrives when it has written */
    for (guint i = 0; writer->barrier < 0 && i < play->p->n_ops && !told; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == writer->agent && ws_is_arrival(op) && op->index > writer->index &&
            (!ws_first_on(play, (gint)inst->agent, (guint)op->barrier, ws_is_wait) ||
             (play->p->barrier[op->barrier].ready && play->p->barrier[op->barrier].ready[0])))
            told = op;
    }
    if (told) {
        const WsBarrier *b = &play->p->barrier[told->barrier];
        if (ws_first_on(play, (gint)inst->agent, (guint)told->barrier, ws_is_wait))
            ws_finding_set_remedy(f,
                                  "let %s begin pending: `init` ready lets its first wait pass "
                                  "before anything has been written",
                                  b->name);
        else
            ws_finding_set_remedy(f, "wait for %s before it: `%s` of %s comes there after `%s`",
                                  b->name, ws_op_name(told), ws_op_agent(play, told),
                                  ws_op_name(writer));
        return;
    }
    gint data = writer->barrier; /* what says that it is written: loads signal, others arrive */
    for (guint i = 0; data < 0 && i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == writer->agent && ws_is_arrival(op) && op->index > writer->index)
            data = op->barrier;
    }
    const WsOp *wait =
        data < 0 ? NULL : ws_first_on(play, (gint)inst->agent, (guint)data, ws_is_wait);
    const WsBarrier *b = data < 0 ? NULL : &play->p->barrier[data];
    g_autofree char *use = wait ? ws_use_text(wait) : NULL;
    if (b && !wait && inst->agent != (guint)writer->agent)
        ws_finding_set_remedy(f, "wait for %s before it, with the use that is read: `%s` of %s %s",
                              b->name, ws_op_name(writer), ws_op_agent(play, writer),
                              writer->barrier < 0 ? WS_WORD("signals it there")
                                                  : WS_WORD("signals it"));
    else if (wait && b->ready && b->ready[0])
        ws_finding_set_remedy(f,
                              "let %s begin pending: `init` ready lets its first wait pass before "
                              "anything is there",
                              b->name);
    else if (wait && !use)
        ws_finding_set_remedy(f,
                              "`%s` names slot and parity by hand, and passes before the first "
                              "completion: give it the `use` that is read",
                              ws_op_name(wait));
    else if (wait && wait->index > inst->step.op->index)
        ws_finding_set_remedy(f, "wait for %s before it: `%s` comes after it", b->name,
                              ws_op_name(wait));
    else
        ws_finding_set_remedy(f, "read the use that `%s` of %s fills, and come after it",
                              ws_op_name(writer), ws_op_agent(play, writer));
}

void ws_remedy_undefined(const WsPlay *play, WsFinding *f, const WsInst *inst, guint value)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsTree *loop = op->agent == (gint)inst->agent ? ws_loop_of(op) : NULL;
        for (guint k = 0; loop && loop != ws_loop_of(inst->step.op) && k < op->n_value; k++) {
            if (op->value[k].value != value || !(op->value[k].mode & WS_MODE_WRITE) ||
                loop->over != WS_OVER_COUNT || !loop->count)
                continue;
            g_autofree char *rounds = ws_expr_print(loop->count);
            ws_finding_set_remedy(
                f,
                "`%s` gives it its value, in loop %s, which runs %s rounds: state "
                "under `assume` that there is at least one, or assign the value "
                "first",
                ws_op_name(op), loop->name, rounds);
            return;
        }
    }
    if (!ws_remedy_assigned(play, f, inst, value))
        ws_finding_set_remedy(f, "assign %s first: no step does", inst->a->value[value].name);
}

/* A loop of that name of another agent makes another number of rounds. */
static gboolean other_rounds(const WsPlay *play, WsFinding *f, const WsOp *op, const char *use)
{
    const WsOp *own = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *o = play->p->op[i];
        const WsTree *loop = o->agent >= 0 ? ws_loop_of(o) : NULL;
        if (!loop || loop->over != WS_OVER_COUNT || !g_str_has_prefix(use, loop->name) ||
            use[strlen(loop->name)] != '.')
            continue;
        if (o->agent == op->agent && ws_is_wait(o))
            own = o;
        for (guint k = 0; own == o && k < play->p->n_ops; k++) {
            const WsOp *x = play->p->op[k];
            const WsTree *theirs = x->agent >= 0 && x->agent != op->agent &&
                                           x->barrier == own->barrier && ws_is_feed(x)
                                       ? ws_loop_of(x)
                                       : NULL;
            if (theirs && strcmp(theirs->name, loop->name) == 0 &&
                ws_remedy_rounds(play, f, own, x))
                return TRUE;
        }
    }
    return FALSE;
}

void ws_remedy_below_zero(const WsPlay *play, WsFinding *f, const WsOp *op)
{
    g_autofree char *use = ws_use_text(op);
    if (use && other_rounds(play, f, op, use))
        return;
    const WsBarrier *b = &play->p->barrier[op->barrier];
    if (ws_is_wait(op) && !(b->ready && b->ready[0]) && /* room may lag: its first wait passes */
        ws_remedy_uses(play, f, op, ws_first_on(play, -1, (guint)op->barrier, ws_is_feed)))
        return;
    ws_finding_set_remedy(
        f,
        "its use (%s) is below zero before the first round: do it only after the first round, or "
        "state under `assume` that there is one",
        use ? use : WS_WORD("by hand"));
}
