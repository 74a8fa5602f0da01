/* The story of a finding about barriers: who waits for what, what has come, what is missing and
 * why, and what follows. */
#include "check/play/play.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"
#include "target/target.h"

#include <string.h>

/* --- what came -------------------------------------------------------------------------------- */
void ws_came(WsPlay *play, WsSlot *slot, const WsEvent *by, gint64 arrivals, gint64 expected,
             gint64 landed)
{
    if (!slot->came) {
        slot->came = g_array_new(FALSE, FALSE, sizeof(WsCame));
        slot->came_before = g_array_new(FALSE, FALSE, sizeof(WsCame));
    }
    const WsCame c = { *by, arrivals, expected, landed };
    g_array_append_val(slot->came, c);
}

void ws_came_over(WsSlot *slot)
{
    if (!slot->came)
        return;
    GArray *old = slot->came_before;
    slot->came_before = slot->came;
    slot->came = old;
    g_array_set_size(slot->came, 0);
}

/* "a", "a and b", "a, b and 3 more" */
static char *listed(GPtrArray *words, guint most)
{
    GString *s = g_string_new(NULL);
    guint n = MIN(words->len, most);
    for (guint i = 0; i < n; i++)
        g_string_append(s, i == 0                          ? ""
                           : i + 1 == n && n == words->len ? WS_WORD(" and ")
                                                           : ", "),
            g_string_append(s, words->pdata[i]);
    if (words->len > n)
        ws_phrase_append(s, " and %u more", words->len - n);
    return g_string_free(s, FALSE);
}

char *ws_came_text(const WsPlay *play, const GArray *came, gboolean bytes)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; came && i < came->len; i++) {
        const WsCame *c = &g_array_index(came, WsCame, i);
        if (bytes ? c->landed == 0 : c->arrivals == 0)
            continue;
        char *deed = ws_deed_event(play, &c->by);
        gint64 n = bytes ? c->landed : c->arrivals;
        g_ptr_array_add(words, n == 1 && !bytes ? g_strdup(deed)
                                                : ws_phrase("%" G_GINT64_FORMAT " by %s", n, deed));
        g_free(deed);
    }
    return words->len ? listed(words, 4) : NULL;
}

void ws_facts_slot(WsPlay *play, WsFinding *f, const WsSlot *slot)
{
    const WsBarrier *b = &play->p->barrier[slot->barrier];
    g_free(f->object);
    f->object = g_strdup(b->name);
    if (b->is_array)
        f->fact[WS_FACT_ELEMENT] = slot->element;
    f->fact[WS_FACT_SLOT] = slot->slot;
    if (play->ranks > 1)
        f->fact[WS_FACT_CTA] = slot->rank;
    f->fact[WS_FACT_PHASE] = slot->phase;
    f->fact[WS_FACT_PRESENT] = slot->phase & 1;
    f->fact[WS_FACT_COUNT] = slot->count;
    f->fact[WS_FACT_PENDING] = slot->pend;
    f->fact[WS_FACT_TX] = slot->tx;
    f->fact[WS_FACT_EXPECTED] = slot->expected;
    f->fact[WS_FACT_LANDED] = slot->credited;
}

char *ws_completion_text(const WsPlay *play, const WsSlot *slot, gint64 completion)
{
    g_autofree char *name = ws_slot_name(play, slot);
    return completion < 0 ? ws_phrase("%s before its first completion", name)
                          : ws_phrase("completion %" G_GINT64_FORMAT " of %s", completion, name);
}

/* "completed twice" */
char *ws_completed_text(gint64 n)
{
    return n == 0   ? ws_phrase("never completed")
           : n == 1 ? ws_phrase("completed once")
           : n == 2 ? ws_phrase("completed twice")
                    : ws_phrase("completed %" G_GINT64_FORMAT " times", n);
}

