/* Figures of one trace. Records are grouped by (agent, operation), then everything is sorted lists
 * and merges. */
#include "trace/stats.h"
#include "program/op.h"
#include "trace/op_kind.h"

#include "trace/spread.h"

#include <math.h>
#include <string.h>

typedef struct {
    gint64 from, to;
} Interval;

/* The records of one operation of one agent, in order of CTA and start. */
typedef struct {
    guint agent, op;
    GArray *record; /* const WsTraceRecord* */
    GArray *flight; /* Interval: union of the times in flight, CTAs laid end to end */
    gint64 total;
} Group;

static gint compare_groups(gconstpointer pa, gconstpointer pb)
{
    const Group *a = *(Group *const *)pa, *b = *(Group *const *)pb;
    return a->agent != b->agent ? (a->agent < b->agent ? -1 : 1)
                                : (a->op < b->op ? -1 : a->op > b->op);
}

static void free_group(gpointer data)
{
    Group *g = data;
    g_array_free(g->record, TRUE);
    g_array_free(g->flight, TRUE);
    g_free(g);
}

static GPtrArray *group_records(const WsTrace *t)
{
    GPtrArray *groups = g_ptr_array_new_with_free_func(free_group);
    g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        gint64 key = ((gint64)r->agent << 32) | r->op;
        Group *g = g_hash_table_lookup(by_key, &key);
        if (!g) {
            g = g_new0(Group, 1);
            g->agent = r->agent;
            g->op = r->op;
            g->record = g_array_new(FALSE, FALSE, sizeof r);
            g->flight = g_array_new(FALSE, FALSE, sizeof(Interval));
            g_hash_table_insert(by_key, g_memdup2(&key, sizeof key), g);
            g_ptr_array_add(groups, g);
        }
        g_array_append_val(g->record, r);
    }
    g_ptr_array_sort(groups, compare_groups);
    return groups;
}

static const WsTraceRecord *nth(const Group *g, guint i)
{
    return g_array_index(g->record, const WsTraceRecord *, i);
}

/* Each CTA's times are moved into a stretch of its own so that one merge serves all CTAs. */
static void fill_flight(const WsTrace *t, Group *g)
{
    gint64 stretch = 1;
    for (guint i = 0; i < t->cta->len; i++)
        stretch = MAX(stretch, g_array_index(t->cta, WsTraceCta, i).cycles + 1);
    stretch = MIN(stretch, WS_TRACE_MAX_TIME);
    for (guint i = 0; i < g->record->len; i++) {
        const WsTraceRecord *r = nth(g, i);
        gint64 base = (gint64)r->cta * stretch;
        Interval iv = { base + r->start, base + ws_trace_record_end(r) };
        Interval *last =
            g->flight->len ? &g_array_index(g->flight, Interval, g->flight->len - 1) : NULL;
        if (last && iv.from <= last->to)
            last->to = MAX(last->to, iv.to);
        else
            g_array_append_val(g->flight, iv);
    }
    for (guint i = 0; i < g->flight->len; i++) {
        const Interval *iv = &g_array_index(g->flight, Interval, i);
        g->total = ws_add_saturated(g->total, iv->to - iv->from);
    }
}

static gint64 common_time(const Group *a, const Group *b)
{
    gint64 sum = 0;
    for (guint i = 0, j = 0; i < a->flight->len && j < b->flight->len;) {
        const Interval *x = &g_array_index(a->flight, Interval, i);
        const Interval *y = &g_array_index(b->flight, Interval, j);
        gint64 from = MAX(x->from, y->from), to = MIN(x->to, y->to);
        if (to > from)
            sum = ws_add_saturated(sum, to - from);
        if (x->to < y->to)
            i++;
        else
            j++;
    }
    return sum;
}

static void add_step(const WsTrace *t, const Group *g, GArray *out)
{
    g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(GArray) flight = g_array_new(FALSE, FALSE, sizeof(gint64));
    WsTraceStepStat s = { .agent = g->agent, .op = g->op, .n = g->record->len };
    for (guint i = 0; i < g->record->len; i++) {
        const WsTraceRecord *r = nth(g, i);
        gint64 h = MAX(r->issued, r->start) - r->start, f = r->done - r->start;
        g_array_append_val(held, h);
        s.total = ws_add_saturated(s.total, h);
        if (f >= 0)
            g_array_append_val(flight, f);
    }
    s.held = ws_spread(held);
    s.flight = ws_spread(flight);
    s.n_flight = flight->len;
    const double all = (double)t->cycles * MAX(t->cta->len, 1);
    s.share = t->every > 1 ? NAN : all > 0 ? (double)s.total / all : 0;
    g_array_append_val(out, s);
}

