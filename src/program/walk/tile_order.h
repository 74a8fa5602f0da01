/* The order of tiles, for launch_values.c. */
#pragma once

#include "program/forward.h"

/* Table of pairs (x, y) along the curve over width x height cells, both >= 1; caller frees. */
gint32 *ws_hilbert_table(gint64 width, gint64 height);
/* The numbers of one launch: extents of the axes, tiles per group of order grouped, the table of
 * order hilbert (else NULL). */
typedef struct {
    gint64 extent[8], group;
    gint32 *hilbert;
} WsTileSpace;
/* Coordinates of tile `id`; all 0 if there is no such tile. */
void ws_tile_coords(const WsTiles *t, const WsTileSpace *s, gint64 id, gint64 *coord);
