/* A scene as a file: SVG, PDF or PNG by the file's ending. */
#include "base/file.h"
#include "score/scene.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    g_byte_array_append(closure, data, length);
    return CAIRO_STATUS_SUCCESS;
}

#define PNG_SCALE 2.0
#define MAX_SIDE  16000.0 /* pixels; Cairo's image surfaces end at 32767 */

static gboolean save(const WsScene *const *scene, guint n, const char *file, WsTheme theme,
                     GError **error);

gboolean ws_scene_save(const WsScene *s, const char *file, WsTheme theme, GError **error)
{
    const WsScene *one[] = { s };
    return save(one, 1, file, theme, error);
}

/* Where the step of another scene is drawn from which an edge comes, from the top of that scene;
 * NAN: it is not. */
static double source_of(const WsScene *s, const WsSceneEdge *e, gboolean above)
{
    for (guint i = 0; i < s->item->len; i++) {
        const WsSceneItem *item = &g_array_index(s->item, WsSceneItem, i);
        if (item->op == e->from_op && item->agent == e->from_agent && item->tile == e->from_tile &&
            item->round == e->from_round && item->measured == e->measured &&
            fabs(item->x + item->w - e->x0) < 2)
            return above ? item->y + item->h : item->y;
    }
    return NAN;
}

static const WsTrace *main_of(const WsScene *s)
{
    return s->predicted ? s->predicted : s->measured;
}

/* Edges to a scene from the others that are drawn with it. */
static void join(WsScene *const *scene, guint n, guint to, const double *top)
{
    for (guint i = 0; i < scene[to]->edge->len; i++) {
        WsSceneEdge *e = &g_array_index(scene[to]->edge, WsSceneEdge, i);
        for (guint k = 0; e->origin && !e->joined && k < n; k++) {
            if (k == to || scene[k]->cta != e->from_cta || main_of(scene[k]) != main_of(scene[to]))
                continue;
            const double y = source_of(scene[k], e, k < to);
            if (isnan(y))
                continue;
            const WsSceneRow *row = NULL;
            for (guint r = 0; r < scene[to]->row->len && !row; r++) {
                const WsSceneRow *x = &g_array_index(scene[to]->row, WsSceneRow, r);
                if (fabs(x->y - e->y1) < 0.5 || fabs(x->y + x->h - e->y1) < 0.5)
                    row = x;
            }
            e->joined = TRUE;
            e->y0 = y + top[k] - top[to];
            e->y1 = !row ? e->y1 : k < to ? row->y : row->y + row->h;
            g_clear_pointer(&e->label, g_free);
        }
    }
}

gboolean ws_scene_save_below(WsScene *const *scene, guint n, const char *file, WsTheme theme,
                             GError **error)
{
    g_autofree double *top = g_new0(double, n + 1);
    for (guint i = 0; i < n; i++)
        top[i + 1] = top[i] + scene[i]->height;
    for (guint i = 0; i < n; i++)
        join(scene, n, i, top);
    return save((const WsScene *const *)scene, n, file, theme, error);
}

static gboolean save(const WsScene *const *scene, guint n, const char *file, WsTheme theme,
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
    for (guint i = n; i-- > 0;) {
        cairo_translate(cr, 0, -scene[i]->height);
        ws_scene_paint_joined(scene[i], cr, theme);
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