/* Distances between the starts of successive rounds of one operation. In an inner loop rounds count
 * on over the tiles: only those within one tile are compared. Where one round in `every` was
 * recorded it is the mean of those between two records, of one launch. */
static GArray *round_distances(const WsTrace *t, const Group *g, gboolean tile_level)
{
    GArray *d = g_array_new(FALSE, FALSE, sizeof(gint64));
    const WsTraceRecord *last[WS_TRACE_MAX_LAUNCHES] = { NULL };
    const gint64 rounds = tile_level ? 1 : t->every;
    for (guint i = 0; i < g->record->len; i++) {
        const WsTraceRecord *b = nth(g, i);
        const guint launch = MIN(ws_trace_launch_of(t, b), WS_TRACE_MAX_LAUNCHES - 1);
        const WsTraceRecord *a = last[launch];
        last[launch] = b;
        if (a && a->cta == b->cta && (gint64)b->round == (gint64)a->round + rounds &&
            (tile_level || a->tile == b->tile)) {
            const gint64 step = (b->start - a->start + rounds / 2) / rounds;
            g_array_append_val(d, step);
        }
    }
    return d;
}

/* One row per loop of each agent. The step to measure by is an mma if the loop has one (its pace is
 * the kernel's), else the one with most rounds. */
static void add_loops(const WsTrace *t, const GPtrArray *groups, GArray *out)
{
    for (guint i = 0; i < groups->len; i++) {
        const Group *g = groups->pdata[i];
        const char *loop = t->op_loop->pdata[g->op];
        if (!*loop)
            continue;
        g_autoptr(GArray) d = round_distances(t, g, !strchr(loop, '/'));
        if (!d->len)
            continue;
        WsTraceLoopStat s = { .agent = g->agent, .op = g->op, .n = d->len, .period = ws_spread(d) };
        gboolean mma = ws_op_is_product(ws_trace_op_kind(t, g->op)), known = FALSE;
        for (guint k = 0; k < out->len && !known; k++) {
            WsTraceLoopStat *o = &g_array_index(out, WsTraceLoopStat, k);
            if (o->agent != g->agent || strcmp(o->loop, loop) != 0)
                continue;
            known = TRUE;
            gboolean o_mma = ws_op_is_product(ws_trace_op_kind(t, o->op));
            if (mma > o_mma || (mma == o_mma && s.n > o->n)) {
                s.loop = o->loop;
                *o = s;
            }
        }
        if (!known) {
            s.loop = g_strdup(loop);
            g_array_append_val(out, s);
        }
    }
}

static void add_pairs(const WsTrace *t, const GPtrArray *groups, GArray *out)
{
    for (guint i = 0; i < groups->len; i++) {
        const Group *a = groups->pdata[i];
        if (ws_op_waits(ws_trace_op_kind(t, a->op)) || !a->total)
            continue;
        for (guint j = i + 1; j < groups->len; j++) {
            const Group *b = groups->pdata[j];
            if (ws_op_waits(ws_trace_op_kind(t, b->op)) || !b->total)
                continue;
            WsTracePair p = { .agent_a = a->agent,
                              .op_a = a->op,
                              .agent_b = b->agent,
                              .op_b = b->op,
                              .a = a->total,
                              .b = b->total,
                              .both = common_time(a, b) };
            p.share_a = (double)p.both / (double)p.a;
            p.share_b = (double)p.both / (double)p.b;
            g_array_append_val(out, p);
        }
    }
}

WsTraceStats *ws_trace_stats_new(const WsTrace *t)
{
    WsTraceStats *s = g_new0(WsTraceStats, 1);
    s->step = g_array_new(FALSE, FALSE, sizeof(WsTraceStepStat));
    s->loop = g_array_new(FALSE, FALSE, sizeof(WsTraceLoopStat));
    s->pair = g_array_new(FALSE, FALSE, sizeof(WsTracePair));
    g_autoptr(GPtrArray) groups = group_records(t);
    for (guint i = 0; i < groups->len; i++) {
        fill_flight(t, groups->pdata[i]);
        add_step(t, groups->pdata[i], s->step);
    }
    add_loops(t, groups, s->loop);
    if (t->every == 1)
        add_pairs(t, groups, s->pair);
    return s;
}

void ws_trace_stats_free(WsTraceStats *s)
{
    if (!s)
        return;
    for (guint i = 0; i < s->loop->len; i++)
        g_free(g_array_index(s->loop, WsTraceLoopStat, i).loop);
    g_array_free(s->step, TRUE);
    g_array_free(s->loop, TRUE);
    g_array_free(s->pair, TRUE);
    g_free(s);
}
