#include "ui/inspector/range.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/program.h"
#include "trace/op_kind.h"

#include <math.h>

/* Overlap is a matter of all pairs; of so many steps at most, those longest in flight. */
#define MAX_PAIRED 24

typedef struct {
    gint64 from, to;
} Span;

typedef struct {
    WsRangeStep step;
    WsOpKind kind;
    GArray *flight; /* Span: union, ascending */
} Group;

typedef struct {
    const WsTrace *t;
    const WsProgram *p;
    WsRangeStats *s;
    WsRangeLane *lane;
    GHashTable *by_op; /* of this lane: op + 1 -> Group* (borrowed) */
    GPtrArray *group;
    GArray *mma, *tma; /* Span, unsorted */
    double columns, work;
    gboolean work_known;
} Gather;

static void free_group(gpointer data)
{
    Group *g = data;
    g_array_free(g->flight, TRUE);
    g_free(g);
}

/* --- spans --------------------------------------------------------------------------------------
 */

static gint64 clip(const WsRangeStats *s, gint64 from, gint64 to, Span *out)
{
    Span span = { MAX(from, s->from), MIN(to, s->to) };
    if (out)
        *out = span;
    return MAX(span.to - span.from, 0);
}

static gint compare_spans(gconstpointer pa, gconstpointer pb)
{
    const Span *a = pa, *b = pb;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Sorts and merges in place; the cycles covered. */
static gint64 merge(GArray *spans)
{
    gint64 sum = 0;
    guint n = 0;
    g_array_sort(spans, compare_spans);
    for (guint i = 0; i < spans->len; i++) {
        Span at = g_array_index(spans, Span, i);
        Span *last = n ? &g_array_index(spans, Span, n - 1) : NULL;
        if (last && at.from <= last->to)
            last->to = MAX(last->to, at.to);
        else
            g_array_index(spans, Span, n++) = at;
    }
    g_array_set_size(spans, n);
    for (guint i = 0; i < n; i++)
        sum += g_array_index(spans, Span, i).to - g_array_index(spans, Span, i).from;
    return sum;
}

static gint64 common(const GArray *a, const GArray *b)
{
    gint64 sum = 0;
    for (guint i = 0, j = 0; i < a->len && j < b->len;) {
        const Span *x = &g_array_index(a, Span, i), *y = &g_array_index(b, Span, j);
        sum += MAX(MIN(x->to, y->to) - MAX(x->from, y->from), 0);
        if (x->to < y->to)
            i++;
        else
            j++;
    }
    return sum;
}

/* --- records ------------------------------------------------------------------------------------
 */

/* Cycles of the tensor pipe that this execution takes. */
static void add_work(Gather *g, const WsTraceRecord *r, gint64 inside)
{
    const WsOp *op = g->p && r->op < g->p->n_ops ? g->p->op[r->op] : NULL;
    gint64 whole = r->done - r->start;
    if (!op || !op->mma || !op->mma->inst_k || !(g->columns > 0) || r->done < 0 || whole <= 0) {
        g->work_known = FALSE;
        return;
    }
    double full = (double)op->mma->atoms * (op->mma->k / op->mma->inst_k) * op->mma->n / g->columns;
    g->work += full * (double)inside / (double)whole;
}

static Group *group_of(Gather *g, const WsTraceRecord *r)
{
    Group *group = g_hash_table_lookup(g->by_op, GUINT_TO_POINTER(r->op + 1));
    if (group)
        return group;
    group = g_new0(Group, 1);
    group->kind = ws_trace_op_kind(g->t, r->op);
    group->step =
        (WsRangeStep){ .agent = r->agent, .op = r->op, .waits = ws_op_waits(group->kind) };
    group->flight = g_array_new(FALSE, FALSE, sizeof(Span));
    g_hash_table_insert(g->by_op, GUINT_TO_POINTER(r->op + 1), group);
    g_ptr_array_add(g->group, group);
    return group;
}

static void visit(const WsTraceRecord *r, gpointer data)
{
    Gather *g = data;
    Group *group = group_of(g, r);
    Span flight;
    gint64 held = clip(g->s, r->start, MAX(r->issued, r->start), NULL);
    gint64 inside = clip(g->s, r->start, ws_trace_record_end(r), &flight);
    group->step.n++;
    group->step.held += held;
    if (group->step.waits)
        g->lane->waiting += held;
    else
        g->lane->busy += held;
    if (inside <= 0)
        return;
    g_array_append_val(group->flight, flight);
    if (ws_op_is_product(group->kind)) {
        g_array_append_val(g->mma, flight);
        add_work(g, r, inside);
    } else if (ws_op_is_bulk(group->kind)) {
        g_array_append_val(g->tma, flight);
    }
}

static gint by_flight(gconstpointer pa, gconstpointer pb)
{
    const Group *a = *(Group *const *)pa, *b = *(Group *const *)pb;
    return a->step.flight > b->step.flight ? -1 : a->step.flight < b->step.flight;
}

static void add_pairs(Gather *g)
{
    g_autoptr(GPtrArray) flying = g_ptr_array_new();
    for (guint i = 0; i < g->group->len; i++) {
        Group *a = g_ptr_array_index(g->group, i);
        if (ws_op_flies(a->kind) && a->step.flight > 0)
            g_ptr_array_add(flying, a);
    }
    g_ptr_array_sort(flying, by_flight);
    guint n = MIN(flying->len, MAX_PAIRED);
    for (guint i = 0; i < n; i++)
        for (guint j = i + 1; j < n; j++) {
            const Group *a = g_ptr_array_index(flying, i), *b = g_ptr_array_index(flying, j);
            WsTracePair pair = { .agent_a = a->step.agent,
                                 .op_a = a->step.op,
                                 .agent_b = b->step.agent,
                                 .op_b = b->step.op,
                                 .a = a->step.flight,
                                 .b = b->step.flight,
                                 .both = common(a->flight, b->flight) };
            if (pair.both == 0)
                continue;
            pair.share_a = (double)pair.both / (double)pair.a;
            pair.share_b = (double)pair.both / (double)pair.b;
            g_array_append_val(g->s->pair, pair);
        }
}

static void add_lane(Gather *g, const WsTraceLane *lane)
{
    WsRangeLane row = { .agent = lane->agent };
    g_autoptr(GHashTable) by_op = g_hash_table_new(g_direct_hash, g_direct_equal);
    g->lane = &row;
    g->by_op = by_op;
    ws_trace_window(g->t, lane, g->s->from, g->s->to, visit, g);
    g_array_append_val(g->s->lane, row);
}

WsRangeStats *ws_range_stats_new(const WsTrace *t, const WsProgram *p, gint64 from, gint64 to,
                                 double columns)
{
    WsRangeStats *s = g_new0(WsRangeStats, 1);
    s->from = from;
    s->to = MAX(to, from);
    s->lane = g_array_new(FALSE, FALSE, sizeof(WsRangeLane));
    s->step = g_array_new(FALSE, FALSE, sizeof(WsRangeStep));
    s->pair = g_array_new(FALSE, FALSE, sizeof(WsTracePair));
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(free_group);
    g_autoptr(GArray) mma = g_array_new(FALSE, FALSE, sizeof(Span));
    g_autoptr(GArray) tma = g_array_new(FALSE, FALSE, sizeof(Span));
    Gather g = { .t = t,
                 .p = p,
                 .s = s,
                 .group = groups,
                 .mma = mma,
                 .tma = tma,
                 .columns = columns,
                 .work_known = TRUE };
    for (guint i = 0; s->to > s->from && i < t->lane->len; i++) {
        const WsTraceLane *lane = &g_array_index(t->lane, WsTraceLane, i);
        if (lane->cta == 0)
            add_lane(&g, lane);
    }
    for (guint i = 0; i < groups->len; i++) {
        Group *group = g_ptr_array_index(groups, i);
        group->step.flight = merge(group->flight);
        g_array_append_val(s->step, group->step);
    }
    add_pairs(&g);
    s->mma = merge(mma);
    s->tma = merge(tma);
    s->tensor = g.work_known && s->to > s->from ? g.work / (double)(s->to - s->from) : NAN;
    return s;
}

void ws_range_stats_free(WsRangeStats *s)
{
    if (!s)
        return;
    g_array_free(s->lane, TRUE);
    g_array_free(s->step, TRUE);
    g_array_free(s->pair, TRUE);
    g_free(s);
}
