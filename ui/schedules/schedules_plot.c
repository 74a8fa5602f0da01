#include "ui/schedules/schedules_plot.h"

#include "score/palette.h"
#include "ui/app/theme.h"
#include "ui/parts/format.h"

#include <math.h>

#define REACH 14.0 /* pixels from a point within which a click is meant for it */
#define SIZE  4.0  /* half of a point */

struct _WsSchedulesPlot {
    GtkWidget parent;
    GtkWidget *area;
    GArray *point; /* WsPlotPoint */
    char *x, *y;
    gboolean equal;
    gint chosen;
};

G_DEFINE_FINAL_TYPE(WsSchedulesPlot, ws_schedules_plot, GTK_TYPE_WIDGET)

static guint picked;

/* --- places -------------------------------------------------------------------------------------
 */

/* What is between the axes: values, and pixels. */
typedef struct {
    double x0, x1, y0, y1; /* from and to, with room at the ends */
    double from_x, to_x, from_y, to_y;
    double left, top, width, height;
    gboolean any;
} Frame;

static gboolean is_drawn(const WsPlotPoint *p)
{
    return isfinite(p->x) && isfinite(p->y);
}

static void widen(double *from, double *to)
{
    const double by = *to > *from ? 0.08 * (*to - *from) : MAX(fabs(*to) * 0.05, 1);
    *from -= by;
    *to += by;
}

static double line_height(WsSchedulesPlot *self)
{
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(self->area, "8");
    int height;
    pango_layout_get_pixel_size(layout, NULL, &height);
    return height;
}

static Frame frame_of(WsSchedulesPlot *self)
{
    Frame f = { .x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY };
    for (guint i = 0; i < self->point->len; i++) {
        const WsPlotPoint *p = &g_array_index(self->point, WsPlotPoint, i);
        if (!is_drawn(p))
            continue;
        f.any = TRUE;
        f.x0 = MIN(f.x0, p->x);
        f.x1 = MAX(f.x1, p->x);
        f.y0 = MIN(f.y0, p->y);
        f.y1 = MAX(f.y1, p->y);
    }
    f.from_x = f.x0;
    f.to_x = f.x1;
    f.from_y = f.y0;
    f.to_y = f.y1;
    if (self->equal) {
        f.x0 = f.y0 = MIN(f.x0, f.y0);
        f.x1 = f.y1 = MAX(f.x1, f.y1);
    }
    widen(&f.x0, &f.x1);
    widen(&f.y0, &f.y1);
    const double line = line_height(self);
    f.left = 8;
    f.top = line + 4; /* what stands at the axes has lines of its own */
    f.width = MAX(gtk_widget_get_width(self->area) - 16, 1);
    f.height = MAX(gtk_widget_get_height(self->area) - 2 * line - 12, 1);
    return f;
}

static void place(const Frame *f, const WsPlotPoint *p, double *x, double *y)
{
    *x = f->left + f->width * (p->x - f->x0) / (f->x1 - f->x0);
    *y = f->top + f->height * (1 - (p->y - f->y0) / (f->y1 - f->y0));
}

gboolean ws_schedules_plot_place(WsSchedulesPlot *self, guint index, double *x, double *y)
{
    const Frame f = frame_of(self);
    for (guint i = 0; i < self->point->len; i++) {
        const WsPlotPoint *p = &g_array_index(self->point, WsPlotPoint, i);
        if (p->index != index || !is_drawn(p))
            continue;
        place(&f, p, x, y);
        return TRUE;
    }
    return FALSE;
}

guint ws_schedules_plot_n(WsSchedulesPlot *self, WsPointKind kind)
{
    guint n = 0;
    for (guint i = 0; i < self->point->len; i++) {
        const WsPlotPoint *p = &g_array_index(self->point, WsPlotPoint, i);
        n += p->kind == kind && is_drawn(p);
    }
    return n;
}

/* --- drawing ------------------------------------------------------------------------------------
 */

