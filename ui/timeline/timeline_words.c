/* Translated words on the canvas: unlike the painter's own text, which is names and figures, they
 * may be in any script. */
#include "score/palette.h"
#include "ui/timeline/timeline_private.h"

static PangoLayout *layout_of(cairo_t *cr, double size, double width, const char *text)
{
    PangoLayout *layout = pango_cairo_create_layout(cr);
    g_autoptr(PangoFontDescription) font = pango_font_description_from_string(WS_FONT);
    pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_width(layout, (int)(width * PANGO_SCALE));
    pango_layout_set_text(layout, text, -1);
    return layout;
}

static void show(cairo_t *cr, PangoLayout *layout, double x, double baseline)
{
    cairo_move_to(cr, x, baseline - (double)pango_layout_get_baseline(layout) / PANGO_SCALE);
    pango_cairo_show_layout(cr, layout);
}

void ws_timeline_words(cairo_t *cr, double x, double baseline, double size, const char *text)
{
    g_autoptr(PangoLayout) layout = layout_of(cr, size, WS_TIMELINE_GUTTER - x - 4, text);
    show(cr, layout, x, baseline);
}

void ws_timeline_words_end(cairo_t *cr, double x, double baseline, double size, const char *text)
{
    int wide;
    g_autoptr(PangoLayout) layout = layout_of(cr, size, x, text);
    pango_layout_get_size(layout, &wide, NULL);
    show(cr, layout, x - (double)wide / PANGO_SCALE, baseline);
}
