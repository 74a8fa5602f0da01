/* Marks of a comparison as they are painted; coordinates of the scene. */
#pragma once

#include "score/palette.h"

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* A step. */
typedef struct {
    char sign; /* 0: as it was, at another time */
    gboolean ghost, focused;
    double x, y, w, h;
    double to_x, to_y; /* moved: where it is now; NAN unknown */
} WsCompareMark;

/* An edge that is there in one of the designs alone. */
typedef struct {
    gboolean removed;
    double x0, y0, x1, y1;
} WsCompareEdge;

void ws_compare_paint_mark(cairo_t *cr, const WsCompareMark *m, const WsPalette *p);
void ws_compare_paint_edge(cairo_t *cr, const WsCompareEdge *e);

G_END_DECLS