void ws_tell_came(WsPlay *play, WsFinding *f, const WsSlot *slot)
{
    if (!f)
        return;
    g_autofree char *who = ws_came_text(play, slot->came, FALSE);
    g_autofree char *landed = ws_came_text(play, slot->came, TRUE);
    gint64 here = slot->count - slot->pend;
    GString *s = g_string_new(NULL);
    if (here == slot->count)
        ws_phrase_append(s,
                         slot->count == 1 ? "the arrival of completion %" G_GINT64_FORMAT
                                          : "all arrivals of completion %" G_GINT64_FORMAT,
                         slot->phase);
    else if (here == 0 && slot->count == 1)
        ws_phrase_append(s, "no arrival: completion %" G_GINT64_FORMAT " needs one", slot->phase);
    else if (here == 0)
        ws_phrase_append(
            s, "none of the %" G_GINT64_FORMAT " arrivals of completion %" G_GINT64_FORMAT,
            slot->count, slot->phase);
    else
        ws_phrase_append(s,
                         "%" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT
                         " arrivals of completion %" G_GINT64_FORMAT,
                         here, slot->count, slot->phase);
    if (who && here > 0)
        ws_phrase_append(s, ": %s", who);
    if (slot->expected || slot->credited)
        ws_phrase_append(
            s, "; %" G_GINT64_FORMAT " bytes are expected and %" G_GINT64_FORMAT " have landed%s%s",
            slot->expected, slot->credited, landed ? ": " : "", landed ? landed : "");
    ws_finding_tell(f, WS_STORY_CAME, "%s", s->str);
    g_string_free(s, TRUE);
}

/* --- who is waited for ------------------------------------------------------------------------ */
/* Does the code of an instance contribute to what another one is stuck at? */
static gboolean could_free(const WsPlay *play, const WsInst *maker, const WsInst *stuck)
{
    const WsOp *at = stuck->step.op;
    for (guint i = 0; i < play->p->n_ops; i++) {
        const WsOp *op = play->p->op[i];
        if (op->agent != (gint)maker->agent)
            continue;
        gint64 element;
        if (stuck->slot && op->element && ws_expr_is_int(op->element, &element) &&
            element != (gint64)stuck->slot->element && op->barrier == at->barrier)
            continue;
        if (at->kind == WS_OP_MBAR_WAIT ? op->barrier == at->barrier && ws_op_feeds(op->kind)
            : ws_op_joins(op->kind)
                ? op->barrier == at->barrier
                : at->kind == WS_OP_CLUSTER_WAIT && op->kind == WS_OP_CLUSTER_ARRIVE)
            return TRUE;
    }
    return FALSE;
}

static gboolean already(const WsInst *maker, const WsInst *stuck)
{
    return stuck->slot && stuck->slot->contributed[maker->index] == 1;
}

gboolean ws_in_circle(const WsPlay *play, const WsInst *inst)
{
    g_autofree guint8 *seen = g_new0(guint8, play->n_inst + 1);
    g_autoptr(GArray) todo = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_append_val(todo, inst->index);
    while (todo->len > 0) {
        const WsInst *at = &play->inst[g_array_index(todo, guint, todo->len - 1)];
        g_array_set_size(todo, todo->len - 1);
        for (guint i = 0; i < play->n_inst; i++) {
            const WsInst *m = &play->inst[i];
            if (seen[i] || m == at || m->state == WS_INST_DONE || !m->have || already(m, at) ||
                (at->named && m->named == at->named) || !could_free(play, m, at))
                continue;
            if (m == inst)
                return TRUE;
            seen[i] = 1;
            g_array_append_val(todo, i);
        }
    }
    return FALSE;
}

static char *stuck_at(const WsPlay *play, const WsInst *inst)
{
    g_autofree char *deed = ws_deed(play, inst);
    const gint64 turn = !inst->slot ? 0 : inst->turn != G_MININT64 ? inst->turn : inst->slot->phase;
    g_autofree char *slot = inst->slot ? ws_completion_text(play, inst->slot, turn) : NULL;
    if (slot)
        return ws_phrase("%s waits for %s", deed, slot);
    if (inst->named && inst->named->barrier >= 0)
        return ws_phrase("%s waits for generation %" G_GINT64_FORMAT " of %s", deed, inst->joined,
                         play->p->barrier[inst->named->barrier].name);
    return ws_phrase("%s waits", deed);
}

