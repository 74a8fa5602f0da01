/* What let a wait go. */
#include "advise/advise.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"
#include "trace/op_kind.h"

#define SLACK 64 /* cycles by which observed ends may lie behind the wait they let go */

static guint hash_place(gconstpointer p)
{
    const WsTraceRecord *x = p;
    return x->op * 2654435761u ^ (guint)x->round * 40503u ^ x->agent;
}

static gboolean same_place(gconstpointer pa, gconstpointer pb)
{
    const WsTraceRecord *a = pa, *b = pb;
    return a->agent == b->agent && a->op == b->op && a->round == b->round;
}

/* The indices of a trace mean this program's operations only if it was made from it. */
static gboolean is_of(const WsTrace *t, const WsProgram *p)
{
    if (t->op_id->len != p->n_ops)
        return FALSE;
    for (guint i = 0; i < p->n_ops; i++)
        if (g_strcmp0(t->op_id->pdata[i], p->op[i]->step ? p->op[i]->step : p->op[i]->id) != 0 &&
            g_strcmp0(t->op_id->pdata[i], p->op[i]->id) != 0)
            return FALSE;
    return TRUE;
}

#define GAP 5000 /* cycles without a record that may be work */

/* Until when a lane was recorded without a gap. */
static gint64 recorded_until(const WsTrace *t, const WsTraceLane *lane, gint64 cycles)
{
    gint64 end = 0;
    for (guint64 i = 0; i < lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
        if (i > 0 && r->start - end > MAX(GAP, cycles / 20))
            return end;
        end = MAX(end, MAX(r->issued, r->start));
    }
    return end;
}

static void find_window(WsRun *run)
{
    gint64 cycles = g_array_index(run->t->cta, WsTraceCta, run->cta).cycles;
    run->from = G_MAXINT64;
    for (guint a = 0; a < run->p->n_agents; a++) {
        const WsTraceLane *lane = ws_trace_lane(run->t, run->cta, a);
        if (!lane || !lane->n)
            continue;
        gint64 end = recorded_until(run->t, lane, cycles);
        gint64 begin = g_array_index(run->t->record, WsTraceRecord, lane->first).start;
        run->from = MIN(run->from, begin);
        run->to = MAX(run->to, end);
    }
}

void ws_run_init(WsRun *run, const WsProgram *p, const WsTrace *t, guint cta)
{
    *run = (WsRun){ .p = p, .t = t, .cta = cta };
    gint32 last = 0;
    if (cta >= t->cta->len || !is_of(t, p) || ws_trace_between_unknown(p, t))
        return;
    run->index = g_hash_table_new(hash_place, same_place);
    for (guint a = 0; a < p->n_agents; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, cta, a);
        for (guint64 i = 0; lane && i < lane->n; i++) {
            WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
            g_hash_table_add(run->index, r);
            last = MAX(last, r->tile);
        }
    }
    find_window(run);
    run->bind = ws_bind_new_barriers(p, t, cta, 0, last);
}

void ws_run_clear(WsRun *run)
{
    g_clear_pointer(&run->bind, ws_bind_free);
    g_clear_pointer(&run->index, g_hash_table_destroy);
}

static void later(WsCause *best, const WsTraceRecord *r, gint64 at, gint64 end)
{
    /* What was observed later than the wait's end did not let it go (upper bounds do that). */
    at = MIN(at, end);
    if (!best->by || at > best->at)
        *best = (WsCause){ r, at };
}

static WsCause cause_of_phase(const WsRun *run, const WsTraceRecord *wait)
{
    WsCause best = { NULL, 0 };
    const WsOp *op = run->p->op[wait->op];
    const WsBound *v = ws_bind_get(run->bind, wait->op, wait->round);
    if (!v || op->barrier < 0 || v->turn < 0)
        return best;
    const GArray *list =
        ws_bind_contributors(run->bind, (guint)op->barrier, v->element, v->slot, v->turn);
    for (guint i = 0; list && i < list->len; i++) {
        const WsTracePlace *at = &g_array_index(list, WsTracePlace, i);
        const WsTraceRecord place = { .agent = (guint16)at->agent,
                                      .op = at->op,
                                      .round = at->round };
        const WsTraceRecord *r = g_hash_table_lookup(run->index, &place);
        if (!r)
            continue;
        gboolean flies = ws_op_flies(run->p->op[r->op]->kind);
        later(&best, r, flies ? MAX(r->done, r->issued) : MAX(r->issued, r->start), wait->issued);
    }
    return best;
}

