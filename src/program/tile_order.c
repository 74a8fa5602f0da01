/* The order of tiles: id -> coordinates (LANGUAGE section 6). */
#include "program/tile_order.h"

static gint64 sign(gint64 x)
{
    return (x > 0) - (x < 0);
}

typedef struct {
    gint32 *out;
    gint64 n;
} Curve;

static void emit(Curve *c, gint64 x, gint64 y)
{
    c->out[2 * c->n] = (gint32)x;
    c->out[2 * c->n + 1] = (gint32)y;
    c->n++;
}

/* Fills the rectangle spanned by a = (ax, ay), the direction of travel, and b = (bx, by), with a
 * Hilbert curve: the classic one on squares of a power of two, its generalisation by halving the
 * longer side elsewhere (cells that follow each other are neighbours, or touch at a corner where
 * both extents forbid better). The recursion halves a side at each step. */
static void fill(Curve *c, gint64 x, gint64 y, gint64 ax, gint64 ay, gint64 bx, gint64 by)
{
    gint64 w = ABS(ax + ay), h = ABS(bx + by);
    gint64 dax = sign(ax), day = sign(ay), dbx = sign(bx), dby = sign(by);
    if (h == 1 || w == 1) {
        gint64 n = h == 1 ? w : h, dx = h == 1 ? dax : dbx, dy = h == 1 ? day : dby;
        for (gint64 i = 0; i < n; i++)
            emit(c, x + i * dx, y + i * dy);
        return;
    }
    gint64 ax2 = ax / 2, ay2 = ay / 2, bx2 = bx / 2, by2 = by / 2;
    gint64 w2 = ABS(ax2 + ay2), h2 = ABS(bx2 + by2);
    if (2 * w > 3 * h) {
        if (w2 % 2 && w > 2) {
            ax2 += dax;
            ay2 += day;
        }
        fill(c, x, y, ax2, ay2, bx, by);
        fill(c, x + ax2, y + ay2, ax - ax2, ay - ay2, bx, by);
        return;
    }
    if (h2 % 2 && h > 2) {
        bx2 += dbx;
        by2 += dby;
    }
    fill(c, x, y, bx2, by2, ax2, ay2);
    fill(c, x + bx2, y + by2, ax, ay, bx - bx2, by - by2);
    fill(c, x + (ax - dax) + (bx2 - dbx), y + (ay - day) + (by2 - dby), -bx2, -by2, -(ax - ax2),
         -(ay - ay2));
}

gint32 *ws_hilbert_table(gint64 width, gint64 height)
{
    Curve c = { .out = g_new(gint32, 2 * width * height) };
    if (width >= height)
        fill(&c, 0, 0, width, 0, 0, height);
    else
        fill(&c, 0, 0, 0, height, width, 0);
    return c.out;
}

/* Decodes `rest` over the axes that `skip` does not name, the last one fastest. */
static void decode(const WsTiles *t, const gint64 *extent, guint skip, gint64 rest, gint64 *coord)
{
    for (guint a = t->n_axes; a-- > 0;) {
        if (skip & (1u << a))
            continue;
        coord[a] = rest % extent[a];
        rest /= extent[a];
    }
}

static void grouped(const WsTiles *t, const WsTileSpace *s, gint64 tiles, gint64 id, gint64 *coord)
{
    guint x = t->order_axis;
    const gint64 *extent = s->extent;
    gint64 others = tiles / extent[x];
    gint64 size = CLAMP(s->group, 1, extent[x]);
    gint64 group = id / (size * others), rest = id % (size * others);
    gint64 own = MIN(size, extent[x] - group * size); /* the last group may be smaller */
    coord[x] = group * size + rest % own;
    decode(t, extent, 1u << x, rest / own, coord);
}

void ws_tile_coords(const WsTiles *t, const WsTileSpace *s, gint64 id, gint64 *coord)
{
    const gint64 *extent = s->extent;
    const gint32 *hilbert = s->hilbert;
    gint64 tiles = 1;
    for (guint a = 0; a < t->n_axes; a++) {
        coord[a] = 0;
        tiles *= extent[a];
    }
    if (id < 0 || id >= tiles)
        return;
    if (t->order == WS_ORDER_GROUPED) {
        grouped(t, s, tiles, id, coord);
    } else if (t->order == WS_ORDER_HILBERT && hilbert) {
        guint x = t->order_axis, y = t->order_axis2;
        gint64 cells = extent[x] * extent[y];
        coord[x] = hilbert[2 * (id % cells)];
        coord[y] = hilbert[2 * (id % cells) + 1];
        decode(t, extent, 1u << x | 1u << y, id / cells, coord);
    } else {
        decode(t, extent, 0, id, coord);
    }
    for (guint a = 0; a < t->n_axes; a++)
        if (t->axis[a].reverse)
            coord[a] = extent[a] - 1 - coord[a];
}