/* Follows who waits for whom from a stuck agent; "… which load (wait empty; k 0) makes, …". */
static void tell_chain(WsPlay *play, WsFinding *f, const WsInst *root)
{
    g_autofree guint8 *seen = g_new0(guint8, play->n_inst + 1);
    g_autoptr(GString) s = g_string_new(NULL);
    const WsInst *at = root;
    for (guint n = 0; n < 6; n++) {
        seen[at->index] = 1;
        const WsInst *next = NULL;
        for (guint i = 0; i < play->n_inst; i++) {
            const WsInst *m = &play->inst[i];
            if (m->state == WS_INST_DONE || !m->have || already(m, at) || !could_free(play, m, at))
                continue;
            if (!next || (!seen[i] && seen[next->index]))
                next = m;
        }
        if (!next)
            break;
        g_autofree char *name = ws_inst_name(play, next->index);
        if (next == at) {
            ws_phrase_append(s,
                             s->len ? "; %s alone could make it, and it waits here"
                                    : "%s alone could make it, and it waits here",
                             name);
            break;
        }
        if (seen[next->index]) {
            ws_phrase_append(s, "; %s has to make it: a cycle", name);
            break;
        }
        g_autofree char *what = stuck_at(play, next);
        ws_phrase_append(
            s, s->len ? "; that in turn has to come from where %s" : "it has to come from where %s",
            what);
        at = next;
    }
    if (s->len)
        ws_finding_tell(f, WS_STORY_MISSING, "%s", s->str);
}

/* ": those of load@1 (load A -> a; k 0), sent by CTA 1": transfers of others, whom nobody here has
 * announced; NULL if there are none. */
static char *unexpected(const WsPlay *play, const WsSlot *s)
{
    for (guint i = 0; s->came && i < s->came->len; i++) {
        const WsCame *c = &g_array_index(s->came, WsCame, i);
        if (c->landed == 0 || play->inst[c->by.inst].rank == s->rank)
            continue;
        g_autofree char *deed = ws_deed_event(play, &c->by);
        return ws_phrase(": those of %s, which CTA %u sends to CTA %u too", deed,
                         play->inst[c->by.inst].rank, s->rank);
    }
    return NULL;
}

static void tell_missing(WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsSlot *s = inst->slot;
    const WsBarrier *b = &play->p->barrier[s->barrier];
    if (s->pend == 0 && s->tx != 0) {
        g_autofree char *strange = s->tx < 0 ? unexpected(play, s) : NULL;
        ws_finding_tell(f, WS_STORY_MISSING,
                        s->tx > 0 ? "no arrival: %" G_GINT64_FORMAT
                                    " bytes are expected that no load brings%s, so the transaction "
                                    "count never returns to 0"
                                  : "no arrival: %" G_GINT64_FORMAT
                                    " bytes have landed that nobody expects%s, so the transaction "
                                    "count never returns to 0",
                        ABS(s->tx), strange ? strange : "");
        return;
    }
    g_autoptr(GPtrArray) ended = g_ptr_array_new_with_free_func(g_free);
    guint left = 0, feeders = 0, waiting = 0;
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        if (!could_free(play, m, inst))
            continue;
        feeders++;
        if (m->state == WS_INST_DONE)
            g_ptr_array_add(ended, ws_inst_name(play, i));
        else
            left++, waiting += !already(m, inst);
    }
    g_autofree char *who = ended->len ? listed(ended, 4) : NULL;
    if (feeders == 0) {
        if (b->is_array)
            ws_finding_tell(f, WS_STORY_MISSING, "no step of the design arrives on %s[%u]", b->name,
                            s->element);
        else
            ws_finding_tell(f, WS_STORY_MISSING, "no step of the design arrives on %s", b->name);
    } else if (left == 0) {
        ws_finding_tell(
            f, WS_STORY_MISSING,
            ended->len == 1
                ? "%s, which could make %s, has ended: this wait is for a use that no step fills"
                : "%s, which could make %s, have ended: this wait is for a use that no step fills",
            who, s->pend == 1 ? WS_WORD("it") : WS_WORD("them"));
    } else if (waiting == 0 && b->arrivals && b->arrivals_derived &&
               b->arrivals[s->element] != b->arrivals_derived[s->element]) {
        ws_finding_tell(f, WS_STORY_MISSING,
                        "everybody who arrives there has done so: `arrivals` says %u, but the "
                        "steps of one use make %u",
                        b->arrivals[s->element], b->arrivals_derived[s->element]);
    } else {
        tell_chain(play, f, inst);
    }
}

