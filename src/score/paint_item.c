/* One item: solid head, hatched tail, hollow wait, stage state, unit level. */
#include "score/palette.h"

#include <math.h>

/* The part of a line that lies between x0 and x1; lines lean to either side by their height. */
static void slanted(cairo_t *cr, double ax, double ay, double bx, double by, double x0, double x1)
{
    if (bx <= x0 || ax >= x1)
        return;
    double slope = (by - ay) / (bx - ax);
    double from = MAX(ax, x0), to = MIN(bx, x1);
    cairo_move_to(cr, from, ay + (from - ax) * slope);
    cairo_line_to(cr, to, ay + (to - ax) * slope);
}

#define GAP   5   /* between the lines of a hatch */
#define STRIP GAP /* height of the hatch on solid bars: dots come once in it */

/* Strokes the hatch inside a rectangle in the current colour: one path, no clip, since a score has
 * hundreds of them. */
static void stroke_hatch(cairo_t *cr, char hatch, double x, double y, double w, double h)
{
    const double gap = GAP;
    if (hatch == ' ' || w < 2)
        return;
    cairo_set_line_width(cr, 1);
    /* Aligned to the page, so that neighbouring bars do not beat against each other. */
    double from = floor((x - h) / gap) * gap;
    for (double at = from; at < x + w; at += gap) {
        if (hatch == '/' || hatch == 'x')
            slanted(cr, at, y + h, at + h, y, x, x + w);
        if (hatch == '\\' || hatch == 'x')
            slanted(cr, at, y, at + h, y + h, x, x + w);
        if (hatch == '|' && at >= x && at + 1 <= x + w) {
            cairo_move_to(cr, at + 0.5, y);
            cairo_line_to(cr, at + 0.5, y + h);
        }
        if (hatch == '.' && at >= x && at + 1 <= x + w)
            for (double dy = 2; dy < h - 1; dy += gap) {
                cairo_move_to(cr, at, y + dy + 0.3);
                cairo_line_to(cr, at + 1.2, y + dy + 0.3);
            }
    }
    cairo_stroke(cr);
}

/* --- hatches as tiles ---------------------------------------------------------------------------
 * Into an image whose units are pixels a hatch is laid with a tile, which costs a tenth of its
 * strokes. */

typedef struct {
    char hatch;
    guint32 colour;
    double alpha;
    cairo_pattern_t *tile;
} Tile;

struct WsPaint {
    cairo_t *cr;
    WsTheme theme;
    gboolean quick; /* square corners */
    GArray *tile;   /* Tile; NULL: strokes */
};

static gboolean in_pixels(cairo_t *cr)
{
    cairo_surface_t *target = cairo_get_group_target(cr);
    cairo_matrix_t m;
    double sx, sy;
    cairo_get_matrix(cr, &m);
    cairo_surface_get_device_scale(target, &sx, &sy);
    return cairo_surface_get_type(target) == CAIRO_SURFACE_TYPE_IMAGE && sx == 1 && sy == 1 &&
           m.xx == 1 && m.yy == 1 && m.xy == 0 && m.yx == 0 && m.x0 == floor(m.x0) &&
           m.y0 == floor(m.y0);
}

static void clear_tile(gpointer tile)
{
    cairo_pattern_destroy(((Tile *)tile)->tile);
}

WsPaint *ws_paint_begin(cairo_t *cr, WsTheme theme, gboolean bare, gboolean quick)
{
    WsPaint *p = g_new0(WsPaint, 1);
    p->cr = cr;
    p->theme = theme;
    p->quick = quick;
    if (bare && in_pixels(cr)) {
        p->tile = g_array_new(FALSE, FALSE, sizeof(Tile));
        g_array_set_clear_func(p->tile, clear_tile);
    }
    return p;
}

void ws_paint_end(WsPaint *p)
{
    g_clear_pointer(&p->tile, g_array_unref);
    g_free(p);
}

static cairo_pattern_t *tile_of(const WsPaint *p, char hatch, guint32 colour, double alpha)
{
    for (guint i = 0; i < p->tile->len; i++) {
        const Tile *t = &g_array_index(p->tile, Tile, i);
        if (t->hatch == hatch && t->colour == colour && t->alpha == alpha)
            return t->tile;
    }
    const int n = 8 * GAP; /* large enough that laying it costs little */
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, n, n);
    cairo_t *cr = cairo_create(image);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_FAST);
    ws_paint_colour(cr, colour, alpha);
    stroke_hatch(cr, hatch, -n, hatch == '.' ? -GAP : -n, 3 * n, 3 * n);
    cairo_destroy(cr);
    Tile t = { hatch, colour, alpha, cairo_pattern_create_for_surface(image) };
    cairo_surface_destroy(image);
    cairo_pattern_set_extend(t.tile, CAIRO_EXTEND_REPEAT);
    cairo_pattern_set_filter(t.tile, CAIRO_FILTER_NEAREST);
    g_array_append_val(p->tile, t);
    return t.tile;
}

