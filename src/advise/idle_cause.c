/* What gaps are due to: chains of waits, from the next use backwards. */
#include "advise/idle_private.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "trace/op_kind.h"

#define MAX_STEPS 4000 /* back in one gap */

typedef struct {
    WsIdle *idle;
    const WsRun *run;
    WsIdleCta *c;
    gboolean uses[WS_UNITS][64]; /* by agent: it uses the unit */
    guint cta;                   /* index of c in idle->cta */
} Finder;

static const char *step_of(const WsProgram *p, guint op)
{
    return p->op[op]->step ? p->op[op]->step : p->op[op]->id;
}

/* Replicas share a step. */
static WsIdleCause *cause_of(WsIdle *idle, const WsProgram *p, WsUnit unit, const WsNextPiece *x)
{
    for (guint i = 0; i < idle->cause->len; i++) {
        WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        if (k->unit == unit && k->reason == x->reason && k->waits_for == x->waits_for &&
            (k->op == x->op || !g_strcmp0(step_of(p, k->op), step_of(p, x->op))))
            return k;
    }
    const WsIdlePlace none = { .op = G_MAXUINT, .tile = -1, .round = -1 };
    const WsIdleCause fresh = { .unit = unit,
                                .op = x->op,
                                .reason = x->reason,
                                .waits_for = x->waits_for,
                                .waiter = none,
                                .release = none };
    g_array_append_val(idle->cause, fresh);
    return &g_array_index(idle->cause, WsIdleCause, idle->cause->len - 1);
}

typedef struct {
    const WsProgram *p;
    gint64 from, to, work;
} Beside;

static void visit_work(const WsTraceRecord *r, gpointer data)
{
    Beside *b = data;
    const gint64 from = MAX(r->start, b->from), to = MIN(MAX(r->issued, r->start), b->to);
    if (to > from && !ws_op_waits(b->p->op[r->op]->kind))
        b->work += to - from;
}

/* Cycles of a piece of work in which every other agent that uses the unit works as well. */
static gint64 together(const Finder *f, WsUnit unit, const WsNextPiece *x)
{
    gint64 least = x->to - x->from;
    guint others = 0;
    if (x->reason != WS_NEXT_WORK || x->agent >= G_N_ELEMENTS(f->uses[unit]) ||
        !f->uses[unit][x->agent])
        return 0;
    for (guint a = 0; a < f->run->p->n_agents && a < G_N_ELEMENTS(f->uses[unit]); a++) {
        const WsTraceLane *lane = ws_trace_lane(f->run->t, f->run->cta, a);
        Beside beside = { f->run->p, x->from, x->to, 0 };
        if (a == x->agent || !f->uses[unit][a] || !lane)
            continue;
        others++;
        ws_trace_window(f->run->t, lane, x->from, x->to, visit_work, &beside);
        least = MIN(least, beside.work);
    }
    return others ? least : 0;
}

static WsIdlePlace place_of(const WsTraceRecord *r)
{
    return (WsIdlePlace){ r->agent, r->op, r->tile, r->round, r->cta };
}

/* The last wait that was stepped over, if it stood longer in the gap than those before. */
static void note_wait(WsIdleGap *gap, const WsPath *path)
{
    if (!path->wait)
        return;
    const gboolean away = path->by.by && path->by.by->cta != path->wait->cta;
    const gint64 end = away ? path->wait->issued : path->by.at;
    const gint64 stood = MIN(end, gap->to) - MAX(path->wait->start, gap->from);
    if (stood <= gap->waited)
        return;
    gap->waited = stood;
    gap->waiter = place_of(path->wait);
    gap->release = path->by.by ? place_of(path->by.by)
                               : (WsIdlePlace){ .op = G_MAXUINT, .tile = -1, .round = -1 };
}

/* The chain of a gap, latest piece first; pieces reach back before it. */
static void walk(const Finder *f, WsIdleGap *gap, GArray *pieces)
{
    WsPath path = { .run = f->run, .pieces = pieces, .agent = gap->next.agent, .t = gap->to };
    for (guint n = 0; n < MAX_STEPS && path.t > gap->from && ws_path_back(&path); n++)
        note_wait(gap, &path);
}

/* Who stood for an eighth of the gap is its waiter; without a release, for half of it. */
static void settle_wait(WsIdleGap *gap)
{
    const gint64 least = (gap->to - gap->from) / (gap->release.op == G_MAXUINT ? 2 : 8);
    if (gap->waited >= MAX(least, 1))
        return;
    gap->waiter.op = gap->release.op = G_MAXUINT;
    gap->waited = 0;
}

/* A wait for another device is waiter and release of its cause: those of the gap may be others. */
static void take_notify(const Finder *f, const WsIdleGap *gap, WsIdleCause *k)
{
    gint64 most = 0;
    for (guint i = 0; k->waits_for >= 0 && i < gap->pieces; i++) {
        const WsNextPiece *x = &g_array_index(f->c->piece, WsNextPiece, gap->first_piece + i);
        if (x->waits_for != k->waits_for || x->to - x->from <= most ||
            g_strcmp0(step_of(f->run->p, x->op), step_of(f->run->p, k->op)))
            continue;
        most = x->to - x->from;
        k->waiter = (WsIdlePlace){ x->agent, x->op, x->tile, x->round, x->cta };
        k->release = x->notify;
    }
}

