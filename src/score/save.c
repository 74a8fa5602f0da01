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
    return ws_scene_save_below(&s, 1, file, theme, error);
}

gboolean ws_scene_save_below(const WsScene *const *scene, guint n, const char *file, WsTheme theme,
                             GError **error)
{
    double width = 0, height = 0;
    for (guint i = 0; i < n; i++) {
        width = MAX(width, scene[i]->width);
        height += scene[i]->height;
    }
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *lower = g_ascii_strdown(file, -1);
    gboolean png = g_str_has_suffix(lower, ".png");
    cairo_surface_t *surface;
    if (height * (png ? PNG_SCALE : 1) > MAX_SIDE || width * (png ? PNG_SCALE : 1) > MAX_SIDE) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: the picture would be larger than %.0f pixels; draw a smaller page", file,
                    MAX_SIDE);
        return FALSE;
    }
    if (g_str_has_suffix(lower, ".svg")) {
        surface = cairo_svg_surface_create_for_stream(collect, bytes, width, height);
    } else if (g_str_has_suffix(lower, ".pdf")) {
        surface = cairo_pdf_surface_create_for_stream(collect, bytes, width, height);
    } else if (png) {
        surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE),
                                             (int)(height * PNG_SCALE));
    } else {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: the name must end in .svg, .pdf or .png", file);
        return FALSE;
    }
    cairo_t *cr = cairo_create(surface);
    if (png)
        cairo_scale(cr, PNG_SCALE, PNG_SCALE);
    for (guint i = 0; i < n; i++) {
        cairo_save(cr); /* a scene paints its page, wherever that ends */
        cairo_rectangle(cr, 0, 0, width, scene[i]->height);
        cairo_clip(cr);
        ws_scene_paint(scene[i], cr, theme);
        cairo_restore(cr);
        cairo_translate(cr, 0, scene[i]->height);
    }
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
