/* Barriers of the play: mbarriers, named barriers, the cluster barrier. */
#include "program/parts/barrier.h"
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"

static WsClockMove failed(void)
{
    return WS_MOVE_FAILED;
}

gboolean ws_clock_play_targets(WsClockPlay *play, WsPlayer *a, guint *mask)
{
    const WsCtas *c = &a->step.op->ctas;
    guint all = (1u << play->n_sms) - 1;
    gint64 rank = 0;
    switch (c->kind) {
    case WS_CTAS_ALL:
        *mask = all;
        return TRUE;
    case WS_CTAS_MASK:
        *mask = c->mask & all;
        return TRUE;
    case WS_CTAS_EXPR:
        if (!ws_clock_play_eval(play, a, c->expr, a->rank, &rank))
            return FALSE;
        *mask = rank >= 0 && rank < (gint64)play->n_sms ? 1u << rank : 0;
        return TRUE;
    case WS_CTAS_OWN:
        break;
    }
    *mask = 1u << a->rank;
    return TRUE;
}

/* Index of the element and slot of the current operation; FALSE (error set) if there is none. */
static gboolean locate(WsClockPlay *play, WsPlayer *a, guint *index)
{
    const WsOp *op = a->step.op;
    const WsBarrier *b = &play->p->barrier[op->barrier];
    gint64 element = 0, slot = 0;
    if (!ws_clock_play_eval(play, a, op->element, 0, &element) ||
        !ws_clock_play_eval(play, a, op->slot, 0, &slot))
        return FALSE;
    if (element < 0 || element >= (gint64)b->array || slot < 0 ||
        slot >= (gint64)MAX(b->slots, 1)) {
        g_set_error(&play->error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE,
                    "%s: barrier %s has no element %" G_GINT64_FORMAT " slot %" G_GINT64_FORMAT,
                    op->id, b->name, element, slot);
        return FALSE;
    }
    *index = play->mbar_offset[op->barrier] + (guint)element * MAX(b->slots, 1) + (guint)slot;
    return TRUE;
}

char *ws_clock_play_barrier_text(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    if (op->barrier < 0)
        return g_strdup(ws_op_kind_text(op->kind));
    const WsBarrier *b = &play->p->barrier[op->barrier];
    GString *s = g_string_new(b->name);
    gint64 element = 0, slot = 0;
    if (b->is_array && ws_walker_eval(a->walker, op->element, &element, NULL))
        g_string_append_printf(s, "[%" G_GINT64_FORMAT "]", element);
    if (b->slots > 1 && op->slot && ws_walker_eval(a->walker, op->slot, &slot, NULL))
        g_string_append_printf(s, " slot %" G_GINT64_FORMAT, slot);
    return g_string_free(s, FALSE);
}

/* Ends the phase if everything that it needs has been issued. */
static void settle(WsClockPlay *play, WsMbar *b)
{
    if (b->arrived < b->count || b->expected != b->landed)
        return;
    b->time[b->completed % 8] = b->latest;
    b->by[b->completed % 8] = ws_clock_phase(play, b->from, b->of, b->latest);
    b->completed++;
    b->arrived -= b->count;
    b->expected = b->landed = 0;
    b->latest = 0;
    ws_clock_play_wake(play);
}

static void arrive(WsClockPlay *play, WsMbar *b, gint64 n, gint64 bytes, double at, guint by)
{
    ws_clock_contribute(play, b->from, WS_CAUSE_ARRIVAL, by, at);
    b->arrived += n;
    b->expected += bytes;
    b->latest = MAX(b->latest, at);
    settle(play, b);
}

WsClockMove ws_clock_play_credit(WsClockPlay *play, WsPlayer *a, guint cta, gint64 bytes, double at,
                                 guint by)
{
    guint index;
    if (a->step.op->barrier < 0)
        return WS_MOVE_NEXT;
    if (!locate(play, a, &index))
        return failed();
    WsMbar *b = &play->cta[a->cluster * play->n_sms + cta].mbar[index];
    ws_clock_contribute(play, b->from, WS_CAUSE_BYTES, by, at);
    b->landed += bytes;
    b->latest = MAX(b->latest, at);
    settle(play, b);
    return WS_MOVE_NEXT;
}

