/* Remedies of waits that never end. */
#include "check/play/remedy.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* --- mbarriers -------------------------------------------------------------------------------- */
gboolean ws_remedy_uses(const WsPlay *play, WsFinding *f, const WsOp *wait, const WsOp *feed)
{
    g_autofree char *x = ws_use_text(wait), *y = feed ? ws_use_text(feed) : NULL;
    if (!x || !y || ws_use_is_named(play, (guint)wait->barrier, ws_is_feed, x))
        return FALSE;
    const gsize n = strlen(x);
    if (strncmp(y, x, n) == 0 && g_str_has_prefix(y + n, " - ")) /* it lags, as releases do */
        return ws_remedy_only_if(play, f, feed);
    const gsize m = strlen(y);
    if (strncmp(x, y, m) == 0 && g_str_has_prefix(x + m, " + ") &&
        strspn(x + m + 3, "0123456789") == n - m - 3 && ws_remedy_ahead(play, f, wait))
        return TRUE;
    ws_finding_set_remedy(f, "let both name the same use: `%s` of %s says %s, `%s` of %s says %s",
                          ws_op_name(wait), ws_op_agent(play, wait), x, ws_op_name(feed),
                          ws_op_agent(play, feed), y);
    return TRUE;
}

/* Does the agent fill something behind the wait, in its list? Then it is room that it waits for. */
static gboolean fills_behind(const WsPlay *play, const WsOp *wait)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        for (guint k = 0; op->agent == wait->agent && op->index > wait->index &&
                          op->tree->parent == wait->tree->parent && k < op->n_access;
             k++)
            if (op->access[k].mode & WS_MODE_WRITE)
                return TRUE;
    }
    return FALSE;
}

/* It waits for a completion that is over. */
static void missed(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsSlot *s = inst->slot;
    const WsBarrier *b = &play->p->barrier[s->barrier];
    g_autofree char *use = ws_use_text(inst->step.op);
    if (b->ready && b->ready[s->element] && inst->turn < 0 &&
        (ws_data_of(play, s->barrier, inst->agent) < 0 || !fills_behind(play, inst->step.op)) &&
        ws_use_is_named(play, s->barrier, ws_is_feed, use))
        ws_finding_set_remedy(f,
                              "let %s begin pending: its first wait is for what others bring, and "
                              "`init` ready means the time before that",
                              b->name);
    else
        ws_remedy_lapped(play, f, s, inst->step.op);
}

static gboolean brings(const WsOp *op)
{
    return ws_op_brings(op->kind) || op->kind == WS_OP_MBAR_EXPECT || op->kind == WS_OP_BULK_COPY;
}

/* Whoever waits for what the agent brings should arrive here. */
static void nobody_arrives(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsBarrier *b = &play->p->barrier[inst->slot->barrier];
    const WsOp *reader = NULL;
    for (guint i = 0; i < play->p->n_ops && !reader; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent >= 0 && op->agent != (gint)inst->agent && ws_is_wait(op) &&
            ws_first_on(play, (gint)inst->agent, (guint)op->barrier, brings))
            reader = op;
    }
    if (b->is_array && ws_first_on(play, -1, inst->slot->barrier, ws_is_arrival))
        ws_finding_set_remedy(f,
                              "let the agent that uses what is filled after `%s` arrive on %s[%u], "
                              "too: all arrivals are on other elements",
                              ws_op_name(inst->step.op), b->name, inst->slot->element);
    else if (ws_first_on(play, -1, inst->slot->barrier, ws_is_feed))
        ws_finding_set_remedy(f,
                              "let a step arrive on %s in every use: an `expect` with count 0 does "
                              "not",
                              b->name);
    else if (reader)
        ws_finding_set_remedy(f, "let %s arrive on %s when it has used what `%s` brings it",
                              ws_op_agent(play, reader), b->name, ws_op_name(reader));
    else
        ws_finding_set_remedy(
            f, "let the step whose end %s is for arrive on it in every use, or remove the wait",
            b->name);
}

