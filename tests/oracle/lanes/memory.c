/* Shared memory of all CTAs, cell by cell: who wrote and who read it last. Cells have the size of
 * the smallest element where lanes read or write them, else one in 16 bytes stands for the rest. */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/agent.h"
#include "program/parts/buffer.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"
#include "program/program.h"

#include <string.h>

/* --- addresses */

/* The swizzle exchanges 16-byte units by the bits above: CUTLASS Swizzle<3, 4, 3>, <2, 4, 3>, <1,
 * 4, 3>. */
static guint64 swizzled(const WsBuffer *b, guint64 at)
{
    guint units = b->swizzle / 16;
    return units > 1 ? at ^ ((at >> 7 & (units - 1)) << 4) : at;
}

static guint64 address(const WsBuffer *b, guint64 base, guint row, guint col)
{
    guint bytes = ws_dtype_bytes(b->dtype);
    return swizzled(b, base + (guint64)(col / b->chunk_cols) * b->chunk_bytes +
                           (guint64)row * b->row_bytes + (guint64)(col % b->chunk_cols) * bytes);
}

typedef struct {
    const WsBuffer *b;
    guint64 base;
    guint row, col; /* of the view */
} Place;

static gboolean place(Lab *L, const Lanes *a, const WsAccess *x, Place *out)
{
    const WsBuffer *b = &L->p->buffer[x->buffer];
    /* a use of a buffer without stages picks nothing */
    if (x->use && b->stages > 1 && lanes_value(L, a, x->use) < 0)
        lanes_problem(L, ORACLE_UNDEFINED, a, a->op, NULL);
    gint64 row = lanes_value(L, a, x->row0), col = lanes_value(L, a, x->col0),
           stage = lanes_value(L, a, x->stage), element = lanes_value(L, a, x->element);
    if (row < 0 || col < 0 || row + x->rows > b->rows || col + x->cols > b->cols || stage < 0 ||
        stage >= b->stages || element < 0 || element >= b->array) {
        L->result->reason = "a view out of range";
        L->result->verdict |= ORACLE_OUTSIDE;
        return FALSE;
    }
    *out =
        (Place){ b, b->offset + (guint64)element * b->array_pitch + (guint64)stage * b->stage_pitch,
                 (guint)row, (guint)col };
    return TRUE;
}

/* The elements of a view that are judged, one after the other. */
typedef struct {
    const Elements *some; /* of the buffer; NULL: all */
    guint next, row, col; /* row and column: in the view */
} Each;

static Each each_of(const Lab *L, const Place *v)
{
    return (Each){ .some = L->judged ? L->judged[v->b - L->p->buffer] : NULL };
}

static inline gboolean each(Each *e, const Place *v, guint rows, guint cols)
{
    if (e->some) {
        while (e->next < e->some->n) {
            e->row = e->some->at[e->next].row - v->row;
            e->col = e->some->at[e->next++].col - v->col;
            if (e->row < rows && e->col < cols) /* what lies before wraps around */
                return TRUE;
        }
        return FALSE;
    }
    if (e->next++ > 0 && ++e->col >= cols) {
        e->col = 0;
        e->row++;
    }
    return e->row < rows;
}

/* --- cells */

static gboolean is_generic(const WsOp *op)
{
    if (op->kind == WS_OP_ST_SHARED || op->kind == WS_OP_STMATRIX || op->kind == WS_OP_LD_SHARED ||
        op->kind == WS_OP_LDMATRIX || op->kind == WS_OP_ST_REMOTE || op->kind == WS_OP_LD_REMOTE ||
        op->kind == WS_OP_ST_PEER || op->kind == WS_OP_CLAIM || op->kind == WS_OP_TAKE ||
        op->kind == WS_OP_PIPE_TELL || op->kind == WS_OP_PIPE_ASK || op->kind == WS_OP_RED_SHARED ||
        op->kind == WS_OP_TRANSPOSE || op->kind == WS_OP_CP_ROWS)
        return TRUE;
    return FALSE;
}

