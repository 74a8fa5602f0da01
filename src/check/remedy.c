/* What mends a finding about barriers. A remedy belongs to one cause: the cause is looked for in
 * the program and in the state of the play, and the remedy names the steps, barriers and uses it is
 * about. */
#include "check/play.h"

#include <string.h>

/* --- who does what ---------------------------------------------------------------------------- */
static gboolean feeds(const WsOp *op)
{
    return op->kind == WS_OP_MBAR_ARRIVE || op->kind == WS_OP_MBAR_EXPECT ||
           op->kind == WS_OP_CP_ARRIVE || op->kind == WS_OP_TMA_LOAD ||
           op->kind == WS_OP_BULK_COPY || op->kind == WS_OP_ST_REMOTE;
}

static gboolean waits(const WsOp *op)
{
    return op->kind == WS_OP_MBAR_WAIT;
}

/* First operation of an agent (-1: of any) on a barrier; NULL. */
static const WsOp *first_on(const WsPlay *play, gint agent, guint barrier,
                            gboolean (*is)(const WsOp *))
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent >= 0 && (agent < 0 || op->agent == agent) && op->barrier == (gint)barrier &&
            is(op))
            return op;
    }
    return NULL;
}

static const char *label(const WsOp *op)
{
    return op->label && *op->label ? op->label : ws_op_kind_text(op->kind);
}

static const char *agent_of(const WsPlay *play, const WsOp *op)
{
    return play->p->agent[op->agent].name;
}

/* Barrier on which those who wait for `data` arrive when they have used it: what a ring calls
 * empty. Of several one that `agent` waits for. -1 if there is none; *by is who arrives. */
static gint room_of(const WsPlay *play, guint data, guint agent, const WsOp **by)
{
    gint found = -1;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->agent == (gint)agent || op->kind != WS_OP_MBAR_ARRIVE ||
            op->barrier < 0 || op->barrier == (gint)data || !first_on(play, op->agent, data, waits))
            continue;
        const gboolean mine = first_on(play, (gint)agent, (guint)op->barrier, waits) != NULL;
        if (found < 0 || mine)
            found = op->barrier, *by = op;
        if (mine)
            break;
    }
    return found;
}

/* What an agent hands over to those who arrive on `room`: it waits there for room. -1: it does not.
 */
static gint data_of(const WsPlay *play, guint room, guint agent)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsOp *by;
        if (op->agent == (gint)agent && op->barrier >= 0 && op->barrier != (gint)room &&
            feeds(op) && room_of(play, (guint)op->barrier, agent, &by) == (gint)room)
            return op->barrier;
    }
    return -1;
}

static char *use_text(const WsOp *op)
{
    return op->use ? ws_expr_print(op->use) : g_strdup("none");
}

static const WsTree *loop_of(const WsOp *op)
{
    const WsTree *t = op->tree;
    while (t && t->kind != WS_TREE_LOOP)
        t = t->parent;
    return t;
}

static gboolean overridden(const WsBarrier *b, guint element)
{
    return b->arrivals && b->arrivals_derived &&
           b->arrivals[element] != b->arrivals_derived[element];
}

static void restore_count(WsFinding *f, const WsBarrier *b, guint element)
{
    ws_finding_set_remedy(f, "restore the derived arrival count of %s: %u instead of %u", b->name,
                          b->arrivals_derived[element], b->arrivals[element]);
}

