/* mbarriers, named barriers, cluster barriers. */
#include "codegen/rehearse/host.h"

#define TX_LIMIT ((1 << 20) - 1) /* PTX: range of the tx-count */

/* --- mbarriers -----------------------------------------------------------------------------------
 */
static WsHostMbar *mbar_at(WsHostCta *cta, guint32 address, const char *what)
{
    guint64 offset = WS_HOST_OFFSET(address);
    if (!ws_host_shared(cta, address, 8, what))
        return NULL;
    if (offset % 8 || !cta->mbar[offset / 8]) {
        ws_host_violation(ws_host_me(),
                          "%s on byte %llu of shared memory, where no barrier was "
                          "initialised",
                          what, (unsigned long long)offset);
        return NULL;
    }
    return cta->mbar[offset / 8];
}

void wsh_mbar_init(guint32 bar, guint32 count)
{
    WsHostCta *cta = ws_host_me()->cta;
    guint64 offset = WS_HOST_OFFSET(bar);
    WsHostMbar *b;
    if (!ws_host_shared(cta, bar, 8, "mbarrier.init"))
        return;
    if (offset % 8 || count == 0) {
        ws_host_violation(ws_host_me(), "mbarrier.init of byte %llu with count %u",
                          (unsigned long long)offset, count);
        return;
    }
    b = cta->mbar[offset / 8];
    if (!b) {
        b = cta->mbar[offset / 8] = g_new0(WsHostMbar, 1);
        b->waiters = g_ptr_array_new();
    }
    b->count = count;
    b->pending = count;
    b->tx = 0;
    b->phase = 0;
}

static void check_phase(WsHostMbar *b)
{
    if (b->pending > 0 || b->tx != 0)
        return;
    b->phase++;
    b->pending = b->count;
    ws_host_wake_all(b->waiters);
}

static void arrive(WsHostCta *cta, guint32 bar, guint32 n, gint64 expect, const char *what)
{
    WsHostMbar *b = mbar_at(cta, bar, what);
    if (!b)
        return;
    b->tx += expect;
    if (b->tx > TX_LIMIT || b->tx < -TX_LIMIT)
        ws_host_violation(ws_host_me(),
                          "%s: %lld bytes outstanding on one barrier; the hardware "
                          "counts to %d",
                          what, (long long)b->tx, TX_LIMIT);
    if (b->pending < (gint64)n) {
        ws_host_violation(ws_host_me(), "%s: more than %u arrivals in one phase (over-arrival)",
                          what, b->count);
        b->pending = 0;
    } else {
        b->pending -= n;
    }
    if (n)
        check_phase(b);
}

void ws_host_mbar_credit(WsHostCta *cta, guint32 address, gint64 bytes)
{
    WsHostMbar *b = mbar_at(cta, address, "bytes of a load are credited");
    if (!b)
        return;
    b->tx -= bytes;
    if (b->tx < -TX_LIMIT)
        ws_host_violation(NULL, "more bytes are credited to a barrier than it expects");
    check_phase(b);
}

void ws_host_mbar_arrive_at(WsHostCta *cta, guint32 address)
{
    arrive(cta, address, 1, 0, "cp.async.mbarrier.arrive");
}

void wsh_mbar_arrive(guint32 bar)
{
    arrive(ws_host_me()->cta, bar, 1, 0, "mbarrier.arrive");
}

void wsh_mbar_arrive_n(guint32 bar, guint32 n)
{
    arrive(ws_host_me()->cta, bar, n, 0, "mbarrier.arrive");
}

void wsh_mbar_arrive_remote(guint32 bar, guint32 rank, guint32 n)
{
    if (rank >= ws_host->n_ctas) {
        ws_host_violation(ws_host_me(), "arrival in CTA %u of a cluster of %u", rank,
                          ws_host->n_ctas);
        return;
    }
    arrive(&ws_host->cta[rank], bar, n, 0, "remote mbarrier.arrive");
}

void wsh_mbar_expect(guint32 bar, guint32 bytes)
{
    arrive(ws_host_me()->cta, bar, 1, bytes, "mbarrier.arrive.expect_tx");
}

void wsh_mbar_expect_only(guint32 bar, guint32 bytes)
{
    arrive(ws_host_me()->cta, bar, 0, bytes, "mbarrier.expect_tx");
}

/* As a loop of try_wait.parity: what is tested is the parity of the phase in progress, again after
 * every wake, so a waiter that lags by two phases hangs here as it does on the GPU. */
void wsh_mbar_wait(guint32 bar, guint32 parity)
{
    WsHostThread *t = ws_host_me();
    WsHostMbar *b = mbar_at(t->cta, bar, "mbarrier.try_wait");
    if (!b)
        return;
    t->address = bar;
    t->parity = parity;
    while ((b->phase & 1) == (parity & 1))
        ws_host_block(t, WS_HOST_WAIT_MBAR, b->waiters);
}

/* --- named barriers --------------------------------------------------------------------------- */
static gboolean join(WsHostThread *t, guint32 id, guint32 threads)
{
    WsHostNamed *b = &t->cta->named[id & 15];
    if (id > 15 || threads == 0 || threads % 32) {
        ws_host_violation(t, "bar %u with %u threads", id, threads);
        return FALSE;
    }
    if (b->arrived && b->threads != threads)
        ws_host_violation(t, "named barrier %u is joined for %u and for %u threads", id, b->threads,
                          threads);
    b->threads = threads;
    if (++b->arrived < threads)
        return TRUE;
    b->arrived = 0;
    b->generation++;
    ws_host_wake_all(b->waiters);
    return FALSE;
}

void wsh_bar_sync(guint32 id, guint32 threads)
{
    WsHostThread *t = ws_host_me();
    WsHostNamed *b = &t->cta->named[id & 15];
    guint64 generation = b->generation;
    if (!join(t, id, threads))
        return;
    t->id = id;
    while (b->generation == generation)
        ws_host_block(t, WS_HOST_WAIT_NAMED, b->waiters);
}

void wsh_bar_arrive(guint32 id, guint32 threads)
{
    join(ws_host_me(), id, threads);
}

/* --- cluster barrier -------------------------------------------------------------------------- */
void ws_host_cluster_check(WsHost *h)
{
    if (h->cluster_arrived == 0 || h->cluster_arrived < h->live)
        return;
    h->cluster_arrived = 0;
    h->cluster_phase++;
    ws_host_wake_all(h->cluster_waiters);
}

void wsh_cluster_arrive(void)
{
    WsHostThread *t = ws_host_me();
    t->cluster_phase = ws_host->cluster_phase;
    ws_host->cluster_arrived++;
    ws_host_cluster_check(ws_host);
}

void wsh_cluster_wait(void)
{
    WsHostThread *t = ws_host_me();
    while (ws_host->cluster_phase == t->cluster_phase)
        ws_host_block(t, WS_HOST_WAIT_CLUSTER, ws_host->cluster_waiters);
}
