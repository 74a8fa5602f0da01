#include "ui/inspector/figures.h"
#include "program/op.h"
#include "trace/op_kind.h"

#include "ui/document/document_idle.h"
#include "ui/document/document_machine.h"
#include "ui/parts/format.h"

#include <glib/gi18n.h>
#include <math.h>

#define MAX_COLUMNS 10

/* --- columns ------------------------------------------------------------------------------------
 */

#define TEXT   FALSE
#define NUMBER TRUE
#define HELD   N_("median time the agent spent on it, in cycles")
#define FLIGHT N_("median time from its start until its effect was over, in cycles")

typedef struct {
    const char *name, *empty;
    gint sort; /* column sorted by at first, largest on top; -1 as made */
    guint n;
    WsColumn column[MAX_COLUMNS]; /* titles and helps not yet translated */
} Layout;

static const Layout layouts[WS_FIGURES_COUNT] = {
    [WS_FIGURES_SUMMARY] = { N_("Summary"),
                             N_("Nothing has been predicted or measured."),
                             -1,
                             4,
                             { { N_("Figure"), NULL, TEXT, FALSE, 220 },
                               { N_("Predicted"), NULL, NUMBER, FALSE, 190 },
                               { N_("Measured"), NULL, NUMBER, FALSE, 190 },
                               { N_("Meaning"), NULL, TEXT, TRUE, 0 } } },
    [WS_FIGURES_LOOPS] = { N_("Loops"),
                           N_("No loop ran for two rounds."),
                           -1,
                           7,
                           { { N_("Loop"), NULL, TEXT, FALSE, 140 },
                             { N_("Agent"), NULL, TEXT, FALSE, 110 },
                             { N_("Seen at"), N_("the step whose starts are compared"), TEXT, TRUE,
                               0 },
                             { N_("Rounds"), N_("distances compared"), NUMBER, FALSE, 0 },
                             { N_("Predicted"), N_("median cycles from round to round"), NUMBER,
                               FALSE, 0 },
                             { N_("Measured"), N_("median cycles from round to round"), NUMBER,
                               FALSE, 0 },
                             { N_("Difference"), N_("measured against predicted"), NUMBER, FALSE,
                               0 } } },
    [WS_FIGURES_STEPS] = { N_("Steps"),
                           N_("Nothing has been predicted or measured."),
                           8,
                           9,
                           { { N_("Step"), NULL, TEXT, TRUE, 0 },
                             { N_("Agent"), NULL, TEXT, FALSE, 90 },
                             { N_("Rounds"), N_("executions seen"), NUMBER, FALSE, 0 },
                             { N_("Held, predicted"), HELD, NUMBER, FALSE, 0 },
                             { N_("Held, measured"), HELD, NUMBER, FALSE, 0 },
                             { N_("p95"), N_("of the held time: measured if there is a trace"),
                               NUMBER, FALSE, 0 },
                             { N_("In flight, predicted"), FLIGHT, NUMBER, FALSE, 0 },
                             { N_("In flight, measured"), FLIGHT, NUMBER, FALSE, 0 },
                             { N_("Share"), N_("of the time of the trace"), NUMBER, FALSE, 0 } } },
    [WS_FIGURES_WAITS] = { N_("Waits"),
                           N_("Nobody waited."),
                           4,
                           7,
                           { { N_("Wait"), NULL, TEXT, TRUE, 0 },
                             { N_("Agent"), NULL, TEXT, FALSE, 90 },
                             { N_("Times"), NULL, NUMBER, FALSE, 0 },
                             { N_("Each, predicted"), N_("median cycles waited"), NUMBER, FALSE,
                               0 },
                             { N_("Share, predicted"), N_("of the time of the trace"), NUMBER,
                               FALSE, 0 },
                             { N_("Each, measured"), N_("median cycles waited"), NUMBER, FALSE, 0 },
                             { N_("Share, measured"), N_("of the time of the trace"), NUMBER, FALSE,
                               0 } } },
    [WS_FIGURES_RANGE_LANES] = { N_("Agents in the range"),
                                 N_("Nothing in this range."),
                                 -1,
                                 4,
                                 { { N_("Agent"), NULL, TEXT, TRUE, 0 },
                                   { N_("Busy"), N_("share of the range spent on steps"), NUMBER,
                                     FALSE, 0 },
                                   { N_("Waiting"), N_("share of the range spent in waits"), NUMBER,
                                     FALSE, 0 },
                                   { N_("Idle"), N_("the rest of the range"), NUMBER, FALSE,
                                     0 } } },
    [WS_FIGURES_RANGE_STEPS] = { N_("Steps in the range"),
                                 N_("Nothing in this range."),
                                 3,
                                 6,
                                 { { N_("Step"), NULL, TEXT, TRUE, 0 },
                                   { N_("Agent"), NULL, TEXT, FALSE, 80 },
                                   { N_("Rounds"), N_("executions that touch the range"), NUMBER,
                                     FALSE, 0 },
                                   { N_("Held"),
                                     N_("share of the range that its agent spent on it"), NUMBER,
                                     FALSE, 0 },
                                   { N_("In flight"), N_("share of the range with one in flight"),
                                     NUMBER, FALSE, 0 },
                                   { N_("Cycles"), N_("cycles of the range held"), NUMBER, FALSE,
                                     0 } } },
    [WS_FIGURES_RANGE_OVERLAP] = { N_("Overlap in the range"),
                                   N_("No two steps were in flight together."),
                                   2,
                                   5,
                                   { { N_("Step A"), NULL, TEXT, TRUE, 0 },
                                     { N_("Step B"), NULL, TEXT, TRUE, 0 },
                                     { N_("Both"), N_("cycles with both in flight"), NUMBER, FALSE,
                                       0 },
                                     { N_("of A"), N_("share of A's time"), NUMBER, FALSE, 0 },
                                     { N_("of B"), N_("share of B's time"), NUMBER, FALSE, 0 } } },
};

