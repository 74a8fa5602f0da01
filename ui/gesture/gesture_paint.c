/* What a gesture shows: ports and handles under the pointer, the ghost of the former score, what is
 * dragged, where it would go, and the words beside the pointer. */
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/gesture/gesture_private.h"

#include <math.h>

static void set_rgb(GdkRGBA *c, guint32 rgb, double alpha)
{
    *c = (GdkRGBA){ (float)(rgb >> 16 & 255) / 255.0f, (float)(rgb >> 8 & 255) / 255.0f,
                    (float)(rgb & 255) / 255.0f, (float)alpha };
}

static void fill(GtkSnapshot *s, guint32 rgb, double alpha, double x, double y, double w, double h)
{
    GdkRGBA colour;
    set_rgb(&colour, rgb, alpha);
    if (w > 0 && h > 0)
        gtk_snapshot_append_color(s, &colour,
                                  &GRAPHENE_RECT_INIT((float)x, (float)y, (float)w, (float)h));
}

static void frame(GtkSnapshot *s, guint32 rgb, double alpha, double x, double y, double w, double h)
{
    fill(s, rgb, alpha, x, y, w, 1.5);
    fill(s, rgb, alpha, x, y + h - 1.5, w, 1.5);
    fill(s, rgb, alpha, x, y, 1.5, h);
    fill(s, rgb, alpha, x + w - 1.5, y, 1.5, h);
}

static void dot(GtkSnapshot *s, guint32 rgb, double x, double y, double r)
{
    GdkRGBA colour;
    GskRoundedRect round;
    set_rgb(&colour, rgb, 1);
    graphene_rect_t rect =
        GRAPHENE_RECT_INIT((float)(x - r), (float)(y - r), (float)(2 * r), (float)(2 * r));
    gsk_rounded_rect_init_from_rect(&round, &rect, (float)r);
    gtk_snapshot_push_rounded_clip(s, &round);
    gtk_snapshot_append_color(s, &colour, &rect);
    gtk_snapshot_pop(s);
}

/* --- before anything is dragged ------------------------------------------------------------------
 */

/* Which narrow step a press would take, and from where. */
static void paint_zone(WsTimeline *t, GtkSnapshot *s, const WsSceneItem *item)
{
    const WsPalette *p = ws_palette(ws_theme_current());
    const WsSceneZone *z = ws_scene_zone(t->scene, item);
    const double off = ws_timeline_offset(t) + WS_TIMELINE_GUTTER, up = t->view.at.y;
    const double x0 = MAX(z->x0 + off, WS_TIMELINE_GUTTER);
    const double x1 = MIN(z->x1 + off, WS_TIMELINE_GUTTER + t->view.width);
    fill(s, p->text, 0.16, x0, z->y0 - up, x1 - x0, z->y1 - z->y0);
    frame(s, p->text, 0.9, item->x + off - 1.5, item->y - up - 1.5, MAX(item->w, 2) + 3,
          item->h + 3);
}

void ws_gesture_paint_hover(WsTimeline *t, GtkSnapshot *s)
{
    const WsPalette *p = ws_palette(ws_theme_current());
    if (!t->scene || t->drag != WS_DRAG_NONE || t->order)
        return;
    for (guint i = 0; i < t->scene->staff->len; i++) {
        const WsSceneStaff *staff = &g_array_index(t->scene->staff, WsSceneStaff, i);
        double x, y;
        if (!ws_gesture_handle(t->scene, staff, &x, &y))
            continue;
        y -= t->view.at.y;
        if (y < t->scene->top)
            continue;
        const gboolean under = ws_gesture_ring_at(t, t->pointer_x, t->pointer_y) == staff;
        fill(s, under ? p->text : p->muted, under ? 1 : 0.55, x - 20, y + 1, 40, 1.5);
        fill(s, under ? p->text : p->muted, under ? 1 : 0.55, x - 20, y + 4, 40, 1.5);
    }
    const WsSceneItem *item =
        t->pointer_x >= 0 ? ws_timeline_hit(t, t->pointer_x, t->pointer_y) : NULL;
    if (!item || !ws_gesture_is_step(t->scene, item))
        return;
    if (ws_scene_narrow(item))
        paint_zone(t, s, item);
    if (!ws_gesture_has_port(t, item))
        return;
    double x, y;
    ws_gesture_port(t, item, &x, &y);
    if (x > WS_TIMELINE_GUTTER + t->view.width)
        return;
    dot(s, p->page, x, y, 5);
    dot(s, p->text, x, y, 3.5);
}

/* --- the ghost -------------------------------------------------------------------------------- */

static GskRenderNode *ghost_node(WsTimeline *t)
{
    static const double dash[] = { 3, 3 };
    const WsGesture *g = t->gesture;
    const WsPalette *p = ws_palette(ws_theme_current());
    g_autoptr(GtkSnapshot) s = gtk_snapshot_new();
    cairo_t *cr =
        gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, (float)MAX(g->ghost->width, 1),
                                                         (float)MAX(g->ghost->bottom, 1)));
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_FAST);
    cairo_set_line_width(cr, 1);
    cairo_set_dash(cr, dash, 2, 0);
    ws_paint_colour(cr, p->text, 0.5);
    for (guint i = 0; i < g->ghost->item->len; i++) {
        const WsSceneItem *item = &g_array_index(g->ghost->item, WsSceneItem, i);
        if (!ws_gesture_is_step(g->ghost, item) || item->w < 3 ||
            g_array_index(g->ghost->row, WsSceneRow, item->row).kind != WS_ROW_CONTROL)
            continue;
        cairo_rectangle(cr, floor(item->x) + 0.5, item->y + 0.5, MAX(item->w - 1, 1), item->h - 1);
    }
    cairo_stroke(cr);
    cairo_destroy(cr);
    return gtk_snapshot_to_node(s);
}

