/* Queues of a core: what an agent issues happens some time later; steps of one queue may overtake
 * each other until a barrier of the queue, or a flag that is set behind them. A destination holds
 * poison from the issue on, and what is read is hashed then and when it is read, so that whoever
 * touches the bytes in between is seen. A flag is one bit: a set raises it when all that its queue
 * was given before is done, a wait takes it away. The first lane of an agent stands for its queue.
 */
#include "codegen/rehearse/host.h"

#include "program/inputs.h"
#include "program/parts/barrier.h"
#include "program/program.h"

#include <math.h>

enum { LANES = 32, VIEWS = 3 };

/* A tile in a memory space. */
typedef struct {
    guint32 at, pitch, rows, bytes; /* bytes of a row */
    guint64 hash;
    gboolean read, written;
} View;

typedef struct WsHostWork {
    enum { COPY_IN, COPY_OUT, MOVE, VECTOR, CUBE, SET } kind;
    guint64 number;   /* of all that the CTA's queues were given */
    View view[VIEWS]; /* [0]: what is written, or the one that is copied out */
    guint n_views;
    const WsHostMap *map;
    gint64 corner[WS_MAX_RANK];
    WsDtype type;
    guint operation, m, n, k;
    gboolean restart, turned;
    guint32 flag;
} Work;

static gboolean mine(WsHostThread *t)
{
    return t->tid % LANES == 0;
}

/* --- views ------------------------------------------------------------------------------------ */

static guint8 *row_of(WsHostCta *cta, const View *v, guint row)
{
    return ws_host_shared(cta, v->at + row * v->pitch, v->bytes, "a step of a queue");
}

static guint64 hash(WsHostCta *cta, const View *v)
{
    guint64 h = 1;
    for (guint r = 0; r < v->rows; r++) {
        const guint8 *at = row_of(cta, v, r);
        h = at ? ws_host_hash(at, v->bytes, h) : h;
    }
    return h;
}

static void poison(WsHostCta *cta, const View *v)
{
    for (guint r = 0; r < v->rows; r++) {
        guint8 *at = row_of(cta, v, r);
        if (at)
            memset(at, 0xff, v->bytes);
    }
}

static void issue(WsHostThread *t, Work *made)
{
    WsHostLater *l = g_new0(WsHostLater, 1);
    Work *w = g_memdup2(made, sizeof *made);
    for (guint i = 0; i < w->n_views; i++)
        if (w->view[i].written && !w->view[i].read)
            poison(t->cta, &w->view[i]);
    for (guint i = 0; i < w->n_views; i++)
        w->view[i].hash = hash(t->cta, &w->view[i]);
    w->number = ws_host->ops;
    l->kind = WS_HOST_QUEUE;
    l->thread = t;
    l->cta = t->cta;
    l->work = w;
    l->op = t->op;
    ws_host_later(l);
}

/* --- what is issued --------------------------------------------------------------------------- */

void wsh_queue_copy(guint32 shared, guint64 map, guint32 rank, guint32 c0, guint32 c1, guint32 c2,
                    guint32 c3, guint32 c4, guint32 type, guint32 out)
{
    WsHostThread *t = ws_host_me();
    const WsHostMap *m = (const WsHostMap *)(guintptr)map;
    const guint32 corner[WS_MAX_RANK] = { c0, c1, c2, c3, c4 };
    if (!mine(t))
        return;
    if (rank != m->rank) {
        ws_host_violation(t, "a copy with %u coordinates through a map of rank %u", rank, m->rank);
        return;
    }
    Work w = { .kind = out ? COPY_OUT : COPY_IN, .n_views = 1, .map = m, .type = (WsDtype)type };
    guint rows = 1;
    for (guint i = 1; i < rank; i++)
        rows *= m->box[i];
    for (guint i = 0; i < WS_MAX_RANK; i++)
        w.corner[i] = (gint32)corner[i];
    const guint32 bytes = m->box[0] * ws_dtype_bytes(w.type);
    w.view[0] = (View){ shared, bytes, rows, bytes, 0, out != 0, out == 0 };
    issue(t, &w);
}

void wsh_queue_move(guint32 to, guint32 to_pitch, guint32 from, guint32 from_pitch, guint32 rows,
                    guint32 bytes)
{
    WsHostThread *t = ws_host_me();
    Work w = { .kind = MOVE, .n_views = 2 };
    w.view[0] = (View){ to, to_pitch, rows, bytes, 0, FALSE, TRUE };
    w.view[1] = (View){ from, from_pitch, rows, bytes, 0, TRUE, FALSE };
    if (mine(t))
        issue(t, &w);
}

