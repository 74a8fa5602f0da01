/* TMA: boxes of tensors move some time after they were asked for. While a load is under way its
 * destination holds poison; the source of a store is hashed when the store is issued and again when
 * it is read, so that an overwrite in between is seen even if it writes the same bytes later. */
#include "codegen/rehearse/mesh.h"

#include "program/inputs.h"

/* --- boxes ------------------------------------------------------------------------------------ */
/* Runs of one box row: every innermost row of the box in order of shared memory. */
typedef struct {
    guint bytes;     /* of one element */
    guint row_bytes; /* of one innermost row in shared memory */
    guint64 rows;
    gint64 low,
        high; /* columns of the row inside the tensor: low <= i < high, relative to the box */
} Box;

static Box box_of(const WsHostMap *m, const gint32 *at)
{
    Box b = { .bytes = ws_dtype_bytes(m->dtype), .rows = 1 };
    guint i;
    b.row_bytes = m->box[0] * b.bytes;
    for (i = 1; i < m->rank; i++)
        b.rows *= m->box[i];
    b.low = CLAMP(-(gint64)at[0], 0, m->box[0]);
    b.high = CLAMP(m->dim[0] - at[0], b.low, m->box[0]);
    return b;
}

/* Global address of the box's column 0 in row `row`, NULL if the row lies outside. The address may
 * lie before the tensor: only columns low..high-1 may be touched. */
static guint8 *row_address(const WsHostMap *m, const gint32 *at, const Box *b, guint64 row)
{
    gint64 offset = (gint64)at[0] * m->stride[0];
    guint i;
    for (i = 1; i < m->rank; i++) {
        gint64 x = at[i] + (gint64)(row % m->box[i]);
        row /= m->box[i];
        if (x < 0 || x >= m->dim[i])
            return NULL;
        offset += x * m->stride[i];
    }
    return (guint8 *)((guintptr)m->base + (guintptr)(offset * b->bytes));
}

/* Copies between a linear box image and shared memory, 16 bytes at a time. */
static void copy_box(WsHostCta *cta, const WsHostMap *m, guint32 shared, guint8 *image,
                     guint32 bytes, gboolean to_shared)
{
    guint8 *base = ws_host_shared(cta, shared, bytes, "TMA box");
    guint32 i;
    if (!base)
        return;
    if (!m->swizzle) {
        memcpy(to_shared ? base : image, to_shared ? image : base, bytes);
        return;
    }
    for (i = 0; i < bytes; i += 16) {
        guint32 n = MIN(16, bytes - i);
        guint8 *at = ws_host_shared(cta, ws_host_swizzled(shared + i, m->swizzle), n, "TMA box");
        if (at)
            memcpy(to_shared ? at : image + i, to_shared ? image + i : at, n);
    }
}

static guint32 box_bytes(const WsHostMap *m)
{
    guint32 n = ws_dtype_bytes(m->dtype);
    guint i;
    for (i = 0; i < m->rank; i++)
        n *= m->box[i];
    return n;
}

static gboolean legal(WsHostThread *t, const WsHostMap *m, guint32 shared, const char *what)
{
    guint32 align = m->swizzle ? 8 * m->swizzle : 128;
    if (m->swizzle && m->box[0] * ws_dtype_bytes(m->dtype) > m->swizzle) {
        ws_host_violation(t, "%s: inner box of %u bytes exceeds the swizzle span %u", what,
                          m->box[0] * ws_dtype_bytes(m->dtype), m->swizzle);
        return FALSE;
    }
    if (shared % MIN(align, 128))
        ws_host_violation(t, "%s: shared address is not a multiple of 128", what);
    return ws_host_shared(t->cta, shared, box_bytes(m), what) != NULL;
}

/* --- loads ------------------------------------------------------------------------------------ */
static void poison(WsHostCta *cta, guint32 shared, guint32 bytes)
{
    guint8 *at = ws_host_shared(cta, shared, bytes, "TMA load");
    if (at)
        memset(at, 0xff, bytes);
}