static void put_text(WsSchedulesPlot *self, cairo_t *cr, double x, double y, double width,
                     PangoAlignment align, const char *text)
{
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(self->area, text);
    pango_layout_set_width(layout, (int)(width * PANGO_SCALE));
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    pango_layout_set_alignment(layout, align);
    cairo_move_to(cr, x, y);
    pango_cairo_show_layout(cr, layout);
}

/* A kind has a form of its own besides its colour. */
static void draw_point(cairo_t *cr, const WsPalette *palette, WsPointKind kind, double x, double y)
{
    cairo_new_path(cr);
    if (kind == WS_POINT_START)
        cairo_rectangle(cr, x - SIZE, y - SIZE, 2 * SIZE, 2 * SIZE);
    else
        cairo_arc(cr, x, y, kind == WS_POINT_FRONT ? SIZE + 1 : SIZE - 1, 0, 2 * G_PI);
    if (kind == WS_POINT_BEATEN) {
        ws_paint_colour(cr, palette->muted, 1);
        cairo_set_line_width(cr, 1);
        cairo_stroke(cr);
        return;
    }
    ws_paint_colour(cr, kind == WS_POINT_FRONT ? palette->edge : palette->text, 1);
    cairo_fill(cr);
}

/* "↑ predicted cycles, 2 093 848 to 3 174 350": what the points span. */
static char *axis_text(const Frame *f, double from, double to, const char *arrow, const char *what)
{
    if (!f->any)
        return g_strdup_printf("%s %s", arrow, what);
    g_autofree char *a = ws_format_int(llround(from)), *b = ws_format_int(llround(to));
    return from == to ? g_strdup_printf("%s %s: %s", arrow, what, a)
                      : g_strdup_printf("%s %s: %s \xe2\x80\x93 %s", arrow, what, a, b);
}

static void draw_axes(WsSchedulesPlot *self, cairo_t *cr, const WsPalette *palette, const Frame *f)
{
    ws_paint_colour(cr, palette->frame, 1);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, f->left - 0.5, f->top);
    cairo_line_to(cr, f->left - 0.5, f->top + f->height + 0.5);
    cairo_line_to(cr, f->left + f->width, f->top + f->height + 0.5);
    cairo_stroke(cr);
    if (self->equal && f->any) {
        cairo_move_to(cr, f->left, f->top + f->height);
        cairo_line_to(cr, f->left + f->width, f->top);
        cairo_stroke(cr);
    }
    g_autofree char *x = axis_text(f, f->from_x, f->to_x, "\xe2\x86\x92", self->x);
    g_autofree char *y = axis_text(f, f->from_y, f->to_y, "\xe2\x86\x91", self->y);
    ws_paint_colour(cr, palette->muted, 1);
    put_text(self, cr, f->left, 1, f->width, PANGO_ALIGN_LEFT, y);
    put_text(self, cr, f->left, f->top + f->height + 3, f->width, PANGO_ALIGN_RIGHT, x);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    WsSchedulesPlot *self = data;
    const WsPalette *palette = ws_palette(ws_theme_current());
    const Frame f = frame_of(self);
    draw_axes(self, cr, palette, &f);
    for (guint kind = 0; kind <= WS_POINT_START; kind++)
        for (guint i = 0; i < self->point->len; i++) {
            const WsPlotPoint *p = &g_array_index(self->point, WsPlotPoint, i);
            double x, y;
            if (p->kind != kind || !is_drawn(p))
                continue;
            place(&f, p, &x, &y);
            draw_point(cr, palette, p->kind, x, y);
            if ((gint)p->index != self->chosen)
                continue;
            ws_paint_colour(cr, palette->text, 1);
            cairo_set_line_width(cr, 2);
            cairo_new_path(cr);
            cairo_arc(cr, x, y, SIZE + 5, 0, 2 * G_PI);
            cairo_stroke(cr);
        }
}

/* --- acting -------------------------------------------------------------------------------------
 */