static void paint_hatch(const WsPaint *p, WsItemKind kind, guint32 colour, double alpha, double x,
                        double y, double w, double h)
{
    const char hatch = ws_item_hatch(kind);
    if (hatch == ' ' || w < 2)
        return;
    if (!p->tile) {
        ws_paint_colour(p->cr, colour, alpha);
        stroke_hatch(p->cr, hatch, x, y, w, h);
        return;
    }
    cairo_set_source(p->cr, tile_of(p, hatch, colour, alpha));
    cairo_rectangle(p->cr, round(x), y, round(x + w) - round(x), h);
    cairo_fill(p->cr);
}

static void bar(const WsPaint *p, double x, double y, double w, double h)
{
    ws_paint_rect(p->cr, x, y, w, h, p->quick ? 0 : 2);
}

/* A measured bar under a predicted one. */
static gboolean under(const WsSceneItem *i)
{
    return i->measured && i->h < 10;
}

/* What it does is not known: a framed hatch instead of a solid bar. */
static void paint_opaque(const WsPaint *p, const WsSceneItem *i, guint32 c)
{
    ws_paint_colour(p->cr, c, 0.18);
    bar(p, i->x, i->y, i->w, i->h);
    cairo_fill(p->cr);
    paint_hatch(p, i->kind, c, 0.8, i->x, i->y, i->w, i->h);
    ws_paint_colour(p->cr, c, 1);
    cairo_set_line_width(p->cr, 1);
    bar(p, i->x + 0.5, i->y + 0.5, MAX(i->w - 1, 0.5), i->h - 1);
    cairo_stroke(p->cr);
}

static void paint_head(const WsPaint *p, const WsSceneItem *i, guint32 c)
{
    if (i->kind == WS_ITEM_OPAQUE) {
        paint_opaque(p, i, c);
        return;
    }
    ws_paint_colour(p->cr, c, under(i) ? 0.75 : 1);
    bar(p, i->x, i->y, i->w, i->h);
    cairo_fill(p->cr);
    if (i->h >= 2 * STRIP + 4) /* the hatch of its kind at the foot, under what is written on it */
        paint_hatch(p, i->kind, ws_palette_ink(p->theme, i->kind), 0.75, i->x, i->y + i->h - STRIP,
                    i->w, STRIP);
}

/* Measured ends are upper bounds: a thin line to where completion was observed. */
static void paint_observed(cairo_t *cr, const WsSceneItem *i, guint32 c)
{
    double middle = i->y + i->h / 2;
    ws_paint_colour(cr, c, 0.8);
    cairo_rectangle(cr, i->x, middle - 0.75, i->w, 1.5);
    cairo_rectangle(cr, i->x + i->w - 1.5, i->y, 1.5, i->h);
    cairo_fill(cr);
    if (i->head > 0.3) {
        ws_paint_rect(cr, i->x, i->y, MAX(i->head, 1.5), i->h, i->head > 4 ? 2 : 0);
        cairo_fill(cr);
    }
}

static void paint_flight(const WsPaint *p, const WsSceneItem *i, guint32 c)
{
    cairo_t *cr = p->cr;
    if (under(i)) {
        paint_observed(cr, i, c);
        return;
    }
    ws_paint_colour(cr, c, 0.20);
    bar(p, i->x, i->y, i->w, i->h);
    cairo_fill(cr);
    paint_hatch(p, i->kind, c, i->measured ? 0.4 : 0.55, i->x + i->head, i->y, i->w - i->head,
                i->h);
    if (i->head > 0.3) {
        ws_paint_colour(cr, c, 1);
        if (i->head > 4)
            bar(p, i->x, i->y, i->head, i->h);
        else
            cairo_rectangle(cr, i->x, i->y, MAX(i->head, 1.5), i->h);
        cairo_fill(cr);
    }
    ws_paint_colour(cr, c, 0.9);
    cairo_set_line_width(cr, 1);
    bar(p, i->x + 0.5, i->y + 0.5, MAX(i->w - 1, 0.5), i->h - 1);
    cairo_stroke(cr);
}

static void paint_wait(cairo_t *cr, const WsSceneItem *i, guint32 c)
{
    double inset = under(i) ? 1 : 4.5;
    double y = i->y + inset, h = i->h - 2 * inset;
    ws_paint_colour(cr, c, 0.08);
    cairo_rectangle(cr, i->x, y, i->w, h);
    cairo_fill(cr);
    ws_paint_colour(cr, c, 0.85);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, i->x + 0.5, y + 0.5, MAX(i->w - 1, 0.2), h - 1);
    cairo_stroke(cr);
    if (i->kind == WS_ITEM_SYNC && i->w > 3) { /* a second cue besides grey */
        cairo_move_to(cr, i->x + i->w / 2, y);
        cairo_line_to(cr, i->x + i->w / 2, y + h);
        if (!i->label)
            cairo_stroke(cr);
        cairo_new_path(cr);
    }
}

