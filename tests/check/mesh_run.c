#include "mesh_run.h"

#include "program/op_kind.h"
#include "program/parts/agent.h"
#include "program/parts/mesh.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/parts/tiles.h"
#include "program/program.h"
#include "program/walk/launch_values.h"
#include "program/walk/walk.h"

#include <string.h>

typedef enum { PUT, COMPLETE, NOTIFY, AWAIT, LOAD, GET } Kind;

typedef struct {
    Kind kind;
    gint tensor, flag;
    gint64 device, element, amount; /* device -1: all */
    gboolean equals;
    gint64 lo[WS_MAX_RANK], hi[WS_MAX_RANK];
    guint put;    /* PUT: number */
    gboolean got; /* NOTIFY: all gets of the agent have come */
} Event;

/* An agent of a CTA. */
typedef struct {
    guint device;
    GArray *event;
    guint at;
    GArray *flying; /* guint: puts */
    GArray *got;    /* Event: gets that need not have come */
    guint weight;
} Lane;

typedef struct {
    const WsProgram *p;
    guint devices, launches;
    WsLaunchValues **values; /* [devices] */
    GPtrArray *lane;
    GPtrArray *put; /* Event*: all of a launch */
    guint *done;    /* [puts] launches in which it was completed */
    gint64 *flag[32];
    gint64 elements[32], per_launch[32];
    guint *begun; /* [devices] launches */
    gboolean *runs;
    GRand *random;
    char *wrong;
} Mesh;

static void wrong(Mesh *m, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void wrong(Mesh *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!m->wrong)
        m->wrong = g_strdup_vprintf(format, args);
    va_end(args);
}

/* --- what each agent does --------------------------------------------------------------------- */
static gint64 number(Mesh *m, WsWalker *w, const WsExpr *e)
{
    gint64 value = 0;
    if (!e || !ws_walker_eval(w, e, &value, NULL))
        wrong(m, "a number has no value");
    return value;
}

static void box(Mesh *m, WsWalker *w, const WsOp *op, guint device, Event *e)
{
    const WsTensorMap *map = &m->p->map[op->map];
    e->tensor = op->tensor;
    for (guint d = 0; d < op->n_coord; d++) {
        const gint64 extent = ws_launch_shape(m->values[device], (guint)op->tensor, d);
        const gint64 at = number(m, w, op->coord[d]);
        e->lo[d] = CLAMP(at, 0, extent);
        e->hi[d] = CLAMP(at + map->box[map->rank - 1 - d], 0, extent);
    }
}

static void see(Mesh *m, WsWalker *w, const WsOp *op, Lane *lane)
{
    Event e = { .flag = -1, .tensor = -1, .device = -1 };
    const WsPeer *peer = op->peer;
    if (peer && peer->device) {
        e.device = number(m, w, peer->device);
        if (e.device < 0 || e.device >= m->devices)
            wrong(m, "there is no device %d", (int)e.device);
    }
    if (peer && peer->flag >= 0) {
        e.flag = peer->flag;
        e.element = number(m, w, peer->element);
        e.amount = number(m, w, peer->amount);
        e.equals = peer->equals;
        if (e.element < 0 || e.element >= m->elements[e.flag])
            wrong(m, "there is no element %d", (int)e.element);
    }
    if (m->wrong)
        return;
    if (op->kind == WS_OP_TMA_PUT) {
        e.kind = PUT;
        e.put = m->put->len;
        box(m, w, op, lane->device, &e);
        Event *kept = g_new(Event, 1);
        *kept = e;
        g_ptr_array_add(m->put, kept);
    } else if (op->kind == WS_OP_BULK_WAIT && op->full && op->n == 0) {
        e.kind = COMPLETE;
    } else if (op->kind == WS_OP_NOTIFY) {
        e.kind = NOTIFY;
        e.got = op->n_access > 0;
    } else if (op->kind == WS_OP_AWAIT) {
        e.kind = AWAIT;
    } else if (op->kind == WS_OP_TMA_GET) {
        e.kind = GET;
        box(m, w, op, lane->device, &e);
    } else if (op->kind == WS_OP_TMA_LOAD &&
               m->p->tensor[op->tensor].access == WS_ACCESS_EXCHANGE) {
        e.kind = LOAD;
        e.device = lane->device;
        box(m, w, op, lane->device, &e);
    } else {
        return;
    }
    g_array_append_val(lane->event, e);
}

