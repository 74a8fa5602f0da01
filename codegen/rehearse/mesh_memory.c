#include "codegen/rehearse/mesh_memory.h"
#include "program/inputs.h"
#include "program/program.h"

/* A box that was put. */
typedef struct {
    guint source;
    guint64 number;
    const WsHostMap *map;
    gint32 at[WS_MAX_RANK];
    WsReduce reduce;
    guint8 *old, *new; /* linear images of the box: what was there, what came */
} Record;

struct WsMeshMemory {
    WsHost *h;
    guint devices, grid, agents;
    guint n;             /* entries of a clock: agents of all CTAs, then devices */
    guint64 **know;      /* [CTAs] clocks: of its threads */
    guint64 **engine;    /* [CTAs] of its engines */
    guint64 **of_device; /* [devices] at the end of its launches so far */
    guint64 *issued;     /* [agents of all CTAs] */
    guint64 *done;       /* of those, known to be complete by whoever issued them */
    GHashTable *flag;    /* guint64* -> clock that releases have given it */
    GPtrArray **record;  /* [devices] Record*, of this launch, oldest first */
};

static guint64 *clock_new(const WsMeshMemory *m)
{
    return g_new0(guint64, m->n);
}

static void join(const WsMeshMemory *m, guint64 *into, const guint64 *from)
{
    for (guint i = 0; i < m->n; i++)
        into[i] = MAX(into[i], from[i]);
}

static void free_record(gpointer data)
{
    Record *r = data;
    g_free(r->old);
    g_free(r->new);
    g_free(r);
}

WsMeshMemory *ws_mesh_memory_new(WsHost *h, guint devices, guint grid)
{
    WsMeshMemory *m = g_new0(WsMeshMemory, 1);
    const guint cells = devices * grid;
    m->h = h;
    m->devices = devices;
    m->grid = grid;
    m->agents = MAX(h->p->n_agents, 1);
    m->n = cells * m->agents + devices;
    m->know = g_new0(guint64 *, cells + 1);
    m->engine = g_new0(guint64 *, cells + 1);
    for (guint c = 0; c < cells; c++)
        m->know[c] = clock_new(m), m->engine[c] = clock_new(m);
    m->of_device = g_new0(guint64 *, devices);
    m->record = g_new0(GPtrArray *, devices);
    for (guint d = 0; d < devices; d++) {
        m->of_device[d] = clock_new(m);
        m->record[d] = g_ptr_array_new_with_free_func(free_record);
    }
    m->issued = g_new0(guint64, cells * m->agents);
    m->done = g_new0(guint64, cells * m->agents);
    m->flag = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return m;
}

void ws_mesh_memory_free(WsMeshMemory *m)
{
    for (guint c = 0; c < m->devices * m->grid; c++) {
        g_free(m->know[c]);
        g_free(m->engine[c]);
    }
    for (guint d = 0; d < m->devices; d++) {
        g_free(m->of_device[d]);
        g_ptr_array_unref(m->record[d]);
    }
    g_hash_table_unref(m->flag);
    g_free(m->know);
    g_free(m->engine);
    g_free(m->of_device);
    g_free(m->record);
    g_free(m->issued);
    g_free(m->done);
    g_free(m);
}

/* --- what is known ---------------------------------------------------------------------------- */
/* Whatever a device did or knew before is known to all CTAs of its next launch. */
void ws_mesh_memory_begin(WsMeshMemory *m, guint d, guint launch)
{
    const guint first = m->devices * m->grid * m->agents;
    g_ptr_array_set_size(m->record[d], 0);
    m->of_device[d][first + d] = launch;
    for (guint c = d * m->grid; c < (d + 1) * m->grid; c++) {
        memcpy(m->know[c], m->of_device[d], sizeof(guint64) * m->n);
        memcpy(m->engine[c], m->of_device[d], sizeof(guint64) * m->n);
    }
}

void ws_mesh_memory_release(WsMeshMemory *m, guint cell, const guint64 *flag)
{
    guint64 *clock = g_hash_table_lookup(m->flag, flag);
    if (!clock) {
        clock = clock_new(m);
        g_hash_table_insert(m->flag, (gpointer)flag, clock);
    }
    for (guint s = cell * m->agents; s < (cell + 1) * m->agents; s++)
        m->know[cell][s] = MAX(m->know[cell][s], m->done[s]);
    join(m, clock, m->know[cell]);
}

void ws_mesh_memory_acquire(WsMeshMemory *m, guint cell, const guint64 *flag)
{
    const guint64 *clock = g_hash_table_lookup(m->flag, flag);
    if (clock)
        join(m, m->know[cell], clock);
}

void ws_mesh_memory_fence(WsMeshMemory *m, guint cell)
{
    join(m, m->engine[cell], m->know[cell]);
}

guint64 *ws_mesh_memory_engine(const WsMeshMemory *m, guint cell)
{
    return g_memdup2(m->engine[cell], sizeof(guint64) * m->n);
}