gboolean lanes_memory_new(Lab *L)
{
    const WsProgram *p = L->p;
    guint64 bytes = 0;
    L->unit = 4;
    for (guint i = 0; i < p->n_buffers; i++) {
        bytes = MAX(bytes, p->buffer[i].offset + p->buffer[i].bytes);
        L->unit = MIN(L->unit, ws_dtype_bytes(p->buffer[i].dtype));
    }
    bytes = (bytes + 1023) / 1024 * 1024 + 1024;
    L->cells_per_rank = bytes / L->unit;
    if (L->cells_per_rank * p->cluster > 2000000)
        return FALSE;
    L->cell = g_new0(Cell, L->cells_per_rank * p->cluster);
    L->fine = g_malloc0(bytes / 16);
    for (guint i = 0; i < p->n_ops; i++)
        for (guint k = 0; is_generic(p->op[i]) && k < p->op[i]->n_access; k++) {
            const WsBuffer *b = &p->buffer[p->op[i]->access[k].buffer];
            memset(L->fine + b->offset / 16, 1, (b->bytes + 15) / 16);
        }
    return TRUE;
}

/* Adding integers and adding floats are two things. */
static guint8 kind_of(const Lab *L, const WsOp *op)
{
    return (guint8)(op->reduce +
                    (L->p->buffer[op->access[0].buffer].dtype == WS_DTYPE_F32 ? 128 : 0));
}

/* Plain accesses, the engine and atomics that do something else must know of atomics. */
static void knows_atomics(Lab *L, Lanes *a, const WsOp *op, const Cell *c, const Lane *by,
                          gboolean async)
{
    if (!c->atom || (op->kind == WS_OP_RED_SHARED && c->atom_kind == kind_of(L, op)))
        return;
    for (guint i = 0; i < L->width; i++)
        if (!lane_knows(by, DATA, (gint16)i, c->atom[i]))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
        else if (async && !lane_knows(by, PROXY, (gint16)i, c->atom[i]))
            lanes_problem(L, ORACLE_PROXY, a, op, NULL);
}

static void knows_reads(Lab *L, Lanes *a, const WsOp *op, const Cell *c, const Lane *by)
{
    for (guint i = 0; i < c->n_read; i++)
        if (!lane_knows(by, ORDER, c->read[i].who, c->read[i].when))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
    for (guint i = 0; c->many && i < L->width; i++)
        if (!lane_knows(by, ORDER, (gint16)i, c->many[i]))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
}

/* Takes part in what is there, whoever else does the same at the same time. */
static void combine(Lab *L, Lanes *a, const WsOp *op, Cell *c, const Lane *by, Moment me)
{
    if (!c->write.when)
        lanes_problem(L, ORACLE_UNDEFINED, a, op, NULL);
    knows_reads(L, a, op, c, by);
    if (!c->atom || c->atom_kind != kind_of(L, op))
        c->atom = lanes_alloc(L, sizeof(Clock) * L->width);
    c->atom_kind = kind_of(L, op);
    c->atom[me.who] = me.when;
}