static int lower_first(gconstpointer a, gconstpointer b)
{
    const WsPlotPoint *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* Points that a click may be meant for, the lowest first (that is, the fastest): those as near as
 * the nearest one. */
static void meant_by(WsSchedulesPlot *self, double x, double y, GArray *out)
{
    const Frame f = frame_of(self);
    double nearest = REACH;
    for (int pass = 0; pass < 2; pass++)
        for (guint i = 0; i < self->point->len; i++) {
            const WsPlotPoint *p = &g_array_index(self->point, WsPlotPoint, i);
            double px, py;
            if (!is_drawn(p) || p->kind != WS_POINT_FRONT)
                continue;
            place(&f, p, &px, &py);
            const double away = hypot(px - x, py - y);
            if (pass == 0)
                nearest = MIN(nearest, away);
            else if (nearest < REACH && away <= nearest + SIZE)
                g_array_append_vals(out, p, 1);
        }
    g_array_sort(out, lower_first);
}

/* Points that lie upon each other are picked by turns. */
static void on_press(WsSchedulesPlot *self, int n, double x, double y)
{
    g_autoptr(GArray) meant = g_array_new(FALSE, FALSE, sizeof(WsPlotPoint));
    meant_by(self, x, y, meant);
    if (meant->len == 0)
        return;
    guint k = 0;
    for (guint i = 0; i < meant->len; i++)
        if ((gint)g_array_index(meant, WsPlotPoint, i).index == self->chosen)
            k = (i + 1) % meant->len;
    g_signal_emit(self, picked, 0, g_array_index(meant, WsPlotPoint, k).index);
}

void ws_schedules_plot_show(WsSchedulesPlot *self, const GArray *points, const char *x,
                            const char *y, gboolean equal)
{
    g_array_set_size(self->point, 0);
    g_array_append_vals(self->point, points->data, points->len);
    g_free(self->x);
    g_free(self->y);
    self->x = g_strdup(x);
    self->y = g_strdup(y);
    self->equal = equal;
    gtk_widget_queue_draw(self->area);
}

void ws_schedules_plot_choose(WsSchedulesPlot *self, gint index)
{
    self->chosen = index;
    gtk_widget_queue_draw(self->area);
}

/* --- widget -------------------------------------------------------------------------------------
 */

static void dispose(GObject *object)
{
    WsSchedulesPlot *self = WS_SCHEDULES_PLOT(object);
    g_clear_pointer(&self->area, gtk_widget_unparent);
    G_OBJECT_CLASS(ws_schedules_plot_parent_class)->dispose(object);
}

static void finalize(GObject *object)
{
    WsSchedulesPlot *self = WS_SCHEDULES_PLOT(object);
    g_array_unref(self->point);
    g_free(self->x);
    g_free(self->y);
    G_OBJECT_CLASS(ws_schedules_plot_parent_class)->finalize(object);
}

static void ws_schedules_plot_class_init(WsSchedulesPlotClass *class)
{
    G_OBJECT_CLASS(class)->dispose = dispose;
    G_OBJECT_CLASS(class)->finalize = finalize;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_IMG);
    picked = g_signal_new("picked", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                          NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void ws_schedules_plot_init(WsSchedulesPlot *self)
{
    self->point = g_array_new(FALSE, FALSE, sizeof(WsPlotPoint));
    self->chosen = -1;
    self->x = g_strdup("");
    self->y = g_strdup("");
    self->area = ws_theme_area_new(180, 90, draw, self);
    gtk_widget_set_valign(self->area, GTK_ALIGN_FILL);
    gtk_widget_set_vexpand(self->area, TRUE);
    gtk_widget_set_parent(self->area, GTK_WIDGET(self));
    GtkGesture *click = gtk_gesture_click_new();
    g_signal_connect_swapped(click, "pressed", G_CALLBACK(on_press), self);
    gtk_widget_add_controller(self->area, GTK_EVENT_CONTROLLER(click));
}

GtkWidget *ws_schedules_plot_new(void)
{
    return g_object_new(WS_TYPE_SCHEDULES_PLOT, NULL);
}