static void add_lane(Mesh *m, guint device, gint64 cta, gint64 ctas, guint agent)
{
    Lane *lane = g_new0(Lane, 1);
    lane->device = device;
    lane->event = g_array_new(FALSE, FALSE, sizeof(Event));
    lane->flying = g_array_new(FALSE, FALSE, sizeof(guint));
    lane->got = g_array_new(FALSE, FALSE, sizeof(Event));
    g_ptr_array_add(m->lane, lane);
    WsTilesStrided tiles = { cta, ctas, ws_launch_tiles(m->values[device]) };
    g_autoptr(WsWalker) w =
        ws_walker_new(m->p, m->values[device], agent, 0, ws_tiles_strided, &tiles);
    WsStep step;
    g_autoptr(GError) error = NULL;
    while (!m->wrong && ws_walker_next(w, &step, &error))
        see(m, w, step.op, lane);
    if (error)
        wrong(m, "%s", error->message);
}

/* --- a run ------------------------------------------------------------------------------------ */
static void complete(Mesh *m, Lane *lane)
{
    for (guint i = 0; i < lane->flying->len; i++)
        m->done[g_array_index(lane->flying, guint, i)]++;
    g_array_set_size(lane->flying, 0);
}

static gboolean meet(const Event *a, const Event *b, guint rank)
{
    for (guint d = 0; d < rank; d++)
        if (a->lo[d] >= b->hi[d] || b->lo[d] >= a->hi[d])
            return FALSE;
    return TRUE;
}

/* Everything that is put where the load reads has come in this launch, and nothing of the next one.
 */
static void check_load(Mesh *m, const Lane *lane, const Event *load)
{
    const guint launch = m->begun[lane->device], rank = m->p->tensor[load->tensor].rank;
    gint64 volume = 1, put = 0;
    for (guint d = 0; d < rank; d++)
        volume *= MAX(load->hi[d] - load->lo[d], 0);
    for (guint i = 0; i < m->put->len; i++) {
        const Event *e = m->put->pdata[i];
        if (e->device != load->device || e->tensor != load->tensor || !meet(e, load, rank))
            continue;
        gint64 both = 1;
        for (guint d = 0; d < rank; d++)
            both *= MIN(e->hi[d], load->hi[d]) - MAX(e->lo[d], load->lo[d]);
        put += both;
        if (m->done[i] != launch)
            wrong(m, "device %u reads what has not come", lane->device);
    }
    if (put != volume)
        wrong(m, "device %u reads what nobody puts, or what is put twice", lane->device);
}

/* What is put into a device (NULL: its inputs, from now on) another one still reads. */
static void nobody_reads(Mesh *m, guint device, const Event *by)
{
    for (guint i = 0; i < m->lane->len; i++) {
        const Lane *lane = m->lane->pdata[i];
        for (guint k = 0; k < lane->got->len; k++) {
            const Event *e = &g_array_index(lane->got, Event, k);
            const gboolean put = m->p->tensor[e->tensor].access == WS_ACCESS_EXCHANGE;
            if (lane->device != device && e->device == device &&
                (by ? e->tensor == by->tensor && meet(e, by, m->p->tensor[e->tensor].rank) : !put))
                wrong(m, "what device %u has is overwritten while device %u gets it", device,
                      lane->device);
        }
    }
}

