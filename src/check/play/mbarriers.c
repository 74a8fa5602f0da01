/* mbarriers in the play, by their hardware state: phase, pending arrivals, bytes. */
#include "check/play/play.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <string.h>

/* The slot an operation means, NULL (and said so) if element or slot do not exist. */
WsSlot *ws_slot_of(WsPlay *play, guint rank, guint barrier, gint64 element, gint64 slot)
{
    const WsBarrier *b = &play->p->barrier[barrier];
    gint64 slots = MAX(b->slots, 1), array = MAX(b->array, 1);
    if (element < 0 || element >= array || slot < 0 || slot >= slots)
        return NULL;
    return &play->slot[rank * play->n_slots + play->first_slot[barrier] +
                       (guint)(element * slots + slot)];
}

/* Resolves barrier, slot and meant completion of the current operation in CTA `rank`. */
static WsSlot *resolve(WsPlay *play, WsInst *inst, guint rank, gint64 *turn)
{
    const WsOp *op = inst->step.op;
    gint64 element = 0, slot = 0, use = 0;
    *turn = G_MININT64;
    if (op->barrier < 0)
        return NULL;
    if (op->use) {
        if (!ws_play_eval(play, inst, op->use, &use))
            return NULL;
        if (use < 0) {
            WsFinding *f =
                ws_report(play, WS_RULE_P_UNDEF, inst, NULL, "uses %s at use %" G_GINT64_FORMAT,
                          play->p->barrier[op->barrier].name, use);
            if (f)
                ws_remedy_below_zero(play, f, op);
            return NULL;
        }
    }
    if (op->element && !ws_play_eval(play, inst, op->element, &element))
        return NULL;
    if (op->slot && !ws_play_eval(play, inst, op->slot, &slot))
        return NULL;
    if (op->turn && !ws_play_eval(play, inst, op->turn, turn))
        return NULL;
    WsSlot *s = ws_slot_of(play, rank, (guint)op->barrier, element, slot);
    const WsBarrier *b = &play->p->barrier[op->barrier];
    WsFinding *f = s ? NULL
                     : ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                                 "names element %" G_GINT64_FORMAT ", slot %" G_GINT64_FORMAT
                                 " of %s, which has %u x %u",
                                 element, slot, b->name, MAX(b->array, 1), MAX(b->slots, 1));
    if (f && slot >= MAX(b->slots, 1))
        ws_finding_set_remedy(
            f, "give %s %" G_GINT64_FORMAT " slots or more, or let the slot follow from the `use`",
            b->name, slot + 1);
    else if (f)
        ws_finding_set_remedy(f, "name an element and a slot that %s has", b->name);
    return s;
}

/* CTAs an arrival or a transfer goes to. */
guint ws_targets(WsPlay *play, WsInst *inst, const WsCtas *ctas, guint *rank)
{
    guint n = 0;
    gint64 one;
    switch (ctas->kind) {
    case WS_CTAS_OWN:
        rank[n++] = inst->rank;
        break;
    case WS_CTAS_ALL:
        for (guint r = 0; r < play->ranks && n < 16; r++)
            rank[n++] = r;
        break;
    case WS_CTAS_MASK:
        for (guint r = 0; r < play->ranks && n < 16; r++)
            if (ctas->mask & (1u << r))
                rank[n++] = r;
        break;
    case WS_CTAS_EXPR:
        if (!ws_play_eval(play, inst, ctas->expr, &one))
            return 0;
        if (one < 0 || one >= play->ranks) {
            ws_report(play, WS_RULE_P_CLUSTER, inst, NULL,
                      "names CTA %" G_GINT64_FORMAT " of a cluster of %u", one, play->ranks);
            return 0;
        }
        rank[n++] = (guint)one;
        break;
    }
    return n;
}

/* --- mbarrier --------------------------------------------------------------------------------- */
/* W2: whoever waited for the completion before this one must have returned before it could happen;
 * otherwise it can be lapped and block on a parity that has flipped twice. */
