/* The table of operations contradicts itself nowhere, and a kind that nobody knows is nothing. The
 * lists are written out: they are what LANGUAGE and the PTX ISA say of the operations. */

#include "program/op.h"
#include "program/op_kind.h"

#include <string.h>

typedef gboolean (*Predicate)(WsOpKind kind);

static void is_exactly(const char *name, Predicate p, const char *wanted)
{
    g_autoptr(GString) found = g_string_new(NULL);
    for (guint k = 0; k < WS_OP_KIND_COUNT; k++)
        if (p((WsOpKind)k))
            g_string_append_printf(found, "%s%s", found->len ? " " : "",
                                   ws_op_kind_text((WsOpKind)k));
    g_test_message("%s", name);
    g_assert_cmpstr(found->str, ==, wanted);
    g_assert_false(p(WS_OP_KIND_COUNT) || p((WsOpKind)250));
}

static gboolean leader(WsOpKind kind)
{
    return kind < WS_OP_KIND_COUNT && ws_op_row(kind)->breadth == WS_BREADTH_LEADER;
}

static gboolean any(WsOpKind kind)
{
    return ws_op_row(kind)->any;
}

static void sets(void)
{
    is_exactly("flies", ws_op_flies,
               "tma_load bulk_copy tma_store tma_put tma_get prefetch cp_rows mma st_remote");
    is_exactly("loads", ws_op_loads, "tma_load bulk_copy tma_get st_remote");
    is_exactly("brings", ws_op_brings, "tma_load tma_get");
    is_exactly("bulk", ws_op_is_bulk, "tma_load bulk_copy tma_store tma_put tma_get");
    is_exactly("closes", ws_op_closes, "bulk_commit cp_commit mma_commit");
    is_exactly("retires", ws_op_retires, "bulk_wait cp_wait mma_wait");
    is_exactly("waits", ws_op_waits,
               "wait bulk_wait cp_wait mma_wait bar_sync cluster_wait await dep_wait");
    is_exactly("waits at a barrier", ws_op_waits_at_barrier, "wait bar_sync");
    is_exactly("waits for agents", ws_op_waits_for_agents, "wait bar_sync cluster_wait");
    is_exactly("completes", ws_op_completes, "arrive tma_load bulk_copy tma_get cp_arrive_noinc st_remote");
    is_exactly("feeds", ws_op_feeds, "arrive expect tma_load bulk_copy tma_get cp_arrive_noinc st_remote");
    is_exactly("arrives", ws_op_arrives, "arrive expect cp_arrive_noinc");
    is_exactly("joins", ws_op_joins, "bar_sync bar_arrive");
    is_exactly("stores shared", ws_op_stores_shared, "st red_shared stmatrix st_peer");
    is_exactly("loads shared", ws_op_loads_shared, "ld ldmatrix ld_remote");
    is_exactly("peeks", ws_op_peeks, "ld_remote st_peer");
    is_exactly("stores global", ws_op_stores_global, "st_global red_global");
    is_exactly("assigns", ws_op_assigns, "let advance");
    is_exactly("any", any, "wait fence_async fence_cluster fence_gpu let advance pipe_ask mark");
    is_exactly("leader", leader,
               "mbar_init expect tma_load bulk_copy tma_store tma_put tma_get bulk_commit "
               "bulk_wait prefetch "
               "prefetch_map fence_async_global fence_init notify await claim pipe_tell");
}

static void rows(void)
{
    guint closes[WS_QUEUES] = { 0 }, retires[WS_QUEUES] = { 0 }, issues[WS_QUEUES] = { 0 };
    for (guint k = 0; k < WS_OP_KIND_COUNT; k++) {
        const WsOpKind kind = (WsOpKind)k;
        const WsOpRow *o = ws_op_row(kind);
        const gint q = ws_op_queue(kind);
        g_assert_true(*o->text && *o->help);
        for (guint other = 0; other < k; other++)
            g_assert_cmpstr(o->text, !=, ws_op_kind_text((WsOpKind)other));
        /* groups are waited for where they are, and bytes come from what ends at a barrier */
        g_assert_true((o->deed == WS_DEED_RETIRE) == (o->waits == WS_WAITS_GROUPS));
        g_assert_true((o->gives == WS_GIVES_BYTES) == ws_op_loads(kind));
        g_assert_true((o->gives == WS_GIVES_LATER) == ws_op_issues(kind, WS_QUEUE_ROWS));
        g_assert_true(o->deed != WS_DEED_SIGNAL || o->gives == WS_GIVES_ARRIVALS);
        g_assert_true(o->waits != WS_WAITS_JOIN || o->gives == WS_GIVES_JOIN);
        /* a queue belongs to a deed, and what closes or retires belongs to a queue */
        const gboolean idle = o->deed == WS_DEED_NONE || o->deed == WS_DEED_COMBINE;
        g_assert_true((o->engine == WS_ENGINE_NONE) == idle || kind == WS_OP_PREFETCH);
        g_assert_true(q >= 0 || idle || o->deed == WS_DEED_ISSUE);
        /* what is combined with shared memory comes from registers, and meets at no barrier */
        g_assert_true(o->deed != WS_DEED_COMBINE || ws_op_stores_shared(kind));
        g_assert_true(ws_op_is_atomic(kind) == (o->deed == WS_DEED_COMBINE));
        if (q >= 0) {
            closes[q] += ws_op_closes(kind);
            retires[q] += ws_op_retires(kind);
            issues[q] += ws_op_flies(kind);
        }
        /* what flies moves data; the async proxy is that of engines */
        g_assert_true(!ws_op_flies(kind) ||
                      (o->from != WS_DATA_AT_NONE && o->to != WS_DATA_AT_NONE));
        g_assert_true(o->proxy != WS_PROXY_ASYNC || ws_op_flies(kind));
        /* what waits or moves data in an agent's body is no operation without a meaning */
        g_assert_true(o->check != WS_CHECK_SILENT ||
                      (o->gives == WS_GIVES_NONE && o->to != WS_DATA_AT_SHARED &&
                       o->to != WS_DATA_AT_REGISTERS && !ws_op_waits_for_agents(kind)));
    }
    for (guint q = 0; q < WS_QUEUES; q++)
        g_assert_true(closes[q] == 1 && retires[q] == 1 &&
                      issues[q] == (q == WS_QUEUE_STORES ? 2u : 1u)); /* a put is a store, too */
}

static void unknown(void)
{
    g_assert_cmpstr(ws_op_kind_text(WS_OP_KIND_COUNT), ==, "?");
    g_assert_cmpint(ws_op_row((WsOpKind)1000)->check, ==, WS_CHECK_OUTSIDE);
    g_assert_cmpint(ws_op_queue(WS_OP_KIND_COUNT), ==, -1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/op/sets", sets);
    g_test_add_func("/op/rows", rows);
    g_test_add_func("/op/unknown", unknown);
    return g_test_run();
}
