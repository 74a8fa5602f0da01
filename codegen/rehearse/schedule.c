/* Who runs next: threads in seeded random order, and between them the work of the asynchronous
 * engines, each engine now hasty, now slow. */
#include "codegen/rehearse/mesh.h"
#include "program/parts/agent.h"
#include "program/program.h"

#define MAX_OPS 2000000000u /* by all threads: about a minute */

_Thread_local WsHost *ws_host;

guint64 ws_host_random(WsHost *h) /* splitmix64 */
{
    guint64 z = h->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

guint64 ws_host_hash(const void *data, gsize bytes, guint64 start)
{
    const guint8 *at = data;
    guint64 h = start ^ 0x243f6a8885a308d3u, word;
    for (; bytes >= 8; at += 8, bytes -= 8) {
        memcpy(&word, at, 8);
        h = (h ^ word) * 0x9fb21c651e98df25u;
        h ^= h >> 32;
    }
    for (; bytes; at++, bytes--)
        h = (h ^ *at) * 0x100000001b3u;
    return h;
}

/* --- reports ------------------------------------------------------------------------------------
 */
static const WsOp *op_of(const WsHost *h, guint op)
{
    return h->p && op < h->p->n_ops ? h->p->op[op] : NULL;
}

/* "mma.0 thread 5 of CTA 1 at groups/…", caller frees. */
static char *host_who(const WsHostThread *t)
{
    const WsHost *h = t->cta->host;
    const WsOp *op = op_of(h, t->op);
    const char *agent = h->p && t->agent >= 0 && (guint)t->agent < h->p->n_agents
                            ? h->p->agent[t->agent].name
                            : "prologue";
    return g_strdup_printf("%s, thread %u of CTA %u%s%s", agent, t->tid, t->cta->id,
                           op ? ", at " : "", op ? op->id : "");
}

void ws_host_violation(WsHostThread *t, const char *format, ...)
{
    WsHost *h = ws_host;
    va_list list;
    if (h->violations++)
        return;
    va_start(list, format);
    g_autofree char *what = g_strdup_vprintf(format, list);
    va_end(list);
    g_autofree char *who = t ? host_who(t) : NULL;
    h->first_violation = g_strdup_printf("%s%s%s", who ? who : "", who ? ": " : "", what);
}

void ws_host_race(guint op, const char *format, ...)
{
    WsHost *h = ws_host;
    const WsOp *o = op_of(h, op);
    va_list list;
    if (h->races++)
        return;
    va_start(list, format);
    g_autofree char *what = g_strdup_vprintf(format, list);
    va_end(list);
    h->first_race = g_strdup_printf("%s%s%s", o ? o->id : "", o ? ": " : "", what);
}

guint8 *ws_host_shared(WsHostCta *cta, guint32 address, guint32 bytes, const char *what)
{
    guint64 offset = WS_HOST_OFFSET(address), all = cta->host->shared_bytes;
    if (offset > all || bytes > all - offset) {
        ws_host_violation(ws_host_me(), "%s outside shared memory (byte %lld, %u bytes)", what,
                          (long long)offset, bytes);
        return NULL;
    }
    return cta->shared + offset;
}

/* --- threads ---------------------------------------------------------------------------------- */
static void make_ready(WsHost *h, WsHostThread *t)
{
    t->state = WS_HOST_READY;
    t->place = h->ready->len;
    g_ptr_array_add(h->ready, t);
}

static void not_ready(WsHost *h, WsHostThread *t, WsHostState state)
{
    WsHostThread *last = h->ready->pdata[h->ready->len - 1];
    h->ready->pdata[t->place] = last;
    last->place = t->place;
    g_ptr_array_set_size(h->ready, (gint)h->ready->len - 1);
    t->state = state;
}

void ws_host_block(WsHostThread *t, WsHostWait why, GPtrArray *waiters)
{
    t->wait = why;
    if (waiters)
        g_ptr_array_add(waiters, t);
    not_ready(ws_host, t, WS_HOST_BLOCKED);
    ws_fiber_yield(t->fiber);
    t->wait = WS_HOST_WAIT_NONE;
}

void ws_host_wake(WsHostThread *t)
{
    if (t->state == WS_HOST_BLOCKED)
        make_ready(ws_host, t);
}

void ws_host_wake_all(GPtrArray *waiters)
{
    guint i;
    for (i = 0; i < waiters->len; i++)
        ws_host_wake(waiters->pdata[i]);
    g_ptr_array_set_size(waiters, 0);
}

void wsh_op(guint32 op)
{
    WsHostThread *t = ws_host_me();
    t->op = op;
    if (++ws_host->ops > MAX_OPS) {
        if (!ws_host->stuck)
            ws_host->stuck =
                g_strdup_printf("gave up after %u operations; give smaller sizes", MAX_OPS);
        ws_fiber_yield(t->fiber);
    }
    if (ws_host_random(ws_host) % 16 == 0) /* let others overtake */
        ws_fiber_yield(t->fiber);
}

void wsh_agent(guint32 agent)
{
    ws_host_me()->agent = (gint)agent;
}

static void run_thread(gpointer data)
{
    ws_host->kernel(ws_host_me()->cta->param);
}

/* --- later ------------------------------------------------------------------------------------ */
void ws_host_later(WsHostLater *later)
{
    g_ptr_array_add(ws_host->later, later);
}

static void free_later(gpointer data)
{
    WsHostLater *l = data;
    ws_host_queue_free(l->work);
    g_free(l->data);
    g_free(l->clock);
    g_free(l);
}

static void happen(WsHost *h, guint index)
{
    WsHostLater *l = h->later->pdata[index];
    switch (l->kind) {
    case WS_HOST_LOAD:
        ws_host_run_load(l);
        break;
    case WS_HOST_STORE_READ:
        if (ws_host_run_store_read(l)) {
            l->kind = WS_HOST_STORE_WRITE;
            return;
        }
        break;
    case WS_HOST_STORE_WRITE:
        ws_host_run_store_write(l);
        break;
    case WS_HOST_MMA:
        ws_host_run_mma(l->mma);
        break;
    case WS_HOST_COPY:
        ws_host_run_copy(l);
        break;
    case WS_HOST_COPIES:
        ws_host_run_copies(l->thread);
        break;
    case WS_HOST_QUEUE:
        ws_host_run_queue(l);
        break;
    }
    g_ptr_array_remove_index_fast(h->later, index);
}

/* Each engine takes a new temper now and then, for 256 to 16384 steps; in half of the cases the
 * slowest: nothing happens before the threads have run dry. */
static void temper(WsHost *h)
{
    static const guint chance[8] = { 0, 0, 0, 0, 1, 8, 64, 240 };
    guint i;
    for (i = 0; i < G_N_ELEMENTS(h->weight); i++) {
        guint64 r;
        if (h->steps < h->until[i])
            continue;
        r = ws_host_random(h);
        h->weight[i] = chance[r & 7];
        h->until[i] = h->steps + (256u << (r >> 3) % 7);
    }
}

/* Threads at gates are not ready, and an engine that waited for nobody would be done before the
 * next move: where an order is forced, stores read what they store when nothing else can happen. */
static gboolean put_off(const WsHost *h, guint index)
{
    if (!h->held || ((const WsHostLater *)h->later->pdata[index])->kind != WS_HOST_STORE_READ)
        return FALSE;
    for (guint i = 0; i < h->later->len; i++)
        if (((const WsHostLater *)h->later->pdata[i])->kind != WS_HOST_STORE_READ)
            return TRUE;
    return h->ready->len > 0;
}

static gboolean engines_turn(WsHost *h)
{
    const WsHostLater *l;
    guint64 r;
    guint index;
    if (!h->later->len)
        return FALSE;
    r = ws_host_random(h);
    index = (guint)(r >> 8) % h->later->len;
    l = h->later->pdata[index];
    if (h->ready->len && (r & 255) >= h->weight[l->kind])
        return FALSE;
    if (l->kind == WS_HOST_QUEUE && !ws_host_queue_ready(h, l))
        return h->ready->len == 0; /* an older one, next time */
    if (put_off(h, index))
        return h->ready->len == 0; /* another one, next time */
    happen(h, index);
    ws_host_settled(h);
    return TRUE;
}

void ws_host_schedule(WsHost *h)
{
    while ((h->live || ws_host_mesh_goes_on(h)) && !h->stuck) {
        if (h->steps++ % 256 == 0)
            temper(h);
        if (h->mesh && ws_host_mesh_turn(h, FALSE))
            continue;
        if (engines_turn(h))
            continue;
        if (!h->ready->len && h->mesh && ws_host_mesh_turn(h, TRUE))
            continue;
        if (!h->ready->len && !ws_host_give_up(h)) {
            ws_host_describe_stuck(h);
            return;
        }
        WsHostThread *t = h->ready->pdata[ws_host_random(h) % h->ready->len];
        h->running = t;
        if (++h->switches % (1 << 18) == 0 && h->progress)
            h->progress(h, h->progress_data);
        if (!ws_fiber_resume(t->fiber)) {
            not_ready(h, t, WS_HOST_ENDED);
            h->live--;
            ws_fiber_release(t->fiber);
            t->fiber = NULL;
            ws_host_cluster_check(h);
            if (h->mesh)
                ws_host_mesh_thread_ended(h, t->cta); /* may free it */
        }
        h->running = NULL;
    }
}

/* --- a cluster -------------------------------------------------------------------------------- */
static void free_mbar(WsHostMbar *b)
{
    g_ptr_array_free(b->waiters, TRUE);
    g_free(b);
}

void ws_host_clear_cta(WsHost *h, WsHostCta *c)
{
    guint i;
    for (i = 0; c->mbar && i < h->shared_bytes / 8 + 1; i++)
        if (c->mbar[i])
            free_mbar(c->mbar[i]);
    for (i = 0; i < 16 && c->mbar; i++)
        g_ptr_array_free(c->named[i].waiters, TRUE);
    for (i = 0; c->warp && i < (h->threads + 31) / 32; i++)
        g_ptr_array_free(c->warp[i].waiters, TRUE);
    for (i = 0; c->wave && i < (h->threads + 63) / 64; i++)
        g_ptr_array_free(c->wave[i].waiters, TRUE);
    for (i = 0; c->group && i < (h->threads + 127) / 128; i++) {
        g_ptr_array_free(c->group[i].mma, TRUE);
        g_ptr_array_free(c->group[i].waiters, TRUE);
    }
    for (i = 0; c->thread && i < h->threads; i++) {
        if (c->thread[i].fiber)
            ws_fiber_release(c->thread[i].fiber);
        g_ptr_array_free(c->thread[i].bulk, TRUE);
        g_free(c->thread[i].bulk_open);
        ws_host_copies_end(&c->thread[i]);
    }
    g_free(c->shared);
    g_free(c->mbar);
    g_free(c->warp);
    g_free(c->wave);
    g_free(c->group);
    g_free(c->thread);
    memset(c, 0, sizeof *c);
}

gboolean ws_host_start_cta(WsHost *h, WsHostCta *c, guint rank, guint id, const guint64 *param)
{
    guint i;
    c->host = h;
    c->rank = rank;
    c->id = id;
    c->param = param;
    c->live = h->threads;
    c->shared = g_malloc(h->shared_bytes + 1);
    memset(c->shared, 0xff, h->shared_bytes); /* NaN in every float type */
    c->mbar = g_new0(WsHostMbar *, h->shared_bytes / 8 + 1);
    c->warp = g_new0(WsHostWarp, (h->threads + 31) / 32);
    c->wave = g_new0(WsHostWave, (h->threads + 63) / 64);
    c->group = g_new0(WsHostWarpGroup, (h->threads + 127) / 128);
    c->thread = g_new0(WsHostThread, h->threads);
    for (i = 0; i < 16; i++)
        c->named[i].waiters = g_ptr_array_new();
    for (i = 0; i < (h->threads + 31) / 32; i++) {
        c->warp[i].waiters = g_ptr_array_new();
        c->warp[i].elected = (guint)(ws_host_random(h) % MIN(32, h->threads - 32 * i));
    }
    for (i = 0; i < (h->threads + 63) / 64; i++)
        c->wave[i].waiters = g_ptr_array_new();
    for (i = 0; i < (h->threads + 127) / 128; i++) {
        c->group[i].cta = c;
        c->group[i].mma = g_ptr_array_new_with_free_func(g_free);
        c->group[i].waiters = g_ptr_array_new();
    }
    for (i = 0; i < h->threads; i++) {
        WsHostThread *t = &c->thread[i];
        t->cta = c;
        t->tid = i;
        t->agent = -1;
        t->op = G_MAXUINT;
        t->bulk = g_ptr_array_new_with_free_func(g_free);
        t->bulk_open = g_new0(WsHostGroup, 1);
        ws_host_copies_new(t);
    }
    for (i = 0; i < h->threads; i++) {
        c->thread[i].fiber = ws_fiber_new(h->pool, run_thread, NULL);
        if (!c->thread[i].fiber)
            return FALSE;
        make_ready(h, &c->thread[i]);
        h->live++;
    }
    return TRUE;
}

/* The CTA that asked for it. */
static const WsHostCta *cta_of(const WsHostLater *l)
{
    return l->mma ? l->mma->cta : l->thread->cta;
}

/* What may not be left when a CTA ends; stores that have read may still write. */
void ws_host_check_end(WsHost *h, const WsHostCta *c)
{
    for (guint i = 0; i < h->later->len; i++) {
        const WsHostLater *l = h->later->pdata[i];
        if (cta_of(l) != c)
            continue;
        if (l->kind == WS_HOST_LOAD || l->kind == WS_HOST_COPY)
            ws_host_violation(l->thread, "CTA ends while a load is still in flight");
        if (l->kind == WS_HOST_COPIES)
            ws_host_violation(l->thread, "CTA ends while a gather is still in flight");
        if (l->kind == WS_HOST_STORE_READ)
            ws_host_violation(l->thread, "CTA ends while a store still reads shared memory");
    }
}

static gboolean is_of(const WsHostLater *l, const WsHostCta *c, guint n)
{
    return cta_of(l) >= c && cta_of(l) < c + n;
}

void ws_host_finish(WsHost *h, WsHostCta *c, guint n)
{
    guint i = 0, k;
    while (i < h->later->len) {
        if (is_of(h->later->pdata[i], c, n))
            happen(h, i); /* it goes on there as another one, or another one takes its place */
        else
            i++;
    }
    for (i = 0; i < n; i++)
        for (k = 0; k < (h->threads + 127) / 128; k++)
            ws_host_mma_end(&c[i].group[k]);
}

void ws_host_reset(WsHost *h)
{
    g_ptr_array_set_size(h->later, 0);
    g_ptr_array_set_size(h->ready, 0);
    g_ptr_array_set_size(h->cluster_waiters, 0);
    g_ptr_array_set_size(h->gated, 0);
    g_ptr_array_set_size(h->settling, 0);
    for (guint i = 0; i < h->n_ctas; i++)
        ws_host_clear_cta(h, &h->cta[i]);
}

gboolean ws_host_run(WsHost *h, guint first_id, guint n_ids, void (*kernel)(const guint64 *),
                     const guint64 *param)
{
    WsHost *before = ws_host;
    gboolean fine = TRUE;
    guint i;
    ws_host = h;
    h->kernel = kernel;
    h->n_ids = n_ids;
    h->live = h->cluster_arrived = 0;
    h->cluster_phase = 0;
    for (i = 0; i < h->n_ctas && fine; i++)
        fine = ws_host_start_cta(h, &h->cta[i], i, first_id + i, param);
    if (fine) {
        ws_host_schedule(h);
        for (i = 0; i < h->n_ctas && !h->stuck; i++)
            ws_host_check_end(h, &h->cta[i]);
        if (!h->stuck)
            ws_host_queues_end(h);
        if (!h->stuck)
            ws_host_finish(h, h->cta, h->n_ctas);
    } else {
        h->stuck = g_strdup("no memory for the stacks of all threads");
    }
    ws_host_reset(h);
    ws_host = before;
    return !h->stuck;
}

WsHost *ws_host_new(const WsProgram *p, guint threads, guint n_ctas, guint64 shared_bytes,
                    guint64 seed)
{
    WsHost *h = g_new0(WsHost, 1);
    h->p = p;
    h->threads = threads;
    h->n_ctas = n_ctas;
    h->cta = g_new0(WsHostCta, n_ctas);
    h->shared_bytes = shared_bytes;
    h->random = seed * 0x2545f4914f6cdd1du + 0x9e3779b97f4a7c15u;
    h->pool = ws_fiber_pool_new(128 * 1024);
    h->ready = g_ptr_array_new();
    h->later = g_ptr_array_new_with_free_func(free_later);
    h->cluster_waiters = g_ptr_array_new();
    h->gated = g_ptr_array_new();
    h->settling = g_ptr_array_new();
    return h;
}

void ws_host_free(WsHost *h)
{
    if (!h)
        return;
    g_free(h->cta);
    ws_fiber_pool_free(h->pool);
    g_ptr_array_free(h->ready, TRUE);
    g_ptr_array_free(h->later, TRUE);
    g_ptr_array_free(h->cluster_waiters, TRUE);
    g_ptr_array_free(h->gated, TRUE);
    g_ptr_array_free(h->settling, TRUE);
    g_free(h->first_race);
    g_free(h->first_violation);
    g_free(h->stuck);
    g_clear_pointer(&h->waits, g_array_unref);
    g_free(h);
}