static void check_lapped(WsPlay *play, WsSlot *s)
{
    guint n = play->p->n_agents;
    for (guint a = 0; a < 2 * n; a++) {
        WsWaited *w = a < n ? &s->waited[a] : &s->by_lanes[a - n]; /* L-LAST-RETURN */
        if (w->phase != s->phase - 1 || s->acc[w->comp] >= w->epoch || s->broken)
            continue;
        g_autofree char *name = ws_slot_name(play, s);
        WsFinding *f = ws_report_event(
            play, WS_RULE_P_ABA, &w->event, NULL,
            s->phase == 0
                ? "can come too late: completion %" G_GINT64_FORMAT
                  " of %s can happen before every thread has passed this wait, which is for the "
                  "time before it"
                : "can be lapped: completion %" G_GINT64_FORMAT
                  " of %s can happen before every thread has seen completion %" G_GINT64_FORMAT,
            s->phase, name, s->phase - 1);
        if (f) {
            ws_report_slot(play, f, s);
            g_autofree char *made = ws_came_text(play, s->came, FALSE);
            f->fact[WS_FACT_COMPLETION] = s->phase - 1;
            g_autofree char *seen = ws_completion_text(play, s, s->phase - 1);
            ws_finding_tell(f, WS_STORY_WHO,
                            s->phase == 0 ? "it waits for %s, and passes only as long as the first "
                                            "phase is running"
                                          : "it waits for %s and sees it only while the next phase "
                                            "is running",
                            seen);
            if (made)
                ws_finding_tell(
                    f, WS_STORY_CAME,
                    s->phase == 0
                        ? "the first phase, completed by %s, none of which waits for this agent"
                        : "the next phase, completed by %s, none of which waits for this agent",
                    made);
            ws_finding_tell(f, WS_STORY_SO,
                            "hang: once completion %" G_GINT64_FORMAT
                            " has happened too the parity is %s, and the wait blocks",
                            s->phase,
                            s->phase == 0 ? WS_WORD("another one") : WS_WORD("back where it was"));
            ws_remedy_lapped(play, f, s, w->event.op);
        }
    }
}

static void complete(WsPlay *play, WsSlot *s)
{
    while (s->pend == 0 && s->tx == 0) {
        check_lapped(play, s);
        ws_clock_join(play, s->done, s->acc);
        s->phase++;
        ws_came_over(s);
        ws_feeds_over(s);
        s->done[s->comp] = s->done[play->n_comps + s->comp] = (WsEpoch)s->phase;
        memset(s->acc, 0, WS_CLOCK_PARTS * play->n_comps * sizeof(WsEpoch));
        s->pend = s->count;
        s->expected = s->credited = 0;
        for (guint i = 0; i < play->n_inst; i++)
            s->contributed[i] = s->contributed[i] == 1 ? 2 : 0;
        s->lanes_came = (guint8)(s->lanes_came << 1 & 3);
        if (s->count <= 0)
            return;
    }
}

void ws_contribution(WsPlay *play, WsInst *inst, WsSlot *s, gint64 turn)
{
    gboolean leader = ws_by_leader(inst);
    if (s->broken)
        return;
    gint64 phase = turn != G_MININT64 ? turn : s->phase;
    g_autofree char *name = NULL;
    if (phase > 0 && !ws_knows(inst, leader, s->comp, (WsEpoch)phase)) {
        name = ws_slot_name(play, s);
        /* L-R1-WEAK: a leader that contributed to the phase before and is alone in it cannot be
         * early, nor who knows all that contributed to it. Lanes are not in step: one of them can
         * be a phase ahead of another. */
        gboolean in_step = leader && !s->lanes_came;
        gboolean alone = in_step && s->contributed[inst->index] != 0 && s->phase >= phase;
        for (guint i = 0; i < play->n_inst; i++)
            alone &= i == inst->index || s->contributed[i] == 0;
        alone |= ws_surely_over(s, inst, leader, phase - 1) || !ws_is_watched(play, s);
        WsFinding *f =
            ws_report(play, alone ? WS_RULE_P_UNSEEN : WS_RULE_P_EARLY, inst, NULL,
                      alone ? "contributes to completion %" G_GINT64_FORMAT
                              " of %s, and no agent that is ordered before it has waited for "
                              "completion %" G_GINT64_FORMAT
                            : "can hit an older phase: it means completion %" G_GINT64_FORMAT
                              " of %s, but nothing before it says that completion %" G_GINT64_FORMAT
                              " has happened",
                      phase, name, phase - 1);
        if (f) {
            ws_report_slot(play, f, s);
            ws_tell_contribution(play, f, inst, s, phase);
            ws_remedy_early(play, f, inst, s, phase);
        }
        if (!alone)
            s->broken = TRUE;
    }
}