/* What the waiting agent itself should have done before, or does twice. */
static gboolean own_fault(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsOp *wait = inst->step.op;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != (gint)inst->agent || op->barrier != wait->barrier || !ws_is_arrival(op) ||
            op->index < wait->index || op->tree->parent != wait->tree->parent)
            continue;
        g_autofree char *own = op->element ? ws_expr_print(op->element) : NULL,
                        *due = wait->element ? ws_expr_print(wait->element) : NULL;
        if (g_strcmp0(own, due) != 0) /* somebody else's turn */
            continue;
        ws_finding_set_remedy(f, "let `%s` come before `%s`: it counts for what is waited for",
                              ws_op_name(op), ws_op_name(wait));
        return TRUE;
    }
    return FALSE;
}

/* Some uses get more arrivals than others, and the count is that of the largest. */
static gboolean uneven(const WsPlay *play, WsFinding *f, guint barrier)
{
    const WsOp *twin = ws_doubled_on(play, barrier, ws_is_arrival);
    if (twin) {
        ws_finding_set_remedy(f, "`%s` appears twice in %s: remove one", ws_op_name(twin),
                              ws_op_agent(play, twin));
        return TRUE;
    }
    const WsOp *more = NULL, *less = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->barrier != (gint)barrier || !ws_is_arrival(op))
            continue;
        if (!more || op->count > more->count)
            more = op;
        if (!less || op->count < less->count)
            less = op;
    }
    if (!more || more->count == less->count || more->agent != less->agent)
        return FALSE;
    ws_finding_set_remedy(f,
                          "let every use get the same number of arrivals: `%s` in %s makes "
                          "%" G_GINT64_FORMAT " in one place and %" G_GINT64_FORMAT " in another",
                          ws_op_name(more), ws_op_agent(play, more), more->count, less->count);
    return TRUE;
}

/* The two barriers of a ring have different depths. */
static gboolean slots_differ(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const guint own = inst->slot->barrier;
    const WsOp *by = NULL;
    gint other = ws_data_of(play, own, inst->agent);
    for (guint i = 0; other < 0 && i < play->p->n_ops; i++) { /* it is the data: who fills it? */
        const WsOp *op = play->p->op[i];
        if (op->barrier == (gint)own && brings(op) && op->agent != (gint)inst->agent)
            other = ws_room_of(play, own, (guint)op->agent, &by);
    }
    if (other < 0)
        return FALSE;
    const WsBarrier *a = &play->p->barrier[own], *b = &play->p->barrier[other];
    if (!by && b->ready && b->ready[0]) /* it is room itself, of another ring */
        return FALSE;
    if (MAX(a->slots, 1) == MAX(b->slots, 1))
        return FALSE;
    ws_finding_set_remedy(f, "give %s and %s the same number of slots: they have %u and %u",
                          a->name, b->name, MAX(a->slots, 1), MAX(b->slots, 1));
    return TRUE;
}

/* The agent fills something when it has waited there: a ring's data, and no room of another ring.
 */
static gboolean is_room(const WsPlay *play, const WsInst *inst)
{
    const gint data = ws_data_of(play, inst->slot->barrier, inst->agent);
    const WsBarrier *b = data < 0 ? NULL : &play->p->barrier[data];
    return b && !(b->ready && b->ready[0]);
}

/* One step of those that contribute stands under a condition of its own, and does not lag. */
static gboolean comes_not_always(const WsPlay *play, WsFinding *f, guint barrier)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsTree *branch = op->agent >= 0 && op->barrier == (gint)barrier && ws_is_feed(op)
                                   ? op->tree->parent->parent
                                   : NULL;
        g_autofree char *use = branch ? ws_use_text(op) : NULL;
        if (use && branch->kind == WS_TREE_BRANCH && op->tree->parent->n_kids == 1 &&
            branch->parent && branch->parent->n_kids > 1 && !strstr(use, " - ") &&
            ws_remedy_only_if(play, f, op))
            return TRUE;
    }
    return FALSE;
}

static gboolean none_ready(const WsBarrier *b)
{
    for (guint i = 0; b->ready && i < MAX(b->array, 1); i++)
        if (b->ready[i])
            return FALSE;
    return TRUE;
}

/* It counts more than the steps make: the count is wrong, or a step that it counts on stands under
 * a condition. */
