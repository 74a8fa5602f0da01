/* Shared memory of all CTAs, cell by cell: who wrote and who read it last. Cells have the size of
 * the smallest element where lanes read or write them, else one in 16 bytes stands for the rest. */
#include "lanes.h"

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

/* --- cells */

static gboolean is_generic(const WsOp *op)
{
    switch (op->kind) {
    case WS_OP_ST_SHARED:
    case WS_OP_STMATRIX:
    case WS_OP_LD_SHARED:
    case WS_OP_LDMATRIX:
    case WS_OP_ST_REMOTE:
    case WS_OP_CLAIM:
    case WS_OP_TAKE:
    case WS_OP_TRANSPOSE:
    case WS_OP_CP_ROWS:
        return TRUE;
    default:
        return FALSE;
    }
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

static void touch_cell(Lab *L, Lanes *a, const WsOp *op, guint rank, guint64 at, gboolean write,
                       const Lane *by, Moment me, gboolean async, gboolean gather)
{
    Cell *c = &L->cell[rank * L->cells_per_rank + at / L->unit];
    if (c->write.when) {
        gint16 w = c->write.who;
        if (!lane_knows(by, DATA, w, c->write.when))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
        else if (async && c->plain && !lane_knows(by, PROXY, w, c->write.when))
            lanes_problem(L, ORACLE_PROXY, a, op, NULL);
    }
    if (op->kind == WS_OP_TAKE && c->tile != a->position + 2) /* of another round, or none */
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
    for (guint i = 0; i < c->n_read; i++)
        if (!lane_knows(by, ORDER, c->read[i].who, c->read[i].when))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
    for (guint i = 0; c->many && i < L->width; i++)
        if (!lane_knows(by, ORDER, (gint16)i, c->many[i]))
            lanes_problem(L, ORACLE_RACE, a, op, NULL);
    c->many = NULL;
    c->write = me;
    c->tile = op->kind == WS_OP_CLAIM ? (gint16)(a->position + 2) : 0;
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
    for (guint r = 0; r < x->rows; r++)
        for (guint c = 0; c < x->cols;) {
            guint64 at = address(v.b, v.base, v.row + r, v.col + c);
            gboolean fine = L->fine[at / 16];
            touch(L, a, op, rank, fine ? at : at / 16 * 16, fine ? bytes : 1,
                  (x->mode & WS_MODE_WRITE) != 0, by, when, op->kind != WS_OP_ST_REMOTE, FALSE);
            c += fine || v.b->row_bytes % 16 ? 1 : MAX(1, (guint)(16 - at % 16) / bytes);
        }
}

/* --- lanes */

typedef enum { SCALAR, LINEAR, TILE, ROWS, QUADS, COLUMNS, MATRIX } Shape;

static Shape shape_of(const WsOp *op, const WsRegValue *v)
{
    if (op->kind == WS_OP_STMATRIX || op->kind == WS_OP_LDMATRIX)
        return MATRIX;
    if (v->rows == 1 && v->cols == 1)
        return SCALAR;
    if (v->layout == WS_LAYOUT_LINEAR)
        return LINEAR;
    if (v->rows == 1)
        return COLUMNS;
    return v->cols == 1 ? ROWS : v->cols == 4 ? QUADS : TILE;
}

/* The lanes that hold element (row, col) of a value: a write is done by the first of them, a read
 * by all. The accumulator of wgmma (PTX, m64nNk16 D): row = 16 * warp + lane / 4 (+ 8), column = 8
 * * i + 2 * (lane % 4) (+ 1); stmatrix and ldmatrix x4: lane l holds the address of row l % 16 and
 * of the columns from 8 * (l / 16) of every 16. */
static guint owners(Shape shape, const WsRegValue *v, guint n_lanes, guint row, guint col,
                    guint *first, guint *step)
{
    guint warp = row % 64 / 16 * 32, quad = warp + row % 8 * 4;
    *step = 1;
    switch (shape) {
    case SCALAR:
        *first = 0;
        return n_lanes;
    case LINEAR:
        *first = (row * v->cols + col) % n_lanes;
        return 1;
    case TILE:
        *first = quad + col % 8 / 2;
        return 1;
    case ROWS:
        *first = quad;
        return 4;
    case QUADS:
        *first = quad + col % 4;
        return 1;
    case COLUMNS:
        *first = col % 8 / 2;
        *step = 4;
        return n_lanes / 4;
    default:
        *first = warp + row % 16 + col % 16 / 8 * 16;
        return 1;
    }
}

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

/* Lanes of a transpose are not laid down: any. */
static void any_lane(Lab *L, Lanes *a, const WsOp *op, const Place *v, const WsAccess *x)
{
    for (guint r = 0; r < x->rows; r++)
        for (guint c = 0; c < x->cols; c++)
            by_lane(L, a, op, a->rank, address(v->b, v->base, v->row + r, v->col + c), 1,
                    (x->mode & WS_MODE_WRITE) != 0, (r * 7 + c * 5) % a->n_lanes, FALSE);
}

/* Of a linear value, lanes that have no element of the view in one of their registers read its
 * first element for it (and drop it). */
static void spare_lanes(Lab *L, Lanes *a, const WsOp *op, const WsRegValue *v, guint row0,
                        guint col0, guint64 first)
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
            by_lane(L, a, op, a->rank, first, L->unit, FALSE, lane, FALSE);
            break;
        }
}

