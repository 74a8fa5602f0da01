/* Idle units in words and as JSON. */
#include "advise/idle_private.h"
#include "program/parts/agent.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <math.h>

#define LINES 6 /* causes of a unit */

static const char *label(const WsProgram *p, guint op)
{
    return p->op[op]->label ? p->op[op]->label : p->op[op]->id;
}

static const char *agent_of(const WsProgram *p, guint agent)
{
    return agent < p->n_agents ? p->agent[agent].name : "?";
}

static void put_unit(GString *s, const WsIdle *idle, WsUnit unit)
{
    const gboolean measured = idle->origin == WS_TRACE_MEASURED;
    g_string_append_printf(s, "%s idle %s%.1f %%", ws_unit_text(unit), measured ? "at least " : "",
                           100 * idle->idle[unit]);
    if (measured && idle->most[unit] - idle->idle[unit] > 0.0005)
        g_string_append_printf(s, ", at most %.1f %%", 100 * idle->most[unit]);
    g_string_append_printf(s, " of %" G_GINT64_FORMAT " cycles", idle->cycles[unit]);
    if (!isnan(idle->rated[unit]))
        g_string_append_printf(s, "; what it was given takes %.1f %% at its rate",
                               100 * idle->rated[unit]);
    g_string_append_c(s, '\n');
}

static void put_cause(GString *s, const WsProgram *p, const WsIdleCause *k)
{
    g_autofree char *for_whom =
        k->waits_for >= 0 ? g_strdup_printf(", for device %d", k->waits_for) : g_strdup("");
    g_string_append_printf(s, "  %5.1f %%  %-6s %s%s (%u gaps)%s\n", 100 * k->share,
                           ws_next_reason_text(k->reason), label(p, k->op), for_whom, k->gaps,
                           ws_idle_together(k) ? ", of all agents that use it at once" : "");
    g_autofree char *device = k->release.op != G_MAXUINT && k->waits_for >= 0
                                  ? g_strdup_printf("device %d: ", k->waits_for)
                                  : g_strdup("");
    if (k->waiter.op != G_MAXUINT && k->release.op != G_MAXUINT)
        g_string_append_printf(s, "           %s of %s waits for %s%s of %s\n",
                               label(p, k->waiter.op), agent_of(p, k->waiter.agent), device,
                               label(p, k->release.op), agent_of(p, k->release.agent));
}

char *ws_idle_text(const WsIdle *idle, const WsProgram *p)
{
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "units of %u CTA%s, %s\n", idle->cta->len,
                           idle->cta->len == 1 ? "" : "s",
                           idle->origin == WS_TRACE_MEASURED ? "measured where they were recorded"
                                                             : "predicted for the simulated tiles");
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        guint n = 0;
        if (!idle->uses[unit])
            continue;
        put_unit(s, idle, unit);
        for (guint i = 0; i < idle->cause->len && n < LINES; i++) {
            const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
            if (k->unit != unit || k->share < 0.001)
                continue;
            put_cause(s, p, k);
            n++;
        }
    }
    return g_string_free(s, FALSE);
}

static void json_place(WsJsonOut *j, const char *key, const WsProgram *p, const WsIdlePlace *x)
{
    const gboolean any = x->op != G_MAXUINT;
    ws_json_out_open_row(j, key, '{');
    ws_json_out_text(j, "agent", any ? agent_of(p, x->agent) : NULL);
    ws_json_out_text(j, "step", any ? p->op[x->op]->step : NULL);
    ws_json_out_integer(j, "tile", any ? x->tile : -1);
    ws_json_out_integer(j, "round", any ? x->round : -1);
    ws_json_out_close(j, '}');
}

static void json_cause(WsJsonOut *j, const WsProgram *p, const WsIdleCause *k)
{
    ws_json_out_open_row(j, NULL, '{');
    ws_json_out_text(j, "step", p->op[k->op]->step);
    ws_json_out_text(j, "label", label(p, k->op));
    ws_json_out_text(j, "reason", ws_next_reason_text(k->reason));
    ws_json_out_integer(j, "cycles", k->cycles);
    ws_json_out_real(j, "share", k->share);
    ws_json_out_integer(j, "gaps", k->gaps);
    ws_json_out_truth(j, "together", ws_idle_together(k));
    if (k->waits_for >= 0)
        ws_json_out_integer(j, "device", k->waits_for);
    json_place(j, "waiter", p, &k->waiter);
    json_place(j, "release", p, &k->release);
    ws_json_out_close(j, '}');
}

void ws_idle_json(WsJsonOut *j, const WsIdle *idle, const WsProgram *p)
{
    ws_json_out_open(j, "units", '[');
    for (guint unit = 0; idle && unit < WS_UNITS; unit++) {
        if (!idle->uses[unit])
            continue;
        guint gaps = 0;
        for (guint i = 0; i < idle->cta->len; i++)
            gaps += ((WsIdleCta *)idle->cta->pdata[i])->gap[unit]->len;
        ws_json_out_open_row(j, NULL, '{');
        ws_json_out_text(j, "unit", ws_unit_text(unit));
        ws_json_out_real(j, "idle", idle->idle[unit]);
        ws_json_out_real(j, "idle_most", idle->most[unit]);
        ws_json_out_real(j, "rated", idle->rated[unit]);
        ws_json_out_integer(j, "gaps", gaps);
        ws_json_out_open(j, "causes", '[');
        for (guint i = 0; i < idle->cause->len; i++)
            if (g_array_index(idle->cause, WsIdleCause, i).unit == unit)
                json_cause(j, p, &g_array_index(idle->cause, WsIdleCause, i));
        ws_json_out_close(j, ']');
        ws_json_out_close(j, '}');
    }
    ws_json_out_close(j, ']');
}
