/* What stands on an item: its label, or where none fits the letter of its kind. */
#include "score/palette.h"

/* A label on a tail stands on a plate, or the hatch would eat it. FALSE: it has none that fits. */
static gboolean paint_label(cairo_t *cr, const WsSceneItem *i, guint32 plate, guint32 ink,
                            double size, double x, double alpha)
{
    if (!i->label)
        return FALSE;
    ws_paint_font(cr, size, FALSE);
    const double wide = ws_paint_width(cr, i->label), room = i->x + i->w - x - 2;
    if (wide > room)
        return FALSE;
    double base = i->y + i->h / 2 + size * 0.36;
    if (alpha > 0) {
        ws_paint_colour(cr, plate, alpha);
        ws_paint_rect(cr, x - 2, i->y + 1.5, wide + 4, i->h - 3, 2);
        cairo_fill(cr);
    }
    ws_paint_colour(cr, ink, 1);
    ws_paint_text(cr, x, base, i->label);
    return TRUE;
}

#define LETTER_WIDTH  9  /* of the solid part, below which its letter is left out */
#define LETTER_HOLLOW 12 /* the same of a wait, which has a frame besides */

/* The letter of its kind, in the middle of the `wide` pixels at its left end: what tells a bar
 * without words from one of another kind, where colours are not seen. */
static void paint_letter(cairo_t *cr, const WsSceneItem *i, guint32 ink, double wide)
{
    const char text[] = { ws_item_letter(i->kind), '\0' };
    if (wide < (i->shape == WS_SHAPE_WAIT ? LETTER_HOLLOW : LETTER_WIDTH) || i->h < 10)
        return;
    const double size = MIN(i->h - 2, 9.5);
    ws_paint_font(cr, size, FALSE);
    ws_paint_colour(cr, ink, 1);
    ws_paint_text(cr, i->x + (wide - ws_paint_width(cr, text)) / 2, i->y + i->h / 2 + size * 0.36,
                  text);
}

static gboolean label_flight(cairo_t *cr, const WsSceneItem *i, WsTheme theme)
{
    const WsPalette *p = ws_palette(theme);
    const guint32 c = ws_palette_item(theme, i->kind);
    if (i->h < 10)
        return FALSE;
    double at = i->x + 5;
    if (i->head > 2 && i->w - i->head > i->head)
        at = i->x + i->head + 4;
    if (i->label_x > 0)
        at = i->x + i->label_x;
    /* On the tail the plate is the page, on a long head the label is light. */
    if (at > i->x + i->head) {
        paint_label(cr, i, p->page, p->text, 9.5, at, 0.85);
        return FALSE; /* the head is free */
    }
    return paint_label(cr, i, c, ws_palette_ink(theme, i->kind), 9.5, at, 1);
}

void ws_paint_item_label(cairo_t *cr, const WsSceneItem *item, WsTheme theme)
{
    const WsPalette *p = ws_palette(theme);
    const guint32 c = ws_palette_item(theme, item->kind), ink = ws_palette_ink(theme, item->kind);
    double at = item->x + (item->label_x > 0 ? item->label_x : 4);
    switch (item->shape) {
    case WS_SHAPE_HEAD:
        if (!paint_label(cr, item, c, ink, 10, at, 1) && item->kind != WS_ITEM_OPAQUE)
            paint_letter(cr, item, ink, item->w);
        break;
    case WS_SHAPE_FLIGHT:
        if (!label_flight(cr, item, theme))
            paint_letter(cr, item, ink, MIN(item->head, item->w));
        break;
    case WS_SHAPE_WAIT:
        if (!paint_label(cr, item, p->panel, c, 9.5, at, 0))
            paint_letter(cr, item, c, item->w);
        break;
    case WS_SHAPE_SLOT:
        paint_label(cr, item, p->page, p->text, 8.5, at, item->kind == WS_ITEM_FULL ? 0 : 0.8);
        break;
    case WS_SHAPE_NOTE:
        paint_label(cr, item, p->page, p->muted, 9.5, at, 0);
        break;
    case WS_SHAPE_LEVEL:
    case WS_SHAPE_DENSE:
        break;
    }
}
