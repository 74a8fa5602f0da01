#include "program/lanes.h"
#include "program/op.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/product.h"
#include "program/parts/value.h"
#include "program/program.h"
#include "target/target.h"

#include "expr/expr.h"

/* L-ROW-PRIVATE: lanes of one agent may exchange bytes without a `sync` only where every byte is
 * written and read by one thread, or by threads of one warp that has met in between. Nothing else
 * is known to be ordered, so whatever has no row here meets nobody. */

enum { SEVERAL = -1 };

typedef struct {
    gint thread, warp; /* of the agent; SEVERAL: more than one */
} Owner;

static const Owner many = { SEVERAL, SEVERAL };

/* One operation, looked at once. */
typedef struct Lanes Lanes;
typedef Owner (*OwnerOf)(const Lanes *l, guint row, guint col); /* of the value */
struct Lanes {
    const WsProgram *p;
    const WsOp *op;
    const WsAccess *a;
    const WsRegValue *v;
    guint threads, bytes; /* bytes: of an element */
    guint value_row0, value_col0;
    gboolean writes, swap, matrix;
    gboolean idle_read; /* threads without an element read the first one */
    OwnerOf owner;      /* NULL: not known */
};

static Owner of_thread(const Lanes *l, guint t)
{
    return (Owner){ (gint)t, (gint)(t / l->p->hardware->lanes) };
}

/* --- values ----------------------------------------------------------------------------------- */
/* Accumulator layout: each warp has an equal share of a band of rows, a quad of lanes a row of it
 * (sm_90a: rows 16w.. of every 64 in warp w, lane 4(r mod 8) + (c mod 8)/2). */
static gint row_warp(const Lanes *l, guint row)
{
    const WsTargetMatrix *x = &l->p->hardware->matrix;
    return (gint)(row % x->rows / (x->rows / x->warps));
}

static guint quad_thread(const Lanes *l, guint row)
{
    const WsTarget *t = l->p->hardware;
    return (guint)row_warp(l, row) * t->lanes + row % (t->lanes / t->matrix.quad) * t->matrix.quad;
}

/* The lane of a quad that has a column. */
static guint column_lane(const Lanes *l, guint col)
{
    const WsTargetMatrix *x = &l->p->hardware->matrix;
    return col % x->columns / (x->columns / x->quad);
}

static Owner of_tile(const Lanes *l, guint row, guint col)
{
    Owner o = of_thread(l, quad_thread(l, row) + column_lane(l, col));
    if (l->matrix) /* a lane gives an address, the warp moves the matrix */
        o.thread = SEVERAL;
    return o;
}

static Owner of_rows(const Lanes *l, guint row, guint col)
{
    Owner o = of_thread(l, quad_thread(l, row)); /* the first of the quad writes, all read */
    if (!l->writes)
        o.thread = SEVERAL;
    return o;
}

static Owner of_partial(const Lanes *l, guint row, guint col)
{
    return of_thread(l, quad_thread(l, row) + col);
}

static Owner of_columns(const Lanes *l, guint row, guint col)
{
    return l->writes ? of_thread(l, column_lane(l, col)) : many;
}

static Owner of_scalar(const Lanes *l, guint row, guint col)
{
    return l->writes ? of_thread(l, 0) : many;
}

static Owner of_linear(const Lanes *l, guint row, guint col)
{
    if (l->idle_read && row == 0 && col == 0)
        return many;
    guint64 i = (guint64)(l->value_row0 + row) * l->v->cols + l->value_col0 + col;
    return of_thread(l, (guint)(i % l->threads));
}

/* --- operations without values ---------------------------------------------------------------- */
guint ws_gather_lanes(guint units)
{
    guint share = 8;
    while (units % share)
        share /= 2;
    return share;
}

/* Gathered rows: a unit a thread, the agent's threads in turn. */
static Owner of_gather(const Lanes *l, guint row, guint col)
{
    const guint unit = l->p->hardware->shared.unit;
    const guint share = ws_gather_lanes(l->a->cols * l->bytes / unit);
    guint at_once = l->threads / share;
    return of_thread(l, row % at_once * share + col * l->bytes / unit % share);
}

/* Operand a of an mma in shared memory: a warp reads its own rows of every band. */
static Owner of_operand(const Lanes *l, guint row, guint col)
{
    return (Owner){ SEVERAL, row_warp(l, row) };
}

/* --- which of them ---------------------------------------------------------------------------- */
static gboolean constant(const WsExpr *e, guint *out)
{
    gint64 x = 0;
    if (e && (!ws_expr_is_int(e, &x) || x < 0 || x > G_MAXINT32))
        return FALSE;
    *out = (guint)x;
    return TRUE;
}

/* The agent holds values in accumulator layout, and the target says what that is. */
static gboolean described(const Lanes *l)
{
    const WsTargetMatrix *x = &l->p->hardware->matrix;
    return x->rows && x->quad && x->columns && l->p->agent[l->op->agent].warps == x->warps;
}