/* Pieces inside the gap, in order of time, and what each adds to its cause. */
static void take(const Finder *f, WsIdleGap *gap, guint index, const GArray *pieces)
{
    g_autoptr(GHashTable) cost = g_hash_table_new(NULL, NULL); /* cause + 1 -> cycles */
    gint64 most = 0;
    gap->first_piece = f->c->piece->len;
    for (guint i = pieces->len; i-- > 0;) {
        WsNextPiece x = g_array_index(pieces, WsNextPiece, i);
        x.from = MAX(x.from, gap->from);
        x.to = MIN(x.to, gap->to);
        if (x.to <= x.from)
            continue;
        g_array_append_val(f->c->piece, x);
        gap->pieces++;
        WsIdleCause *k = cause_of(f->idle, f->run->p, gap->unit, &x);
        const gpointer key =
            GUINT_TO_POINTER(k - (WsIdleCause *)(gpointer)f->idle->cause->data + 1);
        const gint64 sum = (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(cost, key)) + x.to - x.from;
        k->gaps += sum == x.to - x.from;
        k->cycles += x.to - x.from;
        k->together += together(f, gap->unit, &x);
        g_hash_table_insert(cost, key, GSIZE_TO_POINTER((gsize)sum));
        if (sum > most) {
            most = sum;
            gap->cause = GPOINTER_TO_UINT(key) - 1;
        }
    }
    GHashTableIter iter;
    gpointer key, sum;
    g_hash_table_iter_init(&iter, cost);
    while (g_hash_table_iter_next(&iter, &key, &sum)) {
        WsIdleCause *k = &g_array_index(f->idle->cause, WsIdleCause, GPOINTER_TO_UINT(key) - 1);
        if ((gint64)GPOINTER_TO_SIZE(sum) <= k->most)
            continue;
        k->most = (gint64)GPOINTER_TO_SIZE(sum);
        k->waiter = gap->waiter;
        k->release = gap->release;
        take_notify(f, gap, k);
        k->cta = f->cta;
        k->gap = index;
    }
}

static void find_users(Finder *f)
{
    const WsTrace *t = f->run->t;
    for (guint unit = 0; unit < WS_UNITS; unit++)
        for (guint i = 0; i < f->c->gap[unit]->len; i++) {
            const WsIdleGap *g = &g_array_index(f->c->gap[unit], WsIdleGap, i);
            if (g->next.agent < G_N_ELEMENTS(f->uses[unit]))
                f->uses[unit][g->next.agent] = TRUE;
        }
    /* One of two may never be the first after a gap. */
    for (guint64 i = 0; i < t->record->len; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, i);
        if (r->cta == f->run->cta && r->agent < G_N_ELEMENTS(f->uses[0]) &&
            ws_op_is_product(ws_trace_op_kind(t, r->op)))
            f->uses[WS_UNIT_TENSOR][r->agent] = TRUE;
    }
}

void ws_idle_causes(WsIdle *idle, const WsRun *run, WsIdleCta *c)
{
    Finder f = { .idle = idle, .run = run, .c = c, .cta = idle->cta->len - 1 };
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(WsNextPiece));
    find_users(&f);
    for (guint unit = 0; unit < WS_UNITS; unit++)
        for (guint i = 0; i < c->gap[unit]->len; i++) {
            WsIdleGap *gap = &g_array_index(c->gap[unit], WsIdleGap, i);
            g_array_set_size(pieces, 0);
            walk(&f, gap, pieces);
            settle_wait(gap);
            take(&f, gap, i, pieces);
        }
}

typedef struct {
    WsIdleCause cause;
    guint was;
} Ranked;

static gint by_cost(gconstpointer pa, gconstpointer pb)
{
    const Ranked *a = pa, *b = pb;
    if (a->cause.unit != b->cause.unit)
        return a->cause.unit < b->cause.unit ? -1 : 1;
    if (a->cause.cycles != b->cause.cycles)
        return a->cause.cycles < b->cause.cycles ? 1 : -1;
    return a->was < b->was ? -1 : a->was > b->was;
}

void ws_idle_causes_end(WsIdle *idle)
{
    g_autofree Ranked *rank = g_new(Ranked, idle->cause->len + 1);
    g_autofree guint *now = g_new(guint, idle->cause->len + 1);
    for (guint i = 0; i < idle->cause->len; i++)
        rank[i] = (Ranked){ g_array_index(idle->cause, WsIdleCause, i), i };
    qsort(rank, idle->cause->len, sizeof *rank, by_cost);
    for (guint i = 0; i < idle->cause->len; i++) {
        rank[i].cause.share =
            (double)rank[i].cause.cycles / (double)MAX(idle->cycles[rank[i].cause.unit], 1);
        g_array_index(idle->cause, WsIdleCause, i) = rank[i].cause;
        now[rank[i].was] = i;
    }
    for (guint k = 0; k < idle->cta->len; k++) {
        WsIdleCta *c = idle->cta->pdata[k];
        for (guint unit = 0; unit < WS_UNITS; unit++)
            for (guint i = 0; i < c->gap[unit]->len; i++) {
                WsIdleGap *g = &g_array_index(c->gap[unit], WsIdleGap, i);
                if (g->cause != G_MAXUINT)
                    g->cause = now[g->cause];
            }
    }
}

const WsIdleCause *ws_idle_same(const WsIdle *idle, const WsProgram *p, const WsIdleCause *cause)
{
    for (guint i = 0; idle && i < idle->cause->len; i++) {
        const WsIdleCause *k = &g_array_index(idle->cause, WsIdleCause, i);
        if (k->unit == cause->unit && k->reason == cause->reason &&
            k->waits_for == cause->waits_for &&
            !g_strcmp0(step_of(p, k->op), step_of(p, cause->op)))
            return k;
    }
    return NULL;
}

gboolean ws_idle_together(const WsIdleCause *cause)
{
    return cause->together * 2 > cause->cycles;
}