static void touch_cell(Lab *L, Lanes *a, const WsOp *op, guint rank, guint64 at, gboolean write,
                       const Lane *by, Moment me, gboolean async, gboolean gather)
{
    Cell *c = &L->cell[rank * L->cells_per_rank + at / L->unit];
    if (c->write.when) {
        gint16 w = c->write.who;
        /* what the engine wrote is there once it has landed; what threads stored must be published
         */
        if (!lane_knows(by, c->plain || c->gather ? DATA : ORDER, w, c->write.when))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
        else if (async && c->plain && !lane_knows(by, PROXY, w, c->write.when))
            lanes_problem(L, ORACLE_PROXY, a, op, NULL);
    }
    knows_atomics(L, a, op, c, by, async);
    if (op->kind == WS_OP_RED_SHARED) {
        combine(L, a, op, c, by, me);
        return;
    }
    if (op->kind == WS_OP_TAKE && c->tile != a->position + 2) /* of another round, or none */
        lanes_problem(L, ORACLE_PHASE, a, op, NULL);
    if (op->kind == WS_OP_PIPE_ASK && c->tile != -1 - op->n) /* a round, or the end */
        lanes_problem(L, ORACLE_PHASE, a, op, NULL);
    if (!write) {
        if (!c->write.when)
            lanes_problem(L, ORACLE_UNDEFINED, a, op, NULL);
        for (guint i = 0; i < c->n_read; i++)
            if (c->read[i].who == me.who ||
                lane_knows(by, ORDER, c->read[i].who, c->read[i].when)) {
                c->read[i] = me;
                return;
            }
        if (c->n_read < G_N_ELEMENTS(c->read)) {
            c->read[c->n_read++] = me;
            return;
        }
        if (!c->many) {
            c->many = lanes_alloc(L, sizeof(Clock) * L->width);
        }
        c->many[me.who] = me.when;
        return;
    }
    knows_reads(L, a, op, c, by);
    c->many = c->atom = NULL;
    c->write = me;
    c->tile = op->kind == WS_OP_CLAIM       ? (gint16)(a->position + 2)
              : op->kind == WS_OP_PIPE_TELL ? (gint16)(-1 - op->n)
                                            : 0;
    c->n_read = 0;
    c->plain = !async && !gather;
    c->gather = gather;
}

/* Every cell of `bytes`. */
static void touch(Lab *L, Lanes *a, const WsOp *op, guint rank, guint64 at, guint bytes,
                  gboolean write, const Lane *by, Moment me, gboolean async, gboolean gather)
{
    for (guint i = 0; i < bytes; i += L->unit)
        touch_cell(L, a, op, rank, at + i, write, by, me, async, gather);
}

void lanes_engine(Lab *L, Lanes *a, const WsOp *op, const WsAccess *x, guint rank, const Lane *by,
                  Moment when)
{
    Place v;
    if (!place(L, a, x, &v))
        return;
    guint bytes = ws_dtype_bytes(v.b->dtype);
    for (Each e = each_of(L, &v); each(&e, &v, x->rows, x->cols);) {
        guint64 at = address(v.b, v.base, v.row + e.row, v.col + e.col);
        gboolean fine = L->fine[at / 16];
        touch(L, a, op, rank, fine ? at : at / 16 * 16, fine ? bytes : 1,
              (x->mode & WS_MODE_WRITE) != 0, by, when, op->kind != WS_OP_ST_REMOTE, FALSE);
        e.col += fine || v.b->row_bytes % 16 ? 0 : MAX(1, (guint)(16 - at % 16) / bytes) - 1;
    }
}

/* --- lanes */

static void by_lane(Lab *L, Lanes *a, const WsOp *op, guint rank, guint64 at, guint bytes,
                    gboolean write, guint lane, gboolean async)
{
    lane %= a->n_lanes;
    Moment me = { (gint16)(a->first + lane), a->now[lane] };
    touch(L, a, op, rank, at, bytes, write, &a->lane[lane], me, async, FALSE);
}

static void one_of_each_warp(Lab *L, Lanes *a, const WsOp *op, const Place *v, const WsAccess *x)
{
    guint step = op->breadth == WS_BREADTH_LEADER ? a->n_lanes
                 : op->breadth == WS_BREADTH_WARP ? 32
                                                  : 1;
    for (guint lane = 0; lane < a->n_lanes; lane += step)
        by_lane(L, a, op, a->rank, address(v->b, v->base, v->row, v->col), 4,
                (x->mode & WS_MODE_WRITE) != 0, lane, FALSE);
}

/* Lanes of a transpose and of places are not laid down: others each time. */
static void any_lane(Lab *L, Lanes *a, const WsOp *op, const Place *v, const WsAccess *x)
{
    for (guint r = 0; r < x->rows; r++)
        for (guint c = 0; c < x->cols; c++)
            by_lane(L, a, op, a->rank, address(v->b, v->base, v->row + r, v->col + c), 1,
                    (x->mode & WS_MODE_WRITE) != 0, (r * 7 + c * 5 + (guint)a->now[0]) % a->n_lanes,
                    FALSE);
}

