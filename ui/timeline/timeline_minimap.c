/* The whole score in a strip: where the window stands, drag it to pan, drag elsewhere to zoom. */
#include "program/op.h"
#include "score/palette.h"
#include "trace/op_kind.h"
#include "ui/app/theme.h"
#include "ui/timeline/timeline_private.h"

#include <glib/gi18n.h>
#include <math.h>

#define HEIGHT 44
#define PAD    4.0

struct _WsMinimap {
    GtkWidget parent;
    WsTimeline *timeline;
    GskRenderNode *node;
    double node_width;
    gboolean node_order;
    double grab, from_x, to_x; /* of a drag; grab: unit under the pointer minus the view's from */
    enum { DRAG_NONE, DRAG_WINDOW, DRAG_NEW } drag;
};

G_DEFINE_FINAL_TYPE(WsMinimap, ws_minimap, GTK_TYPE_WIDGET)

static double room(WsMinimap *m)
{
    double w = gtk_widget_get_width(GTK_WIDGET(m)) / m->timeline->page_scale;
    return MAX(w - WS_TIMELINE_GUTTER - WS_TIMELINE_RIGHT, 1);
}

static double x_of(WsMinimap *m, double unit)
{
    return WS_TIMELINE_GUTTER + unit / MAX(m->timeline->view.length, 1) * room(m);
}

static double unit_of(WsMinimap *m, double x)
{
    return (x - WS_TIMELINE_GUTTER) / room(m) * m->timeline->view.length;
}

typedef struct {
    cairo_t *cr;
    double x0, x1, y, h; /* the bar that is open */
    WsItemKind kind;
    WsTheme theme;
} Strip;

static void flush(Strip *s)
{
    if (s->x1 <= s->x0)
        return;
    ws_paint_colour(s->cr, ws_palette_item(s->theme, s->kind), 0.75);
    cairo_rectangle(s->cr, s->x0, s->y, MAX(s->x1 - s->x0, 0.6), s->h);
    cairo_fill(s->cr);
    s->x1 = s->x0 = 0;
}

static void add(Strip *s, double x0, double x1, WsItemKind kind)
{
    if (s->x1 > s->x0 && x0 - s->x1 < 1 && kind == s->kind) {
        s->x1 = MAX(s->x1, x1);
        return;
    }
    if (s->x1 > s->x0 && x0 < s->x1)
        x0 = s->x1;
    if (x1 - x0 < 0.3 && s->x1 > s->x0 && x0 - s->x1 < 1)
        return;
    flush(s);
    s->x0 = x0;
    s->x1 = MAX(x1, x0 + 0.3);
    s->kind = kind;
}

static void paint_lane(WsMinimap *m, Strip *s, const WsTrace *trace, const WsTraceLane *lane)
{
    WsTimeline *t = m->timeline;
    if (lane->n > 50000) { /* the index will do */
        guint64 n = (lane->n + WS_TRACE_FAN - 1) / WS_TRACE_FAN;
        for (guint64 i = 0; i < n; i++) {
            const WsTraceSpan *k = &g_array_index(trace->span, WsTraceSpan, lane->first_span + i);
            add(s, x_of(m, ws_timeline_unit_of(t, (double)k->start)),
                x_of(m, ws_timeline_unit_of(t, (double)k->end)), WS_ITEM_FULL);
        }
        return;
    }
    for (guint64 i = lane->first; i < lane->first + lane->n; i++) {
        const WsTraceRecord *r = &g_array_index(trace->record, WsTraceRecord, i);
        WsOpKind op = ws_trace_op_kind(trace, r->op);
        WsItemKind kind = ws_item_kind_of(op);
        gint64 end = ws_op_flies(op) ? ws_trace_record_end(r) : MAX(r->issued, r->start);
        if (kind == WS_ITEM_OTHER || ws_op_waits(op) || end <= r->start)
            continue;
        add(s, x_of(m, ws_timeline_unit_of(t, (double)r->start)),
            x_of(m, ws_timeline_unit_of(t, (double)end)), kind);
    }
}

static void paint(WsMinimap *m, cairo_t *cr, double width)
{
    WsTimeline *t = m->timeline;
    const WsTrace *trace = t->main_trace;
    WsTheme theme = ws_theme_current();
    const WsPalette *p = ws_palette(theme);
    guint n = 0, k = 0, cta = ws_timeline_cta_of(t, trace);
    for (guint a = 0; a < trace->agent_name->len; a++)
        n += ws_trace_lane(trace, cta, a) != NULL;
    double h = (HEIGHT - 2 * PAD) / MAX(n, 1);
    for (guint a = 0; a < trace->agent_name->len; a++) {
        const WsTraceLane *lane = ws_trace_lane(trace, cta, a);
        if (!lane)
            continue;
        Strip s = { .cr = cr, .y = PAD + h * k++, .h = MAX(h - 1, 1), .theme = theme };
        paint_lane(m, &s, trace, lane);
        flush(&s);
    }
    ws_paint_colour(cr, p->muted, 1);
    ws_timeline_words(cr, 22, HEIGHT / 2 + 3.5, 10, _("whole score"));
}

