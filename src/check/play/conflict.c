/* The story of two accesses to the same bytes that nothing orders, or that lack a proxy fence. */
#include "check/play/play.h"
#include "check/play/remedy.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/program.h"

/* The completion that brings a load's bytes; G_MININT64 if it is none or nobody knows. */
static gint64 completion_of(const WsPlay *play, const WsEvent *p)
{
    if (!p->pending)
        return (gint64)p->epoch - 1;
    for (guint i = 0; i < play->transfers_used; i++) {
        const WsTransfer *t = play->transfers->pdata[i];
        for (const WsEvent *e = t->event; e; e = e->next)
            if (e == p)
                return t->turn != G_MININT64 ? t->turn : t->slot->phase;
    }
    return G_MININT64;
}

/* When the earlier access is over, and who is told. */
static char *until(const WsPlay *play, const WsEvent *p, gboolean lanes)
{
    g_autofree char *name = ws_inst_name(play, p->inst);
    switch (p->op->engine) {
    case WS_ENGINE_MMA:
        return ws_phrase("; it is over once an `mma_wait` of %s has retired it", name);
    case WS_ENGINE_TMA_STORE:
        return ws_phrase("; it is over once a `store_wait` of %s has retired it", name);
    case WS_ENGINE_TMA_LOAD:
    case WS_ENGINE_GATHER: {
        const WsEvent *end = p->arrival ? p->arrival : p;
        gint64 k = end->slot ? completion_of(play, end) : G_MININT64;
        g_autofree char *slot = end->slot ? ws_slot_name(play, end->slot) : NULL;
        if (k != G_MININT64)
            return ws_phrase("; it is over with completion %" G_GINT64_FORMAT " of %s", k, slot);
        return g_strdup(
            p->op->engine == WS_ENGINE_GATHER
                ? WS_WORD("; it is over for each thread once its own `load_wait` has returned")
                : "");
    }
    case WS_ENGINE_NONE:
    default:
        return g_strdup(lanes ? WS_WORD(", each lane at its own time") : "");
    }
}

/* The completion of a load's barrier that the agent has seen last; -2: it has not waited for it. */
static gint64 seen(const WsInst *inst, const WsEvent *p)
{
    return p->slot->rank == inst->rank ? p->slot->waited[inst->agent].phase : -2;
}

/* Why the later access does not wait for a load. */
static char *load_not_awaited(const WsPlay *play, const WsInst *inst, const WsEvent *p)
{
    g_autofree char *slot = ws_slot_name(play, p->slot), *name = ws_inst_name(play, inst->index);
    const gint64 phase = seen(inst, p);
    if (phase == -2) {
        g_autofree char *last = ws_last_wait_text(play, inst);
        return ws_phrase("%s has not waited for %s%s%s", name, slot, inst->last_wait ? "; " : "",
                         inst->last_wait ? last : "");
    }
    g_autofree char *wait = ws_deed_event(play, &p->slot->waited[inst->agent].event);
    if (phase < 0)
        return ws_phrase("%s passed at once, on no completion of %s: it tested the parity of "
                         "the phase before the first",
                         wait, slot);
    if (phase == completion_of(play, p))
        return ws_phrase(
            "%s returned on completion %" G_GINT64_FORMAT
            " of %s, which has happened without these bytes: nobody expected them%s",
            wait, phase, slot,
            play->inst[p->inst].rank != inst->rank ? WS_WORD("; another CTA sends them") : "");
    return ws_phrase("%s returned on completion %" G_GINT64_FORMAT " of %s, not on this one", wait,
                     phase, slot);
}

/* One lane has arrived for others that are still at work. */
static gboolean told_by_leader(const WsPlay *play, const WsInst *inst, const WsEvent *p)
{
    const WsSlot *s = inst->last_wait;
    for (guint i = 0; s && s->came_before && i < s->came_before->len; i++) {
        const WsCame *c = &g_array_index(s->came_before, WsCame, i);
        if (c->by.inst == p->inst && c->by.op->kind == WS_OP_MBAR_ARRIVE &&
            (c->by.op->per <= 0 || c->by.op->per > 32))
            return p->op->engine == WS_ENGINE_GATHER || p->comp == play->inst[p->inst].comp_o;
    }
    return FALSE;
}

/* The leader of the agent knows that it is over, the other lanes do not: it has waited alone. */
static gboolean leader_alone(const WsInst *inst, const WsEvent *p)
{
    return !ws_by_leader(inst) && !p->pending && (p->slot || p->inst != inst->index) &&
           ws_knows(inst, TRUE, p->comp, p->epoch) && !ws_knows(inst, FALSE, p->comp, p->epoch);
}