static gboolean more_is_counted(const WsBarrier *b, guint element)
{
    return b->arrivals && b->arrivals_derived &&
           b->arrivals[element] > b->arrivals_derived[element];
}

/* The agent arrives there in another loop, too. */
static gboolean arrives_elsewhere(const WsPlay *play, const WsOp *arrive)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == arrive->agent && op->barrier == arrive->barrier && ws_is_arrival(op) &&
            ws_loop_of(op) != ws_loop_of(arrive))
            return TRUE;
    }
    return FALSE;
}

/* Room that a loop of arrivals gives before the rounds, for some slots and not for all. */
static gboolean primes_less(const WsPlay *play, WsFinding *f, guint barrier)
{
    const WsBarrier *b = &play->p->barrier[barrier];
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsTree *loop = op->agent >= 0 && op->barrier == (gint)barrier && ws_is_arrival(op)
                                 ? ws_loop_of(op)
                                 : NULL;
        g_autofree char *use = loop ? ws_use_text(op) : NULL;
        if (!loop || loop->over != WS_OVER_COUNT || !loop->count ||
            (loop->parent && loop->parent->parent) || g_strcmp0(use, loop->name) != 0 ||
            !arrives_elsewhere(play, op))
            continue;
        g_autofree char *rounds = ws_expr_print(loop->count);
        ws_finding_set_remedy(f,
                              "let loop %s of %s arrive on %s once for each of its %u slots, to "
                              "make the room of the first lap: its count is %s",
                              loop->name, ws_op_agent(play, op), b->name, MAX(b->slots, 1), rounds);
        return TRUE;
    }
    return FALSE;
}

/* The sides of the barrier count loops of one name, and count them differently. */
static gboolean rounds_differ(const WsPlay *play, WsFinding *f, const WsOp *wait)
{
    const WsTree *own = ws_loop_of(wait);
    for (guint i = 0; own && i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsTree *loop = op->agent >= 0 && op->agent != wait->agent &&
                                     op->barrier == wait->barrier && ws_is_feed(op)
                                 ? ws_loop_of(op)
                                 : NULL;
        if (loop && loop->over == WS_OVER_COUNT && g_strcmp0(loop->name, own->name) == 0 &&
            ws_remedy_rounds(play, f, wait, op))
            return TRUE;
    }
    return FALSE;
}

void ws_remedy_stuck(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean over)
{
    const WsSlot *s = inst->slot;
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *wait = inst->step.op, *feed = ws_first_on(play, -1, s->barrier, ws_is_feed);
    const gboolean ready = b->ready && b->ready[s->element];
    g_autofree char *use = ws_use_text(wait);
    if (b->arrivals && b->arrivals_derived && b->arrivals_derived[s->element] == 0)
        nobody_arrives(play, f, inst);
    else if (more_is_counted(b, s->element) && ws_remedy_condition(play, f, wait))
        return;
    else if (ws_remedy_count(play, f, b, s->element))
        return;
    else if (s->pend == 0 && s->tx != 0)
        ws_finding_set_remedy(f,
                              "expect exactly the bytes that land in one use of %s: "
                              "%" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT,
                              b->name, s->credited, s->expected);
    else if (!use)
        ws_finding_set_remedy(
            f,
            "`%s` names slot and parity by hand, and tests parity %" G_GINT64_FORMAT
            " in its turn: let both follow from its `use`",
            ws_op_name(wait), inst->parity);
    else if (inst->turn != G_MININT64 && inst->turn < s->phase && slots_differ(play, f, inst))
        return;
    else if (inst->turn != G_MININT64 && inst->turn < s->phase)
        missed(play, f, inst);
    else if (ws_remedy_condition(play, f, wait) || slots_differ(play, f, inst))
        return;
    else if (ws_doubled_on(play, s->barrier, ws_is_arrival) && uneven(play, f, s->barrier))
        return;
    else if (over && (ws_remedy_tail(play, f, wait, feed) ||
                      ws_remedy_rounds(play, f, wait, feed) || rounds_differ(play, f, wait)))
        return;
    else if (own_fault(play, f, inst) || uneven(play, f, s->barrier))
        return;
    else if (!ready && s->pend == s->count && primes_less(play, f, s->barrier))
        return;
    else if (!ready && inst->turn == 0 && s->pend == s->count && is_room(play, inst))
        ws_finding_set_remedy(f,
                              "let %s begin `ready`, or arrive on it once before the loops: this "
                              "first wait is for room that nobody has taken yet",
                              b->name);
    else if (b->is_array && inst->turn == 0 && none_ready(b))
        ws_finding_set_remedy(f,
                              "give the first turn to one of them: let %s begin `ready` in one of "
                              "its elements",
                              b->name);
    else if (ws_remedy_uses(play, f, wait, feed) || ws_remedy_rounds(play, f, wait, feed))
        return;
    else if (over && comes_not_always(play, f, s->barrier))
        return;
    else if (s->pend < s->count) {
        g_autofree char *who = ws_came_text(play, s->came, FALSE);
        ws_finding_set_remedy(
            f,
            "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
            " arrivals have come (%s): let the others arrive in the same use, once "
            "each",
            s->count - s->pend, s->count, who ? who : WS_WORD("nobody is named"));
    } else
        ws_finding_set_remedy(f,
                              "let `%s` of %s come in every round for which `%s` waits, and not "
                              "after a wait for this one",
                              feed ? ws_op_name(feed) : WS_WORD("an arrival"),
                              feed ? ws_op_agent(play, feed) : WS_WORD("an agent"),
                              ws_op_name(wait));
}

