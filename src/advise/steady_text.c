/* The steady round for people. */
#include "advise/steady.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/operation.h"
#include "program/program.h"

#include <math.h>
#include <string.h>

#define MOST_LINES 12

/* "mma.0: compute o", "the end of a phase of full". Caller frees. */
static char *event_text(const WsProgram *p, const WsEventOf *of)
{
    if (of->agent < 0)
        return g_strdup_printf("phase of %s", of->op < p->n_barriers    ? p->barrier[of->op].name
                                              : of->op == p->n_barriers ? "the CTA's barrier"
                                                                        : "the cluster");
    const WsOp *op = p->op[of->op];
    return g_strdup_printf("%s in %s", op->label ? op->label : op->id, p->agent[of->agent].name);
}

static gboolean is_same(const WsEventOf *a, const WsEventOf *b)
{
    return a->agent == b->agent && a->cta == b->cta && a->op == b->op;
}

/* Steps of the cycle, what is of one operation together. */
static void add_cycle(GString *text, const WsSteady *s, const WsProgram *p)
{
    g_string_append(text, "critical cycle:\n");
    for (guint i = 0; i < s->cycle->len;) {
        const WsSteadyEdge *e =
            &g_array_index(s->edge, WsSteadyEdge, g_array_index(s->cycle, guint, i));
        const WsSteadyEdge *last = e;
        double cycles = 0;
        gint tokens = 0;
        for (; i < s->cycle->len; i++) {
            const WsSteadyEdge *now =
                &g_array_index(s->edge, WsSteadyEdge, g_array_index(s->cycle, guint, i));
            if (!is_same(&now->to, &e->to))
                break;
            cycles += now->weight;
            tokens += now->tokens;
            last = now;
        }
        g_autofree char *what = event_text(p, &last->to);
        g_string_append_printf(text, "  %8.1f  %s (%s)%s\n", cycles, what, ws_cause_text(e->kind),
                               tokens > 0 ? ", of the period after" : "");
    }
}

static gint by_slack(gconstpointer pa, gconstpointer pb)
{
    const WsSteadyEdge *a = *(const WsSteadyEdge *const *)pa;
    const WsSteadyEdge *b = *(const WsSteadyEdge *const *)pb;
    return (a->slack > b->slack) - (a->slack < b->slack);
}

/* Of all edges between two operations, the one with least slack; not those within one. */
static void add_slack(GString *text, const WsSteady *s, const WsProgram *p)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < s->edge->len; i++)
        g_ptr_array_add(order, &g_array_index(s->edge, WsSteadyEdge, i));
    g_ptr_array_sort(order, by_slack);
    g_string_append(text, "slack, least first (cycles that one may take longer alone):\n");
    guint shown = 0, left = 0;
    for (guint i = 0; i < order->len; i++) {
        const WsSteadyEdge *e = order->pdata[i];
        if (is_same(&e->from, &e->to) || isinf(e->slack) || e->kind == WS_CAUSE_ORDER)
            continue;
        g_autofree char *from = event_text(p, &e->from), *to = event_text(p, &e->to);
        char *line = g_strdup_printf("%s -> %s (%s)", from, to, ws_cause_text(e->kind));
        if (!g_hash_table_contains(seen, line) && shown < MOST_LINES) {
            g_string_append_printf(text, "  %8.1f  %s\n", e->slack, line);
            shown++;
        } else if (!g_hash_table_contains(seen, line)) {
            left++;
        }
        g_hash_table_add(seen, line);
    }
    if (left)
        g_string_append_printf(text, "  and %u with more; --json has all\n", left);
}

static void put_edge(WsJsonOut *j, const WsSteadyEdge *e, const WsProgram *p)
{
    g_autofree char *from = event_text(p, &e->from), *to = event_text(p, &e->to);
    ws_json_out_open_row(j, NULL, '{');
    ws_json_out_text(j, "from", from);
    ws_json_out_text(j, "to", to);
    ws_json_out_text(j, "cause", ws_cause_text(e->kind));
    ws_json_out_real(j, "weight", e->weight);
    ws_json_out_integer(j, "tokens", e->tokens);
    ws_json_out_real(j, "slack", isinf(e->slack) ? NAN : e->slack);
    ws_json_out_close(j, '}');
}

