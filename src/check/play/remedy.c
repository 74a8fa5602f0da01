/* What remedies look up, and those of contributions and waits that meet another completion than
 * they mean. A remedy belongs to one cause: the cause is looked for in the program and in the state
 * of the play, and the remedy names the steps, barriers and uses it is about. */
#include "check/play/remedy.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* --- who does what ---------------------------------------------------------------------------- */
gboolean ws_is_feed(const WsOp *op)
{
    return ws_op_feeds(op->kind);
}

gboolean ws_is_wait(const WsOp *op)
{
    return op->kind == WS_OP_MBAR_WAIT;
}

gboolean ws_is_arrival(const WsOp *op)
{
    return op->kind == WS_OP_MBAR_ARRIVE;
}

gboolean ws_is_join(const WsOp *op)
{
    return ws_op_joins(op->kind);
}

gboolean ws_is_meeting(const WsOp *op)
{
    return op->kind == WS_OP_CLUSTER_ARRIVE;
}

gboolean ws_is_sync(const WsOp *op)
{
    return op->kind == WS_OP_BAR_SYNC;
}

/* What brings or writes bytes. */
static gboolean fills(const WsOp *op)
{
    for (guint i = 0; i < op->n_access; i++)
        if (op->access[i].mode & WS_MODE_WRITE)
            return TRUE;
    return ws_op_brings(op->kind) || op->kind == WS_OP_BULK_COPY;
}

const char *ws_op_name(const WsOp *op)
{
    return op->label && *op->label ? op->label : ws_op_kind_text(op->kind);
}

const char *ws_op_agent(const WsPlay *play, const WsOp *op)
{
    return play->p->agent[op->agent].name;
}

char *ws_use_text(const WsOp *op)
{
    return op->use ? ws_expr_print(op->use) : NULL;
}

const WsTree *ws_loop_of(const WsOp *op)
{
    const WsTree *t = op->tree;
    while (t && t->kind != WS_TREE_LOOP)
        t = t->parent;
    return t;
}

const WsOp *ws_first_on(const WsPlay *play, gint agent, guint barrier, WsOpIs is)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent >= 0 && (agent < 0 || op->agent == agent) && op->barrier == (gint)barrier &&
            is(op))
            return op;
    }
    return NULL;
}

gboolean ws_use_is_named(const WsPlay *play, guint barrier, WsOpIs is, const char *use)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->barrier != (gint)barrier || !is(op))
            continue;
        g_autofree char *text = ws_use_text(op);
        if (g_strcmp0(text, use) == 0)
            return TRUE;
    }
    return FALSE;
}

static guint lead(const WsPlay *play, guint data, guint room, guint agent);

/* `room` goes with another ring that the agent fills: it has as many slots as that one, and not as
 * many as `data`, for which it is not waited. */
static gboolean room_of_another(const WsPlay *play, guint room, guint data, guint agent,
                                const WsOp *by)
{
    const WsBarrier *all = play->p->barrier;
    const guint slots = MAX(all[room].slots, 1);
    if (slots == MAX(all[data].slots, 1) || lead(play, data, room, agent) != G_MAXUINT)
        return FALSE;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == (gint)agent && op->barrier >= 0 && op->barrier != (gint)data &&
            op->barrier != (gint)room && ws_is_feed(op) &&
            MAX(all[op->barrier].slots, 1) == slots &&
            ws_first_on(play, by->agent, (guint)op->barrier, ws_is_wait))
            return TRUE;
    }
    return FALSE;
}

/* How far before its first contribution to `data` the agent waits for `room`, in operations; the
 * ring of a barrier is the one that is waited for last. G_MAXUINT: it waits later, or never. */
static guint lead(const WsPlay *play, guint data, guint room, guint agent)
{
    const WsOp *feed = ws_first_on(play, (gint)agent, data, ws_is_feed);
    guint best = G_MAXUINT;
    for (guint i = 0; feed && i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == (gint)agent && op->barrier == (gint)room && ws_is_wait(op) &&
            op->index < feed->index)
            best = feed->index - op->index;
    }
    return best;
}

