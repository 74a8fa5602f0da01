/* Colours, font and small drawing helpers of the painter. Private to src/score. */
#pragma once

#include "score/scene.h"

#define WS_FONT "DejaVu Sans Condensed"

typedef struct {
    guint32 page, panel, frame, grid, text, muted, band_a, band_b, fold, edge, release, on_bar,
        halo;
    guint32 error, path; /* what is wrong, and nothing else; a critical path, a chain of waits */
} WsPalette;
const WsPalette *ws_palette(WsTheme theme);
guint32 ws_palette_item(WsTheme theme, WsItemKind kind);
guint32 ws_palette_ink(WsTheme theme, WsItemKind kind); /* of what is written on a solid bar */
char ws_item_letter(WsItemKind kind);
char ws_item_hatch(WsItemKind kind);

void ws_paint_colour(cairo_t *cr, guint32 rgb, double alpha);
/* In any script; names and figures of the page are in the painter's own face. */
void ws_paint_text(cairo_t *cr, double x, double y, const char *text); /* baseline */
/* Cuts with an ellipsis at `width`; returns the width used, 0 if not even that fits. */
double ws_paint_text_cut(cairo_t *cr, double x, double y, double width, const char *text);
double ws_paint_width(cairo_t *cr, const char *text);
/* A constant text in the language of the page. */
const char *ws_scene_words(const WsScene *s, const char *text);
void ws_paint_font(cairo_t *cr, double size, gboolean bold);
void ws_paint_rect(cairo_t *cr, double x, double y, double w, double h, double radius);
/* What the items of one painting share. `bare`: on screen, where hatches may be laid with tiles;
 * `quick`: only for a moment, corners are square. */
typedef struct WsPaint WsPaint;
WsPaint *ws_paint_begin(cairo_t *cr, WsTheme theme, gboolean bare, gboolean quick);
void ws_paint_end(WsPaint *paint);
void ws_paint_item(const WsPaint *paint, const WsSceneItem *item);
/* Labels come after the edges, so that no line runs through a word. */
void ws_paint_item_label(cairo_t *cr, const WsSceneItem *item, WsTheme theme);
void ws_paint_edge(cairo_t *cr, const WsSceneEdge *e, const WsPalette *p);