/* Asks for a load into CTA `cta`; NULL and a violation: it is not a legal one. */
static WsHostLater *ask_load(guint32 dst, const WsHostMap *m, guint32 bar, const gint32 *at,
                             WsHostCta *cta)
{
    WsHostThread *t = ws_host_me();
    WsHostLater *l = g_new0(WsHostLater, 1);
    l->kind = WS_HOST_LOAD;
    l->thread = t;
    l->cta = cta;
    l->map = m;
    l->shared = dst;
    l->bar = bar;
    l->op = t->op;
    memcpy(l->at, at, sizeof l->at);
    poison(l->cta, dst, box_bytes(m));
    return l;
}

static gboolean legal_load(WsHostThread *t, const WsHostMap *m, guint32 dst, guint32 rank,
                           const char *what)
{
    if (rank != m->rank) {
        ws_host_violation(t, "%s with %u coordinates through a map of rank %u", what, rank,
                          m->rank);
        return FALSE;
    }
    return legal(t, m, dst, what);
}

void wsh_tma_load(guint32 dst, guint64 map, guint32 bar, guint32 rank, guint32 c0, guint32 c1,
                  guint32 c2, guint32 c3, guint32 c4, guint32 mask)
{
    WsHostThread *t = ws_host_me();
    const WsHostMap *m = (const WsHostMap *)(guintptr)map;
    const gint32 at[WS_MAX_RANK] = { (gint32)c0, (gint32)c1, (gint32)c2, (gint32)c3, (gint32)c4 };
    if (!legal_load(t, m, dst, rank, "TMA load"))
        return;
    if (!mask)
        mask = 1u << t->cta->rank; /* no multicast */
    for (guint i = 0; i < WS_HOST_MAX_CTAS; i++) {
        if (!(mask >> i & 1))
            continue;
        if (i >= ws_host->n_ctas) {
            ws_host_violation(t, "multicast to CTA %u of a cluster of %u", i, ws_host->n_ctas);
            continue;
        }
        WsHostLater *l = ask_load(dst, m, bar, at, i == t->cta->rank ? t->cta : &ws_host->cta[i]);
        if (ws_host->mesh)
            ws_host_mesh_load(l);
        ws_host_later(l);
    }
}

void wsh_tma_get(guint32 dst, guint64 map, guint32 bar, guint32 rank, guint32 c0, guint32 c1,
                 guint32 c2, guint32 c3, guint32 c4, guint32 device)
{
    WsHostThread *t = ws_host_me();
    const WsHostMap *m = (const WsHostMap *)(guintptr)map;
    const gint32 at[WS_MAX_RANK] = { (gint32)c0, (gint32)c1, (gint32)c2, (gint32)c3, (gint32)c4 };
    if (!ws_host->mesh || device >= ws_host_mesh_devices(ws_host)) {
        ws_host_violation(t, "a get from device %d: there is none", (gint32)device);
        return;
    }
    if (!legal_load(t, m, dst, rank, "TMA load"))
        return;
    WsHostLater *l = ask_load(dst, m, bar, at, t->cta);
    ws_host_mesh_get(l, device);
    ws_host_later(l);
}

guint8 *ws_host_box_image(const WsHostMap *m, const gint32 *at, guint32 *bytes)
{
    Box b = box_of(m, at);
    guint8 *image = g_malloc0(*bytes = box_bytes(m));
    guint64 row;
    for (row = 0; row < b.rows; row++) {
        const guint8 *from = row_address(m, at, &b, row);
        guint8 *to = image + row * b.row_bytes;
        gint64 i;
        if (!from)
            continue;
        if (m->stride[0] == 1 && b.high > b.low)
            memcpy(to + b.low * b.bytes, from + b.low * b.bytes, (gsize)(b.high - b.low) * b.bytes);
        for (i = b.low; m->stride[0] != 1 && i < b.high; i++)
            memcpy(to + i * b.bytes, from + i * m->stride[0] * b.bytes, b.bytes);
    }
    return image;
}

void ws_host_run_load(WsHostLater *l)
{
    guint32 bytes;
    g_autofree guint8 *image = ws_host_box_image(l->map, l->at, &bytes);
    if (l->clock)
        ws_host_mesh_read(l, image, bytes);
    copy_box(l->cta, l->map, l->shared, image, bytes, TRUE);
    ws_host_mbar_credit(l->cta, l->bar, bytes);
}

/* --- stores ----------------------------------------------------------------------------------- */
static guint64 hash_shared(WsHostCta *cta, guint32 shared, guint32 bytes)
{
    const guint8 *at = ws_host_shared(cta, shared, bytes, "TMA store");
    return at ? ws_host_hash(at, bytes, 1) : 0;
}