GtkWidget *ws_figures_table(WsFiguresKind kind)
{
    const Layout *layout = &layouts[kind];
    WsColumn column[MAX_COLUMNS];
    for (guint i = 0; i < layout->n; i++) {
        column[i] = layout->column[i];
        column[i].title = _(column[i].title);
        column[i].help = column[i].help ? _(column[i].help) : NULL;
    }
    GtkWidget *table = ws_table_new(_(layout->name), column, layout->n, _(layout->empty));
    if (layout->sort >= 0)
        ws_table_sort_by(WS_TABLE(table), (guint)layout->sort, TRUE);
    return table;
}

/* --- small helpers ------------------------------------------------------------------------------
 */

static void put_int(WsRow *row, guint column, gboolean known, gint64 value)
{
    ws_row_number(row, column, known ? (double)value : NAN,
                  known ? ws_format_int(value) : g_strdup(WS_NO_FIGURE));
}

static void put_share(WsRow *row, guint column, double share)
{
    ws_row_number(row, column, share, ws_format_share(share));
}

static const char *agent_name(const WsTrace *t, guint agent)
{
    return agent < t->agent_name->len ? g_ptr_array_index(t->agent_name, agent) : "?";
}

static const char *step_id(const WsTrace *t, guint op)
{
    return op < t->op_id->len ? g_ptr_array_index(t->op_id, op) : NULL;
}

static gboolean flies(const WsTrace *t, guint op)
{
    return ws_op_flies(ws_trace_op_kind(t, op));
}

static char *step_text(const WsTrace *t, guint agent, guint op)
{
    /* Translators: a step, and the agent that runs it: "load A -> a (load)" */
    return g_strdup_printf(_("%s (%s)"), ws_trace_op_label(t, op), agent_name(t, agent));
}

