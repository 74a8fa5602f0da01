/* The report of a rehearsal in which nothing can happen any more: who waits for what. */
#include "codegen/generate.h"
#include "codegen/rehearse/mesh.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/program.h"

/* The mbarrier at a window address, and which of its elements and slots; NULL: none. */
static const WsBarrier *mbar_at(const WsHost *h, guint32 address, guint *element, guint *slot)
{
    const guint64 offset = WS_HOST_OFFSET(address);
    for (guint i = 0; h->p && i < h->p->n_barriers; i++) {
        const WsBarrier *b = &h->p->barrier[i];
        guint64 n = (guint64)b->array * b->slots, at = (offset - b->offset) / 8;
        if (b->kind != WS_BARRIER_MBARRIER || offset < b->offset || at >= n)
            continue;
        *element = (guint)(at / b->slots);
        *slot = (guint)(at % b->slots);
        return b;
    }
    return NULL;
}

/* "full[1] slot 2". */
static char *mbar_name(const WsHost *h, guint32 address)
{
    guint element, slot;
    const WsBarrier *b = mbar_at(h, address, &element, &slot);
    if (!b)
        return g_strdup_printf("the mbarrier at byte %llu",
                               (unsigned long long)WS_HOST_OFFSET(address));
    return b->is_array ? g_strdup_printf("%s[%u] slot %u", b->name, element, slot)
                       : g_strdup_printf("%s slot %u", b->name, slot);
}

static char *named_name(const WsHost *h, guint id)
{
    guint i, e;
    for (i = 0; h->p && i < h->p->n_barriers; i++) {
        const WsBarrier *b = &h->p->barrier[i];
        for (e = 0; b->kind == WS_BARRIER_NAMED && e < b->array; e++)
            if (b->hw_id[e] == (gint)id)
                return b->is_array ? g_strdup_printf("%s[%u]", b->name, e) : g_strdup(b->name);
    }
    return g_strdup_printf("named barrier %u", id);
}

static char *what_for(const WsHostThread *t)
{
    const WsHost *h = t->cta->host;
    g_autofree char *name = NULL;
    const WsHostMbar *b;
    switch (t->wait) {
    case WS_HOST_WAIT_MBAR:
        name = mbar_name(h, t->address);
        b = t->cta->mbar[WS_HOST_OFFSET(t->address) / 8];
        return g_strdup_printf("%s, parity %u (completed phases %llu; missing %lld of %u arrivals "
                               "and %lld bytes)",
                               name, t->parity, (unsigned long long)b->phase, (long long)b->pending,
                               b->count, (long long)b->tx);
    case WS_HOST_WAIT_NAMED:
        name = named_name(h, t->id);
        return g_strdup_printf("%s (%u of %u threads have joined)", name,
                               t->cta->named[t->id].arrived, t->cta->named[t->id].threads);
    case WS_HOST_WAIT_CLUSTER:
        return g_strdup_printf("the cluster barrier (%u of %u threads have arrived)",
                               h->cluster_arrived, h->live);
    case WS_HOST_WAIT_WARP:
        return g_strdup_printf("the other lanes of its warp in %s", t->cta->warp[t->tid / 32].what);
    case WS_HOST_WAIT_MMA:
        return g_strdup_printf("its mma groups, all but %u", t->id);
    case WS_HOST_WAIT_BULK:
        return g_strdup_printf("its bulk groups, all but %u", t->id);
    case WS_HOST_WAIT_COPIES:
        return g_strdup_printf("its load groups, all but %u", t->id);
    case WS_HOST_WAIT_FLAG:
        return ws_host_mesh_waits(t);
    case WS_HOST_WAIT_GATE:
    case WS_HOST_WAIT_NONE:
    default:
        return g_strdup("nothing");
    }
}

static void add_wait(WsHost *h, const WsHostThread *t)
{
    guint element, slot;
    WsRehearseWait w = { t->op, t->cta->id, -1, -1 };
    if (t->wait == WS_HOST_WAIT_MBAR && mbar_at(h, t->address, &element, &slot)) {
        w.slot = (gint)slot;
        w.parity = (gint)t->parity;
    }
    g_array_append_val(h->waits, w);
}

/* Threads of one CTA that wait alike make one line. */
void ws_host_describe_stuck(WsHost *h)
{
    g_autoptr(GHashTable) lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    GString *s = g_string_new(NULL);
    guint i, k;
    h->waits = g_array_new(FALSE, FALSE, sizeof(WsRehearseWait));
    for (i = 0; i < h->n_ctas; i++) {
        for (k = 0; k < h->threads && h->cta[i].thread; k++) {
            const WsHostThread *t = &h->cta[i].thread[k];
            const WsOp *op = h->p && t->op < h->p->n_ops ? h->p->op[t->op] : NULL;
            const char *agent = h->p && t->agent >= 0 && (guint)t->agent < h->p->n_agents
                                    ? h->p->agent[t->agent].name
                                    : "threads before their role";
            g_autofree char *what = NULL;
            char *line;
            gpointer old;
            if (t->state == WS_HOST_ENDED)
                continue;
            what = what_for(t);
            g_autofree char *device =
                h->mesh ? g_strdup_printf(" of device %u", ws_host_mesh_device(t->cta)) : NULL;
            line = g_strdup_printf("%s in CTA %u%s waits for %s%s%s", agent, t->cta->id,
                                   device ? device : "", what, op ? ", at " : "", op ? op->id : "");
            if (g_hash_table_lookup_extended(lines, line, &old, NULL)) {
                guint n = GPOINTER_TO_UINT(g_hash_table_lookup(lines, line));
                g_hash_table_insert(lines, line, GUINT_TO_POINTER(n + 1));
                continue;
            }
            g_hash_table_insert(lines, line, GUINT_TO_POINTER(1));
            g_ptr_array_add(order, line);
            if (op)
                add_wait(h, t);
        }
    }
    for (i = 0; i < order->len && i < 16; i++) {
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(lines, order->pdata[i]));
        g_string_append_printf(s, "%s%s (%u thread%s)", i ? "\n" : "", (char *)order->pdata[i], n,
                               n == 1 ? "" : "s");
    }
    h->stuck = g_string_free(s, FALSE);
}
