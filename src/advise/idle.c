/* Units in use and their gaps; what a gap is due to is in idle_cause.c. */
#include "advise/idle_private.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/program.h"
#include "trace/op_kind.h"

#include <math.h>

const char *ws_unit_text(WsUnit unit)
{
    static const char *const text[WS_UNITS] = { "tensor core", "MUFU", "TMA load", "TMA store" };
    return text[unit];
}

WsUnit ws_idle_unit_of(const WsIdleRates *rates, const WsTrace *t, const WsTraceRecord *r,
                       gint64 *end)
{
    const WsOpKind kind = ws_trace_op_kind(t, r->op);
    *end = MAX(r->done, r->start);
    if (ws_op_is_product(kind))
        return WS_UNIT_TENSOR;
    if (ws_op_is_bulk(kind))
        return ws_op_loads(kind) ? WS_UNIT_LOAD : WS_UNIT_STORE;
    *end = MAX(r->issued, r->start);
    return rates->special && rates->special[r->op] > 0 ? WS_UNIT_MUFU : WS_UNITS;
}

typedef struct {
    const WsTraceRecord *by;
    gint64 end;
    gint64 sure; /* in use until then for sure */
} Use;

typedef struct {
    const WsRun *run;
    const WsIdleRates *rates;
    WsIdleCta *c;
    GArray *use[WS_UNITS];  /* Use */
    GArray *hole[WS_UNITS]; /* WsIdleSpan: nothing is known of an agent that uses the unit */
    GHashTable *stood;      /* gint64*: when waits returned that had stood; NULL: all ends known */
} Finder;

static gint by_start(gconstpointer pa, gconstpointer pb)
{
    const Use *a = pa, *b = pb;
    if (a->by->start != b->by->start)
        return a->by->start < b->by->start ? -1 : 1;
    return a->by->agent < b->by->agent ? -1 : a->by->agent > b->by->agent;
}

static gint by_from(gconstpointer pa, gconstpointer pb)
{
    const WsIdleSpan *a = pa, *b = pb;
    return a->from < b->from ? -1 : a->from > b->from;
}

static void find_holes(Finder *f, const WsTraceLane *lane, const gboolean *uses)
{
    gint64 end = -1;
    const gint64 last = g_array_index(f->run->t->cta, WsTraceCta, f->run->cta).cycles;
    for (guint64 i = 0; i <= lane->n; i++) {
        const WsTraceRecord *r =
            &g_array_index(f->run->t->record, WsTraceRecord, lane->first + MIN(i, lane->n - 1));
        const gint64 next = i < lane->n ? r->start : last;
        const WsIdleSpan hole = { end, next, 0 };
        for (guint unit = 0; end >= 0 && next - end > WS_IDLE_HOLE && unit < WS_UNITS; unit++)
            if (uses[unit])
                g_array_append_val(f->hole[unit], hole);
        end = MAX(end, MAX(r->issued, r->start));
    }
}

/* Cycles that a flight lasts at least. */
static gint64 least_of(const WsIdleRates *rates, WsUnit unit, const WsTraceRecord *r)
{
    return unit == WS_UNIT_TENSOR && rates->product ? (gint64)rates->product[r->op] : 0;
}

/* When the waits of the CTA returned that had stood. */
static GHashTable *stood_until(const WsTrace *t, guint cta)
{
    GHashTable *set = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint a = 0; a < t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, cta, a);
        for (guint64 i = 0; lane && i < lane->n; i++) {
            WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
            if (ws_op_waits(ws_trace_op_kind(t, r->op)) && ws_wait_stood(t, r))
                g_hash_table_add(set, &r->issued);
        }
    }
    return set;
}

static void collect(Finder *f)
{
    const WsTrace *t = f->run->t;
    if (t->origin == WS_TRACE_MEASURED)
        f->stood = stood_until(t, f->run->cta);
    for (guint a = 0; a < t->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, f->run->cta, a);
        gboolean uses[WS_UNITS + 1] = { FALSE };
        for (guint64 i = 0; lane && i < lane->n; i++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
            Use u = { .by = r };
            const WsUnit unit = ws_idle_unit_of(f->rates, t, r, &u.end);
            u.sure = u.end;
            if (f->stood && u.end > r->issued && !g_hash_table_contains(f->stood, &u.end))
                u.sure = MIN(u.end, r->start + least_of(f->rates, unit, r));
            uses[unit] = TRUE;
            if (unit != WS_UNITS && u.end > r->start)
                g_array_append_val(f->use[unit], u);
        }
        if (lane && lane->n && t->origin == WS_TRACE_MEASURED)
            find_holes(f, lane, uses);
    }
}

static void add_gap(WsIdleCta *c, WsUnit unit, gint64 from, gint64 to, const WsTraceRecord *next)
{
    const WsIdlePlace none = { .op = G_MAXUINT, .tile = -1, .round = -1 };
    const WsIdleGap gap = {
        .unit = unit,
        .from = from,
        .to = to,
        .next = { next->agent, next->op, next->tile, next->round, next->cta },
        .waiter = none,
        .release = none,
        .cause = G_MAXUINT,
    };
    if (to > from)
        g_array_append_val(c->gap[unit], gap);
}