double ws_figures_clock(WsDocument *document, gboolean measured)
{
    const WsTrace *t = ws_document_measured(document);
    const WsClockResult *clock = ws_document_clock(document);
    double best = 0;
    for (guint i = 0; measured && t && i < t->cta->len && !(best > 0); i++)
        best = g_array_index(t->cta, WsTraceCta, i).ghz;
    return best > 0 ? best : clock ? clock->ghz : 0;
}

/* Both traces are of one design, so agents and steps go by the same names in both. */
static char *key_of(const WsTrace *t, guint agent, guint op, const char *more)
{
    const char *id = step_id(t, op);
    return g_strdup_printf("%s\t%s\t%s", agent_name(t, agent), id ? id : "", more ? more : "");
}

static void add_row(GPtrArray *rows, WsRow *row)
{
    ws_row_index(row, rows->len);
    g_ptr_array_add(rows, row);
}

/* --- steps and waits ----------------------------------------------------------------------------
 */

typedef struct {
    const WsTrace *t[2];         /* predicted, measured */
    const WsTraceStepStat *s[2]; /* either may be NULL, not both */
} StepPair;

/* Steps of both traces side by side: in the order of the prediction, then what only ran. */
static GArray *join_steps(WsDocument *document)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(StepPair));
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint m = 0; m < 2; m++) {
        const WsTrace *t = m ? ws_document_measured(document) : ws_document_predicted(document);
        const WsTraceStats *stats = t ? ws_document_stats(document, m == 1) : NULL;
        for (guint i = 0; stats && i < stats->step->len; i++) {
            const WsTraceStepStat *s = &g_array_index(stats->step, WsTraceStepStat, i);
            char *key = key_of(t, s->agent, s->op, NULL);
            gpointer at;
            if (g_hash_table_lookup_extended(known, key, NULL, &at)) {
                StepPair *pair = &g_array_index(list, StepPair, GPOINTER_TO_UINT(at));
                pair->t[m] = t;
                pair->s[m] = s;
                g_free(key);
                continue;
            }
            StepPair pair = { 0 };
            pair.t[m] = t;
            pair.s[m] = s;
            g_hash_table_insert(known, key, GUINT_TO_POINTER(list->len));
            g_array_append_val(list, pair);
        }
    }
    return list;
}

static WsRow *step_row(guint n, const StepPair *pair)
{
    guint m = pair->s[0] ? 0 : 1;
    const WsTraceStepStat *s = pair->s[m];
    WsRow *row = ws_row_new(n, step_id(pair->t[m], s->op));
    ws_row_text(row, 0, g_strdup(ws_trace_op_label(pair->t[m], s->op)));
    ws_row_text(row, 1, g_strdup(agent_name(pair->t[m], s->agent)));
    const WsTraceStepStat *best = pair->s[1] ? pair->s[1] : s;
    put_int(row, 2, TRUE, best->n);
    return row;
}

static GPtrArray *step_rows(WsDocument *document)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GArray) list = join_steps(document);
    for (guint i = 0; i < list->len; i++) {
        const StepPair *pair = &g_array_index(list, StepPair, i);
        const WsTraceStepStat *a = pair->s[0], *b = pair->s[1];
        WsRow *row = step_row(9, pair);
        put_int(row, 3, a != NULL, a ? a->held.p50 : 0);
        put_int(row, 4, b != NULL, b ? b->held.p50 : 0);
        put_int(row, 5, TRUE, (b ? b : a)->held.p95);
        gboolean flying = flies(pair->t[a ? 0 : 1], (a ? a : b)->op);
        put_int(row, 6, a && flying, a ? a->flight.p50 : 0);
        put_int(row, 7, b && flying, b ? b->flight.p50 : 0);
        put_share(row, 8, (b ? b : a)->share);
        add_row(rows, row);
    }
    return rows;
}

