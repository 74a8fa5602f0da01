/* The drawing area of the score. Everything that does not change while one pans is a render node
 * made once and moved: staffs, grid, items without widgets, edges, ruler, names. */
#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/gesture/gesture.h"
#include "ui/problems/witness.h"
#include "ui/timeline/marks/compare_score.h"
#include "ui/timeline/marks/hang_score.h"
#include "ui/timeline/marks/path_score.h"
#include "ui/timeline/marks/trouble_score.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

struct _WsCanvas {
    GtkWidget parent;
    WsTimeline *timeline;
};

G_DEFINE_FINAL_TYPE(WsCanvas, ws_canvas, GTK_TYPE_WIDGET)

#define GUTTER WS_TIMELINE_GUTTER
#define BESIDE 80.0f /* pixels that labels may stand beyond a scene's ends */
enum { NODE_NS = WS_LAYER_GUTTER + 1 };

static void rgba(guint32 rgb, float alpha, GdkRGBA *out)
{
    *out = (GdkRGBA){ (float)(rgb >> 16 & 255) / 255.0f, (float)(rgb >> 8 & 255) / 255.0f,
                      (float)(rgb & 255) / 255.0f, alpha };
}

/* "83.9 µs" */
static char *time_text(double ns)
{
    if (fabs(ns) >= 1e6)
        return g_strdup_printf(_("%.3f ms"), ns / 1e6);
    if (fabs(ns) >= 10000)
        return g_strdup_printf(_("%.2f µs"), ns / 1e3);
    return g_strdup_printf(_("%.0f ns"), ns);
}

static char *digits(double n)
{
    char text[64];
    g_snprintf(text, sizeof text, "%.0f", n);
    GString *s = g_string_new(NULL);
    gsize length = strlen(text);
    for (gsize i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && text[i - 1] != '-')
            g_string_append(s, "\xe2\x80\x89");
        g_string_append_c(s, text[i]);
    }
    return g_string_free(s, FALSE);
}

/* Upper line of the ruler: nanoseconds on the axis Time, cycles on the axis Order. */
static void paint_second_scale(WsTimeline *t, cairo_t *cr, const WsPalette *p)
{
    double ghz = ws_timeline_ghz(t), free_from = -G_MAXDOUBLE;
    ws_paint_font(cr, 9.5, FALSE);
    ws_paint_colour(cr, p->muted, 0.85);
    for (guint i = 0; i < t->scene->tick->len; i++) {
        const WsSceneTick *k = &g_array_index(t->scene->tick, WsSceneTick, i);
        if (!t->order && ghz <= 0)
            return;
        g_autofree char *text = t->order ? digits((double)k->t) : time_text((double)k->t / ghz);
        cairo_text_extents_t e;
        cairo_text_extents(cr, text, &e);
        double at = floor(k->x) + 0.5 - e.x_advance / 2;
        if (at < free_from)
            continue;
        ws_paint_text(cr, at, 11, text);
        free_from = at + e.x_advance + 12;
    }
}

/* Edges of selected steps once more, thick. */
static void paint_strong_edges(WsTimeline *t, cairo_t *cr, const WsPalette *p)
{
    WsPalette strong = *p;
    strong.edge = strong.release = ws_palette_item(ws_theme_current(), WS_ITEM_LOAD);
    for (guint i = 0; i < t->scene->edge->len; i++) {
        WsSceneEdge e = g_array_index(t->scene->edge, WsSceneEdge, i);
        const WsSceneItem *from = e.from ? ws_timeline_item(t, e.from - 1) : NULL;
        const WsSceneItem *to = e.to ? ws_timeline_item(t, e.to - 1) : NULL;
        if (!(from && from->step && ws_document_selected(t->document, from->step)) &&
            !(to && to->step && ws_document_selected(t->document, to->step)))
            continue;
        e.binding = TRUE;
        e.exposed = MAX(e.exposed * 2, 120);
        ws_paint_edge(cr, &e, &strong);
    }
}

