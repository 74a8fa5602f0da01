/* cp.async: the copies of a thread happen in batches, each some time after the commit or arrival
 * that closes it and in the order of the thread; until then the destination holds poison. */
#include "codegen/rehearse/host.h"

typedef struct {
    guint32 dst, bytes;
    const guint8 *src;
} Copy;

typedef struct WsHostCopies {
    GArray *copy;   /* Copy */
    gboolean group; /* closed by a commit; else by an arrival on `bar` */
    guint32 bar;
    guint op;
} WsHostCopies;

static void free_copies(gpointer data)
{
    WsHostCopies *c = data;
    g_array_free(c->copy, TRUE);
    g_free(c);
}

static WsHostCopies *open_copies(void)
{
    WsHostCopies *c = g_new0(WsHostCopies, 1);
    c->copy = g_array_new(FALSE, FALSE, sizeof(Copy));
    return c;
}

void ws_host_copies_new(WsHostThread *t)
{
    t->copies = g_ptr_array_new_with_free_func(free_copies);
}

void ws_host_copies_end(WsHostThread *t)
{
    if (t->copies)
        g_ptr_array_free(t->copies, TRUE);
    if (t->copies_open)
        free_copies(t->copies_open);
}

static WsHostCopies *mine(WsHostThread *t)
{
    if (!t->copies_open)
        t->copies_open = open_copies();
    return t->copies_open;
}

void wsh_cp_async(guint32 dst, guint64 src, guint32 bytes)
{
    WsHostThread *t = ws_host_me();
    guint8 *to = ws_host_shared(t->cta, dst, 16, "cp.async");
    if (dst % 16 || bytes > 16 || (bytes && src % 16))
        ws_host_violation(t, "cp.async of 16 bytes is not aligned");
    if (!to || bytes > 16)
        return;
    memset(to, 0xff, 16);
    Copy c = { dst, bytes, (const guint8 *)(guintptr)src };
    g_array_append_val(mine(t)->copy, c);
}

void wsh_cp_async_hint(guint32 dst, guint64 src, guint32 all, guint64 policy)
{
    wsh_cp_async(dst, src, all ? 16 : 0);
}

static void close_copies(WsHostThread *t, gboolean group, guint32 bar)
{
    WsHostLater *l = g_new0(WsHostLater, 1);
    WsHostCopies *c = mine(t);
    c->group = group;
    c->bar = bar;
    c->op = t->op;
    t->copies_open = NULL;
    g_ptr_array_add(t->copies, c);
    l->kind = WS_HOST_COPIES;
    l->thread = t;
    l->op = t->op;
    ws_host_later(l);
}

void wsh_cp_arrive(guint32 bar)
{
    close_copies(ws_host_me(), FALSE, bar);
}

void wsh_cp_commit(void)
{
    WsHostThread *t = ws_host_me();
    t->copy_groups++;
    close_copies(t, TRUE, 0);
}

void ws_host_run_copies(WsHostThread *t)
{
    WsHostCopies *c = t->copies->pdata[0];
    for (guint i = 0; i < c->copy->len; i++) {
        const Copy *x = &g_array_index(c->copy, Copy, i);
        guint8 *to = ws_host_shared(t->cta, x->dst, 16, "cp.async");
        if (!to)
            continue;
        memset(to, 0, 16);
        if (x->bytes)
            memcpy(to, x->src, x->bytes);
    }
    if (c->group)
        t->copy_groups--;
    else
        ws_host_mbar_arrive_at(t->cta, c->bar);
    g_ptr_array_remove_index(t->copies, 0);
    if (t->wait == WS_HOST_WAIT_COPIES)
        ws_host_wake(t);
}

void wsh_cp_wait(guint32 n)
{
    WsHostThread *t = ws_host_me();
    t->id = n;
    while (t->copy_groups > n)
        ws_host_block(t, WS_HOST_WAIT_COPIES, NULL);
}
