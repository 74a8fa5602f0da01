/* Remedies about room: who overwrites what is still read, because nobody said that it was read, or
 * said it too early, or to another CTA. */
#include "check/play/remedy.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

static char *element_text(const WsOp *op)
{
    return op->element ? ws_expr_print(op->element) : NULL;
}

/* Does an agent (-1: any) wait for the element of the barrier that `arrive` is for? */
static const WsOp *waiter_for(const WsPlay *play, gint agent, const WsOp *arrive)
{
    g_autofree char *own = element_text(arrive);
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || (agent >= 0 && op->agent != agent) || !ws_is_wait(op) ||
            op->barrier != arrive->barrier)
            continue;
        g_autofree char *its = element_text(op);
        if (g_strcmp0(own, its) == 0)
            return op;
    }
    return NULL;
}

/* The agent does it again, for the same element, behind the step in its list. */
static gboolean comes_again(const WsPlay *play, const WsOp *arrive, const WsOp *step)
{
    g_autofree char *own = element_text(arrive);
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != arrive->agent || op->barrier != arrive->barrier || !ws_is_arrival(op) ||
            op->index < step->index)
            continue;
        g_autofree char *its = element_text(op);
        if (g_strcmp0(own, its) == 0)
            return TRUE;
    }
    return FALSE;
}

/* The last wait before the step in its list: what it has asked for. NULL. */
static const WsOp *asked_before(const WsPlay *play, const WsOp *step)
{
    const WsOp *last = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == step->agent && ws_is_wait(op) && op->index < step->index &&
            op->tree->parent == step->tree->parent)
            last = op;
    }
    return last;
}

gboolean ws_remedy_overtaken(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const WsOp *read = inst->step.op;
    const guint writer = play->inst[p->inst].agent;
    if (writer == inst->agent)
        return FALSE;
    const WsOp *asked = asked_before(play, p->op);
    for (guint i = 0; i < 2 * play->p->n_ops; i++) { /* room nobody asks for comes first */
        const WsOp *op = play->p->op[i % play->p->n_ops];
        const gboolean unasked = i < play->p->n_ops;
        if (op->agent != (gint)inst->agent || !ws_is_arrival(op))
            continue;
        g_autofree char *element = element_text(op);
        const char *barrier = play->p->barrier[op->barrier].name;
        if (unasked && op->index > read->index && !waiter_for(play, -1, op)) {
            g_autofree char *name =
                element ? g_strdup_printf("%s[%s]", barrier, element) : g_strdup(barrier);
            ws_finding_set_remedy(f,
                                  "let %s wait for %s before `%s`: `%s` of %s gives the room back "
                                  "there, and nobody waits for it",
                                  play->p->agent[writer].name, name, ws_op_name(p->op),
                                  ws_op_name(op), inst->a->name);
            return TRUE;
        }
        if (!unasked && op->index < read->index && op->tree->parent == read->tree->parent &&
            asked && waiter_for(play, (gint)writer, op) == asked && !comes_again(play, op, read)) {
            ws_finding_set_remedy(f,
                                  "let `%s` of %s come after `%s`: it gives the bytes back before "
                                  "they have been read",
                                  ws_op_name(op), inst->a->name, ws_op_name(read));
            return TRUE;
        }
    }
    return FALSE;
}

gboolean ws_remedy_untold(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const WsOp *asked = asked_before(play, p->op);
    if (!asked || p->inst == inst->index ||
        ws_first_on(play, (gint)inst->agent, (guint)asked->barrier, ws_is_arrival) ||
        !ws_first_on(play, -1, (guint)asked->barrier, ws_is_arrival))
        return FALSE;
    ws_finding_set_remedy(
        f,
        "let %s arrive on %s, too, after `%s` and what reads it: `%s` of %s waits "
        "there before `%s`, for others alone",
        inst->a->name, play->p->barrier[asked->barrier].name, ws_op_name(inst->step.op),
        ws_op_name(asked), ws_op_agent(play, asked), ws_op_name(p->op));
    return TRUE;
}

/* The wait of the agent in the list of `here`, before it, for room that an arrival of it tells of;
 * without one the arrival alone. */
static const WsOp *room_beside(const WsPlay *play, const WsOp *here, const WsOp **wait)
{
    const WsOp *found = NULL;
    *wait = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != here->agent || !ws_is_arrival(op) || op->barrier == here->barrier)
            continue;
        const WsOp *w = waiter_for(play, -1, op);
        if (w && !(w->agent == here->agent && w->index < here->index &&
                   w->tree->parent == here->tree->parent))
            continue;
        found = op;
        *wait = w;
    }
    return found;
}