gint ws_room_of(const WsPlay *play, guint data, guint agent, const WsOp **by)
{
    gint found = -1;
    guint nearest = G_MAXUINT;
    gboolean own = FALSE;
    /* arrivals of an agent on a barrier are judged alike: the first of them */
    g_autofree gboolean *seen = g_new0(gboolean, play->p->n_agents * play->p->n_barriers + 1);
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->agent == (gint)agent || !ws_is_arrival(op) || op->barrier < 0 ||
            op->barrier == (gint)data)
            continue;
        gboolean *before_this = &seen[(guint)op->agent * play->p->n_barriers + (guint)op->barrier];
        if (*before_this)
            continue;
        *before_this = TRUE;
        if (!ws_first_on(play, op->agent, data, ws_is_wait) ||
            room_of_another(play, (guint)op->barrier, data, agent, op))
            continue;
        const gboolean mine =
            ws_first_on(play, (gint)agent, (guint)op->barrier, ws_is_wait) != NULL;
        const guint before = mine ? lead(play, data, (guint)op->barrier, agent) : G_MAXUINT;
        if (found < 0 || (mine && !own) || (mine && before < nearest))
            found = op->barrier, *by = op, nearest = before;
        own |= mine;
    }
    return found;
}

gint ws_data_of(const WsPlay *play, guint room, guint agent)
{
    gboolean writes = FALSE;
    for (guint i = 0; i < play->p->n_ops; i++)
        writes |= play->p->op[i]->agent == (gint)agent && fills(play->p->op[i]);
    for (guint i = 0; writes && i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        const WsOp *by;
        if (op->agent == (gint)agent && op->barrier >= 0 && op->barrier != (gint)room &&
            ws_is_feed(op) && ws_room_of(play, (guint)op->barrier, agent, &by) == (gint)room &&
            play->p->agent[by->agent].group != play->p->agent[agent].group)
            return op->barrier;
    }
    return -1;
}

/* The list that an operation stands in; what it stands under alone (`when`) is its condition. */
static const WsTree *list_of(const WsOp *op, const WsExpr **when)
{
    const WsTree *t = op->tree->parent;
    *when = NULL;
    while (t && t->parent && t->parent->kind == WS_TREE_BRANCH && t->n_kids == 1 && !*when) {
        *when = t->parent->cond;
        t = t->parent->parent;
    }
    return t;
}

static gboolean same_list(const WsOp *a, const WsOp *b)
{
    const WsExpr *x, *y;
    if (list_of(a, &x) != list_of(b, &y))
        return FALSE;
    if (!x || !y) /* what always comes, and once more on some ways */
        return TRUE;
    g_autofree char *m = x ? ws_expr_print(x) : NULL, *n = y ? ws_expr_print(y) : NULL;
    return g_strcmp0(m, n) == 0;
}

const WsOp *ws_doubled_on(const WsPlay *play, guint barrier, WsOpIs is)
{
    const WsOp *last = NULL;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->derived)
            continue;
        if (op->barrier != (gint)barrier || !is(op)) {
            last = NULL;
            continue;
        }
        g_autofree char *now = ws_use_text(op), *then = last ? ws_use_text(last) : NULL;
        g_autofree char *here = op->element ? ws_expr_print(op->element) : NULL,
                        *there = last && last->element ? ws_expr_print(last->element) : NULL;
        if (last && last->agent == op->agent && last->kind == op->kind && same_list(last, op) &&
            g_strcmp0(now, then) == 0 && g_strcmp0(here, there) == 0)
            return op;
        last = op;
    }
    return NULL;
}

static gboolean is_counted(const WsOp *op)
{
    return ws_op_arrives(op->kind);
}

/* A step that contributes to a use for which nobody waits, though others of the barrier do. */
static const WsOp *stray(const WsPlay *play, guint barrier)
{
    const WsOp *odd = NULL;
    gboolean meant = FALSE;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent < 0 || op->barrier != (gint)barrier || !is_counted(op))
            continue;
        g_autofree char *use = ws_use_text(op);
        const gboolean named = use && ws_use_is_named(play, barrier, ws_is_wait, use);
        meant |= named;
        odd = use && !named && !odd ? op : odd;
    }
    return meant ? odd : NULL;
}