static GPtrArray *wait_rows(WsDocument *document)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GArray) list = join_steps(document);
    for (guint i = 0; i < list->len; i++) {
        const StepPair *pair = &g_array_index(list, StepPair, i);
        const WsTraceStepStat *a = pair->s[0], *b = pair->s[1];
        if (!ws_op_waits(ws_trace_op_kind(pair->t[a ? 0 : 1], (a ? a : b)->op)))
            continue;
        WsRow *row = step_row(7, pair);
        put_int(row, 3, a != NULL, a ? a->held.p50 : 0);
        put_share(row, 4, a ? a->share : NAN);
        put_int(row, 5, b != NULL, b ? b->held.p50 : 0);
        put_share(row, 6, b ? b->share : NAN);
        add_row(rows, row);
    }
    return rows;
}

/* --- loops --------------------------------------------------------------------------------------
 */

static const WsTraceLoopStat *find_loop(const WsTrace *t, const WsTraceStats *stats,
                                        const char *agent, const char *loop)
{
    for (guint i = 0; stats && i < stats->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(stats->loop, WsTraceLoopStat, i);
        if (!g_strcmp0(agent_name(t, l->agent), agent) && !g_strcmp0(l->loop, loop))
            return l;
    }
    return NULL;
}

/* `mixed`: what was measured cannot be counted to the rounds. */
static void add_loop(GPtrArray *rows, const WsTrace *t, const WsTraceLoopStat *any,
                     const WsTraceLoopStat *a, const WsTraceLoopStat *b, gboolean mixed)
{
    WsRow *row = ws_row_new(7, step_id(t, any->op));
    ws_row_text(row, 0, g_strdup(any->loop));
    ws_row_text(row, 1, g_strdup(agent_name(t, any->agent)));
    ws_row_text(row, 2, g_strdup(ws_trace_op_label(t, any->op)));
    put_int(row, 3, TRUE, (b ? b : a)->n);
    put_int(row, 4, a != NULL, a ? a->period.p50 : 0);
    if (mixed)
        ws_row_number(row, 5, -1, g_strdup(_("not separable")));
    else
        put_int(row, 5, b != NULL, b ? b->period.p50 : 0);
    double off =
        a && b && a->period.p50 > 0 ? (double)b->period.p50 / (double)a->period.p50 - 1 : NAN;
    ws_row_number(row, 6, off, ws_format_difference(off));
    add_row(rows, row);
}

static GPtrArray *loop_rows(WsDocument *document)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    const WsTrace *p = ws_document_predicted(document), *m = ws_document_measured(document);
    const WsTraceStats *ps = p ? ws_document_stats(document, FALSE) : NULL;
    const gboolean mixed = ws_document_claims(document);
    const WsTraceStats *ms = m && !mixed ? ws_document_stats(document, TRUE) : NULL;
    for (guint i = 0; ps && i < ps->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(ps->loop, WsTraceLoopStat, i);
        add_loop(rows, p, l, l, m ? find_loop(m, ms, agent_name(p, l->agent), l->loop) : NULL,
                 mixed);
    }
    for (guint i = 0; ms && i < ms->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(ms->loop, WsTraceLoopStat, i);
        if (!p || !find_loop(p, ps, agent_name(m, l->agent), l->loop))
            add_loop(rows, m, l, NULL, l, FALSE);
    }
    return rows;
}

/* --- range --------------------------------------------------------------------------------------
 */

static const WsTrace *main_trace(WsDocument *document)
{
    const WsTrace *p = ws_document_predicted(document);
    return p ? p : ws_document_measured(document);
}

WsRangeStats *ws_figures_range(WsDocument *document)
{
    gint64 from, to;
    const WsTrace *t = main_trace(document);
    if (!t || !ws_document_range(document, &from, &to))
        return NULL;
    const WsMachine *machine = ws_document_machine(document);
    double columns = machine ? machine->value[WS_MACHINE_MMA_COLUMNS] : 0;
    return ws_range_stats_new(t, ws_document_program(document), from, to, columns);
}

