/* Kinds of items differ by what is drawn, not by colour alone: each sample of the legend is painted
 * and only looked at for where its kind's colour is. */
#include "score/palette.h"
#include "score/scene.h"

#define WIDE  44
#define HIGH  22
#define APART 5 /* pixels in which two kinds differ at least */

static int off(guint32 a, guint32 b)
{
    int sum = 0;
    for (int at = 0; at < 24; at += 8)
        sum += ABS((int)(a >> at & 255) - (int)(b >> at & 255));
    return sum;
}

/* Where the sample of a kind is nearer to its colour than to the ground and to what is written on
 * it. */
static void look(WsTheme theme, WsItemKind kind, guint8 mask[HIGH][WIDE])
{
    const WsPalette *p = ws_palette(theme);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDE, HIGH);
    cairo_t *cr = cairo_create(image);
    ws_paint_colour(cr, p->page, 1);
    cairo_paint(cr);
    ws_scene_paint_sample(cr, theme, kind, 1, 3, WIDE - 2, HIGH - 6);
    cairo_destroy(cr);
    cairo_surface_flush(image);
    const guint8 *data = cairo_image_surface_get_data(image);
    const int stride = cairo_image_surface_get_stride(image);
    const guint32 c = ws_palette_item(theme, kind);
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            const guint32 rgb = ((const guint32 *)(gconstpointer)(data + y * stride))[x] & 0xffffff;
            mask[y][x] = off(rgb, c) < off(rgb, p->page) && off(rgb, c) < off(rgb, p->on_bar);
        }
    cairo_surface_destroy(image);
}

static void test_cues(void)
{
    static guint8 mask[WS_ITEM_KIND_COUNT][HIGH][WIDE];
    for (int theme = 0; theme <= WS_THEME_DARK_CONTRAST; theme++) {
        for (int k = 0; k < WS_ITEM_KIND_COUNT; k++)
            look((WsTheme)theme, (WsItemKind)k, mask[k]);
        for (int a = 0; a < WS_ITEM_KIND_COUNT; a++)
            for (int b = a + 1; b < WS_ITEM_KIND_COUNT; b++) {
                guint apart = 0;
                for (int at = 0; at < HIGH * WIDE; at++)
                    apart += mask[a][at / WIDE][at % WIDE] != mask[b][at / WIDE][at % WIDE];
                g_test_message("theme %d: %s and %s differ in %u pixels", theme,
                               ws_item_kind_text((WsItemKind)a), ws_item_kind_text((WsItemKind)b),
                               apart);
                g_assert_cmpstr(ws_item_kind_text((WsItemKind)a), !=,
                                ws_item_kind_text((WsItemKind)b));
                g_assert_cmpuint(apart, >=, APART);
            }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/score/cues", test_cues);
    return g_test_run();
}
