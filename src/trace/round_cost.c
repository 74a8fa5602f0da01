/* How much longer rounds are where one launch records all of them. */
#include "program/op.h"
#include "trace/op_kind.h"
#include "trace/spread.h"
#include "trace/stats.h"

#include <math.h>
#include <string.h>

/* A round of a product of an agent. */
typedef struct {
    guint32 op, agent, cta;
    gint32 tile, round;
} Round;

static guint round_hash(gconstpointer p)
{
    const Round *r = p;
    guint h = r->op * 31u + r->agent;
    h = h * 1000003u ^ r->cta;
    h = h * 1000003u ^ (guint)r->tile;
    return h * 1000003u ^ (guint)r->round;
}

static gboolean round_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Round)) == 0;
}

static gboolean is_product(const WsTrace *t, guint op)
{
    return strchr(t->op_loop->pdata[op], '/') && ws_op_is_product(ws_trace_op_kind(t, op));
}

/* Cycles that `apart` rounds of this operation take, in the tiles that hold so many. */
static gint64 median_of(const WsTrace *t, guint agent, guint op, gint32 apart)
{
    g_autoptr(GHashTable) at = g_hash_table_new_full(round_hash, round_equal, g_free, NULL);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        if (r->op != op || r->agent != agent)
            continue;
        const Round key = { r->op, r->agent, r->cta, r->tile, r->round };
        g_hash_table_insert(at, g_memdup2(&key, sizeof key), (gpointer)r);
    }
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &t->record->data[i];
        if (r->op != op || r->agent != agent || r->round < apart)
            continue;
        const Round key = { r->op, r->agent, r->cta, r->tile, r->round - apart };
        const WsTraceRecord *before = g_hash_table_lookup(at, &key);
        if (before) {
            const gint64 cycles = r->start - before->start;
            g_array_append_val(list, cycles);
        }
    }
    return list->len ? ws_spread(list).p50 : 0;
}

double ws_trace_round_cost(const WsTrace *one, const WsTrace *merged)
{
    double worst = NAN;
    if (one->op_id->len != merged->op_id->len || one->agent_name->len != merged->agent_name->len)
        return NAN;
    for (guint i = 0; i < merged->lane->len; i++) {
        const guint agent = g_array_index(merged->lane, WsTraceLane, i).agent;
        for (guint op = 0; op < merged->op_id->len; op++) {
            if (!is_product(merged, op) || !is_product(one, op))
                continue;
            const gint64 a = median_of(one, agent, op, merged->every);
            const gint64 b = median_of(merged, agent, op, merged->every);
            if (a > 0 && b > 0)
                worst = fmax(worst, (double)a / (double)b - 1);
        }
    }
    return worst;
}

enum { MOST_TURNS = 32 };

guint ws_trace_turns(const WsTrace *one)
{
    g_autoptr(GHashTable) rounds = g_hash_table_new_full(round_hash, round_equal, g_free, NULL);
    guint most = 0, turns = 1;
    for (guint i = 0; i < one->record->len; i++) {
        const WsTraceRecord *r = &one->record->data[i];
        if (!is_product(one, r->op))
            continue;
        const Round tile = { r->op, r->agent, r->cta, r->tile, 0 };
        const guint n = GPOINTER_TO_UINT(g_hash_table_lookup(rounds, &tile)) + 1;
        g_hash_table_insert(rounds, g_memdup2(&tile, sizeof tile), GUINT_TO_POINTER(n));
        most = MAX(most, n);
    }
    while (4 * turns <= most && turns < MOST_TURNS)
        turns *= 2;
    return turns;
}
