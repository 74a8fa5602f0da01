/* Two programs compared by what their agents do, step by step, with concrete sizes. */
#include "same.h"

#include "program/op.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/barrier.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/retired.h"
#include "program/parts/tiles.h"
#include "program/program.h"

#include "program/walk/walk.h"

#include <string.h>

typedef struct {
    const WsProgram *a, *b;
    gint *barrier, *buffer, *tensor; /* of a -> of b, -1 not met; arrays of array elements and slots
                                        are compared by their numbers */
    GString *why;
    guint steps, furthest; /* of the agents being compared; where `why` was found */
} Pairing;

/* What must be the same: waits, what they wait for, what moves data and what nobody looks into.
 * Commits and fences differ by language, arithmetic and names by how it is written. */
static gboolean counts(const WsProgram *p, const WsOp *op)
{
    const WsOpRow *o = ws_op_row(op->kind);
    if (op->kind == WS_OP_BAR_SYNC) /* halves of a group meet at all of theirs by count */
        return op->barrier >= 0 &&
               (p->agent[op->agent].half >= 0 || !p->barrier[op->barrier].derived);
    if (op->kind == WS_OP_MATH || op->kind == WS_OP_PREFETCH)
        return FALSE;
    return o->waits != WS_WAITS_NONE || o->gives != WS_GIVES_NONE || o->from != WS_DATA_AT_NONE ||
           o->to != WS_DATA_AT_NONE || op->kind == WS_OP_RAW;
}

static gboolean next(WsWalker *w, const WsProgram *p, WsStep *step, GError **error)
{
    while (ws_walker_next(w, step, error))
        if (counts(p, step->op))
            return TRUE;
    return FALSE;
}

static gint64 value(WsWalker *w, const WsExpr *e)
{
    gint64 v = 0;
    return e && ws_walker_eval(w, e, &v, NULL) ? v : e ? G_MININT64 : 0;
}

static gboolean pair(gint *map, gint a, gint b)
{
    if (a < 0 || b < 0)
        return a == b;
    if (map[a] == -1)
        map[a] = b;
    return map[a] == b;
}

static gboolean differ(Pairing *q, const WsStep *x, const WsStep *y, const char *what)
{
    if (q->steps < q->furthest)
        return FALSE; /* of the partners that do not fit the one that is most alike is told */
    q->furthest = q->steps;
    g_autofree char *rounds = ws_step_rounds_text(x);
    g_string_printf(q->why, "%s (%s) at %s and %s (%s): %s", x->op->label ? x->op->label : "",
                    x->op->id, *rounds ? rounds : "no loop", y->op->label ? y->op->label : "",
                    y->op->id, what);
    return FALSE;
}

static gboolean same_kind(WsOpKind a, WsOpKind b)
{
    return a == b ||
           (ws_op_stores_shared(a) && ws_op_stores_shared(b) && ws_op_peeks(a) == ws_op_peeks(b)) ||
           (ws_op_loads_shared(a) && ws_op_loads_shared(b) && ws_op_peeks(a) == ws_op_peeks(b));
}

/* The flat number of the stage or slot, so that an array of rings equals one long ring. */
static gint64 flat(WsWalker *w, const WsExpr *element, gint64 per, const WsExpr *at)
{
    return value(w, element) * per + value(w, at);
}

/* Steps that a wait leaves in flight; -1: by path. */
static gint64 left_by(const WsOp *op)
{
    return op->wait->stay < 0 && op->kind == WS_OP_BULK_WAIT ? op->wait->least : op->wait->stay;
}

/* Waits for groups, where every step there is a group of its own. */
static gboolean same_groups(const WsOp *x, const WsOp *y)
{
    return x->n == y->n || (x->wait && y->wait && left_by(x) >= 0 && left_by(x) == left_by(y));
}