static void tell_turn(WsPlay *play, WsFinding *f, const WsInst *inst, const WsSlot *s, gint64 turn)
{
    g_autofree char *name = ws_slot_name(play, s), *agent = ws_inst_name(play, inst->index),
                    *made = ws_came_text(play, s->came_before, FALSE),
                    *completed = ws_completed_text(s->phase);
    ws_finding_tell(f, WS_STORY_WHO, "%s means completion %" G_GINT64_FORMAT " of %s, which has %s",
                    agent, turn, name, completed);
    if (turn < s->phase && made)
        ws_finding_tell(f, WS_STORY_CAME, "completion %" G_GINT64_FORMAT " was made by %s",
                        s->phase - 1, made);
    if (turn > s->phase)
        ws_tell_came(play, f, s);
    ws_finding_tell(f, WS_STORY_SO,
                    "early: %s is off by %" G_GINT64_FORMAT
                    " from here on; any agent that waits for it continues before the others are "
                    "ready, or waits forever",
                    name, ABS(s->phase - turn));
}

/* An arrival or an expect that meets another completion than it means. Nothing hangs on it where
 * nobody waits. */
static void check_turn(WsPlay *play, WsInst *inst, WsSlot *s, gint64 turn)
{
    if (turn == G_MININT64 || turn == s->phase || s->broken)
        return;
    g_autofree char *name = ws_slot_name(play, s);
    const WsRuleId rule = !ws_is_watched(play, s) ? WS_RULE_P_UNSEEN
                          : turn < s->phase       ? WS_RULE_P_COUNT
                                                  : WS_RULE_P_EARLY;
    WsFinding *f = ws_report(play, rule, inst, NULL,
                             "means completion %" G_GINT64_FORMAT
                             " of %s, but contributes to completion %" G_GINT64_FORMAT,
                             turn, name, s->phase);
    if (f) {
        ws_report_slot(play, f, s);
        f->fact[WS_FACT_COMPLETION] = turn;
        if (rule != WS_RULE_P_UNSEEN)
            tell_turn(play, f, inst, s, turn);
        ws_remedy_turn(play, f, inst, s, turn);
    }
    s->broken = TRUE;
}

/* The current operation of an instance, without keeping an event. */
static WsEvent here(WsPlay *play, WsInst *inst)
{
    WsEvent e = *ws_play_event(play, inst);
    play->arena_used--;
    return e;
}

static void contribute(WsPlay *play, WsInst *inst, WsSlot *s, gint64 arrivals)
{
    WsEvent by = here(play, inst);
    gboolean all = !ws_by_leader(inst) && inst->step.op->per > 0 && inst->step.op->per <= 32;
    WsEpoch epoch = all ? ++inst->o : ++inst->l; /* an arrival is a deed one can know of */
    if (!all)
        inst->lead[inst->comp_l] = inst->l;
    ws_feed(s, all ? inst->comp_o : inst->comp_l, epoch);
    if (all)
        ws_release_all(play, inst, s->acc);
    else
        ws_release_leader(play, inst, s->acc);
    if (arrivals > s->pend) {
        if (!s->broken && ws_is_watched(play, s)) {
            g_autofree char *name = ws_slot_name(play, s);
            WsFinding *f =
                s->pend == 0
                    ? ws_report(play, WS_RULE_P_COUNT, inst, NULL,
                                "arrives on %s, whose completion %" G_GINT64_FORMAT
                                " has all its %" G_GINT64_FORMAT
                                " arrivals already and waits for bytes",
                                name, s->phase, s->count)
                    : ws_report(play, WS_RULE_P_COUNT, inst, NULL,
                                "arrives %" G_GINT64_FORMAT
                                " times at once on %s, whose completion %" G_GINT64_FORMAT
                                " lacks %" G_GINT64_FORMAT " of its %" G_GINT64_FORMAT " arrivals",
                                arrivals, name, s->phase, s->pend, s->count);
            if (f) {
                ws_report_slot(play, f, s);
                ws_tell_came(play, f, s);
                ws_finding_tell(f, WS_STORY_SO,
                                "early: the arrivals that are too many count for the next "
                                "completion, which then happens before it is due");
                ws_remedy_too_many(play, f, inst, s);
            }
        }
        s->broken = TRUE;
        arrivals = s->pend;
    }
    ws_came(play, s, &by, arrivals, 0, 0);
    s->pend -= arrivals;
    s->lanes_came |= all;
    s->contributed[inst->index] = 1;
}