/* Has the phase ended that the current wait tests, and when? */
static gboolean phase_over(WsClockPlay *play, WsPlayer *a, const WsMbar *b, double *when, guint *by,
                           gboolean *over)
{
    const WsOp *op = a->step.op;
    gint64 number = 0, parity = 0;
    if (op->turn) {
        if (!ws_clock_play_eval(play, a, op->turn, 0, &number))
            return FALSE;
    } else { /* slot and phase given: the hardware's test */
        if (!ws_clock_play_eval(play, a, op->parity, 0, &parity))
            return FALSE;
        number = (b->completed & 1) != (parity & 1) ? b->completed - 1 : b->completed;
    }
    *over = number < b->completed;
    const gboolean long_ago = number < 0 || number < b->completed - 8;
    *when = long_ago ? 0 : b->time[number % 8];
    *by = long_ago || !*over ? 0 : b->by[number % 8];
    return TRUE;
}

static WsClockMove wait(WsClockPlay *play, WsPlayer *a, const WsMbar *b)
{
    double when = 0;
    guint by = 0;
    gboolean over = FALSE;
    if (!phase_over(play, a, b, &when, &by, &over))
        return failed();
    if (!over)
        return WS_MOVE_BLOCKED;
    a->base = ws_clock_own(play, a, play->m->value[WS_MACHINE_MBAR_WAIT]);
    double ready = a->start + a->base;
    const double wakes = when + play->m->value[WS_MACHINE_MBAR_WAKE];
    a->now = when > a->start ? MAX(ready, wakes) : ready;
    ws_clock_because_order(play, a, ready);
    /* An event that was over before costs nothing: until it is as late as the wait. */
    ws_clock_because(play, WS_CAUSE_PHASE, by, when > a->start ? wakes : when + a->base);
    ws_clock_goes_on(play, a);
    return WS_MOVE_NEXT;
}

static WsClockMove contribute(WsClockPlay *play, WsPlayer *a, guint index)
{
    const WsOp *op = a->step.op;
    guint mask;
    if (!ws_clock_play_targets(play, a, &mask))
        return failed();
    ws_clock_because_order(play, a, a->now);
    ws_clock_because(play, WS_CAUSE_WRITTEN, a->stored_by, a->stored);
    a->now = MAX(a->now, a->stored); /* what is released must have been written */
    ws_clock_goes_on(play, a);
    double at = a->now;
    guint by = a->event;
    gint64 bytes = 0;
    if (op->kind == WS_OP_CP_ARRIVE) {
        by = a->copied > at ? a->copied_by : by;
        at = MAX(at, a->copied);
        a->done = at;
    } else {
        a->now += ws_clock_own(play, a, play->m->value[WS_MACHINE_MBAR_ARRIVE]);
        at = a->now;
    }
    if (ws_op_expects(op->kind)) {
        bytes = op->bytes;
        mask = 1u << a->rank;
    }
    const WsClockCta *first = &play->cta[a->cluster * play->n_sms];
    for (guint c = 0; c < play->n_sms; c++)
        if (mask & (1u << c))
            arrive(play, &first[c].mbar[index], op->count, bytes,
                   at + (c == a->rank ? 0 : play->m->value[WS_MACHINE_MBAR_REMOTE]), by);
    return WS_MOVE_NEXT;
}

WsClockMove ws_clock_play_mbar(WsClockPlay *play, WsPlayer *a)
{
    guint index;
    if (a->step.op->barrier < 0)
        return WS_MOVE_NEXT;
    if (!locate(play, a, &index))
        return failed();
    if (ws_op_waits_phase(a->step.op->kind))
        return wait(play, a, &play->cta[a->cta].mbar[index]);
    return contribute(play, a, index);
}

