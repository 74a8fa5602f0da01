/* A scene as a file: SVG, PDF or PNG by the file's ending. */
#include "base/file.h"
#include "score/scene.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <string.h>

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    g_byte_array_append(closure, data, length);
    return CAIRO_STATUS_SUCCESS;
}

#define PNG_SCALE 2.0
#define MAX_SIDE  16000.0 /* pixels; Cairo's image surfaces end at 32767 */

gboolean ws_scene_save(const WsScene *s, const char *file, WsTheme theme, GError **error)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *lower = g_ascii_strdown(file, -1);
    gboolean png = g_str_has_suffix(lower, ".png");
    cairo_surface_t *surface;
    if (s->height * (png ? PNG_SCALE : 1) > MAX_SIDE ||
        s->width * (png ? PNG_SCALE : 1) > MAX_SIDE) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: the picture would be larger than %.0f pixels; draw a smaller page", file,
                    MAX_SIDE);
        return FALSE;
    }
    if (g_str_has_suffix(lower, ".svg")) {
        surface = cairo_svg_surface_create_for_stream(collect, bytes, s->width, s->height);
    } else if (g_str_has_suffix(lower, ".pdf")) {
        surface = cairo_pdf_surface_create_for_stream(collect, bytes, s->width, s->height);
    } else if (png) {
        surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(s->width * PNG_SCALE),
                                             (int)(s->height * PNG_SCALE));
    } else {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: the name must end in .svg, .pdf or .png", file);
        return FALSE;
    }
    cairo_t *cr = cairo_create(surface);
    if (png)
        cairo_scale(cr, PNG_SCALE, PNG_SCALE);
    ws_scene_paint(s, cr, theme);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (png && !status)
        status = cairo_surface_write_to_png_stream(surface, collect, bytes);
    cairo_surface_finish(surface);
    if (!status)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", file,
                    cairo_status_to_string(status));
        return FALSE;
    }
    return ws_file_write(file, (const char *)bytes->data, bytes->len, error);
}