/* High contrast: nothing without an outline. */
static void paint_outlines(WsTimeline *t, cairo_t *cr, const WsPalette *p)
{
    ws_paint_colour(cr, p->text, 1);
    cairo_set_line_width(cr, 1);
    for (guint i = 0; i < t->scene->item->len; i++) {
        const WsSceneItem *item = ws_timeline_item(t, i);
        if (item->w < 2 || item->shape == WS_SHAPE_LEVEL || t->how[i] == WS_PAINT_DIM)
            continue;
        cairo_rectangle(cr, item->x + 0.5, item->y + 0.5, MAX(item->w - 1, 0.5), item->h - 1);
    }
    cairo_stroke(cr);
}

static void paint_body(WsTimeline *t, cairo_t *cr)
{
    WsTheme theme = ws_theme_current();
    const WsPalette *p = ws_palette(theme);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_FAST); /* 16 shades of an edge instead of 255 */
    ws_scene_paint_layer(t->scene, cr, theme, WS_LAYER_GRID, 0, NULL);
    ws_scene_paint_layer(t->scene, cr, theme, WS_LAYER_ITEMS, 0, t->how);
    if (ws_theme_high_contrast())
        paint_outlines(t, cr, p);
    ws_scene_paint_layer(t->scene, cr, theme, WS_LAYER_EDGES, 0, NULL);
    if (ws_document_selection(t->document)->len)
        paint_strong_edges(t, cr, p);
    ws_trouble_paint(t, cr);
    ws_path_paint(t, cr);
    ws_compare_paint(t, cr);
}

/* Everything that moves both ways, drawn once into an image: a frame of a pan is one copy of it. */
static GskRenderNode *body_node(WsTimeline *t)
{
    double w = MAX(t->scene->width + 2 * BESIDE, 1), h = MAX(t->node_y1 - t->node_y0, 1);
    double scale = MAX(gtk_widget_get_scale_factor(t->canvas), 1) * t->page_scale;
    cairo_surface_t *image = cairo_image_surface_create(
        CAIRO_FORMAT_ARGB32, (int)ceil(ceil(w) * scale), (int)ceil(ceil(h) * scale));
    cairo_surface_set_device_scale(image, scale, scale);
    cairo_t *cr = cairo_create(image);
    cairo_translate(cr, BESIDE, -t->node_y0);
    paint_body(t, cr);
    cairo_destroy(cr);
    g_autoptr(GtkSnapshot) s = gtk_snapshot_new();
    cr = gtk_snapshot_append_cairo(
        s, &GRAPHENE_RECT_INIT(-BESIDE, (float)t->node_y0, (float)ceil(w), (float)ceil(h)));
    cairo_set_source_surface(cr, image, -BESIDE, t->node_y0);
    cairo_paint(cr);
    cairo_destroy(cr);
    cairo_surface_destroy(image);
    return gtk_snapshot_to_node(s);
}

static GskRenderNode *layer_node(WsTimeline *t, guint which, double width)
{
    WsTheme theme = ws_theme_current();
    gboolean ruler = which == WS_LAYER_RULER || which == NODE_NS;
    double x = ruler ? -BESIDE : 0, w = ruler ? t->scene->width + 2 * BESIDE : width;
    double y0 = ruler ? 0 : t->node_y0, y1 = ruler ? t->scene->top : t->node_y1;
    g_autoptr(GtkSnapshot) s = gtk_snapshot_new();
    cairo_t *cr = gtk_snapshot_append_cairo(
        s, &GRAPHENE_RECT_INIT((float)x, (float)y0, (float)w, (float)MAX(y1 - y0, 1)));
    if (which == NODE_NS)
        paint_second_scale(t, cr, ws_palette(theme));
    else
        ws_scene_paint_layer(t->scene, cr, theme, (WsSceneLayer)which, width, NULL);
    if (which == WS_LAYER_GUTTER)
        ws_trouble_paint_staffs(t, cr);
    cairo_destroy(cr);
    return gtk_snapshot_to_node(s);
}