static gboolean same_op(Pairing *q, WsWalker *w, const WsStep *sx, WsWalker *v, const WsStep *sy)
{
    const WsOp *x = sx->op, *y = sy->op;
    if (!same_kind(x->kind, y->kind))
        return differ(q, sx, sy, "different operations");
    if (!pair(q->barrier, x->barrier, y->barrier) || x->border != y->border)
        return differ(q, sx, sy, "different barriers");
    if (x->barrier >= 0 && flat(w, x->element, q->a->barrier[x->barrier].slots, x->slot) !=
                               flat(v, y->element, q->b->barrier[y->barrier].slots, y->slot))
        return differ(q, sx, sy, "different slots");
    if (x->kind == WS_OP_MBAR_WAIT && value(w, x->parity) != value(v, y->parity))
        return differ(q, sx, sy, "different parities");
    if (x->count != y->count || x->bytes != y->bytes || !same_groups(x, y) || x->full != y->full)
        return differ(q, sx, sy, "different counts or bytes");
    if (!pair(q->tensor, x->tensor, y->tensor) || x->n_coord != y->n_coord)
        return differ(q, sx, sy, "different tensors");
    for (guint i = 0; i < x->n_coord; i++)
        if (value(w, x->coord[i]) != value(v, y->coord[i]))
            return differ(q, sx, sy, "different coordinates");
    if (x->reduce != y->reduce || (x->reduce && x->places != y->places) ||
        x->expected != y->expected || x->old != y->old)
        return differ(q, sx, sy, "different atomic operations");
    if (x->n_access != y->n_access)
        return differ(q, sx, sy, "different numbers of accesses");
    for (guint i = 0; i < x->n_access; i++) {
        const WsAccess *a = &x->access[i], *b = &y->access[i];
        if (!pair(q->buffer, (gint)a->buffer, (gint)b->buffer) || a->rows != b->rows ||
            a->cols != b->cols || a->transposed != b->transposed || a->mode != b->mode ||
            value(w, a->row0) != value(v, b->row0) || value(w, a->col0) != value(v, b->col0) ||
            flat(w, a->element, q->a->buffer[a->buffer].stages, a->stage) !=
                flat(v, b->element, q->b->buffer[b->buffer].stages, b->stage))
            return differ(q, sx, sy, "different bytes of shared memory");
    }
    if (x->mma && (x->mma->m != y->mma->m || x->mma->n != y->mma->n || x->mma->k != y->mma->k ||
                   !value(w, x->mma->first) != !value(v, y->mma->first)))
        return differ(q, sx, sy, "different products");
    return TRUE;
}

/* The same for both, who may have said different things of their data. */
static gboolean element(gpointer data, gint tensor, const gint64 *at, gint64 *value)
{
    *value = 300 + at[0] % 7;
    return TRUE;
}

static gboolean same_agent(Pairing *q, guint ia, guint ib, const WsLaunchValues *va,
                           const WsLaunchValues *vb, WsTilesStrided *tiles)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(WsWalker) w = ws_walker_new(q->a, va, ia, 0, ws_tiles_strided, tiles);
    g_autoptr(WsWalker) v = ws_walker_new(q->b, vb, ib, 0, ws_tiles_strided, tiles);
    ws_walker_set_element(w, element, NULL);
    ws_walker_set_element(v, element, NULL);
    for (q->steps = 0; q->steps < 200000; q->steps++) {
        WsStep x, y;
        const gboolean more = next(w, q->a, &x, &error), also = next(v, q->b, &y, &error);
        if (error) {
            g_string_assign(q->why, error->message);
            return FALSE;
        }
        if (more != also && q->steps >= q->furthest) {
            q->furthest = q->steps;
            g_string_printf(q->why, "agent %s ends before its partner, at %s", q->a->agent[ia].name,
                            more   ? x.op->id
                            : also ? y.op->id
                                   : "");
        }
        if (more != also)
            return FALSE;
        if (!more)
            return TRUE;
        if (!same_op(q, w, &x, v, &y))
            return FALSE;
    }
    return TRUE;
}