void ws_gesture_paint_ghost(WsTimeline *t, GtkSnapshot *s)
{
    WsGesture *g = t->gesture;
    const double top = t->scene ? t->scene->top : g->ghost->top;
    if (!ws_document_trying(t->document))
        return;
    if (!g->ghost_node)
        g->ghost_node = ghost_node(t);
    if (!g->ghost_node)
        return;
    gtk_snapshot_push_clip(
        s, &GRAPHENE_RECT_INIT(WS_TIMELINE_GUTTER, (float)top, (float)t->view.width, 10000));
    gtk_snapshot_save(s);
    gtk_snapshot_translate(
        s, &GRAPHENE_POINT_INIT((float)ws_gesture_ghost_x(t, 0), (float)-floor(t->view.at.y)));
    gtk_snapshot_append_node(s, g->ghost_node);
    gtk_snapshot_restore(s);
    gtk_snapshot_pop(s);
}

/* --- while it lasts --------------------------------------------------------------------------- */

static void paint_dragged(WsTimeline *t, GtkSnapshot *s, const WsPalette *p)
{
    const WsGesture *g = t->gesture;
    const guint32 colour = ws_palette_item(ws_theme_current(), g->item->kind);
    const double w = CLAMP(g->item->w, 12, 260), h = g->item->h;
    const double grip = MIN(g->x0 - ws_gesture_ghost_x(t, g->item->x), w - 2);
    const double x = g->x - MAX(grip, 2), y = g->y - h / 2;
    if (g->mark_h > 0) {
        const guint32 line =
            g->refused ? p->release : ws_palette_item(ws_theme_current(), WS_ITEM_LOAD);
        fill(s, line, 1, g->mark_x - 1, g->mark_y, 2, g->mark_h);
        dot(s, line, g->mark_x, g->mark_y, 4);
    }
    fill(s, p->text, 0.25, x + 3, y + 3, w, h);
    fill(s, colour, 0.85, x, y, w, h);
    frame(s, p->text, 0.9, x, y, w, h);
}

static void paint_edge(WsTimeline *t, GtkSnapshot *s, const WsPalette *p, double width,
                       double height)
{
    const WsGesture *g = t->gesture;
    const double x0 = ws_gesture_ghost_x(t, g->item->x + g->item->w);
    const double y0 = g->item->y + g->item->h / 2 - t->view.at.y;
    const guint32 colour = ws_palette_item(ws_theme_current(), WS_ITEM_LOAD);
    const WsNode *from = ws_gesture_node(g, g->item);
    const WsNode *group = from ? ws_edit_group(g->latest, from) : NULL;
    guint lit = 0;
    for (guint i = 0; i < g->ghost->item->len && lit < 400; i++) { /* where it may end */
        const WsSceneItem *item = &g_array_index(g->ghost->item, WsSceneItem, i);
        const double x = ws_gesture_ghost_x(t, item->x), y = item->y - t->view.at.y;
        if (!ws_gesture_is_step(g->ghost, item) || x < WS_TIMELINE_GUTTER || x > width || y < 0 ||
            y > height)
            continue;
        const WsNode *node = ws_gesture_node(g, item);
        if (!node || (ws_edit_group(g->latest, node) == group && item->agent == g->item->agent))
            continue;
        dot(s, colour, x, y + item->h / 2, 3);
        lit++;
    }
    if (g->over)
        frame(s, g->refused ? p->release : colour, 1, ws_gesture_ghost_x(t, g->over->x),
              g->over->y - t->view.at.y, MAX(g->over->w, 4), g->over->h);
    cairo_t *cr =
        gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height));
    ws_paint_colour(cr, g->refused ? p->release : colour, 1);
    cairo_set_line_width(cr, 2.5);
    cairo_move_to(cr, x0, y0);
    cairo_curve_to(cr, x0 + 40, y0, g->x - 40, g->y, g->x, g->y);
    cairo_stroke(cr);
    cairo_destroy(cr);
    dot(s, colour, x0, y0, 4);
}

static void paint_words(WsTimeline *t, GtkSnapshot *s, const WsPalette *p, double width,
                        double height)
{
    const WsGesture *g = t->gesture;
    if (!g->words || !*g->words)
        return;
    const float k = (float)t->page_scale;
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(t->canvas, g->words);
    pango_layout_set_width(layout, (int)(420 * k) * PANGO_SCALE);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    int wide, high;
    pango_layout_get_pixel_size(layout, &wide, &high);
    const double w = wide / k + 14, h = high / k + 8;
    const double x = g->x + 18 + w > width ? g->x - 14 - w : g->x + 18;
    const double y = g->y + 20 + h > height ? g->y - 14 - h : g->y + 20;
    GdkRGBA ink;
    fill(s, p->text, 0.95, MAX(x, 2), y, w, h);
    set_rgb(&ink, p->page, 1);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT((float)MAX(x, 2) + 7, (float)y + 4));
    gtk_snapshot_scale(s, 1 / k, 1 / k);
    gtk_snapshot_append_layout(s, layout, &ink);
    gtk_snapshot_restore(s);
}

void ws_gesture_paint(WsTimeline *t, GtkSnapshot *s, double width, double height)
{
    const WsPalette *p = ws_palette(ws_theme_current());
    const WsGesture *g = t->gesture;
    if (g->kind == WS_GESTURE_MOVE)
        paint_dragged(t, s, p);
    else if (g->kind == WS_GESTURE_EDGE)
        paint_edge(t, s, p, width, height);
    else
        fill(s, p->text, 1, 18, g->y, 44, 2);
    paint_words(t, s, p, width, height);
}