void ws_remedy_unanswered(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s,
                          gint64 phase)
{
    const WsOp *here = inst->step.op, *wait = NULL,
               *reader = ws_first_on(play, -1, s->barrier, ws_is_wait);
    const gboolean crosses = here->ctas.kind != WS_CTAS_OWN;
    const WsOp *by = crosses ? room_beside(play, here, &wait) : NULL;
    const char *data = play->p->barrier[s->barrier].name,
               *who = reader ? ws_op_agent(play, reader) : WS_WORD("its reader");
    if (by && !wait)
        ws_finding_set_remedy(f,
                              "wait for %s before `%s`: `%s` of %s says that the bytes have been "
                              "used, and nobody waits for it",
                              play->p->barrier[by->barrier].name, ws_op_name(here), ws_op_name(by),
                              ws_op_agent(play, by));
    else if (by && by->ctas.kind == WS_CTAS_OWN)
        ws_finding_set_remedy(f,
                              "let `%s` of %s go to the CTA that writes there, by `cta`: it stays "
                              "in its own, and `%s` writes to another one",
                              ws_op_name(by), ws_op_agent(play, by), ws_op_name(here));
    else if (crosses)
        ws_finding_set_remedy(f,
                              "it cannot know that completion %" G_GINT64_FORMAT
                              " of %s has been used: let %s arrive on a barrier of this CTA when "
                              "it is done, and wait for that one here; or sync the cluster between",
                              phase - 1, data, who);
    else
        ws_finding_set_remedy(f,
                              "it cannot know that completion %" G_GINT64_FORMAT
                              " of %s has been used: let %s arrive on another barrier when it is "
                              "done, and wait for that one here",
                              phase - 1, data, who);
}

gboolean ws_remedy_meeting(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const WsInst *other = &play->inst[p->inst];
    for (guint i = 0; other->rank != inst->rank && i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != (gint)other->agent || !ws_is_meeting(op) || op->index < p->op->index ||
            ws_loop_of(op) != ws_loop_of(p->op))
            continue;
        ws_finding_set_remedy(f,
                              "put a store_wait that retires `%s` before %s syncs the cluster: "
                              "what is still in flight then is no part of the meeting",
                              ws_op_name(p->op), ws_op_agent(play, op));
        return TRUE;
    }
    return FALSE;
}

gboolean ws_remedy_again(const WsPlay *play, WsFinding *f, const WsOp *wait)
{
    const WsOp *first = NULL, *fill = NULL, *by = NULL;
    g_autofree char *use = ws_use_text(wait);
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != wait->agent || op->tree->parent != wait->tree->parent)
            continue;
        g_autofree char *its = ws_is_wait(op) ? ws_use_text(op) : NULL;
        if (op->barrier == wait->barrier && its && g_strcmp0(its, use) == 0 &&
            op->index < wait->index)
            first = op;
        if (!fill && op->index > wait->index && op->barrier >= 0 && ws_is_feed(op))
            fill = op;
    }
    const gint room =
        first && fill ? ws_room_of(play, (guint)fill->barrier, (guint)wait->agent, &by) : -1;
    if (room < 0 || room == wait->barrier)
        return FALSE;
    ws_finding_set_remedy(f,
                          "it waits for %s twice for one use: before `%s` wait for %s instead, on "
                          "which %s arrives when it has used that",
                          play->p->barrier[wait->barrier].name, ws_op_name(fill),
                          play->p->barrier[room].name, ws_op_agent(play, by));
    return TRUE;
}

gboolean ws_remedy_alone(const WsPlay *play, WsFinding *f, const WsOp *write, const WsOp *read)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != read->agent || !ws_is_sync(op) || op->barrier < 0 || op->derived ||
            op->index > read->index || op->tree->parent != read->tree->parent)
            continue;
        const WsBarrier *b = &play->p->barrier[op->barrier];
        gboolean others = b->is_array || write->agent == read->agent;
        for (guint k = 0; k < play->p->n_ops && !others; k++) {
            const WsOp *join = play->p->op[k];
            others = join->barrier == op->barrier && ws_is_join(join) && join->agent != op->agent;
        }
        if (others)
            continue;
        ws_finding_set_remedy(
            f,
            "let %s sync on %s, too, after `%s`: nobody but %s comes there before "
            "`%s`",
            ws_op_agent(play, write), b->name, ws_op_name(write), ws_op_agent(play, read),
            ws_op_name(read));
        return TRUE;
    }
    return FALSE;
}