/* Remembers an arrival in another CTA, or a read of it: that CTA may not end before it. */
void ws_note_reach(WsPlay *play, WsInst *inst, gboolean lanes, guint rank)
{
    WsEvent *e = ws_play_event(play, inst);
    e->comp = lanes ? inst->comp_o : inst->comp_l;
    e->epoch = lanes ? ++inst->o : ++inst->l;
    if (!lanes)
        inst->lead[inst->comp_l] = inst->l;
    e->stage = rank;
    g_ptr_array_add(play->remote, e);
}

void ws_do_arrive(WsPlay *play, WsInst *inst)
{
    const WsOp *op = inst->step.op;
    guint rank[16], n = ws_targets(play, inst, &op->ctas, rank);
    for (guint i = 0; i < n; i++) {
        gint64 turn;
        WsSlot *s = resolve(play, inst, rank[i], &turn);
        if (!s)
            return;
        ws_flag_set(play, inst, s);
        ws_contribution(play, inst, s, turn);
        check_turn(play, inst, s, turn);
        if (rank[i] != inst->rank)
            ws_note_reach(play, inst, !ws_by_leader(inst) && op->per > 0 && op->per <= 32, rank[i]);
        contribute(play, inst, s, op->count);
        complete(play, s);
    }
}

void ws_do_expect(WsPlay *play, WsInst *inst)
{
    const WsOp *op = inst->step.op;
    gint64 turn;
    WsSlot *s = resolve(play, inst, inst->rank, &turn);
    if (!s)
        return;
    ws_contribution(play, inst, s, turn);
    check_turn(play, inst, s, turn);
    s->tx += op->bytes;
    s->expected += op->bytes;
    WsEvent by = here(play, inst);
    ws_came(play, s, &by, 0, op->bytes, 0);
    if (op->count > 0)
        contribute(play, inst, s, op->count);
    complete(play, s);
}