gboolean ws_remedy_count(const WsPlay *play, WsFinding *f, const WsBarrier *b, guint element)
{
    if (!b->arrivals || !b->arrivals_derived ||
        b->arrivals[element] == b->arrivals_derived[element])
        return FALSE;
    const guint barrier = (guint)(b - play->p->barrier);
    const WsOp *twin = b->arrivals_derived[element] > b->arrivals[element]
                           ? ws_doubled_on(play, barrier, is_counted)
                           : NULL,
               *odd = twin ? NULL : stray(play, barrier);
    if (twin)
        ws_finding_set_remedy(
            f, "`%s` appears twice in %s: remove one, or let %s count %u arrivals",
            ws_op_name(twin), ws_op_agent(play, twin), b->name, b->arrivals_derived[element]);
    else if (odd) {
        g_autofree char *use = ws_use_text(odd);
        ws_finding_set_remedy(f,
                              "let `%s` of %s name a use that is waited for: nobody waits for %s; "
                              "else let %s count %u arrivals",
                              ws_op_name(odd), ws_op_agent(play, odd), use, b->name,
                              b->arrivals_derived[element]);
    } else
        ws_finding_set_remedy(f, "restore the derived arrival count of %s: %u instead of %u",
                              b->name, b->arrivals_derived[element], b->arrivals[element]);
    return TRUE;
}

/* The loop in which `o` does on this barrier what `op` does, if it stands in one list with that of
 * `op` and counts its rounds; NULL: none, or it is `said`. */
static const WsTree *twin_loop(const WsOp *op, const WsOp *o, const WsTree *said)
{
    if (o->agent != op->agent || o->barrier != op->barrier || o->kind != op->kind)
        return NULL;
    const WsTree *loop = ws_loop_of(o);
    return loop && loop != said && loop->over == WS_OVER_COUNT && loop->count &&
                   loop->parent == ws_loop_of(op)->parent
               ? loop
               : NULL;
}

/* "loop k of load makes kt", "loops p and k of mma.0 make 4 and kt - 5": the loops of one list in
 * which the agent does on this barrier what `op` does. Caller frees. */
static char *loops_of(const WsPlay *play, const WsOp *op)
{
    const WsTree *said = NULL;
    g_autoptr(GString) names = g_string_new(NULL), counts = g_string_new(NULL);
    guint n = 0;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsTree *loop = twin_loop(op, play->p->op[i], said);
        if (!loop)
            continue;
        g_autofree char *count = ws_expr_print(loop->count);
        ws_phrase_append(names, n ? " and %s" : "%s", loop->name);
        ws_phrase_append(counts, n ? " and %s" : "%s", count);
        said = loop;
        n++;
    }
    return ws_phrase(n > 1 ? "loops %s of %s run %s" : "loop %s of %s runs %s", names->str,
                     ws_op_agent(play, op), counts->str);
}

/* A number for every name: two sums that agree for it, and for another such, are one sum. */
static WsLookup any_number(gpointer data, const WsExpr *leaf, gint64 *value, GError **error)
{
    g_autofree char *text = ws_expr_print(leaf);
    *value = 1000 + (g_str_hash(text) ^ GPOINTER_TO_UINT(data)) % 100000;
    return WS_LOOKUP_KNOWN;
}

/* Rounds of all loops that loops_of() names, for such numbers; FALSE: not to be told. */
static gboolean rounds_at(const WsPlay *play, const WsOp *op, guint seed, gint64 *rounds)
{
    const WsExprEnv env = { .integer = any_number, .data = GUINT_TO_POINTER(seed) };
    const WsTree *said = NULL;
    *rounds = 0;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsTree *loop = twin_loop(op, play->p->op[i], said);
        gint64 n;
        if (!loop)
            continue;
        if (!ws_expr_eval(loop->count, &env, &n, NULL))
            return FALSE;
        *rounds += n;
        said = loop;
    }
    return TRUE;
}

/* "1 and kt - 2 and 1" are as many as "kt". */
static gboolean as_many(const WsPlay *play, const WsOp *x, const WsOp *y)
{
    for (guint seed = 0; seed < 3; seed++) {
        gint64 n, m;
        if (!rounds_at(play, x, seed, &n) || !rounds_at(play, y, seed, &m) || n != m)
            return FALSE;
    }
    return TRUE;
}

gboolean ws_remedy_rounds(const WsPlay *play, WsFinding *f, const WsOp *x, const WsOp *y)
{
    const WsTree *a = ws_loop_of(x), *b = y ? ws_loop_of(y) : NULL;
    if (!a || !b || a->over != WS_OVER_COUNT || b->over != WS_OVER_COUNT || !a->count || !b->count)
        return FALSE;
    g_autofree char *n = ws_expr_print(a->count), *m = ws_expr_print(b->count);
    if (strcmp(n, m) == 0 || as_many(play, x, y))
        return FALSE;
    g_autofree char *one = loops_of(play, x), *other = loops_of(play, y);
    ws_finding_set_remedy(f, "let both sides run the same number of rounds: %s, %s", one, other);
    return TRUE;
}