void ws_remedy_generation(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsNamed *n)
{
    const WsOp *op = inst->step.op, *twin = NULL;
    const WsBarrier *b = op->barrier >= 0 ? &play->p->barrier[op->barrier] : NULL;
    guint before = 0; /* how many of the agents that give a turn before their loops */
    for (guint i = 0; b && i < play->p->n_ops; i++)
        before += ws_is_join(play->p->op[i]) && !ws_is_sync(play->p->op[i]) &&
                  play->p->op[i]->barrier == op->barrier && !ws_loop_of(play->p->op[i]);
    if (b)
        twin = ws_doubled_on(play, (guint)op->barrier, ws_is_join);
    if (b && b->threads && b->threads_derived &&
        b->threads[n->element] != b->threads_derived[n->element])
        ws_finding_set_remedy(f, "restore the derived count of %s: %u threads instead of %u",
                              b->name, b->threads_derived[n->element], b->threads[n->element]);
    else if (twin)
        ws_finding_set_remedy(f, "`%s` appears twice in %s: remove one", ws_op_name(twin),
                              ws_op_agent(play, twin));
    else if (before > 1)
        ws_finding_set_remedy(
            f, "%u agents give the first turn of %s before their loops: one is enough", before,
            b->name);
    else
        ws_finding_set_remedy(f,
                              "let `%s` sync instead of arrive, or let it wait first for those who "
                              "made the generation before",
                              ws_op_name(op));
}

/* It gives a turn on, and does not wait there. */
static gboolean gives_turn(const WsOp *op)
{
    return ws_is_join(op) && !ws_is_sync(op);
}

/* A step of the agent gives its turn on under a condition, inside a loop. */
static gboolean turn_only_if(const WsPlay *play, WsFinding *f, const WsOp *gives)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsTree *branch = op->tree ? op->tree->parent->parent : NULL;
        if (op->agent != gives->agent || op->barrier != gives->barrier || !gives_turn(op) ||
            !ws_loop_of(op) || !branch || branch->kind != WS_TREE_BRANCH || !branch->cond)
            continue;
        g_autofree char *cond = ws_expr_print(branch->cond);
        ws_finding_set_remedy(f, "let `%s` of %s arrive in every round: it comes only if %s",
                              ws_op_name(op), ws_op_agent(play, op), cond);
        return TRUE;
    }
    return FALSE;
}