/* Bytes land, or the copies of all threads of an agent are done. */
void ws_land(WsPlay *play, WsTransfer *t)
{
    WsSlot *s = t->slot;
    WsEvent *e = t->event;
    for (WsEvent *one = e; one; one = one->next) {
        if (!one->pending)
            continue;
        one->comp = s->comp;
        one->epoch = (WsEpoch)(s->phase + 1);
        one->pending = FALSE;
    }
    ws_clock_join_order(play, s->acc, t->clock);
    ws_feed(s, G_MAXUINT, 0);
    if (t->turn != G_MININT64 && t->turn != s->phase && !s->broken) {
        g_autofree char *name = ws_slot_name(play, s);
        WsFinding *f = ws_report_event(play, t->bytes ? WS_RULE_P_TX : WS_RULE_P_COUNT, e, NULL,
                                       "means completion %" G_GINT64_FORMAT
                                       " of %s, but can land in completion %" G_GINT64_FORMAT,
                                       t->turn, name, s->phase);
        if (f) {
            ws_report_slot(play, f, s);
            f->fact[WS_FACT_COMPLETION] = t->turn;
            g_autofree char *made = ws_came_text(play, s->came_before, FALSE);
            if (made)
                ws_finding_tell(f, WS_STORY_CAME,
                                "completion %" G_GINT64_FORMAT
                                " happened without these bytes, by the arrivals of %s",
                                s->phase - 1, made);
            ws_finding_tell(f, WS_STORY_MISSING,
                            "an expect of its %" G_GINT64_FORMAT
                            " bytes that comes before the last arrival",
                            t->bytes);
            ws_finding_tell(f, WS_STORY_SO,
                            "early: an agent that waits for %s reads before the bytes are there, "
                            "and the next phase starts with a wrong transaction count",
                            name);
            ws_finding_set_remedy(f, "expect its bytes before an arrival can complete %s", name);
        }
        s->broken = TRUE;
    }
    s->tx -= t->bytes;
    s->credited += t->bytes;
    ws_came(play, s, e, MIN(t->arrivals, s->pend), 0, t->bytes);
    if (t->arrivals > s->pend && !s->broken) {
        g_autofree char *name = ws_slot_name(play, s);
        WsFinding *f =
            ws_report_event(play, WS_RULE_P_COUNT, e, NULL,
                            "brings %" G_GINT64_FORMAT
                            " arrivals to %s, whose completion lacks only %" G_GINT64_FORMAT
                            " of its %" G_GINT64_FORMAT,
                            t->arrivals, name, s->pend, s->count);
        if (f) {
            ws_report_slot(play, f, s);
            ws_tell_came(play, f, s);
            ws_finding_tell(f, WS_STORY_SO,
                            "early: the arrivals that are too many count for the "
                            "next completion");
            ws_remedy_brought(play, f, s, t->arrivals);
        }
        s->broken = TRUE;
    }
    s->pend -= MIN(t->arrivals, s->pend);
    s->lanes_came |= t->arrivals > 0;
    s->contributed[e->inst] = 1;
    complete(play, s);
}

/* A wait that passes on another completion than it means. */
static void check_meaning(WsPlay *play, WsInst *inst, WsSlot *s, gint64 k)
{
    if (inst->turn == G_MININT64 || inst->turn == k || s->broken)
        return;
    gboolean early = k < inst->turn;
    g_autofree char *name = ws_slot_name(play, s);
    g_autofree char *meant = ws_completion_text(play, s, inst->turn);
    g_autofree char *passed = k < 0 ? ws_phrase("at once, before any completion")
                                    : ws_phrase("on completion %" G_GINT64_FORMAT, k);
    WsFinding *f = ws_report(play, early ? WS_RULE_P_EARLY : WS_RULE_P_ABA, inst, NULL,
                             "is for %s, but passes %s", meant, passed);
    if (f) {
        ws_report_slot(play, f, s);
        f->fact[WS_FACT_AWAITED] = inst->parity;
        f->fact[WS_FACT_COMPLETION] = inst->turn;
        g_autofree char *completed = ws_completed_text(s->phase);
        ws_finding_tell(f, WS_STORY_WHO,
                        "it tests parity %" G_GINT64_FORMAT " and means %s; %s has %s",
                        inst->parity, meant, name, completed);
        ws_finding_tell(f, WS_STORY_SO,
                        early ? "early: it continues before what it waits for has happened"
                              : "what it waited for was over a lap ago; the bytes may be those of "
                                "the next use");
        g_autofree char *same = ws_completion_text(play, s, inst->turn - 2);
        const char *barrier = play->p->barrier[s->barrier].name;
        if (early && s->waited[inst->agent].phase < -1)
            ws_finding_set_remedy(f,
                                  "wait for the uses of %s in turn, from the first one on: this is "
                                  "its first wait there, and the parity is that of %s too",
                                  barrier, same);
        else
            ws_finding_set_remedy(f, "let it wait for every use of %s in turn, none left out",
                                  barrier);
    }
    s->broken = TRUE;
}