/* --- a contribution that can come too early --------------------------------------------------- */
void ws_remedy_early(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s,
                     gint64 phase)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *by = NULL, *here = inst->step.op;
    const gint room = room_of(play, s->barrier, inst->agent, &by);
    if (room < 0) {
        const WsOp *reader = first_on(play, -1, s->barrier, waits);
        ws_finding_set_remedy(f,
                              "nothing tells it that completion %" G_GINT64_FORMAT
                              " of %s has been used: let %s arrive on another barrier when it is "
                              "done, and wait for that one here",
                              phase - 1, b->name, reader ? agent_of(play, reader) : "its reader");
        return;
    }
    const WsBarrier *r = &play->p->barrier[room];
    const WsOp *mine = first_on(play, (gint)inst->agent, (guint)room, waits);
    if (!mine)
        ws_finding_set_remedy(f,
                              "wait for %s before it, with the same use: %s arrives there when it "
                              "has used the slot",
                              r->name, agent_of(play, by));
    else if (MAX(r->slots, 1) != MAX(b->slots, 1))
        ws_finding_set_remedy(f, "give %s and %s the same number of slots: they have %u and %u",
                              b->name, r->name, MAX(b->slots, 1), MAX(r->slots, 1));
    else if (s->rank != inst->rank)
        ws_finding_set_remedy(f,
                              "let the arrivals on %s reach every CTA that fills the slot: "
                              "`\"cta\": \"all\"` on `%s` of %s",
                              r->name, label(by), agent_of(play, by));
    else if (mine->index > here->index)
        ws_finding_set_remedy(f, "wait for %s before it: `%s` comes after it", r->name,
                              label(mine));
    else
        ws_finding_set_remedy(f,
                              "wait for %s in every round, with the use that is filled: `%s` does "
                              "not hold this one back",
                              r->name, label(mine));
}

/* --- a contribution that meets another completion than it means ------------------------------- */
/* The same step of the same agent has contributed before, in this list. */
static const WsCame *repeated(const GArray *came, const WsInst *inst)
{
    for (guint i = 0; came && i < came->len; i++) {
        const WsCame *c = &g_array_index(came, WsCame, i);
        if (c->by.inst == inst->index && c->by.op == inst->step.op)
            return c;
    }
    return NULL;
}

/* "its use begins anew with every tile": the outermost round differs from that of the event. */
static gboolean restarts(const WsInst *inst, const WsCame *c)
{
    return c->by.n_rounds > 1 && inst->step.n_rounds > 1 && c->by.round[0] != inst->step.round[0];
}

static void count_on(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsCame *c)
{
    g_autofree char *before = ws_deed_event(play, &c->by), *use = use_text(inst->step.op);
    const WsTree *loop = loop_of(inst->step.op);
    if (restarts(inst, c))
        ws_finding_set_remedy(
            f,
            "its use (%s) names a use again that %s had: let it count on from tile "
            "to tile%s%s%s",
            use, before, loop ? ", as `" : "", loop ? loop->name : "", loop ? ".total` does" : "");
    else
        ws_finding_set_remedy(f,
                              "its use (%s) names a use again that %s had: let the use grow by one "
                              "with every round",
                              use, before);
}

void ws_remedy_too_many(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsCame *c = repeated(s->came, inst);
    if (overridden(b, s->element))
        restore_count(f, b, s->element);
    else if (inst->step.op->count > s->count)
        ws_finding_set_remedy(
            f, "let `%s` arrive as often as %s counts: the count is %" G_GINT64_FORMAT,
            label(inst->step.op), b->name, s->count);
    else if (c)
        count_on(play, f, inst, c);
    else {
        g_autofree char *who = ws_came_text(play, s->came, FALSE);
        ws_finding_set_remedy(f,
                              "one use of %s counts %" G_GINT64_FORMAT
                              " and has had %s: let the other one go, or give it a barrier of its "
                              "own",
                              b->name, s->count, who ? who : "them");
    }
}

void ws_remedy_turn(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s,
                    gint64 turn)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *op = inst->step.op;
    const WsCame *again = repeated(s->came_before, inst);
    g_autofree char *use = use_text(op);
    if (turn > s->phase) {
        if (s->count > s->pend || repeated(s->came, inst) || again)
            ws_finding_set_remedy(f,
                                  "let the arrivals of the uses before it come first: completion "
                                  "%" G_GINT64_FORMAT " of %s has %" G_GINT64_FORMAT
                                  " of %" G_GINT64_FORMAT,
                                  s->phase, b->name, s->count - s->pend, s->count);
        else
            ws_finding_set_remedy(f,
                                  "its use (%s) is a lap ahead: let it begin with the first use of "
                                  "%s, as its partners do",
                                  use, b->name);
        return;
    }
    if (overridden(b, s->element)) {
        restore_count(f, b, s->element);
        return;
    }
    if (op->kind == WS_OP_MBAR_EXPECT) {
        g_autofree char *who = ws_came_text(play, s->came_before, FALSE);
        ws_finding_set_remedy(f, "expect the bytes before %s completes %s",
                              who ? who : "the last arrival", b->name);
        return;
    }
    if (again) {
        count_on(play, f, inst, again);
        return;
    }
    const WsOp *wait = first_on(play, -1, s->barrier, waits);
    g_autofree char *waited = wait ? use_text(wait) : NULL;
    if (waited && strcmp(waited, use) != 0)
        ws_finding_set_remedy(f,
                              "let `%s` stand for the use that is waited for: it says %s, `%s` of "
                              "%s says %s",
                              label(op), use, label(wait), agent_of(play, wait), waited);
    else
        ws_finding_set_remedy(f,
                              "an arrival too many completed %s before this: let every step "
                              "arrive once in a use",
                              b->name);
}