/* --- a contribution that can come too early --------------------------------------------------- */
/* The wait of the agent that stands in the loop of `here`, else its first one; NULL. */
static const WsOp *wait_beside(const WsPlay *play, guint room, const WsOp *here)
{
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent == here->agent && op->barrier == (gint)room && ws_is_wait(op) &&
            ws_loop_of(op) == ws_loop_of(here))
            return op;
    }
    return ws_first_on(play, here->agent, room, ws_is_wait);
}

void ws_remedy_early(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s,
                     gint64 phase)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *by = NULL, *here = inst->step.op;
    const gint room = ws_room_of(play, s->barrier, inst->agent, &by);
    if (room < 0) {
        ws_remedy_unanswered(play, f, inst, s, phase);
        return;
    }
    const WsBarrier *r = &play->p->barrier[room];
    const WsOp *mine = wait_beside(play, (guint)room, here);
    if (!mine)
        ws_finding_set_remedy(f,
                              "wait for %s before it, with the same use: %s arrives there when it "
                              "has used the slot",
                              r->name, ws_op_agent(play, by));
    else if (MAX(r->slots, 1) != MAX(b->slots, 1))
        ws_finding_set_remedy(f, "give %s and %s the same number of slots: they have %u and %u",
                              b->name, r->name, MAX(b->slots, 1), MAX(r->slots, 1));
    else if (s->rank != inst->rank)
        ws_finding_set_remedy(f,
                              "let the arrivals on %s reach every CTA that fills the slot: "
                              "\"cta\": \"all\" on `%s` of %s",
                              r->name, ws_op_name(by), ws_op_agent(play, by));
    else if (mine->index > here->index)
        ws_finding_set_remedy(f, "wait for %s before it: `%s` comes after it", r->name,
                              ws_op_name(mine));
    else
        ws_finding_set_remedy(f,
                              "wait for %s in every round, with the use that is filled: `%s` does "
                              "not hold this one back",
                              r->name, ws_op_name(mine));
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

/* Its use is one that it has had before: with every tile anew, or in every round. */
static void count_on(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsCame *c)
{
    g_autofree char *before = ws_deed_event(play, &c->by), *use = ws_use_text(inst->step.op);
    const WsTree *loop = ws_loop_of(inst->step.op);
    const gboolean tile =
        c->by.n_rounds > 1 && inst->step.n_rounds > 1 && c->by.round[0] != inst->step.round[0];
    if (tile && loop)
        ws_finding_set_remedy(f,
                              "its use (%s) is the one that %s had: let it count on from tile to "
                              "tile, as %s.total does",
                              use ? use : WS_WORD("by hand"), before, loop->name);
    else
        ws_finding_set_remedy(f,
                              "its use (%s) is the one that %s had: let the use grow by one with "
                              "every round",
                              use ? use : WS_WORD("by hand"), before);
}

void ws_remedy_too_many(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *op = inst->step.op, *twin = ws_doubled_on(play, s->barrier, ws_is_arrival);
    const WsCame *c = repeated(s->came, inst);
    if (op->count > s->count && op->per == 0)
        ws_finding_set_remedy(
            f,
            s->count == 1
                ? "let `%s` arrive %" G_GINT64_FORMAT
                  " time in a use, or let %s count all of its %" G_GINT64_FORMAT " arrivals"
                : "let `%s` arrive %" G_GINT64_FORMAT
                  " times in a use, or let %s count all of its %" G_GINT64_FORMAT " arrivals",
            ws_op_name(op), s->count, b->name, op->count);
    else if (ws_remedy_count(play, f, b, s->element))
        return;
    else if (c)
        count_on(play, f, inst, c);
    else if (twin)
        ws_finding_set_remedy(f, "`%s` appears twice in %s: remove one", ws_op_name(twin),
                              ws_op_agent(play, twin));
    else {
        g_autofree char *who = ws_came_text(play, s->came, FALSE);
        ws_finding_set_remedy(f,
                              "one use of %s counts %" G_GINT64_FORMAT
                              " and has had %s: raise the count, or give one of them a barrier of "
                              "its own",
                              b->name, s->count, who ? who : WS_WORD("them"));
    }
}