static GskRenderNode *node(WsTimeline *t, guint which, double width)
{
    if (!t->node[which])
        t->node[which] = which == WS_LAYER_ITEMS ? body_node(t) : layer_node(t, which, width);
    if (!t->node[which])
        t->node[which] = gsk_container_node_new(NULL, 0);
    return t->node[which];
}

static void append(WsTimeline *t, GtkSnapshot *s, guint which, double width)
{
    gtk_snapshot_append_node(s, node(t, which, width));
}

static void fill(GtkSnapshot *s, guint32 rgb, double alpha, double x, double y, double w, double h)
{
    GdkRGBA colour;
    rgba(rgb, (float)alpha, &colour);
    if (w > 0 && h > 0)
        gtk_snapshot_append_color(s, &colour,
                                  &GRAPHENE_RECT_INIT((float)x, (float)y, (float)w, (float)h));
}

static void push_rect(GtkSnapshot *s, double x, double y, double w, double h)
{
    gtk_snapshot_push_clip(
        s, &GRAPHENE_RECT_INIT((float)x, (float)y, (float)MAX(w, 0), (float)MAX(h, 0)));
}

/* The layout follows the text scale by itself, so it is drawn in pixels. */
static void text_at(GtkWidget *widget, GtkSnapshot *s, const char *text, double x, double y,
                    double right, guint32 ink, guint32 plate)
{
    float k = (float)WS_CANVAS(widget)->timeline->page_scale;
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(widget, text);
    g_autoptr(PangoAttrList) attrs = pango_attr_list_new();
    pango_attr_list_insert(attrs, pango_attr_scale_new(0.85));
    pango_layout_set_attributes(layout, attrs);
    int wide, high;
    pango_layout_get_pixel_size(layout, &wide, &high);
    double w = wide / k, h = high / k;
    if (x + w + 4 > right)
        x = MAX(x - w - 8, 0);
    fill(s, plate, 0.92, x - 3, y, w + 6, h);
    GdkRGBA colour;
    rgba(ink, 1, &colour);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT((float)x, (float)y));
    gtk_snapshot_scale(s, 1 / k, 1 / k);
    gtk_snapshot_append_layout(s, layout, &colour);
    gtk_snapshot_restore(s);
}

static void draw_range(WsTimeline *t, GtkSnapshot *s, const WsPalette *p, double height)
{
    gint64 from, to;
    if (!ws_document_range(t->document, &from, &to))
        return;
    double x0 = ws_timeline_x_of_cycle(t, (double)from), x1 = ws_timeline_x_of_cycle(t, (double)to);
    x0 = CLAMP(x0, -2, t->view.width + 2);
    x1 = CLAMP(x1, -2, t->view.width + 2);
    guint32 c = ws_palette_item(ws_theme_current(), WS_ITEM_STORE);
    fill(s, c, 0.13, GUTTER + x0, 0, x1 - x0, height);
    fill(s, c, 0.9, GUTTER + x0, 0, 1.5, height);
    fill(s, c, 0.9, GUTTER + x1 - 1.5, 0, 1.5, height);
}

static void draw_pointer(WsTimeline *t, GtkWidget *widget, GtkSnapshot *s, const WsPalette *p,
                         double width, double height)
{
    double x = t->pointer_x - GUTTER;
    if (x < 0 || x > t->view.width || t->drag == WS_DRAG_PAN)
        return;
    double cycle = ws_timeline_cycle_of_ruler(t, x), ghz = ws_timeline_ghz(t);
    g_autofree char *cycles = digits(cycle);
    g_autofree char *ns = ghz > 0 ? time_text(cycle / ghz) : NULL;
    g_autofree char *text = ns ? g_strdup_printf(_("%s cycles, %s"), cycles, ns)
                               : g_strdup_printf(_("%s cycles"), cycles);
    fill(s, p->text, 0.35, floor(t->pointer_x), 0, 1, height);
    text_at(widget, s, text, t->pointer_x + 5, 1, width, p->page, p->text);
}

