/* A Hilbert curve over any rectangle, defined once for the program, its launches and the runner:
 * the classic curve on squares of a power of two, its generalisation by halving the longer side
 * elsewhere (cells that follow each other are neighbours, or touch at a corner where both extents
 * forbid better). Plain C11, no GLib. */
#pragma once

#include <stdint.h>

typedef struct {
    int32_t *out; /* pairs (x, y) */
    int64_t n;
} WsHilbert;

static inline int64_t ws_hilbert_sign(int64_t x)
{
    return (x > 0) - (x < 0);
}

static inline int64_t ws_hilbert_abs(int64_t x)
{
    return x < 0 ? -x : x;
}

static inline void ws_hilbert_emit(WsHilbert *c, int64_t x, int64_t y)
{
    c->out[2 * c->n] = (int32_t)x;
    c->out[2 * c->n + 1] = (int32_t)y;
    c->n++;
}

/* Fills the rectangle spanned by a = (ax, ay), the direction of travel, and b = (bx, by). The
 * recursion halves a side at each step. */
static inline void ws_hilbert_fill(WsHilbert *c, int64_t x, int64_t y, int64_t ax, int64_t ay,
                                   int64_t bx, int64_t by)
{
    int64_t w = ws_hilbert_abs(ax + ay), h = ws_hilbert_abs(bx + by);
    int64_t dax = ws_hilbert_sign(ax), day = ws_hilbert_sign(ay);
    int64_t dbx = ws_hilbert_sign(bx), dby = ws_hilbert_sign(by);
    if (h == 1 || w == 1) {
        int64_t n = h == 1 ? w : h, dx = h == 1 ? dax : dbx, dy = h == 1 ? day : dby;
        for (int64_t i = 0; i < n; i++)
            ws_hilbert_emit(c, x + i * dx, y + i * dy);
        return;
    }
    int64_t ax2 = ax / 2, ay2 = ay / 2, bx2 = bx / 2, by2 = by / 2;
    int64_t w2 = ws_hilbert_abs(ax2 + ay2), h2 = ws_hilbert_abs(bx2 + by2);
    if (2 * w > 3 * h) {
        if (w2 % 2 && w > 2) {
            ax2 += dax;
            ay2 += day;
        }
        ws_hilbert_fill(c, x, y, ax2, ay2, bx, by);
        ws_hilbert_fill(c, x + ax2, y + ay2, ax - ax2, ay - ay2, bx, by);
        return;
    }
    if (h2 % 2 && h > 2) {
        bx2 += dbx;
        by2 += dby;
    }
    ws_hilbert_fill(c, x, y, bx2, by2, ax2, ay2);
    ws_hilbert_fill(c, x + bx2, y + by2, ax, ay, bx - bx2, by - by2);
    ws_hilbert_fill(c, x + (ax - dax) + (bx2 - dbx), y + (ay - day) + (by2 - dby), -bx2, -by2,
                    -(ax - ax2), -(ay - ay2));
}

/* Pairs (x, y) along the curve over width x height cells, both >= 1: 2*width*height numbers. */
static inline void ws_hilbert(int32_t *out, int64_t width, int64_t height)
{
    WsHilbert c = { out, 0 };
    if (width >= height)
        ws_hilbert_fill(&c, 0, 0, width, 0, 0, height);
    else
        ws_hilbert_fill(&c, 0, 0, 0, height, width, 0);
}
