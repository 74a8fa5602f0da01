/* Bytes of loads on their way from L2, or from memory and L2. */
#include "clock/play.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/dtype.h"
#include "program/parts/operation.h"
#include "program/parts/tensor.h"
#include "program/program.h"
#include "program/walk/launch_values.h"

/* MAX would serve twice. */
static double later(double a, double b)
{
    return a > b ? a : b;
}

static double cost(const WsClockPlay *play, WsMachineValue v)
{
    return play->m->value[v];
}

#define BURST  1024.0 /* cycles that an SM may be ahead of its share of L2 or memory */
#define LOADED 0.95   /* more than so much of a shared path is not in use for long */

/* A path that all SMs share: over time this one gets its share and no more, but a burst passes at
 * once while the others do not use theirs; the fuller the path, the longer the queue in it. */
double ws_clock_serve_shared(WsUnit *u, double at, double cycles)
{
    double use = MIN(u->busy / MAX(at, 1), LOADED);
    u->free = MAX(u->free, at - BURST) + cycles;
    u->busy += cycles;
    return later(u->free, at) + cycles * use / (2 * (1 - use));
}

WsPassed ws_clock_pass(WsClockPlay *play, const WsPlayer *a, WsUnit *u, WsCauseKind path,
                       double cycles)
{
    const double free = u->free;
    WsPassed x = { ws_clock_serve_shared(u, a->now, cycles), 0, 0, path };
    x.queue = x.end - later(u->free, a->now);
    ws_clock_because_order(play, a, a->now - BURST + cycles);
    ws_clock_because(play, path, u->by, free + cycles);
    x.by = u->by = ws_clock_ends(play, a, path, u->free);
    return x;
}

static void because_passed(WsClockPlay *play, const WsPlayer *a, const WsPassed *x, const WsUnit *u,
                           double after)
{
    ws_clock_because(play, x->path, x->by, u->free + x->queue + after);
    ws_clock_because_order(play, a, a->now + x->queue + after);
}

/* Bytes of one row of a load's box; 0: it has none. */
static double row_bytes(const WsClockPlay *play, const WsOp *op)
{
    return op->map < 0 ? 0
                       : (double)play->p->map[op->map].box[0] *
                             ws_dtype_bytes(play->p->tensor[op->tensor].dtype);
}

/* Memory reads whole bursts of open pages: short rows far from each other cost more than they hold.
 */
static double memory_share(const WsClockPlay *play, const WsOp *op)
{
    if (!op->n_access || op->tensor < 0)
        return 1;
    const WsTensor *t = &play->p->tensor[op->tensor];
    double size = ws_dtype_bytes(t->dtype), row = op->access[0].cols * size;
    gboolean apart = t->rank > 1 &&
                     (double)ws_launch_stride(play->v, (guint)op->tensor, t->rank - 2) * size > row;
    return apart && row > 0
               ? (later(row, cost(play, WS_MACHINE_L2_ROW)) + cost(play, WS_MACHINE_HBM_CHUNK)) /
                     row
               : 1;
}

/* A row shorter than what L2 gives at a time takes as long as one of that length. */
static double l2_bytes(const WsClockPlay *play, const WsOp *op, double bytes)
{
    double row = row_bytes(play, op);
    return row > 0 ? bytes * later(row, cost(play, WS_MACHINE_L2_ROW)) / row : bytes;
}

/* Tensor maps ask L2 for more of a row than a short box takes: what the next round loads of it came
 * along with what was loaded before. */
static gboolean came_along(WsClockPlay *play, WsPlayer *a, WsShare share, gboolean *along,
                           GError **error)
{
    const WsOp *op = a->step.op;
    gint64 column = 0;
    *along = FALSE;
    if (!share.fetched || !share.along || !op->n_access || !op->n_coord)
        return TRUE;
    const gint64 size = ws_dtype_bytes(play->p->tensor[op->tensor].dtype);
    const gint64 row = (gint64)op->access[0].cols * size;
    const gint64 most = (gint64)cost(play, WS_MACHINE_L2_PROMOTION);
    if (row <= 0 || row >= most)
        return TRUE;
    if (!ws_walker_eval(a->walker, op->coord[op->n_coord - 1], &column, error))
        return FALSE;
    *along = column * size % most >= row;
    return TRUE;
}

gboolean ws_clock_fetch(WsClockPlay *play, WsPlayer *a, guint64 bytes, WsShare share,
                        WsFetch *fetch)
{
    const WsOp *op = a->step.op;
    WsSm *sm = &a->sms[a->rank];
    WsAhead *there = &play->ahead[(gsize)a->cta * play->p->n_ops + op->index];
    double each = (double)bytes / share.sharers, whole = l2_bytes(play, op, (double)bytes);
    gboolean along;
    if (!came_along(play, a, share, &along, &play->error))
        return FALSE;
    *fetch = (WsFetch){ .passes = share.fetched, .far = share.fetched && !along };
    fetch->l2 =
        ws_clock_pass(play, a, &sm->l2, WS_CAUSE_L2,
                      later(whole / play->l2_rate, whole / share.sharers / play->fetch_rate));
    fetch->end = fetch->l2.end;
    if (fetch->passes) {
        fetch->hbm = ws_clock_pass(play, a, &sm->hbm, WS_CAUSE_MEMORY,
                                   each * memory_share(play, op) / play->hbm_rate);
        fetch->end = later(fetch->end, fetch->hbm.end);
    }
    if (fetch->far)
        *there = (WsAhead){ fetch->end + cost(play, WS_MACHINE_TMA_LATENCY_HBM) -
                                cost(play, WS_MACHINE_TMA_LATENCY),
                            fetch->hbm.by };
    else if (along)
        fetch->before = *there;
    fetch->end = later(fetch->end, fetch->before.at);
    return TRUE;
}

void ws_clock_because_fetched(WsClockPlay *play, const WsPlayer *a, const WsFetch *f, double after)
{
    const WsSm *sm = &a->sms[a->rank];
    because_passed(play, a, &f->l2, &sm->l2, after);
    if (f->passes)
        because_passed(play, a, &f->hbm, &sm->hbm, after);
    if (f->before.at > 0)
        ws_clock_because(play, WS_CAUSE_MEMORY, f->before.by, f->before.at + after);
}