static OwnerOf owner_of_value(Lanes *l, const WsValueUse *use)
{
    const WsRegValue *v = l->v;
    if (v->rows == 1 && v->cols == 1)
        return of_scalar;
    if (v->layout == WS_LAYOUT_LINEAR) {
        guint64 all = (guint64)v->rows * v->cols;
        if (!constant(use->row0, &l->value_row0) || !constant(use->col0, &l->value_col0))
            return NULL;
        l->idle_read =
            !l->writes && (all % l->threads != 0 || use->rows != v->rows || use->cols != v->cols);
        return of_linear;
    }
    /* the place in the value decides, not that in the view: they must fall into step */
    const WsTargetMatrix *x = &l->p->hardware->matrix;
    if (!described(l) || !constant(use->row0, &l->value_row0) ||
        !constant(use->col0, &l->value_col0) || l->value_row0 % x->rows ||
        l->value_col0 % x->columns)
        return NULL;
    gboolean rows = use->rows % x->rows == 0, cols = use->cols % x->columns == 0;
    if (v->rows == 1)
        return cols ? of_columns : NULL;
    if (!rows)
        return NULL;
    if (v->cols == 1)
        return of_rows;
    if (v->cols == x->quad)
        return of_partial;
    return cols ? of_tile : NULL;
}

static Lanes lanes_of(const WsProgram *p, const WsOp *op)
{
    Lanes l = { .p = p, .op = op };
    if (op->agent < 0 || op->n_access == 0)
        return l;
    const WsAgent *agent = &p->agent[op->agent];
    l.a = &op->access[0];
    const WsBuffer *b = &p->buffer[l.a->buffer];
    l.threads = agent->threads;
    l.bytes = ws_dtype_bytes(b->dtype);
    l.writes = (l.a->mode & WS_MODE_WRITE) != 0;
    if (l.threads == 0 || l.bytes == 0)
        return l;
    if (ws_op_stores_shared(op->kind) || ws_op_loads_shared(op->kind)) {
        if (op->n_access != 1 || op->places || op->value[0].value >= agent->n_values)
            return l;
        l.v = &agent->value[op->value[0].value];
        l.matrix = op->kind == WS_OP_STMATRIX || op->kind == WS_OP_LDMATRIX;
        l.swap = b->rank == 1 ? op->value[0].rows > 1 : l.a->transposed;
        l.owner = owner_of_value(&l, &op->value[0]);
    } else if (ws_op_issues(op->kind, WS_QUEUE_ROWS)) {
        /* which wave of a half takes which rows is not said */
        if (!p->hardware->halves && op->n_access == 1 && !l.a->transposed && b->rank == 2 &&
            l.a->cols * l.bytes % 16 == 0 && l.threads % 8 == 0)
            l.owner = of_gather;
    } else if (op->mma) {
        if (!op->mma->a.in_registers && !l.a->transposed && !op->mma->a.transposed && described(&l))
            l.owner = of_operand;
    }
    return l;
}

static Owner owner_at(const Lanes *l, guint row, guint col)
{
    return l->swap ? l->owner(l, col, row) : l->owner(l, row, col);
}

/* --- two of them ------------------------------------------------------------------------------ */
static WsLanesMeet meet(const Owner *x, const Owner *y)
{
    if (x->thread != SEVERAL && x->thread == y->thread)
        return WS_LANES_SAME;
    return x->warp != SEVERAL && x->warp == y->warp ? WS_LANES_WARP : WS_LANES_OTHER;
}

/* Both in accumulator layout, and their rows and columns fall into step. Two matrix instructions
 * whose blocks of 16 columns coincide take every 16 bytes by the same lane's address, and from and
 * to the same threads. */
static gboolean in_step(const Lanes *x, const Lanes *y, gint64 rows, gint64 cols)
{
    return x->owner == of_tile && y->owner == of_tile && !x->swap && !y->swap &&
           rows % x->p->hardware->matrix.rows == 0 && cols % x->p->hardware->matrix.columns == 0;
}

