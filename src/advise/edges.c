/* Exposed cycles per edge. */
#include "advise/advise.h"
#include "program/op.h"
#include "program/parts/operation.h"
#include "program/program.h"

static guint hash_edge(gconstpointer p)
{
    const WsNextEdge *e = p;
    return e->from_op * 2654435761u ^ e->to_op * 40503u;
}

static gboolean same_edge(gconstpointer pa, gconstpointer pb)
{
    const WsNextEdge *a = pa, *b = pb;
    return a->from_op == b->from_op && a->to_op == b->to_op;
}

static gint by_exposed(gconstpointer pa, gconstpointer pb)
{
    const WsNextEdge *a = pa, *b = pb;
    if (a->exposed != b->exposed)
        return a->exposed < b->exposed ? 1 : -1;
    return a->to_op < b->to_op ? -1 : a->to_op > b->to_op;
}

static void note(GHashTable *edges, const WsRun *run, const WsTraceRecord *r)
{
    WsCause cause = ws_run_cause(run, r);
    gint64 exposed = cause.by ? cause.at - r->start : 0;
    if (exposed <= 0)
        return;
    WsNextEdge key = { .from_op = cause.by->op, .to_op = r->op };
    WsNextEdge *e = g_hash_table_lookup(edges, &key);
    if (!e) {
        e = g_memdup2(&key, sizeof key);
        e->barrier = run->p->op[r->op]->barrier;
        g_hash_table_add(edges, e);
    }
    e->count++;
    e->exposed += exposed;
}

GArray *ws_next_edges(const WsProgram *p, const WsTrace *t, guint cta)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(WsNextEdge));
    g_auto(WsRun) run = { 0 };
    g_autoptr(GHashTable) edges = g_hash_table_new_full(hash_edge, same_edge, g_free, NULL);
    GHashTableIter iter;
    gpointer edge;
    ws_run_init(&run, p, t, cta);
    g_autoptr(WsLetGo) let_go = run.index ? ws_let_go_new(p, t) : NULL;
    run.let_go = let_go;
    for (guint a = 0; run.index && a < p->n_agents; a++) {
        const WsTraceLane *lane = ws_trace_lane(t, cta, a);
        for (guint64 i = 0; lane && i < lane->n; i++) {
            const WsTraceRecord *r = &g_array_index(t->record, WsTraceRecord, lane->first + i);
            if (ws_op_waits(p->op[r->op]->kind) && r->issued <= run.to)
                note(edges, &run, r);
        }
    }
    gint64 cycles = run.to - run.from;
    g_hash_table_iter_init(&iter, edges);
    while (g_hash_table_iter_next(&iter, &edge, NULL)) {
        ((WsNextEdge *)edge)->share = (double)((WsNextEdge *)edge)->exposed / MAX(cycles, 1);
        g_array_append_vals(list, edge, 1);
    }
    g_array_sort(list, by_exposed);
    return list;
}
