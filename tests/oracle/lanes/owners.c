/* Which lane holds which element of a value, or copies which bytes of a gather. */
#include "lanes.h"
#include "program/op_kind.h"
#include "program/parts/access.h"
#include "program/parts/operation.h"
#include "program/parts/value.h"

Shape lanes_shape(const WsOp *op, const WsRegValue *v)
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

/* The accumulator of wgmma (PTX, m64nNk16 D): row = 16 * warp + lane / 4 (+ 8), column = 8 * i + 2
 * * (lane % 4) (+ 1); stmatrix and ldmatrix x4: lane l holds the address of row l % 16 and of the
 * columns from 8 * (l / 16) of every 16. */
guint lanes_owners(Shape shape, const WsRegValue *v, guint n_lanes, guint row, guint col,
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
    case MATRIX:
    default:
        *first = warp + row % 16 + col % 16 / 8 * 16;
        return 1;
    }
}

gboolean lanes_turned(const WsAccess *x, const WsValueUse *u)
{
    return x->transposed || (x->rows != u->rows && x->rows == u->cols);
}

guint lanes_gathers(const WsAccess *x, guint bytes, guint n_lanes, guint row, guint col)
{
    guint units = x->cols * bytes / 16, share = 8;
    while (share > 1 && units % share)
        share /= 2;
    return (row * share + col * bytes / 16 % share) % n_lanes;
}