/* W1: the threads must know that the completion before was over when the wait began. */
static void check_start(WsPlay *play, WsInst *inst, WsSlot *s, gint64 k)
{
    gboolean leader = ws_by_leader(inst);
    if (k < 1 || s->broken || ws_knows(inst, leader, s->comp, (WsEpoch)k) ||
        ws_surely_over(s, inst, leader, k - 1))
        return;
    g_autofree char *name = ws_slot_name(play, s);
    g_autofree char *two = k >= 2 ? ws_phrase("completion %" G_GINT64_FORMAT, k - 2)
                                  : ws_phrase("the time before any completion");
    WsFinding *f = ws_report(play, WS_RULE_P_EARLY, inst, NULL,
                             "can pass too early: it means completion %" G_GINT64_FORMAT
                             " of %s, but nothing before it says that completion %" G_GINT64_FORMAT
                             " is over, and %s has the same parity",
                             k, name, k - 1, two);
    if (f) {
        ws_report_slot(play, f, s);
        ws_tell_wait(play, f, inst, s, k);
        ws_finding_set_remedy(
            f, "wait for every use of %s in turn, or order this wait after the agent that did",
            name);
    }
    s->broken = TRUE;
}

/* Without a use nobody says which completion is meant; seeing the same one again is suspicious. */
static void check_stale(WsPlay *play, WsInst *inst, WsSlot *s, const WsWaited *w, gint64 k)
{
    if (inst->turn != G_MININT64 || k < 0 || w->phase != k || w->event.op != inst->step.op)
        return;
    g_autofree char *name = ws_slot_name(play, s);
    g_autofree char *before = ws_where_event(play, &w->event);
    WsFinding *f = ws_report(play, WS_RULE_P_STALE, inst, NULL,
                             "passes on completion %" G_GINT64_FORMAT
                             " of %s, which it has waited for before (%s)",
                             k, name, before);
    if (f) {
        ws_report_slot(play, f, s);
        f->fact[WS_FACT_AWAITED] = inst->parity;
        g_autofree char *completed = ws_completed_text(s->phase);
        ws_finding_tell(f, WS_STORY_WHO,
                        "it tests parity %" G_GINT64_FORMAT
                        " of %s, which has %s: it passes on completion %" G_GINT64_FORMAT,
                        inst->parity, name, completed, k);
        f->harm = WS_HARM_EARLY;
        ws_finding_tell(f, WS_STORY_MISSING, "a new completion: %s waited for the same one",
                        before);
        ws_finding_tell(f, WS_STORY_SO,
                        "it does not hold anything up: what it should wait for may "
                        "not have happened");
        ws_finding_set_remedy(f, "toggle the parity with every lap of the ring");
    }
}

gboolean ws_do_wait(WsPlay *play, WsInst *inst)
{
    gboolean leader = ws_by_leader(inst);
    if (!inst->slot) {
        inst->slot = resolve(play, inst, inst->rank, &inst->turn);
        if (!inst->slot || !inst->step.op->parity)
            return TRUE;
        if (!ws_play_eval(play, inst, inst->step.op->parity, &inst->parity))
            return TRUE;
        if (inst->parity != 0 && inst->parity != 1) {
            ws_report(play, WS_RULE_P_UNDEF, inst, NULL,
                      "tests parity %" G_GINT64_FORMAT "; only 0 and 1 exist", inst->parity);
            inst->parity &= 1;
        }
    }
    WsSlot *s = inst->slot;
    if ((s->phase & 1) == inst->parity || (ws_is_flag(play, s) && !ws_flag_is_up(play, s)))
        return FALSE;
    gint64 k = s->phase - 1;
    check_meaning(play, inst, s, k);
    check_start(play, inst, s, k);
    ws_acquire(play, inst, leader, s->done);
    inst->last_wait = s;
    WsWaited *w = &s->waited[inst->agent];
    check_stale(play, inst, s, w, k);
    w->phase = k;
    w->comp = leader ? inst->comp_l : inst->comp_b;
    w->epoch = leader ? ++inst->l : ++inst->b;
    if (leader)
        inst->lead[inst->comp_l] = inst->l;
    w->event = *ws_play_event(play, inst);
    play->arena_used--;
    if (!leader)
        s->by_lanes[inst->agent] = *w;
    if (ws_is_flag(play, s))
        ws_flag_taken(play, s, w);
    return TRUE;
}