void ws_steady_json(WsJsonOut *j, const WsSteady *s, const WsProgram *p)
{
    const gboolean graph = s->kind != WS_STEADY_PLAYED && s->kind != WS_STEADY_NONE;
    ws_json_out_text(j, "kind", ws_steady_text(s->kind));
    ws_json_out_text(j, "why", s->why);
    ws_json_out_text(j, "agent", s->agent);
    ws_json_out_text(j, "loop", s->loop);
    ws_json_out_integer(j, "rounds", s->rounds);
    ws_json_out_real(j, "period", s->kind == WS_STEADY_NONE ? NAN : s->period);
    ws_json_out_real(j, "least", s->kind == WS_STEADY_NONE ? NAN : s->least);
    ws_json_out_real(j, "most", s->kind == WS_STEADY_NONE ? NAN : s->most);
    ws_json_out_real(j, "played", s->kind == WS_STEADY_NONE ? NAN : s->played);
    ws_json_out_truth(j, "settled", s->settled);
    ws_json_out_real(j, "recurrence", graph ? s->recurrence : NAN);
    ws_json_out_real(j, "resource", graph ? s->resource : NAN);
    ws_json_out_text(j, "unit", graph && s->resource > 0 ? ws_cause_text(s->unit) : NULL);
    ws_json_out_open(j, "cycle", '[');
    for (guint i = 0; i < s->cycle->len; i++)
        put_edge(j, &g_array_index(s->edge, WsSteadyEdge, g_array_index(s->cycle, guint, i)), p);
    ws_json_out_close(j, ']');
    ws_json_out_open(j, "edges", '[');
    for (guint i = 0; i < s->edge->len; i++)
        put_edge(j, &g_array_index(s->edge, WsSteadyEdge, i), p);
    ws_json_out_close(j, ']');
}

char *ws_steady_report(const WsSteady *s, const WsProgram *p)
{
    GString *text = g_string_new(NULL);
    if (s->kind == WS_STEADY_NONE) {
        g_string_append_printf(text, "steady round: not known: %s\n", s->why);
        return g_string_free(text, FALSE);
    }
    g_string_append_printf(text, "steady round: %s in %s, ", s->loop, s->agent);
    if (s->kind == WS_STEADY_PLAYED) {
        g_string_append_printf(
            text,
            "%.1f cycles, the mean of %u rounds: they do not repeat, so no cycle "
            "is known that they are bound by\n",
            s->period, s->rounds);
        return g_string_free(text, FALSE);
    }
    if (s->least >= s->most)
        g_string_append_printf(text, "%.2f cycles: ", s->period);
    else
        g_string_append_printf(text, "between %.2f and %.2f cycles: ", s->least, s->most);
    g_string_append_printf(text, "the maximum cycle ratio; %s%s\n",
                           s->rounds > 1 ? "a period of several rounds repeats"
                                         : "each round is like the one before",
                           s->least >= s->most ? ", with the same durations"
                                               : ", with durations that still drift, as seen in "
                                                 "three periods (queues of shared paths)");
    if (s->why)
        g_string_append_printf(text, "  assumed: %s\n", s->why);
    if (s->rounds > 1)
        g_string_append_printf(text, "  rounds of a period: %u\n", s->rounds);
    g_string_append_printf(
        text, "  as simulated: %.2f%s; without limits of units: %.2f; %s alone: %.2f\n", s->played,
        s->settled ? ", all at that distance" : "", s->recurrence, ws_cause_text(s->unit),
        s->resource);
    add_cycle(text, s, p);
    add_slack(text, s, p);
    return g_string_free(text, FALSE);
}
