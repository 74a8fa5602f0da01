/* The play: agents in order of time. */
#include "clock/play.h"
#include "base/phrase.h"
#include "model/finding.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/parts/variable.h"
#include "program/program.h"
#include "program/waves.h"

#include <string.h>

/* --- tiles and data ------------------------------------------------------------------------------
 */
static gint64 tile_of(const WsClockCluster *at, gint64 position)
{
    const WsClockPlay *play = at->play;
    return play->claims ? ws_trace_claim_at((gpointer)play->claims, position)
                        : ws_dealt_tile(play->p, play->stride.count,
                                        ws_tiles_strided((gpointer)&at->stride, position));
}

gint64 ws_clock_play_tile(const WsClockPlay *play, gint64 position)
{
    return tile_of(&play->at[0], position);
}

static gint64 limited_tiles(gpointer data, gint64 position)
{
    const WsClockCluster *at = data;
    WsClockPlay *play = at->play;
    /* Two tiles at least: those that are left are counted by the distance between tiles. */
    if (position >= play->tiles_granted && play->steps > play->soft_steps)
        play->tile_limit = MIN(play->tile_limit, MAX(play->tiles_granted, 2));
    if (position >= play->tile_limit)
        return -1;
    play->tiles_granted = MAX(play->tiles_granted, position + 1);
    return tile_of(at, position);
}

gboolean ws_clock_play_eval(WsClockPlay *play, WsPlayer *a, const WsExpr *e, gint64 otherwise,
                            gint64 *value)
{
    *value = otherwise;
    if (!e)
        return TRUE;
    if (ws_walker_eval(a->walker, e, value, &play->error))
        return TRUE;
    g_prefix_error(&play->error, "%s: ", a->step.op->id);
    return FALSE;
}

/* Clusters that are played, of all devices. */
static guint n_at(const WsClockPlay *play)
{
    return play->n_clusters * play->n_devices;
}

/* --- set-up ----------------------------------------------------------------------------------- */
static void note_element(const WsExpr *node, gpointer data)
{
    if (node->op == WS_EXPR_INDEX)
        *(gboolean *)data = TRUE;
}

/* What phases are called, and where their causes are gathered. */
static void init_phases(WsClockPlay *play, guint cta)
{
    const WsProgram *p = play->p;
    WsClockCta *at = &play->cta[cta];
    for (guint i = 0; i <= play->n_mbars; i++)
        at->mbar[i].from = g_array_new(FALSE, FALSE, sizeof(WsContribution));
    for (guint i = 0; i <= play->n_named; i++)
        at->named[i].from = g_array_new(FALSE, FALSE, sizeof(WsContribution));
    for (guint b = 0; b < p->n_barriers; b++) {
        const guint slots = MAX(p->barrier[b].slots, 1), n = MAX(p->barrier[b].array, 1);
        const gboolean mbar = p->barrier[b].kind == WS_BARRIER_MBARRIER;
        for (guint i = 0; i < (mbar ? n * slots : n); i++)
            *(mbar ? &at->mbar[play->mbar_offset[b] + i].of
                   : &at->named[play->named_offset[b] + i].of) =
                (WsEventOf){ -1, cta, b, mbar ? i / slots : i, 0 };
    }
    at->named[play->n_named].of = (WsEventOf){ -1, cta, p->n_barriers, 0, 0 };
}

static void clear_phases(WsClockPlay *play, WsClockCta *at)
{
    for (guint i = 0; i <= play->n_mbars; i++)
        g_clear_pointer(&at->mbar[i].from, g_array_unref);
    for (guint i = 0; i <= play->n_named; i++)
        g_clear_pointer(&at->named[i].from, g_array_unref);
}

static void init_sms(WsClockPlay *play)
{
    const WsProgram *p = play->p;
    play->mbar_offset = g_new0(guint, p->n_barriers + 1);
    play->named_offset = g_new0(guint, p->n_barriers + 1);
    for (guint b = 0; b < p->n_barriers; b++) {
        play->mbar_offset[b] = play->n_mbars;
        play->named_offset[b] = play->n_named;
        if (p->barrier[b].kind == WS_BARRIER_MBARRIER)
            play->n_mbars += MAX(p->barrier[b].array, 1) * MAX(p->barrier[b].slots, 1);
        else
            play->n_named += MAX(p->barrier[b].array, 1);
    }
    for (guint c = 0; c < play->n_sms * n_at(play); c++) {
        play->cta[c].mbar = g_new0(WsMbar, play->n_mbars + 1);
        play->cta[c].named = g_new0(WsClockNamed, play->n_named + 1);
        if (play->events)
            init_phases(play, c);
        for (guint b = 0; b < p->n_barriers; b++) {
            const WsBarrier *x = &p->barrier[b];
            if (x->kind != WS_BARRIER_MBARRIER)
                continue;
            for (guint i = 0; i < MAX(x->array, 1) * MAX(x->slots, 1); i++)
                play->cta[c].mbar[play->mbar_offset[b] + i].count =
                    x->arrivals ? MAX(x->arrivals[i / MAX(x->slots, 1)], 1) : 1;
        }
    }
}