/* Asks for a store; NULL and a violation: it is not a legal one. */
static WsHostLater *ask_store(guint32 src, const WsHostMap *m, guint32 rank, const gint32 *at,
                              guint32 reduce)
{
    WsHostThread *t = ws_host_me();
    WsHostLater *l;
    if (rank != m->rank) {
        ws_host_violation(t, "TMA store with %u coordinates through a map of rank %u", rank,
                          m->rank);
        return NULL;
    }
    if (!legal(t, m, src, "TMA store"))
        return NULL;
    l = g_new0(WsHostLater, 1);
    l->kind = WS_HOST_STORE_READ;
    l->thread = t;
    l->cta = t->cta;
    l->map = m;
    l->shared = src;
    l->reduce = (WsReduce)reduce;
    l->op = t->op;
    l->group = t->bulk_open;
    l->hash = hash_shared(t->cta, src, box_bytes(m));
    memcpy(l->at, at, sizeof l->at);
    l->group->reads++;
    l->group->writes++;
    ws_host_later(l);
    return l;
}

void wsh_tma_store(guint32 src, guint64 map, guint32 rank, guint32 c0, guint32 c1, guint32 c2,
                   guint32 c3, guint32 c4, guint32 reduce)
{
    const gint32 at[WS_MAX_RANK] = { (gint32)c0, (gint32)c1, (gint32)c2, (gint32)c3, (gint32)c4 };
    ask_store(src, (const WsHostMap *)(guintptr)map, rank, at, reduce);
}

void wsh_tma_put(guint32 src, guint64 map, guint32 rank, guint32 c0, guint32 c1, guint32 c2,
                 guint32 c3, guint32 c4, guint32 reduce, guint32 device)
{
    const gint32 at[WS_MAX_RANK] = { (gint32)c0, (gint32)c1, (gint32)c2, (gint32)c3, (gint32)c4 };
    if (!ws_host->mesh || device >= ws_host_mesh_devices(ws_host)) {
        ws_host_violation(ws_host_me(), "a put into device %d: there is none", (gint32)device);
        return;
    }
    WsHostLater *l = ask_store(src, (const WsHostMap *)(guintptr)map, rank, at, reduce);
    if (l)
        ws_host_mesh_put(l, device);
}

static void progress(WsHostThread *t)
{
    if (t->wait == WS_HOST_WAIT_BULK)
        ws_host_wake(t);
}

gboolean ws_host_run_store_read(WsHostLater *l)
{
    guint32 bytes = box_bytes(l->map);
    if (hash_shared(l->cta, l->shared, bytes) != l->hash)
        ws_host_race(l->op, "shared memory was written while a store was still reading it");
    l->data = g_malloc0(bytes);
    copy_box(l->cta, l->map, l->shared, l->data, bytes, FALSE);
    l->group->reads--;
    progress(l->thread);
    return TRUE;
}

static void reduce_element(guint8 *to, const guint8 *from, WsDtype dtype, WsReduce reduce)
{
    double old, new;
    if (reduce == WS_REDUCE_NONE) {
        memcpy(to, from, ws_dtype_bytes(dtype));
        return;
    }
    old = ws_input_decode((gint32)dtype, ws_input_get(to, (gint32)dtype, 0));
    new = ws_input_decode((gint32)dtype, ws_input_get(from, (gint32)dtype, 0));
    new = reduce == WS_REDUCE_ADD   ? old + new
          : reduce == WS_REDUCE_MIN ? MIN(old, new)
                                    : MAX(old, new);
    ws_input_put(to, (gint32)dtype, 0, ws_input_encode((gint32)dtype, new));
}

void ws_host_run_store_write(WsHostLater *l)
{
    const WsHostMap *m = l->map;
    Box b = box_of(m, l->at);
    guint64 row;
    const gboolean lost = l->put && !ws_host_mesh_write(l);
    for (row = 0; row < b.rows && !lost; row++) {
        guint8 *to = row_address(m, l->at, &b, row);
        const guint8 *from = l->data + row * b.row_bytes;
        gint64 i;
        for (i = b.low; to && i < b.high; i++)
            reduce_element(to + i * m->stride[0] * b.bytes, from + i * b.bytes, m->dtype,
                           l->reduce);
    }
    l->group->writes--;
    progress(l->thread);
}