static void fill(GtkSnapshot *s, guint32 rgb, double alpha, double x, double y, double w, double h)
{
    GdkRGBA c = { (float)(rgb >> 16 & 255) / 255.0f, (float)(rgb >> 8 & 255) / 255.0f,
                  (float)(rgb & 255) / 255.0f, (float)alpha };
    if (w > 0 && h > 0)
        gtk_snapshot_append_color(s, &c,
                                  &GRAPHENE_RECT_INIT((float)x, (float)y, (float)w, (float)h));
}

static void frame(GtkSnapshot *s, guint32 rgb, double x, double w, double h)
{
    fill(s, rgb, 0.9, x, 1, w, 1.5);
    fill(s, rgb, 0.9, x, h - 2.5, w, 1.5);
    fill(s, rgb, 0.9, x, 1, 2, h - 2);
    fill(s, rgb, 0.9, x + w - 2, 1, 2, h - 2);
}

static void window_edges(WsMinimap *m, double *x0, double *x1)
{
    double from, to;
    ws_timeline_get_view(m->timeline, &from, &to);
    *x0 = x_of(m, ws_timeline_unit_of(m->timeline, from));
    *x1 = x_of(m, ws_timeline_unit_of(m->timeline, to));
    *x0 = CLAMP(*x0, WS_TIMELINE_GUTTER, WS_TIMELINE_GUTTER + room(m));
    *x1 = CLAMP(*x1, WS_TIMELINE_GUTTER, WS_TIMELINE_GUTTER + room(m));
    if (*x1 - *x0 < 6) {
        double middle = (*x0 + *x1) / 2;
        *x0 = middle - 3;
        *x1 = middle + 3;
    }
}

/* In units of the page. */
static void draw(WsMinimap *m, GtkSnapshot *s, double w, double h)
{
    WsTimeline *t = m->timeline;
    const WsPalette *p = ws_palette(ws_theme_current());
    fill(s, p->page, 1, 0, 0, w, h);
    fill(s, p->panel, 1, WS_TIMELINE_GUTTER, PAD - 2, room(m), h - 2 * PAD + 4);
    if (!t->main_trace || !t->scene)
        return;
    if (m->node && (m->node_width != w || m->node_order != t->order))
        g_clear_pointer(&m->node, gsk_render_node_unref);
    if (!m->node) {
        g_autoptr(GtkSnapshot) own = gtk_snapshot_new();
        cairo_t *cr = gtk_snapshot_append_cairo(own, &GRAPHENE_RECT_INIT(0, 0, (float)w, (float)h));
        paint(m, cr, w);
        cairo_destroy(cr);
        m->node = gtk_snapshot_to_node(own);
        m->node_width = w;
        m->node_order = t->order;
    }
    gtk_snapshot_append_node(s, m->node);
    gint64 from, to;
    if (ws_document_range(t->document, &from, &to)) {
        double x0 = x_of(m, ws_timeline_unit_of(t, (double)from));
        double x1 = x_of(m, ws_timeline_unit_of(t, (double)to));
        fill(s, ws_palette_item(ws_theme_current(), WS_ITEM_STORE), 0.35, x0, 2, MAX(x1 - x0, 2),
             h - 4);
    }
    double x0, x1;
    window_edges(m, &x0, &x1);
    fill(s, p->page, 0.6, WS_TIMELINE_GUTTER, 0, x0 - WS_TIMELINE_GUTTER, h);
    fill(s, p->page, 0.6, x1, 0, WS_TIMELINE_GUTTER + room(m) - x1, h);
    frame(s, p->text, x0, x1 - x0, h);
    if (m->drag == DRAG_NEW)
        frame(s, ws_palette_item(ws_theme_current(), WS_ITEM_MMA), MIN(m->from_x, m->to_x),
              fabs(m->to_x - m->from_x), h);
}

static void snapshot(GtkWidget *widget, GtkSnapshot *s)
{
    WsMinimap *m = WS_MINIMAP(widget);
    float k = (float)m->timeline->page_scale;
    gtk_snapshot_save(s);
    gtk_snapshot_scale(s, k, k);
    draw(m, s, gtk_widget_get_width(widget) / k, gtk_widget_get_height(widget) / k);
    gtk_snapshot_restore(s);
}