/* A hole begins in [from, to). */
static gboolean has_hole(const GArray *hole, gint64 from, gint64 to)
{
    for (guint i = 0; i < hole->len; i++) {
        const WsIdleSpan *h = &g_array_index(hole, WsIdleSpan, i);
        if (h->from >= to)
            return FALSE;
        if (h->to > from)
            return TRUE;
    }
    return FALSE;
}

static void add_rate(Finder *f, WsUnit unit, const WsTraceRecord *r)
{
    const WsProgram *p = f->run->index ? f->run->p : NULL;
    const WsMma *mma = p && unit == WS_UNIT_TENSOR ? p->op[r->op]->mma : NULL;
    f->c->executions[unit]++;
    if (mma)
        f->c->flops += 2.0 * mma->m * mma->n * mma->k;
    if (unit == WS_UNIT_TENSOR && f->rates->product)
        f->c->rated[unit] += f->rates->product[r->op];
    else if (unit == WS_UNIT_MUFU && f->rates->special)
        f->c->rated[unit] += f->rates->special[r->op];
    else
        f->c->rated[unit] = NAN;
}

static WsIdleSpan *last_of(GArray *list)
{
    return list->len ? &g_array_index(list, WsIdleSpan, list->len - 1) : NULL;
}

/* Uses ascend by their start. */
static void add_sure(WsIdleCta *c, WsUnit unit, const Use *u)
{
    WsIdleSpan *last = last_of(c->sure[unit]);
    const WsIdleSpan span = { MAX(u->by->start, last ? last->to : 0), u->sure, 0 };
    if (span.to <= span.from)
        return;
    if (last && span.from == last->to)
        last->to = span.to;
    else
        g_array_append_val(c->sure[unit], span);
}

static void find_gaps(Finder *f, WsUnit unit)
{
    WsIdleCta *c = f->c;
    g_array_sort(f->use[unit], by_start);
    g_array_sort(f->hole[unit], by_from);
    for (guint i = 0; i < f->use[unit]->len; i++) {
        const Use *u = &g_array_index(f->use[unit], Use, i);
        WsIdleSpan *busy = last_of(c->busy[unit]), *known = last_of(c->recorded[unit]);
        const WsIdleSpan span = { MAX(u->by->start, busy ? busy->to : 0), u->end, 0 };
        add_rate(f, unit, u->by);
        add_sure(c, unit, u);
        if (busy && u->end <= busy->to)
            continue; /* inside another */
        if (busy && span.from == busy->to) {
            known->to = busy->to = u->end;
            continue;
        }
        if (!known || has_hole(f->hole[unit], busy->to, span.from)) {
            g_array_append_val(c->recorded[unit], span);
        } else {
            add_gap(c, unit, busy->to, span.from, u->by);
            known->to = u->end;
        }
        g_array_append_val(c->busy[unit], span);
    }
}

static gint64 sum_of(GArray *spans)
{
    gint64 sum = 0;
    for (guint i = 0; i < spans->len; i++) {
        WsIdleSpan *s = &g_array_index(spans, WsIdleSpan, i);
        s->before = sum;
        sum += s->to - s->from;
    }
    return sum;
}

static void count(WsIdleCta *c, WsUnit unit)
{
    c->used[unit] = sum_of(c->busy[unit]);
    c->certain[unit] = sum_of(c->sure[unit]);
    c->cycles[unit] = sum_of(c->recorded[unit]);
    for (guint i = 0; i < c->gap[unit]->len; i++) {
        WsIdleGap *g = &g_array_index(c->gap[unit], WsIdleGap, i);
        g->share = (double)(g->to - g->from) / (double)MAX(c->cycles[unit], 1);
    }
}

static void cta_free(gpointer data)
{
    WsIdleCta *c = data;
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        g_array_unref(c->recorded[unit]);
        g_array_unref(c->busy[unit]);
        g_array_unref(c->sure[unit]);
        g_array_unref(c->gap[unit]);
    }
    g_array_unref(c->piece);
    g_free(c);
}

static WsIdleCta *cta_new(const WsRun *run, const WsIdleRates *rates)
{
    WsIdleCta *c = g_new0(WsIdleCta, 1);
    Finder f = { .run = run, .rates = rates, .c = c };
    c->cta = run->cta;
    c->piece = g_array_new(FALSE, FALSE, sizeof(WsNextPiece));
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        c->recorded[unit] = g_array_new(FALSE, FALSE, sizeof(WsIdleSpan));
        c->busy[unit] = g_array_new(FALSE, FALSE, sizeof(WsIdleSpan));
        c->sure[unit] = g_array_new(FALSE, FALSE, sizeof(WsIdleSpan));
        c->gap[unit] = g_array_new(FALSE, FALSE, sizeof(WsIdleGap));
        f.hole[unit] = g_array_new(FALSE, FALSE, sizeof(WsIdleSpan));
        f.use[unit] = g_array_new(FALSE, FALSE, sizeof(Use));
    }
    collect(&f);
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        find_gaps(&f, unit);
        count(c, unit);
        g_array_unref(f.use[unit]);
        g_array_unref(f.hole[unit]);
    }
    g_clear_pointer(&f.stood, g_hash_table_unref);
    return c;
}