/* A load whose bytes nobody has used is overwritten. */
static void overwritten(WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const WsBuffer *b = &play->p->buffer[p->buffer], *upper = NULL;
    const WsOp *op = inst->step.op;
    for (guint i = 0; i < op->n_access; i++)
        if (op->access[i].mode & WS_MODE_WRITE)
            upper = &play->p->buffer[op->access[i].buffer];
    const gint barrier = p->op->barrier;
    const guint slots = barrier < 0 ? 0 : MAX(play->p->barrier[barrier].slots, 1);
    if (upper && upper != b && ws_remedy_untold(play, f, inst, p))
        return;
    if (upper && upper != b)
        ws_finding_set_remedy(
            f,
            "%s and %s are the same bytes: give each its own, or wait before `%s` "
            "until %s has been used",
            upper->name, b->name, op->label, b->name);
    else if (barrier >= 0 && slots != MAX(b->stages, 1))
        ws_finding_set_remedy(f, "give %s as many stages as %s has slots: %u instead of %u",
                              b->name, play->p->barrier[barrier].name, slots, MAX(b->stages, 1));
    else
        ws_remedy_refilled(play, f, inst, p);
}

void ws_remedy_conflict(WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                        const WsEvent *p, gboolean p_writes)
{
    const gboolean own = p->inst == inst->index;
    if (leader_alone(inst, p)) {
        ws_finding_set_remedy(f,
                              "put {\"sync\": \"group\"} before `%s`: the leader of %s has waited "
                              "alone, in a list that no other lane runs",
                              inst->step.op->label, inst->a->name);
        return;
    }
    if (p->op->kind == WS_OP_BULK_COPY && writes && !p_writes) {
        ws_remedy_copied(play, f, inst, p);
        return;
    }
    if (!own && told_by_leader(play, inst, p)) {
        ws_finding_set_remedy(f,
                              "let every lane's part count: arrive `by` warp or all, or sync the "
                              "group before the arrival");
        return;
    }
    switch (p->op->engine) {
    case WS_ENGINE_MMA:
        if (own)
            ws_finding_set_remedy(f, "retire this mma with an mma_wait before");
        else
            ws_remedy_order(play, f, inst, writes, p);
        return;
    case WS_ENGINE_TMA_STORE:
        if (!own && ws_remedy_meeting(play, f, inst, p))
            return;
        if (!own && inst->step.op->barrier >= 0)
            ws_remedy_order(play, f, inst, writes, p);
        else
            ws_finding_set_remedy(f,
                                  "put a store_wait that retires this store, and a sync after it, "
                                  "before the write");
        return;
    case WS_ENGINE_TMA_LOAD:
        if (writes)
            overwritten(play, f, inst, p);
        else if (p->slot)
            ws_remedy_loaded(play, f, inst, p, seen(inst, p), completion_of(play, p));
        else
            ws_finding_set_remedy(f, "wait for the barrier that this load signals before it");
        return;
    case WS_ENGINE_GATHER:
        ws_remedy_gathered(play, f, inst, writes, p);
        return;
    case WS_ENGINE_NONE:
    default:
        break;
    }
    ws_remedy_order(play, f, inst, writes, p);
}

static char *between(const WsPlay *play, const WsInst *inst, const WsEvent *p, gboolean lanes)
{
    g_autofree char *name = ws_inst_name(play, inst->index);
    gboolean own = p->inst == inst->index;
    if (leader_alone(inst, p))
        return ws_phrase(
            "the leader of %s has waited for it alone: no sync makes it known to the other lanes",
            name);
    if (p->slot && p->op->engine == WS_ENGINE_TMA_LOAD)
        return load_not_awaited(play, inst, p);
    if (lanes)
        return ws_phrase("no `sync` of the group: a lane of %s knows only what it did itself",
                         name);
    if (own && p->op->engine == WS_ENGINE_MMA)
        return ws_phrase("no `mma_wait` of %s that retires it", name);
    if (own && p->op->engine == WS_ENGINE_TMA_STORE)
        return ws_phrase(
            "no `store_wait` of %s that retires it%s", name,
            ws_by_leader(inst) ? "" : WS_WORD(", and a `sync` after it: only the leader waits"));
    g_autofree char *last = ws_last_wait_text(play, inst);
    if (p->op->engine == WS_ENGINE_MMA || p->op->engine == WS_ENGINE_TMA_STORE) {
        g_autofree char *other = ws_inst_name(play, p->inst);
        return ws_phrase("%s; %s has not retired it before that", last, other);
    }
    if (!own && told_by_leader(play, inst, p)) {
        g_autofree char *other = ws_inst_name(play, p->inst);
        return ws_phrase("%s: one lane of %s for all, and it knows only what it did itself", last,
                         other);
    }
    return ws_phrase("nothing that hands the bytes over; %s", last);
}

/* "`mma acc` of mma.0": who, without rounds. */
static char *short_deed(const WsPlay *play, guint inst, const WsOp *op)
{
    g_autofree char *name = ws_inst_name(play, inst);
    return ws_phrase("`%s` of %s", op->label && *op->label ? op->label : ws_op_kind_text(op->kind),
                     name);
}

/* What an operation does with bytes that are not the ones it wants. */
static const char *takes(const WsOp *op)
{
    return op->engine == WS_ENGINE_MMA         ? WS_WORD("can multiply")
           : op->engine == WS_ENGINE_TMA_STORE ? WS_WORD("can store")
                                               : WS_WORD("can read");
}