static WsGroups groups_new(void)
{
    return (WsGroups){ .done = g_array_new(FALSE, FALSE, sizeof(double)),
                       .full = g_array_new(FALSE, FALSE, sizeof(double)),
                       .done_by = g_array_new(FALSE, FALSE, sizeof(guint)),
                       .full_by = g_array_new(FALSE, FALSE, sizeof(guint)) };
}

static void groups_clear(WsGroups *g)
{
    if (g->done)
        g_array_unref(g->done);
    if (g->full)
        g_array_unref(g->full);
    g_clear_pointer(&g->done_by, g_array_unref);
    g_clear_pointer(&g->full_by, g_array_unref);
}

static void init_players(WsClockPlay *play)
{
    const WsProgram *p = play->p;
    play->n_players = n_at(play) * play->n_sms * p->n_agents;
    play->player = g_new0(WsPlayer, play->n_players + 1);
    for (guint i = 0; i < play->n_players; i++) {
        WsPlayer *a = &play->player[i];
        a->cta = i / p->n_agents;
        a->cluster = a->cta / play->n_sms;
        a->rank = a->cta % play->n_sms;
        a->agent = i % p->n_agents;
        a->device = a->cluster % play->n_devices;
        a->sms = &play->sm[a->device * play->n_sms];
        a->walker = ws_walker_new(p, play->of_device ? play->of_device[a->device] : play->v,
                                  a->agent, a->rank, limited_tiles, &play->at[a->cluster]);
        ws_walker_guess_elements(a->walker);
        a->now =
            play->m->value[WS_MACHINE_CTA_START] +
            a->device * play->m->value[WS_MACHINE_LAUNCH_APART] * play->m->value[WS_MACHINE_GHZ];
        a->mma_end = g_new0(double, (gsize)MAX(play->m->value[WS_MACHINE_MMA_QUEUE], 1));
        a->mma_by = g_new0(guint, (gsize)MAX(play->m->value[WS_MACHINE_MMA_QUEUE], 1));
        a->ready = g_new0(double, p->agent[a->agent].n_values + 1);
        a->mma = groups_new();
        a->bulk = groups_new();
        a->copies = groups_new();
    }
}

void ws_clock_play_init(WsClockPlay *play)
{
    const WsProgram *p = play->p;
    play->n_sms = CLAMP(p->cluster, 1, 16);
    play->n_devices = MAX(play->n_devices, 1);
    play->sm = g_new0(WsSm, play->n_sms * play->n_devices);
    for (guint i = 0; i < play->n_sms * play->n_devices && play->of_device; i++)
        play->sm[i].to = g_new0(WsUnit, play->n_devices);
    play->n_clusters = MAX(play->n_clusters, 1);
    play->cta = g_new0(WsClockCta, play->n_sms * n_at(play));
    play->at = g_new0(WsClockCluster, n_at(play));
    for (guint i = 0; i < n_at(play); i++) {
        play->at[i] = (WsClockCluster){ .play = play, .stride = play->stride };
        play->at[i].stride.first += i / play->n_devices * play->apart;
        if (play->events) {
            play->at[i].bar.from = g_array_new(FALSE, FALSE, sizeof(WsContribution));
            play->at[i].bar.of = (WsEventOf){ -1, i * play->n_sms, p->n_barriers + 1, 0, 0 };
        }
    }
    play->work = g_new0(WsWork, p->n_ops + 1);
    play->work_known = g_new0(guint8, p->n_ops + 1);
    play->ahead = g_new0(WsAhead, (gsize)play->n_sms * n_at(play) * p->n_ops + 1);
    play->wait = g_new0(WsWaitSum, p->n_ops + 1);
    play->loops = g_array_new(FALSE, FALSE, sizeof(WsLoopTrack));
    play->tile_start = g_array_new(FALSE, TRUE, sizeof(WsSnapshot));
    play->tensor_bytes = g_new0(gint64, p->n_tensors + 1);
    ws_waves_grid(p, &play->waves_m, &play->waves_n);
    for (guint i = 0; i < p->n_vars; i++)
        if (p->var[i].kind == WS_VAR_TILE && p->var[i].value)
            ws_expr_visit(p->var[i].value, note_element, &play->reads_for_tiles);
    init_sms(play);
    init_players(play);
}