/* Own products or copies: the newest of this kind whose end the wait saw. */
static WsCause cause_of_queue(const WsRun *run, const WsTraceRecord *wait)
{
    WsCause best = { NULL, 0 };
    const WsQueue queue = (WsQueue)ws_op_queue(run->p->op[wait->op]->kind);
    const WsTraceLane *lane = ws_trace_lane(run->t, run->cta, wait->agent);
    const WsTraceRecord *all = &g_array_index(run->t->record, WsTraceRecord, lane->first);
    for (guint64 i = (guint64)(wait - all); i > 0 && i <= lane->n; i--) {
        const WsTraceRecord *r = &all[i - 1];
        if (!ws_op_issues(run->p->op[r->op]->kind, queue) || r->done <= 0)
            continue;
        if (r->done <= wait->start)
            break; /* ends of one queue never decrease */
        if (r->done <= wait->issued + SLACK)
            later(&best, r, r->done, wait->issued);
    }
    return best;
}

typedef struct {
    const WsRun *run;
    const WsTraceRecord *wait;
    WsCause best;
} Join;

static void visit_join(const WsTraceRecord *r, gpointer data)
{
    Join *j = data;
    const WsOp *op = j->run->p->op[r->op], *own = j->run->p->op[j->wait->op];
    gint64 at = ws_op_waits_join(op->kind) ? r->start : r->issued;
    if (op->barrier != own->barrier || at > j->wait->issued || at <= j->wait->start)
        return;
    if (ws_op_joins(op->kind))
        later(&j->best, r, at, j->wait->issued);
}

/* Named barriers: the last to join. */
static WsCause cause_of_join(const WsRun *run, const WsTraceRecord *wait)
{
    Join j = { run, wait, { NULL, 0 } };
    if (run->p->op[wait->op]->barrier < 0)
        return j.best;
    for (guint a = 0; a < run->p->n_agents; a++) {
        const WsTraceLane *lane = ws_trace_lane(run->t, run->cta, a);
        if (lane && a != wait->agent)
            ws_trace_window(run->t, lane, wait->start, wait->issued + 1, visit_join, &j);
    }
    return j.best;
}

static WsCause cause_of_flag(const WsRun *run, const WsTraceRecord *wait)
{
    const WsLetGoBy x = ws_let_go_of(run->let_go, wait);
    return x.least ? (WsCause){ NULL, 0 } : (WsCause){ x.by, x.at };
}

static WsCause find_cause(const WsRun *run, const WsTraceRecord *wait)
{
    switch (ws_op_row(run->p->op[wait->op]->kind)->waits) {
    case WS_WAITS_PHASE:
        return cause_of_phase(run, wait);
    case WS_WAITS_GROUPS:
        return cause_of_queue(run, wait);
    case WS_WAITS_JOIN:
        return cause_of_join(run, wait);
    case WS_WAITS_FLAG:
        return cause_of_flag(run, wait);
    case WS_WAITS_NONE:
    case WS_WAITS_CLUSTER:
    case WS_WAITS_KERNEL:
        break;
    }
    return (WsCause){ NULL, 0 };
}

/* Clock reads included. What an H200 shows of waits that found their event over (attention-d128,
 * GEMMs): 48 to 140 cycles for a phase, 0 to 70 for groups. */
#define OWN_PHASE 140
#define OWN_QUEUE 80

gboolean ws_wait_stood(const WsTrace *t, const WsTraceRecord *wait)
{
    const gboolean phase = ws_op_waits_phase(ws_trace_op_kind(t, wait->op));
    return wait->issued - wait->start > (phase ? OWN_PHASE : OWN_QUEUE);
}

/* A measured flight is seen to be over when its wait returns: such a wait tells nothing unless it
 * took longer than it must. */
static gboolean tells(const WsRun *run, const WsTraceRecord *wait, const WsTraceRecord *by)
{
    if (run->t->origin != WS_TRACE_MEASURED || !ws_op_flies(run->p->op[by->op]->kind))
        return TRUE;
    return ws_wait_stood(run->t, wait);
}

WsCause ws_run_cause(const WsRun *run, const WsTraceRecord *wait)
{
    WsCause cause = find_cause(run, wait);
    return cause.by && tells(run, wait, cause.by) ? cause : (WsCause){ NULL, 0 };
}