static void draw_marquee(WsTimeline *t, GtkSnapshot *s, const WsPalette *p)
{
    if (t->drag != WS_DRAG_MARQUEE)
        return;
    double x = MIN(t->drag_x, t->drag_x + t->drag_dx), y = MIN(t->drag_y, t->drag_y + t->drag_dy);
    double w = fabs(t->drag_dx), h = fabs(t->drag_dy);
    guint32 c = ws_palette_item(ws_theme_current(), WS_ITEM_LOAD);
    fill(s, c, 0.15, x, y, w, h);
    fill(s, c, 1, x, y, w, 1);
    fill(s, c, 1, x, y + h - 1, w, 1);
    fill(s, c, 1, x, y, 1, h);
    fill(s, c, 1, x + w - 1, y, 1, h);
}

static void draw_head(WsTimeline *t, GtkWidget *widget, GtkSnapshot *s, const WsPalette *p)
{
    double ghz = ws_timeline_ghz(t);
    g_autofree char *clock =
        ghz > 0 ? g_strdup_printf(_("at %.2f GHz"), ghz) : g_strdup(_("clock not known"));
    const char *cycles = ws_scene_words(t->scene, "SM cycles");
    const char *upper = t->order ? cycles : clock;
    const char *lower = t->order ? _("event") : cycles;
    cairo_t *cr =
        gtk_snapshot_append_cairo(s, &GRAPHENE_RECT_INIT(0, 0, GUTTER, (float)t->scene->top));
    ws_paint_colour(cr, p->muted, 0.85);
    ws_timeline_words(cr, 22, 11, 9.5, upper);
    ws_paint_colour(cr, p->muted, 1);
    ws_timeline_words(cr, 22, t->scene->axis_y - 3, 10, lower);
    cairo_destroy(cr);
}

static WsBlock *focused_block(WsTimeline *t)
{
    for (guint i = 0; i < t->block->len; i++)
        if (gtk_widget_has_focus(t->block->pdata[i]))
            return t->block->pdata[i];
    return NULL;
}

/* Nodes hold the rows in the window and some around them; of tall scores not all. */
static void choose_rows(WsTimeline *t, double y0, double y1)
{
    double end = t->scene->bottom + 12, air = t->loose ? 0 : 250;
    if (t->node[WS_LAYER_ITEMS] && t->node_y0 <= MAX(y0, t->scene->top) &&
        t->node_y1 >= MIN(y1, end))
        return;
    g_clear_pointer(&t->node[WS_LAYER_STAFFS], gsk_render_node_unref);
    g_clear_pointer(&t->node[WS_LAYER_GUTTER], gsk_render_node_unref);
    g_clear_pointer(&t->node[WS_LAYER_ITEMS], gsk_render_node_unref);
    t->node_y0 = MAX(floor(y0 - air), 0);
    t->node_y1 = MIN(ceil(y1 + air), end);
}

static void draw_moving(WsTimeline *t, GtkWidget *widget, GtkSnapshot *s, double width,
                        double height)
{
    double top = t->scene->top, y = floor(t->view.at.y), off = ws_timeline_offset(t);
    choose_rows(t, y + top, y + height);
    push_rect(s, 0, top, width, height - top);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT(0, (float)-y));
    append(t, s, WS_LAYER_STAFFS, width);
    append(t, s, WS_LAYER_GUTTER, GUTTER);
    gtk_snapshot_restore(s);
    push_rect(s, GUTTER, top, t->view.width, height - top);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT((float)(GUTTER + off), (float)-y));
    append(t, s, WS_LAYER_ITEMS, width);
    gtk_snapshot_restore(s);
    WsBlock *focused = focused_block(t);
    if (focused && !t->loose) { /* its own place holds the scale */
        float k = (float)(1 / t->page_scale);
        gtk_snapshot_save(s);
        gtk_snapshot_scale(s, k, k);
        gtk_widget_snapshot_child(widget, GTK_WIDGET(focused), s);
        gtk_snapshot_restore(s);
    }
    gtk_snapshot_pop(s);
    gtk_snapshot_pop(s);
    push_rect(s, GUTTER, 0, t->view.width, top);
    gtk_snapshot_save(s);
    gtk_snapshot_translate(s, &GRAPHENE_POINT_INIT((float)(GUTTER + off), 0));
    append(t, s, WS_LAYER_RULER, width);
    append(t, s, NODE_NS, width);
    gtk_snapshot_restore(s);
    gtk_snapshot_pop(s);
}

