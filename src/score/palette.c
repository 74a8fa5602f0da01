#include "score/palette.h"

#include <string.h>

const WsPalette *ws_palette(WsTheme theme)
{
    static const WsPalette palette[] = {
        [WS_THEME_LIGHT] = { .page = 0xffffff,
                             .panel = 0xf5f7fa,
                             .frame = 0xd9dee6,
                             .grid = 0xe3e7ed,
                             .text = 0x1d2430,
                             .muted = 0x5c6675,
                             .band_a = 0xe9edf3,
                             .band_b = 0xdbe2ec,
                             .fold = 0xeef0f3,
                             .edge = 0x2b3a4f,
                             .release = 0x2b3a4f,
                             .on_bar = 0xffffff,
                             .halo = 0xffffff },
        [WS_THEME_DARK] = { .page = 0x14181f,
                            .panel = 0x1c222b,
                            .frame = 0x313a47,
                            .grid = 0x29313c,
                            .text = 0xe8ecf2,
                            .muted = 0x9aa6b6,
                            .band_a = 0x252d38,
                            .band_b = 0x303a48,
                            .fold = 0x1a1f27,
                            .edge = 0xd5dde8,
                            .release = 0xd5dde8,
                            .on_bar = 0x10141a,
                            .halo = 0x14181f },
    };
    return &palette[theme == WS_THEME_DARK];
}

static const struct {
    char letter, hatch;
    guint32 colour[2];
} kind[] = {
#define WS_ITEM(id, text, letter, hatch, light, dark) { letter, hatch, { light, dark } },
#include "score/kind.def"
#undef WS_ITEM
};

guint32 ws_palette_item(WsTheme theme, WsItemKind k)
{
    return kind[k].colour[theme == WS_THEME_DARK];
}

char ws_item_letter(WsItemKind k)
{
    return kind[k].letter;
}

char ws_item_hatch(WsItemKind k)
{
    return kind[k].hatch;
}

void ws_paint_colour(cairo_t *cr, guint32 rgb, double alpha)
{
    cairo_set_source_rgba(cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                          (rgb & 255) / 255.0, alpha);
}

void ws_paint_font(cairo_t *cr, double size, gboolean bold)
{
    cairo_select_font_face(cr, WS_FONT, CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

void ws_paint_text(cairo_t *cr, double x, double y, const char *text)
{
    cairo_move_to(cr, x, y);
    cairo_show_text(cr, text);
}

double ws_paint_text_cut(cairo_t *cr, double x, double y, double width, const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    if (e.x_advance <= width) {
        ws_paint_text(cr, x, y, text);
        return e.x_advance;
    }
    g_autofree char *cut = g_strdup(text);
    for (glong n = g_utf8_strlen(cut, -1); n > 1; n--) {
        *g_utf8_offset_to_pointer(cut, n - 1) = 0;
        g_autofree char *shown = g_strconcat(cut, "\xe2\x80\xa6", NULL);
        cairo_text_extents(cr, shown, &e);
        if (e.x_advance <= width) {
            ws_paint_text(cr, x, y, shown);
            return e.x_advance;
        }
    }
    return 0;
}

void ws_paint_rect(cairo_t *cr, double x, double y, double w, double h, double radius)
{
    double r = MIN(radius, MIN(w, h) / 2);
    if (r < 0.6 || w < 16) { /* nobody sees the corners of a narrow bar, and arcs are slow */
        cairo_rectangle(cr, x, y, w, h);
        return;
    }
    cairo_new_sub_path(cr);
    cairo_arc(cr, x + w - r, y + r, r, -G_PI_2, 0);
    cairo_arc(cr, x + w - r, y + h - r, r, 0, G_PI_2);
    cairo_arc(cr, x + r, y + h - r, r, G_PI_2, G_PI);
    cairo_arc(cr, x + r, y + r, r, G_PI, 3 * G_PI_2);
    cairo_close_path(cr);
}