void ws_remedy_turn(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s,
                    gint64 turn)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const WsOp *op = inst->step.op;
    const WsCame *again = repeated(s->came_before, inst);
    g_autofree char *use = ws_use_text(op);
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
                                  use ? use : WS_WORD("by hand"), b->name);
        return;
    }
    const WsOp *twin = ws_doubled_on(play, s->barrier, ws_is_arrival);
    const WsOp *wait = ws_first_on(play, -1, s->barrier, ws_is_wait);
    g_autofree char *waited = wait ? ws_use_text(wait) : NULL;
    if (ws_remedy_count(play, f, b, s->element))
        return;
    if (twin)
        ws_finding_set_remedy(f, "`%s` appears twice in %s: remove one", ws_op_name(twin),
                              ws_op_agent(play, twin));
    else if (again)
        count_on(play, f, inst, again);
    else if (op->kind == WS_OP_MBAR_EXPECT) {
        g_autofree char *who = ws_came_text(play, s->came_before, FALSE);
        ws_finding_set_remedy(f, "expect the bytes before %s completes %s",
                              who ? who : WS_WORD("the last arrival"), b->name);
    } else if (ws_remedy_counter(play, f, op))
        return;
    else if (waited && g_strcmp0(waited, use) != 0)
        ws_finding_set_remedy(
            f, "let `%s` name the use that is waited for: it says %s, `%s` of %s says %s",
            ws_op_name(op), use ? use : WS_WORD("by hand"), ws_op_name(wait),
            ws_op_agent(play, wait), waited);
    else
        ws_finding_set_remedy(f,
                              "an arrival too many completed %s before this: let every step arrive "
                              "once in a use",
                              b->name);
}

/* --- a wait that can be lapped ---------------------------------------------------------------- */
/* The arrival by which one lane of the waiting agent lets the feeder continue: on the same barrier
 * where agents take turns, else on that for which the feeder waits; NULL. */
static const WsOp *lanes_behind(const WsPlay *play, guint barrier, const WsOp *wait,
                                const WsOp *feed)
{
    const WsOp *by = NULL, *turn = ws_first_on(play, wait->agent, barrier, ws_is_arrival);
    if (turn)
        return turn->per == 0 ? turn : NULL;
    const gint room = ws_room_of(play, barrier, (guint)feed->agent, &by);
    const WsOp *own = room < 0 ? NULL : ws_first_on(play, wait->agent, (guint)room, ws_is_arrival);
    return own && own->per == 0 ? own : NULL;
}

void ws_remedy_lapped(const WsPlay *play, WsFinding *f, const WsSlot *s, const WsOp *wait)
{
    const WsBarrier *b = &play->p->barrier[s->barrier];
    const guint agent = (guint)wait->agent;
    const gint data = ws_data_of(play, s->barrier, agent);
    const WsOp *fill = data < 0 ? NULL : ws_first_on(play, (gint)agent, (guint)data, ws_is_feed);
    const WsOp *by = ws_first_on(play, -1, s->barrier, ws_is_feed);
    g_autofree char *use = ws_use_text(wait), *filled = fill ? ws_use_text(fill) : NULL,
                    *given = by ? ws_use_text(by) : NULL;
    if (!use)
        ws_finding_set_remedy(
            f,
            "`%s` names slot and parity by hand, and the parity is that of another "
            "lap: let both follow from its `use`",
            ws_op_name(wait));
    else if (ws_remedy_again(play, f, wait))
        return;
    else if (fill && fill->index < wait->index)
        ws_finding_set_remedy(f,
                              "wait for %s before `%s`: what that fills is what is released on %s",
                              b->name, ws_op_name(fill), b->name);
    else if (filled && strcmp(use, filled) != 0 &&
             !ws_use_is_named(play, (guint)data, ws_is_feed, use))
        ws_finding_set_remedy(
            f, "let it name the use that is filled after it: it says %s, `%s` says %s", use,
            ws_op_name(fill), filled);
    else if (given && !ws_use_is_named(play, s->barrier, ws_is_feed, use))
        ws_finding_set_remedy(
            f, "let it name a use that somebody arrives for: it says %s, `%s` of %s says %s", use,
            ws_op_name(by), ws_op_agent(play, by), given);
    else if (by && lanes_behind(play, s->barrier, wait, by))
        ws_finding_set_remedy(
            f,
            "one lane arrives for all: let `%s` be by warp or by all, or sync the "
            "group before it, so that every lane has passed this wait",
            ws_op_name(lanes_behind(play, s->barrier, wait, by)));
    else
        ws_finding_set_remedy(f, "let `%s` of %s come only after this wait has returned",
                              by ? ws_op_name(by) : WS_WORD("what arrives"),
                              by ? ws_op_agent(play, by) : b->name);
}
