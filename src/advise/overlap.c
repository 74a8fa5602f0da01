/* Common time of units and agents: lists of spans, merged in pairs. */
#include "advise/overlap.h"

#include "advise/idle_private.h"
#include "program/op.h"
#include "program/parts/agent.h"
#include "program/program.h"
#include "trace/op_kind.h"

#include <math.h>

/* --- spans --------------------------------------------------------------------------------------
 */

typedef struct {
    GArray *used, *recorded; /* WsIdleSpan, ascending and apart */
    gboolean own;            /* freed with it */
} Spans;

static void spans_clear(gpointer data)
{
    Spans *s = data;
    if (s->own) {
        g_array_unref(s->used);
        g_array_unref(s->recorded);
    }
}

static void add_span(GArray *list, gint64 from, gint64 to)
{
    WsIdleSpan *last = list->len ? &g_array_index(list, WsIdleSpan, list->len - 1) : NULL;
    const WsIdleSpan span = { MAX(from, last ? last->to : from), to, 0 };
    if (span.to <= span.from)
        return;
    if (last && span.from == last->to)
        last->to = span.to;
    else
        g_array_append_val(list, span);
}

/* An agent's steps and waits cover its time: a longer pause was not recorded. */
static Spans spans_of_agent(const WsTrace *t, guint cta, guint agent)
{
    Spans s = { g_array_new(FALSE, FALSE, sizeof(WsIdleSpan)),
                g_array_new(FALSE, FALSE, sizeof(WsIdleSpan)), TRUE };
    const WsTraceLane *lane = ws_trace_lane(t, cta, agent);
    gint64 begin = -1, end = -1;
    for (guint64 i = 0; lane && i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
        const gint64 over = MAX(r->issued, r->start);
        if (begin >= 0 && t->origin == WS_TRACE_MEASURED && r->start - end > WS_IDLE_HOLE) {
            add_span(s.recorded, begin, end);
            begin = -1;
        }
        if (begin < 0)
            begin = r->start;
        end = MAX(end, over);
        if (!ws_op_waits(ws_trace_op_kind(t, r->op)))
            add_span(s.used, r->start, over);
    }
    if (begin >= 0)
        add_span(s.recorded, begin, end);
    return s;
}

/* Cycles that two lists have in common; `longest` (or NULL) takes the longest stretch of them. */
static gint64 common(const GArray *a, const GArray *b, WsIdleSpan *longest)
{
    gint64 sum = 0;
    for (guint i = 0, j = 0; i < a->len && j < b->len;) {
        const WsIdleSpan *x = &g_array_index(a, WsIdleSpan, i);
        const WsIdleSpan *y = &g_array_index(b, WsIdleSpan, j);
        const gint64 from = MAX(x->from, y->from), to = MIN(x->to, y->to);
        if (to > from) {
            sum += to - from;
            if (longest && to - from > longest->to - longest->from)
                *longest = (WsIdleSpan){ from, to, 0 };
        }
        if (x->to < y->to)
            i++;
        else
            j++;
    }
    return sum;
}

/* --- who it was ---------------------------------------------------------------------------------
 */

typedef struct {
    const WsTrace *t;
    const WsIdleRates *rates;
    const WsOverlapThing *thing;
    gint64 at;
    const WsTraceRecord *found; /* begun last */
} Search;

static void visit(const WsTraceRecord *r, gpointer data)
{
    Search *s = data;
    gint64 end = MAX(r->issued, r->start);
    if (s->thing->is_unit && ws_idle_unit_of(s->rates, s->t, r, &end) != (WsUnit)s->thing->index)
        return;
    if (!s->thing->is_unit && ws_op_waits(ws_trace_op_kind(s->t, r->op)))
        return;
    if (r->start <= s->at && end > s->at && (!s->found || r->start > s->found->start))
        s->found = r;
}

static WsIdlePlace place_at(const WsTrace *t, const WsIdleRates *rates, guint cta,
                            const WsOverlapThing *thing, gint64 at)
{
    Search s = { t, rates, thing, at, NULL };
    for (guint a = 0; a < t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, cta, a);
        if (lane && (thing->is_unit || thing->index == a))
            ws_trace_window(t, lane, at, at + 1, visit, &s);
    }
    if (!s.found)
        return (WsIdlePlace){ .op = G_MAXUINT, .tile = -1, .round = -1 };
    return (WsIdlePlace){ s.found->agent, s.found->op, s.found->tile, s.found->round, s.found->cta };
}

