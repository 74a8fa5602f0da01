/* What is under the pointer, in words: its times in cycles and, where the clock is known, in
 * nanoseconds; beside a prediction what was measured of the same execution, and the other way
 * round. */
#include "ui/document/document_idle.h"
#include "ui/document/document_names.h"
#include "ui/parts/format.h"
#include "ui/parts/words.h"
#include "ui/problems/wrong_steps.h"
#include "ui/timeline/timeline_private.h"

#include "trace/stats.h"

#include <glib/gi18n.h>

static void add_line(GString *s, const char *text)
{
    g_string_append_printf(s, "%s%s", s->len ? "\n" : "", text);
}

static gint64 cycles_of(gint64 start, gint64 issued, gint64 done)
{
    return MAX(MAX(issued, done), start) - start;
}

/* The same execution in the other trace: cycles, or -1. */
static gint64 counterpart(WsTimeline *t, const WsTrace *other, const WsSceneItem *item)
{
    const WsTraceLane *lane = ws_trace_lane(other, ws_timeline_cta_of(t, other), item->agent);
    for (guint64 i = 0; lane && i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(other->record, WsTraceRecord, lane->first + i);
        if (r->op == item->op && r->tile == item->tile && r->round == item->round)
            return cycles_of(r->start, r->issued, r->done);
    }
    return -1;
}

/* Where measured rounds cannot be told apart: the middle of all executions of the step. */
static gint64 middle(WsTimeline *t, const WsSceneItem *item)
{
    const WsTraceStats *stats =
        ws_document_stats_ready(t->document, TRUE) ? ws_document_stats(t->document, TRUE) : NULL;
    for (guint i = 0; stats && i < stats->step->len; i++) {
        const WsTraceStepStat *s = &g_array_index(stats->step, WsTraceStepStat, i);
        if (s->op == item->op && s->agent == item->agent)
            return s->n_flight ? MAX(s->flight.p50, s->held.p50) : s->held.p50;
    }
    return -1;
}

static void add_other(WsTimeline *t, const WsSceneItem *item, GString *s)
{
    WsTrace *measured = ws_document_measured(t->document);
    WsTrace *other = item->measured ? ws_document_predicted(t->document) : measured;
    if (!measured || !other || item->op >= other->op_id->len ||
        g_strcmp0(other->op_id->pdata[item->op], item->step))
        return;
    const gint64 own = cycles_of(item->start, item->issued, item->done);
    WsTrace *predicted = ws_document_predicted(t->document);
    const gboolean mixed = ws_document_claims(t->document) ||
                           ws_trace_rounds_apart(ws_document_program(t->document), measured,
                                                 ws_timeline_cta_of(t, measured), predicted,
                                                 ws_timeline_cta_of(t, predicted));
    const gint64 found = !mixed           ? counterpart(t, other, item)
                         : item->measured ? -1
                                          : middle(t, item);
    if (found < 0)
        return;
    g_autofree char *cycles = ws_format_cycles(found);
    g_autofree char *text =
        mixed ? g_strdup_printf(_("measured: %s, the middle of all its executions"), cycles)
        : item->measured ? g_strdup_printf(_("predicted: %s"), cycles)
                         : g_strdup_printf(_("measured: %s"), cycles);
    const gint64 a = item->measured ? found : own, b = item->measured ? own : found;
    if (a > 0) {
        g_autofree char *share = ws_format_difference((double)(b - a) / (double)a), *all = text;
        text = g_strdup_printf("%s (%s)", all, share);
    }
    add_line(s, text);
}

/* Of which of the launches that a trace is merged from. */
static void add_launch(WsTimeline *t, const WsSceneItem *item, GString *s)
{
    const WsTrace *m = item->measured ? ws_document_measured(t->document) : NULL;
    if (!m || !m->launch->len || item->op >= m->op_id->len)
        return;
    const WsTraceRecord r = { .op = item->op, .round = item->round };
    g_autofree char *text = g_strdup_printf(_("measured in launch %u of %u"),
                                            ws_trace_launch_of(m, &r) + 1, m->launch->len);
    add_line(s, text);
}

static void add_runs(const WsSceneItem *item, GString *s)
{
    if (item->n_runs) {
        g_autofree char *low = ws_format_cycles(item->p20), *high = ws_format_cycles(item->p80);
        g_autofree char *runs = ws_format_count(item->n_runs, "%s");
        /* Translators: the middle 60 % of the executions of this step. */
        g_autofree char *text = g_strdup_printf(
            _("20 %% to 80 %% of its %s executions took %s to %s"), runs, low, high);
        add_line(s, text);
    }
    if (item->measured && item->done > item->issued)
        add_line(s, _("measured: the end is when completion was seen, an upper bound"));
}

static char *facts(WsTimeline *t, const WsSceneItem *item)
{
    GString *s = g_string_new(NULL);
    const double ghz = ws_timeline_ghz(t);
    if (item->shape == WS_SHAPE_DENSE) {
        g_string_append_printf(s, _("%u executions or more, too narrow to tell apart: zoom in"),
                               item->n);
        return g_string_free(s, FALSE);
    }
    if (item->shape == WS_SHAPE_NOTE) {
        g_string_append(s, item->tip);
        return g_string_free(s, FALSE);
    }
    g_autofree char *name = ws_item_name(item);
    add_line(s, name);
    const gint64 cycles = cycles_of(item->start, item->issued, item->done);
    if (ghz > 0 && cycles > 0) {
        g_autofree char *ns = g_strdup_printf(_("%.0f ns at %.2f GHz"), (double)cycles / ghz, ghz);
        add_line(s, ns);
    }
    if (item->shape == WS_SHAPE_FLIGHT || item->shape == WS_SHAPE_HEAD ||
        item->shape == WS_SHAPE_WAIT) {
        if (item->step)
            add_other(t, item, s);
        add_line(s, ws_words_of_text(ws_item_kind_text(item->kind)));
    } else if (item->step) {
        g_autofree char *step = ws_name_of_step(ws_document_program(t->document), item->step);
        g_autofree char *by = g_strdup_printf(_("by %s"), step);
        add_line(s, by);
    }
    add_runs(item, s);
    add_launch(t, item, s);
    return g_string_free(s, FALSE);
}

char *ws_timeline_tip(WsTimeline *t, const WsSceneItem *item)
{
    g_autofree char *what = facts(t, item), *wrong = ws_wrong_step_text(t->document, item->step);
    return wrong ? g_strdup_printf("\xe2\x9c\x96 %s\n%s", wrong, what) : g_steal_pointer(&what);
}