char *ws_figures_range_text(WsDocument *document, const WsRangeStats *range)
{
    if (!range)
        return g_strdup(_("Drag along the ruler of the score to measure a range of time."));
    gint64 length = range->to - range->from;
    double ghz = ws_figures_clock(document, ws_document_measured(document) != NULL);
    g_autofree char *from = ws_format_int(range->from), *to = ws_format_int(range->to);
    g_autofree char *cycles = ws_format_cycles_at(length, ghz);
    g_autofree char *tensor = ws_format_share(range->tensor);
    g_autofree char *mma = ws_format_share((double)range->mma / (double)MAX(length, 1));
    g_autofree char *tma = ws_format_share((double)range->tma / (double)MAX(length, 1));
    const char *which = ws_document_predicted(document) ? _("predicted") : _("measured");
    /* Translators: %s: predicted or measured; from; to; length; three percentages */
    return g_strdup_printf(_("%s, from cycle %s to %s: %s. Tensor pipe busy %s, an mma in flight "
                             "%s, a bulk transfer in flight %s of it."),
                           which, from, to, cycles, tensor, mma, tma);
}

static GPtrArray *range_lane_rows(WsDocument *document, const WsRangeStats *range)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    const WsTrace *t = main_trace(document);
    for (guint i = 0; range && i < range->lane->len; i++) {
        const WsRangeLane *lane = &g_array_index(range->lane, WsRangeLane, i);
        double all = (double)MAX(range->to - range->from, 1);
        WsRow *row = ws_row_new(4, NULL);
        ws_row_text(row, 0, g_strdup(agent_name(t, lane->agent)));
        put_share(row, 1, (double)lane->busy / all);
        put_share(row, 2, (double)lane->waiting / all);
        put_share(row, 3, MAX(1 - (double)(lane->busy + lane->waiting) / all, 0));
        add_row(rows, row);
    }
    return rows;
}

static GPtrArray *range_step_rows(WsDocument *document, const WsRangeStats *range)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    const WsTrace *t = main_trace(document);
    for (guint i = 0; range && i < range->step->len; i++) {
        const WsRangeStep *s = &g_array_index(range->step, WsRangeStep, i);
        double all = (double)MAX(range->to - range->from, 1);
        WsRow *row = ws_row_new(6, step_id(t, s->op));
        ws_row_text(row, 0, g_strdup(ws_trace_op_label(t, s->op)));
        ws_row_text(row, 1, g_strdup(agent_name(t, s->agent)));
        put_int(row, 2, TRUE, s->n);
        put_share(row, 3, (double)s->held / all);
        put_share(row, 4, flies(t, s->op) ? (double)s->flight / all : NAN);
        put_int(row, 5, TRUE, s->held);
        add_row(rows, row);
    }
    return rows;
}

static GPtrArray *range_overlap_rows(WsDocument *document, const WsRangeStats *range)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    const WsTrace *t = main_trace(document);
    for (guint i = 0; range && i < range->pair->len; i++) {
        const WsTracePair *pair = &g_array_index(range->pair, WsTracePair, i);
        WsRow *row = ws_row_new(5, step_id(t, pair->op_a));
        ws_row_text(row, 0, step_text(t, pair->agent_a, pair->op_a));
        ws_row_text(row, 1, step_text(t, pair->agent_b, pair->op_b));
        put_int(row, 2, TRUE, pair->both);
        put_share(row, 3, pair->share_a);
        put_share(row, 4, pair->share_b);
        add_row(rows, row);
    }
    return rows;
}

GPtrArray *ws_figures_rows(WsFiguresKind kind, WsDocument *document, const WsRangeStats *range)
{
    switch (kind) {
    case WS_FIGURES_LOOPS:
        return loop_rows(document);
    case WS_FIGURES_STEPS:
        return step_rows(document);
    case WS_FIGURES_WAITS:
        return wait_rows(document);
    case WS_FIGURES_RANGE_LANES:
        return range_lane_rows(document, range);
    case WS_FIGURES_RANGE_STEPS:
        return range_step_rows(document, range);
    case WS_FIGURES_RANGE_OVERLAP:
        return range_overlap_rows(document, range);
    case WS_FIGURES_COUNT:
    case WS_FIGURES_SUMMARY:
    default:
        return ws_figures_summary(document);
    }
}
