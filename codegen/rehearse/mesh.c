/* Launches of the devices of a mesh, and their flags. */
#include "codegen/rehearse/mesh.h"
#include "codegen/rehearse/mesh_memory.h"
#include "program/parts/mesh.h"
#include "program/program.h"

typedef struct {
    guint begun;       /* launches */
    gboolean runs;     /* one of them */
    guint next, ended; /* CTAs */
} Device;

struct WsHostMesh {
    const WsHostMeshPlan *plan;
    WsMeshMemory *memory;
    Device *device;
    GPtrArray *waiters; /* WsHostThread: for flags */
};

static guint cell_of(const WsHostCta *c)
{
    return (guint)(c - c->host->cta);
}

guint ws_host_mesh_device(const WsHostCta *c)
{
    return cell_of(c) / c->host->mesh->plan->grid;
}

guint ws_host_mesh_devices(const WsHost *h)
{
    return h->mesh->plan->devices;
}

static WsMeshMemory *memory_of(const WsHostThread *t)
{
    return t->cta->host->mesh->memory;
}

/* --- launches --------------------------------------------------------------------------------- */
gboolean ws_host_mesh_goes_on(const WsHost *h)
{
    for (guint d = 0; h->mesh && d < h->mesh->plan->devices; d++)
        if (h->mesh->device[d].runs || h->mesh->device[d].begun < h->mesh->plan->launches)
            return TRUE;
    return FALSE;
}

static void begin(WsHost *h, guint d)
{
    WsHostMesh *m = h->mesh;
    Device *v = &m->device[d];
    m->plan->param[d][m->plan->launch_word] = v->begun;
    m->plan->begin(m->plan->data, d, v->begun);
    v->begun++;
    v->next = v->ended = 0;
    v->runs = TRUE;
    ws_mesh_memory_begin(m->memory, d, v->begun);
}

static gboolean start(WsHost *h, guint d)
{
    const WsHostMeshPlan *plan = h->mesh->plan;
    const guint id = h->mesh->device[d].next++;
    return ws_host_start_cta(h, &h->cta[d * plan->grid + id], 0, id, plan->param[d]);
}

gboolean ws_host_mesh_turn(WsHost *h, gboolean dry)
{
    const WsHostMeshPlan *plan = h->mesh->plan;
    const guint first = (guint)(ws_host_random(h) % plan->devices);
    for (guint i = 0; i < plan->devices; i++) {
        const guint d = (first + i) % plan->devices;
        Device *v = &h->mesh->device[d];
        if (v->runs && v->next < plan->grid && v->next - v->ended < plan->resident) {
            if (!start(h, d))
                h->stuck = g_strdup("no memory for the stacks of all threads");
            return TRUE;
        }
        if (!v->runs && v->begun < plan->launches && (dry || ws_host_random(h) % 512 == 0)) {
            begin(h, d);
            return TRUE;
        }
    }
    return FALSE;
}

/* The kernel of a device is over: all that it has issued is done, and the host sees it. */
static void end(WsHost *h, guint d)
{
    WsHostMesh *m = h->mesh;
    const guint grid = m->plan->grid;
    ws_host_finish(h, &h->cta[d * grid], grid);
    ws_mesh_memory_end(m->memory, d);
    m->plan->end(m->plan->data, d, m->device[d].begun - 1);
    for (guint i = 0; i < grid; i++)
        ws_host_clear_cta(h, &h->cta[d * grid + i]);
    m->device[d].runs = FALSE;
}

void ws_host_mesh_thread_ended(WsHost *h, WsHostCta *cta)
{
    const guint d = ws_host_mesh_device(cta);
    if (--cta->live > 0)
        return;
    ws_host_check_end(h, cta);
    if (++h->mesh->device[d].ended == h->mesh->plan->grid)
        end(h, d);
}

gboolean ws_host_run_mesh(WsHost *h, const WsHostMeshPlan *plan, void (*kernel)(const guint64 *))
{
    WsHostMesh m = { .plan = plan,
                     .memory = ws_mesh_memory_new(h, plan->devices, plan->grid),
                     .device = g_new0(Device, plan->devices),
                     .waiters = g_ptr_array_new() };
    WsHost *before = ws_host;
    ws_host = h;
    h->mesh = &m;
    h->kernel = kernel;
    h->n_ids = plan->grid;
    ws_host_schedule(h);
    ws_host_reset(h);
    h->mesh = NULL;
    ws_host = before;
    ws_mesh_memory_free(m.memory);
    g_ptr_array_unref(m.waiters);
    g_free(m.device);
    return !h->stuck;
}

/* --- flags ------------------------------------------------------------------------------------ */
/* The flag that an entry of the table and an offset name, which the running thread (*t) acts on;
 * NULL and a violation: none. */