/* In units of the page. */
static void draw(WsTimeline *t, GtkWidget *widget, GtkSnapshot *s, double w, double h)
{
    const WsPalette *p = ws_palette(ws_theme_current());
    fill(s, p->page, 1, 0, 0, w, h);
    if (!t->scene)
        return;
    if (t->node_width != w) {
        t->node_width = w;
        g_clear_pointer(&t->node[WS_LAYER_STAFFS], gsk_render_node_unref);
    }
    draw_moving(t, widget, s, w, h);
    draw_head(t, widget, s, p);
    push_rect(s, GUTTER, 0, t->view.width, h);
    draw_range(t, s, p, h);
    gtk_snapshot_pop(s);
    push_rect(s, GUTTER, t->scene->top, t->view.width, h);
    draw_marquee(t, s, p);
    ws_witness_snapshot(t, s);
    ws_hang_snapshot(t, s);
    gtk_snapshot_pop(s);
    if (t->pointer_x >= 0)
        draw_pointer(t, widget, s, p, w, h);
    if (gtk_widget_has_visible_focus(widget)) {
        guint32 c = ws_palette_item(ws_theme_current(), WS_ITEM_LOAD);
        fill(s, c, 1, 0, 0, w, 2);
        fill(s, c, 1, 0, h - 2, w, 2);
        fill(s, c, 1, 0, 0, 2, h);
        fill(s, c, 1, w - 2, 0, 2, h);
    }
    ws_timeline_drop_snapshot(t, s);
    ws_gesture_snapshot(t, s, w, h);
}

static void snapshot(GtkWidget *widget, GtkSnapshot *s)
{
    WsTimeline *t = WS_CANVAS(widget)->timeline;
    float k = (float)t->page_scale;
    gtk_snapshot_save(s);
    gtk_snapshot_scale(s, k, k);
    draw(t, widget, s, gtk_widget_get_width(widget) / t->page_scale,
         gtk_widget_get_height(widget) / t->page_scale);
    gtk_snapshot_restore(s);
}

static void allocate(GtkWidget *widget, int width, int height, int baseline)
{
    WsTimeline *t = WS_CANVAS(widget)->timeline;
    double k = t->page_scale, room = MAX(width / k - GUTTER - WS_TIMELINE_RIGHT, 1);
    double rows = MAX(height / k - (t->scene ? t->scene->top : 66), 1);
    if (room != t->view.width || rows != t->view.height) {
        if (!t->view.at.folded && room != t->view.width && t->view.width > 16)
            t->view.at.from = MAX(t->view.at.from, -t->view.width / t->view.at.scale);
        t->view.width = room;
        t->view.height = rows;
        ws_timeline_refresh(t);
    }
    double off = ws_timeline_offset(t), y = floor(t->view.at.y);
    for (guint i = 0; i < t->block->len; i++) {
        WsBlock *b = t->block->pdata[i];
        if (!b->used)
            continue;
        graphene_point_t at =
            GRAPHENE_POINT_INIT((float)(k * (GUTTER + off + b->at_x)), (float)(k * (b->at_y - y)));
        gtk_widget_measure(GTK_WIDGET(b), GTK_ORIENTATION_HORIZONTAL, -1, NULL, NULL, NULL, NULL);
        gtk_widget_allocate(
            GTK_WIDGET(b), (int)ceil(b->item.x + b->item.w), (int)ceil(b->item.h), -1,
            gsk_transform_scale(gsk_transform_translate(NULL, &at), (float)k, (float)k));
    }
    GtkWidget *outline = t->outline;
    if (outline && gtk_widget_get_parent(outline) == widget)
        gtk_widget_allocate(outline, 0, 0, -1, NULL);
    if (t->menu)
        gtk_popover_present(GTK_POPOVER(t->menu));
    if (t->crowd)
        gtk_popover_present(GTK_POPOVER(t->crowd));
}