static char *so(const WsPlay *play, const WsInst *inst, gboolean writes, const WsEvent *p,
                gboolean p_writes)
{
    g_autofree char *first = short_deed(play, p->inst, p->op),
                    *then = short_deed(play, inst->index, inst->step.op);
    if (writes && p_writes && p->op == inst->step.op && play->inst[p->inst].rank != inst->rank)
        return ws_phrase("corruption: the bytes of the two CTAs mix");
    if (writes && p_writes && p->op == inst->step.op)
        return ws_phrase("corruption: the bytes of the two rounds mix, and nobody has used "
                         "those of the first");
    if (writes && p_writes)
        return ws_phrase("corruption: of %s and %s either can come last; what stays is one of "
                         "them, or a mixture",
                         first, then);
    if (writes)
        return ws_phrase("corruption: %s %s bytes that %s has already put there", first,
                         takes(p->op), then);
    return ws_phrase("corruption: %s %s what was there before, or half of the new bytes", then,
                     takes(inst->step.op));
}

void ws_tell_value(WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p,
                   const char *value, const char *p_does, const char *does, gboolean both_read)
{
    if (!f)
        return;
    g_autofree char *first = ws_deed_event(play, p), *then = ws_deed(play, inst),
                    *name = ws_inst_name(play, inst->index);
    f->object = g_strdup(value);
    f->harm = WS_HARM_UNDEFINED;
    ws_finding_tell(f, WS_STORY_FIRST,
                    "%s %s %s; it is over once an `mma_wait` of %s has retired it", first, p_does,
                    value, name);
    ws_finding_tell(f, WS_STORY_THEN, "%s %s it", then, does);
    ws_finding_tell(f, WS_STORY_BETWEEN, "no `mma_wait` that retires it");
    ws_finding_tell(f, WS_STORY_SO,
                    both_read ? "undefined: PTX allows no access to the registers of operand a "
                                "before a wgmma.wait_group that waits for the product, be it to "
                                "read"
                              : "undefined: the registers may hold any part of the sum, or the "
                                "mma works with what is put there");
}

void ws_tell_conflict(WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                      const WsEvent *p, gboolean p_writes, const char *bytes, const char *lies)
{
    if (!f)
        return;
    gboolean lanes = p->inst == inst->index && !p->pending && p->comp == inst->comp_o;
    g_autofree char *first = ws_deed_event(play, p), *then = ws_deed(play, inst),
                    *end = until(play, p, lanes), *why = between(play, inst, p, lanes),
                    *harm = so(play, inst, writes, p, p_writes);
    ws_finding_tell(f, WS_STORY_FIRST, "%s %s %s%s", first,
                    p_writes ? WS_WORD("writes") : WS_WORD("reads"), lies ? lies : bytes, end);
    if (lies)
        ws_finding_tell(f, WS_STORY_THEN, "%s %s %s", then,
                        writes ? WS_WORD("writes") : WS_WORD("reads"), bytes);
    else
        ws_finding_tell(f, WS_STORY_THEN, "%s %s the same bytes", then,
                        writes ? WS_WORD("writes") : WS_WORD("reads"));
    ws_finding_tell(f, WS_STORY_BETWEEN, "%s", why);
    ws_finding_tell(f, WS_STORY_SO, "%s", harm);
}

void ws_tell_proxy(WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                   const WsEvent *p, gboolean p_writes, const char *bytes)
{
    if (!f)
        return;
    g_autofree char *first = ws_deed_event(play, p), *then = ws_deed(play, inst),
                    *who = short_deed(play, inst->index, inst->step.op);
    ws_finding_tell(f, WS_STORY_FIRST,
                    p_writes ? "%s has written %s by %s, in the generic proxy"
                             : "%s has read %s by %s, in the generic proxy",
                    first, bytes,
                    p->op->engine == WS_ENGINE_GATHER ? "cp.async"
                    : p_writes                        ? WS_WORD("plain stores")
                                                      : WS_WORD("plain loads"));
    ws_finding_tell(f, WS_STORY_THEN, "%s %s the same bytes in the async proxy", then,
                    writes ? WS_WORD("writes") : WS_WORD("reads"));
    ws_finding_tell(f, WS_STORY_BETWEEN, "they are ordered, but no `fence async` %s lies between",
                    p->op->engine == WS_ENGINE_GATHER ? WS_WORD("after the wait for them")
                    : p_writes                        ? WS_WORD("of the threads that wrote")
                                                      : WS_WORD("of the threads that read"));
    if (f->severity == WS_SEVERITY_ERROR) {
        ws_finding_tell(
            f, WS_STORY_SO,
            "corruption: %s %s the bytes as they were before; rarely, and only in some runs", who,
            takes(inst->step.op));
    } else {
        f->harm = WS_HARM_UNDEFINED;
        ws_finding_tell(
            f, WS_STORY_SO,
            p_writes ? "violates the PTX specification; production kernels leave the fence out and "
                       "no failure is known"
                     : "violates the PTX specification; many production kernels leave the fence "
                       "out, but without it a design of ours read wrong values on an H200");
    }
}