static guint64 *flag_at(guint64 entry, guint64 offset, WsHostThread **thread)
{
    WsHostThread *t = *thread = ws_host_me();
    const guint64 element = offset / 8;
    const WsHost *h = t->cta->host;
    const WsHostMeshPlan *plan = h->mesh ? h->mesh->plan : NULL;
    if (!plan) {
        ws_host_violation(t, "a flag of devices where there is no mesh");
        return NULL;
    }
    const guint64 own = (guint64)(guintptr)plan->table[ws_host_mesh_device(t->cta)];
    const gint64 d = (gint64)(entry - own) / 8;
    if (d < 0 || d >= plan->devices || element >= plan->first[h->p->mesh->n_flags]) {
        ws_host_violation(t, "a flag of device %lld, element %lld: there is none", (long long)d,
                          (long long)offset / 8);
        return NULL;
    }
    t->flag = element;
    return &plan->flag[d][element];
}

void wsh_notify(guint64 entry, guint64 offset, guint64 amount, guint32 order)
{
    WsHostThread *t;
    guint64 *flag = flag_at(entry, offset, &t);
    if (!flag)
        return;
    *flag += amount;
    if (order == 0) /* what is relaxed, or of one device, gives nothing */
        ws_mesh_memory_release(memory_of(t), cell_of(t->cta), flag);
    ws_host_wake_all(ws_host->mesh->waiters);
}

void wsh_await(guint64 entry, guint64 offset, guint64 amount, guint32 order)
{
    WsHostThread *t;
    guint64 *flag = flag_at(entry, offset, &t);
    if (!flag)
        return;
    t->amount = (gint64)amount;
    while ((order & 4) ? *flag != amount : (gint64)*flag < (gint64)amount)
        ws_host_block(t, WS_HOST_WAIT_FLAG, ws_host->mesh->waiters);
    if ((order & 3) == 0)
        ws_mesh_memory_acquire(memory_of(t), cell_of(t->cta), flag);
}

void wsh_fence_async_global(void)
{
    WsHostThread *t = ws_host_me();
    if (t->cta->host->mesh)
        ws_mesh_memory_fence(memory_of(t), cell_of(t->cta));
}

char *ws_host_mesh_waits(const WsHostThread *t)
{
    const WsHost *h = t->cta->host;
    const WsHostMeshPlan *plan = h->mesh->plan;
    const guint device = ws_host_mesh_device(t->cta);
    guint f = 0;
    while (f + 1 < h->p->mesh->n_flags && t->flag >= plan->first[f + 1])
        f++;
    return g_strdup_printf("flag %s, element %llu, to be %lld (it is %llu)",
                           h->p->mesh->flag[f].name, (unsigned long long)(t->flag - plan->first[f]),
                           (long long)t->amount, (unsigned long long)plan->flag[device][t->flag]);
}

/* --- boxes ------------------------------------------------------------------------------------ */
void ws_host_mesh_put(WsHostLater *l, guint device)
{
    WsHostThread *t = l->thread;
    const Device *own = &t->cta->host->mesh->device[ws_host_mesh_device(t->cta)];
    l->put = TRUE;
    l->device = device;
    l->unordered = !ws_mesh_memory_issue(memory_of(t), cell_of(t->cta), (guint)MAX(t->agent, 0),
                                         device, own->begun, &l->source, &l->number);
    t->put = l->number;
}

gboolean ws_host_mesh_write(WsHostLater *l)
{
    if (l->unordered && ws_host_random(ws_host) % 2)
        return FALSE;
    ws_mesh_memory_write(memory_of(l->thread), l);
    return TRUE;
}

void ws_host_mesh_load(WsHostLater *l)
{
    l->clock = ws_mesh_memory_engine(memory_of(l->thread), cell_of(l->thread->cta));
    l->device = ws_host_mesh_device(l->thread->cta);
}

void ws_host_mesh_get(WsHostLater *l, guint device)
{
    const WsHostThread *t = l->thread;
    const Device *own = &t->cta->host->mesh->device[ws_host_mesh_device(t->cta)];
    ws_host_mesh_load(l);
    l->device = device;
    l->unordered = !ws_mesh_memory_begun(memory_of(t), cell_of(t->cta), device, own->begun);
}

/* Bytes of a device that is not known to be in this launch may be those of any other one. */
void ws_host_mesh_read(const WsHostLater *l, guint8 *image, guint32 bytes)
{
    if (l->unordered && ws_host_random(ws_host) % 2)
        memset(image, 0x5a, bytes);
    ws_mesh_memory_stale(memory_of(l->thread), l->device, l->map, l->at, l->clock, image);
}

void ws_host_mesh_complete(WsHostThread *t)
{
    ws_mesh_memory_complete(memory_of(t), cell_of(t->cta), (guint)MAX(t->agent, 0), t->put);
}
