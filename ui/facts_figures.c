#include "ui/facts.h"

#include "ui/format.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

/* Predicted and measured figures of one step. */

static char *spread_text(const WsTraceSpread *s, double ghz)
{
    g_autofree char *p50 = ws_format_cycles_at(s->p50, ghz);
    g_autofree char *p95 = ws_format_int(s->p95), *max = ws_format_int(s->max);
    /* Translators: median, 95th percentile, largest: "24 cycles (15 ns), p95 30, max 41" */
    return g_strdup_printf(_("%s, p95 %s, max %s"), p50, p95, max);
}

static double clock_of(WsDocument *document, const WsTrace *t, gboolean measured)
{
    WsClockResult *clock = ws_document_clock(document);
    if (measured && t->cta->len && g_array_index(t->cta, WsTraceCta, 0).ghz > 0)
        return g_array_index(t->cta, WsTraceCta, 0).ghz;
    return clock ? clock->ghz : 0;
}

static void put_stat(WsFacts *facts, const char *section, const WsTrace *t,
                     const WsTraceStepStat *s, double ghz)
{
    gboolean waits = ws_trace_kind_waits(ws_trace_op_kind(t, s->op));
    WsFact *f =
        ws_facts_add(facts, WS_FACT_DERIVED, section, waits ? _("waited (p50)") : _("held (p50)"),
                     spread_text(&s->held, ghz));
    f->help = g_strdup(waits ? _("from reaching the wait to going on")
                             : _("from the start until the agent went on"));
    if (s->flight.max > 0) {
        f = ws_facts_add(facts, WS_FACT_DERIVED, section, _("in flight (p50)"),
                         spread_text(&s->flight, ghz));
        f->help = g_strdup(_("from the start until the effect was over"));
    }
    ws_facts_add(facts, WS_FACT_DERIVED, section, _("rounds"), ws_format_int(s->n));
    f = ws_facts_add(facts, WS_FACT_DERIVED, section, _("share of the trace"),
                     ws_format_share(s->share));
    f->help = g_strdup(_("all of its rounds together, of the time of the trace"));
}

static void put_trace(WsFacts *facts, WsDocument *document, const char *step, gboolean measured)
{
    WsTrace *t = measured ? ws_document_measured(document) : ws_document_predicted(document);
    WsTraceStats *stats = t ? ws_document_stats(document, measured) : NULL;
    for (guint i = 0; stats && i < stats->step->len; i++) {
        const WsTraceStepStat *s = &g_array_index(stats->step, WsTraceStepStat, i);
        if (s->op >= t->op_id->len || g_strcmp0(g_ptr_array_index(t->op_id, s->op), step))
            continue;
        const char *agent =
            s->agent < t->agent_name->len ? g_ptr_array_index(t->agent_name, s->agent) : "?";
        g_autofree char *section = measured ? g_strdup_printf(_("Measured, %s"), agent)
                                            : g_strdup_printf(_("Predicted, %s"), agent);
        put_stat(facts, section, t, s, clock_of(document, t, measured));
    }
}

void ws_facts_figures(WsFacts *facts, WsDocument *document, const char *step)
{
    put_trace(facts, document, step, FALSE);
    put_trace(facts, document, step, TRUE);
}