static gboolean same_objects(Pairing *q)
{
    for (guint i = 0; i < q->a->n_barriers; i++) {
        const WsBarrier *a = &q->a->barrier[i];
        if (q->barrier[i] < 0)
            continue;
        const WsBarrier *b = &q->b->barrier[q->barrier[i]];
        if (a->kind != b->kind || a->array * a->slots != b->array * b->slots)
            g_string_printf(q->why, "barriers %s and %s have other slots", a->name, b->name);
        else if (a->kind == WS_BARRIER_MBARRIER && a->arrivals[0] != b->arrivals[0])
            g_string_printf(q->why, "barriers %s and %s count %u and %u arrivals", a->name, b->name,
                            a->arrivals[0], b->arrivals[0]);
    }
    for (guint i = 0; i < q->a->n_buffers; i++) {
        const WsBuffer *a = &q->a->buffer[i];
        if (q->buffer[i] < 0)
            continue;
        const WsBuffer *b = &q->b->buffer[q->buffer[i]];
        if (a->dtype != b->dtype || a->rows != b->rows || a->cols != b->cols ||
            a->array * a->stages != b->array * b->stages)
            g_string_printf(q->why, "buffers %s and %s differ", a->name, b->name);
    }
    return q->why->len == 0;
}

static gint *unmet(guint n)
{
    gint *map = g_new(gint, n + 1);
    for (guint i = 0; i <= n; i++)
        map[i] = -1;
    return map;
}

static gint *copy_map(const gint *map, guint n)
{
    return g_memdup2(map, (n + 1) * sizeof *map);
}

/* Agents from `i` on find partners among those of b that nobody has: in order if that fits, else
 * any that does the same; a language may put another group into the warps that come first. */
static gboolean same_agents(Pairing *q, guint i, gboolean *taken, const WsLaunchValues *va,
                            const WsLaunchValues *vb, WsTilesStrided *tiles)
{
    if (i == q->a->n_agents)
        return TRUE;
    for (guint n = 0; n < q->b->n_agents; n++) {
        const guint k = (i + n) % q->b->n_agents;
        if (taken[k] || q->a->agent[i].threads != q->b->agent[k].threads)
            continue;
        gint *barrier = copy_map(q->barrier, q->a->n_barriers);
        gint *buffer = copy_map(q->buffer, q->a->n_buffers);
        gint *tensor = copy_map(q->tensor, q->a->n_tensors);
        taken[k] = TRUE;
        const gboolean fits =
            same_agent(q, i, k, va, vb, tiles) && same_agents(q, i + 1, taken, va, vb, tiles);
        if (!fits) {
            taken[k] = FALSE;
            memcpy(q->barrier, barrier, (q->a->n_barriers + 1) * sizeof(gint));
            memcpy(q->buffer, buffer, (q->a->n_buffers + 1) * sizeof(gint));
            memcpy(q->tensor, tensor, (q->a->n_tensors + 1) * sizeof(gint));
        }
        g_free(barrier);
        g_free(buffer);
        g_free(tensor);
        if (fits)
            return TRUE;
    }
    if (!q->why->len)
        g_string_printf(q->why, "no agent has as many threads as %s", q->a->agent[i].name);
    return FALSE;
}

gboolean ws_program_same(const WsProgram *a, const WsProgram *b, const WsLaunchValues *va,
                         const WsLaunchValues *vb, gint64 n_tiles, char **why)
{
    Pairing q = {
        a, b, unmet(a->n_barriers), unmet(a->n_buffers), unmet(a->n_tensors), g_string_new(NULL),
        0, 0
    };
    const gboolean single = a->tiles->launch == WS_LAUNCH_SINGLE; /* one tile each */
    WsTilesStrided tiles = { 0, MAX(single ? n_tiles : n_tiles / 3, 1), n_tiles };
    g_autofree gboolean *taken = g_new0(gboolean, b->n_agents + 1);
    gboolean same = a->n_agents == b->n_agents;
    if (!same)
        g_string_printf(q.why, "%u agents and %u", a->n_agents, b->n_agents);
    same = same && same_agents(&q, 0, taken, va, vb, &tiles);
    if (same)
        g_string_truncate(q.why, 0);
    same = same && same_objects(&q);
    g_free(q.barrier);
    g_free(q.buffer);
    g_free(q.tensor);
    *why = g_string_free(q.why, FALSE);
    return same;
}