/* --- a wait that can be lapped ---------------------------------------------------------------- */
void ws_remedy_lapped(const WsPlay *play, WsFinding *f, const WsSlot *s, const WsOp *wait)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const guint agent = (guint)wait->agent;
    const gint data = data_of(play, s->barrier, agent);
    const WsOp *fill = data < 0 ? NULL : first_on(play, (gint)agent, (guint)data, feeds);
    g_autofree char *use = use_text(wait), *fills = fill ? use_text(fill) : NULL;
    if (fill && fill->index < wait->index)
        ws_finding_set_remedy(f,
                              "wait for %s before `%s`: what that fills is what is released on %s",
                              b->name, label(fill), b->name);
    else if (fill && strcmp(use, fills) != 0)
        ws_finding_set_remedy(f,
                              "let it stand for the use that is filled after it: it says %s, `%s` "
                              "says %s",
                              use, label(fill), fills);
    else {
        const WsOp *by = first_on(play, -1, s->barrier, feeds);
        ws_finding_set_remedy(f, "let `%s` of %s come only after this wait has returned",
                              by ? label(by) : "what arrives", by ? agent_of(play, by) : b->name);
    }
}

/* --- a wait for ever -------------------------------------------------------------------------- */
static gboolean loops_differ(const WsPlay *play, WsFinding *f, const WsOp *wait, const WsOp *feed)
{
    const WsTree *x = loop_of(wait), *y = feed ? loop_of(feed) : NULL;
    if (!x || !y || x->over != WS_OVER_COUNT || y->over != WS_OVER_COUNT || !x->count || !y->count)
        return FALSE;
    g_autofree char *n = ws_expr_print(x->count), *m = ws_expr_print(y->count);
    if (strcmp(n, m) == 0)
        return FALSE;
    ws_finding_set_remedy(f,
                          "let both sides make the same number of rounds: loop %s of %s makes %s, "
                          "loop %s of %s makes %s",
                          x->name, agent_of(play, wait), n, y->name, agent_of(play, feed), m);
    return TRUE;
}

static gboolean uses_differ(const WsPlay *play, WsFinding *f, const WsOp *wait, const WsOp *feed)
{
    g_autofree char *x = use_text(wait), *y = feed ? use_text(feed) : NULL;
    if (!y || strcmp(x, y) == 0)
        return FALSE;
    ws_finding_set_remedy(f, "let both name the same use: `%s` of %s says %s, `%s` of %s says %s",
                          label(wait), agent_of(play, wait), x, label(feed), agent_of(play, feed),
                          y);
    return TRUE;
}

/* It waits for a completion that is over. */
static void missed(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsSlot *s = inst->slot;
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const gboolean ready = b->ready && b->ready[s->element];
    if (ready && inst->turn < 0 && data_of(play, s->barrier, inst->agent) < 0)
        ws_finding_set_remedy(f,
                              "let %s begin pending: its first wait is for what others bring, and "
                              "`init` ready lets it pass",
                              b->name);
    else
        ws_remedy_lapped(play, f, s, inst->step.op);
}

static void nobody_arrives(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsBarrier *b = &play->p->barrier[inst->slot->barrier];
    const WsOp *reader = NULL;
    for (guint i = 0; i < play->p->n_ops && !reader; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent >= 0 && op->agent != (gint)inst->agent && waits(op) &&
            first_on(play, (gint)inst->agent, (guint)op->barrier, feeds))
            reader = op;
    }
    if (reader)
        ws_finding_set_remedy(f, "let %s arrive on %s when it has used what `%s` brings it",
                              agent_of(play, reader), b->name, label(reader));
    else
        ws_finding_set_remedy(f,
                              "let a step arrive on %s in every use: an `expect` with count 0 does "
                              "not",
                              b->name);
}