WsLanesMeet ws_lanes_meet(const WsProgram *p, const WsLanesAt *first, const WsLanesAt *second)
{
    Lanes x = lanes_of(p, first->op), y = lanes_of(p, second->op);
    if (!x.owner || !y.owner || first->op->agent != second->op->agent || x.a->buffer != y.a->buffer)
        return WS_LANES_OTHER;
    const guint cell = p->hardware->matrix.cell;
    gint64 rows = first->row0 - second->row0, cols = first->col0 - second->col0;
    if (in_step(&x, &y, rows, cols))
        return x.matrix == y.matrix && (!x.matrix || cols % (2 * cell) == 0) ? WS_LANES_SAME
                                                                             : WS_LANES_WARP;
    gint64 row = MAX(first->row0, second->row0), col = MAX(first->col0, second->col0);
    gint64 row_end = MIN(first->row0 + x.a->rows, second->row0 + y.a->rows);
    gint64 col_end = MIN(first->col0 + x.a->cols, second->col0 + y.a->cols);
    WsLanesMeet least = WS_LANES_SAME;
    for (gint64 r = row; r < row_end && least != WS_LANES_OTHER; r++)
        for (gint64 c = col; c < col_end && least != WS_LANES_OTHER; c++) {
            Owner a = owner_at(&x, (guint)(r - first->row0), (guint)(c - first->col0));
            Owner b = owner_at(&y, (guint)(r - second->row0), (guint)(c - second->col0));
            least = MIN(least, meet(&a, &b));
        }
    return least;
}

/* Threads that reach bytes of shared memory, by the address of each smallest element. */
typedef struct {
    guint64 from, to;
    guint unit;
    gint *thread, *warp; /* of each unit; NOBODY */
} Reached;

enum { NOBODY = -2 };

static void extent(const Lanes *l, guint64 base, guint64 *from, guint64 *to)
{
    const WsBuffer *b = &l->p->buffer[l->a->buffer];
    *from = base;
    *to = base + ws_buffer_offset(b, b->rows - 1, b->cols - 1) + l->bytes;
    const guint span = l->p->hardware->shared.swizzle[0]; /* a swizzle stays within it */
    *to = (*to + span - 1) / span * span;
}

static void reach(Reached *r, const Lanes *l, const WsLanesAt *at, guint64 base)
{
    const WsBuffer *b = &l->p->buffer[l->a->buffer];
    for (guint row = 0; row < l->a->rows; row++)
        for (guint col = 0; col < l->a->cols; col++) {
            const guint64 x =
                ws_buffer_place(l->p, b, base, (guint)at->row0 + row, (guint)at->col0 + col);
            const Owner o = owner_at(l, row, col);
            for (guint64 k = x; k < x + l->bytes; k += r->unit)
                if (k >= r->from && k < r->to) {
                    r->thread[(k - r->from) / r->unit] = o.thread;
                    r->warp[(k - r->from) / r->unit] = o.warp;
                }
        }
}

/* Two names of the same bytes. */
static gboolean collide_as_bytes(const Lanes *x, const WsLanesAt *first, guint64 first_base,
                                 const Lanes *y, const WsLanesAt *second, guint64 second_base,
                                 gboolean met)
{
    Reached r = { .unit = MIN(x->bytes, y->bytes) };
    guint64 from, to;
    extent(x, first_base, &r.from, &r.to);
    extent(y, second_base, &from, &to);
    r.from = MAX(r.from, from), r.to = MIN(r.to, to);
    if (r.from >= r.to)
        return FALSE;
    const gsize n = (gsize)(r.to - r.from) / r.unit + 1;
    g_autofree gint *thread = g_new(gint, 2 * n), *warp = g_new(gint, 2 * n);
    for (gsize i = 0; i < 2 * n; i++)
        thread[i] = warp[i] = NOBODY;
    r.thread = thread, r.warp = warp;
    reach(&r, x, first, first_base);
    r.thread = thread + n, r.warp = warp + n;
    reach(&r, y, second, second_base);
    for (gsize i = 0; i < n; i++) {
        const Owner a = { thread[i], warp[i] }, b = { thread[n + i], warp[n + i] };
        if (a.warp != NOBODY && b.warp != NOBODY &&
            meet(&a, &b) < (met ? WS_LANES_WARP : WS_LANES_SAME))
            return TRUE;
    }
    return FALSE;
}

/* Any thread may touch any element: data, or the author's text, say which. */
static gboolean scattered(const WsOp *op)
{
    return ws_op_picks(op) || (ws_op_is_raw(op->kind) && op->breadth == WS_BREADTH_GROUP);
}

gboolean ws_lanes_collide(const WsProgram *p, const WsLanesAt *first, guint64 first_base,
                          const WsLanesAt *second, guint64 second_base, gboolean met)
{
    const Lanes x = lanes_of(p, first->op), y = lanes_of(p, second->op);
    if (scattered(first->op) || scattered(second->op))
        return first->op->agent != second->op->agent || !met ||
               p->agent[first->op->agent].warps > 1;
    if (!x.owner || !y.owner || first->op->agent != second->op->agent)
        return FALSE;
    const gboolean permuted =
        p->buffer[x.a->buffer].k_permuted || p->buffer[y.a->buffer].k_permuted;
    if (x.a->buffer != y.a->buffer)
        return !permuted && collide_as_bytes(&x, first, first_base, &y, second, second_base, met);
    return ws_lanes_meet(p, first, second) < (met ? WS_LANES_WARP : WS_LANES_SAME);
}
