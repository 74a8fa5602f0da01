/* The critical path of a CTA: from its end backwards, along whatever each wait waited for. */
#include "advise/advise.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

#define MAX_PIECES 1000000

const char *ws_next_reason_text(WsNextReason reason)
{
    static const char *const text[] = { "work", "wait", "flight" };
    return text[reason];
}

static void add(WsPath *path, const WsTraceRecord *r, WsNextReason reason, gint64 from, gint64 to)
{
    if (from >= to)
        return;
    WsNextPiece piece = { r->cta, r->agent, r->op,  r->tile, r->round,
                          from,   to,       reason, -1,      { .op = G_MAXUINT } };
    const WsTraceRecord *by = reason == WS_NEXT_WAIT ? path->by.by : NULL;
    const WsTrace *t = path->run->t;
    if (by && ws_trace_device(t, by->cta) != ws_trace_device(t, r->cta)) {
        piece.waits_for = (gint)ws_trace_device(t, by->cta);
        piece.notify = (WsIdlePlace){ by->agent, by->op, by->tile, by->round, by->cta };
    }
    g_array_append_val(path->pieces, piece);
}

static void run_free(gpointer data)
{
    if (!data)
        return;
    ws_run_clear(data);
    g_free(data);
}

/* The run of another CTA; NULL: the walk does not go there. */
static const WsRun *run_of(const WsPath *path, guint cta)
{
    if (!path->runs || cta >= path->runs->len)
        return NULL;
    if (!path->runs->pdata[cta]) {
        WsRun *run = g_new0(WsRun, 1);
        ws_run_init(run, path->run->p, path->run->t, cta);
        run->let_go = path->run->let_go;
        path->runs->pdata[cta] = run;
    }
    return ((const WsRun *)path->runs->pdata[cta])->index ? path->runs->pdata[cta] : NULL;
}