static void tell_hang(WsPlay *play, WsFinding *f)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < play->n_inst; i++)
        if (play->inst[i].state != WS_INST_DONE)
            g_ptr_array_add(names, ws_inst_name(play, i));
    g_autofree char *who = listed(names, 6);
    f->harm = WS_HARM_HANG;
    ws_finding_tell(f, WS_STORY_SO, names->len == 1 ? "hang: %s never ends" : "hang: %s never end",
                    who);
}

static void tell_stuck_slot(WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsSlot *s = inst->slot;
    g_autofree char *name = ws_slot_name(play, s), *count = ws_completed_text(s->phase),
                    *agent = ws_inst_name(play, inst->index);
    f->fact[WS_FACT_AWAITED] = inst->parity;
    if (inst->turn != G_MININT64)
        f->fact[WS_FACT_COMPLETION] = inst->turn;
    gboolean lapped = inst->turn != G_MININT64 && inst->turn < s->phase;
    ws_finding_tell(f, WS_STORY_WHO,
                    "%s tests parity %" G_GINT64_FORMAT " of %s, which has %s: the running "
                    "phase has parity %" G_GINT64_FORMAT " too, so the wait blocks%s",
                    agent, inst->parity, name, count, s->phase & 1,
                    lapped ? WS_WORD("; the completion that it means is over, and it has missed it")
                           : "");
    if (lapped) { /* what the running phase lacks is not what it waits for */
        g_autofree char *made = ws_came_text(play, s->came_before, FALSE);
        if (made)
            ws_finding_tell(f, WS_STORY_CAME, "completion %" G_GINT64_FORMAT ", made by %s",
                            s->phase - 1, made);
        return;
    }
    ws_tell_came(play, f, s);
    tell_missing(play, f, inst);
}

/* Those who never come to a barrier that counts everybody. */
static void tell_absent(const WsPlay *play, WsFinding *f, const WsInst *inst, const WsNamed *n)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        if (m->named == n || m->rank != inst->rank || could_free(play, m, inst))
            continue;
        g_ptr_array_add(names, ws_inst_name(play, i));
    }
    g_autofree char *who = names->len ? listed(names, 4) : NULL;
    ws_finding_tell(f, WS_STORY_MISSING,
                    names->len == 1 ? "the threads of %s, which never comes to it"
                                    : "the threads of %s, which never come to it",
                    who ? who : WS_WORD("others"));
}

static void tell_stuck_named(WsPlay *play, WsFinding *f, const WsInst *inst)
{
    const WsNamed *n = inst->named;
    f->fact[WS_FACT_GENERATION] = inst->joined;
    f->fact[WS_FACT_JOINED] = n->arrived;
    f->fact[WS_FACT_THREADS] = n->count;
    const char *barrier =
        n->barrier >= 0 ? play->p->barrier[n->barrier].name : WS_WORD("the barrier");
    ws_finding_tell(f, WS_STORY_CAME,
                    "%" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT
                    " threads of generation %" G_GINT64_FORMAT " have joined %s",
                    n->arrived, n->count, inst->joined, barrier);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < play->n_inst; i++) {
        const WsInst *m = &play->inst[i];
        if (m != inst && m->named != n && m->rank == inst->rank && could_free(play, m, inst))
            g_ptr_array_add(names, m->state == WS_INST_DONE ? ws_phrase("%s has ended", m->a->name)
                                                            : stuck_at(play, m));
    }
    g_autofree char *others = names->len ? listed(names, 4) : NULL;
    if (others)
        ws_finding_tell(f, WS_STORY_MISSING, "the threads of others: %s", others);
    else if (n->barrier >= 0 && ws_is_whole_cta(&play->p->barrier[n->barrier]))
        tell_absent(play, f, inst, n);
    else
        ws_finding_tell(f, WS_STORY_MISSING,
                        "every agent that names %s waits at it: the count is higher than the "
                        "threads that join, or the first turn is given to nobody",
                        barrier);
}