void ws_clock_play_clear(WsClockPlay *play)
{
    for (guint i = 0; i < play->n_players; i++) {
        WsPlayer *a = &play->player[i];
        ws_walker_free(a->walker);
        g_free(a->mma_end);
        g_free(a->mma_by);
        g_free(a->ready);
        groups_clear(&a->mma);
        groups_clear(&a->bulk);
        groups_clear(&a->copies);
    }
    for (guint c = 0; c < play->n_sms * n_at(play); c++) {
        clear_phases(play, &play->cta[c]);
        g_free(play->cta[c].mbar);
        g_free(play->cta[c].named);
    }
    for (guint i = 0; i < n_at(play); i++)
        g_clear_pointer(&play->at[i].bar.from, g_array_unref);
    g_free(play->cta);
    g_free(play->at);
    for (guint i = 0; i < play->loops->len; i++)
        g_array_unref(g_array_index(play->loops, WsLoopTrack, i).distance);
    ws_events_free(play->events);
    g_array_unref(play->loops);
    g_array_unref(play->tile_start);
    g_free(play->player);
    for (guint i = 0; i < play->n_sms * play->n_devices; i++) {
        ws_code_free(play->sm[i].held);
        g_free(play->sm[i].to);
    }
    g_free(play->sm);
    ws_clock_flags_free(play->flags);
    g_free(play->mbar_offset);
    g_free(play->named_offset);
    g_free(play->work);
    g_free(play->work_known);
    g_free(play->ahead);
    g_free(play->wait);
    g_free(play->tensor_bytes);
    g_clear_error(&play->error);
}

/* --- running ---------------------------------------------------------------------------------- */
void ws_clock_play_wake(WsClockPlay *play)
{
    for (guint i = 0; i < play->n_players; i++)
        if (play->player[i].state == WS_AGENT_BLOCKED)
            play->player[i].state = WS_AGENT_RUNS;
}

static WsPlayer *furthest_behind(WsClockPlay *play)
{
    WsPlayer *best = NULL;
    for (guint i = 0; i < play->n_players; i++) {
        WsPlayer *a = &play->player[i];
        if (a->state == WS_AGENT_RUNS && (!best || a->now < best->now))
            best = a;
    }
    return best;
}

static gboolean fetch(WsClockPlay *play, WsPlayer *a)
{
    ws_step_copy(&a->last, &a->step);
    if (!ws_walker_next(a->walker, &a->step, &play->error)) {
        a->state = WS_AGENT_DONE;
        ws_clock_play_close_record(play, a);
        return play->error == NULL;
    }
    ws_clock_play_note_rounds(play, a);
    a->has_op = TRUE;
    a->part = a->phase = 0;
    a->start = a->now;
    a->done = 0;
    a->base = 0;
    ws_clock_fetch_code(play, a);
    return TRUE;
}

static void report_stuck(WsClockPlay *play)
{
    WsFinding *finding = NULL;
    play->stuck = TRUE;
    for (guint i = 0; i < play->n_players; i++) {
        WsPlayer *a = &play->player[i];
        if (a->state != WS_AGENT_BLOCKED || !play->findings)
            continue;
        if (finding) {
            g_ptr_array_add(finding->steps, g_strdup(a->step.op->id));
            continue;
        }
        g_autofree char *rounds = ws_step_rounds_text(&a->step);
        g_autofree char *barrier = ws_clock_play_barrier_text(play, a);
        finding = ws_findings_add(
            play->findings, WS_RULE_P_DEADLOCK, a->step.op->id,
            "the timing model is stuck: %s waits on %s%s%s, and no running agent can end it",
            play->p->agent[a->agent].name, barrier, *rounds ? WS_WORD(" at ") : "", rounds);
        finding->barrier = g_steal_pointer(&barrier);
        finding->round = g_steal_pointer(&rounds);
        if (!finding->steps)
            finding->steps = g_ptr_array_new_with_free_func(g_free);
    }
}

static gboolean all_done(const WsClockPlay *play)
{
    for (guint i = 0; i < play->n_players; i++)
        if (play->player[i].state != WS_AGENT_DONE)
            return FALSE;
    return TRUE;
}

gboolean ws_clock_play_run(WsClockPlay *play)
{
    WsPlayer *a;
    while ((a = furthest_behind(play))) {
        if (!a->has_op && !fetch(play, a))
            return FALSE;
        if (!a->has_op)
            continue;
        if (++play->steps > play->max_steps) {
            g_set_error(&play->error, WS_EXPR_ERROR, WS_EXPR_ERROR_OVERFLOW,
                        "more than %" G_GINT64_FORMAT " operations in the simulated tiles",
                        play->max_steps);
            return FALSE;
        }
        switch (ws_clock_play_move(play, a)) {
        case WS_MOVE_NEXT:
            ws_clock_await_code(play, a);
            a->has_op = FALSE;
            if (ws_op_just_touches(a->step.op->kind))
                a->rows_from = a->now;
            ws_clock_play_note_op(play, a);
            break;
        case WS_MOVE_AGAIN:
            break;
        case WS_MOVE_BLOCKED:
            a->state = WS_AGENT_BLOCKED;
            break;
        case WS_MOVE_FAILED:
            return FALSE;
        }
    }
    if (all_done(play))
        return TRUE;
    report_stuck(play);
    return FALSE;
}