static void measure(GtkWidget *widget, GtkOrientation o, int for_size, int *least, int *natural,
                    int *a, int *n)
{
    double k = WS_CANVAS(widget)->timeline->page_scale;
    *least = o == GTK_ORIENTATION_HORIZONTAL ? (int)MAX(320, (GUTTER + 120) * k)
                                             : (int)(120 * CLAMP(k, 1, 1.5)); /* ruler and a row */
    *natural = o == GTK_ORIENTATION_HORIZONTAL ? 1000 : 480;
}

/* --- the keyboard
 * ---------------------------------------------------------------------------------
 */

/* Nearest block above or below, by the middle. */
static WsBlock *neighbour(WsTimeline *t, const WsBlock *from, gboolean down)
{
    WsBlock *best = NULL;
    double least = G_MAXDOUBLE, middle = from->at_x + from->item.w / 2;
    for (guint i = 0; i < t->block->len; i++) {
        WsBlock *b = t->block->pdata[i];
        double dy = down ? b->at_y - from->at_y : from->at_y - b->at_y;
        if (!b->used || dy < 1)
            continue;
        double dx = CLAMP(middle, b->at_x, b->at_x + b->item.w) - middle;
        double far = dy * 4 + fabs(dx);
        if (far < least) {
            least = far;
            best = b;
        }
    }
    return best;
}

static gboolean move_focus(GtkWidget *widget, GtkDirectionType direction)
{
    WsTimeline *t = WS_CANVAS(widget)->timeline;
    gboolean inside = gtk_widget_has_focus(widget);
    WsBlock *b = focused_block(t), *next = NULL;
    if (direction == GTK_DIR_TAB_FORWARD || direction == GTK_DIR_TAB_BACKWARD)
        return inside || b ? FALSE : gtk_widget_grab_focus(widget);
    if (!b) {
        for (guint i = 0; inside && i < t->block->len && !next; i++)
            if (((WsBlock *)t->block->pdata[i])->used)
                next = t->block->pdata[i];
        return next ? gtk_widget_grab_focus(GTK_WIDGET(next))
                    : !inside && gtk_widget_grab_focus(widget);
    }
    if (direction == GTK_DIR_UP || direction == GTK_DIR_DOWN) {
        next = neighbour(t, b, direction == GTK_DIR_DOWN);
        return next ? gtk_widget_grab_focus(GTK_WIDGET(next)) : TRUE;
    }
    WsFocus focus;
    ws_timeline_focus_of(&b->item, &focus);
    ws_document_select(t->document, &focus, WS_SELECT_REPLACE, FALSE);
    ws_timeline_step_along(t, direction == GTK_DIR_RIGHT ? 1 : -1);
    return TRUE;
}

static void focus_moved(GObject *object, GParamSpec *spec)
{
    gtk_widget_queue_draw(GTK_WIDGET(object));
}

static void dispose(GObject *object)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(GTK_WIDGET(object))))
        gtk_widget_unparent(child);
    G_OBJECT_CLASS(ws_canvas_parent_class)->dispose(object);
}

static void ws_canvas_class_init(WsCanvasClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    widget->snapshot = snapshot;
    widget->size_allocate = allocate;
    widget->measure = measure;
    widget->focus = move_focus;
    gtk_widget_class_set_css_name(widget, "score");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_LIST);
}

static void ws_canvas_init(WsCanvas *c)
{
    gtk_widget_set_focusable(GTK_WIDGET(c), TRUE);
    gtk_widget_set_has_tooltip(GTK_WIDGET(c), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(c), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(c), TRUE);
    gtk_widget_set_overflow(GTK_WIDGET(c), GTK_OVERFLOW_HIDDEN);
    g_signal_connect(c, "notify::has-focus", G_CALLBACK(focus_moved), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(c), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Score"),
                                   -1);
}

GtkWidget *ws_canvas_new(WsTimeline *t)
{
    WsCanvas *c = g_object_new(WS_TYPE_CANVAS, NULL);
    c->timeline = t;
    return GTK_WIDGET(c);
}