void ws_remedy_stuck(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean over)
{
    const WsSlot *s = inst->slot;
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *wait = inst->step.op, *feed = first_on(play, -1, s->barrier, feeds);
    const gboolean ready = b->ready && b->ready[s->element];
    if (b->arrivals && b->arrivals_derived && b->arrivals_derived[s->element] == 0)
        nobody_arrives(play, f, inst);
    else if (overridden(b, s->element))
        restore_count(f, b, s->element);
    else if (s->pend == 0 && s->tx != 0)
        ws_finding_set_remedy(f,
                              "expect exactly the bytes that land in one use of %s: "
                              "%" G_GINT64_FORMAT " instead of %" G_GINT64_FORMAT,
                              b->name, s->credited, s->expected);
    else if (inst->turn != G_MININT64 && inst->turn < s->phase)
        missed(play, f, inst);
    else if (over && loops_differ(play, f, wait, feed))
        return;
    else if (!ready && inst->turn == 0 && s->pend == s->count &&
             data_of(play, s->barrier, inst->agent) >= 0)
        ws_finding_set_remedy(f,
                              "let %s begin `ready`, or arrive on it once before the loops: this "
                              "first wait is for room that nobody has taken yet",
                              b->name);
    else if (s->pend < s->count && !uses_differ(play, f, wait, feed)) {
        g_autofree char *who = ws_came_text(play, s->came, FALSE);
        ws_finding_set_remedy(f,
                              "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                              " have come (%s): let the others arrive in the same use, once each",
                              s->count - s->pend, s->count, who ? who : "nobody is named");
    } else if (!f->remedy && !uses_differ(play, f, wait, feed) &&
               !loops_differ(play, f, wait, feed))
        ws_finding_set_remedy(f,
                              "let `%s` of %s come in every round for which `%s` waits, and not "
                              "behind a wait for this one",
                              feed ? label(feed) : "an arrival",
                              feed ? agent_of(play, feed) : "an agent", label(wait));
}

/* --- named barriers --------------------------------------------------------------------------- */
static gboolean joins(const WsOp *op)
{
    return op->kind == WS_OP_BAR_ARRIVE || op->kind == WS_OP_BAR_SYNC;
}

void ws_remedy_named(const WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsNamed *n = inst->named;
    const WsBarrier *b = n->barrier >= 0 ? &play->p->barrier[n->barrier] : NULL;
    if (!b) {
        ws_finding_set_remedy(f, "let all warps of the group meet here");
        return;
    }
    if (b->threads && b->threads_derived &&
        b->threads[n->element] != b->threads_derived[n->element]) {
        ws_finding_set_remedy(f, "restore the derived count of %s: %u threads instead of %u",
                              b->name, b->threads_derived[n->element], b->threads[n->element]);
        return;
    }
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        const WsOp *join = first_on(play, (gint)m->agent, (guint)n->barrier, joins);
        if (m == inst || m->rank != inst->rank || !join)
            continue;
        if (m->state == WS_INST_DONE && !loops_differ(play, f, inst->step.op, join))
            ws_finding_set_remedy(f, "%s has ended: let it meet %s as often as %s does", m->a->name,
                                  b->name, inst->a->name);
        else if (m->have && m->named && m->named != n && m->named->barrier >= 0)
            ws_finding_set_remedy(f, "let %s and %s meet %s and %s in the same order",
                                  inst->a->name, m->a->name, b->name,
                                  play->p->barrier[m->named->barrier].name);
        if (f->remedy)
            return;
    }
    gboolean arrives = FALSE;
    for (guint i = 0; i < play->p->n_ops; i++)
        arrives |=
            play->p->op[i]->kind == WS_OP_BAR_ARRIVE && play->p->op[i]->barrier == n->barrier;
    if (arrives)
        ws_finding_set_remedy(f,
                              "give the first turn of %s: one extra `arrive` before the loops of "
                              "whoever comes last",
                              b->name);
    else
        ws_finding_set_remedy(f,
                              "%s counts %" G_GINT64_FORMAT " threads and %" G_GINT64_FORMAT
                              " come: let everybody meet it, or count those that do",
                              b->name, n->count, n->arrived);
}