/* Of a linear value, lanes that have no element of the view in one of their registers read its
 * first element for it (and drop it). */
static void spare_lanes(Lab *L, Lanes *a, const WsOp *op, guint rank, const WsRegValue *v,
                        guint row0, guint col0, guint64 first)
{
    const WsValueUse *u = &op->value[0];
    guint all = v->rows * v->cols;
    for (guint lane = 0; lane < a->n_lanes; lane++)
        for (guint i = lane; i < (all + a->n_lanes - 1) / a->n_lanes * a->n_lanes;
             i += a->n_lanes) {
            guint row = i / v->cols, col = i % v->cols;
            if (i < all && row >= row0 && row < row0 + u->rows && col >= col0 &&
                col < col0 + u->cols)
                continue;
            by_lane(L, a, op, rank, first, L->unit, FALSE, lane, FALSE);
            break;
        }
}

void lanes_generic(Lab *L, Lanes *a, const WsOp *op)
{
    guint rank[8] = { a->rank };
    if (op->kind == WS_OP_LD_REMOTE || op->kind == WS_OP_ST_PEER)
        lanes_targets(L, a, &op->ctas, rank);
    for (guint l = 0; rank[0] != a->rank && l < a->n_lanes; l++)
        lanes_reached(L, rank[0], a, (Moment){ (gint16)(a->first + l), a->now[l] }, op);
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *x = &op->access[i];
        Place v;
        if (!place(L, a, x, &v))
            return;
        if (op->kind == WS_OP_CLAIM || op->kind == WS_OP_TAKE || op->kind == WS_OP_PIPE_TELL ||
            op->kind == WS_OP_PIPE_ASK) {
            one_of_each_warp(L, a, op, &v, x);
            continue;
        }
        if (op->n_value == 0 || op->places) {
            any_lane(L, a, op, &v, x);
            continue;
        }
        const WsValueUse *u = &op->value[0];
        const WsRegValue *value = &L->p->agent[a->agent].value[u->value];
        Shape shape = lanes_shape(op, value);
        guint row0 = (guint)lanes_value(L, a, u->row0), col0 = (guint)lanes_value(L, a, u->col0);
        gboolean write = (x->mode & WS_MODE_WRITE) != 0;
        gboolean turned = lanes_turned(x, u);
        if (shape == LINEAR && !write)
            spare_lanes(L, a, op, rank[0], value, row0, col0, address(v.b, v.base, v.row, v.col));
        const guint rows = turned ? u->cols : u->rows, cols = turned ? u->rows : u->cols;
        for (Each e = each_of(L, &v); each(&e, &v, rows, cols);) {
            guint first, step;
            guint n = lanes_owners(shape, value, a->n_lanes, row0 + (turned ? e.col : e.row),
                                   col0 + (turned ? e.row : e.col), &first, &step);
            guint64 at = address(v.b, v.base, v.row + e.row, v.col + e.col);
            for (guint k = 0; k < (write ? 1 : n); k++)
                by_lane(L, a, op, rank[0], at, ws_dtype_bytes(v.b->dtype), write, first + k * step,
                        FALSE);
        }
    }
}

void lanes_gather(Lab *L, Lanes *a, const WsOp *op)
{
    const WsAccess *x = &op->access[0];
    Place v;
    if (!place(L, a, x, &v))
        return;
    guint bytes = ws_dtype_bytes(v.b->dtype);
    for (Each e = each_of(L, &v); each(&e, &v, x->rows, x->cols);) {
        guint lane = lanes_gathers(x, bytes, a->n_lanes, e.row, e.col);
        Moment me = { (gint16)(a->rows + (gint)lane), a->row_now[lane] };
        touch(L, a, op, a->rank, address(v.b, v.base, v.row + e.row, v.col + e.col), bytes, TRUE,
              &a->lane[lane], me, FALSE, TRUE);
    }
}