static gboolean may_move(const Mesh *m, const Lane *lane)
{
    if (!m->runs[lane->device] || lane->at == lane->event->len)
        return FALSE;
    const Event *e = &g_array_index(lane->event, Event, lane->at);
    if (e->kind != AWAIT)
        return TRUE;
    const gint64 now = m->flag[e->flag][lane->device * m->elements[e->flag] + e->element] -
                       (m->begun[lane->device] - 1) * m->per_launch[e->flag];
    return e->equals ? now == e->amount : now >= e->amount;
}

static void move(Mesh *m, Lane *lane)
{
    const Event *e = &g_array_index(lane->event, Event, lane->at++);
    const guint launch = m->begun[lane->device];
    switch (e->kind) {
    case PUT: /* an exchanged tensor outlives launches: what is read of it is looked at by loads */
        if (m->p->tensor[e->tensor].access != WS_ACCESS_EXCHANGE &&
            (m->begun[e->device] != launch || !m->runs[e->device]))
            wrong(m, "device %u puts into device %d, which is not in this launch", lane->device,
                  (int)e->device);
        nobody_reads(m, (guint)e->device, e);
        g_array_append_val(lane->flying, e->put);
        break;
    case COMPLETE:
        complete(m, lane);
        break;
    case NOTIFY:
        for (guint d = 0; d < m->devices; d++)
            if (e->device < 0 || e->device == d)
                m->flag[e->flag][d * m->elements[e->flag] + e->element] += e->amount;
        if (e->got)
            g_array_set_size(lane->got, 0);
        break;
    case GET:
        if (m->p->tensor[e->tensor].access == WS_ACCESS_EXCHANGE)
            check_load(m, lane, e);
        else if (m->begun[e->device] != launch || !m->runs[e->device])
            wrong(m, "device %u gets from device %d, which is not in this launch", lane->device,
                  (int)e->device);
        g_array_append_vals(lane->got, e, 1);
        break;
    case LOAD:
        check_load(m, lane, e);
        break;
    case AWAIT:
    default:
        break;
    }
}

static gboolean ended(const Mesh *m, guint device)
{
    for (guint i = 0; i < m->lane->len; i++) {
        const Lane *lane = m->lane->pdata[i];
        if (lane->device == device && lane->at < lane->event->len)
            return FALSE;
    }
    return TRUE;
}

/* The kernel of a device ends: its outputs are what they should be. */
static void end_of(Mesh *m, guint device)
{
    m->runs[device] = FALSE;
    for (guint i = 0; i < m->lane->len; i++)
        if (((Lane *)m->lane->pdata[i])->device == device) {
            complete(m, m->lane->pdata[i]);
            g_array_set_size(((Lane *)m->lane->pdata[i])->got, 0);
        }
    nobody_reads(m, device, NULL);
    for (guint i = 0; i < m->put->len; i++) {
        const Event *e = m->put->pdata[i];
        if (e->device == device && m->p->tensor[e->tensor].access != WS_ACCESS_EXCHANGE &&
            m->done[i] != m->begun[device])
            wrong(m, "the kernel of device %u ends before all is put into it", device);
    }
}

static void begin_of(Mesh *m, guint device)
{
    m->begun[device]++;
    m->runs[device] = TRUE;
    for (guint i = 0; i < m->lane->len; i++) {
        Lane *lane = m->lane->pdata[i];
        if (lane->device == device)
            lane->at = 0;
    }
}