/* --- copies between CTAs -------------------------------------------------------------------------
 */
/* Into CTA `rank`, later: from `src` in this one, or `data`, which it takes. at[0]: source, at[1]:
 * bytes. */
static void cross(guint32 dst, guint32 src, guint8 *data, guint32 bytes, guint32 bar, guint32 rank)
{
    WsHostThread *t = ws_host_me();
    WsHostLater *l = g_new0(WsHostLater, 1);
    l->kind = WS_HOST_COPY;
    l->thread = t;
    l->cta = &ws_host->cta[rank];
    l->shared = dst;
    l->bar = bar;
    l->op = t->op;
    l->at[0] = (gint32)src;
    l->at[1] = (gint32)bytes;
    l->data = data;
    l->hash = data ? 0 : hash_shared(t->cta, src, bytes);
    poison(l->cta, dst, bytes);
    ws_host_later(l);
}

void wsh_bulk_copy(guint32 dst, guint32 src, guint32 bytes, guint32 bar, guint32 rank)
{
    if (rank >= ws_host->n_ctas || (dst | src | bytes) % 16)
        ws_host_violation(ws_host_me(),
                          "bulk copy of %u bytes to CTA %u is not aligned or goes nowhere", bytes,
                          rank);
    else
        cross(dst, src, NULL, bytes, bar, rank);
}

/* Registers of a thread into another CTA. */
static void send(guint32 at, const guint32 *word, guint32 bytes, guint32 bar, guint32 rank)
{
    if (rank >= ws_host->n_ctas || at % bytes)
        ws_host_violation(ws_host_me(),
                          "st.async of %u bytes to CTA %u is not aligned or goes nowhere", bytes,
                          rank);
    else
        cross(at, 0, g_memdup2(word, bytes), bytes, bar, rank);
}

void wsh_st_async(guint32 at, guint32 a, guint32 bar, guint32 rank)
{
    send(at, &a, 4, bar, rank);
}

void wsh_st_async_v2(guint32 at, guint32 a, guint32 b, guint32 bar, guint32 rank)
{
    send(at, (guint32[]){ a, b }, 8, bar, rank);
}

void ws_host_run_copy(WsHostLater *l)
{
    guint32 src = (guint32)l->at[0], bytes = (guint32)l->at[1];
    if (l->data) {
        guint8 *into = ws_host_shared(l->cta, l->shared, bytes, "st.async");
        if (into)
            memcpy(into, l->data, bytes);
        ws_host_mbar_credit(l->cta, l->bar, bytes);
        return;
    }
    const guint8 *from = ws_host_shared(l->thread->cta, src, bytes, "bulk copy");
    guint8 *to = ws_host_shared(l->cta, l->shared, bytes, "bulk copy");
    if (from && hash_shared(l->thread->cta, src, bytes) != l->hash)
        ws_host_race(l->op, "shared memory was written while a copy was still reading it");
    if (from && to)
        memmove(to, from, bytes);
    ws_host_mbar_credit(l->cta, l->bar, bytes);
}

/* --- bulk groups ------------------------------------------------------------------------------ */
void wsh_bulk_commit(void)
{
    WsHostThread *t = ws_host_me();
    g_ptr_array_add(t->bulk, t->bulk_open);
    t->bulk_open = g_new0(WsHostGroup, 1);
}

static void wait_groups(guint32 n, gboolean writes)
{
    WsHostThread *t = ws_host_me();
    guint i = 0;
    t->id = n;
    while (t->bulk->len > n && i < t->bulk->len - n) {
        const WsHostGroup *g = t->bulk->pdata[i];
        if ((writes ? g->writes : g->reads) == 0)
            i++;
        else
            ws_host_block(t, WS_HOST_WAIT_BULK, NULL);
    }
    while (t->bulk->len && ((WsHostGroup *)t->bulk->pdata[0])->writes == 0)
        g_ptr_array_remove_index(t->bulk, 0);
}

void wsh_bulk_wait(guint32 n)
{
    wait_groups(n, TRUE);
    if (ws_host->mesh && n == 0)
        ws_host_mesh_complete(ws_host_me());
}

void wsh_bulk_wait_read(guint32 n)
{
    wait_groups(n, FALSE);
}