/* Ring stages: shade says the state, tint and a bar at the foot the phase. */
static void paint_slot(const WsPaint *p, const WsSceneItem *i, guint32 c)
{
    cairo_t *cr = p->cr;
    gboolean odd = i->turn > 0;
    double strength = i->kind == WS_ITEM_FILLING ? 0.16 : i->kind == WS_ITEM_FULL ? 0.38 : 0.34;
    ws_paint_colour(cr, c, odd ? strength + 0.16 : strength);
    cairo_rectangle(cr, i->x, i->y, i->w, i->h);
    cairo_fill(cr);
    if (i->kind != WS_ITEM_FULL)
        paint_hatch(p, i->kind, c, 0.5, i->x, i->y, i->w, i->h);
    if (odd) {
        ws_paint_colour(cr, c, 1);
        cairo_rectangle(cr, i->x, i->y + i->h - 1.5, i->w, 1.5);
        cairo_fill(cr);
    }
    ws_paint_colour(cr, c, 0.9);
    cairo_rectangle(cr, i->x, i->y, 1, i->h);
    cairo_fill(cr);
}

static void paint_level(cairo_t *cr, const WsSceneItem *i, guint32 c)
{
    double h = MAX(i->h * i->level, 1);
    ws_paint_colour(cr, c, 0.75);
    cairo_rectangle(cr, i->x, i->y + i->h - h, i->w, h);
    cairo_fill(cr);
}

/* Merged executions: pale, with an edge above and below, and no beginning or end to trust. */
static void paint_dense(cairo_t *cr, const WsSceneItem *i, guint32 c)
{
    double inset = i->h > 12 ? 3 : 0;
    ws_paint_colour(cr, c, i->measured ? 0.45 : 0.6);
    cairo_rectangle(cr, i->x, i->y + inset, i->w, i->h - 2 * inset);
    cairo_fill(cr);
    ws_paint_colour(cr, c, 1);
    cairo_rectangle(cr, i->x, i->y + i->h - inset - 1.5, i->w, 1.5);
    cairo_fill(cr);
}

/* Where the middle 60 % of this step's executions ended: a line between two ends at the foot. */
static void paint_whisker(cairo_t *cr, const WsSceneItem *i, const WsPalette *p)
{
    double x0 = i->x + i->low, x1 = i->x + i->high, y = i->y + i->h - 1;
    gboolean narrow = i->shape == WS_SHAPE_FLIGHT ? x1 - x0 < 2 && i->w < 5 : i->w < 10;
    if (!i->n_runs || i->high < 3 || narrow) /* among short bars it would cover its neighbours */
        return;
    ws_paint_colour(cr, p->text, 0.85);
    cairo_rectangle(cr, x0 - 0.5, i->y + 1.5, 1, i->h - 1.5);
    cairo_rectangle(cr, x1 - 0.5, i->y + 1.5, 1, i->h - 1.5);
    cairo_rectangle(cr, x0, y - 0.5, MAX(x1 - x0, 0), 1);
    cairo_fill(cr);
}

/* Words where nothing can be drawn: a broken frame. */
static void paint_note(cairo_t *cr, const WsSceneItem *i, const WsPalette *p)
{
    static const double dash[] = { 3, 3 };
    ws_paint_colour(cr, p->muted, 0.9);
    cairo_set_line_width(cr, 1);
    cairo_set_dash(cr, dash, 2, 0);
    cairo_rectangle(cr, i->x + 0.5, i->y + 0.5, MAX(i->w - 1, 0.5), i->h - 1);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* High contrast: whatever its colour, where a bar ends is seen. */
static void paint_frame(cairo_t *cr, const WsSceneItem *i, const WsPalette *p)
{
    if (i->w < 4 || i->h < 8 || i->shape == WS_SHAPE_NOTE || i->shape == WS_SHAPE_LEVEL)
        return;
    ws_paint_colour(cr, p->text, 1);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, i->x + 0.5, i->y + 0.5, i->w - 1, i->h - 1);
    cairo_stroke(cr);
}

void ws_paint_item(const WsPaint *p, const WsSceneItem *item)
{
    cairo_t *cr = p->cr;
    guint32 c = ws_palette_item(p->theme, item->kind);
    switch (item->shape) {
    case WS_SHAPE_HEAD:
        paint_head(p, item, c);
        break;
    case WS_SHAPE_FLIGHT:
        paint_flight(p, item, c);
        break;
    case WS_SHAPE_WAIT:
        paint_wait(cr, item, c);
        break;
    case WS_SHAPE_SLOT:
        paint_slot(p, item, c);
        break;
    case WS_SHAPE_LEVEL:
        paint_level(cr, item, c);
        break;
    case WS_SHAPE_DENSE:
        paint_dense(cr, item, c);
        break;
    case WS_SHAPE_NOTE:
        paint_note(cr, item, ws_palette(p->theme));
        break;
    }
    if (ws_theme_contrast(p->theme))
        paint_frame(cr, item, ws_palette(p->theme));
    paint_whisker(cr, item, ws_palette(p->theme));
}