gboolean ws_mesh_memory_issue(WsMeshMemory *m, guint cell, guint agent, guint d, guint launch,
                              guint *source, guint64 *number)
{
    *source = cell * m->agents + MIN(agent, m->agents - 1);
    *number = ++m->issued[*source];
    return ws_mesh_memory_begun(m, cell, d, launch);
}

gboolean ws_mesh_memory_begun(const WsMeshMemory *m, guint cell, guint d, guint launch)
{
    return cell / m->grid == d || m->engine[cell][m->devices * m->grid * m->agents + d] >= launch;
}

void ws_mesh_memory_complete(WsMeshMemory *m, guint cell, guint agent, guint64 number)
{
    guint64 *done = &m->done[cell * m->agents + MIN(agent, m->agents - 1)];
    *done = MAX(*done, number);
}

/* --- what was there --------------------------------------------------------------------------- */
void ws_mesh_memory_write(WsMeshMemory *m, const WsHostLater *l)
{
    Record *r = g_new0(Record, 1);
    guint32 bytes;
    r->source = l->source;
    r->number = l->number;
    r->map = l->map;
    memcpy(r->at, l->at, sizeof r->at);
    r->reduce = l->reduce;
    r->old = ws_host_box_image(l->map, l->at, &bytes);
    r->new = g_memdup2(l->data, bytes);
    g_ptr_array_add(m->record[l->device], r);
}

/* Calls `f` for each element of a box, with its number in it and its place in the tensor. */
typedef void (*ElementFn)(gpointer data, guint64 number, const gint64 *place);

static void elements(const WsHostMap *map, const gint32 *at, ElementFn f, gpointer data)
{
    guint64 n = 1;
    gint64 place[WS_MAX_RANK];
    for (guint i = 0; i < map->rank; i++)
        n *= map->box[i];
    for (guint64 e = 0; e < n; e++) {
        guint64 rest = e;
        gboolean inside = TRUE;
        for (guint i = 0; i < map->rank; i++) {
            place[i] = at[i] + (gint64)(rest % map->box[i]);
            rest /= map->box[i];
            inside = inside && place[i] >= 0 && place[i] < map->dim[i];
        }
        if (inside)
            f(data, e, place);
    }
}

typedef struct {
    const Record *r;
    guint bytes;
    guint8 *image;
} Stale;

static void make_stale(gpointer data, guint64 number, const gint64 *place)
{
    const Stale *s = data;
    const Record *r = s->r;
    guint64 at = 0;
    for (guint i = r->map->rank; i-- > 0;) {
        const gint64 x = place[i] - r->at[i];
        if (x < 0 || x >= r->map->box[i])
            return;
        at = at * r->map->box[i] + (guint64)x;
    }
    memcpy(s->image + number * s->bytes, r->old + at * s->bytes, s->bytes);
}

void ws_mesh_memory_stale(WsMeshMemory *m, guint d, const WsHostMap *map, const gint32 *at,
                          const guint64 *clock, guint8 *image)
{
    for (guint i = m->record[d]->len; i-- > 0;) {
        const Record *r = m->record[d]->pdata[i];
        if (r->map->base != map->base || clock[r->source] >= r->number || ws_host_random(m->h) % 2)
            continue;
        Stale s = { r, ws_dtype_bytes(map->dtype), image };
        elements(map, at, make_stale, &s);
    }
}

/* An element becomes what it was before the put. */
static void take_back(gpointer data, guint64 number, const gint64 *place)
{
    const Record *r = data;
    const WsHostMap *map = r->map;
    const guint bytes = ws_dtype_bytes(map->dtype);
    const gint32 type = (gint32)map->dtype;
    gint64 offset = 0;
    for (guint i = 0; i < map->rank; i++)
        offset += place[i] * map->stride[i];
    guint8 *to = map->base + offset * bytes;
    if (r->reduce == WS_REDUCE_NONE) {
        memcpy(to, r->old + number * bytes, bytes);
        return;
    }
    const double now = ws_input_decode(type, ws_input_get(to, type, 0));
    const double came = ws_input_decode(type, ws_input_get(r->new, type, number));
    ws_input_put(to, type, 0, ws_input_encode(type, now - came));
}

void ws_mesh_memory_end(WsMeshMemory *m, guint d)
{
    guint64 *all = m->of_device[d];
    for (guint c = d * m->grid; c < (d + 1) * m->grid; c++) {
        join(m, all, m->know[c]);
        for (guint s = c * m->agents; s < (c + 1) * m->agents; s++)
            all[s] = m->issued[s]; /* its own are complete with it */
    }
    for (guint i = m->record[d]->len; i-- > 0;) {
        Record *r = m->record[d]->pdata[i];
        if (all[r->source] < r->number && ws_host_random(m->h) % 2)
            elements(r->map, r->at, take_back, r);
    }
}