/* Joins with `n` of `needed`; the generation joined is in a->joined. */
static void join(WsClockPlay *play, WsPlayer *a, WsClockNamed *b, gint64 n, gint64 needed)
{
    a->joined = b->generation;
    ws_clock_contribute(play, b->from, WS_CAUSE_ARRIVAL, a->event, a->now);
    b->joined += n;
    b->latest = MAX(b->latest, a->now);
    if (b->joined < needed)
        return;
    b->time[b->generation % 4] = b->latest;
    b->by[b->generation % 4] = ws_clock_phase(play, b->from, b->of, b->latest);
    b->generation++;
    b->joined = 0;
    b->latest = 0;
    ws_clock_play_wake(play);
}

static WsClockMove until(WsClockPlay *play, WsPlayer *a, const WsClockNamed *b, double cost)
{
    if (b->generation <= a->joined)
        return WS_MOVE_BLOCKED;
    a->base = cost;
    a->now = MAX(a->start, b->time[a->joined % 4]) + cost;
    ws_clock_because_order(play, a, a->start + cost);
    ws_clock_because(play, WS_CAUSE_PHASE, b->by[a->joined % 4], b->time[a->joined % 4] + cost);
    ws_clock_goes_on(play, a);
    return WS_MOVE_NEXT;
}

WsClockMove ws_clock_play_named(WsClockPlay *play, WsPlayer *a)
{
    const WsOp *op = a->step.op;
    gint64 own = play->p->agent[a->agent].threads, element = 0;
    if (a->part == 0) {
        ws_clock_because_order(play, a, a->now);
        ws_clock_because(play, WS_CAUSE_WRITTEN, a->stored_by, a->stored);
    }
    a->now = MAX(a->now, a->stored);
    if (a->part == 0)
        ws_clock_goes_on(play, a);
    double drain = MAX(a->stored - a->start, 0); /* its own stores, nobody else's fault */
    gboolean waits = ws_op_waits_join(op->kind);
    double cost =
        ws_clock_own(play, a, play->m->value[waits ? WS_MACHINE_BAR_SYNC : WS_MACHINE_BAR_ARRIVE]);
    if (op->count <= own) { /* nobody else takes part */
        a->base = drain + cost;
        a->now += cost;
        return WS_MOVE_NEXT;
    }
    if (!ws_clock_play_eval(play, a, op->element, 0, &element))
        return failed();
    const WsBarrier *b = op->barrier >= 0 ? &play->p->barrier[op->barrier] : NULL;
    if (b && (element < 0 || element >= (gint64)MAX(b->array, 1))) {
        g_set_error(&play->error, WS_EXPR_ERROR, WS_EXPR_ERROR_TYPE,
                    "%s: barrier %s has no element %" G_GINT64_FORMAT, op->id, b->name, element);
        return failed();
    }
    /* Without a barrier of the program it is the one of the whole CTA, kept behind the others. */
    guint index = b ? play->named_offset[op->barrier] + (guint)element : play->n_named;
    WsClockNamed *named = &play->cta[a->cta].named[index];
    if (a->part == 0) {
        a->part = 1;
        join(play, a, named, own, op->count);
    }
    if (!waits) {
        a->now += cost;
        return WS_MOVE_NEXT;
    }
    WsClockMove move = until(play, a, named, cost);
    a->base += drain;
    return move;
}

WsClockMove ws_clock_play_cluster(WsClockPlay *play, WsPlayer *a)
{
    if (a->step.op->kind == WS_OP_CLUSTER_ARRIVE) {
        join(play, a, &play->at[a->cluster].bar, 1, play->n_sms * play->p->n_agents);
        a->cluster_generation = a->joined;
        a->now += play->m->value[WS_MACHINE_BAR_ARRIVE];
        return WS_MOVE_NEXT;
    }
    a->joined = a->cluster_generation;
    return until(play, a, &play->at[a->cluster].bar, play->m->value[WS_MACHINE_CLUSTER_SYNC]);
}
