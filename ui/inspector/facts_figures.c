#include "program/op.h"
#include "trace/op_kind.h"
#include "ui/inspector/facts.h"

#include "trace/spread.h"
#include "ui/inspector/figures.h"
#include "ui/parts/format.h"

#include <glib/gi18n.h>

/* Predicted and measured figures of one step. They are taken from its records alone: the selection
 * moves faster than the statistics of a whole trace are made. */

typedef struct {
    guint agent, op;
    GArray *held, *flight; /* gint64 */
    gint64 total;
} StepTimes;

static void free_times(gpointer data)
{
    StepTimes *s = data;
    g_array_free(s->held, TRUE);
    g_array_free(s->flight, TRUE);
    g_free(s);
}

static StepTimes *times_of(GPtrArray *list, const WsTraceRecord *r)
{
    for (guint i = 0; i < list->len; i++) {
        StepTimes *s = g_ptr_array_index(list, i);
        if (s->agent == r->agent && s->op == r->op)
            return s;
    }
    StepTimes *s = g_new0(StepTimes, 1);
    s->agent = r->agent;
    s->op = r->op;
    s->held = g_array_new(FALSE, FALSE, sizeof(gint64));
    s->flight = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_ptr_array_add(list, s);
    return s;
}

static gint by_agent(gconstpointer pa, gconstpointer pb)
{
    const StepTimes *a = *(StepTimes *const *)pa, *b = *(StepTimes *const *)pb;
    return a->agent != b->agent ? (a->agent < b->agent ? -1 : 1)
                                : (a->op < b->op ? -1 : a->op > b->op);
}

static GPtrArray *gather(const WsTrace *t, const char *step)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(free_times);
    g_autofree gboolean *wanted = g_new0(gboolean, t->op_id->len + 1);
    for (guint i = 0; i < t->op_id->len; i++)
        wanted[i] = !g_strcmp0(g_ptr_array_index(t->op_id, i), step);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->op >= t->op_id->len || !wanted[r->op])
            continue;
        StepTimes *s = times_of(list, r);
        gint64 held = MAX(r->issued, r->start) - r->start, flight = r->done - r->start;
        g_array_append_val(s->held, held);
        s->total = ws_add_saturated(s->total, held);
        if (r->done >= r->start)
            g_array_append_val(s->flight, flight);
    }
    g_ptr_array_sort(list, by_agent);
    return list;
}

/* --- as facts -----------------------------------------------------------------------------------
 */

static char *spread_text(GArray *cycles, double ghz)
{
    WsTraceSpread s = ws_spread(cycles);
    g_autofree char *p50 = ws_format_cycles_at(s.p50, ghz);
    g_autofree char *p95 = ws_format_int(s.p95), *max = ws_format_int(s.max);
    /* Translators: median, 95th percentile, largest: "24 cycles (15 ns), p95 30, max 41" */
    return g_strdup_printf(_("%s, p95 %s, max %s"), p50, p95, max);
}

static void put(WsInspectorFacts *facts, const char *section, const char *name, char *value,
                const char *help)
{
    WsFact *f = ws_facts_add(facts, WS_FACT_DERIVED, section, name, value);
    f->help = g_strdup(help);
}

static void put_times(WsInspectorFacts *facts, const char *section, const WsTrace *t,
                      const StepTimes *s, double ghz)
{
    WsOpKind kind = ws_trace_op_kind(t, s->op);
    gboolean waits = ws_op_waits(kind);
    double all = (double)t->cycles * MAX(t->cta->len, 1);
    put(facts, section, waits ? _("waited (p50)") : _("held (p50)"), spread_text(s->held, ghz),
        waits ? _("from reaching the wait to continuing")
              : _("from the start until the agent went on"));
    if (ws_op_flies(kind) && s->flight->len)
        put(facts, section, _("in flight (p50)"), spread_text(s->flight, ghz),
            _("from the start until the effect was over"));
    put(facts, section, _("rounds"), ws_format_int(s->held->len), _("executions in the trace"));
    put(facts, section, _("share of the trace"),
        ws_format_share(all > 0 ? (double)s->total / all : 0),
        _("all of its rounds together, of the time of the trace"));
}

static void put_trace(WsInspectorFacts *facts, WsDocument *document, const char *step,
                      gboolean measured)
{
    WsTrace *t = measured ? ws_document_measured(document) : ws_document_predicted(document);
    if (!t)
        return;
    g_autoptr(GPtrArray) list = gather(t, step);
    for (guint i = 0; i < list->len; i++) {
        const StepTimes *s = g_ptr_array_index(list, i);
        const char *agent =
            s->agent < t->agent_name->len ? g_ptr_array_index(t->agent_name, s->agent) : "?";
        g_autofree char *section = measured ? g_strdup_printf(_("Measured, %s"), agent)
                                            : g_strdup_printf(_("Predicted, %s"), agent);
        put_times(facts, section, t, s, ws_figures_clock(document, measured));
    }
}

void ws_facts_figures(WsInspectorFacts *facts, WsDocument *document, const char *step)
{
    put_trace(facts, document, step, FALSE);
    put_trace(facts, document, step, TRUE);
}