void wsh_queue_vector(guint32 operation, guint32 into, guint32 into_pitch, guint32 a,
                      guint32 a_pitch, guint32 b, guint32 b_pitch, guint32 rows, guint32 cols,
                      guint32 type)
{
    WsHostThread *t = ws_host_me();
    const guint32 bytes = cols * ws_dtype_bytes((WsDtype)type);
    Work w = {
        .kind = VECTOR, .n_views = 3, .operation = operation, .n = cols, .type = (WsDtype)type
    };
    w.view[0] = (View){ into, into_pitch, rows, bytes, 0, into == a || into == b, TRUE };
    w.view[1] = (View){ a, a_pitch, rows, bytes, 0, TRUE, FALSE };
    w.view[2] = (View){ b, b_pitch, rows, bytes, 0, TRUE, FALSE };
    if (mine(t))
        issue(t, &w);
}

void wsh_queue_cube(guint32 sums, guint32 sums_pitch, guint32 a, guint32 a_pitch, guint32 b,
                    guint32 b_pitch, guint32 m, guint32 n, guint32 k, guint32 how)
{
    WsHostThread *t = ws_host_me();
    Work w = { .kind = CUBE,
               .n_views = 3,
               .m = m,
               .n = n,
               .k = k,
               .type = (WsDtype)(how & 255),
               .restart = (how & 256) != 0,
               .turned = (how & 512) != 0 };
    const guint32 element = ws_dtype_bytes(w.type);
    w.view[0] = (View){ sums, sums_pitch, m, n * 4, 0, !w.restart, TRUE };
    w.view[1] = (View){ a, a_pitch, m, k * element, 0, TRUE, FALSE };
    w.view[2] = w.turned ? (View){ b, b_pitch, k, n * element, 0, TRUE, FALSE }
                         : (View){ b, b_pitch, n, k * element, 0, TRUE, FALSE };
    if (mine(t))
        issue(t, &w);
}

static gboolean has_older(const WsHost *h, const WsHostThread *t, guint64 number)
{
    for (guint i = 0; i < h->later->len; i++) {
        const WsHostLater *l = h->later->pdata[i];
        if (l->kind == WS_HOST_QUEUE && l->thread == t && l->work->number < number)
            return TRUE;
    }
    return FALSE;
}

void wsh_queue_drain(void)
{
    WsHostThread *t = ws_host_me();
    while (mine(t) && has_older(ws_host, t, G_MAXUINT64))
        ws_host_block(t, WS_HOST_WAIT_COPIES, NULL);
}

/* --- flags ------------------------------------------------------------------------------------ */

static WsHostMbar *flag_at(WsHostThread *t, guint32 at)
{
    const guint64 offset = WS_HOST_OFFSET(at);
    if (!ws_host_shared(t->cta, at, 8, "a flag"))
        return NULL;
    if (offset % 8 || !t->cta->mbar[offset / 8]) {
        ws_host_violation(t, "a flag that is none, at byte %llu", (unsigned long long)offset);
        return NULL;
    }
    return t->cta->mbar[offset / 8];
}

void wsh_flag_set(guint32 flag)
{
    WsHostThread *t = ws_host_me();
    Work w = { .kind = SET, .flag = flag };
    if (mine(t))
        issue(t, &w);
}

/* `tx` of the barrier that stands for it is the bit. */
static void raise_flag(WsHostLater *l)
{
    WsHostMbar *b = flag_at(l->thread, l->work->flag);
    if (!b)
        return;
    if (b->tx)
        ws_host_violation(l->thread, "a flag is set that is up already");
    b->tx = 1;
    b->phase++;
    ws_host_wake_all(b->waiters);
}

void wsh_flag_wait(guint32 flag)
{
    WsHostThread *t = ws_host_me();
    WsHostMbar *b = mine(t) ? flag_at(t, flag) : NULL;
    if (!b)
        return;
    t->address = flag;
    t->parity = (guint32)b->phase & 1;
    while (!b->tx)
        ws_host_block(t, WS_HOST_WAIT_MBAR, b->waiters);
    b->tx = 0;
}

/* --- what happens ----------------------------------------------------------------------------- */

/* The element of a box in memory; NULL outside of the tensor. */
static guint8 *element(const Work *w, guint64 row, guint col)
{
    const WsHostMap *m = w->map;
    gint64 x = w->corner[0] + col, offset;
    if (x < 0 || x >= m->dim[0])
        return NULL;
    offset = x * m->stride[0];
    for (guint i = 1; i < m->rank; i++) {
        x = w->corner[i] + (gint64)(row % m->box[i]);
        row /= m->box[i];
        if (x < 0 || x >= m->dim[i])
            return NULL;
        offset += x * m->stride[i];
    }
    return (guint8 *)m->base + offset * (gint64)ws_dtype_bytes(m->dtype);
}

static void copy(WsHostCta *cta, const Work *w)
{
    const WsHostMap *m = w->map;
    for (guint r = 0; r < w->view[0].rows; r++) {
        guint8 *at = row_of(cta, &w->view[0], r);
        for (guint c = 0; at && c < m->box[0]; c++) {
            guint8 *there = element(w, r, c), *here = at + c * ws_dtype_bytes(w->type);
            if (!there)
                continue;
            if (w->kind == COPY_IN)
                memcpy(here, there, ws_dtype_bytes(w->type));
            else if (w->type == m->dtype)
                memcpy(there, here, ws_dtype_bytes(w->type));
            else
                ws_input_put(
                    there, (gint32)m->dtype, 0,
                    ws_input_encode(
                        (gint32)m->dtype,
                        ws_input_decode((gint32)w->type, ws_input_get(here, (gint32)w->type, 0))));
        }
    }
}