/* --- two accesses ----------------------------------------------------------------------------- */
static gboolean arrives(const WsOp *op)
{
    return op->kind == WS_OP_MBAR_ARRIVE;
}

/* The bytes are used up by `p` before they are overwritten: who says so, and who asks? */
static void give_back(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p,
                      gint data)
{
    const WsOp *by = NULL, *here = inst->step.op;
    const gint agent = (gint)play->inst[p->inst].agent;
    const gint room = data < 0 ? -1 : room_of(play, (guint)data, inst->agent, &by);
    const char *user = play->p->agent[agent].name;
    if (room < 0) {
        ws_finding_set_remedy(f,
                              "let %s arrive on a barrier behind `%s`, and wait for it before `%s`",
                              user, label(p->op), label(here));
        return;
    }
    const char *name = play->p->barrier[room].name;
    const WsOp *arrive = first_on(play, agent, (guint)room, arrives);
    if (!first_on(play, (gint)inst->agent, (guint)room, waits))
        ws_finding_set_remedy(f,
                              "wait for %s before `%s`: %s arrives there when it has used the slot",
                              name, label(here), agent_of(play, by));
    else if (!arrive)
        ws_finding_set_remedy(f, "let %s arrive on %s, too, behind `%s`", user, name, label(p->op));
    else if (p->op->engine == WS_ENGINE_MMA)
        ws_finding_set_remedy(f,
                              "release the bytes after the mma_wait that retires this mma: `%s` of "
                              "%s comes too early",
                              label(arrive), user);
    else if (p->op->engine == WS_ENGINE_TMA_STORE)
        ws_finding_set_remedy(f, "let %s arrive on %s only behind a store_wait that retires `%s`",
                              user, name, label(p->op));
    else if (arrive->index < p->op->index)
        ws_finding_set_remedy(f, "let `%s` of %s come behind `%s`", label(arrive), user,
                              label(p->op));
    else
        ws_finding_set_remedy(
            f,
            "wait for %s before `%s` in every round, with the use of the slot that "
            "is overwritten",
            name, label(here));
}

/* What `p` writes is read before it is there: who says so, and who asks? */
static void hand_over(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsEvent *p)
{
    const gint agent = (gint)play->inst[p->inst].agent;
    const char *writer = play->p->agent[agent].name, *name = NULL;
    const WsOp *arrive = NULL, *wait = NULL;
    for (guint i = 0; i < play->p->n_ops && !wait; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != agent || !arrives(op))
            continue;
        arrive = op;
        name = play->p->barrier[op->barrier].name;
        wait = first_on(play, (gint)inst->agent, (guint)op->barrier, waits);
    }
    if (wait && arrive->index < p->op->index)
        ws_finding_set_remedy(f, "let `%s` of %s come behind `%s`", label(arrive), writer,
                              label(p->op));
    else if (wait)
        ws_finding_set_remedy(f, "wait for %s before `%s`, with the use that is read", name,
                              label(inst->step.op));
    else if (arrive && !data_of(play, (guint)arrive->barrier, inst->agent))
        ws_finding_set_remedy(f, "wait for %s before `%s`: %s arrives there", name,
                              label(inst->step.op), writer);
    else
        ws_finding_set_remedy(
            f,
            "let %s arrive on a barrier behind `%s`, and wait for it before `%s`; "
            "or let both meet at a named one",
            writer, label(p->op), label(inst->step.op));
}

void ws_remedy_order(const WsPlay *play, WsFinding *f, const WsInst *inst, gboolean writes,
                     const WsEvent *p)
{
    if (p->inst == inst->index)
        ws_finding_set_remedy(f, "put {\"sync\": \"group\"} between `%s` and `%s`", label(p->op),
                              label(inst->step.op));
    else if (writes)
        give_back(play, f, inst, p, inst->step.op->barrier);
    else
        hand_over(play, f, inst, p);
}