/* `rated`: share of the cycles; or NAN. */
static double most_of(gint64 certain, double rated, gint64 cycles)
{
    const double sure = (double)certain / (double)MAX(cycles, 1);
    return 1 - (isnan(rated) ? sure : MIN(MAX(sure, rated), 1));
}

/* Shares over all CTAs that were looked at. */
static void sum_up(WsIdle *idle)
{
    for (guint unit = 0; unit < WS_UNITS; unit++) {
        gint64 used = 0, certain = 0;
        for (guint i = 0; i < idle->cta->len; i++) {
            const WsIdleCta *c = idle->cta->pdata[i];
            used += c->used[unit];
            certain += c->certain[unit];
            idle->cycles[unit] += c->cycles[unit];
            idle->flops += unit == WS_UNIT_TENSOR ? c->flops : 0;
            idle->rated[unit] += c->rated[unit];
            idle->uses[unit] |= c->busy[unit]->len > 0;
        }
        idle->idle[unit] = 1 - (double)used / (double)MAX(idle->cycles[unit], 1);
        idle->rated[unit] /= (double)MAX(idle->cycles[unit], 1);
        idle->most[unit] = most_of(certain, idle->rated[unit], idle->cycles[unit]);
    }
}

WsIdle *ws_idle_new(const WsProgram *p, const WsTrace *t, const WsMachine *m)
{
    if (ws_trace_between_unknown(p, t))
        return NULL;
    WsIdle *idle = g_new0(WsIdle, 1);
    idle->origin = t->origin;
    g_autoptr(WsLetGo) let_go = ws_let_go_new(p, t);
    idle->cta = g_ptr_array_new_with_free_func(cta_free);
    idle->cause = g_array_new(FALSE, FALSE, sizeof(WsIdleCause));
    for (guint cta = 0; cta < t->cta->len && cta < WS_IDLE_CTAS; cta++) {
        g_auto(WsRun) run = { 0 };
        ws_run_init(&run, p, t, cta);
        if (!run.index)
            run.t = t, run.cta = cta;
        run.let_go = let_go;
        /* Rates are those of the program's operations. */
        g_autofree double *product = m && run.index ? ws_clock_product_cycles(p, m) : NULL;
        g_autofree double *special = m && run.index ? ws_clock_special_cycles(p, m) : NULL;
        const WsIdleRates rates = { product, special };
        WsIdleCta *c = cta_new(&run, &rates);
        g_ptr_array_add(idle->cta, c);
        if (run.index)
            ws_idle_causes(idle, &run, c);
    }
    sum_up(idle);
    ws_idle_causes_end(idle);
    return idle;
}

void ws_idle_free(WsIdle *idle)
{
    if (!idle)
        return;
    g_ptr_array_unref(idle->cta);
    g_array_unref(idle->cause);
    g_free(idle);
}

/* --- asking ----------------------------------------------------------------------------------- */

double ws_idle_most(const WsIdleCta *c, WsUnit unit)
{
    return most_of(c->certain[unit], c->rated[unit] / (double)MAX(c->cycles[unit], 1),
                   c->cycles[unit]);
}

gboolean ws_idle_unseen(double idle, double most)
{
    return most - idle > (1 - idle) / 2;
}

const WsIdleCta *ws_idle_cta(const WsIdle *idle, guint cta)
{
    return idle && cta < idle->cta->len ? idle->cta->pdata[cta] : NULL;
}

/* Cycles in use before a time. */
static gint64 used_before(const GArray *busy, gint64 time)
{
    guint lo = 0, hi = busy->len;
    while (lo < hi) {
        const guint mid = (lo + hi) / 2;
        if (g_array_index(busy, WsIdleSpan, mid).from < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo)
        return 0;
    const WsIdleSpan *s = &g_array_index(busy, WsIdleSpan, lo - 1);
    return s->before + MIN(time, s->to) - s->from;
}

gint64 ws_idle_used(const WsIdleCta *c, WsUnit unit, gint64 from, gint64 to)
{
    return to > from ? used_before(c->busy[unit], to) - used_before(c->busy[unit], from) : 0;
}

gint64 ws_idle_certain(const WsIdleCta *c, WsUnit unit, gint64 from, gint64 to)
{
    return to > from ? used_before(c->sure[unit], to) - used_before(c->sure[unit], from) : 0;
}

guint ws_idle_gap_from(const WsIdleCta *c, WsUnit unit, gint64 time)
{
    guint lo = 0, hi = c->gap[unit]->len;
    while (lo < hi) {
        const guint mid = (lo + hi) / 2;
        if (g_array_index(c->gap[unit], WsIdleGap, mid).to <= time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