void ws_tell_stuck(WsPlay *play, WsFinding *f, const WsInst *inst)
{
    if (!f)
        return;
    if (inst->slot && inst->step.op->kind == WS_OP_MBAR_WAIT) {
        tell_stuck_slot(play, f, inst);
    } else if (inst->named) {
        tell_stuck_named(play, f, inst);
    } else {
        f->fact[WS_FACT_JOINED] = play->cluster.arrived;
        f->fact[WS_FACT_THREADS] = play->n_inst;
        ws_finding_tell(f, WS_STORY_CAME, "%" G_GINT64_FORMAT " of %u agents are at the barrier",
                        play->cluster.arrived, play->n_inst);
        tell_chain(play, f, inst);
    }
    tell_hang(play, f);
}

/* --- contributions and waits that can meet another phase -------------------------------------- */
char *ws_last_wait_text(const WsPlay *play, const WsInst *inst)
{
    g_autofree char *name = ws_inst_name(play, inst->index);
    const WsSlot *s = inst->last_wait;
    if (!s && play->p->hardware->halves)
        return ws_phrase("a `load_wait` of the other half and a border or `sync` after it would, "
                         "and %s has passed none since",
                         name);
    if (!s)
        return ws_phrase("%s has waited for no mbarrier before", name);
    const WsWaited *w = &s->waited[inst->agent];
    g_autofree char *slot = ws_slot_name(play, s);
    if (w->phase < 0)
        return ws_phrase("the last wait of %s, for %s, passed at once: nothing had happened "
                         "there yet",
                         name, slot);
    g_autofree char *who =
        w->phase == s->phase - 1 ? ws_came_text(play, s->came_before, FALSE) : NULL;
    return ws_phrase("the last wait of %s returned on completion %" G_GINT64_FORMAT " of %s%s%s",
                     name, w->phase, slot, who ? WS_WORD(", made by ") : "", who ? who : "");
}

void ws_tell_contribution(WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot,
                          gint64 phase)
{
    if (!f)
        return;
    g_autofree char *name = ws_slot_name(play, slot), *last = ws_last_wait_text(play, inst),
                    *agent = ws_inst_name(play, inst->index);
    f->fact[WS_FACT_COMPLETION] = phase;
    ws_finding_tell(f, WS_STORY_WHO, "%s contributes to completion %" G_GINT64_FORMAT " of %s",
                    agent, phase, name);
    ws_finding_tell(f, WS_STORY_MISSING,
                    "a wait that tells it that completion %" G_GINT64_FORMAT " is over; %s",
                    phase - 1, last);
    if (f->rule == WS_RULE_P_UNSEEN) {
        f->harm = WS_HARM_UNDEFINED;
        ws_finding_tell(f, WS_STORY_SO,
                        "it counts correctly, but PTX requires every phase to be seen by a wait "
                        "before the next one gets an arrival");
        return;
    }
    ws_finding_tell(f, WS_STORY_SO,
                    "early: it can count for completion %" G_GINT64_FORMAT
                    ". Any agent that waits for that one continues too soon, and from then on %s "
                    "is one phase off: wrong bytes, then a hang",
                    phase - 1, name);
}

void ws_tell_wait(WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *slot, gint64 k)
{
    if (!f)
        return;
    g_autofree char *name = ws_slot_name(play, slot), *last = ws_last_wait_text(play, inst),
                    *agent = ws_inst_name(play, inst->index);
    f->fact[WS_FACT_AWAITED] = inst->parity;
    f->fact[WS_FACT_COMPLETION] = k;
    ws_finding_tell(f, WS_STORY_WHO,
                    "%s tests parity %" G_GINT64_FORMAT
                    " of %s and means completion %" G_GINT64_FORMAT,
                    agent, inst->parity, name, k);
    ws_finding_tell(f, WS_STORY_MISSING,
                    "anything before it that says completion %" G_GINT64_FORMAT " is over; %s",
                    k - 1, last);
    ws_finding_tell(f, WS_STORY_SO,
                    "early: while the phase of completion %" G_GINT64_FORMAT
                    " is running its parity is the other one, and the wait passes at once",
                    k - 1);
}