/* --- the matrix ---------------------------------------------------------------------------------
 */

static void add_things(WsOverlap *o, const WsProgram *p, const WsIdle *idle)
{
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        const gboolean late = idle->most[unit] - idle->idle[unit] > 0.05;
        const WsOverlapThing thing = { TRUE, unit, 0, 0, o->origin == WS_TRACE_MEASURED && late };
        g_array_append_val(o->thing, thing);
    }
    for (guint a = 0; a < p->n_agents && a < WS_OVERLAP_AGENTS; a++) {
        const WsOverlapThing thing = { .index = a };
        g_array_append_val(o->thing, thing);
    }
}

static void add_cell(WsOverlap *o, const Spans *spans, guint row, guint column, guint cta,
                     const WsTrace *t, const WsIdleRates *rates)
{
    const guint n = o->thing->len;
    WsOverlapCell *c = &o->cell[row * n + column];
    WsIdleSpan longest = { 0 };
    const gint64 both = common(spans[row].used, spans[column].used, &longest);
    c->both += both;
    c->known += row == column ? common(spans[row].recorded, spans[row].recorded, NULL)
                              : common(spans[row].used, spans[column].recorded, NULL);
    if (longest.to - longest.from <= c->longest)
        return;
    const gint64 at = (longest.from + longest.to) / 2;
    c->longest = longest.to - longest.from;
    c->cta = cta;
    c->first = place_at(t, rates, cta, &g_array_index(o->thing, WsOverlapThing, row), at);
    c->second = place_at(t, rates, cta, &g_array_index(o->thing, WsOverlapThing, column), at);
}

static void add_cta(WsOverlap *o, const WsTrace *t, const WsIdleCta *c, const WsIdleRates *rates)
{
    const guint n = o->thing->len;
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(Spans));
    g_array_set_clear_func(all, spans_clear);
    for (guint i = 0; i < n; i++) {
        WsOverlapThing *thing = &g_array_index(o->thing, WsOverlapThing, i);
        const Spans s = thing->is_unit
                            ? (Spans){ c->busy[thing->index], c->recorded[thing->index], FALSE }
                            : spans_of_agent(t, c->cta, thing->index);
        g_array_append_val(all, s);
    }
    const Spans *spans = (const Spans *)(gpointer)all->data;
    for (guint row = 0; row < n; row++)
        for (guint column = 0; column < n; column++)
            add_cell(o, spans, row, column, c->cta, t, rates);
}

WsOverlap *ws_overlap_new(const WsProgram *p, const WsTrace *t, const WsMachine *m,
                          const WsIdle *idle)
{
    WsOverlap *o = g_new0(WsOverlap, 1);
    const gboolean own = t->op_id->len == p->n_ops;
    g_autofree double *special = m && own ? ws_clock_special_cycles(p, m) : NULL;
    const WsIdleRates rates = { NULL, special };
    o->origin = t->origin;
    o->thing = g_array_new(FALSE, TRUE, sizeof(WsOverlapThing));
    add_things(o, p, idle);
    o->cell = g_new0(WsOverlapCell, (gsize)o->thing->len * o->thing->len);
    for (guint i = 0; i < o->thing->len * o->thing->len; i++)
        o->cell[i].first.op = o->cell[i].second.op = G_MAXUINT;
    for (guint i = 0; i < idle->cta->len; i++)
        add_cta(o, t, idle->cta->pdata[i], &rates);
    for (guint i = 0; i < o->thing->len; i++) {
        WsOverlapThing *thing = &g_array_index(o->thing, WsOverlapThing, i);
        thing->used = o->cell[i * o->thing->len + i].both;
        thing->recorded = o->cell[i * o->thing->len + i].known;
    }
    return o;
}

void ws_overlap_free(WsOverlap *o)
{
    if (!o)
        return;
    g_array_unref(o->thing);
    g_free(o->cell);
    g_free(o);
}

const WsOverlapCell *ws_overlap_cell(const WsOverlap *o, guint row, guint column)
{
    return &o->cell[row * o->thing->len + column];
}

double ws_overlap_share(const WsOverlap *o, guint row, guint column)
{
    const WsOverlapCell *c = ws_overlap_cell(o, row, column);
    return c->known > 0 ? (double)c->both / (double)c->known : NAN;
}
