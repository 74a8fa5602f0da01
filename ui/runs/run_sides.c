#include "ui/runs/run_sides.h"

#include "model/findings.h"
#include "trace/kin.h"
#include "ui/parts/format.h"
#include "ui/parts/words.h"

#include <glib/gi18n.h>
#include <math.h>

char *ws_run_signed(gint64 value)
{
    g_autofree char *plain = ws_format_int(ABS(value));
    return g_strconcat(value > 0 ? "+" : value < 0 ? "\xe2\x88\x92" : "", plain, NULL);
}

/* --- figures ------------------------------------------------------------------------------------
 */

/* Takes the texts; NULL is a figure that is not known. */
static void put(GPtrArray *rows, const char *name, char *a, char *b, char *more)
{
    WsRow *row = ws_row_new(WS_SIDES_COLUMNS, name);
    ws_row_index(row, rows->len);
    ws_row_text(row, WS_SIDES_FIGURE, g_strdup(name));
    ws_row_text(row, WS_SIDES_A, a ? a : g_strdup(WS_NO_FIGURE));
    ws_row_text(row, WS_SIDES_B, b ? b : g_strdup(WS_NO_FIGURE));
    ws_row_text(row, WS_SIDES_MORE, more ? more : g_strdup(""));
    g_ptr_array_add(rows, row);
}

static char *check_text(const WsRunSide *s)
{
    const guint errors = s->findings ? ws_findings_count(s->findings, WS_SEVERITY_ERROR) : 0;
    g_autofree char *count =
        g_strdup_printf(g_dngettext(GETTEXT_PACKAGE, "%u error", "%u errors", errors), errors);
    if (!s->findings)
        return NULL;
    g_autofree char *verdict = s->verdict ? ws_words_verdict_given(s->verdict) : NULL;
    return verdict ? g_strdup_printf("%s, %s", verdict, count) : g_steal_pointer(&count);
}

static gint64 length_of(const WsTrace *t)
{
    gint64 most = 0;
    for (guint i = 0; i < t->cta->len; i++)
        most = MAX(most, g_array_index(t->cta, WsTraceCta, i).cycles);
    return most;
}

static void put_cycles(GPtrArray *rows, const char *name, gint64 a, gint64 b)
{
    put(rows, name, a > 0 ? ws_format_int(a) : NULL, b > 0 ? ws_format_int(b) : NULL,
        a > 0 && b > 0 ? ws_format_difference((double)a / (double)b - 1) : NULL);
}

static const WsTraceLoopStat *loop_like(const WsRunSide *s, const char *loop, const char *agent)
{
    for (guint i = 0; i < s->stats->loop->len; i++) {
        const WsTraceLoopStat *l = &g_array_index(s->stats->loop, WsTraceLoopStat, i);
        if (!g_strcmp0(l->loop, loop) && !g_strcmp0(s->t->agent_name->pdata[l->agent], agent))
            return l;
    }
    return NULL;
}

static void put_loops(GPtrArray *rows, const WsRunSide *a, const WsRunSide *b)
{
    for (guint i = 0; i < a->stats->loop->len; i++) {
        const WsTraceLoopStat *x = &g_array_index(a->stats->loop, WsTraceLoopStat, i);
        const char *agent = a->t->agent_name->pdata[x->agent], *short_name = strrchr(x->loop, '/');
        const WsTraceLoopStat *y = loop_like(b, x->loop, agent);
        /* Translators: name of a loop and of the agent that runs it. */
        g_autofree char *name =
            g_strdup_printf(_("Round of %s, %s"), short_name ? short_name + 1 : x->loop, agent);
        if (y)
            put_cycles(rows, name, x->period.p50, y->period.p50);
    }
}

static char *idle_text(const WsIdle *idle, WsUnit unit)
{
    g_autofree char *share = idle && idle->uses[unit] ? ws_format_share(idle->idle[unit]) : NULL;
    if (!share)
        return NULL;
    return idle->origin == WS_TRACE_MEASURED ? g_strdup_printf("\xe2\x89\xa5 %s", share)
                                             : g_steal_pointer(&share);
}

static void put_idle(GPtrArray *rows, const WsRunSide *a, const WsRunSide *b)
{
    static const char *const name[WS_UNITS] = {
        N_("Tensor core idle"),
        N_("MUFU idle"),
        N_("TMA load idle"),
        N_("TMA store idle"),
    };
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        char *x = idle_text(a->idle, (WsUnit)unit), *y = idle_text(b->idle, (WsUnit)unit);
        if (!x && !y)
            continue;
        /* In points of a hundred, since both are shares of their own time. */
        g_autofree char *points =
            x && y ? ws_format_real(100 * (a->idle->idle[unit] - b->idle->idle[unit]), 1) : NULL;
        put(rows, _(name[unit]), x, y,
            points ? g_strdup_printf("%s%s", *points == '-' ? "" : "+", points) : NULL);
    }
}

GPtrArray *ws_run_figures(const WsRunSide *a, const WsRunSide *b)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    put(rows, _("Check"), check_text(a), check_text(b), NULL);
    put_cycles(rows, _("Length in cycles"), length_of(a->t), length_of(b->t));
    if (a->stats && b->stats)
        put_loops(rows, a, b);
    put_idle(rows, a, b);
    return rows;
}

/* --- steps --------------------------------------------------------------------------------------
 */

static void put_held(WsRow *row, guint column, const WsTraceStepStat *s)
{
    ws_row_number(row, column, s ? (double)s->held.p50 : -1,
                  s ? ws_format_int(s->held.p50) : g_strdup(WS_NO_FIGURE));
}

GPtrArray *ws_run_kin_steps(const WsRunSide *a, const WsRunSide *b, guint *both, guint only[2])
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_object_unref);
    g_autoptr(GArray) list = ws_trace_kin_rows(a->t, a->stats, b->t, b->stats);
    *both = only[0] = only[1] = 0;
    for (guint i = 0; i < list->len; i++) {
        const WsTraceKinRow *x = &g_array_index(list, WsTraceKinRow, i);
        const guint k = x->s[0] ? 0 : 1;
        const WsTraceStepStat *s = x->s[k];
        const WsTrace *t = k ? b->t : a->t;
        const gboolean pair = x->s[0] && x->s[1];
        const gint64 more = pair ? x->s[0]->held.p50 - x->s[1]->held.p50 : 0;
        WsRow *row = ws_row_new(WS_STEPS_COLUMNS, k ? NULL : t->op_id->pdata[s->op]);
        *both += pair;
        only[k] += !pair;
        ws_row_index(row, i);
        ws_row_text(row, WS_STEPS_STEP, g_strdup(ws_trace_op_label(t, s->op)));
        ws_row_text(row, WS_STEPS_AGENT,
                    g_strdup(s->agent < t->agent_name->len ? t->agent_name->pdata[s->agent] : ""));
        ws_row_number(row, WS_STEPS_TIMES, s->n, ws_format_int(s->n));
        put_held(row, WS_STEPS_A, x->s[0]);
        put_held(row, WS_STEPS_B, x->s[1]);
        /* What has no partner comes after the differences, and before what is alike. */
        ws_row_number(row, WS_STEPS_MORE, pair ? (double)ABS(more) : 0.5,
                      pair ? ws_run_signed(more)
                      : k  ? g_strdup(_("only there"))
                           : g_strdup(_("only here")));
        ws_row_number(row, WS_STEPS_LATER, -1, g_strdup(WS_NO_FIGURE));
        g_ptr_array_add(rows, row);
    }
    return rows;
}