/* The last record of the agent that begins before t. */
static const WsTraceRecord *before(const WsPath *path)
{
    const WsTraceLane *lane = ws_trace_lane(path->run->t, path->run->cta, path->agent);
    guint64 lo = 0, hi = lane ? lane->n : 0;
    while (lo < hi) {
        guint64 middle = lo + (hi - lo) / 2;
        if (g_array_index(path->run->t->record, WsTraceRecord, lane->first + middle).start <
            path->t)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo ? &g_array_index(path->run->t->record, WsTraceRecord, lane->first + lo - 1) : NULL;
}

static gboolean step_back(WsPath *path)
{
    const WsTraceRecord *r = before(path);
    path->wait = NULL;
    path->by = (WsCause){ NULL, path->t };
    if (!r)
        return FALSE;
    gint64 end = MIN(MAX(r->issued, r->start), path->t);
    add(path, r, WS_NEXT_WORK, end, path->t); /* what the agent did behind it, not recorded */
    path->t = end;
    gboolean waits = ws_op_waits(path->run->p->op[r->op]->kind);
    WsCause cause = waits ? ws_run_cause(path->run, r) : (WsCause){ NULL, 0 };
    if (!cause.by || cause.at <= r->start) {
        add(path, r, waits ? WS_NEXT_WAIT : WS_NEXT_WORK, r->start, path->t);
        path->wait = waits ? r : NULL;
        path->t = MIN(path->t, r->start);
        return TRUE;
    }
    const WsRun *there = cause.by->cta == r->cta ? path->run : run_of(path, cause.by->cta);
    gint64 at = MIN(cause.at, path->t);
    path->wait = r;
    path->by = cause;
    if (!there) { /* another CTA, which is not followed: all of it is this wait */
        add(path, r, WS_NEXT_WAIT, r->start, path->t);
        path->t = MIN(path->t, r->start);
        return TRUE;
    }
    add(path, r, WS_NEXT_WAIT, at, path->t);
    path->t = at;
    if (ws_op_flies(path->run->p->op[cause.by->op]->kind)) {
        gint64 issued = MIN(MAX(cause.by->issued, cause.by->start), at);
        add(path, cause.by, WS_NEXT_FLIGHT, issued, at);
        path->t = issued;
    }
    path->agent = cause.by->agent;
    path->run = there;
    return TRUE;
}

gboolean ws_path_back(WsPath *path)
{
    const gint64 was = path->t;
    const gboolean more = step_back(path);
    path->still = path->t < was ? 0 : path->still + 1;
    if (path->still > path->run->p->n_agents) { /* clocks of different agents within a cycle */
        path->t--;
        path->still = 0;
    }
    return more;
}

static gboolean ws_path_end(WsPath *path)
{
    gboolean any = FALSE;
    for (guint a = 0; a < path->run->p->n_agents; a++) {
        const WsTraceLane *lane = ws_trace_lane(path->run->t, path->run->cta, a);
        if (!lane || !lane->n)
            continue;
        guint64 last = lane->n - 1;
        while (last > 0 &&
               g_array_index(path->run->t->record, WsTraceRecord, lane->first + last).issued >
                   path->run->to)
            last--;
        const WsTraceRecord *r =
            &g_array_index(path->run->t->record, WsTraceRecord, lane->first + last);
        gint64 end = MAX(r->issued, r->start);
        if (end <= path->run->to && (!any || end > path->t)) {
            path->agent = a;
            path->t = end;
            any = TRUE;
        }
    }
    return any;
}

static void reverse(GArray *pieces)
{
    for (guint i = 0, k = pieces->len; i + 1 < k; i++) {
        WsNextPiece *a = &g_array_index(pieces, WsNextPiece, i),
                    *b = &g_array_index(pieces, WsNextPiece, --k), keep = *a;
        *a = *b;
        *b = keep;
    }
}

GArray *ws_next_path(const WsProgram *p, const WsTrace *t, guint cta)
{
    g_auto(WsRun) run = { 0 };
    ws_run_init(&run, p, t, cta);
    g_autoptr(WsLetGo) let_go = run.index ? ws_let_go_new(p, t) : NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(run_free);
    g_ptr_array_set_size(runs, let_go ? (gint)t->cta->len : 0);
    run.let_go = let_go;
    WsPath path = { .run = &run,
                    .runs = runs,
                    .pieces = g_array_new(FALSE, FALSE, sizeof(WsNextPiece)) };
    gboolean more = run.index && ws_path_end(&path);
    while (more && path.pieces->len < MAX_PIECES)
        more = ws_path_back(&path);
    reverse(path.pieces);
    return path.pieces;
}

static gint by_cycles(gconstpointer pa, gconstpointer pb)
{
    const WsNextPart *a = pa, *b = pb;
    if (a->cycles != b->cycles)
        return a->cycles < b->cycles ? 1 : -1;
    return a->op < b->op ? -1 : a->op > b->op;
}

GArray *ws_next_parts(const GArray *path)
{
    GArray *parts = g_array_new(FALSE, FALSE, sizeof(WsNextPart));
    g_autoptr(GHashTable) at =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL); /* -> index + 1 */
    gint64 total = 0;
    for (guint i = 0; i < path->len; i++) {
        const WsNextPiece *x = &g_array_index(path, WsNextPiece, i);
        const gint64 key = ((gint64)x->cta << 40) + (gint64)x->op * 4 + (gint64)x->reason;
        guint k = GPOINTER_TO_UINT(g_hash_table_lookup(at, &key));
        if (!k) {
            WsNextPart fresh = {
                .cta = x->cta, .agent = x->agent, .op = x->op, .reason = x->reason
            };
            g_array_append_val(parts, fresh);
            k = parts->len;
            g_hash_table_insert(at, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(k));
        }
        WsNextPart *part = &g_array_index(parts, WsNextPart, k - 1);
        part->count++;
        part->cycles += x->to - x->from;
        total += x->to - x->from;
    }
    for (guint i = 0; i < parts->len; i++) {
        WsNextPart *part = &g_array_index(parts, WsNextPart, i);
        part->share = (double)part->cycles / (double)MAX(total, 1);
    }
    g_array_sort(parts, by_cycles);
    return parts;
}