void lanes_generic(Lab *L, Lanes *a, const WsOp *op)
{
    for (guint i = 0; i < op->n_access; i++) {
        const WsAccess *x = &op->access[i];
        Place v;
        if (!place(L, a, x, &v))
            return;
        if (op->kind == WS_OP_CLAIM || op->kind == WS_OP_TAKE) {
            one_of_each_warp(L, a, op, &v, x);
            continue;
        }
        if (op->n_value == 0) {
            any_lane(L, a, op, &v, x);
            continue;
        }
        const WsValueUse *u = &op->value[0];
        const WsRegValue *value = &L->p->agent[a->agent].value[u->value];
        Shape shape = shape_of(op, value);
        guint row0 = (guint)lanes_value(L, a, u->row0), col0 = (guint)lanes_value(L, a, u->col0);
        gboolean write = (x->mode & WS_MODE_WRITE) != 0;
        /* a tile of one dimension stands for rows or for columns */
        gboolean turned = x->transposed || (x->rows != u->rows && x->rows == u->cols);
        if (shape == LINEAR && !write)
            spare_lanes(L, a, op, value, row0, col0, address(v.b, v.base, v.row, v.col));
        for (guint r = 0; r < u->rows; r++)
            for (guint c = 0; c < u->cols; c++) {
                guint first, step;
                guint n = owners(shape, value, a->n_lanes, row0 + r, col0 + c, &first, &step);
                guint64 at =
                    address(v.b, v.base, v.row + (turned ? c : r), v.col + (turned ? r : c));
                for (guint k = 0; k < (write ? 1 : n); k++)
                    by_lane(L, a, op, a->rank, at, ws_dtype_bytes(v.b->dtype), write,
                            first + k * step, FALSE);
            }
    }
}

void lanes_gather(Lab *L, Lanes *a, const WsOp *op)
{
    const WsAccess *x = &op->access[0];
    Place v;
    if (!place(L, a, x, &v))
        return;
    guint bytes = ws_dtype_bytes(v.b->dtype), units = x->cols * bytes / 16, share = 8;
    while (share > 1 && units % share)
        share /= 2;
    for (guint r = 0; r < x->rows; r++)
        for (guint c = 0; c < x->cols; c++) {
            guint lane = (r * share + c * bytes / 16 % share) % a->n_lanes;
            Moment me = { (gint16)(a->rows + (gint)lane), a->row_now[lane] };
            touch(L, a, op, a->rank, address(v.b, v.base, v.row + r, v.col + c), bytes, TRUE,
                  &a->lane[lane], me, FALSE, TRUE);
        }
}