static void begin(GtkGestureDrag *g, double x, double y, WsMinimap *m)
{
    WsTimeline *t = m->timeline;
    double x0, x1;
    ws_timeline_page(t, &x, &y);
    if (!t->scene)
        return;
    ws_pane_push(&t->view, g_get_monotonic_time(), 0);
    window_edges(m, &x0, &x1);
    m->drag = x >= x0 - 3 && x <= x1 + 3 ? DRAG_WINDOW : DRAG_NEW;
    m->from_x = m->to_x = x;
    double from = ws_timeline_unit_of(t, ws_timeline_cycle_of_x(t, 0));
    m->grab = unit_of(m, x) - from;
}

static void update(GtkGestureDrag *g, double dx, double dy, WsMinimap *m)
{
    WsTimeline *t = m->timeline;
    ws_timeline_page(t, &dx, &dy);
    if (m->drag == DRAG_WINDOW && fabs(dx) >= 1) {
        if (t->view.at.folded) {
            ws_timeline_unfold(t, t->view.width / 2);
            m->grab = unit_of(m, m->from_x) - t->view.at.from;
        }
        t->view.at.from = unit_of(m, m->from_x + dx) - m->grab;
        ws_pane_clamp(&t->view);
        ws_timeline_refresh(t);
    }
    m->to_x = m->from_x + dx;
    gtk_widget_queue_draw(GTK_WIDGET(m));
}

static void end(GtkGestureDrag *g, double dx, double dy, WsMinimap *m)
{
    WsTimeline *t = m->timeline;
    ws_timeline_page(t, &dx, &dy);
    m->to_x = m->from_x + dx;
    if (m->drag == DRAG_NEW && t->scene) {
        double a = unit_of(m, MIN(m->from_x, m->to_x)), b = unit_of(m, MAX(m->from_x, m->to_x));
        if (fabs(dx) < 4) { /* a click: the window goes there */
            ws_timeline_unfold(t, t->view.width / 2);
            double shown = t->view.width / t->view.at.scale;
            t->view.at.from = a - shown / 2;
            ws_pane_clamp(&t->view);
        } else {
            ws_pane_show(&t->view, a, b);
        }
        ws_timeline_refresh(t);
    }
    m->drag = DRAG_NONE;
    gtk_widget_queue_draw(GTK_WIDGET(m));
}

static gboolean wheel(GtkEventControllerScroll *c, double dx, double dy, WsMinimap *m)
{
    ws_timeline_scroll_by(m->timeline, (dx + dy) * 60, 0);
    return TRUE;
}

void ws_minimap_reset(WsMinimap *m)
{
    g_clear_pointer(&m->node, gsk_render_node_unref);
    gtk_widget_queue_draw(GTK_WIDGET(m));
}

static void measure(GtkWidget *widget, GtkOrientation o, int for_size, int *least, int *natural,
                    int *a, int *n)
{
    double k = WS_MINIMAP(widget)->timeline->page_scale;
    *least = *natural = o == GTK_ORIENTATION_HORIZONTAL ? 200 : (int)ceil(HEIGHT * k);
}

static void dispose(GObject *object)
{
    g_clear_pointer(&WS_MINIMAP(object)->node, gsk_render_node_unref);
    G_OBJECT_CLASS(ws_minimap_parent_class)->dispose(object);
}

static void ws_minimap_class_init(WsMinimapClass *class)
{
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    G_OBJECT_CLASS(class)->dispose = dispose;
    widget->snapshot = snapshot;
    widget->measure = measure;
    gtk_widget_class_set_css_name(widget, "minimap");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}

static void ws_minimap_init(WsMinimap *m)
{
    gtk_widget_set_hexpand(GTK_WIDGET(m), TRUE);
    gtk_widget_set_tooltip_text(GTK_WIDGET(m), _("The whole score: drag the window to move, drag "
                                                 "elsewhere to zoom to what you span"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(m), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Overview of the whole score"), -1);
    GtkGesture *g = gtk_gesture_drag_new();
    g_signal_connect(g, "drag-begin", G_CALLBACK(begin), m);
    g_signal_connect(g, "drag-update", G_CALLBACK(update), m);
    g_signal_connect(g, "drag-end", G_CALLBACK(end), m);
    gtk_widget_add_controller(GTK_WIDGET(m), GTK_EVENT_CONTROLLER(g));
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    g_signal_connect(scroll, "scroll", G_CALLBACK(wheel), m);
    gtk_widget_add_controller(GTK_WIDGET(m), scroll);
}

GtkWidget *ws_minimap_new(WsTimeline *t)
{
    WsMinimap *m = g_object_new(WS_TYPE_MINIMAP, NULL);
    m->timeline = t;
    return GTK_WIDGET(m);
}
