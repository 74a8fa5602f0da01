#include "score/palette.h"
#include "target/target.h"

#include <pango/pangocairo.h>
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
                             .halo = 0xffffff,
                             .error = 0xcb2833,
                             .path = 0xa3128f },
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
                            .halo = 0x14181f,
                            .error = 0xff6c6d,
                            .path = 0xff7af0 },
        [WS_THEME_LIGHT_CONTRAST] = { .page = 0xffffff,
                                      .panel = 0xffffff,
                                      .frame = 0x000000,
                                      .grid = 0xb0b0b0,
                                      .text = 0x000000,
                                      .muted = 0x000000,
                                      .band_a = 0xffffff,
                                      .band_b = 0xd8d8d8,
                                      .fold = 0xe8e8e8,
                                      .edge = 0x000000,
                                      .release = 0x000000,
                                      .on_bar = 0xffffff,
                                      .halo = 0xffffff,
                                      .error = 0xa90009,
                                      .path = 0x8a007a },
        [WS_THEME_DARK_CONTRAST] = { .page = 0x000000,
                                     .panel = 0x000000,
                                     .frame = 0xffffff,
                                     .grid = 0x5a5a5a,
                                     .text = 0xffffff,
                                     .muted = 0xffffff,
                                     .band_a = 0x000000,
                                     .band_b = 0x383838,
                                     .fold = 0x202020,
                                     .edge = 0xffffff,
                                     .release = 0xffffff,
                                     .on_bar = 0x000000,
                                     .halo = 0x000000,
                                     .error = 0xf05056,
                                     .path = 0xff80f4 },
    };
    return &palette[theme];
}

static const struct {
    char letter, hatch;
    guint32 colour[4]; /* WsTheme */
} kind[] = {
#define WS_ITEM(id, text, letter, hatch, ...) { letter, hatch, { __VA_ARGS__ } },
#include "score/kind.def"
#undef WS_ITEM
};

guint32 ws_palette_item(WsTheme theme, WsItemKind k)
{
    return kind[k].colour[theme];
}

/* Relative luminance, its curve taken as a square: near enough to compare two inks. */
static double luminance(guint32 rgb)
{
    static const double weight[] = { 0.2126, 0.7152, 0.0722 };
    double sum = 0;
    for (guint i = 0; i < 3; i++) {
        const double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] * c * c;
    }
    return sum;
}

static double contrast(guint32 a, guint32 b)
{
    const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return MAX(x, y) / MIN(x, y);
}

guint32 ws_palette_ink(WsTheme theme, WsItemKind k)
{
    const WsPalette *p = ws_palette(theme);
    const guint32 bar = ws_palette_item(theme, k);
    return ws_theme_contrast(theme) || contrast(p->on_bar, bar) >= contrast(p->text, bar)
               ? p->on_bar
               : p->text;
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

const char *ws_scene_words(const WsScene *s, const char *text)
{
    const char *own = ws_target_own_word(s->hardware, text);
    return s->translate ? s->translate(own, NULL) : own;
}

/* The painter's face has Latin, Greek and Cyrillic letters; what it lacks is laid by Pango, which
 * finds another. */
static gboolean in_own_face(const char *text)
{
    for (const char *at = text; *at; at = g_utf8_next_char(at))
        if (g_utf8_get_char(at) >= 0x2e80)
            return FALSE;
    return TRUE;
}

static PangoLayout *layout_of(cairo_t *cr, const char *text)
{
    cairo_matrix_t size;
    cairo_get_font_matrix(cr, &size);
    cairo_font_face_t *face = cairo_get_font_face(cr);
    const gboolean bold = cairo_font_face_get_type(face) == CAIRO_FONT_TYPE_TOY &&
                          cairo_toy_font_face_get_weight(face) == CAIRO_FONT_WEIGHT_BOLD;
    PangoLayout *layout = pango_cairo_create_layout(cr);
    PangoFontDescription *font = pango_font_description_from_string(WS_FONT);
    pango_font_description_set_absolute_size(font, size.yy * PANGO_SCALE);
    if (bold)
        pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    pango_layout_set_text(layout, text, -1);
    return layout;
}

double ws_paint_width(cairo_t *cr, const char *text)
{
    if (in_own_face(text)) {
        cairo_text_extents_t e;
        cairo_text_extents(cr, text, &e);
        return e.x_advance;
    }
    int wide;
    PangoLayout *layout = layout_of(cr, text);
    pango_layout_get_size(layout, &wide, NULL);
    g_object_unref(layout);
    return (double)wide / PANGO_SCALE;
}

void ws_paint_text(cairo_t *cr, double x, double y, const char *text)
{
    if (in_own_face(text)) {
        cairo_move_to(cr, x, y);
        cairo_show_text(cr, text);
        return;
    }
    PangoLayout *layout = layout_of(cr, text);
    cairo_move_to(cr, x, y - (double)pango_layout_get_baseline(layout) / PANGO_SCALE);
    pango_cairo_show_layout(cr, layout);
    cairo_new_path(cr);
    g_object_unref(layout);
}

double ws_paint_text_cut(cairo_t *cr, double x, double y, double width, const char *text)
{
    double wide = ws_paint_width(cr, text);
    if (wide <= width) {
        ws_paint_text(cr, x, y, text);
        return wide;
    }
    g_autofree char *cut = g_strdup(text);
    for (glong n = g_utf8_strlen(cut, -1); n > 1; n--) {
        *g_utf8_offset_to_pointer(cut, n - 1) = 0;
        g_autofree char *shown = g_strconcat(cut, "\xe2\x80\xa6", NULL);
        wide = ws_paint_width(cr, shown);
        if (wide <= width) {
            ws_paint_text(cr, x, y, shown);
            return wide;
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
