/* The figures of a trace as text. */
#include "program/op.h"
#include "program/program.h"
#include "trace/op_kind.h"
#include "trace/stats.h"

#include <math.h>
#include <string.h>

static const char *agent_name(const WsTrace *t, guint agent)
{
    return agent < t->agent_name->len ? t->agent_name->pdata[agent] : "?";
}

static void put_loops(GString *s, const WsTrace *t, const WsTraceStats *stats)
{
    if (!stats->loop->len)
        return;
    g_string_append(s, "loops: distance between successive rounds, cycles\n");
    g_string_append_printf(s, "  %-12s %-12s %8s %9s %9s %9s\n", "agent", "loop", "rounds", "p50",
                           "p95", "max");
    for (guint i = 0; i < stats->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(stats->loop, WsTraceLoopStat, i);
        const char *name = strrchr(l->loop, '/');
        g_string_append_printf(s,
                               "  %-12s %-12s %8u %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT
                               " %9" G_GINT64_FORMAT "\n",
                               agent_name(t, l->agent), name ? name + 1 : l->loop, l->n,
                               l->period.p50, l->period.p95, l->period.max);
    }
}

/* Half of the executions must have been seen to be over for a median. */
static void put_done(GString *s, const WsTraceStepStat *p)
{
    if (2 * (guint64)p->n_flight > p->n)
        g_string_append_printf(s, " %9" G_GINT64_FORMAT "\n", p->flight.p50);
    else
        g_string_append_printf(s, " %9s\n", "unknown");
}

static void put_steps(GString *s, const WsTrace *t, const WsTraceStats *stats, gboolean waits)
{
    g_string_append(s, waits ? "\nwaits: exposed cycles (the agent stalled)\n"
                             : "\nsteps: cycles from start to issued, and to done\n");
    g_string_append_printf(s, "  %-12s %-28s %8s %8s %8s %8s", "agent", waits ? "wait" : "step",
                           "rounds", "p50", "p95", "max");
    g_string_append(s, waits ? "    share\n" : "  done p50\n");
    for (guint i = 0; i < stats->step->len; i++) {
        const WsTraceStepStat *p = &g_array_index(stats->step, WsTraceStepStat, i);
        if (ws_op_waits(ws_trace_op_kind(t, p->op)) != waits)
            continue;
        g_string_append_printf(
            s, "  %-12s %-28s %8u %8" G_GINT64_FORMAT " %8" G_GINT64_FORMAT " %8" G_GINT64_FORMAT,
            agent_name(t, p->agent), ws_trace_op_label(t, p->op), p->n, p->held.p50, p->held.p95,
            p->held.max);
        if (waits)
            g_string_append_printf(s, isnan(p->share) ? "       -\n" : " %7.1f%%\n",
                                   100 * p->share);
        else
            put_done(s, p);
    }
}

/* Share of each agent's time, from its first step to its last, that its steps and waits account
 * for. Flights do not count: they go on beside the agent. */
static void put_cover(GString *s, const WsTrace *t)
{
    if (t->every > 1)
        return;
    g_autofree gint64 *held = g_new0(gint64, t->agent_name->len + 1);
    g_autofree gint64 *time = g_new0(gint64, t->agent_name->len + 1);
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, l->first);
        const gint64 first = r->start;
        gint64 latest = first; /* time up to here is accounted for, or a gap */
        for (guint64 k = 0; k < l->n; k++, r++) {
            const gint64 end = MAX(r->issued, r->start);
            held[l->agent] += MAX(0, end - MAX(r->start, latest));
            latest = MAX(latest, end);
        }
        time[l->agent] += latest - first;
    }
    const char *before = "\ncovered by steps and waits: ";
    for (guint a = 0; a < t->agent_name->len; a++) {
        if (time[a] <= 0)
            continue;
        g_string_append_printf(s, "%s%s %.1f %%", before, agent_name(t, a),
                               100 * (double)held[a] / (double)time[a]);
        before = ", ";
    }
    g_string_append(s, "\n");
}

static void put_pairs(GString *s, const WsTrace *t, const WsTraceStats *stats)
{
    g_string_append(s, "\noverlap: share of each step's time in flight during which the other "
                       "was in flight too\n");
    for (guint i = 0; i < stats->pair->len; i++) {
        const WsTracePair *p = &g_array_index(stats->pair, WsTracePair, i);
        g_autofree char *a =
            g_strdup_printf("%s %s", agent_name(t, p->agent_a), ws_trace_op_label(t, p->op_a));
        g_autofree char *b =
            g_strdup_printf("%s %s", agent_name(t, p->agent_b), ws_trace_op_label(t, p->op_b));
        if (p->both)
            g_string_append_printf(s, "  %-34s %5.1f%%   %-34s %5.1f%%\n", a, 100 * p->share_a, b,
                                   100 * p->share_b);
    }
}

char *ws_trace_overlap_print(const WsTrace *t, const WsProgram *p)
{
    g_autoptr(WsTraceStats) stats = ws_trace_stats_new(t);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "%s trace%s%s, %" G_GINT64_FORMAT " cycles, %u CTA%s\n",
                           t->origin == WS_TRACE_MEASURED ? "measured" : "predicted",
                           t->device ? ", " : "", t->device ? t->device : "", t->cycles,
                           t->cta->len, t->cta->len == 1 ? "" : "s");
    if (p && t->design_hash && p->design_hash && strcmp(p->design_hash, t->design_hash) != 0)
        g_string_append(s, "note: recorded from another version of this design\n");
    if (!isnan(t->overhead))
        g_string_append_printf(s, "recording cost %.1f %% of the time%s\n", 100 * t->overhead,
                               t->overhead > 0.1 ? ": more than 10 %, do not decide by it" : "");
    if (!isnan(t->tensor_busy))
        g_string_append_printf(s, "tensor pipe busy %.1f %%\n", 100 * t->tensor_busy);
    if (!isnan(t->tma_busy))
        g_string_append_printf(s, "TMA busy %.1f %%\n", 100 * t->tma_busy);
    if (t->bound)
        g_string_append_printf(s, "bound by %s\n", t->bound);
    g_string_append_c(s, '\n');
    put_loops(s, t, stats);
    put_steps(s, t, stats, TRUE);
    put_steps(s, t, stats, FALSE);
    put_cover(s, t);
    if (t->every == 1)
        put_pairs(s, t, stats);
    else if (t->every == WS_TRACE_NO_ROUNDS)
        g_string_append(s, "\nno round of inner loops was recorded: shares of the time and what "
                           "overlapped are not known\n");
    else if (t->launch->len)
        g_string_append_printf(s, "\n" WS_TRACE_MERGED "\n", t->launch->len, t->every);
    else
        g_string_append_printf(s,
                               "\none round of inner loops in %d was recorded: distances are means "
                               "of %d rounds, and shares of the time and what overlapped are not "
                               "known\n",
                               t->every, t->every);
    return g_string_free(s, FALSE);
}