/* --- named barriers, the cluster's ------------------------------------------------------------ */
void ws_remedy_named(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsNamed *n = inst->named;
    const WsBarrier *b = n->barrier >= 0 ? &play->p->barrier[n->barrier] : NULL;
    if (!b) {
        ws_finding_set_remedy(f, "let all warps of the group sync here");
        return;
    }
    if (b->threads && b->threads_derived &&
        b->threads[n->element] != b->threads_derived[n->element]) {
        ws_finding_set_remedy(f, "restore the derived count of %s: %u threads instead of %u",
                              b->name, b->threads_derived[n->element], b->threads[n->element]);
        return;
    }
    const WsOp *twin = ws_doubled_on(play, (guint)n->barrier, ws_is_join);
    if (twin) {
        ws_finding_set_remedy(f, "`%s` appears twice in %s: remove one", ws_op_name(twin),
                              ws_op_agent(play, twin));
        return;
    }
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        const WsOp *join = ws_first_on(play, (gint)m->agent, (guint)n->barrier, ws_is_join);
        if (m == inst || m->rank != inst->rank || !join)
            continue;
        if (m->state == WS_INST_DONE) {
            const WsOp *gives = ws_first_on(play, (gint)m->agent, (guint)n->barrier, gives_turn);
            if (ws_remedy_rounds(play, f, inst->step.op, join))
                return;
            if (!gives)
                ws_finding_set_remedy(f, "%s has ended: let it sync on %s as often as %s does",
                                      m->a->name, b->name, inst->a->name);
            else if (!turn_only_if(play, f, gives))
                ws_finding_set_remedy(f,
                                      "%s has ended: let it arrive on %s as often as %s syncs "
                                      "there, once after every sync of its own",
                                      m->a->name, b->name, inst->a->name);
            return;
        }
        if (m->have && m->named && m->named != n && m->named->barrier >= 0 &&
            m->named->barrier != n->barrier) {
            ws_finding_set_remedy(f, "let %s and %s sync on %s and %s in the same order",
                                  inst->a->name, m->a->name, b->name,
                                  play->p->barrier[m->named->barrier].name);
            return;
        }
    }
    gboolean arrives = FALSE;
    for (guint i = 0; i < play->p->n_ops; i++)
        arrives |= ws_is_join(play->p->op[i]) && !ws_is_sync(play->p->op[i]) &&
                   play->p->op[i]->barrier == n->barrier;
    if (arrives)
        ws_finding_set_remedy(f,
                              "give the first turn of %s: one extra `arrive` before the loops of "
                              "the agent that comes last",
                              b->name);
    else
        ws_finding_set_remedy(
            f, "%s counts %" G_GINT64_FORMAT " threads and %" G_GINT64_FORMAT " come: %s", b->name,
            n->count, n->arrived,
            ws_is_whole_cta(b) ? WS_WORD("let all groups sync on it, or only those that need it, "
                                         "by {\"sync\": \"group\"} or a named barrier")
                               : WS_WORD("let all of them join it, or count only those that do"));
}

/* Two meetings of the cluster right behind each other; NULL. */
static const WsOp *meets_twice(const WsPlay *play)
{
    const WsOp *last = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->kind == WS_OP_CLUSTER_WAIT)
            continue;
        if (ws_is_meeting(op) && last && last->agent == op->agent &&
            last->tree->parent->parent == op->tree->parent->parent)
            return op;
        last = ws_is_meeting(op) ? op : NULL;
    }
    return NULL;
}

void ws_remedy_cluster(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsOp *twin = meets_twice(play);
    if (twin) {
        ws_finding_set_remedy(f, "%s syncs the cluster twice in a row: remove one",
                              ws_op_agent(play, twin));
        return;
    }
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        const WsOpKind at = m->have ? m->step.op->kind : WS_OP_MATH;
        if (m->state != WS_INST_DONE && (at == WS_OP_CLUSTER_WAIT || at == WS_OP_CLUSTER_ARRIVE))
            continue;
        g_autofree char *name = ws_inst_name(play, i), *own = ws_inst_name(play, inst->index);
        ws_finding_set_remedy(f,
                              "let %s sync the cluster as often as %s: \"cluster\": \"sync\" is "
                              "for all agents of all CTAs%s",
                              name, own, m->state == WS_INST_DONE ? WS_WORD("; it has ended") : "");
        return;
    }
    ws_finding_set_remedy(f, "let all agents sync the cluster equally often");
}
