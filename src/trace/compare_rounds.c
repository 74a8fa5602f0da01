/* Two runs of one design round by round: how long each round of each loop took in both, and which
 * rounds differ most. A round is the distance from one start of a step to its next in one tile. */
#include "trace/op_kind.h"
#include "trace/stats.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    guint16 cta;
    gint32 tile, round;
    gint64 a, b; /* cycles; -1: not in that trace */
} Round;

static gint by_place(gconstpointer pa, gconstpointer pb)
{
    const Round *x = pa, *y = pb;
    if (x->cta != y->cta)
        return x->cta < y->cta ? -1 : 1;
    if (x->tile != y->tile)
        return x->tile < y->tile ? -1 : 1;
    return x->round < y->round ? -1 : x->round > y->round;
}

static gint by_difference(gconstpointer pa, gconstpointer pb)
{
    const Round *x = pa, *y = pb;
    const gint64 dx = ABS(x->b - x->a), dy = ABS(y->b - y->a);
    return dx > dy ? -1 : dx < dy ? 1 : by_place(pa, pb);
}

/* Rounds of one operation of one agent, in order. */
static GArray *rounds_of(const WsTrace *t, guint agent, guint op, gboolean tile_level,
                         gboolean first)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(Round));
    for (guint i = 0; i < t->lane->len; i++) {
        const WsTraceLane *l = &g_array_index(t->lane, WsTraceLane, i);
        const WsTraceRecord *last = NULL;
        for (guint64 k = 0; l->agent == agent && k < l->n; k++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, l->first + k);
            if (r->op != op)
                continue;
            if (last && (gint64)r->round == (gint64)last->round + 1 &&
                (tile_level || r->tile == last->tile) &&
                ws_trace_launch_of(t, r) == ws_trace_launch_of(t, last)) {
                const gint64 cycles = r->start - last->start;
                const Round round = { r->cta, last->tile, last->round, first ? cycles : -1,
                                      first ? -1 : cycles };
                g_array_append_val(list, round);
            }
            last = r;
        }
    }
    g_array_sort(list, by_place);
    return list;
}

/* The rounds that both have; frees nothing. */
static GArray *common_rounds(const GArray *a, const GArray *b)
{
    GArray *both = g_array_new(FALSE, FALSE, sizeof(Round));
    for (guint i = 0, j = 0; i < a->len && j < b->len;) {
        Round x = g_array_index(a, Round, i);
        const Round *y = &g_array_index(b, Round, j);
        const gint order = by_place(&x, y);
        if (order == 0) {
            x.b = y->b;
            g_array_append_val(both, x);
        }
        i += order <= 0;
        j += order >= 0;
    }
    return both;
}

static gboolean has_records(const WsTrace *t, guint agent, guint op)
{
    for (guint i = 0; i < t->record->len; i++)
        if (t->record->data[i].agent == agent && t->record->data[i].op == op)
            return TRUE;
    return FALSE;
}

/* Replicas have operations of their own under one step: the one that this agent executes. */
static gint op_in(const WsTrace *t, const WsTrace *from, guint op, guint agent)
{
    for (guint i = 0; i < t->op_id->len; i++)
        if (strcmp(t->op_id->pdata[i], from->op_id->pdata[op]) == 0 &&
            ws_trace_op_kind(t, i) == ws_trace_op_kind(from, op) && has_records(t, agent, i))
            return (gint)i;
    return -1;
}

static gint agent_in(const WsTrace *t, const char *name)
{
    for (guint i = 0; i < t->agent_name->len; i++)
        if (strcmp(t->agent_name->pdata[i], name) == 0)
            return (gint)i;
    return -1;
}

static void put_loop(GString *s, const WsTrace *a, const WsTrace *b, const WsTraceLoopStat *loop,
                     guint most)
{
    const char *agent = a->agent_name->pdata[loop->agent];
    const gint agent_b = agent_in(b, agent);
    const gint op_b = agent_b < 0 ? -1 : op_in(b, a, loop->op, (guint)agent_b);
    if (op_b < 0)
        return;
    const gboolean tile_level = !strchr(loop->loop, '/');
    g_autoptr(GArray) x = rounds_of(a, loop->agent, loop->op, tile_level, TRUE);
    g_autoptr(GArray) y = rounds_of(b, (guint)agent_b, (guint)op_b, tile_level, FALSE);
    g_autoptr(GArray) both = common_rounds(x, y);
    gint64 sum_a = 0, sum_b = 0;
    for (guint i = 0; i < both->len; i++) {
        sum_a += g_array_index(both, Round, i).a;
        sum_b += g_array_index(both, Round, i).b;
    }
    if (!both->len)
        return;
    g_string_append_printf(s,
                           "\n%s of %s: %u rounds in both, %" G_GINT64_FORMAT
                           " -> %" G_GINT64_FORMAT " cycles in all (%+" G_GINT64_FORMAT ")\n",
                           loop->loop, agent, both->len, sum_a, sum_b, sum_b - sum_a);
    g_array_sort(both, by_difference);
    for (guint i = 0; i < MIN(most, both->len); i++) {
        const Round *r = &g_array_index(both, Round, i);
        if (r->a == r->b)
            break;
        g_autofree char *cta = ws_trace_cta_text(a, r->cta);
        g_string_append_printf(s,
                               "  %s tile %d round %d: %" G_GINT64_FORMAT " -> %" G_GINT64_FORMAT
                               " (%+" G_GINT64_FORMAT ")\n",
                               cta, r->tile, r->round, r->a, r->b, r->b - r->a);
    }
}

char *ws_trace_rounds_print(const WsTrace *a, const WsTrace *b, guint most)
{
    GString *s = g_string_new("rounds that differ most, cycles from one start to the next\n");
    g_autoptr(WsTraceStats) stats = ws_trace_stats_new(a);
    for (guint i = 0; i < stats->loop->len; i++)
        put_loop(s, a, b, &g_array_index(stats->loop, WsTraceLoopStat, i), most);
    return g_string_free(s, FALSE);
}
