/* The order of tiles: id -> coordinates (LANGUAGE section 6). */
#include "program/walk/tile_order.h"
#include "program/hilbert.h"
#include "program/parts/tiles.h"

gint32 *ws_hilbert_table(gint64 width, gint64 height)
{
    gint32 *out = g_new(gint32, 2 * width * height);
    ws_hilbert(out, width, height);
    return out;
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