static gboolean one_move(Mesh *m)
{
    guint sum = 0;
    for (guint i = 0; i < m->lane->len; i++)
        sum += may_move(m, m->lane->pdata[i]) ? ((Lane *)m->lane->pdata[i])->weight : 0;
    for (guint d = 0; d < m->devices; d++) {
        if (m->runs[d] && ended(m, d))
            end_of(m, d);
        if (!m->runs[d] && m->begun[d] < m->launches &&
            (sum == 0 || g_rand_int_range(m->random, 0, 40) == 0)) {
            begin_of(m, d);
            return TRUE;
        }
    }
    if (sum == 0)
        return FALSE;
    guint pick = (guint)g_rand_int_range(m->random, 0, (gint32)sum);
    for (guint i = 0; i < m->lane->len; i++) {
        Lane *lane = m->lane->pdata[i];
        if (!may_move(m, lane))
            continue;
        if (pick < lane->weight) {
            /* on for a while: CTAs far ahead of each other are what goes wrong */
            for (guint n = (guint)g_rand_int_range(m->random, 1, 12);
                 n > 0 && may_move(m, lane) && !m->wrong; n--)
                move(m, lane);
            return TRUE;
        }
        pick -= lane->weight;
    }
    return FALSE;
}

/* --- the whole -------------------------------------------------------------------------------- */
static void counts(Mesh *m)
{
    for (guint f = 0; f < m->p->mesh->n_flags; f++)
        for (gint64 i = 0; i < m->devices * m->elements[f]; i++)
            if (m->flag[f][i] != m->per_launch[f] * m->launches)
                wrong(m, "a launch adds something else to %s than it says",
                      m->p->mesh->flag[f].name);
}

static void prepare(Mesh *m)
{
    const WsProgram *p = m->p;
    for (guint d = 0; d < m->devices; d++) {
        const WsSize size[] = { { "W", m->devices }, { p->mesh->name, d } };
        m->values[d] = ws_launch_values(p, size, 2, TRUE, NULL);
        g_assert_nonnull(m->values[d]);
        WsExprEnv env = ws_launch_env(m->values[d]);
        for (guint f = 0; f < p->mesh->n_flags && d == 0; f++) {
            g_assert_true(ws_expr_eval(p->mesh->flag[f].array, &env, &m->elements[f], NULL));
            g_assert_true(ws_expr_eval(p->mesh->flag[f].per_launch, &env, &m->per_launch[f], NULL));
            m->flag[f] = g_new0(gint64, m->devices * m->elements[f]);
        }
        const gint64 ctas = ws_launch_grid(m->values[d], 3);
        for (gint64 cta = 0; cta < ctas; cta++)
            for (guint a = 0; a < p->n_agents && !m->wrong; a++)
                add_lane(m, d, cta, ctas, a);
    }
    m->done = g_new0(guint, m->put->len + 1);
    for (guint i = 0; i < m->lane->len; i++)
        ((Lane *)m->lane->pdata[i])->weight = 1u << g_rand_int_range(m->random, 0, 8);
}

static void free_lane(gpointer data)
{
    Lane *lane = data;
    g_array_unref(lane->event);
    g_array_unref(lane->flying);
    g_array_unref(lane->got);
    g_free(lane);
}

char *mesh_run(const WsProgram *p, guint devices, guint launches, guint32 seed)
{
    Mesh m = { .p = p,
               .devices = devices,
               .launches = launches,
               .values = g_new0(WsLaunchValues *, devices),
               .lane = g_ptr_array_new_with_free_func(free_lane),
               .put = g_ptr_array_new_with_free_func(g_free),
               .begun = g_new0(guint, devices),
               .runs = g_new0(gboolean, devices),
               .random = g_rand_new_with_seed(seed) };
    prepare(&m);
    while (!m.wrong && one_move(&m))
        ;
    for (guint d = 0; d < devices && !m.wrong; d++)
        if (m.runs[d] || m.begun[d] < launches)
            wrong(&m, "device %u never ends", d);
    if (!m.wrong)
        counts(&m);
    for (guint d = 0; d < devices; d++)
        ws_launch_values_free(m.values[d]);
    for (guint f = 0; f < p->mesh->n_flags; f++)
        g_free(m.flag[f]);
    g_ptr_array_unref(m.lane);
    g_ptr_array_unref(m.put);
    g_free(m.values);
    g_free(m.done);
    g_free(m.begun);
    g_free(m.runs);
    g_rand_free(m.random);
    return m.wrong;
}