static double value(const guint8 *at, WsDtype type, guint i)
{
    return ws_input_decode((gint32)type, ws_input_get(at, (gint32)type, i));
}

static float combined(guint operation, float a, float b)
{
    switch (operation) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a / b;
    case 4:
        return a > b || isnan(a) ? a : b;
    default:
        return a < b || isnan(a) ? a : b;
    }
}

static void vector(WsHostCta *cta, const Work *w)
{
    for (guint r = 0; r < w->view[0].rows; r++) {
        guint8 *to = row_of(cta, &w->view[0], r);
        const guint8 *a = row_of(cta, &w->view[1], r), *b = row_of(cta, &w->view[2], r);
        for (guint c = 0; to && a && b && c < w->n; c++)
            ws_input_put(
                to, (gint32)w->type, c,
                ws_input_encode((gint32)w->type, combined(w->operation, (float)value(a, w->type, c),
                                                          (float)value(b, w->type, c))));
    }
}

static void cube(WsHostCta *cta, const Work *w)
{
    g_autofree float *left = g_new(float, (gsize)w->k), *right = g_new(float, (gsize)w->n * w->k);
    for (guint r = 0; r < w->view[2].rows; r++) {
        const guint8 *b = row_of(cta, &w->view[2], r);
        const guint cols = w->turned ? w->n : w->k;
        for (guint c = 0; b && c < cols; c++)
            right[w->turned ? c * w->k + r : r * w->k + c] = (float)value(b, w->type, c);
    }
    for (guint r = 0; r < w->m; r++) {
        float *sums = (float *)(gpointer)row_of(cta, &w->view[0], r);
        const guint8 *a = row_of(cta, &w->view[1], r);
        if (!sums || !a)
            return;
        for (guint i = 0; i < w->k; i++)
            left[i] = (float)value(a, w->type, i);
        for (guint c = 0; c < w->n; c++) {
            float sum = w->restart ? 0 : sums[c];
            for (guint i = 0; i < w->k; i++)
                sum += left[i] * right[c * w->k + i];
            sums[c] = sum;
        }
    }
}

static void move(WsHostCta *cta, const Work *w)
{
    for (guint r = 0; r < w->view[0].rows; r++) {
        guint8 *to = row_of(cta, &w->view[0], r);
        const guint8 *from = row_of(cta, &w->view[1], r);
        if (to && from)
            memmove(to, from, w->view[0].bytes);
    }
}

gboolean ws_host_queue_ready(const WsHost *h, const WsHostLater *l)
{
    return l->work->kind != SET || !has_older(h, l->thread, l->work->number);
}

void ws_host_run_queue(WsHostLater *l)
{
    static void (*const deed[])(WsHostCta *, const Work *) = {
        [COPY_IN] = copy, [COPY_OUT] = copy, [MOVE] = move, [VECTOR] = vector, [CUBE] = cube,
    };
    Work *w = l->work;
    for (guint i = 0; i < w->n_views; i++)
        if (hash(l->cta, &w->view[i]) != w->view[i].hash)
            ws_host_race(l->op, w->view[i].read ? "a tile was written while it was still being read"
                                                : "a tile was written twice at the same time");
    if (w->kind == SET)
        raise_flag(l);
    else
        deed[w->kind](l->cta, w);
    if (l->thread->wait == WS_HOST_WAIT_COPIES)
        ws_host_wake(l->thread);
}

void ws_host_queue_free(struct WsHostWork *work)
{
    g_free(work);
}

/* The oldest of all that was issued. */
static gint oldest(const WsHost *h)
{
    gint found = -1;
    for (guint i = 0; i < h->later->len; i++) {
        const WsHostLater *l = h->later->pdata[i];
        if (l->kind == WS_HOST_QUEUE &&
            (found < 0 ||
             l->work->number < ((const WsHostLater *)h->later->pdata[found])->work->number))
            found = (gint)i;
    }
    return found;
}

void ws_host_queues_end(WsHost *h)
{
    for (gint i = oldest(h); i >= 0; i = oldest(h)) {
        ws_host_run_queue(h->later->pdata[i]);
        g_ptr_array_remove_index_fast(h->later, (guint)i);
    }
    for (guint b = 0; h->p && b < h->p->n_barriers; b++) {
        const WsBarrier *bar = &h->p->barrier[b];
        for (guint s = 0; bar->flag && s < bar->array * bar->slots; s++)
            for (guint c = 0; c < h->n_ctas; c++) {
                const WsHostMbar *at = h->cta[c].mbar[bar->offset / 8 + s];
                if (at && at->tx)
                    ws_host_violation(NULL, "flag %s is left up at the end", bar->name);
            }
    }
}
